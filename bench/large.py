"""Text of any size: memory, time and AER in parts, on one machine, in processes, under faults."""

import dataclasses
import itertools
import json
import os
import tempfile
from pathlib import Path

from bench import code, large_faults, large_jobs, large_maps, large_model, large_text, measuring, report, texts
from bench.quality import evaluate
from bench.watching import Watched, watched

#: What is measured, and its title; ``--only`` takes some.
TITLES = {
    "memory": "One machine", "workers": "Worker processes", "model": "More machines, computed", "faults": "Faults",
    "parts": "Parts of the sampler", "init-model": "Part by part, by hand", "jobs": "Other long jobs",
    "maps": "Maps over a text",
}  # fmt: skip
SECTIONS = tuple(TITLES)
#: Into how many parts the sampler of a gold set is cut.
CUTS = (1, 4, 16, 64)


def run(o):
    if not o.data:
        raise SystemExit("large needs text with gold links: --data DIR")
    measuring.run(measuring.aligntools("warmup", "-q"))
    kept = Kept(o.work / "large.json")
    functions = memory, workers, model, faults, parts, init_model, large_jobs.section, large_maps.maps
    makers = dict(zip(SECTIONS, functions, strict=True))
    chosen = o.only.split(",") if o.only else SECTIONS
    for name in chosen:
        kept.put(f"section {name}", "\n\n".join([makers[name](o, kept), report.circumstances(o.threads)]))
    others = written(o.results)
    body = [
        (None if name in chosen else others.get(title)) or kept.get(f"section {name}") for name, title in TITLES.items()
    ]
    return "\n\n".join(text for text in body if text)


def written(results):
    """Return what stands under each title of this section in the file of results."""
    text = results.read_text() if results.exists() else ""
    body = text.partition("<!-- begin large -->\n")[2].partition("<!-- end large -->")[0]
    return {piece.split("\n", 1)[0]: f"### {piece.strip()}" for piece in body.split("\n### ")[1:]}


#: What its figures come from, besides what the parts of the section ask of these.
MEASURED = (
    "bench.large.align", "bench.large.whole", "bench.large.align_digest", "bench.large._plan",
    "bench.large._part_by_part", "bench.large.big", "bench.large_model.measure", "bench.large_faults.everything",
    "bench.large_jobs._measured", "bench.large_jobs.JOBS", "bench.large_maps._job",
)  # fmt: skip


class Kept:
    """Figures kept in a file: what was measured of this state of the code is not measured again."""

    def __init__(self, path):
        self._path, self._code = path, code.of(*MEASURED)
        self._rows = json.loads(path.read_text()) if path.exists() else {}

    def of(self, name, measure):
        """Return the figures of a name; measure them where they are not there."""
        key = self.key(name)
        if key not in self._rows:
            measuring.note(name)
            self.put(key, measure())
        return self._rows[key]

    def key(self, name):
        """Return a name with the hash of the code."""
        return f"{name} {self._code}"

    def get(self, key):
        """Return what was put there, or None."""
        return self._rows.get(key)

    def put(self, key, value):
        """Keep something that JSON can hold."""
        self._rows[key] = value
        unfinished = self._path.with_suffix(".part")
        unfinished.write_text(json.dumps(self._rows, indent=1))
        unfinished.replace(self._path)


def base(o, pairs=None):
    """Return the text that is copied, or its first pairs."""
    return large_text.base_text(o.data, o.set, o.work, pairs or o.first)


def big(o, pairs):
    """Return a joint file of so many pairs: a beginning of the text, or a text made of it."""
    text = base(o)
    if pairs <= text.n_pairs:
        return base(o, pairs).joint
    return large_text.make(text, pairs, o.work, o.seed).path


def align(o, joint, gold, flags, compare=None):
    """Align in the work folder's file system; return figures as a dict.

    Parameters
    ----------
    joint : Path
    gold : Text or None
        Whose gold links are those of the first lines.
    flags : list
    compare : Path, optional
        Links to compare the first lines with.
    """
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        out = Path(folder) / "out"
        (Path(folder) / "tmp").mkdir()
        command = ["align", "-q", "--threads", o.threads, "-i", joint, "-o", out, *flags]
        found = dataclasses.asdict(watched(measuring.aligntools(*command), TMPDIR=Path(folder) / "tmp"))
        del found["messages"]
        if gold is not None and gold.gold:
            found["aer"] = evaluate(out, gold)[0]
        if compare is not None:
            found["same"] = shared(out, compare)
        return found


def shared(path, other):
    """Return the F1 of two files' links, in percent, over the lines that both have."""
    both = ours = theirs = 0
    with open(path, "rb") as a, open(other, "rb") as b:
        for x, y in zip(a, b, strict=False):
            x, y = set(x.split()), set(y.split())
            both, ours, theirs = both + len(x & y), ours + len(x), theirs + len(y)
    return 200 * both / max(ours + theirs, 1)


def whole(o, text):
    """Return a file of the links that a text has in memory; made once."""
    path = texts.folder(o.work) / f"{text.name}.{code.of(whole)}.links"
    if not path.exists():
        unfinished = path.with_suffix(".part")
        measuring.run(measuring.aligntools("align", "-q", "--threads", o.threads, "-i", text.joint, "-o", unfinished))
        unfinished.rename(path)
    return path


def _sized(o):
    return [f"--set=part_size={o.part_size}"] if o.part_size else []


def _cells(row, pairs):
    """Return the columns that all tables of runs have."""
    return [
        f"{row['seconds']:,.0f}", f"{1e6 * row['seconds'] / pairs:,.0f}", f"{row['cpu']:,.0f}",
        f"{row['peak'] / 1e6:,.0f}", f"{row['whole'] / 1e6:,.0f}", f"{row['private'] / 1e6:,.0f}",
    ]  # fmt: skip


COLUMNS = ("seconds", "µs a pair", "CPU s", "peak MB", "all MB", "without files")


def memory(o, kept):
    """One machine, from disk, within a bound."""
    small = base(o)
    links = whole(o, small)
    rows, first = [], None
    runs = [(f"{small.n_pairs:,} in memory", small.joint, small.n_pairs, [])]
    bounded = ["--max-memory", o.bound, *_sized(o)]
    runs.append((f"{small.n_pairs:,} in parts", small.joint, small.n_pairs, [*bounded, "--tmpdir", o.work]))
    for pairs in map(int, o.sizes.split(",")):
        runs.append((f"{pairs:,}", None, pairs, [*bounded, "--tmpdir", o.work]))
    for name, joint, pairs, flags in runs:
        key = f"memory {small.name} {pairs} {o.seed} {o.threads} {' '.join(map(str, flags))}"
        row = kept.of(key, lambda j=joint, p=pairs, f=flags: align(o, j or big(o, p), small, f, links))
        each = row["seconds"] / pairs
        first = first or each
        aer = f"{row['aer']:.2f}" if "aer" in row else ""
        rows.append([name, *_cells(row, pairs), f"{each / first:.2f}", aer, f"{row['same']:.2f}"])
    plan = kept.of(f"plan {small.name} {pairs} {o.seed}", lambda: _plan(big(o, pairs), bounded))
    return "\n\n".join(
        [
            "### One machine",
            f"`align --max-memory {o.bound}` on text made of {small.name} (its own first). *peak* is the largest"
            " process's, *all* the most of all processes at a time, *without files* leaves out what the system can take"
            " back at any time. The ratio is of the time a pair to that of the run in memory. *shared* is the F1 of the"
            f" first {small.n_pairs:,} pairs' links and those that this text alone gets in memory.",
            report.table(["pairs", *COLUMNS, "ratio", "AER", "shared"], rows),
            f"What `--plan` said of the {pairs:,} pairs:",
            f"```text\n{plan}\n```",
        ]
    )


def _plan(joint, flags):
    """Return what ``align --plan`` says."""
    return measuring.run(measuring.aligntools("align", "-i", joint, *flags, "--plan")).messages.strip()


def workers(o, kept):
    """Processes on this machine."""
    joint, rows, first = big(o, o.worker_pairs), [], None
    size = o.part_size or max(1, o.worker_pairs // 16)
    runs = [("this process, 1 thread", ["--threads", 1])]
    runs += [(n, ["--threads", n, "--workers", n]) for n in map(int, o.workers.split(","))]
    bodies = set()
    for name, flags in runs:
        flags = [*flags, f"--set=part_size={size}", "--tmpdir", o.work]
        key = f"workers {joint.name} {' '.join(map(str, flags))}"
        row = kept.of(key, lambda f=flags: align_digest(o, joint, f))
        first = first or row["seconds"]
        bodies.add(row["digest"])
        count = 1 if isinstance(name, str) else name
        speed = first / row["seconds"]
        cores = min(count, os.cpu_count())
        rows.append([name, *_cells(row, o.worker_pairs), f"{speed:.2f}", f"{speed / cores:.0%}"])
    same = "the same bytes from all" if len(bodies) == 1 else f"{len(bodies)} DIFFERENT RESULTS"
    return "\n\n".join(
        [
            "### Worker processes",
            f"{o.worker_pairs:,} pairs in parts of {size:,}, a thread for each worker; {same}. Efficiency is the"
            f" speed-up by the cores that there are for the workers ({os.cpu_count()} in all).",
            report.table(["workers", *COLUMNS, "speed-up", "efficiency"], rows),
        ]
    )


def align_digest(o, joint, flags):
    """As `align`, with a digest of the output in place of figures about it."""
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        out = Path(folder) / "out"
        command = measuring.aligntools("align", "-q", "-i", joint, "-o", out, *flags)
        done: Watched = watched(command)
        found = dataclasses.asdict(done) | {"digest": large_faults.digest(out)}
        del found["messages"]
        return found


def model(o, kept):
    """Machines that there are not."""
    joint, size = big(o, o.worker_pairs), o.part_size or max(1, o.worker_pairs // 16)
    key = f"model {joint.name} {size}"
    found = kept.of(key, lambda: dataclasses.asdict(large_model.measure(joint, o.worker_pairs, o.work, size)))
    return large_model.section(large_model.Costs(**found), f"{o.worker_pairs:,} pairs in parts of {size:,}")


def faults(o, kept):
    """Kills, a full disk, a slow worker, a scheduler that ends."""
    joint = big(o, o.fault_pairs)
    key = f"faults {joint.name} {o.fault_parts} {o.kills} {o.seed}"
    rows = kept.of(key, lambda: large_faults.everything(o, joint))
    return "\n\n".join(
        [
            "### Faults",
            f"{o.fault_pairs:,} pairs in {o.fault_parts} parts, two workers, a checkpoint. *same* runs ended with the"
            " bytes of the run that nothing happened to; *refused* ended with one line, and the same command went on"
            " from there to the same bytes; anything else is *wrong*. The time is that of finished runs, by the"
            " unbroken one's.",
            report.table(["what happened", "runs", "events", "same", "refused", "wrong", "time"], rows),
        ]
    )


def parts(o, kept):
    """AER of the sampler over parts."""
    header, rows = ["gold set", "pairs", "in memory", *(f"{n} part{'s' * (n > 1)}" for n in CUTS)], []
    for name in o.sets.split(","):
        text = texts.text(o.data, name, o.work)
        cells = [kept.of(f"parts {name} memory", lambda t=text: align(o, t.joint, t, []))]
        for n in CUTS:
            flags = [f"--set=part_size={-(-text.n_pairs // n)}", "--tmpdir", o.work]
            cells.append(kept.of(f"parts {name} {n}", lambda t=text, f=flags: align(o, t.joint, t, f)))
        rows.append([name, f"{text.n_pairs:,}", *(f"{cell['aer']:.2f}" for cell in cells)])
    means = [sum(float(row[k]) for row in rows) / len(rows) for k in range(2, 3 + len(CUTS))]
    rows.append(["mean", "", *(f"{x:.2f}" for x in means)])
    return "\n\n".join(
        [
            "### Parts of the sampler",
            "AER in percent. Each part is sampled by itself; the HMM's expected counts stand in for the others' links.",
            report.table(header, rows),
        ]
    )


def init_model(o, kept):
    """The way of who has no other: each part by itself, from the model or the priors of the first."""
    small, n = base(o), o.init_parts
    joint = big(o, o.init_pairs)
    size = -(-o.init_pairs // n)
    key = f"init {joint.name} {n} {o.seed}"
    ways = kept.of(key, lambda: _part_by_part(o, joint, small, size))
    bounded = ["--max-memory", o.bound, *_sized(o), "--tmpdir", o.work]
    once = kept.of(f"init {joint.name} whole {' '.join(map(str, bounded))}", lambda: align(o, joint, small, bounded))
    rows = [["the whole, in parts from disk", *_cells(once, o.init_pairs), f"{once['aer']:.2f}"]]
    for way, row in ways.items():
        rows.append([way, *_cells(row, o.init_pairs), f"{row['aer']:.2f}"])
    return "\n\n".join(
        [
            "### Part by part, by hand",
            f"{o.init_pairs:,} pairs in {n} files, each aligned in memory, with the gold sentences before it; AER is"
            " the mean over the files, without the first. Times are sums, memory is the most of any.",
            report.table(["way", *COLUMNS, "AER"], rows),
        ]
    )


def _part_by_part(o, joint, small, size):
    """Cut a text and align each part, alone and with what the first gave."""
    with tempfile.TemporaryDirectory(dir=o.work) as name:
        folder = Path(name)
        files = _cut(joint, small, size, folder)
        model, priors = folder / "model", folder / "priors"
        ways = {
            "each alone": ([], []),
            "`--init-model` of the first": (["--save-model", model], ["--init-model", model]),
            "`--priors` of the first": (["--save-priors", priors], ["--priors", priors]),
        }
        found = {}
        for way, (first, later) in ways.items():
            rows = []
            for number, file in enumerate(files):
                measuring.note(f"{way}: part {number + 1} of {len(files)}")
                rows.append(align(o, file, small, later if number else first))
            total = {key: sum(row[key] for row in rows) for key in ("seconds", "cpu")}
            most = {key: max(row[key] for row in rows) for key in ("peak", "whole", "private")}
            scored = rows[1:] or rows
            found[way] = total | most | {"aer": sum(row["aer"] for row in scored) / len(scored)}
        return found


def _cut(joint, small, size, folder):
    """Write files of so many pairs, each after the gold sentences; return them."""
    from aligntools.formats.opening.files import reading

    with open(small.joint, "rb") as file:
        gold = [next(file) for _ in range(small.n_gold)]
    files = []
    with reading(str(joint)) as left:
        for line in left:
            files.append(folder / f"part{len(files)}")
            with open(files[-1], "wb") as out:
                if len(files) > 1:
                    out.writelines(gold)
                out.writelines(itertools.chain([line], itertools.islice(left, size - 1)))
    return files
