"""The search for the best alignments of sentence pairs."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from aligntools.aligning.contrastive import kernels_blocks as kb
from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive import kernels_search as ks
from aligntools.aligning.contrastive.candidate_links import CandidateLinks, link_keys
from aligntools.aligning.contrastive.features import ALL
from aligntools.formats.links.pharaoh import Links
from aligntools.ground.parallel import Pool, over
from aligntools.ground.ranges import Range, amounts, counts

#: Most links of a word if every cell is a candidate.
MOST_LINKS = 100
CONSTRAINTS = {"none": kb.NONE, "itg": kb.ITG, "block-itg": kb.BLOCK_ITG}


@dataclass(frozen=True)
class SearchSettings:
    """How alignments are searched: the beam, the length of the n-best list, the most links of a word.

    slack: By how much a link may lower the score and still be tried: 0 in the paper; infinity tries all.
    candidates: One of `settings.Candidates`: which cells may be linked; for the caller, the search takes any.
    """

    beam: int = 1
    n_best: int = 1
    constraint: str = "none"
    source_limit: int = 10
    target_limit: int = 10
    slack: float = 0.0
    candidates: str = "base"

    RANGES: ClassVar[dict[str, Range]] = {
        "beam": counts(1, 1000),
        "n_best": counts(1, 1000),
        "source_limit": counts(1, 100),
        "target_limit": counts(1, 100),
        "slack": amounts(),
    }

    def among(self, candidates: str) -> "SearchSettings":
        """Return the same search among other cells, with the usual limit of a word's links for these."""
        limit = MOST_LINKS if candidates == "all" else GREEDY.source_limit
        return replace(self, candidates=candidates, source_limit=limit, target_limit=limit)


GREEDY = SearchSettings()


@dataclass
class BestLists:
    """The best alignments of consecutive sentences; ``sizes`` (int32 [sentences]) has their number for each.

    scores (float64 [sentences, n_best]): From best to worst; -infinity beyond.
    bit_starts (int64 [sentences]); bits (uint64): The link sets, ceil(candidates / 64) words each.
    """

    candidates: CandidateLinks
    sizes: np.ndarray
    scores: np.ndarray
    bit_starts: np.ndarray
    bits: np.ndarray

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return what kernels take."""
        return self.bit_starts, self.bits, self.scores, self.sizes

    def linked(self, rank: int) -> np.ndarray:
        """Return which candidates each sentence's alignment of a rank links, bool; none where there are fewer."""
        found = np.zeros(len(self.candidates.rows), bool)
        ks.mark_links(self.candidates.starts, self.arrays(), rank, found)
        return found

    def links(self, rank: int = 0) -> Links:
        """Return each sentence's links in its alignment of a rank."""
        return self.candidates.links(self.linked(rank))

    def features(self, active: np.ndarray, pool: Pool | None = None) -> np.ndarray:
        """Return the alignments' features, float64 [sentences, n_best, columns]; zeros beyond ``sizes``."""
        e = self.candidates
        out = np.zeros((*self.scores.shape, len(active)))

        def task(block: tuple[int, int]) -> None:
            ks.list_features(*block, e.arrays(), active, self.arrays(), out)

        over(pool, task, [(0, len(e))] if pool is None else e.blocks())
        return out


def search(
    candidates: CandidateLinks,
    weights: np.ndarray,
    active: np.ndarray,
    settings: SearchSettings = GREEDY,
    pool: Pool | None = None,
) -> BestLists:
    """Find the best alignments of every sentence.

    weights (float64), active (bool): One for each column of the candidates' values: the features, and evidence.
    """
    e, n, s = candidates, len(candidates), settings
    words = (np.diff(e.starts) + 63) // 64 * s.n_best
    bit_starts = np.concatenate([[0], np.cumsum(words)])
    best = BestLists(
        e,
        np.zeros(n, np.int32),
        np.full((n, s.n_best), -np.inf),
        bit_starts[:-1],
        np.zeros(int(bit_starts[-1]), np.uint64),
    )
    weights, active = np.where(active, weights, 0.0), np.array(active)  # kernels are compiled for writable arrays
    given, found = e.arrays(), best.arrays()
    options = ks.Options(s.beam, s.n_best, float(s.slack), CONSTRAINTS[s.constraint], s.source_limit, s.target_limit)

    def task(block: tuple[int, int]) -> None:
        ks.search_block(*block, given, weights, active, options, found)

    over(pool, task, [(0, len(e))] if pool is None else e.blocks())
    return best


# Probabilities of the links that a network decided on: its log-odds, made less sure.
#
# A network is surer than it is right, as networks are that were taught by cross-entropy (Guo et al. 2017, *On
# Calibration of Modern Neural Networks*). One factor of its log-odds, *temperature scaling*, mends most of that.


# Phrases that are linked as wholes: a decision on blocks of cells, after that on single links.
#
# Some gold standards, and uses such as phrase tables and term lists, link each word of an idiom or a verb group with
# each word of its counterpart. Single links of these are not probable. A *phrase* is a block of neighbouring words of
# either side whose links stay inside it. All of its cells become links if their log-odds, and BONUS for each, sum to
# more than 0 over those that are not links yet.

#: Factor of log-odds, the inverse of the temperature (`bench/SETTINGS.md`).
SCALE = 0.7


def known(values: np.ndarray) -> bool:
    """Return whether weights (float64, one a column) rest on a network's log-odds."""
    return bool(values[kf.TREES] > 0)


def link_probabilities(candidates: CandidateLinks, links: Links, values: np.ndarray) -> np.ndarray:
    """Return the probability of each link, all of them candidates, float32 [links]; ``values``: see `link_odds`."""
    odds = link_odds(candidates, values, places_of(candidates, links))
    return np.asarray((1.0 / (1.0 + np.exp(-SCALE * odds))).astype(np.float32))


def link_odds(candidates: CandidateLinks, values: np.ndarray, chosen: np.ndarray | None = None) -> np.ndarray:
    """Return the log-odds that candidates are links, float64, or those that are ``chosen`` (int64) alone.

    values (float64 [columns]): How far the network's, the base model's and evidence's log-odds count.
    """
    columns = [kf.TREES, kf.POSTERIOR, *range(len(ALL), len(values))]
    counts = values[columns]
    counts[:2] = np.maximum(counts[:2], 0.0)
    local = candidates.local[:, columns] if chosen is None else candidates.local[np.ix_(chosen, columns)]
    return np.asarray(local.astype(np.float64) @ (counts / counts[:2].sum()))


def places_of(candidates: CandidateLinks, links: Links) -> np.ndarray:
    """Return the number of the candidate that each link is, int64 [links]."""
    return np.asarray(np.searchsorted(candidates.keys(), link_keys(links)))


#: What a cell of a phrase is worth, in log-odds: one of a probability of 0.27 and more gains by itself
#: (`bench/SETTINGS.md`).
BONUS = 1.0


def with_phrases(candidates: CandidateLinks, links: Links, values: np.ndarray, pool: Pool | None = None) -> Links:
    """Return links, all of them candidates, with those of phrases; ``values``: see `link_odds`."""
    e, odds = candidates, link_odds(candidates, values)
    linked = np.zeros(len(e.rows), np.uint8)
    linked[places_of(candidates, links)] = 1
    longest = [int(np.diff(o).max(initial=1)) for o in (e.s_offsets, e.t_offsets)]

    def task(block: tuple[int, int]) -> None:
        place = np.full(longest, -1, np.int32)
        counts = [np.empty(n, np.int64) for n in longest]
        given = e.starts, e.s_offsets, e.t_offsets, e.rows, e.columns, odds, BONUS
        kb.link_phrases(*block, *given, place, *counts, linked)

    over(pool, task, e.blocks())
    return e.links(linked.astype(bool))
