"""Training a tagger on text without tags: EM or variational Bayes, and then maximum reconstruction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from aligntools.ground.parallel import Pool
from aligntools.tagging.chains.chain import Chain, ChainText, expected_counts
from aligntools.tagging.chains.induction import induce, reconstruct
from aligntools.tagging.decoding import CandidateChain, TagCandidates
from aligntools.tagging.forms.unknown import FormClasses, UnknownWords
from aligntools.tagging.settings import InductionSettings
from aligntools.tagging.tagger import TaggerMember, TaggerModel, rounded


def train_induced(
    words: Sequence[bytes],
    offsets: np.ndarray,
    pool: Pool,
    settings: InductionSettings | None = None,
    report: Callable[[str, dict[str, Any]], None] | None = None,
    types: Mapping[bytes, Sequence[bytes]] | None = None,
) -> tuple[TaggerModel, int]:
    """Learn a tagger whose tags are numbers from 0, or those of a dictionary.

    words (sequence of bytes [tokens]), offsets (int64 [sentences + 1]).
    report: Called after each iteration with the stage (``em``, ``vb`` or ``mre``) and figures by name: ``restart``,
        ``iteration``, ``objective``, ``perplexity``; for ``mre`` ``iteration`` and ``objective``, the mean ``ln
        P(x|x)`` of a sentence.
    types: The tags that words can have: the states have these names, whatever ``settings`` say of their number. Words
        that are not in it can have any.
    Returns restart: Which of the random starts was kept, from 0.
    Raises UsageProblem when the text has no words, or a setting makes no sense.
    """
    settings = (settings or InductionSettings()).checked()
    learner = settings.learner
    tell = report or (lambda *_: None)

    def step(restart: int, iteration: int, objective: float, perplexity: float) -> None:
        figures = {"restart": restart, "iteration": iteration, "objective": objective, "perplexity": perplexity}
        tell(learner, figures)

    numbers: dict[bytes, int] = {}
    tokens = np.fromiter((numbers.setdefault(w, len(numbers)) for w in words), np.int32, len(words))
    names, allowed = None, None
    if types is not None:
        names, allowed = _allowed(numbers, types)
        settings = replace(settings, states=len(names)).checked()
    found = induce(tokens, offsets, len(numbers), pool, settings, step, allowed=allowed)
    chain, text = found.model, ChainText(tokens, offsets, len(numbers), allowed=allowed)
    if settings.estimator == "mre":
        steps = settings.mre_iterations
        chain, _ = reconstruct(
            chain, text, pool, steps, lambda i, value: tell("mre", {"iteration": i, "objective": value})
        )
    counts = expected_counts(chain, text, pool).emissions
    about = settings.header() | {"column": "upos"}
    return from_chain(text.held(chain), list(numbers), counts, settings=about, tags=names), found.start


def _allowed(words: dict[bytes, int], types: Mapping[bytes, Sequence[bytes]]) -> tuple[list[str], np.ndarray]:
    """Return the names of states, and which of them each word may be in, bool [words, states]."""
    known = [types.get(word) for word in words]
    names = sorted({tag for tags in known for tag in tags or ()})
    number = {name: n for n, name in enumerate(names)}
    allowed = np.zeros((len(known), len(names)), bool)
    for row, tags in zip(allowed, known, strict=True):
        row[[number[tag] for tag in tags] if tags else slice(None)] = True
    return [name.decode("utf-8", "surrogateescape") for name in names], allowed


def from_chain(
    chain: Chain,
    words: Sequence[bytes],
    counts: np.ndarray,
    smoothing: float = 0.0,
    settings: dict[str, Any] | None = None,
    tags: list[str] | None = None,
) -> TaggerModel:
    """Make a tagger of a chain of induced states.

    chain: With ``start``, ``stop`` [K], ``transitions`` [K, K] and ``emissions`` [words, K], as `chain.Chain`.
    words: Distinct; rows of the emissions.
    counts (float64 [words, K]): Expected counts in the training text: unknown words are learned from them.
    smoothing: Known words are smoothed with so many observations of their forms; 0 leaves the chain as it is.
    settings: Kept in the model file.
    tags: Names of the states; None: their numbers.
    """
    counts = np.ascontiguousarray(counts, np.float64)
    n_states = counts.shape[1]
    prior = counts.sum(0) + 1e-6
    prior /= prior.sum()
    unknown = UnknownWords.learn(words, counts)
    values = np.asarray(chain.emissions, np.float64)
    factors = np.ones(len(values))
    if smoothing > 0:
        seen = counts.sum(1, keepdims=True)
        factors = seen.ravel() / max(float(seen.sum()), 1e-300)
        shares = values * prior
        shares /= np.maximum(shares.sum(1, keepdims=True), 1e-300)
        values = (seen * shares + smoothing * unknown.probabilities(words)) / (seen + smoothing) / prior
    scale = values.max(1, keepdims=True, initial=0)
    values = rounded(np.divide(values, scale, out=np.ones_like(values), where=scale > 0))
    factors = factors * scale.ravel()
    model = CandidateChain(
        np.array([0, n_states], np.int64),
        np.array(chain.start, np.float64),
        np.array(chain.transitions, np.float64, order="C"),
        np.array(chain.stop, np.float64),
        values.ravel(),
    )
    candidates = TagCandidates(np.arange(len(words) + 1, dtype=np.int64), np.zeros(len(words), np.int32))
    classes = FormClasses({}, np.zeros(1, np.int64), [(0, 1)])
    member = TaggerMember(model, prior, np.ones((1, n_states), np.float32))
    tags = [str(n) for n in range(n_states)] if tags is None else tags
    about = settings or {}
    return TaggerModel(tags, list(words), candidates, [member], None, unknown, classes, True, about, factors)
