"""What translators keep their text in, read as tab-separated pairs: TMX, XLIFF, tables that name their languages.

A file with both sides of a text is looked at when it is opened: where it is one of these, it reads as a line for each
translation unit, source and target with a tab between, in the order of the file. A unit without one of the languages
has a blank side, so that there are as many lines as units. Inline codes are passed over. See `PairsFile`.
"""

import io
import logging
import os
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from aligntools.formats.opening.live_inputs import Made
from aligntools.formats.opening.recognition import Raw, pushed, refuse_wide
from aligntools.formats.opening.streamed_xml import XmlReader, xml_root
from aligntools.formats.text.units import READERS, Languages, UnitCopy, languages_given
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.words.white_space import same_language

_LOOK = 1 << 16  # bytes in which a first tag, or a first line, has to be
_AS_SPACES = str.maketrans("\t\n\r", "   ")
_TOGETHER = 64  # lines given out
_MARK = b"\xef\xbb\xbf"
_log = logging.getLogger("aligntools")


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
