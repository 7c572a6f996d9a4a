"""Alignment error rate, precision and recall against gold links.

Och & Ney (2003), "A systematic comparison of various statistical alignment models", section 7.2.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from aligntools.formats.links.goldlinks import Gold
from aligntools.formats.links.pharaoh import Links
from aligntools.metrics.base import Score, divide
from aligntools.metrics.settings import AlignmentScoring

#: Columns of the counts: links of the hypothesis, sure and possible gold links, and what is in common.
LABELS = ("links", "sure", "possible", "links_in_sure", "links_in_possible")


def count(hypothesis: Links, gold: Gold) -> np.ndarray:
    """Count links, gold links and what they have in common.

    Returns int64 [sentences, 5]: the columns of `LABELS`. Raises ValueError when there are not equally many sentences.
    """
    if len(hypothesis) != len(gold):
        raise ValueError(f"{len(hypothesis)} sentences where the gold has {len(gold)}")
    sides = (hypothesis, gold.sure, gold.possible)
    counts = np.stack([links.counts() for links in (*sides, *sides[1:])], axis=1)
    keys = _keys(sides)
    for column in (1, 2):
        common = np.isin(keys[0], keys[column])
        counts[:, column + 2] = np.bincount(hypothesis.sentences()[common], minlength=len(gold))
    return counts


def _keys(sides: Sequence[Links]) -> list[np.ndarray]:
    """Return an array for each set of links: one number a link, the same for the same one of a sentence."""
    links = [side.pairs[:, 0].astype(np.int64) << 32 | side.pairs[:, 1] for side in sides]
    different, ranks = np.unique(np.concatenate(links), return_inverse=True)
    split = np.split(ranks, np.cumsum([len(part) for part in links[:-1]]))
    return [side.sentences() * len(different) + rank.ravel() for side, rank in zip(sides, split, strict=True)]


def count_by_group(
    hypothesis: Links, gold: Gold, group: Callable[[np.ndarray, np.ndarray], np.ndarray], groups: int
) -> np.ndarray:
    """Count as `count` does, for groups of links instead of sentences.

    group: Takes the sentences [shape=(n,)] and pairs [shape=(n, 2)] of links and returns the group of each, from 0 on.
    Returns int64 [groups, 5].
    """
    sides = (hypothesis, gold.sure, gold.possible)
    keys = _keys(sides)
    own = [group(side.sentences(), side.pairs) for side in sides]
    own += [own[0][np.isin(keys[0], keys[column])] for column in (1, 2)]
    return np.stack([np.bincount(numbers, minlength=groups) for numbers in own], axis=1)


def figures(totals: npt.ArrayLike) -> np.ndarray:
    """Return AER, precision, recall and F1.

    Returns float64 [..., 4].
    """
    links, sure, _, in_sure, in_possible = np.moveaxis(np.asarray(totals, np.float64), -1, 0)
    precision, recall = divide(in_possible, links), divide(in_sure, sure)
    f1 = divide(2 * precision * recall, precision + recall)
    # Nothing to find and nothing found is no error.
    aer = np.where(links + sure > 0, 1 - divide(in_sure + in_possible, links + sure), 0.0)
    return np.stack([aer, precision, recall, f1], axis=-1)


@dataclass(frozen=True, eq=False, kw_only=True)
class AerScore(Score):
    """Counts over a corpus and the figures made of them, as fractions of 1.

    ``precision = |A∩P| / |A|``, ``recall = |A∩S| / |S|``, ``f1`` their harmonic mean and
    ``aer = 1 - (|A∩S| + |A∩P|) / (|A| + |S|)``, with A the links of the alignment, S the sure and P the possible gold
    links, S being part of P. What has a denominator of 0 is None: the recall where the gold has no sure links, the
    precision where the alignment has no links, F1 where one of them is. The AER of nothing where nothing is sure is 0.

    links, sure, possible, links_in_sure, links_in_possible: The sizes of A, S, P, A∩S and A∩P.
    """

    NAME, HEADLINE, TITLE, SYSTEM = "aer", "aer", "AER", "alignment"
    LABELS = LABELS
    LEGEND = "A: links of the alignment, S: sure, P: possible; p: approximate randomization"
    CELLS: ClassVar = {
        **{"AER%": "aer", "precision": "precision", "recall": "recall", "F1": "f1"},
        **{"links": "links", "A∩S": "links_in_sure", "A∩P": "links_in_possible"},
    }
    GOLD_LINE = "gold: {0.sure} sure and {0.possible} possible links (sure included)"
    links: int
    sure: int
    possible: int
    links_in_sure: int
    links_in_possible: int
    precision: float | None
    recall: float | None
    f1: float | None
    aer: float
    null_links: int = field(default=0, repr=False)  # Links to NULL that the gold file has and that were left out
    figures = staticmethod(figures)

    @classmethod
    def of(cls, gold: Gold, hypothesis: Links, how: AlignmentScoring | None = None) -> "AerScore":
        """Score an alignment; ``index_base`` is for the signature alone."""
        how = how or AlignmentScoring()
        settings = {
            "gold": gold.format + ("+allsure" if how.all_sure else "+sureonly" if how.ignore_possible else ""),
            "base": f"gold{gold.index_base},hyp{how.index_base}",
            "order": "target-source" if how.reverse else "source-target",
            "nsent": len(gold),
            **({"first": gold.first_sentence} if gold.first_sentence != 1 else {}),
            **({"lines": "numbered"} if gold.numbers is not None else {}),
        }
        gold = gold.all_sure() if how.all_sure else gold.ignore_possible() if how.ignore_possible else gold
        counts = count(hypothesis.inverted() if how.reverse else hypothesis, gold)
        totals: dict[str, Any] = dict(zip(LABELS, counts.sum(axis=0).tolist(), strict=True))
        aer, *found = figures(counts.sum(axis=0)).tolist()
        exist = totals["links"], totals["sure"], totals["links"] and totals["sure"]
        shares = (share if some else None for share, some in zip(found, exist, strict=True))
        totals |= zip(("precision", "recall", "f1"), shares, strict=True)
        return cls.signed(settings, counts=counts, how=how, **totals, aer=aer, null_links=gold.null_links)

    def gold_as_dict(self) -> dict[str, Any]:
        """Return how many links to NULL were left out."""
        return {"null_links_dropped": self.null_links}
