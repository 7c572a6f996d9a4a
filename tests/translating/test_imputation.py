"""Imputed sources against the list of all derivations."""

import itertools
from collections import Counter, defaultdict, namedtuple
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from aligntools.formats.inputs.sentences import Lines, numbered
from aligntools.formats.text.corpus import Side
from aligntools.ground.errors import DataError
from aligntools.translating.forest import semirings
from aligntools.translating.forest.hypergraph import edge_scores
from aligntools.translating.settings import ImputationSettings
from aligntools.translating.tuning import imputed_lattices, tuning_sets
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


ORDERS = st.integers(2, 5)


def lattice_of(seed, gamma=1.3, **size):
    """Return a hypergraph of two sentences and a blank one, weights, and each one's strings with probabilities."""
    rng = np.random.default_rng(seed)
    made = [forest(rng, **size), None, forest(rng, **size)]
    weights = rng.normal(size=FEATURES)
    found = []
    for one in made:
        strings = defaultdict(float)
        listed = naive.derivations(scored(one[0], weights, gamma), len(one[0]) - 1) if one else []
        for p, d in zip(naive.probabilities(listed) if listed else [], listed, strict=True):
            strings[tuple(d.words)] += p
        found.append(dict(strings))
    return arrays(made), weights, found


def counts(strings, order):
    """Expect what comes next after a place and the words before it, from the list of strings."""
    found = defaultdict(lambda: defaultdict(float))
    for words, p in strings.items():
        for place, word in enumerate([*words, 0]):
            found[place, words[max(0, place - order + 1) : place]][word] += p
    return found


def model(strings, order):
    """Return the probability of a string under the n-grams by place."""
    found = counts(strings, order)

    def probability(words):
        total = 1.0
        for place, word in enumerate([*words, 0]):
            after = found[place, words[max(0, place - order + 1) : place]]
            total *= after[word] / sum(after.values())
        return total

    return probability


def paths(automaton):
    """Return the words and the probability of each path."""
    by_node = defaultdict(list)
    for begin, end, word, p in automaton.arcs:
        by_node[begin].append((end, word, p))

    def following(node):
        if node == automaton.last:
            yield (), 1.0
        for end, word, p in by_node[node]:
            for words, rest in following(end):
                yield (word, *words), p * rest

    return list(following(0)) if automaton.arcs else []


@given(SEEDS, ORDERS)
def test_ngrams_are_expected_by_place(seed, order):
    h, weights, found = lattice_of(seed)
    _, conditional = semirings.inside(h, edge_scores(h, weights, 1.3))
    for s, strings in enumerate(found):
        mine = imputed_lattices.expected(h, conditional, s, order)
        wanted = counts(strings, order)
        assert {k: set(v) for k, v in mine.items()} == {k: set(v) for k, v in wanted.items()}
        for state, after in wanted.items():
            for word, p in after.items():
                assert mine[state][word] == pytest.approx(p, rel=1e-6, abs=1e-9)


@given(SEEDS, ORDERS)
def test_the_automaton_is_the_ngram_model_and_each_string_has_one_path(seed, order):
    h, weights, found = lattice_of(seed, levels=2)
    made = imputed_lattices.automata(h, weights, order, 0.0, 1.3)
    assert made[1].arcs == []
    for automaton, strings in zip(made, found, strict=True):
        if not strings:
            continue
        mine = paths(automaton)
        assert len({words for words, _ in mine}) == len(mine)
        assert sum(p for _, p in mine) == pytest.approx(1)
        probability = model(strings, order)
        for words, p in mine:
            assert p == pytest.approx(probability(words), rel=1e-6, abs=1e-9)
        assert set(strings) <= {words for words, _ in mine}
        for arc, other in itertools.pairwise(automaton.arcs):
            assert arc[0] < arc[1] <= automaton.last
            assert arc < other


@example(434, 2, 1.0)  # where the floor shows
@given(SEEDS, ORDERS, st.sampled_from([0.01, 0.1, 0.5, 1.0]))
def test_pruned_automata_keep_a_path_and_sum_to_one(seed, order, prune):
    h, weights, found = lattice_of(seed)
    whole = imputed_lattices.automata(h, weights, order, 0.0, 1.3)
    with mock.patch.object(imputed_lattices, "_FLOOR", 0.0):  # which leaves out what hardly counts: not exact
        pruned = imputed_lattices.automata(h, weights, order, prune, 1.3)
    for automaton, full, strings in zip(pruned, whole, found, strict=True):
        if not strings:
            assert automaton.arcs == []
            continue
        mine = paths(automaton)
        assert sum(p for _, p in mine) == pytest.approx(1)
        assert len({words for words, _ in mine}) == len(mine) >= 1
        assert len(automaton.arcs) <= len(full.arcs)
        if len(full.arcs) < 200:
            all_of = dict(paths(full))
            kept = sum(all_of[words] for words, _ in mine)
            for words, p in mine:
                assert p == pytest.approx(all_of[words] / kept, rel=1e-5, abs=1e-9)


def test_an_automaton_is_a_lattice_of_words():
    automaton = imputed_lattices.Automaton([(0, 1, 3, 0.25), (0, 2, 2, 0.75), (1, 2, 2, 1.0)], 2)
    assert str(automaton.lattice(lambda ids: [b"abc"[k - 1 : k] for k in ids])) == (
        "((('c',0.25,1),('b',0.75,2),),(('b',1.0,1),),)"
    )
    assert str(imputed_lattices.Automaton([], 0).lattice(lambda ids: [])) == "()"


def test_a_sentence_that_memory_does_not_hold_is_named(monkeypatch):
    whole, weights, _ = lattice_of(1)

    def expected(forest, conditional, s, *_):
        if s == 2:
            raise MemoryError
        return {}

    monkeypatch.setattr(imputed_lattices, "expected", expected)
    with pytest.raises(imputed_lattices.SentenceTooLongError) as error:
        imputed_lattices.automata(whole, weights)
    assert error.value.sentence == 2
    text = Lines([b"a", b"b", b"c"], np.array([0, 1, 1, 3]), "mono")
    system = mock.Mock(weights=weights, forest=lambda *_: whole)
    with pytest.raises(DataError, match=r"mono:3: the lattice of 2 words takes more memory than there is"):
        tuning_sets.impute_text(system, text, ImputationSettings(impute="lattice"))
