"""A text in the ids of one view's model; all words that the model does not know have one id."""

from functools import cached_property

import numpy as np

from aligntools.aligning.models.base import LexicalModel
from aligntools.aligning.text.look_alikes import look_alike_keys
from aligntools.aligning.text.views import CutSide, ViewWords, cut
from aligntools.formats.text.corpus import Bitext, Side
from aligntools.words.vocabulary import AnyVocabulary


def _known(
    side: Side, vocabulary: AnyVocabulary, vocabulary_size: int, words: ViewWords, d: int
) -> tuple[np.ndarray, list[str]]:
    """Map a side's ids to a view's; unknown words get ids behind that of unknown words, and are returned by name."""
    tokens, letters, mapping = side.tokens, words.letters, (words.s_map, words.t_map)[d]
    if isinstance(side, CutSide) and side.letters == letters:
        return tokens, []
    unknown = tokens >= vocabulary_size
    if not unknown.any():
        return (mapping[tokens] if letters or words.renumbered else tokens), []
    mapped = mapping[np.minimum(tokens, vocabulary_size)]
    extra = np.unique(tokens[unknown])
    names = [cut(vocabulary.word(int(i)), letters) for i in extra]
    size, ids_of = len((words.s_words, words.t_words)[d]), (words.t_ids if d else words.s_ids)
    ids = np.array([ids_of.get(w, size + 1 + n) for n, w in enumerate(names)], np.int32)
    mapped[unknown] = ids[np.searchsorted(extra, tokens[unknown])]
    return mapped, names


class ModelText:
    """A text as one view's model sees it: the ids of ``bitext`` are those of its vocabularies, and higher ones.

    source, target: All unknown words have the same id, the one after the known words.
    source_tokens, target_tokens (int32 [words]): Each unknown word has an id of its own, its row in the keys.
    unseen (float32 [n_words + 1] of both sides): `unseen_words.unseen_words`, where an applier asked for it.
    """

    unseen: tuple[np.ndarray, np.ndarray] | None = None

    def __init__(self, model: LexicalModel, bitext: Bitext, sizes: tuple[int, int]) -> None:
        self.model, words = model, model.words
        both = [_known(*side, sizes[d], words, d) for d, side in enumerate(bitext.sides)]
        (self.source_tokens, _), (self.target_tokens, _) = both
        self._new = [new for _, new in both]
        self.has_unseen = any(self._new)
        self.source, self.target = (
            Side(np.minimum(tokens, len(known)) if new else tokens, side.offsets)
            for (tokens, new), known, (side, _) in zip(both, (words.s_words, words.t_words), bitext.sides, strict=True)
        )

    @cached_property
    def s_keys(self) -> np.ndarray:
        """Look-alike keys of all source words, unknown ones too: int32 [n, KEY]."""
        keys, new = self.model.words.s_keys, self._new[0]
        return np.concatenate([keys, look_alike_keys(new)]) if new else keys

    @cached_property
    def t_keys(self) -> np.ndarray:
        """The same of all target words."""
        keys, new = self.model.words.t_keys, self._new[1]
        return np.concatenate([keys, look_alike_keys(new)]) if new else keys

    @cached_property
    def keyed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The rows of each word and the keys in them: of the source int32 [words], int32 [n, KEY], of the target.

        In a short text with new words there is a row for each word, not one for the vocabulary.
        """
        words, found = self.model.words, list[np.ndarray]()
        tokens_of = self.source_tokens, self.target_tokens
        for d, (tokens, keys, new) in enumerate(zip(tokens_of, (words.s_keys, words.t_keys), self._new, strict=True)):
            if not new or len(tokens) >= len(keys):
                found += tokens, (self.t_keys if d else self.s_keys)
                continue
            own, unknown = keys[np.minimum(tokens, len(keys) - 1)], tokens >= len(keys)
            own[unknown] = look_alike_keys(new)[tokens[unknown] - len(keys)]
            found += np.arange(len(tokens), dtype=np.int32), own
        s_rows, s_keys, t_rows, t_keys = found
        return s_rows, s_keys, t_rows, t_keys
