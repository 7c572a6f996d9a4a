"""Time and traffic of training in parts on more machines than there are, from what one run measured."""

import json
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from bench import measuring, report

#: Stages whose jobs are parts, and shards; what this process does between them is neither.
PARTS = ("reading", "words", "pairs of words", "table of parts", "ibm1", "hmm", "sampler", "aligning")
SHARDS = ("table", "sums", "pruning", "estimate", "links of words")
#: What the figures are computed for: (pairs, part size, cores, megabytes a second that the folder gives all of them).
CASES = (
    (10**7, 10**5, 8, 500), (10**8, 10**5, 8, 500), (10**8, 10**5, 64, 2000), (10**9, 10**5, 64, 2000),
    (10**9, 10**5, 1000, 2000), (10**9, 10**5, 1000, 20000), (10**9, 10**6, 1000, 20000),
)  # fmt: skip
#: Arrays over all words that a part reads in a pass, in bytes a word.
A_WORD = 40


@dataclass(frozen=True)
class Costs:
    """What a run on one core costs.

    Attributes
    ----------
    part, shard, client : float
        Seconds a pair of the stages whose jobs are parts, and shards, and of what is done between them.
    entries : float
        Pairs of words in the tables of all parts, a sentence pair.
    passes : int
        Times that counts and values of them are written and read.
    words : float
        Words of the view, both sides, in that text.
    pairs : int
        Its sentence pairs.
    """

    part: float
    shard: float
    client: float
    entries: float
    passes: int
    words: int
    pairs: int


def measure(joint: Path, pairs: int, work: Path, part_size: int) -> Costs:
    """Align a text on one thread and read its log."""
    with tempfile.TemporaryDirectory(dir=work) as folder:
        log = Path(folder) / "log"
        flags = ("--threads", 1, f"--set=part_size={part_size}", "--tmpdir", folder, "--log-json", log)
        measuring.run(measuring.aligntools("align", "-q", "-i", joint, "-o", Path(folder) / "out", *flags))
        rows = [json.loads(line) for line in log.read_text().splitlines()]
    seconds: dict[str, float] = defaultdict(float)
    for row in rows:
        jobs = row["stage"] if "jobs" in row else "client"
        seconds[jobs] += row["seconds"]
    layout = next(row for row in rows if row["stage"] == "layout")
    words = next(row for row in rows if row["stage"] == "numbering")["words"]
    passes = sum(row["stage"] in ("ibm1", "hmm", "sampler") and "jobs" in row for row in rows)
    total = [sum(seconds[name] for name in names) / pairs for names in (PARTS, SHARDS, ("client",))]
    return Costs(*total, layout["pairs"] / pairs, passes, words, pairs)


def predict(costs: Costs, pairs: int, part_size: int, cores: int, bandwidth: float) -> dict[str, float]:
    """Return the hours of each kind of work.

    Parts and shards share the cores, as many of them as there are jobs. What the client does grows with the text and
    with the files that it reads, as measured. Counts and values of every part go through the folder once in each pass,
    4 bytes each way, and every part reads what is known of all words; words grow as Heaps' law has it (0.6).
    """
    words = costs.words * (pairs / costs.pairs) ** 0.6
    parts = -(-pairs // part_size)
    traffic = costs.passes * (2 * 2 * 4 * costs.entries * pairs + A_WORD * min(words, 1e6) * parts)
    return {
        "parts": costs.part * pairs / min(cores, parts) / 3600,
        "shards": costs.shard * pairs / cores / 3600,
        "client": costs.client * pairs / 3600,
        "folder": traffic / (bandwidth * 1e6) / 3600,
        "terabytes": traffic / 1e12,
    }


def section(costs: Costs, name: str) -> str:
    """Return the table, and what it rests on."""
    kinds, rows = ("parts", "shards", "client", "folder"), []
    for pairs, part_size, cores, bandwidth in CASES:
        hours = predict(costs, pairs, part_size, cores, bandwidth)
        first = max(kinds, key=lambda kind: hours[kind])
        cells = [f"{hours[kind]:.2f}" for kind in kinds]
        total = sum(hours[kind] for kind in kinds)
        rows.append([f"{pairs:,}", f"{part_size:,}", f"{cores:,}", f"{bandwidth:,}", *cells, f"{total:.2f}",
                     f"{hours['terabytes']:.1f}", first])  # fmt: skip
    return "\n\n".join(
        [
            "### More machines, computed",
            f"From one run on one core over {name}: {1e6 * costs.part:.0f} µs a pair in stages of parts,"
            f" {1e6 * costs.shard:.1f} µs in stages of shards, {1e6 * costs.client:.1f} µs in the process that leads;"
            f" {costs.entries:.1f} entries of the parts' tables a pair, {costs.passes} passes over them,"
            f" {costs.words:,} words. Hours, not measured but computed: cores as fast as this one and never idle, a"
            " folder that gives all of them together so many megabytes a second, reading and computing one after the"
            " other, words growing with the text to the power 0.6. The last column is what takes longest.",
            report.table([*("pairs", "part", "cores", "MB/s"), *kinds, "hours", "TB", "most in"], rows),
        ]
    )
