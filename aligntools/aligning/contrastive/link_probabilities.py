"""Probabilities of the links that a network decided on: its log-odds, made less sure.

A network is surer than it is right, as networks are that were taught by cross-entropy (Guo et al. 2017, *On Calibration
of Modern Neural Networks*). One factor of its log-odds, *temperature scaling*, mends most of that.
"""

import numpy as np

from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive.candidate_links import CandidateLinks
from aligntools.aligning.contrastive.features import ALL
from aligntools.formats.links.pharaoh import Links

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
