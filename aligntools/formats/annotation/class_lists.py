"""Lists of word classes: ``word TAB class TAB count``, paths of Brown clusters, and files of mkcls.

A path is a string of bits, from the root of a tree of classes down to a word's class: its beginnings are larger
classes.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
import numpy.typing as npt

from aligntools.formats.models.modelfile import hold, hold_vocabulary
from aligntools.formats.opening import files
from aligntools.ground.errors import DataError, UsageProblem, one_line
from aligntools.words.vocabulary import Vocabulary
from aligntools.words.white_space import tell_unwritten, whole_words

_PATH, _COUNT = re.compile(rb"[01]+"), re.compile(rb"[0-9]{1,18}")
_BREAK = re.compile(rb"[\t\n]")
#: Bits of the paths' beginnings that are classes of their own (Koo, Carreras & Collins 2008).
SHORT, MEDIUM = 4, 6


@dataclass(frozen=True, eq=False)
class ClassList:
    """Words and their classes; a word may be there several times, with different classes.

    Attributes
    ----------
    words, classes : list of bytes [rows]
    counts : int64 [rows]
        How often the word was of the class.
    paths : bool
        Whether the classes are paths in a tree.

    Examples
    --------
    >>> import aligntools as at
    >>> tagger = at.induce_tags(["the dog barks", "a cat sleeps", "the cat barks"], states=3, iterations=20)
    >>> at.word_classes(["the dog barks"], tagger).words
    [b'the', b'dog', b'barks']
    """

    words: list[bytes]
    classes: list[bytes]
    counts: npt.NDArray[np.int64]
    paths: bool = False

    def __len__(self) -> int:
        return len(self.words)

    def best(self) -> "ClassList":
        """Return the list with one class for each word: the most frequent one, the first of equals."""
        chosen: dict[bytes, int] = {}
        for row, (word, count) in enumerate(zip(self.words, self.counts.tolist(), strict=True)):
            if word not in chosen or count > self.counts[chosen[word]]:
                chosen[word] = row
        totals = dict.fromkeys(chosen, 0)
        for word, count in zip(self.words, self.counts.tolist(), strict=True):
            totals[word] += count
        classes = [self.classes[row] for row in chosen.values()]
        return ClassList(list(chosen), classes, np.array(list(totals.values()), np.int64), self.paths)

    def format(self) -> bytes:
        """Return the list as it is in files: paths in their order, words with the most frequent ones first.

        Words that other programs would cut are left out, and counted in a warning.

        Raises
        ------
        UsageProblem
            When a word or a class is empty or has a tab or a line's end, which such files have no form for.
        """
        for field in (*self.words, *self.classes):
            if not field or _BREAK.search(field):
                shown = one_line(files.start_of(field))
                raise UsageProblem(f"'{shown}' cannot be in a list: it is empty or has a tab or a line's end")
        if not self.paths and self.words and all(map(_PATH.fullmatch, self.words)):
            raise UsageProblem("every word is made of 0 and 1, so that the list would be read as one of paths")
        fine = (whole_words(self.words) & whole_words(self.classes)).tolist()
        tell_unwritten(fine.count(False))
        rows = list(compress(zip(self.words, self.classes, self.counts.tolist(), strict=True), fine))
        if self.paths:
            rows.sort(key=lambda row: (row[1], -row[2], row[0]))
            return b"".join(b"%s\t%s\t%d\n" % (path, word, count) for word, path, count in rows)
        rows.sort(key=lambda row: (-row[2], row[0], row[1]))
        return b"".join(b"%s\t%s\t%d\n" % row for row in rows)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file; it appears whole or not at all.

        Raises
        ------
        DataError
            When it cannot be written.
        """
        with files.writing(path) as out:
            out.write(self.format())


def read_classes(path: object) -> ClassList:
    r"""Read a list of word classes.

    Parameters
    ----------
    path : str or path
        Lines of ``word TAB class TAB count``, the count left out or not; or, where the first column of every line is
        bits, of ``path TAB word TAB count``. Compressed by gzip, xz or zstandard or not.

    Returns
    -------
    ClassList

    Raises
    ------
    DataError
        When the file cannot be read or has no words, or a line is not such.

    Examples
    --------
    >>> import aligntools as at
    >>> with open("cities.paths", "w") as file:
    ...     _ = file.write("0110\tParis\t3\n0111\tsings\t2\n")
    >>> at.read_classes("cities.paths").classes
    [b'0110', b'0111']
    """
    rows: list[list[bytes]] = []
    for number, line in enumerate(files.lines(path), 1):
        fields = line.split(b"\t")
        if len(fields) == 2:
            fields.append(b"1")
        if len(fields) != 3 or not all(fields):
            wanted = "word TAB class TAB count, or path TAB word TAB count"
            raise DataError(path, number, f"has {len(fields)} fields between tabs or an empty one; expected {wanted}")
        if not _COUNT.fullmatch(fields[2]):
            problem = f"'{files.start_of(fields[2])}' is not a count; expected a whole number after the second tab"
            raise DataError(path, number, problem)
        rows.append(fields)
    if not rows:
        raise DataError(path, None, "has no words; expected lines of word TAB class TAB count")
    paths = all(_PATH.fullmatch(row[0]) for row in rows)
    words, classes = ([row[k] for row in rows] for k in ((1, 0) if paths else (0, 1)))
    return ClassList(words, classes, np.array([int(row[2]) for row in rows], np.int64), paths)


@dataclass(frozen=True, eq=False)
class WordLookup:
    """Each word's class, for features: what models keep of a list.

    ids (int32 [words]): Number of each word's class, from 1.
    """

    words: Vocabulary
    names: Vocabulary
    ids: np.ndarray
    paths: bool

    @classmethod
    def of(cls, given: ClassList) -> "WordLookup":
        """Take the best class of each word of a list."""
        best = given.best()
        names = Vocabulary.from_bytes(list(dict.fromkeys(best.classes)))
        return cls(Vocabulary.from_bytes(best.words), names, names.ids(best.classes), best.paths)

    def find(self, words: Sequence[bytes]) -> np.ndarray:
        """Return the number of each word's class, int32 [words]; of the word in lower case if it is not there, or 0."""
        rows = self.words.ids(words)
        missing = np.flatnonzero(rows < 0)
        if len(missing):
            lower = [words[k].decode("utf-8", "surrogateescape").lower() for k in missing.tolist()]
            rows[missing] = self.words.ids([word.encode("utf-8", "surrogateescape") for word in lower])
        return np.where(rows > 0, self.ids[np.maximum(rows - 1, 0)], 0).astype(np.int32)

    def shortened(self, bits: int) -> np.ndarray:
        """Return for each class, and 0 before them, the number of its path's first bits, int32 [classes + 1]."""
        numbers: dict[bytes, int] = {b"": 0}
        return np.array([numbers.setdefault(name[:bits], len(numbers)) for name in self.names.encoded()], np.int32)

    def arrays(self, name: str) -> dict[str, np.ndarray]:
        """Return arrays for a model file, under names that begin with this one."""
        own = {f"{name}.ids": self.ids, f"{name}.paths": np.array([self.paths], np.int32)}
        return self.words.arrays(f"{name}.words") | self.names.arrays(f"{name}.names") | own

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray], name: str) -> "WordLookup":
        """Take the arrays of a model file; ValueError or KeyError where they do not fit together."""
        words, names = (hold_vocabulary(arrays, f"{name}.{k}", text=False) for k in ("words", "names"))
        if len(words) < 2:
            raise ValueError(f"{name} has no words")
        ids = hold(arrays, f"{name}.ids", (len(words) - 1,), np.int32, 1, len(names) - 1)
        return cls(words, names, ids, bool(hold(arrays, f"{name}.paths", (1,), np.int32, 0, 1)[0]))


#: What mkcls calls the word ``$``.
DOLLAR = b"mkcls-mapped-dollar-symbol-$"


def _sorted(words: Sequence[bytes], classes: np.ndarray) -> list[tuple[bytes, int]]:
    """Return words and their classes in the order of the files, without words that other programs would cut."""
    fine = whole_words(list(words)).tolist()
    tell_unwritten(fine.count(False))
    rows = compress(zip(words, classes.tolist(), strict=True), fine)
    return sorted(rows, key=lambda row: (DOLLAR if row[0] == b"$" else row[0], row[1]))


def format_classes(words: Sequence[bytes], classes: np.ndarray) -> bytes:
    """Return the file that mkcls writes (``-VFILE``); classes are numbered from 1."""
    rows = _sorted(words, classes)
    return b"".join(b"%s\t%d\n" % row for row in rows)


def format_cats(
    words: Sequence[bytes], classes: np.ndarray, number: int, evaluated: int, moved: int, runs: int
) -> bytes:
    """Return the file beside it, ``FILE.cats``.

    evaluated, moved, runs: Words that were looked at and those of them that were moved, and times that all were
        clustered.
    """
    members: list[list[bytes]] = [[] for _ in range(number + 2)]
    rows = _sorted(words, classes)
    for word, k in rows:
        members[k].append(DOLLAR if word == b"$" else word)
    members[0].append(b"$")
    lines = [b";KategProblem:cats: %d   words: %d" % (number, len(rows) + 1)]
    lines += [b"%d:%s" % (k, b"".join(word + b"," for word in some)) for k, some in enumerate(members)]
    lines += [b";I have %d categories used." % sum(map(bool, members)), b"", b"Problem(1,0,208)"]
    lines += [b"      #value: %d" % runs, b"#valueChange: %d" % evaluated, b"   #doChange: %d" % moved]
    return b"\n".join([*lines, b""])
