"""Segments of USFM 3: markers of verses and paragraphs, notes, milestones, styles of characters with attributes."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from aligntools.formats.markup.segments import BrokenSegment, Mark, Segment, within_pairs

#: Notes, figures and second numbers, whose text belongs to the marker: they are carried over whole.
_WHOLE = frozenset(("f", "fe", "ef", "x", "ex", "fig", "rq", "cat", "va", "vp", "ca"))
_NAME = r"\+?[A-Za-z][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*"
#: Verses and chapters with what numbers them; milestones with their attributes; other markers; breaks of lines.
_MARKER = re.compile(
    rf"\\(?P<numbered>v|c)\s+\d[^\s\\]*\s?|\\(?P<milestone>{_NAME})\s*(?:\|[^\\]*)?\\\*"
    rf"|\\(?P<name>{_NAME})(?:(?P<end>\*)| ?)|(?<!:)//"
)


class _Token(NamedTuple):
    """Text, or a marker in it: ``start``, ``end`` or ``point``."""

    kind: str
    written: str
    name: str = ""


def parse_usfm(line: str, breaks: bool = True) -> Segment:
    r"""Return the text and marks of a segment.

    ``\nd Herr\nd*``, ``\w Zug|strong="H1"\w*`` and two milestones are marks around a text; ``\p``, ``\v 3`` and
    whatever is not closed in the line, or crosses, by themselves; so are whole notes and, with ``breaks``, ``//``.
    White space belongs to markers where the text without them has enough of it. BrokenSegment is raised when a note is
    not closed.
    """
    text: list[str] = []
    marks: list[Mark] = []
    open_: list[int] = []
    length = 0
    for kind, written, name in _with_spaces(_tokens(line, breaks)):
        known = [k for k in open_ if marks[k].name == name] if kind == "end" else []
        if kind == "text":
            text.append(written)
            length += len(written)
        elif known:
            number = known[-1]
            del open_[open_.index(number) :]
            once = ' id=""' if "|" in written or written.endswith("\\*") else ""
            marks[number] = replace(marks[number], closing=written, end=length, attributes=once)
        else:
            marks.append(Mark(written, "", length, length, open_[-1] if open_ else -1, name))
            if kind == "start":
                open_.append(len(marks) - 1)
    return Segment("".join(text), within_pairs(marks))


def _tokens(line: str, breaks: bool) -> list[_Token]:
    """Return what a line consists of; attributes belong to the marker that closes what they are of."""
    tokens: list[_Token] = []
    open_: list[str] = []
    at = begin = 0
    while found := _MARKER.search(line, at):
        written, at = found.group(), found.end()
        if written == "//" and not breaks:
            continue
        before, kind, name = line[begin : found.start()], "point", found["numbered"] or found["name"] or written
        if found["milestone"]:
            stem, _, side = found["milestone"].rpartition("-")
            kind, name = {"s": "start", "e": "end"}.get(side if stem else "", "point"), f"{stem or side}-"
        elif found["end"]:
            kind, bar = "end", before.find("|")
            if bar >= 0 and name in open_:
                before, written = before[:bar], before[bar:] + written
        elif name in _WHOLE:
            at = line.find(f"\\{name}*", at) + len(name) + 2
            if at < found.end():
                raise BrokenSegment(found.start(), f"\\{name} is not closed; add \\{name}*")
            written = line[found.start() : at]
        elif found["name"]:
            kind = "start"
            open_.append(name)
        tokens += [_Token("text", before), _Token(kind, written, name)]
        begin = at
    return [*tokens, _Token("text", line[begin:])]


def _with_spaces(tokens: Sequence[_Token]) -> list[_Token]:
    """Return tokens where white space that the text has without the markers once is no text a second time."""
    found = list(tokens)
    spaced = True
    for k in range(0, len(found), 2):  # texts are the even ones
        written = found[k].written
        if spaced and k:
            found[k] = _Token("text", written.lstrip())
            more = written[: len(written) - len(found[k].written)]
            found[k - 1] = found[k - 1]._replace(written=found[k - 1].written + more)
        spaced = found[k].written[-1:].isspace() if found[k].written else spaced
    last = max((k for k, token in enumerate(found) if token.kind == "text" and token.written.strip()), default=-1)
    for k in range(last, len(found) - 1, 2) if last >= 0 else ():
        text = found[k].written.rstrip()
        more = found[k].written[len(text) :] + found[k + 1].written
        found[k], found[k + 1] = _Token("text", text), found[k + 1]._replace(written=more)
    return found
