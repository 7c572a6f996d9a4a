import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aligntools.ground.parallel import Pool
from aligntools.tagging import decoding
from aligntools.tagging.decoding import CandidateChain, TagCandidates, decode
from tests import naive_tagging as naive


def random_model(random, first, candidates):
    size = int(first[-1])
    table = random.dirichlet(np.ones(size + 1), size)
    places = int(np.diff(first)[candidates.groups].sum())
    return CandidateChain(
        first, random.dirichlet(np.ones(size)), np.ascontiguousarray(table[:, :-1]), np.ascontiguousarray(table[:, -1]),
        random.uniform(0.05, 1, places),
    )  # fmt: skip


def plain(model):
    return {"start": model.start, "stop": model.stop, "transitions": model.transitions}


def sentence_of(model, candidates, rows):
    """Return a sentence as the naive version takes it."""
    places = model.places(candidates)
    tokens = []
    for row in rows:
        token = []
        for c in range(candidates.ptr[row], candidates.ptr[row + 1]):
            g = candidates.groups[c]
            states = range(model.first[g], model.first[g + 1])
            token.append((g, {s: model.values[places[c] + j] for j, s in enumerate(states)}))
        tokens.append(token)
    return tokens


@st.composite
def texts(draw, widths=(1, 3), n_models=1):
    """Models over the same groups, each word's candidates, and a text with empty and one-word sentences."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_groups, n_rows = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    chosen = random.random((n_rows, n_groups)) < 0.6
    chosen[np.arange(n_rows), random.integers(0, n_groups, n_rows)] = True
    candidates = TagCandidates.above(chosen.astype(float), 0.5)
    models = []
    for _ in range(n_models):
        widths_of = random.integers(widths[0], widths[1] + 1, n_groups)
        models.append(random_model(random, np.concatenate([[0], np.cumsum(widths_of)]).astype(np.int64), candidates))
    lengths = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return models, candidates, random.integers(0, n_rows, offsets[-1]).astype(np.int32), offsets


def sentences(rows, offsets):
    return [rows[a:b] for a, b in itertools.pairwise(offsets) if b > a]


@given(texts())
def test_posteriors_are_those_of_all_paths(case):
    (model,), candidates, rows, offsets = case
    best, confidence = decode(rows, offsets, candidates, [model], Pool(1))
    inputs = [sentence_of(model, candidates, s) for s in sentences(rows, offsets)]
    wanted = [p for sentence in inputs for p in naive.posteriors(plain(model), sentence)]
    assert len(best) == len(wanted)
    for t, posterior in enumerate(wanted):
        own = list(candidates.groups[candidates.ptr[rows[t]] : candidates.ptr[rows[t] + 1]])
        assert posterior[own.index(best[t])] == pytest.approx(max(posterior.values()), rel=1e-9)
        assert confidence[t] == pytest.approx(max(posterior.values()), rel=1e-9)


@given(texts(n_models=2))
def test_two_models_together_are_the_geometric_mean_of_their_posteriors(case):
    models, candidates, rows, offsets = case
    best, confidence = decode(rows, offsets, candidates, models, Pool(1))
    t = 0
    for s in sentences(rows, offsets):
        both = [naive.posteriors(plain(m), sentence_of(m, candidates, s)) for m in models]
        for one, two in zip(*both, strict=True):
            mean = {c: (one[c] * two[c]) ** 0.5 for c in one}
            own = list(candidates.groups[candidates.ptr[rows[t]] : candidates.ptr[rows[t] + 1]])
            assert mean[own.index(best[t])] == pytest.approx(max(mean.values()), rel=1e-9)
            assert confidence[t] == pytest.approx(max(mean.values()) / sum(mean.values()), rel=1e-9)
            t += 1


@given(texts(widths=(1, 1)))
def test_the_best_path_of_plain_tags_is_viterbis(case):
    (model,), candidates, rows, offsets = case
    best, _ = decode(rows, offsets, candidates, [model], Pool(1), path=True)
    for begin, end in itertools.pairwise(offsets):
        if begin < end:
            sentence = sentence_of(model, candidates, rows[begin:end])
            assert naive.is_best(plain(model), sentence, best[begin:end].tolist())


@settings(max_examples=15)
@given(st.integers(1, 2).flatmap(lambda n: texts(n_models=n)))
def test_the_best_path_of_split_tags_has_the_highest_product_of_posteriors(case):
    models, candidates, rows, offsets = case
    best, _ = decode(rows, offsets, candidates, models, Pool(1), path=True)
    t = 0
    for s in sentences(rows, offsets):
        groups = [candidates.groups[candidates.ptr[r] : candidates.ptr[r + 1]].tolist() for r in s]
        inputs = [(plain(m), sentence_of(m, candidates, s)) for m in models]

        def score(places, inputs=inputs):
            return np.prod([naive.best_chain_score(*x, places) for x in inputs]) ** (1 / len(inputs))

        top = max(score(p) for p in itertools.product(*(range(len(g)) for g in groups)))
        mine = tuple(g.index(b) for g, b in zip(groups, best[t : t + len(s)].tolist(), strict=True))
        assert score(mine) == pytest.approx(top, rel=1e-9)
        t += len(s)


def one_group(random, n_states, n_rows):
    candidates = TagCandidates(np.arange(n_rows + 1, dtype=np.int64), np.zeros(n_rows, np.int32))
    return candidates, random_model(random, np.array([0, n_states], np.int64), candidates)


@given(st.integers(0, 2**32), st.integers(1, 4), st.lists(st.integers(0, 4), min_size=1, max_size=3))
def test_anonymous_states_one_by_one_and_as_a_path(seed, n_states, lengths):
    random = np.random.default_rng(seed)
    candidates, model = one_group(random, n_states, 3)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    rows = random.integers(0, 3, offsets[-1]).astype(np.int32)
    best, confidence = decode(rows, offsets, candidates, [model], Pool(1), by_state=True)
    path, _ = decode(rows, offsets, candidates, [model], Pool(1), by_state=True, path=True)
    t = 0
    for s in sentences(rows, offsets):
        sentence = sentence_of(model, candidates, s)
        assert naive.is_best(plain(model), sentence, path[t : t + len(s)].tolist())
        for posterior in naive.posteriors(plain(model), sentence, by_state=True):
            assert posterior[best[t]] == pytest.approx(max(posterior.values()), rel=1e-9)
            assert confidence[t] == pytest.approx(posterior[best[t]], rel=1e-9)
            t += 1


def big(seed=3, n_tokens=5000):
    random = np.random.default_rng(seed)
    chosen = random.random((30, 4)) < 0.5
    chosen[np.arange(30), random.integers(0, 4, 30)] = True
    candidates = TagCandidates.above(chosen.astype(float), 0.5)
    models = [random_model(random, np.array(f, np.int64), candidates) for f in ([0, 2, 4, 5, 8], [0, 1, 3, 5, 6])]
    return candidates, models, random.integers(0, 30, n_tokens).astype(np.int32)


def coarse_of(candidates, seed=4):
    return random_model(np.random.default_rng(seed), np.arange(5, dtype=np.int64), candidates)


@pytest.mark.parametrize("path", [False, True])
def test_a_sentence_of_thousands_of_words_is_tagged_like_its_parts(path):
    """Far from the cut, what is chosen does not depend on it: nothing has underflown or overflown."""
    candidates, models, rows = big()
    whole, confidence = decode(rows, np.array([0, 5000]), candidates, models, Pool(1), path=path)
    tail, _ = decode(rows[2500:], np.array([0, 2500]), candidates, models, Pool(1), path=path)
    assert np.isfinite(confidence).all()
    assert confidence.min() > 0
    assert np.array_equal(whole[2600:], tail[100:])


@pytest.mark.parametrize("path", [False, True])
def test_threads_and_chunks_change_nothing(path, monkeypatch):
    candidates, models, rows = big()
    offsets = np.unique(np.concatenate([[0, 5000], np.random.default_rng(5).integers(0, 5000, 300)])).astype(np.int64)
    wanted = decode(rows, offsets, candidates, models, Pool(1), coarse_of(candidates), path=path)
    with Pool(3) as pool:
        found = decode(rows, offsets, candidates, models, pool, coarse_of(candidates), path=path)
    monkeypatch.setattr(decoding, "CHUNK", 70)
    cut = decode(rows, offsets, candidates, models, Pool(1), coarse_of(candidates), path=path)
    for other in (found, cut):
        assert all(a.tobytes() == b.tobytes() for a, b in zip(wanted, other, strict=True))


def test_pruning_drops_what_the_coarse_model_finds_next_to_impossible(monkeypatch):
    candidates, models, rows = big()
    offsets = np.arange(0, 5001, 10)
    whole, _ = decode(rows, offsets, candidates, models, Pool(1))
    monkeypatch.setattr(decoding, "PRUNE", 0.0)
    kept, _ = decode(rows, offsets, candidates, models, Pool(1), coarse_of(candidates))
    assert np.array_equal(whole, kept)
    monkeypatch.setattr(decoding, "PRUNE", 1.0)
    only, confidence = decode(rows, offsets, candidates, models, Pool(1), coarse_of(candidates))
    alone, _ = decode(rows, offsets, candidates, [coarse_of(candidates)], Pool(1))
    assert np.array_equal(only, alone)
    assert np.all(confidence == pytest.approx(1.0))


@pytest.mark.parametrize("path", [False, True])
def test_where_no_path_leads_the_words_alone_decide(path):
    candidates = TagCandidates(np.array([0, 1, 2], np.int64), np.array([0, 1], np.int32))
    model = CandidateChain(np.arange(3, dtype=np.int64), np.array([1.0, 0]), np.eye(2), np.array([0.0, 0]), np.ones(2))
    best, confidence = decode(
        np.array([0, 1, 1, 0], np.int32), np.array([0, 4]), candidates, [model], Pool(1), path=path
    )
    assert best.tolist() == [0, 1, 1, 0]
    assert np.isfinite(confidence).all()


@pytest.mark.parametrize("by_state", [False, True])
@pytest.mark.parametrize("path", [False, True])
@pytest.mark.parametrize("lengths", [[], [0], [0, 0, 0], [1], [0, 1, 0]])
def test_texts_of_next_to_nothing(lengths, path, by_state):
    candidates, model = one_group(np.random.default_rng(1), 1, 1)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    best, confidence = decode(
        np.zeros(sum(lengths), np.int32), offsets, candidates, [model], Pool(2), by_state=by_state, path=path
    )
    assert best.tolist() == [0] * sum(lengths)
    assert np.all(confidence == 1)


@pytest.mark.parametrize("by_state", [False, True])
@pytest.mark.parametrize("path", [False, True])
def test_ties_go_to_the_lowest(path, by_state):
    first = np.array([0, 3] if by_state else [0, 1, 2, 3], np.int64)
    candidates = TagCandidates(np.array([0, len(first) - 1], np.int64), np.arange(len(first) - 1, dtype=np.int32))
    model = CandidateChain(first, np.full(3, 0.25), np.full((3, 3), 0.25), np.full(3, 0.25), np.full(3, 0.5))
    best, _ = decode(
        np.zeros(4, np.int32), np.array([0, 4]), candidates, [model], Pool(1), by_state=by_state, path=path
    )
    assert best.tolist() == [0, 0, 0, 0]
