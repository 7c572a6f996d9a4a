"""Workers, several at once, and the place where the good files are."""

import json
import os
import subprocess
import sys
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench import report
from bench.abuse import lines, places
from bench.abuse.verdicts import GOOD
from bench.measuring import note

#: One thread for each library: a process with more cannot be forked safely.
ALONE = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")}
#: Nothing has to outlast the machine.
QUICK = {"ALIGNTOOLS_NO_FSYNC": "1"}


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a worker."""
    return os.environ | ALONE | QUICK | {"PYTHONPATH": str(report.ROOT)} | more


def work(tasks: list[dict], **more: str) -> list[dict]:
    """Have tasks done in one process of its own; return their results."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.abuse.worker"], input=json.dumps(tasks), capture_output=True, text=True,
        env=environment(**more), cwd=report.ROOT, check=False,
    )  # fmt: skip
    results = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode:
        results.append({"line": tasks[0]["line"], "verdict": "broken", "why": done.stderr[-800:], "way": "none"})
    return results


def everything(tasks: list[dict], jobs: int, **more: str) -> Iterator[list[dict]]:
    """Have tasks done, ``jobs`` at once, each in a process of its own; yield each one's results in their order."""
    with ThreadPoolExecutor(jobs) as pool:
        for task, results in zip(tasks, pool.map(lambda t: work([t], **more), tasks), strict=True):
            bad = [r for r in results if r["verdict"] not in GOOD]
            seconds = sum(r.get("seconds", 0) for r in results)
            note(
                f"line {task['line']}, {task['module']}: {len(results)} in {seconds:.0f} s, {len(bad)} not as promised"
            )
            for result in bad:
                note("  " + " ".join(str(v)[:300] for k, v in result.items() if k not in ("line", "seconds")))
            yield results


def prepare(folder: Path, numbers: Collection[int] = ()) -> Path:
    """Make the texts, and run every line, or those that some need, so that all inputs are there; return the place."""
    place = folder / f"abuse-place-{report.code_hash()}"
    if (place / "whole").exists():
        return place
    places.make(place)
    command = [sys.executable, "-m", "bench.abuse.driving", str(place), *map(str, sorted(needed(numbers)))]
    subprocess.run(command, env=environment(), cwd=report.ROOT, check=True)
    (place / "whole").touch()
    return place


def make(place: Path, numbers: Collection[int] = ()) -> None:
    """Run every line, or some, in this process, outputs to the place."""
    from bench.abuse.worker import Runner

    for line in lines.read():
        if numbers and line.number not in numbers:
            continue
        runner = Runner(place, line)
        ending = runner.warm()
        if ending.status:
            sys.exit(f"{line.number}: {line}: status {ending.status}\n{ending.err.decode()[-1000:]}")
        for name, data in runner.good.items():
            if name:
                (place / name).write_bytes(data)
        for word in line.outputs:
            if word.stream:
                (place / word.text).write_bytes(ending.out)
        runner.close()


def needed(numbers: Collection[int]) -> set[int]:
    """Return the lines that make what some lines read, and those themselves."""
    every = lines.read()
    makers = {}
    for line in reversed(every):
        makers |= {word.text: line.number for word in line.outputs}
    found, waiting = set(), list(numbers)
    while waiting:
        number = waiting.pop()
        if number not in found:
            found.add(number)
            line = next(line for line in every if line.number == number)
            waiting += [makers[word.text] for word in line.inputs if word.text in makers]
    return found


if __name__ == "__main__":
    make(Path(sys.argv[1]), [int(n) for n in sys.argv[2:]])
