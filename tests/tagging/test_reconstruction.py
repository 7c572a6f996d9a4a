"""Maximum reconstruction estimation of chains: the objective is the paper's, gradients are its derivatives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aligntools.ground.parallel import Pool
from aligntools.tagging.chain import Chain, ChainText, as_distributions, from_distributions
from aligntools.tagging.induction import induce, random_chain, reconstruct, reconstruction
from aligntools.tagging.settings import InductionSettings
from tests import naive_chain as naive
from tests.tagging.test_induction import pattern

POOL = Pool(1)


def problem(seed, n_states, n_words, lengths, ends):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(0, n_words, sum(lengths))
    chain = random_chain(np.ones(n_words), n_states, rng, ends, 1.5)
    return chain, ChainText(tokens, np.concatenate([[0], np.cumsum(lengths)]), n_words)


problems = st.builds(
    problem,
    st.integers(0, 10**6),
    st.integers(1, 4),
    st.integers(1, 5),
    st.lists(st.integers(0, 5), min_size=1, max_size=4),
    st.booleans(),
)


@given(problems)
def test_the_objective_is_that_of_enumeration(case):
    chain, text = case
    objectives, _, _ = reconstruction(chain, text, POOL)
    for i, found in enumerate(objectives):
        words = text.tokens[text.offsets[i] : text.offsets[i + 1]].tolist()
        wanted = naive.reconstruction(*chain.parameters(), words) if words else 0.0
        assert found == pytest.approx(wanted, rel=1e-10, abs=1e-12)


@settings(max_examples=25)
@given(problems)
def test_gradients_equal_central_differences(case):
    """Of every parameter by itself, its distribution not normalized again: equations 26 and 27 have it so."""
    chain, text = case
    ends = chain.ends
    rows = as_distributions(chain, ends)
    _, counts, totals = reconstruction(chain, text, POOL)
    for which, (p, gradient) in enumerate(zip(rows, counts, strict=True)):
        assert gradient.shape == p.shape
        for at in np.ndindex(p.shape):
            h, values = 1e-5 * p[at], []
            for sign in (1, -1):
                moved = [q.copy() for q in rows]
                moved[which][at] += sign * h
                values.append(reconstruction(from_distributions(moved, ends), text, POOL)[0].sum())
            assert gradient[at] / p[at] == pytest.approx((values[0] - values[1]) / (2 * h), rel=1e-6, abs=1e-6)
    words = np.diff(text.offsets)
    assert totals[0] == pytest.approx([np.count_nonzero(words)])
    assert totals[1].sum() == pytest.approx(words.sum() - (0 if ends else np.count_nonzero(words)))
    assert totals[2].sum() == pytest.approx(words.sum())


@settings(max_examples=10)
@given(problems)
def test_the_objective_never_falls_and_distributions_stay_distributions(case):
    chain, text = case
    seen = []
    trained, objectives = reconstruct(chain, text, POOL, 15, lambda *a: seen.append(a))
    assert min(np.diff(objectives), default=0) >= 0
    assert seen == list(enumerate(objectives))
    for before, after in zip(as_distributions(chain, chain.ends), as_distributions(trained, chain.ends), strict=True):
        assert np.allclose(after.sum(1), before.sum(1))
        assert (after >= 0).all()
    worded = np.diff(text.offsets) > 0
    if worded.any():
        assert objectives[-1] == pytest.approx(reconstruction(trained, text, POOL)[0][worded].mean(), abs=1e-12)


def test_it_reconstructs_better_than_em_does():
    tokens, offsets, _ = pattern(60)
    text = ChainText(tokens, offsets, 12)
    begin = induce(tokens, offsets, 12, POOL, InductionSettings(3, iterations=15, seed=2)).model
    trained, objectives = reconstruct(begin, text, POOL, 40)
    assert objectives[-1] > objectives[0] + 0.5
    likelihoods = [reconstruction(c, text, POOL)[0].mean() for c in (begin, trained)]
    assert likelihoods == pytest.approx([objectives[0], objectives[-1]])


def test_zeros_threads_and_no_words():
    chain = Chain([0.6, 0.4], [[0.5, 0.2], [0.3, 0.4]], [0.3, 0.3], [[0.7, 0.1], [0.3, 0.9], [0.0, 0.0]])
    text = ChainText([0, 1, 1, 2, 0, 0], [0, 3, 5, 6], 3)
    objectives, _, _ = reconstruction(chain, text, POOL)
    assert np.isfinite(objectives).tolist() == [True, False, True]
    trained, found = reconstruct(chain, text, POOL, 10)
    assert trained.emissions[2].tolist() == [0.0, 0.0]
    assert found[0] == pytest.approx((objectives[0] + objectives[2]) / 2)
    assert found[-1] > found[0]
    tokens, offsets, _ = pattern(50)
    text = ChainText(tokens, offsets, 12)
    begin = induce(tokens, offsets, 12, POOL, InductionSettings(3, iterations=12, seed=2)).model
    results = []
    for threads in (1, 3):
        with Pool(threads) as pool:
            trained, _ = reconstruct(begin, text, pool, 6)
        results.append(b"".join(p.tobytes() for p in trained.parameters()))
    assert results[0] == results[1]
    chain, _ = problem(1, 2, 3, [2], True)
    trained, objectives = reconstruct(chain, ChainText([], [0, 0], 3), POOL)
    assert set(objectives) == {0.0}
    assert trained.emissions == pytest.approx(chain.emissions)
