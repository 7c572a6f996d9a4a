"""AER of maximum reconstruction beside that of EM, from the same start, on every gold set."""

import dataclasses
import statistics
import tempfile
from pathlib import Path

from bench import code, measuring, report, texts
from bench.quality import HEURISTIC, Figures, evaluate

#: Starts, with the flags of ``align`` that make them.
STARTS = {
    "ibm2": ("--model", "ibm2", "--estimator", "em", "--set", "agreement=false"),
    "ibm2 table": ("--model", "ibm2", "--estimator", "em", "--set", "agreement=false", "--set", "positions=table"),
    "hmm": ("--model", "hmm", "--set", "views=0", "--estimator", "em", "--set", "agreement=false"),
    "hmm agreement": ("--model", "hmm", "--set", "views=0"),
}
#: What is made of each: the start itself; its words smoothed as reconstruction smooths them; reconstruction.
STEPS = {"EM": None, "smoothed": ("--set", "mre_iterations=0"), "MRE": ()}
DEFAULT = "align's default"
#: Ways to see both directions.
WAYS = ("forward", "reverse", HEURISTIC, "joint")


def systems():
    """Yield (start, step) of every system but the default."""
    for start in STARTS:
        for step in STEPS:
            if (start, step) != ("hmm agreement", "smoothed"):  # reconstruction smooths nothing there
                yield start, step


def run(o):
    if not o.data:
        raise SystemExit("mre needs gold links: --data DIR")
    names = o.sets.split(",") if o.sets else texts.gold_sets(o.data)
    kept, own = Figures(o.work / "mre.tsv"), f"aligntools {code.of(_measure, texts.text, texts.beginning)}"
    found, sizes = {}, {}
    for name in names:
        text = texts.text(o.data, name, o.work)
        if text.n_pairs > max(o.pairs, text.n_gold):
            part = texts.beginning(text, max(o.pairs, text.n_gold), o.work)
            text = dataclasses.replace(part, gold=text.gold, n_gold=text.n_gold)
        key = f"{name} {text.n_pairs}"
        if (key, own) not in kept.rows:
            measuring.note(f"{name}: {text.n_pairs} pairs")
            kept.add(key, own, list(_measure(o, text)))
        found[name] = {row: figures[0] for row, figures in kept.rows[key, own].items()}
        sizes[name] = text.n_pairs
    return _body(o, found, sizes)


def _measure(o, text):
    """Yield (system and way, AER, precision, recall)."""
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        folder = Path(folder)
        common = ["-q", "--threads", o.threads, "-s", text.source, "-t", text.target]
        for start, flags in STARTS.items():
            model = folder / "model"
            for step, more in STEPS.items():
                if (start, step) not in set(systems()):
                    continue
                command = ["align", *common, *flags, "--save-model", model]
                if step != "EM":
                    command = ["mre-align", *common, "--init-model", model, *more]
                yield from _aligned(folder, command, text, f"{start} {step}")
        yield from _aligned(folder, ["align", *common], text, DEFAULT)


def _aligned(folder, command, text, name):
    out, forward, reverse = (folder / way for way in ("joint", "forward", "reverse"))
    single = ["--forward-output", forward, "--reverse-output", reverse]
    measuring.run(measuring.aligntools(*command, "-o", out, *single))
    both = folder / "symmetrized"
    measuring.run(measuring.aligntools("symmetrize", "-c", HEURISTIC, "-i", forward, "-j", reverse), both)
    for way, path in zip(WAYS, (forward, reverse, both, out), strict=True):
        yield f"{name} {way}", *evaluate(path, text)


def _body(o, found, sizes):
    parts = [
        "AER in percent; the texts are lower-cased and cut to"
        f" {o.pairs:,} pairs. EM is the start; MRE is what reconstruction makes of it with default settings;"
        " *smoothed* is the start with its words smoothed as MRE smooths them, without any step of MRE. *hmm"
        " agreement* starts from"
        " variational Bayes with agreement, the others from EM, each direction by itself."
    ]
    for way in WAYS:
        columns = [f"{start} {step}" for start, step in systems()] + [DEFAULT]
        lines = []
        for name, aers in found.items():
            lines.append([name, f"{sizes[name]:,}", *(f"{aers[f'{c} {way}']:.1f}" for c in columns)])
        means = [statistics.mean(aers[f"{c} {way}"] for aers in found.values()) for c in columns]
        lines.append(["mean", "", *(f"**{x:.1f}**" for x in means)])
        parts += [f"### {way}", report.table(["gold set", "pairs", *columns], lines)]
    parts.append("### MRE against its start\n\n" + report.table(["start", *WAYS], list(_wins(found))))
    parts.append(report.circumstances(o.threads))
    return "\n\n".join(parts)


def _wins(found):
    """Yield for each start on how many sets MRE is lower and higher, as the tables round it, and the mean change."""
    for start in STARTS:
        cells = []
        for way in WAYS:
            both = [(aers[f"{start} MRE {way}"], aers[f"{start} EM {way}"]) for aers in found.values()]
            lower, higher = sum(a < b for a, b in both), sum(a > b for a, b in both)
            change = statistics.mean(a - b for a, b in both)
            cells.append(f"lower on {lower}, higher on {higher} of {len(both)}; {change:+.1f}")
        yield [start, *cells]
