"""A model's parameters as GIZA++'s tables have them."""

from typing import Any

import numpy as np

from aligntools.aligning.models import kernels_cepts as kc
from aligntools.aligning.models import kernels_jumps as kj
from aligntools.aligning.models.base import LexicalModel
from aligntools.aligning.models.cepts import CeptModel
from aligntools.aligning.models.ibm4 import Ibm4
from aligntools.formats.links.giza import FARTHEST_JUMP, LEAST, LONGEST, GizaTables
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.text.corpus import Side
from aligntools.formats.text.giza_numbers import FIRST


def giza_tables(
    model: LexicalModel,
    d: int,
    given: Side,
    observed: Side,
    links: Links,
    numbers: tuple[np.ndarray, np.ndarray] | None,
) -> GizaTables:
    """Return one direction's tables.

    model: Of whole words.
    d: 0 forward, 1 reverse.
    given, observed: The text that it was trained on.
    links: Of the direction: at most one for each observed word. Positions are counted over them.
    numbers (tuple of int64, or None): GIZA++'s number of each class of the given words, and of the observed ones; -1 of
        classes without words.
    """
    fertilities = p0 = heads = others = jumps = first = None
    if isinstance(model, CeptModel):
        fertilities, p0 = model.fertility[d][1:-1], 1.0 - float(model.p1[d])
        jumps, first = _all_jumps(model.jumps[d])
    if isinstance(model, Ibm4) and numbers is not None:
        of_given, of_observed = numbers
        heads = np.zeros((int(of_given.max()) + 1, int(of_observed.max()) + 1, 2 * LONGEST + 1))
        others = np.zeros(heads.shape[1:])
        known = np.flatnonzero(of_observed >= 0)
        for e in range(len(of_given)):
            if e == 0 or of_given[e] > 0:
                heads[max(of_given[e], 0), of_observed[known]] = _all_distances(model.heads[d][e, known])
        others[of_observed[known]] = _all_distances(model.others[d][known])
    positions = _positions(given, observed, links, d)
    return GizaTables(*_translations(model, d), fertilities, positions, p0, heads, others, jumps, first)


def _all_jumps(row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the HMM's jumps from -FARTHEST_JUMP to FARTHEST_JUMP, and first positions, tails written out."""
    w, n = kj.WINDOW, FARTHEST_JUMP
    jumps, first = np.full(2 * n + 1, row[kj.TAIL]), np.full(n, row[kj.FIRST_TAIL])
    jumps[n - w : n + w + 1] = row[: 2 * w + 1]
    first[: w + 1] = row[kj.FIRST : kj.FIRST_TAIL]
    return jumps, first


def _all_distances(known: np.ndarray) -> np.ndarray:
    """Return distances from -LONGEST to LONGEST; those that the last ones known stand for have their probability."""
    middle = LONGEST
    found = np.zeros((*known.shape[:-1], 2 * LONGEST + 1))
    found[..., middle - kc.FARTHEST : middle + kc.FARTHEST + 1] = known
    far = min(2 * kc.FARTHEST, LONGEST + 1)
    found[..., middle + kc.FARTHEST : middle + far] = known[..., -1:]
    found[..., middle - far + 1 : middle - kc.FARTHEST + 1] = known[..., :1]
    return found


def _translations(model: LexicalModel, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the numbers of given and observed words and their probabilities, by given word, NULL first."""
    table, lexicon = model.table, model.lexicon
    s, t = np.repeat(np.arange(table.n_source), np.diff(table.ptr)), table.ids.astype(np.int64)
    values, inverse = ((lexicon.forward, lexicon.s_inverse), (lexicon.reverse, lexicon.t_inverse))[d]
    given, observed, null = (s, t, model.t_null) if d == 0 else (t, s, model.s_null)
    p = values.astype(np.float64) * inverse[given]
    kept = np.flatnonzero(p > LEAST)
    if d:
        kept = kept[np.argsort(given[kept], kind="stable")]
    words = np.arange(1, len(null) - 1)
    return (
        np.concatenate([np.zeros(len(words), np.int64), given[kept] + FIRST - 1]),
        np.concatenate([words, observed[kept]]) + FIRST - 1,
        np.concatenate([null[1:-1], p[kept]]),
    )


def _positions(given: Side, observed: Side, links: Links, d: int) -> list[tuple[Any, Any, Any, Any]]:
    """Return ``a(i | j, l)`` and ``d(j | i, m)`` as the links have them, of sentences that GIZA++ takes."""
    lengths = given.lengths(), observed.lengths()
    sentence = np.repeat(np.arange(len(observed)), lengths[1])
    j = np.arange(len(sentence)) - np.repeat(observed.offsets[:-1], lengths[1])
    i = np.zeros(len(sentence), np.int64)
    of_link = links.sentences()
    i[observed.offsets[of_link] + links.pairs[:, 1 - d]] = links.pairs[:, d] + 1
    fits = (np.maximum(*lengths)[sentence] < LONGEST) & (lengths[0][sentence] > 0)
    i, j, sentence = i[fits], j[fits] + 1, sentence[fits]
    linked = i > 0
    return [
        _shares(i, j, lengths[0][sentence], of_observed=True),
        _shares(i[linked], j[linked], lengths[1][sentence[linked]], of_observed=False),
    ]


def _shares(i: np.ndarray, j: np.ndarray, length: np.ndarray, of_observed: bool) -> tuple[Any, Any, Any, Any]:
    """Return i, j and length, and their share of those with the same length and j, or i."""
    size = LONGEST + 1
    keys, counts = np.unique((length * size + i) * size + j, return_counts=True)
    length, i, j = keys // size**2, keys // size % size, keys % size
    of = length * size + (j if of_observed else i)
    return i, j, length, counts / np.bincount(of, counts)[of]
