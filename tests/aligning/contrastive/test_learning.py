import itertools
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aligntools.aligning.contrastive import features, gold_learning, learning
from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive.candidate_links import concatenate
from aligntools.aligning.contrastive.learning import WeightLearning, calibrate, learn, list_expectations, objective
from aligntools.aligning.contrastive.search import SearchSettings, search
from aligntools.aligning.contrastive.settings import NOISE, Method, noise_shares
from aligntools.aligning.contrastive.tasks import learning_plan
from aligntools.formats.links.goldlinks import Gold
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.text.corpus import Bitext, Side, Skipped, pick
from aligntools.ground.parallel import Pool
from aligntools.metrics import aer
from aligntools.words.vocabulary import Vocabulary
from tests.aligning.contrastive.making import ALL, candidates_of, random_pair, random_weights
from tests.naive_contrastive import NAMES


def bitext(pairs, words=9):
    sides = []
    for d in (0, 1):
        offsets = np.cumsum([0, *(len(p[d]) for p in pairs)]).astype(np.int64)
        sides.append(Side(np.array([w for p in pairs for w in p[d]], np.int32), offsets))
    vocabulary = Vocabulary.from_words([f"w{i}" for i in range(1, words)])
    return Bitext(*sides, vocabulary, vocabulary, Skipped())


def rows(side):
    return [side.tokens[a:b].tolist() for a, b in zip(side.offsets[:-1], side.offsets[1:], strict=True)]


sentences = st.lists(st.tuples(*[st.lists(st.integers(1, 8), max_size=7)] * 2), max_size=6)


@given(sentences, st.sampled_from(NOISE), st.integers(0, 99))
def test_noise_corrupts_as_it_says(pairs, kind, seed):
    observed = bitext(pairs)
    corrupted = learning.noisy(observed, kind, seed)
    again = learning.noisy(observed, kind, seed)
    changed = learning.has_changed(observed, corrupted).tolist()
    for name in ("source", "target"):
        assert rows(getattr(corrupted, name)) == rows(getattr(again, name))
        for a, b in zip(rows(getattr(observed, name)), rows(getattr(corrupted, name)), strict=True):
            if not a:
                assert b == []
                continue
            assert all(1 <= w < 9 for w in b)
            if kind == "shuffle":
                assert sorted(a) == sorted(b)
            elif kind == "delete":
                assert len(b) == max(len(a) - 1, 1)
                assert any(b == a[:k] + a[k + 1 :] for k in range(len(a))) or len(a) == 1
            elif kind == "insert":
                assert any(b[:k] + b[k + 1 :] == a for k in range(len(b)))
            else:
                assert len(a) == len(b)
                assert sum(x != y for x, y in zip(a, b, strict=True)) <= 1
    before, after = (list(zip(rows(b.source), rows(b.target), strict=True)) for b in (observed, corrupted))
    same = [x == y for x, y in zip(before, after, strict=True)]
    assert changed == [not s for s in same]


def test_mixed_noise_is_of_each_kind_as_often_as_asked_for():
    observed = bitext([([1, 2, 3, 4, 5, 6, 7], [7, 6, 5, 4, 3, 2, 1])] * 600)
    single = {kind: learning.noisy(observed, kind, 3) for kind in NOISE}
    mixed = learning.noisy(observed, "delete:1,shuffle:3", 3)
    count = dict.fromkeys(NOISE, 0)
    for k, pair in enumerate(zip(rows(mixed.source), rows(mixed.target), strict=True)):
        of = [kind for kind in NOISE if pair == (rows(single[kind].source)[k], rows(single[kind].target)[k])]
        assert len(of) == 1, "each pair is corrupted as that kind alone would"
        count[of[0]] += 1
    assert count["insert"] == count["replace"] == 0
    assert 0.2 < count["delete"] / 600 < 0.3
    part = learning.noisy(pick(observed, np.array([5, 3])), "delete:1,shuffle:3", 3, np.array([5, 3]))
    assert rows(part.source) == [rows(mixed.source)[k] for k in (5, 3)]
    for text, shares in (("insert", {"insert": 1}), ("delete:1, shuffle:3", {"delete": 0.25, "shuffle": 0.75})):
        assert noise_shares(text) == shares


def test_sentences_that_are_corrupted_or_picked():
    observed = bitext([([1], [2]), ([3, 3], [4]), ([1, 2, 3, 4, 5, 6, 7], [1])])
    assert learning.has_changed(observed, learning.noisy(observed, "shuffle", 1)).tolist() == [False, False, True]
    assert learning.has_changed(observed, learning.noisy(observed, "insert", 1)).all()
    text = bitext([([1], [2, 3]), ([], []), ([4, 5], [6])])
    part = pick(text, np.array([2, 0, 1]))
    assert rows(part.source) == [[4, 5], [1], []]
    assert rows(part.target) == [[6], [2, 3], []]
    assert len(pick(text, np.array([], np.int64))) == 0


def some(seed, n=20, largest=6):
    rng = np.random.default_rng(seed)
    pairs = [random_pair(rng, *rng.integers(2, largest, 2), 0.8) for _ in range(n)]
    return rng, pairs, candidates_of(pairs)


def test_expectations_over_lists_of_all_alignments_are_exact():
    rng = np.random.default_rng(2)
    pairs = [random_pair(rng, 2, 3), random_pair(rng, 3, 2, 0.8)]
    weights, named = random_weights(rng, 0.5)
    everything = SearchSettings(beam=64, n_best=64, slack=np.inf)
    log_z, expected = list_expectations(search(candidates_of(pairs), weights, ALL, everything), ALL)
    for k, pair in enumerate(pairs):
        z, features = pair.expectations(named)
        assert log_z[k] == pytest.approx(z, abs=1e-5)
        np.testing.assert_allclose(expected[k], list(features.values()), atol=1e-5)


def test_learning_raises_the_objective_and_keeps_the_size():
    _, _, observed = some(1)
    rng, _, corrupted = some(2)
    weights, _ = random_weights(rng, 0.3)
    told = []
    settings = WeightLearning(pull=0.0, passes=6, tolerance=0.0)
    learned = learn(observed, corrupted, weights, ALL, settings, report=told.append)
    values = [figures["objective"] for figures in told]
    lists = SearchSettings(beam=settings.beam, n_best=settings.n_best)
    reached, _ = objective(observed, corrupted, learned, ALL, lists)
    assert reached == max(values) > values[0] + 1
    assert np.linalg.norm(learned) == pytest.approx(np.linalg.norm(weights))
    again = learn(observed, corrupted, weights, ALL, settings, Pool(2))
    np.testing.assert_array_equal(learned, again)
    other = learn(observed, corrupted, weights, ALL, WeightLearning(pull=0.0, passes=1, seed=3))
    assert not np.array_equal(learned, other)


def test_plain_descent_takes_the_steps_of_the_paper():
    """Against steps along gradients by enumeration, as equations 9 to 16 have them; then scaled to a sum of 1."""
    rng = np.random.default_rng(7)
    sides = [[random_pair(rng, 2, 2), random_pair(rng, 3, 2), random_pair(rng, 2, 3)] for _ in range(2)]
    weights, named = random_weights(rng, 0.3)
    made = [candidates_of(pairs) for pairs in sides]
    settings = WeightLearning(
        n_best=64, beam=64, rate=0.5, delay=1.0, pull=0.0, passes=2, optimizer="sgd", seed=4, limit=9
    )
    slow, order, t = weights.copy(), np.random.default_rng(4), 0
    for _ in range(2):
        for k in order.permutation(3):
            named = dict(zip(named, slow.tolist(), strict=True))
            expected = [np.array(list(pairs[k].expectations(named)[1].values())) for pairs in sides]
            slow = slow + 0.5 / (t + 1) * (expected[0] - expected[1])
            t += 1

    class Exact(WeightLearning):
        lists = SearchSettings(beam=64, n_best=64, slack=np.inf)

    found = learn(*made, weights, ALL, Exact(**vars(settings)))
    np.testing.assert_allclose(found, slow / np.abs(slow).sum(), atol=1e-6)
    half = learn(*made, weights, ALL, Exact(**vars(settings) | {"pull": 0.5}))
    np.testing.assert_allclose(half, found / 2 + weights / np.abs(weights).sum() / 2, atol=1e-9)


def test_plain_descent_ends_when_it_stands_still():
    _, _, observed = some(1)
    rng, _, corrupted = some(2)
    weights, _ = random_weights(rng, 0.3)
    told = []
    settings = WeightLearning(pull=0.0, passes=50, rate=0.1, delay=1.0, optimizer="sgd")
    learned = learn(observed, corrupted, weights, ALL, settings, report=told.append)
    assert 1 < len(told) < 51
    assert told[-1]["objective"] > told[0]["objective"]
    assert np.abs(learned).sum() == pytest.approx(1)
    np.testing.assert_array_equal(learn(observed, corrupted, weights, ALL, settings, Pool(2)), learned)
    none = WeightLearning(optimizer="sgd", passes=0)
    np.testing.assert_array_equal(learn(observed, corrupted, weights, ALL, none), weights)
    np.testing.assert_array_equal(learn(candidates_of([]), candidates_of([]), weights, ALL, settings), weights)


def test_what_is_not_learned():
    _, _, observed = some(1)
    rng, _, corrupted = some(2)
    weights, _ = random_weights(rng, 0.3)
    settings = WeightLearning(n_best=1, beam=1, pull=0.0, passes=50, tolerance=0.0, rate=5.0)
    learned = learn(observed, corrupted, weights, ALL, settings)
    assert np.abs(learned).max() < 100 * np.abs(weights).max()
    weights, _ = random_weights(np.random.default_rng(1))
    none = candidates_of([])
    np.testing.assert_array_equal(learn(none, none, weights, ALL), weights)
    _, _, same = some(1, 5)
    np.testing.assert_array_equal(learn(same, same, weights, ALL), weights)  # a copy that is not corrupted: no gain
    active = np.random.default_rng(3).random(kf.FEATURES) < 0.5
    _, _, observed = some(1)
    rng, _, corrupted = some(2)
    weights, _ = random_weights(rng)
    learned = learn(observed, corrupted, weights, active, WeightLearning(passes=2))
    assert not learned[~active].any()


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_calibration_finds_the_number_of_links(seed):
    rng, _, candidates = some(seed, 30, 7)
    weights, _ = random_weights(rng, 0.3)
    active = np.ones(kf.FEATURES, bool)
    active[[kf.LINKS, kf.SOURCE_MOST, kf.TARGET_MOST]] = False
    wanted = 0.6 * len(candidates.rows)
    found, now = calibrate(candidates, weights, active, wanted)
    assert now[kf.LINKS]
    n = len(search(candidates, found, now, SearchSettings()).links().pairs)
    # interactions make greedy search's number of links jump
    assert abs(n - wanted) < 0.15 * wanted
    np.testing.assert_array_equal(np.delete(found, kf.LINKS), np.delete(weights, kf.LINKS))


def test_candidates_joined_cut_and_none():
    weights, _ = random_weights(np.random.default_rng(1))
    found, _ = calibrate(candidates_of([]), weights, ALL, 10)
    np.testing.assert_array_equal(found, weights)
    _, pairs, candidates = some(4, 7)
    joined = concatenate([candidates.part(0, 3), candidates.part(3, 3), candidates.part(3, 7)])
    for name, value in vars(candidates).items():
        np.testing.assert_array_equal(getattr(joined, name), value, name)
    assert len(candidates.part(2, 5)) == 3
    assert len(pairs) == len(candidates)


def random_lists(rng, sentences=4, most=6, active=3):
    sizes = rng.integers(1, most + 1, sentences)
    return (
        [rng.normal(size=(n, active)) for n in sizes],
        [rng.integers(0, 5, (n, 3)).astype(float) for n in sizes],
        rng.integers(1, 6, sentences).astype(float),
    )


def error_at(lists, weights):
    """Return the error of the best alignments; of equal scores the one met first."""
    return errors_at(lists, weights[None])[0]


def errors_at(lists, weights):
    """Return the same for each row of weights."""
    totals = sum(c[np.argmax(f @ weights.T, 0)] for f, c in zip(*lists[:2], strict=True))
    return [float(gold_learning.aer(total, lists[2].sum())) for total in totals]


@given(st.integers(0, 2**32 - 1))
def test_a_line_search_finds_the_lowest_error_of_the_line(seed):
    rng = np.random.default_rng(seed)
    lists = random_lists(rng)
    weights, direction = rng.normal(size=3), rng.normal(size=3)
    step, error = gold_learning.line_search(lists, weights, direction)
    assert error_at(lists, weights + step * direction) == pytest.approx(error)
    tried = errors_at(lists, weights + np.linspace(-30, 30, 3001)[:, None] * direction)
    assert error <= min(tried) + 1e-9


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3, (0.1, 0.0, 2.0)]))
def test_the_gradient_of_the_risk(seed, penalty):
    rng = np.random.default_rng(seed)
    lists, start, weights = random_lists(rng), rng.normal(size=3), rng.normal(size=3)
    packed, penalty = gold_learning.pack(lists), np.array(penalty)
    _, gradient = gold_learning.risk(weights, packed, start, penalty)
    for k, step in enumerate(np.eye(3) * 1e-5):
        up, down = (gold_learning.risk(weights + s * step, packed, start, penalty)[0] for s in (1, -1))
        assert (up - down) / 2e-5 == pytest.approx(gradient[k], rel=1e-6, abs=1e-8)


def test_what_weights_are_drawn_to_and_risk():
    rng = np.random.default_rng(5)
    lists, start = random_lists(rng), np.zeros(3)
    free = gold_learning.minimum_risk(lists, start, 1e-3)
    held = gold_learning.minimum_risk(lists, start, np.array([1e6, 1e6, 1e-3]))
    np.testing.assert_allclose(held[:2], 0, atol=1e-4)
    assert np.abs(free[:2]).min() > 0.01
    assert abs(held[2]) > 0.01
    assert learning_plan("all").penalty == gold_learning.NETWORK_PENALTY
    assert learning_plan("all", "paper").penalty == gold_learning.PENALTY
    rng = np.random.default_rng(4)
    lists, weights = random_lists(rng), rng.normal(size=3)
    value, _ = gold_learning.risk(weights * 1e4, gold_learning.pack(lists), weights * 1e4, 1.0)
    assert value == pytest.approx(error_at(lists, weights))
    for seed in range(10):
        rng = np.random.default_rng(seed)
        lists, start = random_lists(rng, 8), rng.normal(size=3)
        found = gold_learning.minimum_error(lists, start, seed)
        assert error_at(lists, found) <= error_at(lists, start) + 1e-9


def random_gold(rng, pairs):
    sure, possible = [], []
    for pair in pairs:
        cells = list(itertools.product(range(pair.n_i), range(pair.n_j)))
        links = [c for c in cells if rng.random() < 0.3]
        possible.append(links)
        sure.append([c for c in links if rng.random() < 0.7])
    return Gold(Links.from_lists(sure), Links.from_lists(possible), "pharaoh", 0)


def test_counts_of_lists_are_those_of_the_metric():
    rng = np.random.default_rng(1)
    pairs = [random_pair(rng, *rng.integers(1, 6, 2), 0.7) for _ in range(15)]
    candidates, gold = candidates_of(pairs), random_gold(rng, pairs)
    weights, _ = random_weights(rng)
    best = search(candidates, weights, ALL, SearchSettings(beam=3, n_best=3))
    lists, error = gold_learning.meet(None, best, gold_learning.gold_marks(candidates, gold), ALL, gold)
    for rank in range(3):
        links, _, _, in_sure, in_possible = aer.count(best.links(rank), gold).T
        for k in np.flatnonzero(best.sizes > rank):
            assert lists[1][k][rank].tolist() == [links[k], in_sure[k], in_possible[k]]
    assert error == pytest.approx(aer.AerScore.of(gold, best.links()).aer)
    again, _ = gold_learning.meet(lists, best, gold_learning.gold_marks(candidates, gold), ALL, gold)
    assert [len(f) for f in again[0]] == best.sizes.tolist()  # nothing new is met


@pytest.mark.parametrize("method", get_args(Method))
def test_weights_that_made_the_gold_are_found_again(method):
    """Gold that one feature decides is learned from a start that knows nothing of it."""
    rng = np.random.default_rng(8)
    pairs = [random_pair(rng, *rng.integers(2, 6, 2)) for _ in range(25)]
    sure = [[c for c in p.candidates if p.cells["similarity"][c] > -1] for p in pairs]
    gold = Gold(Links.from_lists(sure), Links.from_lists(sure), "pharaoh", 0)
    active = features.select("link-count,posterior,similarity,cross-count")
    start = np.where(active, [f.paper for f in features.ALL], 0.0)
    candidates = candidates_of(pairs)
    told = []
    weights = gold_learning.train_supervised(candidates, gold, start, active, method, report=told.append)
    found = search(candidates, weights, active).links()
    error = aer.AerScore.of(gold, found).aer
    assert error == pytest.approx(min(t["aer"] for t in told))
    assert error < 0.1 < told[0]["aer"]
    assert weights[NAMES.index("similarity")] > abs(weights[NAMES.index("posterior")])
    assert not weights[~active].any()
    assert len(weights) == kf.FEATURES
