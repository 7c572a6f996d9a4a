"""GIZA++'s files of links and tables: ``*.A3.final``, what a model learned, and the lines that symal reads."""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from os import PathLike
from typing import NamedTuple

import numpy as np

from aligntools.formats.links.pharaoh import Links
from aligntools.formats.opening import files
from aligntools.formats.opening.files import writing
from aligntools.formats.opening.json_text import as_number
from aligntools.ground.errors import DataError
from aligntools.words.vocabulary import split_words
from aligntools.words.white_space import is_blank

_A3_HEADER = re.compile(rb"# Sentence pair \((\d{1,9})\) source length (\d{1,9}) target length (\d{1,9}) ")
_A3_WORD = re.compile(rb" \(\{ ((?:\d{1,9} )*)\}\)")
#: A file of n pairs may have numbers up to this times n, and this more: parts of a large run have large numbers.
_SPARSE = 1000


def read_giza_a3(path: str) -> tuple[Links, int]:
    """Read GIZA++'s or MGIZA's Viterbi alignments (``*.A3.final``); also return how many pairs it does not have.

    Pairs are put in the order of their numbers, so that the parts of a parallel run may simply be joined. ``i`` is the
    position in the sentence that generates (the file's third line, without NULL), ``j`` in the generated one.
    """
    found: dict[int, list[tuple[int, int]]] = {}
    for line, (number, source_length, target_length), (_, _, words) in giza_records(path):
        if number in found:
            raise DataError(path, line, f"sentence pair {number} comes twice")
        lists = _A3_WORD.findall(words)
        if len(lists) != source_length + 1:
            raise DataError(path, line + 2, f"{len(lists)} words where NULL and {source_length} words are expected")
        links = [(i, int(j) - 1) for i, js in enumerate(lists[1:]) for j in js.split()]
        targets = [j for _, j in links]
        if len(set(targets)) < len(targets):
            raise DataError(path, line + 2, "a target position comes twice")
        if targets and not 0 <= min(targets) <= max(targets) < target_length:
            raise DataError(path, line + 2, f"a position outside 1 to {target_length}, the target length")
        found[number] = links
    highest = max(found, default=0)
    if highest > _SPARSE * (len(found) + _SPARSE):
        raise DataError(path, None, f"has a sentence pair {highest} and only {len(found)} pairs; a number is wrong")
    return Links.from_lists(found.get(number, ()) for number in range(1, highest + 1)), highest - len(found)


def giza_records(path: str) -> Iterator[tuple[int, tuple[int, int, int], tuple[bytes, bytes, bytes]]]:
    """Yield of each pair of an ``*.A3.final`` file the line that it begins on, its header and its three lines.

    A header is the pair's number, and how many words generate and are generated.
    """
    rows = enumerate(files.lines(path), 1)
    for line, header in rows:
        if is_blank(header):
            continue
        match = _A3_HEADER.match(header)
        target, words = (next(rows, (0, None))[1] for _ in range(2))
        if match is None:
            raise DataError(path, line, "'# Sentence pair (N) source length ...' of GIZA++ is expected here")
        if target is None or words is None:
            raise DataError(path, line, "the file ends within a sentence pair")
        number, source_length, target_length = map(int, match.groups())
        yield line, (number, source_length, target_length), (header, target, words)


def format_giza_a3(
    links: Links,
    sources: bytes,
    targets: bytes,
    *,
    path: object = "-",
    line: int = 1,
    scores: Sequence[float] | None = None,
) -> bytes:
    """Write links, at most one for each target word, as ``*.A3.final``, three lines for each sentence pair.

    sources, targets: As many lines, of what generates and of what is generated. scores: Probabilities; None writes 1.
    """
    written = []
    texts = (text.split(b"\n") for text in (sources, targets))
    for number, (pairs, source, target) in enumerate(zip(links.tolists(), *texts, strict=False), line):
        source_words, target_words = (split_words(side.removesuffix(b"\r")) for side in (source, target))
        places: list[list[int]] = [[] for _ in range(len(source_words) + 1)]
        free = set(range(len(target_words)))
        for i, j in pairs:
            if j not in free:
                problem = f"target word {j} has several links, and GIZA++'s form has one (give a single direction)"
                raise DataError(path, number, problem)
            free.remove(j)
            places[i + 1].append(j + 1)
        places[0] = [j + 1 for j in sorted(free)]
        lists = [b"({ %s})" % b"".join(b"%d " % j for j in sorted(js)) for js in places]
        lengths = len(source_words), len(target_words)
        written += [
            b"# Sentence pair (%d) source length %d target length %d alignment score : %s"
            % (number, *lengths, b"1" if scores is None else b"%.6g" % scores[number - line]),
            b" ".join([*target_words, b""]),
            b" ".join(b"%s %s" % pair for pair in zip([b"NULL", *source_words], lists, strict=True)) + b" ",
        ]
    return b"".join(row + b"\n" for row in written)


#: Number of the first word.
FIRST = 2
#: GIZA++'s longest sentence; its tables of distances go from less than this to more than it.
LONGEST = 101
#: Smaller probabilities are left out.
LEAST = 1e-7
#: How the name of the HMM's jumps ends, and before ``.alpha`` that of its first positions.
JUMPS = "hhmm.final"
#: Jumps and first positions are told apart up to this distance.
FARTHEST_JUMP = 100


@dataclass(frozen=True, eq=False)
class GizaTables:
    """What a model of one direction learned; None for what it does not have.

    given, observed, probabilities (int64 [n], int64 [n], float [n]): ``t(f | e)`` by the numbers of e and f.
    fertilities (float [n_given_words, n]): ``n(phi | e)``, of the words ``fertile`` (int64), or those from FIRST on.
    positions: ``a(i | j, l)`` and ``d(j | i, m)``: arrays i, j, length (l and m) and probability each.
    heads (float [n_given_classes, n_observed_classes, 2 LONGEST + 1]): ``d1``; rows of zeros are left out.
    others (float [n_observed_classes, 2 LONGEST + 1]): ``d>1``.
    jumps (float [2 FARTHEST_JUMP + 1]), first (float [FARTHEST_JUMP]): Of the HMM.
    """

    given: np.ndarray
    observed: np.ndarray
    probabilities: np.ndarray
    fertilities: np.ndarray | None
    positions: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]
    p0: float | None
    heads: np.ndarray | None = None
    others: np.ndarray | None = None
    jumps: np.ndarray | None = None
    first: np.ndarray | None = None
    fertile: np.ndarray | None = None

    def renumbered(self, given: np.ndarray, observed: np.ndarray) -> "GizaTables":
        """Return the same with other numbers of words: those of the words from FIRST on, int64."""
        none = np.zeros(FIRST, np.int64)
        numbers = np.append(none, given)[self.given], np.append(none, observed)[self.observed]
        return replace(self, given=numbers[0], observed=numbers[1], fertile=given)


def write_classes(path: str, words: Sequence[bytes], classes: np.ndarray) -> np.ndarray:
    """Write ``word TAB class`` lines, words in order; return each class's number as GIZA++ counts them, int64.

    It counts from 1 as it meets them in the file; 0 is that of words without one, -1 is of classes without words.
    """
    order = sorted(range(len(words)), key=words.__getitem__)
    _, first = np.unique(classes[order], return_index=True)
    met = classes[order][np.sort(first)]
    numbers = np.full(int(classes.max(initial=0)) + 1, -1, np.int64)
    numbers[met[met == 0]] = 0
    numbers[met[met > 0]] = np.arange(1, np.count_nonzero(met) + 1)
    _write(path, (b"%s\t%d\n" % (words[n], numbers[classes[n]]) for n in order))
    return numbers


def write_tables(prefix: str, tables: GizaTables) -> list[str]:
    """Write a direction's tables; return the ends of the files' names."""
    t = zip(tables.given.tolist(), tables.observed.tolist(), tables.probabilities.tolist(), strict=True)
    files: dict[str, Iterable[bytes]] = {"t3.final": (b"%d %d %.6g\n" % row for row in t)}
    if tables.fertilities is not None:
        rows = np.where(tables.fertilities > LEAST, tables.fertilities, 0)
        of = range(FIRST, FIRST + len(rows)) if tables.fertile is None else tables.fertile.tolist()
        files["n3.final"] = (b"%d %s\n" % (n, _numbers(row)) for n, row in zip(of, rows, strict=True))
    # as with GIZA++'s CompactADTable, lengths of the one side are not told apart, and stand there as its longest
    for name, rows_of, order in zip(("a3.final", "d3.final"), tables.positions, ("ij", "ji"), strict=False):
        i, j, length, p = (column.tolist() for column in rows_of)
        first, second = (i, j) if order == "ij" else (j, i)
        lengths = (length, [LONGEST - 1] * len(i))
        l, m = lengths if order == "ij" else lengths[::-1]  # noqa: E741 - the paper's names
        files[name] = (b"%d %d %d %d %.6g\n" % row for row in zip(first, second, l, m, p, strict=True))
    if tables.p0 is not None:
        files["p0_3.final"] = [b"%.6g\n" % tables.p0]
    if (heads := tables.heads) is not None and (others := tables.others) is not None:
        given = _DEPENDENCIES, heads.shape[-1]
        files["d4.final"] = (
            b"%d 0 0 %d %d 0 -1 -1 %d %s\n" % (given[0], f, e, given[1], _numbers(heads[e, f]))
            for e, f in np.argwhere(heads.any(-1)).tolist()
        )
        files["D4.final"] = (
            b"%d 0 0 %d 0 0 -1 -1 %d\n%s\n" % (given[0], f, given[1], _numbers(others[f]))
            for f in np.flatnonzero(others.any(-1)).tolist()
        )
    if tables.jumps is not None and tables.first is not None:
        # MGIZA's line: no conditions, the first place and the last, and each place, which is less a jump
        n, jumps = FARTHEST_JUMP, tables.jumps[::-1].tolist()
        places = b"".join(b"%d %.9g " % row for row in zip(range(-n, n + 1), jumps, strict=True))
        files[JUMPS] = [b"%d 0 0 0 0 %d %d %s\n" % (n, -n, n, places)]
        count = len(tables.first)
        files[f"{JUMPS}.alpha"] = [b"%d %d %s\n" % (count, count, _numbers(tables.first, b"%.9g "))]
    for name, lines in files.items():
        _write(f"{prefix}.{name}", lines)
    return list(files)


def _numbers(row: np.ndarray, form: bytes = b"%.6g ") -> bytes:
    return b"".join(form % p for p in row.tolist())


#: Which conditions distances have: classes of the word before and of the word, and of the word alone.
_DEPENDENCIES = 76


def write_settings(path: str, settings: dict[str, object]) -> None:
    """Write ``name value`` lines, in the order of the names."""
    _write(path, (f"{name} {value}\n".encode() for name, value in sorted(settings.items())))


def _write(path: str, lines: Iterable[bytes]) -> None:
    with writing(path) as file:
        rest = iter(lines)
        while batch := list(islice(rest, 100_000)):
            file.write(b"".join(batch))


def parse_bal(data: bytes, *, path: object = "-", line: int = 1) -> tuple[Links, Links]:
    """Read whole sentence pairs: links ``(f, e)`` of ``a``, at most one for each f, and of ``b``, one for each e."""
    rows = data.split(b"\n")
    if not rows[-1]:
        rows.pop()
    if len(rows) % 3:
        raise DataError(path, line + len(rows) - 1, "the file ends within a sentence pair (three lines each)")
    direct, inverse = [], []
    for k in range(0, len(rows), 3):
        if not rows[k].strip().isdigit():
            raise DataError(
                path, line + k, f"'{files.start_of(rows[k], 60)}' is not the count that a sentence pair begins with"
            )
        b, a = _positions(rows[k + 1], path, line + k + 1), _positions(rows[k + 2], path, line + k + 2)
        for at, positions, others in ((k + 1, b, a), (k + 2, a, b)):
            if positions and not 0 <= min(positions) <= max(positions) <= len(others):
                problem = f"a position outside 0 to {len(others)}, the words of the other side"
                raise DataError(path, line + at, problem)
        direct.append([(f, e - 1) for f, e in enumerate(a) if e])
        inverse.append([(f - 1, e) for e, f in enumerate(b) if f])
    return Links.from_lists(direct), Links.from_lists(inverse)


def _positions(row: bytes, path: object, line: int) -> list[int]:
    """Return the positions behind the words of a line."""
    fields = row.split()
    words = int(fields[0]) if fields and _NUMBER.fullmatch(fields[0]) else -1
    numbers = fields[words + 2 :]
    if words < 0 or len(numbers) != words or fields[words + 1] != b"#" or not all(map(_NUMBER.fullmatch, numbers)):
        raise DataError(
            path, line, f"'{files.start_of(row, 60)}' is not N words, '#' and N positions (as giza2bal.pl writes them)"
        )
    return list(map(int, numbers))


def format_union(direct: Links, inverse: Links) -> bytes:
    """Write the union of two directions in symal's order: the direct links, then what is in the inverse ones alone."""
    lines = []
    for first, second in zip(direct.tolists(), inverse.tolists(), strict=True):
        seen = set(first)
        rest = sorted((pair for pair in second if pair not in seen), key=lambda pair: pair[1])
        lines.append(" ".join([f"{i}-{j}" for i, j in [*first, *rest]]) + "\n")
    return "".join(lines).encode()


#: Classes of words are numbered up to this.
_MOST_CLASSES = 10_000
#: Fertilities of a line at most; longer sentences than these GIZA++ does not read.
_MOST_FERTILITIES = 1000
_MOST_DISTANCES = 2_001
_NUMBER = re.compile(rb"[0-9]{1,9}")
#: Weights of the HMM's tables need not sum to 1.
_WEIGHT = sys.float_info.max, "number from 0 on"
_DISTORTED = "nine numbers, the last of them odd, and as many probabilities as it says"


class Entries(NamedTuple):
    """A table: whole numbers, int64 [n, columns], and the probabilities behind them, float64 [n] or [n, values].

    Of ``n(phi | e)`` the whole number is a word's; of distances of IBM 4 the classes of the word and of the one before.
    """

    keys: np.ndarray
    p: np.ndarray


def whole_lines(path: str | PathLike[str]) -> Iterator[tuple[int, bytes]]:
    """Yield a file's lines with their numbers; refuse a last one without an end, which was cut off."""
    number = 0
    with files.reading(path) as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                raise DataError(path, number, "the file ends within this line; it was cut off, write it again")
            yield number, line.rstrip(b" \t\r\n")
    if not number:
        raise DataError(path, None, "is empty; write it again")


def _probability(
    path: object, number: int, field: bytes, most: float = 1.001, what: str = "probability, from 0 to 1"
) -> float:
    """Return a number of a field, which rounding may have made a little more than 1."""
    found = as_number(field)
    if not 0 <= found <= most:
        raise DataError(path, number, f"'{files.start_of(field)}' is not a {what}")
    return found


def read_entries(path: str | PathLike[str], columns: int, form: str) -> Entries:
    """Read a table of so many whole numbers and a probability on each line; ``form`` is what messages call a line."""
    keys: list[int] = []
    p: list[float] = []
    for number, line in whole_lines(path):
        fields = line.split()
        if len(fields) != columns + 1 or not all(map(_NUMBER.fullmatch, fields[:-1])):
            raise DataError(path, number, f"'{files.start_of(line)}' is not {form}")
        keys.extend(map(int, fields[:-1]))
        p.append(_probability(path, number, fields[-1]))
    return Entries(np.array(keys, np.int64).reshape(-1, columns), np.array(p))


def read_fertilities(path: str | PathLike[str]) -> Entries:
    """Read ``n3.final``: ``e n(0|e) n(1|e) ..``, as many on each line."""
    words: list[int] = []
    rows: list[list[float]] = []
    for number, line in whole_lines(path):
        fields = line.split()
        if not 2 < len(fields) <= _MOST_FERTILITIES or not _NUMBER.fullmatch(fields[0]):
            problem = f"'{files.start_of(line)}' is not e n(0|e) n(1|e) ..: a word's number, probabilities"
            raise DataError(path, number, problem)
        if rows and len(fields) != len(rows[0]) + 1:
            found = f"has {len(fields) - 1} probabilities, and the first line {len(rows[0])}"
            raise DataError(path, number, f"{found}; each word has as many")
        words.append(int(fields[0]))
        rows.append([_probability(path, number, field) for field in fields[1:]])
    return Entries(np.array(words, np.int64)[:, None], np.array(rows))


def read_p0(path: str | PathLike[str]) -> float:
    """Read ``p0_3.final``: one number."""
    rows = list(enumerate(files.lines(path), 1))  # GIZA++ does not end the line
    if len(rows) != 1:
        raise DataError(path, len(rows) or None, f"has {len(rows)} lines; expected one, the probability p0")
    return _probability(path, *rows[0])


def read_distances(path: str | PathLike[str], heads: bool) -> Entries:
    """Read ``d4.final``, each table a line, or ``D4.final``, each a line of nine numbers and one of probabilities."""
    classes: list[tuple[int, int]] = []
    rows: list[list[float]] = []
    lines = whole_lines(path)
    for number, line in lines:
        fields = line.split()
        if not heads and len(fields) == 9:
            number, values = next(lines, (number, b""))
            fields += values.split()
        whole = all(_NUMBER.fullmatch(field.removeprefix(b"-")) for field in fields[:9])
        if len(fields) < 10 or not whole or len(fields) != 9 + int(fields[8]) or len(fields) % 2:
            raise DataError(path, number, f"'{files.start_of(line)}' is not {_DISTORTED}")
        if fields[0] != b"76":
            raise DataError(path, number, f"distances by -depM4 {int(fields[0])}; only 76, by classes, is known here")
        f, e = int(fields[3]), int(fields[4])
        if not 0 <= f < _MOST_CLASSES or not 0 <= e < _MOST_CLASSES or len(fields) > _MOST_DISTANCES:
            raise DataError(path, number, f"'{files.start_of(line)}' has a number out of range")
        if rows and len(fields) - 9 != len(rows[0]):
            raise DataError(path, number, f"has {len(fields) - 9} distances, and the table before {len(rows[0])}")
        classes.append((f, e))
        rows.append([_probability(path, number, field) for field in fields[9:]])
    return Entries(np.array(classes, np.int64), np.array(rows))


def read_word_classes(path: str | PathLike[str]) -> dict[bytes, int]:
    """Read ``word class`` lines of mkcls: classes as GIZA++ counts them when it meets them, from 1; 0: none."""
    numbers: dict[bytes, int] = {b"0": 0}
    found: dict[bytes, int] = {}
    for number, line in enumerate(files.lines(path), 1):
        fields = split_words(line)
        if len(fields) != 2:
            raise DataError(path, number, f"'{files.start_of(line)}' is not a word and its class")
        if fields[0] in found:
            raise DataError(path, number, f"the word '{files.start_of(fields[0])}' comes twice; each has one class")
        found[fields[0]] = numbers.setdefault(fields[1], len(numbers))
        if len(numbers) > _MOST_CLASSES:
            raise DataError(path, number, f"has over {_MOST_CLASSES} classes")
    return found


def read_settings(path: str | PathLike[str]) -> dict[str, str]:
    """Read ``name value`` lines (``.gizacfg``); names in lower case."""
    rows = (line.strip(" \t").partition(" ") for line in files.text_lines(path))
    return {name.lower(): value.strip(" \t") for name, _, value in rows if name}


def read_jumps(path: str | PathLike[str]) -> np.ndarray:
    """Read jumps of the HMM, in MGIZA's form: sums over all lines, of jumps from -100 to 100, float64 [201].

    A line is seven numbers and ``place probability`` pairs; a place is the position before less the position.
    """
    sums = np.zeros(201)
    for number, line in whole_lines(path):
        fields = line.split()
        places = fields[7::2]
        whole = all(_NUMBER.fullmatch(field.removeprefix(b"-")) for field in [*fields[:7], *places])
        if len(fields) < 7 or len(fields) % 2 == 0 or not whole:
            problem = f"'{files.start_of(line)}' is not seven numbers and pairs of a jump and a probability"
            raise DataError(path, number, problem)
        for place, field in zip(map(int, places), fields[8::2], strict=True):
            if abs(place) <= 100:
                sums[100 - place] += _probability(path, number, field, *_WEIGHT)
    return sums


def read_first_positions(path: str | PathLike[str]) -> np.ndarray:
    """Read how probable first positions are: lines of MGIZA's ``alpha``: a length, how many follow, and these."""
    found = np.zeros(0)
    for number, line in whole_lines(path):
        fields = line.split()
        whole = len(fields) >= 2 and all(map(_NUMBER.fullmatch, fields[:2]))
        if not whole or len(fields) != 2 + int(fields[1]):
            raise DataError(
                path, number, f"'{files.start_of(line)}' is not a length, a number and so many probabilities"
            )
        found = np.array([_probability(path, number, field, *_WEIGHT) for field in fields[2:]])
    return found
