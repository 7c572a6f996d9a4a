"""What the fertility model's sampler works with: candidate positions of words, and the counts that are its result."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from aligntools.aligning.models import kernels_fertility as kf
from aligntools.aligning.models import kernels_link_counts as kc
from aligntools.aligning.text.cooccurrence import Table
from aligntools.aligning.text.kernels_pairs import Directed
from aligntools.aligning.text.link_matrices import Chunk, pairs_of
from aligntools.aligning.text.views import ParallelText
from aligntools.ground.parallel import Pool

#: Least posterior of a candidate position.
LEAST = 0.01
#: A word with one candidate of a higher posterior is not sampled.
SURE = 0.99


@dataclass(frozen=True, eq=False)
class FertilityCounts:
    """What the sampler of one direction learned, averaged over its later sweeps.

    pairs (float32 [n_pairs]).
    words (float64 [n_conditioning_words + 1]): Last: words linked to NULL.
    types (float32 [n_conditioning_words]), null (float64 [n_observed_words + 1]).
    jump_rows (int16 [n_conditioning_words + 1]): Row of the jumps from each conditioning word; last: that of words
        which are not known.
    jumps (float64 [rows, 2 * JUMPS + 2]): The last two rows: from the sentence's beginning, and all. The last column:
        the row's sum.
    fertility (float32 [n_conditioning_words, FERTILITIES]).
    """

    pairs: np.ndarray
    words: np.ndarray
    types: np.ndarray
    null: np.ndarray
    jump_rows: np.ndarray
    jumps: np.ndarray
    fertility: np.ndarray


class SampledLinks(NamedTuple):
    """How often positions were the links of the observed words of a chunk, in one direction.

    sizes (int8 [words]): How many candidate positions each word has.
    positions (int16 [words, CANDIDATES]), masses (float32 [words, CANDIDATES]).
    """

    sizes: np.ndarray
    positions: np.ndarray
    masses: np.ndarray


def sampler_scratch(text: Directed, k0: int, k1: int) -> kf.SamplerScratch:
    """Return what `kernels_fertility.sweep` works with on the sentences ``k0..k1`` of a `Directed` text."""
    given, observed = (int(np.diff(o[k0 : k1 + 1]).max(initial=1)) for o in (text.given_offsets, text.observed_offsets))
    return kf.SamplerScratch(np.zeros(given, np.int64), np.empty(kc.CANDIDATES), np.empty((observed, kc.CANDIDATES)))


class LinkCandidates:
    """Candidate positions of every observed word of a chunk, for one direction."""

    def __init__(self, n_tokens: int) -> None:
        self.state = np.empty(n_tokens, np.int16)
        self.sizes = np.zeros(n_tokens, np.int8)
        self.positions = np.zeros((n_tokens, kc.CANDIDATES), np.int16)
        self.entries = np.zeros((n_tokens, kc.CANDIDATES), np.int32)
        self.masses = np.zeros((n_tokens, kc.CANDIDATES), np.float32)

    def arrays(self) -> kc.Sampled:
        """Return what kernels take."""
        return kc.Sampled(self.state, self.sizes, self.positions, self.entries, self.masses)

    def find(
        self, text: ParallelText, chunk: Chunk, posteriors: np.ndarray, table: Table, forward: bool, pool: Pool
    ) -> None:
        """List candidates for the chunk's sentences from this direction's posteriors."""
        place = pairs_of(text, chunk), posteriors, table.ptr, table.ids, forward

        def task(b: tuple[int, int]) -> None:
            kf.candidates_block(*b, *place, np.float32(LEAST), np.float32(SURE), self.arrays())

        pool.map(task, chunk.sentence_blocks)
