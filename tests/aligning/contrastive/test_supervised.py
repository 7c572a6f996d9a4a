import itertools
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.aligning.contrastive import features, gold_learning
from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive.search import SearchSettings, search
from aligntools.aligning.contrastive.settings import Method
from aligntools.aligning.contrastive.tasks import learning_plan
from aligntools.formats.links.goldlinks import Gold
from aligntools.formats.links.pharaoh import Links
from aligntools.metrics import aer
from tests.aligning.contrastive.making import ALL, candidates_of, random_pair, random_weights
from tests.naive_contrastive import NAMES


def random_lists(rng, sentences=4, most=6, active=3):
    sizes = rng.integers(1, most + 1, sentences)
    return gold_learning.TrainingLists(
        [rng.normal(size=(n, active)) for n in sizes],
        [rng.integers(0, 5, (n, 3)).astype(float) for n in sizes],
        rng.integers(1, 6, sentences).astype(float),
    )


def error_at(lists, weights):
    """Return the error of the best alignments; of equal scores the one met first."""
    return errors_at(lists, weights[None])[0]


def errors_at(lists, weights):
    """Return the same for each row of weights."""
    totals = sum(c[np.argmax(f @ weights.T, 0)] for f, c in zip(lists.features, lists.counts, strict=True))
    return [float(gold_learning.aer(total, lists.n_sure.sum())) for total in totals]


@given(st.integers(0, 2**32 - 1))
def test_a_line_search_finds_the_lowest_error_of_the_line(seed):
    rng = np.random.default_rng(seed)
    lists = random_lists(rng)
    weights, direction = rng.normal(size=3), rng.normal(size=3)
    step, error = gold_learning.line_search(lists, weights, direction)
    assert error_at(lists, weights + step * direction) == pytest.approx(error)
    tried = errors_at(lists, weights + np.linspace(-30, 30, 3001)[:, None] * direction)
    assert error <= min(tried) + 1e-9


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3, (0.1, 0.0, 2.0)]))
def test_the_gradient_of_the_risk(seed, penalty):
    rng = np.random.default_rng(seed)
    lists, start, weights = random_lists(rng), rng.normal(size=3), rng.normal(size=3)
    packed, penalty = gold_learning.pack(lists), np.array(penalty)
    _, gradient = gold_learning.risk(weights, packed, start, penalty)
    for k, step in enumerate(np.eye(3) * 1e-5):
        up, down = (gold_learning.risk(weights + s * step, packed, start, penalty)[0] for s in (1, -1))
        assert (up - down) / 2e-5 == pytest.approx(gradient[k], rel=1e-6, abs=1e-8)


def test_what_weights_are_drawn_to_and_risk():
    rng = np.random.default_rng(5)
    lists, start = random_lists(rng), np.zeros(3)
    free = gold_learning.minimum_risk(lists, start, 1e-3)
    held = gold_learning.minimum_risk(lists, start, np.array([1e6, 1e6, 1e-3]))
    np.testing.assert_allclose(held[:2], 0, atol=1e-4)
    assert np.abs(free[:2]).min() > 0.01
    assert abs(held[2]) > 0.01
    assert learning_plan("all").penalty == gold_learning.NETWORK_PENALTY
    assert learning_plan("all", "paper").penalty == gold_learning.PENALTY
    rng = np.random.default_rng(4)
    lists, weights = random_lists(rng), rng.normal(size=3)
    value, _ = gold_learning.risk(weights * 1e4, gold_learning.pack(lists), weights * 1e4, 1.0)
    assert value == pytest.approx(error_at(lists, weights))
    for seed in range(10):
        rng = np.random.default_rng(seed)
        lists, start = random_lists(rng, 8), rng.normal(size=3)
        found = gold_learning.minimum_error(lists, start, seed)
        assert error_at(lists, found) <= error_at(lists, start) + 1e-9


def random_gold(rng, pairs):
    sure, possible = [], []
    for pair in pairs:
        cells = list(itertools.product(range(pair.n_i), range(pair.n_j)))
        links = [c for c in cells if rng.random() < 0.3]
        possible.append(links)
        sure.append([c for c in links if rng.random() < 0.7])
    return Gold(Links.from_lists(sure), Links.from_lists(possible), "pharaoh", 0)


def test_counts_of_lists_are_those_of_the_metric():
    rng = np.random.default_rng(1)
    pairs = [random_pair(rng, *rng.integers(1, 6, 2), 0.7) for _ in range(15)]
    candidates, gold = candidates_of(pairs), random_gold(rng, pairs)
    weights, _ = random_weights(rng)
    best = search(candidates, weights, ALL, SearchSettings(beam=3, n_best=3))
    lists, error = gold_learning.meet(None, best, gold_learning.gold_marks(candidates, gold), ALL, gold)
    for rank in range(3):
        links, _, _, in_sure, in_possible = aer.count(best.links(rank), gold).T
        for k in np.flatnonzero(best.sizes > rank):
            assert lists.counts[k][rank].tolist() == [links[k], in_sure[k], in_possible[k]]
    assert error == pytest.approx(aer.AerScore.of(gold, best.links()).aer)
    again, _ = gold_learning.meet(lists, best, gold_learning.gold_marks(candidates, gold), ALL, gold)
    assert [len(f) for f in again.features] == best.sizes.tolist()  # nothing new is met


@pytest.mark.parametrize("method", get_args(Method))
def test_weights_that_made_the_gold_are_found_again(method):
    """Gold that one feature decides is learned from a start that knows nothing of it."""
    rng = np.random.default_rng(8)
    pairs = [random_pair(rng, *rng.integers(2, 6, 2)) for _ in range(25)]
    sure = [[c for c in p.candidates if p.cells["similarity"][c] > -1] for p in pairs]
    gold = Gold(Links.from_lists(sure), Links.from_lists(sure), "pharaoh", 0)
    active = features.select("link-count,posterior,similarity,cross-count")
    start = features.start_weights(active, paper=True)
    candidates = candidates_of(pairs)
    told = []
    weights = gold_learning.train_supervised(candidates, gold, start, active, method, report=told.append)
    found = search(candidates, weights, active).links()
    error = aer.AerScore.of(gold, found).aer
    assert error == pytest.approx(min(t["aer"] for t in told))
    assert error < 0.1 < told[0]["aer"]
    assert weights[NAMES.index("similarity")] > abs(weights[NAMES.index("posterior")])
    assert not weights[~active].any()
    assert len(weights) == kf.FEATURES
