"""MIRA and the perceptron against a slow version that follows the papers, and MIRA's step against its closed form."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.translating.forest import derivations
from aligntools.translating.tuning import linear_bleu, mert, online
from tests.translating.making import FEATURES, dense
from tests.translating.test_risk import make

SEEDS = st.integers(0, 10_000)
SHARES = np.array([1.0, 1.0, 0.3])


def corpus(seed):
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
    c, statistics = corpus(seed)
    start = np.random.default_rng(seed).normal(size=FEATURES)
    averages = naive_mira(c, statistics, start, orders(seed, 4), step, pseudo, (1,))
    found, value = online.mira(c, statistics, start, seed, 4, step, pseudo, (1,))
    values = [c.value(w) for w in averages]
    assert value == pytest.approx(max(values), abs=1e-6)
    assert min(np.abs(found - w).max() for w in averages) < 1e-6
    assert found[1] == pytest.approx(start[1])
    assert c.value(found) == pytest.approx(value)


@given(SEEDS)
def test_a_step_that_is_not_held_back_puts_hope_ahead_by_its_gain(seed):
    """The closed form: the least change of the weights after which score and BLEU differ by as much."""
    c, statistics = corpus(seed)
    one = c.candidates.sentences([0])
    alone = mert.MertCorpus(one, statistics[: one.count])
    start = np.random.default_rng(seed).normal(size=FEATURES)
    moved, _ = online.mira(alone, statistics[: one.count], start, 1, 1, 1e9, False)
    features = dense(one, FEATURES)
    gain = (1 - linear_bleu.sentence_losses(statistics[: one.count])) * statistics[: one.count, 9]
    scores = features @ start
    hope, fear = int(np.argmax(scores + gain)), int(np.argmax(scores - gain))
    change = features[hope] - features[fear]
    if gain[hope] - gain[fear] > scores[hope] - scores[fear] + 1e-9 and change @ change > 1e-9:
        assert moved @ change == pytest.approx(gain[hope] - gain[fear], abs=1e-5)
        rest = moved - start
        assert rest == pytest.approx(change * (rest @ change) / (change @ change), abs=1e-6)  # and no further
    else:
        assert moved == pytest.approx(start)


@given(SEEDS)
def test_the_perceptron_moves_to_the_best_of_the_list(seed):
    c, statistics = corpus(seed)
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
    c, statistics = corpus(3)
    none = c.candidates.sentences([1, 1])
    empty = mert.MertCorpus(none, statistics[:0])
    start = np.arange(FEATURES, dtype=float)
    assert online.perceptron(empty, statistics[:0], start, 1, 2)[0].tolist() == start.tolist()
    assert online.mira(empty, statistics[:0], start, 1, 2)[0].tolist() == start.tolist()
