"""Compiled with checked indexes: the kernels' tests, and damaged model files of every format.

python -m bench.abuse.bounds --count 1000

Compiled code does not check indexes. NUMBA_BOUNDSCHECK=1 compiles code that does; it is kept in a folder of its own.
A kernel that would have read or written outside an array then ends the run with a traceback.
"""

import argparse
import collections
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import report
from bench.abuse import driving, lines
from bench.abuse.verdicts import GOOD
from bench.measuring import note

#: What calls kernels directly.
TESTS = ("tests/aligning", "tests/tagging", "tests/parsing", "tests/translating", "tests/formats", "tests/metrics")


def main() -> None:
    """Run the tests, then the damaged files; exit status 1 where an index was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, metavar="N", help="damaged files a format [%(default)s]")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes at once [%(default)s]")
    parser.add_argument("--no-tests", action="store_true", help="the damaged files alone")
    parser.add_argument("--lines", nargs="+", type=int, metavar="N", help="of lines.txt [all]")
    parser.add_argument("--readers", type=int, metavar="N", help="so many lines a format, not all that read it")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / f"aligntools-bench-{os.getuid()}")
    o = parser.parse_args()
    place = driving.prepare(o.work, _readers(o.readers) if o.readers else ())
    checked = {"NUMBA_BOUNDSCHECK": "1", "ALIGNTOOLS_CACHE_DIR": str(o.work / "checked")}
    failed = 0
    if not o.no_tests:
        command = [sys.executable, "-m", "pytest", "-q", "-n", str(o.jobs), *TESTS]
        failed = subprocess.run(command, env=driving.environment(**checked), cwd=report.ROOT, check=False).returncode
    numbers = o.lines or (_readers(o.readers) if o.readers else None)
    bad = damaged(place, o.seed, o.count, o.jobs, checked, numbers)
    for result in bad:
        damage = f"line {result['line']}, {result.get('input')}, {result['way']} {result.get('number')}"
        note(f"{damage}: {result['verdict']}, {result['why']}")
    sys.exit(int(bool(failed or bad)))


def _readers(count: int) -> list[int]:
    """Return up to ``count`` lines for each line that writes a model, of those that read it."""
    readers = collections.defaultdict(list)
    for line in lines.read():
        for word in line.inputs:
            if word.kind == "model":
                readers[word.text].append(line.number)
    return sorted({number for numbers in readers.values() for number in numbers[:count]})


def damaged(place: Path, seed: int, count: int, jobs: int, environment: dict, numbers: list[int] | None) -> list[dict]:
    """Run damaged model files, ``count`` of each format; return the results that are not as promised."""
    readers = collections.defaultdict(list)
    for line in lines.read():
        if numbers and line.number not in numbers:
            continue
        for word in line.inputs:
            if word.kind == "model":
                readers[_format(place / word.text)].append(line.number)
    each = {number: 0 for numbers in readers.values() for number in numbers}
    for numbers in readers.values():
        for number in set(numbers):
            each[number] = max(each[number], -(-count // len(numbers)))
    common = {"module": "inputs", "place": str(place), "seed": seed, "models": True}
    tasks = [common | {"line": n, "random": k // 10, "contents": k} for n, k in each.items()]
    found, cases = [], 0
    for results in driving.everything(tasks, jobs, **environment):
        cases += len(results)
        found += [r for r in results if r["verdict"] not in GOOD]
    note(
        f"{cases} damaged files of {len(readers)} formats ({', '.join(sorted(readers))}), {len(found)} not as promised"
    )
    return found


def _format(path):
    from aligntools.formats.models.modelfile import model_kind

    return model_kind(path)


if __name__ == "__main__":
    main()
