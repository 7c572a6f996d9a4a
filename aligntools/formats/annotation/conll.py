"""CoNLL-X and CoNLL-U: ten columns a word, a blank line after a sentence; what is not asked about stays as it was.

Both are read in the same way: CoNLL-U is CoNLL-X with more kinds of lines, which are comments (``#``), multiword
ranges (``3-4``) and empty nodes (``8.1``). A file is kept as its lines; columns of the word lines
are cut out when they are asked for, and put back into the same lines. Everything else, down to the line ends,
is written unchanged. CoNLL-U Plus and CoNLL-2009 have the same columns in other places, which a `Layout` says.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, repeat

import numpy as np

from aligntools.formats.annotation.conll_layouts import (
    BASIC,
    COLUMNS,
    CONLL_2009,
    HEADER,
    PREDICTED_2009,
    Layout,
    layout_of,
    plus,
)
from aligntools.formats.annotation.text_kinds import first_lines, refuse_for
from aligntools.formats.opening import files
from aligntools.formats.opening.files import FOR_OBJECTS
from aligntools.ground.errors import AligntoolsError, DataError, UsageProblem, one_line
from aligntools.words.vocabulary import split_words
from aligntools.words.white_space import is_blank

_EDGE = re.compile(rb"\d+(\.\d+)?:")
#: The relation of an edge whose DEPREL is ``_``: Universal Dependencies' one for what is not known.
UNKNOWN = b"dep"


def tree_graph(
    conll: "Conll", heads: Sequence[bytes], labels: Sequence[bytes], changed: Sequence[bool] | None = None
) -> list[bytes]:
    """Return DEPS for all words, given HEAD and DEPREL: the new trees' edges where there was an enhanced graph.

    changed: Sentences with new heads; the others' DEPS stay as they are. None: all have, and DEPS that is no graph is
        emptied, too.
    """
    place = conll.layout.places[COLUMNS["deps"]]
    deps = [b"_"] * len(conll.places) if changed is None else conll.column(COLUMNS["deps"])
    for k, (begin, end) in enumerate(pairwise(conll.starts.tolist())):
        if place is None or (changed is not None and not changed[k]):
            continue
        lines = (line for line in conll.lines[begin:end] if line[:1].isdigit())
        if not any(_EDGE.match(line.split(b"\t", place + 1)[place]) for line in lines):
            continue
        for word in range(*conll.offsets[k : k + 2].tolist()):
            head, label = heads[word], labels[word]
            relation = b"root" if head == b"0" else UNKNOWN if label == b"_" else label
            deps[word] = b"_" if head == b"_" else head + b":" + relation
    return deps


_WIDTH = len(COLUMNS)
_RANGE_OR_EMPTY = re.compile(rb"([1-9]\d*)-([1-9]\d*)|(\d+)\.([1-9]\d*)")
_SENTENCE_COMMENT = re.compile(rb"#\s*(sent_id|text)\s*=")


def column_place(column: str | int) -> int:
    """Return the 0-based place of a column given by name (see `COLUMNS`) or by number, counted from 1."""
    if isinstance(column, str):
        if column not in COLUMNS:
            raise UsageProblem(f"column '{column}': give a number, counted from 1, or one of {', '.join(COLUMNS)}")
        return COLUMNS[column]
    if not isinstance(column, int) or not 1 <= column <= len(COLUMNS):
        raise UsageProblem(f"column {column}: CoNLL has columns 1 to {len(COLUMNS)}")
    return column - 1


@dataclass(eq=False)
class Conll:
    """Sentences as the lines of their file; where these are parts, the parts' lines joined are the file.

    A sentence is a block of lines up to a blank one that has a word line, whose id is a whole number, or a comment with
    ``sent_id`` or ``text``.

    places (int64 [words]): Indexes of the word lines in ``lines``.
    offsets (int64 [sentences + 1]): Sentence ``n`` has the words ``offsets[n]:offsets[n + 1]``.
    starts (int64 [sentences + 1]): The block of sentence ``n`` is ``lines[starts[n]:starts[n + 1]]``, with the blank
        lines behind it and, for the first one, all lines before it.
    first_line: 1-based number of ``lines[0]`` in the file.
    """

    path: str
    lines: list[bytes]
    places: np.ndarray
    offsets: np.ndarray
    starts: np.ndarray
    first_line: int = 1
    layout: Layout = BASIC

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def words(self) -> list[bytes]:
        """The forms of all words; DataError where one is empty."""
        found = self.column(COLUMNS["form"])
        if b"" in found:
            problem = "column 2 (FORM) is empty; a word, or _, was expected"
            raise DataError(self.path, self.line_of_word(found.index(b"")), problem)
        return found

    def column(self, n: int) -> list[bytes]:
        """Return a column, counted from 0 as CoNLL-U has them, of all word lines; ``_`` where the file has none."""
        if not 0 <= n < _WIDTH:
            raise ValueError(f"a column is 0 to {_WIDTH - 1}, not {n}")
        lines, place = [self.lines[at] for at in self.places.tolist()], self.layout.places[n]
        if place is None:
            return [b"_"] * len(lines)
        if place == self.layout.width - 1 and not self.layout.open:
            return [line[line.rindex(b"\t") + 1 :].rstrip(b"\n").removesuffix(b"\r") for line in lines]
        return [line.split(b"\t", place + 1)[place] for line in lines]

    def heads(self) -> np.ndarray:
        """Return the number of each word's head in its sentence, int32 [words]: 0 for a root, -1 for ``_``."""
        values = self.column(COLUMNS["head"])
        due = f"column {(self.layout.places[COLUMNS['head']] or 0) + 1} is another word's id,"
        if (bad := next((k for k, v in enumerate(values) if not v.isdigit() and v != b"_"), None)) is not None:
            problem = f"head '{_shown(values[bad])}' is not a number; {due} 0 for the root, or _"
            raise DataError(self.path, self.line_of_word(bad), problem)
        numbers = (-1 if value == b"_" else int(value) if len(value) < 10 else 1 << 30 for value in values)
        heads = np.fromiter(numbers, np.int32, len(values))
        lengths = np.diff(self.offsets)
        own = np.arange(1, len(heads) + 1) - np.repeat(self.offsets[:-1], lengths)
        wrong = np.flatnonzero((heads > np.repeat(lengths, lengths)) | (heads == own))
        if len(wrong):
            k = int(wrong[0])
            if heads[k] == own[k]:
                problem = f"head {_shown(values[k])} is the word itself"
            else:
                sentence = int(np.searchsorted(self.offsets, k, "right")) - 1
                problem = f"head {_shown(values[k])} is past the sentence's last word, {lengths[sentence]}"
            raise DataError(self.path, self.line_of_word(k), f"{problem}; {due} or 0")
        return heads

    def line_of_word(self, k: int) -> int:
        """Return the 1-based number of a word's line in the file."""
        return self.first_line + int(self.places[k])

    def sentence_lines(self) -> np.ndarray:
        """Return the 1-based line of each sentence's first word, int64; without words, of its block's first line."""
        numbers = self.starts[:-1].copy()
        some = np.diff(self.offsets) > 0
        numbers[some] = self.places[self.offsets[:-1][some]]
        return numbers + self.first_line

    def part(self, begin: int, end: int) -> "Conll":
        """Return the sentences ``begin:end``."""
        a, b = int(self.starts[begin]), int(self.starts[end])
        first, last = int(self.offsets[begin]), int(self.offsets[end])
        return Conll(
            self.path,
            self.lines[a:b],
            self.places[first:last] - a,
            self.offsets[begin : end + 1] - first,
            self.starts[begin : end + 1] - a,
            self.first_line + a,
            self.layout,
        )

    def predicted(self) -> "Conll":
        """Return the lines of CoNLL-2009 with the predicted columns in the place of the gold's; refuse other CoNLL."""
        if self.layout not in (CONLL_2009, PREDICTED_2009) and len(self.places):
            problem = (
                f"{self.layout.name}; `predicted_columns` is for CoNLL-2009, which has columns of what was predicted"
            )
            raise DataError(self.path, self.line_of_word(0), problem)
        return replace(self, layout=PREDICTED_2009) if len(self.places) else self

    def format(self, replacing: Mapping[int, Sequence[bytes]] | None = None) -> bytes:
        """Return the text, some columns of the word lines replaced; with HEAD DEPS is, too (see `tree_graph`)."""
        lines, replacing, columns = list(self.lines), dict(replacing or {}), dict[int, Sequence[bytes]]()
        if (heads := replacing.get(COLUMNS["head"])) is not None and COLUMNS["deps"] not in replacing:
            check_values(heads, len(self.places), COLUMNS["head"])
            before, labels = self.column(COLUMNS["head"]), replacing.get(COLUMNS["deprel"])
            changed = [heads[begin:end] != before[begin:end] for begin, end in pairwise(self.offsets.tolist())]
            replacing[COLUMNS["deps"]] = tree_graph(self, heads, labels or self.column(COLUMNS["deprel"]), changed)
        for n, values in replacing.items():
            if not 0 < n < _WIDTH:
                raise ValueError(f"a column that can be replaced is 1 to {_WIDTH - 1}, not {n}")
            check_values(values, len(self.places), n)
            place = self.layout.places[n]
            if place is not None:
                columns[place] = values
            elif any(value != b"_" for value in values):
                name = list(COLUMNS)[n].upper()
                problem = f"{self.layout.name} without a column for {name}, which is to be written"
                advice = "convert it to CoNLL-U, or add the column to global.columns"
                raise DataError(self.path, None, f"{problem}; {advice}")
        for place, *row in zip(self.places.tolist(), *columns.values(), strict=True) if columns else ():
            fields = lines[place].split(b"\t")
            for n, value in zip(columns, row, strict=True):
                last = fields[n]
                fields[n] = value + last[len(last.rstrip(b"\r\n")) :] if n == len(fields) - 1 else value
            lines[place] = b"\t".join(fields)
        return b"".join(lines)


def read_conll(path: object) -> Conll:
    """Read a whole file; one without words has no sentences."""
    with files.reading(path, FOR_OBJECTS) as file:
        seen, lines = first_lines(file)
        refuse_for(path, seen, "conll")
        return parse_conll(path, list(lines))


def stream_conll(path: object, sentences: int = 10_000) -> Iterator[Conll]:
    """Yield a file in parts of at most ``sentences`` sentences, each as soon as the blank line after it is read."""
    with files.reading(path) as file:
        seen, lines = first_lines(file)
        refuse_for(path, seen, "conll")
        yield from parse_parts(path, lines, sentences)


def parse_parts(path: object, lines: Iterable[bytes], sentences: int) -> Iterator[Conll]:
    """Cut lines into parts as `stream_conll` does."""
    layout = None
    for first, part in blocks_of(lines, sentences):
        conll = parse_conll(path, part, first, layout)
        yield conll
        layout = conll.layout


def blocks_of(lines: Iterable[bytes], blocks: int) -> Iterator[tuple[int, list[bytes]]]:
    """Cut lines into parts of ``blocks`` blocks; yield the number of a part's first line, and its lines."""
    pending, count, inside, first = [], 0, False, 1
    for line in lines:
        pending.append(line)
        if not is_blank(line):
            inside = True
        elif inside:
            inside = False
            count += 1
            if count == blocks:
                yield first, pending
                first += len(pending)
                pending, count = [], 0
    if pending:
        yield first, pending


def parse_conll(path: object, lines: list[bytes], first_line: int = 1, layout: Layout | None = None) -> Conll:
    """Find sentences and words in lines that end as in the file; ``layout`` is that of the lines before."""
    layout = layout or layout_of(path, lines, first_line)
    ids = [line[: line.find(b"\t")] for line in lines]  # nothing useful, but no number, without a tab
    is_word = np.fromiter(map(bytes.isdigit, ids), bool, len(ids))
    places = np.flatnonzero(is_word)
    blanks, named, others = list[int](), list[int](), list[int]()
    for k in np.flatnonzero(~is_word).tolist():
        line = lines[k]
        if is_blank(line):
            blanks.append(k)
        elif line.startswith(b"#"):
            if _SENTENCE_COMMENT.match(line):
                named.append(k)
            elif (header := HEADER.match(line)) and plus(path, header[1], first_line + k).places != layout.places:
                raise DataError(path, first_line + k, "other global.columns than before; read each such file by itself")
        elif not _RANGE_OR_EMPTY.fullmatch(ids[k]) or not layout.fits(line.count(b"\t") + 1):
            raise DataError(path, first_line + k, _what_is_wrong(line, layout))
        else:
            others.append(k)
    tabs = np.fromiter(map(bytes.count, [lines[k] for k in places.tolist()], repeat(b"\t")), np.int64, len(places))
    wrong = tabs < layout.width - 1 if layout.open else tabs != layout.width - 1
    if np.any(wrong):
        k = int(places[np.argmax(wrong)])
        raise DataError(path, first_line + k, _what_is_wrong(lines[k], layout))
    form = layout.places[COLUMNS["form"]]
    for k in places.tolist():
        if form is not None and b"\t\t" in lines[k] and not lines[k].split(b"\t", form + 1)[form]:
            raise DataError(path, first_line + k, "the column FORM is empty; a form that is not known is _")
    offsets, starts = _sentences(np.array(blanks, np.int64), places, np.array(named, np.int64), len(lines))
    found = [ids[place] for place in places.tolist()]
    expected = [b"%d" % k for k in range(1, int(np.diff(offsets).max(initial=0)) + 1)]
    for begin, end in pairwise(offsets.tolist()):
        if found[begin:end] != expected[: end - begin]:
            k = next(k for k in range(begin, end) if found[k] != expected[k - begin])
            problem = f"id {_shown(found[k])} where {k - begin + 1} comes next; the words of a sentence are numbered"
            advice = "from 1, and a blank line ends the sentence"
            raise DataError(path, first_line + int(places[k]), f"{problem} {advice}")
    _check_others(path, first_line, {k: ids[k] for k in others}, np.array(blanks, np.int64), places, offsets)
    if layout.open and np.any(
        uneven := tabs != np.repeat(tabs[offsets[:-1][np.diff(offsets) > 0]], np.diff(offsets)[np.diff(offsets) > 0])
    ):
        k = int(np.argmax(uneven))
        problem = f"{tabs[k] + 1} columns, where the line before has {tabs[k - 1] + 1}"
        raise DataError(path, first_line + int(places[k]), f"{problem}; all lines of a sentence have equally many")
    return Conll(str(path), lines, places, offsets, starts, first_line, layout)


def _sentences(blanks: np.ndarray, places: np.ndarray, named: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where the words and where the lines of each sentence begin."""
    of_words = np.searchsorted(blanks, places)  # blocks are numbered by the blank lines before them
    blocks = np.union1d(of_words, np.searchsorted(blanks, named))
    offsets = np.append(np.searchsorted(of_words, blocks), len(places)).astype(np.int64)
    starts = np.zeros(len(blocks) + 1, np.int64)
    if len(blocks):
        # A sentence ends with the blank lines behind it; what else stands between two goes with the second.
        runs = np.append(np.flatnonzero(np.diff(blanks) != 1), len(blanks) - 1)  # the last blank line of each run
        starts[1:-1] = blanks[runs[np.searchsorted(runs, blocks[:-1])]] + 1
    starts[-1] = count
    return offsets, starts


def _check_others(
    path: object, first_line: int, ids: dict[int, bytes], blanks: np.ndarray, places: np.ndarray, offsets: np.ndarray
) -> None:
    """Check the ids of ranges and of empty nodes: that they stand where they have to, and ranges do not overlap."""
    of_words, of_lines = np.searchsorted(blanks, places), np.searchsorted(blanks, list(ids))
    begins = np.searchsorted(of_words, of_lines)  # words before the block
    lengths = np.searchsorted(of_words, of_lines, "right") - begins
    before = np.searchsorted(places, list(ids)) - begins
    block, reached, last = -1, 0, (0, 0)
    for (k, found), own, length, words in zip(
        ids.items(), of_lines.tolist(), lengths.tolist(), before.tolist(), strict=True
    ):
        if own != block:
            block, reached, last = own, 0, (0, 0)
        match = _RANGE_OR_EMPTY.fullmatch(found)
        assert match is not None
        first, end, word, number = (int(x) if x else 0 for x in match.groups())
        if number:
            if (word, number) != (words, last[1] + 1 if last[0] == words else 1):
                problem = f"the empty node {found.decode()} must stand behind word {word}, numbered from {word}.1 on"
                raise DataError(path, first_line + k, problem)
            last = word, number
            continue
        if first == words + 1 and end > length:
            problem = f"the range {found.decode()} goes past the sentence's last word, {length}"
            raise DataError(path, first_line + k, problem)
        if first != words + 1 or end <= first or first <= reached:
            problem = f"the range {found.decode()} must stand before word {first}, be of several words, and of words"
            raise DataError(path, first_line + k, f"{problem} that are in no other range")
        reached = end


def _what_is_wrong(line: bytes, layout: Layout) -> str:
    """Describe a line that is not a line of CoNLL."""
    columns = line.count(b"\t") + 1
    if columns > 1 and not layout.usual and not layout.fits(columns):
        said = "global.columns has" if layout.name == "CoNLL-U Plus" else f"{layout.name} has at least"
        return f"{columns} columns; {said} {layout.width}"
    if columns == 1:
        if len(split_words(line)) > 1:
            return f"no tab; CoNLL has {_WIDTH} columns with tabs between them, not spaces"
        return f"'{_shown(line.strip())}' alone on a line; CoNLL has {_WIDTH} columns with tabs between them"
    if not layout.fits(columns):
        return f"{columns} columns; CoNLL-X and CoNLL-U have {_WIDTH} (_ stands where there is nothing)"
    found = _shown(line[: line.index(b"\t")])
    return f"id '{found}' is not a number, a range such as 3-4, or an empty node such as 8.1"


def _shown(value: bytes) -> str:
    text = value.decode("utf-8", "replace")
    return text if len(text) <= 40 else text[:40] + "..."


def check_values(values: Sequence[bytes], count: int, n: int) -> None:
    """Check new values of column ``n``; in the last column none may end with a carriage return."""
    if len(values) != count:
        raise ValueError(f"{len(values)} values for {count} words")
    for value in set(values):
        if not value or b"\t" in value or b"\n" in value or (n == _WIDTH - 1 and value.endswith(b"\r")):
            raise AligntoolsError(
                f"'{one_line(_shown(value))}' cannot stand in column {n + 1} of CoNLL: it is empty, or has"
                " a tab or a line's end"
            )


def format_conll(
    words: Sequence[bytes], offsets: list[int] | np.ndarray, columns: dict[int, Sequence[bytes]] | None = None
) -> bytes:
    """Write new sentences, ``_`` in every column that is not given.

    offsets (int64 [sentences + 1]): A sentence without words becomes a ``# text =`` line, and is read back as such.
    """
    given = {1: words, **(columns or {})}
    for n, values in given.items():
        if not 0 < n < _WIDTH:
            raise ValueError(f"a column that can be given is 1 to {_WIDTH - 1}, not {n}")
        check_values(values, len(words), n)
    offsets = np.asarray(offsets)
    lengths = np.diff(offsets)
    ids = [b"%d" % k for length in lengths.tolist() for k in range(1, length + 1)]
    rows = zip(*[ids if n == 0 else given.get(n, repeat(b"_")) for n in range(_WIDTH)], strict=False)
    lines = [b"\t".join(row) for row in rows]
    return b"".join(
        b"\n".join(lines[begin:end]) + b"\n\n" if end > begin else b"# text =\n\n"
        for begin, end in pairwise(offsets.tolist())
    )
