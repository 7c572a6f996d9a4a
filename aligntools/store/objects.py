"""Objects of any kind in a `Store`: pickled, with their arrays apart, so that processes can share these in memory."""

import json
import mmap
import os
import pickle
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.ground.errors import ModelError
from aligntools.ground.kept import kept
from aligntools.store import tensors
from aligntools.store.stores import Store

_PICKLE = "pickle"  # comes after numbers


def write_object(store: Store, name: str, thing: Any) -> None:
    """Keep an object that can be pickled under a name.

    Raises DataError when the disk is full, or the folder cannot be written.
    """
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

    shared: Have its arrays in memory that all processes of this machine share which read it so. They can be written:
        what is written, this process has for itself.
    Raises ModelError when there is nothing, or it is damaged.
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
