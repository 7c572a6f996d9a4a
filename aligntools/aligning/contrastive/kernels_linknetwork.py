"""Compiled: the log-odds of links under a convolutional network over the link matrix.

Only candidates have values: a cell that is none is passed over, as in submanifold sparse convolutions (Graham & van der
Maaten 2017), so the cost goes by the candidates, not by the matrix.
"""

from typing import NamedTuple

import numpy as np

from aligntools.aligning.contrastive.kernels_features import POSTERIOR, WORD_COLUMNS, pair_of
from aligntools.ground.compiling import kernel

#: Inputs of a candidate after the columns of its features: all that is known of its source word, then of its target's.
WORD_INPUTS = 2 * WORD_COLUMNS
#: What inputs of words are cut to.
LEAST, MOST = np.float32(-12.0), np.float32(14.0)
#: Values of a candidate after each layer; a constant, so that loops over them are compiled without any.
CHANNELS = 24
#: What a layer looks at: the candidate, its eight neighbours, the highest values of its row and of its column.
PLACES = 11
OF_ROW, OF_COLUMN = 9, 10
#: The neighbours (columns of ``neighbours``) in a matrix whose rows and columns change places.
TURNED = (0, 3, 5, 1, 6, 2, 4, 7)


class Network(NamedTuple):
    """Networks whose log-odds are averaged; see `linknetwork.LinkNetwork`.

    Attributes
    ----------
    columns : int32 [2, features]
        Columns of the candidates' features: as they are, and where source and target change places.
    first : float32 [networks, inputs, CHANNELS]
    first_bias : float32 [networks, CHANNELS]
    layers : float32 [networks, layers, PLACES, CHANNELS, CHANNELS]
        From each place's channels, to the candidate's.
    biases : float32 [networks, layers, CHANNELS]
    last : float32 [networks, CHANNELS]
    last_bias : float32 [networks]
    trust : float32 [networks]
        What the base model's own log-odds count for.
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
def highest(lines, size, h, matrix, most, products):
    """Fill ``products`` with ``matrix`` times the highest values of each of ``size`` rows, or columns."""
    for line in range(size):
        for b in range(CHANNELS):
            most[line, b] = 0.0
            products[line, b] = 0.0
    for c in range(lines.shape[0]):
        for b in range(CHANNELS):
            most[lines[c], b] = max(most[lines[c], b], h[c, b])
    for line in range(size):
        add_product(most, line, matrix, products, line)


@kernel(owning=False)
def network_odds(k0, k1, candidates, network, x, words, values, out):
    """Average the networks' log-odds, each over the pair and over the pair with its sides changed.

    Parameters
    ----------
    candidates : kernels_features.Candidates
    network : Network
    x : float32 [1, inputs], scratch
    words : float32 [3, words of the longest side, CHANNELS], scratch
    values : float32 [2, candidates of the largest pair, CHANNELS], scratch
    out : float32 [candidates], output
    """
    n_networks, n_layers = network.layers.shape[0], network.layers.shape[1]
    share = np.float32(1.0 / (2 * n_networks))
    most, of_rows, of_columns, h, z = words[0], words[1], words[2], values[0], values[1]
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
                first_layer(
                    pair,
                    rows,
                    columns,
                    s_words,
                    t_words,
                    network.columns[side],
                    network.first[m],
                    network.first_bias[m],
                    x,
                    h,
                )
                for layer in range(n_layers):
                    weights, bias = network.layers[m, layer], network.biases[m, layer]
                    highest(rows, s_words.shape[0], h, weights[OF_ROW], most, of_rows)
                    highest(columns, t_words.shape[0], h, weights[OF_COLUMN], most, of_columns)
                    for c in range(n):
                        for b in range(CHANNELS):
                            z[c, b] = bias[b] + of_rows[rows[c], b] + of_columns[columns[c], b]
                        add_product(h, c, weights[0], z, c)
                        for d in range(8):
                            other = pair.neighbours[c, TURNED[d] if side == 1 else d]
                            if other >= 0:
                                add_product(h, other, weights[1 + d], z, c)
                    for c in range(n):
                        for b in range(CHANNELS):
                            h[c, b] += max(z[c, b], np.float32(0.0))
                for c in range(n):
                    total = network.trust[m] * pair.local[c, POSTERIOR] + network.last_bias[m]
                    for b in range(CHANNELS):
                        total += network.last[m, b] * h[c, b]
                    out[base + c] += share * total
