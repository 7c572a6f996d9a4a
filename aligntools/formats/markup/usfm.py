"""Segments of USFM: markers of verses and paragraphs, notes, and characters' styles that are closed."""

import re
from dataclasses import replace

from aligntools.formats.markup.segments import BrokenSegment, Mark, Problem, Segment

#: Notes and figures, whose text belongs to the marker: they are carried over whole.
_NOTES = frozenset(("f", "fe", "ef", "x", "ex", "fig", "rq"))
_MARKER = re.compile(r"\\(\+?[a-z][a-z0-9-]*)(\*)?(?:(?<=\*)| ?)")
#: Verses and chapters, and what numbers them.
_NUMBERED = re.compile(r"\\(?:v|c|va|vp|ca|cp)\s+\d\S*\s?")


def parse_usfm(line: str) -> Segment:
    r"""Return the text and marks of a segment.

    ``\nd Herr\nd*`` is a mark around a text; ``\p``, ``\q1``, ``\v 3`` and others that are not closed are marks by
    themselves, and so are notes with all that is in them.

    Raises
    ------
    BrokenSegment
        When a marker closes what is not open, or crosses another, or a note is not closed.
    """
    text: list[str] = []
    marks: list[Mark] = []
    open_: list[int] = []
    length = at = 0
    closed = [found[1] for found in _MARKER.finditer(line) if found[2]]
    while found := _MARKER.search(line, at):
        text.append(line[at : found.start()])
        length += found.start() - at
        name, tag, at = found[1], found.group(), found.end()
        parent = open_[-1] if open_ else -1
        if found[2]:
            if not open_ or marks[open_[-1]].name != name:
                problem = f"\\{name}* closes what is not open, or crosses what is"
                raise BrokenSegment(Problem(found.start(), problem))
            number = open_.pop()
            closed.remove(name)
            marks[number] = replace(marks[number], closing=tag, end=length)
        elif name in _NOTES:
            end = line.find(f"\\{name}*", at)
            if end < 0:
                raise BrokenSegment(Problem(found.start(), f"\\{name} is not closed; add \\{name}*"))
            at = end + len(name) + 2
            closed.remove(name)
            marks.append(Mark(line[found.start() : at], "", length, length, parent, name))
        elif name in closed:
            open_.append(len(marks))
            marks.append(Mark(tag, "", length, length, parent, name))
        else:
            numbered = _NUMBERED.match(line, found.start())
            if numbered:
                tag, at = numbered.group(), numbered.end()
            marks.append(Mark(tag, "", length, length, parent, name))
    text.append(line[at:])
    if open_:
        raise BrokenSegment(Problem(0, f"\\{marks[open_[-1]].name} is not closed"))
    return Segment("".join(text), marks)
