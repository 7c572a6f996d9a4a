"""Trees of classes: each join loses the least mutual information, worked out from nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.clustering.hierarchy import paths


def information(counts):
    """Mutual information of a class and the next."""
    p = counts / counts.sum()
    left, right = p.sum(1, keepdims=True), p.sum(0, keepdims=True)
    some = p > 0
    return float((p[some] * np.log((p / (left * right + 1e-300))[some])).sum())


def joined(counts, a, b):
    rest = [k for k in range(len(counts)) if k != b]
    out = counts.copy()
    out[a] += out[b]
    out[:, a] += out[:, b]
    return out[np.ix_(rest, rest)]


def naive(counts):
    """Join the two classes whose join loses least until one is left; the first pair of equals."""
    members, bits = [[k] for k in range(len(counts))], [""] * len(counts)
    while len(members) > 1:
        found = [
            (information(joined(counts, a, b)), -a, -b) for a in range(len(members)) for b in range(a + 1, len(members))
        ]
        _, a, b = max(found)
        for k in members[-a]:
            bits[k] = "0" + bits[k]
        for k in members[-b]:
            bits[k] = "1" + bits[k]
        counts = joined(counts, -a, -b)
        members[-a] += members.pop(-b)
    return bits


@given(st.integers(2, 9), st.integers(0, 2**32))
def test_every_join_loses_least(n, seed):
    counts = np.random.default_rng(seed).gamma(0.5, 10, (n, n))  # no two joins lose the same
    assert paths(counts) == naive(counts)


@pytest.mark.parametrize(("counts", "expected"), [([[3]], ["0"]), ([[0, 0], [0, 0]], ["0", "1"])])
def test_small_trees(counts, expected):
    assert paths(np.array(counts)) == expected
