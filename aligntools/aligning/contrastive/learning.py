"""Learning weights without gold: each observed pair against a noisy copy (Liu & Sun 2015, section 3).

The objective is the mean over pairs of ``ln Z(observed) - ln Z(noisy)``, where ``Z`` is the sum of
``exp(w . features)`` over a list of the best alignments (their equations 9 to 16). It grows with the size of the
weights. So their size (L2) is fixed and only their proportions are learned. It ranks links but hardly says how many
there should be: so the weight of the link count is set last, by `calibrate`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive.candidate_links import CandidateLinks
from aligntools.aligning.contrastive.search import GREEDY, BestLists, SearchSettings, search
from aligntools.aligning.contrastive.settings import noise_shares
from aligntools.formats.text.corpus import Bitext
from aligntools.ground.parallel import Pool
from aligntools.ground.run import Report

#: `calibrate` doubles its step so many times to find a weight with enough, or few enough, links, and then bisects.
WIDEST, BISECTIONS = 8, 18
#: Plain descent ends after so many steps in a row whose length is below this.
STILL, SHORT = 3, 0.01


@dataclass(frozen=True)
class WeightLearning:
    """How weights are learned from lists of best alignments: the optimizer, its rate, the number of passes.

    rate, delay: Step ``t`` (from 0 on) adds ``rate / (t + delay)`` times the gradient, for weights of size 1.
    pull: Share of the start that is mixed into what was learned; limit: Most links of a word.
    tolerance: Learning ends after a pass that raises the objective by less than this share.
    """

    n_best: int = 5
    beam: int = 3
    rate: float = 0.1
    delay: float = 10.0
    pull: float = 0.5
    passes: int = 10
    tolerance: float = 1e-3
    seed: int = 1
    optimizer: str = "sphere"
    limit: int = GREEDY.source_limit

    @property
    def lists(self) -> SearchSettings:
        """How the lists are searched."""
        return SearchSettings(beam=self.beam, n_best=self.n_best, source_limit=self.limit, target_limit=self.limit)


def list_expectations(best: BestLists, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each sentence's ``ln Z`` and expected features over its list, float64 [sentences, FEATURES]."""
    if not len(best.sizes):
        return np.zeros(0), np.zeros((0, len(active)))
    top = best.scores[:, :1]
    p = np.exp(best.scores - top)
    z = p.sum(1)
    return top[:, 0] + np.log(z), np.einsum("kn,knf->kf", p / z[:, None], best.features(active))


def objective(
    observed: CandidateLinks,
    corrupted: CandidateLinks,
    weights: np.ndarray,
    active: np.ndarray,
    settings: SearchSettings,
    pool: Pool | None = None,
) -> tuple[float, np.ndarray]:
    """Return the mean difference of ``ln Z`` of as many sentences, and its gradient, float64 [FEATURES]."""
    (z, phi), (z_corrupted, phi_corrupted) = (
        list_expectations(search(e, weights, active, settings, pool), active) for e in (observed, corrupted)
    )
    if not len(z):
        return 0.0, np.zeros(len(active))
    return float(np.mean(z - z_corrupted)), np.mean(phi - phi_corrupted, axis=0)


def learn(
    observed: CandidateLinks,
    corrupted: CandidateLinks,
    start: np.ndarray,
    active: np.ndarray,
    settings: WeightLearning = WeightLearning(),
    pool: Pool | None = None,
    report: Report | None = None,
) -> np.ndarray:
    """Learn weights, float64 [FEATURES]; return the start where learning gains nothing.

    observed, corrupted: Sentence pairs, and a noisy copy of each; start (float64 [FEATURES]), active (bool [FEATURES]).
    report: Called with a dict after each pass: pass, objective; pass 0 is the start.
    """
    lists, n, start = settings.lists, len(observed), np.where(active, start, 0.0)
    parts = [(observed.part(k, k + 1), corrupted.part(k, k + 1)) for k in range(n)]

    def told(number: int, weights: np.ndarray) -> float:
        value, _ = objective(observed, corrupted, weights, active, lists, pool)
        if report:
            report({"pass": number, "objective": value})
        return value

    def gradient(k: int, weights: np.ndarray) -> np.ndarray:
        return objective(*parts[k], weights, active, lists)[1]

    value = told(0, start)
    if not n or not settings.passes:
        return start
    if settings.optimizer == "sgd":
        return learn_plainly(start, n, settings, told, gradient)
    size = float(np.linalg.norm(start)) or 1.0

    def sized(weights: np.ndarray) -> np.ndarray:
        return weights * (size / max(float(np.linalg.norm(weights)), 1e-12))

    rng = np.random.default_rng(settings.seed)
    weights, best, t = start.copy(), start, 0
    for number in range(1, settings.passes + 1):
        mean = np.zeros_like(weights)
        for k in rng.permutation(n).tolist():
            weights = sized(weights + settings.rate * size / (t + settings.delay) * gradient(k, weights))
            mean += weights / n
            t += 1
        mean = sized(settings.pull * start + (1 - settings.pull) * mean)
        reached = told(number, mean)
        if reached <= value:
            break
        gained, value, best = reached - value, reached, mean
        if gained < settings.tolerance * max(abs(value), 1e-9):
            break
    return best


def learn_plainly(
    start: np.ndarray,
    pairs: int,
    settings: WeightLearning,
    told: Callable[[int, np.ndarray], float],
    gradient: Callable[[int, np.ndarray], np.ndarray],
) -> np.ndarray:
    """Learn weights by stochastic gradient descent as the authors' program does, float64 [FEATURES].

    Step ``t`` (from 0 on) adds ``rate / (t + delay)`` times the gradient of one pair. It ends after so many passes,
    or after STILL steps in a row that are shorter than SHORT. Absolute values sum to 1 before the start is mixed in.
    """
    rng = np.random.default_rng(settings.seed)
    weights, t, still = start.copy(), 0, 0
    for number in range(1, settings.passes + 1):
        for k in rng.permutation(pairs).tolist():
            step = settings.rate / (t + settings.delay) * gradient(k, weights)
            weights = weights + step
            t += 1
            still = still + 1 if np.linalg.norm(step) < SHORT else 0
            if still == STILL:
                break
        told(number, weights)
        if still == STILL:
            break
    learned, kept = (w / max(np.abs(w).sum(), 1e-12) for w in (weights, start))
    return np.asarray(settings.pull * kept + (1 - settings.pull) * learned)


def calibrate(
    candidates: CandidateLinks,
    weights: np.ndarray,
    active: np.ndarray,
    wanted: float,
    settings: SearchSettings = GREEDY,
    pool: Pool | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Set the weight of the link count, by bisection, so that the best alignments have about ``wanted`` links.

    Returns weights (float64 [FEATURES]), and what is active (bool [FEATURES]): the link count too.
    """
    active = active.copy()
    active[kf.LINKS] = True
    weights = weights.copy()
    if not len(candidates.rows):
        return weights, active
    wanted = min(round(wanted), len(candidates.rows))

    def excess(weight: float) -> int:
        weights[kf.LINKS] = weight
        return len(search(candidates, weights, active, settings, pool).links().pairs) - wanted

    at, step = weights[kf.LINKS], max(np.abs(weights).max(), 1.0)
    over = excess(at)
    way, edge = (-1 if over > 0 else 1), at
    for _ in range(WIDEST):  # go past the number, in growing steps
        if over == 0:
            return weights, active
        edge = at + way * step
        over = excess(edge)
        if over * way >= 0:
            break
        at, step = edge, 2 * step
    for _ in range(BISECTIONS):
        if over == 0:
            break
        middle = (at + edge) / 2
        over = excess(middle)
        at, edge = (middle, edge) if over * way < 0 else (at, middle)
    return weights, active


# Corrupted copies of sentence pairs (negative examples): noise, as section 3 of Liu & Sun (2015) has it.


def noisy(bitext: Bitext, kind: str, seed: int, numbers: Sequence[int] | np.ndarray | None = None) -> Bitext:
    """Return a text with both sides of every sentence pair corrupted; the last word of a side is never left out.

    kind: One of `settings.NOISE`, or several with shares, of which one is drawn for each pair. New words are drawn
        from the vocabulary, each as likely as the next, as the authors' program does.
    numbers (int [sentences] or None): Numbers of the pairs in the whole text, by which they are drawn; None: from 0 on.
    """
    numbers = np.arange(len(bitext)) if numbers is None else numbers
    shares = noise_shares(kind)
    kinds, bounds = list(shares), np.cumsum(list(shares.values()))[:-1]
    drawn = [0.0] * len(numbers)
    if len(kinds) > 1:
        drawn = [np.random.default_rng([seed, int(n), 2]).random() for n in numbers]
    how = [kinds[int(np.searchsorted(bounds, x, side="right"))] for x in drawn]
    sides = []
    for number, (side, vocabulary) in enumerate(bitext.sides):
        rows = [
            _corrupt(side.tokens[a:b], one, len(vocabulary), np.random.default_rng([seed, int(n), number]))
            for (a, b), one, n in zip(pairwise(side.offsets), how, numbers, strict=True)
        ]
        offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
        tokens = np.concatenate([np.empty(0, np.int32), *rows]).astype(np.int32)
        sides.append(replace(side, tokens=tokens, offsets=offsets))
    return replace(bitext, source=sides[0], target=sides[1])


def _corrupt(row: np.ndarray, kind: str, words: int, rng: np.random.Generator) -> np.ndarray:
    n = len(row)
    if n == 0:
        return row
    if kind == "shuffle":
        return row[rng.permutation(n)]
    if kind == "delete":
        return np.delete(row, rng.integers(n)) if n > 1 else row
    word = np.int32(rng.integers(1, words)) if words > 1 else row[0]
    if kind == "insert":
        return np.insert(row, rng.integers(n + 1), word)
    row = row.copy()
    row[rng.integers(n)] = word
    return row


def has_changed(observed: Bitext, corrupted: Bitext) -> np.ndarray:
    """Return which sentence pairs differ from their noisy copies, bool [sentences]; others teach nothing.

    Pairs with one word on each side, or only equal words, do not change by shuffling.
    """
    changed = np.zeros(len(observed), bool)
    for a, b in ((observed.source, corrupted.source), (observed.target, corrupted.target)):
        rows = (np.split(side.tokens, side.offsets[1:-1]) for side in (a, b))
        changed |= np.array([not np.array_equal(x, y) for x, y in zip(*rows, strict=True)])[: len(changed)]
    return changed
