"""Och's line search against a walk along the line in small steps."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.ground.parallel import Pool
from aligntools.metrics.bleu import corpus_bleu
from aligntools.translating.forest import derivations
from aligntools.translating.tuning import linear_bleu, mert
from tests.translating.making import FEATURES, dense
from tests.translating.test_risk import make

SEEDS = st.integers(0, 10_000)


def corpus(seed):
    h, _, _, references = make(seed)
    candidates = derivations.k_best(h, np.random.default_rng(seed).normal(size=h.edges), FEATURES, 15)
    statistics = linear_bleu.candidate_statistics(candidates, references) + np.float32(1)  # so that BLEU is not 0
    return mert.MertCorpus(candidates, statistics)


def naive_value(c, weights):
    scores = dense(c.candidates, FEATURES) @ weights
    offsets = c.candidates.offsets
    best = [a + int(np.argmax(scores[a:b])) for a, b in pairwise(offsets) if b > a]
    return float(100 * corpus_bleu(c.statistics[best].sum(axis=0), "none"))


@given(SEEDS)
def test_a_line_has_nothing_better_than_what_is_found(seed):
    c, rng = corpus(seed), np.random.default_rng(seed + 1)
    weights, direction = rng.normal(size=(2, FEATURES))
    moved, value = c.search(weights, direction)
    assert c.value(weights) == pytest.approx(naive_value(c, weights), abs=1e-9)
    assert value == pytest.approx(naive_value(c, moved), abs=1e-9)
    for step in np.concatenate([np.linspace(-3, 3, 301), [-1e3, 1e3]]):
        assert naive_value(c, weights + step * direction) <= value + 1e-9


def test_maximizing_gains_and_depends_on_the_seed_alone():
    c = corpus(12)
    start = np.array([0.1, -1.0, 0.5, 0.2])
    weights, value = mert.maximize(c, start, 1)
    assert value >= c.value(start)
    assert c.value(weights) == pytest.approx(value, abs=1e-9)
    assert np.array_equal(mert.maximize(c, start, 1)[0], weights)
    with Pool(3) as pool:
        c.pool = pool
        assert np.array_equal(mert.maximize(c, start, 1)[0], weights)
        c.pool = None
    held, _ = mert.maximize(c, start, 1, frozen=(1,))
    assert held[1] == -1
