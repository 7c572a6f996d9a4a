"""``fast_align`` and its stand-in: the same links, scores, tension and table, and what each of them costs."""

import json
import re
import sys
import tempfile
from pathlib import Path

from bench import measuring, report, texts

SIZES = (20_000, 100_000, 0)  # 0: all of the text
#: What is compared: both directions as they are recommended; on up to so many pairs also with less than that.
FLAGS, LESS, SOME = (("-d", "-o", "-v"), ("-d", "-o", "-v", "-r")), (("-d",), ()), 100_000


def arguments(parser):
    parser.add_argument("--set", default="en-fr.dev", help="text whose beginnings are taken [%(default)s]")
    parser.add_argument("--sizes", metavar="N,N..", help="pairs; 0: all [20000,100000,0]")


def run(o):
    if not o.data or not o.fast_align:
        raise SystemExit("fast_align_form needs text and fast_align: --data DIR --fast-align PATH")
    kept = o.work / f"fast-align-form-{report.code_hash()}.json"
    found = json.loads(kept.read_text()) if kept.exists() else {}
    whole = texts.text(o.data, o.set, o.work)
    measuring.run(measuring.aligntools("warmup", "-q"))
    rows = []
    for size in [int(x) for x in o.sizes.split(",")] if o.sizes else SIZES:
        text = texts.beginning(whole, size, o.work) if size else whole
        for flags in FLAGS + (LESS if text.n_pairs <= SOME else ()):
            key = f"{text.name} {' '.join(flags)}"
            if key not in found:
                measuring.note(key)
                found[key] = _measured(o, text, flags)
                kept.write_text(json.dumps(found))
            rows.append([f"{text.n_pairs:,}", " ".join(flags) or "none", *_cells(found[key])])
    header = [
        "pairs", "flags", "tension", "ours", "F1 of links", "lines alike, %", "scores differ by", "s", "ours", "CPU s",
        "ours", "peak MB", "ours",
    ]  # fmt: skip
    body = [
        f"`fast_align -i {o.set} -s` with the flags given, and the stand-in of that name: the last tension on standard"
        " error; F1 of the stand-in's links against fast_align's own, in percent; lines with the same links; the"
        " greatest difference of two scores, as a share of the score. Seconds, CPU seconds and largest resident memory"
        " of one run each, from start to exit. fast_align's links themselves differ a little between runs where it has"
        " several threads: they add counts without waiting for each other.",
        report.table(header, rows),
        report.circumstances(o.threads),
    ]
    return "fast_align's form", "\n\n".join(body)


def _measured(o, text, flags):
    """Return how like the two's outputs are, and what each cost."""
    figures, outputs = {}, {}
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        for system in ("fast_align", "ours"):
            ours = [sys.executable, "-m", "aligntools.cli.standins", "fast_align"]
            program = [o.fast_align] if system == "fast_align" else ours
            outputs[system] = Path(folder) / system
            command = [*program, "-i", text.joint, "-s", *flags]
            usage = measuring.run(command, outputs[system], OMP_NUM_THREADS=str(o.threads))
            tensions = re.findall(r"final tension: (\S+)", usage.messages)
            figures[system] = {
                "tension": tensions[-1] if "-o" in flags else "", "seconds": usage.seconds, "cpu": usage.cpu,
                "peak": usage.peak,
            }  # fmt: skip
        return figures | _likeness(*outputs.values())


def _likeness(theirs, ours):
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


def _cells(figures):
    both = figures["fast_align"], figures["ours"]
    yield from (x["tension"] for x in both)
    yield f"{figures['f1']:.4f}"
    yield f"{figures['alike']:.3f}"
    yield f"{figures['apart']:.0e}"
    for key, scale, form in (("seconds", 1, "{:.1f}"), ("cpu", 1, "{:.1f}"), ("peak", 1e6, "{:,.0f}")):
        yield from (form.format(x[key] / scale) for x in both)
