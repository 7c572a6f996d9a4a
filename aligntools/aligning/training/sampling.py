"""Training the fertility model: the sampler started from the joint HMM, chunk by chunk.

Counts of sentences that the sampler has not reached yet are stood in for by the HMM's expected counts, which are
taken away as it goes; a corpus of one chunk starts from its own links alone. The two directions are independent and
have a generator each, so the result does not depend on the number of threads.
"""

import numpy as np

from aligntools.aligning.models import kernels_fertility as kf
from aligntools.aligning.models import kernels_hmm as kh
from aligntools.aligning.models.fertility import FertilityCounts, LinkCandidates, sampler_scratch
from aligntools.aligning.text.kernels_pairs import Directed
from aligntools.aligning.text.link_matrices import LinkMatrices

#: Tokens of a side up to which a corpus is sampled as one chunk; beyond, in chunks of a quarter of them.
CHUNK_TOKENS = 1_000_000
#: Jumps that the sampler starts with, spread as the HMM's.
PRIOR_JUMPS = 100.0


def _prior_jumps(jumps):
    """Spread PRIOR_JUMPS pseudo-counts as the HMM's jumps are: on a few sentences nothing is known else."""
    window = jumps[: 2 * kh.WINDOW + 1].astype(np.float64)
    prior = np.zeros(2 * kf.JUMPS + 1)
    prior[kf.JUMPS - kh.WINDOW : kf.JUMPS + kh.WINDOW + 1] = PRIOR_JUMPS * window / window.sum()
    return prior


class _Direction:
    """Counts of one direction while sampling."""

    def __init__(self, hmm, forward, looks, seed, priors=None):
        table = hmm.table
        self.forward = forward
        n_c = table.n_source if forward else table.n_target
        n_o = table.n_target if forward else table.n_source
        self.types = (table.types if forward else table.target_types).astype(np.float32)
        extra = np.zeros(len(table.ids), np.float32)
        if looks is not None and len(looks.entries):
            extra[looks.entries] = looks.strengths[looks.tiers]
        if priors is not None:
            extra += priors.of_pairs(table)
        self.extra = extra
        self.extra_words = table.row_sums(extra) if forward else table.column_sums(extra)
        self.pairs = extra.copy()
        self.null = np.zeros(n_o + 1)
        self.jumps = _prior_jumps(hmm.jumps[0 if forward else 1])
        self.fertility = np.zeros((n_c, kf.FERTILITIES), np.float32)
        if priors is not None:
            way = 0 if forward else 1
            self.null += (priors.t_null, priors.s_null)[way]
            self.jumps += priors.jumps[way]
            self.fertility += priors.fertilities[way]
        self.words = np.append(self.extra_words, [self.null.sum(), self.jumps.sum()])
        self.mean_pairs = np.zeros_like(self.pairs)
        self.mean_jumps = self.jumps.copy()
        self.mean_fertility = self.fertility.copy()
        self.generator = np.array([seed * 2 + forward], np.uint64)

    def add_expected(self, hmm, share):
        """Add ``share`` of the HMM's expected counts."""
        table = hmm.table
        counts = hmm.counts[0 if self.forward else -1]
        self.pairs += counts * np.float32(share)
        np.maximum(self.pairs, self.extra, out=self.pairs)
        n = len(self.extra_words)
        self.words[:n] += (table.row_sums(counts) if self.forward else table.column_sums(counts)) * share
        np.maximum(self.words[:n], self.extra_words, out=self.words[:n])

    def finish(self, table):
        pairs = self.mean_pairs + self.extra
        words = np.zeros_like(self.words)
        words[:-2] = table.row_sums(pairs) if self.forward else table.column_sums(pairs)
        words[-2] = self.words[-2]
        words[-1] = self.mean_jumps.sum()
        return FertilityCounts(pairs, words, self.types, self.null, self.mean_jumps, self.mean_fertility)


def train_sampler(hmm, matrices, looks, settings, pool, priors=None) -> list[FertilityCounts]:
    """Sample links over the corpus of ``matrices`` from the HMM's posteriors on.

    Parameters
    ----------
    hmm : Hmm
    matrices : LinkMatrices
        Given back to memory where the corpus is sampled in smaller chunks.
    looks : LookAlikes or None
    settings : AlignerSettings, resolved
    priors : ViewPriors or None
    """
    source, target, table = matrices.source, matrices.target, hmm.table
    longest = max(len(source.tokens), len(target.tokens))
    if longest > CHUNK_TOKENS:
        matrices.free()
        matrices = LinkMatrices(source, target, table, pool, min(matrices.max_cells, 8_000_000), CHUNK_TOKENS // 4)
    directions = [_Direction(hmm, forward, looks, settings.seed, priors) for forward in (True, False)]
    sweeps = settings.sweeps
    burn = sweeps // 3
    chunks = matrices.chunks
    total = max(1, sum(c.n_cells for c in chunks))
    if len(chunks) > 1:
        for d in directions:
            d.add_expected(hmm, 1.0)
    for chunk in chunks:
        matrices.index(chunk)
        matrices.fill(chunk, hmm.lexicon.forward, hmm.lexicon.default, matrices.cells)
        if hmm.lexicon.reverse is hmm.lexicon.forward:
            n = chunk.n_cells
            matrices.second[:n] = matrices.cells[:n]
        else:
            matrices.fill(chunk, hmm.lexicon.reverse, hmm.lexicon.default, matrices.second)
        logs = np.zeros((2, chunk.k1 - chunk.k0))
        hmm.posteriors(matrices, chunk, matrices.cells, matrices.second, 3, pool, logs)
        found = []
        for d, posteriors in zip(directions, (matrices.cells, matrices.second), strict=True):
            observed = target if d.forward else source
            candidates = LinkCandidates(int(observed.offsets[chunk.k1] - observed.offsets[chunk.k0]))
            candidates.find(matrices, chunk, posteriors, table, d.forward, pool)
            found.append(candidates)

        def task(d, chunk=chunk, found=found):
            if len(chunks) > 1:
                d.add_expected(hmm, -chunk.n_cells / total)
            c, o = (source, target) if d.forward else (target, source)
            links = found[0 if d.forward else 1].arrays()
            text = Directed(chunk.k0, c.tokens, c.offsets, o.tokens, o.offsets, chunk.cell_offsets)
            counts = kf.LinkCounts(d.pairs, d.words, d.types, d.null, d.jumps, d.fertility)
            means = kf.LinkMeans(d.mean_pairs, d.mean_jumps, d.mean_fertility)
            scratch = sampler_scratch(text, chunk.k0, chunk.k1)
            kf.add_chunk(chunk.k0, chunk.k1, text, links, 1.0, counts, scratch.fertility)
            kf.sweep(
                chunk.k0, chunk.k1, text, links, counts, means, settings.sampler_p_null, kf.LEXICAL_PRIOR, sweeps,
                burn, False, np.uint64(0), d.generator, 0, 0, scratch,
            )  # fmt: skip

        pool.map(task, directions)
    return [d.finish(table) for d in directions]
