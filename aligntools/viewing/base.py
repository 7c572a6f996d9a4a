"""What can be looked at: as a page, as a picture, in a terminal, in a notebook."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from os import PathLike, fspath
from typing import Any

from aligntools.formats.opening import files
from aligntools.ground.errors import UsageProblem
from aligntools.viewing.page import framed


class View(ABC):
    """Something to look at: ``str()`` gives it as text, a notebook shows it as a page.

    Attributes
    ----------
    title : str
    """

    title: str

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
        document = self.svg(number) if path.endswith(".svg") else self.html()
        with files.writing(path) as out:
            out.write(document.encode())

    def __str__(self) -> str:
        return self.text().removesuffix("\n")

    def _repr_html_(self) -> str:
        return framed(self.html())
