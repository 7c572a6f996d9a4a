"""A member of an alignment model that links pieces of words: their model, and how words are cut into them."""

from dataclasses import dataclass

import numpy as np

from aligntools.aligning.applying.model_text import ModelText
from aligntools.aligning.models.base import LexicalModel
from aligntools.aligning.text.subwords import PieceSide, Subwords, cut_sides
from aligntools.formats.text.corpus import Bitext, Side, Skipped, compacted
from aligntools.words.vocabulary import AnyVocabulary, ExtendedVocabulary, Vocabulary

#: Weight of the pieces' posteriors; the views share the rest.
WEIGHT = 0.35


@dataclass(frozen=True, eq=False)
class SubwordMember:
    """What is learned of pieces.

    model: Its words are pieces.
    """

    source: Subwords
    target: Subwords
    model: LexicalModel

    @property
    def sizes(self) -> tuple[int, int]:
        """Sizes of the pieces' vocabularies, NULL among the pieces."""
        return len(self.model.words.s_words), len(self.model.words.t_words)

    def text(self, bitext: Bitext) -> "PieceText":
        """Cut a text, as the model sees it; pieces that it does not know have higher ids."""
        words = self.model.words
        (source, s_new), (target, t_new) = (
            numbered(bitext.source, bitext.source_vocabulary, self.source, words.s_ids),
            numbered(bitext.target, bitext.target_vocabulary, self.target, words.t_ids),
        )
        sides = cut_sides(source, target)
        pieces = as_bitext(
            sides, *(ExtendedVocabulary(_Known(n), new) for n, new in zip(self.sizes, (s_new, t_new), strict=True))
        )
        return PieceText(ModelText(self.model, pieces, self.sizes), *sides)


def as_bitext(sides: list[PieceSide], source: AnyVocabulary, target: AnyVocabulary) -> Bitext:
    """Return both sides in pieces as a text, with the pieces' vocabularies."""
    own = [Side(side.tokens, side.offsets) for side in sides]
    return Bitext(own[0], own[1], source, target, Skipped())


class _Known(Vocabulary):
    """A vocabulary of which only the size is used."""

    def __init__(self, size: int) -> None:
        self._size = size

    def __len__(self) -> int:
        return self._size


@dataclass(frozen=True, eq=False)
class PieceText:
    """A text in pieces: as their model sees it, and where each word's pieces are."""

    text: ModelText
    source: PieceSide
    target: PieceSide

    def lengths(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the pieces of each source and target sentence."""
        return np.diff(self.source.offsets), np.diff(self.target.offsets)


def numbered(
    side: Side, vocabulary: AnyVocabulary, subwords: Subwords, known: dict[str, int]
) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], list[str]]:
    """Cut the words of a side and number the pieces: ``known`` ones keep their numbers, new ones follow.

    Returns what `cut_sides` takes of a side; and pieces that were not known.
    """
    used, tokens = compacted(side.tokens)
    sizes, ids, pieces = subwords.cut([vocabulary.word(word) for word in used.tolist()])
    new: dict[str, int] = {}
    numbers = [known[p] if p in known else new.setdefault(p, len(known) + len(new)) for p in pieces]
    return (tokens, side.offsets, sizes, np.array(numbers, np.int32)[ids]), list(new)
