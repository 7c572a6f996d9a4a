"""Imputing the missing source side (Li, Wang, Eisner & Khudanpur 2011, section 3.4).

A reverse system turns a target sentence y into sources x with probabilities p(x|y): its k best with their probabilities
rescaled, or samples that all weigh the same. The forward system then translates each x and is tuned on y (equation 8).
Or both steps are taken rule by rule: `compose` joins each reverse rule y -> x with the forward rules x -> y', so that
one pass over y has all round trips whose two derivations are isomorphic.
"""

from dataclasses import dataclass

import numpy as np

from aligntools.formats.grammar import GrammarRules, pick
from aligntools.ground.parallel import Pool
from aligntools.translating.forest import derivations
from aligntools.translating.forest.candidates import CandidateLists
from aligntools.translating.forest.hypergraph import Hypergraph, edge_scores

#: The feature of composed rules that holds the reverse rule's score.
IMPUTED = "imputed"
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@dataclass(eq=False)
class Imputed:
    """Imputed sources, those of one sentence together.

    Attributes
    ----------
    candidates : CandidateLists
        One a sentence; their words are the reverse system's target ids.
    groups : int64 [sources]
        The sentence that each was imputed for.
    weights : float64 [sources]
        p(x|y): they sum to 1 over a sentence's.
    """

    candidates: CandidateLists
    groups: np.ndarray
    weights: np.ndarray


def impute(
    forest: Hypergraph, weights, how="kbest", k=1, gamma=1.0, seed=1, pool: Pool | None = None
) -> Imputed:  # fmt: skip
    """Impute sources from what a reverse system made of target sentences.

    Parameters
    ----------
    forest : Hypergraph
        Derivations of the sources; a sentence without any is skipped.
    weights : float64 [features]
        The reverse system's.
    how : str
        ``kbest``: the k best different sources, their probabilities rescaled to 1 in all. ``samples``: k independent
        samples, each with the weight 1 / k (multiple imputation: Rubin 1987); the same source drawn again adds to
        its weight.
    k : int
    gamma : float
        Sharpness of p(x|y).
    seed : int
        Of the samples.
    """
    weights = np.asarray(weights, np.float64)
    scores = edge_scores(forest, weights, gamma, pool=pool)
    if how == "samples":
        found = derivations.samples(forest, scores, len(weights), k, seed, pool)
        sentence = np.repeat(np.arange(len(found)), np.diff(found.offsets))
        plain = found.featureless()
        keys = plain.keys() ^ (sentence.astype(np.uint64) * _FACTOR)
        _, first, count = np.unique(keys, return_index=True, return_counts=True)
        order = np.argsort(first)
        rows, shares = first[order], count[order] / k
    else:
        found = derivations.k_best(forest, scores, len(weights), k, pool=pool)
        sentence = np.repeat(np.arange(len(found)), np.diff(found.offsets))
        rows, shares = np.arange(found.count), _normalized(found.scores, found.offsets)
    return Imputed(found.take(rows, np.arange(len(rows) + 1)), sentence[rows], shares)


def _normalized(scores, offsets):
    full = np.diff(offsets) > 0
    if not full.any():
        return np.zeros(0)
    first, sizes = offsets[:-1][full], np.diff(offsets)[full]
    shares = np.exp(scores - np.repeat(np.maximum.reduceat(scores, first), sizes))
    return shares / np.repeat(np.add.reduceat(shares, first), sizes)


def rule_scores(grammar: GrammarRules, weights: dict[str, float]) -> np.ndarray:
    """Return what each rule adds to the score, but for the language model [rules, float64]."""
    words = np.concatenate([[0], np.cumsum(grammar.target > 0)])
    words = words[grammar.target_offsets[1:]] - words[grammar.target_offsets[:-1]]
    by_arity = np.array([weights.get(f"arity-{k}", 0.0) for k in range(3)])
    scores = words * weights.get("word-penalty", 0.0) + by_arity[grammar.arities()]
    for k, name in enumerate(grammar.feature_names):
        scores += weights.get(name, 0.0) * grammar.features[:, k].astype(np.float64)
    if grammar.sparse_names:
        sparse = np.array([weights.get(name, 0.0) for name in grammar.sparse_names])
        rule = np.repeat(np.arange(len(grammar)), np.diff(grammar.sparse_offsets))
        scores += np.bincount(rule, sparse[grammar.sparse_ids] * grammar.sparse_values, len(grammar))
    return scores


def compose(
    reverse: GrammarRules, forward: GrammarRules, reverse_weights: dict, forward_weights: dict, keep=30, gamma=1.0
) -> GrammarRules:
    """Join reverse rules y -> x with forward rules x -> y' into rules y -> y' (rule-level composition).

    Under a system with the composed rules, the probability of a derivation is proportional to exp(gamma_r times the
    reverse score + gamma_f times the forward score): x and y' are drawn together, where equation 8 draws x first.
    Since x is not a string here, the reverse language model has no part in it.

    Parameters
    ----------
    reverse, forward : GrammarRules
    reverse_weights : dict of str to float
        For the new feature `IMPUTED`, ``gamma`` times the reverse rule's score.
    forward_weights : dict of str to float
        With both, the best rules of each y are chosen.
    keep : int
        Rules of each y.
    gamma : float
        The reverse model's sharpness.

    Returns
    -------
    GrammarRules
        With the forward grammar's features and `IMPUTED` after its dense ones.
    """
    scores, others = gamma * rule_scores(reverse, reverse_weights), rule_scores(forward, forward_weights)
    to_forward = np.concatenate(
        [
            np.maximum(forward.source_vocabulary.ids([w.encode() for w in reverse.target_vocabulary.words()]), 0),
            [-2, -1],
        ]
    ).astype(np.int32)
    to_forward[0] = 0
    symbols, swapped = _in_order(reverse.target_offsets, to_forward[reverse.target])
    sides, known = _padded(reverse.target_offsets, symbols)
    wanted, _ = _padded(forward.source_offsets, forward.source)
    width = max(sides.shape[1], wanted.shape[1])
    sides, wanted = (np.pad(m, ((0, 0), (0, width - m.shape[1]))) for m in (sides, wanted))
    keys, wanted_keys = _hash(sides), _hash(wanted)
    order = np.argsort(wanted_keys, kind="stable")
    ordered = wanted_keys[order]
    low = np.searchsorted(ordered, keys, "left")
    sizes = np.where(known, np.searchsorted(ordered, keys, "right") - low, 0)
    left = np.repeat(np.arange(len(reverse)), sizes)
    begins = np.cumsum(sizes) - sizes
    right = order[np.arange(len(left)) + np.repeat(low - begins, sizes)]
    same = (sides[left] == wanted[right]).all(axis=1)
    left, right = left[same], right[same]
    left, right = _prune(reverse, left, right, scores[left] + others[right], keep)
    return _assemble(reverse, forward, left, right, swapped, scores)


def _in_order(offsets, symbols):
    """Number nonterminals in the order in which they come; tell for which rules that exchanged two."""
    rule = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    first = np.full(len(offsets) - 1, 0, np.int32)
    places = np.flatnonzero(symbols < 0)[::-1]  # so that the first of a rule is written last
    first[rule[places]] = symbols[places]
    swapped = first == -2
    return np.where((symbols < 0) & swapped[rule], -3 - symbols, symbols).astype(np.int32), swapped


def _padded(offsets, symbols):
    """Return sides as rows padded with 0, and whether all words of each are known."""
    sizes = np.diff(offsets)
    rows = np.zeros((len(sizes), int(sizes.max(initial=1))), np.int32)
    rule = np.repeat(np.arange(len(sizes)), sizes)
    rows[rule, np.arange(len(symbols)) - np.repeat(offsets[:-1], sizes)] = symbols
    return rows, np.bincount(rule[symbols == 0], minlength=len(sizes)) == 0


def _hash(rows):
    keys = np.zeros(len(rows), np.uint64)
    for column in rows.T:
        keys = (keys ^ (column.astype(np.int64) + 3).astype(np.uint64)) * _FACTOR
        keys ^= keys >> np.uint64(29)
    return keys


def _prune(reverse, left, right, scores, keep):
    """Return the best pairs of each source side."""
    rows, _ = _padded(reverse.source_offsets, reverse.source)
    side = np.concatenate([[0], np.cumsum((rows[1:] != rows[:-1]).any(axis=1))])[left]  # a grammar is sorted by them
    order = np.lexsort((right, left, -scores, side))
    ranked = side[order]
    begins = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]])) if len(ranked) else ranked
    rank = np.arange(len(ranked)) - np.repeat(begins, np.diff(np.append(begins, len(ranked))))
    chosen = np.sort(order[rank < keep])
    return left[chosen], right[chosen]


def _assemble(reverse, forward, left, right, swapped, scores):
    source_offsets, source = pick(reverse.source_offsets, left, reverse.source)
    target_offsets, target = pick(forward.target_offsets, right, forward.target)
    sparse_offsets, sparse_ids, sparse_values = pick(
        forward.sparse_offsets, right, forward.sparse_ids, forward.sparse_values
    )
    exchange = np.repeat(swapped[left], np.diff(target_offsets)) & (target < 0)
    return GrammarRules(
        reverse.source_vocabulary,
        forward.target_vocabulary,
        source_offsets,
        source,
        target_offsets,
        np.where(exchange, -3 - target, target).astype(np.int32),
        np.ascontiguousarray(np.column_stack([forward.features[right], scores[left].astype(np.float32)]), np.float32),
        [*forward.feature_names, IMPUTED],
        sparse_offsets=sparse_offsets,
        sparse_ids=sparse_ids,
        sparse_values=sparse_values,
        sparse_names=forward.sparse_names,
    ).canonical()
