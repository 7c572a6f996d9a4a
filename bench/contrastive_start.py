"""The shipped start of contrastive-align: link trees and weights learned from gold links of other languages.

``fit`` learns them; `bench.contrastive` measures them with each language held out.
"""

import numpy as np

#: Gold pairs of each set that are learned from.
PAIRS = 120
#: Groups of languages: one is judged by what was learned from the others.
FOLDS = 5
#: Candidates that a set counts for in learning trees, whatever its size.
SHARE = 8000.0
PENALTY = 1e-3


def language(name):
    """Return a gold set's pair of languages."""
    return name.split(".")[0]


def groups(names, folds=FOLDS):
    """Cut gold sets into groups that share no language but English."""
    pairs = sorted({language(n) for n in names})
    return [[n for n in names if language(n) in pairs[f::folds]] for f in range(folds)]


class GoldSet:
    """A gold set's candidates and links: the first PAIRS to learn from, all to be judged by."""

    def __init__(self, candidates, gold):
        from aligntools.aligning.contrastive.boosting import table_of
        from aligntools.aligning.contrastive.supervised import gold_marks

        self.candidates, self.gold = candidates, gold
        n = min(len(candidates), PAIRS)
        self.part, self.part_gold = candidates.part(0, n), _head(gold, n)
        self.sure, self.possible = (m.astype(bool) for m in gold_marks(self.part, self.part_gold))
        self.table = table_of(self.part)


def _head(gold, n):
    from dataclasses import replace

    return replace(gold, sure=gold.sure[:n], possible=gold.possible[:n])


def fit_trees(sets):
    """Learn link trees from `GoldSet` s, each pair seen from both sides (scikit-learn)."""
    from aligntools.aligning.contrastive import boosting

    table = np.concatenate([s.table for s in sets])
    links = np.concatenate([s.sure | s.possible for s in sets])
    weight = np.concatenate([np.where(s.sure | ~s.possible, 1.0, 0.5) * (SHARE / len(s.table)) for s in sets])
    return boosting.fit_trees(table, links, weight)


def fit(sets, pool=None):
    """Learn trees, and start weights for all features, from named `GoldSet` s.

    The weights are learned with each set judged by trees that its language had no part in.

    Returns
    -------
    LinkTrees, float64 [FEATURES]
    """
    from aligntools.aligning.contrastive import kernels_features as kf
    from aligntools.aligning.contrastive.candidates import concatenate
    from aligntools.aligning.contrastive.features import select, start_weights
    from aligntools.aligning.contrastive.supervised import train_supervised
    from aligntools.formats.goldlinks import Gold
    from aligntools.formats.pharaoh import concatenate as join

    for group in groups(list(sets)):
        if group:
            trees = fit_trees([s for name, s in sets.items() if name not in group])
            for name in group:
                part = sets[name].part
                part.local[:, kf.TREES] = trees.odds(part, pool)
    active = select("all")
    start = 0.3 * start_weights(active, paper=True)  # small, so that the risk is not flat around it
    start[kf.TREES] = 3.0
    parts = list(sets.values())
    sure, possible = (join([getattr(s.part_gold, side) for s in parts]) for side in ("sure", "possible"))
    candidates = concatenate([s.part for s in parts])
    weights = train_supervised(
        candidates, Gold(sure, possible, "pharaoh", 0), start, active, rounds=3, penalty=PENALTY, pool=pool
    )
    return fit_trees(parts), both_sides(weights)


def both_sides(weights):
    """Return weights that treat source and target alike."""
    from aligntools.aligning.contrastive.features import NAMES

    weights = weights.copy()
    for name in NAMES:
        for one, other in (("source-", "target-"), ("forward-", "reverse-"), ("one-to-many", "many-to-one")):
            if name.startswith(one):
                pair = [NAMES.index(name), NAMES.index(name.replace(one, other))]
                weights[pair] = weights[pair].mean()
    return weights
