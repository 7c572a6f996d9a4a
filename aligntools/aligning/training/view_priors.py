"""Priors from other text as one view of a text takes them: pseudo-counts in the view's ids.

Words are put in lower case if the text was, and cut as in the view; counts of words that become the same are added.
Counts of words that the text does not have are left out, as eflomal leaves them out.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from aligntools.aligning.models import kernels_jumps as kj
from aligntools.aligning.models import kernels_link_counts as kc
from aligntools.aligning.settings import PriorWeights
from aligntools.aligning.text.cooccurrence import Table
from aligntools.aligning.text.subwords import Subwords
from aligntools.aligning.text.views import ViewWords, cut
from aligntools.formats.links.priors import Counted, Priors
from aligntools.words.vocabulary import Vocabulary

_log = logging.getLogger("aligntools")
#: Words without a link for each one with links, where priors do not count them: eflomal's do not.
UNLINKED = 0.2
#: Links of words that are cut into pieces at a time.
_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class GivenPriors:
    """Counts that training starts from.

    of_pieces: Those links of words that pieces of words have too, in full.
    """

    priors: Priors | None = None
    weights: PriorWeights = PriorWeights()  # noqa: RUF009
    of_pieces: Priors | None = None


@dataclass(frozen=True, eq=False)
class ViewPriors:
    """Pseudo-counts of one view; ``jumps`` are float64 [2, 2 * JUMPS + 1].

    keys, alphas (int64 [n], float32 [n]): ``source * n_target + target`` of pairs that the text has, ascending.
    s_null, t_null (float64 [n_words + 1]): Of links to NULL.
    fertilities (list of float32 [n_words, FERTILITIES]): Forward (of source words) and reverse.
    """

    keys: np.ndarray
    alphas: np.ndarray
    s_null: np.ndarray
    t_null: np.ndarray
    fertilities: list[np.ndarray]
    jumps: np.ndarray

    def of_pairs(self, table: Table) -> np.ndarray:
        """Return the pseudo-counts of a table's pairs, float32 [n_pairs]."""
        rows = np.repeat(np.arange(table.n_source, dtype=np.int64), np.diff(table.ptr))
        return found_in(rows * table.n_target + table.ids, self.keys, self.alphas)

    def window(self) -> np.ndarray:
        """Return the jumps as the HMM counts them: float64 [2, FIRST], the tail last."""
        out = np.zeros((2, kj.FIRST))
        w = kj.WINDOW
        out[:, : 2 * w + 1] = self.jumps[:, kc.JUMPS - w : kc.JUMPS + w + 1]
        out[:, kj.TAIL] = self.jumps.sum(1) - out.sum(1)
        return out


#: Maps priors into a view.
ViewMapping: TypeAlias = Callable[[ViewWords], ViewPriors]


def add_jumps(counts: np.ndarray, window: np.ndarray) -> None:
    """Add pseudo-counts of jumps to counts (float64 [2, 2, JUMP_SIZE]), in place.

    How often each of them was possible is not known; it is taken to be in proportion to what it was here.
    """
    for d in range(2):
        seen = counts[d, 0, : kj.FIRST].sum()
        if seen > 0:
            counts[d, 1, : kj.FIRST] *= 1 + window[d].sum() / seen
            counts[d, 0, : kj.FIRST] += window[d]


def found_in(wanted: np.ndarray, keys: np.ndarray, alphas: np.ndarray) -> np.ndarray:
    """Return the numbers of keys where they are wanted, 0 elsewhere; both ascend; float32 [wanted]."""
    out = np.zeros(len(wanted), np.float32)
    if len(wanted):
        at = np.minimum(np.searchsorted(wanted, keys), len(wanted) - 1)
        found = wanted[at] == keys
        out[at[found]] = alphas[found]
    return out


def tell_foreign(pairs: int) -> None:
    """Log how many pairs of words with priors are not in the text."""
    _log.warning(
        "none of the %d pairs of words in the priors is one of the text: other languages, exchanged sides, or another"
        " tokenization?",
        pairs,
    )


def ids_in(vocabulary: Vocabulary, ids: dict[str, int], letters: int, lowercase: bool = False) -> np.ndarray:
    """Return each word's id in a view, -1 for those that the text does not have; NULL is 0."""
    out = np.zeros(len(vocabulary), np.int64)
    for k, word in enumerate(vocabulary.words()[1:], 1):
        out[k] = ids.get(cut(word.lower() if lowercase else word, letters), -1)
    return out


def view_priors(priors: Priors, words: ViewWords, lowercase: bool, weights: PriorWeights) -> ViewPriors:
    """Map priors into a view of a text.

    lowercase: Whether the text was put in lower case.
    """
    s_ids = ids_in(priors.source_vocabulary, words.s_ids, words.letters, lowercase)
    t_ids = ids_in(priors.target_vocabulary, words.t_ids, words.letters, lowercase)
    n_s, n_t = len(words.s_words), len(words.t_words)
    s, t = s_ids[priors.lexical.keys[:, 0]], t_ids[priors.lexical.keys[:, 1]]
    alphas = priors.lexical.alphas * weights.prior_lexical

    def total(places: np.ndarray, where: np.ndarray, size: int) -> np.ndarray:
        return np.bincount(places[where], alphas[where], size)

    kept = (s > 0) & (t > 0)
    keys = s[kept] * n_t + t[kept]
    keys, places = np.unique(keys, return_inverse=True)
    return ViewPriors(
        keys,
        np.bincount(places, alphas[kept], len(keys)).astype(np.float32),
        total(s, (s > 0) & (t == 0), n_s + 1),
        total(t, (t > 0) & (s == 0), n_t + 1),
        [
            _fertilities(priors.source_fertilities, s_ids, n_s, weights.prior_fertility),
            _fertilities(priors.target_fertilities, t_ids, n_t, weights.prior_fertility),
        ],
        np.stack([_jumps(table, weights.prior_jumps) for table in (priors.forward_jumps, priors.reverse_jumps)]),
    )


def of_pieces(priors: Priors, source: Subwords, target: Subwords, lowercase: bool) -> Priors:
    """Return links of words as links of all their pieces, each with its share of the count.

    What a link counts for goes to the pieces of the longer word in equal shares; fertilities and jumps are left out.
    """
    (s_sizes, s_ids, s_names), (t_sizes, t_ids, t_names) = (
        subwords.cut([word.lower() for word in words.words()] if lowercase else words.words())
        for words, subwords in ((priors.source_vocabulary, source), (priors.target_vocabulary, target))
    )
    s_starts, t_starts = (np.cumsum(sizes) - sizes for sizes in (s_sizes, t_sizes))
    found = Counted.none(2)
    for begin in range(0, len(priors.lexical), _BLOCK):
        s, t = priors.lexical.keys[begin : begin + _BLOCK].T.astype(np.int64)
        alphas = priors.lexical.alphas[begin : begin + _BLOCK]
        cells = s_sizes[s] * t_sizes[t]
        rows = np.repeat(np.arange(len(s)), cells)
        place = np.arange(len(rows)) - np.repeat(np.cumsum(cells) - cells, cells)
        wide = t_sizes[t][rows]
        columns = s_ids[s_starts[s[rows]] + place // wide] + 1, t_ids[t_starts[t[rows]] + place % wide] + 1
        share = alphas[rows] / np.maximum(s_sizes[s], t_sizes[t])[rows]
        both = [np.append(found.keys[:, k], columns[k]) for k in range(2)]
        found = Counted.of(both, np.append(found.alphas, share))
    names = [Vocabulary.from_words(pieces) for pieces in (s_names, t_names)]
    return Priors(names[0], names[1], found)


def _fertilities(table: Counted, ids: np.ndarray, size: int, weight: float) -> np.ndarray:
    words = ids[table.keys[:, 0]]
    known = words > 0
    at = words[known] * kc.FERTILITIES + np.minimum(table.keys[known, 1], kc.FERTILITIES - 1)
    out = np.bincount(at, table.alphas[known] * weight, size * kc.FERTILITIES)
    out = out.reshape(size, kc.FERTILITIES)
    if not out[:, 0].any():
        out[:, 0] = UNLINKED * out.sum(1)
    return out.astype(np.float32)


def _jumps(table: Counted, weight: float) -> np.ndarray:
    places = np.clip(table.keys[:, 0], -kc.JUMPS, kc.JUMPS) + kc.JUMPS
    return np.bincount(places, table.alphas * weight, 2 * kc.JUMPS + 1)
