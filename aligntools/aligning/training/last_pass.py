"""Links of a large text, decided during training: the sampler's pass over the text has all that aligning needs.

To apply the trained model to the text would compute the HMM's posteriors once more, and sample with the counts of all
of the text. The pass has the posteriors, and samples of its own, with the counts of the text so far.
"""

from collections.abc import Callable, Sequence

import numpy as np

from aligntools.aligning.applying import kernels_decoding as kd
from aligntools.aligning.applying.applier import Posteriors
from aligntools.aligning.applying.decisions import Decider
from aligntools.aligning.applying.link_blocks import Decided
from aligntools.aligning.models.registry import kind_of
from aligntools.aligning.models.sampled_links import LinkCandidates
from aligntools.aligning.settings import MEDIUM, Decisions, ResolvedSettings
from aligntools.aligning.text.link_matrices import Chunk, LinkMatrices
from aligntools.ground.parallel import Pool


class LastPass:
    """What a training's last pass over a large text gives, so that the text need not be gone over once more.

    take: Called with the `Decided` of consecutive runs of sentence pairs, in order.
    directions: Find the links of the single directions too.
    found: Whether training found any: where not, the aligner has to be applied to the text.
    """

    def __init__(
        self, take: Callable[[Decided], object], decisions: Decisions | None = None, directions: bool = True
    ) -> None:
        self.decisions, self.directions, self.take = decisions or Decisions(), directions, take
        self.found = False

    def serves(self, settings: ResolvedSettings, n_tokens: int) -> bool:
        """Return whether the last pass over a text of so many source tokens gives its links."""
        one = kind_of(settings.model_type).last_pass and len(settings.views) == 1
        return one and not settings.subwords and n_tokens > MEDIUM and self.decisions.decode != "viterbi"

    def add(
        self,
        matrices: LinkMatrices,
        chunk: Chunk,
        candidates: Sequence[LinkCandidates],
        logs: np.ndarray,
        settings: ResolvedSettings,
        pool: Pool,
    ) -> None:
        """Decide on a chunk.

        matrices: Its cells are the HMM's posteriors, forward and reverse; they are overwritten.
        candidates: What was sampled, forward and reverse.
        logs (float64 [2, pairs]).
        """
        source, target, weight = matrices.source.offsets, matrices.target.offsets, settings.hmm_weight
        both = matrices.cells, matrices.second

        def mix(block: tuple[int, int]) -> None:
            for d, (cells, found) in enumerate(zip(both, candidates, strict=True)):
                kd.mix_block(  # total += (weight - 1) total: in place
                    *block,
                    chunk.k0,
                    source,
                    target,
                    chunk.cell_offsets,
                    cells,
                    cells,
                    np.float32(weight - 1.0),
                    d == 0,
                    found.sizes,
                    found.positions,
                    found.masses,
                    np.float32(1.0 - weight),
                )

        pool.map(mix, chunk.sentence_blocks)
        posteriors = Posteriors(
            chunk.k0, chunk.k1, source, target, chunk.cell_offsets, chunk.sentence_blocks, *both, logs
        )
        decider = Decider(self.decisions, 3, settings.threshold(1), False, self.directions)
        self.found = True
        self.take(decider.decide(posteriors, posteriors, pool))
