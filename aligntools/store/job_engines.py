"""Where the jobs of long work are done: in this process, in several, or on a cluster."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from aligntools.ground.engines import Advice
from aligntools.ground.errors import DataError
from aligntools.ground.run import Run

if TYPE_CHECKING:
    from aligntools.ground.engines import Engine
    from aligntools.ground.parallel import Pool
    from aligntools.store.block_maps import BlockMap as BlockMap

_ADVICE = Advice()


@contextlib.contextmanager
def opened(
    run: Run,
    pool: "Pool",
    folder: str,
    files: Sequence[str | os.PathLike[str]] = (),
    *,
    each: int = 0,
    advice: Advice = _ADVICE,
) -> "Iterator[Engine]":
    """Start what does the jobs; it ends with the block.

    pool: Of this process; worker processes share the number of its threads.
    folder: That the jobs read and write. All workers of a cluster have to see it.
    files: That they also read, by absolute names.
    each: Bytes that a process needs for a job, besides what it always needs.
    advice: What a user can do where something ends.
    """
    engine = _open(run, pool, folder, files, each, advice)
    try:
        yield engine
    finally:
        engine.close()


def _open(
    run: Run, pool: "Pool", folder: str, files: Sequence[str | os.PathLike[str]], each: int, advice: Advice
) -> "Engine":
    from aligntools.ground import memory

    if run.cluster is not None:
        from aligntools.ground.cluster import Cluster

        cluster = Cluster(run.cluster, advice=advice)
        try:
            cluster.check_folder(folder)
            cluster.check_files(files)
        except BaseException:
            cluster.close()
            raise
        return cluster
    memory.check_workers(run.memory, run.workers or 0, each, advice.smaller)
    if run.workers is None:
        from aligntools.ground.engines import Serial

        return Serial(pool)
    from aligntools.ground.processes import Processes

    limit = None if run.memory is None else run.memory // (run.workers + 1)
    return Processes(run.workers, max(1, pool.threads // run.workers), limit)


@contextlib.contextmanager
def temporary_folder(tmpdir: str | os.PathLike[str] | None) -> Iterator[str]:
    """Make a folder for the files of jobs, in ``tmpdir`` or where the system has such; remove it after the block.

    Raises DataError when it cannot be made.
    """
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
def mapping(run: Run, pool: "Pool") -> "Iterator[BlockMap]":
    """Start what does jobs over the blocks of a text, with a folder for them; both end with the block.

    pool: Of this process; worker processes share the number of its threads.
    """
    from aligntools.store.block_maps import BlockMap
    from aligntools.store.stores import Store

    with temporary_folder(run.tmpdir) as folder, opened(run, pool, folder) as engine:
        yield BlockMap(engine, Store(folder))


def mapping_if_asked(run: Run, pool: "Pool") -> "contextlib.AbstractContextManager[BlockMap | None]":
    """Return `mapping`; of None where the work stays in this process."""
    return mapping(run, pool) if run.asked else contextlib.nullcontext()
