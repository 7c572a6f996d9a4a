"""Segments with tags: text, and what stands where in it.

A segment is a line, or what is between two tags of a translation file. Tags are kept as they are written, character by
character; entities stay in the text. What comes out is well-formed: marks nest, and are closed in the order they need.
"""

import html
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, AnyStr, NamedTuple

from aligntools.ground.errors import DataError
from aligntools.words.placeholders import VOID

#: White space that may be more or less of it; a no-break space is none.
SPACE = " \t\n\r\f"
_SPACES = re.compile(f"[{SPACE}\v\x1c-\x1e\x85\u2028\u2029]+")
#: Elements whose content is code of the original, not text, where they have one of `_CODE_MARKS`.
_CODE = frozenset(("bpt", "ept", "ph", "it", "ut"))
_CODE_MARKS = re.compile(r"\s(?:id|i|x|rid|pos)\s*=")
#: Empty elements that stand for a start and an end, and the attributes that say which belong together.
_OPENS = {"bpt": "ept", "bx": "ex", "sc": "ec", "sm": "em"}
_CLOSES = {close: start for start, close in _OPENS.items()}
_PARTNER = ("rid", "startRef", "id", "i")
_NAME = r"(?:[^\W\d]|:)[\w:.\-·]*"
_ATTRIBUTES = r"""(?:\s+[^\s=<>"'/]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'<>=]+))?)*"""
_TAG = re.compile(
    rf"<!--.*?-->|<\?.*?\?>|<!\[CDATA\[(?P<data>.*?)\]\]>"
    rf"|</(?P<close>{_NAME}|\d+)\s*>|<(?P<open>{_NAME}|\d+(?=\s*/?>))(?P<attributes>{_ATTRIBUTES})\s*(?P<empty>/?)>",
    re.DOTALL,
)
#: What may begin a tag; what has to.
_BEGUN = re.compile(r"<(?=\w|[:/!?])")
_BROKEN = re.compile(r"<(?=[A-Za-z_:/!?])")
_ATTRIBUTE = re.compile(r"""([^\s=]+)\s*=\s*("[^"]*"|'[^']*'|[^\s"']+)""")
_ENTITY = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);")


@dataclass(frozen=True)
class Mark:
    """A tag, or two that belong together (``closing`` is empty for one alone), and the text between them.

    begin, end: Of what is between them, in the segment's text. parent: The mark that it lies in, or -1.
    name: Of the element; ``CDATA`` and ``!`` are no elements.
    around: White space before and behind a mark without text, where it shall stand there in the translation too.
    separates: Whether such a mark is a space to who reads the text without it: a tab, the break of a line.
    """

    opening: str
    closing: str
    begin: int
    end: int
    parent: int
    name: str
    attributes: str = ""
    around: tuple[str, str] | None = None
    separates: bool = False

    @property
    def pair(self) -> bool:
        """Whether it has two tags."""
        return bool(self.closing)

    @property
    def shown(self) -> str:
        """What a report calls it: the tag that it begins with."""
        return self.opening or self.closing

    @property
    def once(self) -> bool:
        """Whether it must not stand twice: links, readings of characters, and what is known by a number."""
        return (
            self.name in ("a", "CDATA", "ruby", "rt")
            or self.name.isdecimal()
            or bool(re.search(r"\s(?:xml:)?(?:id|i|rid|x)\s*=", self.attributes))
        )


@dataclass(frozen=True)
class Segment:
    """A text and its marks, in the order in which they begin.

    text: Without tags; entities are as they are written. Text of CDATA sections has entities here, so that all is
        alike.
    """

    text: str
    marks: list[Mark] = field(default_factory=list)


class BrokenSegment(ValueError):
    """Tags that are not well-formed: at which character, from 0, and what is wrong."""

    def __init__(self, place: int, what: str) -> None:
        super().__init__(what)
        self.place, self.what = place, what

    def as_error(self, path: object, line: int | None) -> DataError:
        """Return what the user reads."""
        return DataError(path, line, f"column {self.place + 1}: {self.what}")


class _Open(NamedTuple):
    """A mark whose end is not there yet."""

    name: str
    mark: int
    place: int
    partner: str = ""


def parse_segment(line: str, codes: bool = False) -> Segment:
    """Return the text and marks of a segment; BrokenSegment when a tag is not closed, not open, or crosses another.

    A ``<`` with no name behind it, and an ``&`` that begins no entity, are text. ``<0/>`` and ``<1>...</1>`` are tags,
    as i18next has them. With ``codes``, ``<ph>`` and others of translation files hold code without any attribute too.
    """
    if "<" not in line:
        return Segment(line)
    tags = list(_tags(line))
    closable = {found["close"].lower() for found in tags if found["close"]}
    opened = {found["open"] for found in tags if found["open"]}
    text: list[str] = []
    marks: list[Mark] = []
    open_: list[_Open] = []
    length = at = 0

    def add(opening: str, name: str, attributes: str = "", closing: str = "", size: int = 0) -> int:
        parent = open_[-1].mark if open_ else -1
        marks.append(Mark(opening, closing, length, length + size, parent, name, attributes))
        return len(marks) - 1

    def close(tag: str) -> None:
        number = open_.pop().mark
        marks[number] = replace(marks[number], closing=tag, end=length)

    for number, found in enumerate(tags):
        name = found["open"] or found["close"] or ""
        others = opened if found["close"] else closable
        if found.start() < at or (name.isdecimal() and not found["empty"] and name not in others):
            continue  # within code, or a comparison such as ``<5>``, where nothing ends it
        text.append(line[at : found.start()])
        length += found.start() - at
        at, tag = found.end(), found.group()
        if found["data"] is not None:
            data = html.escape(found["data"], quote=False)
            add("<![CDATA[", "CDATA", closing="]]>", size=len(data))
            text.append(data)
            length += len(data)
        elif found["close"]:
            if open_ and open_[-1].partner and any(one.name == name and not one.partner for one in open_):
                while open_[-1].partner:  # a start whose end is beyond: a tag by itself
                    open_.pop()
            if not open_ or open_[-1].name != name:
                problem = f"</{name}> closes what is not open"
                if any(one.name == name for one in open_):
                    problem = f"</{name}> crosses <{open_[-1].name}>, which is open; close that first"
                raise BrokenSegment(found.start(), problem)
            close(tag)
        elif found["open"]:
            attributes, local = found["attributes"], name.rpartition(":")[2]
            if not found["empty"] and local in _CODE and (codes or _CODE_MARKS.search(attributes)):
                at = _end_of_code(name, tags, number)
                tag = line[found.start() : at]
            elif not found["empty"] and (name.lower() not in VOID or name.lower() in closable):
                open_.append(_Open(name, add(tag, name, attributes), found.start()))
                continue
            values = {key: value.strip("\"'") for key, value in _ATTRIBUTE.findall(attributes)}
            partner = next((values[key] for key in _PARTNER if key in values), "")
            last = open_[-1] if open_ else None
            if last and local in _CLOSES and (last.name, last.partner) == (_CLOSES[local], partner):
                close(tag)
                continue
            mark = add(tag, name, attributes)
            if local in _OPENS and partner:
                open_.append(_Open(local, mark, found.start(), partner))
        else:
            add(tag, "!")
    text.append(line[at:])
    for left in [one for one in open_ if not one.partner]:
        raise BrokenSegment(left.place, f"<{left.name}> is not closed; add </{left.name}>")
    return Segment("".join(text), within_pairs(marks))


def within_pairs(marks: Sequence[Mark]) -> list[Mark]:
    """Return marks whose parents are none of those that turned out to have no end."""
    found = list(marks)
    for k, mark in enumerate(marks):  # a parent comes before what lies in it
        parent = mark.parent
        if parent >= 0 and not marks[parent].closing:
            found[k] = replace(mark, parent=found[parent].parent)
    return found


def _tags(line: str) -> Iterator["re.Match[str]"]:
    """Yield the tags of a line; refuse what begins as one and is none."""
    at = 0
    while begun := _BEGUN.search(line, at):
        found = _TAG.match(line, begun.start())
        at = begun.end()
        broken = None if found else _BROKEN.match(line, begun.start())
        if broken:
            shown = line[broken.start() : broken.start() + 20]
            problem = f"'{shown}' begins like a tag and is none; write &lt; for the character <"
            raise BrokenSegment(broken.start(), problem)
        if found:
            yield found
            at = found.end()


def _end_of_code(name: str, tags: Sequence["re.Match[str]"], number: int) -> int:
    depth = 1
    for k in range(number + 1, len(tags)):
        found = tags[k]
        if found["open"] == name and not found["empty"]:
            depth += 1
        elif found["close"] == name:
            depth -= 1
            if not depth:
                return found.end()
    raise BrokenSegment(tags[number].start(), f"<{name}> is not closed; add </{name}>")


def render(text: str, marks: Sequence[Mark], places: Sequence[Sequence[tuple[int, int]]]) -> str:
    """Return a text with marks in it, each at the places where it begins and ends: several where it is repeated.

    Those of marks with the same parent do not overlap; a mark that others lie in has one, which they are within.
    """
    children: dict[int, list[tuple[int, int, int]]] = {}
    for number, (mark, spans) in enumerate(zip(marks, places, strict=True)):
        for begin, end in spans:
            children.setdefault(mark.parent, []).append((begin, end, number))
    out: list[tuple[str, Mark | None]] = []
    # what is open: the end of its text, what follows in it, its mark
    open_marks: list[tuple[int, Iterator[tuple[int, int, int]], Mark | None]] = [
        (len(text), iter(sorted(children.get(-1, ()))), None)
    ]
    at = 0
    while open_marks:
        end, following, own = open_marks[-1]
        inner = next((one for one in following if at <= one[0] <= one[1] <= end), None)
        if inner is None:
            if own is not None and own.name == "CDATA":
                out.append((html.unescape(text[at:end]).replace("]]>", "]]]]><![CDATA[>"), None))
            else:
                out.append((text[at:end], None))
            if own is not None:
                out.append((own.closing, own))
            at = end
            open_marks.pop()
        else:
            start, stop, number = inner
            out += (text[at:start], None), (marks[number].opening, marks[number])
            at = start
            of_code = marks[number].name == "CDATA"
            open_marks.append((stop, iter(() if of_code else sorted(children.get(number, ()))), marks[number]))
    if any(mark.around is not None for mark in marks):
        return "".join(_spaced(out))
    return "".join(part for part, _ in out)


def plain_line(segment: Segment, separators: Collection[str]) -> str:
    """Return a segment's text on one line without entities, as a translator reads it; separators are spaces."""
    cuts = sorted({mark.begin for mark in segment.marks if mark.name in separators})
    parts = [segment.text[a:b] for a, b in zip([0, *cuts], [*cuts, len(segment.text)], strict=True)]
    return one_spaced(html.unescape(" ".join(parts)))


def one_spaced(text: str) -> str:
    """Return a text with one space for all white space in a row, and none at its ends."""
    return _SPACES.sub(" ", text).strip(" ")


def translated(document: Any, lines: Iterable[str], name: object, what: str, separators: Collection[str]) -> list[Any]:
    """Return a document's segments, called ``what``, with as many lines of text as their translations."""
    targets = [line.strip(SPACE) for line in lines]
    if len(targets) != len(document.segments):
        counted = f"{len(targets)} lines where {document.path} has {len(document.segments)} {what}"
        raise DataError(name, None, f"{counted}; give a line for each (`segments` writes them)")
    return [
        replace(
            one,
            source=with_spaces(one.source, separators),
            target=Segment(html.escape(target, quote=False)),
            unchanged=one_spaced(target) == plain,
        )
        for one, target, plain in zip(document.segments, targets, document.plain(), strict=True)
    ]


def spliced(whole: AnyStr, pieces: Iterable[tuple[int, int, AnyStr]]) -> AnyStr:
    """Return a text with what stands from one place to another replaced, in order; all else is as it was."""
    out: list[AnyStr] = []
    at = 0
    for begin, end, piece in pieces:
        out += [whole[at:begin], piece]
        at = end
    out.append(whole[at:])
    return whole[:0].join(out)


def with_spaces(segment: Segment, separators: Collection[str]) -> Segment:
    """Return a segment whose marks that enclose no text know the white space that they stand in."""
    text, marks = segment.text, list(segment.marks)
    points = [k for k, mark in enumerate(marks) if mark.begin == mark.end]
    for n, k in enumerate(points):
        at = marks[k].begin
        left = text[marks[points[n - 1]].begin if n else 0 : at]
        right = text[at : marks[points[n + 1]].begin if n + 1 < len(points) else len(text)]
        around = left[len(left.rstrip(SPACE)) :], right[: len(right) - len(right.lstrip(SPACE))]
        marks[k] = replace(marks[k], around=around, separates=marks[k].name in separators)
    return Segment(text, marks)


def _spaced(parts: Iterable[tuple[str, Mark | None]]) -> Iterator[str]:
    """Yield parts of a text and its tags, with white space around marks as `Mark.around` says."""
    gap: list[tuple[str, Mark | None]] = []
    begins = True
    for part, mark in parts:
        words = part.strip(SPACE) if mark is None else ""
        if not words:
            gap.append((part, mark))
            continue
        space = len(part) - len(part.lstrip(SPACE))
        yield from _gap([*gap, (part[:space], None)], begins)
        yield words
        gap, begins = [(part[space + len(words) :], None)], False
    yield from _gap(gap, True)


def _gap(parts: Sequence[tuple[str, Mark | None]], edge: bool) -> Iterator[str]:
    """Yield tags and white space between words, or at an edge of the text."""
    points = [(k, part, mark) for k, (part, mark) in enumerate(parts) if mark is not None and mark.around and part]
    before, after = {}, {}
    for k, part, point in points:
        left, right = point.around or ("", "")
        if k == points[0][0]:
            before[k] = left
        if part != point.opening or not point.closing:
            after[k] = right
    given = edge or any(part for part, mark in parts if mark is None)
    wanted = any(before.values()) or any(after.values())
    if not (any(point.separates for _, _, point in points) or (wanted and given)):
        yield from (part for part, _ in parts)
        return
    for k, (part, mark) in enumerate(parts):
        if mark is not None:
            yield f"{before.get(k, '')}{part}{after.get(k, '')}"


def decoded(text: str) -> tuple[str, Sequence[int]]:
    """Return a text with its entities resolved, and where each of its characters begins in it, and its end."""
    if "&" not in text or not _ENTITY.search(text):
        return text, range(len(text) + 1)
    out: list[str] = []
    places: list[int] = []
    at = 0
    for found in _ENTITY.finditer(text):
        out.append(text[at : found.start()])
        places.extend(range(at, found.start()))
        character = html.unescape(found.group())
        if character == found.group() or character.isspace():  # a name that HTML does not know; a space
            character = " " if character.isspace() else character
        out.append(character)
        places.extend([found.start()] * len(character))
        at = found.end()
    out.append(text[at:])
    places.extend(range(at, len(text) + 1))
    return "".join(out), places
