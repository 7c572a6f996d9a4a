"""Passes over a text: a model turns link matrices into posteriors, which are summed to expected counts."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from aligntools.aligning.models import kernels_ibm as ki
from aligntools.aligning.models.lexical import Lexicon, null_from_counts
from aligntools.aligning.settings import ResolvedSettings
from aligntools.aligning.text.link_matrices import Chunk, LinkMatrices
from aligntools.ground.parallel import Pool

#: Called with a chunk and the cells of both directions.
ChunkStep: TypeAlias = Callable[[Chunk, np.ndarray, np.ndarray], None]
#: The same, with an array for log-likelihoods: turns the cells into posteriors, in place.
PosteriorStep: TypeAlias = Callable[[Chunk, np.ndarray, np.ndarray, np.ndarray], None]
#: The same, for one block of the chunk's sentences, which is the first argument.
BlockStep: TypeAlias = Callable[[tuple[int, int], Chunk, np.ndarray, np.ndarray, np.ndarray], None]


def _null_block(place: tuple[Any, ...], block: tuple[int, int]) -> None:
    ki.null_posteriors(*block, *place)


class Expectations:
    """Passes over one text and one table, for the E-steps of models.

    directions: 1 forward, 2 reverse, 3 both.
    joint: Both directions share one expected count of each pair of words.
    s_null, t_null (float32 [n_words + 1]): Probability of each word under NULL.
    p_null (float32 [2]).
    null_priors ((float64 [n_target + 1], float64 [n_source + 1]) or None): Pseudo-counts of words under NULL.
    n_tokens: Source tokens of the whole text; this may be a part of it.
    """

    null_priors: tuple[np.ndarray, np.ndarray] | None = None

    def __init__(
        self,
        matrices: LinkMatrices,
        pool: Pool,
        directions: int,
        joint: bool,
        s_null: np.ndarray,
        t_null: np.ndarray,
        p_null: np.ndarray,
    ) -> None:
        self.source, self.target, self.matrices, self.pool = matrices.source, matrices.target, matrices, pool
        self.directions, self.joint = directions, joint
        self.s_null, self.t_null, self.p_null = s_null, t_null, p_null
        self.n_tokens = len(self.source.tokens)

    def over(
        self,
        lexicon: Lexicon,
        all_counts: list[np.ndarray],
        turn: PosteriorStep,
        then: ChunkStep | None = None,
        apart: bool = False,
        first: Callable[[Chunk], None] | None = None,
    ) -> np.ndarray:
        """Go over the text: fill link matrices, have them turned into posteriors, collect lexical counts.

        ``first`` is called with each chunk, ``turn`` makes posteriors of its matrices, ``then`` is called with these.
        With ``apart`` each direction has a matrix of its own in joint training too. Returns log-likelihoods.
        """
        loglik = np.zeros(2)
        for chunk in self.matrices.chunks:
            self.matrices.index(chunk)
            cells = self.matrices.cells
            self.matrices.fill(chunk, lexicon.forward, lexicon.default, cells)
            other = cells
            if apart or not self.joint:
                other = self.matrices.second
                self.matrices.fill(chunk, lexicon.reverse, lexicon.default, other)
            logs = np.zeros((2, chunk.k1 - chunk.k0))
            if first:
                first(chunk)
            turn(chunk, cells, other, logs)
            loglik += logs.sum(1)
            if then:
                then(chunk, cells, other)
            for d, counts in enumerate(all_counts):
                if self.joint or self.directions & (d + 1):
                    self.matrices.collect(chunk, counts, (cells, other)[d])
        return loglik

    def by_blocks(self, block: BlockStep) -> PosteriorStep:
        """Turn a function of a block of sentences into one of a chunk, whose blocks run on the pool."""

        def turn(chunk: Chunk, cells: np.ndarray, other: np.ndarray, logs: np.ndarray) -> None:
            self.pool.map(lambda b: block(b, chunk, cells, other, logs), chunk.sentence_blocks)

        return turn

    def by_posteriors(self, model: Any, all_counts: list[np.ndarray], count: ChunkStep | None = None) -> np.ndarray:
        """Take expectations of a model by its posteriors; return log-likelihoods.

        model: A `models.base.LexicalModel`, whose module imports this one.
        In joint training the mean of both directions is counted for words. ``count`` is called with each chunk and the
        posteriors of each direction, for other parameters of the model.
        """

        def then(chunk: Chunk, cells: np.ndarray, other: np.ndarray) -> None:
            if count:
                count(chunk, cells, other)
            if self.joint:
                self.average(chunk, cells, other)
            else:
                self.count_null(chunk, cells, other)

        def turn(chunk: Chunk, cells: np.ndarray, other: np.ndarray, logs: np.ndarray) -> None:
            model.posteriors(self.matrices, chunk, cells, other, self.directions, self.pool, logs)

        self.forget_null()
        return self.over(model.lexicon, all_counts, turn, then, apart=True)

    def average(self, chunk: Chunk, cells: np.ndarray, other: np.ndarray) -> None:
        """Put the mean of both directions into the cells of the first."""
        n = chunk.n_cells
        cells[:n] += other[:n]
        cells[:n] *= np.float32(0.5)

    def forget_null(self) -> None:
        """Begin to count words under NULL."""
        self.null_counts = [np.zeros(len(self.t_null)), np.zeros(len(self.s_null))]
        for counts, prior in zip(self.null_counts, self.null_priors or (), strict=False):
            counts += prior

    def count_null(self, chunk: Chunk, cells: np.ndarray, other: np.ndarray) -> None:
        """Add the chunk's expected counts of words under NULL."""
        for d, (side, posteriors) in enumerate(((self.target, cells), (self.source, other))):
            if not self.directions & (d + 1):
                continue
            a, b = side.offsets[chunk.k0], side.offsets[chunk.k1]
            found = np.empty(b - a, np.float32)

            place = chunk.k0, self.source.offsets, self.target.offsets, chunk.cell_offsets
            run = partial(_null_block, (*place, posteriors, d == 0, found))
            self.pool.map(run, chunk.sentence_blocks)
            self.null_counts[d] += np.bincount(side.tokens[a:b], found, len(self.null_counts[d]))

    def estimate_null(self, settings: ResolvedSettings) -> None:
        """M-step of NULL's words, for models that learn them; in others their probabilities are those of the text."""
        if self.joint or settings.p_null == 0:
            return
        variational = settings.estimator == "vb"
        if self.directions & 1:
            self.t_null = null_from_counts(self.null_counts[0], settings.alpha, variational)
        if self.directions & 2:
            self.s_null = null_from_counts(self.null_counts[1], settings.alpha, variational)
