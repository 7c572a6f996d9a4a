"""Other long jobs than align's, in processes: time and memory beside one process, and the same bytes."""

import dataclasses
import itertools
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench import large_text, measuring, report
from bench.large_faults import digest
from bench.watching import watched

#: How each command is run: what the table calls it, and the flags.
WAYS = (
    ("1 thread", ("--threads", 1)),
    ("2 threads", ("--threads", 2)),
    ("1 worker", ("--threads", 1, "--workers", 1)),
    ("2 workers", ("--threads", 2, "--workers", 2)),
)
#: Steps of L-BFGS that are measured.
STEPS = 6


@dataclass(frozen=True)
class Job:
    """A command to be measured.

    Attributes
    ----------
    name : str
        In the table.
    command : callable
        Returns the arguments of aligntools, from the bench's options and the file to write.
    """

    name: str
    command: Callable[..., list]


def _train_parser(o, out):
    bank = o.data.parent / "treebanks" / "ud" / "en_ewt-train.conllu.gz"  # beside the parallel text
    return ["train-parser", "-q", "--treebank", bank, "--no-labels", "--iterations", STEPS, "-o", out]


def _train_lm(o, out):
    text = large_text.base_text(o.data, o.set, o.work, o.job_pairs).source
    return ["train-lm", "-q", "-n", 5, text, "--format", "binary", "-o", out]


JOBS = (
    Job(f"`train-parser`, EWT, {STEPS} steps", _train_parser),
    Job("`train-lm -n 5`", _train_lm),
)  # fmt: skip


def section(o, kept):
    """Return the table of all jobs in all ways."""
    rows = []
    for job in JOBS:
        first = digests = None
        for name, flags in WAYS:
            key = f"job {job.name} {o.set} {o.job_pairs} {' '.join(map(str, flags))}"
            row = kept.of(key, lambda j=job, f=flags: _measured(o, j, f))
            first, digests = first or row["seconds"], digests or row["digest"]
            cells = [f"{row[x] / 1e6:,.0f}" for x in ("peak", "whole", "private")]
            rows.append([job.name, name, f"{row['seconds']:.1f}", f"{row['cpu']:.1f}", *cells,
                         f"{first / row['seconds']:.2f}", "yes" if row["digest"] == digests else "NO"])  # fmt: skip
    header = ["command", "by", "seconds", "CPU s", "peak MB", "all MB", "without files", "speed-up", "same bytes"]
    return "\n\n".join(
        [
            "### Other long jobs",
            f"The treebank EWT (12,544 sentences); the first {o.job_pairs:,} lines of {o.set}'s English side."
            " *1 thread* and *2 threads* are one process without workers; a worker has one thread. Memory as above."
            " Where two threads are no faster than one, the machine was busy, and CPU seconds say more than speed-ups.",
            report.table(header, rows),
        ]
    )


def _measured(o, job, flags):
    """Run a command; return figures as a dict, with a digest of what it wrote."""
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        out = Path(folder) / "out"
        places = ["--tmpdir", o.work] if "--workers" in flags else []
        command = list(itertools.chain(job.command(o, out), flags, places))
        done = watched(measuring.aligntools(*command), TMPDIR=o.work)
        if done.status:
            raise SystemExit(f"{command}: {done.messages}")
        found = dataclasses.asdict(done) | {"digest": digest(out)}
        del found["messages"]
        return found
