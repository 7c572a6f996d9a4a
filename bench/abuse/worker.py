"""A process that runs one line many times: JSON on standard input says what to do, results go out as JSON lines."""

import gc
import importlib
import json
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from bench.abuse import forking, lines, verdicts
from bench.abuse.forking import Ending

#: Seconds that a run may take, more where the machine does other work, and bytes beyond those of a process with
#: everything loaded.
TIMEOUT, MEMORY = int(os.environ.get("ABUSE_SECONDS", "20")), 3 << 30


class Runner:
    """Runs a line's cases, each in a fresh folder.

    Parameters
    ----------
    place : Path
        Where the good inputs are.
    line : lines.Line
    """

    def __init__(self, place: Path, line: lines.Line) -> None:
        self.place, self.line = place, line
        self.folder = Path(tempfile.mkdtemp(prefix="abuse-", dir=os.environ.get("ABUSE_FOLDER")))
        self.case = self.folder / "case"
        self.good: dict[str, bytes] = {}

    def fresh(self) -> Path:
        """Empty the folder that the next case runs in."""
        for path in (self.case, Path(f"{self.case}.tmp")):
            shutil.rmtree(path, ignore_errors=True)
            path.mkdir()
        return self.case

    def warm(self) -> Ending:
        """Run the good line in this process, so that all is loaded, and keep what it wrote."""
        self.fresh()
        saved = [os.dup(k) for k in range(3)]
        streams, before = (sys.stdin, sys.stdout, sys.stderr), os.getcwd()
        out, err = Path(f"{self.case}.out"), Path(f"{self.case}.err")
        forking.standard_files(self.line.standard_input(self.place), str(out), str(err))
        os.chdir(self.case)
        try:
            status = forking.call(self.line.command, self.line.arguments(self.place))
        finally:
            os.chdir(before)
            sys.stdin, sys.stdout, sys.stderr = streams
            for k, descriptor in enumerate(saved):
                os.dup2(descriptor, k)
                os.close(descriptor)
        self.good = {p.name: p.read_bytes() for p in self.case.iterdir() if p.is_file()} | {"": out.read_bytes()}
        gc.collect()
        gc.freeze()  # what is loaded is not copied by every fork's collector
        assert threading.active_count() == 1, threading.enumerate()
        return Ending(status, 0.0, 0, self.good[""], err.read_bytes())

    def run(self, args: list[str], source: str = os.devnull) -> Ending:
        """Run a case in the fresh folder."""
        return forking.forked(self.line.command, args, self.case, source, timeout=TIMEOUT, memory=MEMORY)

    def outputs(self) -> tuple[str, ...]:
        """Return the names of the files that the good line writes."""
        return tuple(name for name in self.good if name)

    def rows(self) -> bool:
        """Tell whether what is counted are lines of CoNLL."""
        return any(word.lines and word.kind == "conll" for word in self.line.inputs)

    def counts(self, replaced: int | None = None, data: bytes = b"") -> dict[str, int]:
        """Return how many lines the outputs have that have one for each of an input's, perhaps a damaged one's."""
        marked = [k for k, word in enumerate(self.line.inputs) if word.lines]
        if not marked:
            return {}
        own = data if marked[0] == replaced else (self.place / self.line.inputs[marked[0]].text).read_bytes()
        count = verdicts.count_lines(own, self.rows())
        return {"" if w.stream else w.text: count for w in self.line.outputs if w.lines}

    def close(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.folder, ignore_errors=True)


def results(task: dict) -> Iterator[dict]:
    """Do a task: ``place``, ``line`` (a number), ``module`` (which kind of cases) and what that asks for."""
    line = next(line for line in lines.read() if line.number == task["line"])
    runner = Runner(Path(task["place"]), line)
    try:
        module = importlib.import_module(f"bench.abuse.{task['module']}")
        for result in module.cases(runner, task):
            yield result | {"line": line.number}
    finally:
        runner.close()


def main() -> None:
    """Do the tasks that standard input has, one after another."""
    tasks = json.load(sys.stdin)
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for task in tasks:
        for result in results(task):
            out.write(json.dumps(result) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
