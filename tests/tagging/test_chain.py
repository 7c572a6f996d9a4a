"""Chains against enumeration, and the laws that any text must obey."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.ground.parallel import Pool
from aligntools.tagging.chain import (
    Chain,
    ChainText,
    as_distributions,
    expected_counts,
    from_distributions,
    k_best,
    log_likelihood,
    posteriors,
)
from tests import naive_chain as naive

POOL = Pool(1)


def random_chain(seed, k, n_words, ends=True, zeros=0.0):
    """Return a chain without structure; a share of its parameters is zero."""
    rng = np.random.default_rng(seed)

    def rows(*shape):
        p = rng.dirichlet(np.ones(shape[-1]), shape[:-1])
        return np.where(rng.random(shape) < zeros, 0.0, p)

    leaving = rows(k, k + 1)
    return Chain(rows(k), leaving[:, :k], leaving[:, k] if ends else np.ones(k), rows(k, n_words).T)


def random_text(seed, n_words, lengths):
    tokens = np.random.default_rng(seed + 99).integers(0, n_words, sum(lengths)).astype(np.int32)
    return tokens, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


@st.composite
def problems(draw):
    """Draw a small chain, and a text with empty and one-word sentences."""
    seed, k, n_words = draw(st.integers(0, 10**6)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    lengths = draw(st.lists(st.integers(0, 5), min_size=1, max_size=4))
    chain = random_chain(seed, k, n_words, draw(st.booleans()), draw(st.sampled_from([0.0, 0.0, 0.3])))
    tokens, offsets = random_text(seed, n_words, lengths)
    return chain, ChainText(tokens, offsets, n_words, max_cells=draw(st.sampled_from([1, 10**6])))


def sentences(text):
    """Yield each sentence's number, words and first token."""
    for i in range(text.n_sentences):
        a, b = text.offsets[i], text.offsets[i + 1]
        yield i, text.tokens[a:b].tolist(), int(a)


@given(problems(), st.integers(0, 10**6))
def test_paths_through_ranges_of_states_are_summed(problem, seed):
    chain, text = problem
    rng, k = np.random.default_rng(seed), chain.n_states
    low = rng.integers(0, k, len(text.tokens))
    high = low + 1 + rng.integers(0, k - low)
    found = log_likelihood(chain, text, POOL, (low, high))
    for i, words, first in sentences(text):
        here = slice(first, first + len(words))
        ranges = list(zip(low[here].tolist(), high[here].tolist(), strict=True))
        total = naive.likelihood(*chain.parameters(), words, ranges)
        wanted = math.log(total) if total else -math.inf
        assert found[i] == pytest.approx(wanted, rel=1e-10, abs=1e-12)


@given(problems(), st.booleans())
def test_counts_and_likelihoods_are_those_of_enumeration(problem, squared):
    chain, text = problem
    k, power = chain.n_states, 2 if squared else 1
    counts, loglik = expected_counts(chain, text, POOL, squared)
    if not squared:
        assert np.allclose(log_likelihood(chain, text, POOL), loglik, rtol=1e-10)
    gamma = posteriors(chain, text, POOL)
    start, stop, moves, emitted = np.zeros(k), np.zeros(k), np.zeros((k, k)), np.zeros((text.n_rows, k))
    for i, words, first in sentences(text):
        total = naive.likelihood(*chain.parameters(), words, None, power)
        if total == 0:
            assert loglik[i] == -np.inf
            assert not gamma[first : first + len(words)].any()
            continue
        assert loglik[i] == pytest.approx(math.log(total), rel=1e-10, abs=1e-12)
        if not words:
            continue
        posterior, transitions = map(np.array, naive.expectations(*chain.parameters(), words, None, power))
        start, stop, moves = start + posterior[0], stop + posterior[-1], moves + transitions
        np.add.at(emitted, words, posterior)
        posterior, _ = naive.expectations(*chain.parameters(), words)
        assert gamma[first : first + len(words)] == pytest.approx(np.array(posterior), abs=1e-10)
    for found, wanted in zip(
        (counts.start, counts.stop, counts.transitions, counts.emissions), (start, stop, moves, emitted), strict=True
    ):
        assert np.allclose(found, wanted, atol=1e-10)


@given(problems(), st.integers(1, 5))
def test_best_sequences_are_those_of_enumeration(problem, n):
    chain, text = problem
    many, many_scores = k_best(chain, text, n, POOL)
    for i, words, first in sentences(text):
        if not words:
            assert many_scores[i, 0] == 0
            assert (many_scores[i, 1:] == -np.inf).all()
            continue
        wanted = naive.ranked(*chain.parameters(), words)
        probability = {z: score for score, z in wanted}
        here = slice(first, first + len(words))
        if not wanted:
            assert (many_scores[i] == -np.inf).all()
            assert (many[:, here] == -1).all()
            continue
        found = [tuple(row) for row in many[:, here].tolist() if row[0] >= 0]
        assert len(set(found)) == len(found) == min(n, len(wanted))
        assert many_scores[i, : len(found)] == pytest.approx([score for score, _ in wanted[:n]])
        assert [probability[z] for z in found] == pytest.approx(many_scores[i, : len(found)].tolist())
        assert (many_scores[i, len(found) :] == -np.inf).all()
        assert (many[len(found) :, here] == -1).all()


@pytest.mark.parametrize("k", [7, 8, 9, 50])
def test_any_number_of_states_against_matrix_products(k):
    chain = random_chain(3, k, 11)
    tokens, offsets = random_text(3, 11, [6, 1, 0, 13])
    text = ChainText(tokens, offsets, 11)
    for i, words, _ in sentences(text):
        row = chain.start
        for t, word in enumerate(words):
            row = (row if t == 0 else row @ chain.transitions) * chain.emissions[word]
        wanted = math.log(row @ chain.stop) if words else 0.0
        assert log_likelihood(chain, text, POOL)[i] == pytest.approx(wanted, rel=1e-12)
    # a step of forward-backward is the derivative of the likelihood: counts are p dL/dp
    counts, _ = expected_counts(chain, text, POOL)
    for name in ("start", "transitions", "stop", "emissions"):
        at = (np.random.default_rng(k).integers(0, 7),) * getattr(chain, name).ndim
        values = []
        for sign in (1, -1):
            moved = {n: p.copy() for n, p in vars(chain).items()}
            moved[name][at] *= 1 + sign * 1e-5
            values.append(log_likelihood(Chain(**moved), text, POOL).sum())
        assert getattr(counts, name)[at] == pytest.approx((values[0] - values[1]) / 2e-5, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e150])
def test_long_sentences_neither_underflow_nor_overflow(ends, scale):
    """In 5,000 words a scale of emissions adds its logarithm 5,000 times and changes nothing else."""
    chain = random_chain(5, 6, 9, ends)
    tokens, offsets = random_text(5, 9, [5000, 3])
    text, power = ChainText(tokens, offsets, 9), {False: 1, True: 2}
    scaled = Chain(chain.start, chain.transitions, chain.stop, chain.emissions * scale)
    for squared in (False, True):
        (plain, plain_log), (other, other_log) = (expected_counts(c, text, POOL, squared) for c in (chain, scaled))
        extra = power[squared] * np.array([5000, 3]) * math.log(scale)
        assert np.allclose(other_log, plain_log + extra, rtol=1e-10)
        assert np.allclose(other.transitions, plain.transitions, rtol=1e-8)
        assert np.allclose(other.emissions, plain.emissions, rtol=1e-8)
    assert (k_best(chain, text, 1, POOL)[0] == k_best(scaled, text, 1, POOL)[0]).all()


def test_a_path_that_is_almost_lost_is_found_again():
    """The only state that can end is 1e400 times less likely than the other one: log space knows it."""
    chain = Chain([1.0, 1e-200], [[1.0, 0.0], [0.0, 1.0]], [0.0, 1.0], [[1.0, 1e-200]])
    text = ChainText([0, 0, 0], [0, 3], 1)
    for squared in (False, True):
        counts, loglik = expected_counts(chain, text, POOL, squared)
        assert loglik[0] == pytest.approx(math.log(1e-200) * (7 if squared else 4))
        assert counts.emissions.tolist() == [[0.0, pytest.approx(3)]]
        assert counts.transitions == pytest.approx(np.array([[0, 0], [0, 2]]))
        assert counts.start.tolist() == counts.stop.tolist() == [0.0, pytest.approx(1)]
    assert log_likelihood(chain, text, POOL)[0] == pytest.approx(math.log(1e-200) * 4)
    assert posteriors(chain, text, POOL).argmax(1).tolist() == [1, 1, 1]
    of_ranges = log_likelihood(chain, text, POOL, ([0, 1, 1], [2, 2, 2]))
    assert of_ranges == pytest.approx([math.log(1e-200) * 4])


def test_states_and_sentences_at_the_edges():
    """Backward probabilities of an unreachable state grow without bound; nothing of it may show."""
    chain = Chain([1.0, 0.0], [[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0], [[1e-9, 1.0]])
    counts, loglik = expected_counts(chain, ChainText(np.zeros(3000, int), [0, 3000], 1), POOL)
    assert loglik[0] == pytest.approx(3000 * math.log(1e-9))
    assert counts.emissions.tolist() == [[pytest.approx(3000), 0.0]]
    chain = Chain([1.0, 0.0], [[0.5, 0.0], [0.5, 0.0]], [0.5, 0.5], [[1.0, 0.5], [0.0, 0.5]])
    text = ChainText([0, 1, 0, 0, 1], [0, 2, 2, 4, 5], 2)
    counts, loglik = expected_counts(chain, text, POOL)
    assert np.isfinite(loglik).tolist() == [False, True, True, False]
    assert counts.start.tolist() == [1.0, 0.0]
    assert counts.emissions.tolist() == [[2.0, 0.0], [0.0, 0.0]]
    assert posteriors(chain, text, POOL).argmax(1).tolist() == [0] * 5
    assert np.isfinite(k_best(chain, text, 1, POOL)[1][:, 0]).tolist() == [False, True, True, False]
    chain = Chain(np.full(3, 1 / 3), np.full((3, 3), 1 / 4), np.full(3, 1 / 4), np.full((2, 3), 0.5))
    text = ChainText([0, 1, 0, 1], [0, 4], 2)
    assert posteriors(chain, text, POOL).argmax(1).tolist() == [0, 0, 0, 0]
    assert k_best(chain, text, 2, POOL)[0].tolist() == [[0, 0, 0, 0], [1, 0, 0, 0]]


def test_the_number_of_threads_does_not_show():
    chain = random_chain(8, 10, 30)
    tokens, offsets = random_text(8, 30, np.random.default_rng(8).integers(0, 40, 300).tolist())
    results = []
    for threads in (1, 2, 5):
        text = ChainText(tokens, offsets, 30, max_cells=20_000)
        assert len(text.chunks(10)) > 2
        with Pool(threads) as pool:
            counts, loglik = expected_counts(chain, text, pool)
            results.append([
                *[getattr(counts, n).tobytes() for n in ("start", "transitions", "stop", "emissions")],
                loglik.tobytes(),
                log_likelihood(chain, text, pool).tobytes(), posteriors(chain, text, pool).tobytes(),
                k_best(chain, text, 2, pool)[0].tobytes(),
            ])  # fmt: skip
    assert results[0] == results[1] == results[2]


def test_rows_texts_and_what_does_not_fit():
    for ends in (True, False):
        chain = random_chain(4, 3, 5, ends)
        rows = as_distributions(chain, ends)
        assert [r.shape for r in rows] == [(1, 3), (3, 4 if ends else 3), (3, 5)]
        back = from_distributions(rows, chain.ends)
        for one, other in zip(chain.parameters(), back.parameters(), strict=True):
            assert (one == other).all()
    chain = random_chain(1, 3, 4)
    for offsets in ([0], [0, 0, 0]):
        text = ChainText([], offsets, 4)
        counts, loglik = expected_counts(chain, text, POOL)
        assert loglik.tolist() == [0.0] * (len(offsets) - 1)
        assert not counts.emissions.any()
        assert posteriors(chain, text, POOL).shape == (0, 3)
        assert k_best(chain, text, 2, POOL)[0].shape == (2, 0)
    with pytest.raises(ValueError, match="emits 4 words, the text has 5"):
        k_best(random_chain(1, 3, 4), ChainText([0], [0, 1], 5), 1, POOL)
    with pytest.raises(ValueError, match="a chain of 2 states has transitions"):
        Chain(np.ones(2), np.ones((2, 3)), np.ones(2), np.ones((4, 2)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tokens": [0, 4]}, "outside the 4 rows"),
        ({"tokens": [0, -1]}, "outside the 4 rows"),
        ({"offsets": [0, 1]}, "do not run from 0 to 2"),
        ({"offsets": [0, 3, 2]}, "offsets fall"),
    ],
)
def test_texts_that_cannot_be(change, words):
    with pytest.raises(ValueError, match=words):
        ChainText(**({"tokens": [0, 1], "offsets": [0, 2], "n_rows": 4} | change))
