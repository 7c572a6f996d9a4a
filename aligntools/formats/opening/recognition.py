"""What the first bytes of a text tell: its compression, and whether it is UTF-8 with lines. All reading begins here."""

import bz2
import codecs
import gzip
import io
import lzma
import os
import re
import select
import stat
import struct
import unicodedata
from collections.abc import Callable, Iterator
from itertools import chain
from types import ModuleType
from typing import Any, TypeAlias

from aligntools.formats.opening import live_inputs
from aligntools.formats.opening.live_inputs import LiveInput, Made, ReadOnly
from aligntools.ground.errors import DataError

#: What compressed files begin with.
_MAGIC = {
    ".gz": re.compile(rb"\x1f\x8b"),
    ".bz2": re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"),
    ".xz": re.compile(rb"\xfd7zXZ\x00"),
    ".zst": re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),
}
#: The same cut short at any place: more has to be read to tell.
_BEGUN = re.compile(
    rb"\x1f|B(Z(h([1-9](1(A(Y(&S?)?)?)?|\x17(r(E(8P?)?)?)?)?)?)?)?|\xfd(7(z(X(Z)?)?)?)?"
    rb"|\x28(\xb5(\x2f)?)?|[\x50-\x5f](\x2a(\x4d)?)?|\xef(\xbb(\xbf)?)?|\xff(\xfe\x00?)?|\xfe"
)
SUFFIXES = tuple(_MAGIC)
MARK = b"\xef\xbb\xbf"
#: Marks of other encodings, the longer ones first.
_WIDE = {b"\xff\xfe\x00\x00": "UTF-32", b"\x00\x00\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
#: What ZIP archives begin with.
ARCHIVE = b"PK\x03\x04"
#: What files begin with that are no text, and are not unpacked here.
_OTHERS = {
    ARCHIVE: "a ZIP archive",
    b"PK\x05\x06": "a ZIP archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!\x1a\x07": "a RAR archive",
    b"\x04\x22\x4d\x18": "compressed by lz4",
    b"LZIP\x01": "compressed by lzip",
    b"\x1f\x9d": "compressed by compress",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an OLE file (with a password, or of Office before 2007; save it as .docx)",
    b"%PDF-": "a PDF",
    b"{\\rtf": "RTF",
    b"\x89PNG\r\n": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"\x7fELF": "a program",
    b"SQLite format 3\0": "an SQLite database",
    b"\x93NUMPY": "an array of NumPy",
}
_CONTROLS = bytes({*range(32), 127} - {*b"\t\n\v\f\r\x1b"})
_MODEL = b'{"__metadata__"'  # behind the header's length
_FIRST, _STEP = 1 << 16, 1 << 17  # bytes read at first, and in front of a decompressor
_FEW = 200  # bytes that are too few to tell by what they are
_READ = 1 << 12  # characters that are looked at

RETURNS = "carriage returns and no line ends; convert it, for instance with tr '\\r' '\\n'"


def suffix_of(path: object) -> str:
    """Return the suffix that says how a file is to be compressed, or nothing."""
    return next((s for s in SUFFIXES if str(path).endswith(s)), "")


def compression_of(path: str | os.PathLike[str]) -> str:
    """Return how a file that is there is compressed, as a suffix, or nothing: its first bytes say it, then its name."""
    try:
        with open(path, "rb") as file:
            first = file.read(16)
    except OSError:
        first = b""
    return _told(first) or suffix_of(path)


def _told(first: bytes) -> str:
    return next((suffix for suffix, magic in _MAGIC.items() if magic.match(first)), "")


def needs_mark(first: bytes) -> bool:
    """Return whether text that begins so would be read without its beginning, or taken for something else."""
    return first.startswith((MARK, *_WIDE)) or bool(_told(first) or _other(first))


def zstandard_of(path: object) -> ModuleType:
    """Return the library that reads and writes .zst files."""
    try:
        import zstandard
    except ImportError:
        raise DataError(path, None, "reading and writing .zst needs `pip install aligntools[zstd]`") from None
    return zstandard


#: What bytes are read from.
Raw: TypeAlias = io.RawIOBase | io.BufferedIOBase
#: Given an open file, unpacked, and its first bytes, returns what is read in its place, and what was read of it.
Translate: TypeAlias = Callable[[Raw, bytes], tuple[Raw, bytes]]


def pushed(first: bytes, raw: Raw) -> Made:
    """Return an open file in front of which bytes are put back."""
    return Made(chain([first], iter(lambda: raw.read(_STEP) or b"", b"")))


def _zstd_blocks(zstandard: ModuleType, file: io.BufferedIOBase) -> Iterator[bytes]:
    """Yield the contents of zstd frames, block by block (RFC 8878): at most 128 KiB are unpacked at a time.

    Zstandard's own readers unpack as much as what they are given holds, or take a frame that is cut short for the end.
    """

    def exactly(size: int) -> bytes:
        data = file.read(size)
        if len(data) < size:
            raise EOFError("Compressed file ended before the end-of-stream marker was reached")
        return data

    while first := file.read(1):
        magic = first + exactly(3)
        if not _MAGIC[".zst"].fullmatch(magic):
            raise OSError("Not a zstd frame")
        if magic[1:] == b"\x2a\x4d\x18":  # to be skipped
            left = struct.unpack("<I", exactly(4))[0]
            while left:
                left -= len(exactly(min(left, _STEP)))
            continue
        descriptor = exactly(1)
        flags = descriptor[0]
        single, sized = flags >> 5 & 1, flags >> 6
        size = (1 - single) + (0, 1, 2, 4)[flags & 3] + ((single, 2, 4, 8)[sized])
        frame, checksum, last = zstandard.ZstdDecompressor().decompressobj(), 4 * (flags >> 2 & 1), 0
        frame.decompress(magic + descriptor + exactly(size))
        while not last:
            header = exactly(3)
            number = int.from_bytes(header, "little")
            last, kind, size = number & 1, number >> 1 & 3, number >> 3
            if size > 1 << 17:
                raise OSError("Not a zstd block")
            yield frame.decompress(header + exactly((1 if kind == 1 else size) + last * checksum))


def _decompressed(suffix: str, path: object, raw: Made) -> Raw:
    """Return a file of what a compressed one holds."""
    file = io.BufferedReader(raw, _STEP)
    if suffix == ".gz":
        return gzip.GzipFile(fileobj=file, mode="rb")
    if suffix == ".bz2":
        return bz2.BZ2File(file, "rb")
    if suffix == ".xz":
        return lzma.LZMAFile(file, "rb")
    return Made(_zstd_blocks(zstandard_of(path), file))


class Recognized(ReadOnly):
    """A text as it is read: unpacked, without a byte order mark, refused where it is UTF-16 or has no line ends.

    Nothing is read before the first bytes are asked for. ``live`` is a pipe, a terminal or the like, where waiting for
    more may be waiting for ever.

    mark: Keep a byte order mark, and whatever ends lines, for text that is given back to the byte.
    wide, archive: Read UTF-16 as it is, for XML; a ZIP archive, for documents that are one.
    translate: Puts lines in the place of a file that has its text in another form.
    """

    def __init__(
        self,
        raw: Raw,
        path: object,
        mark: bool = False,
        wide: bool = False,
        translate: Translate | None = None,
        archive: bool = False,
    ) -> None:
        super().__init__()
        self._translate = translate
        if isinstance(raw, io.FileIO) and not stat.S_ISREG(os.fstat(raw.fileno()).st_mode):
            raw = LiveInput(raw)
        self._raw, self.live = raw, isinstance(raw, LiveInput)
        self._path, self._keeps_mark, self._wide = path, mark, wide
        self._archive = archive
        self._source: Raw | None = None
        self._unpacked: Raw | None = None
        self._first = b""
        # whether a line has ended; until then: whether a carriage return stands within, and whether one is last
        self._lined = self._returns = self._return_last = False

    @property
    def returns(self) -> bool:
        """Whether carriage returns were read, and no line end yet."""
        return self._returns and not self._lined

    @property
    def packed(self) -> bool:
        """Whether it is compressed, or other lines are in its place, once something was read."""
        return self._source is not self._raw

    def wait(self, end: int) -> bool:
        """Wait until something can be read; return whether so, and not that ``end``, a file descriptor, is readable."""
        if isinstance(self._raw, LiveInput) and not self._first and not (self._source and self.packed):
            return self._raw.wait(end)
        return not select.select([end], [], [], 0)[0]

    def begin_at(self, place: int) -> None:
        """Begin at a place within a plain file."""
        self._source, self._lined = self._raw, True
        self._raw.seek(place)

    def readinto(self, buffer: Any, /) -> int:
        """Read some bytes."""
        source = self._source or self._recognize()
        if self._first:
            count = min(len(buffer), len(self._first))
            buffer[:count], self._first = self._first[:count], self._first[count:]
        else:
            count = source.readinto(buffer) or 0
        if not self._lined and not self._keeps_mark:  # a text that has carriage returns alone is refused
            data = bytes(memoryview(buffer)[:count])
            if not data and self._returns:
                raise DataError(self._path, None, RETURNS)
            self._lined = b"\n" in data
            self._returns |= bool(data) and (self._return_last or b"\r" in data[:-1])
            self._return_last = data.endswith(b"\r")  # at the very end it may be what is left of a line's end
        return count

    def _recognize(self) -> Raw:
        data = _first_bytes(self._raw)
        suffix = _told(data) or suffix_of(self._path)
        if suffix and data:
            source = _decompressed(suffix, self._path, pushed(data, self._raw))
            self._source = self._unpacked = source
            data = _first_bytes(source)
            if _told(data):
                raise DataError(self._path, None, "compressed twice; unpack it once")
        else:
            self._source = source = self._raw
        if self._translate is not None:
            source, data = self._translate(source, data)
            self._source = source
        if (kind := _other(data)) and not (self._archive and data.startswith(ARCHIVE)):
            raise DataError(self._path, None, f"{kind}, where text is expected")
        if not self._wide:
            refuse_wide(self._path, data)
        self._first = data if self._keeps_mark else data.removeprefix(MARK)
        return source

    def close(self) -> None:
        """Close the file too."""
        if self._unpacked is not None:
            self._unpacked.close()
        self._raw.close()
        super().close()


def _first_bytes(file: Raw) -> bytes:
    """Read on until what a file begins with can be told, and it is more than a mark; return that."""
    data = b""
    while (not data or _BEGUN.fullmatch(data)) and (more := file.read(_FIRST)):
        data += more
    return data


def _other(data: bytes) -> str:
    """Return what a file is that is no text and no compressed one, or nothing."""
    if data[257:262] == b"ustar" and b"\0" in data[:257]:
        return "a tar archive"
    if data[8 : 8 + len(_MODEL)] == _MODEL:
        return "a file of a model"
    return next((kind for magic, kind in _OTHERS.items() if data.startswith(magic)), "")


def _wide(data: bytes) -> str:
    """Return the encoding of bytes that begin as UTF-16 or UTF-32 do, as iconv calls it, or nothing."""
    told = next((name for mark, name in _WIDE.items() if data.startswith(mark)), "")
    if told or b"\0" not in data:
        return told
    data = data[: len(data) & -4]
    for name, order in (("UTF-32LE", 1), ("UTF-32BE", -1)):
        low, high, plane, top = (data[k::4] for k in range(4)[::order])
        none = sum(not (a or b) for a, b in zip(low, high, strict=True))
        if len(low) > 1 and not any(top) and max(plane) <= 0x10 and none < len(low) / 20:
            return name
    for name, order in (("UTF-16LE", 1), ("UTF-16BE", -1)):
        low, high = (data[k::2] for k in range(2)[::order])
        if len(low) > 1 and low.count(0) < len(low) / 20 and _two_bytes_each(low, high, data, name):
            return name
    return ""


def _two_bytes_each(low: bytes, high: bytes, data: bytes, name: str) -> bool:
    """Return whether bytes are characters of two bytes each, where few of the low ones are zero.

    ASCII has zeros in half of all bytes, letters below U+2000 other control characters, which words of UTF-8 have few
    of. Letters above have bytes that are not UTF-8 sooner or later: then it is UTF-16 if that makes a text of it.
    """
    if high.count(0) > len(high) / 2:
        return True
    if _is_utf8(data):
        # spaces and line ends are two bytes long, as in UTF-16 of letters that have no zeros
        ends = [a for a, b in zip(low, high, strict=True) if not b and a in b" \t\r\n"]
        separated = len(ends) > 1 and 10 in ends and len(ends) > len(low) / 50
        return separated and sum(byte < 32 for byte in high) > len(high) / 2
    text = codecs.getincrementaldecoder(name)("replace").decode(data)[:_READ]
    odd = sum(unicodedata.category(c) in ("Cc", "Cn", "Co") for c in text if c not in "\t\r\n") + text.count("\ufffd")
    return "\n" in text and odd < len(text) / 20


def refuse_wide(path: object, data: bytes) -> None:
    """Refuse what begins as UTF-16 or UTF-32 do. Raises DataError."""
    if encoding := _wide(data):
        advice = f"{encoding[:6]}? convert it, for instance with iconv -f {encoding} -t UTF-8"
        raise DataError(path, None, f"bytes that are not UTF-8 ({advice})")


def is_binary(data: bytes) -> bool:
    """Return whether bytes are no text of any encoding: many, not UTF-8, and one in 30 is a control character."""
    data = data[:_READ]
    controls = len(data) - len(data.translate(None, _CONTROLS))
    return len(data) > _FEW and controls > len(data) / 30 and not _is_utf8(data)


def _is_utf8(data: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)  # its last character may be cut
    except UnicodeDecodeError:
        return False
    return True


#: Bytes of the text that are read.
READ = 1 << 20


#: Bytes of standard input that are looked at.
_LOOK = 1 << 16


def beginning_of_input(path: str) -> bytes:
    """Return the text that a file or standard input begins with, which is read from there again; of a terminal none."""
    if path != "-":
        return beginning(path)[0]
    try:
        if stat.S_ISREG(os.fstat(0).st_mode):
            with io.FileIO(os.dup(0)) as file:
                at = file.tell()
                found = file.read(_LOOK)
                file.seek(at)
        else:
            found = live_inputs.ahead(path, _LOOK)
        with io.BufferedReader(Recognized(io.BytesIO(found), path), READ) as text:
            return text.read(_LOOK)
    except Exception:
        return b""


def beginning(path: str) -> tuple[bytes, int]:
    """Return the text that a file begins with, up to a newline, and about how many bytes the whole has.

    A file that cannot be read has none: its reader says what is wrong with it. Nor has a pipe, which is read once.
    """
    if not os.path.isfile(path):
        return b"", 0
    try:
        size = os.path.getsize(path)
        raw = io.FileIO(path)
        recognized = Recognized(raw, path, translate=getattr(path, "translated", None))
        with io.BufferedReader(recognized, READ) as file:
            text = file.read(READ)
            whole = size
            if recognized.packed:
                whole = len(text) if len(text) < READ else int(size * len(text) / raw.tell())
    except Exception:
        return b"", 0
    end = text.rfind(b"\n") + 1
    return text[: end or len(text)], whole
