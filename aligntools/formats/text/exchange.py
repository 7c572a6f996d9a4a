"""What translators keep their text in, read as tab-separated pairs: TMX, XLIFF, tables that name their languages.

A file with both sides of a text is looked at when it is opened: where it is one of these, it reads as a line for each
translation unit, source and target with a tab between, in the order of the file. A unit without one of the languages
has a blank side, so that there are as many lines as units. Inline codes are passed over. See `PairsFile`.
"""

import io
import logging
import os
import re
import tempfile
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import Any, NamedTuple

from aligntools.formats.opening import files
from aligntools.formats.opening.live_inputs import Made
from aligntools.formats.opening.recognition import Raw, pushed, refuse_wide
from aligntools.formats.opening.streamed_xml import XmlEvent, XmlReader, xml_root
from aligntools.ground.errors import DataError, ResourceError, UsageProblem
from aligntools.words.white_space import same_language

_LOOK = 1 << 16  # bytes in which a first tag, or a first line, has to be
_AS_SPACES = str.maketrans("\t\n\r", "   ")
_TOGETHER = 64  # lines given out
_MARK = b"\xef\xbb\xbf"
_BLOCK = 1 << 20  # bytes of units that are copied at a time
_log = logging.getLogger("aligntools")
#: Inline elements whose contents are codes of the text's own format, or nothing.
_CODES = {"bpt", "ept", "it", "ph", "ut", "x", "bx", "ex", "sub", "sc", "ec", "sm", "em", "cp"}
#: Contents of codes at which a line breaks: words on both sides of it are not one.
_BREAK = re.compile(r"<\s*(?:br|p|div|td|tr|li)\b|\\(?:n|line|par|tab)\b|[\n\t]", re.IGNORECASE)
#: What such codes say that they are.
_BREAK_TYPES = {"lb", "pb", "br", "x-br", "xlf:lb"}
_SHOWN = 12  # languages named


class Unit(NamedTuple):
    """A translation unit: its sides, and its bytes in the file."""

    source: str
    target: str
    begin: int
    end: int


def languages_given(languages: str) -> tuple[str, str]:
    """Return the two languages of an option such as ``de,en`` or ``de-en``; a comma where names have hyphens."""
    found = [name.strip() for name in languages.split("," if "," in languages else "-")]
    if len(found) != 2 or not all(found):
        raise UsageProblem(f"`languages` is two, source and target, such as de,en, not '{languages}'")
    return found[0], found[1]


class Languages:
    """Which of a file's languages are source and target: those asked for, or what it calls its source and the other.

    ambiguous: There are three, and none was asked for; the rest is read for their names alone.
    """

    def __init__(self, path: object, languages: str | None) -> None:
        self._path, self._asked = path, languages is not None
        self._sides: list[str] = list(languages_given(languages)) if languages else []
        self._seen: Counter[str] = Counter()
        self._given = set[int | None]()  # sides that text was of
        self.ambiguous = False

    def take_source(self, language: str) -> None:
        """Take the language that a file calls its source, where none is asked for."""
        if not self._sides and language and language != "*all*":
            self._sides = [language]

    def side_of(self, language: str, role: int | None = None) -> int | None:
        """Return 0 for the source, 1 for the target, None for other languages; count it.

        role: The side that the file calls it, which holds unless languages are asked for.
        """
        self._seen[language] += 1
        fitting = [k for k, side in enumerate(self._sides) if same_language(side, language)]
        exact = [k for k in fitting if self.exact(k, language)]
        if self._asked:
            found = exact or fitting
            side = role if role in found else next(iter(found), None)
            self._given.add(side)
            return side
        if role is None and fitting:
            return (exact or fitting)[0]
        if len(self._sides) < 2 and role in (None, len(self._sides)):
            self._sides.append(language)
            return len(self._sides) - 1
        if role in fitting:
            return role
        self.ambiguous = True
        return None

    def exact(self, side: int, language: str) -> bool:
        """Return whether a language is that of a side to the letter."""
        return self._sides[side].lower() == language.lower()

    def end(self) -> None:
        """Raise the error of a file that does not have two languages, or not those asked for."""
        names = sorted(self._seen, key=lambda name: (-self._seen[name], name))
        shown = ", ".join(f"{name} ({self._seen[name]})" for name in names[:_SHOWN])
        shown += ", ..." if len(names) > _SHOWN else ""
        if self.ambiguous:
            problem = f"text in {len(names)} languages: {shown}; say which two with `languages`, source first"
            other = next(name for name in names if not same_language(names[0], name))
            raise DataError(self._path, None, f"{problem}, such as {names[0]},{other}")
        if len(self._sides) < 2:
            raise DataError(self._path, None, f"text in one language, {shown or 'none'}; both sides are expected")
        for k, side in enumerate(self._sides):
            if not any(same_language(side, name) for name in names):
                raise DataError(self._path, None, f"no text in '{side}'; it has {shown or 'no languages'}")
            if self._asked and k not in self._given:
                raise DataError(self._path, None, f"no text in '{side}' but the other side's; it has {shown}")

    def found(self, kind: str, units: int) -> str:
        """Return what was read, in words."""
        return f"read as {kind}, {self._sides[0]} to {self._sides[1]}: {units} translation units"


def _segment(events: Iterator[XmlEvent]) -> tuple[str, XmlEvent]:
    """Read a segment whose start was read; return its text, without inline codes, and its end."""
    parts: list[str] = []
    inside = codes = 0  # elements around what is read next: with text, and of codes
    while True:
        event = next(events)
        if event.kind == "text":
            if not codes:
                parts.append(event.text)
            elif _BREAK.search(event.text):
                parts.append(" ")
        elif event.kind == "start" and (codes or event.local in _CODES):
            codes += 1
            if _BREAK_TYPES.intersection(map(event.attributes.get, ("type", "ctype", "subType"))):
                parts.append(" ")
        elif event.kind == "start":
            inside += 1
        elif event.kind == "end" and codes:
            codes -= 1
        elif event.kind == "end" and inside:
            inside -= 1
        elif event.kind == "end":
            return "".join(parts), event


def tmx_sides(
    events: Iterator[XmlEvent], languages: Languages, empty: bool = True
) -> Iterator[tuple[dict[int, tuple[bool, str, XmlEvent, XmlEvent]], int, int]]:
    """Yield the units of TMX, of any version and level: the text of each side and its tags, and the unit's bytes.

    Of each side comes first whether its language is that to the letter. Without ``empty`` such segments are none.
    """
    begin, language = 0, ""
    found: dict[int, tuple[bool, str, XmlEvent, XmlEvent]] = {}
    for event in events:
        name, given = event.local, event.attributes
        if event.kind == "end" and name == "tu" and not languages.ambiguous:
            yield found, begin, event.end
        if event.kind != "start":
            continue
        if name == "tu":
            begin, found = event.begin, {}
        elif name == "tuv":
            language = given.get("xml:lang") or given.get("lang") or "und"
        elif name == "seg":
            text, end = _segment(events)
            side = languages.side_of(language) if empty or end.begin < end.end else None
            if side is not None:
                exact = languages.exact(side, language)
                if side not in found or (exact and not found[side][0]):
                    found[side] = exact, text, event, end
        elif name == "header":
            languages.take_source(given.get("srclang", ""))


def tmx_units(events: Iterator[XmlEvent], languages: Languages) -> Iterator[Unit]:
    """Yield the units of TMX."""
    for found, begin, end in tmx_sides(events, languages):
        source, target = (found[side][1] if side in found else "" for side in (0, 1))
        yield Unit(source, target, begin, end)
    if languages.ambiguous:
        languages.end()


def xliff_units(events: Iterator[XmlEvent], languages: Languages) -> Iterator[Unit]:
    """Yield the units of XLIFF: ``trans-unit`` of 1.x, ``segment`` of 2.x; without alternatives and notes."""
    begin, open_names = 0, list[str]()
    tags = {"source": "und-x-source", "target": "und-x-target"}
    texts: dict[str, str] = {}
    for event in events:
        if event.kind == "start":
            name, given = event.local, event.attributes
            if name in ("xliff", "file"):
                tags["source"] = given.get("source-language") or given.get("srcLang") or tags["source"]
                tags["target"] = given.get("target-language") or given.get("trgLang") or tags["target"]
                languages.take_source(tags["source"] if name == "file" else given.get("srcLang", ""))
            elif name in ("trans-unit", "segment"):
                begin, texts = event.begin, {}
            elif name in tags and open_names[-1:] in (["trans-unit"], ["segment"]):
                texts[name], _ = _segment(events)
                continue
            open_names.append(name)
        elif event.kind == "end":
            open_names.pop()
            if event.local in ("trans-unit", "segment") and not languages.ambiguous:
                sides = ["", ""]
                for role, (name, tag) in enumerate(tags.items()):
                    side = languages.side_of(tag, role) if name in texts or not role else None
                    if side is not None:
                        sides[side] = texts.get(name, "")
                if not languages.ambiguous:
                    yield Unit(sides[0], sides[1], begin, event.end)
    if languages.ambiguous:
        languages.end()


#: What reads the units of a file, by the name of its first tag.
READERS: dict[str, Callable[[Iterator[XmlEvent], Languages], Iterator[Unit]]] = {"tmx": tmx_units, "xliff": xliff_units}


@contextmanager
def keeping() -> Iterator[None]:
    """Explain why a text that can be read once cannot be written to a temporary file."""
    try:
        yield
    except OSError as error:
        problem = f"the text cannot be kept for a second reading in {tempfile.gettempdir()}: {error.strerror}"
        raise ResourceError(f"{problem} (TMPDIR names another folder)") from None


class UnitCopy:
    """The bytes of a file, taken by the places of its units while another reader reads it.

    A file is opened a second time; what can be read once, such as a pipe, is kept in a file without a name.
    """

    def __init__(self, path: object) -> None:
        self.encoding = "utf-8"
        self._path, self._again = path, files.is_regular(path)
        self._places: deque[tuple[int, int]] = deque()
        self._at = self._kept = 0  # bytes given out, and bytes kept
        self._stack = ExitStack()
        self._file: Any = None
        if not self._again:
            kept = tempfile.TemporaryFile(prefix="aligntools.")  # noqa: SIM115
            self._file = self._stack.enter_context(kept)

    def add(self, data: bytes) -> None:
        """Take the next bytes of the file."""
        if not self._again:
            with keeping():
                self._file.seek(self._kept)
                self._file.write(data)
            self._kept += len(data)

    def place(self, begin: int, end: int) -> None:
        """Take where the next unit is."""
        self._places.append((begin, end))

    def _bytes(self, end: int | None) -> bytes:
        """Return the bytes from where it is to an end."""
        if self._file is None:
            self._file = self._stack.enter_context(files.reading_bytes(self._path))
        if not self._again:
            self._file.seek(self._at)
        parts = []
        while (end is None or self._at < end) and (
            data := self._file.read(_BLOCK if end is None else min(_BLOCK, end - self._at))
        ):
            parts.append(data)
            self._at += len(data)
        return b"".join(parts)

    def take(self, kept: Sequence[bool]) -> bytes:
        """Return the next units as the file has them, with what stands before each; of the others what is no space."""
        parts = []
        for keep in kept:
            begin, end = self._places.popleft()
            before, unit = self._bytes(begin), self._bytes(end)
            if keep:
                parts += [before, unit]
            elif before.strip(b" \t\r\n\0"):
                text = before.decode(self.encoding, "surrogateescape").rstrip(" \t\r\n")
                parts.append(text.encode(self.encoding, "surrogateescape"))
        return b"".join(parts)

    def skip(self, units: int) -> None:
        """Go past units that are not written as they stand."""
        for _ in range(units):
            self._places.popleft()

    def rest(self) -> bytes:
        """Return what stands after the last unit."""
        return self._bytes(None)

    def close(self) -> None:
        """Close the file."""
        self._stack.close()
        self._file = None


class PairsFile(str):
    """The name of a file with both sides of a text; what opens it takes it as a str and gives out its lines.

    copy: Gets the bytes of the file, and the places of its units, as it is read.
    kind: ``TMX``, ``XLIFF`` or ``table`` once the file was opened and is one.
    """

    __slots__ = ("copy", "kind", "languages", "splitting")

    languages: str | None
    splitting: str
    copy: UnitCopy | None
    kind: str

    def __new__(
        cls, path: Any, languages: str | None = None, copy: UnitCopy | None = None, splitting: str | None = None
    ) -> "PairsFile":
        """Return the name of a file."""
        made = super().__new__(cls, os.fspath(path))
        made.languages, made.copy, made.kind = languages, copy, ""
        made.splitting = splitting or str(getattr(path, "splitting", "spaces"))
        return made

    def __str__(self) -> str:
        return self

    def __reduce__(self) -> Any:
        return PairsFile, (str.__str__(self), self.languages, None, self.splitting)

    def split_as(self, splitting: str) -> "PairsFile":
        """Return the name with how the text is split."""
        return PairsFile(self, self.languages, self.copy, splitting)

    def translated(self, source: Raw, data: bytes) -> tuple[Raw, bytes]:
        """Return what is read in the place of an open file that begins so, and what of it was read already."""
        while (root := xml_root(data)) is None and len(data) < _LOOK and (more := source.read(_LOOK)):
            data += more
        kind = (root or "").rpartition(":")[2].lower()
        if kind in READERS:
            self.kind = kind.upper()
            return _made(self._units(pushed(data, source).read, kind)), b""
        if self.languages is None:
            return source, data
        while b"\n" not in data and len(data) < _LOOK and (more := source.read(_LOOK)):
            data += more
        refuse_wide(self, data)
        columns = self._columns(data.removeprefix(_MARK).partition(b"\n")[0])
        self.kind = "table"
        return _made(self._rows(pushed(data, source), columns)), b""

    def _units(self, read: Callable[[int], bytes | None], kind: str) -> Iterator[bytes]:
        """Yield lines of the units of XML."""
        keep, languages = self.copy, Languages(self, self.languages)

        def reading(size: int) -> bytes:
            data = read(size) or b""
            if keep is not None:
                keep.add(data)
            return data

        events = XmlReader(reading, self)
        count = 0
        for unit in READERS[kind](iter(events), languages):
            if not count and keep is not None:
                keep.encoding = events.encoding
            count += 1
            if keep is not None:
                keep.place(unit.begin, unit.end)
            sides = [side.translate(_AS_SPACES).strip(" ") for side in (unit.source, unit.target)]
            yield "\t".join(sides).encode("utf-8", "replace") + b"\n"
        if not count:
            unit_name = "<tu>" if kind == "tmx" else "<trans-unit> or <segment>"
            raise DataError(self, None, f"{self.kind} without translation units ({unit_name}); nothing to read")
        languages.end()
        shown = "<stdin>" if self == "-" else self
        _log.info("%s: %s", shown, languages.found(self.kind, count), extra={"once": f"{self} pairs"})

    def _columns(self, line: bytes) -> tuple[int, int]:
        """Return the columns of both sides by the first line of a table."""
        names = [name.strip().strip('"') for name in line.decode("utf-8", "replace").split("\t")]
        found = []
        for language in languages_given(self.languages or ""):
            fitting = [k for k, name in enumerate(names) if name.lower() == language.lower()]
            fitting = fitting or [k for k, name in enumerate(names) if same_language(language, name)]
            if not fitting:
                expected = "`languages` is about TMX, XLIFF, and tables whose first line names the language of a column"
                raise DataError(self, 1, f"no column '{language}' in the first line, and no TMX or XLIFF ({expected})")
            found.append(fitting[0])
        if found[0] == found[1]:
            raise DataError(self, 1, f"one column, '{names[found[0]]}', for both of `languages={self.languages}`")
        return found[0], found[1]

    def _rows(self, file: Raw, columns: tuple[int, int]) -> Iterator[bytes]:
        """Yield lines of two columns of a table."""
        begin, keep = 0, self.copy
        for number, line in enumerate(io.BufferedReader(file)):
            end = begin + len(line)
            if keep is not None:
                keep.add(line)
                if number:
                    keep.place(begin, end)
            begin = end
            if number:
                cells = line.rstrip(b"\r\n").split(b"\t")
                yield b"\t".join(cells[k] if k < len(cells) else b"" for k in columns) + b"\n"


def _made(lines: Iterator[bytes]) -> Made:
    """Return lines that are made as they are read, many together."""
    return Made(iter(lambda: b"".join(islice(lines, _TOGETHER)), b""))


def paired(path: Any, languages: str | None, format: str | None, copy: UnitCopy | None = None) -> Any:
    """Return a text of both sides as `PairsFile`, where it is a file whose format is not said."""
    if languages is not None:
        languages_given(languages)
        if format not in ("auto", None):
            about = "`languages` is about TMX, XLIFF and tables"
            raise UsageProblem(f"{about}; `input_format={format}` does not go with it")
        if not isinstance(path, str | os.PathLike) and not hasattr(path, "kind"):
            raise UsageProblem("`languages` is about files: TMX, XLIFF and tables")
    if format != "auto" or isinstance(path, PairsFile) or not isinstance(path, str | os.PathLike):
        return path
    return PairsFile(path, languages, copy)


def format_of(text: object, format: str | None) -> str | None:
    """Return the format of an open text, which is tab-separated where it is read from one of these files."""
    return "tsv" if format == "auto" and getattr(text, "kind", None) else format
