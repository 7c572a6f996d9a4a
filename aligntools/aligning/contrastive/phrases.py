"""Phrases that are linked as wholes: a decision on blocks of cells, after that on single links.

Some gold standards, and uses such as phrase tables and term lists, link each word of an idiom or a verb group with each
word of its counterpart. Single links of these are not probable. A *phrase* is a block of neighbouring words of either
side whose links stay inside it. All of its cells become links if their log-odds, and BONUS for each, sum to more than 0
over those that are not links yet.
"""

import numpy as np

from aligntools.aligning.contrastive import kernels_blocks as kp
from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive.candidate_links import CandidateLinks
from aligntools.aligning.contrastive.features import ALL
from aligntools.formats.links.pharaoh import Links
from aligntools.ground.parallel import Pool, over

# Probabilities of the links that a network decided on: its log-odds, made less sure.
#
# A network is surer than it is right, as networks are that were taught by cross-entropy (Guo et al. 2017, *On
# Calibration of Modern Neural Networks*). One factor of its log-odds, *temperature scaling*, mends most of that.


#: Factor of log-odds, the inverse of the temperature (`bench/SETTINGS.md`).
SCALE = 0.7


def known(values: np.ndarray) -> bool:
    """Return whether weights (float64, one a column) rest on a network's log-odds."""
    return bool(values[kf.TREES] > 0)


def link_probabilities(candidates: CandidateLinks, links: Links, values: np.ndarray) -> np.ndarray:
    """Return the probability of each link, float32 [links].

    candidates: With the network's log-odds, and what evidence says.
    links: Of the same sentences; each is a candidate.
    values (float64 [columns]): Weights; see `link_odds`.
    """
    odds = link_odds(candidates, values, places_of(candidates, links))
    found: np.ndarray = (1.0 / (1.0 + np.exp(-SCALE * odds))).astype(np.float32)
    return found


def link_odds(candidates: CandidateLinks, values: np.ndarray, chosen: np.ndarray | None = None) -> np.ndarray:
    """Return the log-odds that candidates are links, float64 [candidates], or of those that are chosen alone.

    values (float64 [columns]): Weights: those of the network, of the base model's log-odds and of evidence say how far
        each counts.
    chosen (int64 or None): Candidates by number.
    """
    columns = [kf.TREES, kf.POSTERIOR, *range(len(ALL), len(values))]
    counts = values[columns]
    counts[:2] = np.maximum(counts[:2], 0.0)
    local = candidates.local[:, columns] if chosen is None else candidates.local[np.ix_(chosen, columns)]
    odds: np.ndarray = local.astype(np.float64) @ (counts / counts[:2].sum())
    return odds


def places_of(candidates: CandidateLinks, links: Links) -> np.ndarray:
    """Return the number of the candidate that each link is, int64 [links]."""
    sentences = np.repeat(np.arange(len(candidates), dtype=np.int64), np.diff(candidates.starts))
    keys = (sentences << 32) | (candidates.rows.astype(np.int64) << 16) | candidates.columns
    wanted = (links.sentences().astype(np.int64) << 32) | (links.pairs[:, 0].astype(np.int64) << 16) | links.pairs[:, 1]
    places: np.ndarray = np.searchsorted(keys, wanted)
    return places


#: What a cell of a phrase is worth, in log-odds: one of a probability of 0.27 and more gains by itself
#: (`bench/SETTINGS.md`).
BONUS = 1.0


def with_phrases(candidates: CandidateLinks, links: Links, values: np.ndarray, pool: Pool | None = None) -> Links:
    """Return links with those of phrases.

    candidates: With the network's log-odds.
    links: Of the same sentences; each is a candidate.
    values (float64 [columns]): Weights; see `link_probabilities.link_odds`.
    """
    e, odds = candidates, link_odds(candidates, values)
    linked = np.zeros(len(e.rows), np.uint8)
    linked[places_of(candidates, links)] = 1
    longest = [int(np.diff(o).max(initial=1)) for o in (e.s_offsets, e.t_offsets)]

    def task(block: tuple[int, int]) -> None:
        place = np.full(longest, -1, np.int32)
        counts = [np.empty(n, np.int64) for n in longest]
        given = e.starts, e.s_offsets, e.t_offsets, e.rows, e.columns, odds, BONUS
        kp.link_phrases(*block, *given, place, *counts, linked)

    over(pool, task, e.blocks())
    chosen = linked.astype(bool)
    upto = np.concatenate([[0], np.cumsum(chosen)])
    return Links(np.stack([e.rows[chosen], e.columns[chosen]], 1), upto[e.starts])
