"""Rule-level composition: round trips y -> x -> y' whose two derivations are isomorphic (Li et al. 2011, section 3.4).

The reverse system derives x from y by a tree of rules. A forward derivation is isomorphic to it if it translates the
source side of each of these rules by one rule of its own. Equation 8 is kept: the tree d has its probability p(d|y)
under the reverse system, language model included, rescaled over the best k trees; given d, the forward system is
normalized over all isomorphic derivations, p(d'|d) = exp(gamma score(d')) / Z(d).

A tree is written as a sentence: the numbers of its rules in pre-order. The forward rules that fit the reverse rule
number r become rules r X1 X2 -> y', so that the decoder finds the isomorphic derivations, and nothing else, as it finds
translations. (One pass over the packed forest of y would need Z(d) to be a product over rules; the language model makes
it none.)
"""

from typing import TypeAlias

import numpy as np

from aligntools.formats.annotation.tagged_text import Tokens
from aligntools.formats.translation.grammar import GrammarRules, pick
from aligntools.ground.parallel import Pool
from aligntools.translating.forest import derivations
from aligntools.translating.forest.candidates import offsets_of
from aligntools.translating.forest.hypergraph import Hypergraph, edge_scores
from aligntools.translating.tuning.imputed_lattices import normalized
from aligntools.words.vocabulary import Vocabulary

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_PASSED = -1  # the rule of a hyperedge that passes a word through; those below it have no words


#: Rules that translate trees, with the forward grammar's features; trees of reverse derivations, those of a sentence
#: together, each in pre-order; the sentence that each was made of (int64); and p(d|y), rescaled to sum to 1 over a
#: sentence's. Source words are `tree_symbol` and words that the reverse system passed through; no other word of the
#: trees is to be passed through (`DecoderSettings.pass_known`).
RoundTrips: TypeAlias = tuple[GrammarRules, Tokens, np.ndarray, np.ndarray]


def tree_symbol(rule: int) -> bytes:
    """Return the symbol of a reverse rule in a tree; it has a space, so no word of a text is the same."""
    return b"[X %d]" % rule


def source_sides(reverse: GrammarRules) -> Tokens:
    """Return the sides x of reverse rules y -> x as sentences, one word standing for what a nonterminal yields.

    The forward rules that such sentences can use are those that can be composed with ``reverse``.
    """
    words = [word.encode() for word in reverse.target_vocabulary.words()]
    return Tokens([words[t] if t > 0 else tree_symbol(0) for t in reverse.target.tolist()], reverse.target_offsets)


def round_trips(
    forest: Hypergraph,
    weights: np.ndarray,
    reverse: GrammarRules,
    forward: GrammarRules,
    k: int = 1,
    gamma: float = 1.0,
    passed: list[bytes] | None = None,
    pool: Pool | None = None,
) -> RoundTrips:
    """Compose the best reverse derivations with the forward rules that fit.

    forest: Reverse derivations of target sentences.
    k: Trees of each sentence; of those that yield the same source, the best.
    passed: Words of the forest past the reverse grammar's target vocabulary.
    Returns without derivations that have a rule that no forward rule fits; a sentence that has no others is skipped.
    """
    left, right, swapped = fitting(reverse, forward)
    fits = np.zeros(len(reverse) + 1, bool)
    fits[left] = True
    scores = edge_scores(forest, np.asarray(weights, np.float64), gamma, pool=pool)
    scores[(forest.rules >= 0) & ~fits[forest.rules]] = -np.inf
    names = [*(word.encode() for word in reverse.target_vocabulary.words()), *(passed or [])]
    groups: list[int] = []
    values: list[float] = []
    symbols: list[bytes] = []
    sizes: list[int] = []
    used: set[int] = set()
    for sentence, found in enumerate(derivations.best_edges(forest, scores, k, pool)):
        for edges in found:
            groups.append(sentence)
            values.append(float(np.add.reduce(scores[edges])))
            tree = [
                tree_symbol(rule) if rule >= 0 else names[forest.words[forest.word_offsets[e]]]
                for e, rule in zip(edges.tolist(), forest.rules[edges].tolist(), strict=True)
                if rule >= _PASSED
            ]
            used.update(r for r in forest.rules[edges].tolist() if r >= 0)
            symbols += tree
            sizes.append(len(tree))
    chosen = np.zeros(len(reverse) + 1, bool)
    chosen[list(used)] = True
    left, right = left[chosen[left]], right[chosen[left]]
    # the forward rules that translate a passed word by itself, and the number of each one's word
    words = sorted(set(symbols).difference(map(tree_symbol, used)))
    ids = forward.source_vocabulary.ids(words).astype(np.int64)
    alone = np.flatnonzero(np.diff(forward.source_offsets) == 1) if words else np.zeros(0, np.int64)
    of = forward.source[forward.source_offsets[alone]]
    order = np.argsort(ids, kind="stable")
    which = order[np.minimum(np.searchsorted(ids[order], of), max(len(ids) - 1, 0))]
    alone, which = alone[ids[which] == of], which[ids[which] == of]
    # the rules of the pairs, with the reverse rule's symbol for its side y, and those of the words
    heads, numbers = np.unique(left, return_inverse=True)
    arity = reverse.arities()[left] if len(left) else np.zeros(0, np.int64)
    source_offsets = offsets_of(np.concatenate([1 + arity, np.ones(len(alone), np.int64)]))
    source, begins = np.zeros(source_offsets[-1], np.int32), source_offsets[:-1]
    source[begins] = np.concatenate([numbers + 1, len(heads) + 1 + which])
    for n in (1, 2):
        source[begins[: len(left)][arity >= n] + n] = -n
    taken = np.concatenate([right, alone])
    target_offsets, target = pick(forward.target_offsets, taken, forward.target)
    exchanged = np.concatenate([swapped[left], np.zeros(len(alone), bool)])
    exchange = np.repeat(exchanged, np.diff(target_offsets)) & (target < 0)
    sparse = pick(forward.sparse_offsets, taken, forward.sparse_ids, forward.sparse_values)
    rules = GrammarRules(
        Vocabulary.from_bytes([*map(tree_symbol, heads.tolist()), *words]),
        forward.target_vocabulary,
        source_offsets,
        source,
        target_offsets,
        np.where(exchange, -3 - target, target).astype(np.int32),
        np.ascontiguousarray(forward.features[taken], np.float32),
        list(forward.feature_names),
        **dict(zip(("sparse_offsets", "sparse_ids", "sparse_values"), sparse, strict=True)),
        sparse_names=forward.sparse_names,
    ).canonical()
    sentences = np.array(groups, np.int64)
    offsets = np.searchsorted(sentences, np.arange(sentences[-1] + 2 if len(sentences) else 1))
    return rules, Tokens(symbols, offsets_of(sizes)), sentences, normalized(np.array(values), offsets)


def fitting(reverse: GrammarRules, forward: GrammarRules) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the pairs of a reverse rule y -> x and a forward rule x -> y'.

    Returns left, right (int64 [pairs]): Reverse and forward rules, by the reverse rule.
    Returns swapped (bool [reverse rules]): Whether x has the two nonterminals in the other order than y.
    """
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
    return left[same], right[same], swapped


def _in_order(offsets: np.ndarray, symbols: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number nonterminals in the order in which they come; tell for which rules that exchanged two."""
    rule = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    first = np.full(len(offsets) - 1, 0, np.int32)
    places = np.flatnonzero(symbols < 0)[::-1]  # so that the first of a rule is written last
    first[rule[places]] = symbols[places]
    swapped = first == -2
    return np.where((symbols < 0) & swapped[rule], -3 - symbols, symbols).astype(np.int32), swapped


def _padded(offsets: np.ndarray, symbols: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return sides as rows padded with 0, and whether all words of each are known."""
    sizes = np.diff(offsets)
    rows = np.zeros((len(sizes), int(sizes.max(initial=1))), np.int32)
    rule = np.repeat(np.arange(len(sizes)), sizes)
    rows[rule, np.arange(len(symbols)) - np.repeat(offsets[:-1], sizes)] = symbols
    return rows, np.bincount(rule[symbols == 0], minlength=len(sizes)) == 0


def _hash(rows: np.ndarray) -> np.ndarray:
    keys = np.zeros(len(rows), np.uint64)
    for column in rows.T:
        keys = (keys ^ (column.astype(np.int64) + 3).astype(np.uint64)) * _FACTOR
        keys ^= keys >> np.uint64(29)
    return keys
