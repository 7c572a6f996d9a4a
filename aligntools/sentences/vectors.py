"""Vectors of sentences by an encoder, of their words, and how near sentences of both sides are to each other.

A sentence's vector is the mean state of its words after the last layer, less the document's mean; a group's is the
sum of its sentences'. A cosine counts by how far it is above what is usual around both (the margin of Artetxe &
Schwenk 2019, as Bertalign has it). The states of a layer below tell which words are translations.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from aligntools.aligning.evidence_kinds import vectors_of_files
from aligntools.encoding import encoder as encoders
from aligntools.encoding.similarities import near_pairs
from aligntools.formats.models import encoder_folder
from aligntools.ground.parallel import Pool, one_thread
from aligntools.sentences.lexicon import WordEntries
from aligntools.sentences.text import Text, spoken

#: The last layer of the encoder that the package brings; the one that knows words.
LAST, WORDS = 12, encoders.LAYER
#: How many of the nearest sentences of the other side tell what is usual around one.
NEAREST = 10
#: Pseudo-count of two words as near to each other as words get, and how near that is; see `encoding.lexicon`.
COUNT, NEAR = 5.0, 0.5
#: Words of a side that are compared, the most frequent ones.
MOST_WORDS = 30_000
#: Sentences that are compared with others at a time, and how far these may be from the diagonal.
_ROWS, REACH = 512, 1 << 14


def load(folder: str | None) -> encoders.Encoder:
    """Load an encoder with all its layers; None is the extra's."""
    depth = LAST if folder is None else int(encoder_folder.read(folder).config["num_hidden_layers"])
    return encoders.load(folder, depth)


def encode(encoder: encoders.Encoder, text: Text, pool: Pool) -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors of a document.

    Returns sentences (float32 [sentences, width]): Of length 1, from the document's mean, zeros where there is no word;
        words (float32 [words, width]): By the vocabulary of the text.
    """
    layers = (min(WORDS, encoder.depth), encoder.depth)
    sentences = np.zeros((len(text), encoder.width), np.float32)
    words = np.zeros((len(text.words), encoder.width), np.float32)
    offsets, tokens = text.side.offsets, text.side.tokens
    for n, states in enumerate(encoder.stream(map(spoken, text.lines), layers, pool)):
        if states.shape[1]:
            sentences[n] = states[1].mean(0)
            np.add.at(words, tokens[offsets[n] : offsets[n + 1]], states[0])
    words /= np.maximum(text.counts, 1)[:, None]
    return unit_from_mean(sentences), words


def unit_from_mean(vectors: np.ndarray) -> np.ndarray:
    """Return vectors of length 1 from the mean of those that are not 0 [sentences, width]."""
    there = vectors.any(1)
    out = vectors.copy()
    if there.any():
        out[there] -= vectors[there].mean(0, dtype=np.float64).astype(np.float32)
    norms = np.linalg.norm(out, axis=1, keepdims=True)
    return np.where(norms > 1e-9, out / np.maximum(norms, 1e-9), 0.0).astype(np.float32)


def near_words(source: Text, target: Text, words: Sequence[np.ndarray], pool: Pool) -> WordEntries:
    """Return pseudo-counts of words whose vectors (float32 [words, width], of both sides) are near to each other."""
    order = [np.argsort(-text.counts, kind="stable")[:MOST_WORDS] for text in (source, target)]
    pairs, margins = near_pairs(words[0][order[0]], words[1][order[1]], pool)
    counts = COUNT * np.minimum(1.0, margins.astype(np.float64) / NEAR) ** 2
    kept = counts > 0.02
    return order[0][pairs[kept, 0]], order[1][pairs[kept, 1]], counts[kept]


def of_files(paths: tuple[str, str], source: Text, target: Text, pool: Pool) -> WordEntries:
    """Return pseudo-counts of words whose vectors in two files are near to each other."""
    forms, ids = list[list[str]](), list[np.ndarray]()
    for text in (source, target):
        known: dict[tuple[str, int], None] = {}
        for n, line in enumerate(text.lines):
            begin, end = text.side.offsets[n : n + 2]
            known |= dict.fromkeys(zip(spoken(line), text.side.tokens[begin:end].tolist(), strict=True))
        words = dict.fromkeys(word for word, _ in known)
        forms.append(list(words))
        numbers = {word: n for n, word in enumerate(words)}
        ids.append(np.array([(numbers[word], token) for word, token in known], np.int64).reshape(-1, 2))
    found = []
    for text, own, read in zip((source, target), ids, vectors_of_files(paths, forms), strict=True):
        sums = np.zeros((len(text.words), read.shape[1]), np.float32)
        np.add.at(sums, own[:, 1], read[own[:, 0]])
        found.append(unit_from_mean(sums))
    return near_words(source, target, found, pool)


def nearest(x: np.ndarray, y: np.ndarray, pool: Pool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the nearest sentence of the other side, and the mean cosine of the nearest ten.

    x, y (float32 [n, width], [m, width]). Sentences over REACH from the diagonal are not looked at.
    Returns best (int64 [n]), margin (float64 [n]): How far it is nearer than the next one. usual (float64 [n]).
    """
    n, m = len(x), len(y)
    best, margin, usual = np.zeros(n, np.int64), np.zeros(n), np.zeros(n)

    def block(begin: int) -> None:
        rows = slice(begin, min(begin + _ROWS, n))
        low = max(0, int(begin * m / n) - REACH)
        high = min(m, int((begin + _ROWS) * m / n) + REACH)
        cosines = x[rows] @ y[low:high].T
        count = min(NEAREST, high - low)
        top = -np.sort(-np.partition(cosines, -count, axis=1)[:, -count:], axis=1)
        best[rows] = low + cosines.argmax(1)
        margin[rows] = top[:, 0] - (top[:, 1] if count > 1 else 0.0)
        usual[rows] = top.mean(1)

    with one_thread():
        pool.map(block, range(0, n if m else 0, _ROWS))
    return best, margin, usual


def group_means(values: np.ndarray, most: int) -> np.ndarray:
    """Return the mean of values over 1 to ``most`` sentences from each one on (float64 [most, sentences])."""
    return np.stack([total / n for n, total in enumerate(group_sums(values.astype(np.float64), most), 1)])


def group_sums(values: np.ndarray, most: int) -> Iterator[np.ndarray]:
    """Yield the sums of 1 to ``most`` values from each one on, in one array."""
    total = np.zeros_like(values)
    for a in range(most):
        total[: max(0, len(values) - a)] += values[a:]
        yield total
