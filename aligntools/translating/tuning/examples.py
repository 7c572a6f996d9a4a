"""From text and systems to what `tuning` works on: translations of given sources, of imputed ones, round trips."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from aligntools.formats.bitext import Side
from aligntools.formats.vocabulary import Vocabulary
from aligntools.ground.parallel import Pool
from aligntools.translating.tuning.imputation import Imputed, impute
from aligntools.translating.tuning.linear_bleu import References
from aligntools.translating.tuning.tuning import Part


@dataclass(eq=False)
class Text:
    """Sentences of words.

    Attributes
    ----------
    words : list of bytes
        UTF-8.
    offsets : int64 [sentences + 1]
    """

    words: list
    offsets: np.ndarray

    def __len__(self):
        return len(self.offsets) - 1

    @classmethod
    def of(cls, side: Side, vocabulary: Vocabulary):
        """Take a side that was read with its vocabulary."""
        words = [word.encode() for word in vocabulary.words()]
        return cls([words[t] for t in side.tokens.tolist()], side.offsets)


def numbered(texts: Sequence[Text]) -> tuple[Side, Vocabulary]:
    """Return all texts, or parts of one, one behind another, as a side of their own vocabulary."""
    ids = {}
    tokens = [ids.setdefault(word, len(ids) + 1) for text in texts for word in text.words]
    lengths = np.concatenate([np.zeros(1, np.int64), *(np.diff(text.offsets) for text in texts)])
    return Side(np.array(tokens, np.int32), np.cumsum(lengths)), Vocabulary.from_bytes(list(ids))


def part(
    system, text: Text, references: Sequence[Text], groups=None, weights=None, counted=True, names=None,
    pool: Pool | None = None,
) -> Part:  # fmt: skip
    """Return sentences that a system translates, with their references.

    Parameters
    ----------
    system : decoder.System
    text : Text
    references : sequence of Text
        Sets of references, of equally many sentences.
    groups, weights, counted
        See `tuning.Part`; each sentence has the reference of its own number, and the weight 1, unless given.
    names : sequence of str, optional
        The features that are tuned, in order, where they are not the system's; all of the system's are among them.
    """
    sentences = system.encode(text.words, text.offsets)
    table = References.of([Side(system.encode_target(r.words, sentences), r.offsets) for r in references])
    groups = np.arange(len(text)) if groups is None else np.asarray(groups, np.int64)
    weights = np.ones(len(text)) if weights is None else np.asarray(weights, np.float64)
    place = {name: k for k, name in enumerate(names or system.features)}
    order = np.array([place[name] for name in system.features], np.int32)
    plain = np.array_equal(order, np.arange(len(order)))

    def decode(weights):
        found = system.with_weights(weights[order]).forest(sentences, pool)
        return found if plain else replace(found, feature_ids=order[found.feature_ids])

    return Part(decode, table, groups, weights, counted)


def impute_text(
    system, text: Text, how="kbest", k=1, gamma=1.0, seed=1, pool: Pool | None = None
) -> tuple[Text, Imputed]:  # fmt: skip
    """Impute sources of target sentences.

    Parameters
    ----------
    system : decoder.System
        The reverse system.
    text : Text
        Target sentences.
    how, k, gamma, seed
        See `imputation.impute`.

    Returns
    -------
    sources : Text
    imputed : Imputed
        Of which sentence each is, and with what probability.
    """
    sentences = system.encode(text.words, text.offsets)
    found = impute(system.forest(sentences, pool), system.weights, how, k, gamma, seed, pool)
    return Text(system.names(sentences)(found.candidates.words), found.candidates.word_offsets), found
