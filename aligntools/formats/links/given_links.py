"""Another aligner's links, with how sure it is of each: Pharaoh text with probabilities and possible links."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aligntools.formats.links.pharaoh import LineReader, Links, check_range, concatenate, parse_pharaoh, tokenize_links
from aligntools.formats.opening.files import start_of
from aligntools.formats.opening.json_text import as_number
from aligntools.ground.errors import DataError

#: How sure a possible link, as in ``3?4``, is taken to be.
POSSIBLE = 0.5
_PREFIX = re.compile(rb"^(?:.* )?\|\|\|(?: |(?=\r?$))", re.MULTILINE)
_LINK = re.compile(rb"(\d{1,9}[-?pP]\d{1,9})(?::([0-9.]+(?:[eE][+-]?\d+)?))?")
_MARKS = b"-?pP"


@dataclass(frozen=True, eq=False)
class GivenLinks:
    """Links of consecutive sentences, and how sure their aligner is of them.

    strengths (float64 [links]): Probabilities, from 0 to 1; 1 where none was given, POSSIBLE for possible links.
    likeness (float32 [links, 2] or None): How alike the two words are by the source's own measures, where it has some.
    """

    links: Links
    strengths: np.ndarray
    likeness: np.ndarray | None = None

    @classmethod
    def of(cls, links: Links) -> "GivenLinks":
        """Take links that are all sure."""
        return cls(links, np.ones(len(links.pairs)))

    def __len__(self) -> int:
        return len(self.links)

    def __getitem__(self, sentences: slice | np.ndarray) -> "GivenLinks":
        """Return some of the sentences, by slice or by their numbers."""
        numbered = Links(np.arange(2 * len(self.strengths)).reshape(-1, 2), self.links.offsets)
        chosen = numbered[sentences].pairs[:, 0] // 2
        likeness = None if self.likeness is None else self.likeness[chosen]
        return GivenLinks(self.links[sentences], self.strengths[chosen], likeness)

    def turned(self) -> "GivenLinks":
        """Return the links with source and target exchanged."""
        sentences, (i, j) = self.links.sentences(), self.links.pairs.T
        order = np.lexsort((i, j, sentences))
        return GivenLinks(
            Links(np.ascontiguousarray(self.links.pairs[order, ::-1]), self.links.offsets), self.strengths[order]
        )


def concatenate_given(parts: Sequence[GivenLinks]) -> GivenLinks:
    """Join blocks of sentences."""
    strengths = [np.empty(0), *(part.strengths for part in parts)]
    alike = [part.likeness for part in parts if part.likeness is not None]
    likeness = np.concatenate(alike) if alike and len(alike) == len(parts) else None
    return GivenLinks(concatenate([part.links for part in parts]), np.concatenate(strengths), likeness)


class GivenLinksReader:
    """A file of links given out in step with the blocks of a text, in constant memory."""

    def __init__(self, path: object) -> None:
        self._lines = LineReader(path)
        self.path = self._lines.path

    def read(self, source_lengths: np.ndarray, target_lengths: np.ndarray) -> GivenLinks:
        """Return the links of the next sentence pairs, whose words are given.

        Pairs that are empty on both sides, as those that were skipped are, may have any links, which are left out.
        """
        first, n = self._lines.line + 1, len(source_lengths)
        given = parse_given(self._lines.read(n), path=self.path, line=first)
        if len(given) < n:
            problem = f"has {self._lines.line} lines of links, but the text has more; there must be one for each pair"
            raise DataError(self.path, None, problem)
        return fitting(given, source_lengths, target_lengths, path=self.path, line=first)

    def end(self, text_lines: int) -> None:
        """Raise a DataError where there are more lines than the text has."""
        if self._lines.read(1):
            problem = (
                f"there are more lines of links than the {text_lines} of the text; there must be one for each pair"
            )
            raise DataError(self.path, self._lines.line, problem)

    def close(self) -> None:
        """Close the file."""
        self._lines.close()


def fitting(
    given: GivenLinks, source_lengths: np.ndarray, target_lengths: np.ndarray, *, path: object, line: int = 1
) -> GivenLinks:
    """Return the links of pairs that are not empty, all of which must lie within their sentences."""
    empty = np.maximum(source_lengths, target_lengths) == 0
    if empty.any():
        kept = ~empty[given.links.sentences()]
        counts = np.where(empty, 0, given.links.counts())
        links = Links(given.links.pairs[kept], np.concatenate([[0], np.cumsum(counts)]))
        given = GivenLinks(links, given.strengths[kept])
    check_range(given.links, source_lengths, target_lengths, path=path, line=line)
    return given


def parse_given(data: bytes, *, path: object = "-", line: int = 1) -> GivenLinks:
    """Read lines of links ``3-4``, ``3-4:0.97`` and ``3?4``, after the last `` ||| ``; of two the last counts."""
    if not any(mark in data for mark in (b"?", b"p", b"P", b":")):
        return GivenLinks.of(parse_pharaoh(data, path=path, line=line))
    if data and not data.endswith(b"\n"):
        data += b"\n"
    bare = _PREFIX.sub(b"", data) if b"|||" in data else data
    tokens = bare.split()
    matched = [_LINK.fullmatch(token) for token in tokens]
    found = tokenize_links(
        b"\n".join(b" ".join(token.partition(b":")[0] for token in row.split()) for row in bare.split(b"\n")[:-1])
        + b"\n",
        _MARKS,
    )
    if found is None or None in matched:
        raise _bad(data, path, line)
    pairs, marks, offsets = found
    offsets = offsets[: data.count(b"\n") + 1]
    strengths = np.where(marks == ord("-"), 1.0, POSSIBLE)
    scored = [k for k, match in enumerate(matched) if match is not None and match[2] is not None]
    strengths[scored] = [as_number(match[2]) for match in matched if match is not None and match[2] is not None]
    if not (strengths <= 1).all():
        raise _bad(data, path, line)
    sentences = Links(pairs, offsets).sentences()
    order = np.lexsort((pairs[:, 1], pairs[:, 0], sentences))
    table = np.column_stack([sentences, pairs])[order]
    order = order[np.append((table[1:] != table[:-1]).any(axis=1), True)[: len(order)]]  # of equal ones the last
    links = Links(np.ascontiguousarray(pairs[order]), np.searchsorted(sentences[order], np.arange(len(offsets))))
    return GivenLinks(links, strengths[order])


def _bad(data: bytes, path: object, line: int) -> DataError:
    """Return the error of the first line that is not made of links."""
    for number, row in enumerate(data.split(b"\n"), line):
        for token in _PREFIX.sub(b"", row).split():
            match, shown = _LINK.fullmatch(token), start_of(token)
            if match is None:
                due = "is not a link (3-4, 3-4:0.97 with a probability, or 3?4 for a possible one)"
                return DataError(path, number, f"'{shown}' {due}")
            if match[2] is not None and not as_number(match[2]) <= 1:
                return DataError(path, number, f"'{shown}': a probability from 0 to 1 was expected after the link")
    return DataError(path, line, "lines that are not links")  # pragma: no cover
