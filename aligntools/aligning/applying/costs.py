"""Scores of aligned sentence pairs on eflomal's scale (Östling & Tiedemann 2016), as its ``-F`` and ``-R`` write them.

They are the mean over the observed words of ``-ln p`` of the best position, in the sampler's state without the word's
own link, and without NULL. eflomal draws the fertility distributions; here their expected logarithms are used.
"""

from dataclasses import dataclass

import numpy as np

from aligntools.aligning.applying import kernels_costs as kc
from aligntools.aligning.models.lexical import exp_digamma
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.links.priors import Counted, Priors
from aligntools.formats.text.corpus import Bitext, Side
from aligntools.ground.parallel import Pool
from aligntools.words.vocabulary import ExtendedVocabulary

#: Dirichlet parameters of jumps and fertilities.
JUMP_ALPHA, FERTILITY_ALPHA = 0.5, 0.5
#: Number of jumps that share the mass of unseen ones, about the number of different jumps.
LIKELY_JUMPS = 100
#: Sentences worked at a time.
BLOCK = 1000


@dataclass(frozen=True, eq=False)
class DirectedPriors:
    """Pseudo-counts of one direction, in the text's word ids.

    pairs (int32 [n, 2] and float64 [n]): Given and observed word.
    fertilities (int32 [n, 2] and float64 [n]): Given word and how many links.
    """

    pairs: tuple[np.ndarray, np.ndarray]
    fertilities: tuple[np.ndarray, np.ndarray]
    jumps: tuple[np.ndarray, np.ndarray]


_NO_PAIRS = (np.empty((0, 2), np.int32), np.empty(0))
#: No priors, forward and reverse.
NONE = (DirectedPriors(_NO_PAIRS, _NO_PAIRS, (np.empty(0, np.int32), np.empty(0))),) * 2


def directed(priors: Priors, bitext: Bitext, lowercase: bool) -> tuple[DirectedPriors, DirectedPriors]:
    """Return priors in a text's word ids; pairs with a word that the text does not have are left out."""
    ids = []
    for own, others in (
        (bitext.source_vocabulary, priors.source_vocabulary),
        (bitext.target_vocabulary, priors.target_vocabulary),
    ):
        own = own.base if isinstance(own, ExtendedVocabulary) else own
        words = [word.lower() if lowercase else word for word in others.words()[1:]]
        found = own.ids([word.encode("utf-8", "surrogatepass") for word in words])
        ids.append(np.append(0, found))

    def table(counted: Counted, *columns: int) -> tuple[np.ndarray, np.ndarray]:
        keys = np.stack([ids[side][counted.keys[:, k]] for k, side in enumerate(columns)], axis=1)
        keys = np.concatenate([keys, counted.keys[:, len(columns) :]], axis=1)
        known = (keys[:, : len(columns)] >= 0).all(1)
        return keys[known], counted.alphas[known]

    pairs, alphas = table(priors.lexical, 0, 1)
    jumps = [(jumps.keys[:, 0], jumps.alphas) for jumps in (priors.forward_jumps, priors.reverse_jumps)]
    return (
        DirectedPriors((pairs, alphas), table(priors.source_fertilities, 0), jumps[0]),
        DirectedPriors((pairs[:, ::-1], alphas), table(priors.target_fertilities, 1), jumps[1]),
    )


def link_costs(
    bitext: Bitext,
    forward: Links | None,
    reverse: Links | None,
    pool: Pool,
    model: int = 3,
    priors: tuple[DirectedPriors, DirectedPriors] = NONE,
) -> np.ndarray:
    """Score the pairs of a text by their links.

    forward, reverse: One link at most for each target word, and for each source word.
    model: 1 for words alone, 2 with jumps, 3 with fertilities too.
    Returns float64 [2, pairs]: forward and reverse: lower is better. -0.0 for blank pairs, NaN for a direction without
    links.
    """
    out = np.full((2, len(bitext)), np.nan)
    sizes = len(bitext.source_vocabulary), len(bitext.target_vocabulary)
    if forward is not None:
        positions = _positions(forward, bitext.target, 1)
        out[0] = _costs(bitext.source, bitext.target, positions, sizes, priors[0], model, pool)
    if reverse is not None:
        positions = _positions(reverse, bitext.source, 0)
        out[1] = _costs(bitext.target, bitext.source, positions, sizes[::-1], priors[1], model, pool)
    return out


def jump_counts(bitext: Bitext, forward: Links) -> np.ndarray:
    """Count jumps between the links of target words, from -1,024 to 1,023; int64 [2048]."""
    links = _positions(forward, bitext.target, 1)
    linked, position, sentence = _linked(bitext.target, links)
    counts = _jumps(bitext.source, linked, position, sentence, NONE[0]) - JUMP_ALPHA
    counts[-1] = 0
    return np.rint(counts).astype(np.int64)


def _positions(links: Links, observed: Side, column: int) -> np.ndarray:
    """Return the position that each observed word is linked to, int32 [words]; -1 for none."""
    found = np.full(len(observed.tokens), -1, np.int32)
    at = observed.offsets[links.sentences()] + links.pairs[:, column]
    found[at] = links.pairs[:, 1 - column]
    return found


def _costs(
    given: Side,
    observed: Side,
    links: np.ndarray,
    sizes: tuple[int, int],
    priors: DirectedPriors,
    model: int,
    pool: Pool,
) -> np.ndarray:
    n_given, n_observed = sizes
    linked, position, sentence = _linked(observed, links)
    at = given.offsets[sentence] + position
    words, others = given.tokens[at].astype(np.int64), observed.tokens[linked]
    keys, n = np.unique(words << 32 | others, return_counts=True)
    n = n.astype(np.float64)
    if len(priors.pairs[1]):
        more = priors.pairs[0][:, 0].astype(np.int64) << 32 | priors.pairs[0][:, 1]
        keys, place = np.unique(np.concatenate([keys, more]), return_inverse=True)
        n = np.bincount(place, np.concatenate([n, priors.pairs[1]]), len(keys))
    rows = keys >> 32
    ptr = np.searchsorted(rows, np.arange(n_given + 1))
    sums = np.bincount(rows, n, n_given) + kc.LEXICAL_ALPHA * n_observed
    ids = (keys & 0xFFFFFFFF).astype(np.int32)
    jumps = _jumps(given, linked, position, sentence, priors)
    counts = kc.CostCounts(ptr, ids, n, sums, jumps, _ratios(given, at, n_given, priors))
    out = np.empty(len(given))
    longest = [int(side.lengths().max(initial=0)) for side in (given, observed)]
    text = given.tokens, given.offsets, observed.tokens, observed.offsets

    def task(block: tuple[int, int]) -> None:
        kc.costs_block(*block, *text, links, counts, model, *(np.empty(n, np.int64) for n in longest), out)

    pool.map(task, [(k, min(k + BLOCK, len(given))) for k in range(0, len(given), BLOCK)])
    return out


def _linked(observed: Side, links: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return which observed words have a link, its position, and the sentence."""
    linked = np.flatnonzero(links >= 0)
    return linked, links[linked].astype(np.int64), np.searchsorted(observed.offsets, linked, "right") - 1


def _jumps(
    given: Side, linked: np.ndarray, position: np.ndarray, sentence: np.ndarray, priors: DirectedPriors
) -> np.ndarray:
    """Count jumps from one linked word to the next, from before the first one and to behind the last one too."""
    first, last = np.ones(len(linked), bool), np.ones(len(linked), bool)
    first[1:] = last[:-1] = sentence[1:] != sentence[:-1]
    before = np.empty_like(position)
    before[1:] = position[:-1]
    before[first] = -1
    ends = given.lengths()[sentence[last]] - position[last]
    jumps = np.concatenate([position - before, ends])
    counts = np.bincount(_jump_index(jumps), minlength=kc.JUMPS).astype(np.float64)
    counts += np.bincount(_jump_index(priors.jumps[0].astype(np.int64)), priors.jumps[1], kc.JUMPS)
    total = counts.sum() + LIKELY_JUMPS * JUMP_ALPHA
    counts += JUMP_ALPHA
    counts[-1] = total
    return counts


def _jump_index(jumps: np.ndarray) -> np.ndarray:
    index: np.ndarray = np.clip(jumps + kc.FARTHEST, 0, kc.JUMPS - 2)
    return index


def _ratios(given: Side, at: np.ndarray, n_given: int, priors: DirectedPriors) -> np.ndarray:
    """Return how much more probable each number of links is than one less, by expected logarithms."""
    size = kc.FERTILITIES
    fertility = np.minimum(np.bincount(at, minlength=len(given.tokens)), size - 1)
    counts = np.bincount(given.tokens.astype(np.int64) * size + fertility, minlength=n_given * size).astype(np.float64)
    (words, numbers), alphas = priors.fertilities[0].T.astype(np.int64), priors.fertilities[1]
    counts += np.bincount(words * size + np.minimum(numbers, size - 1), alphas, n_given * size)
    expected = exp_digamma(counts + FERTILITY_ALPHA).reshape(-1, size)
    ratios = np.empty_like(expected)
    ratios[:, 0] = 1.0
    ratios[:, 1:] = expected[:, 1:] / expected[:, :-1]
    ratios[:, -1] = 1e-10  # practically never
    return ratios
