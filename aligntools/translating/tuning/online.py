"""Online learning over lists of candidates: batch k-best MIRA and the averaged perceptron.

Both go over the sentences again and again, in a random order, and move the weights a little at each. MIRA (Crammer et
al. 2006; Chiang, Marton & Resnik 2008) looks at two candidates: *hope* has the most of score and BLEU together, *fear*
the most of score less BLEU. The weights move the least that puts hope ahead of fear by the difference in BLEU, but no
further than ``step`` allows. Here it works on the lists of all rounds so far (Cherry & Foster 2012, algorithm 1). The
perceptron (Collins 2002) moves from the candidate that scores best to that of the list with the best BLEU, the *local*
update of Liang, Bouchard-Cote, Klein & Taskar 2006.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from aligntools.translating.tuning import kernels_online as kernels
from aligntools.translating.tuning.linear_bleu import REFERENCE, sentence_losses
from aligntools.translating.tuning.mert import MertCorpus, Seed

#: What is left of the background's statistics after each sentence (Cherry & Foster 2012, section 3.1).
DECAY = 0.999


def _passes(
    corpus: MertCorpus, start: npt.ArrayLike, seed: Seed, passes: int, step: float, frozen: Sequence[int], one: Any
) -> Iterator[np.ndarray]:
    """Yield the average of the weights over each pass, which the kernel ``one`` makes."""
    weights, lists = np.array(start, np.float64), corpus.candidates
    learned = np.ones(len(weights), np.bool_)
    learned[list(frozen)] = False
    rng, change = np.random.default_rng(seed), np.empty(len(weights))
    for _ in range(passes):
        total, order = np.zeros(len(weights)), rng.permutation(len(lists))
        one(lists.offsets, lists.features, order, corpus.shares, float(step), learned, weights, total, change)
        yield total / max(len(lists), 1)


def mira(
    corpus: MertCorpus,
    statistics: np.ndarray,
    start: npt.ArrayLike,
    seed: Seed,
    passes: int = 60,
    step: float = 0.01,
    pseudo: bool = True,
    frozen: Sequence[int] = (),
) -> tuple[np.ndarray, float]:
    """Learn weights by MIRA with hope and fear.

    statistics (float32 [candidates, 10]): BLEU's, of each candidate alone.
    step: C, the largest step; times what a sentence counts.
    pseudo: Value a candidate by BLEU together with a fading background of the hopes before it (the pseudo-corpus of
        Chiang et al. 2008); otherwise by its own smoothed BLEU. Both times the words of the references.
    Returns weights (float64 [features]): The average over a pass, of the pass whose average translates best.
    Returns value: BLEU of the best candidates under these, 0 to 100.
    """
    statistics = np.ascontiguousarray(statistics, np.float32)
    gains = np.zeros(0)
    if not pseudo:
        gains = np.asarray((1.0 - sentence_losses(statistics)) * statistics[:, REFERENCE], np.float64)
    background, best, value = np.ones(10), np.array(start, np.float64), -1.0

    def one(*given: Any) -> None:
        kernels.mira_pass(*given, statistics, gains, DECAY, background)

    for average in _passes(corpus, start, seed, passes, step, frozen, one):
        reached = corpus.value(average)
        if reached > value + 1e-9:
            best, value = average, reached
    return best, value


def perceptron(
    corpus: MertCorpus,
    statistics: np.ndarray,
    start: npt.ArrayLike,
    seed: Seed,
    passes: int = 60,
    step: float = 0.01,
    frozen: Sequence[int] = (),
) -> tuple[np.ndarray, float]:
    """Learn weights by the averaged perceptron with local updates.

    step: The size of every step; times what a sentence counts.
    Returns weights (float64 [features]): The average over all passes.
    Returns value: BLEU of the best candidates under these, 0 to 100.
    """
    losses = np.asarray(sentence_losses(statistics), np.float64)

    def one(*given: Any) -> None:
        kernels.perceptron_pass(*given, losses)

    averages = list(_passes(corpus, start, seed, passes, step, frozen, one))
    best = np.mean(averages, axis=0) if averages else np.array(start, np.float64)
    return best, corpus.value(best)
