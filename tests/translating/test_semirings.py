"""Sums over hypergraphs against the list of all derivations and against differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aligntools.ground.parallel import Pool
from aligntools.translating.forest import derivations, hypergraph, semirings
from tests import naive_hypergraph as naive
from tests.translating.making import FEATURES, arrays, forest, scored

SEEDS = st.integers(0, 10_000)


def make(seed):
    rng = np.random.default_rng(seed)
    made = [forest(rng), None, forest(rng)]
    weights, gamma = rng.normal(size=FEATURES), float(rng.uniform(0.3, 2))
    h = arrays(made)
    rewards = rng.normal(size=h.edges)
    first = 0
    lists, nodes = [], []
    for m in made:
        of = scored(m[0], weights, gamma) if m else []
        of = [[e._replace(number=e.number + first) for e in edges] for edges in of]
        first += sum(map(len, of))
        nodes.append(of)
        lists.append(naive.derivations(of, len(of) - 1) if of else [])
    return h, weights, gamma, rewards, lists, nodes


@given(SEEDS)
def test_sums_equal_enumeration(seed):
    h, weights, gamma, rewards, lists, nodes = make(seed)
    scores = hypergraph.edge_scores(h, weights, gamma)
    beta, conditional = semirings.inside(h, scores)
    posterior = semirings.posteriors(h, beta, conditional)
    values, slopes = semirings.expectations(h, conditional, posterior, rewards)
    entropies = semirings.expectations(h, conditional, posterior, semirings.surprisals(h, conditional))[0]
    found = semirings.log_partition(h, beta)
    wanted = np.zeros(h.edges)
    gradient, mean = np.zeros(FEATURES), np.zeros(FEATURES)

    def reward(d):
        return sum(rewards[e.number] for e in d.edges)

    for s, every in enumerate(lists):
        if not every:
            assert (found[s], values[s], entropies[s]) == (-np.inf, 0, 0)
            continue
        assert found[s] == pytest.approx(naive.log_z(every), abs=1e-9)
        assert values[s] == pytest.approx(naive.expected(every, reward), abs=1e-9)
        assert entropies[s] == pytest.approx(naive.entropy(every), abs=1e-9)
        wanted += naive.posteriors(every, h.edges)
        for f in range(FEATURES):
            covariance = naive.covariance(every, reward, f)
            gradient[f] += covariance
            mean[f] += naive.expected(every, lambda d, f=f: naive.features(d)[f])
            both = naive.second_order_semiring(nodes[s], len(nodes[s]) - 1, lambda e: rewards[e.number], f)
            assert both == pytest.approx((values[s], covariance), abs=1e-9)
    assert posterior == pytest.approx(wanted, abs=1e-9)
    assert semirings.feature_sums(h, slopes, FEATURES) == pytest.approx(gradient, abs=1e-9)
    assert semirings.feature_sums(h, posterior, FEATURES) == pytest.approx(mean, abs=1e-9)


@settings(max_examples=20)
@given(SEEDS)
def test_gradients_equal_central_differences(seed):
    h, weights, gamma, rewards, *_ = make(seed)
    share = np.random.default_rng(seed).uniform(0.5, 2, len(h))

    def value(weights, entropy):
        scores = hypergraph.edge_scores(h, weights, gamma)
        beta, conditional = semirings.inside(h, scores)
        posterior = semirings.posteriors(h, beta, conditional, share)
        r = semirings.surprisals(h, conditional) if entropy else rewards
        values, slopes = semirings.expectations(h, conditional, posterior, r)
        return float(share @ values), gamma * semirings.feature_sums(h, slopes, FEATURES)

    for entropy in (False, True):
        _, gradient = value(weights, entropy)
        step = 1e-5
        for f in range(FEATURES):
            change = np.zeros(FEATURES)
            change[f] = step
            slope = (value(weights + change, entropy)[0] - value(weights - change, entropy)[0]) / (2 * step)
            assert gradient[f] == pytest.approx(slope, abs=1e-6)


def test_odd_nodes_and_threads():
    h, _, _, rewards, _, _ = make(1)
    scores = np.zeros(h.edges)
    scores[: h.edge_offsets[h.node_offsets[1]]] = -np.inf
    beta, conditional = semirings.inside(h, scores)
    posterior = semirings.posteriors(h, beta, conditional)
    values, slopes = semirings.expectations(h, conditional, posterior, rewards)
    assert semirings.log_partition(h, beta)[0] == -np.inf
    assert np.isfinite(values).all()
    assert np.isfinite(slopes).all()
    assert values[0] == 0
    assert derivations.k_best(h, scores, FEATURES, 3).offsets[1] == 0
    assert derivations.samples(h, scores, FEATURES, 3, 1).offsets[1] == 0
    rng = np.random.default_rng(0)
    h = arrays([forest(rng) for _ in range(60)])
    scores, rewards = rng.normal(size=h.edges), rng.normal(size=h.edges)
    with Pool(3) as pool:

        def work(pool):
            beta, conditional = semirings.inside(h, scores, pool)
            posterior = semirings.posteriors(h, beta, conditional, pool=pool)
            values, slopes = semirings.expectations(h, conditional, posterior, rewards, pool)
            return [beta, posterior, values, semirings.feature_sums(h, slopes, FEATURES, pool)]

        assert [x.tobytes() for x in work(None)] == [x.tobytes() for x in work(pool)]
