"""Chains of hidden states over text: likelihood, posteriors, expected counts, and best sequences of states.

A chain is a hidden Markov model with a start distribution and, for each state, one distribution over the next
state or the end, and one over what it emits (Rabiner 1989; Jurafsky & Martin, appendix A).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from aligntools.ground.parallel import Pool, balanced_blocks
from aligntools.tagging.kernels_chain import (
    collect_block,
    forward_backward_block,
    forward_block,
    k_best_block,
)

#: Blocks that a chunk's sentences, and its rows of emissions, are cut into.
BLOCKS = 32
#: Posteriors held at a time.
MAX_CELLS = 4_000_000


@dataclass
class Chain:
    """Parameters of a chain with K states, or counts of these.

    start (float64 [K]).
    transitions (float64 [K, K]): From the row's state to the column's.
    stop (float64 [K]): Probability of the end after a state; a row of ``transitions`` and its ``stop`` sum to one. All
        ones: a model without an end, whose rows of ``transitions`` sum to one.
    emissions (float64 [rows, K]): ``P(word | state)``; every column sums to one over the words (rows may also be
        classes of words).
    """

    start: np.ndarray
    transitions: np.ndarray
    stop: np.ndarray
    emissions: np.ndarray

    def __post_init__(self) -> None:
        for name in ("start", "transitions", "stop", "emissions"):
            setattr(self, name, np.ascontiguousarray(getattr(self, name), np.float64))
        k = len(self.start)
        if self.transitions.shape != (k, k) or self.stop.shape != (k,) or self.emissions.shape[1:] != (k,):
            raise ValueError(
                f"a chain of {k} states has transitions {self.transitions.shape}, stop {self.stop.shape},"
                f" emissions {self.emissions.shape}"
            )

    @property
    def n_states(self) -> int:
        """K."""
        return len(self.start)

    @property
    def ends(self) -> bool:
        """Whether the end of a sentence is part of the model."""
        return not np.all(self.stop == 1.0)

    def parameters(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the four arrays in the order that kernels take them."""
        return self.start, self.transitions, self.stop, self.emissions


def leaving(values: Chain, ends: bool) -> np.ndarray:
    """Return transitions with the stop as last column, [K, K + 1], or transitions alone where nothing ends."""
    return np.column_stack([values.transitions, values.stop]) if ends else values.transitions


def as_distributions(values: Chain, ends: bool) -> list[np.ndarray]:
    """Lay a chain's or its counts' arrays out with one distribution a row.

    Returns start [1, K]; leaving [K, K + 1], the next state or (last column) the end, or [K, K]; emissions [K, rows].
    """
    return [values.start[None, :], leaving(values, ends), np.ascontiguousarray(values.emissions.T)]


def from_distributions(rows: list[np.ndarray], ends: bool) -> Chain:
    """Return the chain of the three matrices that `as_distributions` makes."""
    start, onward, emissions = rows
    k = start.shape[1]
    return Chain(start[0], onward[:, :k], onward[:, k] if ends else np.ones(k), emissions.T)


class ChainText:
    """A text made ready for passes over it: cut into chunks and blocks, every word's occurrences listed.

    tokens (int32 [tokens]): Row of the emissions of every token.
    offsets (int64 [sentences + 1]).
    allowed (bool [rows, K] or None): The states that each word may be in, by a dictionary: paths through others do not
        count.
    max_cells: Posteriors held at a time; bounds memory, and changes no result but the rounding of sums.
    """

    def __init__(
        self,
        tokens: np.ndarray,
        offsets: np.ndarray,
        n_rows: int,
        max_cells: int = MAX_CELLS,
        allowed: np.ndarray | None = None,
    ) -> None:
        self.tokens = np.ascontiguousarray(tokens, np.int32)
        self.offsets = np.ascontiguousarray(offsets, np.int64)
        self.n_rows = int(n_rows)
        if len(self.offsets) == 0 or self.offsets[0] != 0 or self.offsets[-1] != len(self.tokens):
            raise ValueError(f"offsets do not run from 0 to {len(self.tokens)}")
        if np.any(np.diff(self.offsets) < 0):
            raise ValueError("offsets fall")
        if len(self.tokens) and not (self.tokens.min() >= 0 and self.tokens.max() < self.n_rows):
            raise ValueError(f"a token is outside the {self.n_rows} rows")
        self.max_cells, self.allowed = max_cells, allowed
        if allowed is not None and len(allowed) != self.n_rows:
            raise ValueError(f"allowed states of {len(allowed)} words, the text has {self.n_rows}")
        self._chunks: list[tuple[int, int, list[tuple[int, int]], np.ndarray]] = []
        self._width = 0

    @property
    def n_sentences(self) -> int:
        """Sentences, those of no words included."""
        return len(self.offsets) - 1

    def blocks(self) -> list[tuple[int, int]]:
        """Return runs of sentences of about equal work."""
        return balanced_blocks(np.diff(self.offsets) + 4, BLOCKS)

    def chunks(self, n_states: int) -> list[tuple[int, int, list[tuple[int, int]], np.ndarray]]:
        """Return runs of sentences, the blocks of each, and its tokens by row of the emissions; built once."""
        if self._width == n_states:
            return self._chunks
        self._chunks, self._width = [], n_states
        k0, limit = 0, max(1, self.max_cells // n_states)
        while k0 < self.n_sentences:
            k1 = max(k0 + 1, int(np.searchsorted(self.offsets, self.offsets[k0] + limit, side="right")) - 1)
            t0, t1 = int(self.offsets[k0]), int(self.offsets[k1])
            blocks = balanced_blocks(np.diff(self.offsets[k0 : k1 + 1]) + 4, BLOCKS)
            order = np.argsort(self.tokens[t0:t1], kind="stable").astype(np.int64) + t0
            self._chunks.append((k0, k1, [(a + k0, b + k0) for a, b in blocks], order))
            k0 = k1
        return self._chunks

    def held(self, chain: Chain) -> Chain:
        """Return the chain without emissions from states that words may not be in."""
        if len(chain.emissions) != self.n_rows:
            raise ValueError(f"the chain emits {len(chain.emissions)} words, the text has {self.n_rows}")
        if self.allowed is None:
            return chain
        return replace(chain, emissions=np.where(self.allowed, chain.emissions, 0.0))


#: Expected counts of one block of sentences: start, transitions, stop.
_Sums: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]


def _passes(
    chain: Chain, text: ChainText, pool: Pool, squared: bool = False
) -> Iterator[tuple[slice, slice, np.ndarray, np.ndarray, np.ndarray, list[_Sums]]]:
    """Yield of each chunk its sentences, its tokens, these by row, their posteriors, logarithms, and blocks' sums.

    The posteriors' array is used again for the next chunk.
    """
    chain = text.held(chain)
    k, chunks = chain.n_states, text.chunks(chain.n_states)
    longest = max((int(text.offsets[k1] - text.offsets[k0]) for k0, k1, *_ in chunks), default=0)
    gamma = np.empty((longest, k))
    for k0, k1, blocks, order in chunks:
        tokens, loglik = slice(*text.offsets[[k0, k1]].tolist()), np.empty(k1 - k0)

        def work(block: tuple[int, int], k0: int = k0, loglik: np.ndarray = loglik) -> _Sums:
            sums = np.zeros(k), np.zeros((k, k)), np.zeros(k)
            given = text.tokens, text.offsets, chain.parameters()
            forward_backward_block(*block, k0, *given, squared, gamma, sums, loglik)
            return sums

        sums = pool.map(work, blocks)
        yield slice(k0, k1), tokens, order, gamma[: tokens.stop - tokens.start], loglik, sums


def expected_counts(chain: Chain, text: ChainText, pool: Pool, squared: bool = False) -> tuple[Chain, np.ndarray]:
    """Run forward-backward over a text and sum the expected counts.

    squared: Emissions count twice: the distribution Q of reconstruction (Cheng, Liu & Xu 2017, equation 29), and
        ``loglik`` is that of ``sum_z P(z) P(x | z)^2``.
    Returns loglik (float64 [sentences]): -inf for a sentence that has no path and adds no counts, 0 for no words.
    """
    k = chain.n_states
    counts = Chain(np.zeros(k), np.zeros((k, k)), np.zeros(k), np.zeros((text.n_rows, k)))
    loglik = np.zeros(text.n_sentences)
    for here, tokens, order, gamma, part, sums in _passes(chain, text, pool, squared):
        loglik[here] = part
        for start, transitions, stop in sums:
            counts.start += start
            counts.transitions += transitions
            counts.stop += stop
        frequencies = np.bincount(text.tokens[tokens], minlength=text.n_rows)
        given = np.append(0, np.cumsum(frequencies)), order, gamma, tokens.start, counts.emissions

        def collect(block: tuple[int, int], given: tuple[Any, ...] = given) -> None:
            collect_block(*block, *given)

        pool.map(collect, balanced_blocks(frequencies, BLOCKS))
    counts.transitions *= chain.transitions
    return counts, loglik


def log_likelihood(
    chain: Chain, text: ChainText, pool: Pool, ranges: tuple[np.ndarray, np.ndarray] | None = None
) -> np.ndarray:
    """Natural logarithms of the sentences' probabilities: float64 [sentences], -inf where there is no path.

    ranges (int32 [tokens] each): Token t may only be in states ``low[t] .. high[t] - 1``, at least one: its tag is
        known, its substate is not.
    """
    loglik = np.zeros(text.n_sentences)
    low, high = (np.ascontiguousarray(ends, np.int32) for ends in ranges or (np.zeros(0), np.zeros(0)))
    bounds = low, high, int((high - low).max(initial=1))
    given = text.tokens, text.offsets, *bounds, text.held(chain).parameters(), loglik
    pool.map(lambda block: forward_block(*block, *given), text.blocks())
    return loglik


def posteriors(chain: Chain, text: ChainText, pool: Pool) -> np.ndarray:
    """Posterior probabilities of the states of all tokens, float64 [tokens, K]; zero in a sentence without a path."""
    result = np.empty((len(text.tokens), chain.n_states))
    for _, tokens, _, gamma, *_ in _passes(chain, text, pool):
        result[tokens] = gamma
    return result


def k_best(chain: Chain, text: ChainText, n: int, pool: Pool) -> tuple[np.ndarray, np.ndarray]:
    """Find the n most probable sequences of states of every sentence, exactly.

    Returns states (int32 [n, tokens]): -1 where a sentence has fewer than n.
    Returns scores (float64 [sentences, n]): ``log P(x, z)``, falling; -inf where there are fewer.
    """
    states, scores = np.full((n, len(text.tokens)), -1, np.int32), np.zeros((text.n_sentences, n))
    with np.errstate(divide="ignore"):
        logs = tuple(np.log(p) for p in text.held(chain).parameters())
    given = n, text.tokens, text.offsets, logs, states, scores
    pool.map(lambda block: k_best_block(*block, *given), text.blocks())
    return states, scores
