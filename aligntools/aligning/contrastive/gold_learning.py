"""Weights learned from gold alignments: the error over lists of the best alignments is minimized, in rounds.

*Minimum risk* minimizes the error of the expected counts under a softmax over each list, by its gradient, with a
quadratic penalty that keeps weights near the start. *Minimum error rate training* (Och 2003; for alignment Liu, Liu &
Lin 2010) searches along one direction at a time, where the steps of the error are found exactly.
"""

from dataclasses import replace
from typing import TypeAlias

import numpy as np

from aligntools.aligning.contrastive.candidate_links import CandidateLinks, link_keys
from aligntools.aligning.contrastive.kernels_features import FEATURES
from aligntools.aligning.contrastive.search import GREEDY, BestLists, SearchSettings, search
from aligntools.aligning.contrastive.settings import Method
from aligntools.formats.links.goldlinks import Gold
from aligntools.ground.parallel import Pool
from aligntools.ground.run import Report

#: Columns of the counts.
N_ALL, IN_SURE, IN_POSSIBLE = range(3)
#: Penalty of half the squared distance from the start: from most starts, and from one where a network's weight is 1.
PENALTY, NETWORK_PENALTY = 1e-3, 0.05
#: Line searches of minimum error rate training, and random directions that each may take.
SEARCHES, DIRECTIONS = 20, 8
#: Rounds of searching new alignments.
ROUNDS = 5


def gold_marks(candidates: CandidateLinks, gold: Gold) -> list[np.ndarray]:
    """Return which candidates the gold has as sure and as possible, uint8 [candidates] each."""
    keys = candidates.keys()
    return [np.isin(keys, link_keys(links)).astype(np.uint8) for links in (gold.sure, gold.possible)]


#: Of each sentence the alignments found so far: features [m, active features], counts [m, 3]; and its sure links.
TrainingLists: TypeAlias = tuple[list[np.ndarray], list[np.ndarray], np.ndarray]


def aer(counts: np.ndarray, n_sure: float) -> np.ndarray:
    """Return the alignment error rate of summed counts (float [..., 3]) against so many sure links."""
    counts = np.asarray(counts, np.float64)
    below = counts[..., N_ALL] + n_sure
    return np.where(below > 0, 1 - (counts[..., IN_SURE] + counts[..., IN_POSSIBLE]) / np.maximum(below, 1e-12), 0.0)


def meet(
    lists: TrainingLists | None, best: BestLists, marks: list[np.ndarray], active: np.ndarray, gold: Gold
) -> tuple[TrainingLists, float]:
    """Add the alignments of a search to the lists; return the lists, and the error of the best ones."""
    e, sentences = best.candidates, best.candidates.sentences()
    counts = np.zeros((*best.scores.shape, 3))
    for rank in range(best.scores.shape[1]):
        linked = best.linked(rank)
        for column, kept in enumerate((linked, *(linked & mark.astype(bool) for mark in marks))):
            counts[:, rank, column] = np.bincount(sentences[kept], minlength=len(e))
    features = best.features(active)[:, :, active]
    n_sure = gold.sure.counts().astype(np.float64)
    found = [(features[k, : best.sizes[k]], counts[k, : best.sizes[k]]) for k in range(len(e))]
    if lists is None:
        lists = [f for f, _ in found], [c for _, c in found], n_sure
    else:
        known, known_errors, _ = lists
        for k, (new, errors) in enumerate(found):
            f, c = np.concatenate([known[k], new]), np.concatenate([known_errors[k], errors])
            _, first = np.unique(np.round(np.concatenate([f, c], axis=1), 6), axis=0, return_index=True)
            first.sort()
            known[k], known_errors[k] = f[first], c[first]
    return lists, float(aer(counts[:, 0].sum(0), n_sure.sum()))


#: `TrainingLists` as arrays: features [n, active features], counts [n, 3], where each sentence's begin, and sure links.
Packed: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray, float]


def pack(lists: TrainingLists) -> Packed:
    """Return `TrainingLists` as arrays."""
    features, counts, n_sure = lists
    starts = np.concatenate([[0], np.cumsum([len(f) for f in features])[:-1]]).astype(np.int64)
    return np.concatenate(features), np.concatenate(counts), starts, float(n_sure.sum())


def risk(
    weights: np.ndarray, packed: Packed, start: np.ndarray, penalty: float | np.ndarray
) -> tuple[float, np.ndarray]:
    """Return the error of expected counts plus the penalty, and its gradient.

    weights, start (float64 [active features]).
    penalty (float, or float64 [active features]): Times half the squared distance from ``start``.
    """
    f, c, starts, n_sure = packed
    sizes = np.diff(np.append(starts, len(f)))
    s = f @ weights
    p = np.exp(s - np.repeat(np.maximum.reduceat(s, starts), sizes))
    p /= np.repeat(np.add.reduceat(p, starts), sizes)
    expected = np.add.reduceat(c * p[:, None], starts)
    total = expected.sum(axis=0)
    above, below = total[IN_SURE] + total[IN_POSSIBLE], total[N_ALL] + n_sure
    if below <= 0:
        return 0.0, np.zeros_like(weights)
    slopes = ((c - np.repeat(expected, sizes, axis=0)) * p[:, None]).T @ f
    gradient = -((slopes[IN_SURE] + slopes[IN_POSSIBLE]) * below - above * slopes[N_ALL]) / below**2
    away = weights - start
    return 1 - above / below + 0.5 * float((penalty * away) @ away), gradient + penalty * away


def minimum_risk(
    lists: TrainingLists, start: np.ndarray, penalty: float | np.ndarray = PENALTY, begin: np.ndarray | None = None
) -> np.ndarray:
    """Return the weights that make the risk small (L-BFGS), from ``begin`` on, or from ``start``."""
    from scipy.optimize import minimize

    first = start if begin is None else begin
    reached: np.ndarray = minimize(
        risk, first, (pack(lists), start, penalty), "L-BFGS-B", True, options={"maxiter": 100}
    ).x
    return reached


def line_search(lists: TrainingLists, weights: np.ndarray, direction: np.ndarray) -> tuple[float, float]:
    """Return the step along ``direction`` with the lowest error, and that error; exact, over the lists.

    In a list the best alignment changes at known points of the line (Och 2003); the step goes to the middle of the
    best stretch, or of the one nearest to 0 if several are as good.
    """
    steps: list[float] = []
    changes, total = [], np.zeros(3)
    features, wrong, n_sure = lists[0], lists[1], lists[2].sum()
    for f, c in zip(features, wrong, strict=True):
        a, b = f @ direction, f @ weights
        least = np.flatnonzero(a <= a.min() + 1e-12)  # far to the left the line is highest of least slope, then height
        at, x = int(least[np.argmax(b[least])]), -np.inf
        total += c[at]
        while True:
            steeper = a > a[at] + 1e-12
            if not steeper.any():
                break
            with np.errstate(divide="ignore", invalid="ignore"):
                crossing = np.where(steeper, (b[at] - b) / (a - a[at]), np.inf)
            x = max(x, float(crossing.min()))
            tied = np.flatnonzero(crossing <= crossing.min() + 1e-12)
            after = tied[np.argmax(a[tied])]
            steps.append(x)
            changes.append(c[after] - c[at])
            at = after
    if not steps:
        return 0.0, float(aer(total, n_sure))
    order = np.argsort(steps, kind="stable")
    points = np.array(steps)[order]
    counts = total + np.concatenate([np.zeros((1, 3)), np.cumsum(np.array(changes)[order], axis=0)])
    errors = aer(counts, n_sure)
    edges = np.concatenate([[points[0] - 1.0], points, [points[-1] + 1.0]])
    middles = (edges[:-1] + edges[1:]) / 2
    wide = np.diff(edges) > 1e-9
    good = np.flatnonzero(wide & (errors <= errors[wide].min() + 1e-12))
    here = good[(edges[:-1][good] <= 0) & (edges[1:][good] >= 0)]
    if len(here):
        return 0.0, float(errors[here[0]])
    chosen = good[np.argmin(np.abs(middles[good]))]
    return float(middles[chosen]), float(errors[chosen])


def minimum_error(lists: TrainingLists, start: np.ndarray, seed: int = 1) -> np.ndarray:
    """Return weights after line searches along features and random directions, best first, until none helps."""
    rng = np.random.default_rng(seed)
    weights = start.copy()
    error = None
    for _ in range(SEARCHES):
        directions = np.concatenate([np.eye(len(start)), rng.normal(size=(DIRECTIONS, len(start)))])
        found = [line_search(lists, weights, d) for d in directions]
        best = int(np.argmin([e for _, e in found]))
        step, lowest = found[best]
        if step == 0.0 or (error is not None and lowest >= error - 1e-9):
            break
        weights, error = weights + step * directions[best], lowest
    return weights


def train_supervised(
    candidates: CandidateLinks,
    gold: Gold,
    start: np.ndarray,
    active: np.ndarray,
    method: Method = "risk",
    settings: SearchSettings = GREEDY,
    penalty: float = PENALTY,
    seed: int = 1,
    pool: Pool | None = None,
    report: Report | None = None,
) -> np.ndarray:
    """Return the weights learned from gold whose own alignments had the lowest error, float64 [FEATURES].

    start (float64 [FEATURES]), active (bool [FEATURES]); beam and list of ``settings`` are made wide for training.
    penalty: For ``method`` risk; weights of other aligners' links have PENALTY.
    report: Called each round with a dict: round, error of the best alignments.
    """
    wide = replace(
        settings, beam=max(settings.beam, 4), n_best=max(settings.n_best, 40), slack=max(settings.slack, 1.0)
    )
    marks = gold_marks(candidates, gold)
    penalties = np.where(np.arange(len(start)) < FEATURES, penalty, PENALTY)[active]
    weights, lists = np.where(active, start, 0.0), None
    lowest, best = np.inf, weights
    for number in range(ROUNDS + 1):
        own = search(candidates, weights, active, settings, pool)
        _, error = meet(None, own, marks, active, gold)
        if report:
            report({"round": number, "aer": error})
        if error < lowest - 1e-9:
            lowest, best = error, weights.copy()
        if number == ROUNDS:
            break
        lists, _ = meet(lists, search(candidates, weights, active, wide, pool), marks, active, gold)
        if method == "risk":
            moved = minimum_risk(lists, start[active], penalties, weights[active])
        else:
            moved = minimum_error(lists, weights[active], seed)
        weights = weights.copy()
        weights[active] = moved
    return best
