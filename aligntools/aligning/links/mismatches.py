"""Pairs whose pieces do not spell their words: they have no links, and a text of too many is refused."""

import numpy as np

from aligntools.formats.links.pharaoh import Links
from aligntools.ground.errors import DataError
from aligntools.words import line_scan

_NAMES = ("source", "target")


class Mismatched:
    """Collects pairs whose pieces do not spell their words; too many are an error, as with malformed lines."""

    def __init__(self, strict: bool, service: bool) -> None:
        self._strict, self._service = strict, service
        self.count, self._lines = 0, 0
        self._first: tuple[object, int, str] | None = None

    def add(self, side: int, path: object, wrong: np.ndarray) -> None:
        """Take a side's next pairs; ``wrong`` says which."""
        if wrong.any() and (self._first is None or self._strict):
            self._first = path, self._lines + 1 + int(np.argmax(wrong)), _NAMES[side]
            if self._strict:
                raise self.error()

    def end_block(self, wrong: np.ndarray) -> None:
        """Count the pairs of a block that are wrong on either side."""
        self._lines += len(wrong)
        self.count += int(wrong.sum())
        if self.count == self._lines >= line_scan.HEAD and not self._service:
            raise self.error()

    def end(self) -> None:
        """Raise the error of a text that has too many."""
        many = self.count >= line_scan.FEW and self.count * line_scan.SHARE > self._lines
        if (many or self.count == self._lines > 0) and not self._service:
            raise self.error()

    def error(self) -> DataError:
        """Return what is wrong with the first of them."""
        assert self._first is not None
        path, line, side = self._first
        others = f"; so in {self.count} of {self._lines} lines" if self.count > 1 else ""
        advice = "the same sentences in the same order are needed; `scheme` says how pieces are marked"
        return DataError(path, line, f"the {side} pieces do not spell the words of the text{others} ({advice})")

    def summary(self) -> str:
        """Return a line on those that were left blank, or an empty one."""
        if not self.count or self._first is None:
            return ""
        return f"{self.count} with pieces that do not spell the words; first at line {self._first[1]}"


def without_links(links: Links, wrong: np.ndarray) -> Links:
    """Leave the links of some pairs out; ``wrong`` says of each pair whether it is one of them."""
    counts = np.where(wrong, 0, links.counts())
    return Links(links.pairs[~wrong[links.sentences()]], np.concatenate([[0], np.cumsum(counts)]))
