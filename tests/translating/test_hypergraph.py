"""Derivations of hypergraphs against the list of all of them."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.translation import derivations as files
from aligntools.ground.parallel import Pool
from aligntools.translating.forest import derivations, hypergraph, semirings
from aligntools.translating.forest.hypergraph import united
from tests import naive_hypergraph as naive
from tests.translating.making import FEATURES, WORDS, arrays, dense, forest, scored

SEEDS = st.integers(0, 10_000)


def make(seed, sentences=3):
    """Return a hypergraph of random sentences, a blank one among them, scores, and each one's derivations."""
    rng = np.random.default_rng(seed)
    made = [forest(rng) for _ in range(sentences)]
    made.insert(1, None)
    weights = rng.normal(size=FEATURES)
    h = arrays(made)
    lists = [naive.derivations(scored(m[0], weights), len(m[0]) - 1) if m else [] for m in made]
    return h, hypergraph.edge_scores(h, weights), lists


def rows(candidates, s):
    """Return words, features and scores of a sentence's candidates."""
    found = []
    for c in range(*candidates.offsets[[s, s + 1]]):
        a, b = candidates.word_offsets[[c, c + 1]]
        i, j = candidates.feature_offsets[[c, c + 1]]
        ids, values = candidates.feature_ids[i:j], candidates.feature_values[i:j]
        assert np.all(np.diff(ids) > 0)
        found.append(
            (
                candidates.words[a:b].tolist(),
                dict(zip(ids.tolist(), values.tolist(), strict=True)),
                candidates.scores[c],
            )
        )
    return found


def same_features(found, derivation):
    wanted = naive.features(derivation)
    return all(found.get(f, 0.0) == pytest.approx(wanted[f], abs=1e-5) for f in range(FEATURES))


@given(SEEDS)
def test_the_best_derivation(seed):
    h, scores, lists = make(seed)
    found = derivations.best(h, scores, FEATURES)
    for s, every in enumerate(lists):
        of = rows(found, s)
        assert len(of) == (len(every) > 0)
        if of:
            words, features, score = of[0]
            assert score == pytest.approx(max(map(naive.score, every)), abs=1e-9)
            near = [d for d in every if naive.score(d) > score - 1e-9]
            assert any(d.words == words and same_features(features, d) for d in near)


@given(SEEDS, st.sampled_from([1, 2, 5, 30, 10_000]))
def test_k_best_derivations_are_the_first_of_all(seed, k):
    h, scores, lists = make(seed)
    found = derivations.k_best(h, scores, FEATURES, k, distinct=False)
    for s, every in enumerate(lists):
        ranked = sorted(map(naive.score, every), reverse=True)[:k]
        of = rows(found, s)
        assert [x[2] for x in of] == pytest.approx(ranked, abs=1e-9)
        for words, features, score in of:
            assert any(
                d.words == words and same_features(features, d) for d in every if abs(naive.score(d) - score) < 1e-9
            )


@given(SEEDS, st.sampled_from([2, 3, 20, 10_000]))
def test_k_best_strings_are_distinct_and_each_has_its_best_score(seed, k):
    h, scores, lists = make(seed)
    found = derivations.k_best(h, scores, FEATURES, k)
    for s, every in enumerate(lists):
        by_words = {}
        for d in every:
            key = tuple(d.words)
            by_words[key] = max(by_words.get(key, -np.inf), naive.score(d))
        of = rows(found, s)
        assert len({tuple(x[0]) for x in of}) == len(of)
        assert [x[2] for x in of] == pytest.approx(sorted(by_words.values(), reverse=True)[:k], abs=1e-9)
        for words, _, score in of:
            assert by_words[tuple(words)] == pytest.approx(score, abs=1e-9)


def test_a_search_that_runs_out_of_rows_begins_anew_with_more(monkeypatch):
    h, scores, _ = make(7)
    wanted = derivations.k_best(h, scores, FEATURES, 50, distinct=False)
    reserve = derivations._Search._reserve
    asked = []

    def little(self, rows):
        asked.append(rows)
        reserve(self, rows if self.room else int(np.diff(h.node_offsets).max()))

    monkeypatch.setattr(derivations._Search, "_reserve", little)
    found = derivations.k_best(h, scores, FEATURES, 50, distinct=False)
    assert len(asked) > len(h)
    assert all(np.array_equal(a, b) for a, b in zip(vars(found).values(), vars(wanted).values(), strict=True))
    monkeypatch.setattr(derivations, "MOST_ROWS", 0)
    cut = derivations.k_best(h, scores, FEATURES, 50, distinct=False)
    assert 0 < cut.count < wanted.count
    for s in range(len(h)):
        assert rows(cut, s) == rows(wanted, s)[: len(rows(cut, s))]


def test_samples_come_as_often_as_their_probability_says():
    h, scores, lists = make(3, sentences=2)
    count = 4000
    found = derivations.samples(h, scores, FEATURES, count, seed=5)
    for s, every in enumerate(lists):
        wanted = {}
        for p, d in zip(naive.probabilities(every) if every else [], every, strict=True):
            wanted[tuple(d.words)] = wanted.get(tuple(d.words), 0.0) + p
        drawn = {}
        for words, _, _ in rows(found, s):
            drawn[tuple(words)] = drawn.get(tuple(words), 0) + 1
        assert set(drawn) <= set(wanted)
        for words, p in wanted.items():
            assert abs(drawn.get(words, 0) / count - p) < 5 * np.sqrt(p * (1 - p) / count) + 1e-9
    again = derivations.samples(h, scores, FEATURES, 10, seed=5)
    assert np.array_equal(again.words, derivations.samples(h, scores, FEATURES, 10, seed=5).words)
    assert not np.array_equal(again.words, derivations.samples(h, scores, FEATURES, 10, seed=6).words)


def test_threads_and_parts():
    rng = np.random.default_rng(0)
    h = arrays([forest(rng) for _ in range(60)])
    scores = rng.normal(size=h.edges)
    with Pool(3) as pool:
        for work in (
            lambda pool: derivations.k_best(h, scores, FEATURES, 5, pool=pool),
            lambda pool: derivations.samples(h, scores, FEATURES, 3, 1, pool),
        ):
            one, three = vars(work(None)), vars(work(pool))
            assert all(one[name].tobytes() == three[name].tobytes() for name in one)
    h, scores, _ = make(11)
    parts = [h.part(0, 2), h.part(2, 3), h.part(3, 4)]
    joined = hypergraph.join(parts)
    for name, dtype in hypergraph._TYPES.items():
        assert np.array_equal(getattr(joined, name), getattr(h, name))
        assert getattr(joined, name).dtype == dtype
    assert len(hypergraph.join([])) == 0
    first = derivations.best(h.part(2, 3), scores[h.edge_offsets[h.node_offsets[2]] :], FEATURES)
    assert np.array_equal(first.words, derivations.best(h, scores, FEATURES).sentences([2]).words)


def test_united_hypergraphs_have_the_derivations_of_both():
    rng = np.random.default_rng(3)
    made = [[forest(rng), None, forest(rng), None], [forest(rng), forest(rng), None, None]]
    one, two = map(arrays, made)
    both = united(one, two)
    weights = rng.normal(size=FEATURES)
    every = [
        derivations.k_best(h, hypergraph.edge_scores(h, weights), FEATURES, 10_000, distinct=False)
        for h in (one, two, both)
    ]
    for s in range(4):
        parts, whole = [rows(c, s) for c in every[:2]], rows(every[2], s)
        assert sorted(map(str, (x[:2] for x in [*parts[0], *parts[1]]))) == sorted(map(str, (x[:2] for x in whole)))
        found, wanted = ([x[2] for x in of] for of in (whole, sorted(parts[0] + parts[1], key=lambda x: -x[2])))
        assert found == pytest.approx(wanted)
    assert both.roots[3] == -1
    assert len(united(arrays([]), arrays([]))) == 0


def test_merged_lists_hold_each_candidate_once_by_sentence():
    h, scores, _ = make(5)
    every = derivations.k_best(h, scores, FEATURES, 10_000, distinct=False)
    few, others = (derivations.k_best(h, x, FEATURES, 3, distinct=False) for x in (scores, -scores))
    merged = few.merged(others, few)

    def keys(c, s):
        return [(tuple(w), tuple(sorted((f, round(v, 3)) for f, v in x.items()))) for w, x, _ in rows(c, s)]

    for s in range(len(h)):
        found, first = keys(merged, s), keys(few, s)
        assert set(found) == set(first) | set(keys(others, s))
        assert len(found) == len(set(found))
        assert found[: len(first)] == list(dict.fromkeys(first))
    assert every.merged(merged).count == every.merged().count
    order = merged.sentences([2, 0])
    assert rows(order, 0) == rows(merged, 2)
    assert rows(order, 1) == rows(merged, 0)


def test_candidates_as_a_hypergraph_have_the_same_sums():
    h, scores, _ = make(9)
    every = derivations.k_best(h, scores, FEATURES, 10_000, distinct=False)
    flat = every.hypergraph()
    beta, _ = semirings.inside(flat, every.scores)
    wanted, _ = semirings.inside(h, scores)
    assert semirings.log_partition(flat, beta) == pytest.approx(semirings.log_partition(h, wanted))
    vectors = dense(every, FEATURES)
    assert vectors.shape == (every.count, FEATURES)
    weights = np.arange(1.0, FEATURES + 1)
    assert vectors @ weights == pytest.approx(hypergraph.edge_scores(flat, weights))


def semiring_forest(seed):
    rng = np.random.default_rng(seed)
    made = [forest(rng), None, forest(rng)]
    weights, gamma = rng.normal(size=FEATURES), float(rng.uniform(0.3, 2))
    h = arrays(made)
    rewards = rng.normal(size=h.edges)
    first = 0
    lists = []
    for m in made:
        of = scored(m[0], weights, gamma) if m else []
        of = [[e._replace(number=e.number + first) for e in edges] for edges in of]
        first += sum(map(len, of))
        lists.append(naive.derivations(of, len(of) - 1) if of else [])
    return h, weights, gamma, rewards, lists


@given(SEEDS)
def test_sums_equal_enumeration(seed):
    h, weights, gamma, rewards, lists = semiring_forest(seed)
    scores = hypergraph.edge_scores(h, weights, gamma)
    beta, conditional = semirings.inside(h, scores)
    posterior = semirings.posteriors(h, beta, conditional)
    values, slopes = semirings.expectations(h, conditional, posterior, rewards)
    entropies = semirings.expectations(h, conditional, posterior, semirings.surprisals(h, conditional))[0]
    found = semirings.log_partition(h, beta)
    wanted = np.zeros(h.edges)
    gradient, mean = np.zeros(FEATURES), np.zeros(FEATURES)

    def reward(d):
        return sum(rewards[e.number] for e in d.edges)

    for s, every in enumerate(lists):
        if not every:
            assert (found[s], values[s], entropies[s]) == (-np.inf, 0, 0)
            continue
        assert found[s] == pytest.approx(naive.log_z(every), abs=1e-9)
        assert values[s] == pytest.approx(naive.expected(every, reward), abs=1e-9)
        assert entropies[s] == pytest.approx(naive.entropy(every), abs=1e-9)
        wanted += naive.posteriors(every, h.edges)
        for f in range(FEATURES):
            covariance = naive.covariance(every, reward, f)
            gradient[f] += covariance
            mean[f] += naive.expected(every, lambda d, f=f: naive.features(d)[f])
    assert posterior == pytest.approx(wanted, abs=1e-9)
    assert semirings.feature_sums(h, slopes, FEATURES) == pytest.approx(gradient, abs=1e-9)
    assert semirings.feature_sums(h, posterior, FEATURES) == pytest.approx(mean, abs=1e-9)


def test_odd_nodes_and_threads():
    h, _, _, rewards, _ = semiring_forest(1)
    scores = np.zeros(h.edges)
    scores[: h.edge_offsets[h.node_offsets[1]]] = -np.inf
    beta, conditional = semirings.inside(h, scores)
    posterior = semirings.posteriors(h, beta, conditional)
    values, slopes = semirings.expectations(h, conditional, posterior, rewards)
    assert semirings.log_partition(h, beta)[0] == -np.inf
    assert np.isfinite(values).all()
    assert np.isfinite(slopes).all()
    assert values[0] == 0
    assert derivations.k_best(h, scores, FEATURES, 3).offsets[1] == 0
    assert derivations.samples(h, scores, FEATURES, 3, 1).offsets[1] == 0
    rng = np.random.default_rng(0)
    h = arrays([forest(rng) for _ in range(60)])
    scores, rewards = rng.normal(size=h.edges), rng.normal(size=h.edges)
    with Pool(3) as pool:

        def work(pool):
            beta, conditional = semirings.inside(h, scores, pool)
            posterior = semirings.posteriors(h, beta, conditional, pool=pool)
            values, slopes = semirings.expectations(h, conditional, posterior, rewards, pool)
            return [beta, posterior, values, semirings.feature_sums(h, slopes, FEATURES, pool)]

        assert [x.tobytes() for x in work(None)] == [x.tobytes() for x in work(pool)]


NAMES = ["lm", "p(e|f)", "tm, log", "größe"]
TEXT = ["", *(f"w{k}" for k in range(1, WORDS)), "größer"]


def test_what_is_written_has_every_node_and_edge():
    """As JSON lines."""
    assert list(files.format_lines(arrays([]), NAMES, TEXT.__getitem__)) == []
    rng = np.random.default_rng(1)
    h = arrays([forest(rng), None, forest(rng)])
    assert json.loads(files.format_hypergraph_header(NAMES))["features"] == NAMES
    found = [json.loads(line) for line in files.format_lines(h, NAMES, TEXT.__getitem__)]
    assert found[1] == {"root": None, "nodes": []}
    begin = 0
    for sentence, root in zip(found, h.roots.tolist(), strict=True):
        assert sentence["root"] == (None if root < 0 else root - begin)
        for v, node in enumerate(sentence["nodes"], begin):
            length = int(h.lengths[v])
            assert node["left"] == [TEXT[w] for w in h.left[v, :length]]
            assert node["right"] == [TEXT[w] for w in h.right[v, 4 - length :]]
            assert len(node["edges"]) == h.edge_offsets[v + 1] - h.edge_offsets[v]
            for e, edge in enumerate(node["edges"], h.edge_offsets[v]):
                assert [begin + t for t in edge["tails"]] == [t for t in h.tails[e].tolist() if t >= 0]
                assert edge["rule"] == h.rules[e]
                target = h.words[slice(*h.word_offsets[[e, e + 1]])].tolist()
                assert edge["target"] == [TEXT[w] if w > 0 else w for w in target]
                own = slice(*h.feature_offsets[[e, e + 1]])
                assert list(edge["features"]) == [NAMES[f] for f in h.feature_ids[own]]
                assert np.array_equal(np.array(list(edge["features"].values()), np.float32), h.feature_values[own])
        begin += len(sentence["nodes"])
