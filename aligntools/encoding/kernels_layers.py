"""Compiled: what an encoder's layers do between products of matrices.

Each row's values are worked out in the same way wherever the row stands, and a text's attention from its own rows
alone: so what surrounds a text in memory never shows in its states.
"""

import numpy as np

from aligntools.ground.compiling import kernel

#: erf(x) = x P(x^2) / Q(x^2) for x cut to what 32 bits tell from 1, coefficients from the highest power.
_MOST = np.float32(4.0)
_P = (
    np.float32(-2.72614225801306e-10),
    np.float32(2.77068142495902e-08),
    np.float32(-2.10102402082508e-06),
    np.float32(-5.69250639462346e-05),
    np.float32(-7.34990630326855e-04),
    np.float32(-2.95459980854025e-03),
    np.float32(-1.60960333262415e-02),
)
_Q = (
    np.float32(-1.45660718464996e-05),
    np.float32(-2.13374055278905e-04),
    np.float32(-1.68282697438203e-03),
    np.float32(-7.37332916720468e-03),
    np.float32(-1.42647390514189e-02),
)
#: exp(x) = 2^n exp(x - n log 2), the second by a polynomial (Cephes), coefficients from the highest power.
_E = (
    np.float32(1.9875691500e-4),
    np.float32(1.3981999507e-3),
    np.float32(8.3334519073e-3),
    np.float32(4.1665795894e-2),
    np.float32(1.6666665459e-1),
    np.float32(5.0000001201e-1),
)
_LOG2E, _LN2_HIGH, _LN2_LOW = np.float32(1.44269504), np.float32(0.693359375), np.float32(-2.12194440e-4)
#: The least that is raised to a power of e.
_LEAST = np.float32(-87.0)
_HALF, _ONE, _ZERO, _SQRT_HALF = np.float32(0.5), np.float32(1.0), np.float32(0.0), np.float32(0.70710678118654752)


@kernel(owning=False)
def add_gelu(x, bias):
    """Replace each row ``v`` of ``x`` by gelu(v + bias), gelu(a) = a (1 + erf(a / sqrt 2)) / 2.

    x (float32 [rows, n], output), bias (float32 [n]).
    """
    for r in range(x.shape[0]):
        for k in range(x.shape[1]):
            a = x[r, k] + bias[k]
            t = min(max(a * _SQRT_HALF, -_MOST), _MOST)
            s = t * t
            p = _P[0] * s + _P[1]
            p = p * s + _P[2]
            p = p * s + _P[3]
            p = p * s + _P[4]
            p = p * s + _P[5]
            p = p * s + _P[6]
            q = _Q[0] * s + _Q[1]
            q = q * s + _Q[2]
            q = q * s + _Q[3]
            q = q * s + _Q[4]
            x[r, k] = _HALF * a * (_ONE + t * p / q)


@kernel(owning=False)
def add_normalize(x, y, bias, gain, shift, epsilon):
    """Replace each row of ``x`` by x + y + bias, with mean 0 and variance 1, times gain plus shift.

    x (float32 [rows, n], output), y (float32 [rows, n]), bias, gain, shift (float32 [n]).
    epsilon (np.float32): Added to the variance.
    """
    n = np.float32(x.shape[1])
    for r in range(x.shape[0]):
        total = _ZERO
        for k in range(x.shape[1]):
            x[r, k] += y[r, k] + bias[k]
            total += x[r, k]
        mean = total / n
        squares = _ZERO
        for k in range(x.shape[1]):
            d = x[r, k] - mean
            squares += d * d
        scale = _ONE / np.sqrt(squares / n + epsilon)
        for k in range(x.shape[1]):
            x[r, k] = (x[r, k] - mean) * scale * gain[k] + shift[k]


@kernel(inline=True, owning=False)
def exponentials(x, n, most, powers, values):
    """Replace ``x[:n]`` by exp(x - most); return the sum. ``values`` is the memory of ``powers``, as float32."""
    for k in range(n):
        a = max(x[k] - most, _LEAST)
        whole = np.int32(a * _LOG2E - _HALF)
        powers[k] = (whole + np.int32(127)) << np.int32(23)
        f = np.float32(whole)
        a = a - f * _LN2_HIGH - f * _LN2_LOW
        p = _E[0] * a + _E[1]
        p = p * a + _E[2]
        p = p * a + _E[3]
        p = p * a + _E[4]
        p = p * a + _E[5]
        x[k] = p * a * a + a + _ONE
    total = _ZERO
    for k in range(n):
        x[k] *= values[k]
        total += x[k]
    return total


@kernel(owning=False)
def attend(x, bias, starts, heads, turned, scores, powers, values, out):
    """Fill ``out`` with what each text's pieces take from each other.

    x (float32 [rows, 3 * width]): Queries, keys and values of each piece, without the bias.
    bias (float32 [3 * width]).
    starts (int64 [texts + 1]): Text ``k`` has the rows from ``starts[k]`` to ``starts[k + 1]``.
    turned (float32 [width / heads, pieces of the longest text], scratch), scores (float32 [pieces of the longest text],
        scratch), powers (int32 [pieces of the longest text], scratch).
    values (float32 [pieces of the longest text]): The memory of ``powers``.
    out (float32 [rows, width], output).
    """
    width = out.shape[1]
    size = width // heads
    scale = _ONE / np.sqrt(np.float32(size))
    for text in range(starts.shape[0] - 1):
        first, n = starts[text], starts[text + 1] - starts[text]
        for head in range(heads):
            at = head * size
            for j in range(n):
                for e in range(size):
                    turned[e, j] = x[first + j, width + at + e] + bias[width + at + e]
            for i in range(n):
                for j in range(n):
                    scores[j] = _ZERO
                for e in range(0, size - 3, 4):
                    row = first + i
                    a = (x[row, at + e] + bias[at + e]) * scale
                    b = (x[row, at + e + 1] + bias[at + e + 1]) * scale
                    c = (x[row, at + e + 2] + bias[at + e + 2]) * scale
                    d = (x[row, at + e + 3] + bias[at + e + 3]) * scale
                    for j in range(n):
                        more = a * turned[e, j] + b * turned[e + 1, j]
                        scores[j] += more + (c * turned[e + 2, j] + d * turned[e + 3, j])
                for e in range(size - size % 4, size):
                    a = (x[first + i, at + e] + bias[at + e]) * scale
                    for j in range(n):
                        scores[j] += a * turned[e, j]
                most = scores[0]
                for j in range(n):
                    most = max(most, scores[j])
                share = _ONE / exponentials(scores, n, most, powers, values)
                for e in range(size):
                    out[first + i, at + e] = bias[2 * width + at + e]
                v = 2 * width + at
                for j in range(0, n - 3, 4):
                    row = first + j
                    a, b, c, d = scores[j] * share, scores[j + 1] * share, scores[j + 2] * share, scores[j + 3] * share
                    for e in range(size):
                        more = a * x[row, v + e] + b * x[row + 1, v + e]
                        out[first + i, at + e] += more + (c * x[row + 2, v + e] + d * x[row + 3, v + e])
                for j in range(n - n % 4, n):
                    a = scores[j] * share
                    for e in range(size):
                        out[first + i, at + e] += a * x[first + j, v + e]


@kernel(owning=False)
def means(states, of, word, out):
    """Add the mean state of each word's pieces to ``out``, whose rows are zeros before.

    states (float32 [pieces, width]).
    of, word (int32 [n]): Piece ``of[k]`` is part of word ``word[k]``; by words in order.
    out (float32 [words, width], output).
    """
    begin = 0
    while begin < word.shape[0]:
        end = begin
        while end < word.shape[0] and word[end] == word[begin]:
            for k in range(out.shape[1]):
                out[word[begin], k] += states[of[end], k]
            end += 1
        share = _ONE / np.float32(end - begin)
        for k in range(out.shape[1]):
            out[word[begin], k] *= share
        begin = end
