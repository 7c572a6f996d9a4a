"""Faults through a run in parts: every one ends in the bytes of an unbroken run, or in one line to go on from."""

import hashlib
import importlib.util
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from bench import measuring
from bench.abuse.processes import small_disk
from bench.report import ROOT
from bench.watching import Watch, kill, watched

#: How often a command is given again until it has to be done.
TRIES = 50
#: Of a slow worker's time, what it is let run; and for how long at a time, in seconds.
SHARE, SLICE = 0.1, 0.02


def digest(path):
    """Return what tells two files apart."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass
class Outcome:
    """What came of runs with a fault."""

    runs: int = 0
    events: int = 0
    same: int = 0
    refused: int = 0
    wrong: int = 0
    ratios: list = field(default_factory=list)

    def row(self, name):
        """Return a row of the table."""
        shown = f"{min(self.ratios):.1f} to {max(self.ratios):.1f} times" if self.ratios else ""
        return [name, self.runs, self.events, self.same, self.refused, self.wrong, shown]


class _Case:
    """A command, what it gives unbroken, and a folder for each run."""

    def __init__(self, o, joint):
        self._o, self._joint = o, joint
        self._flags = [f"--set=part_size={max(1, -(-o.fault_pairs // o.fault_parts))}", "--threads", "2"]
        with tempfile.TemporaryDirectory(dir=o.work) as folder:
            done = watched(self.command(Path(folder), "--workers", 2))
            self.seconds, self.good = done.seconds, digest(Path(folder) / "out")

    def command(self, folder, *more, checkpoint=None):
        """Return the command line of a run in a folder."""
        place = ["--checkpoint", checkpoint or folder / "checkpoint"]
        files = ["-i", self._joint, "-o", folder / "out"]
        return measuring.aligntools("align", "-q", *files, *self._flags, *place, *more)

    @contextmanager
    def folder(self):
        """Yield a folder in the work folder's file system."""
        with tempfile.TemporaryDirectory(dir=self._o.work) as folder:
            yield Path(folder)

    def judge(self, outcome, folder, done, began):
        """Count how a run ended; return whether it is over."""
        if done.status == 0:
            outcome.same += digest(folder / "out") == self.good
            outcome.wrong += digest(folder / "out") != self.good
            outcome.ratios.append((time.perf_counter() - began) / self.seconds)
            return True
        said = done.messages
        if done.status != 1 or not said.startswith("error: ") or said.count("\n") != 1 or (folder / "out").exists():
            outcome.wrong += 1
            measuring.note(f"status {done.status}: {said[-500:]}")
            return True
        outcome.refused += 1
        return False


def everything(o, joint):
    """Return a row for each fault."""
    case = _Case(o, joint)
    measuring.note(f"unbroken: {case.seconds:.1f} s")
    rows = []
    for name, measure in FAULTS.items():
        outcome = measure(o, case)
        if outcome is not None:
            rows.append(outcome.row(name))
            measuring.note(f"{name}: {outcome}")
    return rows


def _killed_workers(o, case):
    """One worker is killed now and then."""
    outcome = Outcome()
    for number in range(o.kills):
        rng = random.Random(f"workers {o.seed} {number}")

        def tease(watch, rng=rng):
            while watch.wait(rng.expovariate(4 / case.seconds)):
                if found := watch.workers():
                    outcome.events += kill(rng.choice(found))

        outcome.runs += 1
        _until_done(case, outcome, tease)
    return outcome


def _until_done(case, outcome, tease, *more):
    """Give a command until it has ended in a result; after a line of error it is given again."""
    with case.folder() as folder:
        began = time.perf_counter()
        for _ in range(TRIES):
            watch = Watch(case.command(folder, "--workers", 2, *more))
            watch.tease(tease)
            if case.judge(outcome, folder, watch.end(), began):
                return
        outcome.wrong += 1


def _killed_programs(o, case):
    """The program is killed, and given again, until it is done."""
    outcome = Outcome()
    for number in range(o.kills):
        rng = random.Random(f"programs {o.seed} {number}")
        outcome.runs += 1
        with case.folder() as folder:
            began = time.perf_counter()
            for attempt in range(TRIES):
                watch = Watch(case.command(folder, "--workers", 2))
                if attempt < 5 and watch.wait(rng.uniform(0.2, 1.2) * case.seconds):
                    left = watch.workers()
                    outcome.events += kill(watch.process.pid)
                    watch.end()
                    if not _gone(left):
                        outcome.wrong += 1
                        measuring.note("workers are left")
                    continue
                if case.judge(outcome, folder, watch.end(), began):
                    break
    return outcome


def _gone(pids, seconds=15):
    """Wait until processes are gone; return whether they went."""
    for _ in range(seconds * 10):
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return True
        time.sleep(0.1)
    return False


def _full_disk(o, case):
    """The folder that parts are in is on a disk that becomes full; then there is room."""
    outcome, most = Outcome(), _size_of_checkpoint(case)
    for number in range(max(1, o.kills // 4)):
        size = int(most * random.Random(f"disk {o.seed} {number}").uniform(0.05, 0.9))
        with case.folder() as folder, case.folder() as place, small_disk(place / "disk", size) as mounted:
            if not mounted:
                return None
            outcome.runs += 1
            began = time.perf_counter()
            for _ in range(TRIES):
                command = case.command(folder, "--workers", 2, checkpoint=place / "disk" / "checkpoint")
                if case.judge(outcome, folder, Watch(command).end(), began):
                    break
                outcome.events += 1
                grown = f"remount,size={size + 2 * most}"
                subprocess.run(["mount", "-o", grown, str(place / "disk")], check=True)
    return outcome


def _size_of_checkpoint(case):
    """Return about how many bytes the folder of parts comes to have, looked at while a run goes on."""
    most = 1 << 20
    with case.folder() as folder:
        watch = Watch(case.command(folder, "--workers", 2))
        while not _ended(watch):
            size = 0
            for path in (folder / "checkpoint").rglob("*"):
                with suppress(OSError):
                    size += path.stat().st_size
            most = max(most, size)
            watch.wait(0.1)
        watch.end()
    return most


def _ended(watch):
    """Return whether a program has ended, without taking its status."""
    return os.waitid(os.P_PID, watch.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _slow_worker(o, case):
    """One worker has a tenth of its time."""
    outcome = Outcome()

    def tease(watch):
        chosen = None
        while watch.running:
            found = watch.workers()
            if chosen not in found:
                chosen = found[0] if found else None
            if chosen is None:
                watch.wait(SLICE)
                continue
            outcome.events += kill(chosen, signal.SIGSTOP)
            watch.wait(SLICE * (1 - SHARE) / SHARE)
            kill(chosen, signal.SIGCONT)
            watch.wait(SLICE)

    for _ in range(max(1, o.kills // 10)):
        outcome.runs += 1
        _until_done(case, outcome, tease)
    return outcome


class _Dask:
    """A scheduler and two workers, as processes."""

    def __init__(self, folder):
        self._folder, self._running = folder, []
        self.file = folder / "scheduler.json"

    def start(self, what, *words):
        """Start one of Dask's programs."""
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *map(str, words)]
        log = open(self._folder / "dask.log", "ab")  # noqa: SIM115 - the process's
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=os.environ | {"PYTHONPATH": str(ROOT)}
        )
        log.close()
        self._running.append(process)
        return process

    def scheduler(self):
        """Start a scheduler; wait until it has written its file."""
        self.file.unlink(missing_ok=True)
        words = ["--scheduler-file", self.file, "--port", 0, "--dashboard-address", ":0", "--host", "127.0.0.1"]
        process = self.start("scheduler", *words)
        while not self.file.exists():
            if process.poll() is not None:
                raise SystemExit((self._folder / "dask.log").read_text()[-2000:])
            time.sleep(0.1)
        return process

    def worker(self):
        """Start a worker without a nanny: what kills it is final."""
        words = ["--scheduler-file", self.file, "--nthreads", 1, "--no-nanny", "--no-dashboard"]
        return self.start("worker", *words, "--local-directory", self._folder / "dask")

    def close(self):
        """End all."""
        for process in self._running:
            process.kill()
        for process in self._running:
            process.wait()


def _dask_workers(o, case):
    """Workers of a cluster are killed and replaced."""
    return _on_cluster(o, case, max(1, o.kills // 4), _kill_a_worker)


def _dask_scheduler(o, case):
    """The scheduler is killed, and another one started."""
    return _on_cluster(o, case, max(1, o.kills // 10), _kill_the_scheduler)


def _kill_a_worker(rng, case, dask, running, outcome):
    def tease(watch):
        while watch.wait(rng.expovariate(4 / case.seconds)):
            victim = rng.randrange(1, len(running))
            outcome.events += kill(running[victim].pid)
            running[victim] = dask.worker()

    return tease


def _kill_the_scheduler(rng, case, dask, running, outcome):
    killed = []

    def tease(watch):
        if not killed and watch.wait(rng.uniform(0.3, 0.9) * case.seconds):
            killed.append(running[0].pid)
            outcome.events += kill(running[0].pid)

    return tease


def _on_cluster(o, case, runs, make):
    if importlib.util.find_spec("distributed") is None:
        return None
    outcome = Outcome()
    for number in range(runs):
        rng = random.Random(f"{make.__name__} {o.seed} {number}")
        outcome.runs += 1
        with case.folder() as folder:
            dask = _Dask(folder)
            try:
                running = [dask.scheduler(), dask.worker(), dask.worker()]
                tease = make(rng, case, dask, running, outcome)
                began = time.perf_counter()
                for _ in range(TRIES):
                    watch = Watch(case.command(folder, "--cluster", dask.file))
                    watch.tease(tease)
                    if case.judge(outcome, folder, watch.end(), began):
                        break
                    if running[0].poll() is not None:
                        running[:] = [dask.scheduler(), dask.worker(), dask.worker()]
            finally:
                dask.close()
    return outcome


FAULTS = {
    "workers killed": _killed_workers,
    "the program killed": _killed_programs,
    "disk full": _full_disk,
    "a worker ten times slower": _slow_worker,
    "cluster: workers killed": _dask_workers,
    "cluster: scheduler killed": _dask_scheduler,
}
