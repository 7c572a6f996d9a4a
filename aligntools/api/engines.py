"""Where the jobs of long work are done: in this process, in several, or on a cluster."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from aligntools.ground.engines import Advice
from aligntools.ground.errors import DataError, UsageProblem

if TYPE_CHECKING:
    from aligntools.api.sentences import PathLike
    from aligntools.formats.block_maps import BlockMap
    from aligntools.ground.engines import Engine
    from aligntools.ground.parallel import Pool

_ADVICE = Advice()


class Where(TypedDict, total=False):
    """Arguments of functions that can do their work in workers.

    Attributes
    ----------
    workers : int or None
        Processes on this machine; None works in this one.
    cluster, cluster_file : str or None
        A Dask scheduler's address, or the file that it wrote.
    tmpdir : path or None
        Folder for temporary files, which a cluster's workers have to see; None: the system's.
    """

    workers: int | None
    cluster: str | None
    cluster_file: "PathLike | None"
    tmpdir: "PathLike | None"


@dataclass(frozen=True)
class Engines:
    """What does the jobs, as options of commands and arguments of functions have it.

    Attributes
    ----------
    workers : int or None
        Processes on this machine; None works in this one.
    cluster, cluster_file : str or None
        A Dask scheduler's address, or the file that it wrote.
    max_memory : int or None
        Bytes, of all processes together.
    """

    workers: int | None = None
    cluster: str | None = None
    cluster_file: "PathLike | None" = None
    max_memory: int | None = None

    @property
    def remote(self) -> bool:
        """Whether a cluster does it."""
        return self.cluster is not None or self.cluster_file is not None

    @property
    def asked(self) -> bool:
        """Whether other processes do it."""
        return self.workers is not None or self.remote

    def check(self) -> None:
        """Refuse what excludes each other.

        Raises
        ------
        UsageProblem
        """
        if self.workers is not None:
            from aligntools.ground.ranges import WORKERS

            WORKERS.check("workers", self.workers)
            if self.remote:
                raise UsageProblem("--workers are processes on this machine; a cluster has its own")

    @contextlib.contextmanager
    def opened(
        self, pool: "Pool", folder: str, files: "Sequence[PathLike]" = (), *, each: int = 0, advice: Advice = _ADVICE
    ) -> "Iterator[Engine]":
        """Start what does the jobs; it ends with the block.

        Parameters
        ----------
        pool : Pool
            Of this process; worker processes share the number of its threads.
        folder : str
            That the jobs read and write. All workers of a cluster have to see it.
        files : sequence of str
            That they read beside it, by absolute names.
        each : int
            Bytes that a process needs for a job, beside what it always needs.
        advice : Advice
            What a user can do where something ends.

        Raises
        ------
        UsageProblem, DataError, ResourceError, ClusterError
        """
        self.check()
        engine = self._open(pool, folder, files, each, advice)
        try:
            yield engine
        finally:
            engine.close()

    def _open(self, pool: "Pool", folder: str, files: "Sequence[PathLike]", each: int, advice: Advice) -> "Engine":
        from aligntools.ground import memory

        if self.remote:
            from aligntools.ground.cluster import Cluster

            file = None if self.cluster_file is None else os.fspath(self.cluster_file)
            cluster = Cluster(self.cluster, file, advice=advice)
            try:
                cluster.check_folder(folder)
                cluster.check_files(files)
            except BaseException:
                cluster.close()
                raise
            return cluster
        memory.check_workers(self.max_memory, self.workers or 0, each, advice.smaller)
        if self.workers is None:
            from aligntools.ground.engines import Serial

            return Serial(pool)
        from aligntools.ground.processes import Processes

        limit = None if self.max_memory is None else self.max_memory // (self.workers + 1)
        return Processes(self.workers, max(1, pool.threads // self.workers), limit)


def check_tmpdir(tmpdir: "PathLike | None") -> None:
    """Refuse a place for temporary files that is no folder.

    Raises
    ------
    UsageProblem
    """
    if tmpdir is not None and not os.path.isdir(tmpdir):
        raise UsageProblem(f"--tmpdir: {os.fspath(tmpdir)} is not a directory")


@contextlib.contextmanager
def temporary_folder(tmpdir: "PathLike | None") -> Iterator[str]:
    """Make a folder for the files of jobs, in ``tmpdir`` or where the system has such; remove it after the block.

    Raises
    ------
    DataError
        When it cannot be made.
    """
    where = os.fspath(tmpdir) if tmpdir is not None else tempfile.gettempdir()
    try:
        folder = tempfile.mkdtemp(prefix="aligntools.", dir=os.path.abspath(where))
    except OSError as error:
        raise DataError(where, None, f"no temporary folder: {error.strerror or error} (see --tmpdir)") from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def mapping(engines: Engines, tmpdir: "PathLike | None", pool: "Pool") -> "Iterator[BlockMap]":
    """Start what does jobs over the blocks of a text, with a folder for them; both end with the block.

    Parameters
    ----------
    engines : Engines
    tmpdir : path or None
        Where the folder is made.
    pool : Pool
        Of this process; worker processes share the number of its threads.
    """
    from aligntools.formats.block_maps import BlockMap
    from aligntools.formats.stores import Store

    check_tmpdir(tmpdir)
    with temporary_folder(tmpdir) as folder, engines.opened(pool, folder) as engine:
        yield BlockMap(engine, Store(folder))


def engines_of(where: Where) -> Engines:
    """Return what does the jobs, as a function's arguments have it."""
    engines = Engines(where.get("workers"), where.get("cluster"), where.get("cluster_file"))
    engines.check()
    check_tmpdir(where.get("tmpdir"))
    return engines


def mapping_of(where: Where, pool: "Pool") -> "contextlib.AbstractContextManager[BlockMap | None]":
    """Return `mapping` as a function's arguments have it; of None where the work stays in this process."""
    engines = engines_of(where)
    return mapping(engines, where.get("tmpdir"), pool) if engines.asked else contextlib.nullcontext()
