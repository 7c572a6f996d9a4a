"""Segments of XLIFF 1.2 and 2, and their translations, with the bytes that these stand in."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from aligntools.formats.markup.segments import BrokenSegment, Segment, parse_segment
from aligntools.formats.opening.streamed_xml import XmlReader
from aligntools.ground.errors import DataError

#: What a source and its target are children of: in version 1.2, in version 2.
_UNITS = ("trans-unit", "segment")


class XliffSegment(NamedTuple):
    """A segment that has a translation.

    Attributes
    ----------
    source : Segment
    target : Segment
        Its text is what is between the tags of ``<target>``, as it is written, without inline tags.
    begin, end : int
        The bytes of that.
    line : int
    """

    source: Segment
    target: Segment
    begin: int
    end: int
    line: int


@dataclass(frozen=True, eq=False)
class Xliff:
    """A file and its segments.

    Attributes
    ----------
    data : bytes
        The file, unpacked.
    encoding : str
    segments : list of XliffSegment
        Those that have a translation, in order.
    """

    data: bytes
    encoding: str
    segments: list[XliffSegment]

    @property
    def wanted(self) -> list[bool]:
        """Which of them get tags: those whose source has some, and whose translation has none."""
        return [bool(one.source.marks and not one.target.marks) for one in self.segments]

    def with_targets(self, targets: Iterable[tuple[XliffSegment, str]]) -> bytes:
        """Return the file with what is between the tags of some targets replaced; all other bytes are as they were."""
        out, at = [], 0
        for segment, text in targets:
            out += [self.data[at : segment.begin], text.encode(self.encoding)]
            at = segment.end
        return b"".join([*out, self.data[at:]])


def read_xliff(data: bytes, path: object) -> Xliff:
    """Read an XLIFF file's bytes.

    Raises
    ------
    DataError
        When it is not well-formed XML, declares entities, or is no XLIFF.
    """
    view, at = memoryview(data), 0

    def read(size: int) -> bytes:
        nonlocal at
        at += size
        return bytes(view[at - size : at])

    reader = XmlReader(read, path)
    above: list[str] = []
    found: list[XliffSegment] = []
    here: dict[str, tuple[int, int, int]] = {}
    began: tuple[int, int] | None = None
    for event in reader:
        if event.kind == "start":
            if not above and event.local != "xliff":
                raise DataError(path, event.line, f"<{event.name}> is no XLIFF, which begins with <xliff>")
            if above and above[-1] in _UNITS and event.local in ("source", "target"):
                began = event.end, event.line
            elif event.local in _UNITS:
                here = {}
            above.append(event.local)
        elif event.kind == "end":
            above.pop()
            if above and above[-1] in _UNITS and event.local in ("source", "target") and began is not None:
                here[event.local] = began[0], event.begin, began[1]
                began = None
            elif event.local in _UNITS and len(here) == 2 and here["target"][0] < here["target"][1]:
                sides = [_segment(data, here[side], reader.encoding, path) for side in ("source", "target")]
                found.append(XliffSegment(sides[0], sides[1], *here["target"]))
    if not above and not data:
        raise DataError(path, None, "is empty; XLIFF begins with <xliff>")
    return Xliff(data, reader.encoding, found)


def _segment(data: bytes, place: tuple[int, int, int], encoding: str, path: object) -> Segment:
    begin, end, line = place
    try:
        return parse_segment(data[begin:end].decode(encoding))
    except BrokenSegment as error:
        raise error.as_error(path, line) from None
