"""Programs run as a user runs them: time, memory, what they say."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass

from bench.report import ROOT


@dataclass
class Usage:
    """What a process, or several one after the other, took."""

    seconds: float = 0.0
    cpu: float = 0.0
    peak: int = 0  # bytes; of the largest process
    messages: str = ""

    def __add__(self, other):
        return Usage(
            self.seconds + other.seconds, self.cpu + other.cpu, max(self.peak, other.peak),
            self.messages + other.messages,
        )  # fmt: skip


def aligntools(*args):
    """Return the command line of ``aligntools ARGS``, from this checkout."""
    return [sys.executable, "-m", "aligntools", *map(str, args)]


def run(command, output=os.devnull, stdin=None, **environment) -> Usage:
    """Run a program to its end; its standard output goes to a file.

    Raises
    ------
    SystemExit
        When it fails, with what it said.
    """
    variables = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    with open(output, "wb") as out, open(stdin or os.devnull, "rb") as source:
        began = time.perf_counter()
        process = subprocess.Popen(
            list(map(str, command)), stdin=source, stdout=out, stderr=subprocess.PIPE, env=variables
        )
        messages = process.stderr.read().decode("utf-8", "replace")
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit status {process.returncode}\n{messages[-2000:]}")
    return Usage(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10, messages)


def stages(messages):
    """Return the seconds of each stage from what ``align -v`` says last."""
    line = messages.strip().splitlines()[-1].split(";")[0]
    found = {}
    for part in line.split(", "):
        words = part.split(" ")
        if len(words) > 2 and words[2] == "s":
            found[words[0]] = float(words[1])
    return found


class Kept:
    """Figures kept in a file between runs, by keys that name all that they depend on.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path):
        self.path = path
        self.found = json.loads(path.read_text()) if path.exists() else {}

    def get(self, key, measure, told=""):
        """Return what stands under a key, measured unless it is known; ``told`` is said before."""
        if key not in self.found:
            if told:
                note(told)
            self.found[key] = measure()
            unfinished = self.path.with_suffix(".part")
            unfinished.write_text(json.dumps(self.found))
            unfinished.replace(self.path)
        return self.found[key]


def note(text):
    """Say on standard error how far things are."""
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stderr.flush()
