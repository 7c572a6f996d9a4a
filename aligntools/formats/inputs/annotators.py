"""What taggers and parsers share: models in files, sentences in batches, and results of a whole text."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, Self, TypeVar, overload

from aligntools.formats.inputs.annotation import Parsed, PathLike
from aligntools.formats.text.memory_text import IN_MEMORY, sentences_given

S = TypeVar("S")


class Annotator(ABC):
    """A model of sentences with tags, which is kept in a file."""

    model: Any

    @classmethod
    @abstractmethod
    def _of_file(cls, path: PathLike, verify: bool) -> Self:
        """Read a model file."""

    @classmethod
    def load(cls, path: PathLike, *, verify: bool = True) -> Self:
        """Read a model file.

        Parameters
        ----------
        path : str or path
        verify : bool
            Check the checksum, which says whether the file is what was written.

        Raises
        ------
        ModelError
            When it is a model of another kind, or damaged.
        """
        return cls._of_file(path, verify)

    def save(self, path: PathLike) -> None:
        """Write a model file; it appears whole or not at all.

        Raises
        ------
        DataError
            When it cannot be written.
        """
        self.model.save(path)

    @property
    def column(self) -> str | int:
        """Column of CoNLL that the tags were learned from."""
        column: str | int = self.model.settings.get("column", "upos")
        return column


def batches(sentences: Iterable[S], size: int) -> Iterator[list[S]]:
    """Yield sentences in lists of ``size``, each before the next sentence is asked for."""
    rest: Iterator[Any] = sentences_given(sentences, IN_MEMORY)
    while part := list(islice(rest, size)):
        yield part


class OfText(Sequence[S]):
    """What was found in the sentences of a text, in arrays over its words; items are made as they are asked for."""

    source: Parsed

    @cached_property
    def _words(self) -> list[bytes]:
        return self.source.words

    @abstractmethod
    def _item(self, number: int, begin: int, end: int) -> S:
        """Return what was found in a sentence, which has these words."""

    def __len__(self) -> int:
        return len(self.source)

    @overload
    def __getitem__(self, index: int) -> S: ...
    @overload
    def __getitem__(self, index: slice) -> list[S]: ...
    def __getitem__(self, index: int | slice) -> S | list[S]:
        """Return what was found in a sentence, or in some of them."""
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        k = range(len(self))[index]
        return self._item(k, *self.source.offsets[k : k + 2].tolist())
