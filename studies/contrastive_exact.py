"""Expectations of features that search approximates by its list: by enumeration, dynamic programming, sampling."""

import numpy as np

from aligntools.aligning.contrastive import kernels_features as kf
from bench import kernels_contrastive_exact as kx

#: Candidates up to which all alignments are enumerated.
MOST_CANDIDATES = 20
#: The features that dynamic programming takes: the paper's five local ones.
CHAIN = (kf.TRANSLATION, kf.LINKS, kf.POSITION, kf.MONOTONE, kf.SWAP)


def _pair(e):
    return kf.Pair(e.rows, e.columns, e.neighbours, e.local, e.s_words, e.t_words)


def enumerate_features(candidates, active, one_source=False):
    """Return the features of every alignment of one sentence pair, float64 [alignments, FEATURES].

    Parameters
    ----------
    candidates : CandidateLinks
        Of one pair, with at most MOST_CANDIDATES candidates.
    one_source : bool
        Leave out alignments that link a target word twice.

    Raises
    ------
    ValueError
        When there are too many candidates.
    """
    e = candidates
    if len(e) != 1 or len(e.rows) > MOST_CANDIDATES:
        raise ValueError(f"{len(e)} pairs with {len(e.rows)} candidates: too many to enumerate")
    out = np.empty((2 ** len(e.rows), kf.FEATURES))
    n = kx.enumerate_alignments(_pair(e), active, one_source, out)
    return out[:n]


def expectations(features, weights):
    """Return ``ln Z`` and expected features of alignments that are all given.

    Parameters
    ----------
    features : float64 [alignments, FEATURES]
    weights : float64 [FEATURES], or [n, FEATURES] for many at once

    Returns
    -------
    float64 [] or [n]; float64 [FEATURES] or [n, FEATURES]
    """
    scores = features @ np.asarray(weights).T
    most = scores.max(axis=0)
    p = np.exp(scores - most)
    z = p.sum(axis=0)
    return most + np.log(z), (p / z).T @ features


def chain_expectations(candidates, weights):
    """Return ``ln Z`` and expected local features over alignments that link each target word at most once.

    The lattice of Dyer et al. (2011), as Figure 4 of the paper uses it. A source word's NULL cost is no local
    feature and must be 0 in ``s_words``.

    Parameters
    ----------
    candidates : CandidateLinks
        Of one pair; only candidates are linked.
    weights : float64 [FEATURES]
        0 outside CHAIN.

    Raises
    ------
    ValueError
        When other features have a weight or source words pay for NULL.
    """
    e = candidates
    others = np.delete(np.arange(kf.FEATURES), CHAIN)
    if np.any(weights[others]) or np.any(e.s_words[:, kf.NULL_COST]):
        raise ValueError("only the five local features go through a chain, without the source words' NULL costs")
    n_i, n_j = len(e.s_words), len(e.t_words)
    scores = np.full((n_i, n_j), -np.inf)
    scores[e.rows, e.columns] = e.local[:, CHAIN[:3]].astype(np.float64) @ weights[list(CHAIN[:3])]
    nulls = weights[kf.TRANSLATION] * e.t_words[:, kf.NULL_COST].astype(np.float64)
    counts, pairs = np.zeros((n_i, n_j)), np.zeros(2)
    log_z = kx.chain_expectations(scores, nulls, weights[kf.MONOTONE], weights[kf.SWAP], counts, pairs)
    expected = np.zeros(kf.FEATURES)
    expected[list(CHAIN[:3])] = counts[e.rows, e.columns] @ e.local[:, CHAIN[:3]]
    expected[kf.TRANSLATION] += (1 - counts.sum(0)) @ e.t_words[:, kf.NULL_COST]
    expected[[kf.MONOTONE, kf.SWAP]] = pairs
    return log_z, expected


def gibbs_features(candidates, weights, active, samples, seed=1):
    """Return the features of Gibbs samples of one pair's alignments, float64 [samples, FEATURES].

    One sample a sweep over all candidates, from a random alignment on, as the paper's Table 1 has it.
    """
    e = candidates
    out = np.empty((samples, kf.FEATURES))
    state = np.array([seed * 2654435769 + 88172645463325252], np.uint64)
    kx.gibbs(_pair(e), np.where(active, weights, 0.0), active, state, out)
    return out
