"""Probabilities of sentences and of tag sequences, against every sequence of states one by one."""

import itertools
import math
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aligntools as at
from aligntools.formats.annotation import tag_lists
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.tagging import decoding, tag_sequences
from aligntools.tagging.decoding import CandidateChain, TagCandidates, decode
from aligntools.tagging.tag_sequences import Sequences
from tests import naive_chain as naive
from tests import naive_tagging

TEXT = ["the_D dog_N barks_V", "the_D cat_N", "a_D dog_N sees_V the_D bark_N", "dogs_N bark_V", "he_P sees_V her_P"]
#: Known words, a word that is not, no words.
SENTENCES = ["the dog sees her", "a bark", "", "he barks", "the unheard dog"]


@pytest.fixture(scope="module", params=["plain", "relative", "latent", "two", "induced"])
def tagger(request):
    """One state a tag, smoothed and not; substates; two models and their coarse one; states without tags."""
    if request.param == "induced":
        lines = [" ".join(token.split("_")[0] for token in line.split()) for line in TEXT]
        return at.induce_tags(lines, states=3, iterations=5)
    how = {
        "plain": {"latent": 1}, "relative": {"latent": 1, "relative_frequencies": True},
        "latent": {"latent": 2, "members": 1, "iterations": 3}, "two": {"latent": 2, "members": 2, "iterations": 2},
    }[request.param]  # fmt: skip
    return at.train_tagger(TEXT * 2, **how)


def enumerated(tagger, line):
    """Return ``p(x, z)`` of every sequence of tags: the mean over the models of the sums over states."""
    words, found = line.encode().split(), defaultdict(float)
    tokens, members = tagger.model.emissions(words)
    for chain, first in members:
        tag_of = np.repeat(np.arange(len(first) - 1), np.diff(first))
        for z, p in naive.paths(*chain.parameters(), tokens.tolist()):
            found[tuple(tagger.tags[tag_of[s]] for s in z)] += p / len(members)
    return found


def test_probabilities_and_lists(tagger, monkeypatch):
    found = tagger.log_probabilities(SENTENCES, threads=1)
    for line, value in zip(SENTENCES, found, strict=True):
        total = sum(enumerated(tagger, line).values()) if line else 1.0
        assert value == pytest.approx(math.log(total) if total else -math.inf, rel=1e-9)
    exact = len(tagger.model.members) == 1 and len(tagger.model.members[0].prior) == len(tagger.tags)
    for n in (1, 4, 1000):
        for line, found in zip(SENTENCES, tagger.n_best(SENTENCES, n, threads=1), strict=True):
            wanted = {z: p for z, p in enumerated(tagger, line).items() if p > 0} if line else {}
            scores = [one.log_probability for one in found]
            assert len({one.tags for one in found}) == len(found) <= n
            assert scores == sorted(scores, reverse=True)
            for one in found:
                assert one.log_probability == pytest.approx(math.log(wanted[one.tags]), rel=1e-9)
            best = [math.log(p) for p in sorted(wanted.values(), reverse=True)[:n]]
            if exact or n in (1, 1000):  # with substates: of all that there are, and of so few words the best
                assert scores == pytest.approx(best, rel=1e-9)
    whole = list(tagger.n_best(SENTENCES, 3)), list(tagger.sample_tags(SENTENCES, 3))
    monkeypatch.setattr(tag_sequences, "HELD", 1)
    assert (list(tagger.n_best(SENTENCES, 3)), list(tagger.sample_tags(SENTENCES, 3))) == whole


def test_posteriors_are_those_that_decide(tagger):
    text = [line for line in SENTENCES if line]
    for line, found, tagged in zip(text, tagger.posteriors(text), tagger.tag_batch(text), strict=True):
        assert [max(word, key=word.get) for word in found] == list(tagged.tags)
        assert [sum(word.values()) for word in found] == pytest.approx([1.0] * len(found), abs=1e-9)
        assert [max(word.values()) for word in found] == pytest.approx(tagged.probabilities.tolist(), abs=1e-12)
        all_ = enumerated(tagger, line)
        total = sum(all_.values())
        if len(tagger.model.members) == 1 and total:
            wanted = [Counter() for _ in found]
            for z, p in all_.items():
                for word, tag in zip(wanted, z, strict=True):
                    word[tag] += p / total
            for mine, own in zip(found, wanted, strict=True):
                near = 1e-9 if tagger.model.coarse is None else 0.02  # what the coarse model drops
                assert mine == pytest.approx({tag: own[tag] for tag in mine}, abs=near)


def test_samples(tagger):
    n = 4000
    for line, found in zip(SENTENCES, tagger.sample_tags(SENTENCES, n, seed=3), strict=True):
        all_ = enumerated(tagger, line) if line else {}
        total = sum(all_.values())
        assert len(found) == (n if total else 0)
        counted = Counter(one.tags for one in found)
        for z, p in all_.items():
            share = p / total if total else 0
            assert abs(counted[z] / n - share) <= 5 * math.sqrt(share * (1 - share) / n) + 3 / n, z
        for one in found[:5]:
            assert one.log_probability == pytest.approx(math.log(all_[one.tags]), rel=1e-9)
    lines = ["the dog sees her"] * 3
    whole = list(tagger.sample_tags(lines, 20, seed=5, threads=2))
    assert list(tagger.sample_tags(lines[1:], 20, seed=5, first=1, threads=1)) == whole[1:]
    if sum(p > 0 for p in enumerated(tagger, lines[0]).values()) > 1:
        assert list(tagger.sample_tags(lines, 20, seed=6)) != whole
        assert len({tuple(one.tags for one in own) for own in whole}) > 1


def test_relative_frequencies_are_counts_over_counts():
    tagger = at.train_tagger(TEXT, latent=1, relative_frequencies=True)
    # start D 3/5; dog given N 2/5, after D N always; V after N 2/5 (dog barks, dogs bark; dog sees): 3/5
    pairs = [[token.split("_") for token in line.split()] for line in TEXT]
    tags = [[tag for _, tag in line] for line in pairs]
    n_tag = Counter(tag for line in tags for tag in line)
    n_word = Counter((word, tag) for line in pairs for word, tag in line)
    moves = Counter(move for line in tags for move in pairwise(line))
    ends = Counter(line[-1] for line in tags)
    starts = Counter(line[0] for line in tags)
    for line in ("the dog barks", "a cat", "he sees the dog"):
        total, words = 0.0, line.split()
        for z in itertools.product("DNPV", repeat=len(words)):
            p = starts[z[0]] / len(tags) * ends[z[-1]] / n_tag[z[-1]]
            for a, b in pairwise(z):
                p *= moves[a, b] / n_tag[a]
            for word, tag in zip(words, z, strict=True):
                p *= n_word[word, tag] / n_tag[tag]
            total += p
        value = tagger.log_probabilities([line])[0]
        assert math.exp(value) == pytest.approx(total, rel=1e-6)
    assert tagger.log_probabilities(["the unheard dog"])[0] == -math.inf
    assert tagger.tag("the unheard barks").tags[1] == "N"  # between D and V
    again = type(tagger)(tagger.model)
    assert again.model.settings["relative_frequencies"] is True


def test_saved_models_and_unknown_words(tmp_path):
    lines = ["a b a b", "b a", "c c a"]
    steps = []
    tagger = at.induce_tags(lines, states=2, iterations=200, tolerance=0, progress=steps.append)
    objective = max(step.figures["objective"] for step in steps if "objective" in step.figures)
    assert tagger.log_probabilities(lines).sum() == pytest.approx(objective, abs=2e-3)
    for how in ({"latent": 1}, {"latent": 1, "relative_frequencies": True}):
        tagger = at.train_tagger(TEXT, **how)
        tagger.save(tmp_path / "model")
        again = at.Tagger.load(tmp_path / "model")
        assert again.log_probabilities(SENTENCES).tolist() == tagger.log_probabilities(SENTENCES).tolist()
        assert list(again.tag("the unheard dog")) == list(tagger.tag("the unheard dog"))
    tagger = at.train_tagger(TEXT, latent=1)
    own = Sequences(tagger.model, [b"the", b"unheard", b"dog"], np.array([0, 3]), Pool(1))
    assert own.unknown == 1


def test_what_is_refused():
    tagger = at.train_tagger(TEXT, latent=1)
    old = at.Tagger(replace(tagger.model, factors=None))
    with pytest.raises(UsageProblem, match="an older version made it"):
        old.log_probabilities(["the dog"])
    for wrong in ({"latent": 2}, {"latent": 1, "partial": True}):
        with pytest.raises(UsageProblem, match="relative_frequencies"):
            at.train_tagger(TEXT, relative_frequencies=True, **wrong)
    with pytest.raises(UsageProblem):
        next(tagger.n_best(["the dog"], 0))


def test_posteriors_as_text_and_back(tmp_path):
    path = tmp_path / "posteriors"
    words, offsets = [b"a\tb", b"c"], np.array([0, 1, 1, 2])
    cells, tags = np.array([0, 2, 4]), [b":", b"N:x", b"V", b"W"]
    path.write_bytes(tag_lists.format_posteriors(words, offsets, cells, tags, np.array([0.25, 0.75, 1 - 1e-9, 1e-9])))
    assert path.read_bytes() == b"a b\tN:x:0.750000\t::0.250000\n\n\nc\tV:1.000000\n\n"
    assert tag_lists.read_posteriors(str(path)) == [
        [(b"a b", {b"N:x": 0.75, b":": 0.25})], [], [(b"c", {b"V": 1.0})]
    ]  # fmt: skip
    path.write_bytes(b"a\tN:0.5\n\nb\tN\n")
    with pytest.raises(DataError, match=r":3: 'N' is not tag:probability"):
        tag_lists.read_posteriors(str(path))


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


@given(st.integers(1, 2).flatmap(lambda n: texts(n_models=n)))
def test_models_together_are_the_geometric_mean_of_their_posteriors(case):
    models, candidates, rows, offsets = case
    best, confidence = decode(rows, offsets, candidates, models, Pool(1))
    t = 0
    for s in sentences(rows, offsets):
        both = [naive_tagging.posteriors(plain(m), sentence_of(m, candidates, s)) for m in models]
        for each in zip(*both, strict=True):
            mean = {c: np.prod([one[c] for one in each]) ** (1 / len(each)) for c in each[0]}
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
            assert naive_tagging.is_best(plain(model), sentence, best[begin:end].tolist())


@settings(max_examples=8)
@given(st.integers(1, 2).flatmap(lambda n: texts(n_models=n)))
def test_the_best_path_of_split_tags_has_the_highest_product_of_posteriors(case):
    models, candidates, rows, offsets = case
    best, _ = decode(rows, offsets, candidates, models, Pool(1), path=True)
    t = 0
    for s in sentences(rows, offsets):
        groups = [candidates.groups[candidates.ptr[r] : candidates.ptr[r + 1]].tolist() for r in s]
        inputs = [(plain(m), sentence_of(m, candidates, s)) for m in models]

        def score(places, inputs=inputs):
            return np.prod([naive_tagging.best_chain_score(*x, places) for x in inputs]) ** (1 / len(inputs))

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
        assert naive_tagging.is_best(plain(model), sentence, path[t : t + len(s)].tolist())
        for posterior in naive_tagging.posteriors(plain(model), sentence, by_state=True):
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
