"""Brackets of constituents against gold ones, as EVALB counts them (Sekine & Collins; Black et al. 1991).

A bracket is a label and the words that it spans. One is right if the gold tree has it; a bracket that stands twice has
to stand twice there. Words that do not count, such as punctuation, are taken out first, and so are labels above whole
sentences. What they leave without words is no bracket.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import Any, ClassVar, Self

import numpy as np

from aligntools.formats.annotation.brackets import Tree, clean
from aligntools.metrics.attachment import LENGTHS
from aligntools.metrics.base import Score, aligned, divide, percent
from aligntools.metrics.settings import NOT_COUNTED, BracketScoring

#: Labels above whole sentences.
_TOPS = frozenset({"", "TOP", "ROOT", "S1", "VROOT"})
#: Labels that count as the other one (EVALB's COLLINS.prm).
_SAME = {"PRT": "ADVP"}


@cache
def left_out(how: BracketScoring) -> frozenset[str]:
    """Return the tags of words that do not count, by the gold tree."""
    known = {"evalb": NOT_COUNTED, "none": ()}
    return frozenset(map(clean, known.get(how.leave_out, how.leave_out.split())))


def counted_before(tags: Sequence[str], how: BracketScoring) -> list[int]:
    """Return how many words count before each word of a sentence with these gold tags, and in it all."""
    return list(accumulate((tag not in left_out(how) for tag in tags), initial=0))


def bracket(
    label: str, begin: int, end: int, before: Sequence[int], how: BracketScoring
) -> tuple[str, int, int] | None:
    """Return a constituent as it counts, over the words that count; None where it does not."""
    first, last, n = before[begin], before[end], before[-1]
    if label in _TOPS or first == last or (not how.whole and (last - first == n or last - first == 1)):
        return None
    return "" if how.unlabelled else _SAME.get(label, label), first, last


def brackets(tree: Tree, gold: Tree, how: BracketScoring) -> Counter[tuple[str, int, int]]:
    """Return the brackets that count of a tree whose words are those of a gold one."""
    before = counted_before(gold.tags(), how)
    keys = (bracket(*one, before, how) for one in tree.spans())
    found = Counter(key for key in keys if key is not None)
    return Counter(dict.fromkeys(found, 1)) if how.unlabelled and not how.whole else found


#: Columns of the counts of a sentence.
LABELS = (
    *("right", "gold", "parsed", "sentences", "exact", "crossing", "without_crossing", "up_to_two"),
    *("tags", "words", "failed"),
)


def count(gold: Sequence[Tree], hypothesis: Sequence[Tree], how: BracketScoring) -> np.ndarray:
    """Count brackets; returns int64 [sentences, 11]: the columns of `LABELS`."""
    rows = [_count(*pair, how) for pair in zip(gold, hypothesis, strict=True)]
    return np.array(rows, np.int64).reshape(len(rows), len(LABELS))


def _count(gold: Tree, tree: Tree, how: BracketScoring) -> list[int]:
    tags = gold.tags()
    if not tags or (how.max_length is not None and len(tags) > how.max_length):
        return [0] * len(LABELS)
    known, found = brackets(gold, gold, how), brackets(tree, gold, how)
    right = sum((known & found).values())
    crossing = _crossing(found, known)
    failed = not tree.children and tree.word is None
    counted = [tag not in left_out(how) for tag in tags]
    own = tree.tags() if not failed else [""] * len(tags)
    equal = sum(a == b for a, b, counts in zip(tags, own, counted, strict=True) if counts)
    n, m = sum(known.values()), sum(found.values())
    return [
        *(right, n, m, 1, int(right == n == m and not failed)),
        *(crossing, int(crossing == 0), int(crossing <= 2), equal, sum(counted), int(failed)),
    ]


def figures(totals: np.ndarray) -> np.ndarray:
    """Return F1, precision, recall, and of sentences: exact, crossing, none, up to two; and tags."""
    right, gold, parsed, sentences, *of_sentences, tags, words, _ = np.moveaxis(np.asarray(totals), -1, 0)
    shares = (2 * right, gold + parsed), (right, parsed), (right, gold), *((one, sentences) for one in of_sentences)
    return np.stack([divide(*pair) for pair in (*shares, (tags, words))], axis=-1)


def _crossing(found: Counter[tuple[str, int, int]], known: Counter[tuple[str, int, int]]) -> int:
    """Return how many brackets overlap one of the others so that neither holds the other."""
    spans = sorted(found.items(), key=lambda item: (item[0][1], -item[0][2]))
    rows = np.array([(a + 1, b, n) for (_, a, b), n in spans if b - a > 1], np.int64)
    if not len(rows) or not known:
        return 0
    begins, ends = (np.array([key[side] for key in known], np.int64) for side in (1, 2))
    size = max(int(ends.max()), int(rows[:, 1].max()))
    # of the brackets that begin at each word the last end, and of those that end there the first beginning
    last, first = np.zeros(size + 1, np.int64), np.full(size + 1, size, np.int64)
    np.maximum.at(last, begins, ends)
    np.minimum.at(first, ends, begins)
    inside = rows[:, :2].ravel()
    over = np.maximum.reduceat(last, inside)[::2] > rows[:, 1]
    under = np.minimum.reduceat(first, inside)[::2] < rows[:, 0] - 1
    return int(rows[over | under, 2].sum())


@dataclass(frozen=True, eq=False, kw_only=True)
class BracketScore(Score):
    """Figures of brackets, as fractions of 1 (0 where nothing was counted).

    sentences, failed: Sentences that count, and those of them that have no tree: all their gold brackets are missing.
    without_crossing, up_to_two: Shares of the sentences that have none, or two at most.
    """

    NAME, HEADLINE, TITLE, SYSTEM = "brackets", "f1", "F1", "parsed"
    LABELS = LABELS
    LEGEND = (
        "exact: sentences with all brackets and no other; crossing: mean number of brackets that cross a gold one;"
        " none, up to 2: sentences with that many"
    )
    CELLS: ClassVar = {"F1%": "f1", "precision": "precision", "recall": "recall", "exact%": "exact", "tags%": "tags"}
    GOLD_LINE = "gold: {0.totals[gold]} brackets in {0.sentences} sentences count"
    sentences: int
    failed: int
    f1: float
    precision: float
    recall: float
    exact: float  # Share of the sentences that have all gold brackets and no other
    crossing: float  # Brackets of a sentence that cross a gold one, in the mean
    without_crossing: float
    up_to_two: float
    tags: float  # Share of the words that count whose tag is the gold's
    gold: Sequence[Tree] = field(repr=False)
    hypothesis: Sequence[Tree] = field(repr=False)
    figures = staticmethod(figures)

    @classmethod
    def of(cls, gold: Sequence[Tree], hypothesis: Sequence[Tree], how: BracketScoring | None = None) -> Self:
        """Score trees; those of a pair have the same words, or the other one is empty."""
        how = how or BracketScoring()
        counts = count(gold, hypothesis, how)
        totals = counts.sum(axis=0)
        names = "f1", "precision", "recall", "exact", "crossing", "without_crossing", "up_to_two", "tags"
        found: dict[str, Any] = dict(zip(names, figures(totals).tolist(), strict=True))
        settings = {
            "labels": "no" if how.unlabelled else "yes",
            "left_out": "+".join(sorted(left_out(how))) or "none",
            **({"functions": "yes"} if how.functions else {}),
            **({} if how.whole else {"whole": "no"}),
            **({"maxlen": how.max_length} if how.max_length else {}),
            "nsent": int(totals[3]),
        }
        found |= {"gold": gold, "hypothesis": hypothesis, "sentences": int(totals[3]), "failed": int(totals[10])}
        return cls.signed(settings, counts=counts, how=how, **found)

    def groups(self, kind: str) -> list[tuple[str, int, int, int]]:
        """Return name, gold brackets, parsed ones and right ones of each ``label``, or of sentences by ``length``."""
        if kind == "length":
            lengths = np.array([len(tree.words()) for tree in self.gold])
            sums = []
            for (name, least), (_, above) in zip(LENGTHS, (*LENGTHS[1:], ("", 1 << 60)), strict=True):
                right, gold, parsed = self.counts[(lengths >= least) & (lengths < above), :3].sum(axis=0).tolist()
                sums.append((name, gold, parsed, right))
            return [one for one in sums if one[1] or one[2]]
        sides = Counter[str](), Counter[str](), Counter[str]()
        for gold, tree, counts in zip(self.gold, self.hypothesis, self.counts[:, 3].tolist(), strict=True):
            if counts:
                known, found = brackets(gold, gold, self.how), brackets(tree, gold, self.how)
                for side, some in zip(sides, (known, found, known & found), strict=True):
                    for (label, *_), n in some.items():
                        side[label] += n
        every = sorted({*sides[0], *sides[1]}, key=lambda label: (-sides[0][label], -sides[1][label], label))
        return [(label, *(side[label] for side in sides)) for label in every]  # type: ignore[misc]

    def cells(self, verbose: bool = False) -> dict[str, str]:
        """Return the columns of the table."""
        cells = super().cells() | {"crossing": f"{self.crossing:.2f}"}
        if verbose:
            cells |= {"none%": percent(self.without_crossing), "up to 2%": percent(self.up_to_two)}
        return cells

    def breakdown(self, by: tuple[str, ...]) -> dict[str, Any]:
        """Return the groups of each kind in ``by``."""
        names = "name", "gold", "parsed", "right"
        groups = {kind: [dict(zip(names, one, strict=True)) for one in self.groups(kind)] for kind in dict.fromkeys(by)}
        return {"by": groups} if groups else {}

    def breakdown_lines(self, name: str, by: tuple[str, ...]) -> Iterator[str]:
        """Yield a table for each kind in ``by``."""
        for kind in dict.fromkeys(by):
            table = [[kind, "gold", "parsed", "recall", "precision", "F1"]]
            for group, gold, parsed, right in self.groups(kind):
                shares = right / gold if gold else 0, right / parsed if parsed else 0, 2 * right / (gold + parsed)
                table.append([group or "any", str(gold), str(parsed), *map(percent, shares)])
            yield from ("", f"{name} by {kind}:", *aligned(table))
