"""The alignment HMM (Vogel, Ney & Tillmann 1996; NULL as in Och & Ney 2003): posteriors and Viterbi paths."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from aligntools.aligning import ahead
from aligntools.aligning.models import kernels_hmm as kh
from aligntools.aligning.models import kernels_viterbi as kv
from aligntools.aligning.models.base import LexicalModel, Shares, Stage, Task
from aligntools.aligning.models.jumps import initial_jumps, jump_taps, jumps_from_counts
from aligntools.aligning.models.lexical import LexicalFields, Lexicon
from aligntools.aligning.settings import ResolvedSettings
from aligntools.aligning.text.link_matrices import Chunk, pairs_of
from aligntools.aligning.text.views import ParallelText, TextView
from aligntools.aligning.training.expectation import BlockStep, Expectations
from aligntools.aligning.training.reconstruction_positions import HmmClimb
from aligntools.aligning.training.view_priors import add_jumps
from aligntools.ground.parallel import Pool

#: Jumps are counted on every n-th sentence, so that about this many tokens take part.
JUMP_SAMPLE = 400_000


@dataclass(frozen=True, eq=False, kw_only=True)
class Hmm(LexicalModel):
    """The HMM.

    Attributes
    ----------
    jumps : float32 [2, JUMP_SIZE]
        Forward, then reverse.
    """

    HAS_PATHS = True

    jumps: np.ndarray

    def posteriors(
        self,
        text: ParallelText,
        chunk: Chunk,
        cells: np.ndarray,
        other: np.ndarray,
        directions: int,
        pool: Pool,
        logs: np.ndarray,
    ) -> None:
        """Turn link matrices into posteriors by forward-backward; see `LexicalModel.posteriors`."""
        taps, back = jump_taps(self.jumps)
        unused = np.zeros((2, 2, kh.JUMP_SIZE))
        lexicon, pairs, jumps = self.lexicon, pairs_of(text, chunk), kh.Jumps(self.jumps, taps, back)

        def task(b: tuple[int, int]) -> None:
            kh.hmm_block(
                *b,
                pairs,
                cells,
                other,
                lexicon.s_inverse,
                lexicon.t_inverse,
                self.s_null,
                self.t_null,
                jumps,
                self.p_null,
                directions,
                False,
                0,
                unused,
                logs,
            )

        pool.map(task, chunk.sentence_blocks)

    def paths(
        self, text: ParallelText, chunk: Chunk, cells: np.ndarray, other: np.ndarray, directions: int, pool: Pool
    ) -> None:
        """Turn link matrices into the most probable paths: 1 at their links, 0 elsewhere, in place."""
        lexicon = self.lexicon
        place = (
            chunk.k0,
            text.source.tokens,
            text.source.offsets,
            text.target.tokens,
            text.target.offsets,
            chunk.cell_offsets,
        )

        def task(b: tuple[int, int]) -> None:
            if directions & 1:
                kv.viterbi_block(*b, *place, cells, True, lexicon.s_inverse, self.t_null, self.jumps[0], self.p_null[0])
            if directions & 2:
                kv.viterbi_block(
                    *b, *place, other, False, lexicon.t_inverse, self.s_null, self.jumps[1], self.p_null[1]
                )

        pool.map(task, chunk.sentence_blocks)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return its own arrays, as a file names them."""
        return {"jumps": self.jumps}

    @classmethod
    def from_arrays(
        cls, fields: LexicalFields, arrays: dict[str, np.ndarray], about: dict[str, Any], settings: ResolvedSettings
    ) -> "Hmm":
        """Make a model of what was in a file."""
        return cls(**fields, jumps=arrays["jumps"])

    @classmethod
    def stage(cls, task: Task, before: Stage | None) -> Stage:
        """Begin to train it."""
        return HmmStage(cls, task, before)

    @classmethod
    def on_text(cls, fields: LexicalFields, old: LexicalModel, text: TextView, settings: ResolvedSettings) -> "Hmm":
        """Return a model of a new text that begins with an older one's jumps, where it has them."""
        return cls(**fields, jumps=old.jumps if isinstance(old, Hmm) else initial_jumps())

    def climbing(self) -> type[HmmClimb[LexicalModel]]:
        """Return the class that trains jumps in maximum reconstruction."""
        return HmmClimb

    @classmethod
    def compiled_ahead(cls) -> ahead.Ahead:
        """Return what training needs after IBM 1."""
        return ahead.Ahead(kh.hmm_block, (ahead.hmm, ahead.decisions))

    def jump_shares(self, d: int) -> list[float]:
        """Return one direction's probabilities of jumps from -WINDOW or less to WINDOW or more."""
        return shares(self.jumps[d, : 2 * kh.WINDOW + 1].astype(np.float64))

    def charts(self) -> list[Shares]:
        """Return the jumps."""
        series = [(name, self.jump_shares(d)) for d, name in enumerate(("forward", "reverse"))]
        n = len(series[0][1]) // 2
        names = [f"{k:+d}" if k else "0" for k in range(-n, n + 1)]
        names[0], names[-1] = f"≤{names[0]}", f"≥{names[-1]}"
        return [Shares("Jumps", "words from the position of the word before", names, series)]


def shares(counts: np.ndarray) -> list[float]:
    """Return counts as shares of all."""
    found: list[float] = (counts / max(counts.sum(), 1e-300)).tolist()
    return found


class HmmStage(Stage):
    """The HMM in training."""

    def __init__(self, model: type[LexicalModel], task: Task, before: Stage | None = None) -> None:
        super().__init__(model, task, before)
        self._jumps = self.task.old.jumps if isinstance(self.task.old, Hmm) else initial_jumps()
        self._stride = 1

    def parameters(self) -> dict[str, np.ndarray]:
        """Return the jumps."""
        return {"jumps": self._jumps}

    def restore(self, parameters: dict[str, np.ndarray]) -> Self:
        """Take jumps that were kept."""
        self._jumps = parameters.get("jumps", self._jumps)
        return self

    def expect(self, steps: Expectations, lexicon: Lexicon, counts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Return log-likelihoods and jump counts."""
        self._stride = max(1, steps.n_tokens // JUMP_SAMPLE)
        return expect(steps, lexicon, self._jumps, counts, self._stride)

    def block(self, steps: Expectations, lexicon: Lexicon, parts: dict[tuple[int, int], np.ndarray]) -> BlockStep:
        """Return what an E-step does with a block of sentences; it writes jump counts into ``parts``, by block."""
        self._stride = max(1, steps.n_tokens // JUMP_SAMPLE)
        return block_of(steps, lexicon, self._jumps, self._stride, parts)

    def maximize(self, counted: np.ndarray, steps: Expectations | None = None) -> None:
        """Estimate the jumps."""
        if self.task.priors:
            add_jumps(counted, self.task.priors.window() / self._stride)
        self._jumps = jumps_from_counts(counted, 0.5 if self.task.settings.estimator == "vb" else 0.0)


def expect(
    steps: Expectations, lexicon: Lexicon, jumps: np.ndarray, all_counts: list[np.ndarray], stride: int
) -> tuple[np.ndarray, np.ndarray]:
    """Take expectations with these jumps: log-likelihoods, jump counts on every ``stride``-th sentence."""
    parts: dict[tuple[int, int], np.ndarray] = {}
    loglik = steps.over(lexicon, all_counts, steps.by_blocks(block_of(steps, lexicon, jumps, stride, parts)))
    return loglik, sum((parts[b] for b in sorted(parts)), np.zeros((2, 2, kh.JUMP_SIZE)))


def block_of(
    steps: Expectations, lexicon: Lexicon, jumps: np.ndarray, stride: int, parts: dict[tuple[int, int], np.ndarray]
) -> BlockStep:
    """Return what an E-step with these jumps does with a block; they are counted on every ``stride``-th sentence."""
    taps, back = jump_taps(jumps)

    def block(b: tuple[int, int], chunk: Chunk, cells: np.ndarray, other: np.ndarray, logs: np.ndarray) -> None:
        counted = np.zeros((2, 2, kh.JUMP_SIZE))
        kh.hmm_block(
            *b,
            pairs_of(steps.matrices, chunk),
            cells,
            other,
            lexicon.s_inverse,
            lexicon.t_inverse,
            steps.s_null,
            steps.t_null,
            kh.Jumps(jumps, taps, back),
            steps.p_null,
            steps.directions,
            steps.joint,
            stride,
            counted,
            logs,
        )
        parts[b] = counted

    return block
