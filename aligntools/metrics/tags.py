"""How well predicted tags, or induced classes without names, fit gold tags.

Everything but the accuracy is made from the contingency table alone, so it does not matter what the predicted
labels are called. Logarithms are to base 2.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from aligntools.formats.annotation.conll_layouts import COLUMNS
from aligntools.formats.annotation.tagged_text import Tokens, without_spaces
from aligntools.ground.errors import UsageProblem
from aligntools.metrics.base import Score, aligned, divide, percent
from aligntools.metrics.settings import TagScoring

_CELLS = 20_000_000  # a larger table is no table of tags


@dataclass(frozen=True, eq=False)
class Contingency:
    """How often each label was predicted for each tag."""

    counts: np.ndarray  # int64 [tags, labels]
    gold: list[bytes]  # The tags that occur in the gold, sorted
    predicted: list[bytes]  # The labels that occur in the prediction, sorted

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


def contingency(gold: Sequence[bytes], predicted: Sequence[bytes]) -> Contingency:
    """Count how often each label was predicted for each tag."""
    if len(gold) != len(predicted):
        raise ValueError(f"{len(predicted)} labels for {len(gold)} tags")
    tags, rows = _numbered(gold)
    labels, columns = _numbered(predicted)
    if len(tags) * len(labels) > _CELLS:
        raise UsageProblem(f"{len(tags)} different tags and {len(labels)} different labels; is the `column` right?")
    counts = np.bincount(rows * len(labels) + columns, minlength=len(tags) * len(labels))
    return Contingency(counts.reshape(len(tags), len(labels)).astype(np.int64), tags, labels)


def _numbered(values: Sequence[bytes]) -> tuple[list[bytes], np.ndarray]:
    different = sorted(set(values))
    places = {value: k for k, value in enumerate(different)}
    return different, np.fromiter(map(places.__getitem__, values), np.int64, len(values))


def accuracy(table: Contingency) -> float | None:
    """Return the share of words whose label is the gold's tag; None where that does not apply.

    It does not apply when there are no words, or when most have labels that are none of the gold's tags.
    """
    return _hits(table, table.same) / table.words if table.comparable else None


def many_to_one(table: Contingency) -> np.ndarray:
    """Map each label to the tag that it has most words in common with (Johnson 2007), the first of equals.

    Returns int64 [labels]: a tag for each label.
    """
    return np.argmax(table.counts, axis=0) if table.words else np.zeros(0, np.int64)


def one_to_one(table: Contingency) -> np.ndarray:
    """Map each label to a tag of its own so that as many words as possible agree (the optimum, not greedily).

    Returns int64 [labels]: a tag for each label; -1 for labels that are left over.
    """
    from scipy.optimize import linear_sum_assignment

    tags, labels = linear_sum_assignment(table.counts, maximize=True)
    mapping = np.full(len(table.predicted), -1, np.int64)
    mapping[labels] = tags
    return mapping


def _hits(table: Contingency, mapping: np.ndarray) -> int:
    """Return how many words have the right tag when labels are mapped to tags."""
    labels = np.flatnonzero(mapping >= 0)
    return int(table.counts[mapping[labels], labels].sum())


@dataclass(frozen=True)
class Information:
    """What tags and labels tell of each other, in bits and as shares.

    gold, predicted: Entropies H(G) of the tags and H(P) of the labels.
    gold_given_predicted, predicted_given_gold: Conditional entropies H(G|P) and H(P|G).
    homogeneity, completeness: 1 - H(G|P) / H(G) and 1 - H(P|G) / H(P), and 1 where the denominator is 0 (Rosenberg &
        Hirschberg 2007).
    """

    gold: float
    predicted: float
    gold_given_predicted: float
    predicted_given_gold: float
    vi: float  # Variation of information, H(G|P) + H(P|G) (Meila 2007): 0 for the same partition
    homogeneity: float
    completeness: float
    v_measure: float  # Their harmonic mean; 0 when both are 0


def information(table: Contingency) -> Information:
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


def agreement(gold: Sequence[bytes] | None, predicted: Sequence[bytes] | None) -> np.ndarray:
    """Return for each word whether its label is its tag [shape=(words,), dtype=bool]."""
    return np.fromiter((g == p for g, p in zip(gold or (), predicted or (), strict=True)), bool, len(gold or ()))


def by_tag(table: Contingency) -> list[dict[str, Any]]:
    """Return the figures of each tag, most frequent in the gold first, labels that are no tags behind them.

    Words in the gold, predicted, both; shares are 0 where a denominator is 0. Where `accuracy` does not apply, labels
    count as the tags that `many_to_one` maps them to.
    """
    mapping = table.same if table.comparable else many_to_one(table)
    rows = [
        (tag, table.counts[k].sum(), table.counts[:, mapping == k].sum(), table.counts[k, mapping == k].sum())
        for k, tag in enumerate(table.gold)
    ]
    rows += [(table.predicted[p], 0, table.counts[:, p].sum(), 0) for p in np.flatnonzero(mapping < 0)]
    rows.sort(key=lambda row: (-row[1], -row[2], row[0]))
    names, results = ("tag", "gold", "predicted", "correct", "precision", "recall", "f1"), []
    for tag, *numbers in rows:
        gold, predicted, correct = map(int, numbers)
        shares = correct / max(predicted, 1), correct / max(gold, 1), 2 * correct / (gold + predicted)
        results.append(dict(zip(names, (_text(tag), gold, predicted, correct, *shares), strict=True)))
    return results


def confusions(table: Contingency, most: int = 10) -> list[tuple[bytes, bytes, int]]:
    """Return (tag, label, words) of the most frequent errors; none where `accuracy` does not apply."""
    if not table.comparable:
        return []
    wrong = table.counts.copy()
    labels = np.flatnonzero(table.same >= 0)
    wrong[table.same[labels], labels] = 0
    order = np.argsort(-wrong, axis=None, kind="stable")[:most]
    pairs = zip(*np.unravel_index(order, wrong.shape), strict=True)
    return [(table.gold[g], table.predicted[p], int(wrong[g, p])) for g, p in pairs if wrong[g, p]]


def _kind(tokens: Tokens, column: str | int) -> str:
    """Return what a file was taken for."""
    if tokens.format == "conll":
        return f"conll:{column if isinstance(column, int) else COLUMNS[column] + 1}"
    if tokens.format == "columns":
        return f"columns:{column if isinstance(column, int) else 2}"
    return tokens.format


@dataclass(frozen=True, eq=False, kw_only=True)
class TagScore(Score):
    """All figures of a tagging, as shares of 1; entropies in bits.

    words, tags, labels, foreign: How many words, different tags, different labels, and words whose label is none of the
        tags.
    known, unknown: Words that the training text has, and the others; None where no training text was given.
    accuracy_known, accuracy_unknown: Of these words; None also where there are none of them or `accuracy` does not
        apply.
    many_to_one, one_to_one: Accuracy when labels are mapped to tags; None when there are no words.
    """

    NAME, HEADLINE, TITLE, SYSTEM = "tags", "accuracy", "accuracy", "tagging"
    LABELS = ("right", "words")
    LEGEND = "G: gold tags, P: labels; hom: 1 - H(G|P) / H(G), com: 1 - H(P|G) / H(P), V: their harmonic mean"
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
    table: Contingency = field(repr=False)

    @classmethod
    def of(
        cls,
        gold: Tokens,
        hypothesis: Tokens,
        how: TagScoring | None = None,
        training: frozenset[bytes] | None = None,
    ) -> "TagScore":
        """Score tags.

        training: The words of the training text, as `without_spaces` writes them: the gold's other words are scored
            apart.
        """
        how = how or TagScoring()
        table, right = contingency(gold.tags or [], hypothesis.tags or []), agreement(gold.tags, hypothesis.tags)
        overall = accuracy(table)
        settings = {
            "gold": _kind(gold, how.column),
            "hyp": _kind(hypothesis, how.column if how.hyp_column is None else how.hyp_column),
            "nsent": len(gold),
            "nword": int(gold.offsets[-1]),
            "1-to-1": "optimal",
            "log": "2",
            **({"train": f"{len(training)}types"} if training is not None else {}),
            **({"columns": "predicted"} if how.predicted_columns else {}),
            **({"forms": "ignored"} if how.ignore_forms else {}),
        }
        parts: dict[str, Any] = dict.fromkeys(("known", "unknown", "accuracy_known", "accuracy_unknown"))
        if training is not None:
            seen = np.fromiter((without_spaces(word) in training for word in gold.words), bool, len(gold.words))
            for name, part in ("known", right[seen]), ("unknown", right[~seen]):
                share = float(part.mean()) if len(part) and overall is not None else None
                parts |= {name: len(part), f"accuracy_{name}": share}
        n, before = table.words, np.concatenate([[0], np.cumsum(right, dtype=np.int64)])  # words that are right
        return cls.signed(
            settings,
            counts=np.stack([np.diff(before[gold.offsets]), np.diff(gold.offsets)], axis=1),
            how=how,
            table=table,
            words=n,
            tags=len(table.gold),
            labels=len(table.predicted),
            foreign=table.foreign,
            accuracy=overall,
            **parts,
            many_to_one=_hits(table, many_to_one(table)) / n if n else None,
            one_to_one=_hits(table, one_to_one(table)) / n if n else None,
            information=information(table),
        )

    def figures(self, totals: np.ndarray) -> np.ndarray:
        """Return the accuracy [shape=(..., 1)]."""
        totals = np.asarray(totals)
        return divide(totals[..., :1], totals[..., 1:])

    def as_dict(self) -> dict[str, Any]:
        """Return the figures by name."""
        return super().as_dict() | {"information": asdict(self.information)}

    def cells(self, verbose: bool = False) -> dict[str, str]:
        """Return the columns of the table; ``verbose`` adds the conditional entropies."""
        told = self.information
        cells = {"acc%": percent(self.accuracy)}
        if self.known is not None:
            cells |= {"known": percent(self.accuracy_known), "unknown": percent(self.accuracy_unknown)}
        cells |= {"many-to-1": percent(self.many_to_one), "1-to-1": percent(self.one_to_one), "VI": f"{told.vi:.4f}"}
        if verbose:
            cells |= {"H(G|P)": f"{told.gold_given_predicted:.4f}", "H(P|G)": f"{told.predicted_given_gold:.4f}"}
        shares = {"V": told.v_measure, "hom": told.homogeneity, "com": told.completeness}
        return cells | {head: percent(share) for head, share in shares.items()} | {"labels": str(self.labels)}

    def gold_line(self, by: tuple[str, ...] = ()) -> str:
        """Return how many words and tags the gold has."""
        known = "" if self.known is None else f", {self.known} known and {self.unknown} unknown"
        gap = "\n" if "tag" in by else ""  # between the tags' figures and this line
        return f"{gap}gold: {self.words} words{known}, {self.tags} tags"

    def details(self) -> str:
        """Return counts and entropies in a line."""
        told = self.information
        entropies = f"H(G) {told.gold:.4f}, H(P) {told.predicted:.4f}"
        return f"{super().details()}, labels that the gold does not have {self.foreign}, {entropies}"

    def breakdown(self, by: tuple[str, ...]) -> dict[str, Any]:
        """Return the figures of each tag and the most frequent errors, if ``by`` has ``tag``."""
        if "tag" not in by:
            return {}
        return {
            "by_tag": by_tag(self.table),
            "confusions": [{"gold": _text(g), "predicted": _text(p), "words": n} for g, p, n in confusions(self.table)],
        }

    def breakdown_lines(self, name: str, by: tuple[str, ...]) -> Iterator[str]:
        """Yield a table of all tags and the most frequent errors, if ``by`` has ``tag``."""
        if "tag" not in by:
            return
        rows = [["tag", "gold", "labelled", "both", "precision", "recall", "F1"]]
        for row in by_tag(self.table):
            tag, *counts = map(str, list(row.values())[:4])
            rows.append([tag, *counts, *map(percent, (row["precision"], row["recall"], row["f1"]))])
        how = "" if self.table.comparable or not self.table.words else ", labels mapped many-to-1"
        yield from ("", f"{name}{how}:", *aligned(rows))
        errors = [f"{_text(g)} as {_text(p)} {n}" for g, p, n in confusions(self.table)]
        if errors:
            yield "commonest errors: " + ", ".join(errors)


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")
