"""What an encoder knows of a text, before a model is trained on it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aligntools.api.running.threads import pool_of
from aligntools.encoding.settings import EncoderSettings
from aligntools.ground.running import Run

if TYPE_CHECKING:
    from aligntools.formats.links.priors import Priors
    from aligntools.formats.text.corpus import Bitext


@dataclass(frozen=True, eq=False)
class Known:
    """What an encoder knows of a text.

    Attributes
    ----------
    priors : Priors
        Links of its words, each with its probability.
    about : dict
        What a model's header says of the encoder.
    """

    priors: "Priors"
    about: dict[str, Any]

    @property
    def summary(self) -> str:
        """One line."""
        about = self.about
        return (
            f"encoder {about['name']} ({about['checksum'][:12]}): {about['links']} links of {about['pairs']} pairs,"
            f" agreement {about['agreement']:.2f}, believed to {100 * about['belief']:.0f} %"
        )


def known_of(written: "Bitext", settings: EncoderSettings, run: Run) -> Known | None:
    """Ask an encoder about a text whose words are as they are written; None where none takes part.

    Raises
    ------
    UsageProblem
        When the encoder is not installed.
    DataError
        When its files are damaged.
    """
    if not settings.asked:
        return None
    from aligntools.encoding import knowledge

    member = knowledge.member(settings.folder, settings.encoder_layer)
    with pool_of(run.threads) as pool:
        text = knowledge.sample(written, settings.encoder_pairs)
        found = member.knowledge(text, pool)
    about = member.about | {
        "pairs": len(text), "links": len(found.given.strengths), "agreement": round(found.agreement, 4),
        "belief": round(found.belief, 4),
    }  # fmt: skip
    return Known(knowledge.priors(text, found), about)
