"""Probabilities of rules from embeddings of symbols and, in a compound PCFG, a latent vector of the sentence.

With w_N the embedding of a symbol, z the latent vector and [w; z] both joined, the paper's equations (sections 2.1 and
2.2) are

    root          pi(S -> A)   ~ exp u_A . f_1([w_S; z])
    symbol        pi(A -> B C) ~ exp u_BC . [w_A; z]
    preterminal   pi(T -> x)   ~ exp u_x . f_2([w_T; z])

where f_1 and f_2 are networks with residual layers. A neural PCFG is the same without z.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from aligntools.constituents.inducing.model import DenseRules
from aligntools.constituents.neural import charts
from aligntools.constituents.neural.layers import (
    Arrays,
    affine,
    affine_back,
    log_softmax,
    log_softmax_back,
    lstm,
    lstm_back,
    residual,
    residual_back,
    residual_shapes,
)
from aligntools.ground.parallel import Pool, over


@dataclass(frozen=True)
class Sizes:
    """Sizes of a grammar and of its networks.

    terminals: Types of words or tags; 0 is any that is not known.
    width: Of embeddings and layers.
    latent: Of the latent vector; 0 in a neural PCFG.
    """

    symbols: int
    preterminals: int
    terminals: int
    width: int
    latent: int = 0

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of all arrays."""
        hidden, both = self.symbols + self.preterminals, self.width + self.latent
        shapes: dict[str, tuple[int, ...]] = {
            "root": (1, self.width),
            "symbols": (self.symbols, self.width),
            "preterminals": (self.preterminals, self.width),
            "rules.weights": (both, hidden * hidden),
            "rules.bias": (hidden * hidden,),
        }
        shapes |= residual_shapes("roots", both, self.width, self.symbols)
        shapes |= residual_shapes("words", both, self.width, self.terminals)
        if self.latent:
            shapes["encoder.words"] = (self.terminals, self.width)
            gates = 4 * self.width
            for way in ("encoder.forward", "encoder.backward"):
                shapes |= {f"{way}.weights": (self.width, gates), f"{way}.bias": (gates,)}
                shapes |= {f"{way}.memory": (self.width, gates)}
            shapes |= {"encoder.out.weights": (2 * self.width, 2 * self.latent), "encoder.out.bias": (2 * self.latent,)}
        return shapes

    def start(self, rng: np.random.Generator) -> Arrays:
        """Return weights: uniform numbers by the shape (Glorot & Bengio 2010); biases are 0."""
        arrays: Arrays = {}
        for name, shape in self.shapes().items():
            most = (6 / (shape[0] + shape[-1])) ** 0.5
            drawn = np.zeros(shape) if len(shape) == 1 else rng.uniform(-most, most, shape)
            arrays[name] = drawn.astype(np.float32)
        return arrays


@dataclass(frozen=True)
class Heads:
    """The rules of a latent vector, as logarithms of probabilities.

    roots (float [1, symbols]).
    rules (float [symbols, hidden * hidden]): Of pairs of symbols and preterminals.
    words (float [preterminals, terminals]).
    kept: What the networks need to go back.
    """

    roots: np.ndarray
    rules: np.ndarray
    words: np.ndarray
    kept: tuple[list[np.ndarray], list[np.ndarray]]

    def probabilities(self) -> DenseRules:
        """Return roots and rules as probabilities."""
        return DenseRules.of_rows(np.exp(self.roots).astype(np.float64), np.exp(self.rules).astype(np.float64))

    def emissions(self, sentence: np.ndarray) -> np.ndarray:
        """Return the probability of each word of a sentence by each preterminal, float64 [words, preterminals]."""
        return np.asarray(np.exp(self.words[:, sentence].T.astype(np.float64)))


#: Expected counts of roots, rules and words in the shapes of `Heads`.
RuleCounts: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]


def scores_of_symbols(arrays: Arrays) -> np.ndarray:
    """Return what symbols add to the scores of their rules, whatever the latent vector."""
    weights = arrays["rules.weights"][: arrays["symbols"].shape[1]]
    return np.asarray(arrays["symbols"] @ weights + arrays["rules.bias"])


def _joined(embeddings: np.ndarray, z: np.ndarray | None) -> np.ndarray:
    return embeddings if z is None else np.concatenate([embeddings, np.tile(z, (len(embeddings), 1))], 1)


def heads(arrays: Arrays, base: np.ndarray, z: np.ndarray | None) -> Heads:
    """Return the rules of a latent vector.

    base (float [symbols, hidden * hidden]): From `scores_of_symbols`.
    z (float [latent] or None).
    """
    width = arrays["symbols"].shape[1]
    rules = base if z is None else base + z @ arrays["rules.weights"][width:]
    roots, first = residual(arrays, "roots", _joined(arrays["root"], z))
    words, second = residual(arrays, "words", _joined(arrays["preterminals"], z))
    return Heads(log_softmax(roots), log_softmax(rules), log_softmax(words), (first, second))


def heads_back(
    arrays: Arrays, found: Heads, by: RuleCounts, z: np.ndarray | None, sums: Arrays
) -> tuple[np.ndarray, np.ndarray]:
    """Add the derivatives of `heads`'s weights to ``sums``, apart from those of ``rules``, which all sentences share.

    by: Derivatives by logarithms of probabilities: expected counts.
    Returns by_base (float [symbols, hidden * hidden]).
    Returns by_z (float [latent]).
    """
    width = arrays["symbols"].shape[1]
    kind = found.rules.dtype
    by_roots, by_pairs, by_words = (counts.astype(kind) for counts in by)
    by_rules = log_softmax_back(found.rules, by_pairs)
    by_z: np.ndarray = np.zeros(0, kind)
    if z is not None:
        by_z = arrays["rules.weights"][width:] @ by_rules.sum(0)
    for name, embeddings, logs, counts, kept in (
        ("roots", "root", found.roots, by_roots, found.kept[0]),
        ("words", "preterminals", found.words, by_words, found.kept[1]),
    ):
        by_input = residual_back(arrays, name, kept, log_softmax_back(logs, counts), sums)
        sums[embeddings] += by_input[:, :width]
        if z is not None:
            by_z = by_z + by_input[:, width:].sum(0)
    return by_rules, by_z


def uses(found: Heads, sentences: Sequence[np.ndarray], pool: Pool | None = None) -> tuple[float, RuleCounts]:
    """Return sentences' log-probability, and what they are expected to have of each rule by those of a latent vector.

    sentences (sequence of int32 [words]): Terminals, of two words and more.
    """
    own = found.probabilities()
    tables = own.tables()
    every = over(pool, lambda sentence: charts.expectations(tables, found.emissions(sentence)), sentences)
    words = np.zeros(found.words.T.shape)
    for sentence, (_, _, posteriors) in zip(sentences, every, strict=True):
        np.add.at(words, sentence, posteriors)
    sums = every[0][1]
    for _, one, _ in every[1:]:
        for total, more in zip(sums, one, strict=True):
            total += more
    rules = DenseRules.of_tables(sums).rules * own.rules
    return sum(value for value, *_ in every), (sums.roots[None], rules.reshape(len(rules), -1), words.T)


def encode(arrays: Arrays, sentences: np.ndarray) -> tuple[np.ndarray, np.ndarray, tuple[Any, ...]]:
    """Return the distributions of the latent vectors of sentences that have the same length.

    sentences (int32 [sentences, words]).
    Returns mean, log_variance (float [sentences, latent]), kept: What `encode_back` needs.
    """
    x = arrays["encoder.words"][sentences.T]
    forward, there = lstm(arrays, "encoder.forward", x)
    backward, back = lstm(arrays, "encoder.backward", x[::-1])
    states = np.concatenate([forward, backward[::-1]], 2)
    places = states.argmax(0)
    pooled = np.take_along_axis(states, places[None], 0)[0]
    out = affine(arrays, "encoder.out", pooled)
    mean, log_variance = np.split(out, 2, 1)
    return mean, log_variance, (sentences, states.shape, there, back, places, pooled)


def encode_back(
    arrays: Arrays, kept: tuple[Any, ...], by_mean: np.ndarray, by_log_variance: np.ndarray, sums: Arrays
) -> None:
    """Add the derivatives of the encoder's weights to ``sums``."""
    sentences, shape, there, back, places, pooled = kept
    by_pooled = affine_back(arrays, "encoder.out", pooled, np.concatenate([by_mean, by_log_variance], 1), sums)
    by = np.zeros(shape, by_pooled.dtype)
    np.put_along_axis(by, places[None], by_pooled[None], 0)
    half = shape[2] // 2
    by_x = lstm_back(arrays, "encoder.forward", there, by[:, :, :half], sums)
    by_x += lstm_back(arrays, "encoder.backward", back, by[::-1, :, half:], sums)[::-1]
    np.add.at(sums["encoder.words"], sentences.T, by_x)
