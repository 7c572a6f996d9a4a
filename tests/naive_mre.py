"""Reconstruction probabilities of alignment models by enumerating every alignment; imports nothing that it checks.

Cheng, Liu & Xu (2017): ``P(x | x, y) = sum_z P(z | y) P(x | z, y)^2 / sum_z P(z | y) P(x | z, y)``
(23-25), and Q, the posterior with emissions squared (29).
"""

import itertools

import numpy as np


def diagonal(n_given, n_observed, tension):
    """Return p(g | o) [observed, given] of Dyer et al. (2013), 1-based positions."""
    g, o = np.arange(1, n_given + 1) / n_given, np.arange(1, n_observed + 1) / n_observed
    weights = np.exp(-tension * np.abs(g[None, :] - o[:, None]))
    return weights / weights.sum(1, keepdims=True)


def ibm_alignments(prior, p_null):
    """Yield every alignment (-1 is NULL) and its prior probability."""
    n_observed, n_given = prior.shape
    for alignment in itertools.product(range(-1, n_given), repeat=n_observed):
        p = 1.0
        for o, g in enumerate(alignment):
            p *= p_null if g < 0 else (1 - p_null) * prior[o, g]
        yield alignment, p


def hmm_alignments(n_given, n_observed, near, tail, first, first_tail, p_null):
    """Yield every alignment (-1 is NULL) and its prior probability, paths of NULL's twins summed.

    ``near[d + W]`` is the weight of a jump ``d`` of at most ``W``, ``tail`` that of any other; ``first[i]`` and
    ``first_tail`` those of first positions. Every word has a position; one that comes from NULL keeps the last one's.
    """
    window = len(near) // 2

    def step(before, i):
        weights = [near[x - before + window] if abs(x - before) <= window else tail for x in range(n_given)]
        return weights[i] / sum(weights)

    begin = [first[i] if i < len(first) else first_tail for i in range(n_given)]
    for alignment in itertools.product(range(-1, n_given), repeat=n_observed):
        total = 0.0
        for at in range(n_given) if alignment[0] < 0 else [alignment[0]]:
            p = begin[at] / sum(begin)
            for o, g in enumerate(alignment):
                p *= p_null if g < 0 else 1 - p_null
                if o and g >= 0:
                    p *= step(at, g)
                at = g if g >= 0 else at
            total += p
        yield alignment, total


def reconstruction(alignments, emissions, null):
    """Return P(x | y), P(x | x, y), and the link posteriors under P and under Q [observed, given].

    Parameters
    ----------
    alignments : iterable of (alignment, prior probability)
    emissions : [observed, given]; null : [observed]
    """
    one = two = 0.0
    p, q = np.zeros(np.shape(emissions)), np.zeros(np.shape(emissions))
    for alignment, prior in alignments:
        words = 1.0
        for o, g in enumerate(alignment):
            words *= null[o] if g < 0 else emissions[o][g]
        one += prior * words
        two += prior * words**2
        for o, g in enumerate(alignment):
            if g >= 0:
                p[o, g] += prior * words
                q[o, g] += prior * words**2
    return one, two / one, p / one, q / two
