"""Objectives of tuning against enumeration and central differences; BLEU's counts by edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aligntools.formats.text.corpus import Side
from aligntools.metrics.bleu import corpus_bleu
from aligntools.translating.forest import derivations, hypergraph
from aligntools.translating.tuning import linear_bleu, risk
from tests import naive_hypergraph as naive
from tests.translating.making import FEATURES, WORDS, arrays, forest, scored

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
