"""Lines of parallel text described by rows of numbers: where sides begin and end, how many words they have.

Large inputs are described by compiled code, small ones in plain Python, which defines what is right.
"""

import re

import numpy as np

from aligntools.words import malformed
from aligntools.words.vocabulary import split_words

_SMALL = 200_000  # bytes: below this plain Python is done before the compiler is loaded
_SEPARATOR_OR_TAB = re.compile(rb"\t|" + malformed.SEPARATOR.pattern)
_TAB = re.compile(rb"\t")


class Scanner:
    """The choice between plain Python and compiled code, which falls when enough has been read."""

    def __init__(self, always_plain: bool = False) -> None:
        self._unread = float("inf") if always_plain else _SMALL

    @property
    def compiled(self) -> bool:
        """Whether compiled code is used from now on."""
        return self._unread <= 0

    def has_read(self, size: int) -> None:
        """Count bytes that were read."""
        self._unread -= size

    def scan(self, block: bytes, at: int, bars: bool, tab: bool, table: np.ndarray) -> tuple[int, int]:
        """Describe lines; see `kernels_text.scan_lines`."""
        return (_scan_lines_compiled if self.compiled else _scan_lines)(block, at, bars, tab, table)


def _scan_lines(block: bytes, at: int, bars: bool, tab: bool, table: np.ndarray) -> tuple[int, int]:
    """Describe lines in plain Python; see `kernels_text.scan_lines`."""
    separator = (_SEPARATOR_OR_TAB if bars else _TAB) if tab else (malformed.SEPARATOR if bars else None)
    rows = 0
    while rows < len(table) and at < len(block):
        newline = block.find(b"\n", at)
        newline = len(block) if newline < 0 else newline
        line = block[at:newline].removesuffix(b"\r")
        try:
            line.decode()
            valid = 1
        except UnicodeDecodeError:
            valid = 0
        separators = list(separator.finditer(line)) if separator else []
        cut, resume = separators[0].span() if separators else (len(line), len(line))
        left, right = len(split_words(line[:cut])), len(split_words(line[resume:]))
        table[rows] = at, at + cut, at + resume, at + len(line), left, right, len(separators), valid
        rows += 1
        at = min(newline + 1, len(block))
    return rows, at


def _scan_lines_compiled(block: bytes, at: int, bars: bool, tab: bool, table: np.ndarray) -> tuple[int, int]:
    from aligntools.words import kernels_text

    found: tuple[int, int] = kernels_text.scan_lines(np.frombuffer(block, np.uint8), at, bars, tab, table)
    return found
