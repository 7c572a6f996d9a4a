"""BLEU as sacrebleu counts it (Papineni et al. 2002; Post 2018), from counts of each sentence.

All figures are fractions: 1 is a perfect match, where sacrebleu says 100. Everything is a function of counts that add
up, so that corpora, sentences and drawn samples are all scored by the same functions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aligntools.ground.parallel import Pool, balanced_blocks
from aligntools.metrics.base import Score, percent
from aligntools.metrics.settings import TranslationScoring

ORDER = 4
#: Columns of the statistics: matches by order, n-grams by order, length, length of the closest reference.
COLUMNS = 2 * ORDER + 2
#: Ways to smooth a precision of 0, and each one's value unless given (Chen & Cherry 2014: methods 3, 1, 2).
SMOOTHING = {"exp": None, "floor": 0.1, "add-k": 1.0, "none": None}
_BLOCKS = 64


def statistics(
    words: np.ndarray,
    offsets: np.ndarray,
    references: Sequence[tuple[np.ndarray, np.ndarray]],
    pool: Pool | None = None,
) -> np.ndarray:
    """Count what BLEU needs, sentence by sentence.

    words (int32): The translations, joined.
    offsets (int64 [sentences + 1]).
    references: Each a set of references: words and offsets, as many sentences, the same words' ids.
    Returns int64 [sentences, 10]: matches of order 1 to 4, n-grams of order 1 to 4, length, length of the closest
    reference. Raises ValueError when there is no reference or one has another number of sentences.
    """
    from aligntools.metrics import kernels_bleu as kernels

    sentences = len(offsets) - 1
    if not references or any(len(its) != len(offsets) for _, its in references):
        raise ValueError("each set of references has as many sentences as the translations")
    words, offsets = np.ascontiguousarray(words, np.int32), np.ascontiguousarray(offsets, np.int64)
    # all references as one text in which a sentence's stand behind each other
    joined = np.concatenate([np.asarray(its, np.int32) for its, _ in references])
    if len(references) == 1:
        joined_offsets = np.ascontiguousarray(references[0][1], np.int64)
    else:
        ends = np.stack([np.asarray(its, np.int64) for _, its in references], axis=1)
        lengths = np.diff(ends, axis=0).ravel()
        joined_offsets = np.concatenate([[0], np.cumsum(lengths)])
        sizes = np.array([0, *(len(its) for its, _ in references)]).cumsum()[:-1]
        begins = (ends[:-1] + sizes).ravel()
        joined = joined[np.arange(joined_offsets[-1]) + np.repeat(begins - joined_offsets[:-1], lengths)]
    found = np.zeros((sentences, COLUMNS), np.int64)
    if not sentences:
        return found
    sizes = np.diff(offsets) + np.diff(joined_offsets).reshape(sentences, -1).sum(axis=1)

    def count(block: tuple[int, int]) -> None:
        begin, end = block
        scratch = np.empty((6, max(int(sizes[begin:end].max()), 1)), np.int32)
        kernels.count_matches(words, offsets, joined, joined_offsets, begin, end, scratch, found)

    if pool is None:
        count((0, sentences))
    else:
        pool.map(count, balanced_blocks(sizes, _BLOCKS))
    return found


def precisions(counts: npt.ArrayLike, smoothing: str = "exp", value: float | None = None) -> np.ndarray:
    """Return the smoothed precisions of order 1 to 4; 0 where there is none.

    counts [..., 10]: Sums of `statistics`.
    smoothing: ``exp``: the first precision of 0 is half a match, the next a quarter and so on; ``floor``: ``value``
        matches; ``add-k``: ``value`` is added to matches and n-grams of order 2 and more; ``none``.
    Returns float64 [..., 4].
    """
    counts = np.asarray(counts, np.float64)
    matches, totals = counts[..., :ORDER].copy(), counts[..., ORDER : 2 * ORDER].copy()
    amount = _amount(smoothing, value)
    some = np.any(matches > 0, axis=-1, keepdims=True)
    if smoothing == "add-k":
        matches[..., 1:] += amount
        totals[..., 1:] += amount
    # sacrebleu goes through the orders and stops at the first that has no n-grams
    reached = np.logical_and.accumulate(totals > 0, axis=-1) & some
    missing = reached & (matches == 0)
    if smoothing == "exp":
        matches = np.where(missing, 0.5 ** np.cumsum(missing, axis=-1), matches)
    elif smoothing == "floor":
        matches = np.where(missing, amount, matches)
    return np.asarray(np.divide(matches, totals, out=np.zeros_like(matches), where=reached))


def _amount(smoothing: str, value: float | None) -> float:
    """Return what is added, or taken for 0; 0 where the smoothing has no such value."""
    return (SMOOTHING[smoothing] or 0.0) if value is None else value


def brevity(counts: npt.ArrayLike) -> np.ndarray:
    """Return the penalty for translations shorter than their references [shape=(...)]."""
    counts = np.asarray(counts, np.float64)
    length, closest = counts[..., 2 * ORDER], counts[..., 2 * ORDER + 1]
    ratio = np.divide(closest, length, out=np.full_like(length, np.inf), where=length > 0)
    return np.where(length < closest, np.exp(np.minimum(1 - ratio, 0)), 1.0)


def _bleu(counts: npt.ArrayLike, smoothing: str, value: float | None, effective: bool) -> np.ndarray:
    counts = np.asarray(counts, np.float64)
    found = precisions(counts, smoothing, value)
    orders = np.full(counts.shape[:-1], ORDER)
    if effective:
        totals = counts[..., ORDER : 2 * ORDER].copy()
        if smoothing == "add-k":
            totals[..., 1:] += _amount(smoothing, value)
        orders = np.maximum(np.logical_and.accumulate(totals > 0, axis=-1).sum(axis=-1), 1)
    used = np.arange(ORDER) < orders[..., None]
    with np.errstate(divide="ignore"):
        logs = np.where(used, np.log(found), 0.0)
    return np.asarray(brevity(counts) * np.exp(logs.sum(axis=-1) / orders))


def corpus_bleu(counts: npt.ArrayLike, smoothing: str = "exp", value: float | None = None) -> np.ndarray:
    """Return the BLEU of a corpus from the sums of its statistics.

    Returns float64 [...]: from 0 to 1. It is 0 where no order has a match, or where one order has no n-gram at all.
    """
    return _bleu(counts, smoothing, value, effective=False)


def sentence_bleu(counts: npt.ArrayLike, smoothing: str = "exp", value: float | None = None) -> np.ndarray:
    """Return the BLEU of each sentence: up to the longest order that it has n-grams of."""
    return _bleu(counts, smoothing, value, effective=True)


class Segments(NamedTuple):
    """A text as numbers: the same word has the same number in all texts that are scored together."""

    words: np.ndarray  # int32 [words]: All sentences, joined
    offsets: np.ndarray  # int64 [sentences + 1]: Sentence ``n`` is ``words[offsets[n]:offsets[n + 1]]``


_GRAMS = [f"{n}-gram" for n in range(1, ORDER + 1)]


@dataclass(frozen=True, eq=False, kw_only=True)
class BleuScore(Score):
    """A corpus's figures, as fractions."""

    NAME, HEADLINE, TITLE, SYSTEM = "bleu", "bleu", "BLEU", "translation"
    LABELS = (*(f"{n}_matches" for n in _GRAMS), *(f"{n}s" for n in _GRAMS), "words", "reference_words")
    LEGEND = (
        "1- to 4-grams: smoothed precisions; BP: brevity penalty; ratio: words to words of the closest references;"
        " p: approximate randomization"
    )
    bleu: float
    precisions: tuple[float, ...]  # Of order 1 to 4, smoothed
    brevity_penalty: float
    ratio: float  # Words of the translations to words of the closest references
    words: int
    reference_words: int

    @classmethod
    def of(cls, gold: Sequence[Segments], hypothesis: Segments, how: TranslationScoring | None = None) -> "BleuScore":
        """Score a translation against sets of references; the signature is in sacrebleu's terms."""
        how = how or TranslationScoring()
        counts = statistics(*hypothesis, gold)
        total = counts.sum(axis=0)
        words, closest = int(total[-2]), int(total[-1])
        smoothing = how.smooth, how.smooth_value
        value = SMOOTHING[how.smooth] if how.smooth_value is None else how.smooth_value
        settings = {
            "nrefs": len(gold),
            "case": "lc" if how.lowercase else "mixed",
            "eff": "no",
            "tok": how.tokenize,
            "smooth": how.smooth if value is None else f"{how.smooth}[{value:.2f}]",
            "nsent": len(counts),
        }
        return cls.signed(
            settings,
            counts=counts,
            how=how,
            bleu=float(corpus_bleu(total, *smoothing)),
            precisions=tuple(precisions(total, *smoothing).tolist()),
            brevity_penalty=float(brevity(total)),
            ratio=words / closest if closest else 0.0,
            words=words,
            reference_words=closest,
        )

    def figures(self, totals: np.ndarray) -> np.ndarray:
        """Return BLEU [shape=(..., 1)]."""
        return corpus_bleu(totals, self.how.smooth, self.how.smooth_value)[..., None]

    def sentences(self) -> np.ndarray:
        """Return the BLEU of each sentence, up to the longest n-grams that it has [shape=(sentences,)]."""
        return sentence_bleu(self.counts, self.how.smooth, self.how.smooth_value)

    def cells(self, verbose: bool = False) -> dict[str, str]:
        """Return the columns of the table."""
        orders = {f"{n}-grams": percent(p) for n, p in enumerate(self.precisions, 1)}
        return {
            "BLEU": percent(self.bleu),
            **orders,
            "BP": f"{self.brevity_penalty:.3f}",
            "ratio": f"{self.ratio:.3f}",
            "words": str(self.words),
            "in reference": str(self.reference_words),
        }
