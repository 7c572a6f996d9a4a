"""Files of word classes as mkcls writes them: ``word TAB class``, and the words of each class on a line.

Class 0 is the edge of a sentence, which mkcls writes as the word ``$``, and class 1 is that of rare words, so that the
classes proper begin with 2. Words are sorted by bytes, where the word ``$`` of a text stands as `DOLLAR`.
"""

from collections.abc import Sequence
from itertools import compress

import numpy as np

from aligntools.words.white_space import tell_unwritten, whole_words

#: What mkcls calls the word ``$``.
DOLLAR = b"mkcls-mapped-dollar-symbol-$"


def _sorted(words: Sequence[bytes], classes: np.ndarray) -> list[tuple[bytes, int]]:
    """Return words and their classes in the order of the files, without words that other programs would cut."""
    fine = whole_words(list(words)).tolist()
    tell_unwritten(fine.count(False))
    rows = compress(zip(words, classes.tolist(), strict=True), fine)
    return sorted(rows, key=lambda row: (_called(row[0]), row[1]))


def _called(word: bytes) -> bytes:
    return DOLLAR if word == b"$" else word


def format_classes(words: Sequence[bytes], classes: np.ndarray) -> bytes:
    """Return the file that mkcls calls as it is told to (``-VFILE``).

    classes (int [words]): As mkcls numbers them, from 1.
    """
    rows = _sorted(words, classes)
    return b"".join(b"%s\t%d\n" % row for row in rows)


def format_cats(
    words: Sequence[bytes], classes: np.ndarray, number: int, evaluated: int, moved: int, runs: int
) -> bytes:
    """Return the file beside it, ``FILE.cats``.

    words, classes: As for `format_classes`.
    number: How many classes there may be.
    evaluated, moved, runs: Words that were looked at and those of them that were moved, and times that all were
        clustered.
    """
    members: list[list[bytes]] = [[] for _ in range(number + 2)]
    rows = _sorted(words, classes)
    for word, k in rows:
        members[k].append(_called(word))
    members[0].append(b"$")
    lines = [b";KategProblem:cats: %d   words: %d" % (number, len(rows) + 1)]
    lines += [b"%d:%s" % (k, b"".join(word + b"," for word in some)) for k, some in enumerate(members)]
    lines += [b";I have %d categories used." % sum(map(bool, members)), b"", b"Problem(1,0,208)"]
    lines += [b"      #value: %d" % runs, b"#valueChange: %d" % evaluated, b"   #doChange: %d" % moved]
    return b"\n".join([*lines, b""])
