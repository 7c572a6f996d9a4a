"""The beginning of a text file, and how long the whole seems to be."""

import bz2
import lzma
import os
import zlib

from aligntools.formats import files

#: Bytes of the file that are read.
READ = 1 << 20
_EXPECTED = 3.5  # bytes of text a compressed byte, where the beginning does not tell


def beginning(path: str) -> tuple[bytes, int]:
    """Return the text that a file begins with, up to a newline, and about how many bytes of text the whole has.

    A file that cannot be read, or is damaged, has none: what is wrong with it is told by whoever reads it.
    """
    try:
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            data = file.read(READ)
        compressed = files.compression(path)
        text = data if not compressed else _decompressor(compressed, path).decompress(data)
    except Exception:
        return b"", 0
    if not text:
        return b"", int(size * _EXPECTED)
    whole = int(size * (len(text) / max(len(data), 1)))
    end = text.rfind(b"\n") + 1
    return text[: end or len(text)], whole


def _decompressor(compressed, path):
    if compressed == ".gz":
        return zlib.decompressobj(31)
    if compressed == ".bz2":
        return bz2.BZ2Decompressor()
    if compressed == ".xz":
        return lzma.LZMADecompressor()
    return files.zstandard_of(path).ZstdDecompressor().decompressobj()
