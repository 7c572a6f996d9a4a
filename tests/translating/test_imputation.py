"""Imputed sources against the list of all derivations."""

import itertools
import math
from collections import Counter, defaultdict, namedtuple
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from aligntools.formats.annotation.tagged_text import Tokens
from aligntools.formats.inputs.sentences import numbered, tokens_of_side
from aligntools.formats.text.corpus import Side
from aligntools.ground.errors import DataError
from aligntools.translating.decoding.decoder import DecoderSettings, System
from aligntools.translating.decoding.system_tables import feature_names
from aligntools.translating.forest import semirings
from aligntools.translating.forest.hypergraph import edge_scores
from aligntools.translating.settings import ImputationSettings
from aligntools.translating.tuning import imputed_lattices, learning
from aligntools.translating.tuning.round_trips import fitting, round_trips, source_sides, tree_symbol
from aligntools.words.vocabulary import Vocabulary
from tests import naive_hypergraph as naive
from tests import naive_translating as slow
from tests.translating import systems
from tests.translating.making import FEATURES, arrays, forest, scored
from tests.translating.test_decoder import derivations_of

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
    one = tokens_of_side(Side(np.array([1, 2, 1], np.int32), np.array([0, 2, 2, 3])), vocabulary)
    two = Tokens([b"b", b"c"], np.array([0, 2]))
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
    text = Tokens([b"a", b"b", b"c"], np.array([0, 1, 1, 3]), name="mono")
    system = mock.Mock(weights=weights, forest=lambda *_: whole)
    with pytest.raises(DataError, match=r"mono:3: the lattice of 2 words takes more memory than there is"):
        learning.impute_text(system, text, ImputationSettings(impute="lattice"))


ALL = DecoderSettings(pop_limit=0)
Trips = namedtuple("Trips", "rules trees groups shares")
LINES = ["a b c", "b a", "d c", "", "a a b c", "c a b"]


def inverted(rules, rng):
    """Return rules the other way round, with new features; some are left out, and some have a second target side."""
    found = {}
    for rule in rules:
        gaps = [s for s in rule.target if not isinstance(s, str)]
        new = {gap: -1 - k for k, gap in enumerate(gaps)}
        source = tuple(new.get(s, s) for s in rule.target)
        for more in [(), ("d",)][: int(rng.integers(0, 3))]:
            target = tuple(new.get(s, s) for s in rule.source) + more
            found[source, target] = {n: float(np.float32(-rng.random() * 3)) for n in systems.NAMES}
    if rng.random() < 0.5:  # for words that the reverse system passes through
        found[("a",), ("b",)] = found[("a",), ("c", "a")] = dict.fromkeys(systems.NAMES, -1.0)
    made = [slow.Rule(source, target, features) for (source, target), features in found.items()]
    return sorted(made, key=lambda rule: [str(s) for s in rule.source])


def as_inverse_grammar(rules):
    """Return the grammar of rules from `systems.TARGET` to `systems.SOURCE`."""
    exchanged = systems.as_grammar([slow.Rule(r.target, r.source, r.features) for r in rules])
    return type(exchanged)(
        Vocabulary.from_words(systems.TARGET), Vocabulary.from_words(systems.SOURCE), exchanged.target_offsets,
        exchanged.target, exchanged.source_offsets, exchanged.source, exchanged.features, systems.NAMES,
    )  # fmt: skip


class Trees(slow.Enumeration):
    """Enumeration whose derivations keep their rules in pre-order: numbers, or a word that is passed through."""

    def apply(self, number, rule, parts):
        for way in itertools.product(*parts):
            plain = [[d._replace(rules=())] for d in way]
            for one in super().apply(number, rule, plain):
                yield one._replace(rules=(number, *(r for d in way for r in d.rules)))

    def x(self, begin, end):
        found = super().x(begin, end)
        return [d._replace(rules=(self.words[begin],)) if d.rules == (-1,) else d for d in found]

    def s(self, end):
        found = [slow.Derivation(d.words, slow.add(d.feats, {"glue-unary": 1}), d.rules) for d in self.x(0, end)]
        for middle in range(1, end):
            for a, b in itertools.product(self.s(middle), self.x(middle, end)):
                feats = slow.add(a.feats, b.feats, {"glue-binary": 1})
                found.append(slow.Derivation(a.words + b.words, feats, a.rules + b.rules))
        return found


def fits(back, on):
    """Tell whether a forward rule translates the target side of a reverse one; return the order of its nonterminals."""
    gaps = [s for s in back.target if not isinstance(s, str)]
    return tuple({gap: -1 - k for k, gap in enumerate(gaps)}.get(s, s) for s in back.target) == on.source, gaps


def translations(tree, reverse, forward):
    """Yield (words, features) of every forward derivation that is isomorphic to a tree, glue included."""

    def parse(at):
        """Yield the derivations of the subtree at ``at``; all of them end at the same place."""
        symbol = tree[at]
        if isinstance(symbol, str):
            alone = [r for r in forward if r.source == (symbol,)]
            whole = [(r.target, slow.add(r.features, {"word-penalty": len(r.target), "arity-0": 1})) for r in alone]
            return whole or [((symbol,), {"unknown": 1, "word-penalty": 1})], at + 1
        back, at = reverse[symbol], at + 1
        below = []
        for _ in range(sum(not isinstance(s, str) for s in back.source)):
            ways, at = parse(at)
            below.append(ways)
        found = []
        for on in forward:
            same, gaps = fits(back, on)
            if not same:
                continue
            own = {"word-penalty": sum(isinstance(s, str) for s in on.target), f"arity-{len(gaps)}": 1}
            for way in itertools.product(*below):
                words = []
                for s in on.target:  # nonterminal n of the forward rule is nonterminal gaps[n] of the reverse one
                    words += [s] if isinstance(s, str) else way[-gaps[-s - 1] - 1][0]
                found.append((tuple(words), slow.add(on.features, own, *(feats for _, feats in way))))
        return found, at

    at, whole = 0, [((), {})]
    while at < len(tree):
        ways, end = parse(at)
        glue = {"glue-binary" if at else "glue-unary": 1}
        whole = [(a + b, slow.add(f, g, glue)) for (a, f), (b, g) in itertools.product(whole, ways)]
        at = end
    return whole


@pytest.mark.parametrize("order", [0, 3])
def test_trees_and_their_translations_are_what_enumeration_finds(order, tmp_path):
    seen, unfit = Counter(), 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        reverse = systems.random_rules(rng, 8)
        forward = inverted(reverse, rng)
        grammar, backward = as_inverse_grammar(forward), systems.as_grammar(reverse)
        weights = systems.random_weights(rng, feature_names(backward))
        system = System(backward, None, weights, ALL)
        sentences = systems.encode(system, LINES)
        passed = sentences.extra
        trips = Trips(*round_trips(system.forest(sentences), system.weights, backward, grammar, 3, 0.7, passed))
        fitted = {k for k, back in enumerate(reverse) if any(fits(back, on)[0] for on in forward)}
        expected = []  # (sentence, tree, score), the best of each string
        for number, line in enumerate(LINES):
            best = {}
            for d in Trees(reverse, line.split(), 10).derivations() if line else []:
                if all(isinstance(r, str) or r in fitted for r in d.rules):
                    value = 0.7 * slow.score(d, weights)
                    best[d.words] = max(best.get(d.words, (-math.inf, ())), (value, d.rules))
                else:
                    unfit += 1
            expected += [(number, tree, value) for value, tree in sorted(best.values(), reverse=True)[:3]]
        trees = [tuple(trips.trees.words[a:b]) for a, b in itertools.pairwise(trips.trees.offsets)]
        written = [tuple(tree_symbol(r) if isinstance(r, int) else r.encode() for r in tree) for _, tree, _ in expected]
        assert (trips.groups.tolist(), trees) == ([n for n, *_ in expected], written)
        totals = Counter()
        for number, _, value in expected:
            totals[number] += math.exp(value)
        assert trips.shares == pytest.approx([math.exp(v) / totals[n] for n, _, v in expected], rel=1e-4)
        if not trees:
            continue
        _check_translations(trips, expected, reverse, forward, order, rng, tmp_path)
        seen.update(len(tree) for tree in trees)
        seen["passed"] += sum(b"a" in tree and ("a",) in {r.source for r in forward} for tree in trees)
    assert unfit > 20
    assert seen.pop("passed") > 3
    assert max(seen) > 2
    assert sum(seen.values()) > 40


def _check_translations(trips, expected, reverse, forward, order, rng, tmp_path):
    """Check the forest of each tree against all its translations: strings, features and their number."""
    lm = systems.random_lm(rng, order, ("a", "b", "c")) if order else None
    model = systems.as_lm(lm, order, tmp_path / f"{order}.arpa") if order else None
    names = feature_names(trips.rules)
    assert names == ["lm", *systems.NAMES, *names[3:]]
    settings = DecoderSettings(
        pop_limit=0, span_limit=int(np.diff(trips.trees.offsets).max(initial=1)), pass_known=False
    )
    composed = System(trips.rules, model, systems.random_weights(rng, names), settings)
    sentences = composed.encode(trips.trees.words, trips.trees.offsets)
    forest, name = composed.forest(sentences), composed.names(sentences)
    for root, (_, tree, _) in zip(forest.roots, expected, strict=True):
        wanted = []
        for words, feats in translations(tree, reverse, forward):
            more = {}
            if lm is not None:
                more = {"lm": slow.lm_score(lm, order, words), "lm-unknown": sum((w,) not in lm for w in words)}
            wanted.append((words, slow.score(slow.Derivation(words, feats | more, ()), NUMBERED)))
        found = [
            (tuple(w.decode() for w in name(d.words)), slow.score(d, NUMBERED))
            for d in derivations_of(forest, root, composed)
        ]
        assert Counter(w for w, _ in found) == Counter(w for w, _ in wanted)
        assert np.sort([v for _, v in found]) == pytest.approx(np.sort([v for _, v in wanted]), rel=1e-5, abs=1e-4)


#: A weight for each feature, all different, so that sums tell features apart.
NUMBERED = {
    name: 1 + 0.37 * k
    for k, name in enumerate(
        ["lm", *systems.NAMES, "word-penalty", "arity-0", "arity-1", "arity-2", "glue-unary", "glue-binary", "unknown",
         "lm-unknown"]
    )
}  # fmt: skip


def test_grammars_that_do_not_meet_and_source_sides():
    rng = np.random.default_rng(0)
    rules = systems.random_rules(rng, 4)
    backward, forward = (
        systems.as_grammar(rules),
        as_inverse_grammar([slow.Rule(("D", "D"), ("a",), rules[0].features)]),
    )
    assert len(fitting(backward, forward)[0]) == 0
    system = System(backward, None, [0.0] * len(feature_names(backward)), ALL)
    sentences = systems.encode(system, ["a b"])
    _, trees, _, shares = round_trips(
        system.forest(sentences), system.weights, backward, forward, 2, passed=sentences.extra
    )
    assert not any(w.startswith(b"[X") for w in trees.words)
    assert len(trees) == len(shares)
    rules = [slow.Rule(("a", -1), (-1, "B"), {n: 0.0 for n in systems.NAMES})]
    sides = source_sides(systems.as_grammar(rules))
    assert sides.words == [tree_symbol(0), b"B"]
    assert sides.offsets.tolist() == [0, 2]
