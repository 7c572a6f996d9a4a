"""Links that training finds on its way, so that a large text need not be gone over once more."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from aligntools.aligning.settings import Decisions
from aligntools.api.align.alignments import Alignments

if TYPE_CHECKING:
    from aligntools.aligning.applying.link_blocks import Decided
    from aligntools.aligning.training.last_pass import LastPass
    from aligntools.formats.text.corpus import Skipped


class TrainingLinks:
    """Takes the links of the text that an aligner is trained on: those of its last pass over a large text.

    take: Called with the `Alignments` of consecutive runs of sentence pairs, in order.
    decisions: How links are decided on.
    directions: Find the links of the single directions too.
    trained: The direction that is trained, or ``both``.
    found: Whether training found any: where not, the aligner has to be applied to the text.
    """

    def __init__(
        self, take: Callable[[Alignments], None], decisions: Decisions | None = None, *, directions: bool = True
    ) -> None:
        self._take, self._directions = take, directions
        self._decisions = decisions or Decisions()
        self.found = False

    def last_pass(self, skipped: "Skipped") -> "LastPass":
        """Return what training calls; ``skipped`` is said of the first run."""
        from aligntools.aligning.training.last_pass import LastPass
        from aligntools.formats.text.corpus import Skipped

        def take(d: "Decided") -> None:
            told = Skipped() if self.found else skipped
            self.found = True
            self._take(Alignments.of(d, told))

        return LastPass(self._decisions, self._directions, take)
