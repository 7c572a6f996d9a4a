"""Where the jobs of long work are done: in this process, in several, or on a cluster."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from aligntools.ground.engines import Advice, Engine, Serial
from aligntools.ground.errors import DataError
from aligntools.ground.parallel import Pool
from aligntools.ground.run import Run
from aligntools.store.stores import Kept, Store, read_object, write_object

_ADVICE = Advice()


@contextlib.contextmanager
def opened(
    run: Run,
    pool: Pool,
    folder: str,
    files: Sequence[str | os.PathLike[str]] = (),
    *,
    each: int = 0,
    advice: Advice = _ADVICE,
) -> Iterator[Engine]:
    """Start the engine that runs jobs, until the block ends. All workers of a cluster must see the folder and the
    files.

    each: Bytes that a process needs for a job, besides what it always needs.
    """
    engine: Engine
    if run.cluster is not None:
        from aligntools.ground.cluster import Cluster

        with contextlib.closing(Cluster(run.cluster, advice=advice)) as cluster:
            cluster.check_folder(folder)
            cluster.check_files(files)
            yield cluster
        return
    from aligntools.ground import memory

    memory.check_workers(run.memory, run.workers or 0, each, advice.smaller)
    engine = Serial(pool)
    if run.workers is not None:
        from aligntools.ground.processes import Processes

        limit = None if run.memory is None else run.memory // (run.workers + 1)
        engine = Processes(run.workers, max(1, pool.threads // run.workers), limit)
    with contextlib.closing(engine):
        yield engine


@contextlib.contextmanager
def temporary_folder(tmpdir: str | os.PathLike[str] | None) -> Iterator[str]:
    """Make a folder for the files of jobs, in ``tmpdir`` or where the system has such; remove it after the block."""
    where = os.fspath(tmpdir) if tmpdir is not None else tempfile.gettempdir()
    try:
        folder = tempfile.mkdtemp(prefix="aligntools.", dir=os.path.abspath(where))
    except OSError as error:
        raise DataError(where, None, f"no temporary folder: {error.strerror or error} (see `tmpdir`)") from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def mapping(run: Run, pool: Pool) -> "Iterator[BlockMap]":
    """Start what does jobs over the blocks of a text, with a folder for them; both end with the block."""
    with temporary_folder(run.tmpdir) as folder, opened(run, pool, folder) as engine:
        yield BlockMap(engine, Store(folder))


def mapping_if_asked(run: Run, pool: Pool) -> "contextlib.AbstractContextManager[BlockMap | None]":
    """Return `mapping`; of None where the work stays in this process."""
    return mapping(run, pool) if run.asked else contextlib.nullcontext()


# A window of blocks is written, worked on and read, then the next one: disk and memory are bounded whatever the text's
# length, and output begins before the input ends.

_Block = TypeVar("_Block")
_Result = TypeVar("_Result")

#: Blocks of a window, for all workers and for each.
WINDOW, EACH = 64, 16


class BlockMap:
    """Maps blocks through an engine's workers."""

    def __init__(self, engine: Engine, store: Store) -> None:
        self.store, self._engine, self._names = store, engine, 0

    @property
    def workers(self) -> int:
        """How many jobs run at a time."""
        return self._engine.workers

    def _name(self, what: str) -> str:
        self._names += 1
        return f"{what}.{self._names:06d}"

    def keep(self, thing: Any) -> Kept:
        """Return a thing that jobs share, such as a model, as they can be given it."""
        kept = Kept(self.store, self._name("kept"))
        write_object(self.store, kept.name, thing)
        return kept

    def run(
        self, stage: str, function: Callable[[_Block, Pool], _Result], blocks: Iterable[_Block]
    ) -> Iterator[_Result]:
        """Yield ``function(block, pool)`` of each block, in order; an error comes after the results before it.

        The function, blocks and results can be pickled. As many blocks are asked for as are worked on together.
        """
        own, waiting, first, size = self._name("map"), iter(blocks), 0, self._engine.workers
        while True:
            count, failed = 0, None
            try:
                for block in islice(waiting, size):
                    write_object(self.store, _file(own, first + count, "block"), block)
                    count += 1
            except Exception as error:
                failed = error
            numbers = range(first, first + count)
            try:
                self._engine.run(stage, partial(_work, self.store, own, function), numbers, lambda: None)
            except Exception as error:
                failed = error
            self.store.remove(*(_file(own, number, "block") for number in numbers))
            for number in numbers:
                if not self.store.has(_file(own, number, "result")):
                    break
                yield read_object(self.store, _file(own, number, "result"))
                self.store.remove(_file(own, number, "result"))
            if failed is not None:
                raise failed
            if count < size:
                return
            first += count
            size = min(2 * size, max(WINDOW, EACH * self._engine.workers))


def _file(own: str, number: int, what: str) -> str:
    return f"{own}.{number:09d}.{what}"


def _work(store: Store, own: str, function: Callable[[Any, Pool], Any], number: int, pool: Pool) -> None:
    """Do a block's job."""
    result = _file(own, number, "result")
    if not store.has(result):
        write_object(store, result, function(read_object(store, _file(own, number, "block")), pool))
