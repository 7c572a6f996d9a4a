"""The shipped start of contrastive-align: a network that judges links, learned from gold links of other languages.

`bench.contrastive_rounds` learns it; `bench.contrastive` measures it with each language held out.
"""

import numpy as np

from aligntools.aligning.contrastive import network_learning

#: Gold pairs of each set that are learned from, at most.
PAIRS = 1000
#: Pairs that smaller base models of a set's text are trained on, beside that of the gold sentences alone.
SIZES = (3_000, 20_000)
#: Groups of languages: one is judged by what was learned from the others.
FOLDS = 5
#: Candidates of a set that count for 1 each; those of larger sets count for less, of smaller ones for more.
SHARE = 8000.0
#: What a candidate counts for whose link is possible, but not sure.
POSSIBLE = 0.5
#: Networks of a start that are averaged; passes over what base models of both rounds show.
NETWORKS, PASSES = 3, 16
#: Passes of the network whose links base models of the second round are trained with.
TEACHER = 6


def language(name):
    """Return a gold set's pair of languages."""
    return name.split(".")[0]


def groups(names, folds=FOLDS):
    """Cut gold sets into groups that share no language but English."""
    pairs = sorted({language(n) for n in names})
    return [[n for n in names if language(n) in pairs[f::folds]] for f in range(folds)]


def smaller(text):
    """Return how many pairs of a gold set's text the other base models are trained on whose candidates teach too.

    These know less, so a set teaches what to make of models of little text and of much.
    """
    sizes = [n for n in SIZES if 2 * text.n_gold <= n <= 0.8 * text.n_pairs]
    return [text.n_gold, *sizes] if text.n_gold < text.n_pairs else sizes


def taught_by(candidates, gold):
    """Return the first PAIRS pairs of a gold set as a `network_learning.Part`."""
    from aligntools.aligning.contrastive.supervised import gold_marks

    n = min(len(candidates), PAIRS)
    part, links = candidates.part(0, n), _head(gold, n)
    sure, possible = (m.astype(bool) for m in gold_marks(part, links))
    share = (SHARE / len(sure)) ** 0.5
    counts = np.where(possible & ~sure, POSSIBLE, 1.0) * share
    return network_learning.part_of(part, (sure | possible).astype(np.float32), counts.astype(np.float32))


def _head(gold, n):
    from dataclasses import replace

    return replace(gold, sure=gold.sure[:n], possible=gold.possible[:n])


def weights():
    """Return the start's weights, float64 [FEATURES], which rest on the network alone."""
    from aligntools.aligning.contrastive import kernels_features as kf

    found = np.zeros(kf.FEATURES)
    found[kf.TREES] = 1.0
    return found
