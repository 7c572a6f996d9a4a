"""Tables of word probabilities as fast_align's ``-p`` writes them: ``given TAB word TAB ln p``."""

from dataclasses import dataclass

import numpy as np

from aligntools.errors import DataError
from aligntools.formats import files

#: The word that stands for NULL.
NULL = b"<eps>"


@dataclass(eq=False)
class TTable:
    """``p(word | given)`` for the pairs that the file has.

    Attributes
    ----------
    given, words : dict of bytes to int
        Numbers of the words on either side, from 0 on.
    keys : np.ndarray [shape=(pairs,), dtype=int64]
        ``given * len(words) + word``, ascending.
    probabilities : np.ndarray [shape=(pairs,), dtype=float64]
    """

    given: dict
    words: dict
    keys: np.ndarray
    probabilities: np.ndarray

    def __len__(self):
        return len(self.keys)

    def lookup(self, given, words, floor) -> np.ndarray:
        """Return ``p(word | given)`` of every two words, ``floor`` for pairs that the table does not have.

        Parameters
        ----------
        given, words : sequence of bytes

        Returns
        -------
        np.ndarray [shape=(len(given), len(words)), dtype=float64]
        """
        rows = np.array([self.given.get(word, -1) for word in given], np.int64)[:, None]
        columns = np.array([self.words.get(word, -1) for word in words], np.int64)[None, :]
        wanted = np.where((rows >= 0) & (columns >= 0), rows * len(self.words) + columns, -1)
        if not len(self):
            return np.full(wanted.shape, float(floor))
        places = np.minimum(np.searchsorted(self.keys, wanted), len(self) - 1)
        return np.where(self.keys[places] == wanted, self.probabilities[places], floor)


def read_ttable(path) -> TTable:
    """Read a table; of a pair that comes twice the last line counts.

    Raises
    ------
    DataError
        When the file cannot be read, or for the first line that is not two words and a number.
    """
    given, words = {}, {}
    rows, columns, logs = [], [], []
    line = 1
    for block in files.blocks_of_lines(path):
        first, second, numbers = _fields(block, path, line)
        rows.append(np.array([given.setdefault(word, len(given)) for word in first], np.int32))
        columns.append(np.array([words.setdefault(word, len(words)) for word in second], np.int32))
        logs.append(np.array(numbers, np.float64))
        line += block.count(b"\n")
    if not rows:
        return TTable(given, words, np.empty(0, np.int64), np.empty(0))
    keys = np.concatenate(rows).astype(np.int64) * len(words) + np.concatenate(columns)
    probabilities = np.exp(np.concatenate(logs))
    if not np.all(keys[1:] > keys[:-1]):
        order = np.argsort(keys, kind="stable")
        keys, probabilities = keys[order], probabilities[order]
        last = np.append(keys[1:] != keys[:-1], True)
        keys, probabilities = keys[last], probabilities[last]
    return TTable(given, words, keys, probabilities)


def _fields(block, path, line):
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
        fields = row.split()
        try:
            first, second, value = fields
            found.append((first, second, float(value)))
        except ValueError:
            shown = row[:60].decode("utf-8", "replace")
            raise DataError(
                path, number, f"'{shown}' is not two words and ln p (as fast_align -p writes them)"
            ) from None
    return tuple(zip(*found, strict=True)) or ([], [], [])
