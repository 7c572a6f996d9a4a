"""Passes of online learning over lists of candidates: a sentence, a step."""

import numpy as np

from aligntools.ground.compiler import kernel


@kernel(inline=True, fast=False)
def _score(features, weights, c):
    """Return a candidate's score."""
    offsets, ids, values = features
    total = 0.0
    for k in range(offsets[c], offsets[c + 1]):
        total += weights[ids[k]] * values[k]
    return total


@kernel(inline=True, fast=False)
def _differ(features, learned, right, wrong, out):
    """Put the features of one candidate less those of another into ``out``; return the squared length."""
    offsets, ids, values = features
    out[:] = 0.0
    for k in range(offsets[right], offsets[right + 1]):
        out[ids[k]] += values[k]
    for k in range(offsets[wrong], offsets[wrong + 1]):
        out[ids[k]] -= values[k]
    total = 0.0
    for f in range(len(out)):
        if not learned[f]:
            out[f] = 0.0
        total += out[f] * out[f]
    return total


@kernel(inline=True, fast=False)
def _bleu(background, statistics, c):
    """Return BLEU of the background's statistics with a candidate's."""
    log = 0.0
    for n in range(4):
        log += 0.25 * (np.log(background[n] + statistics[c, n]) - np.log(background[4 + n] + statistics[c, 4 + n]))
    length, reference = background[8] + statistics[c, 8], background[9] + statistics[c, 9]
    if reference > length:
        log += 1.0 - reference / length
    return np.exp(log)


@kernel(fast=False)
def mira_pass(
    offsets, features, order, shares, step, learned, weights, total, change, statistics, gains, decay, background
):
    """Move the weights by one sentence after another, to where hope is ahead of fear by what it gains.

    offsets (int64 [sentences + 1]), features: Of `CandidateLists`.
    statistics (float32 [candidates, 10]): BLEU's.
    gains (float64 [candidates]): What each candidate is worth, in words; empty: BLEU together with the background,
        times the references' words.
    order (int64 [sentences]): In which sentences are taken.
    shares (float64 [sentences]): What each counts.
    step, decay (float): The largest step; what a sentence leaves of the background.
    learned (bool [features]), weights (float64 [features], in place).
    background (float64 [10], in place): Statistics of the hopes so far, fading.
    total (float64 [features], in place): The weights after each sentence are added.
    change (float64 [features]): Working memory.
    """
    pseudo = len(gains) == 0
    for i in order:
        first, last = offsets[i], offsets[i + 1]
        hope, fear, highest, gravest = first, first, -np.inf, -np.inf
        hope_score, fear_score, hope_gain, fear_gain = 0.0, 0.0, 0.0, 0.0
        for c in range(first, last):
            score = _score(features, weights, c)
            if pseudo:
                gain = _bleu(background, statistics, c) * (background[9] + statistics[first, 9])
            else:
                gain = gains[c]
            if score + gain > highest:
                highest, hope, hope_score, hope_gain = score + gain, c, score, gain
            if score - gain > gravest:
                gravest, fear, fear_score, fear_gain = score - gain, c, score, gain
        behind = (hope_gain - fear_gain) - (hope_score - fear_score)
        if behind > 0.0:
            length = _differ(features, learned, hope, fear, change)
            if length > 0.0:
                size = min(step * shares[i], behind / length)
                for f in range(len(weights)):
                    weights[f] += size * change[f]
        if pseudo and last > first:
            fade = decay ** shares[i]
            for k in range(10):
                background[k] = fade * background[k] + shares[i] * statistics[hope, k]
        for f in range(len(weights)):
            total[f] += weights[f]


@kernel(fast=False)
def perceptron_pass(offsets, features, order, shares, step, learned, weights, total, change, losses):
    """Move the weights by one sentence after another, from the candidate that scores best to the one that costs least.

    losses (float64 [candidates]): Of candidates that cost the same, the one that scores best is moved to.
    The other parameters are those of `mira_pass`; every step is of the same size.
    """
    for i in order:
        first, last = offsets[i], offsets[i + 1]
        right, best, right_score, best_score = first, first, -np.inf, -np.inf
        for c in range(first, last):
            score = _score(features, weights, c)
            if score > best_score:
                best, best_score = c, score
            if losses[c] < losses[right] or (losses[c] == losses[right] and score > right_score):
                right, right_score = c, score
        if last > first and losses[right] < losses[best]:
            _differ(features, learned, right, best, change)
            for f in range(len(weights)):
                weights[f] += step * shares[i] * change[f]
        for f in range(len(weights)):
            total[f] += weights[f]
