"""Inside and outside over a grammar whose preterminals are hidden: what a sentence has of each rule.

A word of a sentence is taken for a tag of its own. The rules with this tag are those with any preterminal, each times
the probability that the preterminal has the word:

    p(A -> i C) = sum_T p(T -> x_i) p(A -> T C)

So the kernels of grammars of tags do the rest, and their expectations are carried back to preterminals. Expected counts
are the derivatives of the sentence's log-probability by logarithms of rules' probabilities (Eisner 2016).
"""

import numpy as np

from aligntools.constituents.inducing import kernels_dense
from aligntools.constituents.inducing.model import Brackets, chart, zeros

#: Of a word that no preterminal has.
_LEAST = 1e-300


def _places(
    tables: kernels_dense.TensorRules, emissions: np.ndarray
) -> tuple[kernels_dense.TensorRules, np.ndarray, float]:
    """Return the rules of a sentence, whose tags are its places.

    Returns shares (float64 [words, preterminals]): Of each word, up to a factor.
    Returns lost: The logarithm of the factors.
    """
    n, hidden = emissions.shape
    size = len(tables.roots)
    most = np.maximum(emissions.max(1), _LEAST)
    shares = emissions / most[:, None]
    left, right = (
        np.ascontiguousarray((shares @ table.reshape(hidden, -1)).reshape(n, size, size))
        for table in (tables.left_tag, tables.right_tag)
    )
    pairs = np.zeros((n, n, size))
    first = (shares[:-1] @ tables.tags.reshape(hidden, -1)).reshape(n - 1, hidden, size)
    at = np.arange(n - 1)
    pairs[at, at + 1] = np.matmul(shares[1:, None], first)[:, 0]
    rules = kernels_dense.TensorRules(tables.roots, tables.symbols, left, right, pairs)
    return rules, shares, float(np.log(most).sum())


def _sentence(n: int) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(n, dtype=np.int32), np.array([0, n], np.int64)


def expectations(
    tables: kernels_dense.TensorRules, emissions: np.ndarray
) -> tuple[float, kernels_dense.TensorRules, np.ndarray]:
    """Return what a sentence of two words and more is expected to have, its log-probability first.

    tables: Probabilities, with preterminals for tags.
    emissions (float64 [words, preterminals]): The probability of each word by each preterminal, above 0.
    Returns tables: Derivatives by probabilities of rules; times these they are expected counts. Those of roots are
        counts already.
    Returns posteriors (float64 [words, preterminals]): How probable each preterminal is above each word.
    """
    n, size = len(emissions), len(tables.roots)
    (own, shares, lost), counts = _places(tables, emissions), zeros(size, n)
    value, _ = kernels_dense.expect(*_sentence(n), *Brackets.of([()]), 0, 1, own, chart(n, size), counts)
    return value + lost, *_carried_back(tables, shares, counts)


def _carried_back(
    tables: kernels_dense.TensorRules, shares: np.ndarray, counts: kernels_dense.TensorRules
) -> tuple[kernels_dense.TensorRules, np.ndarray]:
    """Return derivatives by probabilities of rules with preterminals, and the preterminals' posteriors."""
    n, hidden = shares.shape
    size, at = len(tables.roots), np.arange(n - 1)
    by_left, by_right = counts.left_tag.reshape(n, -1), counts.right_tag.reshape(n, -1)
    by_pair = counts.tags[at, at + 1]
    left, right = ((shares.T @ by).reshape(hidden, size, size) for by in (by_left, by_right))
    spread = (shares[1:, :, None] * by_pair[:, None, :]).reshape(n - 1, hidden * size)
    pairs = (shares[:-1].T @ spread).reshape(hidden, hidden, size)
    by_share = by_left @ tables.left_tag.reshape(hidden, -1).T + by_right @ tables.right_tag.reshape(hidden, -1).T
    both = (by_pair @ tables.tags.reshape(-1, size).T).reshape(n - 1, hidden, hidden)
    by_share[:-1] += np.matmul(both, shares[1:, :, None])[:, :, 0]
    by_share[1:] += np.matmul(shares[:-1, None], both)[:, 0]
    return kernels_dense.TensorRules(counts.roots, counts.symbols, left, right, pairs), by_share * shares


def best_tree(tables: kernels_dense.TensorRules, emissions: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
    """Return the tree of a sentence that has the most spans right, as far as the grammar knows (Goodman 1996).

    Returns nodes (int32 [2 * words - 1, 3]): Begin, end and symbol, parents before children; -1 for a word, -2 where
        the grammar has no tree, and every node branches to the right.
    Returns posteriors (float64 [words, preterminals]).
    """
    n, size = len(emissions), len(tables.roots)
    nodes, scores = np.zeros((2 * n - 1, 3), np.int32), np.zeros(1)
    if n == 1:
        nodes[0] = 0, 1, -1
        return nodes, 0.0, emissions / np.maximum(emissions.sum(), _LEAST)
    (own, shares, lost), counts = _places(tables, emissions), zeros(size, n)
    memory = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1), np.int64)
    kernels_dense.decode(*_sentence(n), 0, 1, own, chart(n, size), counts, *memory, nodes, scores)
    return nodes, float(scores[0]) + lost, _carried_back(tables, shares, counts)[1]
