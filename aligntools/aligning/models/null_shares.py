"""Each word's own probability of being linked to NULL, learned by EM.

The HMM (Och & Ney 2003) takes a word ``w`` from NULL with probability ``p0 p(w | NULL)``. Usually ``p(w | NULL)`` is
``u(w)``, the word's share of the text, so that ``p0`` is the same for all words. Here a word has its own,

    p0(w) = p0 pi(w) / sum_v u(v) pi(v),    p(w | NULL) = u(w) p0(w) / p0,

whose mean over the text stays ``p0``. The M-step is ``pi(w) = (c(w) + n pi) / (f(w) + n)``, with the expected number
``c(w)`` of the word's tokens that are linked to NULL, of ``f(w)`` in all, and ``n`` pseudo-counts of ``pi``, which is
the share of all tokens. Without pseudo-counts it is that of ``p(w | NULL)`` in EM.
"""

import numpy as np

from aligntools.aligning.models.base import Task
from aligntools.aligning.training.expectation import Expectations


class NullShares:
    """Expected links to NULL of each word of a text, forward and reverse, and NULL's words that come of them.

    task: Its settings have the pseudo-counts, or None: nothing is learned.
    unlinked (tuple of float32): By target token, and by source token of the text: the probability of NULL, where an
        E-step writes it; -1 where it does not, in sentences without words on the other side. Empty if nothing is
        learned.
    """

    def __init__(self, task: Task) -> None:
        smoothing = task.settings.null_smoothing
        self._smoothing = smoothing or 0.0
        self._sides = [task.target, task.source] if smoothing is not None and task.settings.p_null else []
        self._counts: dict[int, np.ndarray] = {}
        self.unlinked = np.zeros(0, np.float32), np.zeros(0, np.float32)

    def begin(self, steps: Expectations) -> None:
        """Begin an E-step."""
        if self._sides:
            sizes = len(steps.target.tokens), len(steps.source.tokens)
            self.unlinked = np.full(sizes[0], -1, np.float32), np.full(sizes[1], -1, np.float32)

    def estimate(self, steps: Expectations) -> None:
        """M-step: set the probabilities of words under NULL, in the directions that are trained.

        Where E-steps take a part of the text each, all up to now count.
        """
        nulls = [steps.t_null, steps.s_null]
        for d, (whole, side) in enumerate(zip(self._sides, (steps.target, steps.source), strict=False)):
            if whole is None or not steps.directions & (d + 1):
                continue
            known = self.unlinked[d] >= 0
            words, unlinked, size = side.tokens[known], self.unlinked[d][known], len(nulls[d])
            counted = np.stack([np.bincount(words, of, size) for of in (unlinked, None)])
            if d in self._counts and len(side.tokens) < len(whole.tokens):
                counted += self._counts[d]
            self._counts[d] = counted
            nulls[d] = null_words(counted[0], counted[1], np.bincount(whole.tokens, minlength=size), self._smoothing)
        steps.t_null, steps.s_null = nulls


def null_words(unlinked: np.ndarray, counted: np.ndarray, words: np.ndarray, smoothing: float) -> np.ndarray:
    """Return the probability of each word under NULL, float32 [n_words + 1].

    unlinked (float64 [n_words + 1]): How many of the counted tokens of each word are expected to be linked to NULL.
    counted, words [n_words + 1]: How many of a word's tokens were counted, and how many the text has. A word without
        any has the share of all words, and half a token: the last one stands for unknown words.
    smoothing: Pseudo-counts of the share of all words.
    """
    share = unlinked.sum() / max(counted.sum(), 1.0)
    total = counted + smoothing
    own = np.where(total > 0, (unlinked + smoothing * share) / np.maximum(total, 1e-300), share)
    mass = np.maximum(words, 0.5) * own
    if not mass.sum() > 0:
        mass = np.maximum(words, 0.5)
    found: np.ndarray = mass / mass.sum()
    return found.astype(np.float32)
