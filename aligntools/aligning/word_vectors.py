"""Vectors of words as kinds of evidence: of files, and of an encoder of words by themselves."""

import logging
import os
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aligntools.aligning.evidence import About, SourceEvidence, SourceKind, WordSource
from aligntools.encoding.settings import VectorsSettings, WordEncoderSettings
from aligntools.ground.errors import DataError

if TYPE_CHECKING:
    import numpy as np

    from aligntools.formats.text.corpus import Bitext
    from aligntools.ground.parallel import Pool
    from aligntools.words.vocabulary import ExtendedVocabulary, Vocabulary


_log = logging.getLogger("aligntools")


class VectorSource(WordSource):
    """What has vectors of words in one space; a subclass says which."""

    @abstractmethod
    def vectors(self, words: Sequence[Sequence[str]], pool: "Pool") -> "list[np.ndarray]":
        """Return the vectors of source and of target words, zeros where there is none."""

    def of_words(
        self, source: "Vocabulary | ExtendedVocabulary", target: "Vocabulary | ExtendedVocabulary", pool: "Pool"
    ) -> SourceEvidence:
        """Return which words are near to each other."""
        from aligntools.encoding.lexicon import lexicon

        sides = self.vectors([v.words()[1:] for v in (source, target)], pool)
        about = {
            "words": [len(side) for side in sides],
            "missing": [int((~side.any(1)).sum()) for side in sides],
        }
        priors = lexicon(source, target, sides, pool)
        return SourceEvidence(self.about | {"entries": len(priors)} | about, priors)

    def tried(self, evidence: SourceEvidence, written: "Bitext") -> SourceEvidence:
        """Return this answer, scaled by how often neighbouring words share sentence pairs."""
        from aligntools.encoding.lexicon import agreement, belief

        assert evidence.priors is not None
        agreed = agreement(evidence.priors, written)
        share = belief(agreed)
        about = {"agreement": round(agreed, 4), "belief": round(share, 4)}
        return SourceEvidence(evidence.about | about, evidence.priors.believed(share))


@dataclass(frozen=True)
class FileVectors(VectorSource):
    """Vectors in files."""

    paths: tuple[str, str]

    @property
    def about(self) -> About:
        """Their names."""
        return {"name": " ".join(os.path.basename(path) for path in self.paths)}

    def vectors(self, words: Sequence[Sequence[str]], pool: "Pool") -> "list[np.ndarray]":
        """Read those of the words."""
        from aligntools.formats.models.word_vectors import read_word_vectors

        one, other = (read_word_vectors(path, own) for path, own in zip(self.paths, words, strict=True))
        for path, own, side in zip(self.paths, (one, other), ("source", "target"), strict=True):
            if len(own) and not own.any():
                why = "another language, exchanged sides, or another tokenization?"
                _log.warning("%s has no vector of any word of the %s side: %s", path, side, why)
        if one.shape[1] != other.shape[1]:
            problem = f"has vectors of {other.shape[1]} numbers, and {self.paths[0]} of {one.shape[1]}"
            raise DataError(self.paths[1], None, f"{problem}; both have to be of one space")
        return [one, other]


class EncodedWords(VectorSource):
    """Vectors that an encoder has for words by themselves."""

    @property
    def about(self) -> About:
        """Its name."""
        from aligntools.encoding import word_encoder

        return {"name": word_encoder.NAME}

    def vectors(self, words: Sequence[Sequence[str]], pool: "Pool") -> "list[np.ndarray]":
        """Encode the words."""
        from aligntools.encoding import word_encoder

        found = [word_encoder.word_vectors(own, pool) for own in words]
        word_encoder.loaded.cache_clear()
        return found


def found(about: About) -> str:
    """Return what vectors of words have found, by what a model's header says."""
    missing = ", ".join(f"{a} of {b}" for a, b in zip(about["missing"], about["words"], strict=True))
    return (
        f"{about['entries']} pairs of words, {missing} words without a vector,"
        f" agreement {about['agreement']:.2f}, weight {100 * about['belief']:.0f} %"
    )


class VectorsKind(SourceKind[VectorsSettings]):
    """Vectors in files."""

    def elsewhere(self, settings: VectorsSettings) -> VectorsSettings:
        """Return the same with the files' whole names."""
        if settings.vectors is None:
            return settings
        one, other = map(os.path.abspath, settings.vectors)
        return replace(settings, vectors=(one, other))

    def source(self, settings: VectorsSettings) -> FileVectors:
        """Return what reads the files."""
        assert settings.vectors is not None
        one, other = map(os.fspath, settings.vectors)
        return FileVectors((one, other))

    def summary(self, about: About) -> str:
        """Return a one-line summary."""
        return f"vectors of {about['name']}: {found(about)}"


class WordEncoderKind(SourceKind[WordEncoderSettings]):
    """The encoder of words by themselves."""

    def source(self, settings: WordEncoderSettings) -> EncodedWords:
        """Return the encoder, which has to be installed."""
        from aligntools.encoding import word_encoder

        word_encoder.check()
        return EncodedWords()

    def summary(self, about: About) -> str:
        """Return a one-line summary."""
        return f"encoder of words {about['name']}: {found(about)}"


VECTORS = VectorsKind("vectors", "vectors of words", "vectors", settings=VectorsSettings)
WORD_ENCODER = WordEncoderKind(
    "word_encoder", "words known beforehand, each by itself", "word_encoder", settings=WordEncoderSettings
)
