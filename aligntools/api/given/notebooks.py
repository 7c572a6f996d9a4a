"""How results show themselves in notebooks: bases of their classes."""

import importlib
from typing import Any


def _views() -> Any:
    """Return the module of all views, by its name: it needs the classes that have these bases."""
    return importlib.import_module("aligntools.api.views.view_kinds")


class _Picture:
    """A result of one sentence, shown as a picture."""

    def _repr_svg_(self) -> str:
        return str(_views().view_of(self, None, None).svg(1))


class _Page:
    """A result of many sentences, shown as a page."""

    def _repr_html_(self) -> str:
        return str(_views().view_of(self, None, None)._repr_html_())


class ShownWithTags(_Picture):
    """A tagged sentence: the words above their tags."""


class ShownAsTags(_Page):
    """Tagged sentences."""


class ShownAsTree(_Picture):
    """A dependency tree."""


class ShownAsTrees(_Page):
    """Dependency trees."""


class ShownAsModel:
    """A model, shown as a page with a few hundred of its words."""

    def _repr_html_(self) -> str:
        return str(_views().view_model(self, words=500)._repr_html_())
