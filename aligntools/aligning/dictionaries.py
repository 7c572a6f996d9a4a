"""Dictionaries as a kind of evidence."""

import logging
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from aligntools.aligning.evidence import About, SourceEvidence, SourceKind, WordSource
from aligntools.encoding.settings import DictionarySettings

if TYPE_CHECKING:
    from aligntools.formats.links.dictionary import Entry
    from aligntools.formats.text.corpus import Bitext
    from aligntools.ground.parallel import Pool
    from aligntools.words.vocabulary import AnyVocabulary

_log = logging.getLogger("aligntools")


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
        self,
        source: "AnyVocabulary",
        target: "AnyVocabulary",
        tried: "Bitext",
        parts: "Iterable[Bitext]",
        pool: "Pool",
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


DICTIONARY = DictionaryKind(
    "dictionary", "entries of a dictionary", "dictionary", pieces=True, settings=DictionarySettings
)
