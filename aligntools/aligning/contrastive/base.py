"""Base models of the contrastive aligner: of a text, in rounds, and of other aligners' tables."""

import os

from aligntools.aligning.aligner import Aligner
from aligntools.aligning.aligner_training import train_with
from aligntools.aligning.contrastive.distillation import SomeStart, resolved_start
from aligntools.aligning.contrastive.features import NAMES
from aligntools.aligning.contrastive.linknetwork import LinkNetwork
from aligntools.aligning.contrastive.rounds import rounds_of
from aligntools.aligning.contrastive.settings import ContrastiveSettings
from aligntools.aligning.contrastive.tasks import LearningPlan, plan_of
from aligntools.aligning.contrastive.weights import Weights
from aligntools.aligning.evidence import EvidenceOptions, TextEvidence
from aligntools.aligning.settings import AlignerSettings
from aligntools.aligning.word_tables import model_from_tables
from aligntools.formats.links.ttable import read_ttable, read_vocabulary
from aligntools.formats.text.corpus import Bitext
from aligntools.formats.text.text_settings import Reading
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.progress import Progress
from aligntools.ground.run import Run


def network_of(chosen: LearningPlan | Weights) -> LinkNetwork | None:
    """Return what judges links under a plan or weights, if anything does."""
    return chosen.network if chosen.active[NAMES.index("trees")] else None


def network_for(features: str, start: SomeStart | None) -> LinkNetwork | None:
    """Return what a start with these features judges links by; None for the paper's, which does not rest on it."""
    named, begun = resolved_start(start)
    plan = plan_of(ContrastiveSettings(features=features, start=named).checked(), given=begun)
    return network_of(plan) if plan.start[NAMES.index("trees")] else None


def check_of_places(asked: EvidenceOptions, network: LinkNetwork | None) -> None:
    """Refuse evidence that was asked for but changes nothing, since there is a base model already."""
    for kind in asked.kinds:
        if not kind.places:
            problem = "the base model is taken as it is"
        elif network is None:
            problem = "the base model is taken as it is, and there is no network that could weigh evidence of places"
        else:
            continue
        raise UsageProblem(f"{problem}; leave out `{kind.option}`, or let one be trained here")


def train_base(
    bitext: Bitext,
    network: LinkNetwork | None,
    settings: AlignerSettings,
    rounds: int | None = None,
    *,
    reading: Reading,
    run: Run,
    progress: Progress = None,
    known: TextEvidence | None = None,
) -> Aligner:
    """Train a base model on a text, in rounds: see `aligning.contrastive.rounds`; None: as `rounds.rounds_of` says."""
    many = rounds_of(rounds, network, len(bitext), settings.fast, 0.0 if known is None else known.read)
    return train_with(
        bitext, settings, reading=reading, run=run, progress=progress, rounds=(network, many), known=known
    )


def aligner_from_tables(
    forward_table: str | os.PathLike[str],
    reverse_table: str | os.PathLike[str],
    *,
    source_vcb: str | os.PathLike[str] | None = None,
    target_vcb: str | os.PathLike[str] | None = None,
    case_sensitive: bool = True,
) -> Aligner:
    """Make a base aligner of the word probabilities that another aligner wrote: IBM 2 with the diagonal prior.

    Parameters
    ----------
    forward_table, reverse_table : path
        ``p(target | source)`` and ``p(source | target)``, from ``fast_align -p`` or GIZA++ t-tables.
    source_vcb, target_vcb : path or None
        The words behind the numbers of t-tables.
    case_sensitive : bool
        False puts the tables' words and the text's in lower case: the mean of a given word's spellings counts.

    Raises
    ------
    DataError
        When a table cannot be read, or the two do not belong together.
    """
    names = [read_vocabulary(os.fspath(path)) if path else None for path in (source_vcb, target_vcb)]
    forward = read_ttable(os.fspath(forward_table), *names)
    reverse = read_ttable(os.fspath(reverse_table), *names[::-1])
    try:
        return Aligner(model_from_tables(forward, reverse, lowercase=not case_sensitive))
    except ValueError as error:
        raise DataError(os.fspath(reverse_table), None, str(error)) from None
