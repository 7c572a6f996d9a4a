"""What an encoder knows: of a text before a model is trained on it, and of any text that such a model aligns."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from aligntools.api.given.texts import Sentences, paths_of
from aligntools.api.running.threads import pool_of
from aligntools.encoding.settings import EncoderSettings
from aligntools.formats.text.reading import Reading
from aligntools.ground.errors import UsageProblem
from aligntools.ground.running import Run

if TYPE_CHECKING:
    from aligntools.aligning.contrastive.evidence import Places
    from aligntools.aligning.contrastive.weights import Weights
    from aligntools.aligning.model import AlignmentModel
    from aligntools.encoding.knowledge import Member
    from aligntools.formats.links.given_links import GivenLinks
    from aligntools.formats.links.priors import Priors
    from aligntools.formats.text.corpus import Bitext
    from aligntools.ground.parallel import Pool

#: Sentence pairs of a file that the encoder reads at a time.
_LINES = 2_500


@dataclass(frozen=True, eq=False)
class Known:
    """What an encoder knows of a text.

    Attributes
    ----------
    priors : Priors
        Links of its words, each with its probability.
    about : dict
        What a model's header says of the encoder.
    places : Places or None
        Links of each of its sentence pairs; None where not all were read, or nothing is believed.
    text : Bitext or None
        The text, as training takes it.
    knower : Knower or None
        What was asked.
    """

    priors: "Priors"
    about: dict[str, Any]
    places: "Places | None" = None
    text: "Bitext | None" = None
    knower: "Knower | None" = None

    @property
    def summary(self) -> str:
        """One line."""
        return told(self.about)

    def added_to(self, weights: "Weights") -> "Weights":
        """Return weights of features with that of what is known of places."""
        from aligntools.aligning.contrastive.evidence_tasks import with_knower

        return weights if self.places is None else with_knower(weights, self.places.table, self.about)


def told(about: dict[str, Any]) -> str:
    """Return what a model's header says of an encoder, in a line."""
    return (
        f"encoder {about['name']} ({about['checksum'][:12]}): {about['links']} links of {about['pairs']} pairs,"
        f" agreement {about['agreement']:.2f}, believed to {100 * about['belief']:.0f} %"
    )


class Taught(Protocol):
    """An `Aligner`, as far as it is asked here."""

    @property
    def model(self) -> "AlignmentModel":
        """The model."""

    @property
    def known(self) -> "Known | None":
        """What is known of the text that it was trained on."""

    def texts(
        self, sources: "Sentences | Bitext", targets: Sentences | None, reading: Reading, unbuffered: bool, part: int
    ) -> "Iterator[Bitext]":
        """Yield a text in the model's ids."""


@dataclass(frozen=True, eq=False)
class Knower:
    """An encoder that links the words of any text, loaded when it is asked first.

    Attributes
    ----------
    settings : EncoderSettings
    """

    settings: EncoderSettings

    @cached_property
    def member(self) -> "Member":
        """The encoder."""
        from aligntools.encoding import knowledge

        return knowledge.member(self.settings.folder, self.settings.encoder_layer)

    def texts(
        self,
        aligner: "Taught",
        sources: "Sentences | Bitext",
        targets: Sentences | None,
        reading: Reading,
        unbuffered: bool,
        part: int,
        pool: "Pool",
    ) -> "Iterator[tuple[Bitext, list[GivenLinks]]]":
        """Yield a text in an aligner's ids, as `Aligner.texts` does, with links of its words as they are written."""
        from aligntools.formats.text.bitext import stream_bitext
        from aligntools.formats.text.corpus import Bitext, in_ids_of, parts_of
        from aligntools.words.vocabulary import Vocabulary

        model = aligner.model
        if isinstance(sources, Bitext):
            known = aligner.known
            places = known.places if known is not None and known.text is sources else None
            begin = 0
            for text, written in zip(
                aligner.texts(sources, targets, reading, unbuffered, part), parts_of(sources, part), strict=True
            ):
                end = begin + len(text)
                yield text, [self.member.given(written, pool) if places is None else places.given[begin:end]]
                begin = end
            return
        none = Vocabulary.from_words([])
        blocks = stream_bitext(
            **paths_of(sources, targets, reading.split or model.split),
            source_vocabulary=none,
            target_vocabulary=none,
            **reading.arguments() | {"lowercase": False},
            unbuffered=unbuffered,
            block_lines=min(part, _LINES),
        )
        for written in blocks:
            text = in_ids_of(written, model.source_vocabulary, model.target_vocabulary, model.lowercase)
            for whole in aligner.texts(text, None, reading, unbuffered, len(text)):
                yield whole, [self.member.given(written, pool)]


def knower_for(about: dict[str, Any], settings: EncoderSettings) -> Knower:
    """Return the encoder that weights rest on: the extra's, or that of the folder which settings name.

    Raises
    ------
    UsageProblem
        When it is not there, or is another one.
    """
    layers = about.get("layers") or [None]
    folder = settings.folder
    own = EncoderSettings(encoder=folder or True, encoder_layer=layers[0] if len(layers) == 1 else None)
    found, problem = Knower(own), ""
    try:
        if found.member.encoder.checksum != about["checksum"]:
            problem = f"its checksum begins with {about['checksum'][:12]}, and this is another one"
    except UsageProblem as error:
        problem = error.message
    if problem:
        asked = f"links are decided on with the encoder {about['name']}, and"
        raise UsageProblem(f"{asked} {problem}; give its folder to `encoder`, or leave it out: `encoder=False`")
    return found


def known_of(
    written: "Bitext", settings: EncoderSettings, run: Run, tell: Callable[[int, int], None] = lambda _done, _of: None
) -> Known | None:
    """Ask an encoder about a text whose words are as they are written; None where none takes part.

    ``tell`` is called with how many more pairs were read, and how many are to be.

    Raises
    ------
    UsageProblem
        When the encoder is not installed.
    DataError
        When its files are damaged.
    """
    if not settings.asked:
        return None
    from aligntools.aligning.contrastive.evidence import Places
    from aligntools.encoding import knowledge

    member = knowledge.member(settings.folder, settings.encoder_layer)  # forgotten before training: it takes memory
    with pool_of(run.threads) as pool:
        text = knowledge.sample(written, settings.pairs_of(len(written)))
        found = member.knowledge(text, pool, tell)
    about = member.about | {
        "pairs": len(text),
        "links": len(found.given.strengths),
        "agreement": round(found.agreement, 4),
        "belief": round(found.belief, 4),
    }
    places = Places(found.given, found.odds) if len(text) == len(written) and found.odds.any() else None
    return Known(knowledge.priors(text, found), about, places, written, Knower(settings))
