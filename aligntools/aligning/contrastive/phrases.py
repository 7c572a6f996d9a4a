"""Phrases that are linked as wholes: a decision on blocks of cells, after that on single links.

Some gold standards, and uses such as phrase tables and term lists, link each word of an idiom or a verb group with each
word of its counterpart. Single links of these are not probable. A *phrase* is a block of neighbouring words of either
side whose links stay inside it. All of its cells become links if their log-odds, and BONUS for each, sum to more than 0
over those that are not links yet.
"""

import numpy as np

from aligntools.aligning.contrastive import kernels_phrases as kp
from aligntools.aligning.contrastive.candidate_links import CandidateLinks
from aligntools.aligning.contrastive.link_probabilities import link_odds, places_of
from aligntools.formats.links.pharaoh import Links
from aligntools.ground.parallel import Pool, over

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
