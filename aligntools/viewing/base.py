"""What can be looked at: as a page, as a picture, in a terminal, in a notebook."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from os import PathLike, fspath
from typing import Any, ClassVar

import numpy as np

from aligntools.formats.opening import files
from aligntools.ground.errors import UsageProblem
from aligntools.viewing.page import framed
from aligntools.viewing.terminal import rendered


class View(ABC):
    """Something to look at: ``str()`` gives it as text, a notebook shows it as a page.

    Attributes
    ----------
    title : str
    """

    title: str
    _items: ClassVar[str] = "sentences"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} {self._items}>"

    def _check(self, number: int, what: str = "sentence", has: str = "the text has") -> None:
        """Refuse the number of an item that there is not."""
        if not 1 <= number <= len(self):
            raise UsageProblem(f"there is no {what} {number}; {has} {len(self)}")

    @staticmethod
    def _chart(number: int | None, titles: Sequence[str]) -> int:
        """Return the number of a chart, by default the first; refuse one that there is not."""
        number = number or 1
        if not 1 <= number <= len(titles):
            names = ", ".join(f"{k} {title}" for k, title in enumerate(titles, 1))
            raise UsageProblem(f"there is no chart {number}; there are: {names or 'none'}")
        return number

    @abstractmethod
    def __len__(self) -> int:
        """Return how many items there are: pairs, sentences, charts."""

    @abstractmethod
    def html(self) -> str:
        """Return the page: one HTML document, complete in itself."""

    @abstractmethod
    def text(self, *, width: int = 80, color: bool = False, number: int | None = None) -> str:
        """Return it as text for a terminal.

        Parameters
        ----------
        width : int
            Columns of the terminal.
        color : bool
            Use colors, as ANSI escapes. What they say is also said by signs.
        number : int or None
            One item alone, by its number from 1 on.
        """

    def stream_text(self, *, width: int = 80, color: bool = False, number: int | None = None) -> Iterator[str]:
        """Yield what `text` returns, piece by piece: a pager shows the first before the last is made."""
        yield self.text(width=width, color=color, number=number)

    def svg(self, number: int | None = None, **how: Any) -> str:
        """Return a picture of one item, by its number from 1 on; by default the first."""
        raise UsageProblem(f"there is no picture of {self.title} in SVG")

    def save(self, path: str | PathLike[str], number: int | None = None) -> None:
        """Write the page, or for a name that ends with ``.svg`` the picture of one item (see `svg`)."""
        path = fspath(path)
        if path.lower().endswith((".png", ".pdf")):
            raise UsageProblem(f"'{path}': a page is HTML, and a picture is SVG")
        document = self.svg(number) if path.endswith(".svg") else self.html()
        with files.writing(path) as out:
            out.write(document.encode())

    def __str__(self) -> str:
        return self.text().removesuffix("\n")

    def _repr_html_(self) -> str:
        return framed(self.html())


class SentencesInOrder(View):
    """A text whose sentences are shown one by one, those with most errors first."""

    @property
    def headline(self) -> str:
        """What there is to see, in a line."""
        return ""

    @cached_property
    def errors(self) -> np.ndarray:
        """How many errors each sentence has, int64 [sentences], or [sentences, kinds]."""
        return np.zeros(len(self), np.int64)

    @abstractmethod
    def _parts(self, number: int) -> list[tuple[str, str]]:
        """Return a sentence as pieces of text and their styles."""

    @abstractmethod
    def _picture(self, number: int) -> str:
        """Return a sentence as SVG."""

    def order(self) -> list[int]:
        """Return the numbers of the sentences, those with most errors first."""
        errors = self.errors.sum(axis=tuple(range(1, self.errors.ndim)))
        found: list[int] = (np.argsort(-errors, kind="stable") + 1).tolist()
        return found

    def svg(self, number: int | None = None, **how: object) -> str:
        """Return a sentence as SVG; without a number, the one with most errors."""
        return self._picture(next(iter(self.order()), 1) if number is None else number)

    def text(self, *, width: int = 80, color: bool = False, number: int | None = None) -> str:
        """Return the sentences as text: those with most errors first, or one."""
        parts = [(f"{self.headline}\n\n", "head")] if self.headline and not number else []
        for each in [number] if number else self.order():
            parts += self._parts(each)
        return rendered(parts[:-1], color)
