"""Text that is tagged in part: sums over what tokens may be, against enumeration; and the laws that follow."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.ground.parallel import Pool
from aligntools.tagging.chain import Chain, ChainText, expected_counts
from aligntools.tagging.induction import train_induced
from aligntools.tagging.settings import InductionSettings, TaggerSettings, TagSmoothing
from aligntools.tagging.supervised import partial, substates
from aligntools.tagging.supervised.corpus import TaggedCorpus
from aligntools.tagging.supervised.training import train_supervised
from aligntools.tagging.unknown_words import FormClasses
from tests import naive_chain, naive_tagging

POOL = Pool(1)
NAMES = [b"A", b"B", b"C"]


def cells_of(sets):
    cells = np.concatenate([[0], np.cumsum([len(s) for s in sets])]).astype(np.int64)
    return cells, np.array([tag for s in sets for tag in s], np.int32)


@st.composite
def texts(draw, all_tags=False):
    """Draw a small text in which tokens may have one tag, several or all."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    lengths = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4).filter(any))
    n = sum(lengths)
    words = [b"w%d" % w for w in random.integers(0, 4, n)]
    sizes = np.full(n, 3) if all_tags else random.integers(1, 4, n)
    sets = [sorted(random.choice(3, size, replace=False).tolist()) for size in sizes]
    return TaggedCorpus.numbered(words, np.concatenate([[0], np.cumsum(lengths)]), NAMES, *cells_of(sets)), random


def start(text, random, latent):
    """Return counts of a text, two substates a tag if ``latent``, the parameters they give, and shares and classes."""
    first, at = np.arange(4, dtype=np.int64), np.arange(len(text.pair_word) + 1, dtype=np.int64)
    states = substates.Substates(
        first, random.random(3), random.random((3, 3)), random.random(3), at, text.pair_count.copy()
    )
    if latent:
        states = substates.split(states, text, 2, 0.3, random)
    shares, classes = random.uniform(0.1, 1, len(text.pair_word)), FormClasses.of(text.words)
    return states, substates.estimate(states, text, shares, classes, TagSmoothing())


def naive_sentence(text, states, values, begin, end):
    sentence = []
    for t in range(begin, end):
        candidates = []
        for cell in range(text.cells[t], text.cells[t + 1]):
            p, g = text.pairs[cell], text.tags[cell]
            low, high = states.first[g], states.first[g + 1]
            candidates.append((g, {s: values[states.at[p] + s - low] for s in range(low, high)}))
        sentence.append(candidates)
    return sentence


def model_of(parameters):
    model, _ = parameters
    return {"start": model.start, "stop": model.stop, "transitions": model.transitions}


@given(texts(), st.booleans())
def test_expected_counts_are_those_of_all_paths_through_what_is_allowed(drawn, latent):
    text, random = drawn
    states, parameters = start(text, random, latent)
    found, loglik, losses = substates.expect(parameters, states, text, POOL)
    n, wanted_loglik = len(states.start), 0.0
    wanted = np.zeros(n), np.zeros(n), np.zeros((n, n))
    emissions = np.zeros(len(states.emissions))
    for begin, end in itertools.pairwise(text.offsets):
        if begin == end:
            continue
        sentence = naive_sentence(text, states, parameters[0].emissions, begin, end)
        wanted_loglik += np.log(naive_tagging.total(model_of(parameters), sentence))
        *counts, tokens = naive_tagging.expected(model_of(parameters), sentence)
        for into, one in zip((wanted[0], wanted[2], wanted[1]), counts, strict=True):
            for key, value in one.items():
                into[key] += value
        for (t, s), value in tokens.items():
            (tag,) = np.flatnonzero((states.first[:-1] <= s) & (s < states.first[1:]))
            (cell,) = [c for c in range(*text.cells[begin + t : begin + t + 2]) if text.tags[c] == tag]
            emissions[states.at[text.pairs[cell]] + s - states.first[tag]] += value
    assert loglik == pytest.approx(wanted_loglik, rel=1e-9, abs=1e-9)
    for mine, theirs in zip(
        (found.start, found.stop, found.transitions, found.emissions), (*wanted, emissions), strict=True
    ):
        assert mine == pytest.approx(theirs, rel=1e-9, abs=1e-12)
    assert not losses.any()


@given(texts())
def test_what_a_merge_loses_is_what_the_paths_lose(drawn):
    text, random = drawn
    states, parameters = start(text, random, latent=True)
    _, _, losses = substates.expect(parameters, states, text, POOL, merging=True)
    wanted, model = np.zeros(len(losses)), model_of(parameters)
    for begin, end in itertools.pairwise(text.offsets):
        sentence = naive_sentence(text, states, parameters[0].emissions, begin, end)
        total = naive_tagging.total(model, sentence)
        for t in range(end - begin):
            for cell in range(*text.cells[begin + t : begin + t + 2]):
                one = states.first[text.tags[cell]]
                if states.first[text.tags[cell] + 1] - one < 2:
                    continue
                share = parameters[1][one] / (parameters[1][one] + parameters[1][one + 1])
                merged = naive_tagging.merged_probability(model, sentence, t, one, one + 1, share)
                wanted[one] += np.log(total / merged)
    assert losses == pytest.approx(wanted, rel=1e-7, abs=1e-9)


@given(st.integers(0, 2**32), st.lists(st.integers(0, 5), min_size=1, max_size=4).filter(any))
def test_where_all_is_known_expectation_counts(seed, lengths):
    random = np.random.default_rng(seed)
    tags = [NAMES[k] for k in random.integers(0, 3, sum(lengths))]
    text = TaggedCorpus.of([b"w%d" % w for w in random.integers(0, 4, len(tags))], np.cumsum([0, *lengths]), tags)
    counted = substates.known_counts(text)
    parameters = substates.estimate(
        counted, text, np.ones(len(text.pair_word)), FormClasses.of(text.words), TagSmoothing()
    )
    expected, _, _ = substates.expect(parameters, counted, text, POOL)
    for name in ("start", "transitions", "stop", "emissions"):
        assert getattr(expected, name) == pytest.approx(getattr(counted, name))


def a_text(seed, n=200, bare=0.3):
    random = np.random.default_rng(seed)
    tags, state = [], 0
    for _ in range(n):
        state = int(random.choice(3, p=[[0.1, 0.8, 0.1], [0.2, 0.1, 0.7], [0.7, 0.2, 0.1]][state]))
        tags.append(state)
    words = [b"%s%d" % (NAMES[tag].lower(), random.integers(0, 5)) for tag in tags]
    labels = [NAMES[tag] if p >= bare else b"_" for tag, p in zip(tags, random.random(n), strict=True)]
    return words, np.arange(0, n + 1, 10), [NAMES[tag] for tag in tags], labels


SETS = {b"_": (), b"A": (b"A",), b"B": (b"B",), b"C": (b"C",), b"A|B": (b"A", b"B")}


@pytest.mark.parametrize("latent", [1, 2])
def test_singletons_are_supervised_training_to_the_byte(latent, tmp_path):
    words, offsets, tags, _ = a_text(1)
    chosen = TaggerSettings(latent=latent, members=2, iterations=3)
    observed, _ = partial.observe(words, tags, SETS, {})
    train_supervised(words, offsets, tags, POOL, chosen).save(tmp_path / "one")
    train_supervised(words, offsets, [], POOL, chosen, observed=observed).save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("latent", [1, 4])
def test_words_that_never_have_a_tag_get_those_of_their_places(latent):
    words, offsets, tags, labels = a_text(2, n=2000)
    strange = {b"a0": b"x", b"b0": b"y", b"c0": b"z"}  # what letters say nothing of
    words = [strange.get(word, word) for word in words]
    labels = [b"_" if word in strange.values() else label for word, label in zip(words, labels, strict=True)]
    chosen = TaggerSettings(latent=latent, members=1, iterations=5)
    seen = []
    tagger = train_supervised(
        words, offsets, [], POOL, chosen, lambda *f: seen.append(f),
        observed=partial.observe(words, labels, SETS, {})[0],
    )  # fmt: skip
    found, _ = tagger.tag(words, offsets, POOL)
    right = np.array([NAMES[k] == tag for k, tag in zip(found, tags, strict=True)])
    bare = np.array([word in strange.values() for word in words])
    assert right[~bare].mean() > 0.98
    assert right[bare].mean() > 0.75
    logs = [f[4] for f in seen if f[1] == 0]
    assert len(logs) == partial.ITERATIONS
    assert logs == sorted(logs)


def test_threads_do_not_show_in_partial_training(tmp_path):
    words, offsets, _, labels = a_text(3)
    for threads in (1, 3):
        with Pool(threads) as pool:
            tagger = train_supervised(
                words, offsets, [], pool, TaggerSettings(latent=2, members=1, iterations=3),
                observed=partial.observe(words, labels, SETS, {})[0],
            )  # fmt: skip
            tagger.save(tmp_path / str(threads))
    assert (tmp_path / "1").read_bytes() == (tmp_path / "3").read_bytes()


def test_what_tokens_may_be_by_the_text_and_by_a_dictionary():
    words = b"x x y y y z z z v".split()
    labels = b"A _ B A|B _ C _ A|B _".split()
    types = {b"y": (b"C", b"A"), b"z": (b"C",), b"q": (b"Q",)}
    (names, cells, tags), dropped = partial.observe(words, labels, SETS, types)
    sets = [
        b"".join(names[k] for k in tags[a:b]) for a, b in itertools.pairwise(cells)
    ]  # y_B: the dictionary has no B for y; y_A|B: A alone is in both
    assert names == NAMES
    assert sets == [b"A", b"ABC", b"AC", b"A", b"AC", b"C", b"C", b"C", b"ABC"]
    assert dropped == 2
    assert np.diff(cells).tolist() == [len(s) for s in sets]


# Text without tags, and a dictionary


@given(st.integers(0, 2**32), st.lists(st.integers(0, 4), min_size=1, max_size=3), st.booleans())
def test_sums_of_a_chain_are_over_the_paths_that_a_dictionary_allows(seed, lengths, squared):
    random = np.random.default_rng(seed)
    k, n_words, power = 3, 4, 2 if squared else 1
    leaving = random.dirichlet(np.ones(k + 1), k)
    chain = Chain(random.dirichlet(np.ones(k)), leaving[:, :k], leaving[:, k], random.dirichlet(np.ones(n_words), k).T)
    allowed = random.random((n_words, k)) < 0.5
    allowed[np.arange(n_words), random.integers(0, k, n_words)] = True
    tokens, offsets = random.integers(0, n_words, sum(lengths)), np.cumsum([0, *lengths])
    found, loglik = expected_counts(chain, ChainText(tokens, offsets, n_words, allowed=allowed), POOL, squared)
    moves, emitted = np.zeros((k, k)), np.zeros((n_words, k))
    for s, (begin, end) in enumerate(itertools.pairwise(offsets)):
        words = tokens[begin:end].tolist()
        if not words:
            continue
        paths = [
            (z, p)
            for z, p in naive_chain.paths(*chain.parameters(), words, power=power)
            if all(allowed[word][state] for word, state in zip(words, z, strict=True))
        ]
        total = sum(p for _, p in paths)
        assert loglik[s] == pytest.approx(np.log(total))
        for z, p in paths:
            for word, state in zip(words, z, strict=True):
                emitted[word, state] += p / total
            for a, b in itertools.pairwise(z):
                moves[a, b] += p / total
    assert found.transitions == pytest.approx(moves, abs=1e-12)
    assert found.emissions == pytest.approx(emitted, abs=1e-12)


@pytest.mark.parametrize("estimator", ["em", "vb", "mre"])
def test_a_dictionary_names_the_states_and_holds(estimator):
    words, offsets, tags, _ = a_text(4, n=600)
    types = {word: (NAMES[b"abc".index(word[:1])],) for word in words if word[1:] in b"012"}
    types[b"a3"] = (b"A", b"C")
    more = {"mre_iterations": 5} if estimator == "mre" else {}
    chosen = InductionSettings(estimator=estimator, iterations=15, **more)
    objectives = []
    tagger, _ = train_induced(
        words, offsets, POOL, chosen, lambda stage, f: objectives.append((stage, f["objective"])), types
    )
    assert tagger.tags == ["A", "B", "C"]
    found, _ = tagger.tag(words, offsets, POOL)
    got = [NAMES[k] for k in found]
    for word, tag in zip(words, got, strict=True):
        assert tag in types.get(word, NAMES)
    assert np.mean([a == b for a, b in zip(got, tags, strict=True)]) > 0.9
    for stage in {stage for stage, _ in objectives}:
        values = [value for name, value in objectives if name == stage and value is not None]
        assert all(b >= a - 1e-9 * abs(a) for a, b in itertools.pairwise(values))
