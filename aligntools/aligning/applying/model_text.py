"""A text in the ids of one view's model; all words that the model does not know have one id."""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from aligntools.aligning.applying.unseen_words import UnseenWords
from aligntools.aligning.models.base import LexicalModel
from aligntools.aligning.text.look_alikes import look_alike_keys
from aligntools.aligning.text.views import CutSide, cut
from aligntools.formats.text.corpus import Bitext, Side
from aligntools.words.vocabulary import AnyVocabulary


def _known(
    side: Side,
    vocabulary: AnyVocabulary,
    vocabulary_size: int,
    maps: bool,
    mapping: np.ndarray,
    words: list[str],
    view_ids: Callable[[], dict[str, int]],
    letters: int,
) -> tuple[np.ndarray, list[str] | None]:
    """Map a side's ids to a view's; unknown words get ids from ``len(words) + 1`` on, and are returned by name."""
    tokens = side.tokens
    if isinstance(side, CutSide) and side.letters == letters:
        return tokens, None
    unknown = tokens >= vocabulary_size
    if not unknown.any():
        return (mapping[tokens] if maps else tokens), None
    mapped = mapping[np.minimum(tokens, vocabulary_size)]
    extra = np.unique(tokens[unknown])
    names = [cut(vocabulary.word(int(i)), letters) for i in extra]
    size, ids_of = len(words), view_ids()
    ids = np.array([ids_of.get(w, size + 1 + n) for n, w in enumerate(names)], np.int32)
    mapped = mapped.copy()
    mapped[unknown] = ids[np.searchsorted(extra, tokens[unknown])]
    return mapped, names


class ModelText:
    """A text as one view's model sees it.

    bitext: With ids of the vocabularies that the model was trained with, and higher ones for other words.
    sizes: Sizes of these vocabularies.
    source, target: In the view's ids; all unknown words have the same id, the one after the known words.
    source_tokens, target_tokens (int32 [words]): The same, but each unknown word has an id of its own, its row in the
        keys.
    unseen: What the model takes unknown words for, where the text has some and an applier has said so.
    """

    def __init__(self, model: LexicalModel, bitext: Bitext, sizes: tuple[int, int]) -> None:
        self.model, words = model, model.words
        maps = words.letters != 0 or words.renumbered
        source = words.s_map, words.s_words, (lambda: words.s_ids), words.letters
        target = words.t_map, words.t_words, (lambda: words.t_ids), words.letters
        self.source_tokens, s_new = _known(bitext.source, bitext.source_vocabulary, sizes[0], maps, *source)
        self.target_tokens, t_new = _known(bitext.target, bitext.target_vocabulary, sizes[1], maps, *target)
        self._new = s_new, t_new
        self.has_unseen = bool(s_new or t_new)
        self.unseen: UnseenWords | None = None
        s_tokens = np.minimum(self.source_tokens, len(words.s_words)) if s_new else self.source_tokens
        t_tokens = np.minimum(self.target_tokens, len(words.t_words)) if t_new else self.target_tokens
        self.source = Side(s_tokens, bitext.source.offsets)
        self.target = Side(t_tokens, bitext.target.offsets)

    @cached_property
    def s_keys(self) -> np.ndarray:
        """Look-alike keys of all source words, unknown ones too: int32 [n, KEY]."""
        return _with_new(self.model.words.s_keys, self._new[0])

    @cached_property
    def t_keys(self) -> np.ndarray:
        """Look-alike keys of all target words, unknown ones too: int32 [n, KEY]."""
        return _with_new(self.model.words.t_keys, self._new[1])

    @cached_property
    def keyed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The rows of each word and the keys in them: of the source int32 [words], int32 [n, KEY], of the target."""
        words = self.model.words
        source = _rows(self.source_tokens, words.s_keys, self._new[0], lambda: self.s_keys)
        target = _rows(self.target_tokens, words.t_keys, self._new[1], lambda: self.t_keys)
        return *source, *target


def _rows(
    tokens: np.ndarray, keys: np.ndarray, new: list[str] | None, every: Callable[[], np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and their keys: in a short text with new words a row for each word, not one for the vocabulary."""
    if not new or len(tokens) >= len(keys):
        return tokens, every()
    own, unknown = keys[np.minimum(tokens, len(keys) - 1)], tokens >= len(keys)
    own[unknown] = look_alike_keys(new)[tokens[unknown] - len(keys)]
    return np.arange(len(tokens), dtype=np.int32), own


def _with_new(keys: np.ndarray, new: list[str] | None) -> np.ndarray:
    return np.concatenate([keys, look_alike_keys(new)]) if new else keys
