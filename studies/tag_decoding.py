"""Posterior decoding against Viterbi: accuracy of tags and of whole sentences, with paired tests."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench import code, measuring, report, treebanks

#: Models: how they are trained.
MODELS = {
    "relative frequencies": {"latent": 1, "relative_frequencies": True},
    "latent 1": {"latent": 1},
    "latent 8, one model": {"latent": 8, "members": 1},
    "latent 8, four models": {},
}
DECODERS = ("posterior", "viterbi")
#: Resamples of the sentences.
DRAWN = 10_000


def arguments(parser):
    parser.add_argument("--treebanks", required=True, type=Path, metavar="DIR", help="folder of ud/ and google/")
    parser.add_argument("--sets", default=",".join(treebanks.TAGGED), metavar="A,B", help="[%(default)s]")


def run(o):
    kept = o.work / f"tag_decoding-{code.of(_measured)}.json"
    found = json.loads(kept.read_text()) if kept.exists() else {}
    for name in o.sets.split(","):
        if name not in found:
            found[name] = _measured(o, name)
            kept.write_text(json.dumps(found))
            measuring.note(f"{name}: {found[name]}")
    tables = [
        report.table(["treebank", *(f"{model}, {what}" for model in MODELS for what in ("posterior", "Viterbi"))],
                     [[name, *_cells(found[name], kind)] for name in o.sets.split(",")])
        for kind in ("words", "sentences")
    ]  # fmt: skip
    differences = report.table(
        ["treebank", *(f"{model}, {kind}" for model in MODELS for kind in ("words", "sentences"))],
        [[name, *_differences(found[name])] for name in o.sets.split(",")],
    )
    body = [
        "The same taggers (`train-tagger --tagged`, UPOS) with `tag --posterior`, the most probable tag of each word,"
        " and with `tag --viterbi`, the most probable sequence of tags: percent of words that get the right tag on the"
        " test files. With substates or several models, *Viterbi* is the max-rule product over tags (see"
        " docs/models/tagging.md). Nothing was chosen here; relative frequencies know no unknown words.",
        tables[0],
        "Percent of sentences without a wrong tag:",
        tables[1],
        f"Posterior minus Viterbi, in points, with 95 % intervals of {DRAWN:,} resamples of the sentences and p of"
        " paired randomization:",
        differences,
        report.circumstances(o.threads),
    ]
    return "Posterior decoding against Viterbi", "\n\n".join(body)


def _measured(o, name):
    """Return of each model, by words and by sentences: both accuracies, the difference, its interval and p."""
    import aligntools as at
    from aligntools.ground.resampling import compare

    train, test, _ = treebanks.TAGGED[name]
    training, gold = (treebanks.read(o.treebanks, (file,), "upos") for file in (train, test))
    plain, sizes = replace(gold, tags=None), np.diff(gold.offsets)
    full = sizes > 0
    found = {}
    for model, how in MODELS.items():
        tagger = at.train_tagger(training, threads=o.threads, **how)
        counts = {"words": [], "sentences": []}
        for decoder in DECODERS:
            tags = tagger.tag_text(plain, decode=decoder, threads=o.threads).tags
            right = np.fromiter((a == b for a, b in zip(tags, gold.tags, strict=True)), np.int64, len(tags))
            own = np.add.reduceat(right, gold.offsets[:-1][full])
            counts["words"].append(np.stack([own, sizes[full]], 1))
            counts["sentences"].append(np.stack([own == sizes[full], np.ones(len(own), bool)], 1).astype(np.int64))
        found[model] = {}
        for kind, (one, two) in counts.items():
            test_ = compare(one, two, _share, DRAWN)
            accuracies = [100 * float(_share(x.sum(0))) for x in (one, two)]
            interval = [100 * float(x) for x in test_.interval]
            found[model][kind] = [*accuracies, 100 * float(test_.value), *interval, float(test_.p_value)]
    return found


def _share(totals):
    return totals[..., 0] / totals[..., 1]


def _cells(found, kind):
    for model in MODELS:
        pair = found[model][kind][:2]
        yield from (f"**{x:.2f}**" if x == max(pair) else f"{x:.2f}" for x in pair)


def _differences(found):
    for model in MODELS:
        for kind in ("words", "sentences"):
            _, _, value, low, high, p = found[model][kind]
            yield f"{value:+.2f} ({low:+.2f} to {high:+.2f}), {p:.3f}"
