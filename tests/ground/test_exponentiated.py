"""The climb over simplexes: it finds known maxima, never falls and never leaves them."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.ground.exponentiated_gradient import Family, climb

counts = st.lists(st.lists(st.floats(0.05, 50), min_size=3, max_size=3), min_size=1, max_size=4)


def likelihood(weights):
    """``sum w ln p`` and its gradient: highest at the relative frequencies."""

    def evaluate(parameters):
        p = parameters[0]
        totals = weights.sum(1)
        return float((weights.ravel() * np.log(p)).sum()), [(weights.ravel(), totals)]

    return evaluate


@given(counts)
def test_the_maximum_of_a_likelihood_is_the_relative_frequency(rows):
    weights = np.array(rows)
    start = np.full(weights.size, 1 / 3)
    (p,), objectives = climb(likelihood(weights), [start], [Family.of_rows(weights.shape)], 300)
    assert np.allclose(p.reshape(weights.shape), weights / weights.sum(1, keepdims=True), atol=2e-3)
    assert np.allclose(p.reshape(weights.shape).sum(1), 1)
    assert all(b >= a for a, b in itertools.pairwise(objectives))


def test_steps_that_are_taken_back_or_end():
    family = Family.of_rows((1, 3), rate=50.0)
    (p,), objectives = climb(likelihood(np.array([[8.0, 1.0, 1.0]])), [np.array([0.79, 0.105, 0.105])], [family], 40)
    assert family.rates[0] < 50
    assert min(np.diff(objectives)) >= 0
    assert p == pytest.approx([0.8, 0.1, 0.1], abs=1e-3)
    seen = []
    climb(likelihood(np.array([[1.0, 1.0]])), [np.array([0.5, 0.5])], [Family.of_rows((1, 2))], 20, 1e-9,
          lambda *a: seen.append(a))  # fmt: skip
    assert len(seen) == 2
    weights = np.array([[3.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    start = np.array([0.5, 0.5, 0.0, 0.2, 0.3, 0.5])

    def evaluate(parameters):
        p = parameters[0]
        return float((weights.ravel()[:2] * np.log(p[:2])).sum()), [(weights.ravel(), weights.sum(1))]

    (p,), _ = climb(evaluate, [start], [Family.of_rows((2, 3))], 60)
    assert p[2] == 0
    assert p[3:] == pytest.approx(start[3:])
    assert p[:2] == pytest.approx([0.75, 0.25], abs=1e-3)
