"""Imputed sources against the list of all derivations."""

from collections import Counter, namedtuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aligntools.formats.inputs.sentences import Lines, numbered
from aligntools.formats.text.corpus import Side
from aligntools.translating.tuning import imputed_lattices
from aligntools.words.vocabulary import Vocabulary
from tests import naive_hypergraph as naive
from tests.translating.making import FEATURES, arrays, forest, scored

SEEDS = st.integers(0, 10_000)


Found = namedtuple("Found", "candidates groups shares")


def impute(*given, **how):
    return Found(*imputed_lattices.impute(*given, **how))


def sources(found):
    c = found.candidates
    return [tuple(c.words[a:b].tolist()) for a, b in zip(c.word_offsets[:-1], c.word_offsets[1:], strict=True)]


def make(seed, gamma):
    rng = np.random.default_rng(seed)
    made = [forest(rng), None, forest(rng)]
    weights = rng.normal(size=FEATURES)
    lists = [naive.derivations(scored(m[0], weights, gamma), len(m[0]) - 1) if m else [] for m in made]
    return arrays(made), weights, lists


@given(SEEDS, st.sampled_from([1, 3, 1000]))
def test_the_k_best_weigh_what_their_probabilities_say(seed, k):
    h, weights, lists = make(seed, 1.7)
    found = impute(h, weights, "kbest", k, gamma=1.7)
    assert len(found.candidates) == len(found.groups) == len(found.shares)
    of = sources(found)
    assert set(found.groups.tolist()) == {0, 2}
    for s in (0, 2):
        best = {}
        for d in lists[s]:
            best[tuple(d.words)] = max(best.get(tuple(d.words), -np.inf), naive.score(d))
        mine = [n for n, g in enumerate(found.groups) if g == s]
        top = sorted(best.values(), reverse=True)[:k]
        assert len({of[n] for n in mine}) == len(mine) == len(top)
        total = np.exp(top).sum()
        for n, score in zip(mine, top, strict=True):
            assert best[of[n]] == pytest.approx(score, abs=1e-6)
            assert found.shares[n] == pytest.approx(np.exp(score) / total, rel=1e-6)


@settings(max_examples=10)
@given(SEEDS)
def test_the_k_best_may_weigh_all_alike(seed):
    h, weights, _ = make(seed, 1.0)
    found = impute(h, weights, "kbest", 3, equal=True)
    for s in (0, 2):
        mine = found.shares[found.groups == s]
        assert mine == pytest.approx(np.full(len(mine), 1 / len(mine)))
    assert sources(found) == sources(impute(h, weights, "kbest", 3))


def test_samples_weigh_one_kth_each_time():
    h, weights, lists = make(4, 1.0)
    k = 3000
    found = impute(h, weights, "samples", k, seed=3)
    for s in (0, 2):
        mine = {of: w for of, g, w in zip(sources(found), found.groups, found.shares, strict=True) if g == s}
        assert len(mine) == (found.groups == s).sum()
        assert sum(mine.values()) == pytest.approx(1)
        wanted = Counter()
        for p, d in zip(naive.probabilities(lists[s]), lists[s], strict=True):
            wanted[tuple(d.words)] += p
        for words, p in wanted.items():
            assert abs(mine.get(words, 0) - p) < 5 * np.sqrt(p * (1 - p) / k) + 1e-9
        assert all(abs(w * k - round(w * k)) < 1e-6 for w in mine.values())
    again = impute(h, weights, "samples", k, seed=3)
    assert sources(again) == sources(found)


def test_texts_are_numbered_together():
    vocabulary = Vocabulary.from_words(["a", "b"])
    one = Lines.of(Side(np.array([1, 2, 1], np.int32), np.array([0, 2, 2, 3])), vocabulary)
    two = Lines([b"b", b"c"], np.array([0, 2]))
    side, words = numbered([one, two])
    assert [words.word(t) for t in side.tokens.tolist()] == ["a", "b", "a", "b", "c"]
    assert side.offsets.tolist() == [0, 2, 2, 3, 5]
    assert len(one) == 3
