"""Imputed sources against the list of all derivations; composed rules against all pairs of rules."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aligntools.formats.bitext import Side
from aligntools.formats.grammar import GrammarRules
from aligntools.formats.vocabulary import Vocabulary
from aligntools.translating.text import Lines, numbered
from aligntools.translating.tuning import imputation
from tests import naive_hypergraph as naive
from tests.translating.making import FEATURES, arrays, forest, scored

SEEDS = st.integers(0, 10_000)


def sources(found):
    c = found.candidates
    return [tuple(c.words[a:b].tolist()) for a, b in zip(c.word_offsets[:-1], c.word_offsets[1:], strict=True)]


def make(seed, gamma):
    rng = np.random.default_rng(seed)
    made = [forest(rng), None, forest(rng)]
    weights = rng.normal(size=FEATURES)
    lists = [naive.derivations(scored(m[0], weights, gamma), len(m[0]) - 1) if m else [] for m in made]
    return arrays(made), weights, lists


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.sampled_from([1, 3, 1000]))
def test_the_k_best_weigh_what_their_probabilities_say(seed, k):
    h, weights, lists = make(seed, 1.7)
    found = imputation.impute(h, weights, "kbest", k, gamma=1.7)
    assert len(found.candidates) == len(found.groups) == len(found.weights)
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
            assert found.weights[n] == pytest.approx(np.exp(score) / total, rel=1e-6)


def test_samples_weigh_one_kth_each_time():
    h, weights, lists = make(4, 1.0)
    k = 3000
    found = imputation.impute(h, weights, "samples", k, seed=3)
    for s in (0, 2):
        mine = {of: w for of, g, w in zip(sources(found), found.groups, found.weights, strict=True) if g == s}
        assert len(mine) == (found.groups == s).sum()
        assert sum(mine.values()) == pytest.approx(1)
        wanted = Counter()
        for p, d in zip(naive.probabilities(lists[s]), lists[s], strict=True):
            wanted[tuple(d.words)] += p
        for words, p in wanted.items():
            assert abs(mine.get(words, 0) - p) < 5 * np.sqrt(p * (1 - p) / k) + 1e-9
        assert all(abs(w * k - round(w * k)) < 1e-6 for w in mine.values())
    again = imputation.impute(h, weights, "samples", k, seed=3)
    assert sources(again) == sources(found)


# Composition


def rules_of(grammar):
    """List rules as (source, target, features), words as text and nonterminals as negative numbers."""
    found = []
    for r in range(len(grammar)):
        sides = []
        for offsets, symbols, vocabulary in (
            (grammar.source_offsets, grammar.source, grammar.source_vocabulary),
            (grammar.target_offsets, grammar.target, grammar.target_vocabulary),
        ):
            sides.append(
                tuple(vocabulary.word(s) if s > 0 else s for s in symbols[offsets[r] : offsets[r + 1]].tolist())
            )
        a, b = grammar.sparse_offsets[[r, r + 1]]
        sparse = dict(zip(grammar.sparse_ids[a:b].tolist(), grammar.sparse_values[a:b].tolist(), strict=True))
        found.append((*sides, tuple(grammar.features[r].tolist()), tuple(sparse.items())))
    return found


def grammar(rng, source_words, target_words, count=25):
    rules = {}
    for _ in range(count):
        arity = int(rng.integers(0, 3))
        source = [-1 - k for k in range(arity)]
        for _ in range(int(rng.integers(0 if arity else 1, 3))):
            source.insert(int(rng.integers(len(source) + 1)), int(rng.integers(1, len(source_words) + 1)))
        target = [-1 - k for k in range(arity)] + rng.integers(
            1, len(target_words) + 1, rng.integers(0 if arity else 1, 3)
        ).tolist()
        rng.shuffle(target)
        rules[tuple(source), tuple(target)] = rng.normal(size=2).round(3)
    sides = sorted(rules)

    def flat(which):
        lengths = [len(r[which]) for r in sides]
        return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), np.array(
            [s for r in sides for s in r[which]], np.int32
        )

    sparse = rng.integers(0, 3, len(sides))
    return GrammarRules(
        Vocabulary.from_words(source_words), Vocabulary.from_words(target_words), *flat(0), *flat(1),
        np.array([rules[r] for r in sides], np.float32), ["a", "b"],
        sparse_offsets=np.concatenate([[0], np.cumsum(sparse > 0)]).astype(np.int64),
        sparse_ids=np.zeros(int((sparse > 0).sum()), np.int32), sparse_values=sparse[sparse > 0].astype(np.float32),
        sparse_names=["DT_X"],
    ).canonical()  # fmt: skip


REVERSE = {"a": 0.5, "b": -1.0, "word-penalty": 0.3, "arity-0": 0.1, "arity-2": -0.4, "DT_X": 0.2, "lm": 9.0}
FORWARD = {"a": 1.0, "b": 0.7}


def naive_score(rule, weights):
    source, target, features, sparse = rule
    score = weights["a"] * features[0] + weights["b"] * features[1]
    score += weights.get("word-penalty", 0) * sum(isinstance(t, str) for t in target)
    score += weights.get(f"arity-{sum(not isinstance(s, str) for s in source)}", 0)
    return score + weights.get("DT_X", 0) * dict(sparse).get(0, 0)


def naive_compose(reverse, forward):
    """Join all pairs of rules whose middle sides are the same but for the numbers of nonterminals."""
    found = []
    for back in rules_of(reverse):
        gaps = [s for s in back[1] if not isinstance(s, str)]
        rename = {gap: -1 - k for k, gap in enumerate(gaps)}
        middle = tuple(rename.get(s, s) for s in back[1])
        restore = {new: old for old, new in rename.items()}
        for on in rules_of(forward):
            if on[0] == middle:
                target = tuple(restore.get(s, s) for s in on[1])
                score = float(np.float32(naive_score(back, REVERSE)))
                found.append(
                    (
                        back[0],
                        target,
                        on[2],
                        on[3],
                        round(score, 5),
                        naive_score(back, REVERSE) + naive_score(on, FORWARD),
                    )
                )
    return found


@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_composed_rules_are_all_pairs_that_fit(seed):
    rng = np.random.default_rng(seed)
    reverse = grammar(rng, ["y1", "y2", "y3"], ["x1", "x2", "x3"])
    forward = grammar(rng, ["x1", "x2", "x4"], ["y1", "y2", "z"])
    wanted = naive_compose(reverse, forward)
    found = imputation.compose(reverse, forward, REVERSE, FORWARD, keep=10_000)
    assert found.feature_names == ["a", "b", "imputed"]
    assert found.sparse_names == ["DT_X"]
    rows = Counter((s, t, f[:2], x, round(f[2], 5)) for s, t, f, x in rules_of(found))
    assert rows == Counter(w[:5] for w in wanted)
    few = imputation.compose(reverse, forward, REVERSE, FORWARD, keep=2)
    best = {}
    for w in wanted:
        best.setdefault(w[0], []).append(w)
    kept = Counter((s, t, f[:2], x, round(f[2], 5)) for s, t, f, x in rules_of(few))
    for source, of in best.items():
        of.sort(key=lambda w: -w[5])
        mine = [row for row in kept.elements() if row[0] == source]
        assert len(mine) == min(2, len(of))
        if len(of) <= 2 or of[1][5] - of[2][5] > 1e-6:
            assert Counter(mine) == Counter(w[:5] for w in of[:2])


def test_grammars_that_do_not_meet_compose_to_nothing():
    rng = np.random.default_rng(0)
    reverse, forward = grammar(rng, ["y"], ["x"], 1), grammar(rng, ["w"], ["y"], 1)
    while (reverse.source < 0).any() or (forward.source < 0).any():
        reverse, forward = grammar(rng, ["y"], ["x"], 1), grammar(rng, ["w"], ["y"], 1)
    assert len(imputation.compose(reverse, forward, REVERSE, FORWARD)) == 0


def test_texts_are_numbered_together():
    vocabulary = Vocabulary.from_words(["a", "b"])
    one = Lines.of(Side(np.array([1, 2, 1], np.int32), np.array([0, 2, 2, 3])), vocabulary)
    two = Lines([b"b", b"c"], np.array([0, 2]))
    side, words = numbered([one, two])
    assert [words.word(t) for t in side.tokens.tolist()] == ["a", "b", "a", "b", "c"]
    assert side.offsets.tolist() == [0, 2, 2, 3, 5]
    assert len(one) == 3
