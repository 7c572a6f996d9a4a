"""Model files: named arrays and a versioned header in one file, without pickle."""

import contextlib
import hashlib
import json
import math
import os
import stat
import tempfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from aligntools.formats.opening import files
from aligntools.formats.opening.json_text import in_words, parse_json
from aligntools.formats.opening.recognition import compression_of
from aligntools.ground import system
from aligntools.ground.errors import DataError, ModelError, UsageProblem
from aligntools.ground.ranges import Range, shown
from aligntools.store import atomic_write, tensors
from aligntools.words.vocabulary import Vocabulary

# The checksum covers the whole file, in blocks that threads work on while the file is read; it stands in the file's own
# header, and its own digits count as zeros. It detects damage, not forgery.

#: Hexadecimal digits, and what stands for them until they are known.
DIGITS = 32
UNKNOWN = "0" * DIGITS
#: What stands before the digits in a header: JSON in a string of JSON.
_BEFORE = b'\\"checksum\\": \\"'
_BLOCK, _THREADS = 4 << 20, 4


def seal(path: str) -> None:
    """Put the checksum of a file, just written, in place of `UNKNOWN`."""
    with open(path, "r+b") as file:
        header = _header(file.fileno())
        place = header.index(_BEFORE + UNKNOWN.encode()) + len(_BEFORE)
        with ThreadPoolExecutor(_THREADS) as pool:
            digits = _of_file(file.fileno(), header, place, pool)
        file.seek(place)
        file.write(digits.encode())


@contextlib.contextmanager
def verifying(path: str | os.PathLike[str], expected: str) -> Iterator[None]:
    """Work out a file's checksum while the body of the ``with`` statement reads it; ModelError if it is another."""
    with open(path, "rb") as file, ThreadPoolExecutor(_THREADS + 1) as pool:
        header = _header(file.fileno())
        place = header.find(_BEFORE) + len(_BEFORE)
        found = pool.submit(_of_file, file.fileno(), header, place, pool)
        yield
        if found.result() != expected or header[place : place + DIGITS] != str(expected).encode():
            problem = "its checksum does not match; write it again or copy it anew (`verify=False` reads it)"
            raise ModelError(path, None, f"is damaged: {problem}")


def _header(descriptor: int) -> bytes:
    """Return the bytes before the arrays: a length in 8 bytes, and JSON of that length."""
    size = 8 + int.from_bytes(system.read_at(descriptor, 8, 0), "little")
    return system.read_at(descriptor, min(size, os.fstat(descriptor).st_size), 0)


def _of_file(descriptor: int, header: bytes, place: int, pool: ThreadPoolExecutor) -> str:
    """Return the checksum of a file: the hash of its header, its own digits unknown, and of its blocks' checksums.

    These are fast, on all cores, and never the same after one flipped bit.
    """

    def check(begin: int) -> bytes:
        return zlib.crc32(system.read_at(descriptor, _BLOCK, begin)).to_bytes(4, "little")

    whole = hashlib.sha256(header[:place] + UNKNOWN.encode() + header[place + DIGITS :])
    for part in pool.map(check, range(len(header), os.fstat(descriptor).st_size, _BLOCK)):
        whole.update(part)
    return whole.hexdigest()[:DIGITS]


#: Raised with every change of what a model file holds.
VERSION = 1
_MAGIC = "aligntools"
#: What a model says of itself. Files of 0.2.0 and before have no checksum.
_KEYS, _OLD_KEYS = {"checksum", "kind", "version", "header"}, {"kind", "version", "header"}
_CHECKED = 1 << 20
_BREAKS = np.frombuffer(b"\t\n", np.uint8)
#: The public class that loads and saves a model of each kind.
KINDS = {
    "alignment": "Aligner",
    "tagger": "Tagger",
    "parser": "Parser",
    "dmv": "Parser",
    "pcfg": "ConstituentParser",
    "induced-pcfg": "InducedConstituentParser",
    "neural-pcfg": "InducedConstituentParser",
    "grammar": "Grammar",
    "lm": "LanguageModel",
}
_START = "contrastive-start"  # no model by itself
#: What is raised where parts of a model do not fit together.
_MISFITS = LookupError, ValueError, TypeError, AttributeError, OverflowError, RecursionError, UsageProblem
USES = {kind: f"`{name}.load()`" for kind, name in KINDS.items()} | {_START: "`start` of `train_contrastive_aligner()`"}
WRITERS = {kind: f"`{name}.save()`" for kind, name in KINDS.items()} | {_START: "`teach()`"}


def write_model(
    path: str | os.PathLike[str],
    kind: str,
    header: dict[str, Any],
    arrays: dict[str, np.ndarray],
    check: Callable[[dict[str, Any], dict[str, np.ndarray]], object] | None = None,
) -> None:
    """Write a model file of a kind such as ``alignment``, with a header of JSON; it appears whole or not at all.

    check: What loading makes a model of, from the header and the arrays; what it refuses is not written.
    """
    if check is not None:
        with fitting(path, "is not written, as it could not be loaded"):
            check(json.loads(json.dumps(header)), arrays)
    about = {"checksum": UNKNOWN, "kind": kind, "version": VERSION, "header": header}
    text = {_MAGIC: json.dumps(about, sort_keys=True)}
    # standard output, a device or a pipe must not be replaced by a file
    if str(path) == "-" or (os.path.exists(path) and not os.path.isfile(path)):
        with tempfile.TemporaryDirectory(prefix="aligntools.") as folder:
            write_model(whole := os.path.join(folder, "model"), kind, header, arrays)
            with open(whole, "rb") as file, files.writing(path, exact=True) as out:
                out.writelines(iter(partial(file.read, _BLOCK), b""))
        return
    try:
        with atomic_write.appearing(path) as part:
            tensors.write(part, arrays, text)
            seal(part)
    except OSError as error:
        raise DataError(path, None, f"cannot be written: {error.strerror or error}") from None


@contextlib.contextmanager
def fitting(path: str | os.PathLike[str], problem: str = "is damaged: its parts do not fit together") -> Iterator[None]:
    """Turn what goes wrong while a model's parts are put together into one `ModelError`."""
    try:
        yield
    except _MISFITS as error:
        found = " ".join(str(error).split())[:200]
        raise ModelError(path, None, f"{problem} ({found})") from None


def hold(
    arrays: dict[str, np.ndarray],
    name: str,
    shape: tuple[int, ...],
    kind: npt.DTypeLike,
    low: float | None = None,
    high: int | None = None,
) -> np.ndarray:
    """Return an array after checking its shape, type and range, which kernels do not check; ValueError or KeyError.

    low, high: The least and the greatest value that there may be; without them, floats are finite all the same.
    """
    array = arrays[name]
    if array.shape != tuple(shape) or array.dtype != kind:
        raise ValueError(f"{name} is {array.dtype} {array.shape}")
    checks = low is not None or high is not None or array.dtype.kind == "f"
    if not checks or not array.size:
        return array
    least, most = float(array.min()), float(array.max())  # both are NaN where there is one
    if not (math.isfinite(least) and math.isfinite(most)):
        raise ValueError(f"{name} is not finite")
    if (low is not None and least < low) or (high is not None and most > high):
        raise ValueError(f"{name} has values from {least:g} to {most:g}")
    return array


class Array(NamedTuple):
    """An array of a model file.

    shape: Sizes, by number or by name. low, high: The least and the greatest value, or a size that values are below.
    cuts: Of offsets, the size that they cut into as many parts as ``shape`` says.
    """

    name: str
    shape: tuple[int | str, ...]
    dtype: npt.DTypeLike = np.int64
    low: float | None = None
    high: int | str | None = None
    cuts: str | None = None


def checked(
    arrays: dict[str, np.ndarray], declared: Iterable[Array], known: Mapping[str, int], before: str = ""
) -> list[np.ndarray]:
    """Return the arrays that a model declares, as a list in that order, after checking each.

    Raises ValueError, which names the first misfit, or KeyError where an array is missing.
    """
    found, sizes = list[np.ndarray](), dict(known)
    for one in declared:
        name = before + one.name
        if one.cuts is not None:
            least = 0 if one.low is None else int(one.low)
            found.append(hold_offsets(arrays, name, sizes[str(one.shape[0])], sizes[one.cuts], least))
            continue
        for axis, size in enumerate(one.shape):
            if isinstance(size, str) and size not in sizes:
                sizes[size] = arrays[name].shape[axis] if arrays[name].ndim > axis else 0
        shape = tuple(sizes[size] if isinstance(size, str) else size for size in one.shape)
        high = sizes[one.high] - 1 if isinstance(one.high, str) else one.high
        found.append(hold(arrays, name, shape, one.dtype, one.low, high))
    return found


def named(model: object, declared: Iterable[Array]) -> dict[str, np.ndarray]:
    """Return the arrays that a model declares by their names, which are those of its attributes."""
    return {one.name: attrgetter(one.name)(model) for one in declared}


def hold_offsets(arrays: dict[str, np.ndarray], name: str, parts: int, length: int, least: int = 0) -> np.ndarray:
    """Return offsets that cut an array of ``length`` elements into parts of ``least`` or more, int64 [parts + 1]."""
    offsets = hold(arrays, name, (parts + 1,), np.int64, 0, length)  # so that none is near where numbers end
    if offsets[0] != 0 or offsets[-1] != length:
        raise ValueError(f"{name} does not cut what it should")
    for begin in range(0, parts, _CHECKED):  # in parts: a difference is as large as the offsets
        run = offsets[begin : begin + _CHECKED + 1]
        if (run[1:] < run[:-1] + least).any():
            raise ValueError(f"{name} does not ascend")
    return offsets


def hold_sorted_rows(arrays: dict[str, np.ndarray], name: str, offsets: np.ndarray) -> None:
    """Refuse an array whose values do not ascend within each of the rows that offsets cut it into."""
    values = arrays[name]
    for begin in range(0, len(values) - 1, _CHECKED):
        run = values[begin : begin + _CHECKED + 1]
        falls = np.flatnonzero(run[1:] <= run[:-1]) + begin + 1
        if (offsets[np.searchsorted(offsets, falls)] != falls).any():
            raise ValueError(f"{name} is not in order")


def hold_vocabulary(
    arrays: dict[str, np.ndarray], name: str, text: bool = True, names: tuple[str, str] | None = None
) -> Vocabulary:
    """Return a vocabulary of two arrays; its words have neither tabs nor newlines and are UTF-8, if they are text."""
    blob, starts = names or (f"{name}.blob", f"{name}.starts")
    found = Vocabulary.from_arrays(arrays[blob], arrays[starts])
    data, places = found.blob, found.starts
    first = 1
    while first < len(found):
        last = max(int(np.searchsorted(places, places[first] + _CHECKED, "right")) - 1, first + 1)
        part = data[places[first] : places[last]]
        if np.isin(part, _BREAKS).any():
            raise ValueError(f"{blob} has a word with a tab or a newline")
        if text:
            part.tobytes().decode()  # raises a ValueError where it is not UTF-8
            if (data[places[first:last]] & 0xC0 == 0x80).any():
                raise ValueError(f"{blob} has a word that begins within a character")
        first = last
    return found


def hold_number(header: dict[str, Any], name: str, allowed: Range) -> float:
    """Return a number of a header that is within its range; else a ValueError."""
    if header[name] not in allowed:
        raise ValueError(f"{name} is {in_words(header[name])}")
    found: float = header[name]
    return found


def is_model(path: str | os.PathLike[str]) -> bool:
    """Return whether a file begins as a model file does, which no text does; a file that cannot be opened does not."""
    try:
        if str(path) == "-" or not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            start = file.read(9)
    except OSError:
        return False
    return len(start) == 9 and start[8:] == b"{" and int.from_bytes(start[:8], "little") < 1 << 32


def model_kind(path: str | os.PathLike[str]) -> str:
    """Return the kind of a model file, for instance ``tagger``."""
    with _opened(path) as (_, about):
        return str(about["kind"])


@contextlib.contextmanager
def _opened(path: str | os.PathLike[str], kind: str | None = None) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Open a model file; yield it with what it says of itself, errors turned into `ModelError`."""
    from safetensors import SafetensorError, safe_open

    try:
        if str(path) == "-":
            raise ModelError(path, None, "a model has to be a file; write it to one and name that")
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):  # a model is read from several places at once
            what = "a folder" if stat.S_ISDIR(mode) else "a pipe" if stat.S_ISFIFO(mode) else "no file"
            raise ModelError(path, None, f"is {what}; a model has to be a file")
        with open(path, "rb"):
            pass
        if compression_of(path) and not is_model(path):
            raise ModelError(path, None, "is compressed; decompress it, since a model is read where it is")
        with safe_open(path, framework="numpy") as file:
            text = file.metadata() or {}
            if _MAGIC not in text:
                by = f"; {WRITERS[kind]} writes one" if kind in WRITERS else ""
                raise ModelError(path, None, f"is not a model of this program{by}")
            about = parse_json(text[_MAGIC])
            if set(about) not in (_KEYS, _OLD_KEYS):
                raise ValueError("what it says of itself is not complete")
            yield file, about
    except OSError as error:
        raise ModelError(path, None, f"cannot be opened: {error.strerror or error}") from None
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        found = shown(" ".join(str(error).split()))
        raise ModelError(path, None, f"is damaged or not a model file ({found})") from None


def read_model(
    path: str | os.PathLike[str], kind: str, verify: bool = True
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read a model file; those of 0.2.0 and before have no checksum."""
    with _opened(path, kind) as (file, about):
        if about["kind"] != kind:
            use = USES.get(about["kind"])
            advice = f" (that one is for {use})" if use else ""
            found = f"holds a model of kind '{shown(about['kind'])}', not '{kind}'{advice}"
            raise ModelError(path, None, found)
        if about["version"] != VERSION:
            found = f"has model version {shown(about['version'])}, this program reads version {VERSION}; train it again"
            raise ModelError(path, None, found)
        checking = verifying(path, about["checksum"]) if verify and "checksum" in about else None
        with checking or contextlib.nullcontext():
            return about["header"], {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


class SavedModel(ABC):
    """A model in a file of one kind: a header, which is JSON, and arrays."""

    KIND: ClassVar[str]

    @abstractmethod
    def parts(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the header and the arrays of the model's file."""

    @classmethod
    @abstractmethod
    def from_parts(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """Rebuild the model from what a file holds, checked as far as kernels trust it; ValueError names a misfit."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file."""
        write_model(path, self.KIND, *self.parts(), self.from_parts)

    @classmethod
    def load(cls, path: str | os.PathLike[str], verify: bool = True) -> Self:
        """Read a model file."""
        header, arrays = read_model(path, cls.KIND, verify)
        with fitting(path):
            return cls.from_parts(header, arrays)
