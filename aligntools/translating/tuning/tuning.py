"""Learning a system's weights: rounds of decoding and of optimizing over what was decoded.

A round translates the development sets under the weights so far, adds the k best (or all derivations, as hypergraphs)
to those of earlier rounds, and finds weights for the next round. BLEU of every round's own translations
is noted, and the weights of the best round are the result.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from aligntools.formats.models.modelfile import read_model, write_model
from aligntools.ground.errors import AligntoolsError, ModelError
from aligntools.ground.parallel import Pool
from aligntools.metrics import bleu
from aligntools.translating.forest import derivations
from aligntools.translating.forest.candidates import CandidateLists, offsets_of
from aligntools.translating.forest.hypergraph import Hypergraph, edge_scores, united
from aligntools.translating.settings import TuningSettings
from aligntools.translating.tuning import linear_bleu, mert, online, risk
from aligntools.translating.tuning.linear_bleu import LENGTH, MATCHES, REFERENCE, References, linear_losses
from aligntools.translating.tuning.reachable import Reachable, shared

KIND = "translation tuning"
DEFAULTS = TuningSettings()
#: Of a part: what there is to optimize on, BLEU's statistics of its translations, and the lists of this round.
_Found: TypeAlias = tuple[CandidateLists | Hypergraph, np.ndarray, CandidateLists]


class NothingLearned(AligntoolsError):
    """The texts do not say which weights are better."""


@dataclass(eq=False)
class TuningSet:
    """Sentences to tune on.

    shares (float64 [sentences]): What each counts: 1, or the probability of an imputed sentence times what imputed
        sentences count.
    in_workers: Does what `search` does, in workers.
    """

    decode: Callable[[np.ndarray], Hypergraph]  # Takes weights [features] and returns the sentences' Hypergraph
    references: References
    groups: np.ndarray  # int64 [sentences]: Which entry of ``references`` each sentence has
    shares: np.ndarray
    counted: bool = True  # Its BLEU decides which round is the best
    in_workers: Callable[[np.ndarray, int, bool], tuple[CandidateLists, Hypergraph | None]] | None = None
    reachable: Reachable | None = None  # For the likelihood of references

    def search(
        self, weights: np.ndarray, k: int, whole: bool, pool: Pool | None
    ) -> tuple[CandidateLists, Hypergraph | None]:
        """Return the k best translations of each sentence and, if the ``whole`` is wanted, the hypergraphs."""
        if self.in_workers is not None:
            return self.in_workers(weights, k, whole)
        h = self.decode(weights)
        return derivations.k_best(h, edge_scores(h, weights, pool=pool), len(weights), k, pool=pool), h


@dataclass
class Round:
    """What a round found.

    objective: What the weights reached on the candidates of the rounds before: risk, or minus BLEU for MERT, MIRA and
        the perceptron.
    """

    number: int  # From 0, the weights that tuning began with
    bleu: list[float]  # Of each part, 0 to 100, of what the round's weights translate it to
    score: float  # BLEU of the parts that count, together
    ratio: list[float]  # Of each part, words translated to words of the references
    candidates: int = 0  # In the lists after the round, or edges of the hypergraphs
    objective: float | None = None


@dataclass(eq=False)
class TuningState:
    """The state of tuning: enough to continue from."""

    weights: np.ndarray  # float64 [features]: Of the next round
    best: np.ndarray  # float64 [features]: Of the round with the best score so far
    start: np.ndarray  # float64 [features]: Of the first round
    rounds: list[Round] = field(default_factory=list)
    lists: list[Any] = field(default_factory=list)  # Of each part, merged
    objective: float | None = None  # That ``weights`` reached
    done: bool = False

    @property
    def best_round(self) -> Round:
        """The first round with the best score."""
        return max(self.rounds, key=lambda r: (r.score, -r.number))


def tune(
    parts: Sequence[TuningSet],
    start: npt.ArrayLike | TuningState,
    settings: TuningSettings = DEFAULTS,
    frozen: Mapping[int, float] | None = None,
    pool: Pool | None = None,
    report: Callable[[Round], None] | None = None,
    keep: Callable[[TuningState], None] | None = None,
) -> TuningState:
    """Learn weights.

    start (float64 [features] or TuningState): A TuningState is continued, to the same result as if it had not been
        interrupted.
    frozen: Features whose weight, times gamma, stays.
    Returns its ``best`` are the weights to take.
    """
    frozen = dict(frozen or {})
    if isinstance(start, TuningState):
        state = start
    else:
        weights = np.array(start, np.float64)
        state = TuningState(weights, weights.copy(), weights.copy(), lists=[None] * len(parts))
    while not state.done:
        weights = risk.with_frozen(state.weights, frozen, risk.schedule(settings.gamma, settings.quench)[-1])
        found: list[_Found] = []
        scores, ratios, total, size, new = [], [], np.zeros(bleu.COLUMNS), 0, False
        for number, part in enumerate(parts):
            k = 1 if settings.forest and not settings.oracle else settings.n_best
            lists, h = part.search(weights, k, settings.forest, pool)
            counts = linear_bleu.corpus_statistics(lists, part.references, part.groups, part.shares, pool)
            scores.append(100 * float(bleu.corpus_bleu(counts)))
            ratios.append(float(counts[LENGTH] / max(counts[REFERENCE], 1e-9)))
            if part.counted:
                total = total + counts
            before = state.lists[number]
            if settings.forest:
                assert h is not None
                whole = h if before is None else united(before, h)
                new, size = True, size + whole.edges
                state.lists[number] = whole
            else:
                merged = lists.merged() if before is None else before.merged(lists)
                new, size = new or before is None or merged.count > before.count, size + merged.count
                state.lists[number] = merged
            found.append((state.lists[number], counts, lists))
        if not state.rounds and not any(_shares_words(part, *of, pool) for part, of in zip(parts, found, strict=True)):
            problem = "candidates and references have no words in common (are both of the same lines?)"
            raise NothingLearned(f"nothing can be learned: {problem}")
        score = 100 * float(bleu.corpus_bleu(total))
        now = Round(len(state.rounds), scores, score, ratios, size, state.objective)
        state.rounds.append(now)
        if state.best_round is now:
            state.best = state.weights.copy()
        if report is not None:
            report(now)
        stale = now.number - state.best_round.number >= settings.patience
        if now.number >= settings.rounds or stale or not new:
            state.done = True
        else:
            _optimize(parts, found, state, settings, frozen, pool)
        if keep is not None:
            keep(state)
    return state


def _shares_words(
    part: TuningSet, merged: CandidateLists | Hypergraph, counts: np.ndarray, lists: CandidateLists, pool: Pool | None
) -> bool:
    """Return whether any candidate of a part has a word of its reference."""
    if counts[MATCHES][0] > 0:
        return True
    if isinstance(merged, CandidateLists):
        statistics = linear_bleu.candidate_statistics(lists, part.references, part.groups, pool)
    else:
        statistics = linear_bleu.edge_statistics(merged, part.references, part.groups, pool=pool)
    return bool(statistics[:, MATCHES][:, 0].any())


def _optimize(
    parts: Sequence[TuningSet],
    found: list[_Found],
    state: TuningState,
    settings: TuningSettings,
    frozen: Mapping[int, float],
    pool: Pool | None,
) -> None:
    """Set the weights of the next round, and the value of the objective that they reach."""
    gammas = risk.schedule(settings.gamma, settings.quench)
    if settings.method in ("mert", "mira", "perceptron"):  # which look at single candidates
        lists: list[Any] = [candidates for candidates, *_ in found]
        pairs = zip(lists, parts, strict=True)
        each = [linear_bleu.candidate_statistics(one, part.references, part.groups, pool) for one, part in pairs]
        statistics, shares = np.concatenate(each), np.concatenate([part.shares for part in parts])
        corpus = mert.MertCorpus(lists[0].followed(*lists[1:]), statistics, shares, pool)
        start, kept = risk.with_frozen(state.weights, frozen, gammas[-1]), tuple(frozen)
        seed, passes = [settings.seed, len(state.rounds)], (settings.passes, settings.step)
        if settings.method == "mert":
            state.weights, value = mert.maximize(corpus, start, seed, settings.restarts, frozen=kept)
        elif settings.method == "perceptron":
            state.weights, value = online.perceptron(corpus, statistics, start, seed, *passes, kept)
        else:
            pseudo = settings.loss == "corpus"
            state.weights, value = online.mira(corpus, statistics, start, seed, *passes, pseudo, kept)
        state.objective = -value
        return
    how: dict[str, Any] = {"l2": settings.l2, "frozen": frozen, "pool": pool}
    if settings.prior == "start":
        how["center"] = state.start
    if settings.method == "likelihood" and settings.forest:
        referred = [_referred(part, *of, settings, pool) for part, of in zip(parts, found, strict=True)]
        objective: risk.Objective = risk.ReferenceLikelihood(referred, len(state.weights), **how)
    else:
        examples = [_examples(part, *of[:2], settings, pool) for part, of in zip(parts, found, strict=True)]
        if settings.method == "likelihood":
            objective = risk.Likelihood(examples, len(state.weights), **how)
        else:
            objective = risk.Risk(examples, len(state.weights), temperature=settings.temperature, **how)
    state.weights, state.objective = risk.minimize(objective, state.weights, gammas, settings.iterations, pool=pool)


def _referred(
    part: TuningSet, forest: Any, counts: np.ndarray, lists: CandidateLists, settings: TuningSettings, pool: Pool | None
) -> risk.Referred:
    """Return a part's forest with the derivations of its references, or of the nearest translations of the round."""
    assert part.reachable is not None
    nearest = None
    if settings.oracle:
        statistics = linear_bleu.candidate_statistics(lists, part.references, part.groups, pool)
        order = np.lexsort(
            (linear_bleu.sentence_losses(statistics), np.repeat(np.arange(len(lists)), np.diff(lists.offsets)))
        )
        full = np.diff(lists.offsets) > 0
        nearest = lists.take(order[lists.offsets[:-1][full]], offsets_of(full))
    references, strings = part.reachable.targets(nearest, pool)
    shares = np.asarray(part.shares, np.float64)
    both = shared(forest, strings, pool)
    return forest, references if settings.reach == "grammar" else both, both, shares


def _examples(
    part: TuningSet, made: CandidateLists | Hypergraph, counts: np.ndarray, settings: TuningSettings, pool: Pool | None
) -> risk.Examples:
    """Return what was decoded with its losses or statistics; ``counts`` are those of the round's translations."""
    shares = np.asarray(part.shares, np.float64)
    if isinstance(made, CandidateLists):
        statistics = linear_bleu.candidate_statistics(made, part.references, part.groups, pool)
        h = made.hypergraph()
        if settings.method == "risk" and settings.loss == "corpus":
            return risk.Examples(h, shares, statistics=statistics)
        if settings.method == "risk" and settings.loss == "linear":
            return risk.Examples(h, shares, linear_losses(statistics, counts, shares.sum()))
        losses = linear_bleu.sentence_losses(statistics)
        if settings.method == "likelihood":
            sizes = np.diff(made.offsets)
            full = sizes > 0
            least = np.zeros(len(made))
            if full.any():
                least[full] = np.minimum.reduceat(losses, made.offsets[:-1][full])
            losses = losses - np.repeat(least, sizes)
        return risk.Examples(h, shares, losses)
    statistics = linear_bleu.edge_statistics(made, part.references, part.groups, pool=pool)
    if settings.loss == "corpus":
        return risk.Examples(made, shares, statistics=statistics, reference_length=float(counts[REFERENCE]))
    return risk.Examples(made, shares, linear_losses(statistics, counts, shares.sum()))


# Files of a run that may be interrupted


def fingerprint(settings: TuningSettings, *arrays: np.ndarray, **others: Any) -> str:
    """Return what tells two runs apart: their settings, other values (JSON), and data."""
    digest = hashlib.sha256(json.dumps([settings.fixed(), others], sort_keys=True).encode())
    for array in arrays:
        array = np.ascontiguousarray(array)
        digest.update(repr((array.dtype.str, array.shape)).encode() + array.tobytes())
    return digest.hexdigest()


#: What files call the kinds of lists.
_LIST_KINDS: dict[type, str] = {CandidateLists: "Candidates", Hypergraph: "Hypergraph"}


def save_state(path: str, own: str, state: TuningState) -> None:
    """Write a state; the file appears whole or not at all."""
    arrays = {"weights": state.weights, "best": state.best, "start": state.start}
    for k, candidates in enumerate(state.lists):
        if candidates is not None:
            arrays |= {f"list{k}.{name}": values for name, values in vars(candidates).items()}
    header = {
        "fingerprint": own,
        "rounds": [asdict(r) for r in state.rounds],
        "lists": [_LIST_KINDS[type(c)] if c is not None else None for c in state.lists],
        "objective": state.objective,
        "done": state.done,
    }
    write_model(path, KIND, header, arrays)


def load_state(path: str, own: str) -> TuningState:
    """Read a state."""
    header, arrays = read_model(path, KIND)
    if header.get("fingerprint") != own:
        raise ModelError(
            path, None, "was made with other text, weights or options; remove it, or give another `checkpoint`"
        )
    try:
        lists: list[Any] = [None] * len(header["lists"])
        for k, kind in enumerate(header["lists"]):
            if kind is not None:
                of = {name: cls for cls, name in _LIST_KINDS.items()}[kind]
                lists[k] = of(**{f.name: np.array(arrays[f"list{k}.{f.name}"]) for f in fields(of)})
        return TuningState(
            np.array(arrays["weights"]),
            np.array(arrays["best"]),
            np.array(arrays["start"]),
            [Round(**r) for r in header["rounds"]],
            lists,
            header["objective"],
            header["done"],
        )
    except (KeyError, TypeError) as error:
        raise ModelError(path, None, f"is damaged ({error}); remove it") from None
