"""Imputing the missing source side as a lattice (Li, Wang, Eisner & Khudanpur 2011, section 3.4, "Lattice").

A forest of p(x|y), in which a string has many derivations, is approximated by a deterministic automaton: the n-gram
model nearest to it in D(p || q) (Li, Eisner & Khudanpur 2009, "Variational decoding for statistical machine
translation", section 3.2), with counts by place in the string, so that strings end and states are few:

    q(w | h, t) = E[h w with w at place t] / E[h before place t]

Arcs with a lower posterior than a threshold are left out, the rest is normalized, and states from which the same
strings follow with the same probabilities become one.

The forward system translates the lattice whole, with log q(x) as a feature of fixed weight. Its derivations are
normalized over all x together: a source counts q(x) Z(x) / Z, Z(x) the sum over its derivations, not q(x) as in
equation 8. With one path both are the same.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from aligntools.formats.translation.plf import Arc, WordLattice
from aligntools.ground.parallel import Pool, over
from aligntools.translating.forest import derivations, semirings
from aligntools.translating.forest.candidates import CandidateLists
from aligntools.translating.forest.hypergraph import Hypergraph, edge_scores
from aligntools.translating.tuning import kernels_positions as kernels

#: Probabilities below this part of the threshold do not count in what is expected.
_FLOOR = 1e-4
#: States whose probabilities agree so far become one.
_DIGITS = 9
#: A place and the words before it; how often each word comes next in each.
State: TypeAlias = tuple[int, tuple[int, ...]]
Counts: TypeAlias = dict[State, dict[int, float]]


@dataclass(frozen=True)
class Automaton:
    """An acyclic automaton of strings of word ids.

    arcs: From, to, word and probability, ordered; states are numbered so that arcs lead on, from 0 to ``last``.
    """

    arcs: list[tuple[int, int, int, float]]
    last: int

    def lattice(self, name: Callable[[list[int]], list[bytes]]) -> WordLattice:
        """Return it as a lattice; ``name`` gives the words (bytes) of ids."""
        words = name([word for _, _, word, _ in self.arcs])
        nodes: list[list[Arc]] = [[] for _ in range(self.last)]
        for (begin, end, _, p), word in zip(self.arcs, words, strict=True):
            nodes[begin].append(Arc(word.decode("utf-8", "surrogateescape"), (p,), end - begin))
        return WordLattice(tuple(map(tuple, nodes)))


class SentenceTooLongError(MemoryError):
    """Memory does not hold the places of a sentence's words."""

    def __init__(self, sentence: int) -> None:
        super().__init__(sentence)
        self.sentence = sentence


def automata(
    h: Hypergraph,
    weights: np.ndarray,
    order: int = 3,
    prune: float = 0.02,
    gamma: float = 1.0,
    pool: Pool | None = None,
) -> list[Automaton]:
    """Approximate the strings of each sentence by an automaton.

    h: Whose nodes know their first and last 4 words (`DecoderSettings.full_states`).
    order: Of the n-grams, 2 to 5.
    prune: Least posterior of an arc.
    Returns without arcs for a sentence without words. Raises SentenceTooLongError: Its memory goes by the square of a
    sentence's length.
    """
    _, conditional = semirings.inside(h, edge_scores(h, np.asarray(weights, np.float64), gamma, pool=pool), pool)

    def work(block: tuple[int, int]) -> list[Automaton]:
        found = []
        for s in range(*block):
            try:
                found.append(_automaton(expected(h, conditional, s, order, prune * _FLOOR), order, prune))
            except MemoryError:
                raise SentenceTooLongError(s) from None
        return found

    return [one for part in over(pool, work, h.blocks()) for one in part]


def expected(h: Hypergraph, conditional: np.ndarray, s: int, order: int, floor: float = 0.0) -> Counts:
    """Expect the n-grams of a sentence by place.

    Returns for each state, a place and the words before it, how often each word comes next; 0 is the end.
    """
    root = int(h.roots[s])
    if root < 0:
        return {}
    begin, most = int(h.node_offsets[s]), np.empty(root + 1 - int(h.node_offsets[s]), np.int64)
    kernels.longest_yields(h.strings, begin, root + 1, most)
    size = int(most[-1]) + 1
    lengths, starts, work = np.empty((len(most), size)), np.empty((len(most), size)), np.empty((3, size))
    kernels.yield_lengths(h.strings, conditional, begin, root + 1, lengths, work[:2].copy())
    given = h.strings, (h.left, h.right, h.lengths), conditional, begin, root, order, float(floor)
    buffer, room = np.empty((int(np.diff(h.word_offsets).max(initial=0)) + 20, 4), np.int32), 1 << 12
    while True:
        room *= 4
        table = np.empty(room, np.int64), np.empty((room, 8), np.int32), np.empty(room)
        count = kernels.expected_grams(*given, lengths, starts, work, buffer, table)
        if count >= 0:
            break
    found: Counts = {}
    rows, amounts = table[1][:count].tolist(), table[2][:count].tolist()
    for (kind, place, n, *following), amount in zip(rows, amounts, strict=True):
        words = tuple(following[:n])
        if kind == kernels.LAST:
            state, word = (place, words), 0
        elif kind == kernels.FIRST:
            state, word = (n - 1, words[:-1]), words[-1]
        else:
            state, word = (place + order - 1, words[:-1]), words[-1]
        found.setdefault(state, {})[word] = amount
    return found


def _next(state: State, word: int, order: int) -> State:
    place, words = state
    return place + 1, (*words, word)[1 - order :]


def _automaton(counts: Counts, order: int, prune: float) -> Automaton:
    """Return the automaton of n-grams by place, without arcs of lower posteriors."""
    if (0, ()) not in counts:
        return Automaton([], 0)
    order_of = sorted(counts)
    totals = {state: sum(following.values()) for state, following in counts.items()}
    while True:  # until a path is left
        after: dict[State, float] = {}  # the sum of all paths from a state to the end
        kept: Counts = {}
        for state in reversed(order_of):
            kept[state] = own = {}
            for word, amount in counts[state].items():
                mass = 1.0 if word == 0 else after.get(_next(state, word, order), 0.0)
                if amount >= prune and mass > 0:
                    own[word] = amount / totals[state] * mass
            after[state] = sum(own.values())
        if after[0, ()] > 0:
            break
        prune /= 2
    # one of states with the same continuations
    same: dict[tuple[tuple[int, float, int], ...], int] = {}
    of: dict[State, int] = {}
    ways: list[list[tuple[int, float, int]]] = []
    depth: list[int] = []
    for state in reversed(order_of):
        if after[state] <= 0:
            continue
        way = [(word, p / after[state], of.get(_next(state, word, order), -1)) for word, p in kept[state].items()]
        way = [(word, p, -1 if word == 0 else to) for word, p, to in sorted(way)]
        key = tuple((word, round(p, _DIGITS), to) for word, p, to in way)
        if key not in same:
            same[key] = len(ways)
            ways.append(way)
            depth.append(max(0 if word == 0 else 1 + depth[to] for word, _, to in way))
        of[state] = same[key]
    # those that are reached, numbered, the last one last
    start = of[0, ()]
    reached, waiting = {start}, [start]
    while waiting:
        new = {to for word, _, to in ways[waiting.pop()] if word} - reached
        reached |= new
        waiting += new
    ends = {k: sum(p for word, p, _ in ways[k] if word == 0) for k in reached}
    inner = sorted((k for k in reached if k == start or ends[k] < 1), key=lambda k: (k != start, -depth[k], k))
    number, last = {k: n for n, k in enumerate(inner)}, len(inner)
    arcs = []
    for k in inner:
        rest = 1.0 - ends[k]
        for word, p, to in ways[k]:
            if word == 0:
                continue
            share = p / rest  # what ends in a state is in the arcs that lead there
            if to in number and ends[to] < 1:
                arcs.append((number[k], number[to], word, share * (1.0 - ends[to])))
            if ends[to] > 0:
                arcs.append((number[k], last, word, share * ends[to]))
    return Automaton(sorted(arcs), last if arcs else 0)


# Imputing the missing source side (Li, Wang, Eisner & Khudanpur 2011, section 3.4).
#
# A reverse system turns a target sentence y into sources x with probabilities p(x|y): its k best with their
# probabilities rescaled, or samples that all weigh the same. The forward system then translates each x and is tuned
# on y (equation 8). Round trips rule by rule are in `round_trips`.

_FACTOR = np.uint64(0x9E3779B97F4A7C15)


def impute(
    forest: Hypergraph,
    weights: npt.ArrayLike,
    how: str = "kbest",
    k: int = 1,
    gamma: float = 1.0,
    seed: int = 1,
    pool: Pool | None = None,
    equal: bool = False,
) -> tuple[CandidateLists, np.ndarray, np.ndarray]:
    """Impute sources from what a reverse system made of target sentences.

    forest: Derivations of the sources; a sentence without any is skipped.
    how: ``kbest``: the k best different sources, their probabilities rescaled to 1 in all. ``samples``: k independent
        samples, each with the weight 1 / k (multiple imputation: Rubin 1987); the same source drawn again adds to its
        weight.
    equal: Weigh the k best sources of a sentence all alike, as the paper's experiments do (its last footnote).
    Returns candidates: One a source; their words are the reverse system's target ids.
    Returns groups (int64 [sources]): The sentence that each was imputed for.
    Returns shares (float64 [sources]): p(x|y): they sum to 1 over a sentence's.
    """
    weights = np.asarray(weights, np.float64)
    scores = edge_scores(forest, weights, gamma, pool=pool)
    if how == "samples":
        found = derivations.samples(forest, scores, len(weights), k, seed, pool)
        sentence = np.repeat(np.arange(len(found)), np.diff(found.offsets))
        strings = replace(found, feature_offsets=np.zeros(found.count + 1, np.int64))  # of words alone
        _, first, count = np.unique(
            strings.keys() ^ (sentence.astype(np.uint64) * _FACTOR), return_index=True, return_counts=True
        )
        order = np.argsort(first)
        rows, shares = first[order], count[order] / k
    else:
        found = derivations.k_best(forest, scores, len(weights), k, pool=pool)
        sentence = np.repeat(np.arange(len(found)), np.diff(found.offsets))
        scores = np.zeros(found.count) if equal else found.scores
        rows, shares = np.arange(found.count), normalized(scores, found.offsets)
    return found.take(rows, np.arange(len(rows) + 1)), sentence[rows], shares


def normalized(scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the exponentials of scores, rescaled to 1 over each of the runs that ``offsets`` cut."""
    full = np.diff(offsets) > 0
    if not full.any():
        return np.zeros(0)
    first, sizes = offsets[:-1][full], np.diff(offsets)[full]
    shares = np.exp(scores - np.repeat(np.maximum.reduceat(scores, first), sizes))
    return np.asarray(shares / np.repeat(np.add.reduceat(shares, first), sizes))
