"""Checksums of model files, by which damage is noticed: a copy that broke off, a bit that a disk or memory flipped.

The checksum covers the whole file, in blocks that threads work on while the file is read; it stands in the file's own
header, and its own digits count as zeros. It detects damage, not forgery.
"""

import contextlib
import hashlib
import os
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from aligntools.ground import system

#: Hexadecimal digits, and what stands for them until they are known.
DIGITS = 32
UNKNOWN = "0" * DIGITS
#: What stands before the digits in a header: JSON in a string of JSON.
_BEFORE = b'\\"checksum\\": \\"'
_BLOCK, _THREADS = 4 << 20, 4


class Mismatch(Exception):
    """A file is not what was written."""


def seal(path: str) -> None:
    """Put the checksum of a file, just written, in place of `UNKNOWN`."""
    with open(path, "r+b") as file:
        header = _header(file.fileno())
        place = header.index(_BEFORE + UNKNOWN.encode()) + len(_BEFORE)
        with ThreadPoolExecutor(_THREADS) as pool:
            digits = _of_file(file.fileno(), header, place, pool)
        file.seek(place)
        file.write(digits.encode())


def sealed(data: bytes) -> bytes:
    """Return the bytes of a file with their checksum in place of `UNKNOWN`."""
    size = 8 + int.from_bytes(data[:8], "little")
    header = data[:size]
    place = header.index(_BEFORE + UNKNOWN.encode()) + len(_BEFORE)
    blocks = (_check(memoryview(data)[k : k + _BLOCK]) for k in range(size, len(data), _BLOCK))
    return data[:place] + _digest(header, place, blocks).encode() + data[place + DIGITS :]


@contextlib.contextmanager
def verifying(path: str | os.PathLike[str], expected: str) -> Iterator[None]:
    """Work out a file's checksum while the body of the ``with`` statement reads it.

    expected: What the header says.
    Raises Mismatch at the end, where the checksum is another one.
    """
    with open(path, "rb") as file, ThreadPoolExecutor(_THREADS + 1) as pool:
        header = _header(file.fileno())
        place = header.find(_BEFORE) + len(_BEFORE)
        if header[place : place + DIGITS] != str(expected).encode():
            raise Mismatch
        found = pool.submit(_of_file, file.fileno(), header, place, pool)
        yield
        if found.result() != expected:
            raise Mismatch


def _header(descriptor: int) -> bytes:
    """Return the bytes before the arrays: a number of 8 bytes, and so many bytes of JSON."""
    size = 8 + int.from_bytes(system.read_at(descriptor, 8, 0), "little")
    return system.read_at(descriptor, min(size, os.fstat(descriptor).st_size), 0)


def _check(block: bytes | memoryview) -> bytes:
    """Return the checksum of a block: fast, on all cores, and never the same after one flipped bit."""
    return zlib.crc32(block).to_bytes(4, "little")


def _digest(header: bytes, place: int, blocks: Iterable[bytes]) -> str:
    """Return the checksum of all: the hash of the header, its own digits unknown, and of the blocks' checksums."""
    whole = hashlib.sha256(header[:place] + UNKNOWN.encode() + header[place + DIGITS :])
    for part in blocks:
        whole.update(part)
    return whole.hexdigest()[:DIGITS]


def _of_file(descriptor: int, header: bytes, place: int, pool: ThreadPoolExecutor) -> str:
    """Return the checksum of a file, its blocks read by threads."""

    def block(begin: int) -> bytes:
        return _check(system.read_at(descriptor, _BLOCK, begin))

    return _digest(header, place, pool.map(block, range(len(header), os.fstat(descriptor).st_size, _BLOCK)))
