"""Training the fertility model: the sampler started from the joint HMM, chunk by chunk.

Counts of sentences that the sampler has not reached yet are stood in for by the HMM's expected counts, which are
taken away as it goes; a corpus of one chunk starts from its own links alone. The two directions are independent and
have a generator each, so the result does not depend on the number of threads.
"""

import numpy as np

from aligntools.aligning.models import estimation as est
from aligntools.aligning.models import kernels_fertility as kf
from aligntools.aligning.models import kernels_hmm as kh
from aligntools.aligning.models.member import SamplerCounts
from aligntools.aligning.text.kernels_pairs import Directed, Pairs
from aligntools.aligning.text.link_matrices import Passes

#: Tokens of a side up to which a corpus is sampled as one chunk; beyond, in chunks of a quarter of them.
CHUNK_TOKENS = 1_000_000
#: Posterior that a position needs to be a candidate.
LEAST = 0.01
#: Jumps that the sampler starts with, spread as the HMM's.
PRIOR_JUMPS = 100.0
#: Posterior beyond which a word with one candidate is not sampled.
SURE = 0.99


class Candidates:
    """Candidate positions of every observed word of a chunk, for one direction."""

    def __init__(self, n_tokens):
        self.state = np.empty(n_tokens, np.int16)
        self.sizes = np.zeros(n_tokens, np.int8)
        self.positions = np.zeros((n_tokens, kf.CANDIDATES), np.int16)
        self.entries = np.zeros((n_tokens, kf.CANDIDATES), np.int32)
        self.masses = np.zeros((n_tokens, kf.CANDIDATES), np.float32)

    def arrays(self):
        """Return what kernels take."""
        return kf.Sampled(self.state, self.sizes, self.positions, self.entries, self.masses)

    def find(self, blocks, base, source, target, cell_offsets, posteriors, table, forward, pool):
        """List candidates for sentences in ``blocks`` from this direction's posteriors."""
        pairs = Pairs(base, source.tokens, source.offsets, target.tokens, target.offsets, cell_offsets)

        def task(b):
            kf.candidates_block(
                *b, pairs, posteriors, table.ptr, table.ids, forward, np.float32(LEAST), np.float32(SURE),
                self.arrays(),
            )  # fmt: skip

        pool.map(task, blocks)


def hmm_posteriors(member, source, target, chunk_k0, blocks, cell_offsets, cells, other, pool, logs=None):
    """Turn filled link matrices into both directions' posteriors, in place."""
    taps, back = est.jump_taps(member.jumps)
    if logs is None:
        logs = np.zeros((2, len(cell_offsets) - 1))
    unused = np.zeros((2, 2, kh.JUMP_SIZE))
    lexicon = member.lexicon
    pairs = Pairs(chunk_k0, source.tokens, source.offsets, target.tokens, target.offsets, cell_offsets)

    def task(b):
        kh.hmm_block(
            *b, pairs, cells, other, lexicon.s_inverse, lexicon.t_inverse, member.s_null, member.t_null,
            kh.Jumps(member.jumps, taps, back), member.p_null, 3, False, 0, unused, logs,
        )  # fmt: skip

    pool.map(task, blocks)


def _prior_jumps(jumps):
    """Spread PRIOR_JUMPS pseudo-counts as the HMM's jumps are: on a few sentences nothing is known else."""
    window = jumps[: 2 * kh.WINDOW + 1].astype(np.float64)
    prior = np.zeros(2 * kf.JUMPS + 1)
    prior[kf.JUMPS - kh.WINDOW : kf.JUMPS + kh.WINDOW + 1] = PRIOR_JUMPS * window / window.sum()
    return prior


class _Direction:
    """Counts of one direction while sampling."""

    def __init__(self, member, forward, passes, looks, seed):
        table = member.table
        self.forward = forward
        n_c = table.n_source if forward else table.n_target
        n_o = table.n_target if forward else table.n_source
        self.types = (table.types if forward else table.target_types).astype(np.float32)
        extra = np.zeros(len(table.ids), np.float32)
        if looks is not None and len(looks.entries):
            extra[looks.entries] = looks.strengths[looks.tiers]
        self.extra = extra
        self.extra_words = table.row_sums(extra) if forward else table.column_sums(extra)
        self.pairs = extra.copy()
        self.null = np.zeros(n_o + 1)
        self.jumps = _prior_jumps(member.jumps[0 if forward else 1])
        self.words = np.append(self.extra_words, [0.0, self.jumps.sum()])
        self.fertility = np.zeros((n_c, kf.FERTILITIES), np.float32)
        self.mean_pairs = np.zeros_like(self.pairs)
        self.mean_jumps = self.jumps.copy()
        self.mean_fertility = np.zeros_like(self.fertility)
        self.generator = np.array([seed * 2 + forward], np.uint64)

    def add_expected(self, member, share):
        """Add ``share`` of the HMM's expected counts."""
        table = member.table
        counts = member.counts[0 if self.forward else -1]
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
        return SamplerCounts(pairs, words, self.types, self.null, self.mean_jumps, self.mean_fertility)


def train_sampler(member, passes, looks, settings, pool):
    """Sample links over the corpus of ``passes``; return both directions' averaged counts."""
    source, target, table = passes.source, passes.target, member.table
    longest = max(len(source.tokens), len(target.tokens))
    if longest > CHUNK_TOKENS:
        passes.free()
        passes = Passes(source, target, table, pool, min(passes.max_cells, 8_000_000), CHUNK_TOKENS // 4)
    directions = [_Direction(member, forward, passes, looks, settings.seed) for forward in (True, False)]
    sweeps = settings.sweeps
    burn = sweeps // 3
    chunks = passes.chunks
    total = max(1, sum(c.n_cells for c in chunks))
    if len(chunks) > 1:
        for d in directions:
            d.add_expected(member, 1.0)
    for chunk in chunks:
        passes.index(chunk)
        passes.fill(chunk, member.lexicon.forward, member.lexicon.default, passes.cells)
        if member.lexicon.reverse is member.lexicon.forward:
            n = chunk.n_cells
            passes.second[:n] = passes.cells[:n]
        else:
            passes.fill(chunk, member.lexicon.reverse, member.lexicon.default, passes.second)
        hmm_posteriors(
            member, source, target, chunk.k0, chunk.sentence_blocks, chunk.cell_offsets,
            passes.cells, passes.second, pool,
        )  # fmt: skip
        found = []
        for d, posteriors in zip(directions, (passes.cells, passes.second), strict=True):
            observed = target if d.forward else source
            candidates = Candidates(int(observed.offsets[chunk.k1] - observed.offsets[chunk.k0]))
            candidates.find(
                chunk.sentence_blocks, chunk.k0, source, target, chunk.cell_offsets, posteriors, table, d.forward, pool
            )
            found.append(candidates)

        def task(d, chunk=chunk, found=found):
            if len(chunks) > 1:
                d.add_expected(member, -chunk.n_cells / total)
            c, o = (source, target) if d.forward else (target, source)
            links = found[0 if d.forward else 1].arrays()
            text = Directed(chunk.k0, c.tokens, c.offsets, o.tokens, o.offsets, chunk.cell_offsets)
            counts = kf.LinkCounts(d.pairs, d.words, d.types, d.null, d.jumps, d.fertility)
            means = kf.LinkMeans(d.mean_pairs, d.mean_jumps, d.mean_fertility)
            kf.add_chunk(chunk.k0, chunk.k1, text, links, 1.0, counts)
            kf.sweep(
                chunk.k0, chunk.k1, text, links, counts, means, settings.sampler_p_null, kf.LEXICAL_PRIOR, sweeps,
                burn, False, np.uint64(0), d.generator, 0, 0,
            )  # fmt: skip

        pool.map(task, directions)
    return [d.finish(table) for d in directions]
