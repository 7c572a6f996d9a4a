"""Small random sentence pairs, as the slow versions and as the package see them."""

import numpy as np

from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive.candidate_links import bare_candidates
from tests.naive_contrastive import NAMES, Pair

#: Features to which a cell adds a value of its own.
LOCAL = (
    "translation", "posterior", "agreement", "rivals", "hardest-rival", "others", "best", "diagonal-support",
    "side-support", "wide-support", "forward-use", "reverse-use", "similarity", "same-word", "symbols", "mismatch",
    "frequency-gap", "rarity", "trees",
)  # fmt: skip
#: What networks alone know of a word: the columns after these two.
MORE = kf.WORD_COLUMNS - 2
assert (kf.NULL_COST, kf.LINKED_ODDS) == (0, 1)


def random_pair(rng, n_i, n_j, density=1.0):
    """Return a pair with random values and candidates; values are multiples of 1/64, so that float32 holds them."""

    def number(*shape):
        return (rng.integers(-256, 128, shape) / 64).tolist()

    cells = [(i, j) for i in range(n_i) for j in range(n_j)]
    chosen = [c for c in cells if rng.random() < density]
    values = {name: dict(zip(cells, number(len(cells)), strict=True)) for name in LOCAL}
    words = number(n_i), number(n_j), number(n_i), number(n_j)
    return Pair(n_i, n_j, values, *words, chosen, number(n_i, MORE), number(n_j, MORE))


def candidates_of(pairs):
    def offsets(lengths):
        return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)

    links = np.array([c for p in pairs for c in p.candidates], np.int32).reshape(-1, 2)
    e = bare_candidates(
        offsets([p.n_i for p in pairs]), offsets([p.n_j for p in pairs]), offsets([len(p.candidates) for p in pairs]),
        np.ascontiguousarray(links[:, 0]), np.ascontiguousarray(links[:, 1]),
    )  # fmt: skip
    for name in LOCAL:
        e.local[:, NAMES.index(name)] = [p.cells[name][c] for p in pairs for c in p.candidates]
    e.s_words[:, kf.NULL_COST] = [x for p in pairs for x in p.s_null]
    e.t_words[:, kf.NULL_COST] = [x for p in pairs for x in p.t_null]
    e.s_words[:, kf.LINKED_ODDS] = [x for p in pairs for x in p.s_odds]
    e.t_words[:, kf.LINKED_ODDS] = [x for p in pairs for x in p.t_odds]
    for words, more in (
        (e.s_words, [x for p in pairs for x in p.s_more]),
        (e.t_words, [x for p in pairs for x in p.t_more]),
    ):
        if more:
            words[:, 2:] = more
    return e


def random_weights(rng, scale=1.0):
    """Return weights as the package takes them, and by name."""
    weights = rng.normal(0, scale, len(NAMES))
    return weights, dict(zip(NAMES, weights.tolist(), strict=True))


ALL = np.ones(len(NAMES), bool)
