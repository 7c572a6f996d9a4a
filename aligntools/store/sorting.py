"""Sorting more records than fit in memory: sorted runs are stored, on disk beyond a bound, then merged.

A record is a key (see `kernels_sorting`) that three zeros part and end, and two whole numbers, which are added where
keys are equal; so the result does not depend on how the records came to be spread over runs.
"""

import bisect
import errno
import functools
import mmap
import os
import tempfile
import threading
import weakref
from collections.abc import Iterable
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from aligntools.ground import system
from aligntools.ground.errors import DataError, ResourceError
from aligntools.store import tensors
from aligntools.store.stores import Store, explained

#: Bytes of an array that is read at once though parts would do.
_WHOLE = 4096


class _Stored:
    """An array in a file, from the byte ``at`` on, parts of which are read when they are asked for.

    The file is open, or a name that is opened each time. Not a memory map, which would bring in most of it.
    """

    def __init__(self, file: "BinaryIO | _Held | str", at: int, kind: np.dtype, shape: tuple[int, ...]) -> None:
        self._file, self._at, self._dtype, self._shape = file, at, kind, shape
        self.nbytes = kind.itemsize * int(np.prod(shape, dtype=np.int64))

    def __len__(self) -> int:
        return self._shape[0]

    def __getitem__(self, part: int | slice) -> Any:
        if not isinstance(part, slice):
            return self[int(part) : int(part) + 1][0]
        begin, end, _ = part.indices(len(self))
        found = np.empty((max(end - begin, 0), *self._shape[1:]), self._dtype)
        at = self._at + begin * (self.nbytes // max(len(self), 1))
        if isinstance(self._file, str):
            with open(self._file, "rb", buffering=0) as file:
                _fill(file, found, at)
        else:
            _fill(self._file, found, at)
        return found

    def write(self, array: np.ndarray) -> None:
        """Write the array to its place."""
        view, at, file = _bytes_of(np.ascontiguousarray(array)), self._at, self._file
        assert not isinstance(file, str)
        while view:
            count = system.write_at(file.fileno(), view, at)
            view, at = view[count:], at + count


def _fill(file: "BinaryIO | _Held", array: np.ndarray, at: int) -> None:
    """Fill an array with what a file has from a place on."""
    view = _bytes_of(array)
    while view:
        count = system.fill_at(file.fileno(), view, at)
        if not count:
            raise OSError(errno.EIO, "a temporary file is cut short")
        view, at = view[count:], at + count


class _Held:
    """A file that stays open for reading as long as somebody has this."""

    def __init__(self, path: str) -> None:
        self._handle = os.open(path, os.O_RDONLY | system.BINARY)

    def fileno(self) -> int:
        return self._handle

    def __del__(self) -> None:
        os.close(self._handle)


def stored_arrays(store: Store, name: str, *keys: str, held: bool = False) -> list["_Stored"]:
    """Return arrays that are kept under a name of a store; their parts (slices) are read when they are asked for."""
    path = store.path(name)
    with explained(path):
        places = tensors.places(path)
        file: _Held | str = _Held(path) if held else path
        return [_Stored(file, at, kind, shape) for kind, shape, at in (places[key] for key in keys)]


def _bytes_of(array: np.ndarray) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


class Spool:
    """Groups of arrays, kept in memory up to ``budget`` bytes, then in a file without a name, which no kill can leave.

    It is made when it is needed, in ``folder`` or the system's place; `close` (or the end of a ``with``) frees its
    room.
    """

    def __init__(self, budget: int, folder: str | None = None) -> None:
        self._budget, self._folder = budget, folder
        self._groups: list[list[_Stored] | tuple[np.ndarray, ...]] = []
        self._file: BinaryIO | None = None
        self._end = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._groups)

    @property
    def on_disk(self) -> int:
        """How many groups are in the file."""
        return sum(isinstance(group, list) for group in self._groups)

    def add(self, arrays: Iterable[np.ndarray]) -> int:
        """Store a group of arrays; return its number."""
        group = tuple(arrays)
        size = sum(array.nbytes for array in group)
        with self._lock:
            number = len(self._groups)
            if size <= self._budget:
                self._budget -= size
                self._groups.append(group)
                return number
            file, stored = self._opened(), []
            for array in group:
                stored.append(_Stored(file, self._end, array.dtype, array.shape))
                self._end += array.nbytes
            self._groups.append(stored)
        try:
            for place, array in zip(stored, group, strict=True):
                place.write(array)
        except OSError as error:
            raise DataError(self._place, None, f"cannot be written: {error.strerror or error} (see `tmpdir`)") from None
        return number

    def get(self, number: int, lazily: bool = False) -> tuple[_Stored | np.ndarray, ...]:
        """Return a group; ``lazily``: where it is on disk, its arrays' parts (slices) are read when asked for."""
        group = self._groups[number]
        if not isinstance(group, list):
            return group
        try:
            return tuple(stored if lazily and stored.nbytes > _WHOLE else stored[:] for stored in group)
        except OSError as error:
            raise DataError(self._place, None, f"cannot be read: {error.strerror or error}") from None

    @property
    def _place(self) -> str:
        return self._folder or tempfile.gettempdir()

    def _opened(self) -> BinaryIO:
        if self._file is None:
            try:
                self._file = tempfile.TemporaryFile(prefix="aligntools.", buffering=0, dir=self._folder)  # noqa: SIM115
            except OSError as error:
                problem = f"no temporary file can be made: {error.strerror or error} (see `tmpdir`)"
                raise DataError(self._place, None, problem) from None
        return self._file

    def close(self) -> None:
        """Forget everything and free its room."""
        self._groups = []
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> "Spool":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def sort_order(pool: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the order of distinct keys [shape=(keys,), dtype=int64]; ``pool`` has one more element at its end."""
    from aligntools.store import kernels_sorting

    order = np.empty(len(starts), np.int64)
    kernels_sorting.sort_keys(pool, starts, order, np.empty(len(starts), np.uint64), np.empty((256, 4), np.int64))
    return order


def sorted_run(
    pool: np.ndarray, starts: np.ndarray, weights: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a run of records, sorted: ``pool, starts, weights``, to be put into a `Spool`.

    pool (int32 [at least size + 1]), starts (int64 [records]), weights (int64 [records, 2]).
    """
    from aligntools.store import kernels_sorting

    order = sort_order(pool, starts)
    out, out_starts = np.empty(size, np.int32), np.empty(len(starts) + 1, np.int64)
    kernels_sorting.gather_keys(pool, starts, order, out, out_starts)
    return out, out_starts, weights[order]


def _group(run: tuple[np.ndarray, np.ndarray, np.ndarray], k: int) -> list[int]:
    """Return the first part of a record's key, by which the output is cut: up to its first zero."""
    pool, starts, _ = run
    begin, end = starts[k : k + 2].tolist()
    codes = pool[begin:end].tolist()
    return list(codes[: codes.index(0)])


def cuts(runs: list[tuple[np.ndarray, np.ndarray, np.ndarray]], shards: int) -> np.ndarray:
    """Cut sorted runs into shards of about equal size, none of which parts records with the same first key part.

    Returns int64 [shards + 1, runs]: where each shard begins in each run. Shards may be empty.
    """
    counts = [len(run[1]) - 1 for run in runs]
    samples = []
    for run, count in zip(runs, counts, strict=True):
        places = np.unique(np.linspace(0, max(count - 1, 0), 4 * shards + 1).astype(np.int64)).tolist() if count else []
        samples += [(_group(run, k), count / len(places)) for k in places]
    samples.sort(key=lambda sample: sample[0])
    reached = np.cumsum([size for _, size in samples])
    result = np.zeros((shards + 1, len(runs)), np.int64)
    result[shards] = counts
    for shard in range(1, shards if samples else 1):
        bound = samples[int(np.searchsorted(reached, shard * reached[-1] / shards))][0]
        for r, run in enumerate(runs):
            result[shard, r] = bisect.bisect_left(range(counts[r]), bound, key=functools.partial(_group, run))
    return result


def merged(
    runs: list[tuple[np.ndarray, np.ndarray, np.ndarray]], begins: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Merge the records ``begins:ends`` of each sorted run (int64 [runs]); see `cuts`.

    Returns pool (int32), where distinct keys are in it, sorted (int64 [records]), and sums (int64 [records, 2]).
    """
    from aligntools.store import kernels_sorting

    pools, starts, weights, sizes, base = [], [], [], [], 0
    for (pool, at, weight), begin, end in zip(runs, begins.tolist(), ends.tolist(), strict=True):
        if begin == end:
            continue
        first, last = int(at[begin]), int(at[end])
        pools.append(np.asarray(pool[first:last]))
        starts.append(np.asarray(at[begin:end]) - (first - base))
        weights.append(np.asarray(weight[begin:end]))
        sizes.append(end - begin)
        base += last - first
    if not sizes:
        return np.empty(0, np.int32), np.empty(0, np.int64), np.empty((0, 2), np.int64)
    pool, all_starts, all_weights = np.concatenate(pools), np.concatenate(starts), np.concatenate(weights)
    if len(sizes) == 1:
        return pool, all_starts, all_weights
    picks, sums = np.empty(len(all_starts), np.int64), np.empty((len(all_starts), 2), np.int64)
    runs_at = np.concatenate([[0], np.cumsum(sizes)])
    heads, heap = np.empty(len(sizes), np.int64), np.empty(len(sizes), np.int64)
    count = kernels_sorting.merge_runs(pool, all_starts, all_weights, runs_at, heads, heap, picks, sums)
    return pool, all_starts[picks[:count]], sums[:count]


class ArrayStore:
    """Allocates arrays; from the bound on they are mapped from files, which the system writes and reads as needed.

    Nothing is left behind: a file is removed as soon as it is open, its space freed with the array.
    """

    def __init__(self, limit: int, folder: str | None = None) -> None:
        self.limit, self.folder, self.spilled = int(limit), folder, 0
        self._held, self._lock = 0, threading.Lock()
        self._maps: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()

    def __reduce__(self) -> tuple[type["ArrayStore"], tuple[int, str | None]]:
        return ArrayStore, (self.limit, self.folder)  # arrays are pickled by themselves, as plain ones

    def empty(self, shape: int | tuple[int, ...], kind: npt.DTypeLike = np.uint32) -> np.ndarray:
        """Return an array of any contents."""
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

    def _release(self, size: int) -> None:
        with self._lock:
            self._held -= size

    def relieve(self) -> None:
        """Let go of the memory that arrays in files have taken while they were worked on; their contents stay."""
        if not hasattr(mmap, "MADV_DONTNEED"):
            return
        with self._lock:
            maps = list(self._maps)
        for mapped in maps:
            mapped.madvise(mmap.MADV_DONTNEED)
