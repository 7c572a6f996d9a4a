"""Objectives of tuning against enumeration and central differences; BLEU's counts by edges."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aligntools.formats.text.corpus import Side
from aligntools.ground.parallel import Pool
from aligntools.metrics.bleu import corpus_bleu
from aligntools.translating.forest import derivations, hypergraph
from aligntools.translating.tuning import linear_bleu, mert, online, risk
from tests import naive_hypergraph as naive
from tests.translating.making import FEATURES, WORDS, arrays, dense, forest, scored

SEEDS = st.integers(0, 10_000)


def side(sentences):
    lengths = [len(s) for s in sentences]
    return Side(np.array([w for s in sentences for w in s], np.int32), np.concatenate([[0], np.cumsum(lengths)]))


def make(seed, sets=2):
    """Return a hypergraph, its forests, the references by sentence, and their table."""
    rng = np.random.default_rng(seed)
    made = [forest(rng), None, forest(rng)]
    texts = [[rng.integers(1, WORDS + 2, rng.integers(0, 9)).tolist() for _ in range(sets)] for _ in made]
    references = linear_bleu.References.of([side([of[k] for of in texts]) for k in range(sets)])
    return arrays(made), made, texts, references


def numbered(made, weights, gamma):
    """Return the derivations of each sentence, edges numbered in the batch."""
    first, out = 0, []
    for m in made:
        nodes = scored(m[0], weights, gamma) if m else []
        nodes = [[e._replace(number=e.number + first) for e in edges] for edges in nodes]
        first += sum(map(len, nodes))
        out.append(naive.derivations(nodes, len(nodes) - 1) if nodes else [])
    return out


@given(SEEDS)
def test_ngrams_of_edges_add_up_to_those_of_the_words(seed):
    h, made, texts, references = make(seed)
    found = linear_bleu.edge_statistics(h, references)
    for every, texts_of in zip(numbered(made, np.ones(FEATURES), 1), texts, strict=True):
        for d in every:
            total = sum((found[e.number] for e in d.edges), np.zeros(8))
            assert total.tolist() == naive.matches(d.words, texts_of, clip=False)


@given(SEEDS)
def test_statistics_of_candidates_are_bleus(seed):
    h, made, texts, references = make(seed)
    scores = hypergraph.edge_scores(h, np.ones(FEATURES))
    candidates = derivations.k_best(h, scores, FEATURES, 10)
    found = linear_bleu.candidate_statistics(candidates, references)
    for s, of in enumerate(texts):
        for c in range(*candidates.offsets[[s, s + 1]]):
            words = candidates.words[slice(*candidates.word_offsets[[c, c + 1]])].tolist()
            closest = min((abs(len(r) - len(words)), len(r)) for r in of)[1]
            assert found[c].tolist() == [*naive.matches(words, of, clip=True), len(words), closest]
    total = linear_bleu.corpus_statistics(candidates, references)
    first = [c for c, d in zip(candidates.offsets[:-1], candidates.offsets[1:], strict=True) if d > c]
    wanted = found[first].sum(axis=0)
    wanted[9] += sum(min(map(len, of)) for s, of in enumerate(texts) if made[s] is None)
    assert total.tolist() == wanted.tolist()


def test_losses_of_sentences_are_sacrebleus():
    sacrebleu = pytest.importorskip("sacrebleu")
    h, _, texts, references = make(8)
    candidates = derivations.k_best(h, hypergraph.edge_scores(h, np.ones(FEATURES)), FEATURES, 10)
    losses = linear_bleu.sentence_losses(linear_bleu.candidate_statistics(candidates, references))

    def joined(words):
        return " ".join(f"w{w}" for w in words)

    for s, of in enumerate(texts):
        for c in range(*candidates.offsets[[s, s + 1]]):
            words = candidates.words[slice(*candidates.word_offsets[[c, c + 1]])]
            found = sacrebleu.sentence_bleu(
                joined(words), list(map(joined, of)), tokenize="none", smooth_method="add-k", smooth_value=1
            )
            assert 100 * (1 - losses[c]) == pytest.approx(found.score, abs=1e-9)
    assert losses.min() < losses.max()


@settings(max_examples=20)
@given(SEEDS)
def test_the_linear_loss_is_tromble_and_others_sum(seed):
    h, made, texts, references = make(seed)
    point = np.array([*(7 * 0.8 * 0.6**n for n in range(4)), 7, 0, 0, 0, 0, 7])  # of one sentence of 7 words
    losses = linear_bleu.linear_losses(linear_bleu.edge_statistics(h, references), point, 1)
    for every, of in zip(numbered(made, np.ones(FEATURES), 1), texts, strict=True):
        for d in every[:20]:
            gain = -len(d.words) / 7
            for n in range(1, 5):
                for g in naive.ngrams(d.words, n):
                    if any(g in naive.ngrams(r, n) for r in of):
                        gain += 1 / (4 * 7 * 0.8 * 0.6 ** (n - 1))
            assert sum(losses[e.number] for e in d.edges) == pytest.approx(-gain, abs=1e-6)


def test_the_linear_factors_are_the_derivatives_of_log_bleu():
    for reference in (80.0, 120.0):
        s = np.array([70.0, 50, 35, 25, 100, 90, 80, 70, 100, reference])
        factors = -linear_bleu.linear_losses(np.eye(8), s, 10)
        for n in range(4):
            step = np.eye(10)[n] * 1e-4
            slope = (np.log(corpus_bleu(s + step)) - np.log(corpus_bleu(s - step))) / 2e-4
            assert factors[n] == pytest.approx(10 * slope, rel=1e-6)
        # theta_0: all four counts of n-grams grow with the length, each by the length's share, as Tromble has it
        assert factors[4] == pytest.approx(10 * ((reference / 100 if reference > 100 else 0) - 1) / 100)


def parts_of(kind, seed):
    h, made, _, references = make(seed)
    rng = np.random.default_rng(seed)
    shares = rng.uniform(0.5, 2, len(h))
    statistics = linear_bleu.edge_statistics(h, references)
    if kind == "corpus":
        closest = references.closest(np.full(len(h), 5), np.arange(len(h)))
        return [risk.Examples(h, shares, None, statistics, float(shares @ closest) + 3)], made, shares
    losses = linear_bleu.linear_losses(statistics, np.array([5, 4, 3, 2, 6, 0, 0, 0, 0, 6]), 1)
    return [risk.Examples(h, shares, losses)], made, shares


@settings(max_examples=20)
@given(SEEDS, st.sampled_from(["corpus", "edges"]))
def test_gradients_equal_central_differences(seed, kind):
    parts, _, _ = parts_of(kind, seed)
    more, _, _ = parts_of(kind, seed + 1)
    rng = np.random.default_rng(seed)
    center = rng.normal(size=FEATURES)
    objective = risk.Risk(parts + more, FEATURES, gamma=0.7, l2=0.1, temperature=0.3, frozen={2: 0.4}, center=center)
    weights = rng.normal(size=FEATURES)
    value, gradient = objective(weights)
    assert gradient[2] == 0
    weights_moved = weights.copy()
    weights_moved[2] += 5
    assert objective(weights_moved)[0] == pytest.approx(value)
    for f in range(FEATURES):
        step = np.eye(FEATURES)[f] * 1e-5
        slope = (objective(weights + step)[0] - objective(weights - step)[0]) / 2e-5
        assert gradient[f] == pytest.approx(slope, abs=1e-6)


@settings(max_examples=20)
@given(SEEDS)
def test_the_expected_loss_equals_enumeration(seed):
    parts, made, shares = parts_of("edges", seed)
    gamma, weights = 1.3, np.random.default_rng(seed).normal(size=FEATURES)
    value, _ = risk.Risk(parts, FEATURES, gamma=gamma, l2=0.5)(weights)
    total, mass = 0.0, 0.0
    for every, share in zip(numbered(made, weights, gamma), shares, strict=True):
        if every:
            total += share * naive.expected(every, lambda d: sum(parts[0].losses[e.number] for e in d.edges))
            mass += share
    assert value == pytest.approx(total / mass + 0.25 * weights @ weights, abs=1e-9)


@settings(max_examples=20)
@given(SEEDS)
def test_conditional_likelihood(seed):
    h, _, _, _ = make(seed)
    rng = np.random.default_rng(seed)
    candidates = derivations.k_best(h, rng.normal(size=h.edges), FEATURES, 6)
    flat, weights = candidates.hypergraph(), rng.normal(size=FEATURES)
    wrong = (rng.random(candidates.count) < 0.6).astype(float)
    objective = risk.Likelihood([risk.Examples(flat, np.ones(len(h)), wrong)], FEATURES, gamma=0.8, l2=0.1)
    value, gradient = objective(weights)
    scores, total, count = 0.8 * hypergraph.edge_scores(flat, weights), 0.0, 0
    for a, b in zip(candidates.offsets[:-1], candidates.offsets[1:], strict=True):
        if (wrong[a:b] == 0).any():
            p = np.exp(scores[a:b])
            total -= np.log(p[wrong[a:b] == 0].sum() / p.sum())
            count += 1
    assert value == pytest.approx(total / max(count, 1) + 0.05 * weights @ weights, abs=1e-9)
    for f in range(FEATURES):
        step = np.eye(FEATURES)[f] * 1e-5
        slope = (objective(weights + step)[0] - objective(weights - step)[0]) / 2e-5
        assert gradient[f] == pytest.approx(slope, abs=1e-6)


def test_minimizing_lowers_the_loss_and_quenching_sharpens():
    parts, _, _ = parts_of("edges", 4)
    objective = risk.Risk(parts, FEATURES, l2=0.01)
    begin = objective(np.zeros(FEATURES))[0]
    weights, value = risk.minimize(objective, np.zeros(FEATURES))
    assert value < begin - 1e-3
    assert objective(weights)[0] == pytest.approx(value)
    assert risk.schedule(0.5, 3) == [0.5, 1, 2, 3]
    assert risk.schedule(2) == [2]
    risk.minimize(objective, np.zeros(FEATURES), [1.0, 4.0])
    assert objective.gamma == 4


def corpus(seed):
    h, _, _, references = make(seed)
    candidates = derivations.k_best(h, np.random.default_rng(seed).normal(size=h.edges), FEATURES, 15)
    statistics = linear_bleu.candidate_statistics(candidates, references) + np.float32(1)  # so that BLEU is not 0
    return mert.MertCorpus(candidates, statistics)


def naive_value(c, weights):
    scores = dense(c.candidates, FEATURES) @ weights
    offsets = c.candidates.offsets
    best = [a + int(np.argmax(scores[a:b])) for a, b in pairwise(offsets) if b > a]
    return float(100 * corpus_bleu(c.statistics[best].sum(axis=0), "none"))


@given(SEEDS)
def test_a_line_has_nothing_better_than_what_is_found(seed):
    c, rng = corpus(seed), np.random.default_rng(seed + 1)
    weights, direction = rng.normal(size=(2, FEATURES))
    moved, value = c.search(weights, direction)
    assert c.value(weights) == pytest.approx(naive_value(c, weights), abs=1e-9)
    assert value == pytest.approx(naive_value(c, moved), abs=1e-9)
    for step in np.concatenate([np.linspace(-3, 3, 301), [-1e3, 1e3]]):
        assert naive_value(c, weights + step * direction) <= value + 1e-9


def test_maximizing_gains_and_depends_on_the_seed_alone():
    c = corpus(12)
    start = np.array([0.1, -1.0, 0.5, 0.2])
    weights, value = mert.maximize(c, start, 1)
    assert value >= c.value(start)
    assert c.value(weights) == pytest.approx(value, abs=1e-9)
    assert np.array_equal(mert.maximize(c, start, 1)[0], weights)
    with Pool(3) as pool:
        c.pool = pool
        assert np.array_equal(mert.maximize(c, start, 1)[0], weights)
        c.pool = None
    held, _ = mert.maximize(c, start, 1, frozen=(1,))
    assert held[1] == -1


SHARES = np.array([1.0, 1.0, 0.3])


def online_corpus(seed):
    """Return lists as the search has them (the second sentence has no candidates), and BLEU's counts."""
    h, _, _, references = make(seed)
    candidates = derivations.k_best(h, np.random.default_rng(seed).normal(size=h.edges), FEATURES, 15)
    statistics = linear_bleu.candidate_statistics(candidates, references)
    return mert.MertCorpus(candidates, statistics, SHARES), statistics


def lists(c):
    rows, offsets = dense(c.candidates, FEATURES), c.offsets
    return [(range(a, b), rows) for a, b in pairwise(offsets)]


def naive_bleu(counts):
    log = sum(math.log(counts[n] / counts[4 + n]) for n in range(4)) / 4
    return math.exp(log + min(0.0, 1 - counts[9] / counts[8]))


def naive_mira(c, statistics, start, orders, step, pseudo, frozen):
    """Cherry & Foster 2012, algorithm 1; return the average of each pass and the background."""
    w, background, averages = np.array(start), np.ones(10), []
    for order in orders:
        total = np.zeros(FEATURES)
        for i in order:
            which, features = lists(c)[i]
            if len(which):
                score = {k: w @ features[k] for k in which}
                if pseudo:
                    words = background[9] + statistics[which[0], 9]
                    gain = {k: words * naive_bleu(background + statistics[k]) for k in which}
                else:
                    smooth = 1 - linear_bleu.sentence_losses(statistics)
                    gain = {k: smooth[k] * statistics[k, 9] for k in which}
                hope = max(which, key=lambda k: score[k] + gain[k])
                fear = max(which, key=lambda k: score[k] - gain[k])
                change = features[hope] - features[fear]
                change[list(frozen)] = 0
                loss = gain[hope] - gain[fear] - (score[hope] - score[fear])
                if loss > 0 and change @ change > 0:
                    w = w + min(step * SHARES[i], loss / (change @ change)) * change
                if pseudo:
                    background = online.DECAY ** SHARES[i] * background + SHARES[i] * statistics[hope]
            total += w
        averages.append(total / len(order))
    return averages


def orders(seed, passes):
    rng = np.random.default_rng(seed)
    return [rng.permutation(len(SHARES)) for _ in range(passes)]


@given(SEEDS, st.booleans(), st.sampled_from([0.003, 0.1, 5.0]))
def test_mira_takes_the_steps_of_the_paper(seed, pseudo, step):
    c, statistics = online_corpus(seed)
    start = np.random.default_rng(seed).normal(size=FEATURES)
    averages = naive_mira(c, statistics, start, orders(seed, 4), step, pseudo, (1,))
    found, value = online.mira(c, statistics, start, seed, 4, step, pseudo, (1,))
    values = [c.value(w) for w in averages]
    assert value == pytest.approx(max(values), abs=1e-6)
    assert min(np.abs(found - w).max() for w in averages) < 1e-6
    assert found[1] == pytest.approx(start[1])
    assert c.value(found) == pytest.approx(value)


@given(SEEDS)
def test_the_perceptron_moves_to_the_best_of_the_list(seed):
    c, statistics = online_corpus(seed)
    losses = linear_bleu.sentence_losses(statistics)
    start = w = np.random.default_rng(seed).normal(size=FEATURES)
    averages = []
    for order in orders(seed, 3):
        total = np.zeros(FEATURES)
        for i in order:
            which, features = lists(c)[i]
            if len(which):
                best = max(which, key=lambda k: w @ features[k])
                right = min(which, key=lambda k: (losses[k], -(w @ features[k])))
                if losses[right] < losses[best]:
                    change = features[right] - features[best]
                    change[2] = 0
                    w = w + 0.2 * SHARES[i] * change
            total += w
        averages.append(total / len(order))
    found, value = online.perceptron(c, statistics, start, seed, 3, 0.2, (2,))
    assert found == pytest.approx(np.mean(averages, axis=0), abs=1e-6)
    assert value == pytest.approx(c.value(found))


def test_lists_without_candidates_leave_the_weights():
    c, statistics = online_corpus(3)
    none = c.candidates.sentences([1, 1])
    empty = mert.MertCorpus(none, statistics[:0])
    start = np.arange(FEATURES, dtype=float)
    assert online.perceptron(empty, statistics[:0], start, 1, 2)[0].tolist() == start.tolist()
    assert online.mira(empty, statistics[:0], start, 1, 2)[0].tolist() == start.tolist()
