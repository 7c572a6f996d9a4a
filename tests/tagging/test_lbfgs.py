import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aligntools.tagging.lbfgs import minimize


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 12))
def test_a_bowl_has_its_lowest_point_where_algebra_says(seed, n):
    random = np.random.default_rng(seed)
    root = random.normal(size=(n, n))
    bowl, pull = root @ root.T + np.eye(n), random.normal(size=n)
    found = minimize(lambda x: (0.5 * x @ bowl @ x - pull @ x, bowl @ x - pull), np.zeros(n), 500, tolerance=1e-14)
    assert found == pytest.approx(np.linalg.solve(bowl, pull), abs=1e-5)


def test_a_bent_valley():
    def rosenbrock(x):
        a, b = x
        slope = np.array([-2 * (1 - a) - 400 * a * (b - a * a), 200 * (b - a * a)])
        return (1 - a) ** 2 + 100 * (b - a * a) ** 2, slope

    assert minimize(rosenbrock, np.array([-1.2, 1.0]), 300, tolerance=0) == pytest.approx([1, 1], abs=1e-4)


def test_it_starts_at_the_bottom_and_stays():
    assert minimize(lambda x: (float(x @ x), 2 * x), np.zeros(3)).tolist() == [0, 0, 0]


def test_the_value_never_rises_and_iterations_are_counted():
    values = []

    def function(x):
        values.append(float((x**4).sum() + np.cos(x).sum()))
        return values[-1], 4 * x**3 - np.sin(x)

    end = minimize(function, np.full(5, 3.0), 4)
    assert function(end)[0] == min(values)
    assert len(values) < 40
