"""How well alignment scores tell translations from noise: AUC on four kinds of it, and what the defaults keep."""

import functools
import json
import random
import tempfile
from pathlib import Path

import numpy as np

from bench import measuring, peers, report, texts

#: What the score and its default threshold were chosen on, and what nothing was chosen on.
CHOSEN = ("en-de.train", "en-fr.train", "en-cs.train", "en-sv.train")
HELD_OUT = ("en-es.europarl", "en-it.train", "en-ja.train", "en-zh.train")
NOISE = ("shuffled", "by one", "half", "copied")
PAIRS, SEED = 20_000, 1


def arguments(parser):
    parser.add_argument("--sets", metavar="A,B", help="only these texts, such as en-de.train [all]")


def noisy(data, name, n=PAIRS):
    """Return ``source, target, kind`` of pairs of a text, four times a tenth of them made wrong.

    ``kind`` is 0 for pairs as they are; then the numbers of `NOISE`: another pair's target, the next line's, the first
    half of the target, the source itself.
    """
    pair, part = name.split(".")
    e, f = (list(texts.lines(data, pair, part, language)) for language in (pair[:2], pair[3:]))
    usable = [
        i for i in range(len(e) - 1)
        if all(4 <= len(side[i].split()) <= 60 and "|||" not in side[i] for side in (e, f)) and e[i] != f[i]
    ]  # fmt: skip
    rng = random.Random(SEED)
    chosen = sorted(rng.sample(usable, min(n, len(usable))))
    source, target = [e[i] for i in chosen], [f[i] for i in chosen]
    clean, kinds = list(target), np.zeros(len(chosen), int)
    order = list(range(len(chosen)))
    rng.shuffle(order)
    tenth = len(order) // 10
    groups = [order[k * tenth : (k + 1) * tenth] for k in range(len(NOISE))]
    for kind, group in enumerate(groups, 1):
        kinds[group] = kind
    for here, there in zip(groups[0], groups[0][1:] + groups[0][:1], strict=True):
        target[here] = clean[there]
    for here in groups[1]:
        target[here] = f[chosen[here] + 1] or "-"
    for here in groups[2]:
        words = clean[here].split()
        target[here] = " ".join(words[: (len(words) + 1) // 2])
    for here in groups[3]:
        target[here] = source[here]
    return source, target, kinds


def auc(good, bad):
    """Return how often a good pair's figure is above a bad one's; ties count half."""
    both = np.sort(np.concatenate([good, bad]))
    ranks = (np.searchsorted(both, good) + np.searchsorted(both, good, "right") + 1) / 2
    return (ranks.sum() - len(good) * (len(good) + 1) / 2) / len(good) / len(bad)


def ours(o, source, target):
    """Return figures of each pair, by name, from a model trained on these pairs themselves."""
    import aligntools as at

    found = at.filter_pairs(source, target, threads=o.threads)
    return {
        "score": [pair.score for pair in found], "ln p per word": [pair.log_probability for pair in found],
        "coverage": [min(pair.source_coverage, pair.target_coverage) for pair in found],
        "not copied": [-pair.copied for pair in found], "kept": [pair.kept for pair in found],
    }  # fmt: skip


def theirs(o, tool, source, target):
    """Return the two directions' scores of each pair, the higher the better, in two ways of making one of them."""
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        place = functools.partial(Path, folder)
        for name, side in (("s", source), ("t", target)):
            place(name).write_text("".join(line + "\n" for line in side), encoding="utf-8")
        if tool == "eflomal":
            files = ["-s", place("s"), "-t", place("t"), "-f", place("f"), "-r", place("r")]
            measuring.run([o.eflomal, "--overwrite", *files, "-F", place("F"), "-R", place("R")])
            directions = [-np.loadtxt(place(name)) for name in "FR"]
        else:
            place("j").write_text(
                "".join(f"{a} ||| {b}\n" for a, b in zip(source, target, strict=True)), encoding="utf-8"
            )
            directions = []
            for flags, side in (((), target), (("-r",), source)):
                command = [o.fast_align, "-i", place("j"), "-d", "-o", "-v", "-s", *flags]
                measuring.run(command, place("out"), OMP_NUM_THREADS=str(o.threads))
                rows = place("out").read_text().splitlines()
                total = np.array([float(row.rsplit(" ||| ", 1)[1]) for row in rows])
                directions.append(total / [len(line.split()) for line in side])
    return {"mean": np.mean(directions, axis=0), "worse": np.min(directions, axis=0)}


def figures(o, name):
    """Return the rows of a text: ``system, AUC of each kind of noise``; and what the defaults keep of each kind."""
    source, target, kinds = noisy(o.data, name)
    good = kinds == 0
    measured = {("aligntools", key): np.array(value) for key, value in ours(o, source, target).items()}
    for tool in peers.available(o):
        measured |= {(tool, way): value for way, value in theirs(o, tool, source, target).items()}
    kept = measured.pop(("aligntools", "kept"))
    rows = [
        (tool, way, *(float(auc(value[good], value[kinds == k])) for k in range(1, len(NOISE) + 1)))
        for (tool, way), value in measured.items()
    ]
    return {"pairs": len(kinds), "rows": rows, "kept": [float(kept[kinds == k].mean()) for k in range(len(NOISE) + 1)]}


def run(o):
    if not o.data:
        raise SystemExit("filtering needs text: --data DIR")
    path = o.work / f"filtering-{report.code_hash()}.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    for name in o.sets.split(",") if o.sets else CHOSEN + HELD_OUT:
        if name not in known:
            known[name] = figures(o, name)
            path.write_text(json.dumps(known))
    body = [
        f"{report.circumstances(o.threads)} {PAIRS:,} pairs of each text (or as many as there are), lower-cased, 4 to"
        " 60 words a side. A tenth each has another pair's target, the next line's, the first half of its target, or"
        " its source as target; each system is trained on all of them. AUC of the pairs as they are against each tenth."
        " Of the next lines some are translations too. Other aligners: both directions, in each column the better of"
        " two ways of joining them, their mean and the worse; fast_align's scores are divided by the words. Our score"
        f" and its threshold were chosen on {', '.join(CHOSEN)}; nothing was chosen on the others.",
    ]
    rows = []
    for name, found in known.items():
        for tool, way, values in _best(found["rows"]):
            rows.append([name, tool, way, *(f"{value:.4f}" for value in values)])
    body.append(report.table(["text", "system", "figure", *NOISE], rows))
    kept = [[name, f"{found['pairs']:,}", *(f"{100 * x:.1f}" for x in found["kept"])] for name, found in known.items()]
    body.append("Percent of pairs that `aligntools filter` keeps with its defaults:")
    body.append(report.table(["text", "pairs", "as they are", *NOISE], kept))
    return "Filtering", "\n\n".join(body)


def _best(rows):
    """Return our rows as they are, of the others the better of the two ways in each column."""
    found = [(tool, way, values) for tool, way, *values in rows if tool == "aligntools"]
    for tool in dict.fromkeys(row[0] for row in rows if row[0] != "aligntools"):
        own = [values for name, _, *values in rows if name == tool]
        found.append((tool, "scores", [max(column) for column in zip(*own, strict=True)]))
    return found
