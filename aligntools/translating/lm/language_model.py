"""N-gram language models in memory: loading, saving, scoring sentences, perplexity.

A model is a table of unigrams by word id and one open-addressing table of all longer n-grams (see `kernels_lm`): 16
bytes a slot, a third to two thirds of the slots in use. Probabilities are those of the ARPA file, backing off as it
says (Katz 1987), in natural logarithms.
"""

import logging
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Self, TypeAlias

import numpy as np

from aligntools.formats.models.modelfile import (
    Array,
    SavedModel,
    checked,
    hold_number,
    hold_vocabulary,
    is_model,
    named,
)
from aligntools.formats.text.numbered_text import LineSource, stream_numbered
from aligntools.formats.translation.arpa import CONTROL, ArpaReader
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.parallel import Pool, balanced_blocks
from aligntools.ground.ranges import LARGEST_SEED as LARGEST
from aligntools.ground.ranges import counts
from aligntools.words.vocabulary import CompiledLexicon, Vocabulary

UNKNOWN, BEGIN, END = 0, 1, 2
_log = logging.getLogger("aligntools")
_LN10 = math.log(10)
_BLOCKS = 64
#: N-grams of one order, and the decimal logarithms of their probabilities and backoff weights.
Block: TypeAlias = tuple[np.ndarray, np.ndarray]
#: Largest order; kernels keep a word's state in arrays of this size at most.
MAX_ORDER = 20
_ARRAYS = (
    Array("unigrams", ("words", 2), np.float32),
    Array("keys", ("slots",), np.uint64),
    Array("values", ("slots", 2), np.float32),
)


@dataclass(frozen=True, eq=False)
class NgramModel(SavedModel):
    """An n-gram model.

    values (float32 [as keys, 2]): As ``unigrams``. A backoff of exactly 0 says that no n-gram continues this one.
    """

    KIND = "lm"
    order: int
    vocabulary: Vocabulary  # Word ids: 0 <unk> (NULL there), 1 <s>, 2 </s>, then words
    unigrams: np.ndarray  # float32 [words, 2]: Natural logarithms of probability and backoff weight
    keys: np.ndarray  # uint64 [a power of two]: Hashes of longer n-grams; 0 is free
    values: np.ndarray
    counts: list[int]
    has_unknown: bool = True  # Whether <unk> came with the model; otherwise its logarithm to base 10 is -100

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What kernels take first: ``unigrams``, ``keys``, ``values``."""
        return self.unigrams, self.keys, self.values

    def __repr__(self) -> str:
        return f"<NgramModel of order {self.order}, {len(self.vocabulary)} words, {sum(self.counts)} n-grams>"

    def ids(self, vocabulary: Vocabulary) -> np.ndarray:
        """Map another vocabulary's ids to the model's.

        Returns int32 [len(vocabulary)]: 0 for unknown words, NULL, and words that look like <s> or </s>.
        """
        return self.lookup([word.encode() for word in vocabulary.words()])

    def lookup(self, words: Sequence[bytes]) -> np.ndarray:
        """Return the ids of words, given in UTF-8 [dtype=int32]; 0 as for `ids`."""
        found = self.vocabulary.ids(words)
        found[found <= END] = UNKNOWN
        return found

    def parts(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the header and the arrays of the model's binary file, which loads faster than ARPA."""
        header = {"order": self.order, "counts": self.counts, "has_unknown": self.has_unknown}
        return header, named(self, _ARRAYS) | {"words": self.vocabulary.blob, "starts": self.vocabulary.starts}

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """Rebuild the model.

        Slots are a power of two and not all in use, so that every search ends; words have ids of their own, the symbols
        those that kernels know; logarithms are finite.
        """
        vocabulary = hold_vocabulary(arrays, "words", False, ("words", "starts"))
        if len(vocabulary) < 3 or [vocabulary.word(id).encode() for id in (BEGIN, END)] != list(CONTROL[1:]):
            raise ValueError("the vocabulary does not begin with <s> and </s>")
        order, sizes = int(hold_number(header, "order", counts(1, MAX_ORDER))), header["counts"]
        if len(sizes) != order or any(n not in counts(0, LARGEST) for n in sizes):
            raise ValueError("counts")
        unigrams, keys, values = checked(arrays, _ARRAYS, {"words": len(vocabulary)})
        size = len(keys)
        if size & (size - 1) or np.count_nonzero(keys) == size:
            raise ValueError(f"{size} slots, all in use or no power of two")
        return cls(order, vocabulary, unigrams, keys, values, list(sizes), bool(header["has_unknown"]))


def from_blocks(
    order: int, vocabulary: Vocabulary, counts: Sequence[int], blocks: Iterable[Block], reader: ArpaReader | None = None
) -> NgramModel:
    """Make a model of n-grams as `ArpaReader.blocks` yields them: unigrams in one part, orders ascending.

    Raises UsageProblem when the order is not between 1 and `MAX_ORDER`. Raises DataError for the first n-gram that a
    ``reader`` has twice.
    """
    from aligntools.translating.lm import kernels_lm as kernels

    if not 1 <= order <= MAX_ORDER:
        raise UsageProblem(f"a language model of order {order}; the order is between 1 and {MAX_ORDER}")
    blocks = iter(blocks)
    _, logs = next(blocks)
    unigrams = _natural(logs)
    if order == 1:
        unigrams[:, 1] = 0
    expected = sum(counts[1:])
    keys, values = _table(expected + (expected >> 1) + 2 * MAX_ORDER**2)
    used = np.zeros(1, np.int64)
    for ids, logs in blocks:
        logs = _natural(logs)
        if ids.shape[1] == order:
            logs[:, 1] = 0
        row = 0
        while (row := kernels.insert(unigrams, keys, values, order, ids, logs, row, used)) < len(ids):
            if row < 0:
                assert reader is not None
                raise DataError(reader.path, reader.line_of(-1 - row), f"this {ids.shape[1]}-gram is there twice")
            old = keys, values
            keys, values = _table(len(keys))
            kernels.regrow(*old, keys, values)
    has_unknown = reader is None or reader.has_unknown
    return NgramModel(order, vocabulary, unigrams, keys, values, [int(n) for n in counts], has_unknown)


def _table(above: int) -> tuple[np.ndarray, np.ndarray]:
    """Return an empty table with the next power of two above a size."""
    size = 1 << max(int(above), 15).bit_length()
    return np.zeros(size, np.uint64), np.zeros((size, 2), np.float32)


def _natural(logs: np.ndarray) -> np.ndarray:
    return (logs.astype(np.float64) * _LN10).astype(np.float32)


def load(path: str, verify: bool = True) -> NgramModel:
    """Load a model: an ARPA file of any compression, or what `NgramModel.save` wrote, its checksum verified or not."""
    if is_model(path):
        return NgramModel.load(path, verify)
    reader = ArpaReader(path)
    blocks = reader.blocks()
    first = next(blocks)  # with it comes the vocabulary
    assert reader.vocabulary is not None
    return from_blocks(reader.order, reader.vocabulary, reader.counts, chain([first], blocks), reader)


@dataclass(eq=False)
class WordScores:
    """Log-probabilities of a text, word by word."""

    logs: np.ndarray  # float32 [words + sentences]: Natural logarithms; after each sentence's words comes its end
    matched: np.ndarray  # int8 [words + sentences]: Order of the n-gram that was found for each
    unknown: np.ndarray  # bool [words + sentences]
    offsets: np.ndarray  # int64 [sentences + 1]: Sentence ``n`` is ``offsets[n]:offsets[n + 1]``, at least its end
    texts: list[bytes] | None = None  # The words of all sentences, without ends

    def sentences(self) -> np.ndarray:
        """Return each sentence's log-probability [shape=(sentences,), dtype=float64]."""
        return (
            np.add.reduceat(self.logs.astype(np.float64), self.offsets[:-1]) if len(self.offsets) > 1 else np.zeros(0)
        )


def score(model: NgramModel, tokens: np.ndarray, offsets: np.ndarray, pool: Pool, begins: bool = True) -> WordScores:
    """Score sentences, each with its end.

    tokens (int32 [words]): The model's ids; see `NgramModel.ids`.
    offsets (int64 [sentences + 1]).
    begins: The first word comes after the beginning of a sentence, not after nothing.
    """
    from aligntools.translating.lm import kernels_lm as kernels

    sentences = len(offsets) - 1
    logs, matched = np.empty(len(tokens) + sentences, np.float32), np.empty(len(tokens) + sentences, np.int8)
    tokens = np.ascontiguousarray(tokens, np.int32)
    pool.map(
        lambda block: kernels.score_sentences(
            *model.arrays, model.order, tokens, offsets, *block, begins, logs, matched
        ),
        balanced_blocks(np.diff(offsets) + 1, _BLOCKS),
    )
    ends = offsets + np.arange(sentences + 1)
    unknown = np.zeros(len(logs), bool)
    words = np.ones(len(logs), bool)
    words[ends[1:] - 1] = False
    unknown[words] = tokens == UNKNOWN
    return WordScores(logs, matched, unknown, ends)


def score_text(
    model: NgramModel, text: LineSource | str, pool: Pool, *, lowercase: bool = False, texts: bool = False
) -> Iterator[WordScores]:
    """Read a text, a sentence a line, and score it part by part, with ``texts`` the words themselves too.

    Words that look like <s> or </s> are unknown ones; how many there are is logged.
    """
    size = len(model.vocabulary)
    known = list(model.vocabulary.encoded())
    lexicon, symbols = CompiledLexicon(known[1:]), 0
    for side in stream_numbered(text, lexicon, lowercase=lowercase):
        tokens = side.tokens
        words = None
        if texts:
            known += lexicon.words(len(known))
            words = [known[k] for k in tokens.tolist()]
        symbols += int(np.isin(tokens, (BEGIN, END)).sum())
        tokens[(tokens <= END) | (tokens >= size)] = UNKNOWN
        yield replace(score(model, tokens, side.offsets, pool), texts=words)
    if symbols:
        name = text.name if isinstance(text, LineSource) else text
        _log.info("%s: %d times <s> or </s> in the text, which count as unknown words; leave them out", name, symbols)


def score_sentence(model: NgramModel, words: Sequence[str], begins: bool = True) -> WordScores:
    """Return the scores of a sentence's words and of its end."""
    tokens = model.lookup([word.encode() for word in words])
    with Pool(1) as pool:
        return score(model, tokens, np.array([0, len(tokens)], np.int64), pool, begins)


@dataclass(frozen=True)
class Perplexity:
    """How well a model predicts a text; lines without words do not count.

    sentences, words, unknown: ``words`` are without ends of sentences; ``unknown`` is how many of them the model does
        not know.
    """

    sentences: int
    words: int
    unknown: int
    log_probability: float  # Of everything, ends of sentences included, natural
    perplexity: float  # Per word and end of sentence; NaN of nothing
    perplexity_known: float  # The same over what is not an unknown word
    found: tuple[int, ...]  # Words and ends of sentences by the order of the n-gram that was found

    def __float__(self) -> float:
        return self.perplexity


def perplexity(parts: Iterable[WordScores], order: int) -> Perplexity:
    """Return how well a model of this order predicts a text, from the scores of its parts."""
    found = np.zeros(order + 1, np.int64)
    sentences = events = unknown = 0
    log = log_known = 0.0
    for scores in parts:
        lengths = np.diff(scores.offsets)
        counted, logs = np.repeat(lengths > 1, lengths), scores.logs.astype(np.float64)
        sentences, events = sentences + int(np.sum(lengths > 1)), events + int(counted.sum())
        unknown += int(np.sum(scores.unknown))
        log += float(logs[counted].sum())
        log_known += float(logs[counted & ~scores.unknown].sum())
        found += np.bincount(scores.matched[counted], minlength=len(found))
    whole, known = (
        math.exp(min(-total / n, 700.0)) if n else math.nan
        for total, n in ((log, events), (log_known, events - unknown))
    )
    return Perplexity(sentences, events - sentences, unknown, log, whole, known, tuple(found[1:].tolist()))
