"""Tag induction as Cheng, Liu & Xu (2017) have it, on treebank text: their Tables 1 and 2."""

import dataclasses
import json
import statistics
from pathlib import Path

import numpy as np

from bench import code, measuring, report, treebanks

#: EM on has as many more iterations as MRE has steps.
SYSTEMS = ("EM", "EM on", "MRE")
#: Iterations of EM, steps of MRE and iterations that EM goes on for.
ITERATIONS, STEPS = 100, 50
FIGURES = ("accuracy", "VI", "ln P(x\\|x) a sentence", "ln P(x) a sentence")


def arguments(parser):
    parser.add_argument("--treebanks", required=True, type=Path, metavar="DIR", help="folder of ud/ and google/")
    parser.add_argument("--texts", default="ewt", metavar="A,B", help="[%(default)s]")
    parser.add_argument("--states", default="10,20,30,40,50", metavar="N,N..", help="[%(default)s]")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="random starts each [%(default)s]")
    parser.add_argument(
        "--sizes", default="1000,2000,4000,8000", metavar="N,N..",
        help="sentences of the first text to learn from, with the last number of states [%(default)s]",
    )  # fmt: skip


def run(o):
    from aligntools.ground.parallel import Pool

    kept = _Kept(o.work / f"induction-paper-{code.of(_once, _beginning)}.jsonl")
    states = list(map(int, o.states.split(",")))
    parts = [
        "Tags are induced from the words alone by `train-hmm --text --preset paper`, and each word takes its most"
        f" probable state. EM has {ITERATIONS} iterations, *EM on* {STEPS} more, MRE {STEPS} steps from where EM is."
        " The chain does not know the end of a sentence, and nothing is smoothed. Gold: XPOS. Mean and standard"
        " deviation over the seeds; accuracy is many-to-1 in percent, VI in bits.",
    ]
    with Pool(o.threads) as pool:
        for name in o.texts.split(","):
            text = treebanks.read(o.treebanks, treebanks.TEXTS[name], "xpos")
            rows = {n: kept.get(name, text, n, o.seeds, pool) for n in states}
            parts.append(f"### {name}: {_size(text)}\n\n" + _by_states("states", rows))
        name = o.texts.split(",")[0]
        whole = treebanks.read(o.treebanks, treebanks.TEXTS[name], "xpos")
        rows = {}
        for sentences in [*map(int, filter(None, o.sizes.split(","))), len(whole.offsets) - 1]:
            text = _beginning(whole, sentences)
            rows[f"{sentences:,}"] = kept.get(name, text, states[-1], o.seeds, pool)
        parts.append(f"### {name} by sentences, {states[-1]} states\n\n" + _by_states("sentences", rows))
    return "Tag induction as the paper has it", "\n\n".join([*parts, report.circumstances(o.threads)])


class _Kept:
    """What was measured of a text, number of states and seed, a line of JSON each: a run may be broken off."""

    def __init__(self, path):
        lines = path.read_text().splitlines() if path.exists() else ()
        self.path, self.rows = path, {tuple(r["of"]): r["found"] for r in map(json.loads, lines)}

    def get(self, name, text, states, seeds, pool):
        """Return the figures of every seed, by system."""
        out = []
        for seed in range(1, seeds + 1):
            key = (name, len(text.offsets) - 1, states, seed)
            if key not in self.rows:
                self.rows[key] = _once(text, states, seed, pool)
                with open(self.path, "a") as file:
                    file.write(json.dumps({"of": key, "found": self.rows[key]}) + "\n")
                measuring.note(f"{key}: {self.rows[key]}")
            out.append(self.rows[key])
        return out


def _beginning(text, sentences):
    words = int(text.offsets[sentences])
    return dataclasses.replace(
        text, words=text.words[:words], offsets=text.offsets[: sentences + 1], tags=text.tags[:words],
        lines=text.lines[:sentences],
    )  # fmt: skip


def _size(text):
    return f"{len(text.words):,} words, {len(set(text.words)):,} types, {len(text.offsets) - 1:,} sentences"


def _once(text, states, seed, pool):
    """Return (many-to-1, VI, mean ln P(x|x), mean ln P(x)) of each system, and the last relative gains of EM."""
    from aligntools.tagging.chains import induction, reconstruction
    from aligntools.tagging.chains.chain import ChainText
    from aligntools.tagging.settings import INDUCTION_PRESETS, InductionSettings

    numbers = {}
    tokens = np.fromiter((numbers.setdefault(w, len(numbers)) for w in text.words), np.int32, len(text.words))
    corpus = ChainText(tokens, text.offsets, len(numbers))

    how = InductionSettings(states, iterations=ITERATIONS, seed=seed, **INDUCTION_PRESETS["paper"])
    chain = induction.induce(tokens, text.offsets, len(numbers), pool, how).chain
    climbed, _ = reconstruction.reconstruct(chain, corpus, pool, STEPS)
    learner = induction.LEARNERS["em"](chain, (0.0, 0.0, 0.0), how.stop)
    objectives, _ = induction._climb(learner, corpus, pool, STEPS, how.tolerance, lambda *_: None)
    found = {
        system: _figures(c, corpus, text, pool)
        for system, c in zip(SYSTEMS, (chain, learner.result(), climbed), strict=True)
    }
    return {"figures": found, "gain": (objectives[-1] - objectives[-2]) / abs(objectives[-1])}


def _figures(chain, corpus, text, pool):
    from aligntools.metrics.tags import Tagging
    from aligntools.tagging.chains.chain import expected_counts, posterior_decode
    from aligntools.tagging.chains.reconstruction import reconstruction

    labels = [b"%d" % state for state in posterior_decode(chain, corpus, pool)]
    scores = Tagging().score(text, dataclasses.replace(text, tags=labels))
    likelihood = expected_counts(chain, corpus, pool).loglik.mean()
    objective = reconstruction(chain, corpus, pool)[0].mean()
    return [100 * scores.many_to_one, scores.information.vi, float(objective), float(likelihood)]


def _by_states(head, rows):
    parts = []
    for number, figure in enumerate(FIGURES[:3]):
        lines = []
        for key, seeds in rows.items():
            cells = [_spread([found["figures"][system][number] for found in seeds]) for system in SYSTEMS]
            lines.append([key, *cells])
        parts.append(report.table([f"{head}; {figure}", *SYSTEMS], lines))
    wins = []
    for a, b in (("MRE", "EM"), ("MRE", "EM on")):
        better = []
        for key, seeds in rows.items():
            pairs = [(found["figures"][a], found["figures"][b]) for found in seeds]
            better.append(f"{key}: {sum(x[0] > y[0] for x, y in pairs)} and {sum(x[1] < y[1] for x, y in pairs)}")
        said = f"Seeds (of {len(seeds)}) on which {a} is better than {b} in accuracy and in VI"
        wins.append(f"{said}: {'; '.join(better)}.")
    gains = [found["gain"] for seeds in rows.values() for found in seeds]
    wins.append(f"The last iteration of *EM on* gained at most {max(gains):.1e} of the log-likelihood.")
    return "\n\n".join([*parts, " ".join(wins)])


def _spread(values):
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.mean(values):.2f} ± {spread:.2f}"
