"""Limited-memory BFGS against known minima and against SciPy's."""

import copy
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize as reference
from scipy.optimize import rosen, rosen_der

from aligntools.ground import lbfgs
from aligntools.ground.exponentiated_gradient import Family, climb
from aligntools.ground.parallel import Pool


def quadratic(seed, n):
    """Return a function with a known minimum and condition number 100."""
    rng = np.random.default_rng(seed)
    scale, minimum = np.geomspace(1, 100, n), rng.normal(0, 1, n)
    turn = np.linalg.qr(rng.normal(0, 1, (n, n)))[0]
    matrix = turn @ np.diag(scale) @ turn.T

    def function(x):
        gradient = matrix @ (x - minimum)
        return 0.5 * gradient @ (x - minimum), gradient

    return function, minimum


def test_quadratics():
    for seed in range(4):
        function, minimum = quadratic(seed, 40)
        found = lbfgs.minimize(function, np.zeros(40), 300, 1e-14)
        assert found.converged
        assert np.allclose(found.state.x, minimum, atol=1e-5)


def test_a_hard_function_falls_with_every_step_and_costs_what_scipys_does():
    n = 30
    values, count = [], [0]

    def function(x):
        count[0] += 1
        return rosen(x), rosen_der(x)

    found = lbfgs.minimize(function, np.full(n, -1.0), 1000, 1e-15, progress=lambda s: values.append(s.value))
    assert np.allclose(found.state.x, 1, atol=1e-4)
    assert all(b < a for a, b in itertools.pairwise(values))
    other = reference(
        rosen, np.full(n, -1.0), jac=rosen_der, method="L-BFGS-B", options={"ftol": 1e-15, "maxiter": 1000}
    )
    assert count[0] < 2 * other.nfev


def test_directions_are_those_of_the_matrix():
    """The inverse Hessian built up step by step as a matrix gives the same direction."""
    function, _ = quadratic(9, 12)
    state = lbfgs.minimize(function, np.zeros(12), 6, 0, memory=4).state
    assert len(state.order) == 4
    s, y = (np.array([state.history[2 * k + i] for k in state.order]) for i in (0, 1))
    inverse = np.eye(12) * (s[-1] @ y[-1]) / (y[-1] @ y[-1])
    for a, b in zip(s, y, strict=True):
        left = np.eye(12) - np.outer(a, b) / (a @ b)
        inverse = left @ inverse @ left.T + np.outer(a, a) / (a @ b)
    found = lbfgs._direction(state, lbfgs._Vectors(12, None))
    assert np.allclose(found, -inverse @ state.gradient, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_nothing(threads):
    n = 3 * lbfgs.BLOCK + 17
    scale, target = np.geomspace(1, 30, n), np.random.default_rng(1).normal(0, 1, n)

    def function(x):
        gradient = scale * (x - target)
        return float(np.add.reduce(0.5 * gradient * (x - target))), gradient

    one = lbfgs.minimize(function, np.zeros(n), 8, memory=3)
    with Pool(threads) as pool:
        several = lbfgs.minimize(function, np.zeros(n), 8, memory=3, pool=pool)
    assert one.state.x.tobytes() == several.state.x.tobytes()


def test_stopped_runs_go_on():
    function, _ = quadratic(2, 25)
    whole = lbfgs.minimize(function, np.zeros(25), 20, 0, memory=3)
    first = lbfgs.minimize(function, np.zeros(25), 50, 0, memory=3, progress=lambda s: s.steps == 8)
    assert first.message == "stopped"
    arrays = {name: a.copy() for name, a in first.state.arrays().items()}
    second = lbfgs.minimize(function, lbfgs.LbfgsState.from_arrays(arrays), 20, 0, memory=3)
    assert second.state.x.tobytes() == whole.state.x.tobytes()
    assert second.state.steps == 20
    function, _ = quadratic(2, 25)
    kept = []
    whole = lbfgs.minimize(
        function, np.zeros(25), 100, 1e-3, progress=lambda s: kept.append(copy.deepcopy(s.arrays())) or False
    )
    assert whole.converged
    assert len(kept) == whole.state.steps > 5
    for arrays in kept:
        found = lbfgs.minimize(function, lbfgs.LbfgsState.from_arrays(arrays), 100, 1e-3)
        assert found.state.x.tobytes() == whole.state.x.tobytes()
        assert (found.converged, found.state.steps) == (True, whole.state.steps)


def test_ends():
    def flat(x):
        return 1.0, np.zeros(len(x))

    assert lbfgs.minimize(flat, np.ones(3)).converged
    assert lbfgs.minimize(flat, np.zeros(0)).converged
    assert lbfgs.minimize(quadratic(1, 5)[0], np.zeros(5), 1, 0).message == "all iterations are done"
    assert "not finite" in lbfgs.minimize(lambda x: (np.nan, x), np.ones(2)).message
    wrong = lbfgs.minimize(lambda x: (float(x @ x), -x), np.ones(2))  # a gradient that points the wrong way
    assert not wrong.converged
    assert "no step" in wrong.message
    assert wrong.state.x.tolist() == [1, 1]


def test_walls_are_stepped_back_from():
    """A function that is infinite where the first steps lead."""

    def function(x):
        with np.errstate(all="ignore"):
            inside = np.all(x < 1.5)
            return (
                (float(np.sum(-np.log(1.5 - x) - x)), 1 / (1.5 - x) - 1)
                if inside
                else (np.inf, np.full(len(x), np.nan))
            )

    found = lbfgs.minimize(function, np.full(4, -3.0), 200, 1e-14)
    assert np.allclose(found.state.x, 0.5, atol=1e-5)


def test_a_single_small_step_does_not_end_it():
    """Along a narrow valley some steps gain little, far from the minimum: only a second one in a row ends it."""

    def valley(x):
        a, b = x[1] - x[0] ** 2, 1 - x[0]
        return 100 * a**2 + b**2, np.array([-400 * a * x[0] - 2 * b, 200 * a])

    values = [24.2]
    start = np.array([-1.2, 1.0])
    lbfgs.minimize(valley, start, 25, 0, memory=3, progress=lambda s: values.append(s.value))
    falls = -np.diff(values) / np.maximum(values[:-1], 1.0)
    smallest = min(range(1, 15), key=lambda k: falls[k])
    tolerance = falls[smallest] * 1.001
    assert falls[smallest + 1] > 5 * tolerance
    found = lbfgs.minimize(valley, start, 200, tolerance, memory=3)
    assert found.converged
    assert found.state.steps > smallest + 2
    assert found.state.value < values[smallest + 2]


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
