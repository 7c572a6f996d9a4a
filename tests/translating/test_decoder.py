"""The decoder finds what enumeration finds; the beam's cost and its errors; any number of threads; odd sentences."""

from collections import Counter

import numpy as np
import pytest

from aligntools.ground.parallel import Pool
from aligntools.translating.decoding.decoder import DecoderSettings, System
from aligntools.translating.decoding.system_tables import feature_names
from tests import naive_translating as naive
from tests.translating import systems

ALL = DecoderSettings(pop_limit=0)
LINES = ["a b c", "b a", "c", "a a b c", "d b", "d d", "c a d b"]


def random_system(seed, order, tmp_path, settings=ALL, sparse=False):
    """Return (system, rules, model as a dict or None, weights)."""
    rng = np.random.default_rng(seed)
    rules = systems.random_rules(rng)
    extra = None
    if sparse:
        extra = [{f"s{k}": float(rng.integers(1, 3)) for k in rng.choice(4, rng.integers(0, 3), False)} for _ in rules]
        rules = [rule._replace(features=rule.features | more) for rule, more in zip(rules, extra, strict=True)]
    grammar = systems.as_grammar(rules, extra)
    lm = systems.random_lm(rng, order) if order else None
    model = systems.as_lm(lm, order, tmp_path / f"{seed}.{order}.arpa") if order else None
    weights = systems.random_weights(rng, feature_names(grammar))
    return System(grammar, model, weights, settings), rules, lm, weights


def all_derivations(rules, line, lm, order, span_limit=10):
    return naive.Enumeration(rules, line.split(), span_limit).derivations(lm, order)


@pytest.mark.parametrize("order", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("lazy", [True, False])
def test_without_a_limit_it_finds_what_enumeration_finds(order, lazy, tmp_path):
    for seed in range(6):
        settings = DecoderSettings(pop_limit=0, lazy=lazy)
        system, rules, lm, weights = random_system(seed, order, tmp_path, settings, sparse=seed % 2 == 1)
        sentences = systems.encode(system, LINES)
        found = system.translate(sentences)
        for line, words, score in zip(LINES, systems.decode(system, sentences, found), found.scores, strict=True):
            top, strings = naive.best(all_derivations(rules, line, lm, order), weights)
            assert score == pytest.approx(top, rel=1e-5, abs=1e-4)
            assert words in strings


def derivations_of(h, node, system):
    """Return (words, features, rules) of every derivation of a node, as counters of what enumeration makes."""
    found = []
    for e in range(h.edge_offsets[node], h.edge_offsets[node + 1]):
        span = slice(h.feature_offsets[e], h.feature_offsets[e + 1])
        local = {
            system.features[k]: float(v)
            for k, v in zip(h.feature_ids[span], h.feature_values[span], strict=True)
        }  # fmt: skip
        ways = [()]
        for tail in h.tails[e]:
            if tail >= 0:
                ways = [(*way, d) for way in ways for d in derivations_of(h, tail, system)]
        target = h.words[h.word_offsets[e] : h.word_offsets[e + 1]]
        for way in ways:
            words = []
            for symbol in target:
                words += [symbol] if symbol > 0 else way[-symbol - 1].words
            rules = [int(h.rules[e])] if h.rules[e] >= -1 else []
            rules += [r for d in way for r in d.rules]
            found.append(naive.Derivation(words, naive.add(local, *(d.feats for d in way)), tuple(sorted(rules))))
    return found


@pytest.mark.parametrize("order", [0, 2, 4])
@pytest.mark.parametrize("full", [True, False])
def test_the_hypergraph_holds_every_derivation_with_its_features(order, full, tmp_path):
    for seed in range(3):
        settings = DecoderSettings(pop_limit=0, full_states=full)
        system, rules, lm, weights = random_system(seed, order, tmp_path, settings, sparse=True)
        sentences = systems.encode(system, [*LINES, ""])
        forest = system.forest(sentences)
        names = system.names(sentences)
        assert forest.roots[-1] == -1
        for line, root in zip(LINES, forest.roots, strict=False):
            expected = all_derivations(rules, line, lm, order)
            found = derivations_of(forest, root, system)
            key = Counter((d.words, d.rules) for d in expected)
            assert key == Counter((tuple(w.decode() for w in names(d.words)), d.rules) for d in found)
            scores = np.sort([naive.score(d, weights) for d in expected])
            assert np.sort([naive.score(d, weights) for d in found]) == pytest.approx(scores, rel=1e-5, abs=1e-4)
            for name in system.features:
                totals = np.sort([d.feats.get(name, 0) for d in expected])
                if order or "lm" not in name:
                    assert np.sort([d.feats.get(name, 0) for d in found]) == pytest.approx(totals, rel=1e-5, abs=1e-4)


def test_nodes_of_the_hypergraph_know_their_first_and_last_words(tmp_path):
    system, *_ = random_system(1, 3, tmp_path)
    sentences = systems.encode(system, LINES)
    h = system.forest(sentences)
    roots = set(h.roots.tolist())
    for node in range(h.nodes):
        for d in derivations_of(h, node, system) if node not in roots else ():
            words = [int(w) for w in d.words]
            assert h.lengths[node] == min(len(words), 4)
            assert h.left[node].tolist() == (words[:4] + [0] * 4)[:4]
            assert h.right[node].tolist() == ([0] * 4 + words)[-4:]


def test_limits_unknown_words_and_long_sentences(tmp_path):
    for seed in range(4):
        system, rules, lm, weights = random_system(seed, 3, tmp_path, DecoderSettings(pop_limit=0, span_limit=2))
        sentences = systems.encode(system, LINES)
        found = system.translate(sentences)
        for line, score in zip(LINES, found.scores, strict=True):
            top, _ = naive.best(all_derivations(rules, line, lm, 3, 2), weights)
            assert score == pytest.approx(top, rel=1e-5, abs=1e-4)
    system, *_ = random_system(2, 3, tmp_path, DecoderSettings())
    sentences = systems.encode(system, ["zwölf zz", "", "zz", "z " * 3])
    found = system.translate(sentences)
    assert systems.decode(system, sentences, found) == [("zwölf", "zz"), (), ("zz",), ("z",) * 3]
    assert found.scores[1] == 0
    forest = system.forest(sentences)
    assert forest.roots[1] == -1
    system, *_ = random_system(5, 3, tmp_path, DecoderSettings(pop_limit=10))
    for length in (200, 1500):
        sentences = systems.encode(system, ["a b zz c " * (length // 4)])
        found = system.translate(sentences)
        assert systems.decode(system, sentences, found)[0].count("zz") == length // 4
    forest = system.forest(systems.encode(system, ["a b zz c " * 50]))


@pytest.mark.parametrize("lazy", [True, False])
def test_a_larger_beam_costs_more_and_errs_less(lazy, tmp_path):
    """Search error against exhaustive search, and items taken, by pop limit."""
    limits = (1, 3, 10, 50, 0)
    totals, taken = np.zeros(len(limits)), np.zeros(len(limits))
    for seed in range(8):
        system, *_ = random_system(seed, 3, tmp_path, DecoderSettings(lazy=lazy))
        sentences = systems.encode(system, ["a b c a b", "c b a c b a", "b b a c"])
        scores = []
        for k, limit in enumerate(limits):
            limited = system.with_settings(pop_limit=limit)
            scores.append(limited.translate(sentences).scores)
            taken[k] += limited.forest(sentences).edges
            totals[k] += scores[-1].sum()
        assert np.all(scores[-1] >= np.max(scores, 0) - 1e-9), "no beam is better than everything"
    assert np.all(np.diff(taken) > 0)
    assert totals[0] < totals[-1] - 1, "a beam of one item must lose something here"
    assert np.all(np.diff(totals) > -1e-9)
    assert totals[-2] > totals[-1] - 0.05 * (totals[-1] - totals[0])


def test_any_number_of_threads_and_both_ways_to_the_best(tmp_path):
    system, *_ = random_system(3, 4, tmp_path, DecoderSettings(pop_limit=5))
    rng = np.random.default_rng(0)
    lines = [" ".join(rng.choice(list("abcdz"), n)) for n in rng.integers(0, 30, 60)]
    sentences = systems.encode(system, lines)
    found = system.translate(sentences)
    forest = system.forest(sentences)
    with Pool(3) as pool:
        again, forest_again = system.translate(sentences, pool), system.forest(sentences, pool)
    for name in ("tokens", "offsets", "scores"):
        assert np.array_equal(getattr(found, name), getattr(again, name))
    for name, array in vars(forest).items():
        assert np.array_equal(array, getattr(forest_again, name)), name
    whole = system.with_settings(full_states=False).forest(sentences)
    from aligntools.translating.forest.hypergraph import edge_scores

    scores = edge_scores(whole, system.weights)
    inside = np.full(whole.nodes, -np.inf)
    for v in range(whole.nodes):
        for e in range(whole.edge_offsets[v], whole.edge_offsets[v + 1]):
            inside[v] = max(inside[v], scores[e] + sum(inside[t] for t in whole.tails[e] if t >= 0))
    tops = [inside[r] if r >= 0 else 0.0 for r in whole.roots]
    assert found.scores == pytest.approx(tops, rel=1e-5, abs=1e-4)


def test_other_weights_and_references(tmp_path):
    system, rules, lm, _weights = random_system(4, 3, tmp_path)
    rng = np.random.default_rng(9)
    other = systems.random_weights(rng, system.features)
    sentences = systems.encode(system, LINES)
    before = system.translate(sentences).scores
    found = system.with_weights(other).translate(sentences)
    for line, score in zip(LINES, found.scores, strict=True):
        top, _ = naive.best(all_derivations(rules, line, lm, 3), other)
        assert score == pytest.approx(top, rel=1e-5, abs=1e-4)
    assert np.array_equal(system.translate(sentences).scores, before)
    with pytest.raises(ValueError, match="weights for"):
        system.with_weights(np.zeros(3))
    system, *_ = random_system(4, 2, tmp_path)
    sentences = systems.encode(system, ["a zz yy"])
    ids = system.encode_target([b"A", b"zz", b"other", b"yy", b"other", b"more"], sentences)
    size = len(system.grammar.target_vocabulary)
    extra = [size + sentences.extra.index(w) for w in (b"zz", b"yy")]
    assert ids[[1, 3]].tolist() == extra
    assert ids[0] == system.grammar.target_vocabulary.id("A")
    assert ids[2] == ids[4] >= size + len(sentences.extra)
    assert ids[5] not in ids[:5]
