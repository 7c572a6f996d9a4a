"""Segments of HTML documents: what stands in their blocks, with the characters that it stands in.

A segment is what lies between two tags of blocks (paragraphs, headings, items, cells), where it has text: words, and
the inline tags among them. Everything else stays as it is written: tags of blocks, comments, scripts, styles, what is
kept with its line breaks. Tags that are not closed, or cross, are marks by themselves.
"""

import codecs
import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from typing import NamedTuple

from aligntools.formats.markup.segments import SPACE, Mark, Segment, plain_line, spliced, translated, within_pairs
from aligntools.ground.errors import DataError
from aligntools.words.placeholders import VOID

#: Elements that begin and end a segment; so does the end of what is `_KEPT`, where that is not within a segment.
BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "caption", "center", "colgroup", "datalist", "dd"),
        *("details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form"),
        *("frameset", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hgroup", "hr", "html", "legend", "li"),
        *("main", "menu", "nav", "noframes", "ol", "optgroup", "option", "p", "pre", "search", "section", "select"),
        *("summary", "table", "tbody", "td", "textarea", "tfoot", "th", "thead", "title", "tr", "ul"),
    )
)
#: Other elements that a document may begin with.
_INLINE = frozenset(
    (
        *("a", "abbr", "b", "button", "cite", "code", "del", "em", "font", "head", "i", "ins", "kbd", "label", "mark"),
        *("q", "s", "script", "small", "span", "strong", "style", "sub", "sup", "u"),
    )
)
#: Elements of HTML.
ELEMENTS = BLOCKS | _INLINE | VOID
#: Elements whose text is none that is translated; those that are no block go with the segment they stand in, whole.
_KEPT = frozenset(
    (
        *("audio", "canvas", "iframe", "map", "math", "noscript", "object", "pre", "script", "style", "svg"),
        *("template", "textarea", "video"),
    )
)
#: What stands above characters of `<ruby>`, with its brackets.
_READINGS = ("rt", "rp", "rtc")
#: Blocks that end where the next of their name begins.
_SELF_CLOSING = ("p", "li", "option", "td", "th", "tr", "dt", "dd")
#: What breaks a line.
_SEPARATORS = ("br",)
ANY_TAG = re.compile(r"<[A-Za-z!/]")
#: The kind of piece that a block is which says that it is not translated.
_UNTRANSLATED = "untranslated"
_NOT_TRANSLATED = re.compile(r"""\stranslate\s*=\s*["']?no\b""", re.IGNORECASE)
_CHARSET = re.compile(rb"""<meta[^>]+charset\s*=\s*["']?\s*([A-Za-z0-9_:.-]+)""", re.IGNORECASE)
#: Bytes in which a document says its encoding.
_LOOK = 4096
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True)
class PageSegment:
    """A segment of a document.

    Texts are as they are written, with entities. ``unchanged`` says that its translation is its own text.
    """

    source: Segment
    target: Segment
    begin: int
    end: int
    line: int
    block: str
    unchanged: bool = False


@dataclass(frozen=True, eq=False)
class Page:
    """A document and its segments.

    segments: Of a document as it is read, source and target are the same. wanted: Which of them get something.
    others: Blocks that are none of these, by why.
    """

    text: str
    encoding: str
    path: object
    segments: list[PageSegment]
    wanted: list[bool]
    others: Counter[str]

    def why_left(self, segment: PageSegment) -> str:
        """Return why a segment with tags is left as it is."""
        return "have tags already" if segment.source.marks else ""

    def plain(self) -> list[str]:
        """Return the text of each segment without tags, on one line, as a translator reads it."""
        return [plain_line(one.source, _SEPARATORS) for one in self.segments]

    def with_lines(self, lines: Iterable[str], name: object) -> "Page":
        """Return the document with lines of text as the translations of its segments."""
        segments = translated(self, lines, name, "segments", _SEPARATORS)
        return replace(self, segments=segments, wanted=[True] * len(segments))

    def with_page(self, translated: "Page") -> "Page":
        """Return a translated document as one whose segments get the tags of this one's."""
        ours, theirs = self.segments, translated.segments
        for first, second in zip(ours, theirs, strict=False):
            if first.block != second.block:
                where = f"text in <{second.block}> where {self.path}:{first.line} has some in <{first.block}>"
                raise DataError(translated.path, second.line, f"{where}; both must have the same blocks")
        if len(ours) != len(theirs):
            counted = f"{len(theirs)} segments where {self.path} has {len(ours)}"
            raise DataError(translated.path, None, f"{counted}; both must have the same blocks")
        segments = [replace(b, source=a.source) for a, b in zip(ours, theirs, strict=True)]
        wanted = [bool(one.source.marks and not one.target.marks) for one in segments]
        return replace(translated, segments=segments, wanted=wanted)

    def with_targets(self, targets: Iterable[tuple[PageSegment, str]]) -> bytes:
        """Return the document with some segments replaced; everything else is as it was."""
        text = spliced(self.text, ((segment.begin, segment.end, target) for segment, target in targets))
        return text.encode(self.encoding, "xmlcharrefreplace")


def read_page(data: bytes, path: object) -> Page:
    """Read an HTML document's bytes.

    Its encoding is what its first bytes, or the first ``<meta>`` with a charset, say; else UTF-8.
    """
    encoding = next((name for bom, name in _BOMS if data.startswith(bom)), "")
    if not encoding:
        said = _CHARSET.search(data[:_LOOK])
        encoding = said[1].decode("ascii").lower() if said else "utf-8"
        encoding = "utf-8" if encoding.startswith("utf-16") else encoding  # as browsers do: it cannot be
    try:
        text = data.decode(encoding)
    except LookupError:
        raise DataError(path, None, f"unknown encoding '{encoding[:40]}'; convert the document to UTF-8") from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = f"byte {error.start + 1} is not {encoding}; convert the document to UTF-8, and say so in a <meta>"
        raise DataError(path, line, problem) from None
    others: Counter[str] = Counter()
    segments = list(_segments(text, others))
    return Page(text, encoding, path, segments, [bool(one.source.marks) for one in segments], others)


class _Parser(HTMLParser):
    """Notes what begins where: ``start``, ``end``, ``text`` or ``other``, an element's name, the first character."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self.found: list[tuple[str, str, int]] = []
        self._lines = [0, *(found.end() for found in re.finditer("\n", text))]
        self.feed(text)
        self.close()

    def _note(self, kind: str, name: str = "") -> None:
        line, column = self.getpos()
        self.found.append((kind, name, self._lines[line - 1] + column))

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._note("start", tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self._note("start" if tag in BLOCKS else "other", tag)

    def handle_endtag(self, tag: str) -> None:
        self._note("end", tag)

    def handle_data(self, data: str) -> None:
        self._note("text")

    def handle_entityref(self, name: str) -> None:
        self._note("text")

    def handle_comment(self, data: str) -> None:
        self._note("other")

    def handle_decl(self, decl: str) -> None:
        self._note("other")

    handle_charref = handle_entityref
    handle_pi = unknown_decl = handle_comment


class _Piece(NamedTuple):
    """Part of a segment: an event and its last character."""

    kind: str
    name: str
    begin: int
    end: int


def _segments(text: str, others: Counter[str]) -> Iterator[PageSegment]:
    """Yield the segments of a document, and count blocks that are none."""
    pieces: list[_Piece] = []
    blocks: list[str] = []
    line, counted = 1, 0
    for piece in _pieces(text):
        if piece.kind not in ("block", _UNTRANSLATED):
            pieces.append(piece)
            continue
        others["are not to be translated"] += piece.kind == _UNTRANSLATED
        found = _segment(text, pieces)
        if found is not None:
            segment, begin, end = found
            line, counted = line + text.count("\n", counted, begin), begin
            yield PageSegment(segment, segment, begin, end, line, blocks[-1] if blocks else "")
        pieces = []
        if text.startswith("</", piece.begin):  # closes what was left open in it
            while piece.name in blocks and blocks.pop() != piece.name:
                pass
        elif piece.name and piece.name not in VOID and piece.name not in _KEPT:
            if blocks and blocks[-1] == piece.name and piece.name in _SELF_CLOSING:
                blocks.pop()
            blocks.append(piece.name)


def _pieces(text: str) -> Iterator[_Piece]:
    """Yield what a document consists of: ``text``, ``start`` and ``end`` of inline tags, ``other``, and ``block``."""
    events = _Parser(text).found
    kept, kept_from, depth, kind_kept = "", 0, 0, ""
    for k, (kind, name, begin) in enumerate(events):
        end = events[k + 1][2] if k + 1 < len(events) else len(text)
        if _ends(kept, kind, name):  # its end tag may be left out
            yield _Piece(kind_kept, kept if kind_kept == "other" else "", kept_from, begin)
            kept = ""
        if kept:
            depth += (kind == "start" and name == kept) - (kind == "end" and name == kept)
            if not depth:
                yield _Piece(kind_kept, kept if kind_kept == "other" else "", kept_from, end)
                kept = ""
        elif kind == "start" and name in BLOCKS - VOID and _NOT_TRANSLATED.search(text[begin:end]):
            kept, kept_from, depth, kind_kept = name, begin, 1, _UNTRANSLATED
        elif kind == "start" and (name in _KEPT or name in _READINGS):
            kept, kept_from, depth, kind_kept = name, begin, 1, "block" if name in BLOCKS else "other"
        elif name in BLOCKS:
            yield _Piece("block", name, begin, end)
        else:
            yield _Piece("other" if kind == "start" and name in VOID else kind, name, begin, end)
    ended = kind_kept if kept and kind_kept == _UNTRANSLATED else "block"
    yield _Piece(ended, "", kept_from if kept else len(text), len(text))


def _ends(kept: str, kind: str, name: str) -> bool:
    """Whether a tag ends what is kept, and is no part of it."""
    if kept in _READINGS:
        next_one = kind == "start" and name in ("rb", "rtc", *(() if kept == "rtc" else ("rt", "rp")))
        return name != kept and (name in BLOCKS or name == "ruby" or next_one)
    return kept == "p" and kind == "start" and name in BLOCKS


def _segment(text: str, pieces: list[_Piece]) -> tuple[Segment, int, int] | None:
    """Return a segment and where it begins and ends; nothing where there is no text."""
    texts = ((k, text[piece.begin : piece.end]) for k, piece in enumerate(pieces) if piece.kind == "text")
    worded = [k for k, written in texts if html.unescape(written).strip("\ufeff").strip()]
    if not worded:
        return None
    first, last = _reach(pieces, worded[0], worded[-1])
    begin, end = pieces[first].begin, pieces[last].end
    begin += len(text[begin : pieces[first].end]) - len(text[begin : pieces[first].end].lstrip(SPACE))
    end -= len(text[pieces[last].begin : end]) - len(text[pieces[last].begin : end].rstrip(SPACE))
    plain: list[str] = []
    marks: list[Mark] = []
    open_: list[tuple[str, int]] = []
    length, read = 0, -1
    for kind, name, start, stop in pieces[first : last + 1]:
        written = text[max(start, begin) : min(stop, end)]
        reading = kind == "other" and name in _READINGS
        if not reading:
            read = -1
        if kind in ("text", "start") and open_ and open_[-1][0] == "ruby":  # what a reading may stand above
            marks.append(Mark("", "", length, length, open_[-1][1], "rt"))
            open_.append(("", len(marks) - 1))
        if reading and (read >= 0 or (open_ and not open_[-1][0])):
            read = read if read >= 0 else open_.pop()[1]
            marks[read] = replace(marks[read], closing=marks[read].closing + written, end=length)
        elif kind == "text":
            plain.append(written)
            length += len(written)
        elif kind == "end" and any(one == name for one, _ in open_):
            while True:
                other, number = open_.pop()
                if other == name:
                    marks[number] = replace(marks[number], closing=written, end=length)
                    break
        else:
            parent = open_[-1][1] if open_ else -1
            attributes = written[len(name) + 1 : -1] if kind == "start" or name else ""
            marks.append(Mark(written, "", length, length, parent, name or "!", attributes))
            if kind == "start":
                open_.append((name, len(marks) - 1))
    marks = within_pairs(marks)
    kept = [k for k, mark in enumerate(marks) if mark.opening or mark.closing]  # of others nothing is written
    numbers = {k: n for n, k in enumerate([-1, *kept], -1)}
    marks = [replace(marks[k], parent=numbers[marks[k].parent]) for k in kept]
    return Segment("".join(plain), marks), begin, end


def _reach(pieces: list[_Piece], first: int, last: int) -> tuple[int, int]:
    """Return the first and last piece of a segment: tags around its words that are closed in it belong to it."""
    open_: list[tuple[str, int]] = []
    pairs: list[tuple[int, int]] = []
    for k, piece in enumerate(pieces):
        if piece.kind == "start":
            open_.append((piece.name, k))
        elif piece.kind == "end":
            at = next((n for n in range(len(open_) - 1, -1, -1) if open_[n][0] == piece.name), -1)
            if at >= 0:
                pairs.append((open_[at][1], k))
                del open_[at]
    before, after = first, last
    for start, stop in pairs:
        if start <= last and stop >= first:
            before, after = min(before, start), max(after, stop)
    return before, after
