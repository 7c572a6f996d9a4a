"""Views of a text: the same sentences with words cut to their first letters, or whole.

Inflection and compounding scatter the counts of a word over its forms. Forms that are cut to a few letters share their
counts. A model of such a view makes other errors than a model of whole words, and the mean of both makes fewer errors
than either.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from aligntools.aligning.text.kernels_look_alikes import KEY
from aligntools.aligning.text.look_alikes import look_alike_keys, simplify
from aligntools.formats.text.corpus import Bitext, Side
from aligntools.words.vocabulary import AnyVocabulary

#: Chinese characters and kana: one carries about as much as two letters.
_CHARACTERS = re.compile("[\u2e80-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


def cut(word: str, letters: int) -> str:
    """Return a word's first letters, without accents; 0 keeps the word as it is.

    Words with Chinese characters or kana are cut to ``(letters - 1) / 2`` characters, at least one.
    """
    if not letters:
        return word
    if _CHARACTERS.search(word):
        letters = max(1, (letters - 1) // 2)
    return simplify(word)[:letters]


def cut_words(words: list[str], letters: int) -> tuple[list[str], np.ndarray]:
    """Cut the words of a vocabulary. Return the view's words, NULL first, and each word's id in them (int32)."""
    if letters == 0:
        return words, np.arange(len(words), dtype=np.int32)
    place = {"": 0}
    mapping = np.zeros(len(words), np.int32)
    for i in range(1, len(words)):
        mapping[i] = place.setdefault(cut(words[i], letters), len(place))
    return list(place), mapping


@dataclass(frozen=True, eq=False)
class ViewWords:
    """The words of both sides in one view: cut to a number of letters (0: whole words), NULL first.

    s_map, t_map (int32 [n_vocabulary + 1]): From the vocabulary's ids to the view's; the last of unknown words.
    s_keys, t_keys (int32 [n_view_words + 1, KEY]): See `look_alike_keys`; zeros in the last place.
    renumbered: The words are of one part of a text, so that whole words too have other ids than in the vocabulary.
    """

    letters: int
    s_words: list[str]
    t_words: list[str]
    s_map: np.ndarray
    t_map: np.ndarray
    s_keys: np.ndarray
    t_keys: np.ndarray
    renumbered: bool = False

    @cached_property
    def s_ids(self) -> dict[str, int]:
        """Ids of the source words."""
        return {word: i for i, word in enumerate(self.s_words)}

    @cached_property
    def t_ids(self) -> dict[str, int]:
        """Ids of the target words."""
        return {word: i for i, word in enumerate(self.t_words)}


class ParallelText(Protocol):
    """What has both sides of a text, in ids of any kind: `Bitext`, `TextView`, `LinkMatrices`."""

    @property
    def source(self) -> Side:
        """The source side."""

    @property
    def target(self) -> Side:
        """The target side."""


@dataclass(eq=False)
class CutSide(Side):
    """One side of a text whose words were cut in place by `collapse`, in the ids of that view.

    letters: That its words were cut to.
    """

    letters: int


@dataclass(frozen=True, eq=False)
class TextView:
    """A text as a view has it: both sides, and their words."""

    source: Side
    target: Side
    words: ViewWords


def view_words(source: AnyVocabulary, target: AnyVocabulary, letters: int) -> ViewWords:
    """Return the words of both sides, cut to their first letters; with 0 letters they stay whole."""
    (s_words, s_map), (t_words, t_map) = (cut_words(side.words(), letters) for side in (source, target))
    maps = [np.append(own, np.int32(len(words))) for own, words in ((s_map, s_words), (t_map, t_words))]
    none = np.zeros((1, KEY), np.int32)
    keys = [np.concatenate([look_alike_keys(words), none]) for words in (s_words, t_words)]
    return ViewWords(letters, s_words, t_words, maps[0], maps[1], keys[0], keys[1])


def view_text(bitext: Bitext, letters: int) -> TextView:
    """Return a text with its words cut to so many letters; 0 keeps them whole."""
    words = view_words(bitext.source_vocabulary, bitext.target_vocabulary, letters)
    source, target = (
        Side(side.tokens if isinstance(side, CutSide) and side.letters == letters else own[side.tokens], side.offsets)
        for side, own in ((bitext.source, words.s_map), (bitext.target, words.t_map))
    )
    return TextView(source, target, words)


def collapse(bitext: Bitext, letters: int) -> None:
    """Cut the words of a text in place, which saves the memory of a copy where only one view is trained.

    Afterwards the text can be used for this view only.
    """

    def in_place(side: Side, vocabulary: AnyVocabulary) -> CutSide:
        mapping = cut_words(vocabulary.words(), letters)[1]
        for a in range(0, len(side.tokens), 1 << 20):
            part = side.tokens[a : a + (1 << 20)]
            part[:] = mapping[part]
        return CutSide(side.tokens, side.offsets, letters)

    bitext.source = in_place(bitext.source, bitext.source_vocabulary)
    bitext.target = in_place(bitext.target, bitext.target_vocabulary)
