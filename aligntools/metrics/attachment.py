"""Attachment scores of dependency trees, what they are made of, and how far chance could explain them."""

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from aligntools.formats.annotation.conll import Conll
from aligntools.ground.errors import UsageProblem
from aligntools.metrics.base import Score, aligned, divide, percent
from aligntools.metrics.conll18 import Measure, WordMatches, conll18
from aligntools.metrics.settings import TreeScoring

#: Names and least values of the groups by distance from the head and by length of the sentence.
DISTANCES = (("root", 0), ("1", 1), ("2", 2), ("3-6", 3), ("7+", 7))
LENGTHS = (("1-10", 1), ("11-20", 11), ("21-30", 21), ("31-40", 31), ("41+", 41))


@dataclass(frozen=True)
class Group:
    """Attachment within a group of words.

    gold, predicted: Words that the gold tree and the other one put in the group.
    right_gold, right_predicted: Those of them with the right head. Where both trees agree on the group, so do the
        numbers.
    """

    name: str
    gold: int
    predicted: int
    right_gold: int
    right_predicted: int

    @property
    def recall(self) -> float:
        """Share of the gold tree's words that are right."""
        return self.right_gold / self.gold if self.gold else 0.0

    @property
    def precision(self) -> float:
        """Share of the other tree's words that are right."""
        return self.right_predicted / self.predicted if self.predicted else 0.0


def distance_groups(heads: npt.ArrayLike, offsets: np.ndarray) -> np.ndarray:
    """Return each word's group of `DISTANCES`: how far its head is, 0 for a root."""
    heads = np.asarray(heads, np.int64)
    positions = np.arange(1, len(heads) + 1) - np.repeat(offsets[:-1] - offsets[0], np.diff(offsets))
    distances = np.where(heads > 0, np.abs(heads - positions), 0)
    return np.searchsorted([least for _, least in DISTANCES], distances, side="right") - 1


#: Columns of the counts of a sentence: counted words; those with the right head, and with the right head and label;
#: 1 for a sentence with counted words; 1 if all their heads are right; counted words under the root in the gold
#: tree, and those of them that are so in the other tree.
LABELS = ("words", "heads", "labels", "sentences", "trees", "roots", "roots_right")

#: Which words are not counted: none of them; those whose form is made of characters with the Unicode property
#: Punctuation alone (the scorer of the CoNLL shared tasks 2006 and 2007); those that the gold tags call punctuation.
_TAGS = {b"PUNCT", b"."}
#: What a breakdown can have that is no groups.
_NO_GROUPS = ("confusion", "conll18")
#: Labels that say no more than that a word is a root.
_ROOTS = {b"root", b"ROOT"}


def counted(values: Sequence[bytes], convention: str) -> np.ndarray:
    """Return which words count, by their forms (``conll``) or gold tags (``ud``), in UTF-8 [bool, a word each].

    The evaluation of Universal Dependencies itself counts all words; ``ud`` leaves out those tagged PUNCT (or ``.``, in
    the 12 universal tags).
    """
    if convention == "ud":
        known = {one: one not in _TAGS for one in set(values)}
    else:
        texts = {one: one.decode("utf-8", "replace") for one in set(values)}
        known = {one: any(not unicodedata.category(c).startswith("P") for c in text) for one, text in texts.items()}
    return np.fromiter(map(known.__getitem__, values), bool, len(values))


def labels_equal(gold: Sequence[bytes], labels: Sequence[bytes], subtypes: bool = True) -> np.ndarray:
    """Return for each word whether its label is right; without ``subtypes`` only what stands before a colon counts."""
    if not subtypes:
        gold, labels = ([label.split(b":")[0] for label in side] for side in (gold, labels))
    return np.fromiter((g == h for g, h in zip(gold, labels, strict=True)), bool, len(gold))


def count(
    gold_heads: npt.ArrayLike,
    heads: npt.ArrayLike,
    offsets: np.ndarray,
    words_counted: np.ndarray,
    labels_right: np.ndarray | None = None,
    longest: int | None = None,
) -> np.ndarray:
    """Count what is right in each sentence.

    gold_heads, heads (int [words]): 0 for the root.
    offsets (int64 [sentences + 1]), words_counted (bool [words]), labels_right (bool [words]).
    longest: Sentences with more counted words are left out.
    Returns int64 [sentences, 7]: the columns of `LABELS`; without ``labels_right`` that of labels is 0.
    """
    gold_heads, heads = np.asarray(gold_heads), np.asarray(heads)
    right = (gold_heads == heads) & words_counted
    roots = (gold_heads == 0) & words_counted
    both = right & labels_right if labels_right is not None else np.zeros(len(right), bool)
    result = np.zeros((len(offsets) - 1, len(LABELS)), np.int64)
    for column, values in zip((0, 1, 2, 5, 6), (words_counted, right, both, roots, roots & (heads == 0)), strict=True):
        sums = np.concatenate([[0], np.cumsum(values)])
        result[:, column] = np.diff(sums[offsets])
    result[:, 3] = result[:, 0] > 0
    result[:, 4] = (result[:, 0] > 0) & (result[:, 0] == result[:, 1])
    if longest is not None:
        result[result[:, 0] > longest] = 0
    return result


def figures(totals: npt.ArrayLike) -> np.ndarray:
    """Return UAS, LAS, complete trees and root accuracy [shape=(..., 4)] from sums of counts [shape=(..., 7)]."""
    words, heads, labels, sentences, trees, roots, right = np.moveaxis(np.asarray(totals, np.float64), -1, 0)
    pairs = (heads, words), (labels, words), (trees, sentences), (right, roots)
    return np.stack([divide(above, below) for above, below in pairs], axis=-1)


@dataclass(frozen=True, eq=False)
class DependencyTrees:
    """Dependency trees of a text.

    heads (int32 [words]): Number of the head in its sentence, counted from 1; 0 for a root, -1 where there is none.
    alignment: Of trees that `in_words_of` made: which words of the file are words of the gold.
    """

    heads: np.ndarray
    offsets: np.ndarray  # int64 [sentences + 1]: Sentence ``n`` has the words ``offsets[n]:offsets[n + 1]``
    labels: list[bytes] | None = None  # The label of each word's edge, its relation to the head
    words: list[bytes] | None = None
    tags: list[bytes] | None = None
    lines: np.ndarray | None = None
    source: Conll | None = None
    alignment: WordMatches | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def named(self) -> bool:
        """Whether there are labels: some other than ``_``, which stands for none, at a word that is no root."""
        labels = zip(self.labels or (), (self.heads > 0).tolist(), strict=False)
        return any(label != b"_" and not (label in _ROOTS and not headed) for label, headed in labels)

    def in_words_of(self, gold: "DependencyTrees", alignment: WordMatches) -> "DependencyTrees":
        """Return these trees over the gold's words; those that are none of this text's have no head and no label."""
        heads = alignment.heads(self.heads, self.offsets, gold.offsets)
        labels = None
        if self.labels is not None:
            labels = [b"_"] * len(heads)
            for k, m in zip(alignment.gold.tolist(), alignment.other.tolist(), strict=True):
                labels[k] = self.labels[m]
        return DependencyTrees(heads, gold.offsets, labels, gold.words, source=self.source, alignment=alignment)

    def flaws(self) -> dict[str, np.ndarray]:
        """Return which sentences are no trees with one root [shape=(sentences,), dtype=bool], by what is wrong."""
        lengths = np.diff(self.offsets)
        roots = np.add.reduceat(np.append(self.heads == 0, 0), self.offsets[:-1]) * (lengths > 0)
        top = len(self.heads)
        above = np.repeat(self.offsets[:-1], lengths) + self.heads - 1
        above = np.append(np.where(self.heads > 0, above, top), top)
        for _ in range(int(lengths.max(initial=1)).bit_length()):  # each time twice as far up
            above = above[above]
        circling = np.zeros(len(lengths), bool)
        circling[np.repeat(np.arange(len(lengths)), lengths)[above[:-1] != top]] = True
        return {"a cycle": circling, "several roots": roots > 1}


def counted_words(gold: DependencyTrees, punct: str) -> np.ndarray:
    """Return which words count by a convention of `TreeScoring` [shape=(words,), dtype=bool]."""
    needed, what = (gold.words, "words") if punct == "conll" else (gold.tags, "tags")
    if needed is None and punct != "all":
        raise UsageProblem(f"punct '{punct}' needs gold trees with {what}")
    return np.ones(len(gold.heads), bool) if punct == "all" else counted(needed or [], punct)


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeScore(Score):
    """Counts over a corpus and the figures made of them, as fractions of 1 (0 where nothing was counted).

    words, sentences: Words that count, and sentences that have any.
    uas, las: Shares of these words with the right head, and with the right head and label; ``las`` is None where one
        side has no labels.
    """

    NAME, HEADLINE, TITLE, SYSTEM = "uas", "uas", "UAS", "parser"
    LABELS = LABELS
    LEGEND = (
        "LAS: head and label; trees: sentences whose words all have the right head; root: gold roots that are roots;"
        " p: approximate randomization"
    )
    CELLS: ClassVar = {"UAS%": "uas", "LAS%": "las", "trees%": "complete", "root%": "root"}
    GOLD_LINE = "gold: {0.words} words in {0.sentences} sentences count"
    words: int
    sentences: int
    uas: float
    las: float | None
    complete: float  # Share of the sentences whose counted words all have the right head
    root: float  # Share of the gold trees' counted roots that are roots
    gold: DependencyTrees = field(repr=False)
    hypothesis: DependencyTrees = field(repr=False)
    figures = staticmethod(figures)

    @classmethod
    def of(cls, gold: DependencyTrees, hypothesis: DependencyTrees, how: TreeScoring | None = None) -> "TreeScore":
        """Score trees."""
        how = how or TreeScoring()
        right, named = None, gold.named and hypothesis.named
        if gold.labels and hypothesis.labels and named:
            right = labels_equal(gold.labels, hypothesis.labels, how.subtypes)
        words = counted_words(gold, how.punct)
        counts = count(gold.heads, hypothesis.heads, gold.offsets, words, right, how.max_length)
        uas, las, complete, root = figures(counts.sum(axis=0)).tolist()
        total, sentences = int(counts[:, 0].sum()), int(counts[:, 3].sum())
        settings = {
            "punct": how.punct,
            "nsent": sentences,
            "nword": total,
            **({"maxlen": how.max_length} if how.max_length else {}),
            "subtypes": "yes" if how.subtypes else "no",
            **({"columns": "predicted"} if how.predicted_columns else {}),
            **({"forms": "ignored"} if how.ignore_forms else {}),
            **({"words": "aligned"} if hypothesis.alignment else {}),
        }
        found = {"uas": uas, "las": las if named else None, "complete": complete, "root": root}
        sides = {"gold": gold, "hypothesis": hypothesis, "words": total, "sentences": sentences}
        return cls.signed(settings, counts=counts, how=how, **sides, **found)

    def groups(self, kind: str) -> list[Group]:
        """Return the attachment of groups of words, in order, without groups that are empty on both sides.

        kind: ``length`` of the sentence, ``distance`` of the head, gold ``tag``, or ``relation``, where a word is right
            whose label is, too.
        """
        gold, offsets = self.gold, self.gold.offsets
        heads_right = gold.heads == self.hypothesis.heads
        if kind == "length":
            names, lengths = [name for name, _ in LENGTHS], np.diff(offsets)
            least = np.searchsorted([least for _, least in LENGTHS], np.repeat(lengths, lengths), side="right")
            pair = [least - 1] * 2
        elif kind == "distance":
            names = [name for name, _ in DISTANCES]
            pair = [distance_groups(trees.heads, offsets) for trees in (gold, self.hypothesis)]
        elif kind not in ("tag", "relation"):
            raise UsageProblem(f"no groups by '{kind}'; there are length, distance, tag and relation")
        elif kind == "tag" and gold.tags is None:
            raise UsageProblem("groups by tag need gold trees with tags")
        else:
            values = self._labels() if kind == "relation" else [gold.tags or []] * 2
            kinds = sorted({*values[0], *values[1]})
            numbers = {one: k for k, one in enumerate(kinds)}
            names = [one.decode("utf-8", "replace") for one in kinds]
            pair = [np.fromiter(map(numbers.__getitem__, side), np.int64, len(side)) for side in values]
            heads_right = heads_right & (pair[0] == pair[1])
        here = self._here()
        sides = [side[which] for which in (here, here & heads_right) for side in pair]
        counts = (np.bincount(side, minlength=len(names)).tolist() for side in sides)
        return [Group(*row) for row in zip(names, *counts, strict=True) if row[1] or row[2]]

    def _here(self) -> np.ndarray:
        """Return which words were counted."""
        return counted_words(self.gold, self.how.punct) & np.repeat(self.counts[:, 0] > 0, np.diff(self.gold.offsets))

    def _labels(self) -> list[list[bytes]]:
        """Return the labels of both sides, as far as they are compared."""
        found = []
        for side, what in (self.gold, "the gold trees have"), (self.hypothesis, "the other trees have"):
            if side.labels is None or not side.named:
                raise UsageProblem(f"relations need labels on both sides, and {what} none")
            found.append(side.labels if self.how.subtypes else [label.split(b":")[0] for label in side.labels])
        return found

    def confusions(self, most: int = 20) -> list[tuple[str, str, int]]:
        """Return (gold label, other label, words) of the most frequent wrong labels."""
        here = self._here().tolist()
        pairs = Counter((g, h) for g, h, counts in zip(*self._labels(), here, strict=True) if counts and g != h)
        ranked = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))[:most]
        return [(g.decode("utf-8", "replace"), h.decode("utf-8", "replace"), n) for (g, h), n in ranked]

    def conll18(self) -> dict[str, Measure]:
        """Return the measures of the CoNLL 2018 shared task; they are of all words, whatever counts elsewhere."""
        if self.gold.source is None or self.hypothesis.source is None:
            raise UsageProblem("the measures of CoNLL 2018 need both sides in CoNLL-U")
        return conll18(self.gold.source, self.hypothesis.source, self.hypothesis.alignment)

    def breakdown(self, by: tuple[str, ...]) -> dict[str, Any]:
        """Return the groups of each kind in ``by``, and what else it names: ``confusion``, ``conll18``."""
        groups = {
            kind: [asdict(g) | {"recall": g.recall, "precision": g.precision} for g in self.groups(kind)]
            for kind in dict.fromkeys(by)
            if kind not in _NO_GROUPS
        }
        found: dict[str, Any] = {"by": groups} if groups else {}
        if "confusion" in by:
            found["confusions"] = [{"gold": g, "predicted": h, "words": n} for g, h, n in self.confusions()]
        if "conll18" in by:
            found["conll18"] = {
                name: {figure: getattr(one, figure) for figure in ("precision", "recall", "f1", "aligned_accuracy")}
                for name, one in self.conll18().items()
            }
        return found

    def breakdown_lines(self, name: str, by: tuple[str, ...]) -> Iterator[str]:
        """Yield a table for each kind in ``by``, and for what else it names."""
        for kind in dict.fromkeys(by):
            if kind in _NO_GROUPS:
                continue
            table = [[kind, "gold", "parsed", "recall", "precision"]]
            for g in self.groups(kind):
                table.append([g.name, str(g.gold), str(g.predicted), percent(g.recall), percent(g.precision)])
            yield from ("", f"{name} by {kind}:", *aligned(table))
        if "confusion" in by:
            rows = [[g, h, str(n)] for g, h, n in self.confusions()]
            yield from ("", f"{name}, most frequent wrong labels:", *aligned([["gold", "parsed", "words"], *rows]))
        if "conll18" in by:
            rows = [
                [m, *map(percent, (one.precision, one.recall, one.f1, one.aligned_accuracy))]
                for m, one in self.conll18().items()
            ]
            head = ["measure", "precision", "recall", "F1", "of aligned"]
            yield from ("", f"{name}, as CoNLL 2018 scored it:", *aligned([head, *rows]))
