"""Commands with checkpoints, killed at random moments and continued: the end is that of the unbroken run."""

import random
import shutil
import signal
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.abuse import lines, processes
from bench.abuse.processes import Setting
from bench.measuring import note

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def everything(place: Path, seed: int, seconds: float, jobs: int) -> list[dict]:
    """Kill and continue for so many seconds; return what came of each run that reached its end."""
    until = time.monotonic() + seconds
    chosen = lines.read("kills.txt")
    with ThreadPoolExecutor(jobs) as pool:
        good = list(pool.map(lambda line: _unbroken(place, line), chosen))
        parts = pool.map(lambda job: list(_many(place, seed, job, until, chosen, good)), range(jobs))
        return [result for results in parts for result in results]


def _words(place, line):
    return processes.command(line, line.arguments(place))


def _unbroken(place, line):
    with tempfile.TemporaryDirectory(prefix="abuse-") as folder:
        home = Path(folder) / "case"
        (home / "state").mkdir(parents=True)
        ending = processes.run(_words(place, line), home, Setting())
        if ending.status:
            raise SystemExit(f"{line}: {ending.err.decode()}")
        return (home / line.outputs[0].text).read_bytes(), ending.seconds


def _many(place, seed, job, until, chosen, good):
    number = 0
    while time.monotonic() < until:
        rng = random.Random(f"kills {seed} {job} {number}")
        which = rng.randrange(len(chosen))
        yield from _to_the_end(place, chosen[which], *good[which], rng, until)
        number += 1


def _to_the_end(place, line, good, seconds, rng, until):
    """Run one line, killed until it is done; yield a result for each kill and for the end."""
    with tempfile.TemporaryDirectory(prefix="abuse-") as folder:
        home = Path(folder) / "case"
        (home / "state").mkdir(parents=True)
        for kill in range(1000):
            setting = Setting(signal=rng.choice(SIGNALS), after=rng.uniform(0.2, 1.3 * seconds))
            if kill > 12 or time.monotonic() > until:
                setting = Setting()  # let it come to its end
            ending = processes.run(_words(place, line), home, setting)
            result = {"kind": line.command, "line": line.number, "number": kill, "status": ending.status, "why": ""}
            said = ending.err.decode("utf-8", "replace")
            output = home / line.outputs[0].text
            if ending.status == 0:
                verdict = "done" if output.read_bytes() == good else "differs"
                yield result | {"verdict": verdict}
                if verdict != "done":
                    kept = tempfile.mkdtemp(prefix="abuse-differs-")
                    shutil.copytree(home, kept, dirs_exist_ok=True)
                    note(f"{line}: other bytes after {kill} kills; see {kept}")
                return
            if setting.signal and ending.status in (-setting.signal, 128 + setting.signal) and "Traceback" not in said:
                half = output.exists() and output.read_bytes() != good
                yield result | {"verdict": "half" if half else "refused"}
                continue
            yield result | {"verdict": "status", "why": f"{ending.status} after {setting}: {said[-300:]}"}
            note(f"{line}: {ending.status} {said[-300:]}")
            return
