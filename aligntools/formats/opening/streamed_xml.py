"""XML as it streams in, by the standard library's expat: tags and text, with the bytes that they stand in.

Nothing is fetched, whatever a document type declaration names, and a document that declares entities is refused: what
is read is never larger than the file. Whoever writes a document with changes copies its other bytes by their places.
"""

import html.entities
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from xml.parsers import expat

from aligntools.formats.opening import files
from aligntools.ground.errors import DataError

#: Bytes read at a time.
_SIZE = 1 << 17
#: Longest tag or comment, in bytes, and most elements within each other.
LONGEST_TAG, DEEPEST = 1 << 24, 256
#: Bytes of a file that are looked at for its first tag.
_LOOK = 1 << 16
#: Characters after which text is given out though more of it follows.
_LONG_TEXT = 1 << 20
_NAME = re.compile(r"<!DOCTYPE\s+([\w:.-]+)[\s>\[]|<([\w:.-]+)[\s/>]")
#: What may stand before the first tag, by how it begins and ends.
_SKIPPED = (("<?", "?>"), ("<!--", "-->"))
_OF_TWO_BYTES = {b"\xff\xfe": "utf-16-le", b"<\0": "utf-16-le", b"\xfe\xff": "utf-16-be", b"\0<": "utf-16-be"}


class XmlEvent(NamedTuple):
    """A tag, a piece of text, or something else of an XML document.

    kind: ``start`` or ``end`` of an element, ``text``, or ``other``: comments, instructions, declarations, the marks of
        CDATA. An empty element, ``<x/>``, has a start, which is all of it, and an end of no bytes.
    text: With its character references resolved. Text that lies together may come in pieces.
    begin, end: Its bytes in the unpacked file; one event begins where the one before ends.
    """

    kind: str
    name: str
    attributes: dict[str, str]
    text: str
    begin: int
    end: int
    line: int

    @property
    def local(self) -> str:
        """The name without its prefix."""
        return self.name.rpartition(":")[2]


class XmlReader:
    """The events of an XML document, in order; what is not well-formed is a `DataError` with line and column.

    encoding: Of its bytes, as Python's codecs are called, once the first event is there.
    """

    def __init__(self, read: Callable[[int], bytes], path: object) -> None:
        self.encoding = "utf-8"
        self._read, self._path = read, path
        self._ready: list[XmlEvent] = []
        self._depth, self._length = 0, 0
        #: the event that has begun: kind, name, attributes, pieces of text, first byte, line
        self._open: tuple[str, str, dict[str, str], list[str], int, int] | None = None
        parser = self._parser = expat.ParserCreate()
        parser.buffer_text, parser.specified_attributes = False, True
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler, parser.SkippedEntityHandler = self._text, self._skipped
        parser.XmlDeclHandler, parser.EntityDeclHandler = self._declared, self._entity
        parser.DefaultHandler = lambda _data: self._begin("other")

    def __iter__(self) -> Iterator[XmlEvent]:
        """Yield the events."""
        first, size = True, 0
        while True:
            data = self._read(_SIZE)
            if first:
                self.encoding, first = _OF_TWO_BYTES.get(data[:2], self.encoding), False
            try:
                self._parser.Parse(data, not data)
            except expat.ExpatError as error:
                yield from self._ready
                problem = f"{expat.ErrorString(error.code)}; it is not well-formed XML, mend it there"
                raise self._error(problem, error.lineno, error.offset) from None
            except (LookupError, ValueError) as error:  # what Python says of the encoding that it is declared in
                yield from self._ready
                raise self._error(f"{error}; convert the file to UTF-8, and say so in its first line") from None
            size += len(data)
            if not data:
                self._finish(size)
            yield from self._ready
            self._ready.clear()
            if not data:
                return
            if size - max(self._parser.CurrentByteIndex, 0) > LONGEST_TAG:
                raise self._error(f"a tag or comment of more than {LONGEST_TAG >> 20} MiB")

    def _error(self, problem: str, line: int | None = None, column: int = 0) -> DataError:
        """Return an error with its place, by default where the parser is."""
        if line is None:
            line, column = self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber
        return DataError(self._path, line, f"column {column + 1}: {problem}")

    def _begin(self, kind: str, name: str = "", attributes: dict[str, str] | None = None, text: str = "") -> None:
        """Begin an event, and so end the one before."""
        parser = self._parser
        if kind == "text" and self._open is not None and self._open[0] == kind and self._length < _LONG_TEXT:
            self._open[3].append(text)
            self._length += len(text)
            return
        self._finish(parser.CurrentByteIndex)
        self._length = len(text)
        self._open = kind, name, attributes or {}, [text], parser.CurrentByteIndex, parser.CurrentLineNumber

    def _finish(self, end: int) -> None:
        if self._open is not None:
            kind, name, attributes, text, begin, line = self._open
            self._ready.append(XmlEvent(kind, name, attributes, "".join(text), begin, end, line))
            self._open = None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._error(f"more than {DEEPEST} elements within each other")
        self._begin("start", name, attributes)

    def _end(self, name: str) -> None:
        self._depth -= 1
        self._begin("end", name)

    def _text(self, text: str) -> None:
        self._begin("text", text=text)

    def _skipped(self, name: str, parameter: bool) -> None:
        """Take an entity that a declaration elsewhere may define: HTML's by their names, others as they stand."""
        if not parameter:
            self._text(html.entities.html5.get(f"{name};", f"&{name};"))

    def _declared(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if encoding and self.encoding == "utf-8":
            self.encoding = encoding.lower()
        self._begin("other")

    def _entity(self, name: str, *_more: Any) -> None:
        problem = f"declares the entity '{name}'; documents with entities of their own are not read (remove the"
        raise self._error(f"{problem} declaration, and write out what it stands for)")


def read_xml(path: object) -> Iterator[XmlEvent]:
    """Yield the events of an XML file of any compression, in constant memory."""
    with files.reading_bytes(path) as file:
        yield from XmlReader(file.read, path)


def xml_root(data: bytes) -> str | None:
    """Return the name of the first tag of what begins so: nothing if it is no XML, None if more has to be seen.

    Where a line has ended, more is asked for only behind an XML declaration: a live pipe may have no more for now.
    """
    codec = _OF_TWO_BYTES.get(data[:2], "utf-8")
    text = data[: len(data) & -2 if codec != "utf-8" else len(data)].decode(codec, "ignore").removeprefix("\ufeff")
    open_end = len(data) < _LOOK and ("\n" not in text or text.startswith("<?xml"))
    undecided = None if open_end else ""
    while True:
        text = text.lstrip(" \t\r\n")
        if not text.startswith("<"):
            return "" if text else undecided
        begin, end = next((marks for marks in _SKIPPED if text.startswith(marks[0])), ("", ""))
        if not begin:
            break
        if end not in text:
            return undecided
        text = text[text.index(end) + len(end) :]
    if found := _NAME.match(text):
        return found[1] or found[2]
    begun = re.fullmatch(r"<(!(D(O(C(T(Y(P(E(\s[\s\w:.-]*)?)?)?)?)?)?)?|--?)?|[\w:.-]*)", text)
    return undecided if begun else ""
