"""Jobs on a Dask cluster, whatever started it. Dask is imported here alone, where a cluster is asked for."""

import contextlib
import functools
import hashlib
import itertools
import json
import logging
import os
import platform
import queue
import re
import tempfile
import threading
import uuid
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import aligntools
from aligntools.ground import engines, memory, system
from aligntools.ground.engines import Advice, JobFunction, Work
from aligntools.ground.errors import AligntoolsError, ClusterError, DataError, UsageProblem
from aligntools.ground.numba_settings import portable
from aligntools.ground.parallel import Pool
from aligntools.ground.ranges import shown
from aligntools.ground.worker import portable_error

#: Seconds to reach the scheduler, and until a worker is there.
CONNECT, APPEAR = 30.0, 60.0
#: Characters of a scheduler's file that are read, and of another program's reason that are shown.
MOST, LONGEST = 1 << 20, 200
#: Seconds between two looks for workers that have come.
LOOK = 2.0
_ADVICE = Advice()
log = logging.getLogger("aligntools.cluster")


@functools.cache
def _dask() -> Any:
    """Import ``distributed``, or say how to install it."""
    try:
        import distributed
    except ImportError as error:
        if error.name not in ("distributed", "dask"):
            raise
        raise UsageProblem("a cluster needs Dask: pip install 'aligntools[cluster]'") from error
    return distributed


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Have Dask log nothing in the block; what matters is raised."""
    names = [n for n in logging.root.manager.loggerDict if n.split(".")[0] in ("distributed", "tornado", "asyncio")]
    loggers = [logging.getLogger(name) for name in ("distributed", "tornado", "asyncio", *names)]
    before = [(logger, logger.disabled) for logger in dict.fromkeys(loggers)]
    for logger, _ in before:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, disabled in before:
            logger.disabled = disabled


@functools.cache
def _sources() -> str:
    """Return a digest of the package's sources: versions in development differ without a number that does."""
    root, digest = Path(aligntools.__file__).parent, hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def _versions() -> dict[str, str]:
    """Return what has to be the same everywhere for the bytes to be."""
    found = {"python": platform.python_version()}
    found |= {name: metadata.version(name) for name in ("numpy", "numba", "distributed")}
    found["aligntools"] = f"{aligntools.__version__} (sources {_sources()})"
    found["ALIGNTOOLS_PORTABLE"] = "on" if portable() else "off"
    return found


# What workers are asked; one that is not fit for the work raises what the user is told. Dask's own means do not replace
# it. Its check of versions only warns, and knows Dask's libraries and NumPy, but neither Numba nor sources. A plugin
# whose setup fails at a worker that comes later is logged there, and the worker takes jobs all the same; and plugins
# stay with the scheduler, for other clients too. `Client.upload_file` puts sources beside a package that is installed:
# versions of libraries stay different, and the file is left there. `performance_report` writes a page of all that the
# scheduler does, with Bokeh, where users are told how far their work is. `Client(scheduler_file=...)` waits without end
# for a file that is not there.


def _check_versions(wanted: dict[str, str], dask_worker: Any) -> str:
    """Return the worker's kind of CPU."""
    for name, version in _versions().items():
        if version != wanted[name]:
            raise ClusterError(
                f"{name} is {wanted[name]} here and {version} at the worker {dask_worker.address}: they have to be the "
                "same everywhere"
            )
    found = re.search(r"^(model name|CPU part)\s*:\s*(.*)$", system.text_of("/proc/cpuinfo"), re.M)
    return found[2] if found else platform.machine()


def _check_folder(folder: str, token: str, named: str, dask_worker: Any) -> None:
    try:
        Path(folder, token).read_bytes()
        tempfile.TemporaryFile(dir=folder).close()
        return
    except FileNotFoundError:
        problem = "is another folder there" if os.path.isdir(folder) else "is not there"
    except OSError as error:
        problem = f"cannot be read and written ({error.strerror})"
    where = f"for the worker {dask_worker.address} (give {named} a folder that all workers see)"
    raise DataError(folder, None, f"{problem} {where}")


def _check_files(sizes: Sequence[tuple[str, int]], dask_worker: Any) -> None:
    for path, size in sizes:
        try:
            with open(path, "rb") as file:
                found = os.fstat(file.fileno()).st_size
            problem = f"is another file there ({found} bytes, here {size})" if found != size else ""
        except OSError as error:
            problem = f"cannot be read ({error.strerror})"
        if problem:
            where = f"for the worker {dask_worker.address} (put input into a folder that all workers see)"
            raise DataError(path, None, f"{problem} {where}")


#: Returns the threads of this worker's jobs, by their number.
_pool = functools.cache(Pool)


@functools.cache
def _turn(_worker: str) -> threading.Lock:
    """Return what lets a worker do one job at a time, which has all of its threads and its memory."""
    return threading.Lock()


#: Set in a process that leads. Workers that are its threads leave its bound on memory as it is.
_leads = threading.Event()


def _do(function: JobFunction, job: Any) -> None:
    worker = _dask().get_worker()
    bound = None if _leads.is_set() else worker.memory_manager.memory_limit
    with _turn(worker.address):
        failed = None
        try:
            with memory.bounded(int(memory.SHARE * bound), asked=False) if bound else contextlib.nullcontext():
                function(job, _pool(worker.state.nthreads))
        except Exception as error:
            failed = portable_error(error)
    if failed is not None:
        raise failed  # out of the block above: Dask would send also what cannot be sent, as its context


class Cluster:
    """Runs jobs on the workers of a Dask scheduler: one at a time on each, with its threads and its memory."""

    def __init__(self, scheduler: str | os.PathLike[str], *, wait: float = APPEAR, advice: Advice = _ADVICE) -> None:
        distributed = _dask()
        self.workers, self._alone, self._advice = 1, False, advice
        _leads.set()
        self._known: set[str] = set()
        self._refused: set[str] = set()
        self._cpus: dict[str, str] = {}
        self._checks: list[Callable[[Collection[str]], Any]] = []
        self._open = contextlib.ExitStack()
        self._open.enter_context(_silent())
        try:
            is_file = not isinstance(scheduler, str) or ":" not in scheduler or os.path.exists(scheduler)
            self.address = str(scheduler)
            if is_file:
                path = os.fspath(scheduler)
                try:
                    with open(path, encoding="utf-8") as file:  # one that never ends, like a device, is not it
                        self.address = str(json.loads(file.read(MOST))["address"])
                except FileNotFoundError as error:
                    problem = "is not there; `dask scheduler` writes it, as its scheduler file"
                    raise DataError(path, None, problem) from error
                except (ValueError, KeyError, TypeError) as error:
                    raise DataError(path, None, "is not the file of a Dask scheduler (JSON with an address)") from error
            self._client = self._connect(distributed)
            self._open.callback(self._client.close, timeout=5)
            try:
                self._client.wait_for_workers(1, timeout=wait)
            except TimeoutError as error:
                raise ClusterError(
                    f"the Dask scheduler at {self.address} has no workers, also after {wait:.0f} s: start some with "
                    f"`dask worker {self.address}`"
                ) from error
            self._known = set(self._addresses())
            self._check(self._check_versions)
        except BaseException:
            self.close()
            raise

    def _connect(self, distributed: Any) -> Any:
        try:
            # A client of no address waits for a minute when it is thrown away, and then has a traceback.
            if not self.address.startswith("inproc://"):
                distributed.comm.get_address_host_port(self.address)
            with warnings.catch_warnings(action="ignore"):  # Dask's own of versions; ours are more strict
                return distributed.Client(self.address, timeout=CONNECT, set_as_default=False, name="aligntools")
        except (OSError, ValueError, TimeoutError) as error:
            late = isinstance(error, TimeoutError) or "timed out" in str(error).lower()
            reason = f"nothing answered within {CONNECT:.0f} s" if late else _first_line(error)
            raise ClusterError(
                f"no Dask scheduler at {shown(self.address)}: {reason[:LONGEST]} (`cluster` is the address"
                " that `dask scheduler` prints, or the scheduler file that it writes)"
            ) from error

    def _check_versions(self, workers: Collection[str]) -> None:
        kinds = len(self._cpus)
        for worker, cpu in self._ask(workers, _check_versions, _versions()).items():
            self._cpus.setdefault(cpu, worker)
        if len(self._cpus) > max(kinds, 1) and not portable():
            log.warning(
                "workers have different CPUs (%s), which round differently: another run may give a few other links; "
                "with ALIGNTOOLS_PORTABLE=1 here and at the workers it does not",
                ", ".join(f"{cpu} at {worker}" for cpu, worker in self._cpus.items()),
            )

    def _ask(self, workers: Collection[str], function: Callable[..., Any], *args: Any) -> dict[str, Any]:
        """Call a function at workers; return the answers by their addresses, or raise what the first one raised."""
        try:
            answers = self._client.run(function, *args, workers=sorted(workers), on_error="return")
        except (OSError, TimeoutError, RuntimeError) as error:
            raise self._lost(error) from error
        for worker, answer in sorted(answers.items()):
            if isinstance(answer, AligntoolsError):
                raise answer
            if isinstance(answer, ImportError):
                raise ClusterError(f"the worker {worker} has no aligntools that can be used: {_first_line(answer)}")
            if isinstance(answer, Exception):
                raise ClusterError(f"the worker {worker} cannot do the work: {_first_line(answer)}")
        return dict(sorted(answers.items()))

    def _addresses(self) -> list[str]:
        try:
            found = list(self._client.nthreads())
        except (OSError, TimeoutError, RuntimeError) as error:
            raise self._lost(error) from error
        self.workers = max(1, len(found))
        return found

    def check_folder(self, folder: str | os.PathLike[str]) -> None:
        """See that every worker reads and writes the folder that this process does."""
        path = os.path.abspath(folder)

        def check(workers: Collection[str]) -> None:
            token = Path(path, f".aligntools-{uuid.uuid4().hex}")
            token.write_text("seen", encoding="utf-8")
            try:
                self._ask(workers, _check_folder, path, token.name, self._advice.folder)
            finally:
                token.unlink(missing_ok=True)

        self._check(check)

    def check_files(self, paths: Sequence[str | os.PathLike[str]]) -> None:
        """See that every worker reads the same files as this process."""
        sizes = [(os.path.abspath(path), os.stat(path).st_size) for path in paths]
        self._check(lambda workers: self._ask(workers, _check_files, sizes))

    def _check(self, check: Callable[[Collection[str]], Any]) -> None:
        """Check the workers that there are, and later those that come."""
        check(self._known)
        self._checks.append(check)

    def _admit(self, workers: Collection[str]) -> None:
        """Check workers that have come since; what is wrong with one is said, and it gets no jobs."""
        for worker in workers:
            self._known.add(worker)
            try:
                for check in self._checks:
                    check([worker])
            except (ClusterError, DataError) as error:
                self._refused.add(worker)
                log.warning("the worker %s joined and is not used: %s", worker, error)

    def run(self, stage: str, function: JobFunction, jobs: Sequence[Any], done: Callable[[], None]) -> None:
        """Call the function for every job, at any worker; raise what the first job that failed raised."""
        work = Work(stage, jobs)
        name = f"{re.sub(r'[^a-zA-Z0-9_.]+', '_', stage).strip('_') or 'jobs'}-{uuid.uuid4().hex[:8]}"
        running: dict[Any, tuple[int, str]] = {}  # the job's number and worker, by its future
        ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        keys = itertools.count()
        try:
            while True:
                workers = self._look(work, running)
                for worker in workers - {worker for _, worker in running.values()}:
                    if (number := work.next()) is None:
                        break
                    call = functools.partial(_do, function, jobs[number])
                    future = self._client.submit(call, key=f"{name}-{next(keys)}", workers=[worker], pure=False)
                    running[future] = number, worker
                    future.add_done_callback(ended.put)
                if not work.left and not any(work.wanted(number) for number, _ in running.values()):
                    break
                with contextlib.suppress(queue.Empty):
                    self._take(work, running, ended.get(timeout=LOOK), done)
        finally:
            if running:
                self._cancel(list(running))
        work.check()

    def _look(self, work: Work, running: dict[Any, tuple[int, str]]) -> set[str]:
        """Return the workers as they are now; put back lost jobs, which Dask would give out behind others."""
        self._see_connected()
        workers = set(self._addresses())
        self._admit(workers - self._known)
        workers -= self._refused
        if not workers and not self._alone:
            log.warning("%s has no workers left: waiting for new ones", self.address)
        self._alone = not workers
        for future, (number, worker) in list(running.items()):
            if worker not in workers and future.status == "pending":
                del running[future]
                self._cancel([future])
                work.lost(number, f"at {worker}", self._advice.more)
        return workers

    def _take(self, work: Work, running: dict[Any, tuple[int, str]], future: Any, done: Callable[[], None]) -> None:
        """Act on a job's end. Dask is to forget it then: it would do it again where its worker ends later."""
        number, worker = running.pop(future, (None, ""))
        if number is None:
            return  # put back, and cancelled
        status = future.status
        if status == "finished":
            done()
        elif status == "error":
            error = future.exception()
            if isinstance(error, _dask().scheduler.KilledWorker):
                work.lost(number, f"at {error.last_worker.address}", self._advice.more)
            else:
                work.failed[number] = error
        else:
            self._see_connected()
            work.lost(number, f"at {worker}", self._advice.more)
        future.release()

    def _see_connected(self) -> None:
        """Wait while Dask tries to reach the scheduler again, for as long as to reach it at first."""
        while self._client.status == "connecting":
            threading.Event().wait(0.1)
        if self._client.status != "running":
            raise self._lost()

    def _cancel(self, futures: Sequence[Any]) -> None:
        with contextlib.suppress(Exception):  # the scheduler may be gone
            if self._client.status == "running":
                self._client.cancel(futures, force=True)

    def _lost(self, error: BaseException | None = None) -> ClusterError:
        reason = f" ({_first_line(error)})" if error is not None and str(error) else ""
        return ClusterError(f"the Dask scheduler at {self.address} is lost{reason}: {self._advice.lost}")

    def close(self) -> None:
        """Leave the cluster as it is, without this client and what its jobs have kept."""
        with contextlib.suppress(Exception):
            if self._client.status == "running":

                def forget() -> None:
                    with contextlib.suppress(Exception):
                        self._client.run(engines.forget, on_error="ignore")

                asking = threading.Thread(target=forget, daemon=True)
                asking.start()
                asking.join(LOOK)  # a worker that does not answer holds up nobody
        with contextlib.suppress(Exception):
            self._open.close()


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n")[0] or type(error).__name__
