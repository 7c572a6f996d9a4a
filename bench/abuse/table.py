"""The report: how many cases of each kind, and what came of them."""

import json
from collections import Counter, defaultdict

from bench import report
from bench.abuse import driving, faults, inputs, kills, lines, options
from bench.abuse.verdicts import GOOD

PARTS = ("inputs", "options", "faults", "kills")


def run(o):
    """Run the harness; return the section's title and text."""
    place = driving.prepare(o.work) if set(o.parts) & set(PARTS) else None
    chosen = [line.number for line in lines.read() if not o.lines or line.number in o.lines]
    common = {"place": str(place), "seed": o.seed}
    found = _kept(o.cases, o.parts) if o.cases and o.cases.exists() else {}
    if "inputs" in o.parts:
        found["inputs"] = inputs.everything(chosen, common | {"random": o.random, "contents": o.contents}, o.jobs)
    if "options" in o.parts:
        found["options"] = options.everything(chosen, common, o.jobs)
    if "faults" in o.parts:
        found["faults"] = faults.everything(place, o.seed, o.faults, o.jobs)
    if "kills" in o.parts:
        found["kills"] = kills.everything(place, o.seed, o.kills, o.jobs)
    if o.cases:
        with open(o.cases, "w", encoding="utf-8") as file:
            for part, results in found.items():
                file.writelines(json.dumps({"part": part} | r) + "\n" for r in results)
    found = {part: found[part] for part in PARTS if part in found}
    return "\n\n".join([*text(found, o.seed), report.circumstances()])


def _kept(path, parts):
    """Return the cases of an earlier run, but those of some parts."""
    found = defaultdict(list)
    for line in path.read_text("utf-8").splitlines():
        result = json.loads(line)
        if result["part"] not in parts:
            found[result.pop("part")].append(result)
    return dict(found)


def text(found: dict[str, list[dict]], seed: int):
    """Yield the paragraphs of the report."""
    yield (
        f"Seed {seed}. Inputs: every input file of {len(lines.read())} command lines, damaged in fixed and random ways,"
        " model files also under a right checksum. Options: every option of every command, with values that make no"
        " sense. Faults: full disks, signals, closed streams, limits of memory, folders and homes that are not as they"
        " should be. Kills: commands with checkpoints, killed at random moments and continued; in the end the bytes"
        " must be those of the unbroken run. Done: as many lines out as in; refused: one line that names the file."
    )
    groups = defaultdict(Counter)
    for part, results in found.items():
        for result in results:
            groups[part, str(result.get("kind", ""))][_column(result["verdict"])] += 1
    rows = [
        [part, kind, sum(c.values()), c["done"], c["refused"], c["not as promised"]]
        for (part, kind), c in sorted(groups.items())
    ]
    totals = {part: Counter(_column(r["verdict"]) for r in results) for part, results in found.items()}
    rows += [
        [part, "all", sum(c.values()), c["done"], c["refused"], c["not as promised"]] for part, c in totals.items()
    ]
    yield report.table(["part", "of", "cases", "done", "refused", "not as promised"], rows)
    bad = Counter((part, r["verdict"]) for part, results in found.items() for r in results if r["verdict"] not in GOOD)
    if bad:
        yield "Not as promised: " + ", ".join(f"{part} {word} {n}" for (part, word), n in bad.most_common()) + "."


def _column(verdict):
    return verdict if verdict in GOOD else "not as promised"
