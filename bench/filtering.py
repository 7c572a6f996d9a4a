"""How well alignment scores tell translations from noise: AUC on four kinds of it, and what the defaults keep."""

import functools
import json
import random
import tempfile
from pathlib import Path

import numpy as np

from bench import code, measuring, peers, report, texts

#: What the score and its default threshold were chosen on, and what nothing was chosen on.
CHOSEN = ("en-de.train", "en-fr.train", "en-cs.train", "en-sv.train")
HELD_OUT = ("en-es.europarl", "en-it.train", "en-ja.train", "en-zh.train")
NOISE = ("shuffled", "by one", "half", "copied")
PAIRS, SEED = 20_000, 1


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


class Kept:
    """Figures kept in a file, so that nothing is measured twice."""

    def __init__(self, path):
        self._path, self.rows = path, json.loads(path.read_text()) if path.exists() else {}

    def of(self, key, measure):
        """Return the figures of a key, measured if they are not there."""
        if key not in self.rows:
            self.rows[key] = measure()
            self._path.write_text(json.dumps(self.rows))
        return self.rows[key]


def rates(figures_of, kinds):
    """Return the AUC of each kind of noise, for each figure."""
    return {
        name: [float(auc(np.array(value)[kinds == 0], np.array(value)[kinds == k])) for k in range(1, len(NOISE) + 1)]
        for name, value in figures_of.items()
    }


def run(o):
    if not o.data:
        raise SystemExit("filtering needs text: --data DIR")
    own = Kept(o.work / f"filtering-{code.of(noisy, ours, rates)}.json")
    others = Kept(o.work / f"filtering-peers-{code.of(noisy, theirs, rates)}.json")
    rows, kept = [], []
    for name in o.sets.split(",") if o.sets else CHOSEN + HELD_OUT:
        source, target, kinds = noisy(o.data, name)

        def measure(source=source, target=target, kinds=kinds):
            found = ours(o, source, target)
            passed = np.array(found.pop("kept"))
            return {
                "auc": rates(found, kinds),
                "kept": [float(passed[kinds == k].mean()) for k in range(len(NOISE) + 1)],
            }

        def measure_peer(tool, source=source, target=target, kinds=kinds):
            return rates(theirs(o, tool, source, target), kinds)

        found = own.of(name, measure)
        table = {("aligntools", figure): values for figure, values in found["auc"].items()}
        for tool in peers.available(o):
            measured = others.of(f"{name} {tool}", functools.partial(measure_peer, tool))
            table[tool, "scores"] = [max(column) for column in zip(*measured.values(), strict=True)]
        rows += [[name, *system, *(f"{value:.4f}" for value in values)] for system, values in table.items()]
        kept.append([name, f"{len(kinds):,}", *(f"{100 * x:.1f}" for x in found["kept"])])
    body = [
        f"{report.circumstances(o.threads)} {PAIRS:,} pairs of each text (or as many as there are), lower-cased, 4 to"
        " 60 words a side. A tenth each has another pair's target, the next line's, the first half of its target, or"
        " its source as target; each system is trained on all of them. AUC of the pairs as they are against each tenth."
        " Of the next lines some are translations too. Other aligners: both directions, in each column the better of"
        " two ways of joining them, their mean and the worse; fast_align's scores are divided by the words. Our score"
        f" and its threshold were chosen on {', '.join(CHOSEN)}; nothing was chosen on the others.",
    ]
    body.append(report.table(["text", "system", "figure", *NOISE], rows))
    body.append("Percent of pairs that `aligntools filter` keeps with its defaults:")
    body.append(report.table(["text", "pairs", "as they are", *NOISE], kept))
    return "\n\n".join(body)
