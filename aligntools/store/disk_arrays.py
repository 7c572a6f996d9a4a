"""Large arrays that live in memory up to a bound and in temporary files beyond it."""

import mmap
import os
import tempfile
import threading
import weakref

import numpy as np
import numpy.typing as npt

from aligntools.ground.errors import ResourceError


class ArrayStore:
    """Allocates arrays; from the bound on they are mapped from files, which the system writes and reads as needed.

    Nothing is left behind: a file is removed as soon as it is open, its space freed with the array.

    limit: Bytes of arrays in memory.
    folder: Where the files go; the system's folder for temporary files if not given.
    spilled: Bytes that went to files.
    """

    def __init__(self, limit: int, folder: str | None = None) -> None:
        self.limit, self.folder, self.spilled = int(limit), folder, 0
        self._held, self._lock = 0, threading.Lock()
        self._maps: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()

    def __reduce__(
        self,
    ) -> tuple[type["ArrayStore"], tuple[int, str | None]]:  # arrays are pickled by themselves, as plain ones
        return ArrayStore, (self.limit, self.folder)

    def empty(self, shape: int | tuple[int, ...], kind: npt.DTypeLike = np.uint32) -> np.ndarray:
        """Return an array of any contents.

        Raises ResourceError when no file of that size can be made.
        """
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(kind).itemsize
        with self._lock:
            fits = self._held + size <= self.limit
            if fits:
                self._held += size
            else:
                self.spilled += size
        if fits:
            array = np.empty(shape, kind)
            weakref.finalize(array, self._release, size)
            return array
        return self._mapped(shape, kind, size)

    def _release(self, size: int) -> None:
        with self._lock:
            self._held -= size

    def _mapped(self, shape: int | tuple[int, ...], kind: npt.DTypeLike, size: int) -> np.ndarray:
        folder = self.folder or tempfile.gettempdir()
        if not size:
            return np.empty(shape, kind)
        try:
            with tempfile.TemporaryFile(prefix="aligntools.", dir=folder) as file:
                if hasattr(os, "posix_fallocate"):  # now: a disk that fills up later would end the program
                    os.posix_fallocate(file.fileno(), 0, size)
                else:
                    os.ftruncate(file.fileno(), size)
                mapped = mmap.mmap(file.fileno(), size)
        except OSError as error:
            raise ResourceError(
                f"{folder}: no room for a temporary file of {(size >> 20) + 1}M ({error.strerror or error});"
                " name another folder with `tmpdir`, or raise `max_memory`"
            ) from None
        with self._lock:
            self._maps.add(mapped)
        return np.frombuffer(mapped, kind).reshape(shape)

    def relieve(self) -> None:
        """Let go of the memory that arrays in files have taken while they were worked on; their contents stay."""
        if not hasattr(mmap, "MADV_DONTNEED"):
            return
        with self._lock:
            maps = list(self._maps)
        for mapped in maps:
            mapped.madvise(mmap.MADV_DONTNEED)
