"""Lattices: the same as sentences where they are one; all paths times all derivations, by enumeration; odd lattices."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from aligntools.formats.translation.plf import EPSILON, Arc, WordLattice, parse_plf
from aligntools.ground.parallel import Pool
from aligntools.translating.decoding.decoder import DecoderSettings
from aligntools.translating.forest import derivations, semirings
from aligntools.translating.forest.hypergraph import edge_scores
from aligntools.translating.lattices import LatticeLines, lattice_lines
from tests import naive_translating as naive
from tests.translating import systems
from tests.translating.test_decoder import LINES, derivations_of, random_system

ALL = DecoderSettings(pop_limit=0)


def random_lattice(rng, nodes=4, silent=0.0):
    """Return a lattice of up to three arcs a node, some of which pass over nodes."""
    made = []
    for k in range(nodes):
        arcs = []
        for _ in range(int(rng.integers(1, 4))):
            word = EPSILON if rng.random() < silent else systems.SOURCE[rng.integers(0, 4)]
            arcs.append(Arc(word, (float(rng.random()),), int(rng.integers(1, min(3, nodes - k + 1)))))
        made.append(tuple(arcs))
    return WordLattice(tuple(made))


def paths(lattice, node=0):
    if node == len(lattice):
        yield (), 0.0
        return
    for arc in lattice.nodes[node]:
        for words, score in paths(lattice, node + arc.steps):
            yield ((arc.word, *words) if arc.word != EPSILON else words), np.log(arc.scores[0]) + score


def distances(lattice):
    """Return the least number of arcs from each node to each, by enumeration of what leads where."""
    n = len(lattice) + 1
    found = np.full((n, n), 99)
    np.fill_diagonal(found, 0)
    for begin, end, _ in sorted(lattice.arcs(), key=lambda arc: -arc[0]):
        found[begin] = np.minimum(found[begin], found[end] + 1)
    return found


def with_arcs(system, weight=1.0):
    return system.for_arcs({"lattice-1": weight})


def encode(system, lattices):
    return system.encode_text(lattice_lines(lattices, 1))


def everything(rules, lattice, lm, order, weight):
    """Return all derivations of all paths with words, with the lattice's feature."""
    found = []
    for words, score in paths(lattice):
        if words:
            own = naive.Enumeration(rules, list(words), 10).derivations(lm, order)
            found += [d._replace(feats=d.feats | {"lattice-1": score}) for d in own]
    return found


def test_a_sentence_is_the_lattice_of_its_words(tmp_path):
    for seed, limit in ((0, 0), (1, 5), (2, 1), (3, 30)):
        settings = DecoderSettings(pop_limit=limit, span_limit=3 + seed, lazy=seed % 2 == 0)
        system, *_ = random_system(seed, 3, tmp_path, settings, sparse=True)
        lines = [*LINES, "", "a b c a b d c b a a b"]
        plain = systems.encode(system, lines)
        lattices = [WordLattice(tuple((Arc(word, (1.0,)),) for word in line.split())) for line in lines]
        other = with_arcs(system)
        as_lattice = encode(other, lattices)
        one, two = system.translate(plain), other.translate(as_lattice)
        assert np.array_equal(one.tokens, two.tokens)
        assert np.array_equal(one.scores, two.scores)
        first, second = system.forest(plain), other.forest(as_lattice)
        for name, array in vars(first).items():
            assert np.array_equal(array, vars(second)[name]), name


@pytest.mark.parametrize("order", [0, 2, 3])
@pytest.mark.parametrize("silent", [0.0, 0.3])
def test_a_lattice_has_all_derivations_of_all_its_paths(order, silent, tmp_path):
    for seed in range(3):
        plain, rules, lm, weights = random_system(seed, order, tmp_path, replace(ALL, lazy=seed % 2 == 0))
        weight = 0.7
        system = with_arcs(plain, weight)
        weights = weights | {"lattice-1": weight}
        rng = np.random.default_rng(seed)
        lattices = [random_lattice(rng, n, silent) for n in (1, 2, 3, 4)]
        lattices = [one for one in lattices if any(words for words, _ in paths(one))]
        sentences = encode(system, lattices)
        found, forest = system.translate(sentences), system.forest(sentences)
        names = system.names(sentences)
        scores = edge_scores(forest, system.weights)
        log_z = semirings.log_partition(forest, semirings.inside(forest, scores)[0])
        lists = derivations.k_best(forest, scores, len(system.features), 5, distinct=False)
        for k, (lattice, words) in enumerate(zip(lattices, systems.decode(system, sentences, found), strict=True)):
            expected = everything(rules, lattice, lm, order, weight)
            top, strings = naive.best(expected, weights)
            assert found.scores[k] == pytest.approx(top, rel=1e-5, abs=1e-4)
            assert words in strings
            values = np.sort([naive.score(d, weights) for d in expected])[::-1]
            assert log_z[k] == pytest.approx(np.logaddexp.reduce(values), rel=1e-5, abs=1e-4)
            own = lists.scores[lists.offsets[k] : lists.offsets[k + 1]]
            assert own == pytest.approx(values[: len(own)], rel=1e-5, abs=1e-4)
            assert len(own) == min(5, len(values))
            if len(expected) < 3000:
                made = derivations_of(forest, forest.roots[k], system)
                key = Counter((d.words, d.rules) for d in expected)
                assert key == Counter((tuple(w.decode() for w in names(d.words)), d.rules) for d in made)
                sums = np.sort([d.feats.get("lattice-1", 0.0) for d in expected])
                assert np.sort([d.feats.get("lattice-1", 0.0) for d in made]) == pytest.approx(sums, rel=1e-4, abs=1e-4)


def test_spans_are_measured_along_the_shortest_path(tmp_path):
    """A rule may match a long way between two nodes if there is a short one, and not otherwise."""
    plain, *_ = random_system(1, 2, tmp_path, DecoderSettings(pop_limit=0, span_limit=2))
    for seed in range(6):
        rng = np.random.default_rng(seed)
        rules = systems.random_rules(rng)
        grammar = systems.as_grammar(rules)
        lattice = random_lattice(rng, 4)
        system = with_arcs(type(plain)(grammar, None, np.zeros(len(plain.features)), plain.settings))
        sentences = encode(system, [lattice])
        forest = system.forest(sentences)
        beta, _ = semirings.inside(forest, np.zeros(forest.edges))
        assert np.exp(semirings.log_partition(forest, beta)[0]) == pytest.approx(count(rules, lattice, 2), rel=1e-6)


def count(rules, lattice, limit):
    """Count derivations of a lattice with spans of X up to ``limit``, by recursion over its nodes."""
    short, last, memory = distances(lattice), len(lattice), {}

    def matched(source, begin, end):
        if not source:
            return float(begin == end)
        if isinstance(source[0], str):
            return sum(
                matched(source[1:], begin + arc.steps, end)
                for arc in (lattice.nodes[begin] if begin < last else ()) if arc.word == source[0]
            )  # fmt: skip
        return sum(x(begin, m) * matched(source[1:], m, end) for m in range(begin + 1, end + 2 - len(source)))

    def x(begin, end):
        if (begin, end) not in memory:
            total = 0.0
            if begin < end and short[begin, end] <= limit:
                total += sum(matched(rule.source, begin, end) for rule in rules if rule.source != (-1,))
                known = {rule.source for rule in rules}
                total += sum((arc.word,) not in known for arc in lattice.nodes[begin] if begin + arc.steps == end)
            memory[begin, end] = total
        return memory[begin, end]

    prefix = [0.0] * (last + 1)
    for j in range(1, last + 1):
        prefix[j] = x(0, j) + sum(prefix[k] * x(k, j) for k in range(1, j))
    return prefix[last]


def test_arcs_without_words_leave_every_path_once():
    for seed in range(40):
        lattice = random_lattice(np.random.default_rng(seed), 5, 0.5)
        lines = lattice_lines([lattice], 1)
        again = [[] for _ in range(int(lines.ends.max(initial=0)))]
        for k, word in enumerate(lines.words):
            steps = int(lines.ends[k] - lines.begins[k])
            again[lines.begins[k]].append(Arc(word.decode(), (float(np.exp(lines.values[k, 0])),), steps))
        expected = sorted((words, score) for words, score in paths(lattice) if words)
        found = sorted(paths(WordLattice(tuple(map(tuple, again))))) if again else []
        assert [words for words, _ in found] == [words for words, _ in expected]
        assert [s for _, s in found] == pytest.approx([s for _, s in expected], rel=1e-4, abs=1e-4)


def test_lattices_without_words_and_other_features(tmp_path):
    system = with_arcs(random_system(1, 3, tmp_path)[0])
    lattices = [parse_plf(line) for line in ("()", "((('*EPS*',1,1),),)", "((('a',1,1),('*EPS*',0.5,1),),)")]
    sentences = encode(system, lattices)
    found = system.translate(sentences)
    lengths = np.diff(found.offsets).tolist()
    assert lengths[:2] == [0, 0]
    assert lengths[2] > 0
    assert system.forest(sentences).roots[:2].tolist() == [-1, -1]
    system, *_ = random_system(1, 0, tmp_path)
    with pytest.raises(ValueError, match="features"):
        system.encode_text(lattice_lines([parse_plf("((('a',1,1),),)")], 1))


def test_neither_threads_nor_parts_change_what_is_found(tmp_path):
    system = with_arcs(random_system(3, 3, tmp_path, DecoderSettings(pop_limit=20))[0])
    rng = np.random.default_rng(5)
    lattices = [random_lattice(rng, int(n), 0.2) for n in rng.integers(1, 7, 30)]
    sentences = encode(system, lattices)
    one = system.translate(sentences)
    with Pool(3) as pool:
        many = system.translate(sentences, pool)
    assert np.array_equal(one.tokens, many.tokens)
    assert np.array_equal(one.scores, many.scores)
    parts = [system.translate(sentences.part(k, k + 10)).tokens for k in (0, 10, 20)]
    assert np.array_equal(one.tokens, np.concatenate(parts))


def test_pairs_and_least_scores():
    lattice = parse_plf("((('a',1,1),('b',1,2),),(('c',1,1),),(('d',1,1),),)")
    side, vocabulary = lattice_lines([lattice], 1).pairs
    names = ["", *vocabulary.words()] if vocabulary.words()[0] else list(vocabulary.words())
    rows = {tuple(names[t] for t in side.tokens[a:b]) for a, b in zip(side.offsets, side.offsets[1:], strict=False)}
    assert rows == {("a",), ("b",), ("c",), ("d",), ("a", "c"), ("c", "d"), ("b", "d")}
    lines = lattice_lines([parse_plf("((('a',0,1),('b',1e-60,x=2,1),),)")], 1, ["x"])
    assert lines.values[:, 0].tolist() == [-100.0, -100.0]
    assert lines.values[:, 1].tolist() == [0.0, 2.0]
    assert lines.names == ("lattice-1", "lattice-x")
    assert isinstance(lines, LatticeLines)


def test_room_is_made_for_large_lattices(tmp_path):
    """Arrays that are far too small at first change nothing."""
    system = with_arcs(random_system(2, 2, tmp_path, DecoderSettings(pop_limit=30, span_limit=12))[0])
    rng = np.random.default_rng(1)
    lattice = WordLattice(tuple(tuple(Arc(w, (rng.random(),)) for w in "abcd") for _ in range(12)))
    sentences = encode(system, [lattice])
    found, forest = system.translate(sentences), system.forest(sentences)
    workspace = system._prepared.take_workspace()
    workspace._sizes = dict.fromkeys(workspace._sizes, 16)
    for what in workspace._sizes:
        workspace._make(what)
    system._prepared.workspaces = [workspace]
    again = system.translate(sentences)
    assert np.array_equal(found.tokens, again.tokens)
    assert np.array_equal(found.scores, again.scores)
    for name, array in vars(system.forest(sentences)).items():
        assert np.array_equal(array, vars(forest)[name]), name
    assert min(workspace._sizes.values()) > 16
