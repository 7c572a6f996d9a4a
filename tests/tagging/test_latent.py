import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aligntools.ground.parallel import Pool
from aligntools.tagging.settings import TaggerSettings, TagSmoothing
from aligntools.tagging.supervised import substates
from aligntools.tagging.supervised.corpus import TaggedCorpus
from aligntools.tagging.unknown_words import FormClasses

EXACT = TagSmoothing(transitions=0.0, tags=0.0, substates=0.0, classes=0.0, words=0.0)


def a_text(seed, lengths, n_words=4, n_tags=2):
    random = np.random.default_rng(seed)
    n = int(sum(lengths))
    words = [b"w%d" % w for w in random.integers(0, n_words, n)]
    tags = [b"T%d" % t for t in random.integers(0, n_tags, n)]
    return TaggedCorpus.of(words, np.concatenate([[0], np.cumsum(lengths)]), tags)


def split_once(text, seed=1, limit=2, noise=0.3):
    """Return counts with two substates a tag, and shares of 1 for each pair's tag."""
    states = substates.split(substates.known_counts(text), text, limit, noise, np.random.default_rng(seed))
    return states, np.ones(len(text.pair_word)), FormClasses.of(text.words)


lengths_of = st.lists(st.integers(0, 4), min_size=1, max_size=4).filter(any)


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.lists(st.integers(0, 8), min_size=3, max_size=12).filter(any))
def test_without_smoothing_em_never_loses_likelihood(seed, lengths):
    text = a_text(seed, lengths, n_words=5)
    states, _, classes = split_once(text, seed)
    shares = text.pair_count / text.word_counts().sum(1)[text.pair_word]
    reached = []
    for _ in range(8):
        # p(word | state) itself, to compare likelihoods: the prior that estimate divides by is kept from tiny counts
        parameters = substates.estimate(states, text, shares, classes, EXACT)
        state, seen = states.state_of(text), np.repeat(text.pair_count, np.diff(states.at))
        totals = np.bincount(state, states.emissions, len(states.start))
        assert parameters.values == pytest.approx(
            np.repeat(shares, np.diff(states.at)) * states.emissions / seen / parameters.prior[state], abs=1e-12
        )
        parameters.values = states.emissions / totals[state]
        parameters.start = states.start / states.start.sum()
        moves = np.column_stack([states.transitions, states.stop])
        moves /= np.maximum(moves.sum(1, keepdims=True), 1e-300)
        assert parameters.transitions == pytest.approx(moves[:, :-1], abs=1e-12)
        parameters.transitions, parameters.stop = np.ascontiguousarray(moves[:, :-1]), moves[:, -1].copy()
        states, loglik, _ = substates.expect(parameters, states, text, Pool(1))
        reached.append(loglik)
    assert all(b >= a - 1e-9 * abs(a) for a, b in itertools.pairwise(reached))


@given(st.integers(0, 2**32), lengths_of, st.sampled_from([2, 4]))
def test_splitting_keeps_all_counts_and_merging_everything_undoes_it(seed, lengths, limit):
    text = a_text(seed, lengths)
    whole = substates.known_counts(text)
    once = substates.split(whole, text, 2, 0.1, np.random.default_rng(seed))
    halves = substates.split(once, text, limit, 0.1, np.random.default_rng(seed))
    assert np.diff(halves.first).max() <= limit
    for one in (once, halves):
        assert one.emissions.sum() == pytest.approx(len(text.tokens))
        assert np.all(one.emissions >= 0)
    back = substates.merge(once, text, once.tag_of)
    for name in ("first", "start", "transitions", "stop", "at", "emissions"):
        assert getattr(back, name) == pytest.approx(getattr(whole, name), rel=1e-9, abs=1e-12), name


def test_merges_and_counts():
    text = a_text(1, [40, 40], n_tags=3)
    states, _, _ = split_once(text)
    losses = np.array([5.0, 0, 1.0, 0, 3.0, 0])
    assert substates.choose_merges(states, losses, np.ones(3, bool), 0.34).tolist() == [0, 1, 2, 2, 3, 4]
    assert substates.choose_merges(states, losses, np.ones(3, bool), 0.99).tolist() == [0, 1, 2, 2, 3, 3]
    assert substates.choose_merges(states, losses, np.array([True, False, True]), 0.5).tolist() == [0, 1, 2, 3, 4, 4]
    assert substates.choose_merges(states, losses, np.ones(3, bool), 0.0).tolist() == [0, 1, 2, 3, 4, 5]
    text = TaggedCorpus.of([b"a", b"b", b"a", b"a"], np.array([0, 0, 3, 4]), [b"Y", b"X", b"Y", b"X"])
    states = substates.known_counts(text)
    assert text.names == [b"X", b"Y"]
    assert states.start.tolist() == [1, 1]
    assert states.stop.tolist() == [1, 1]
    assert states.transitions.tolist() == [[0, 1], [1, 0]]
    assert text.word_counts().tolist() == [[1, 2], [1, 0]]
    text = a_text(2, [3, 2])
    states, shares, classes = split_once(text)
    parameters = substates.estimate(states, text, shares, classes, TagSmoothing())
    parameters.values[states.at[text.pairs[0]] : states.at[text.pairs[0] + 1]] = 0.0
    found, loglik, _ = substates.expect(parameters, states, text, Pool(1))
    assert loglik == -np.inf
    assert np.isfinite(found.emissions).all()
    assert found.start.sum() in (0.0, pytest.approx(1.0))


def test_training_is_the_same_for_any_number_of_threads_and_follows_the_seed():
    text = a_text(5, [7] * 60, n_words=20, n_tags=3)
    classes = FormClasses.of(text.words)
    shares = text.pair_count / text.word_counts().sum(1)[text.pair_word]

    def trained(pool, seed):
        seen = []
        how, random = TaggerSettings(latent=4, iterations=4), np.random.default_rng(seed)
        states = substates.train(text, shares, classes, how, pool, random, report=lambda *f: seen.append(f))
        return states, seen

    one, seen = trained(Pool(1), 1)
    with Pool(3) as pool:
        three, same = trained(pool, 1)
    assert seen == same
    assert one.transitions.tobytes() == three.transitions.tobytes()
    assert one.emissions.tobytes() == three.emissions.tobytes()
    assert trained(Pool(1), 2)[1] != seen
    assert [f[:2] for f in seen] == [(r, i) for r in (1, 2) for i in (0, 1, 2, 3, 0)]
    assert 3 < len(one.start) <= 12


def test_the_number_of_states_is_bounded_and_frequent_tags_come_first(monkeypatch):
    monkeypatch.setattr(substates, "STATES", 5)
    text = TaggedCorpus.of(
        [b"w"] * 12, np.array([0, 12]), [b"A", b"B", b"B", b"B", b"B", b"C", b"C", b"D"] + [b"B"] * 4
    )
    states = substates.split(substates.known_counts(text), text, 2, 0.1, np.random.default_rng(1))
    assert np.diff(states.first).tolist() == [1, 2, 1, 1]
