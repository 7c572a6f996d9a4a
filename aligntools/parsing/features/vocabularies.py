"""From words and tags to layers of ids: the vocabularies of a parser."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aligntools.formats.annotation.class_lists import SHORT, WordLookup
from aligntools.parsing.features.space import EncodedSentences
from aligntools.words.vocabulary import Vocabulary

#: Letters of a word that the layer of prefixes has.
PREFIX = 5
_DIGITS = bytes.maketrans(b"123456789", b"000000000")


def normalized(words: Sequence[bytes]) -> list[bytes]:
    """Return words in lower case, every digit a zero."""
    forms = {word: word.decode("utf-8", "replace").lower().encode().translate(_DIGITS) for word in set(words)}
    return [forms[word] for word in words]


def prefixes(words: Sequence[bytes]) -> list[bytes]:
    """Return the first letters of words."""
    forms = {word: word.decode("utf-8", "replace")[:PREFIX].encode() for word in set(words)}
    return [forms[word] for word in words]


def vocabulary(words: Sequence[bytes], least: int = 1) -> Vocabulary:
    """Number the words that occur at least ``least`` times, in order of first occurrence."""
    counts: dict[bytes, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    found: Vocabulary = Vocabulary.from_bytes([word for word, n in counts.items() if n >= least and word])
    return found


@dataclass(frozen=True)
class Vocabularies:
    """What turns words and tags into layers of ids.

    words, tags, prefixes: Of normalized words, of tags, of normalized words' prefixes.
    classes: Of words as they are.
    """

    words: Vocabulary
    tags: Vocabulary
    prefixes: Vocabulary
    classes: WordLookup | None = None

    @classmethod
    def of(
        cls, words: Sequence[bytes], tags: Sequence[bytes], least: int = 2, classes: WordLookup | None = None
    ) -> "Vocabularies":
        """Number words and prefixes that occur at least ``least`` times, and all tags.

        What is rarer is unknown in training too, so that there are weights for what is unknown later.
        """
        words = normalized(words)
        return cls(vocabulary(words, least), vocabulary(tags), vocabulary(prefixes(words), least), classes)

    def sentences(self, words: Sequence[bytes], tags: Sequence[bytes], offsets: np.ndarray) -> EncodedSentences:
        """Return sentences as features see them."""
        if not len(words) == len(tags) == offsets[-1] - offsets[0]:
            raise ValueError(f"{len(words)} words, {len(tags)} tags and offsets up to {offsets[-1] - offsets[0]}")
        forms = normalized(words)
        ids = [self.words.ids(forms), self.tags.ids(tags), self.prefixes.ids(prefixes(forms))]
        if self.classes is not None:
            own = self.classes.find(words)
            ids += [own, self.classes.shortened(SHORT)[own]]
        return EncodedSentences.from_ids(offsets, *ids)
