"""The fertility model (after Östling & Tiedemann 2016): the HMM, and counts that a Gibbs sampler left behind."""

from dataclasses import dataclass

import numpy as np

from aligntools.aligning.models import kernels_candidates
from aligntools.aligning.models import kernels_fertility as kf
from aligntools.aligning.models.base import pairs_of
from aligntools.aligning.models.hmm import Hmm
from aligntools.aligning.text.kernels_pairs import Directed

#: Posterior that a position needs to be a candidate.
LEAST = 0.01
#: Posterior beyond which a word with one candidate is not sampled.
SURE = 0.99
#: Sweeps over a sentence that a trained model is applied to, and how many of these come before collecting.
SWEEPS, BURN = 8, 2
#: Nothing is collected where counts stay as they are.
_NO_MEANS = kf.LinkMeans(np.zeros(0, np.float32), np.zeros((0, 0)), np.zeros((0, 0)))


@dataclass(frozen=True, eq=False)
class FertilityCounts:
    """What the sampler of one direction learned, averaged over its later sweeps.

    Attributes
    ----------
    pairs : float32 [n_pairs]
    words : float64 [n_conditioning_words + 1]
        Last: words linked to NULL.
    types : float32 [n_conditioning_words]
    null : float64 [n_observed_words + 1]
    jump_rows : int16 [n_conditioning_words + 1]
        Row of the jumps from each conditioning word; last: that of words which are not known.
    jumps : float64 [rows, 2 * JUMPS + 2]
        The last two rows: from the sentence's beginning, and all. The last column: the row's sum.
    fertility : float32 [n_conditioning_words, FERTILITIES]
    """

    pairs: np.ndarray
    words: np.ndarray
    types: np.ndarray
    null: np.ndarray
    jump_rows: np.ndarray
    jumps: np.ndarray
    fertility: np.ndarray


@dataclass(frozen=True, eq=False, kw_only=True)
class Fertility(Hmm):
    """The HMM with the sampler's counts.

    Attributes
    ----------
    sampler : list of FertilityCounts
        Forward, then reverse.
    """

    sampler: list[FertilityCounts]

    def marginals(self, text, chunk, posteriors, forward, settings, pool):
        """Sample each sentence's links with the model's counts as they are, in one direction.

        Returns
        -------
        sizes : int8 [words], positions : int16 [words, CANDIDATES], masses : float32 [words, CANDIDATES]
            Candidate positions of each observed word, and how often each was its link.
        """
        source, target = text.source, text.target
        c, o = (source, target) if forward else (target, source)
        f = LinkCandidates(int(o.offsets[chunk.k1] - o.offsets[chunk.k0]))
        f.find(text, chunk, posteriors, self.table, forward, pool)
        s = self.sampler[0 if forward else 1]
        known = (len(self.words.s_words), len(self.words.t_words))
        place = Directed(chunk.k0, c.tokens, c.offsets, o.tokens, o.offsets, chunk.cell_offsets)
        counts = kf.LinkCounts(s.pairs, s.words, s.types, s.null, s.jump_rows, s.jumps, s.fertility)

        def task(b):
            kf.sweep(
                *b, place, f.arrays(), counts, _NO_MEANS, settings.sampler_p_null,
                kf.LEXICAL_PRIOR, SWEEPS, BURN, True, np.uint64(settings.seed), np.zeros(1, np.uint64),
                *(known if forward else known[::-1]), sampler_scratch(place, *b),
            )  # fmt: skip

        pool.map(task, chunk.sentence_blocks)
        return f.sizes, f.positions, f.masses


def sampler_scratch(text, k0, k1):
    """Return what `kernels_fertility.sweep` works with on the sentences ``k0..k1`` of a `Directed` text."""
    given, observed = (int(np.diff(o[k0 : k1 + 1]).max(initial=1)) for o in (text.given_offsets, text.observed_offsets))
    return kf.SamplerScratch(np.zeros(given, np.int64), np.empty(kf.CANDIDATES), np.empty((observed, kf.CANDIDATES)))


class LinkCandidates:
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

    def find(self, text, chunk, posteriors, table, forward, pool):
        """List candidates for the chunk's sentences from this direction's posteriors."""
        pairs = pairs_of(text, chunk)

        def task(b):
            kernels_candidates.candidates_block(
                *b, pairs, posteriors, table.ptr, table.ids, forward, np.float32(LEAST), np.float32(SURE),
                self.arrays(),
            )  # fmt: skip

        pool.map(task, chunk.sentence_blocks)
