"""Where CoNLL has which column: CoNLL-X and CoNLL-U, CoNLL-U Plus with the columns of its header, and CoNLL-2009."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from aligntools.ground.errors import DataError
from aligntools.words.white_space import is_blank

#: Columns by name, counted from 0. CoNLL-X calls ``upos`` CPOSTAG and ``xpos`` POSTAG.
_NAMES = "id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"
COLUMNS = {name: n for n, name in enumerate(_NAMES)}
#: The header of CoNLL-U Plus.
HEADER = re.compile(rb"#\s*global\.columns\s*=(.*)", re.DOTALL)
_NUMBER = re.compile(rb"\d+|_")


@dataclass(frozen=True)
class Layout:
    """The columns of a file.

    width: How many columns a line has, or the fewest where ``open``: more may be in all lines of a sentence.
    places: Where each of `COLUMNS` is, counted from 0; None: the file has none, and ``_`` is read for it.
    """

    name: str
    width: int
    places: tuple[int | None, ...]
    open: bool = False

    @property
    def usual(self) -> bool:
        """Whether the columns are those of CoNLL-U."""
        return self.width == len(COLUMNS) and self.places == BASIC.places

    def fits(self, columns: int) -> bool:
        """Return whether a line may have this number of columns."""
        return columns >= self.width if self.open else columns == self.width


BASIC = Layout("CoNLL-X and CoNLL-U", len(COLUMNS), tuple(range(len(COLUMNS))))
#: The gold columns, and the predicted ones (PLEMMA, PPOS, PFEAT, PHEAD, PDEPREL). POS and PPOS are ``upos``.
CONLL_2009 = Layout("CoNLL-2009", 12, (0, 1, 2, 4, None, 6, 8, 10, None, None), open=True)
PREDICTED_2009 = Layout("CoNLL-2009", 12, (0, 1, 3, 5, None, 7, 9, 11, None, None), open=True)


def layout_of(path: object, lines: Sequence[bytes], first_line: int = 1) -> Layout:
    """Recognize the layout by a header, or by the first line that is neither blank nor a comment."""
    for k, line in enumerate(lines):
        if line.startswith(b"#") and (found := HEADER.match(line)):
            return plus(path, found[1], first_line + k)
        if not line.startswith(b"#") and not is_blank(line):
            fields = line.rstrip(b"\r\n").split(b"\t")
            wide = len(fields) >= CONLL_2009.width and fields[0].isdigit()
            heads = all(map(_NUMBER.fullmatch, fields[8:10]))  # HEAD and PHEAD; FILLPRED
            filled = len(fields) == CONLL_2009.width or fields[12:13] in ([b"Y"], [b"_"])
            return CONLL_2009 if wide and heads and filled else BASIC
    return BASIC


def plus(path: object, header: bytes, line: int) -> Layout:
    """Return the layout of a header's columns, which are those of CoNLL-U and any others."""
    names = header.decode("utf-8", "replace").split()
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(path, line, f"column '{twice}' is in global.columns twice")
    if names[:1] != ["ID"] or "FORM" not in names:
        problem = (
            f"global.columns begins with '{names[0]}'" if names and names[0] != "ID" else "no FORM in global.columns"
        )
        raise DataError(path, line, f"{problem}; ID comes first, and FORM has the words")
    places = tuple(names.index(name.upper()) if name.upper() in names else None for name in COLUMNS)
    return Layout("CoNLL-U Plus", len(names), places)
