"""Compiled: an encoder's layers, with products of whole numbers.

A row ``x`` goes into a product as unsigned bytes ``q = round(x / s) + z``, with a scale ``s`` and a zero ``z`` of its
own. With a matrix ``W`` of signed bytes, whose column ``k`` has the scale ``t_k``, and ``u = q @ W`` exact in 32 bits,

    (x @ W)_k = s t_k (u_k - z sum_i W_ik)

but for the rounding to bytes. Each row is computed in the same way wherever it is, and a text's attention from its own
rows alone: so other texts never change a text's states.
"""

import numpy as np

from aligntools.ground.compiler import kernel
from aligntools.ground.kernels_tiles import multiply_bytes, multiply_floats

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
#: Below the largest, no part of a sum.
_FAR = np.float32(1000.0)
_HALF, _ONE, _ZERO, _SQRT_HALF = np.float32(0.5), np.float32(1.0), np.float32(0.0), np.float32(0.70710678118654752)
#: The largest unsigned byte; the least range that a row is scaled by.
_LARGEST, _TINY = np.float32(255.0), np.float32(1e-30)
#: Of tiles: rows, columns of a panel, inputs that stand together in it; columns of a tile of bytes, and of floats.
ROWS, PANEL, GROUP, COLUMNS, FLOAT_COLUMNS = 6, 16, 4, 64, 32
_PANELS, _FLOAT_PANELS = COLUMNS // PANEL, FLOAT_COLUMNS // PANEL
_SIGN = np.int32(-(2**31))


@kernel(owning=False)
def multiply(x, packed, out):
    """Fill ``out`` with ``x @ W``.

    x (uint8 [rows, inputs]): Rows of a multiple of 6, inputs of 4.
    packed (int8 [panels, inputs / 4, 16, 4]): W, each panel 16 columns; a multiple of 4 panels.
    out (int32 [rows, 16 panels], output).
    """
    for panel in range(0, packed.shape[0], _PANELS):
        for row in range(0, x.shape[0], ROWS):
            multiply_bytes(x, row, 0, packed, panel, out, row)


@kernel(inline=True, owning=False)
def quantize_row(x, bits, row, limits, limit_bits, out, r, scales, zeros):
    """Fill ``out[r]`` with the bytes of ``x[row]``, ``scales[r]`` and ``zeros[r]`` with what they mean.

    ``bits`` is the memory of ``x`` as int32, ``limit_bits`` that of ``limits``, two numbers of scratch: floats of one
    sign are in the order of their bits, and the largest of integers is found a vector at a time.
    """
    low, high = np.int32(0), np.int32(0)
    for k in range(x.shape[1]):
        low = max(low, bits[row, k] ^ _SIGN)
        high = max(high, bits[row, k])
    limit_bits[0], limit_bits[1] = low, high
    scale = max(limits[0] + limits[1], _TINY) / _LARGEST
    zero = np.int32(limits[0] / scale + _HALF)
    scales[r], zeros[r] = scale, zero
    inverse, up = _ONE / scale, np.float32(zero) + _HALF
    for k in range(x.shape[1]):
        out[r, k] = np.uint8(np.int32(min(max(x[row, k] * inverse + up, _ZERO), _LARGEST)))


@kernel(owning=False)
def quantize(x, bits, limits, limit_bits, out, scales, zeros):
    """Turn rows into bytes.

    x (float32 [rows, n]), bits (int32 [rows, n]): Its memory.
    limits (float32 [2], scratch), limit_bits (int32 [2]): Its memory.
    out (uint8 [rows, at least n], output), scales (float32 [rows], output), zeros (int32 [rows], output).
    """
    for r in range(x.shape[0]):
        quantize_row(x, bits, r, limits, limit_bits, out, r, scales, zeros)


@kernel(owning=False)
def dequantize(products, scales, zeros, steps, sums, bias, out):
    """Turn products into numbers, the bias added.

    products (int32 [rows, at least n]), scales (float32 [rows]), zeros (int32 [rows]): Of what was multiplied.
    steps (float32 [n]), sums (int32 [n]): Each column's scale and sum.
    bias (float32 [n]), out (float32 [rows, n], output).
    """
    for r in range(out.shape[0]):
        scale, zero = scales[r], zeros[r]
        for k in range(out.shape[1]):
            out[r, k] = np.float32(products[r, k] - zero * sums[k]) * (scale * steps[k]) + bias[k]


@kernel(owning=False)
def gelu(products, scales, zeros, steps, sums, bias, values, bits, limits, limit_bits, out):
    """Turn products into bytes of gelu(a) = a (1 + erf(a / sqrt 2)) / 2, with scales and zeros of their own.

    products, steps, sums, bias: As for `dequantize`.
    scales, zeros ([rows], changed): Of what was multiplied, then of ``out``.
    values (float32 [1, n], scratch), bits (int32 [1, n]): Its memory.
    limits, limit_bits, out: As for `quantize`.
    """
    for r in range(out.shape[0]):
        scale, zero = scales[r], zeros[r]
        for k in range(values.shape[1]):
            a = np.float32(products[r, k] - zero * sums[k]) * (scale * steps[k]) + bias[k]
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
            values[0, k] = _HALF * a * (_ONE + t * p / q)
        quantize_row(values, bits, 0, limits, limit_bits, out, r, scales, zeros)


@kernel(owning=False)
def add_normalize(x, y, gain, shift, epsilon):
    """Replace each row of ``x`` by x + y, with mean 0 and variance 1, times gain plus shift.

    x (float32 [rows, n], output), y (float32 [rows, n]), gain, shift (float32 [n]).
    epsilon (np.float32): Added to the variance.
    """
    n = np.float32(x.shape[1])
    for r in range(x.shape[0]):
        total = _ZERO
        for k in range(x.shape[1]):
            x[r, k] += y[r, k]
        for k in range(x.shape[1]):
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
def exponentials(x, r, n, bits, powers, values):
    """Replace ``x[r, :n]`` by exp(x - the largest of them), the rest by nothing; return the sum.

    ``bits`` is the memory of ``x`` as int32, ``values`` that of ``powers`` as float32; rows are of whole vectors.
    """
    most = np.int32(-(2**31))
    for k in range(n):
        b = bits[r, k]
        most = max(most, b ^ ((b >> np.int32(31)) & np.int32(2**31 - 1)))
    powers[0] = most ^ ((most >> np.int32(31)) & np.int32(2**31 - 1))
    largest = values[0]
    for k in range(n, x.shape[1]):
        x[r, k] = largest - _FAR
    for k in range(x.shape[1]):
        a = max(x[r, k] - largest, _LEAST)
        whole = np.int32(a * _LOG2E - _HALF)
        powers[k] = (whole + np.int32(127)) << np.int32(23)
        f = np.float32(whole)
        a = a - f * _LN2_HIGH - f * _LN2_LOW
        p = _E[0] * a + _E[1]
        p = p * a + _E[2]
        p = p * a + _E[3]
        p = p * a + _E[4]
        p = p * a + _E[5]
        x[r, k] = p * a * a + a + _ONE
    total = _ZERO
    for k in range(x.shape[1]):
        x[r, k] *= values[k]
    for k in range(x.shape[1]):
        total += x[r, k]
    return total


@kernel(owning=False)
def attend(x, first, n, heads, keys, values, scores, bits, powers, power_values, taken, out):
    """Fill rows of ``out`` with what the pieces of a text take from each other.

    x (float32 [rows, 3 width]): Queries, keys and values of each piece; the text's rows are ``first`` to ``first + n``,
        and 5 more rows follow.
    keys (float32 [panels, size, 16], scratch): Zeros, then a head's keys as columns, in whole tiles; a head's size is
        width / heads.
    values (float32 [panels, columns of keys, 16], scratch): Zeros, then its values, in whole tiles.
    scores (float32 [6, columns of keys], scratch), bits (int32): Its memory.
    powers (int32 [columns of keys], scratch), power_values (float32): Its memory.
    taken (float32 [6, columns of values], scratch), out (float32 [rows, width], output).
    """
    width = out.shape[1]
    size = width // heads
    scale = _ONE / np.sqrt(np.float32(size))
    for head in range(heads):
        at = head * size
        for j in range(n):
            for e in range(size):
                keys[j // PANEL, e, j % PANEL] = x[first + j, width + at + e] * scale
                values[e // PANEL, j, e % PANEL] = x[first + j, 2 * width + at + e]
        for i in range(0, n, ROWS):
            for panel in range(0, keys.shape[0], _FLOAT_PANELS):
                multiply_floats(x, first + i, at, keys, panel, scores, 0)
            for r in range(ROWS):
                share = _ONE / exponentials(scores, r, n, bits, powers, power_values)
                for j in range(scores.shape[1]):
                    scores[r, j] *= share
            for panel in range(0, values.shape[0], _FLOAT_PANELS):
                multiply_floats(scores, 0, 0, values, panel, taken, 0)
            for r in range(min(ROWS, n - i)):
                for e in range(size):
                    out[first + i + r, at + e] = taken[r, e]


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
