"""Lines of parallel text: where their sides begin and end, and how many malformed ones are accepted."""

import re

import numpy as np

from aligntools.ground.errors import DataError
from aligntools.words.vocabulary import split_words

#: What stands between the sides: the word ``|||``, one tab, or either of them. ``auto`` is decided by the first line
#: with words.
FORMATS = ("auto", "joint", "tsv", "either")
SEPARATOR = re.compile(rb"(?<![^ \t])\|\|\|(?![^ \t])")
#: A text is refused when none of so many first lines is a pair,
HEAD = 1000
#: or when more than one in so many is malformed, at least so many.
SHARE, FEW = 100, 5
#: How many lines are named.
SHOWN = 5
_SAMPLE = 300  # bytes of a line that are looked at
_NOT_SPACE = re.compile(rb"[^ \t\r\n]|\r(?!\n|\Z)")
_LINK = re.compile(rb"\d+[-?p]\d+(:\S+)?")


def format_of(block: bytes) -> str | None:
    """Return the format of a text by its first line with words, None where there is none: ``tsv``, else ``joint``.

    Tab-separated is a line with one tab, words on both sides of it, and no word ``|||``.
    """
    found = _NOT_SPACE.search(block)
    if not found:
        return None
    begin = block.rfind(b"\n", 0, found.start()) + 1
    end = block.find(b"\n", begin)
    sides = block[begin : end if end >= 0 else len(block)].split(b"\t")
    pair = len(sides) == 2 and all(_NOT_SPACE.search(side) for side in sides)
    return "tsv" if pair and not any(SEPARATOR.search(side) for side in sides) else "joint"


class Malformed:
    """The lines of one text that do not have one separator: ``strict`` refuses the first, a ``service`` accepts all."""

    def __init__(self, path: object, strict: bool, service: bool) -> None:
        self._path, self._strict, self._service = path, strict, service
        self._lines = self._pairs = self._count = 0
        self._first: tuple[int, int] | None = None  # line, separators
        self._sample: list[bytes] = []

    def add(self, wrong: np.ndarray, table: np.ndarray, block: bytes, format: str | None) -> None:
        """Take the next lines, as ``format`` had them read; raise the error of a text that is refused.

        wrong (bool [lines]): Which have words and not one separator. table: As `kernels_text.scan_lines` fills it.
        """
        pairs = table[:, 6] == 1
        found = np.flatnonzero(wrong)
        for row in found[: SHOWN - len(self._sample)].tolist():
            begin, end = table[row, [0, 3]].tolist()
            self._sample.append(block[begin : min(end, begin + _SAMPLE)])
        if len(found) and self._first is None:
            self._first = self._lines + 1 + int(found[0]), int(table[found[0], 6])
        if self._strict and self._first:
            raise self.error(format)
        head = HEAD - self._lines
        if 0 < head <= len(wrong):
            count, good = self._count + int(wrong[:head].sum()), self._pairs + int(pairs[:head].sum())
            if count and not good and not self._service:
                raise self.error(format, count, f"the first {HEAD}")
        self._lines += len(wrong)
        self._pairs += int(pairs.sum())
        self._count += len(found)

    def end(self, format: str | None) -> None:
        """Raise the error of a text that is refused when all is read."""
        many = self._count >= FEW and self._count * SHARE > self._lines
        if self._count and (many or not self._pairs) and not self._service:
            raise self.error(format, self._count, self._lines)

    def error(self, format: str | None, count: int = 1, lines: int | str = "") -> DataError:
        """Return what is wrong with the first line, how many others are, and what to do."""
        assert self._first is not None
        line, separators = self._first
        found = "no tab" if format == "tsv" else "no ' ||| ' separator"
        if separators:
            found = f"{separators} {'tabs' if format == 'tsv' else 'separators'}"
        others = f"; {count} of {lines} lines are malformed" if count > 1 else ""
        sample = self._sample if count > 1 else self._sample[:1]
        return DataError(self._path, line, f"{found}{others} ({_advice(sample, format, separators)})")


def _advice(sample: list[bytes], format: str | None, separators: int) -> str:
    """Return what to do with a text of such lines."""
    tabs = {line.count(b"\t") for line in sample}
    seems = [
        (
            format == "tsv" and all(SEPARATOR.search(line) for line in sample),
            "it has ' ||| ' between the sides? `input_format=joint` reads that",
        ),
        (
            9 in tabs and all(line[:1] == b"#" or line.count(b"\t") == 9 for line in sample),
            "CoNLL? parallel text is expected, one pair of sentences a line",
        ),
        (format != "tsv" and tabs == {1} and not separators, "separated by tabs? `input_format=tsv` reads that"),
        (min(tabs) > 1 and len(tabs) == 1, f"{max(tabs) + 1} columns? keep the two texts, for instance with cut -f1,2"),
        (all(_LINK.fullmatch(word) for line in sample for word in line.split()), "an alignment? text is expected here"),
        (all(line.lstrip()[:1] in (b"<", b"{") for line in sample), "XML or JSON? extract the text"),
        (separators > 1, "one is expected; remove the others"),
        (all(b"|||" in line for line in sample), "there must be spaces around it"),
    ]
    return next((advice for holds, advice in seems if holds), "one field; use `source` and `target` for two files")


_SMALL = 200_000  # bytes: below this plain Python is done before the compiler is loaded
_SEPARATOR_OR_TAB = re.compile(rb"\t|" + SEPARATOR.pattern)
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

    def scan(self, block: bytes, at: int, format: str | None, table: np.ndarray) -> tuple[int, int]:
        """Describe lines of a format, or of one side; see `kernels_text.scan_lines`."""
        bars, tab = format in ("joint", "either"), format in ("tsv", "either")
        if not self.compiled:
            return _scan_lines(block, at, bars, tab, table)
        from aligntools.words import kernels_text

        rows, at = kernels_text.scan_lines(np.frombuffer(block, np.uint8), at, bars, tab, table)
        return rows, at


def _scan_lines(block: bytes, at: int, bars: bool, tab: bool, table: np.ndarray) -> tuple[int, int]:
    """Describe lines in plain Python; see `kernels_text.scan_lines`."""
    separator = (_SEPARATOR_OR_TAB if bars else _TAB) if tab else (SEPARATOR if bars else None)
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
