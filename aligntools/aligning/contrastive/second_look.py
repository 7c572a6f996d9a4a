"""A second look at cells that evidence says something of: the log-odds of a link by all that is known of the cell.

The first look adds what a reading of evidence is worth to the log-odds by the base model and the network. The second
sees what the first says of the cell's rivals, in its row and its column, and of the cells around it, and how alike the
two words are by the source's own measure. It is a sum of these, whose weights are learned from gold links.
"""

from collections.abc import Sequence

import numpy as np

from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive.candidate_links import CandidateLinks

#: What is known of a cell, after what says which reading it has (below LEAST, and from each of LEVELS on).
READING = 6
INPUTS = (
    *("odds", "posterior", *(f"reading {n}" for n in range(READING)), "likeness", "shares"),
    *("highest rival", "lower of both highest", "rivals", "fewer of both rivals"),
    *("diagonal", "sides", "other diagonal"),
)
#: Log-odds are cut to so much.
MOST = 10.0
_DIAGONAL, _SIDES = [kf.UP_LEFT, kf.DOWN_RIGHT], [kf.UP, kf.LEFT, kf.RIGHT, kf.DOWN]
_OTHER_DIAGONAL = [kf.UP_RIGHT, kf.DOWN_LEFT]


def inputs(
    candidates: CandidateLinks, first: np.ndarray, table: np.ndarray, source: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the candidates that are looked at again, int64, and of each its inputs, float64.

    These are all of a sentence pair in which the source, the column ``source`` of readings, has a link.
    first (float64 [candidates]): The log-odds without it; table (float64 [READINGS]): What its readings are worth.
    """
    e, read = candidates, candidates.read()[:, source]
    sentences = e.sentences()
    at = np.flatnonzero((np.bincount(sentences, read, len(e)) > 0)[sentences])
    links = 1.0 / (1.0 + np.exp(-(np.clip(first, -MOST, MOST) + np.asarray(table)[read])))
    lines = e.rows + e.s_offsets[sentences], e.columns + e.t_offsets[sentences]
    highest, rest = np.array([_others(links[at], line[at]) for line in lines]).swapaxes(0, 1)
    own = e.neighbours[at]
    around = np.append(links, 0.0)[np.where(own < 0, len(links), own + e.starts[sentences[at]][:, None])]
    assert e.likeness is not None, "found without a source that says how alike words are"
    found = [
        *np.clip([first[at], e.local[at, kf.POSTERIOR]], -MOST, MOST),
        *(read[at] == n for n in range(READING)),
        *e.likeness[at, source].T,
        *(highest.max(0), highest.min(0), rest.max(0), rest.min(0)),
        *(around[:, places].sum(1) for places in (_DIAGONAL, _SIDES, _OTHER_DIAGONAL)),
    ]
    return at, np.stack(found, 1).astype(np.float64)


def _others(links: np.ndarray, lines: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the highest of the other candidates in the same line, and their sum; 0 where there are none."""
    order = np.lexsort((-links, lines))
    begins = np.flatnonzero(np.diff(lines[order], prepend=-1))
    best = np.repeat(order[begins], np.diff(begins, append=len(order)))
    highest = np.empty(len(links))
    highest[order] = links[best]
    follows = np.append(order[1:], -1)[begins]
    alone = np.diff(begins, append=len(order)) == 1
    highest[order[begins]] = np.where(alone, 0.0, links[follows])
    return highest, np.bincount(lines, links)[lines] - links


def odds(found: np.ndarray, weights: Sequence[float]) -> np.ndarray:
    """Return the log-odds of links by their inputs, float64; the last weight is what is added to all."""
    total = np.full(len(found), float(weights[-1]))
    for column, weight in zip(found.T, weights, strict=False):
        total += weight * column
    return total
