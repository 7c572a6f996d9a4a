"""A text in the ids of one view's model; all words that the model does not know have one id."""

from dataclasses import replace
from functools import cached_property

import numpy as np

from aligntools.aligning.models.base import LexicalModel
from aligntools.aligning.text.look_alikes import look_alike_keys
from aligntools.aligning.text.views import CutSide, ViewWords, cut
from aligntools.formats.text.corpus import Bitext, Side
from aligntools.words.vocabulary import AnyVocabulary

#: Occurrences that the mean of equally frequent words counts for.
PRIOR = 5.0
#: A word seen once is linked so often at most, with NULL; expected counts are not whole numbers.
ONCE = 0.3, 1.5
#: Passes over a sentence pair in which likely links of unseen words make them likelier, and by what share.
ROUNDS, GAIN = 5, 0.1
#: Values from which on two words look alike: such words are left out of these passes.
ALIKE = np.float32(0.5)


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
    """A text as one view's model reads it: ``bitext`` has the ids of its vocabularies, and higher ids for unseen words.

    source, target: All unknown words have the same id, the one after the known words.
    source_tokens, target_tokens (int32 [words]): Each unknown word has an id of its own, its row in the keys.
    unseen (float32 [n_words + 1] of both sides): `unseen_words`, where an applier asked for it.
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


# Words that a model has not seen: each is taken for the mean of the words that the model has seen once.
#
# The value of a pair of words is the expected number of their links, so that of a word ``s`` and an unseen one is what
# ``s`` has with a word seen once, on average. Rare words have few such links, so the mean of equally frequent words
# counts as five of their occurrences. NULL has the mean of the words seen once, too.


def unseen_words(model: LexicalModel) -> tuple[LexicalModel, tuple[np.ndarray, np.ndarray]]:
    """Return a model with the probability of an unseen word under NULL, and the values of unseen words.

    They are float32 [n_words + 1] for both sides: of each word with an unseen one of the other side, last of two.
    """
    table, links = model.table, model.word_links()
    counts = (model.counts[0].astype(np.float64) + model.counts[-1]) / 2
    often = [table.row_sums(counts), table.column_sums(counts)]
    if links is not None:
        often = [x + null for x, null in zip(links.observed(table), links.null[::-1], strict=True)]
    sizes = len(model.words.s_words), len(model.words.t_words)
    often = [x[:n] for x, n in zip(often, sizes, strict=True)]
    once = [(ONCE[0] < x) & (x < ONCE[1]) for x in often]
    rows = np.repeat(np.arange(table.n_source), np.diff(table.ptr))
    source, target = (
        _values(often[own], np.where(once[1 - own][beside], counts, 0.0), words, int(np.count_nonzero(once[1 - own])))
        for own, (words, beside) in enumerate(((rows, table.ids), (table.ids, rows)))
    )
    nulls = [model.s_null.copy(), model.t_null.copy()]
    for null, those in zip(nulls, once, strict=True):
        if those.any():
            null[-1] = null[:-1][those].mean()
    return replace(model, s_null=nulls[0], t_null=nulls[1]), (source, target)


def _values(often: np.ndarray, links: np.ndarray, of: np.ndarray, once: int) -> np.ndarray:
    """Return the values of a side.

    often (float64 [n_words]): Occurrences.
    links (float64 [n_pairs]): Those of the words ``of`` with words seen once, of which there are ``once``.
    """
    found = np.bincount(of, links, len(often))[: len(often)]
    tiers = np.log2(np.maximum(often, 1.0)).astype(np.int64)
    shares = np.bincount(tiers, found) / np.maximum(np.bincount(tiers, often), 1e-9)
    values = often * (found + PRIOR * shares[tiers]) / (often + PRIOR) / max(once, 1)
    values[:1] = 0.0  # of NULL
    return np.append(values, (shares[0] if len(shares) else 0.0) / max(once, 1)).astype(np.float32)
