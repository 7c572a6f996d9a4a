"""Long jobs that workers do as a map over a text, or over blocks of one: time and memory with workers and without."""

import dataclasses
import tempfile
from pathlib import Path

from bench import code, large_faults, measuring, report
from bench.translation import EXTRACTION, Systems
from bench.watching import watched

#: The commands, in the order of the table.
JOBS = ("translate", "imputed-risk", "contrastive-align", "align", "extract-grammar")
COLUMNS = ("seconds", "CPU s", "peak MB", "all MB", "without files", "speed-up")
#: Threads, and workers or None.
RUNS = ((1, None), (2, None), (1, 1), (2, 2))


def maps(o, kept):
    """Each job here with one thread and two, and in one and two worker processes with a thread each."""
    if not o.texts:
        raise SystemExit("maps need text for translation: --texts DIR")
    chosen, rows = o.jobs.split(","), []
    for job in JOBS:
        if job in chosen:
            kept.put(kept.key(f"maps {job}"), _job(o, kept, job))
        rows += kept.get(kept.key(f"maps {job}")) or []
    return "\n\n".join(
        [
            "### Maps over a text",
            "German to English captions (29,000 pairs to learn from), the same bytes from all runs of a job; single"
            " runs. Speed-up is against one thread of one process; where the machine had other work (see its load"
            " below), compare CPU seconds. *all* and *without files* are most bytes of all processes at a time; what"
            " workers share is in *all* once for each, and not in *without files*.",
            report.table(["job", "", *COLUMNS], rows),
        ]
    )


def _job(o, kept, job):
    """Return the rows of a job."""
    systems = Systems(o.texts, o.work / "translation", 2)
    what, given, suffix = _MAKERS[job](o, systems)
    rows, first, digests = [], None, set()
    for threads, workers in RUNS:
        own = ["--threads", threads, *(["--workers", workers] if workers else [])]
        row = kept.of(f"maps {what} {own}", lambda own=own: _run(o, job, [*given, *own], suffix))
        first = first or row["seconds"]
        digests.add(row["digest"])
        named = f"{workers} workers" if workers else f"{threads} threads"
        named = named.replace("1 workers", "1 worker").replace("1 threads", "1 thread")
        sizes = (f"{row[name] / 2**20:.0f}" for name in ("peak", "whole", "private"))
        speed = f"{first / row['seconds']:.2f}"
        rows.append([what if not rows else "", named, f"{row['seconds']:.1f}", f"{row['cpu']:.1f}", *sizes, speed])
    if len(digests) > 1:
        raise SystemExit(f"{what}: the results differ")
    return rows


def _run(o, job, given, suffix):
    """Run a command; return figures as a dict."""
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        out = Path(folder) / f"out{suffix}"
        command = measuring.aligntools(job, "-q", *given, "-o", out)
        done = watched(command, TMPDIR=folder)
        found = dataclasses.asdict(done) | {"digest": large_faults.digest(out)}
        del found["messages"]
        return found


def _system(systems):
    """Return options that name a system."""
    grammar, model = systems.grammar("de", "en"), systems.language_model("en")
    return ["--grammar", grammar, "--lm", model]


def _translate(o, systems):
    lines = systems.lines(systems.text("train.de"))[: o.sentences]
    text = systems.write("maps.de", lines)
    return f"translate, {len(lines):,} sentences", [*_system(systems), text], ""


def _imputed_risk(o, systems):
    given = ["--supervised", systems.text("dev.de"), "--reference", systems.text("dev.en"), *_system(systems)]
    return "imputed-risk, 1,014 sentences, 2 rounds", [*given, "--rounds", 2, "--set", "patience=9"], ".json"


def _pairs(systems):
    return ["-s", systems.text("train.de"), "-t", systems.text("train.en")]


def _model(systems):
    path = systems.folder / f"maps.{code.of(_model, _contrastive_align)}.atm"
    if not path.exists():
        measuring.run(measuring.aligntools("align", "-q", "--fast", *_pairs(systems), "--save-model", path))
    return path


def _contrastive_align(o, systems):
    pairs, model = _pairs(systems), _model(systems)
    weights = model.with_suffix(".json")
    if not weights.exists():
        learn = "contrastive-align", "-q", "--no-encoder", "-m", model, *pairs, "--save-weights", weights
        measuring.run(measuring.aligntools(*learn))
    return "contrastive-align -m -w, 29,000 pairs", ["-m", model, "-w", weights, *pairs], ""


def _align(o, systems):
    return "align -m, 29,000 pairs", ["-m", _model(systems), *_pairs(systems)], ""


def _extract_grammar(o, systems):
    paths = systems.text("train.de"), systems.text("train.en"), systems.links("de", "en")
    first = [systems.write(f"maps.first.{n}", systems.lines(path)[: o.extracted]) for n, path in enumerate(paths)]
    given = ["-s", first[0], "-t", first[1], "-a", first[2], *EXTRACTION]
    return f"extract-grammar, {o.extracted:,} pairs", given, ""


_MAKERS = {
    "translate": _translate, "imputed-risk": _imputed_risk, "contrastive-align": _contrastive_align, "align": _align,
    "extract-grammar": _extract_grammar,
}  # fmt: skip
