"""How results show themselves: bases of their classes, which `aligntools.view` and notebooks ask."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aligntools.viewing.base import View
    from aligntools.viewing.models import ModelView


class Shown(ABC):
    """A result that can be looked at."""

    @abstractmethod
    def shown(self, gold: Any = None, title: str | None = None) -> "View":
        """Return a view of it, beside gold trees or tags of the same words where they are given."""


class _Picture(Shown):
    """A result of one sentence, which notebooks show as a picture."""

    def _repr_svg_(self) -> str:
        return self.shown().svg(1)


class _Page(Shown):
    """A result of many sentences, which notebooks show as a page."""

    def _repr_html_(self) -> str:
        return self.shown()._repr_html_()


class _AsTags(Shown):
    def shown(self, gold: Any = None, title: str | None = None) -> "View":
        """Return a view of the tags; see `aligntools.view_tags`."""
        from aligntools.viewing.annotation import view_tags

        return view_tags(self, gold, title=title)


class _AsTrees(Shown):
    def shown(self, gold: Any = None, title: str | None = None) -> "View":
        """Return a view of the trees; see `aligntools.view_trees`."""
        from aligntools.viewing.annotation import view_trees

        return view_trees(self, gold, title=title)


class ShownWithTags(_AsTags, _Picture):
    """A tagged sentence: the words above their tags."""


class ShownAsTags(_AsTags, _Page):
    """Tagged sentences."""


class ShownAsTree(_AsTrees, _Picture):
    """A dependency tree."""


class ShownAsTrees(_AsTrees, _Page):
    """Dependency trees."""


class ShownAsModel(_Page):
    """A model; notebooks show a page with a few hundred of its words."""

    @abstractmethod
    def model_view(self, title: str, words: int, best: int) -> "ModelView":
        """Return what the model learned; see `aligntools.view_model`."""

    def shown(self, gold: Any = None, title: str | None = None) -> "View":
        """Return a view of what it learned; there is no gold of models."""
        from aligntools.viewing.models import ModelViewing

        return self.model_view(title or type(self).__name__, ModelViewing.words, ModelViewing.best)

    def _repr_html_(self) -> str:
        return self.model_view(type(self).__name__, 500, 10)._repr_html_()


class ShownAsWeights(ShownAsModel):
    """Weights by the names of features, and what is known about them."""

    features: Mapping[str, float]
    about: Mapping[str, Any]

    def model_view(self, title: str, words: int, best: int) -> "ModelView":
        """Return the weights by their size."""
        return weight_view(title, self.features, self.about)


def weight_view(title: str, values: Mapping[str, float], about: Mapping[str, Any]) -> "ModelView":
    """Return a view of weights by their size."""
    from aligntools.viewing.models import ModelView

    settings: list[list[Any]] = [["weights", len(values)], *([name, str(value)] for name, value in about.items())]
    return ModelView(title, settings, weights=sorted(values.items(), key=lambda pair: -abs(pair[1])))
