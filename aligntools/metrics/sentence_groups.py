"""Groups of sentences against gold groups: precision, recall and F1, strict and lax.

As Thompson & Koehn (2019), "Vecalign", section 4.1, and their program count.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from aligntools.formats.links.ladder import SentenceGroup
from aligntools.metrics.base import Score, divide

#: Columns of the counts: groups that were found, and how many of them are right, strictly and laxly; gold groups with
#: both sides, and how many of them were found.
LABELS = ("groups", "right", "right_lax", "gold", "found", "found_lax")
Groups = Sequence[SentenceGroup]


def count(found: Groups, gold: Groups) -> np.ndarray:
    """Count groups that are right, strictly and laxly, and gold groups that were found.

    Sentences without a partner are groups where precision is counted, not where recall is.

    Returns int64 [sentences of the gold, 6]: the columns of `LABELS`, each group where its first sentence is: source
    sentences, then target sentences, for groups of these alone.
    """
    both = [group.source for group in gold], [group.target for group in gold]
    sides = [1 + max((k for side in own for k in side), default=-1) for own in both]
    counts = np.zeros((sum(sides), len(LABELS)), np.int64)
    if not len(counts):
        return counts
    for these, others, column, whole in ((found, gold, 0, False), (gold, found, 3, True)):
        those = {(group.source, group.target) for group in others if not whole or (group.source and group.target)}
        together = defaultdict[int, set[int]](set)
        for source, target in those:
            for k in source:
                together[k].update(target)
        for source, target in sorted({(group.source, group.target) for group in these}):
            if not (source or target) or (whole and not (source and target)):
                continue
            row = min(source[0], sides[0] - 1) if source and sides[0] else sides[0] + (target or source)[0]
            strict = (source, target) in those
            lax = strict or any(together[k].intersection(target) for k in source)
            counts[min(row, len(counts) - 1), column : column + 3] += (1, strict, lax)
    return counts


def figures(totals: np.ndarray) -> np.ndarray:
    """Return strict F1, precision and recall, and the same laxly [..., 6], of sums of counts [..., 6]."""
    groups, right, right_lax, gold, found, found_lax = np.moveaxis(np.asarray(totals, np.float64), -1, 0)
    columns = []
    for of_groups, of_gold in ((right, found), (right_lax, found_lax)):
        precision, recall = divide(of_groups, groups), divide(of_gold, gold)
        columns += [divide(2 * precision * recall, precision + recall), precision, recall]
    return np.stack(columns, axis=-1)


@dataclass(frozen=True, eq=False, kw_only=True)
class LadderScore(Score):
    """Figures of groups of sentences, as fractions of 1.

    groups, gold: How many were found, and how many gold groups have both sides.
    f1, precision, recall: Strict: a group is right if both its sides are a gold group's.
    f1_lax, precision_lax, recall_lax: A group is right if a sentence of each of its sides is in one gold group.
    """

    NAME, HEADLINE, TITLE, SYSTEM = "sentences", "f1", "F1", "ladder"
    LABELS = LABELS
    LEGEND = "lax: one sentence of each side in one gold group; p: approximate randomization"
    CELLS: ClassVar = {
        **{"F1": "f1", "precision": "precision", "recall": "recall"},
        **{"lax F1": "f1_lax", "lax precision": "precision_lax", "lax recall": "recall_lax", "groups": "groups"},
    }
    GOLD_LINE = "gold: {0.gold} groups with both sides"
    groups: int
    gold: int
    f1: float
    precision: float
    recall: float
    f1_lax: float
    precision_lax: float
    recall_lax: float
    figures = staticmethod(figures)

    @classmethod
    def of(cls, gold: Groups, hypothesis: Groups) -> "LadderScore":
        """Score groups."""
        counts = count(hypothesis, gold)
        names = "f1", "precision", "recall", "f1_lax", "precision_lax", "recall_lax"
        found: dict[str, Any] = dict(zip(names, figures(counts.sum(axis=0)).tolist(), strict=True))
        groups, known = int(counts[:, 0].sum()), int(counts[:, 3].sum())
        return cls.signed({"ngold": known}, counts=counts, groups=groups, gold=known, **found)
