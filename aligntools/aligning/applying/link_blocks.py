"""What is decided on sentence pairs: links, in a few arrays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aligntools.formats.links.pharaoh import Links, concatenate


@dataclass(frozen=True, eq=False)
class Decided:
    """What was decided on consecutive sentence pairs.

    Attributes
    ----------
    table : Links
        All links: ``table.pairs`` int32 [links, 2] and ``table.offsets`` int64 [pairs + 1], which cut them by pair.
    probabilities : float32 [links]
        Mean posterior of the link in both directions, or that of the only direction that was trained.
    forward_table, reverse_table : Links or None
        Each direction's own links, where they were asked for and trained.
    log_likelihood : float64 [2, pairs]
        ``ln p(target | source)`` and ``ln p(source | target)``; NaN for a direction that was not trained.
    lengths : int64 [2, pairs]
        Words of the source and of the target sentences; 0 for pairs that were left out.
    """

    table: Links
    probabilities: npt.NDArray[np.float32]
    forward_table: Links | None
    reverse_table: Links | None
    log_likelihood: npt.NDArray[np.float64]
    lengths: npt.NDArray[np.int64]


def joined(runs: Sequence[Decided]) -> Decided:
    """Join what was decided on consecutive runs of pairs."""
    if not runs:
        none = Links(np.empty((0, 2), np.int32), np.zeros(1, np.int64))
        return Decided(none, np.empty(0, np.float32), none, none, np.empty((2, 0)), np.empty((2, 0), np.int64))

    def direction(tables: list[Links | None]) -> Links | None:
        known = [table for table in tables if table is not None]
        return concatenate(known) if len(known) == len(tables) else None

    return Decided(
        concatenate([d.table for d in runs]),
        np.concatenate([d.probabilities for d in runs]),
        direction([d.forward_table for d in runs]),
        direction([d.reverse_table for d in runs]),
        np.concatenate([d.log_likelihood for d in runs], axis=1),
        np.concatenate([d.lengths for d in runs], axis=1),
    )
