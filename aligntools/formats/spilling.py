"""Large arrays that live in memory up to a bound and in temporary files beyond it."""

import os
import tempfile
import threading
import weakref

import numpy as np

from aligntools.errors import ResourceError


class Store:
    """Allocates arrays; from the bound on they are mapped from files, which the system writes and reads as needed.

    Nothing is left behind: a file is removed as soon as it is open, its space freed with the array.

    Parameters
    ----------
    limit : int
        Bytes of arrays in memory.
    folder : str, optional
        Where the files go; the system's folder for temporary files unless given.

    Attributes
    ----------
    spilled : int
        Bytes that went to files.
    """

    def __init__(self, limit, folder=None):
        self.limit, self.folder, self.spilled = int(limit), folder, 0
        self._held, self._lock = 0, threading.Lock()

    def empty(self, shape, kind=np.uint32) -> np.ndarray:
        """Return an array of any contents.

        Raises
        ------
        ResourceError
            When no file of that size can be made.
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

    def _release(self, size):
        with self._lock:
            self._held -= size

    def _mapped(self, shape, kind, size):
        folder = self.folder or tempfile.gettempdir()
        try:
            with tempfile.TemporaryFile(prefix="aligntools.", dir=folder) as file:
                # room is taken now: a disk that fills up later would end the program without a word
                if size and hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, size)
                return np.asarray(np.memmap(file, kind, "w+", shape=shape)) if size else np.empty(shape, kind)
        except OSError as error:
            raise ResourceError(
                f"{folder}: no room for a temporary file of {(size >> 20) + 1}M ({error.strerror or error});"
                " name another folder with --tmpdir, or raise --max-memory"
            ) from None
