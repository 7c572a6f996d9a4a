"""``fast_align`` and its stand-in: the same links, scores, tension and table, and what each of them costs."""

import json
import os
import re
import sys
import tempfile
from pathlib import Path

from bench import code, measuring, report, texts

#: What is compared: both directions as they are recommended; on up to so many pairs also with less than that.
FLAGS, LESS, SOME = (("-d", "-o", "-v"), ("-d", "-o", "-v", "-r")), (("-d",), ()), 100_000


def run(o):
    if not o.data or not o.fast_align:
        raise SystemExit("fast_align_form needs text and fast_align: --data DIR --fast-align PATH")
    kept = o.work / f"fast-align-form-{code.of(_costs, _likeness, texts.text, texts.beginning)}.json"
    found = json.loads(kept.read_text()) if kept.exists() else {}
    whole = texts.text(o.data, o.set, o.work)
    measuring.run(measuring.aligntools("warmup", "-q"))
    rows = []
    for size in [int(x) for x in o.sizes.split(",")]:
        text = texts.beginning(whole, size, o.work) if size else whole
        for flags in FLAGS + (LESS if text.n_pairs <= SOME else ()):
            key = f"{text.name} {' '.join(flags)}"
            for what, measure in ((key, _costs), (f"{key} likeness", _likeness)):
                if what not in found:
                    measuring.note(what)
                    found[what] = measure(o, text, flags)
                    kept.write_text(json.dumps(found))
            cells = *_alike(found[f"{key} likeness"]), *_cells(found[key])
            rows.append([f"{text.n_pairs:,}", " ".join(flags) or "none", *cells])
    header = [
        "pairs", "flags", "tension", "ours", "F1 of links", "of its own", "lines alike, %", "scores differ by", "s",
        "ours", "CPU s", "ours", "peak MB", "ours",
    ]  # fmt: skip
    body = [
        f"`fast_align -i {o.set} -s` with the flags given, and the stand-in of that name: the last tension on standard"
        " error; F1 of the stand-in's links against fast_align's own, in percent; the share of lines with the same"
        " links; the greatest difference of two scores, as a share of the score. fast_align adds counts of several"
        " threads without locks, so that no run is like another: it ran on one thread for this, *of its own* is the F1"
        f" of its links on {o.threads} threads against these. Words that occur in one sentence alone are exact ties;"
        " rounding decides there. Seconds, CPU seconds and largest resident memory are of one run each, start to exit,"
        f" on {o.threads} threads both.",
        report.table(header, rows),
        report.circumstances(o.threads),
    ]
    return "\n\n".join(body)


def _run(o, system, text, flags, output, threads):
    """Align with one of the two; return what it took, and the last tension that it told."""
    ours = [sys.executable, "-m", "aligntools.cli.standins", "fast_align"]
    program = [o.fast_align] if system == "fast_align" else ours
    command = [*program, "-i", text.joint, "-s", *flags]
    usage = measuring.run(command, output, OMP_NUM_THREADS=str(threads))
    tensions = re.findall(r"final tension: (\S+)", usage.messages)
    return usage, tensions[-1] if "-o" in flags else ""


def _costs(o, text, flags):
    """Return what each of the two takes."""
    found = {}
    for system in ("fast_align", "ours"):
        usage, _ = _run(o, system, text, flags, os.devnull, o.threads)
        found[system] = {"seconds": usage.seconds, "cpu": usage.cpu, "peak": usage.peak}
    return found


def _likeness(o, text, flags):
    """Return how like fast_align's output on one thread the stand-in's is, and its own on several."""
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        one, several, ours = (Path(folder) / name for name in ("one", "several", "ours"))
        _, tension = _run(o, "fast_align", text, flags, one, 1)
        _run(o, "fast_align", text, flags, several, o.threads)
        _, own = _run(o, "ours", text, flags, ours, o.threads)
        return {"tensions": [tension, own], "own": _compare(one, several)["f1"], **_compare(one, ours)}


def _compare(theirs, ours):
    """Return the F1 of two files' links, the share of lines alike, and how far scores are apart."""
    both = one = other = alike = n = 0
    apart = 0.0
    with open(theirs) as first, open(ours) as second:
        for a, b in zip(first, second, strict=True):
            (a, a_score), (b, b_score) = (line.rsplit("|||", 1) for line in (a, b))
            a, b = set(a.split()), set(b.split())
            both, one, other = both + len(a & b), one + len(a), other + len(b)
            alike, n = alike + (a == b), n + 1
            apart = max(apart, abs(float(a_score) - float(b_score)) / max(abs(float(a_score)), 1e-9))
    return {"f1": 200 * both / max(one + other, 1), "alike": 100 * alike / n, "apart": apart}


def _alike(figures):
    yield from figures["tensions"]
    yield from (f"{figures[key]:.4f}" for key in ("f1", "own"))
    yield f"{figures['alike']:.3f}"
    yield f"{figures['apart']:.0e}"


def _cells(figures):
    both = figures["fast_align"], figures["ours"]
    for key, scale, form in (("seconds", 1, "{:.1f}"), ("cpu", 1, "{:.1f}"), ("peak", 1e6, "{:,.0f}")):
        yield from (form.format(x[key] / scale) for x in both)
