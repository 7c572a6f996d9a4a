"""What format annotated text has, by its first lines: CoNLL, tagged text, columns, or plain text."""

import io
import re
from collections.abc import Iterable, Sequence
from itertools import islice

from aligntools.formats.annotation.conll_layouts import COLUMNS, HEADER
from aligntools.ground.errors import DataError
from aligntools.words.vocabulary import split_words
from aligntools.words.white_space import is_blank

#: ``columns`` is a word and its tag on a line, between tabs or spaces, and a blank line after a sentence.
FORMATS = ("conll", "tagged", "columns", "text")
#: Looked for, in this order, where the separator of tagged text is not given.
SEPARATORS = (b"_", b"/")
SAMPLE = 200  # lines that are looked at to tell the format
_GLANCE = 1 << 24  # bytes of comments, at most, before the lines that tell CoNLL
_ID = re.compile(rb"1|1-[1-9]\d*|0\.1")  # of the first line of a sentence in CoNLL


def beginning(lines: Iterable[bytes]) -> tuple[list[bytes], list[int]]:
    """Take lines up to the second one that is neither blank nor a comment: CoNLL with spaces for tabs needs two.

    Comments may be many: licences, descriptions. Beyond 16 MiB of them nothing is looked for.

    Returns
    -------
    seen : list of bytes
        The lines that were taken.
    telling : list of int
        Places of the one or two that tell.
    """
    seen: list[bytes] = []
    telling: list[int] = []
    size = 0
    for line in lines:
        seen.append(line)
        size += len(line)
        if not is_blank(line) and not line.startswith(b"#"):
            telling.append(len(seen) - 1)
        if len(telling) == 2 or size > _GLANCE:
            break
    return seen, telling


def conll_at(seen: Sequence[bytes], telling: Sequence[int]) -> int | None:
    """Return the number of the first line with a word if what `beginning` took begins as CoNLL does, and else None."""
    if telling and any(line.startswith(b"#") and HEADER.match(line) for line in seen[: telling[0]]):
        return telling[0] + 1
    return telling[0] + 1 if looks_like_conll([seen[k].rstrip(b"\r\n") for k in telling]) else None


def conll_line(block: bytes) -> int | None:
    """Return the number of the first line with a word if a file begins as CoNLL does, and None otherwise."""
    return conll_at(*beginning(io.BytesIO(block)))


def refuse_conll(path: object, block: bytes) -> None:
    """Refuse CoNLL, told by the beginning of a file, where plain text is read and positions are those of its lines.

    Raises
    ------
    DataError
    """
    line = conll_line(block)
    if line is not None:
        raise DataError(path, line, "CoNLL, where plain text is expected; `aligntools conll` writes its words")


def sniff(lines: Sequence[bytes], among: Sequence[str] = FORMATS, separator: bytes | None = None) -> tuple[str, bytes]:
    """Tell a text's format by its first lines.

    CoNLL has a line of several columns that begins with the id of a first word. In tagged text every token has a
    separator with something on both sides (nearly every one, where plain text is possible too). In columns each
    line has equally many, two or more, with tabs between them. All else is plain text, or, if that is not
    possible, taken for tagged text, whose reader will say what is wrong.

    Parameters
    ----------
    lines : sequence of bytes
        The text's lines; 200 that are neither blank nor comments are looked at.
    among : sequence of str
        The formats that are possible.
    separator : bytes or None
        Of tagged text, if it is known.

    Returns
    -------
    format : str
    separator : bytes
        Of tagged text: the given one, or the one of `SEPARATORS` that most tokens have.
    """
    sample = list(islice((x for x in lines if not is_blank(x)), SAMPLE))
    separators = SEPARATORS if separator is None else (separator,)
    if "conll" in among and conll_at(*beginning(lines)):
        return "conll", separators[0]
    tokens = [token for line in sample for token in split_words(line.strip(b"\r\n"))]
    split = {s: sum(bool(word and tag) for word, _, tag in (t.rpartition(s) for t in tokens)) for s in separators}
    best = max(separators, key=split.__getitem__)  # the first of them, if equal
    if "tagged" in among and split[best] == len(tokens) and (tokens or "text" not in among):
        return "tagged", best
    widths = {line.count(b"\t") for line in sample if not is_comment(line)}
    if "columns" in among and len(widths) == 1 and min(widths) > 0:
        return "columns", best
    if "text" in among and ("tagged" not in among or split[best] < 0.9 * len(tokens) or not tokens):
        return "text", best
    return "tagged" if "tagged" in among else among[0], best


def looks_like_conll(lines: Sequence[bytes]) -> bool:
    """Tell whether the first lines that are no comments, one or two, are those of CoNLL."""
    if not lines:
        return False
    fields = lines[0].split(b"\t")
    if len(fields) > 5:
        return bool(_ID.fullmatch(fields[0])) or all(line.count(b"\t") == len(COLUMNS) - 1 for line in lines)
    # The same with too few columns, or with spaces, which its reader will explain: two lines with ids, so that no plain
    # text is taken for it.
    rows = [line.split(b"\t") if len(fields) > 3 else split_words(line.rstrip(b"\r\n")) for line in lines]
    width = len(fields) if len(fields) > 3 else len(COLUMNS)
    if len(rows) < 2 or any(len(row) != width for row in rows):
        return False
    ids = [row[0] for row in rows]
    return ids == [b"1", b"2"] or (ids == [b"1", b"1"] and rows[0][6:7] in ([b"0"], [b"_"]))  # a sentence of one word


def is_comment(line: bytes) -> bool:
    """Tell a comment from a word ``#`` where the columns have tabs between them; with spaces there are none."""
    return line.startswith(b"#") and b"\t" not in line
