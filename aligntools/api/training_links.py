"""Links that training finds on its way, so that a large text need not be gone over once more."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from aligntools.aligning.settings import DecisionSettings, Decoder, Flavor, Symmetrization
from aligntools.api.alignments import Alignments

if TYPE_CHECKING:
    from aligntools.aligning.applying.decisions import Decided
    from aligntools.aligning.training.last_pass import LastPass
    from aligntools.formats.corpus import Skipped

_DECISIONS = DecisionSettings()


class TrainingLinks:
    """Takes the links of the text that an aligner is trained on: those of its last pass over a large text.

    Parameters
    ----------
    take : callable
        Called with the `Alignments` of consecutive runs of sentence pairs, in order.
    symmetrize, flavor, decode, threshold
        As for `Aligner.align_batch`.
    directions : bool
        Find the links of the single directions too.
    trained : str
        The direction that is trained, or ``both``.

    Attributes
    ----------
    found : bool
        Whether training found any: where not, the aligner has to be applied to the text.
    """

    def __init__(
        self, take: Callable[[Alignments], None], *, symmetrize: Symmetrization = _DECISIONS.symmetrize,
        flavor: Flavor = _DECISIONS.flavor, decode: Decoder = _DECISIONS.decode,
        threshold: float | None = _DECISIONS.threshold, directions: bool = True,
        trained: str = "both",
    ) -> None:  # fmt: skip
        self._take, self._directions = take, directions
        self._decisions = DecisionSettings(symmetrize, flavor, decode, threshold).checked(trained)
        self.found = False

    def last_pass(self, skipped: "Skipped") -> "LastPass":
        """Return what training calls; ``skipped`` is said of the first run."""
        from aligntools.aligning.training.last_pass import LastPass
        from aligntools.formats.corpus import Skipped

        def take(d: "Decided") -> None:
            told = Skipped() if self.found else skipped
            self.found = True
            self._take(Alignments(d.links, d.probabilities, d.forward, d.reverse, d.log_likelihood, d.lengths, told))

        return LastPass(self._decisions, self._directions, take)
