"""Alignment links on disk and in memory: Pharaoh text, whole or in blocks of lines, and GIZA++'s A3 files.

Large inputs are parsed, sorted and written by compiled code; small ones in NumPy and plain Python, which
are done sooner than the compiler is loaded, and define what is right.
"""

import itertools
import re
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from aligntools.formats.opening import files
from aligntools.formats.opening.files import FOR_OBJECTS
from aligntools.ground.errors import DataError

_BYTES = 1 << 23  # text from here on is worth the compiler, for parsing ...
_LINKS = 1 << 17  # ... and links, for sorting and writing
_BLOCK = 1 << 22  # bytes read at a time
_BLOCK_LINES = 1 << 15  # sentences of a block by default

_PREFIX = re.compile(rb"^(?:.* )?\|\|\|(?: |(?=\r?$))", re.MULTILINE)
_SCORE = re.compile(rb"(?<=\d):[0-9.]+(?:[eE][+-]?\d+)?(?!\S)")
_LINK = re.compile(rb"\d{1,9}-\d{1,9}(?::[0-9.]+(?:[eE][+-]?\d+)?)?")


@dataclass(eq=False)
class Links:
    """The links of a corpus, sorted by ``(i, j)`` within each sentence, none twice.

    pairs (int32 [links, 2]): Source and target position of each link, from 0 on.
    offsets (int64 [sentences + 1]): Sentence ``n`` has the links ``pairs[offsets[n]:offsets[n + 1]]``.
    """

    pairs: np.ndarray
    offsets: np.ndarray

    @classmethod
    def from_lists(cls, sentences: Iterable[Iterable[tuple[int, int]]]) -> "Links":
        """Build links from one iterable of ``(i, j)`` a sentence, in any order."""
        rows = [list(sentence) for sentence in sentences]
        offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        flat = [link for row in rows for link in row]
        return cls(np.array(flat, np.int32).reshape(-1, 2), offsets).sorted()

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, sentences: slice | np.ndarray) -> "Links":
        """Return some of the sentences, by slice or by their numbers."""
        begins, ends = self.offsets[:-1][sentences], self.offsets[1:][sentences]
        offsets = np.concatenate([[0], np.cumsum(ends - begins)])
        rows = np.repeat(begins - offsets[:-1], ends - begins) + np.arange(offsets[-1])
        return Links(self.pairs[rows], offsets)

    def counts(self) -> np.ndarray:
        """Return the number of links of each sentence [shape=(sentences,), dtype=int64]."""
        return np.diff(self.offsets)

    def sentences(self) -> np.ndarray:
        """Return the sentence of each link [shape=(links,), dtype=int64]."""
        return np.repeat(np.arange(len(self)), self.counts())

    def tolists(self) -> list[list[tuple[int, int]]]:
        """Return the links as one list of ``(i, j)`` a sentence."""
        rows = list(map(tuple, self.pairs.tolist()))
        return [rows[a:b] for a, b in itertools.pairwise(self.offsets.tolist())]

    def inverted(self) -> "Links":
        """Return the links with source and target exchanged, sorted."""
        return self.sorted(transpose=True)

    def sorted(self, compiled: bool | None = None, *, transpose: bool = False) -> "Links":
        """Return the links sorted by ``(i, j)`` within each sentence, without repetitions."""
        if compiled or (compiled is None and len(self.pairs) >= _LINKS):
            from aligntools.formats.links import kernels_pharaoh

            pairs, offsets = np.empty_like(self.pairs), np.empty_like(self.offsets)
            size = kernels_pharaoh.sort_sentences(self.pairs, self.offsets, transpose, pairs, offsets)
            return Links(pairs[:size], offsets)
        pairs = self.pairs[:, ::-1] if transpose else self.pairs
        sentence, keys = self.sentences(), pairs[:, 0].astype(np.int64) << 32 | pairs[:, 1]
        if not np.all((keys[1:] > keys[:-1]) | (sentence[1:] > sentence[:-1])):
            order = np.lexsort((keys, sentence))
            sentence, keys, pairs = sentence[order], keys[order], pairs[order]
            new = np.ones(len(keys), bool)
            new[1:] = (keys[1:] != keys[:-1]) | (sentence[1:] != sentence[:-1])
            sentence, pairs = sentence[new], pairs[new]
        return Links(np.ascontiguousarray(pairs), np.searchsorted(sentence, np.arange(len(self) + 1)))


def concatenate(parts: Iterable[Links]) -> Links:
    """Join blocks of sentences."""
    parts = [Links(np.empty((0, 2), np.int32), np.zeros(1, np.int64)), *parts]
    counts = np.concatenate([[0], *(part.counts() for part in parts)])
    return Links(np.concatenate([part.pairs for part in parts]), np.cumsum(counts))


def tokenize_links(data: bytes, separators: bytes = b"-") -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Read lines of ``<number><separator><number>`` alone, in NumPy; None if a line is not of this form.

    Returns pairs (int32 [links, 2]), the separator of each link (uint8) and the offsets of the lines (int64).
    """
    kinds = np.full(256, 3, np.uint8)
    kinds[list(b" \t\r\n")], kinds[list(b"0123456789")], kinds[list(separators)] = 0, 1, 2
    text = np.frombuffer(data, np.uint8)
    kind = kinds[text]
    edges = np.diff(np.concatenate([[0], kind == 1, [0]]).astype(np.int8))
    begins, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    marks = np.flatnonzero(kind == 2)
    width = ends - begins
    # A separator follows every other number and the next number follows it: so no number has two of them.
    if (
        len(begins) != 2 * len(marks)
        or (kind == 3).any()
        or (ends[::2] != marks).any()
        or (begins[1::2] != marks + 1).any()
        or width.max(initial=0) > 9
    ):
        return None
    values = np.zeros(len(begins), np.int32)
    for place in range(width.max(initial=0)):
        has = np.flatnonzero(width > place)
        values[has] += (text[ends[has] - 1 - place] - np.uint8(48)).astype(np.int32) * np.int32(10**place)
    newlines = np.flatnonzero(text == 10)
    if len(text) and text[-1] != 10:
        newlines = np.append(newlines, len(text))
    offsets = np.concatenate([[0], np.searchsorted(marks, newlines)])
    return values.reshape(-1, 2), text[marks], offsets


def parse_pharaoh(
    data: bytes, *, path: object = "-", line: int = 1, index_base: int = 0, compiled: bool | None = None
) -> Links:
    """Read Pharaoh lines; see `read_pharaoh`."""
    if data and not data.endswith(b"\n"):
        data += b"\n"  # or a last line that is all prefix would be lost with it
    original = data
    if b"|||" in data:
        data = _PREFIX.sub(b"", data)
    if b":" in data:
        data = _SCORE.sub(b"", data)
    if compiled or (compiled is None and len(data) >= _BYTES):
        from aligntools.formats.links import kernels_pharaoh

        text = np.frombuffer(data, np.uint8)
        pairs = np.empty((data.count(b"-"), 2), np.int32)
        offsets = np.zeros(data.count(b"\n") + 1, np.int64)
        valid = kernels_pharaoh.parse_links(text, pairs, offsets) < 0
    else:
        tokens = tokenize_links(data)
        valid = tokens is not None
        if tokens is not None:
            pairs, _, offsets = tokens
    if not valid:
        raise _bad_link(original, path, line)
    if index_base:
        check_base(Links(pairs, offsets), path=path, line=line)
        pairs -= np.int32(index_base)
    return Links(pairs, offsets).sorted(compiled)


def _bad_link(data: bytes, path: object, line: int) -> DataError:
    """Return the error of the first line that is not made of links."""
    for number, row in enumerate(data.split(b"\n"), line):
        links = _PREFIX.sub(b"", row)
        for token in re.split(rb"[ \t\r]+", links):
            if token and not _LINK.fullmatch(token):
                shown, hint = files.start_of(token), ""
                if re.fullmatch(rb"\d+[?pP]\d+", token):
                    hint = "; possible links belong in gold files"
                elif links is not row and re.fullmatch(rb"-?[0-9.e+-]+", token):
                    hint = "; links are read after the last ' ||| ': remove a score there"
                return DataError(path, number, f"'{shown}' is not a link (numbers such as 3-4 are expected{hint})")
    return DataError(path, line, "lines that are not links")  # pragma: no cover


def check_base(links: Links, *, path: object, line: int = 1) -> None:
    """Raise a DataError where counting from 1 is claimed and a link has an index 0."""
    zero = np.flatnonzero((links.pairs == 0).any(axis=1))
    if len(zero):
        number = line + int(np.searchsorted(links.offsets, zero[0], side="right")) - 1
        i, j = links.pairs[zero[0]].tolist()
        raise DataError(path, number, f"link {i}-{j} has an index 0, but counting from 1 was asked for")


def check_range(
    links: Links,
    source_lengths: np.ndarray | None,
    target_lengths: np.ndarray | None,
    *,
    path: object,
    line: int = 1,
    index_base: int = 0,
) -> None:
    """Check that every link lies within its sentence pair; lengths are int64 [sentences], or None: unchecked."""
    first = None
    for side, lengths, name in ((0, source_lengths, "source"), (1, target_lengths, "target")):
        if lengths is not None:
            limits = np.repeat(np.asarray(lengths), links.counts())
            past = np.flatnonzero(links.pairs[:, side] >= limits)
            if len(past) and (first is None or past[0] < first[0]):
                first = int(past[0]), int(limits[past[0]]), name
    if first is None:
        return
    row, limit, name = first
    number = line + int(np.searchsorted(links.offsets, row, side="right")) - 1
    i, j = (links.pairs[row] + index_base).tolist()
    problem = (
        f"link {i}-{j} points past the {name} sentence, which has {limit} words"
        f" (indexes count from {index_base}; another text, another base or exchanged sides?)"
    )
    raise DataError(path, number, problem)


def count_words(data: bytes) -> np.ndarray:
    """Return the number of words of each line [dtype=int64]; words stand between spaces and tabs."""
    text = np.frombuffer(data.replace(b"\r\n", b"\n"), np.uint8)
    blank = (text == 32) | (text == 9) | (text == 10)
    begins = np.flatnonzero(~blank & np.concatenate([[True], blank])[: len(text)])
    newlines = np.flatnonzero(text == 10)
    if len(text) and text[-1] != 10:
        newlines = np.append(newlines, len(text))
    return np.diff(np.searchsorted(begins, newlines), prepend=0)


class LineReader:
    """A text file given out in blocks of as many lines as are asked for, in constant memory."""

    def __init__(self, path: object) -> None:
        self.path, self.line = str(path), 0
        self._blocks = files.blocks_of_lines(path, _BLOCK)
        self._data, self._ends, self._row = b"", np.zeros(0, np.int64), 0

    def read(self, most: int = _BLOCK_LINES, *, wait: bool = True, multiple: int = 1) -> bytes:
        """Return the next lines, ``most`` of them unless the file ends.

        wait: False: return as soon as there are any (standard input may be a live pipe).
        multiple: Return a multiple of so many lines, unless the file ends.
        """
        parts, ended = [], False
        count = len(self._ends) - self._row
        while count < most and not (count >= multiple and not wait):
            block = next(self._blocks, None)
            if block is None:
                ended = True
                break
            parts.append(block)
            count += block.count(b"\n") + (not block.endswith(b"\n"))
        begin = int(self._ends[self._row - 1]) if self._row else 0
        if parts:
            self._data = b"".join([self._data[begin:], *parts])
            self._ends = np.flatnonzero(np.frombuffer(self._data, np.uint8) == 10) + 1
            if not self._data.endswith(b"\n"):
                self._ends = np.append(self._ends, len(self._data))
            self._row = begin = 0
        lines = min(most, count)
        lines -= 0 if ended else lines % multiple
        if lines == 0:
            return b""
        self._row += lines
        self.line += lines
        return self._data[begin : int(self._ends[self._row - 1])]

    def count_rest(self) -> int:
        """Read to the end and return the number of lines of the whole file."""
        while self.read():
            pass
        return self.line

    def close(self) -> None:
        """Close the file."""
        self._blocks.close()


class LinkReader:
    """A Pharaoh file given out in blocks of sentences; see `LineReader` and `read_pharaoh`."""

    def __init__(self, path: object, *, index_base: int = 0, compiled: bool | None = None) -> None:
        self.lines = LineReader(path)
        self._index_base, self._compiled, self._bytes = index_base, compiled, 0

    def read(self, most: int = _BLOCK_LINES, *, wait: bool = True, multiple: int = 1) -> Links:
        """Return the links of the next lines; at the end, of none."""
        first = self.lines.line + 1
        data = self.lines.read(most, wait=wait, multiple=multiple)
        self._bytes += len(data)
        compiled = self._bytes >= _BYTES if self._compiled is None else self._compiled
        return parse_pharaoh(data, path=self.lines.path, line=first, index_base=self._index_base, compiled=compiled)

    def close(self) -> None:
        """Close the file."""
        self.lines.close()


def read_pharaoh(path: object, *, index_base: int = 0, head: int | None = None, compiled: bool | None = None) -> Links:
    """Read links ``i-j`` in any order, one line per sentence pair, ``head`` lines at most; an empty line has none.

    Links come after the last `` ||| `` of a line that has one. A probability after a link, ``3-4:0.9731``, is ignored.
    """
    blocks, left = [], head
    with closing(LinkReader(path, index_base=index_base, compiled=compiled)) as reader:
        while left is None or left > 0:
            block = reader.read(_BLOCK_LINES if left is None else min(left, _BLOCK_LINES))
            if not len(block):
                break
            blocks.append(block)
            left = left and left - len(block)
    return concatenate(blocks)


def format_pharaoh(
    links: Links, order: str = "source", probabilities: np.ndarray | None = None, compiled: bool | None = None
) -> bytes:
    """Write links as Pharaoh lines, as they are stored or, with ``order`` target, by ``(j, i)``.

    probabilities [links] or None: Written after each link with four decimals, as in ``3-4:0.9731``.
    """
    pairs = links.pairs
    parts = np.zeros(0, np.int32)
    if probabilities is not None:
        parts = (np.clip(np.asarray(probabilities, np.float64), 0, 1) * 10000 + 0.5).astype(np.int32)
    if compiled or (compiled is None and len(pairs) >= _LINKS):
        from aligntools.formats.links import kernels_pharaoh

        widest = 2 * len(str(pairs.max(initial=0))) + 2 + (7 if len(parts) else 0)
        out = np.empty(len(pairs) * widest + len(links), np.uint8)
        size = kernels_pharaoh.write_links(pairs, links.offsets, order == "target", parts, out)
        return out[:size].tobytes()
    if order == "target":
        by_target = np.lexsort((pairs[:, 0], pairs[:, 1], links.sentences()))
        pairs, parts = pairs[by_target], parts[by_target] if len(parts) else parts
    words = [f"{i}-{j}" for i, j in pairs.tolist()]
    if len(parts):
        words = [f"{w}:{p // 10000}.{p % 10000:04}" for w, p in zip(words, parts.tolist(), strict=True)]
    rows = (" ".join(words[a:b]) for a, b in itertools.pairwise(links.offsets.tolist()))
    return "".join(row + "\n" for row in rows).encode()


_SCORED = re.compile(rb"(\d{1,9})-(\d{1,9}):([0-9.]+(?:[eE][+-]?\d+)?)(?!\S)")


def read_with_probabilities(path: object, *, index_base: int = 0) -> tuple[Links, np.ndarray | None]:
    """Read Pharaoh lines as `read_pharaoh` does, and the probabilities of links, float64 [links], NaN for none.

    None where no link has one. Of a link that is there twice the last counts.
    """
    with files.reading(path, FOR_OBJECTS) as file:
        data = file.read()
    links = parse_pharaoh(data, path=path, index_base=index_base)
    if b":" not in data:
        return links, None
    found: dict[tuple[int, int, int], float] = {}
    for line, row in enumerate(data.split(b"\n")):
        for i, j, p in _SCORED.findall(row.rpartition(b"|||")[2] if b"|||" in row else row):
            try:
                found[line, int(i) - index_base, int(j) - index_base] = min(float(p), 1.0)
            except ValueError:  # 0.1.2, which the reader of links lets pass
                continue
    keys = zip(links.sentences().tolist(), *links.pairs.T.tolist(), strict=True)
    values = np.array([found.get(key, np.nan) for key in keys])
    return links, None if np.isnan(values).all() else values
