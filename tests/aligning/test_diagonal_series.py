"""fast_align's closed forms against plain sums, and where they are not what the paper says."""

import numpy as np
import pytest

from aligntools.aligning.models import diagonal_series
from aligntools.aligning.models.ibm2 import tension_step
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.text.corpus import Side


def feature(i, j, m, n):
    return -abs(j / n - i / m)


@pytest.mark.parametrize("tension", [0.1, 1.0, 4.0, 14.0])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (3, 7), (7, 3), (5, 5)])
def test_the_prior_is_the_papers(m, n, tension):
    for i in range(1, m + 1):
        weights = [np.exp(tension * feature(i, j, m, n)) for j in range(1, n + 1)]
        found = diagonal_series.prior_as_fast_align(float(i), np.arange(1.0, n + 1), float(m), float(n), tension, 0.1)
        assert found == pytest.approx(0.9 * np.array(weights) / sum(weights), rel=1e-9)


def test_the_climb():
    """And every word linked: then the two differences from the paper make none."""
    shapes, counts = np.array([[4, 4], [9, 9]]), np.array([3, 2])
    expected = -0.1 * float((shapes[:, 1] * counts).sum())
    new, steps = diagonal_series.climb_as_fast_align(4.0, expected, shapes, counts)
    assert new == pytest.approx(tension_step(4.0, expected, 30, shapes, counts), rel=1e-9)
    assert steps[0][1] == 4.0
    assert len(steps) == 8
    shapes, counts = np.array([[2, 5], [6, 3]]), np.array([1, 1])
    new, steps = diagonal_series.climb_as_fast_align(4.0, -0.05 * 8, shapes, counts)
    slow = 0.0
    for n, m in shapes.tolist():
        for i in range(1, m + 1):
            top = sum(feature(i, j, m, n) * np.exp(4 * feature(i, j, m, n)) for j in range(1, n + 1))
            slow += top / normalizer_with_lengths_exchanged(i, n, m, 4.0)
    assert steps[0] == (pytest.approx(slow / 8, rel=1e-9), 4.0)
    assert 0.1 <= new <= 14


def normalizer_with_lengths_exchanged(i, m, n, tension):
    """As the two series sum it: where i is past the diagonal's end, the upper one goes on without end."""
    below = int(i * n / m)
    ratio = np.exp(-tension / n)
    total = np.exp(tension * feature(i, below, m, n)) * (1 - ratio**below) / (1 - ratio) if below else 0.0
    above = n - below
    if above:
        share = 1 - ratio**above if above > 0 else 1.0
        total += np.exp(tension * feature(i, below + 1, m, n)) * share / (1 - ratio)
    return total


def test_ties_are_between_like_words_as_far_from_the_diagonal():
    given = Side(np.array([5, 6, 5, 5, 6, 7], np.int32), np.array([0, 3, 6]))
    observed = Side(np.array([1, 1, 1, 1, 1, 1], np.int32), np.array([0, 3, 6]))
    links = Links(np.array([[0, 1], [2, 2], [0, 1]], np.int32), np.array([0, 2, 3]))
    found = diagonal_series.settle_ties(links, given, observed, 4.0, 0.08)
    # the middle word of three may take the first or the third of "5 6 5", by the last bit; in "5 6 7" there is no tie
    left, right = diagonal_series.prior_as_fast_align(2.0, np.array([1.0, 3.0]), 3.0, 3.0, 4.0, 0.08)
    assert found.tolist() == [[2 if right > left else 0, 1], [2, 2], [0, 1]]
