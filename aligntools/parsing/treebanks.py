"""Sentences with trees from files and from memory."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from aligntools.formats.annotation.conll import Conll, column_place, read_conll
from aligntools.formats.annotation.conll_layouts import COLUMNS
from aligntools.formats.inputs.annotation import PathLike, encoded
from aligntools.formats.text.memory_text import IN_MEMORY
from aligntools.formats.text.reading import TagReading
from aligntools.ground.errors import DataError
from aligntools.parsing.parsers import Parse

#: Trees: a file in CoNLL, what its reader returned, or a parse.
Treebank: TypeAlias = PathLike | Conll | Parse


@dataclass(frozen=True, eq=False)
class Trees:
    """Sentences with trees, joined; ``places`` names each sentence for messages."""

    words: list[bytes] = field(default_factory=list)
    tags: list[bytes] = field(default_factory=list)
    labels: list[bytes] = field(default_factory=list)
    heads: list[npt.NDArray[np.int32]] = field(default_factory=list)
    lengths: list[npt.NDArray[np.int64]] = field(default_factory=list)
    places: list[str] = field(default_factory=list)

    def add_conll(self, conll: Conll, column: str | int) -> None:
        """Add the sentences of a file."""
        tags = conll.column(column_place(column))
        if tags and set(tags) == {b"_"}:
            problem = "the column of the tags is _ in every line; try another column, or tag the text"
            raise DataError(conll.path, None, problem)
        self.words.extend(conll.words)
        self.tags.extend(tags)
        self.labels.extend(conll.column(COLUMNS["deprel"]))
        self.heads.append(conll.heads())
        self.lengths.append(np.diff(conll.offsets))
        numbered = enumerate(conll.sentence_lines().tolist(), 1)
        self.places.extend(f"{conll.path}:{line} (sentence {n})" for n, line in numbered)

    def add(self, parse: Parse) -> None:
        """Add a tree."""
        n = len(parse.tokens)
        if not n == len(parse.tags) == len(parse.heads):
            raise DataError(IN_MEMORY, len(self.places) + 1, "a tree needs a tag and a head for each word")
        self.words.extend(map(encoded, parse.tokens))
        self.tags.extend(map(encoded, parse.tags))
        self.labels.extend([b"_"] * n if parse.labels is None else map(encoded, parse.labels))
        heads = np.asarray(parse.heads, np.int32)
        if n and (heads.min() < 0 or heads.max() > n):
            raise DataError(IN_MEMORY, len(self.places) + 1, f"heads are 0 to {n}")
        self.heads.append(heads)
        self.lengths.append(np.array([n]))
        self.places.append(f"sentence {len(self.places) + 1}")


def read_treebanks(treebanks: Treebank | Iterable[Treebank], reading: TagReading) -> tuple[Trees, str]:
    """Read trees; return them and what messages call them."""
    single = isinstance(treebanks, (str, os.PathLike, Conll, Parse))
    banks: Iterable[Any] = [treebanks] if single else treebanks  # type: ignore[assignment]
    trees, name = Trees(), None
    for bank in banks:
        if isinstance(bank, Parse):
            trees.add(bank)
        else:
            conll = bank if isinstance(bank, Conll) else read_conll(os.fspath(bank))
            trees.add_conll(conll.predicted() if reading.predicted_columns else conll, reading.tags)
            name = name or conll.path
    return trees, name or IN_MEMORY
