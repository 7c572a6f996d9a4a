"""A folder of named arrays: the results so far of work that is larger than memory, or than one machine.

A name's file appears whole or not at all: what is there is complete, however the process that wrote it ended.
"""

import contextlib
import errno
import glob
import json
import mmap
import os
import pickle
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.ground import system
from aligntools.ground.engines import kept
from aligntools.ground.errors import DataError, ModelError
from aligntools.store import atomic_write, tensors

_ABOUT = "about"
_TRIES = 100  # to lock a file that other runs take away


class Store:
    """Arrays and a few facts under each name of a folder; it can be pickled, and used from any process.

    lasting: What is written shall be there after the machine has lost its power.
    """

    def __init__(self, folder: str, lasting: bool = False) -> None:
        self.folder, self.lasting = folder, lasting
        self.read_bytes = self.written_bytes = 0

    def __reduce__(self) -> tuple[type["Store"], tuple[str, bool]]:
        return Store, (self.folder, self.lasting)

    def path(self, name: str) -> str:
        """Return the file of a name."""
        return os.path.join(self.folder, name + ".arrays")

    def has(self, name: str) -> bool:
        """Return whether something is kept under a name."""
        return os.path.exists(self.path(name))

    def size(self, name: str) -> int:
        """Return the bytes that a name's file has."""
        return os.path.getsize(self.path(name))

    def names(self, pattern: str) -> list[str]:
        """Return the names that match a pattern of the shell's, sorted."""
        found = glob.glob(pattern + ".arrays", root_dir=self.folder)
        return sorted(name.removesuffix(".arrays") for name in found if not name.startswith("."))

    def write(self, name: str, about: dict[str, Any] | None = None, /, **arrays: np.ndarray) -> None:
        """Keep arrays, and facts in JSON, under a name."""
        try:
            with atomic_write.appearing(self.path(name), self.lasting) as part:
                tensors.write(part, arrays, {_ABOUT: json.dumps(about or {})})
        except OSError as error:
            place = "`checkpoint`" if self.lasting else "`tmpdir`"
            raise DataError(self.folder, None, f"cannot be written: {error.strerror or error} (see {place})") from None
        self.written_bytes += sum(array.nbytes for array in arrays.values())

    @contextlib.contextmanager
    def _opened(self, name: str) -> Iterator[Any]:
        from safetensors import safe_open

        path = self.path(name)
        with explained(path), safe_open(path, framework="numpy") as file:
            yield file

    def about(self, name: str) -> dict[str, Any]:
        """Return the facts kept under a name."""
        with self._opened(name) as file:
            found: dict[str, Any] = json.loads((file.metadata() or {})[_ABOUT])
            return found

    def read(self, name: str, *keys: str) -> list[np.ndarray]:
        """Return arrays that are kept under a name, by their keys."""
        return list(self.read_all(name, *keys).values())

    def read_all(self, name: str, *keys: str) -> dict[str, np.ndarray]:
        """Return all arrays that are kept under a name, or those of some keys, by key."""
        with self._opened(name) as file:
            arrays = {key: file.get_tensor(key) for key in keys or file.keys()}
        self.read_bytes += sum(array.nbytes for array in arrays.values())
        return arrays

    def read_run(self, name: str, begin: int, end: int, *keys: str) -> list[np.ndarray]:
        """Return elements ``begin`` to ``end`` of arrays; the rest of the file is not read."""
        with self._opened(name) as file:
            slices = [file.get_slice(key) for key in keys]
            arrays = [a[begin:end] if begin < end else np.empty(0, tensors.TYPES[a.get_dtype()]) for a in slices]
        self.read_bytes += sum(array.nbytes for array in arrays)
        return arrays

    def clear(self) -> None:
        """Forget all, and what killed processes have left unfinished."""
        for pattern in ("*.arrays", ".*.arrays.*.part"):
            for name in glob.glob(pattern, root_dir=self.folder):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(os.path.join(self.folder, name))

    def remove(self, *names: str) -> None:
        """Delete entries; missing ones are ignored."""
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path(name))


@contextlib.contextmanager
def explained(path: str) -> Iterator[None]:
    """Turn what goes wrong while a file of a store is read into a `ModelError`."""
    from safetensors import SafetensorError

    try:
        yield
    except OSError as error:
        raise ModelError(path, None, f"cannot be read: {error.strerror or error}") from None
    except (SafetensorError, ValueError, KeyError) as error:
        raise ModelError(path, None, f"is damaged ({error}); remove the folder and begin anew") from None


@contextlib.contextmanager
def held(folder: str, *, ends: bool = False) -> Iterator[None]:
    """Hold a folder for this process alone while the block runs.

    ends: What is kept in it is done with after the block: the file that is locked goes, too.
    """
    path = os.path.join(folder, "lock")
    handle = _locked(folder, path)
    try:
        yield
        if ends:  # while it is locked: who waits for it finds that it is gone, and makes another
            with contextlib.suppress(OSError):
                os.unlink(path)
    finally:
        os.close(handle)


def _locked(folder: str, path: str) -> int:
    """Return the open file that is locked and is still the one in the folder."""
    for _ in range(_TRIES):
        try:
            os.makedirs(folder, exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise DataError(folder, None, f"cannot be made or written: {error.strerror or error}") from None
        try:
            system.lock(handle)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                os.close(handle)
                problem = "another run works in this folder; wait for it, or give another"
                raise DataError(folder, None, problem) from None
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(handle), os.stat(path)):
                return handle
        os.close(handle)
    raise DataError(folder, None, f"{os.path.basename(path)} keeps being removed; give another folder")


_PICKLE = "pickle"  # comes after numbers


def write_object(store: Store, name: str, thing: Any) -> None:
    """Keep an object that can be pickled under a name."""
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(thing, protocol=5, buffer_callback=buffers.append)
    arrays = {}
    for number, buffer in enumerate(buffers):
        array = np.frombuffer(buffer.raw(), np.uint8)
        arrays[f"{number:06d}"] = array
        if padding := -len(array) % tensors.ALIGNMENT:  # what comes next has its elements at places that they may have
            arrays[f"{number:06d}+"] = np.zeros(padding, np.uint8)
    store.write(name, {"buffers": len(buffers)}, **arrays, **{_PICKLE: np.frombuffer(data, np.uint8)})


def read_object(store: Store, name: str, shared: bool = False) -> Any:
    """Return an object that is kept under a name.

    shared: Have its arrays in memory that all processes of this machine share which read it so, until they write.
    """
    path = store.path(name)
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            data: Any
            if shared and size:
                data = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY)
            else:
                data = bytearray(size)
                file.readinto(data)
    except OSError as error:
        raise ModelError(path, None, f"cannot be read: {error.strerror or error}") from None
    store.read_bytes += size
    try:
        view = memoryview(data)
        begin = 8 + int.from_bytes(view[:8], "little")
        header = json.loads(bytes(view[8:begin]))

        def part(key: str) -> memoryview:
            first, last = header[key]["data_offsets"]
            return view[begin + first : begin + last]

        count = json.loads(header["__metadata__"]["about"])["buffers"]
        return pickle.loads(part(_PICKLE), buffers=[part(f"{number:06d}") for number in range(count)])
    except MemoryError:
        raise
    except Exception as error:  # what is pickled can go wrong in any way
        raise ModelError(path, None, f"is damaged ({error}); remove the folder and begin anew") from None


@dataclass(frozen=True)
class Kept:
    """An object in a store that many jobs need; it can be pickled, and is read once in each process."""

    store: Store
    name: str

    def get(self) -> Any:
        """Return the object, which all jobs of this process share."""
        return kept((self.store.folder, self.name), lambda: read_object(self.store, self.name, shared=True))

    def made(self, make: Callable[[Any], Any], version: Hashable) -> Any:
        """Return what ``make`` returns of the object, which is kept as long as the same version is asked for."""
        thing = self.get()
        return kept((self.store.folder, self.name, "made"), lambda: make(thing), version)
