"""Compiled: the log-odds of links under a convolutional network over the link matrix.

Only candidates have values: a cell that is none is passed over, as in submanifold sparse convolutions (Graham & van der
Maaten 2017), so the cost goes by the candidates, not by the matrix.
"""

from typing import NamedTuple

import numpy as np

from aligntools.aligning.contrastive.kernels_features import POSTERIOR, WORD_COLUMNS, pair_of
from aligntools.ground.compiler import kernel

#: Inputs of a candidate after the columns of its features: all that is known of its source word, then of its target's.
WORD_INPUTS = 2 * WORD_COLUMNS
#: What inputs of words are cut to.
LEAST, MOST = np.float32(-12.0), np.float32(14.0)
#: Values of a candidate after each layer; a constant, so that loops over them are compiled without any.
CHANNELS = 24
#: What a layer looks at: the candidate, its eight neighbours, the highest values of its row and of its column.
PLACES = 11
OF_ROW, OF_COLUMN = 9, 10
#: Candidates that are multiplied with a matrix together, so that each of its numbers is read once for all.
TOGETHER = 4
#: The neighbours (columns of ``neighbours``) in a matrix whose rows and columns change places.
TURNED = (0, 3, 5, 1, 6, 2, 4, 7)


class Network(NamedTuple):
    """Networks whose log-odds are averaged; see `linknetwork.LinkNetwork`.

    columns (int32 [2, features]): Columns of the candidates' features: as they are, and where source and target change
        places.
    first (float32 [networks, inputs, CHANNELS]), first_bias (float32 [networks, CHANNELS]).
    layers (float32 [networks, layers, PLACES, CHANNELS, CHANNELS]): From each place's channels, to the candidate's.
    biases (float32 [networks, layers, CHANNELS]), last (float32 [networks, CHANNELS]), last_bias (float32 [networks]).
    trust (float32 [networks]): What the base model's own log-odds count for.
    """

    columns: np.ndarray
    first: np.ndarray
    first_bias: np.ndarray
    layers: np.ndarray
    biases: np.ndarray
    last: np.ndarray
    last_bias: np.ndarray
    trust: np.ndarray


@kernel(inline=True, owning=False)
def add_product(values, n, matrix, out, to):
    """Add ``values[n] @ matrix`` to ``out[to]``."""
    size = matrix.shape[0]
    for a in range(0, size - 3, 4):
        v, w, x, y = values[n, a], values[n, a + 1], values[n, a + 2], values[n, a + 3]
        if v != 0.0 or w != 0.0 or x != 0.0 or y != 0.0:
            for b in range(CHANNELS):
                out[to, b] += v * matrix[a, b] + w * matrix[a + 1, b] + (x * matrix[a + 2, b] + y * matrix[a + 3, b])
    for a in range(size - size % 4, size):
        x = values[n, a]
        for b in range(CHANNELS):
            out[to, b] += x * matrix[a, b]


@kernel(inline=True, owning=False)
def add_products(values, chosen, to, count, matrix, sums, out):
    """Add ``values[chosen[n]] @ matrix`` to ``out[to[n]]``, for each of ``count`` places.

    The last ones are worked several times where TOGETHER are too many, so that all round alike.
    """
    last = count - 1
    for n in range(0, count, TOGETHER):
        i, j, k, m = chosen[n], chosen[min(n + 1, last)], chosen[min(n + 2, last)], chosen[min(n + 3, last)]
        for b in range(TOGETHER * CHANNELS):
            sums[b] = 0.0
        for a in range(0, CHANNELS, 4):
            i0, i1, i2, i3 = values[i, a], values[i, a + 1], values[i, a + 2], values[i, a + 3]
            j0, j1, j2, j3 = values[j, a], values[j, a + 1], values[j, a + 2], values[j, a + 3]
            k0, k1, k2, k3 = values[k, a], values[k, a + 1], values[k, a + 2], values[k, a + 3]
            m0, m1, m2, m3 = values[m, a], values[m, a + 1], values[m, a + 2], values[m, a + 3]
            for b in range(CHANNELS):
                w, x, y, z = matrix[a, b], matrix[a + 1, b], matrix[a + 2, b], matrix[a + 3, b]
                sums[b] += i0 * w + i1 * x + (i2 * y + i3 * z)
                sums[CHANNELS + b] += j0 * w + j1 * x + (j2 * y + j3 * z)
                sums[2 * CHANNELS + b] += k0 * w + k1 * x + (k2 * y + k3 * z)
                sums[3 * CHANNELS + b] += m0 * w + m1 * x + (m2 * y + m3 * z)
        for g in range(min(TOGETHER, count - n)):
            for b in range(CHANNELS):
                out[to[n + g], b] += sums[g * CHANNELS + b]


@kernel(part=True)
def first_layer(pair, rows, columns, s_words, t_words, asked, weights, bias, x, h):
    """Fill ``h`` with the first layer's values of each candidate."""
    n = asked.shape[0]
    for c in range(rows.shape[0]):
        for f in range(n):
            x[0, f] = pair.local[c, asked[f]]
        for a in range(WORD_COLUMNS):
            x[0, n + a] = min(max(s_words[rows[c], a], LEAST), MOST)
            x[0, n + WORD_COLUMNS + a] = min(max(t_words[columns[c], a], LEAST), MOST)
        for b in range(CHANNELS):
            h[c, b] = bias[b]
        add_product(x, 0, weights, h, c)
        for b in range(CHANNELS):
            h[c, b] = max(h[c, b], np.float32(0.0))


@kernel(part=True)
def highest(lines, size, h, matrix, most, products, places, sums):
    """Fill ``products`` with ``matrix`` times the highest values of each of ``size`` rows, or columns."""
    for line in range(size):
        for b in range(CHANNELS):
            most[line, b] = 0.0
            products[line, b] = 0.0
        places[0, line] = 0
    for c in range(lines.shape[0]):
        places[0, lines[c]] = 1
        for b in range(CHANNELS):
            most[lines[c], b] = max(most[lines[c], b], h[c, b])
    count = 0
    for line in range(size):  # those that have candidates
        if places[0, line] == 1:
            places[1, count] = line
            count += 1
    add_products(most, places[1], places[1], count, matrix, sums, products)


@kernel(owning=False)
def network_odds(k0, k1, candidates, network, turned, x, words, values, places, out):
    """Average the networks' log-odds, each over the pair and over the pair with its sides exchanged.

    turned (bool): Each judges both; otherwise every second one judges the pair with its sides exchanged, and the others
        the pair.
    x (float32 [2, inputs or TOGETHER * CHANNELS], scratch), words (float32 [3, words of the longest side, CHANNELS],
        scratch), values (float32 [2, candidates of the largest pair, CHANNELS], scratch), places (int64 [2, candidates
        of the largest pair, or words of the longest side], scratch), out (float32 [candidates], output).
    """
    n_networks, n_layers = network.layers.shape[0], network.layers.shape[1]
    share = np.float32(1.0 / (2 * n_networks if turned else n_networks))
    most, of_rows, of_columns, h, z = words[0], words[1], words[2], values[0], values[1]
    chosen, to, sums = places[0], places[1], x[1]
    for k in range(k0, k1):
        pair = pair_of(candidates, k)
        base, n = candidates.starts[k], pair.rows.shape[0]
        for c in range(n):
            out[base + c] = 0.0
        for side in range(2):
            rows, columns, s_words, t_words = pair.rows, pair.columns, pair.s_words, pair.t_words
            if side == 1:
                rows, columns, s_words, t_words = columns, rows, t_words, s_words
            for m in range(n_networks):
                if not turned and m % 2 != side:
                    continue
                asked, weights, bias = network.columns[side], network.first[m], network.first_bias[m]
                first_layer(pair, rows, columns, s_words, t_words, asked, weights, bias, x, h)
                for layer in range(n_layers):
                    weights, bias = network.layers[m, layer], network.biases[m, layer]
                    highest(rows, s_words.shape[0], h, weights[OF_ROW], most, of_rows, places, sums)
                    highest(columns, t_words.shape[0], h, weights[OF_COLUMN], most, of_columns, places, sums)
                    for c in range(n):
                        for b in range(CHANNELS):
                            z[c, b] = bias[b] + of_rows[rows[c], b] + of_columns[columns[c], b]
                        to[c] = c
                    add_products(h, to, to, n, weights[0], sums, z)
                    for d in range(8):
                        way, count = TURNED[d] if side == 1 else d, 0
                        for c in range(n):
                            if pair.neighbours[c, way] >= 0:
                                chosen[count], to[count] = pair.neighbours[c, way], c
                                count += 1
                        add_products(h, chosen, to, count, weights[1 + d], sums, z)
                    for c in range(n):
                        for b in range(CHANNELS):
                            h[c, b] += max(z[c, b], np.float32(0.0))
                for c in range(n):
                    total = network.trust[m] * pair.local[c, POSTERIOR] + network.last_bias[m]
                    for b in range(CHANNELS):
                        total += network.last[m, b] * h[c, b]
                    out[base + c] += share * total


#: The candidate and its eight neighbours.
AROUND = 9


@kernel(owning=False)
def give_around(change, neighbours, to):
    """Add gradients ``change`` [candidates, AROUND * CHANNELS], of each and its neighbours, to those of all."""
    for c in range(to.shape[0]):
        for b in range(CHANNELS):
            to[c, b] += change[c, b]
        for d in range(8):
            other, at = neighbours[c, d], (1 + d) * CHANNELS
            if other >= 0:
                for b in range(CHANNELS):
                    to[other, b] += change[c, at + b]


@kernel(owning=False)
def find_highest(h, lines, most, where):
    """Find the highest channels above 0 of each line, and which candidates have them (-1: none)."""
    most[:] = 0.0
    where[:] = -1
    for c in range(h.shape[0]):
        line = lines[c]
        for b in range(CHANNELS):
            if h[c, b] > most[line, b]:
                most[line, b] = h[c, b]
                where[line, b] = c


@kernel(owning=False)
def give_highest(change, where, to):
    """Add the gradients of `find_highest` to those of the candidates that it found."""
    for line in range(change.shape[0]):
        for b in range(CHANNELS):
            if where[line, b] >= 0:
                to[where[line, b], b] += change[line, b]


@kernel(owning=False)
def sum_lines(values, lines, out):
    """Sum over the candidates of each line."""
    out[:] = 0.0
    for c in range(values.shape[0]):
        for b in range(CHANNELS):
            out[lines[c], b] += values[c, b]


@kernel(owning=False)
def pass_on(z, drawn, dropped, h, gate, out):
    """Add to ``h`` what of ``z`` is above 0 and not dropped.

    drawn (float [candidates, CHANNELS], from 0 to 1).
    dropped (float): The share that is dropped; what is left counts for as much more.
    gate (float [candidates, CHANNELS], output): What each value of ``z`` was multiplied with.
    """
    kept = (dropped + 1 - dropped) / (1 - dropped)
    for c in range(h.shape[0]):
        for b in range(CHANNELS):
            gate[c, b] = kept if (z[c, b] > 0.0 and drawn[c, b] >= dropped) else 0.0
            out[c, b] = h[c, b] + gate[c, b] * z[c, b]
