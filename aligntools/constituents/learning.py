"""Latent annotations: symbols are split in two, trained by EM on the treebank's trees, and merged where it costs least.

In a round each substate becomes two, whose rules differ by a little noise; EM trains them; the share of the pairs that
adds least to the likelihood becomes one again (Petrov, Barrett, Thibaux & Klein 2006, section 2.2); EM trains what is
left; and the probabilities of a symbol's substates are drawn to their mean (section 2.3).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

from aligntools.constituents import kernels_trees
from aligntools.constituents.binarization import binarize
from aligntools.constituents.grammar import ConstituentGrammar
from aligntools.constituents.kernels_trees import Nodes, RuleWeights
from aligntools.constituents.lexicon import Occurrences
from aligntools.constituents.model import ConstituentModel
from aligntools.constituents.settings import GrammarSettings
from aligntools.formats.annotation.brackets import Tree, escaped
from aligntools.ground.parallel import Pool, balanced_blocks, over


@dataclass(frozen=True, eq=False)
class Treebank:
    """A treebank and its grammar.

    grammar: Without substates; its weights are counts.
    pair_counts (float64 [pairs of word and tag]).
    """

    grammar: ConstituentGrammar
    nodes: Nodes
    occurrences: Occurrences
    pair_counts: np.ndarray


def treebank(trees: Sequence[Tree], horizontal: int, vertical: int) -> Treebank:
    """Return the grammar of trees, and the trees as nodes with its rules; ``trees``: not binary, none empty."""
    flat = [_nodes(binarize(tree, horizontal, vertical)) for tree in trees]
    tags = sorted({label for nodes in flat for label, left, *_ in nodes if left < 0}, key=escaped)
    labels = sorted({label for nodes in flat for label, left, *_ in nodes if left >= 0}, key=escaped)
    own = {label: k for k, label in enumerate(tags)}
    # a tag may be called like a constituent, and is another symbol
    others = {label: len(tags) + k for k, label in enumerate(labels)}
    counts, roots = Counter[tuple[int, ...]](), Counter[int]()  # of rules, children before the parent
    paths: dict[tuple[int, ...], Counter[tuple[str, ...]]] = defaultdict(Counter)
    numbered, keys = list[list[int]](), list[tuple[int, ...]]()  # the key of a word is empty
    for nodes in flat:
        symbols = [(own if left < 0 else others)[label] for label, left, *_ in nodes]
        numbered.append(symbols)
        roots[symbols[-1]] += 1
        for symbol, (_, left, right, path, _) in zip(symbols, nodes, strict=True):
            key = (*(symbols[child] for child in (left, right) if child >= 0), symbol) if left >= 0 else ()
            keys.append(key)
            counts[key] += 1
            paths[key][path] += 1
    binary, unary = (sorted(key for key in counts if len(key) == size) for size in (3, 2))
    grammar = ConstituentGrammar(
        (*tags, *labels),
        len(tags),
        np.ones(len(tags) + len(labels), np.int32),
        np.array([(parent, *children) for *children, parent in binary], np.int32).reshape(-1, 3),
        np.array([counts[rule] for rule in binary], np.float64),
        np.array([(p, c) for c, p in unary], np.int32).reshape(-1, 2),
        np.array([counts[rule] for rule in unary], np.float64),
        np.bincount(list(roots), list(roots.values()), len(tags) + len(labels)).astype(np.float64),
        tuple(min(paths[rule].items(), key=lambda item: (-item[1], item[0]))[0] for rule in unary),
    )
    sentences = [
        (
            [word for *_, word in nodes if word is not None],
            [symbol for symbol, (_, left, *_) in zip(symbols, nodes, strict=True) if left < 0],
        )
        for symbols, nodes in zip(numbered, flat, strict=True)
    ]
    occurrences, pairs = Occurrences.of(sentences)
    numbers = {rule: k for rules in (binary, unary) for k, rule in enumerate(rules)}
    leaves = chain.from_iterable(pairs)
    of_nodes = [numbers[key] if key else next(leaves) for key in keys]
    every = [node for nodes in flat for node in nodes]
    nodes_array = Nodes(
        np.append(0, np.cumsum([len(nodes) for nodes in flat])).astype(np.int64),
        np.array([symbol for symbols in numbered for symbol in symbols], np.int32),
        np.array([left for _, left, *_ in every], np.int32),
        np.array([right for _, _, right, *_ in every], np.int32),
        np.array(of_nodes, np.int32),
    )
    pair_counts = np.bincount([pair for own in pairs for pair in own], minlength=len(occurrences.pairs)).astype(
        np.float64
    )
    return Treebank(grammar, nodes_array, occurrences, pair_counts)


def _nodes(tree: Tree) -> list[tuple[str, int, int, tuple[str, ...], str | None]]:
    """Return the nodes of a binary tree after their children: label, children, labels between, word.

    Of a chain of constituents with one child, the last is the child of the first.
    """
    found: list[tuple[str, int, int, tuple[str, ...], str | None]] = []
    done: list[int] = []
    waiting: list[tuple[Tree, tuple[str, ...] | None]] = [(tree, None)]
    while waiting:
        node, path = waiting.pop()
        if path is None and node.word is None:
            between, below = list[str](), node.children
            if len(below) == 1:
                while len(below[0].children) == 1:
                    between.append(below[0].label)
                    below = below[0].children
            waiting.append((node, tuple(between)))
            waiting += [(child, None) for child in reversed(below)]
        elif node.word is not None:
            found.append((node.label, -1, -1, (), node.word))
            done.append(len(found) - 1)
        else:
            right = done.pop() if len(node.children) == 2 else -1
            left = done.pop()
            found.append((node.label, left, right, path or (), None))
            done.append(len(found) - 1)
    return found


#: Blocks of a treebank; fixed, so that threads never show.
BLOCKS = 4
#: How far the rules of new substates differ: up to this part of their probability.
NOISE = 0.01
#: How much further the words of substates are drawn to their mean than their rules.
_WORDS = 10.0
_COUNTED = "binary", "unary", "words", "roots"
#: Called with the name of a stage and its figures.
Report: TypeAlias = Callable[[str, dict[str, float]], None]


@dataclass(frozen=True, eq=False)
class EmState:
    """A grammar in training.

    grammar: Probabilities.
    pair_counts (float64 [...]): Expected occurrences of words with substates of tags, in blocks.
    smoothed (float64 [...]): The same, drawn to their means as `smooth` does: what words' probabilities come from.
    """

    grammar: ConstituentGrammar
    pair_counts: np.ndarray
    smoothed: np.ndarray


def start(bank: Treebank) -> EmState:
    """Return the grammar of relative frequencies."""
    return EmState(bank.grammar.normalized(), bank.pair_counts, bank.pair_counts)


def learn(
    bank: Treebank, settings: GrammarSettings, pool: Pool | None = None, report: Report | None = None
) -> tuple[EmState, np.ndarray]:
    """Learn a grammar; return it, and how often each state is expected."""
    state, rng = start(bank), np.random.default_rng(settings.seed)
    frequencies = state_counts(bank, bank.grammar, bank.pair_counts)
    for number in range(1, settings.latent + 1):
        state = split(state, rng)
        state, _ = _train(bank, state, settings.iterations, pool, report, number, "split")
        state = merge(bank, state, settings.merge, pool)
        state, _ = _train(bank, state, max(settings.iterations // 2, 1), pool, report, number, "merged")
        state = smooth(bank, state, settings.smoothing)
        state, frequencies = _train(bank, state, max(settings.iterations // 4, 1), pool, report, number, "smoothed")
        state = smooth(bank, state, settings.smoothing)
    return state, frequencies


def _train(
    bank: Treebank, state: EmState, iterations: int, pool: Pool | None, report: Report | None, number: int, stage: str
) -> tuple[EmState, np.ndarray]:
    frequencies = np.zeros(0)
    for iteration in range(iterations):
        counts, value = expected_counts(bank, state, pool)
        if report is not None:
            figures = {"round": number, "iteration": iteration, "objective": value}
            report(stage, figures | {"substates": state.grammar.n_states})
        frequencies = state_counts(bank, *counts)
        words = bank.occurrences.drawn(counts[1], state.grammar.substates[: state.grammar.n_tags])
        state = EmState(counts[0].normalized(), words, words)
    return state, frequencies


def weights_of(bank: Treebank, state: EmState) -> RuleWeights:
    """Return the weights of rules, and of words p(word | state), as kernels read them."""
    grammar = state.grammar
    _, at, _, states = bank.occurrences.blocks(grammar.substates[: grammar.n_tags])
    totals = np.bincount(states, state.smoothed, grammar.n_states)
    words = state.smoothed / np.maximum(totals[states], 1e-300)
    rules = grammar.binary_at, grammar.binary_weights, grammar.unary_at, grammar.unary_weights
    return RuleWeights(grammar.first, *rules, at, words, grammar.roots)


def _scratch(nodes: Nodes, weights: RuleWeights) -> tuple[np.ndarray, np.ndarray, RuleWeights]:
    """Allocate arrays for a tree's inside and outside scores, and for counts of rules, filled with 0."""
    shape = int(np.diff(nodes.offsets).max()), int(np.diff(weights.first).max())
    counts = weights._replace(**{name: np.zeros_like(getattr(weights, name)) for name in _COUNTED})
    return np.zeros(shape), np.zeros(shape), counts


def expected_counts(
    bank: Treebank, state: EmState, pool: Pool | None = None
) -> tuple[tuple[ConstituentGrammar, np.ndarray], float]:
    """Return expected counts of rules, as a grammar, and of words with tags' substates; and the log-likelihood."""
    weights, nodes = weights_of(bank, state), bank.nodes

    def work(block: tuple[int, int]) -> tuple[RuleWeights, float]:
        memory = _scratch(nodes, weights)
        return memory[2], kernels_trees.expect(nodes, *block, weights, *memory)

    total, value = _scratch(nodes, weights)[2], 0.0
    for counts, more in over(pool, work, balanced_blocks(np.diff(nodes.offsets).astype(np.float64), BLOCKS)):
        for name in _COUNTED:
            getattr(total, name)[:] += getattr(counts, name)
        value += more
    grammar = state.grammar.with_weights(total.binary, total.unary, total.roots)
    return (grammar, total.words), value


def state_counts(bank: Treebank, counts: ConstituentGrammar, pair_counts: np.ndarray) -> np.ndarray:
    """Return how often each state occurs: constituents by their rules, tags by their words."""
    found, states = counts.totals(), bank.occurrences.blocks(counts.substates[: counts.n_tags])[3]
    return np.asarray(found + np.bincount(states, pair_counts, len(found)))


def split(state: EmState, rng: np.random.Generator) -> EmState:
    """Return a grammar in which each substate is two, whose rules differ by noise.

    Substates 2 k and 2 k + 1 come from k. The first symbol of a sentence and all others are split alike.
    """
    old = state.grammar
    new = replace(old, substates=(2 * old.substates).astype(np.int32))
    binary = _spread(old.binary_weights, old.substates[old.binary], rng, 0.25)
    unary = _spread(old.unary_weights, old.substates[old.unary], rng, 0.5)
    roots = (old.roots / 2).repeat(2)
    roots = roots * (1 + NOISE * rng.uniform(-1, 1, len(roots)))
    grammar = new.with_weights(binary, unary, roots).normalized()
    pair_counts = (state.pair_counts / 2).repeat(2)
    pair_counts = pair_counts * (1 + NOISE * rng.uniform(-1, 1, len(pair_counts)))
    return EmState(grammar, pair_counts, pair_counts)


def _spread(weights: np.ndarray, shapes: np.ndarray, rng: np.random.Generator, share: float) -> np.ndarray:
    """Return blocks twice as long in each direction, with noise; ``share`` is that of a combination of children."""

    def doubled(_: int, block: np.ndarray) -> np.ndarray:
        for axis in range(block.ndim):
            block = block.repeat(2, axis)
        return share * block

    every = _changed(weights, shapes, doubled)
    return np.asarray(every * (1 + NOISE * rng.uniform(-1, 1, len(every))))


def merge(bank: Treebank, state: EmState, share: float, pool: Pool | None = None) -> EmState:
    """Return a grammar in which the share of pairs that adds least to the likelihood is one substate again."""
    counts, _ = expected_counts(bank, state, pool)
    frequencies = state_counts(bank, *counts)
    of_pairs = frequencies.reshape(-1, 2)
    halves = of_pairs / np.maximum(of_pairs.sum(1, keepdims=True), 1e-300)
    lost = _losses(bank, state, np.ascontiguousarray(halves.ravel()), pool)[::2]
    n_merged = int(share * len(lost))
    merged = np.zeros(len(lost), bool)
    merged[np.argsort(lost, kind="stable")[:n_merged]] = True
    # the new state of each old one, within its symbol
    width = np.where(merged, 1, 2)
    begins = np.cumsum(width) - width
    target = np.stack([begins, begins + np.where(merged, 0, 1)], 1).ravel()
    old = state.grammar
    by_symbol = np.add.reduceat(width, old.first[:-1] // 2)
    target = target - np.append(0, np.cumsum(by_symbol))[:-1].repeat(old.substates)
    new = replace(old, substates=by_symbol.astype(np.int32))
    grammar = new.with_weights(
        _gathered(counts[0].binary_weights, old, new, old.binary, target),
        _gathered(counts[0].unary_weights, old, new, old.unary, target),
        np.bincount(new.first[:-1].repeat(old.substates) + target, counts[0].roots, new.n_states),
    ).normalized()
    pair_counts = _gathered(counts[1], old, new, bank.occurrences.pairs[:, 1:], target)
    return EmState(grammar, pair_counts, pair_counts)


def _gathered(
    counts: np.ndarray, old: ConstituentGrammar, new: ConstituentGrammar, rules: np.ndarray, target: np.ndarray
) -> np.ndarray:
    """Return blocks in which the counts of substates that become one are added up."""

    def added(number: int, block: np.ndarray) -> np.ndarray:
        for axis, symbol in enumerate(rules[number].tolist()):
            found = np.zeros([*block.shape[:axis], new.substates[symbol], *block.shape[axis + 1 :]])
            places = target[old.first[symbol] : old.first[symbol + 1]]
            np.add.at(found.swapaxes(0, axis), places, block.swapaxes(0, axis))
            block = found
        return block

    return _changed(counts, old.substates[rules], added)


def _losses(bank: Treebank, state: EmState, share: np.ndarray, pool: Pool | None) -> np.ndarray:
    weights, nodes = weights_of(bank, state), bank.nodes

    def work(block: tuple[int, int]) -> np.ndarray:
        found = np.zeros(len(share))
        kernels_trees.losses(nodes, *block, weights, *_scratch(nodes, weights), share, found)
        return found

    total = np.zeros(len(share))
    for found in over(pool, work, balanced_blocks(np.diff(nodes.offsets).astype(np.float64), BLOCKS)):
        total += found
    return total


def smooth(bank: Treebank, state: EmState, share: float) -> EmState:
    """Return a grammar whose substates' probabilities are drawn to the mean of their symbol by a share."""
    old = state.grammar

    def drawn(_: int, block: np.ndarray) -> np.ndarray:
        return np.asarray((1 - share) * block + share * block.mean(0, keepdims=True))

    binary = _changed(old.binary_weights, old.substates[old.binary], drawn)
    unary = _changed(old.unary_weights, old.substates[old.unary], drawn)
    draw, (sizes, at, *_) = min(_WORDS * share, 1.0), bank.occurrences.blocks(old.substates[: old.n_tags])
    means = (np.add.reduceat(state.pair_counts, at[:-1]) / sizes).repeat(sizes)
    words = (1 - draw) * state.pair_counts + draw * means
    return EmState(old.with_weights(binary, unary, old.roots), state.pair_counts, words)


def _changed(weights: np.ndarray, shapes: np.ndarray, change: Callable[[int, np.ndarray], np.ndarray]) -> np.ndarray:
    """Return weights whose blocks, of these shapes, are changed; ``change`` gets each one's number, too."""
    parts, at = list[np.ndarray](), 0
    for number, shape in enumerate(shapes.tolist()):
        size = int(np.prod(shape))
        parts.append(change(number, weights[at : at + size].reshape(shape)).ravel())
        at += size
    return np.concatenate(parts) if parts else np.zeros(0)


def train(
    trees: Sequence[Tree],
    settings: GrammarSettings | None = None,
    pool: Pool | None = None,
    report: Report | None = None,
    about: dict[str, Any] | None = None,
) -> ConstituentModel:
    """Learn a grammar of trees.

    trees: Not empty, without functions and traces (`brackets.plain`) and repeats (`binarization.without_repeats`).
    """
    settings = settings or GrammarSettings()
    bank = treebank(trees, settings.siblings, settings.labels)
    own, *others = (_member(bank, settings, number, pool, report) for number in range(settings.members))
    return replace(own, settings=settings.header() | (about or {}), others=tuple(others))


def _member(
    bank: Treebank, settings: GrammarSettings, number: int, pool: Pool | None, report: Report | None
) -> ConstituentModel:
    """Return a member of a product of grammars; they differ by their seeds (Petrov 2010)."""

    def tell(stage: str, figures: dict[str, float]) -> None:
        if report is not None:
            report(stage, figures | ({"member": number + 1} if settings.members > 1 else {}))

    state, frequencies = learn(bank, replace(settings, seed=settings.seed + number), pool, tell)
    own = state.grammar
    lexicon = bank.occurrences.lexicon(state.smoothed, own.substates[: own.n_tags])
    return ConstituentModel(own, frequencies, lexicon)
