"""What kind of text a file is, by its first lines. Every command that takes sentences asks here."""

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from aligntools.formats.annotation.conll_layouts import COLUMNS, HEADER
from aligntools.formats.opening.recognition import is_binary
from aligntools.formats.opening.streamed_xml import xml_root
from aligntools.ground.errors import DataError
from aligntools.words.vocabulary import split_words
from aligntools.words.white_space import is_blank

#: Kinds of text, and what messages call them.
KINDS = {
    "conll": "CoNLL",
    "trees": "trees in brackets",
    "tagged": "tagged text (word_TAG)",
    "columns": "columns (a word and its tag on each line)",
    "text": "plain text",
    "pairs": "parallel text with ' ||| ' between its sides",
    "table": "a table with tabs between its columns",
    "tmx": "TMX",
    "xliff": "XLIFF",
    "html": "HTML",
    "xml": "XML",
    "export": "Negra's export format",
    "links": "links between words",
    "a3": "alignments in GIZA++'s form",
    "rules": "a grammar of rules with ' ||| ' between fields",
    "fields": "lines of fields with ' ||| ' between them",
    "arpa": "a language model (ARPA)",
    "binary": "binary data",
}
#: Kinds that sentences can be read of. ``columns`` is a word and its tag on a line, between tabs or spaces, and a blank
#: line after a sentence.
FORMATS = ("conll", "trees", "tagged", "columns", "text")
#: What may be done about others where text is expected.
_ADVICE = {
    "pairs": "; give one side alone",
    "table": "; give one column alone, for instance with cut -f 1",
    "tmx": "; `align()` reads both of its sides as `joint_file`",
    "xliff": "; `align()` reads both of its sides as `joint_file`",
    "conll": "; `aligntools conll` writes its words",
    "trees": "; `aligntools conll` writes their words",
    "tagged": "; `aligntools conll` writes its words",
    "columns": "; `aligntools conll` writes their words",
}
#: What is said of other kinds where CoNLL or trees are read.
_WANTED = {
    "conll": "CoNLL is expected, which has 10 columns with tabs between them",
    "trees": "trees in brackets are expected; its words stand outside of brackets",
}
#: Looked for, in this order, where the separator of tagged text is not given.
SEPARATORS = (b"_", b"/")
SAMPLE = 200  # lines that are looked at to tell the format
_GLANCE = 1 << 24  # bytes of comments, at most, before the lines that tell CoNLL
_LOOK = 1 << 16  # bytes in which a tree, or the first tag of XML, has to be
_ID = re.compile(rb"1|1-[1-9]\d*|0\.1")  # of the first line of a sentence in CoNLL
_LINKS = re.compile(rb"\d+[-?p]\d+(:[\d.e-]+)?([ \t]+\d+[-?p]\d+(:[\d.e-]+)?)*")
_A3 = re.compile(rb"# ?Sentence pair \(\d+\)")
_RULE = re.compile(rb"\[[^\[\]\s]+\] \|\|\| ")
_BARS = re.compile(rb"(?<!\S)\|\|\|(?!\S)")
_BRACKET = re.compile(rb"[()]|[^()\s]+")
#: What may stand before trees: comments, tags such as ``<DOC>``, and an id.
_BEFORE_TREES = re.compile(rb"#|;;|%%|\*x\*|(?:<[/!?A-Za-z][^<>()]*>[ \t]*+)++(?![<(])|[^ \t()]+$")
_MARKUP = re.compile(rb"[ \t]*(?:<[/!?A-Za-z][^<>()]*>[ \t\r\n]*)+")
_PLAIN_TAG = re.compile(rb"[A-Z]{2,}")
_LOWER = re.compile(r"[^\W\d_]*[a-z\u00df-\uffff]")


def beginning(lines: Iterable[bytes]) -> tuple[list[bytes], list[int]]:
    """Take lines up to the second that is neither blank nor a comment; return them, and the places of the one or two.

    CoNLL with spaces for tabs needs two. Beyond 16 MiB of comments, such as licences, nothing is looked for.
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


def first_lines(file: Iterable[bytes]) -> tuple[list[bytes], Iterator[bytes]]:
    """Take as many lines as `sniff` looks at, of a live pipe as few as tell CoNLL; return them, and all lines."""
    lines = iter(file)
    seen, _ = beginning(lines)
    if not getattr(getattr(file, "raw", None), "live", False):
        seen += islice(lines, SAMPLE)
    return seen, chain(seen, lines)


def conll_at(seen: Sequence[bytes], telling: Sequence[int]) -> int | None:
    """Return the number of the first line with a word if what `beginning` took begins as CoNLL does, and else None."""
    if telling and any(line.startswith(b"#") and HEADER.match(line) for line in seen[: telling[0]]):
        return telling[0] + 1
    return telling[0] + 1 if looks_like_conll([seen[k].rstrip(b"\r\n") for k in telling]) else None


def refuse_conll(path: object, block: bytes) -> None:
    """Refuse CoNLL, told by the beginning of sentences in memory."""
    line = conll_at(*beginning(io.BytesIO(block)))
    if line is not None:
        raise refused(path, line, "conll")


def refused(path: object, line: int | None, kind: str, expected: str = "plain text") -> DataError:
    """Return the error of a file of another kind than is read."""
    return DataError(path, line, f"{KINDS[kind]}, where {expected} is expected{_ADVICE.get(kind, '')}")


def refuse_others(path: object, lines: Sequence[bytes]) -> None:
    """Refuse a file that is not plain text, by its first lines, for a reader whose positions are numbers of lines."""
    kind = sniff(lines, path=path)[0]
    if kind != "text":
        raise refused(path, conll_at(*beginning(lines)) or _first(lines), kind)


def sniff(
    lines: Sequence[bytes], among: Sequence[str] = FORMATS, separator: bytes | None = None, path: object = None
) -> tuple[str, bytes]:
    """Recognize a text's kind by its first lines; return it and the separator of tagged text.

    CoNLL has a line of several columns that begins with the id of a first word; trees have words with tags in brackets
    within brackets; in tagged text every token has a separator with something on both sides; columns have equally many
    tabs on each line. All else is plain text, or, if that is not among them, tagged text, whose reader says what is
    wrong. Of a file (``path``) other kinds are looked for, too, and refused.
    """
    sample = list(islice((x.rstrip(b"\r\n") for x in lines if not is_blank(x)), SAMPLE))
    separators, text = SEPARATORS if separator is None else (separator,), "text" in among
    expected = "plain text" if text else "text with tags"
    if path is not None and (kind := other_kind(sample)):
        raise refused(path, _first(lines), kind, expected)
    if "conll" in among and conll_at(*beginning(lines)):
        return "conll", separators[0]
    if "trees" in among and looks_like_trees(sample):
        return "trees", separators[0]
    tokens = [token for line in sample for token in split_words(line)]
    parts = {s: [(word, tag) for word, _, tag in (t.rpartition(s) for t in tokens) if word and tag] for s in separators}
    best = max(separators, key=lambda s: len(parts[s]))  # the first of them, if equal
    share = len(parts[best]) / max(len(tokens), 1)
    if "tagged" in among and (
        (share > 0.9 and _are_tags([tag for _, tag in parts[best]])) if text else len(parts[best]) == len(tokens)
    ):
        return "tagged", best
    rows = [line.split(b"\t") for line in sample if not is_comment(line)]
    even = len({len(row) for row in rows}) == 1 and len(rows[0]) > 1
    if text:  # words and tags in the first two columns, not numbers of words
        fields = [field for row in rows for field in row[:2]]
        fits = (
            len(rows) > 1 and not any(b" " in x or not x for x in fields) and not all(map(bytes.isdigit, fields[::2]))
        )
    else:
        fits = path is None or not _is_table(rows)
    tabbed = even and fits
    if "columns" in among and (tabbed or _are_spaced_columns(sample, lines)):
        return "columns", best
    if path is not None and even and len(rows) > 1 and (text or "columns" in among):
        raise refused(path, _first(lines), "table", expected)
    if text:
        return "text", best
    return "tagged" if "tagged" in among else among[0], best


def refuse_for(path: object, lines: Sequence[bytes], wanted: str) -> None:
    """Refuse a file that is plainly of another kind than the one that is read, ``conll`` or ``trees``."""
    sample = [line.rstrip(b"\r\n") for line in lines if not is_blank(line)]
    kind = other_kind(sample) or sniff(lines)[0]
    rows = [line for line in sample if not (wanted == "conll" and line.startswith(b"#"))]
    cells = [line.split(b"\t") for line in rows]
    if kind == "text" and len(rows) > 1 and len(set(map(len, cells))) == 1 and _is_table(cells):
        kind = "table"
    if kind == "text" and (not rows or any(b"\t" in x if wanted == "conll" else x.startswith(b"(") for x in rows)):
        return  # nothing, or what its reader knows better how to refuse
    if kind != wanted:
        raise DataError(path, _first(lines), f"{KINDS[kind]}, where {_WANTED[wanted]}")


def refuse_first_line(path: object, line: bytes) -> None:
    """Refuse a first line that is no text to be answered line by line."""
    rows = [line.rstrip(b"\r\n")]
    kind = "trees" if looks_like_trees(rows) else other_kind([row for row in rows if not is_blank(row)])
    if kind and kind not in ("links", "pairs", "rules", "fields"):  # which a line by itself may look like
        raise refused(path, 1, kind)


def refuse_for_pairs(path: object, block: bytes) -> None:
    """Refuse a file of both sides of a text, by its beginning, that is plainly of another kind."""
    lines, _ = first_lines(io.BytesIO(block))
    sample = [line.rstrip(b"\r\n") for line in lines if not is_blank(line)]
    kind = other_kind(sample) or sniff(lines)[0]
    if kind == "columns":  # or a text of single words
        tags = [line.split(b"\t")[1] for line in sample if not is_comment(line)]
        kind = "columns" if len(sample) < len(lines) and _are_tags(tags) else "text"
    elif kind == "tagged" and any(b"\t" in line or b"|||" in line for line in sample):
        kind = "pairs"
    if kind not in ("pairs", "table", "text"):
        raise refused(path, _first(lines), kind, "parallel text")


def _first(lines: Sequence[bytes]) -> int:
    """Return the number of the first line that is not blank."""
    return next((n for n, line in enumerate(lines, 1) if not is_blank(line)), 1)


def _are_tags(tags: Sequence[bytes]) -> bool:
    """Return whether what stands behind separators may be tags: without lower case, or few and often the same."""
    if len(tags) < 2:
        return bool(tags) and bool(_PLAIN_TAG.fullmatch(tags[0]))
    if len(tags) >= 20 and len(set(tags)) <= len(tags) / 2:
        return True
    return not any(_LOWER.match(tag.decode("utf-8", "ignore")) for tag in set(tags))


def _are_spaced_columns(sample: Sequence[bytes], lines: Sequence[bytes]) -> bool:
    """Return whether these are columns with spaces: as many on each line, tags in capitals, blank lines."""
    rows = [line.split(b" ") for line in sample]
    if len(rows) < 4 or not any(map(is_blank, lines)) or len({len(row) for row in rows}) > 1 or len(rows[0]) < 2:
        return False
    tags = [row[1] for row in rows]
    capitals = sum(bool(_PLAIN_TAG.match(tag)) for tag in tags)
    return _are_tags(tags) and 2 * capitals > len(tags) and any(row[0] != row[0].upper() for row in rows)


def _is_table(rows: Sequence[Sequence[bytes]]) -> bool:
    """Return whether half of the first two columns of lines hold several words."""
    fields = [field for row in rows if len(row) > 1 for field in row[:2]]
    return bool(fields) and 2 * sum(b" " in field.strip(b" ") for field in fields) >= len(fields)


def other_kind(lines: Sequence[bytes]) -> str:
    """Return the kind of text that has no sentences to be read, by its first lines that are not blank, or nothing."""
    if not lines:
        return ""
    first = lines[0].removeprefix(b"\xef\xbb\xbf").lstrip(b" \t")
    if first.startswith(b"<"):
        root = (xml_root(b"\n".join(lines)[:_LOOK]) or "").rpartition(":")[2].lower()
        if root in ("tmx", "xliff", "html"):
            return root
        return "html" if first[:14].lower() == b"<!doctype html" else "xml" if first.startswith(b"<?xml") else ""
    if first.startswith((b"#", b"%%")) and any(x.startswith((b"#BOS ", b"#BOT ", b"#FORMAT ")) for x in lines):
        return "export"
    if first == b"\\data\\" or (b"\\data\\" in lines and any(x.startswith(b"ngram 1=") for x in lines)):
        return "arpa"
    if _A3.match(first):
        return "a3"
    if (
        all(map(_LINKS.fullmatch, (line.strip(b" \t") for line in lines)))
        and sum(line.count(b"-") for line in lines) > 1
    ):
        return "links"
    if all(map(_RULE.match, lines)):
        return "rules"
    if is_binary(b"\n".join(lines[:10])):
        return "binary"
    if looks_like_conll([line for line in lines if not line.startswith(b"#")][:2]):  # words may be bars
        return ""
    fields = [_BARS.split(line) for line in lines]
    fewest, most = min(map(len, fields)), max(map(len, fields))
    if most == 2 == fewest:
        both = len(lines) > 1 and any(not (is_blank(left) or is_blank(right)) for left, right in fields)
        return "pairs" if both else ""
    return "fields" if fewest > 2 and len(lines) > 1 else ""


def looks_like_trees(lines: Sequence[bytes]) -> bool:
    """Return whether first lines are those of trees in brackets: constituents that have words in brackets of their own.

    Text in brackets within brackets is none: its words stand beside them, or are more than two.
    """
    start = next((n for n, line in enumerate(lines) if not _BEFORE_TREES.match(line.strip(b" \t"))), len(lines))
    text = b"\n".join(lines[start:])[:_LOOK]
    text = text[found.end() :] if (found := _MARKUP.match(text)) else text
    first = text.split(None, 1)[:1]
    if first and b"(" not in first[0]:  # an id
        text = text[text.find(first[0]) + len(first[0]) :]
    open_brackets, leaves, constituents = list[list[int]](), 0, 0
    for token in _BRACKET.findall(text):
        if token == b"(":
            if open_brackets and open_brackets[-1][0] > 1:
                break
            open_brackets.append([0, 0])
        elif not open_brackets:
            break
        elif token != b")":
            if open_brackets[-1][1]:
                break
            open_brackets[-1][0] += 1
        else:
            own, within = open_brackets.pop()
            if (own == 1 and not within) or own > 3:
                break
            constituents += within > 0
            if open_brackets:
                open_brackets[-1][1] += 1
                leaves += own > 1
    else:
        return constituents > 0 and leaves > 0
    return leaves > 2


def looks_like_conll(lines: Sequence[bytes]) -> bool:
    """Return whether the first lines that are no comments, one or two, are those of CoNLL."""
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
    """Return whether a line is a comment, not a word ``#`` of columns with tabs; with spaces there are none."""
    return line.startswith(b"#") and b"\t" not in line
