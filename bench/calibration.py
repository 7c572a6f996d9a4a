"""How far the probabilities of ``--link-probabilities`` can be believed: the share of right links beside them.

A link is right if the gold links have it, as sure or as possible. *Expected calibration error* (Naeini et al. 2015) is
the mean distance of a link's probability from the share of right links, over ten bins of equal width.
"""

import statistics
from dataclasses import replace

import numpy as np

from bench import code, measuring, report, texts

WAYS = {"align": False, "align --best": True}
BINS = 10


def run(o):
    if not o.data:
        raise SystemExit("calibration needs gold links: --data DIR")
    kept, rows = measuring.Kept(o.work / "calibration.json"), {}
    for name in o.sets.split(",") if o.sets else texts.gold_sets(o.data):
        for way in WAYS:
            key = f"{name} {way} {o.pairs} {code.of(_measure, commands=('align',))}"
            rows[name, way] = kept.get(key, lambda n=name, w=way: _measure(o, n, w), f"{name}, {way}")
    return _body(o, rows)


def _measure(o, name, way):
    """Return the number of links, the share of right ones, the mean probability, and both errors."""
    import aligntools as at
    from aligntools.formats.links.goldlinks import read_gold

    text = texts.text(o.data, name, o.work)
    if text.n_pairs > max(o.pairs, text.n_gold):
        text = replace(texts.beginning(text, max(o.pairs, text.n_gold), o.work), gold=text.gold, n_gold=text.n_gold)
    found = at.align(text.source, text.target, best=WAYS[way], encoder=False, threads=o.threads)
    gold = read_gold(str(text.gold), format="pharaoh")
    n = int(found.table.offsets[text.n_gold])
    links = found.table[: text.n_gold]
    right = np.isin(_keys(links), np.concatenate([_keys(gold.sure), _keys(gold.possible)]))
    told = found.probabilities[:n].astype(np.float64)
    return {
        "pairs": text.n_pairs, "links": n, "right": float(right.mean()), "told": float(told.mean()),
        "error": calibration_error(told, right), "brier": float(((told - right) ** 2).mean()),
    }  # fmt: skip


def calibration_error(told, right):
    """Return the expected calibration error of probabilities, float64 [n], of what was right, bool [n]."""
    bins = np.clip((told * BINS).astype(int), 0, BINS - 1)
    sums = np.bincount(bins, told - right, BINS)
    return float(np.abs(sums).sum() / len(told))


def _keys(links):
    return (links.sentences().astype(np.int64) << 32) | (links.pairs[:, 0].astype(np.int64) << 16) | links.pairs[:, 1]


def _body(o, rows):
    lines = []
    for (name, way), r in rows.items():
        lines.append([name, f"{r['pairs']:,}", f"`{way}`", f"{r['links']:,}", f"{r['right']:.3f}", f"{r['told']:.3f}",
                      f"{r['error']:.3f}", f"{r['brier']:.3f}"])  # fmt: skip
    summary = []
    for way in WAYS:
        own = [r for (_, w), r in rows.items() if w == way]
        summary.append([f"`{way}`", *(f"{statistics.mean(r[c] for r in own):.3f}" for c in ("error", "brier"))])
    parts = [
        f"Links of the gold sentences, trained on with training text of at most {o.pairs:,} pairs, without an encoder."
        " *Right*: the share of links that the gold has, sure or possible. *Told*: the mean of their probabilities."
        f" *Error*: the expected calibration error over {BINS} bins. *Brier*: the mean squared distance from 0 or 1.",
        report.table(["gold set", "pairs", "way", "links", "right", "told", "error", "Brier"], lines),
        report.table(["way", "mean error", "mean Brier"], summary),
    ]
    return "\n\n".join([*parts, report.circumstances(o.threads)])
