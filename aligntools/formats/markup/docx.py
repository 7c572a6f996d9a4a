"""Segments of DOCX documents: paragraphs, their runs, and the bytes of the parts that these stand in.

A paragraph that gets a translation is written again from its text and marks (`paragraphs`). Everything else of a part
stays byte for byte, and so does every other part.
"""

import lzma
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from io import BytesIO
from xml.sax.saxutils import escape

from aligntools.formats.markup.paragraphs import Paragraph, PartReader
from aligntools.formats.markup.segments import SPACE, Segment, one_spaced, plain_line, with_edges, with_spaces
from aligntools.ground.errors import DataError

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

    packed: The file.
    parts: All, in order.
    encodings: Of the parts that have paragraphs.
    segments: Those that have text, in order.
    wanted: Which of them get something; others stay as they are.
    """

    path: object
    packed: bytes
    parts: list[tuple[zipfile.ZipInfo, bytes]]
    encodings: dict[str, str]
    segments: list[Paragraph]
    wanted: list[bool]

    @property
    def others(self) -> Counter[str]:
        """What is no segment for all its text; nothing."""
        return Counter()

    def why_left(self, segment: Paragraph) -> str:
        """Return why a paragraph is left as it is."""
        already = "have tags or looks already" if segment.source.marks else ""
        return already if segment.whole else "have a text box"

    def plain(self) -> list[str]:
        """Return the text of each paragraph on one line, as a translator reads it."""
        return [plain_line(one.source, _BREAKS) for one in self.segments]

    def with_lines(self, lines: Iterable[str], name: object) -> "Docx":
        """Return the document with lines of text as the translations of its paragraphs.

        Raises DataError when there are not as many lines as paragraphs, or a line has characters that XML cannot have.
        """
        targets = [_escaped(line.strip(SPACE), name, number) for number, line in enumerate(lines, 1)]
        if len(targets) != len(self.segments):
            counted = f"{len(targets)} lines where {self.path} has {len(self.segments)} paragraphs with text"
            raise DataError(name, None, f"{counted}; give a line for each (`segments` writes them)")
        segments = [
            replace(
                one,
                source=with_spaces(one.source, _BREAKS),
                target=Segment(with_edges(target, one.source.text)),
                unchanged=one_spaced(target) == one_spaced(escape(plain)),
            )
            for one, target, plain in zip(self.segments, targets, self.plain(), strict=True)
        ]
        return replace(self, segments=segments, wanted=[one.whole for one in segments])

    def with_page(self, translated: "Docx") -> "Docx":
        """Return a translated document as one whose paragraphs get the looks and links of this one's.

        Raises DataError when it has not as many paragraphs, or links go by relations that it has not.
        """
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
                out, at = [], 0
                for paragraph, text in given.get(info.filename, ()):
                    written = paragraph.xml(text).encode(self.encodings[info.filename], "xmlcharrefreplace")
                    out += [data[at : paragraph.begin], written]
                    at = paragraph.end
                archive.writestr(_same(info), b"".join([*out, data[at:]]))
        return file.getvalue()

    def part(self, name: str) -> bytes:
        """Return a part; nothing where there is none."""
        return next((data for info, data in self.parts if info.filename == name), b"")


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
    ours, theirs = (_relations(one.part(f"{folder}/_rels/{name}.rels")) for one in (source, target))
    for one in sorted(used):
        if ours.get(one) != theirs.get(one):
            problem = f"{paragraph.part} has no relation {one} as {source.path} has"
            raise DataError(target.path, None, f"{problem}; translate a copy of that, or give its text as lines")


def _relations(data: bytes) -> dict[str, tuple[str, str]]:
    """Return the types and targets of a part's relations, by name."""
    found = {}
    for tag in _RELATION.findall(data.decode("utf-8", "replace")):
        values = dict(_ATTRIBUTE.findall(tag))
        found[values.get("Id", "")] = values.get("Type", ""), values.get("Target", "")
    return found


def _escaped(line: str, name: object, number: int) -> str:
    """Return a line as text of XML."""
    if bad := _NO_XML.search(line):
        raise DataError(name, number, f"column {bad.start() + 1}: a character that XML cannot have; remove it")
    return escape(line)


def _same(info: zipfile.ZipInfo) -> zipfile.ZipInfo:
    """Return what is known of a part as it is written again."""
    made = zipfile.ZipInfo(info.filename, info.date_time)
    made.compress_type, made.external_attr = info.compress_type, info.external_attr
    made.create_system, made.comment = info.create_system, info.comment
    return made


def read_docx(packed: bytes, path: object) -> Docx:
    """Read a DOCX document's bytes.

    Raises DataError when it is no DOCX, is damaged or locked, or a part is not well-formed or larger than `LARGEST`.
    """
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
            encodings[info.filename] = reader.encoding
    return Docx(path, packed, parts, encodings, segments, [bool(one.source.marks) for one in segments])
