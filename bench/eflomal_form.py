"""``eflomal-align`` and its stand-in on every gold set: AER of the same symmetrizations, and time."""

import json
import sys
import tempfile
from pathlib import Path

from bench import code, measuring, peers, report, texts
from bench.quality import evaluate

GIVEN = "grow-diag-final-and"


def run(o):
    if not o.data or not o.eflomal:
        raise SystemExit("eflomal_form needs gold links and eflomal-align: --data DIR --eflomal PATH")
    kept = o.work / f"eflomal-form-{code.of(_measured, texts.text)}.json"
    found = json.loads(kept.read_text()) if kept.exists() else {}
    for name in texts.gold_sets(o.data):
        if name in found or (o.sets and name not in o.sets.split(",")):
            continue
        text = texts.text(o.data, name, o.work)
        measuring.note(f"{name}: {text.n_pairs} pairs")
        found[name] = {"pairs": text.n_pairs} | {system: _measured(o, system, text) for system in ("eflomal", "ours")}
        kept.write_text(json.dumps(found))
    rows = [
        [name, f"{found[name]['pairs']:,}", *_cells(found[name])] for name in texts.gold_sets(o.data) if name in found
    ]
    below = [sum(f["ours"][k] < f["eflomal"][k] for f in found.values()) for k in ("given", "best", "cpu")]
    body = [
        "`eflomal-align -s -t -f -r` and the stand-in of that name, both with their defaults: AER in percent of atools'"
        f" {GIVEN} and of the best of forward, reverse and five symmetrizations, chosen on the gold links; CPU seconds"
        " and seconds of one run each, from start to exit, on a machine that did other things too.",
        report.table(
            ["gold set", "pairs", f"eflomal {GIVEN}", "ours", "eflomal, its best", "ours, its best", "eflomal CPU s",
             "ours", "eflomal s", "ours"],
            rows,
        ),
        f"Ours is below on {below[0]} of {len(found)} sets with {GIVEN}, on {below[1]} with the best, in CPU time on"
        f" {below[2]}.",
        report.circumstances(o.threads),
    ]  # fmt: skip
    return "\n\n".join(body)


def _measured(o, system, text):
    """Return AERs and times of one of the two."""
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        ours = [sys.executable, "-m", "aligntools.cli.standins", "eflomal-align"]
        program = [o.eflomal] if system == "eflomal" else ours
        files = ["-s", text.source, "-t", text.target, "-f", f"{folder}/forward", "-r", f"{folder}/reverse"]
        usage = measuring.run([*program, *files], OMP_NUM_THREADS=str(o.threads))
        aers = {}
        for name in ("forward", "reverse", *peers.HEURISTICS):
            if name in peers.HEURISTICS:
                peers.symmetrize(o, folder, name, name)
            aers[name] = evaluate(Path(folder) / name, text)[0]
    best = min(aers, key=aers.get)
    return {"given": aers[GIVEN], "best": aers[best], "name": best, "cpu": usage.cpu, "seconds": usage.seconds}


def _cells(figures):
    theirs, ours = figures["eflomal"], figures["ours"]
    yield from (f"{x['given']:.1f}" for x in (theirs, ours))
    yield from (f"{x['best']:.1f} {x['name']}" for x in (theirs, ours))
    yield from (f"{x['cpu']:.1f}" for x in (theirs, ours))
    yield from (f"{x['seconds']:.1f}" for x in (theirs, ours))
