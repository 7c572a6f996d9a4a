r"""Word classes by the exchange algorithm (Kneser & Ney 1993; Martin, Liermann & Ney 1998).

With a class G(w) for each word, a bigram model of classes gives a text the log-likelihood

.. math:: \sum_{g, h} N(g, h) \ln N(g, h) - \sum_g N(g\,\cdot) \ln N(g\,\cdot) - \sum_h N(\cdot\,h) \ln N(\cdot\,h)

plus what does not depend on the classes: N(g, h) says how often a word of class g comes right before one of class h.
Where a sentence begins and ends stands a word of its own, in a class of its own (0). Words move one at a time. At first
they are drawn by the gain of each class and a temperature that falls to 0, so that early choices can be undone; then
each goes where it gains most, until none moves.

What a move gains changes only in the rows and columns of two classes, at the classes of the word's neighbours: a rare
word has few. Of many classes only those are looked at that gained most when all were, in every fifth pass and in the
last ones.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from aligntools.clustering.kernels_exchange import (
    Scratch,
    Tables,
    WordNeighbours,
    count_classes,
    count_pairs,
    sweep,
    turn,
)
from aligntools.ground.declarations import Settings, documented, option
from aligntools.ground.parallel import Pool, over
from aligntools.ground.ranges import SEED, counts


@documented
@dataclass(frozen=True)
class ClassSettings(Settings):
    """How words are clustered."""

    number: int = option(50, "Number of classes.", allowed=counts(1, 5_000), group="Common options")
    iterations: int = option(
        20,
        "Passes over the words in which they are drawn into classes, ever more surely, before those in which each word"
        " goes where it gains most.",
        allowed=counts(0, 100_000),
        group="Training",
    )
    restarts: int = option(
        1,
        "Number of times that words are clustered; the classes that predict their neighbours best are kept.",
        allowed=counts(1, 10_000),
        group="Training",
    )
    min_count: int = option(
        1, "Words with fewer occurrences share a class of their own.", allowed=counts(1), group="Training"
    )
    seed: int = option(
        1,
        "Seed of everything random; the same seed gives the same bytes.",
        allowed=SEED,
        group="Resources and messages",
    )


#: Temperature at first, in units of log-likelihood, at least, and for each pair of words of the text; it falls with the
#: square of what is left of the passes.
TEMPERATURE, OF_PAIRS = 15.0, 5e-5
#: Of more classes than these, each word has a list of those that gained most when all were looked at, which is in every
#: ``EVERY``-th pass.
MANY, LISTED, EVERY = 100, 24, 5
#: Passes without a temperature: what is left to gain after so many is not worth the time.
_MOST = 100
_TABLE = 1 << 16


@dataclass(frozen=True, eq=False)
class Clustering:
    """Classes of words and what they are worth.

    classes (int32 [vocabulary]): From 1, by the first of their words, the most frequent words first; 0 for the edge of
        a sentence and words that do not occur. Words rarer than ``min_count`` have the class after the last one.
    objective, perplexity, information: What depends on the classes; of the text, with ends of sentences; in nats.
    looked, moved: How often a word was looked at, and how often one went into another class, of all restarts.
    """

    classes: np.ndarray
    objective: float
    perplexity: float
    information: float
    looked: int
    moved: int


class Moves(NamedTuple):
    """What the words of a text may do.

    order (int32 [some]): Words that move, the most frequent first.
    ranges (int32 [vocabulary, 2]): A word's classes: from the first number up to the second, which is not one of them.
    """

    order: np.ndarray
    ranges: np.ndarray


def _n_log_n(counts: np.ndarray) -> np.ndarray:
    found: np.ndarray = counts * np.log(np.maximum(counts, 1))
    return found


def count_text(tokens: np.ndarray, offsets: np.ndarray, size: int) -> WordNeighbours:
    """Count which words of a text follow which.

    offsets (int64 [sentences + 1]).
    size: Words of the vocabulary, with 0, the edge of a sentence.
    """
    longest = len(tokens) + len(offsets) - 1
    starts, last = np.zeros(size + 1, np.int64), np.full(size, -1, np.int64)
    following, words, counts = (np.empty(longest, np.int32) for _ in range(3))
    count_pairs(tokens.astype(np.int32, copy=False), offsets, starts, following, last, words, counts)
    del following
    found = int(starts[-1])
    return turned(starts, words[:found].copy(), counts[:found].copy())


def turned(starts: np.ndarray, words: np.ndarray, counts: np.ndarray) -> WordNeighbours:
    """Complete counts of pairs that are sorted by the first word with the same by the second."""
    left = np.zeros(len(starts), np.int64), np.empty(len(words), np.int32), np.empty(len(words), np.int32)
    turn(starts, words, counts, *left)
    return WordNeighbours(starts, words, counts, *left)


def uses_of(pairs: WordNeighbours) -> tuple[np.ndarray, np.ndarray]:
    """Return how often each word is the first and the second of a pair, int64 [vocabulary] each."""
    sums = [np.concatenate([np.zeros(1, np.int64), np.cumsum(c, dtype=np.int64)]) for c in (pairs[2], pairs[5])]
    return sums[0][pairs.right_starts[1:]] - sums[0][pairs.right_starts[:-1]], (
        sums[1][pairs.left_starts[1:]] - sums[1][pairs.left_starts[:-1]]
    )


def free_moves(pairs: WordNeighbours, settings: ClassSettings) -> Moves:
    """Let words go into any class, but for rare ones, which share the one after the last."""
    uses, size = uses_of(pairs)[1], len(pairs.right_starts) - 1
    ranges = np.zeros((size, 2), np.int32)
    ranges[:, 0], ranges[:, 1] = 1, settings.number + 1
    ranges[uses < settings.min_count] = settings.number + 1, settings.number + 2
    ranges[uses == 0] = 0, 1
    ranges[0] = 0, 1
    order = np.argsort(-uses, kind="stable").astype(np.int32)
    return Moves(order[ranges[order, 1] - ranges[order, 0] > 1], ranges)


def _start(moves: Moves) -> np.ndarray:
    """Return the first classes: each of the most frequent words has its own, all others the last."""
    classes = moves.ranges[:, 0].copy()
    for low in np.unique(moves.ranges[moves.order, 0]):
        words = moves.order[moves.ranges[moves.order, 0] == low]
        classes[words] = np.minimum(low + np.arange(len(words)), moves.ranges[words, 1] - 1)
    return classes


def _tables(pairs: WordNeighbours, classes: np.ndarray, size: int) -> Tables:
    counts, terms, zeros = np.zeros((size, size), np.int64), np.zeros((size, size)), np.zeros(size, np.int64)
    logs = _n_log_n(np.arange(_TABLE))
    tables = Tables(counts, counts.copy(), terms, terms.copy(), zeros, zeros.copy(), np.zeros(size), zeros * 0.0, logs)
    count_classes(classes, pairs, tables)
    tables.turned[:] = counts.T
    tables.terms[:] = _n_log_n(counts)
    tables.turned_terms[:] = tables.terms.T
    tables.first_terms[:], tables.second_terms[:] = _n_log_n(tables.first), _n_log_n(tables.second)
    return tables


def objective_of(pairs: WordNeighbours, classes: np.ndarray) -> float:
    """Return the part of the log-likelihood that depends on the classes."""
    tables = _tables(pairs, classes, int(classes.max(initial=0)) + 1)
    return float(tables.terms.sum() - tables.first_terms.sum() - tables.second_terms.sum())


def _clustered(
    pairs: WordNeighbours, moves: Moves, settings: ClassSettings, start: int
) -> tuple[np.ndarray, float, list[int]]:
    """Return the classes that one start leads to, their objective, and how many words were moved in each pass."""
    size = int(moves.ranges.max()) if len(moves.ranges) else 1
    classes = _start(moves)
    tables = _tables(pairs, classes, size)
    places = LISTED if settings.number > MANY else 0
    lists = np.zeros((len(classes) if places else 0, places), np.int32)
    sums, present, listed = np.zeros((2, size), np.int64), np.zeros((2, size), np.int64), np.zeros(places + 1, np.int64)
    scratch = Scratch(sums[0], sums[1], present[0], present[1], np.zeros(size), np.arange(size), listed)
    seeds = np.random.SeedSequence((settings.seed, start)).generate_state(1, np.uint64)

    hottest = max(TEMPERATURE, OF_PAIRS * float(tables.first.sum()))
    moved: list[int] = []

    def passed(temperature: float, full: bool) -> bool:
        args = moves.order, moves.ranges, temperature, full, classes, pairs, tables, lists, seeds, scratch
        moved.append(int(sweep(*args)))
        return moved[-1] > 0

    for k in range(settings.iterations):
        passed(hottest * (1 - k / settings.iterations) ** 2, not places or k % EVERY == 0)
    for k in range(_MOST):
        full = not places or k % EVERY == 0
        if not passed(0.0, full) and (full or not passed(0.0, True)):
            break
    return classes, objective_of(pairs, classes), moved


def _renumbered(classes: np.ndarray, moves: Moves) -> np.ndarray:
    """Number classes by the first of their words, the most frequent words first, within each range."""
    found = classes.copy()
    for low in np.unique(moves.ranges[moves.order, 0]):
        words = moves.order[moves.ranges[moves.order, 0] == low]
        _, first, inverse = np.unique(classes[words], return_index=True, return_inverse=True)
        found[words] = low + np.argsort(np.argsort(first))[inverse.reshape(-1)]
    return found


def cluster(
    pairs: WordNeighbours, settings: ClassSettings | None = None, pool: Pool | None = None, moves: Moves | None = None
) -> Clustering:
    """Cluster words by exchange.

    pairs: Counts of pairs of words; those of a text from `count_text`.
    moves: Which words may go into which classes; by default, all into all.
    """
    settings = settings or ClassSettings()
    moves = moves or free_moves(pairs, settings)
    runs = over(pool, lambda start: _clustered(pairs, moves, settings, start), range(settings.restarts))
    best = max(range(len(runs)), key=lambda k: runs[k][1])
    classes, objective, _ = runs[best]
    first, second = uses_of(pairs)
    total = max(int(first.sum()), 1)
    words = float(_n_log_n(first).sum() + _n_log_n(second).sum()) / 2
    return Clustering(
        _renumbered(classes, moves),
        objective,
        float(np.exp(-(objective + words) / total)),
        objective / total + float(np.log(total)),
        sum(len(moved) for *_, moved in runs) * len(moves.order),
        sum(sum(moved) for *_, moved in runs),
    )


# Classes of the words of two languages that say most of each other, too (Och 1999).
#
# The pairs that are counted are those of neighbouring words of both texts and those of linked words, source word
# first. Each side's words have classes of their own. As in mkcls, all pairs are in one table.

#: Tokens, where sentences begin and end, and how many words the vocabulary has, with NULL.
TextSide = tuple[np.ndarray, np.ndarray, int]


def count_both(source: TextSide, target: TextSide, links: tuple[np.ndarray, np.ndarray]) -> WordNeighbours:
    """Count neighbours in both texts, and linked words by their positions in both texts, int64 [links] each.

    The source's words are as they are numbered, and the target's come after them.
    """
    (words, offsets, size), (others, ends, number) = source, target
    after = size - 1
    tokens = np.concatenate([words, others + np.int32(after)]).astype(np.int32, copy=False)
    pairs = count_text(tokens, np.concatenate([offsets, ends[1:] + len(words)]), size + number - 1)
    keys = words[links[0]].astype(np.int64) << 32 | (others[links[1]].astype(np.int64) + after)
    linked, counts = np.unique(keys, return_counts=True)
    first = np.repeat(np.arange(size + number - 1), np.diff(pairs.right_starts))
    first = np.concatenate([first, linked >> 32])
    order = np.argsort(first, kind="stable")
    starts = np.searchsorted(first[order], np.arange(size + number)).astype(np.int64)
    second = np.concatenate([pairs.right_words, (linked & 0xFFFFFFFF).astype(np.int32)])[order]
    return turned(starts, second, np.concatenate([pairs.right_counts, counts.astype(np.int32)])[order])


def apart(pairs: WordNeighbours, size: int, settings: ClassSettings) -> Moves:
    """Let the source's words, those before ``size``, go into the first classes, and the target's into as many others.

    Rare words share a class on each side: the two after the last.
    """
    some = settings.number
    moves = free_moves(pairs, settings)
    ranges = moves.ranges.copy()
    moving, rare = ranges[:, 0] == 1, ranges[:, 0] == some + 1
    targets = np.arange(len(ranges)) >= size
    ranges[moving & targets] = some + 1, 2 * some + 1
    ranges[rare & ~targets] = 2 * some + 1, 2 * some + 2
    ranges[rare & targets] = 2 * some + 2, 2 * some + 3
    return Moves(moves.order, ranges)


def of_sides(classes: np.ndarray, size: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes of each side's words, from 1; rare words have the one after the last, NULL has 0."""
    source, target = classes[:size].copy(), np.concatenate([np.zeros(1, classes.dtype), classes[size:]])
    source[source == 2 * number + 1] = number + 1
    found = np.where(target > 0, target - number, 0)
    found[target == 2 * number + 2] = number + 1
    return source, found.astype(np.int32)
