"""From posteriors to links: the joint decision, or links of single directions and their symmetrization.

The *joint decision* links two words if the mean of their posteriors in both directions exceeds a threshold. The
threshold depends on the more probable links of the two words: it is lower if the link continues one of these, in the
next cell, and higher if it is apart from them (`applier.joint_thresholds`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aligntools.aligning.applying import kernels_decoding as kd
from aligntools.aligning.applying.applier import Applier, Posteriors, decide
from aligntools.aligning.settings import Decisions
from aligntools.formats.links.pharaoh import Links, concatenate
from aligntools.formats.text.corpus import Bitext
from aligntools.ground.parallel import Pool
from aligntools.links.symmetrize import symmetrize


@dataclass(frozen=True, eq=False)
class Decided:
    """Links, probabilities and scores of consecutive sentence pairs.

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
    """Join the links of consecutive runs of sentence pairs."""
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


#: The ways to decide on both directions' posteriors at once, by their names.
_WAYS = {"joint": kd.JOINT, "mean": kd.MEAN}


def decided(
    applier: Applier,
    bitext: Bitext,
    settings: Decisions,
    pool: Pool,
    directions: bool = False,
    found: Iterable[Posteriors] | None = None,
    paths: Iterable[Posteriors] | None = None,
) -> Iterator[Decided]:
    """Yield the links of consecutive runs of sentence pairs.

    bitext: With ids of the model's vocabularies.
    settings: If only one direction was trained, ``joint`` and ``mean`` decide by it.
    directions: Find the links of the single directions too.
    found, paths: Posteriors and Viterbi paths of the same runs, where they are there already.
    """
    if settings.decode == "viterbi" and paths is None:
        paths = applier.posteriors(bitext, pool, viterbi=True)
    chosen = iter(paths) if paths is not None else None
    # where words are independent of each other, the Viterbi path is the best link of each
    chain = applier.models[0].HAS_PATHS
    members = len(applier.models) + (applier.subwords is not None)
    decider = Decider(settings, applier.directions, applier.settings.threshold(members), chain, directions)
    for posteriors in applier.posteriors(bitext, pool) if found is None else found:
        yield decider.decide(posteriors, next(chosen) if chosen is not None else posteriors, pool)


class Decider:
    """Decides on links, wherever posteriors come from.

    trained: The directions that a model has: 1 forward, 2 reverse, 3 both.
    usual: The threshold if the settings have none.
    chain: Whether the model has Viterbi paths.
    directions: Find the links of the single directions too.
    """

    def __init__(self, settings: Decisions, trained: int, usual: float, chain: bool, directions: bool) -> None:
        self.settings, self.trained, self.directions = settings, trained, directions
        self.threshold = usual if settings.threshold is None else settings.threshold
        whole = settings.decode == "posterior" or (settings.decode == "viterbi" and chain)
        self.single = (kd.FORWARD, kd.REVERSE) if whole else (kd.FORWARD_BEST, kd.REVERSE_BEST)

    def decide(
        self,
        posteriors: Posteriors,
        chosen: Posteriors,
        pool: Pool,
        found: tuple[Links, np.ndarray | None] | None = None,
    ) -> Decided:
        """Decide on the links of one run.

        chosen: The posteriors, or paths, that single directions follow.
        found: Links that a network chose already, and their probabilities; None for posteriors.
        """
        settings, trained = self.settings, self.trained
        joint = found is not None or (trained == 3 and settings.symmetrize in _WAYS)
        single = self._singles(posteriors, chosen, pool) if self.directions or not joint else (None, None)
        if found is not None:
            links, probabilities = found
        elif joint:
            pairs, offsets, probabilities = decide(posteriors, _WAYS[settings.symmetrize], self.threshold, pool)
            links = Links(pairs, offsets)
        else:
            links, probabilities = _combined(single, settings), None
        if probabilities is None:
            probabilities = link_posteriors(posteriors, links, trained)
        forward, reverse = single if self.directions else (None, None)
        return Decided(links, probabilities, forward, reverse, posteriors.log_likelihood, posteriors.lengths())

    def _singles(self, posteriors: Posteriors, chosen: Posteriors, pool: Pool) -> tuple[Links | None, Links | None]:
        """Return each direction's own links, where it was trained."""
        own = 0.5 if chosen is not posteriors else self.threshold
        found = [
            Links(*decide(chosen, self.single[d], own, pool)[:2]) if self.trained & (d + 1) else None for d in (0, 1)
        ]
        return found[0], found[1]


def _combined(found: tuple[Links | None, Links | None], settings: Decisions) -> Links:
    """Return the links of both directions combined, or of the one that there is."""
    forward, reverse = found
    if forward is not None and reverse is not None:
        return symmetrize(forward, reverse, settings.symmetrize, settings.flavor)
    one = reverse if forward is None else forward
    assert one is not None, "a model has a direction"
    return one


def link_posteriors(p: Posteriors, links: Links, trained: int) -> np.ndarray:
    """Return the posterior of each link: the mean of the directions that were trained."""
    k = links.sentences()
    n_j = np.diff(p.target_offsets[p.k0 : p.k1 + 1])[k]
    cells = p.cell_offsets[k] + links.pairs[:, 0] * n_j + links.pairs[:, 1]
    found: np.ndarray = (p.reverse if trained == 2 else p.forward)[cells]
    return np.float32(0.5) * (found + p.reverse[cells]) if trained == 3 else found
