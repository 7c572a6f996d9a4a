"""Segments of XLIFF 1.2 (SDLXLIFF too), XLIFF 2 and TMX, and their translations, with the bytes that these stand in."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import NamedTuple

from aligntools.formats.markup.segments import BrokenSegment, Segment, parse_segment, spliced
from aligntools.formats.opening.streamed_xml import XmlEvent, XmlReader
from aligntools.formats.text.exchange import Languages, tmx_sides
from aligntools.ground.errors import DataError

#: What a source and its target are children of: in XLIFF 1.2, in XLIFF 2.
_UNITS = ("trans-unit", "segment")
_SIDES = ("source", "seg-source", "target")
#: States of translations that nobody changes any more.
_FINAL = ("final", "signed-off")
PROTECTED = "are final, locked or not to be translated"
UNTRANSLATED = "have no translation"
UNPAIRED = "have no segment of the source with their mid"


class TranslatedSegment(NamedTuple):
    """A segment and its translation.

    target: Its text is what is between the tags of ``<target>``, as it is written, without inline tags.
    left: Why it is left as it is, whatever its tags; empty for most.
    """

    source: Segment
    target: Segment
    begin: int
    end: int
    line: int
    left: str = ""
    unchanged: bool = False  # whether the target has what it shall have; never, since it has no tags


@dataclass(frozen=True, eq=False)
class TranslationFile:
    """A file of segments and their translations.

    segments: Those that have a translation. problems: What is wrong with those whose tags cannot be read.
    others: Segments that are none of these, by why: not translated, without a counterpart.
    """

    data: bytes
    encoding: str
    segments: list[TranslatedSegment]
    problems: list[DataError] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)

    @property
    def wanted(self) -> list[bool]:
        """Which of them get tags: those whose source has some, and whose translation has none."""
        return [bool(one.source.marks) and not self.why_left(one) for one in self.segments]

    def why_left(self, segment: TranslatedSegment) -> str:
        """Return why a segment with tags is left as it is, if it is."""
        already = "have tags already" if segment.target.marks else ""
        return (segment.left or already) if segment.source.marks else ""

    def with_targets(self, targets: Iterable[tuple[TranslatedSegment, str]]) -> bytes:
        """Return the file with what is between the tags of some targets replaced; all other bytes are as they were."""
        return spliced(self.data, ((one.begin, one.end, text.encode(self.encoding)) for one, text in targets))


class _Place(NamedTuple):
    """What is between two tags: its bytes, and the line that it begins on."""

    begin: int
    end: int
    line: int


#: Two places, and why the second is left as it is.
_Pair = tuple[_Place, _Place, str]


@dataclass
class _Unit:
    """A unit of XLIFF while it is read: its sides, whole and by the ``mid`` of the segments in them."""

    protected: bool
    whole: dict[str, _Place] = field(default_factory=dict)
    parts: dict[str, dict[str, _Place]] = field(default_factory=dict)
    locked: set[str] = field(default_factory=set)

    def pairs(self) -> Iterator[_Pair]:
        """Yield each part of the target with that of the source, or the two sides as they are."""
        targets, sources = self.parts.get("target", {}), self.parts.get("seg-source", self.parts.get("source", {}))
        source, target = self.whole.get("source", self.whole.get("seg-source")), self.whole.get("target")
        if source is None:
            return
        if target is None:
            yield source, source, UNTRANSLATED
        elif not targets:
            yield source, target, PROTECTED if self.protected else ""
        if not sources and len(targets) == 1:  # the source was not segmented
            sources = dict.fromkeys(targets, source)
        for mid, place in targets.items():
            protected = self.protected or mid in self.locked
            left = PROTECTED if protected else "" if mid in sources else UNPAIRED
            yield sources.get(mid, place), place, left


def read_translations(data: bytes, path: object, tmx: bool, languages: str | None = None) -> TranslationFile:
    """Read a file's bytes: TMX, of two languages or of those asked for, or XLIFF."""
    if not data.strip():
        raise DataError(path, None, "is empty; XLIFF begins with <xliff>, TMX with <tmx>")
    reader = XmlReader(BytesIO(data).read, path)
    found: list[TranslatedSegment] = []
    problems: list[DataError] = []
    others: Counter[str] = Counter()
    events = iter(reader)
    pairs = _tmx_pairs(events, Languages(path, languages)) if tmx else _xliff_pairs(events, path)
    for source, target, left in pairs:
        line = source.line
        sides = []
        try:
            for place in (source, target):
                line = place.line
                sides.append(parse_segment(data[place.begin : place.end].decode(reader.encoding), codes=True))
        except BrokenSegment as error:
            problems.append(error.as_error(path, line))
            continue
        blank = not (sides[1].text.strip() or sides[1].marks) and sides[0].text.strip()
        if left in (UNTRANSLATED, UNPAIRED) or blank:
            others[left or UNTRANSLATED] += 1
        else:
            found.append(TranslatedSegment(sides[0], sides[1], *target, left))
    found.sort(key=lambda one: one.begin)
    return TranslationFile(data, reader.encoding, found, problems, others)


def _xliff_pairs(events: Iterator[XmlEvent], path: object) -> Iterator[_Pair]:
    """Yield the segments of XLIFF: ``trans-unit`` of version 1, or the ``mrk`` in it; ``segment`` of version 2."""
    above: list[tuple[str, bool]] = []
    unit: _Unit | None = None
    side = ""
    open_: list[tuple[str, XmlEvent]] = []  # the side, and the segments in it, that are read
    for event in events:
        name, given = event.local, event.attributes
        if event.kind == "start":
            if not above and name != "xliff":
                raise DataError(path, event.line, f"<{event.name}> is no XLIFF, which begins with <xliff>")
            inside, protected = above[-1] if above else ("", False)
            if name not in ("mrk", *_SIDES):
                protected = {"no": True, "yes": False}.get(given.get("translate", ""), protected)
            if name in _UNITS:
                locked = any(key.rpartition(":")[2] == "locked" and value != "false" for key, value in given.items())
                final = given.get("approved") == "yes" or given.get("state") in _FINAL
                unit = _Unit(protected or locked or final)
            elif unit is not None and name in _SIDES and inside in _UNITS:
                side = name
                open_ = [("", event)]
                unit.protected |= name == "target" and given.get("state") in _FINAL
            elif unit is not None and name == "seg" and given.get("locked") == "true":
                unit.locked.add(given.get("id", ""))
            elif open_ and name == "mrk" and given.get("mtype") == "seg":
                open_.append((given.get("mid", ""), event))
            elif open_ and name == "mrk":
                open_.append(("-", event))
            above.append((name, protected))
        elif event.kind == "end":
            above.pop()
            if unit is not None and open_ and name in (side, "mrk"):
                mid, start = open_.pop()
                place = _Place(start.end, event.begin, start.line)
                if name == side:
                    unit.whole |= {side: place} if event.begin < event.end else {}  # there is no room in <target/>
                elif start.attributes.get("mtype") == "seg":
                    unit.parts.setdefault(side, {})[mid] = place
            elif name in _UNITS and unit is not None:
                yield from unit.pairs()
                unit = None


def _tmx_pairs(events: Iterator[XmlEvent], languages: Languages) -> Iterator[_Pair]:
    """Yield the segments of TMX, of any version and level, that are there in both languages."""
    for found, _, _ in tmx_sides(events, languages, empty=False):
        places = {side: _Place(start.end, end.begin, start.line) for side, (_, _, start, end) in found.items()}
        if 0 in places:
            yield places[0], places.get(1, places[0]), "" if 1 in places else UNTRANSLATED
    languages.end()
