"""How well predicted tags, or induced classes without names, fit gold tags.

Everything but the accuracy is made from the contingency table alone, so it does not matter what the predicted
labels are called. Logarithms are to base 2.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aligntools.ground import resampling
from aligntools.ground.errors import UsageProblem

_CELLS = 20_000_000  # a larger table is no table of tags


@dataclass(frozen=True, eq=False)
class Table:
    """How often each label was predicted for each tag.

    Attributes
    ----------
    counts : np.ndarray [shape=(tags, labels), dtype=int64]
    gold : list of bytes
        The tags that occur in the gold, sorted.
    predicted : list of bytes
        The labels that occur in the prediction, sorted.
    """

    counts: np.ndarray
    gold: list[bytes]
    predicted: list[bytes]

    @property
    def words(self) -> int:
        """All words."""
        return int(self.counts.sum())

    @property
    def same(self) -> np.ndarray:
        """The tag that each label is the name of, or -1 [shape=(labels,), dtype=int64]."""
        places = {tag: k for k, tag in enumerate(self.gold)}
        return np.array([places.get(label, -1) for label in self.predicted], np.int64)

    @property
    def foreign(self) -> int:
        """Words whose label is none of the gold's tags."""
        return int(self.counts[:, self.same < 0].sum())

    @property
    def comparable(self) -> bool:
        """Whether the labels are meant to be the gold's tags: they are so for at least half of the words."""
        return self.words > 0 and 2 * self.foreign <= self.words


def contingency(gold: Sequence[bytes], predicted: Sequence[bytes]) -> Table:
    """Count how often each label was predicted for each tag.

    Raises
    ------
    ValueError
        When there is not one label for each tag.
    UsageProblem
        When there are so many different ones that they can be no tags.
    """
    if len(gold) != len(predicted):
        raise ValueError(f"{len(predicted)} labels for {len(gold)} tags")
    tags, rows = _numbered(gold)
    labels, columns = _numbered(predicted)
    if len(tags) * len(labels) > _CELLS:
        raise UsageProblem(f"{len(tags)} different tags and {len(labels)} different labels; is the --column right?")
    counts = np.bincount(rows * len(labels) + columns, minlength=len(tags) * len(labels))
    return Table(counts.reshape(len(tags), len(labels)).astype(np.int64), tags, labels)


def _numbered(values):
    different = sorted(set(values))
    places = {value: k for k, value in enumerate(different)}
    return different, np.fromiter(map(places.__getitem__, values), np.int64, len(values))


def accuracy(table: Table) -> float | None:
    """Return the share of words whose label is the gold's tag; None where that does not apply.

    It does not apply when there are no words, or when most have labels that are none of the gold's tags.
    """
    return _hits(table, table.same) / table.words if table.comparable else None


def many_to_one(table: Table) -> np.ndarray:
    """Map each label to the tag that it has most words in common with (Johnson 2007), the first of equals.

    Returns
    -------
    np.ndarray [shape=(labels,), dtype=int64]
        A tag for each label.
    """
    return np.argmax(table.counts, axis=0) if table.words else np.zeros(0, np.int64)


def one_to_one(table: Table) -> np.ndarray:
    """Map each label to a tag of its own so that as many words as possible agree (the optimum, not greedily).

    Returns
    -------
    np.ndarray [shape=(labels,), dtype=int64]
        A tag for each label; -1 for labels that are left over.
    """
    from scipy.optimize import linear_sum_assignment

    tags, labels = linear_sum_assignment(table.counts, maximize=True)
    mapping = np.full(len(table.predicted), -1, np.int64)
    mapping[labels] = tags
    return mapping


def _hits(table, mapping):
    """Return how many words have the right tag when labels are mapped to tags."""
    labels = np.flatnonzero(mapping >= 0)
    return int(table.counts[mapping[labels], labels].sum())


@dataclass(frozen=True)
class Information:
    """What tags and labels tell of each other, in bits and as shares.

    Attributes
    ----------
    gold, predicted : float
        Entropies H(G) of the tags and H(P) of the labels.
    gold_given_predicted, predicted_given_gold : float
        Conditional entropies H(G|P) and H(P|G).
    vi : float
        Variation of information, H(G|P) + H(P|G) (Meila 2007): 0 for the same partition.
    homogeneity, completeness : float
        1 - H(G|P) / H(G) and 1 - H(P|G) / H(P), and 1 where the denominator is 0 (Rosenberg & Hirschberg 2007).
    v_measure : float
        Their harmonic mean; 0 when both are 0.
    """

    gold: float
    predicted: float
    gold_given_predicted: float
    predicted_given_gold: float
    vi: float
    homogeneity: float
    completeness: float
    v_measure: float


def information(table: Table) -> Information:
    """Return entropies, variation of information and V-measure; of no words they are those of a perfect match."""
    counts = table.counts.astype(np.float64)
    n = max(counts.sum(), 1.0)
    tags, labels = counts.sum(axis=1), counts.sum(axis=0)
    rows, columns = np.nonzero(counts)
    common = counts[rows, columns]
    # No difference of two entropies: every term is 0 or more, and a perfect match is 0 exactly.
    gold_given = float(np.sum(common * np.log2(labels[columns] / common)) / n)
    predicted_given = float(np.sum(common * np.log2(tags[rows] / common)) / n)
    gold, predicted = (float(np.sum(part * np.log2(n / part)) / n) for part in (tags, labels))
    homogeneity = max(0.0, 1 - gold_given / gold) if gold > 0 else 1.0
    completeness = max(0.0, 1 - predicted_given / predicted) if predicted > 0 else 1.0
    both = homogeneity + completeness
    v_measure = 2 * homogeneity * completeness / both if both > 0 else 0.0
    vi = gold_given + predicted_given
    return Information(gold, predicted, gold_given, predicted_given, vi, homogeneity, completeness, v_measure)


@dataclass(frozen=True)
class Scores:
    """All figures of a tagging, as shares of 1; entropies in bits.

    Attributes
    ----------
    words, tags, labels, foreign : int
        How many words, different tags, different labels, and words whose label is none of the tags.
    accuracy : float or None
        See `accuracy`.
    known, unknown : int or None
        Words that the training text has, and the others; None where no training text was given.
    accuracy_known, accuracy_unknown : float or None
        Of these words; None also where there are none of them or `accuracy` does not apply.
    many_to_one, one_to_one : float or None
        Accuracy when labels are mapped to tags; None when there are no words.
    information : Information
    """

    words: int
    tags: int
    labels: int
    foreign: int
    accuracy: float | None
    known: int | None
    unknown: int | None
    accuracy_known: float | None
    accuracy_unknown: float | None
    many_to_one: float | None
    one_to_one: float | None
    information: Information


def score(gold: Sequence[bytes], predicted: Sequence[bytes], known: np.ndarray | None = None) -> Scores:
    """Score labels against tags.

    Parameters
    ----------
    gold, predicted : sequence of bytes
        One for each word.
    known : np.ndarray [shape=(words,), dtype=bool] or None
        Whether a word is in the training text.

    Raises
    ------
    ValueError, UsageProblem
        As `contingency`.
    """
    table = contingency(gold, predicted)
    overall = accuracy(table)
    parts = [None, None, None, None]
    if known is not None:
        right = agreement(gold, predicted)
        for k, part in enumerate((right[known], right[~known])):
            parts[k] = len(part)
            parts[k + 2] = float(part.mean()) if len(part) and overall is not None else None
    return Scores(
        table.words,
        len(table.gold),
        len(table.predicted),
        table.foreign,
        overall,
        *parts,
        _hits(table, many_to_one(table)) / table.words if table.words else None,
        _hits(table, one_to_one(table)) / table.words if table.words else None,
        information(table),
    )


def agreement(gold: Sequence[bytes], predicted: Sequence[bytes]) -> np.ndarray:
    """Tell for each word whether its label is its tag [shape=(words,), dtype=bool]."""
    return np.fromiter((g == p for g, p in zip(gold, predicted, strict=True)), bool, len(gold))


@dataclass(frozen=True)
class TagScores:
    """One tag's words: in the gold, predicted, both; 0 where a denominator is 0."""

    tag: bytes
    gold: int
    predicted: int
    correct: int
    precision: float
    recall: float
    f1: float


def by_tag(table: Table) -> list[TagScores]:
    """Return the figures of each tag, most frequent in the gold first, labels that are no tags behind them.

    Where `accuracy` does not apply, labels count as the tags that `many_to_one` maps them to.
    """
    mapping = table.same if table.comparable else many_to_one(table)
    rows = []
    for k, tag in enumerate(table.gold):
        rows.append(
            (tag, table.counts[k].sum(), table.counts[:, mapping == k].sum(), table.counts[k, mapping == k].sum())
        )
    rows += [(table.predicted[p], 0, table.counts[:, p].sum(), 0) for p in np.flatnonzero(mapping < 0)]
    rows.sort(key=lambda row: (-row[1], -row[2], row[0]))
    results = []
    for tag, gold, predicted, correct in rows:
        gold, predicted, correct = int(gold), int(predicted), int(correct)
        precision, recall = correct / max(predicted, 1), correct / max(gold, 1)
        f1 = 2 * correct / (gold + predicted)
        results.append(TagScores(tag, gold, predicted, correct, precision, recall, f1))
    return results


def confusions(table: Table, most: int = 10) -> list[tuple[bytes, bytes, int]]:
    """Return (tag, label, words) of the most frequent errors; none where `accuracy` does not apply."""
    if not table.comparable:
        return []
    wrong = table.counts.copy()
    labels = np.flatnonzero(table.same >= 0)
    wrong[table.same[labels], labels] = 0
    order = np.argsort(-wrong, axis=None, kind="stable")[:most]
    pairs = zip(*np.unravel_index(order, wrong.shape), strict=True)
    return [(table.gold[g], table.predicted[p], int(wrong[g, p])) for g, p in pairs if wrong[g, p]]


def sentence_counts(right: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the words with the right tag and all words of each sentence [shape=(sentences, 2), dtype=int64].

    Parameters
    ----------
    right : np.ndarray [shape=(words,), dtype=bool]
    offsets : np.ndarray [shape=(sentences + 1,), dtype=int64]
    """
    total = np.concatenate([[0], np.cumsum(right, dtype=np.int64)])
    return np.stack([np.diff(total[offsets]), np.diff(offsets)], axis=1)


def _share(totals):
    return totals[..., 0] / np.maximum(totals[..., 1], 1)


def bootstrap(counts, samples=1000, seed=1, level=0.95) -> tuple[float, float]:
    """Return the percentile bootstrap interval of the accuracy over sentences; counts from `sentence_counts`."""
    return resampling.bootstrap(counts, _share, samples, seed, level)


def compare(counts, baseline, samples=1000, seed=1, level=0.95) -> resampling.Difference:
    """Return a tagging's accuracy minus a baseline's: above 0 where the first is better."""
    return resampling.compare(counts, baseline, _share, samples, seed, level)
