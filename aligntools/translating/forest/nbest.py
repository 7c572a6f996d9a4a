"""The k best derivations of each sentence with all that is known of their rules."""

from collections.abc import Callable, Iterable

import numpy as np

from aligntools.formats.translation.derivations import Derivation, DerivedSentence, RuleUse
from aligntools.formats.translation.grammar import GrammarRules
from aligntools.ground.parallel import Pool
from aligntools.translating.decoding.decoder import EncodedText, System
from aligntools.translating.forest.derivations import best_edges
from aligntools.translating.forest.hypergraph import Hypergraph, edge_scores

#: The rule of a word that is passed through; those below it are S -> X, S -> S X, the end of the sentence.
PASSED = -1


def derivation_lists(
    system: System, forest: Hypergraph, sentences: EncodedText, k: int, pool: Pool | None = None
) -> list[DerivedSentence]:
    """Return sentences with their k best derivations that differ in their words: rules, spans, features, scores."""
    scores = edge_scores(forest, system.weights, pool=pool)
    name, found = system.names(sentences), best_edges(forest, scores, k, pool)

    def words(ids: Iterable[int]) -> tuple[str, ...]:
        return tuple(word.decode("utf-8", "replace") for word in name(ids))

    result = []
    for s, derivations in enumerate(found):
        source = words(sentences.passed[sentences.offsets[s] : sentences.offsets[s + 1]])
        made = [_derivation(system, forest, scores, edges, words, source) for edges in derivations]
        result.append(DerivedSentence(source, tuple(made)))
    return result


def _derivation(
    system: System,
    forest: Hypergraph,
    scores: np.ndarray,
    edges: np.ndarray,
    words: Callable[[Iterable[int]], tuple[str, ...]],
    sentence: tuple[str, ...],
) -> Derivation:
    """Return a derivation, of its edges in pre-order: those of the first nonterminal before those of the second."""
    edges = edges.tolist()
    arities = [sum(t >= 0 for t in forest.tails[e].tolist()) for e in edges]
    tails: list[list[int]] = [[] for _ in edges]
    open_: list[int] = []
    for k, arity in enumerate(arities):
        if k:
            while len(tails[open_[-1]]) == arities[open_[-1]]:
                open_.pop()
            tails[open_[-1]].append(k)
        if arity:
            open_.append(k)
    sources = [_source(system.grammar, int(forest.rules[e]), arity) for e, arity in zip(edges, arities, strict=True)]
    lengths = [0] * len(edges)
    for k in range(len(edges) - 1, -1, -1):
        side = sources[k]
        own = 1 if side is None else sum(not isinstance(symbol, int) for symbol in side)
        lengths[k] = own + sum(lengths[t] for t in tails[k])
    begins, uses = [0] * len(edges), []
    for k, e in enumerate(edges):
        side, place, shown = sources[k], begins[k], []
        for symbol in (sentence[begins[k]],) if side is None else side:
            if isinstance(symbol, int):
                begins[tails[k][symbol - 1]] = place
                place += lengths[tails[k][symbol - 1]]
                shown.append(f"[X,{symbol}]")
            else:
                place += 1
                shown.append(symbol)
        target = forest.words[slice(*forest.word_offsets[[e, e + 1]])].tolist()
        i, j = forest.feature_offsets[[e, e + 1]]
        pairs = zip(forest.feature_ids[i:j].tolist(), forest.feature_values[i:j].tolist(), strict=True)
        uses.append(
            RuleUse(
                "S" if forest.rules[e] < PASSED else "X",
                tuple(shown),
                tuple(words([w])[0] if w > 0 else f"[X,{-w}]" for w in target if w),
                (begins[k], place),
                tuple(tails[k]),
                float(scores[e]),
                {system.features[f]: x for f, x in pairs},
            )
        )
    yielded, stack = list[str](), [(0, 0)]
    while stack:
        k, at = stack.pop()
        if at == len(uses[k].target):
            continue
        stack.append((k, at + 1))
        shown_symbol = uses[k].target[at]
        if uses[k].tails and shown_symbol in ("[X,1]", "[X,2]")[: len(uses[k].tails)]:
            stack.append((uses[k].tails[int(shown_symbol[3]) - 1], 0))
        else:
            yielded.append(shown_symbol)
    return Derivation(tuple(yielded), float(sum(scores[e] for e in edges)), tuple(uses))


def _source(grammar: GrammarRules, rule: int, arity: int) -> list[str | int] | None:
    """Return the source side of a rule: words, and numbers of nonterminals; None for a word that is passed through."""
    if rule >= 0:
        vocabulary = grammar.source_vocabulary
        symbols = grammar.source[grammar.source_offsets[rule] : grammar.source_offsets[rule + 1]].tolist()
        return [vocabulary.word(symbol) if symbol > 0 else -symbol for symbol in symbols]
    return None if rule == PASSED else list(range(1, arity + 1))
