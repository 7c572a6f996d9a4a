"""Training a whole alignment model within a bound of memory: its views, reconstruction, pieces of words."""

import logging
from dataclasses import replace
from functools import partial

from aligntools.aligning.memory import cells_within, needed_for_training
from aligntools.aligning.model import AlignmentModel
from aligntools.aligning.models.registry import kind_of
from aligntools.aligning.settings import (
    POSITION_SMOOTHING,
    Positions,
    PriorWeights,
    ReconstructionSettings,
    ResolvedSettings,
)
from aligntools.aligning.text.views import ViewWords, collapse
from aligntools.aligning.training.last_pass import LastPass
from aligntools.aligning.training.reconstruction import reconstruct, reconstructed_from
from aligntools.aligning.training.stages import schedule, train
from aligntools.aligning.training.subwords import train_subwords
from aligntools.aligning.training.view_priors import GivenPriors, ViewPriors, piece_priors, tell_foreign, view_priors
from aligntools.aligning.training.warm_start import warm_start
from aligntools.formats.links.priors import Priors
from aligntools.formats.text.corpus import Bitext
from aligntools.ground.parallel import Pool
from aligntools.ground.running import Report
from aligntools.words.vocabulary import Vocabulary

_log = logging.getLogger("aligntools")


def settings_after(
    start: AlignmentModel, reconstructs: bool, model: str | None = None, positions: Positions | None = None
) -> ResolvedSettings:
    """Return the settings of what is trained from an older model on.

    They are the older model's. With reconstruction the model is the one that reconstruction trains from it, unless
    ``model`` and ``positions`` say otherwise, without subwords.
    """
    settings = start.settings
    if not reconstructs:
        return settings
    model = model or reconstructed_from(settings)
    positions = positions or settings.positions
    return replace(
        settings,
        model_type=model,
        positions=positions if "positions" in kind_of(model).own else "diagonal",
        subwords=0,
        view_agreement=False,
    )


def count_steps(settings: ResolvedSettings, reconstruction: ReconstructionSettings | None, starts: bool) -> int:
    """Return how many steps training reports, the table's among them; ``starts``: from an older model on."""
    iterations = len(schedule(settings))
    iterations += settings.ibm1_iterations == 0  # the table is a step of its own where it is no iteration of IBM 1
    if reconstruction is not None:
        iterations = reconstruction.mre_iterations + 1 + (0 if starts else iterations)
    members = len(settings.views) + bool(settings.subwords and reconstruction is None)
    return members * (iterations + kind_of(settings.model_type).last_pass)


class _Mapped:
    """Maps priors into views; logs a warning if they have nothing for the words of the first view."""

    def __init__(self, priors: Priors, lowercase: bool, weights: PriorWeights) -> None:
        self._given, self._told = (priors, lowercase, weights), False

    def __call__(self, words: ViewWords) -> ViewPriors:
        priors, lowercase, weights = self._given
        found = view_priors(priors, words, lowercase, weights)
        if not self._told:
            self._tell(priors, found)
        self._told = True
        return found

    def _tell(self, priors: Priors, found: ViewPriors) -> None:
        pairs = int((priors.lexical.keys > 0).all(axis=1).sum())
        if not pairs and len(priors.lexical):
            if not (found.s_null.any() or found.t_null.any()):
                _log.warning("none of the words that the priors link to <NULL> is one of the text")
        elif pairs and not len(found.keys):
            tell_foreign(pairs)
        elif not pairs and not any(f.any() for f in found.fertilities) and not found.jumps.any():
            _log.warning("the priors have no links, and what else they have weighs nothing (see `prior_fertility`)")


def train_model(
    bitext: Bitext,
    settings: ResolvedSettings,
    pool: Pool,
    *,
    lowercase: bool = True,
    max_memory: int | None = None,
    start: AlignmentModel | None = None,
    reconstruction: ReconstructionSettings | None = None,
    report: Report | None = None,
    keep_text: bool = True,
    given: GivenPriors = GivenPriors(),  # noqa: B008
    last_pass: LastPass | None = None,
) -> AlignmentModel:
    """Train a model of a text.

    lowercase: Whether the text was put in lower case; the model remembers it.
    max_memory: Bytes.
    start: A model to go on from.
    reconstruction: Go on by maximum reconstruction (Cheng, Liu & Xu 2017).
    report: See `stages.train`.
    keep_text: If False, the words of the text may be cut in place where there is one view; see `views.collapse`.
    given: Counts in other text; not with reconstruction.
    last_pass: Takes the links of a large text; not with reconstruction.
    Raises ResourceError when ``max_memory`` is too little.
    """
    if reconstruction is not None:
        reconstructed_from(settings)  # before what takes long
        settings = replace(settings, view_agreement=False)
    cells = cells_within(max_memory, needed_for_training(bitext, settings, reconstruction is not None))
    views = settings.views
    if not keep_text and len(views) == 1 and views[0] and not settings.subwords:
        collapse(bitext, views[0])
    if start and reconstruction:
        models = warm_start(bitext, start.views, settings, pool)
    else:
        counts = given.priors
        mapped = _Mapped(counts, lowercase, given.weights) if counts is not None and len(counts) else None
        smoothing = POSITION_SMOOTHING if reconstruction is None else reconstruction.mre_position_smoothing
        old = start.views if start else None
        decide = last_pass if reconstruction is None else None
        models = train(bitext, settings, pool, cells, report, old, mapped, smoothing, decide)
    if reconstruction:
        models, settings = reconstruct(bitext, models, settings, pool, cells, reconstruction, report)
    subwords = None
    if settings.subwords and not reconstruction:
        before = start.subwords if start else None
        words = given.of_pieces
        own = partial(piece_priors, words, lowercase) if words is not None and len(words.lexical) else None
        subwords = train_subwords(bitext, settings, pool, cells, report, before, own)
    source, target = bitext.source_vocabulary, bitext.target_vocabulary
    assert isinstance(source, Vocabulary), "the text has words of its own"
    assert isinstance(target, Vocabulary)
    ratio = len(bitext.target.tokens) / max(len(bitext.source.tokens), 1)
    return AlignmentModel(settings, source, target, models, lowercase, ratio, subwords)
