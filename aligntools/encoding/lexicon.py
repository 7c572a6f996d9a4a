"""A lexicon of vectors of words: which words of a text are probably translations, whatever sentences they are in.

Words that are near to each other (`similarities`) have pseudo-counts, which training starts from as it does from
those of a dictionary. Whether vectors are believed shows in the text: words that are near to each other have to come
in the same sentence pairs more often than in others.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from aligntools.encoding.similarities import near_pairs
from aligntools.formats.links.priors import Counted, Priors
from aligntools.formats.text.corpus import Bitext, Side
from aligntools.ground.parallel import Pool
from aligntools.words.vocabulary import ExtendedVocabulary, Vocabulary

#: The pseudo-count of two words as near to each other as words get, and how far above what is usual that is. The count
#: goes by the square.
COUNT, NEAR = 5.0, 0.5
#: How far beyond chance words have a near word in their sentence pair, below which no vector is believed, and from
#: which on all are. Languages that USE was taught have 0.84 and more, Japanese 0.64; others 0.44 and less, or, where
#: they share words with those, 0.53 (Romanian, Danish) and 0.78 (Bulgarian); vectors of different spaces at most 0.3.
DOUBTED, BELIEVED = 0.45, 0.65
#: Sentence pairs that this is tried on, and words of each side, the most frequent ones.
TRIED, FREQUENT = 1_000, 10_000
Words = Vocabulary | ExtendedVocabulary


def lexicon(source: Words, target: Words, vectors: Sequence[np.ndarray], pool: Pool) -> Priors:
    """Return pseudo-counts of words that are near to each other, as the words are written.

    vectors (sequence of float32 [words, numbers]): Of each side's words but NULL; zeros where there is none.
    """
    pairs, margins = near_pairs(vectors[0], vectors[1], pool)
    alphas = COUNT * np.minimum(1.0, margins.astype(np.float64) / NEAR) ** 2
    return Priors(plain(source), plain(target), Counted((pairs + 1).astype(np.int32), alphas))


def plain(words: Words) -> Vocabulary:
    """Return words as a `Vocabulary`."""
    return words if isinstance(words, Vocabulary) else Vocabulary.from_words(words.words()[1:])


def belief(agreement: float, doubted: float = DOUBTED, believed: float = BELIEVED) -> float:
    """Return how far a lexicon, or what else agrees with a text, is believed: from 0 up to ``doubted`` to 1."""
    return min(1.0, max(0.0, (agreement - doubted) / (believed - doubted)))


def agreement(priors: Priors, written: Bitext) -> float:
    """Return how far words that have entries have one in their own sentence pair, beyond chance (cf. Cohen's kappa).

    By chance is in the next pair. Of a large text pairs that are evenly spread are looked at, and words among the first
    FREQUENT of each side: the more words a lexicon has, the more have an entry in a pair by chance.
    """
    keys = priors.lexical.keys
    known = (keys <= FREQUENT).all(1)
    frequent = replace(priors, lexical=Counted(keys[known], priors.lexical.alphas[known]))
    return compared(frequent, written)[0]


def compared(priors: Priors, written: Bitext, fold: Callable[[str], str] = str) -> tuple[float, int]:
    """Return the agreement of priors with a text, whose words are folded, and how many words it was found by."""
    pairs = len(written)
    chosen = np.unique(np.linspace(0, pairs - 1, min(pairs, TRIED)).astype(np.int64)) if pairs > 1 else np.empty(0, int)
    both = (
        (written.source, written.source_vocabulary, priors.source_vocabulary),
        (written.target, written.target_vocabulary, priors.target_vocabulary),
    )
    sides = [(side, _ids(vocabulary, own, fold), own) for side, vocabulary, own in both]
    s, t = priors.lexical.keys.T.astype(np.int64)
    found, words = np.zeros(2, np.int64), np.zeros(2, np.int64)
    for rows, others, (side, ids, own_words), (other, other_ids, other_words) in ((s, t, *sides), (t, s, *sides[::-1])):
        order = np.argsort(rows, kind="stable")
        entries, starts = others[order], np.searchsorted(rows[order], np.arange(len(own_words) + 1))
        there = np.zeros(len(other_words), bool)
        for row in chosen.tolist():
            own = _words(side, ids, row)
            own = own[starts[own + 1] > starts[own]]
            counts = starts[own + 1] - starts[own]
            begins = np.cumsum(counts) - counts
            near = entries[np.repeat(starts[own] - begins, counts) + np.arange(int(counts.sum()))]
            for which, place in enumerate((row, (row + 1) % pairs)):
                if len(own) and other.offsets[place] < other.offsets[place + 1]:
                    present = _words(other, other_ids, place)
                    there[present] = True
                    words[which] += len(own)
                    found[which] += np.count_nonzero(np.logical_or.reduceat(there[near], begins))
                    there[present] = False
    shares = [int(a) / int(b) if b else 0.0 for a, b in zip(found, words, strict=True)]
    return (shares[0] - shares[1]) / max(1.0 - shares[1], 1e-9), int(words[0])


def _ids(vocabulary: Words, own: Vocabulary, fold: Callable[[str], str]) -> np.ndarray:
    """Return the words of one vocabulary in the ids of another; -1 for NULL and those that it has not."""
    found = np.full(len(vocabulary), -1, np.int64)
    found[1:] = own.ids([fold(word).encode("utf-8", "surrogatepass") for word in vocabulary.words()[1:]])
    return found


def _words(side: Side, ids: np.ndarray, row: int) -> np.ndarray:
    found: np.ndarray = ids[side.tokens[side.offsets[row] : side.offsets[row + 1]]]
    return found[found > 0]
