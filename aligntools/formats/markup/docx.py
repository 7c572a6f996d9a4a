"""Segments of DOCX documents: paragraphs, their runs, and the bytes of the parts that these stand in.

A paragraph that gets a translation is written again from its text and marks. Everything else of a part
stays byte for byte, and so does every other part.
"""

import lzma
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from io import BytesIO
from itertools import takewhile
from xml.sax.saxutils import escape

from aligntools.formats.markup.segments import SPACE, Mark, Segment, plain_line, spliced, translated
from aligntools.formats.opening.streamed_xml import XmlEvent, XmlReader
from aligntools.ground.errors import DataError

# A segment is a paragraph's text. What most of its characters look like is its own look; runs that look otherwise are
# marks, and so are links, fields, tracked insertions and all else that stands among the runs.

#: Elements among runs that have runs in them, and what of their content is not text.
_AROUND = frozenset(("hyperlink", "ins", "moveTo", "smartTag", "sdt", "fldSimple", "dir", "bdo", "customXml"))
_THEIR_OWN = frozenset(("sdtPr", "sdtEndPr", "sdtContent", "smartTagPr", "customXmlPr"))
#: What is of the words of the source alone: where they are misspelled, and where their pages broke.
_DROPPED = frozenset(("proofErr", "lastRenderedPageBreak", "softHyphen"))
#: What a field is made of, before its result.
_CODES = frozenset(("fldChar", "instrText", "delInstrText"))
_LOOKS = {"b": "bold", "i": "italic", "u": "underlined", "strike": "struck", "rStyle": "style", "vertAlign": "raised"}
#: What stands for a mark in a segment with its tags: ``<bold 3>``, ``</bold 3>``; the text has no ``<``.
_TAG = re.compile(r"<(/?)[^<>]* (\d+)>")


@dataclass(frozen=True)
class Paragraph:
    """A paragraph with text.

    source, target: What it has, and its translation. Text is XML, with entities; tags are such as ``<bold 3>``.
    line: Number of the paragraph, from 1, among those that have text.
    written, looks: Of each mark what stands for its begin and end, and the look of its text, if any; then the own one.
    whole: Whether there are no text boxes in it. unchanged: Whether its translation is its own text.
    """

    source: Segment
    target: Segment
    part: str
    begin: int
    end: int
    line: int
    written: tuple[tuple[str, str], ...]
    looks: tuple[str | None, ...]
    prefix: str
    whole: bool
    unchanged: bool = False

    def xml(self, tagged: str) -> str:
        """Return the runs of a text with tags."""
        out: list[str] = []
        above = [self.looks[-1]]
        at = 0
        for found in _TAG.finditer(tagged):
            out.append(self._run(tagged[at : found.start()], above[-1]))
            at, number = found.end(), int(found[2])
            pair = bool(self.written[number][1]) or self.looks[number] is not None
            out.append(self.written[number][1 if found[1] else 0])
            if found[1]:
                above.pop()
            elif pair:
                look = self.looks[number]
                above.append(above[-1] if look is None else look)
        out.append(self._run(tagged[at:], above[-1]))
        return "".join(out)

    def _run(self, text: str, look: str | None) -> str:
        w = self.prefix
        return f'<{w}r>{look or ""}<{w}t xml:space="preserve">{text}</{w}t></{w}r>' if text else ""


class _Paragraph:
    """A paragraph while it is read."""

    def __init__(self, begin: int) -> None:
        self.begin, self.end = begin, begin
        self.text: list[str] = []
        self.length = 0
        self.marks: list[Mark] = []
        self.written: list[tuple[str, str]] = []
        self.open: list[tuple[str, int]] = []  # names and numbers of marks whose ends are not there yet
        self.whole = True
        self.runs: list[tuple[str, int, int, int]] = []  # of one look: it, the mark around, first and last character

    def add(self, name: str, opening: str, attributes: str = "") -> int:
        """Put a mark here."""
        self.marks.append(Mark("", "", self.length, self.length, self.parent, name, attributes))
        self.written.append((opening, ""))
        return len(self.marks) - 1

    @property
    def parent(self) -> int:
        """The innermost mark whose end is not there yet; -1 for none."""
        return self.open[-1][1] if self.open else -1

    def close(self, name: str, closing: str) -> None:
        """End the innermost mark of a name, and those in it; without one, put a mark here."""
        at = next((k for k in range(len(self.open) - 1, -1, -1) if self.open[k][0] == name), -1)
        crossing = name == "field" and at < len(self.open) - 1
        if at < 0 or crossing:
            self.add(name, closing)
            return
        number = self.open[at][1]
        del self.open[at:]
        self.marks[number] = replace(self.marks[number], closing="-", end=self.length)
        opening, before = self.written[number]
        self.written[number] = opening, before + closing

    def put(self, text: str, look: str) -> None:
        """Add text of a look."""
        if not text:
            return
        begin = self.length
        if self.runs and self.runs[-1][:2] == (look, self.parent):
            begin = self.runs.pop()[2]
        self.text.append(text)
        self.length += len(text)
        self.runs.append((look, self.parent, begin, self.length))


class PartReader:
    """Reads the paragraphs of a part."""

    def __init__(self, data: bytes, name: str, path: object) -> None:
        self.data, self.name, self.prefix = data, name, ""
        self.xml = XmlReader(BytesIO(data).read, path)

    def _local(self, event: XmlEvent) -> str:
        """Return an element's name: without the prefix of the document's own, and with that of others."""
        name = event.name.removeprefix(self.prefix)
        return event.name if ":" in name else name

    def _between(self, begin: int, end: int) -> str:
        return self.data[begin:end].decode(self.xml.encoding)

    def paragraphs(self, count: int) -> list[Paragraph]:
        """Return the paragraphs that have text, numbered behind those before."""
        found: list[Paragraph] = []
        events = iter(self.xml)
        depth = 0
        for event in events:
            if not depth and event.kind == "start":
                self.prefix = event.name.rpartition(":")[0] + ":" if ":" in event.name else ""
            depth += (event.kind == "start") - (event.kind == "end")
            if event.kind == "start" and event.name == f"{self.prefix}p":
                paragraph = self._paragraph(events, event)
                depth -= 1
                if "".join(paragraph.text).strip():
                    found.append(self._done(paragraph, count + len(found) + 1))
        return found

    def _paragraph(self, events: Iterator[XmlEvent], start: XmlEvent) -> _Paragraph:
        """Read on up to the end of a paragraph."""
        here = _Paragraph(start.end)
        for event in events:
            local = self._local(event)
            if event.kind == "end":
                if local == "p":
                    here.end = event.begin
                    return here
                if local != "sdtContent":
                    here.close("a" if local == "hyperlink" else local, self._between(event.begin, event.end))
            elif event.kind == "start" and local == "pPr":
                here.begin = self._skip(events, event, here)
            elif event.kind == "start" and local == "r":
                self._read_run(events, here)
            elif event.kind == "start" and local in _AROUND:  # what has runs in it
                opening = self._between(event.begin, event.end)
                if opening.endswith("/>"):
                    next(events)
                    here.add(local, opening)
                else:
                    name = "a" if local == "hyperlink" else local
                    here.open.append((name, here.add(name, opening, ' id=""')))
            elif (
                event.kind == "start" and local in _THEIR_OWN and here.open
            ):  # of its begin; or ``sdtContent`` with runs
                content = local == "sdtContent" and not self._between(event.begin, event.end).endswith("/>")
                end = event.end if content else self._skip(events, event, here)
                opening, closing = here.written[here.parent]
                closing = f"</{self.prefix}sdtContent>" if content else closing
                here.written[here.parent] = opening + self._between(event.begin, end), closing
            elif event.kind == "start":
                end = self._skip(events, event, here)
                if local not in _DROPPED:
                    here.add(local, self._between(event.begin, end))
        return here

    def _skip(self, events: Iterator[XmlEvent], start: XmlEvent, here: _Paragraph) -> int:
        """Read on up to the end of an element; return its last byte."""
        depth = 1
        for event in events:
            depth += (event.kind == "start") - (event.kind == "end")
            if event.kind == "start" and event.name == f"{self.prefix}p":
                here.whole = False
            if not depth:
                return event.end
        return start.end

    def _read_run(self, events: Iterator[XmlEvent], here: _Paragraph) -> None:
        """Take a run: its look, its text, and as marks what else is in it."""
        look = ""
        for event in events:
            if event.kind == "end":
                return
            if event.kind != "start":
                continue
            local = self._local(event)
            if local == "rPr":
                look = self._between(event.begin, self._skip(events, event, here))
                look = re.sub(rf"<{self.prefix}(?:lang|noProof)\b[^>]*/>", "", look)
                look = "" if re.fullmatch(r"<[^<>]*>(\s*</[^<>]*>)?", look) else look
            elif local == "t":
                inside = takewhile(lambda event: event.kind != "end", events)
                here.put("".join(escape(event.text) for event in inside if event.kind == "text"), look)
            elif local == "noBreakHyphen":
                self._skip(events, event, here)
                here.put("\u2011", look)
            elif local == "ruby":
                self._read_ruby(events, event, look, here)
            else:
                end = self._skip(events, event, here)
                if local not in _DROPPED:
                    written = f"<{self.prefix}r>{look}{self._between(event.begin, end)}</{self.prefix}r>"
                    self._within_run(local, event, written, here)

    def _read_ruby(self, events: Iterator[XmlEvent], start: XmlEvent, look: str, here: _Paragraph) -> None:
        """Take characters that have their reading above them: their runs are text, and all else is around it."""
        number, ended, based = here.add("ruby", ""), start.end, False
        here.open.append(("ruby", number))
        for event in events:
            local = self._local(event)
            if event.kind == "start" and local == "rubyBase":
                here.written[number] = f"<{self.prefix}r>{look}{self._between(start.begin, event.end)}", ""
                based = True
            elif event.kind == "start" and local == "r" and based:
                self._read_run(events, here)
            elif event.kind == "start":
                end = self._skip(events, event, here)
                if based and local not in _DROPPED:
                    here.add(local, self._between(event.begin, end))
            elif event.kind == "end" and local == "rubyBase":
                ended = event.begin
            elif event.kind == "end" and local == "ruby":
                here.close("ruby", f"{self._between(ended, event.end)}</{self.prefix}r>")
                return

    def _within_run(self, local: str, event: XmlEvent, written: str, here: _Paragraph) -> None:
        """Take what is in a run and no text: of a field, its begin and its end belong together."""
        kind = next((value for name, value in event.attributes.items() if name.endswith("fldCharType")), "")
        number = here.parent
        if local == "fldChar" and kind == "begin":
            here.open.append(("field", here.add("field", written, ' id=""')))
        elif local == "fldChar" and kind == "end":
            here.close("field", written)
        elif local in _CODES and here.open[-1:] == [("field", number)] and here.length == here.marks[number].begin:
            here.written[number] = here.written[number][0] + written, here.written[number][1]
        else:
            here.add(local, written)

    def _done(self, here: _Paragraph, number: int) -> Paragraph:
        """Return a paragraph whose runs that do not look like most of it are marks."""
        sizes: Counter[str] = Counter()
        for look, _, begin, end in here.runs:
            sizes[look] += end - begin
        own = max(sizes, key=lambda look: (sizes[look], look == here.runs[0][0]))
        marks, written = list(here.marks), list(here.written)
        looks: list[str | None] = [None] * len(marks)
        for look, parent, begin, end in here.runs:
            if look == own:
                continue
            if parent >= 0 and marks[parent].pair and (marks[parent].begin, marks[parent].end) == (begin, end):
                looks[parent] = look
                continue
            for k, mark in enumerate(here.marks):  # what stands within a run
                if mark.parent == parent and begin < mark.begin == mark.end < end:
                    marks[k] = replace(mark, parent=len(marks))
            names = [name for tag, name in _LOOKS.items() if re.search(rf"<{self.prefix}{tag}[\s/>]", look)]
            marks.append(Mark("", "-", begin, end, parent, ",".join(names) or "look"))
            written.append(("", ""))
            looks.append(look)
        order = sorted(range(len(marks)), key=lambda k: (marks[k].begin, -marks[k].end, k >= len(here.marks), k))
        place = {old: new for new, old in enumerate(order)}
        segment = Segment("".join(here.text), [_named(marks, k, place) for k in order])
        shown = tuple(written[k] if marks[k].pair else (written[k][0], "") for k in order)
        span = here.begin, here.end
        all_looks = (*(looks[k] for k in order), own)
        return Paragraph(segment, segment, self.name, *span, number, shown, all_looks, self.prefix, here.whole)


def _named(marks: list[Mark], k: int, place: dict[int, int]) -> Mark:
    """Return a mark with the tags that stand for it, among those that have an end."""
    mark, parent = marks[k], marks[k].parent
    while parent >= 0 and not marks[parent].pair:
        parent = marks[parent].parent
    shown = f"{mark.name} {place[k]}"
    closing = f"</{shown}>" if mark.pair else ""
    return replace(mark, opening=f"<{shown}>", closing=closing, parent=place.get(parent, -1))


#: Parts that have paragraphs, and bytes that a part may have.
_PARTS = re.compile(r"word/(?:document|footnotes|endnotes|(?:header|footer)\d*)\.xml")
LARGEST = 1 << 28
#: What `zipfile` raises for archives that are damaged.
_DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError, RuntimeError, ValueError)
_BREAKS = frozenset(("br", "cr", "tab", "ptab"))
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_RELATED = re.compile(r'\sr:[A-Za-z]+="([^"]+)"')
_RELATION = re.compile(r"<(?:\w+:)?Relationship\s[^>]*>")
_ATTRIBUTE = re.compile(r'\s(Id|Type|Target)\s*=\s*"([^"]*)"')


@dataclass(frozen=True, eq=False)
class Docx:
    """A document and its paragraphs.

    segments: Those that have text, in order.
    wanted: Which of them get something; others stay as they are.
    """

    path: object
    packed: bytes
    parts: list[tuple[zipfile.ZipInfo, bytes]]
    encodings: dict[str, str]
    segments: list[Paragraph]
    wanted: list[bool]
    others: Counter[str] = field(default_factory=Counter)

    def why_left(self, segment: Paragraph) -> str:
        """Return why a paragraph is left as it is."""
        already = "have tags or looks already" if segment.source.marks else ""
        return already if segment.whole else "have a text box"

    def plain(self) -> list[str]:
        """Return the text of each paragraph on one line, as a translator reads it."""
        return [plain_line(one.source, _BREAKS) for one in self.segments]

    def with_lines(self, lines: Iterable[str], name: object) -> "Docx":
        """Return the document with lines of text as the translations of its paragraphs."""
        targets = list(lines)
        for number, line in enumerate(targets, 1):
            if bad := _NO_XML.search(line.strip(SPACE)):
                raise DataError(name, number, f"column {bad.start() + 1}: a character that XML cannot have; remove it")
        segments = []
        for one in translated(self, targets, name, "paragraphs with text", _BREAKS):
            text, words = one.source.text, one.source.text.strip(SPACE)
            begin = text.index(words)
            edged = f"{text[:begin]}{one.target.text}{text[begin + len(words) :]}"
            segments.append(replace(one, target=Segment(edged)) if words else one)
        return replace(self, segments=segments, wanted=[one.whole for one in segments])

    def with_page(self, translated: "Docx") -> "Docx":
        """Return a translated document as one whose paragraphs get the looks and links of this one's."""
        ours, theirs = (Counter(one.part for one in side.segments) for side in (self, translated))
        for part in [*ours, *theirs]:
            if ours[part] != theirs[part]:
                counted = f"{theirs[part]} paragraphs with text in {part} where {self.path} has {ours[part]}"
                raise DataError(translated.path, None, f"{counted}; give a translation of the same document")
        pairs = list(zip(self.segments, translated.segments, strict=True))
        wanted = [bool(a.source.marks) and a.whole and b.whole and _fits(a, b) for a, b in pairs]
        segments = [replace(b, source=a.source, written=a.written, looks=a.looks, prefix=a.prefix) for a, b in pairs]
        found = replace(translated, segments=segments, wanted=wanted)
        for one, yes in zip(segments, wanted, strict=True):
            if yes:
                _check_relations(self, translated, one)
        return found

    def with_targets(self, targets: Iterable[tuple[Paragraph, str]]) -> bytes:
        """Return the document with the text of some paragraphs replaced."""
        given: dict[str, list[tuple[Paragraph, str]]] = {}
        for paragraph, text in targets:
            given.setdefault(paragraph.part, []).append((paragraph, text))
        if not given:
            return self.packed
        file = BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for info, data in self.parts:
                pieces = (
                    (one.begin, one.end, one.xml(text).encode(self.encodings[info.filename], "xmlcharrefreplace"))
                    for one, text in given.get(info.filename, ())
                )
                made = zipfile.ZipInfo(info.filename, info.date_time)
                made.compress_type, made.external_attr = info.compress_type, info.external_attr
                made.create_system, made.comment = info.create_system, info.comment
                archive.writestr(made, spliced(data, pieces))
        return file.getvalue()


def _fits(source: Paragraph, target: Paragraph) -> bool:
    """Whether a translated paragraph has nothing among its words that the source has not."""
    theirs = Counter(opening for opening, _ in target.written)
    return not any(mark.pair for mark in target.target.marks) and theirs <= Counter(a for a, _ in source.written)


def _check_relations(source: Docx, target: Docx, paragraph: Paragraph) -> None:
    """Refuse links that go by relations which the other document has not."""
    used = {name for written in paragraph.written for one in written for name in _RELATED.findall(one)}
    if not used:
        return
    folder, _, name = paragraph.part.rpartition("/")
    ours, theirs = (_relations(one, f"{folder}/_rels/{name}.rels") for one in (source, target))
    for one in sorted(used):
        if ours.get(one) != theirs.get(one):
            problem = f"{paragraph.part} has no relation {one} as {source.path} has"
            raise DataError(target.path, None, f"{problem}; translate a copy of that, or give its text as lines")


def _relations(document: Docx, name: str) -> dict[str, tuple[str, str]]:
    """Return the types and targets of the relations in a part, by name."""
    data = next((data for info, data in document.parts if info.filename == name), b"")
    found = {}
    for tag in _RELATION.findall(data.decode("utf-8", "replace")):
        values = dict(_ATTRIBUTE.findall(tag))
        found[values.get("Id", "")] = values.get("Type", ""), values.get("Target", "")
    return found


def read_docx(packed: bytes, path: object) -> Docx:
    """Read a DOCX document's bytes."""
    parts: list[tuple[zipfile.ZipInfo, bytes]] = []
    try:
        with zipfile.ZipFile(BytesIO(packed)) as archive:
            for info in archive.infolist():
                if info.flag_bits & 1:
                    raise DataError(path, None, "is locked by a password; save it without one")
                if info.file_size > LARGEST:
                    raise DataError(path, None, f"its part {info.filename} has more than {LARGEST >> 20} MiB")
                if sum(len(data) for _, data in parts) > 4 * LARGEST:
                    raise DataError(path, None, f"its parts have more than {4 * LARGEST >> 20} MiB")
                parts.append((info, archive.read(info)))
    except _DAMAGE as error:
        raise DataError(path, None, f"is no DOCX that can be read ({error}); save it again") from None
    if not any(info.filename == "word/document.xml" for info, _ in parts):
        raise DataError(path, None, "has no part word/document.xml; give a DOCX document")
    encodings: dict[str, str] = {}
    segments: list[Paragraph] = []
    for info, data in parts:
        if _PARTS.fullmatch(info.filename):
            reader = PartReader(data, info.filename, f"{path} ({info.filename})")
            segments += reader.paragraphs(len(segments))
            encodings[info.filename] = reader.xml.encoding
    return Docx(path, packed, parts, encodings, segments, [bool(one.source.marks) for one in segments])
