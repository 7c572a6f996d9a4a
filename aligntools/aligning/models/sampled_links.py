"""What the fertility model's sampler works with: candidate positions of words, and room for a sentence."""

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


def sampler_scratch(text: Directed, k0: int, k1: int) -> kf.SamplerScratch:
    """Return what `kernels_fertility.sweep` works with on the sentences ``k0..k1`` of a `Directed` text."""
    given, observed = (int(np.diff(o[k0 : k1 + 1]).max(initial=1)) for o in (text.given_offsets, text.observed_offsets))
    return kf.SamplerScratch(np.zeros(given, np.int64), np.empty(kc.CANDIDATES), np.empty((observed, kc.CANDIDATES)))


def link_candidates(
    text: ParallelText, chunk: Chunk, posteriors: np.ndarray, table: Table, forward: bool, pool: Pool
) -> kc.Sampled:
    """List candidate positions of every observed word of a chunk, by one direction's posteriors."""
    offsets = (text.target if forward else text.source).offsets
    n = int(offsets[chunk.k1] - offsets[chunk.k0])
    lists = (np.zeros((n, kc.CANDIDATES), kind) for kind in (np.int16, np.int32, np.float32))
    found = kc.Sampled(np.empty(n, np.int16), np.zeros(n, np.int8), *lists)
    place = pairs_of(text, chunk), posteriors, table.ptr, table.ids, forward

    def task(b: tuple[int, int]) -> None:
        kf.candidates_block(*b, *place, np.float32(LEAST), np.float32(SURE), found)

    pool.map(task, chunk.sentence_blocks)
    return found
