"""Tables of word probabilities: fast_align's ``-p`` (``given TAB word TAB ln p``) and GIZA++'s t-tables.

A t-table has ``given word p``: as numbers of words (``.t3.final``), which two vocabulary files (``.vcb``, lines
``number word count``) give names to, or as words (``.actual.ti.final``).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aligntools.formats.opening import files
from aligntools.ground.errors import DataError
from aligntools.words.vocabulary import split_words

#: The word that stands for NULL, and what it is called in t-tables, by word and by number.
NULL = b"<eps>"
_NULLS = {b"NULL": NULL}
_NULL_NUMBER = b"0"
#: Highest probability, with what rounding may add.
_MOST = 1.01


@dataclass(eq=False)
class TTable:
    """``p(word | given)`` for the pairs that the file has.

    given, words: Numbers of the words on either side, from 0 on.
    keys (int64 [pairs]): ``given * len(words) + word``, ascending.
    """

    given: dict[bytes, int]
    words: dict[bytes, int]
    keys: np.ndarray
    probabilities: np.ndarray

    def __len__(self) -> int:
        return len(self.keys)

    def lookup(self, given: list[bytes], words: list[bytes], floor: float) -> np.ndarray:
        """Return ``p(word | given)`` of every two words, float64 [given, words]; ``floor`` for missing pairs."""
        rows = np.array([self.given.get(word, -1) for word in given], np.int64)[:, None]
        columns = np.array([self.words.get(word, -1) for word in words], np.int64)[None, :]
        wanted = np.where((rows >= 0) & (columns >= 0), rows * len(self.words) + columns, -1)
        if not len(self):
            return np.full(wanted.shape, float(floor))
        places = np.minimum(np.searchsorted(self.keys, wanted), len(self) - 1)
        return np.where(self.keys[places] == wanted, self.probabilities[places], floor)

    def lowercased(self) -> "TTable":
        """Return the table of words in lower case: the mean of a given word's spellings, the sum of a word's."""
        given, rows = _folded(self.given)
        words, columns = _folded(self.words)
        row, column = np.divmod(self.keys, max(len(self.words), 1))
        spellings = np.bincount(rows[np.unique(row)], minlength=len(given))
        keys, places = np.unique(rows[row] * len(words) + columns[column], return_inverse=True)
        sums = np.bincount(places, self.probabilities / spellings[rows[row]], len(keys))
        return TTable(given, words, keys, np.minimum(sums, 1.0))


def _folded(numbers: dict[bytes, int]) -> tuple[dict[bytes, int], np.ndarray]:
    """Return the words of a dict in lower case, numbered anew, and the new number of each old one."""
    folded: dict[bytes, int] = {}
    new = np.zeros(len(numbers), np.int64)
    for word, number in numbers.items():
        new[number] = folded.setdefault(word.decode().lower().encode(), len(folded))
    return folded, new


def read_vocabulary(path: object) -> dict[bytes, bytes]:
    """Read a GIZA++ vocabulary: number -> word, both bytes; number 0 is NULL."""
    found = {_NULL_NUMBER: NULL}
    for number, line in enumerate(files.lines(path), 1):
        files.check_utf8(line, path, number)
        fields = split_words(line)
        if len(fields) not in (2, 3) or not fields[0].isdigit():
            problem = f"'{files.start_of(line, 60)}' is not a number, a word and its count (as in a .vcb file)"
            raise DataError(path, number, problem)
        found[fields[0]] = fields[1]
    return found


def read_ttable(
    path: object, given_vocabulary: dict[bytes, bytes] | None = None, vocabulary: dict[bytes, bytes] | None = None
) -> TTable:
    """Read a table; of a pair that comes twice the last line counts.

    Numbers above 0 are probabilities, and make NULL the name of NULL; else they are logarithms. Vocabularies name the
    numbers in the first and in the second column; without, these are words.
    """
    given: dict[bytes, int] = {}
    words: dict[bytes, int] = {}
    rows, columns, logs = [], [], []
    line = 1
    for block in files.blocks_of_lines(path):
        files.check_utf8(block, path, line)
        first, second, values = _fields(block, path, line)
        if vocabulary is not None and given_vocabulary is not None:
            first = _named(first, given_vocabulary, path, line)
            second = _named(second, vocabulary, path, line)
        rows.append(np.array([given.setdefault(word, len(given)) for word in first], np.int32))
        columns.append(np.array([words.setdefault(word, len(words)) for word in second], np.int32))
        logs.append(np.array(values, np.float64))
        line += block.count(b"\n")
    if not rows:
        return TTable(given, words, np.empty(0, np.int64), np.empty(0))
    keys = np.concatenate(rows).astype(np.int64) * len(words) + np.concatenate(columns)
    numbers = np.concatenate(logs)
    _check(numbers, path)
    if (numbers > 0).any():
        probabilities = numbers
        given = {_NULLS.get(word, word): number for word, number in given.items()}
    else:
        probabilities = np.exp(numbers)
    if not np.all(keys[1:] > keys[:-1]):
        order = np.argsort(keys, kind="stable")
        keys, probabilities = keys[order], probabilities[order]
        last = np.append(keys[1:] != keys[:-1], True)
        keys, probabilities = keys[last], probabilities[last]
    return TTable(given, words, keys, probabilities)


def _check(numbers: np.ndarray, path: object) -> None:
    """Refuse what is neither all probabilities nor all logarithms of them."""
    wrong = ~(numbers <= _MOST)  # NaN too
    if wrong.any():
        place = int(np.argmax(wrong))
        raise DataError(path, place + 1, f"{numbers[place]} is neither ln p nor p")
    if (numbers > 0).any() and (numbers < 0).any():
        sign = "above" if (numbers > 0).sum() * 2 < len(numbers) else "below"
        place = int(np.argmax(numbers > 0 if sign == "above" else numbers < 0))
        problem = f"{numbers[place]} is {sign} 0, and others are not: all are ln p, or all are p"
        raise DataError(path, place + 1, problem)


def _named(numbers: Sequence[bytes], names: dict[bytes, bytes], path: object, line: int) -> list[bytes]:
    try:
        return [names[number] for number in numbers]
    except KeyError as error:
        place = line + list(numbers).index(error.args[0])
        problem = f"no word has the number '{files.start_of(error.args[0], 60)}' in the vocabulary file"
        raise DataError(path, place, problem) from None


def _fields(block: bytes, path: object, line: int) -> tuple[Sequence[bytes], Sequence[bytes], Sequence[float]]:
    """Return the three columns of whole lines."""
    block = block if block.endswith(b"\n") else block + b"\n"
    fields = block.replace(b"\n", b"\t").split(b"\t")[:-1]
    if len(fields) == 3 * block.count(b"\n"):
        try:
            return fields[::3], fields[1::3], list(map(float, fields[2::3]))
        except ValueError:
            pass
    found = []
    for number, row in enumerate(block.split(b"\n")[:-1], line):  # slower, and knows where it is
        fields = split_words(row.removesuffix(b"\r"))
        try:
            first, second, value = fields
            found.append((first, second, float(value)))
        except ValueError:
            problem = f"'{files.start_of(row, 60)}' is not two words and ln p (as fast_align -p writes them) or p"
            raise DataError(path, number, problem) from None
    return [row[0] for row in found], [row[1] for row in found], [row[2] for row in found]
