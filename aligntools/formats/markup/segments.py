"""Segments with tags: text, and what stands where in it.

A segment is a line, or what is between two tags of a translation file. Tags are kept as they are written, character by
character; entities stay in the text. What comes out is well-formed: marks nest, and are closed in the order they need.
"""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from aligntools.ground.errors import DataError

#: HTML's elements that have no end tag.
VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr")
)
#: Elements whose content is code of the original, not text, where they have one of `_CODE_MARKS`.
_CODE = frozenset(("bpt", "ept", "ph", "it", "ut"))
_CODE_MARKS = re.compile(r"\s(?:id|i|x|rid|pos)\s*=")
#: Empty elements that stand for a start and an end, and the attributes that say which belong together.
_OPENS = {"bpt": "ept", "bx": "ex", "sc": "ec", "sm": "em"}
_CLOSES = {close: start for start, close in _OPENS.items()}
_PARTNER = ("rid", "startRef", "id", "i")
_NAME = r"[A-Za-z_:][\w:.\-]*"
_ATTRIBUTES = r"""(?:\s+[^\s=<>"'/]+(?:\s*=\s*(?:"[^"<]*"|'[^'<]*'|[^\s"'<>=]+))?)*"""
_TAG = re.compile(
    rf"<!--.*?-->|<\?.*?\?>|<!\[CDATA\[(?P<data>.*?)\]\]>"
    rf"|</(?P<close>{_NAME})\s*>|<(?P<open>{_NAME})(?P<attributes>{_ATTRIBUTES})\s*(?P<empty>/?)>",
    re.DOTALL,
)
_BROKEN = re.compile(r"<(?=[A-Za-z_/!?])")
_ATTRIBUTE = re.compile(r"""([^\s=]+)\s*=\s*("[^"]*"|'[^']*'|[^\s"']+)""")
_ENTITY = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);")


@dataclass(frozen=True)
class Mark:
    """A tag, or two that belong together, and the text between them.

    Attributes
    ----------
    opening, closing : str
        As they are written; ``closing`` is empty where there is one tag alone.
    begin, end : int
        Of what is between them, in the segment's text; the same for one tag alone.
    parent : int
        Number of the mark that it lies in; -1 where there is none.
    name : str
        Of the element; ``CDATA`` and ``!`` are no elements.
    attributes : str
        As they are written.
    """

    opening: str
    closing: str
    begin: int
    end: int
    parent: int
    name: str
    attributes: str = ""

    @property
    def pair(self) -> bool:
        """Whether it has two tags."""
        return bool(self.closing)

    @property
    def once(self) -> bool:
        """Whether it must not stand twice: links, and what is known by a number."""
        return self.name in ("a", "CDATA") or bool(re.search(r"\s(?:xml:)?(?:id|i|rid|x)\s*=", self.attributes))


@dataclass(frozen=True)
class Segment:
    """A text and its marks, in the order in which they begin.

    Attributes
    ----------
    text : str
        Without tags; entities are as they are written.
    marks : list of Mark
    """

    text: str
    marks: list[Mark] = field(default_factory=list)


class Problem(NamedTuple):
    """What is wrong with a segment, and the character that it is at, from 0."""

    place: int
    what: str


class BrokenSegment(ValueError):
    """Tags that are not well-formed."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.what)
        self.problem = problem

    def as_error(self, path: object, line: int | None) -> DataError:
        """Return what the user is told."""
        return DataError(path, line, f"column {self.problem.place + 1}: {self.problem.what}")


@dataclass
class _Open:
    """A mark whose end is not there yet."""

    name: str
    mark: int
    place: int
    partner: str = ""


@dataclass
class _Parsing:
    """What is known of a segment so far."""

    line: str
    text: list[str] = field(default_factory=list)
    length: int = 0
    marks: list[Mark] = field(default_factory=list)
    open: list[_Open] = field(default_factory=list)

    def add_text(self, text: str) -> None:
        self.text.append(text)
        self.length += len(text)

    def add(self, opening: str, name: str, attributes: str = "", closing: str = "", size: int = 0) -> int:
        parent = self.open[-1].mark if self.open else -1
        self.marks.append(Mark(opening, closing, self.length, self.length + size, parent, name, attributes))
        return len(self.marks) - 1

    def close(self, tag: str) -> None:
        number = self.open.pop().mark
        self.marks[number] = replace(self.marks[number], closing=tag, end=self.length)


def parse_segment(line: str) -> Segment:
    """Return the text and marks of a segment.

    A ``<`` with no name behind it, and an ``&`` that begins no entity, are text.

    Raises
    ------
    BrokenSegment
        When a tag is not closed, not open, not whole, or crosses another.
    """
    if "<" not in line:
        return Segment(line)
    parsing, at = _Parsing(line), 0
    tags = list(_tags(line))
    closable = {found["close"].lower() for found in tags if found["close"]}
    skip = 0
    for number, found in enumerate(tags):
        if found.start() < skip:
            continue
        parsing.add_text(line[at : found.start()])
        at = found.end()
        if found["data"] is not None:
            parsing.add("<![CDATA[", "CDATA", closing="]]>", size=len(found["data"]))
            parsing.add_text(found["data"])
        elif found["close"]:
            _close(parsing, found)
        elif found["open"]:
            at = skip = _open(parsing, found, tags[number + 1 :], closable)
        else:
            parsing.add(found.group(), "!")
    parsing.add_text(line[at:])
    for left in [one for one in parsing.open if not one.partner]:
        raise BrokenSegment(Problem(left.place, f"<{left.name}> is not closed; add </{left.name}>"))
    return Segment("".join(parsing.text), [_within_pairs(mark, parsing.marks) for mark in parsing.marks])


def _within_pairs(mark: Mark, marks: Sequence[Mark]) -> Mark:
    """Return a mark whose parent is none of those that turned out to have no end."""
    parent = mark.parent
    while parent >= 0 and not marks[parent].closing:
        parent = marks[parent].parent
    return mark if parent == mark.parent else replace(mark, parent=parent)


def _tags(line: str) -> Iterator["re.Match[str]"]:
    """Yield the tags of a line; refuse what begins as one and is none."""
    at = 0
    while broken := _BROKEN.search(line, at):
        found = _TAG.match(line, broken.start())
        if not found:
            shown = line[broken.start() : broken.start() + 20]
            problem = f"'{shown}' begins like a tag and is none; write &lt; for the character <"
            raise BrokenSegment(Problem(broken.start(), problem))
        yield found
        at = found.end()


def _close(parsing: _Parsing, found: "re.Match[str]") -> None:
    name = found["close"]
    if any(one.name == name and not one.partner for one in parsing.open):
        while parsing.open[-1].partner:  # a start whose end is beyond: a tag by itself
            parsing.open.pop()
    if not parsing.open or parsing.open[-1].name != name:
        if any(one.name == name for one in parsing.open):
            problem = f"</{name}> crosses <{parsing.open[-1].name}>, which is open; close that first"
        else:
            problem = f"</{name}> closes what is not open"
        raise BrokenSegment(Problem(found.start(), problem))
    parsing.close(found.group())


def _open(parsing: _Parsing, found: "re.Match[str]", following: Sequence["re.Match[str]"], closable: set[str]) -> int:
    """Take a start tag, and where it holds code what belongs to it; return where reading goes on."""
    name, attributes, end = found["open"], found["attributes"], found.end()
    tag, local = found.group(), name.rpartition(":")[2]
    if not found["empty"]:
        if local in _CODE and _CODE_MARKS.search(attributes):
            end = _end_of_code(name, following, parsing.line, found.start())
            tag = parsing.line[found.start() : end]
        elif not (name.lower() in VOID and name.lower() not in closable):
            parsing.open.append(_Open(name, parsing.add(tag, name, attributes), found.start()))
            return end
    values = {key: value.strip("\"'") for key, value in _ATTRIBUTE.findall(attributes)}
    if local in _OPENS:
        partner = next((values[key] for key in _PARTNER if key in values), "")
        number = parsing.add(tag, name, attributes)
        if partner:
            parsing.open.append(_Open(local, number, found.start(), partner))
        return end
    if local in _CLOSES and parsing.open:
        partner = next((values[key] for key in _PARTNER if key in values), "")
        last = parsing.open[-1]
        if last.partner == partner and last.name == _CLOSES[local]:
            parsing.close(tag)
            return end
    parsing.add(tag, name, attributes)
    return end


def _end_of_code(name: str, following: Sequence["re.Match[str]"], line: str, place: int) -> int:
    depth = 1
    for found in following:
        if found["open"] == name and not found["empty"]:
            depth += 1
        elif found["close"] == name:
            depth -= 1
            if not depth:
                return found.end()
    raise BrokenSegment(Problem(place, f"<{name}> is not closed; add </{name}>"))


def render(text: str, marks: Sequence[Mark], places: Sequence[Sequence[tuple[int, int]]]) -> str:
    """Return a text with marks in it.

    Parameters
    ----------
    text : str
    marks : sequence of Mark
        Their parents say what lies in what.
    places : sequence of sequences of (int, int)
        For each mark where it begins and ends: one place, or more, where it is repeated. Those of marks within the
        same one do not overlap; a mark that others lie in has one, which they are within.
    """
    children: dict[int, list[tuple[int, int, int]]] = {}
    for number, (mark, spans) in enumerate(zip(marks, places, strict=True)):
        for begin, end in spans:
            children.setdefault(mark.parent, []).append((begin, end, number))
    out: list[str] = []

    def put(parent: int, begin: int, end: int) -> None:
        at = begin
        for start, stop, number in sorted(children.get(parent, ())):
            if not begin <= start <= stop <= end:
                continue
            out.append(text[at:start])
            out.append(marks[number].opening)
            put(number, start, stop)
            out.append(marks[number].closing)
            at = stop
        out.append(text[at:end])

    put(-1, 0, len(text))
    return "".join(out)


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
