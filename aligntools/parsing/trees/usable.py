"""Given trees: what is wrong with them, and how to change those that a model cannot have."""

from dataclasses import dataclass

import numpy as np

from aligntools.parsing.settings import CROSSING, ROOTS, TreeConstraints
from aligntools.parsing.trees import kernels_trees as kernels

#: The bits in words, for messages.
NAMES = {
    kernels.NO_HEAD: "a word without a head",
    kernels.CYCLE: "a cycle",
    kernels.NO_ROOT: "no root",
    kernels.ROOTS: "several roots",
    kernels.CROSSING: "crossing edges",
}


def inspect(heads: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Find what keeps sentences from being projective trees with one root.

    heads (int32 [words]): 0 for the root, 1 to n for a word, -1 where there is none.
    offsets (int64 [sentences + 1]).
    Returns uint8 [sentences]: bits of `NAMES`.
    """
    heads, offsets = np.ascontiguousarray(heads, np.int32), np.asarray(offsets, np.int64)
    lengths = np.diff(offsets)
    found = np.zeros(len(lengths), np.uint8)
    marks = np.zeros(max(1, int(lengths.max(initial=0))), np.int32)
    kernels.inspect(heads, offsets - offsets[0], lengths, 0, len(lengths), marks, found)
    return found


@dataclass(frozen=True)
class UsableTrees:
    """Trees that a model can have.

    heads (int32 [words]): With what was lifted or joined.
    keep (bool [sentences]).
    skipped, changed: How many sentences for which reason.
    first: The first sentence that is skipped, from 0.
    """

    heads: np.ndarray
    keep: np.ndarray
    skipped: dict[str, int]
    changed: dict[str, int]
    first: int | None


def usable(
    heads: np.ndarray, offsets: np.ndarray, constraints: TreeConstraints, crossing: str = "skip", roots: str = "skip"
) -> UsableTrees:
    """Decide which given trees can be learned from, and change those that the options say to change.

    heads, offsets: As for `inspect`.
    constraints: What the model can have.
    crossing: ``skip`` sentences that are not projective, or ``lift`` their crossed edges (Nivre & Nilsson 2005), where
        the model has only projective trees.
    roots: ``skip`` sentences with several roots, or ``join`` these under the first, where the model has only one.
    """
    if crossing not in CROSSING or roots not in ROOTS:
        raise ValueError(f"'{crossing}', '{roots}' are not of {CROSSING} and {ROOTS}")
    heads, offsets = np.array(heads, np.int32), np.asarray(offsets, np.int64)
    words, lengths = offsets - offsets[0], np.diff(offsets)
    found = inspect(heads, offsets)
    bad = (kernels.NO_HEAD, kernels.CYCLE, kernels.NO_ROOT)
    reasons = [(bit, False) for bit in bad]
    if constraints.single_root:
        reasons.append((kernels.ROOTS, roots == "join"))
    if constraints.projective:
        reasons.append((kernels.CROSSING, crossing == "lift"))
    keep = np.ones(len(lengths), bool)
    skipped: dict[str, int] = {}
    changed: dict[str, int] = {}
    for bit, change in reasons:
        here = np.flatnonzero(keep & (found & bit > 0))
        if not len(here):
            continue
        (changed if change else skipped)[NAMES[bit]] = len(here)
        for s in here if change else ():
            if bit == kernels.ROOTS:
                kernels.join_roots(heads, words, s)
            else:
                kernels.lift(heads, words, lengths, s)
        if not change:
            keep[here] = False
    first = np.flatnonzero(~keep)
    return UsableTrees(heads, keep, skipped, changed, int(first[0]) if len(first) else None)
