"""Kinds of evidence as contributing.md says how to add one: of words that have equally many letters.

Nothing outside this module knows of them; the tests register them and take them back.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from aligntools.aligning.contrastive.evidence import LEVELS, Places
from aligntools.aligning.evidence import SourceEvidence, SourceKind, TextSource, WordSource
from aligntools.formats.links.given_links import GivenLinks
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.links.priors import priors_of
from aligntools.ground.declarations import Settings, documented, option

#: How sure it is of a link, and what its log-odds of a link are, below each of LEVELS and from the last on.
STRENGTH, ODDS = 0.8, np.array([-1.0, *np.linspace(0.0, 2.0, len(LEVELS))])


@documented
@dataclass(frozen=True)
class EqualLengthSettings(Settings):
    """Whether words of equal length are translations."""

    equal_length: bool | None = option(None, "Expect words of equal length to be translations.", group="Toys")


class EqualLengthSource(TextSource):
    """Links each word to the words of its length."""

    @property
    def about(self):
        """What headers say."""
        return {"name": "letters", "checksum": "e9a1" * 16}

    def known(self, written, pool, tell):
        """Say what is known of a text."""
        given = self.links(written, pool)
        tell(len(written), len(written))
        return SourceEvidence(
            self.about | {"links": len(given.strengths)}, self._priors(written, given), Places(given, ODDS)
        )

    def links(self, written, pool):
        """Return links of each pair."""
        pairs, ends = [np.empty((0, 2), int)], [0]
        for source, target in sentences(written):
            found = np.argwhere(np.equal.outer([*map(len, source)], [*map(len, target)])).reshape(-1, 2)
            pairs.append(found)
            ends.append(ends[-1] + len(found))
        table = np.concatenate(pairs).astype(np.int32)
        return GivenLinks(Links(table, np.array(ends)), np.full(len(table), STRENGTH))

    def of_part(self, written, text, pool):
        """Return priors and facts of a part."""
        given = self.links(written, pool)
        return self._priors(text, given), {"links": len(given.strengths)}

    def of_parts(self, facts):
        """Believe all."""
        return 1.0, self.about | {"links": sum(one["links"] for one in facts)}

    @staticmethod
    def _priors(text, given):
        counts = Counter()
        for (source, target), k in zip(sentences(text), range(len(text)), strict=True):
            counts.update((source[i], target[j]) for i, j in given[k : k + 1].links.pairs.tolist())
        return priors_of([(*pair, STRENGTH * n) for pair, n in counts.items()])


def sentences(text):
    """Yield the words of each pair."""
    words = text.source_vocabulary.words(), text.target_vocabulary.words()
    for k in range(len(text)):
        yield [
            [own[id] for id in side.tokens[side.offsets[k] : side.offsets[k + 1]].tolist()]
            for own, side in zip(words, (text.source, text.target), strict=True)
        ]


class EqualLength(SourceKind[EqualLengthSettings]):
    """The kind."""

    def asked(self, settings):
        """Tell whether it takes part."""
        return settings.equal_length is True

    def left_out(self, settings):
        """Tell whether it takes no part."""
        return settings.equal_length is False

    def source(self, settings):
        """Return the source."""
        return EqualLengthSource()


@documented
@dataclass(frozen=True)
class FirstLetterSettings(Settings):
    """Whether words with the same first letter are translations."""

    first_letter: float | None = option(None, "How often, in links.", group="Toys")


@dataclass(frozen=True)
class FirstLetterSource(WordSource):
    """Links each word to those with its first letter, whatever its case."""

    weight: float

    @property
    def about(self):
        """What headers say."""
        return {"name": "initials"}

    def of_words(self, source, target, pool):
        """Say which words are translations."""
        found = [(s, t) for s in source.words()[1:] for t in target.words()[1:] if s[0].lower() == t[0].lower()]
        return SourceEvidence(self.about | {"entries": len(found)}, priors_of([(*pair, self.weight) for pair in found]))


class FirstLetter(SourceKind[FirstLetterSettings]):
    """The kind."""

    def source(self, settings):
        """Return the source."""
        return FirstLetterSource(settings.first_letter)


EQUAL_LENGTH = EqualLength(
    "lengths",
    "words of equal length",
    "equal_length",
    places=True,
    settings=EqualLengthSettings,
    applying=("equal_length",),
    instead="leave it out: `equal_length=False`",
)
FIRST_LETTER = FirstLetter("initials", "words with the same initial", "first_letter", settings=FirstLetterSettings)
