"""Tag induction: objectives that must not fall, priors that do what they say, the same result every time."""

import itertools
import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aligntools.clustering.hierarchy import paths
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.tagging import induction
from aligntools.tagging.chain import Chain, ChainText, as_distributions, expected_counts, from_distributions, k_best
from aligntools.tagging.induction import NOISE, induce, normalized, random_chain, reconstruct, reconstruction
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

    how = {"estimator": "vb", "transition_prior": 0.3, "emission_prior": 0.2, "seed": 0, "tolerance": 0}
    found = learn(TOKENS, OFFSETS, 5, 1, iterations=3, **how)
    sentences = np.count_nonzero(np.diff(OFFSETS))
    wanted = marginal(np.bincount(TOKENS), 0.2) + marginal([len(TOKENS) - sentences, sentences], 0.3)
    assert found.values == pytest.approx([wanted] * len(found.values))


@pytest.mark.parametrize("estimator", ["em", "vb"])
def test_classes_that_follow_one_another_are_found(estimator):
    tokens, offsets, classes = pattern(80)
    seen = []
    how = {"iterations": 200, "tolerance": 1e-9, "estimator": estimator, "restarts": 3}
    found = learn(tokens, offsets, 12, 3, report=lambda *figures: seen.append(figures), **how)
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
    assert expected_counts(found.model, text, POOL)[1].sum() == pytest.approx(max(ends), rel=1e-12)


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
        ({"estimator": "mcmc"}, "estimator is one of em, vb, mre, not mcmc"),
        ({"estimator": "vb", "transition_prior": 0.0}, "0: vb needs it above 0"),
    ],
)
def test_settings_that_make_no_sense(change, words):
    settings = {"tokens": TOKENS, "offsets": OFFSETS, "n_words": 5, "n_states": 2}
    with pytest.raises(UsageProblem, match=words):
        learn(**(settings | change))


def information(counts):
    """Mutual information of a class and the next."""
    p = counts / counts.sum()
    left, right = p.sum(1, keepdims=True), p.sum(0, keepdims=True)
    some = p > 0
    return float((p[some] * np.log((p / (left * right + 1e-300))[some])).sum())


def joined(counts, a, b):
    rest = [k for k in range(len(counts)) if k != b]
    out = counts.copy()
    out[a] += out[b]
    out[:, a] += out[:, b]
    return out[np.ix_(rest, rest)]


def join_all(counts):
    """Join the two classes whose join loses least until one is left; the first pair of equals."""
    members, bits = [[k] for k in range(len(counts))], [""] * len(counts)
    while len(members) > 1:
        found = [
            (information(joined(counts, a, b)), -a, -b) for a in range(len(members)) for b in range(a + 1, len(members))
        ]
        _, a, b = max(found)
        for k in members[-a]:
            bits[k] = "0" + bits[k]
        for k in members[-b]:
            bits[k] = "1" + bits[k]
        counts = joined(counts, -a, -b)
        members[-a] += members.pop(-b)
    return bits


@given(st.integers(2, 9), st.integers(0, 2**32))
def test_every_join_loses_least(n, seed):
    counts = np.random.default_rng(seed).gamma(0.5, 10, (n, n))  # no two joins lose the same
    assert paths(counts) == join_all(counts)


@pytest.mark.parametrize(("counts", "expected"), [([[3]], ["0"]), ([[0, 0], [0, 0]], ["0", "1"])])
def test_small_trees(counts, expected):
    assert paths(np.array(counts)) == expected


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
