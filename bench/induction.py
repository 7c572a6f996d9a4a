"""Tag induction by EM and by reconstruction on treebank text: Table 1 of Cheng, Liu & Xu (2017)."""

import dataclasses
import statistics

import numpy as np

from bench import measuring, report, treebanks


def run(o):
    from aligntools.ground.parallel import Pool

    parts = [
        "Tags are induced from the words alone, by EM (100 iterations) and by maximum reconstruction estimation (50"
        " steps from the same EM solution), with the defaults of `train-hmm --text`, and each word takes its most"
        " probable state. Gold: XPOS. Mean and standard deviation over the seeds; accuracy is many-to-1 in percent,"
        " VI in bits; the last columns are the mean of ln P(x|x) per sentence.",
    ]
    with Pool(o.threads) as pool:
        parts += [_text(o, name, pool) for name in o.texts.split(",")]
    return "\n\n".join([*parts, report.circumstances(o.threads)])


def _text(o, name, pool):
    text = treebanks.read(o.treebanks, treebanks.TEXTS[name], "xpos")
    numbers = {}
    tokens = np.fromiter((numbers.setdefault(w, len(numbers)) for w in text.words), np.int32, len(text.words))
    rows, better = [], []
    for states in map(int, o.states.split(",")):
        found = [_once(tokens, text, len(numbers), states, seed, pool) for seed in range(1, o.seeds + 1)]
        measuring.note(f"{name}, {states} states: {found}")
        cells = [[f[kind][figure] for f in found] for figure in range(3) for kind in (0, 1)]
        rows.append([states, *(_mean(c, 100 if n < 2 else 1) for n, c in enumerate(cells))])
        better.append(sum(b[0] > a[0] for a, b in found) + 1j * sum(b[1] < a[1] for a, b in found))
    wins = "; ".join(f"{r[0]}: {int(b.real)} and {int(b.imag)}" for r, b in zip(rows, better, strict=True))
    header = ["states", "accuracy EM", "MRE", "VI EM", "MRE", "ln P(x\\|x) EM", "MRE"]
    size = f"{len(text.words):,} words, {len(numbers):,} types, {len(text.offsets) - 1:,} sentences"
    note = f"Seeds (of {o.seeds}) on which MRE is better in accuracy and in VI, by states: {wins}."
    return "\n\n".join([f"### {name}: {size}", report.table(header, rows), note])


def _once(tokens, text, n_words, states, seed, pool):
    """Return (many-to-1, VI, mean ln P(x|x)) of EM and of MRE."""
    from aligntools.metrics.tags import TagScore
    from aligntools.tagging import induction
    from aligntools.tagging.chain import ChainText, posteriors
    from aligntools.tagging.settings import InductionSettings

    corpus = ChainText(tokens, text.offsets, n_words)
    chain = induction.induce(tokens, text.offsets, n_words, pool, InductionSettings(states=states, seed=seed)).model
    climbed, objectives = induction.reconstruct(chain, corpus, pool)
    out = []
    for model, objective in ((chain, objectives[0]), (climbed, objectives[-1])):
        labels = [b"%d" % state for state in posteriors(model, corpus, pool).argmax(1)]
        scores = TagScore.of(text, dataclasses.replace(text, tags=labels))
        out.append((scores.many_to_one, scores.information.vi, objective))
    return out


def _mean(values, times):
    values = [v * times for v in values]
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.mean(values):.2f} ± {spread:.2f}"
