"""Forced decoding, intersections and the likelihood of references, against enumeration and central differences."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.ground.parallel import Pool
from aligntools.translating.decoding.decoder import DecoderSettings
from aligntools.translating.forest import hypergraph
from aligntools.translating.forest.candidates import offsets_of
from aligntools.translating.tuning import risk
from aligntools.translating.tuning.reachable import Reachable, intersection, shared
from tests import naive_hypergraph as naive_graphs
from tests import naive_translating as naive
from tests.translating import systems
from tests.translating.making import FEATURES
from tests.translating.test_decoder import LINES, all_derivations, derivations_of, random_system
from tests.translating.test_risk import make, numbered

SEEDS = st.integers(0, 10_000)


def strings(rows):
    flat = np.array([w for row in rows for w in row], np.int32)
    return flat, offsets_of([len(row) for row in rows])


def forced_case(seed, order, tmp_path):
    """Return a system, encoded text, what each line is to become (strings of words), and all derivations by line."""
    system, rules, lm, weights = random_system(seed, order, tmp_path, DecoderSettings(pop_limit=3), sparse=True)
    rng = np.random.default_rng(seed)
    lines = [*LINES, ""]
    every = [all_derivations(rules, line, lm, order) if line else [] for line in lines]
    wanted = []
    for found in every:
        words = sorted({d.words for d in found})
        wanted.append(words[rng.integers(len(words))] if words else ())
    wanted[1] = (*wanted[1], "nowhere")
    return system, systems.encode(system, lines), wanted, every, weights


def forced(system, sentences, wanted, pool=None):
    words = system.encode_target([w.encode() for row in wanted for w in row], sentences)
    return system.forced(sentences, words, offsets_of([len(row) for row in wanted]), pool)


@pytest.mark.parametrize("order", [0, 1, 2, 4])
def test_forced_decoding_finds_all_derivations_of_a_translation(order, tmp_path):
    for seed in range(5):
        system, sentences, wanted, every, weights = forced_case(seed, order, tmp_path)
        h = forced(system, sentences, wanted)
        assert h.roots[1] == h.roots[-1] == -1
        for words, root, found in zip(wanted, h.roots, every, strict=True):
            expected = [d for d in found if d.words == words]
            assert (root >= 0) == bool(expected)
            mine = derivations_of(h, root, system) if root >= 0 else []
            assert Counter(d.rules for d in mine) == Counter(d.rules for d in expected)
            assert np.sort([naive.score(d, weights) for d in mine]) == pytest.approx(
                np.sort([naive.score(d, weights) for d in expected]), rel=1e-5, abs=1e-4
            )
            for name in system.features:
                totals = np.sort([d.feats.get(name, 0) for d in expected])
                if order or "lm" not in name:
                    assert np.sort([d.feats.get(name, 0) for d in mine]) == pytest.approx(totals, rel=1e-5, abs=1e-4)
        with Pool(3) as pool:
            again = forced(system, sentences, wanted, pool)
        assert all(np.array_equal(a, b) for a, b in zip(vars(h).values(), vars(again).values(), strict=True))


def test_what_does_not_fit_at_first_is_derived_once(tmp_path, monkeypatch):
    from aligntools.translating.decoding import system_tables as workspace

    system, sentences, wanted, *_ = forced_case(1, 2, tmp_path)
    plain = forced(system, sentences, wanted)
    make, asked = workspace.Workspace.__init__, []

    def small(self, order):
        make(self, order)
        self._sizes |= {workspace.kernels.NO_NODES: 2, workspace.kernels.NO_EDGES: 1}
        for what in (workspace.kernels.NO_NODES, workspace.kernels.NO_EDGES):
            self._make(what)

    enlarge = workspace.Workspace.enlarge
    monkeypatch.setattr(workspace.Workspace, "__init__", small)
    monkeypatch.setattr(workspace.Workspace, "enlarge", lambda self, what: asked.append(what) or enlarge(self, what))
    system._prepared.workspaces.clear()
    again = forced(system, sentences, wanted)
    assert set(asked) == {workspace.kernels.NO_NODES, workspace.kernels.NO_EDGES}
    assert all(np.array_equal(a, b) for a, b in zip(vars(plain).values(), vars(again).values(), strict=True))


@given(SEEDS)
def test_an_intersection_has_the_derivations_that_yield_the_words(seed):
    h, made, _, _ = make(seed)
    rng = np.random.default_rng(seed)
    every = numbered(made, np.ones(FEATURES), 1)
    wanted = [found[rng.integers(len(found))].words if found else [1] for found in every]
    found = intersection(h, *strings(wanted))
    weights = rng.normal(size=FEATURES)
    scores = hypergraph.edge_scores(found, weights)
    beta, _ = risk.semirings.inside(found, scores)
    logs = risk.semirings.log_partition(found, beta)
    for s, of in enumerate(numbered(made, weights, 1)):
        mine = [d for d in of if d.words == wanted[s]]
        assert logs[s] == pytest.approx(naive_graphs.log_z(mine) if mine else -np.inf, abs=1e-6)
    nothing = intersection(h, *strings([[99], [], [99, 1]]))
    assert nothing.roots.tolist() == [-1, -1, -1]


def likelihood(system, sentences, wanted, gamma=1.0, **how):
    """Return the objective on the system's own forest, which may lack derivations."""
    forest = system.with_settings(full_states=False).forest(sentences)
    words = system.encode_target([w.encode() for row in wanted for w in row], sentences)
    one = words, offsets_of([len(row) for row in wanted])
    shares = np.linspace(0.5, 1.5, len(sentences))
    part = forest, system.forced(sentences, *one), shared(forest, [one]), shares
    return risk.ReferenceLikelihood([part], len(system.features), gamma=gamma, **how), shares


@pytest.mark.parametrize("seed", range(4))
def test_without_pruning_the_likelihood_is_that_of_enumeration(seed, tmp_path):
    system, sentences, wanted, every, weights = forced_case(seed, 2, tmp_path)
    objective, shares = likelihood(system.with_settings(pop_limit=0), sentences, wanted, 0.7, l2=0.2)
    total, mass = 0.0, 0.0
    for words, found, share in zip(wanted, every, shares, strict=True):
        p = np.exp([0.7 * naive.score(d, weights) for d in found])
        right = np.array([d.words == words for d in found], bool)
        if right.any():
            total -= share * np.log(p[right].sum() / p.sum())
            mass += share
    point = np.array([weights[name] for name in system.features])
    assert objective(point)[0] == pytest.approx(total / mass + 0.1 * point @ point, abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_within_a_pruned_forest_the_likelihood_is_that_of_its_derivations(seed, tmp_path):
    system, sentences, *_, weights = forced_case(seed, 2, tmp_path)
    forest, names = system.with_settings(full_states=False).forest(sentences), system.names(sentences)
    rows, total, rng = [], 0.0, np.random.default_rng(seed)
    for root in forest.roots.tolist():
        found = derivations_of(forest, root, system) if root >= 0 else []
        rows.append([int(w) for w in found[rng.integers(len(found))].words] if found else [])
        p = np.exp([0.7 * naive.score(d, weights) for d in found])
        right = np.array([[int(w) for w in d.words] == rows[-1] for d in found], bool)
        total -= np.log(p[right].sum() / p.sum()) if found else 0.0
    assert any(len(names(row)) for row in rows)
    both = shared(forest, [strings(rows)])
    part = forest, both, both, np.ones(len(sentences))
    point = np.array([weights[name] for name in system.features])
    value, _ = risk.ReferenceLikelihood([part], len(system.features), gamma=0.7)(point)
    assert value == pytest.approx(total / sum(map(bool, rows)), abs=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_the_gradient_of_the_likelihood_equals_central_differences(seed, tmp_path):
    system, sentences, wanted, *_ = forced_case(seed, 2, tmp_path)
    rng = np.random.default_rng(seed)
    features = len(system.features)
    objective, _ = likelihood(system, sentences, wanted, 0.8, l2=0.1, frozen={2: 0.4}, center=rng.normal(size=features))
    weights = system.weights + 0.1 * rng.normal(size=features)
    value, gradient = objective(weights)
    assert value > 0
    assert gradient[2] == 0
    for f in range(features):
        step = np.eye(features)[f] * 1e-5
        slope = (objective(weights + step)[0] - objective(weights - step)[0]) / 2e-5
        assert gradient[f] == pytest.approx(slope, abs=1e-6)


def test_equal_references_count_once_and_the_nearest_stands_in(tmp_path):
    system, sentences, wanted, every, _ = forced_case(2, 2, tmp_path)
    other = [sorted({d.words for d in found})[0] if found else () for found in every]
    sides = []
    for rows in (wanted, wanted, other):
        words = system.encode_target([w.encode() for row in rows for w in row], sentences)
        sides.append((words, offsets_of([len(row) for row in rows])))
    reachable = Reachable.of(lambda *given: system.forced(sentences, *given), sides, np.arange(len(sentences)))
    h = reachable.references()
    for root, found, two in zip(h.roots, every, zip(wanted, other, strict=True), strict=True):
        assert len(derivations_of(h, root, system) if root >= 0 else []) == sum(d.words in two for d in found)
    alone = Reachable.of(reachable.force, sides[:1], np.arange(len(sentences)))
    nearest = hypergraph_best(system, sentences)
    found, strings = alone.targets(nearest)
    assert found.roots[1] >= 0  # its reference is nowhere
    assert found.roots[-1] == -1
    assert np.diff(strings[1][1]).tolist() == [0, len(nearest_words(nearest, 1)), *[0] * (len(sentences) - 2)]


def hypergraph_best(system, sentences):
    from aligntools.translating.forest.derivations import best

    h = system.forest(sentences)
    return best(h, hypergraph.edge_scores(h, system.weights), len(system.features))


def nearest_words(lists, s):
    k = lists.offsets[s]
    return lists.words[slice(*lists.word_offsets[[k, k + 1]])]
