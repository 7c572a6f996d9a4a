"""The alignment HMM (Vogel, Ney & Tillmann 1996; NULL as in Och & Ney 2003): posteriors and Viterbi paths."""

from dataclasses import dataclass

import numpy as np

from aligntools.aligning.models import kernels_hmm as kh
from aligntools.aligning.models import kernels_viterbi as kv
from aligntools.aligning.models.base import LexicalModel, pairs_of
from aligntools.aligning.models.jumps import jump_taps


@dataclass(frozen=True, eq=False, kw_only=True)
class Hmm(LexicalModel):
    """The HMM.

    Attributes
    ----------
    jumps : float32 [2, JUMP_SIZE]
        Forward, then reverse.
    """

    jumps: np.ndarray

    def posteriors(self, text, chunk, cells, other, directions, pool, logs):
        """Turn link matrices into posteriors by forward-backward; see `LexicalModel.posteriors`."""
        taps, back = jump_taps(self.jumps)
        unused = np.zeros((2, 2, kh.JUMP_SIZE))
        lexicon, pairs, jumps = self.lexicon, pairs_of(text, chunk), kh.Jumps(self.jumps, taps, back)

        def task(b):
            kh.hmm_block(
                *b, pairs, cells, other, lexicon.s_inverse, lexicon.t_inverse, self.s_null, self.t_null, jumps,
                self.p_null, directions, False, 0, unused, logs,
            )  # fmt: skip

        pool.map(task, chunk.sentence_blocks)

    def viterbi(self, text, chunk, cells, other, directions, pool):
        """Turn link matrices into the most probable paths: 1 at their links, 0 elsewhere, in place."""
        lexicon = self.lexicon
        place = (
            chunk.k0, text.source.tokens, text.source.offsets, text.target.tokens, text.target.offsets,
            chunk.cell_offsets,
        )  # fmt: skip

        def task(b):
            if directions & 1:
                kv.viterbi_block(*b, *place, cells, True, lexicon.s_inverse, self.t_null, self.jumps[0], self.p_null[0])
            if directions & 2:
                kv.viterbi_block(
                    *b, *place, other, False, lexicon.t_inverse, self.s_null, self.jumps[1], self.p_null[1]
                )

        pool.map(task, chunk.sentence_blocks)
