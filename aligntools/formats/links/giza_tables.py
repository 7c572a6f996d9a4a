"""GIZA++'s tables: what a model learned, as GIZA++ and MGIZA write and read it.

Words are known by the numbers of a vocabulary file (`formats.text.giza_numbers`), from 2 on; 0 is NULL. Positions count
from 1, and 0 is NULL's.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from aligntools.formats.opening.files import writing

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
    fertilities (float [n_given_words, n] or None): ``n(phi | e)``.
    positions: ``a(i | j, l)`` and ``d(j | i, m)``: arrays i, j, length and probability each. Lengths are l and m.
    heads (float [n_given_classes, n_observed_classes, 2 LONGEST + 1] or None).
    others (float [n_observed_classes, 2 LONGEST + 1] or None): ``d1`` and ``d>1``, by the classes' numbers; a row of
        zeros is left out.
    jumps (float [2 FARTHEST_JUMP + 1] or None).
    first (float [FARTHEST_JUMP] or None): Of the HMM, which alignments of IBM 3 and 4 begin with.
    fertile (int64 [n_given_words] or None): Numbers of the words that rows of ``fertilities`` are of; None for those
        from FIRST on.
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

    GIZA++ counts classes as it meets them in the file, from 1, and so they are named here; the class ``0`` is that of
    words without one. Classes without words have the number -1.
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
        rows = np.where(tables.fertilities > LEAST, tables.fertilities, 0).tolist()
        of = range(FIRST, FIRST + len(rows)) if tables.fertile is None else tables.fertile.tolist()
        numbered = zip(of, rows, strict=True)
        files["n3.final"] = (b"%d %s\n" % (n, b"".join(b"%.6g " % p for p in row)) for n, row in numbered)
    # as with GIZA++'s CompactADTable, lengths of the one side are not told apart, and stand there as its longest
    for name, rows_of, order in zip(("a3.final", "d3.final"), tables.positions, ("ij", "ji"), strict=False):
        i, j, length, p = (column.tolist() for column in rows_of)
        first, second = (i, j) if order == "ij" else (j, i)
        lengths = (length, [LONGEST - 1] * len(i))
        l, m = lengths if order == "ij" else lengths[::-1]  # noqa: E741 - the paper's names
        files[name] = (b"%d %d %d %d %.6g\n" % row for row in zip(first, second, l, m, p, strict=True))
    if tables.p0 is not None:
        files["p0_3.final"] = [b"%.6g\n" % tables.p0]
    if tables.heads is not None and tables.others is not None:
        files["d4.final"], files["D4.final"] = _heads(tables.heads), _others(tables.others)
    if tables.jumps is not None and tables.first is not None:
        files[JUMPS], files[f"{JUMPS}.alpha"] = _jumps(tables.jumps), _first(tables.first)
    for name, lines in files.items():
        _write(f"{prefix}.{name}", lines)
    return list(files)


#: Which conditions distances have: classes of the word before and of the word, and of the word alone.
_DEPENDENCIES = 76


def _heads(heads: np.ndarray) -> Iterator[bytes]:
    for e, f in np.argwhere(heads.any(-1)).tolist():
        values = b"".join(b"%.6g " % p for p in heads[e, f].tolist())
        yield b"%d 0 0 %d %d 0 -1 -1 %d %s\n" % (_DEPENDENCIES, f, e, heads.shape[-1], values)


def _others(others: np.ndarray) -> Iterator[bytes]:
    for f in np.flatnonzero(others.any(-1)).tolist():
        values = b"".join(b"%.6g " % p for p in others[f].tolist())
        yield b"%d 0 0 %d 0 0 -1 -1 %d\n%s\n" % (_DEPENDENCIES, f, others.shape[-1], values)


def _jumps(jumps: np.ndarray) -> Iterator[bytes]:
    """Yield MGIZA's line: no conditions, the first place and the last, and each place, which is less a jump."""
    n = FARTHEST_JUMP
    places = b"".join(b"%d %.9g " % (place, p) for place, p in zip(range(-n, n + 1), jumps[::-1].tolist(), strict=True))
    yield b"%d 0 0 0 0 %d %d %s\n" % (n, -n, n, places)


def _first(first: np.ndarray) -> Iterator[bytes]:
    yield b"%d %d %s\n" % (len(first), len(first), b"".join(b"%.9g " % p for p in first.tolist()))


def write_settings(path: str, settings: dict[str, object]) -> None:
    """Write ``name value`` lines, in the order of the names."""
    _write(path, (f"{name} {value}\n".encode() for name, value in sorted(settings.items())))


def _write(path: str, lines: Iterable[bytes]) -> None:
    with writing(path) as file:
        batch: list[bytes] = []
        for line in chain(lines, [None]):
            if line is None or len(batch) >= 100_000:
                file.write(b"".join(batch))
                batch.clear()
            if line is not None:
                batch.append(line)
