"""Passes over a text: a model turns link matrices into posteriors, which are summed to expected counts."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from aligntools.aligning.models import kernels_ibm as ki
from aligntools.aligning.models.lexical import Lexicon, null_from_counts
from aligntools.aligning.settings import ResolvedSettings
from aligntools.aligning.text.link_matrices import Both, Chunk, LinkMatrices
from aligntools.ground.parallel import Pool

#: Called with a chunk and the cells of both directions.
ChunkStep: TypeAlias = Callable[[Chunk, Both], None]
#: The same, with an array for log-likelihoods: turns the cells into posteriors, in place.
PosteriorStep: TypeAlias = Callable[[Chunk, Both, np.ndarray], None]
#: The same, for one block of the chunk's sentences, which is the first argument; returns what it counts, an array.
BlockStep: TypeAlias = Callable[[tuple[int, int], Chunk, Both, np.ndarray], Any]


class Expectations:
    """Passes over one text, maybe a part of ``n_tokens`` source tokens, and one table, for the E-steps of models.

    directions, joint: 1 forward, 2 reverse, 3 both; both share one expected count of each pair of words.
    s_null, t_null, p_null (float32 [n_words + 1] twice, [2]): Of each word under NULL; of NULL.
    null_priors (float64 [n_target + 1], float64 [n_source + 1]): Pseudo-counts of words under NULL.
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
            both, logs = (cells, other), np.zeros((2, chunk.k1 - chunk.k0))
            if first:
                first(chunk)
            turn(chunk, both, logs)
            loglik += logs.sum(1)
            if then:
                then(chunk, both)
            for d, counts in enumerate(all_counts):
                if self.joint or self.directions & (d + 1):
                    self.matrices.collect(chunk, counts, both[d])
        return loglik

    def by_blocks(self, block: BlockStep, found: list[Any]) -> PosteriorStep:
        """Turn a function of a block into one of a chunk, whose blocks run on the pool; ``found`` gets their counts."""

        def turn(chunk: Chunk, both: Both, logs: np.ndarray) -> None:
            found.extend(self.pool.map(lambda b: block(b, chunk, both, logs), chunk.sentence_blocks))

        return turn

    def by_posteriors(self, model: Any, all_counts: list[np.ndarray], count: ChunkStep | None = None) -> np.ndarray:
        """Take expectations of a model by its posteriors; return log-likelihoods.

        model: A `models.base.LexicalModel`, whose module imports this one.
        In joint training the mean of both directions is counted for words. ``count`` is called with each chunk and the
        posteriors of each direction, for other parameters of the model.
        """

        def then(chunk: Chunk, both: Both) -> None:
            if count:
                count(chunk, both)
            self.count_words(chunk, both)

        def turn(chunk: Chunk, both: Both, logs: np.ndarray) -> None:
            model.posteriors(self.matrices, chunk, both, self.directions, self.pool, logs)

        self.forget_null()
        return self.over(model.lexicon, all_counts, turn, then, apart=True)

    def count_words(self, chunk: Chunk, both: Both) -> None:
        """Put the mean of both directions into the cells of the first in joint training, or else count NULL's words."""
        if not self.joint:
            self.count_null(chunk, both)
            return
        cells, n = both[0], chunk.n_cells
        cells[:n] += both[1][:n]
        cells[:n] *= np.float32(0.5)

    def forget_null(self) -> None:
        """Begin to count words under NULL."""
        self.null_counts = [np.zeros(len(self.t_null)), np.zeros(len(self.s_null))]
        for counts, prior in zip(self.null_counts, self.null_priors or (), strict=False):
            counts += prior

    def count_null(self, chunk: Chunk, both: Both) -> None:
        """Add the chunk's expected counts of words under NULL."""
        for d, side in enumerate((self.target, self.source)):
            if not self.directions & (d + 1):
                continue
            a, b = side.offsets[chunk.k0], side.offsets[chunk.k1]
            found = np.empty(b - a, np.float32)
            text = self.source.offsets, self.target.offsets, chunk.cell_offsets
            place = chunk.k0, *text, both[d], d == 0, found

            def task(block: tuple[int, int], place: tuple[Any, ...] = place) -> None:
                ki.null_posteriors(*block, *place)

            self.pool.map(task, chunk.sentence_blocks)
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
