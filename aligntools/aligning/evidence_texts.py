"""Texts with the evidence of their places that weights ask for: from sources that read them as they are written."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from aligntools.aligning.evidence import EvidenceOptions, TextEvidence, TextSource
from aligntools.formats.inputs.sentences import Sentences, paths_of
from aligntools.formats.text.bitext import stream_bitext
from aligntools.formats.text.corpus import Bitext, in_ids_of, parts_of
from aligntools.formats.text.text_settings import Reading
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.words.vocabulary import Vocabulary

if TYPE_CHECKING:
    from aligntools.aligning.contrastive.weights import Weights
    from aligntools.aligning.model import AlignmentModel
    from aligntools.formats.links.given_links import GivenLinks

#: Sentence pairs of a file that sources read at a time.
_LINES = 2_500


class Taught(Protocol):
    """An `Aligner`, as far as it is asked here."""

    @property
    def model(self) -> "AlignmentModel":
        """The model."""

    def texts(
        self, sources: "Sentences | Bitext", targets: Sentences | None, reading: Reading, unbuffered: bool, part: int
    ) -> "Iterator[Bitext]":
        """Yield a text in the model's ids."""


def check_applied(asked: EvidenceOptions, weights: "Weights | None", path: str) -> None:
    """Refuse sources that were asked for but that the weights of a file do not use."""
    for kind in asked.kinds:
        if weights is None or kind.name not in weights.knowers:
            raise UsageProblem(f"{path} uses no {kind.name}; `{kind.option}` is for training")


@dataclass(frozen=True, eq=False)
class Readers:
    """The sources that weights ask, by kinds of evidence, in the order of their tables.

    known: What is known of a text already.
    """

    sources: Mapping[str, TextSource]
    known: TextEvidence | None = None

    @classmethod
    def of(cls, weights: "Weights", known: TextEvidence | None, asked: EvidenceOptions) -> "Readers":
        """Return those that weights ask: of a model that was trained here what it was trained with, or as asked.

        Raises UsageProblem when one is not there, or is another one.
        """
        if known is not None and weights.knowers.keys() <= known.sources.keys():
            return cls({name: known.sources[name] for name in weights.knowers}, known)
        return cls(asked.sources(weights.knowers))

    def texts(
        self,
        aligner: Taught,
        sources: "Sentences | Bitext",
        targets: Sentences | None,
        reading: Reading,
        unbuffered: bool,
        part: int,
        pool: "Pool",
    ) -> "Iterator[tuple[Bitext, list[GivenLinks]]]":
        """Yield a text in an aligner's ids, as `Aligner.texts` does, with each source's links of its words."""
        model = aligner.model
        if isinstance(sources, Bitext):
            places = self.known.places if self.known is not None and self.known.text is sources else {}
            begin = 0
            for text, written in zip(
                aligner.texts(sources, targets, reading, unbuffered, part), parts_of(sources, part), strict=True
            ):
                end = begin + len(text)
                yield (
                    text,
                    [
                        places[name].given[begin:end] if name in places else one.links(written, pool)
                        for name, one in self.sources.items()
                    ],
                )
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
                yield whole, [one.links(written, pool) for one in self.sources.values()]
