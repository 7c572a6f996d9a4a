"""Latent annotations: tags split into unobserved substates, learned by EM with the tags observed.

Every tag is split in two and trained, and the splits that gain least are undone (Petrov, Barrett, Thibaux
& Klein 2006; for tagging Huang, Eidelman & Harper 2009), again and again. With one state a tag it is counting.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.ground.parallel import Pool
from aligntools.tagging.settings import TaggerSettings, TagSmoothing
from aligntools.tagging.supervised.corpus import TaggedCorpus
from aligntools.tagging.supervised.kernels_substates import collect_pairs_block, observed_block
from aligntools.tagging.unknown_words import FormClasses

#: States of a model at most.
STATES = 1000


@dataclass
class Substates:
    """Expected counts of a model with substates, or its parameters.

    first (int64 [tags + 1]): Tag ``g`` has the states ``first[g]`` to ``first[g + 1] - 1``.
    start, stop (float64 [states]), transitions (float64 [states, states]), at (int64 [pairs + 1]).
    emissions (float64): Of pair ``p`` and each substate of its tag, from ``at[p]`` on.
    """

    first: np.ndarray
    start: np.ndarray
    transitions: np.ndarray
    stop: np.ndarray
    at: np.ndarray
    emissions: np.ndarray

    @property
    def tag_of(self) -> np.ndarray:
        """Tag of each state."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    def state_of(self, text: TaggedCorpus) -> np.ndarray:
        """Return the state of each element of ``emissions``."""
        widths = np.diff(self.at)
        return np.asarray(np.arange(self.at[-1]) - np.repeat(self.at[:-1] - self.first[text.pair_tag], widths))


def known_counts(text: TaggedCorpus) -> Substates:
    """Return the counts of a tagged text, one state a tag: of what is known before anything is expected.

    Words count with tokens that may not have every tag, by equal shares; transitions, starts and stops where all tags
    that they depend on are known.
    """
    n, several = text.n_tags, np.diff(text.cells)
    single = several == 1
    tags = np.where(single, text.tags[text.cells[:-1]], 0)
    full = np.flatnonzero(np.diff(text.offsets) > 0)
    begins, ends = text.offsets[full], text.offsets[full + 1] - 1
    inner = np.ones(len(tags), bool)
    inner[begins] = False
    later = np.flatnonzero(inner & single)
    later = later[single[later - 1]]
    moves = np.bincount(tags[later - 1].astype(np.int64) * n + tags[later], minlength=n * n)
    start, stop = (np.bincount(tags[at[single[at]]], minlength=n).astype(np.float64) for at in (begins, ends))
    weights = np.where(single | (several < n), 1.0 / several, 0.0)
    counts = np.bincount(text.pairs, np.repeat(weights, several), len(text.pair_word))
    first, at = np.arange(n + 1, dtype=np.int64), np.arange(len(counts) + 1, dtype=np.int64)
    return Substates(first, start, moves.reshape(n, n).astype(np.float64), stop, at, counts)


def class_shares(states: Substates, text: TaggedCorpus, classes: FormClasses, smoothing: TagSmoothing) -> np.ndarray:
    """Return ``p(substate | tag, class of the word)``, float64 [nodes, states]."""
    n_states, tag_of, first = len(states.start), states.tag_of, states.first
    if n_states == len(first) - 1:
        return np.ones((len(classes.parents), n_states))
    state = states.state_of(text)
    widths = np.diff(states.at)
    weight = np.repeat(1.0 / np.maximum(text.pair_count / 5.0, 1.0), widths) * states.emissions
    shares = np.empty((len(classes.parents), n_states))
    for depth, (begin, end) in enumerate(classes.levels):
        node = np.repeat(classes.paths[text.pair_word, depth] - begin, widths)
        seen = node >= 0
        size = end - begin
        counts = np.bincount(node[seen] * n_states + state[seen], weight[seen], size * n_states).reshape(size, n_states)
        sums = np.add.reduceat(counts, first[:-1], axis=1)[:, tag_of]
        above = (1.0 / np.diff(first)[tag_of])[None, :] if depth == 0 else shares[classes.parents[begin:end]]
        shares[begin:end] = (counts + smoothing.classes * above) / (sums + smoothing.classes)
    return shares


def estimate(
    states: Substates, text: TaggedCorpus, tag_shares: np.ndarray, classes: FormClasses, smoothing: TagSmoothing
) -> tuple[Substates, np.ndarray]:
    """Turn expected counts into a model, and ``p(state)``.

    Emissions are ``p(state | word) / p(state)``, in proportion to ``p(word | state)``, where a word's tag is
    ``tag_shares`` whatever its substate, and its substates are smoothed towards those of words that look like it.

    tag_shares (float64 [pairs]): ``p(tag | word)``.
    """
    tag_of, first = states.tag_of, states.first
    n_tags = len(first) - 1
    state, widths = states.state_of(text), np.diff(states.at)
    totals = np.bincount(state, states.emissions, len(tag_of))
    prior = (totals + 1e-3) / (totals.sum() + 1e-3 * len(totals))
    seen = text.pair_count
    if len(tag_of) == n_tags:
        within = np.ones(len(state))
    else:
        shares = class_shares(states, text, classes, smoothing)
        like = shares[np.repeat(classes.nodes[text.pair_word], widths), state]
        within = (states.emissions + smoothing.substates * like) / np.repeat(seen + smoothing.substates, widths)
    values = np.repeat(tag_shares, widths) * within / prior[state]
    # transitions, with the end as one more column
    moves = np.column_stack([states.transitions, states.stop])
    by_tag = np.add.reduceat(moves, first[:-1], axis=0)
    any_ = moves.sum(0) + 1e-3
    any_ /= any_.sum()
    by_tag = (by_tag + smoothing.tags * any_) / (by_tag.sum(1, keepdims=True) + smoothing.tags)
    moves = (moves + smoothing.transitions * by_tag[tag_of]) / (moves.sum(1, keepdims=True) + smoothing.transitions)
    start = (states.start + smoothing.tags * prior) / (states.start.sum() + smoothing.tags)
    inner, stop = np.ascontiguousarray(moves[:, :-1]), np.ascontiguousarray(moves[:, -1])
    return Substates(first, start, inner, stop, states.at, np.ascontiguousarray(values)), prior


def expect(
    parameters: tuple[Substates, np.ndarray], states: Substates, text: TaggedCorpus, pool: Pool, merging: bool = False
) -> tuple[Substates, float, np.ndarray]:
    """Return the expected counts of a text under a model, its log-likelihood and, for ``merging``, losses of merges.

    Returns losses (float64 [states]): Of merging states 2i and 2i + 1 of a tag, at the first of them; zeros unless
        ``merging``.
    """
    model, prior = parameters
    n = len(states.start)
    low = states.first[text.pair_tag]
    places = np.concatenate([[0], np.cumsum(np.diff(states.at)[text.pairs])]).astype(np.int64)
    gamma = np.empty(int(places[-1]))
    loglik = np.zeros(len(text.offsets) - 1)
    shares = prior / np.add.reduceat(prior, states.first[:-1])[states.tag_of]

    def work(block: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        start, stop, moves, losses = np.zeros(n), np.zeros(n), np.zeros((n, n)), np.zeros(n)
        given = text.cells, text.pairs, places, text.offsets, low, states.at
        chain = model.emissions, model.start, model.transitions, model.stop
        observed_block(*block, given, chain, gamma, (start, moves, stop), loglik, merging, shares, losses)
        return start, moves, stop, losses

    sums = None
    for found in pool.map(work, text.blocks):
        sums = found if sums is None else tuple(a + b for a, b in zip(sums, found, strict=True))
    if sums is None:
        sums = np.zeros(n), np.zeros((n, n)), np.zeros(n), np.zeros(n)
    start, moves, stop, losses = sums
    emissions = np.empty(len(model.emissions))
    pool.map(
        lambda block: collect_pairs_block(*block, text.ptr, text.occurrences, states.at, places, gamma, emissions),
        text.pair_blocks,
    )
    expected = Substates(states.first, start, moves * model.transitions, stop, states.at, emissions)
    return expected, float(loglik.sum()), losses


def _regroup(states: Substates, text: TaggedCorpus, parts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rebuild counts with other substates: ``parts`` [new states] is the old state of each, in order of tags."""
    tag = states.tag_of[parts]
    first = np.searchsorted(tag, np.arange(len(states.first))).astype(np.int64)
    at = np.concatenate([[0], np.cumsum(np.diff(first)[text.pair_tag])]).astype(np.int64)
    return first, at


def split(states: Substates, text: TaggedCorpus, limit: int, noise: float, random: np.random.Generator) -> Substates:
    """Split the states in two whose tag then has at most ``limit``; the halves differ by ``noise`` at random.

    Where there would be more than STATES, the more frequent tags come first.
    """
    widths = np.diff(states.first)
    seen = np.bincount(text.pair_tag, text.pair_count, len(widths))
    double = (2 * widths <= limit) & (seen > 1)
    order = np.argsort(-seen, kind="stable")
    double[order] &= np.cumsum(np.where(double, widths, 0)[order]) <= STATES - len(states.start)
    copies = np.where(double, 2, 1)[states.tag_of]
    parts = np.repeat(np.arange(len(states.start)), copies)
    first, at = _regroup(states, text, parts)
    shape = np.repeat(copies, copies).astype(np.float64)
    # noise that cancels within a pair of halves keeps the parent's counts
    sign = np.where(np.arange(len(parts)) - np.searchsorted(parts, parts) == 0, 1.0, -1.0)
    sign[shape == 1] = 0.0

    def halves(counts: np.ndarray) -> np.ndarray:
        shake = random.uniform(-noise, noise, len(states.start))[parts]
        return counts[parts] / shape * (1 + sign * shake)

    moves = states.transitions[np.ix_(parts, parts)] / shape[:, None] / shape
    by_row = random.uniform(-noise, noise, (len(states.start), len(states.start)))[np.ix_(parts, parts)]
    by_column = random.uniform(-noise, noise, (len(states.start), len(states.start)))[np.ix_(parts, parts)]
    moves = moves * (1 + sign[:, None] * by_row) * (1 + sign * by_column)
    new = Substates(first, halves(states.start), moves, halves(states.stop), at, np.empty(at[-1]))
    state = new.state_of(text)
    widths_new, old_widths = np.diff(at), np.diff(states.at)
    pair = np.repeat(np.arange(len(widths_new)), widths_new)
    source = states.at[pair] + parts[state] - states.first[text.pair_tag[pair]]
    shake = random.uniform(-noise, noise, int(old_widths.sum()))[source]
    new.emissions = states.emissions[source] / shape[state] * (1 + sign[state] * shake)
    return new


def merge(states: Substates, text: TaggedCorpus, together: np.ndarray) -> Substates:
    """Merge states: those with equal numbers in ``together`` [states], which rise by 0 or 1, become one."""
    n = int(together[-1]) + 1
    parts = np.searchsorted(together, np.arange(n))
    first, at = _regroup(states, text, parts)
    moves = np.add.reduceat(np.add.reduceat(states.transitions, parts, axis=0), parts, axis=1)
    new = Substates(
        first, np.add.reduceat(states.start, parts), moves, np.add.reduceat(states.stop, parts), at, np.empty(at[-1])
    )
    old = states.state_of(text)
    pair = np.repeat(np.arange(len(at) - 1), np.diff(states.at))
    target = at[pair] + together[old] - first[text.pair_tag[pair]]
    new.emissions = np.bincount(target, states.emissions, int(at[-1]))
    return new


def choose_merges(states: Substates, losses: np.ndarray, split_tags: np.ndarray, share: float) -> np.ndarray:
    """Return what `merge` takes: the ``share`` of sibling pairs that lose least are put together."""
    pairs = [
        s for g in np.flatnonzero(split_tags) for s in range(int(states.first[g]), int(states.first[g + 1]) - 1, 2)
    ]
    siblings = np.array(pairs, np.int64)
    least = siblings[np.argsort(losses[siblings], kind="stable")[: int(share * len(siblings))]]
    rises = np.ones(len(states.start), np.int64)
    rises[0] = 0
    rises[least + 1] = 0
    return np.cumsum(rises)


def train(
    text: TaggedCorpus,
    tag_shares: np.ndarray,
    classes: FormClasses,
    settings: TaggerSettings,
    pool: Pool,
    random: np.random.Generator,
    *,
    report: Callable[..., Any] | None = None,
    start: Substates | None = None,
    renewed: Callable[..., Any] | None = None,
) -> Substates:
    """Train a model with substates of the tags by splitting and merging; after merges a third as many iterations.

    report: Called with (round, iteration, states, log-likelihood).
    start: Counts with one state a tag; None: those of the text, whose tags are all known.
    renewed: Returns the text and ``tag_shares`` as some counts would have them, where the text's own are expectations.
    """
    report = report or (lambda *_: None)
    states = known_counts(text) if start is None else start
    if not len(text.tokens):
        return states
    size, turn = 1, 0

    def parameters_of(states: Substates) -> tuple[Substates, np.ndarray]:
        now, shares = renewed(states) if renewed else (text, tag_shares)
        return estimate(states, now, shares, classes, settings.smoothing)

    def improve(states: Substates, times: int) -> Substates:
        for i in range(times):
            states, loglik, _ = expect(parameters_of(states), states, text, pool)
            report(turn, i, len(states.start), loglik)
        return states

    while size < settings.latent:
        size, turn = min(2 * size, settings.latent), turn + 1
        before = np.diff(states.first)
        states = split(states, text, size, settings.noise, random)
        split_tags = np.diff(states.first) > before
        states = improve(states, settings.iterations)
        if settings.merging > 0:
            states, _, losses = expect(parameters_of(states), states, text, pool, merging=True)
            states = merge(states, text, choose_merges(states, losses, split_tags, settings.merging))
            states = improve(states, settings.iterations // 3)
    return states
