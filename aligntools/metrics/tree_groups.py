"""Attachment within groups of words: by the length of the sentence, by how far the head is, by tag or relation."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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


def by_group(gold_groups: np.ndarray, groups: np.ndarray, right: np.ndarray, names: Sequence[str]) -> list[Group]:
    """Count words by group.

    gold_groups, groups (int [words]): The groups in the gold tree and in the other one, 0 and up.
    right (bool [words]): Whether the head is right.
    Returns in order, without those that are empty on both sides.
    """
    n = len(names)
    columns = [
        np.bincount(gold_groups, minlength=n),
        np.bincount(groups, minlength=n),
        np.bincount(gold_groups[right], minlength=n),
        np.bincount(groups[right], minlength=n),
    ]
    rows = zip(names, *(column.tolist() for column in columns), strict=True)
    return [Group(*row) for row in rows if row[1] or row[2]]


def distance_groups(heads: npt.ArrayLike, offsets: np.ndarray) -> np.ndarray:
    """Return each word's group of `DISTANCES`: how far its head is, 0 for a root."""
    heads = np.asarray(heads, np.int64)
    positions = np.arange(1, len(heads) + 1) - np.repeat(offsets[:-1] - offsets[0], np.diff(offsets))
    distances = np.where(heads > 0, np.abs(heads - positions), 0)
    return np.searchsorted([least for _, least in DISTANCES], distances, side="right") - 1


def length_groups(offsets: np.ndarray) -> np.ndarray:
    """Return each word's group of `LENGTHS`, by the words of its sentence."""
    lengths = np.diff(offsets)
    return np.searchsorted([least for _, least in LENGTHS], np.repeat(lengths, lengths), side="right") - 1
