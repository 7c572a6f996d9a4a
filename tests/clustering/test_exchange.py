"""The exchange algorithm: counts, what moves gain, where they end, against the definition."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.clustering import exchange, word_classes
from aligntools.clustering.exchange import ClassSettings, Moves, cluster, count_text, free_moves, objective_of
from aligntools.clustering.kernels_exchange import Scratch, sweep
from aligntools.ground.parallel import Pool
from tests import naive_classes as naive

SIZE = 9
SENTENCES = st.lists(st.lists(st.integers(1, SIZE - 1), max_size=7), max_size=12)


def arrays(sentences):
    lengths = [len(s) for s in sentences]
    tokens = np.array([w for s in sentences for w in s], np.int32)
    return tokens, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def counted(sentences):
    return count_text(*arrays(sentences), SIZE)


def swept(pairs, classes, word, moves, lists, full, temperature=0.0):
    """Give one word its move, without a temperature the best one; return the tables."""
    size = int(moves.ranges.max())
    tables = exchange._tables(pairs, classes, size)
    scratch = Scratch(
        *(np.zeros(size, np.int64) for _ in range(4)),
        np.zeros(size),
        np.arange(size),
        np.zeros(lists.shape[1] + 1, np.int64),
    )
    state = np.array([5], np.uint64)
    sweep(np.array([word], np.int32), moves.ranges, temperature, full, classes, pairs, tables, lists, state, scratch)
    assert not scratch.left.any()
    assert not scratch.right.any()
    return tables


@given(SENTENCES)
def test_pairs_are_counted_from_both_sides(sentences):
    pairs, expected = counted(sentences), naive.pairs(sentences)
    for by_first, (starts, words, counts) in ((True, pairs[:3]), (False, pairs[3:])):
        found = {}
        for w in range(SIZE):
            for k in range(starts[w], starts[w + 1]):
                found[(w, words[k]) if by_first else (words[k], w)] = counts[k]
        assert found == expected


@given(SENTENCES, st.lists(st.integers(1, 4), min_size=SIZE, max_size=SIZE))
def test_the_objective_changes_as_the_log_likelihood_does(sentences, classes):
    pairs, counts = counted(sentences), naive.pairs(sentences)
    one = np.array([0] + [1] * (SIZE - 1), np.int32)
    classes = np.array([0, *classes[1:]], np.int32)
    gained = naive.log_likelihood(counts, classes) - naive.log_likelihood(counts, one)
    assert objective_of(pairs, classes) - objective_of(pairs, one) == pytest.approx(gained, abs=1e-9)


@given(SENTENCES.filter(any), st.lists(st.integers(1, 4), min_size=SIZE, max_size=SIZE), st.data())
def test_a_word_goes_where_the_log_likelihood_gains_most(sentences, classes, data):
    counts = naive.pairs(sentences)
    word = data.draw(st.sampled_from(sorted({w for s in sentences for w in s})))
    pairs, moves = counted(sentences), free_moves(counted(sentences), ClassSettings(number=4))
    given_ = np.array([0, *classes[1:]], np.int32)
    gains = naive.gains(counts, given_.tolist(), word, range(1, 5))
    found, lists = given_.copy(), np.zeros((SIZE, 4), np.int32)
    tables = swept(pairs, found, word, moves, lists, True)
    assert gains[found[word]] == pytest.approx(max(gains.values()), abs=1e-8)
    assert max(gains.values()) > 1e-8 or found[word] == given_[word]  # nothing moves for nothing
    for field, again in zip(tables, exchange._tables(pairs, found, 5), strict=True):
        assert np.allclose(field, again, atol=1e-9)
    ranked = [gains[g] for g in lists[word].tolist()]
    assert sorted(lists[word].tolist()) == [1, 2, 3, 4]
    assert all(a >= b - 1e-8 for a, b in itertools.pairwise(ranked))
    listed = given_.copy()
    swept(pairs, listed, word, moves, lists, False)
    assert gains[listed[word]] == pytest.approx(max(gains.values()), abs=1e-8)
    one = given_.copy()  # a list of one class: that one or the word's own
    swept(pairs, one, word, moves, np.full((SIZE, 1), 2, np.int32), False)
    assert gains[one[word]] == pytest.approx(max(gains[2], 0.0), abs=1e-8)


def test_draws_are_as_probable_as_the_gains_say():
    sentences = [[1, 2, 3], [1, 3, 2], [4, 2, 1], [2, 2, 5], [5, 1, 3]]
    counts, pairs = naive.pairs(sentences), counted(sentences)
    moves = free_moves(pairs, ClassSettings(number=3))
    start = np.array([0, 1, 1, 2, 2, 3, 1, 1, 1], np.int32)
    gains = naive.gains(counts, start.tolist(), 2, range(1, 4))
    weights = np.exp(np.array([gains[g] for g in (1, 2, 3)]) / 2.0)
    order = np.full(1, 2, np.int32)
    tables, state, drawn = exchange._tables(pairs, start, 4), np.array([7], np.uint64), np.zeros(4)
    scratch = Scratch(*(np.zeros(4, np.int64) for _ in range(4)), np.zeros(4), np.arange(4), np.zeros(1, np.int64))
    lists = np.zeros((0, 0), np.int32)
    for _ in range(20_000):  # the other words stay, so each draw is from the same distribution
        sweep(order, moves.ranges, 2.0, True, start, pairs, tables, lists, state, scratch)
        drawn[start[2]] += 1
    assert np.allclose(drawn[1:] / 20_000, weights / weights.sum(), atol=0.015)


@given(SENTENCES.filter(any), st.integers(1, 4), st.integers(0, 3), st.integers(1, 3))
def test_no_move_is_left_that_gains(sentences, classes, iterations, min_count):
    counts = naive.pairs(sentences)
    chosen = ClassSettings(number=classes, iterations=iterations, min_count=min_count)
    found = cluster(counted(sentences), chosen)
    uses = np.bincount(arrays(sentences)[0], minlength=SIZE)
    assert (found.classes[uses == 0] == 0).all()
    assert (found.classes[(uses > 0) & (uses < min_count)] == classes + 1).all()
    moving = np.flatnonzero(uses >= min_count)
    moving = moving[moving > 0]
    assert set(found.classes[moving].tolist()) <= set(range(1, classes + 1))
    firsts = []  # the classes in the order of their most frequent word
    for w in sorted(moving.tolist(), key=lambda w: (-uses[w], w)):
        if found.classes[w] not in firsts:
            firsts.append(int(found.classes[w]))
    assert firsts == sorted(firsts)
    for w in moving.tolist():
        best = max(naive.gains(counts, found.classes.tolist(), w, range(1, classes + 1)).values())
        assert best < 1e-8
    total = sum(counts.values())
    likelihood = naive.log_likelihood(counts, found.classes.tolist())
    assert found.perplexity == pytest.approx(math.exp(-likelihood / total))
    assert found.information == pytest.approx(naive.information(counts, found.classes.tolist()), abs=1e-9)


def text(seed=1, sentences=400):
    """Sentences of a grammar of classes: a word of class k is followed by one of class k + 1."""
    random = np.random.default_rng(seed)
    lines = []
    for _ in range(sentences):
        first = random.integers(5)
        lines.append([1 + (first + k) % 5 + 5 * int(random.integers(12)) for k in range(random.integers(1, 12))])
    return lines


def test_planted_classes_and_texts_without_words():
    lines = text()
    found = word_classes(*arrays(lines), 61, 5, restarts=8)
    assert found[0] == 0
    assert {tuple(sorted(set(found[1 + k :: 5].tolist()))) for k in range(5)} == {(c,) for c in range(1, 6)}
    pairs = count_text(*arrays(text()), 61)
    free = free_moves(pairs, ClassSettings(number=6))
    ranges = free.ranges.copy()
    ranges[1:31], ranges[31:] = (1, 4), (4, 7)
    found = cluster(pairs, ClassSettings(number=6), moves=Moves(free.order, ranges))
    assert set(found.classes[1:31].tolist()) == {1, 2, 3}
    assert set(found.classes[31:].tolist()) == {4, 5, 6}
    found = cluster(count_text(np.zeros(0, np.int32), np.zeros(1, np.int64), 3))
    assert found.classes.tolist() == [0, 0, 0]
    assert found.perplexity == 1.0


def test_many_classes_have_lists_and_end_as_good(monkeypatch):
    lines = text(sentences=150)
    chosen, pairs = ClassSettings(number=30, iterations=10), count_text(*arrays(lines), 61)
    whole = cluster(pairs, chosen)
    monkeypatch.setattr(exchange, "MANY", 29)
    monkeypatch.setattr(exchange, "LISTED", 4)
    listed = cluster(pairs, chosen)
    assert listed.information > 0.97 * whole.information
    counts = naive.pairs(lines)
    for w in range(1, 61, 7):
        assert max(naive.gains(counts, listed.classes.tolist(), w, range(1, 31)).values()) < 1e-8


def test_threads_do_not_show_and_restarts_keep_the_best():
    pairs = count_text(*arrays(text()), 61)
    chosen = ClassSettings(number=7, restarts=4, iterations=3)
    here = cluster(pairs, chosen)
    with Pool(3) as pool:
        there = cluster(pairs, chosen, pool)
    assert np.array_equal(here.classes, there.classes)
    once = cluster(pairs, ClassSettings(number=7, iterations=3))
    assert here.objective >= once.objective
    assert np.array_equal(cluster(pairs, ClassSettings(number=7, iterations=3)).classes, once.classes)
