"""Learning the networks of a neural or compound PCFG by steps up the likelihood, or up a bound of it.

The derivative of a sentence's log-probability by the logarithms of rules' probabilities is what it is expected to have
of each rule; the rest is the networks' chain rule. In a compound PCFG the bound on the log-likelihood is (equation 2 of
Kim, Dyer & Rush 2019)

    ELBO = E_q(z | x) [log p(x | z)] - KL(q(z | x) || p(z))

with one sample z = mean + exp(log variance / 2) * noise for each sentence.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aligntools.constituents.inducing.training import figures
from aligntools.constituents.neural.layers import Arrays, adam
from aligntools.constituents.neural.model import NeuralGrammar, numbers_of, terminal
from aligntools.constituents.neural.network import (
    Sizes,
    encode,
    encode_back,
    heads,
    heads_back,
    scores_of_symbols,
    uses,
)
from aligntools.constituents.settings import InducedGrammarSettings
from aligntools.ground import em
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool, one_thread, over
from aligntools.words.vocabulary import Vocabulary

#: Sentences of a step: all of the same length.
STEP = 4
#: Words of the vocabulary at most, and how often one of them is in the text at least.
WORDS, LEAST = 10_000, 2
#: Numbers of the largest array of weights.
_MOST_WEIGHTS = 50_000_000


def climb(
    arrays: Arrays, sentences: np.ndarray, noise: np.ndarray | None = None, pool: Pool | None = None
) -> tuple[float, Arrays]:
    """Return the log-likelihood of sentences of the same length, or its bound, and the derivative of its negative.

    sentences (int32 [sentences, words]): Terminals, of two words and more.
    noise (float [sentences, latent]): Of a compound PCFG, numbers of a standard normal distribution.
    """
    sums = {name: np.zeros_like(array) for name, array in arrays.items()}
    base = scores_of_symbols(arrays)
    if noise is None:
        found = heads(arrays, base, None)
        value, own = uses(found, list(sentences), pool)
        by_base, _ = heads_back(arrays, found, own, None, sums)
    else:
        mean, log_variance, kept = encode(arrays, sentences)
        spread = np.exp(0.5 * log_variance)
        latent = mean + spread * noise
        of_heads = [name for name in arrays if not name.startswith(("encoder.", "rules."))]

        def work(k: int) -> tuple[float, np.ndarray, np.ndarray, Arrays]:
            more = {name: np.zeros_like(arrays[name]) for name in of_heads}
            found = heads(arrays, base, latent[k])
            value, own = uses(found, [sentences[k]])
            return value, *heads_back(arrays, found, own, latent[k], more), more

        value, by_latent, by_base = -divergence(mean, log_variance), np.zeros_like(latent), np.zeros_like(base)
        by_pairs = np.zeros((len(sentences), base.shape[1]), base.dtype)
        for k, (own_value, of_base, of_latent, more) in enumerate(over(pool, work, range(len(sentences)))):
            value, by_latent[k] = value + own_value, of_latent
            by_base += of_base
            by_pairs[k] = of_base.sum(0)
            for name, array in more.items():
                sums[name] += array
        sums["rules.weights"][-latent.shape[1] :] += latent.T @ by_pairs
        by_log_variance = 0.5 * (by_latent * noise * spread - spread * spread + 1)
        encode_back(arrays, kept, by_latent - mean, by_log_variance, sums)
    symbols, width = arrays["symbols"], arrays["symbols"].shape[1]
    sums["symbols"] += by_base @ arrays["rules.weights"][:width].T
    sums["rules.weights"][:width] += symbols.T @ by_base
    sums["rules.bias"] += by_base.sum(0)
    for array in sums.values():
        np.negative(array, out=array)
    return value, sums


def divergence(mean: np.ndarray, log_variance: np.ndarray) -> float:
    """Return the sum of KL(q(z | x) || N(0, 1)) over sentences."""
    return float(-0.5 * (log_variance - mean**2 - np.exp(log_variance) + 1).sum())


def batches(lengths: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """Return the sentences of each step of a pass, of the same length, in an order by chance."""
    order = rng.permutation(len(lengths))
    order = order[np.argsort(lengths[order], kind="stable")]
    runs = np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1)
    found = [run[at : at + STEP] for run in runs for at in range(0, len(run), STEP)]
    return [found[k] for k in rng.permutation(len(found))]


def learn(
    sentences: Sequence[np.ndarray],
    sizes: Sizes,
    epochs: int,
    seed: Sequence[int],
    pool: Pool | None = None,
    report: Callable[[int, float], None] | None = None,
) -> em.EmResult[Arrays]:
    """Learn from a random start.

    sentences (sequence of int32 [words]): Terminals, of two words and more.
    report: Called with the number of each pass, from 1, and its objective.
    """
    rng = np.random.default_rng(seed)
    arrays = sizes.start(rng)
    step, values = adam(arrays), list[float]()
    lengths = np.array([len(sentence) for sentence in sentences])
    with one_thread():
        for epoch in range(epochs):
            total = 0.0
            for batch in batches(lengths, rng):
                noise = rng.standard_normal((len(batch), sizes.latent), np.float32) if sizes.latent else None
                value, by = climb(arrays, np.array([sentences[k] for k in batch]), noise, pool)
                total += value
                for array in by.values():
                    array /= len(batch)
                step(by)
            values.append(total)
            if report is not None:
                report(epoch + 1, total)
    return em.EmResult(arrays, values, f"{epochs} passes")


def train(
    sentences: Sequence[Sequence[str]],
    tags: Sequence[Sequence[str]] | None,
    settings: InducedGrammarSettings,
    pool: Pool | None = None,
    report: Callable[[int, float], None] | None = None,
    about: dict[str, Any] | None = None,
) -> tuple[NeuralGrammar, dict[str, Any]] | None:
    """Learn a grammar; return it with figures about the training, or nothing when no sentence is left to learn from.

    tags: Their tags; words can do without.
    """
    nothing: Vocabulary = Vocabulary.from_bytes([])
    blank = NeuralGrammar(nothing, {}, Sizes(0, 0, 0, 0), settings.header() | (about or {}))
    texts = list[list[str]]()
    for k, words in enumerate(sentences):
        own = None if tags is None else tags[k]
        out = blank.left_out(words, own)
        of = [terminal(word) for word in words] if own is None or not blank.needs_tags else own
        texts.append([one for one, dropped in zip(of, out, strict=True) if not dropped])
    lengths = np.array([len(text) for text in texts], np.int64)
    keep = (lengths >= 2) & (lengths <= settings.max_length)
    if not keep.any():
        return None
    texts = [text for text, good in zip(texts, keep.tolist(), strict=True) if good]
    known = _vocabulary(texts, blank.needs_tags)
    hidden, latent = settings.symbols + settings.preterminals, settings.width // 4
    sizes = Sizes(
        settings.symbols,
        settings.preterminals,
        len(known),
        settings.width,
        latent if settings.estimator == "compound" else 0,
    )
    if max(hidden * hidden, len(known)) * (settings.width + latent) > _MOST_WEIGHTS:
        raise UsageProblem(f"{hidden} symbols and preterminals are too many with a `width` of {settings.width}")
    numbers = [numbers_of(known, text) for text in texts]
    starts = range(settings.restarts)
    fit = em.best_start(
        learn(numbers, sizes, settings.epochs, [settings.seed, start], pool, report) for start in starts
    )
    told = figures(lengths, settings, fit) | {"tags": len(known) - 1, "steps": settings.epochs}
    return NeuralGrammar(known, fit.model, sizes, blank.settings), told


def _vocabulary(texts: Sequence[Sequence[str]], tags: bool) -> Vocabulary:
    """Return all tags, or the words that are frequent enough to be known."""
    found = Counter(one for text in texts for one in text)
    if not tags:
        found = Counter({one: n for one, n in found.most_common(WORDS) if n >= LEAST})
    known: Vocabulary = Vocabulary.from_bytes(sorted(one.encode("utf-8", "surrogateescape") for one in found))
    return known
