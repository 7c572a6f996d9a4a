import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aligntools.aligning.contrastive import kernels_features as kf
from bench import contrastive_exact as exact
from tests import naive_contrastive as naive
from tests.aligning.contrastive.making import ALL, candidates_of, random_pair, random_weights

pytestmark = pytest.mark.slow  # it compiles what the measurements alone need


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([(1, 1), (2, 3), (3, 3), (2, 4), (4, 2)]))
def test_enumeration_gives_the_expectations(seed, shape):
    rng = np.random.default_rng(seed)
    pair = random_pair(rng, *shape, rng.choice([0.7, 1.0]))
    weights, named = random_weights(rng, 0.5)
    features = exact.enumerate_features(candidates_of([pair]), ALL)
    assert len(features) == 2 ** len(pair.candidates)
    log_z, expected = exact.expectations(features, weights)
    wanted_z, wanted = pair.expectations(named)
    assert log_z == pytest.approx(wanted_z, abs=1e-5)
    assert dict(zip(naive.NAMES, expected, strict=True)) == pytest.approx(wanted, abs=1e-5)
    many_z, many = exact.expectations(features, np.stack([weights, weights * 0.5]))
    assert many_z[0] == pytest.approx(log_z)
    np.testing.assert_allclose(many[0], expected)


def chain_weights(rng):
    weights = np.zeros(kf.FEATURES)
    weights[list(exact.CHAIN)] = rng.normal(0, 1, 5)
    return weights, dict(zip(naive.NAMES, weights.tolist(), strict=True))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([(1, 1), (3, 3), (2, 4), (4, 2), (1, 5), (5, 2)]))
def test_dynamic_programming_gives_the_expectations_of_local_features(seed, shape):
    rng = np.random.default_rng(seed)
    pair = random_pair(rng, *shape, rng.choice([0.7, 1.0]))
    pair.s_null = [0.0] * pair.n_i
    weights, named = chain_weights(rng)
    log_z, expected = exact.chain_expectations(candidates_of([pair]), weights)
    wanted_z, wanted = pair.expectations(named, naive.one_source_each)
    assert log_z == pytest.approx(wanted_z, abs=1e-5)
    for k in exact.CHAIN:
        assert expected[k] == pytest.approx(wanted[naive.NAMES[k]], abs=1e-5)
    all_z, _ = exact.expectations(exact.enumerate_features(candidates_of([pair]), ALL, one_source=True), weights)
    assert all_z == pytest.approx(wanted_z, abs=1e-5)


def test_the_chain_holds_on_long_pairs():
    """No overflow where scores are large, and the gradient of ln Z is the expectation."""
    rng = np.random.default_rng(3)
    pair = random_pair(rng, 60, 80)
    pair.s_null = [0.0] * 60
    e = candidates_of([pair])
    weights, _ = chain_weights(rng)
    weights *= 20
    log_z, expected = exact.chain_expectations(e, weights)
    assert np.isfinite(log_z)
    assert expected[kf.LINKS] <= 80 + 1e-6
    for k in exact.CHAIN:
        step = np.zeros(kf.FEATURES)
        step[k] = 1e-5
        up, down = (exact.chain_expectations(e, weights + s * step)[0] for s in (1, -1))
        assert (up - down) / 2e-5 == pytest.approx(expected[k], rel=1e-4, abs=1e-4)


def test_chains_refuse_what_is_not_local():
    pair = random_pair(np.random.default_rng(1), 2, 2)
    weights = np.zeros(kf.FEATURES)
    with pytest.raises(ValueError, match="local"):
        exact.chain_expectations(candidates_of([pair]), weights)  # source words pay for NULL
    pair.s_null = [0.0, 0.0]
    weights[kf.CROSSES] = 1
    with pytest.raises(ValueError, match="local"):
        exact.chain_expectations(candidates_of([pair]), weights)
    with pytest.raises(ValueError, match="too many"):
        exact.enumerate_features(candidates_of([random_pair(np.random.default_rng(1), 5, 5)]), ALL)


def test_gibbs_samples_have_the_distribution():
    rng = np.random.default_rng(6)
    pair = random_pair(rng, 3, 2)
    weights, _ = random_weights(rng, 0.15)
    e = candidates_of([pair])
    _, expected = exact.expectations(exact.enumerate_features(e, ALL), weights)
    samples = exact.gibbs_features(e, weights, ALL, 40_000)
    error = samples.std(0) / np.sqrt(len(samples) / 8)  # samples that follow each other are alike
    assert (np.abs(samples.mean(0) - expected) < 5 * error + 1e-9).all()
    again = exact.gibbs_features(e, weights, ALL, 5)
    np.testing.assert_array_equal(again, samples[:5])
    assert not np.array_equal(again, exact.gibbs_features(e, weights, ALL, 5, seed=2))
