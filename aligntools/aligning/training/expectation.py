"""E-steps over a corpus: link matrices turned into posteriors, posteriors into expected counts."""

import numpy as np

from aligntools.aligning.models import kernels_hmm as kh
from aligntools.aligning.models import kernels_ibm as ki
from aligntools.aligning.models.base import pairs_of
from aligntools.aligning.models.ibm import ibm_block
from aligntools.aligning.models.jumps import jump_taps
from aligntools.aligning.models.lexical import null_from_counts
from aligntools.aligning.models.position_tables import Scratch, positioned


class Expectations:
    """E-steps of every model, over one corpus and one table.

    Parameters
    ----------
    matrices : LinkMatrices
    directions : int
        1 forward, 2 reverse, 3 both.
    joint : bool
        Both directions share one expected count a pair of words.
    s_null, t_null : float32 [n_words + 1]
        Probability of each word under NULL.
    p_null : float32 [2]

    Attributes
    ----------
    null_priors : (float64 [n_target + 1], float64 [n_source + 1]) or None
        Pseudo-counts of words under NULL.
    """

    null_priors = None

    def __init__(self, matrices, pool, directions, joint, s_null, t_null, p_null):
        self.source, self.target, self.matrices, self.pool = matrices.source, matrices.target, matrices, pool
        self.directions, self.joint = directions, joint
        self.s_null, self.t_null, self.p_null = s_null, t_null, p_null

    def _pass(self, lexicon, all_counts, block, then=None, apart=False, first=None):
        """Call ``first`` with each chunk, ``block`` with its blocks, ``then`` with the chunk; collect lexical counts.

        ``apart``: the directions have a matrix each, although they are joint.
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
            self.pool.map(lambda b: block(b, chunk, cells, other, logs), chunk.sentence_blocks)  # noqa: B023
            loglik += logs.sum(1)
            if then:
                then(chunk, cells, other)
            for d, counts in enumerate(all_counts):
                if self.joint or self.directions & (d + 1):
                    self.matrices.collect(chunk, counts, (cells, other)[d])
        return loglik

    def hmm(self, lexicon, jumps, all_counts, stride):
        """One HMM E-step: log-likelihoods, jump counts; pair counts are added to ``all_counts``."""
        parts = {}
        loglik = self._pass(lexicon, all_counts, self.hmm_block(lexicon, jumps, stride, parts))
        return loglik, sum(parts[b] for b in sorted(parts))

    def hmm_block(self, lexicon, jumps, stride, parts):
        """Return what an HMM E-step does with a block of sentences; jump counts come to be in ``parts``, by block."""
        taps, back = jump_taps(jumps)

        def block(b, chunk, cells, other, logs):
            counted = np.zeros((2, 2, kh.JUMP_SIZE))
            kh.hmm_block(
                *b, pairs_of(self.matrices, chunk), cells, other,
                lexicon.s_inverse, lexicon.t_inverse, self.s_null, self.t_null,
                kh.Jumps(jumps, taps, back), self.p_null, self.directions, self.joint, stride, counted, logs,
            )  # fmt: skip
            parts[b] = counted

        return block

    def ibm(self, lexicon, tension, all_counts, measured=False):
        """One E-step of IBM 1, or of IBM 2 with the diagonal: log-likelihoods, and the tension's expectations.

        ``measured``: those of IBM 1 too, which has no use for them.
        """
        parts = {}

        def block(b, chunk, cells, other, logs):
            place = (
                pairs_of(self.matrices, chunk), cells, other, lexicon.s_inverse, lexicon.t_inverse, self.s_null,
                self.t_null, self.p_null,
            )  # fmt: skip
            parts[b] = ibm_block(b, place, tension, self.directions, self.joint, logs)

        def then(chunk, cells, other):
            self._count_null(chunk, cells, other)
            if features is not None:
                for d in (0, 1):
                    if self.directions & (d + 1):
                        features[d, 0] += self._features(chunk, (cells, other)[d], d == 0)

        features = np.zeros((2, 2)) if measured else None
        self._forget_null()
        loglik = self._pass(lexicon, all_counts, block, None if self.joint else then)
        return loglik, sum(parts[b] for b in sorted(parts)) if features is None else features

    def _features(self, chunk, posteriors, forward):
        """Return what the diagonal's feature comes to where nothing is drawn to it; for the report alone."""
        place = chunk.k0, self.source.offsets, self.target.offsets, chunk.cell_offsets, posteriors, forward
        return sum(self.pool.map(lambda b: ki.diagonal_features(*b, *place), chunk.sentence_blocks))

    def ibm_table(self, lexicon, positions, all_counts):
        """One E-step of IBM 2 with tables of positions: log-likelihoods, and each table's expected counts.

        Jointly both tables count the mean of the posteriors, as the lexicon does.
        """
        counts = [np.zeros_like(p.values) for p in positions]
        scratches = [None, None]
        sides = (self.source, self.target), (self.target, self.source)
        both = [d for d in (0, 1) if self.joint or self.directions & (d + 1)]

        def first(chunk):
            scratches[:] = [Scratch(chunk, *sides[d]) for d in (0, 1)]

        def block(b, chunk, cells, other, logs):
            for d in both:
                positioned(
                    b, chunk, *sides[d], d == 0, (cells, other)[d], (lexicon.s_inverse, lexicon.t_inverse)[d],
                    (self.t_null, self.s_null)[d], self.p_null[d], positions[d], 0.0, scratches[d],
                )  # fmt: skip
                part = slice(b[0] - chunk.k0, b[1] - chunk.k0)
                logs[d, part] = scratches[d].loglik[part]

        def then(chunk, cells, other):
            if self.joint:
                n = chunk.n_cells
                cells[:n] += other[:n]
                cells[:n] *= np.float32(0.5)
            else:
                self._count_null(chunk, cells, other)
            for d in both:
                found = cells if self.joint or d == 0 else other
                positions[d].collect(chunk, *sides[d], d == 0, found, counts[d], self.pool)

        self._forget_null()
        return self._pass(lexicon, all_counts, block, then, apart=True, first=first), counts

    def _forget_null(self):
        self.null_counts = [np.zeros(len(self.t_null)), np.zeros(len(self.s_null))]
        for counts, prior in zip(self.null_counts, self.null_priors or (), strict=False):
            counts += prior

    def _count_null(self, chunk, cells, other):
        """Add the chunk's expected counts of words under NULL."""
        for d, (side, posteriors) in enumerate(((self.target, cells), (self.source, other))):
            if not self.directions & (d + 1):
                continue
            a, b = side.offsets[chunk.k0], side.offsets[chunk.k1]
            found = np.empty(b - a, np.float32)

            def task(block, posteriors=posteriors, forward=d == 0, found=found):
                ki.null_posteriors(
                    *block, chunk.k0, self.source.offsets, self.target.offsets, chunk.cell_offsets,
                    posteriors, forward, found,
                )  # fmt: skip

            self.pool.map(task, chunk.sentence_blocks)
            self.null_counts[d] += np.bincount(side.tokens[a:b], found, len(self.null_counts[d]))

    def estimate_null(self, settings):
        """M-step of NULL's words, for IBM 1 and 2 alone; elsewhere NULL gives words as the text does."""
        if self.joint or settings.model_type not in ("ibm1", "ibm2") or settings.p_null == 0:
            return
        variational = settings.estimator == "vb"
        if self.directions & 1:
            self.t_null = null_from_counts(self.null_counts[0], settings.alpha, variational)
        if self.directions & 2:
            self.s_null = null_from_counts(self.null_counts[1], settings.alpha, variational)
