"""The shipped start of contrastive-align: a network that judges links, learned from gold links of other languages.

`bench.contrastive_rounds` learns it; `bench.contrastive` measures it with each language held out. Each set of FREE
teaches as a whole, with its training text, and in cuts that are texts of their own, since most text that the network
meets is small.
"""

import numpy as np

from aligntools.aligning.contrastive import network_learning
from bench import texts

#: Gold sets whose makers allow every use, which teach: name -> what it is, and its licence.
FREE = {
    "en-da.cdt": "Copenhagen Dependency Treebanks (at choice MIT, CC BY-SA 4.0 or LGPL)",
    "en-grc.gold": "Greek New Testament and English, manual alignments (CC BY)",
    "en-cs.gold": "Czech-English Manual Word Alignment (Mareček 2011; CC BY-SA)",
    "en-sv.gold": "English-Swedish Europarl, manual alignments (Holmqvist and Ahrenberg 2011; no restriction)",
    "en-ja.gold": "Kyoto Free Translation Task, manual alignments (Neubig 2011; CC BY-SA)",
    "en-fr.graca": "Golden collection of word alignments (Graça et al. 2008; no restriction)",
}
#: Cuts of a set: so many, of so many pairs.
CUTS = ((8, 105), (3, 300), (1, 1000))

#: Gold pairs of each set that are learned from, at most.
PAIRS = 1000
#: Pairs that smaller base models of a set's text are trained on, beside that of the gold sentences alone.
SIZES = (3_000, 20_000)
#: Groups of languages that teach: one is judged by what was learned from the others.
FOLDS = 3
#: Candidates of a set that count for 1 each; those of larger sets count for less, of smaller ones for more.
SHARE = 8000.0
#: What a candidate counts for whose link is possible, but not sure.
POSSIBLE = 0.5
#: Networks of the shipped start that are averaged; passes over what base models of both rounds show.
NETWORKS, PASSES = 3, 16
#: Passes of the network whose links base models of the second round are trained with.
TEACHER = 6


def taught(data, work):
    """Return the names of what teaches: each set of FREE, and its cuts."""
    names = []
    for name in FREE:
        n, begin = texts.text(data, name, work).n_gold, 0
        names.append(name)
        for size in (size for many, size in CUTS for _ in range(many)):
            if begin + size <= n:
                names.append(f"{name}{texts.CUT}{begin}-{begin + size}")
                begin += size
    return names


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
    from aligntools.aligning.contrastive.gold_learning import gold_marks

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
