"""Learning a system's weights: rounds of decoding and of optimizing over what was decoded.

A round translates the development sets under the weights so far, adds the k best (or all derivations, as hypergraphs)
to those of earlier rounds, and finds weights for the next round. BLEU of every round's own translations
is noted, and the weights of the best round are the result.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields

import numpy as np

from aligntools.formats.modelfile import read_model, write_model
from aligntools.ground.errors import ModelError
from aligntools.ground.parallel import Pool
from aligntools.metrics import bleu
from aligntools.translating.forest import hypergraph
from aligntools.translating.forest.hypergraph import Candidates, Hypergraph
from aligntools.translating.forest.union import united
from aligntools.translating.tuning import linear_bleu, mert, risk
from aligntools.translating.tuning.linear_bleu import LENGTH, REFERENCE, LinearBleu, References

KIND = "translation tuning"
METHODS = ("risk", "mert", "likelihood")


@dataclass(frozen=True)
class Settings:
    """How weights are learned.

    Attributes
    ----------
    method : str
        ``risk`` (expected loss), ``mert`` (BLEU of the best candidates), ``likelihood`` (of the candidate nearest to
        the references: equation 5 of Li et al. 2011, where the references themselves may be out of reach).
    loss : str
        Of risk: ``corpus``, 1 - BLEU of expected counts; ``sentence``, 1 - smoothed BLEU of each candidate;
        ``linear``, Tromble et al. 2008's approximation, around the counts of the round's translations.
    forest : bool
        Risk over all derivations of all rounds, instead of over merged k-best lists.
    k : int
    rounds : int
        Of decoding and optimizing, at most.
    patience : int
        Ends after so many rounds without a gain in BLEU.
    gamma, quench : float
        See `risk.schedule`; every round goes through it.
    l2, temperature : float
        See `risk.Risk`.
    prior : str
        Where the L2 term draws weights to: ``zero``, or ``start``, the weights that tuning began with.
    iterations : int
        L-BFGS steps for each gamma.
    restarts : int
        See `mert.maximize`.
    seed : int
    """

    method: str = "risk"
    loss: str = "corpus"
    forest: bool = False
    k: int = 100
    rounds: int = 10
    patience: int = 3
    gamma: float = 1.0
    quench: float | None = None
    l2: float = 1e-4
    temperature: float = 0.0
    prior: str = "zero"
    iterations: int = 200
    restarts: int = 8
    seed: int = 1


@dataclass(eq=False)
class Part:
    """Sentences to tune on.

    Attributes
    ----------
    decode : callable
        Takes weights [features] and returns the sentences' Hypergraph.
    references : References
    groups : int64 [sentences]
        Which entry of ``references`` each sentence has.
    weights : float64 [sentences]
        What each counts: 1, or the probability of an imputed sentence times what imputed sentences count.
    counted : bool
        Its BLEU decides which round is the best.
    """

    decode: Callable[[np.ndarray], Hypergraph]
    references: References
    groups: np.ndarray
    weights: np.ndarray
    counted: bool = True


@dataclass
class Round:
    """What a round found.

    Attributes
    ----------
    number : int
        From 0, the weights that tuning began with.
    bleu : list of float
        Of each part, 0 to 100, of what the round's weights translate it to.
    score : float
        BLEU of the parts that count, together.
    ratio : list of float
        Of each part, words translated to words of the references.
    candidates : int
        In the lists after the round, or edges of the hypergraphs.
    objective : float or None
        What the weights reached on the candidates of the rounds before: risk, or minus BLEU for MERT.
    """

    number: int
    bleu: list
    score: float
    ratio: list
    candidates: int = 0
    objective: float | None = None


@dataclass(eq=False)
class Progress:
    """Where tuning is: enough to go on from.

    Attributes
    ----------
    weights : float64 [features]
        Of the next round.
    best : float64 [features]
        Of the round with the best score so far.
    start : float64 [features]
        Of the first round.
    rounds : list of Round
    lists : list of Candidates, Hypergraph or None
        Of each part, merged.
    objective : float or None
        That ``weights`` reached.
    done : bool
    """

    weights: np.ndarray
    best: np.ndarray
    start: np.ndarray
    rounds: list = field(default_factory=list)
    lists: list = field(default_factory=list)
    objective: float | None = None
    done: bool = False

    @property
    def best_round(self) -> Round:
        """The first round with the best score."""
        return max(self.rounds, key=lambda r: (r.score, -r.number))


def tune(
    parts: Sequence[Part],
    start,
    settings: Settings = Settings(),
    frozen: dict[int, float] | None = None,
    pool: Pool | None = None,
    report: Callable[[Round], None] | None = None,
    keep: Callable[[Progress], None] | None = None,
) -> Progress:
    """Learn weights.

    Parameters
    ----------
    parts : sequence of Part
    start : float64 [features] or Progress
        A Progress goes on from where it was, to the same result as if it had not been interrupted.
    settings : Settings
    frozen : dict of int to float
        Features whose weight, times gamma, stays.
    pool : Pool, optional
        Does not change the results.
    report : callable, optional
        Called with each Round.
    keep : callable, optional
        Called with the Progress after each round; to be saved at once.

    Returns
    -------
    Progress
        Its ``best`` are the weights to take.
    """
    frozen = dict(frozen or {})
    if isinstance(start, Progress):
        progress = start
    else:
        weights = np.array(start, np.float64)
        progress = Progress(weights, weights.copy(), weights.copy(), lists=[None] * len(parts))
    while not progress.done:
        found = _decode(parts, progress, settings, frozen, pool)
        now = progress.rounds[-1]
        if progress.best_round is now:
            progress.best = progress.weights.copy()
        if report is not None:
            report(now)
        stale = now.number - progress.best_round.number >= settings.patience
        if now.number >= settings.rounds or stale or not found:
            progress.done = True
        else:
            _optimize(parts, found, progress, settings, frozen, pool)
        if keep is not None:
            keep(progress)
    return progress


def _with_frozen(weights, frozen, gamma):
    out = np.array(weights, np.float64)
    for feature, value in frozen.items():
        out[feature] = value / gamma
    return out


def _decode(parts, progress, settings, frozen, pool):
    """Translate all parts, note the round, and return what there is to optimize on; nothing if nothing is new."""
    gamma = risk.schedule(settings.gamma, settings.quench)[-1]
    weights = _with_frozen(progress.weights, frozen, gamma)
    found, scores, ratios, total, size, new = [], [], [], 0.0, 0, False
    for number, part in enumerate(parts):
        h = part.decode(weights)
        edges = hypergraph.edge_scores(h, weights, pool=pool)
        on_forest = settings.forest and settings.method == "risk"
        lists = hypergraph.k_best(h, edges, len(weights), 1 if on_forest else settings.k, pool=pool)
        counts = linear_bleu.corpus_statistics(lists, part.references, part.groups, part.weights, pool)
        scores.append(100 * float(bleu.corpus_bleu(counts)))
        ratios.append(float(counts[LENGTH] / max(counts[REFERENCE], 1e-9)))
        if part.counted:
            total = total + counts
        before = progress.lists[number]
        if on_forest:
            merged = h if before is None else united(before, h)
            new, size = True, size + merged.edges
        else:
            merged = lists.merged() if before is None else before.merged(lists)
            new, size = new or before is None or merged.count > before.count, size + merged.count
        progress.lists[number] = merged
        found.append((merged, counts))
    score = 100 * float(bleu.corpus_bleu(total))
    progress.rounds.append(Round(len(progress.rounds), scores, score, ratios, size, progress.objective))
    return found if new else []


def _optimize(parts, found, progress, settings, frozen, pool):
    """Find the weights of the next round."""
    if settings.method == "mert":
        lists = [candidates for candidates, _ in found]
        joined = lists[0].followed(*lists[1:])
        statistics = np.concatenate(
            [
                linear_bleu.candidate_statistics(candidates, part.references, part.groups, pool)
                for candidates, part in zip(lists, parts, strict=True)
            ]
        )
        corpus = mert.Corpus(joined, statistics, np.concatenate([part.weights for part in parts]), pool)
        start = _with_frozen(progress.weights, frozen, 1.0)
        seed = [settings.seed, len(progress.rounds)]
        progress.weights, value = mert.maximize(corpus, start, seed, settings.restarts, frozen=tuple(frozen))
        progress.objective = -value
        return
    examples = [_examples(part, *of, settings, pool) for part, of in zip(parts, found, strict=True)]
    how = {"l2": settings.l2, "frozen": frozen, "pool": pool}
    if settings.prior == "start":
        how["center"] = progress.start
    if settings.method == "likelihood":
        objective = risk.Likelihood(examples, len(progress.weights), **how)
    else:
        objective = risk.Risk(examples, len(progress.weights), temperature=settings.temperature, **how)
    gammas = risk.schedule(settings.gamma, settings.quench)
    progress.weights, progress.objective = risk.minimize(
        objective, progress.weights, gammas, settings.iterations, pool=pool
    )


def _examples(part, made, counts, settings, pool):
    """Return what was decoded with its losses or statistics; ``counts`` are those of the round's translations."""
    weights = np.asarray(part.weights, np.float64)
    if isinstance(made, Candidates):
        statistics = linear_bleu.candidate_statistics(made, part.references, part.groups, pool)
        h = made.hypergraph()
        if settings.method == "risk" and settings.loss == "corpus":
            return risk.Examples(h, weights, statistics=statistics)
        if settings.method == "risk" and settings.loss == "linear":
            return risk.Examples(h, weights, LinearBleu.at(counts, weights.sum()).losses(statistics))
        losses = linear_bleu.sentence_losses(statistics)
        if settings.method == "likelihood":
            sizes = np.diff(made.offsets)
            full = sizes > 0
            least = np.zeros(len(made))
            if full.any():
                least[full] = np.minimum.reduceat(losses, made.offsets[:-1][full])
            losses = losses - np.repeat(least, sizes)
        return risk.Examples(h, weights, losses)
    statistics = linear_bleu.edge_statistics(made, part.references, part.groups, pool=pool)
    if settings.loss == "corpus":
        return risk.Examples(made, weights, statistics=statistics, reference_length=float(counts[REFERENCE]))
    return risk.Examples(made, weights, LinearBleu.at(counts, weights.sum()).losses(statistics))


# Files of a run that may be interrupted


def fingerprint(settings: Settings, *arrays, **others) -> str:
    """Return what tells two runs apart: their settings, other values (JSON), and data."""
    digest = hashlib.sha256(json.dumps([asdict(settings), others], sort_keys=True).encode())
    for array in arrays:
        array = np.ascontiguousarray(array)
        digest.update(repr((array.dtype.str, array.shape)).encode() + array.tobytes())
    return digest.hexdigest()


def save_progress(path, own: str, progress: Progress):
    """Write a progress; the file appears whole or not at all."""
    arrays = {"weights": progress.weights, "best": progress.best, "start": progress.start}
    for k, candidates in enumerate(progress.lists):
        if candidates is not None:
            arrays |= {f"list{k}.{name}": values for name, values in candidates.arrays().items()}
    header = {
        "fingerprint": own,
        "rounds": [asdict(r) for r in progress.rounds],
        "lists": [type(c).__name__ if c is not None else None for c in progress.lists],
        "objective": progress.objective,
        "done": progress.done,
    }
    write_model(path, KIND, header, arrays)


def load_progress(path, own: str) -> Progress:
    """Read a progress.

    Raises
    ------
    ModelError
        When the file is damaged, or of another run than ``own`` stands for.
    """
    header, arrays = read_model(path, KIND)
    if header.get("fingerprint") != own:
        raise ModelError(path, None, "is of other text, weights or options; remove it, or give another --checkpoint")
    try:
        lists = [None] * len(header["lists"])
        for k, kind in enumerate(header["lists"]):
            if kind is not None:
                of = {"Candidates": Candidates, "Hypergraph": Hypergraph}[kind]
                lists[k] = of(**{f.name: np.array(arrays[f"list{k}.{f.name}"]) for f in fields(of)})
        rounds = [Round(**r) for r in header["rounds"]]
        weights = [np.array(arrays[name]) for name in ("weights", "best", "start")]
        return Progress(*weights, rounds, lists, header["objective"], header["done"])
    except (KeyError, TypeError) as error:
        raise ModelError(path, None, f"is damaged ({error}); remove it") from None
