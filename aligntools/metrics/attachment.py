"""Attachment scores of dependency trees, what they are made of, and how far chance could explain them."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aligntools.ground import resampling

#: Columns of the counts of a sentence: counted words; those with the right head, and with the right head and label;
#: 1 for a sentence with counted words; 1 if all their heads are right; counted words under the root in the gold
#: tree, and those of them that are so in the other tree.
COLUMNS = ("words", "heads", "labels", "sentences", "trees", "roots", "roots_right")

#: Which words are not counted: none of them; those whose form is made of characters with the Unicode property
#: Punctuation alone (the scorer of the CoNLL shared tasks 2006 and 2007); those that the gold tags call punctuation.
PUNCTUATION = ("all", "conll", "ud")
_TAGS = {b"PUNCT", b"."}


def counted(words: Sequence[bytes], tags: Sequence[bytes] | None, convention: str) -> np.ndarray:
    """Return which words count.

    Parameters
    ----------
    words, tags : sequence of bytes
        Forms and gold tags, UTF-8; tags are needed for ``ud`` alone.
    convention : str
        One of PUNCTUATION. The evaluation of Universal Dependencies itself counts all words; ``ud`` leaves out those
        tagged PUNCT (or ``.``, in the 12 universal tags).

    Returns
    -------
    bool [words]
    """
    if convention == "all":
        return np.ones(len(words), bool)
    if convention == "ud":
        if tags is None:
            raise ValueError("the convention 'ud' needs tags")
        return np.fromiter((tag not in _TAGS for tag in tags), bool, len(words))
    if convention != "conll":
        raise ValueError(f"'{convention}' is none of {', '.join(PUNCTUATION)}")
    known = {word: not _is_punctuation(word) for word in set(words)}
    return np.fromiter((known[word] for word in words), bool, len(words))


def _is_punctuation(word):
    text = word.decode("utf-8", "replace")
    return all(unicodedata.category(c).startswith("P") for c in text)


def labels_equal(gold: Sequence[bytes], labels: Sequence[bytes], subtypes=True) -> np.ndarray:
    """Return for each word whether its label is right; without ``subtypes`` only what stands before a colon counts."""
    if subtypes:
        pairs = zip(gold, labels, strict=True)
    else:
        pairs = ((g.split(b":")[0], h.split(b":")[0]) for g, h in zip(gold, labels, strict=True))
    return np.fromiter((g == h for g, h in pairs), bool, len(gold))


def count(gold_heads, heads, offsets, words_counted, labels_right=None, longest=None) -> np.ndarray:
    """Count what is right in each sentence.

    Parameters
    ----------
    gold_heads, heads : int [words]
        0 for the root.
    offsets : int64 [sentences + 1]
    words_counted : bool [words]
    labels_right : bool [words], optional
    longest : int, optional
        Sentences with more counted words are left out.

    Returns
    -------
    int64 [sentences, 7]
        The columns of `COLUMNS`; without ``labels_right`` that of labels is 0.
    """
    gold_heads, heads = np.asarray(gold_heads), np.asarray(heads)
    if len(gold_heads) != len(heads):
        raise ValueError(f"{len(heads)} words where the gold has {len(gold_heads)}")
    right = (gold_heads == heads) & words_counted
    roots = (gold_heads == 0) & words_counted
    both = right & labels_right if labels_right is not None else np.zeros(len(right), bool)
    result = np.zeros((len(offsets) - 1, len(COLUMNS)), np.int64)
    for column, values in zip((0, 1, 2, 5, 6), (words_counted, right, both, roots, roots & (heads == 0)), strict=True):
        sums = np.concatenate([[0], np.cumsum(values)])
        result[:, column] = np.diff(sums[offsets])
    result[:, 3] = result[:, 0] > 0
    result[:, 4] = (result[:, 0] > 0) & (result[:, 0] == result[:, 1])
    if longest is not None:
        result[result[:, 0] > longest] = 0
    return result


@dataclass(frozen=True)
class Scores:
    """Counts over a corpus and the figures made of them, as fractions of 1 (0 where nothing was counted).

    ``uas`` and ``las`` are the shares of counted words with the right head and with the right head and label,
    ``complete`` that of the sentences whose counted words all have the right head, ``root`` that of the gold tree's
    counted roots that are roots.
    """

    words: int
    sentences: int
    uas: float
    las: float
    complete: float
    root: float


def _divide(above, below):
    return np.divide(above, below, out=np.zeros(np.shape(above)), where=np.asarray(below) > 0)


def figures(totals) -> np.ndarray:
    """Return UAS, LAS, complete trees and root accuracy [shape=(..., 4)] from sums of counts [shape=(..., 7)]."""
    words, heads, labels, sentences, trees, roots, right = np.moveaxis(np.asarray(totals, np.float64), -1, 0)
    pairs = (heads, words), (labels, words), (trees, sentences), (right, roots)
    return np.stack([_divide(above, below) for above, below in pairs], axis=-1)


def score(counts) -> Scores:
    """Return the figures of a corpus from its sentences' counts [shape=(sentences, 7)]."""
    totals = np.sum(counts, axis=0)
    return Scores(int(totals[0]), int(totals[3]), *figures(totals).tolist())


@dataclass(frozen=True)
class Group:
    """Attachment within a group of words.

    Attributes
    ----------
    name : str
    gold, predicted : int
        Words that the gold tree and the other one put in the group.
    right_gold, right_predicted : int
        Those of them with the right head. Where both trees agree on the group, so do the numbers.
    """

    name: str
    gold: int
    predicted: int
    right_gold: int
    right_predicted: int

    @property
    def recall(self):
        """Share of the gold tree's words that are right."""
        return self.right_gold / self.gold if self.gold else 0.0

    @property
    def precision(self):
        """Share of the other tree's words that are right."""
        return self.right_predicted / self.predicted if self.predicted else 0.0


def by_group(gold_groups, groups, right, names) -> list[Group]:
    """Count words by group.

    Parameters
    ----------
    gold_groups, groups : int [words]
        The groups in the gold tree and in the other one, 0 and up.
    right : bool [words]
        Whether the head is right.
    names : sequence of str

    Returns
    -------
    list of Group
        In order, without those that are empty on both sides.
    """
    n = len(names)
    columns = [
        np.bincount(gold_groups, minlength=n), np.bincount(groups, minlength=n),
        np.bincount(gold_groups[right], minlength=n), np.bincount(groups[right], minlength=n),
    ]  # fmt: skip
    rows = zip(names, *(column.tolist() for column in columns), strict=True)
    return [Group(*row) for row in rows if row[1] or row[2]]


#: Names and least values of the groups by distance from the head and by length of the sentence.
DISTANCES = (("root", 0), ("1", 1), ("2", 2), ("3-6", 3), ("7+", 7))
LENGTHS = (("1-10", 1), ("11-20", 11), ("21-30", 21), ("31-40", 31), ("41+", 41))


def distance_groups(heads, offsets) -> np.ndarray:
    """Return each word's group of `DISTANCES`: how far its head is, 0 for a root."""
    heads = np.asarray(heads, np.int64)
    positions = np.arange(1, len(heads) + 1) - np.repeat(offsets[:-1] - offsets[0], np.diff(offsets))
    distances = np.where(heads > 0, np.abs(heads - positions), 0)
    return np.searchsorted([least for _, least in DISTANCES], distances, side="right") - 1


def length_groups(offsets) -> np.ndarray:
    """Return each word's group of `LENGTHS`, by the words of its sentence."""
    lengths = np.diff(offsets)
    return np.searchsorted([least for _, least in LENGTHS], np.repeat(lengths, lengths), side="right") - 1


def bootstrap(counts, samples=1000, seed=1, level=0.95, figure=0) -> tuple[float, float]:
    """Return the percentile bootstrap interval of a figure (0: UAS, 1: LAS, 2: complete, 3: root) over sentences."""
    return resampling.bootstrap(counts, lambda totals: figures(totals)[..., figure], samples, seed, level)


def compare(counts, baseline, samples=1000, seed=1, level=0.95, figure=0) -> resampling.Difference:
    """Return a parser's figure minus a baseline's on the same sentences; parameters as for `bootstrap`."""
    return resampling.compare(counts, baseline, lambda totals: figures(totals)[..., figure], samples, seed, level)
