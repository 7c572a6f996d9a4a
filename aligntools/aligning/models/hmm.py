"""The alignment HMM (Vogel, Ney & Tillmann 1996; NULL as in Och & Ney 2003): posteriors and Viterbi paths."""

from dataclasses import dataclass

import numpy as np

from aligntools.aligning import ahead
from aligntools.aligning.models import kernels_hmm as kh
from aligntools.aligning.models import kernels_viterbi as kv
from aligntools.aligning.models.base import LexicalModel, Shares, Stage
from aligntools.aligning.models.jumps import initial_jumps, jump_taps, jumps_from_counts
from aligntools.aligning.text.link_matrices import pairs_of
from aligntools.aligning.training.reconstruction_positions import HmmClimb
from aligntools.aligning.training.view_priors import add_jumps

#: Jumps are counted on every so many sentences that about this many tokens take part.
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

    def posteriors(self, text, chunk, cells, other, directions, pool, logs):
        """Turn link matrices into posteriors by forward-backward; see `LexicalModel.posteriors`."""
        taps, back = jump_taps(self.jumps)
        unused = np.zeros((2, 2, kh.JUMP_SIZE))
        lexicon, pairs, jumps = self.lexicon, pairs_of(text, chunk), kh.Jumps(self.jumps, taps, back)

        def task(b):
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

    def paths(self, text, chunk, cells, other, directions, pool):
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

        def task(b):
            if directions & 1:
                kv.viterbi_block(*b, *place, cells, True, lexicon.s_inverse, self.t_null, self.jumps[0], self.p_null[0])
            if directions & 2:
                kv.viterbi_block(
                    *b, *place, other, False, lexicon.t_inverse, self.s_null, self.jumps[1], self.p_null[1]
                )

        pool.map(task, chunk.sentence_blocks)

    def arrays(self):
        """Return its own arrays, as a file names them."""
        return {"jumps": self.jumps}

    @classmethod
    def from_arrays(cls, fields, arrays, about, settings):
        """Make a model of what was in a file."""
        return cls(**fields, jumps=arrays["jumps"])

    @classmethod
    def stage(cls, task, before):
        """Begin to train it."""
        return HmmStage(cls, task, before)

    @classmethod
    def on_text(cls, fields, old, text, settings):
        """Return a model of a new text that begins with an older one's jumps, where it has them."""
        return cls(**fields, jumps=old.jumps if isinstance(old, Hmm) else initial_jumps())

    def climbing(self):
        """Return how maximum reconstruction goes on from it."""
        return HmmClimb

    @classmethod
    def compiled_ahead(cls):
        """Return what training comes to after IBM 1."""
        return ahead.Ahead(kh.hmm_block, (ahead.hmm, ahead.decisions))

    def jump_shares(self, d: int) -> list[float]:
        """Return one direction's probabilities of jumps from -WINDOW or less to WINDOW or more."""
        return shares(self.jumps[d, : 2 * kh.WINDOW + 1].astype(np.float64)).tolist()

    def charts(self):
        """Return the jumps."""
        series = [(name, self.jump_shares(d)) for d, name in enumerate(("forward", "reverse"))]
        n = len(series[0][1]) // 2
        names = [f"{k:+d}" if k else "0" for k in range(-n, n + 1)]
        names[0], names[-1] = f"≤{names[0]}", f"≥{names[-1]}"
        return [Shares("Jumps", "words from the position of the word before", names, series)]


def shares(counts: np.ndarray) -> np.ndarray:
    """Return counts as shares of all."""
    return counts / max(counts.sum(), 1e-300)


class HmmStage(Stage):
    """The HMM in training."""

    def __init__(self, *place) -> None:
        super().__init__(*place)
        self._jumps = self.task.old.jumps if isinstance(self.task.old, Hmm) else initial_jumps()
        self._stride = 1

    def parameters(self):
        """Return the jumps."""
        return {"jumps": self._jumps}

    def restore(self, parameters):
        """Take jumps that were kept."""
        self._jumps = parameters.get("jumps", self._jumps)
        return self

    def expect(self, steps, lexicon, counts):
        """Return log-likelihoods and jump counts."""
        self._stride = max(1, steps.n_tokens // JUMP_SAMPLE)
        return expect(steps, lexicon, self._jumps, counts, self._stride)

    def block(self, steps, lexicon, parts):
        """Return what an E-step does with a block of sentences; jump counts come to be in ``parts``, by block."""
        self._stride = max(1, steps.n_tokens // JUMP_SAMPLE)
        return block_of(steps, lexicon, self._jumps, self._stride, parts)

    def maximize(self, counted, steps=None):
        """Estimate the jumps."""
        if self.task.given:
            add_jumps(counted, self.task.given.window() / self._stride)
        self._jumps = jumps_from_counts(counted, 0.5 if self.task.settings.estimator == "vb" else 0.0)


def expect(steps, lexicon, jumps, all_counts, stride):
    """Take expectations with these jumps: log-likelihoods, jump counts on every ``stride``-th sentence."""
    parts: dict = {}
    loglik = steps.over(lexicon, all_counts, block_of(steps, lexicon, jumps, stride, parts))
    return loglik, sum(parts[b] for b in sorted(parts))


def block_of(steps, lexicon, jumps, stride, parts):
    """Return what an E-step with these jumps does with a block; they are counted on every ``stride``-th sentence."""
    taps, back = jump_taps(jumps)

    def block(b, chunk, cells, other, logs):
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
