"""Training an aligner of a text that was read, with settings made elsewhere."""

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from aligntools.aligning.aligner import Aligner, check_lengths
from aligntools.aligning.evidence import TextEvidence
from aligntools.aligning.model import AlignmentModel
from aligntools.aligning.priors import WeightedPriors, joined_with
from aligntools.aligning.settings import AlignerSettings, PriorWeights, ReconstructionSettings
from aligntools.aligning.training.sampling import LastPass
from aligntools.aligning.training.view_priors import GivenPriors
from aligntools.formats.links.priors import combined
from aligntools.formats.text.corpus import Bitext, without_blanks
from aligntools.formats.text.text_settings import Reading
from aligntools.ground.parallel import Pool, pool_of
from aligntools.ground.progress import Progress, Step, reporter
from aligntools.ground.run import Run

if TYPE_CHECKING:
    from aligntools.aligning.contrastive.rounds import Rounds

#: Pairs without words above which these are left out of training, where they are most of a text: each takes memory.
MANY_BLANK = 1_000_000
#: Settings that hold for new text, too; the size of a text does not say what they are.
_OF_A_MODEL = {
    *("model_type", "estimator", "agreement", "direction", "look_alike", "ibm1_iterations", "alpha", "p_null"),
    *("tension", "positions", "pegging", "word_classes", "seed"),
}
_log = logging.getLogger("aligntools")


def tell_unused(settings: AlignerSettings) -> None:
    """Log which settings were chosen that change nothing in the model that is trained."""
    for name, about in settings.unused().items():
        _log.warning("`%s` changes nothing: %s", name, about)


def settings_of_new_text(model: "AlignmentModel") -> AlignerSettings:
    """Return the settings by which new text is learned from, beginning with what a model has learned.

    They are the model's, but for those that are chosen by the size of a text.
    """
    chosen = {name: getattr(model.settings, name) for name in AlignerSettings.names() if name in _OF_A_MODEL}
    return AlignerSettings(best=model.decision is not None, **chosen)


def train_with(
    bitext: "Bitext",
    settings: AlignerSettings,
    *,
    init_model: Aligner | None = None,
    reconstruction: ReconstructionSettings | None = None,
    reading: Reading,
    run: Run,
    keep_text: bool = True,
    progress: Progress = None,
    priors: WeightedPriors | None = None,
    links: LastPass | None = None,
    rounds: "Rounds | None" = None,
    known: TextEvidence | None = None,
    learned: Aligner | None = None,
) -> Aligner:
    """Train an aligner of a text, with the settings of ``init_model`` where there is one; see `train_aligner`.

    rounds: Those of the contrastive aligner's base model; with ``best`` there are as many, and the network decides.
    learned: An aligner of other text, whose counts are priors, and whose links are mixed with those of the new one.
    """
    from aligntools.aligning.training.train_model import count_steps, train_model

    counts, weights = (None, PriorWeights()) if priors is None else (priors.counts, priors.weights)
    if priors is not None:
        priors.tell_unused()
    start = init_model.model if init_model else None
    lowercase = start.lowercase if start else not reading.case_sensitive
    check_lengths(bitext)
    splitting = bitext.splitting
    if bitext.skipped.total > max(MANY_BLANK, len(bitext) // 2):
        bitext, keep_text, links = without_blanks(bitext), True, None  # the words are shared with the whole text
    best = settings.decides and start is None
    settings = settings.resolved(len(bitext.source.tokens))
    network = best or (start is not None and start.decision is not None and reconstruction is None)
    if network or learned is not None:
        keep_text, links = True, None  # the network, or a model before, decides on links with the whole words
    if best and counts is None:
        from aligntools.aligning.contrastive.rounds import rounds_of
        from aligntools.aligning.contrastive.weights import shipped

        rounds = shipped().network, rounds_of(None, shipped().network, len(bitext), read=known.read if known else 0.0)
    _, count = rounds or (None, 1)
    of_words = priors.of_pieces(bitext, lowercase) if priors else None, known.of_pieces if known else None
    pieces = [own for own in of_words if own is not None]
    of_pieces = combined(pieces) if len(pieces) > 1 else next(iter(pieces), None)
    counts, weights = joined_with(counts, known.priors if known else None, weights)
    total, done, tell = count_steps(settings, reconstruction, start is not None), 0, reporter(progress)
    total += (count - 1) * count_steps(settings, None, False) + bool(network)

    def report(figures: dict[str, Any]) -> None:
        nonlocal done
        done += 1
        tell(Step(figures["stage"], done, total, figures))

    if rounds is None:
        train = train_model
    else:
        from aligntools.aligning.contrastive.rounds import train_in_rounds

        train = partial(train_in_rounds, rounds, known=known.priors if known else None)
    with pool_of(run.threads) as pool:
        model = train(
            bitext,
            settings,
            pool,
            lowercase=lowercase,
            max_memory=run.memory,
            start=start,
            reconstruction=reconstruction,
            report=report,
            keep_text=keep_text,
            given=GivenPriors(counts, weights, of_pieces),
            last_pass=links if count == 1 else None,
            learned=learned.model if learned else None,
        )
        model = replace(model, split=splitting, evidence=known.header if known else {})
        if learned is not None:
            words = len(bitext.source.tokens) + len(bitext.target.tokens)
            model = replace(model, before=learned.model, words=words)
        aligner = Aligner(model, known)
        if network:
            return with_network(
                aligner, bitext, known, reading, pool, lambda found: tell(Step("deciding", total, total, found))
            )
    return aligner


def with_network(
    aligner: Aligner,
    bitext: "Bitext",
    known: "TextEvidence | None",
    reading: Reading,
    pool: "Pool",
    tell: Callable[[dict[str, Any]], None],
) -> Aligner:
    """Return an aligner of a text whose links the network that comes with the program decides on.

    aligner: Of both directions, trained on the text.
    known: What was known of the text's words beforehand; what is known of its places, the model goes on asking.
    tell: Called with what evidence of places brings, where there is some; see `tasks.brought`.
    """
    from aligntools.aligning.contrastive import tasks
    from aligntools.aligning.contrastive.candidates import CandidateFinder
    from aligntools.aligning.contrastive.settings import ContrastiveSettings
    from aligntools.aligning.contrastive.tasks import for_new_text

    model = aligner.model
    settings, read = ContrastiveSettings(seed=model.settings.seed), bool(known and known.places)
    plan = tasks.plan_of(settings, model.usual_threshold, pairs=len(bitext), read=read)
    finder = CandidateFinder(model, pool, plan.network, plan.search.candidates, applier=aligner.network_applier)
    weights = tasks.learn_weights(finder, list(aligner.texts(bitext, None, reading, False)), plan)
    if known is not None:
        weights = for_new_text(weights, known.header, known)
    places = [one.given for one in known.places.values()] if known is not None else []
    tell(tasks.brought(finder, bitext, weights, places) if places else {})
    return aligner.deciding(weights)
