"""Tag induction: objectives that must not fall, priors that do what they say, the same result every time."""

import itertools
import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.tagging import induction
from aligntools.tagging.chain import ChainText, as_distributions, expected_counts, k_best
from aligntools.tagging.induction import NOISE, induce, normalized, random_chain
from aligntools.tagging.settings import InductionSettings
from tests import naive_chain as naive

POOL = Pool(1)
TOKENS = np.array([0, 1, 2, 0, 3, 2, 2, 0, 1, 4, 4, 0, 3], np.int32)
OFFSETS = np.array([0, 3, 6, 6, 7, 13], np.int64)


SMOOTHED = {"seed": 5, "tolerance": 0, "transition_prior": 0.5, "emission_prior": 0.25}


def learn(tokens, offsets, n_words, n_states, pool=POOL, report=None, noise=NOISE, **more):
    with mock.patch.object(induction, "NOISE", noise):
        return induce(tokens, offsets, n_words, pool, InductionSettings(states=n_states, **more).checked(), report)


def pattern(n_sentences, seed=0):
    """Return sentences in which words of class 0, 1, 2 follow one another in turn; each class has four words."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(3, 12, n_sentences)
    classes = np.concatenate([(np.arange(n) + rng.integers(3)) % 3 for n in lengths])
    tokens = (classes * 4 + rng.integers(0, 4, len(classes))).astype(np.int32)
    return tokens, np.concatenate([[0], np.cumsum(lengths)]), classes


@settings(max_examples=25)
@given(
    st.sampled_from([("em", 0.0, 0.0), ("em", 0.1, 0.01), ("em", 2.0, 0.0), ("vb", 0.1, 0.1), ("vb", 3.0, 1e-4)]),
    st.integers(1, 4),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_the_objective_never_falls(setting, n_states, stop, seed):
    estimator, of_transitions, of_emissions = setting
    found = learn(
        TOKENS, OFFSETS, 5, n_states, noise=1.0, seed=seed, iterations=30, tolerance=0, estimator=estimator,
        transition_prior=of_transitions, emission_prior=of_emissions, stop=stop,
    )  # fmt: skip
    assert min(np.diff(found.values), default=0) >= -1e-9 * abs(found.values[-1])
    assert len(found.values) >= 2
    for rows in as_distributions(found.model, found.model.ends):
        assert np.allclose(rows.sum(1), 1)
        assert (rows >= 0).all()
    assert found.model.ends == stop


def test_one_step_of_em_is_counting_over_all_sequences():
    begin = random_chain(np.bincount(TOKENS) + 0.25, 2, np.random.default_rng([5, 0]), True, 1.0)
    found = learn(TOKENS, OFFSETS, 5, 2, noise=1.0, iterations=1, **SMOOTHED)
    start, moves, emitted, ended = np.full(2, 0.5), np.full((2, 2), 0.5), np.full((5, 2), 0.25), np.full(2, 0.5)
    for a, b in itertools.pairwise(OFFSETS):
        if a < b:
            words = TOKENS[a:b].tolist()
            posterior, transitions = map(np.array, naive.expectations(*begin.parameters(), words))
            start, ended, moves = start + posterior[0], ended + posterior[-1], moves + transitions
            np.add.at(emitted, words, posterior)
    assert found.model.start == pytest.approx(start / start.sum())
    leaving = moves.sum(1) + ended
    assert found.model.transitions == pytest.approx(moves / leaving[:, None])
    assert found.model.stop == pytest.approx(ended / leaving)
    assert found.model.emissions == pytest.approx(emitted / emitted.sum(0))


def test_the_objective_is_the_penalized_likelihood():
    seen = []
    found = learn(
        TOKENS, OFFSETS, 5, 2, noise=1.0, iterations=7, **SMOOTHED, report=lambda *figures: seen.append(figures)
    )
    loglik = sum(
        math.log(naive.likelihood(*found.model.parameters(), TOKENS[a:b].tolist()))
        for a, b in itertools.pairwise(OFFSETS)
    )
    c = found.model
    prior = 0.5 * np.log(np.concatenate([c.start, c.stop, c.transitions.ravel()])).sum()
    assert found.values[-1] == pytest.approx(loglik + prior + 0.25 * np.log(c.emissions).sum())
    assert seen[-1][3] == pytest.approx(math.exp(-loglik / len(TOKENS)))


def test_the_variational_bound_is_the_evidence_where_nothing_is_hidden():
    """With one state the bound is tight: the Dirichlet-multinomial's log marginal likelihood of the text."""

    def marginal(counts, alpha):
        counts = np.asarray(counts, float)
        gain = sum(math.lgamma(c + alpha) - math.lgamma(alpha) for c in counts)
        return math.lgamma(alpha * len(counts)) - math.lgamma(alpha * len(counts) + counts.sum()) + gain

    found = learn(
        TOKENS,
        OFFSETS,
        5,
        1,
        seed=0,
        iterations=3,
        tolerance=0,
        estimator="vb",
        transition_prior=0.3,
        emission_prior=0.2,
    )
    sentences = np.count_nonzero(np.diff(OFFSETS))
    wanted = marginal(np.bincount(TOKENS), 0.2) + marginal([len(TOKENS) - sentences, sentences], 0.3)
    assert found.values == pytest.approx([wanted] * len(found.values))


@pytest.mark.parametrize("estimator", ["em", "vb"])
def test_classes_that_follow_one_another_are_found(estimator):
    tokens, offsets, classes = pattern(80)
    seen = []
    found = learn(
        tokens,
        offsets,
        12,
        3,
        iterations=200,
        tolerance=1e-9,
        estimator=estimator,
        restarts=3,
        report=lambda *figures: seen.append(figures),
    )
    (states,), _ = k_best(found.model, ChainText(tokens, offsets, 12), 1, POOL)
    table = np.zeros((3, 3))
    np.add.at(table, (classes, states), 1)
    assert (table > 0).sum() == 3
    perplexities = [figures[3] for figures in seen if figures[0] == found.start]
    assert perplexities[-1] < perplexities[0] / 2


def test_reports_restarts_and_stopping():
    tokens, offsets, _ = pattern(30)
    seen = []
    found = learn(
        tokens, offsets, 12, 3, seed=4, iterations=60, tolerance=1e-4, restarts=3, report=lambda *a: seen.append(a)
    )
    runs = [[s for s in seen if s[0] == r] for r in range(3)]
    assert [len(run) < 61 for run in runs] == [True] * 3
    for run in runs:
        assert [s[1] for s in run] == list(range(len(run)))
        assert (run[-1][2] - run[-2][2]) <= 1e-4 * abs(run[-1][2])
    ends = [run[-1][2] for run in runs]
    assert len(set(ends)) == 3
    assert found.start == int(np.argmax(ends))
    assert found.values == [s[2] for s in runs[found.start]]
    text = ChainText(tokens, offsets, 12)
    assert expected_counts(found.model, text, POOL).loglik.sum() == pytest.approx(max(ends), rel=1e-12)


def test_seeds_and_small_problems():
    tokens, offsets, _ = pattern(40)
    results = []
    for threads, seed in ((1, 3), (3, 3), (1, 4)):
        with Pool(threads) as pool:
            chain = learn(tokens, offsets, 12, 4, pool, seed=seed, iterations=12).model
        results.append(b"".join(p.tobytes() for p in chain.parameters()))
    assert results[0] == results[1] != results[2]
    seen = []
    found = learn([0], [0, 1], 1, 1, seed=0, iterations=3, report=lambda *figures: seen.append(figures))
    assert found.model.stop == pytest.approx([1.0], abs=1e-12)
    assert seen[-1][3] == pytest.approx(1.0)
    assert not learn(TOKENS, OFFSETS, 7, 2, seed=0, iterations=5).model.emissions[5:].any()
    assert (learn(TOKENS, OFFSETS, 7, 2, seed=0, iterations=5, emission_prior=0.1).model.emissions[5:] > 0).all()
    assert normalized(np.array([[0.0, 0.0], [1.0, 3.0]])).tolist() == [[0.5, 0.5], [0.25, 0.75]]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tokens": [], "offsets": [0, 0]}, "no words"),
        ({"n_states": 0}, "states must be a whole number from 1 to 32768, not 0"),
        ({"restarts": 0}, "restarts must be a whole number from 1 to 2147483647, not 0"),
        ({"estimator": "mcmc"}, "estimator is one of em, vb, mre, not mcmc"),
        ({"emission_prior": -1.0}, "emission_prior must be a number from 0"),
        ({"estimator": "vb", "transition_prior": 0.0}, "0: vb needs it above 0"),
    ],
)
def test_settings_that_make_no_sense(change, words):
    settings = {"tokens": TOKENS, "offsets": OFFSETS, "n_words": 5, "n_states": 2}
    with pytest.raises(UsageProblem, match=words):
        learn(**(settings | change))
