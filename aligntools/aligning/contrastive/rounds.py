"""Training the base model in *rounds*: links that the network finds in the text are priors of the next round.

So a link that is found in one sentence makes links of the same words in others more probable. All links with log-odds
above 0 are counted. Expected counts, by their probabilities, help a third as much (`bench/SETTINGS.md`).
"""

from typing import Any, TypeAlias

import numpy as np

from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive.candidates import CandidateFinder
from aligntools.aligning.contrastive.linknetwork import LinkNetwork
from aligntools.aligning.model import AlignmentModel
from aligntools.aligning.priors import PriorCounter, joined_with
from aligntools.aligning.settings import PriorWeights, ResolvedSettings
from aligntools.aligning.training.train_model import train_model
from aligntools.aligning.training.view_priors import GivenPriors
from aligntools.formats.links.pharaoh import concatenate
from aligntools.formats.links.priors import Priors
from aligntools.formats.text.corpus import Bitext, pick
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.ground.run import Report

#: What a link that the network found counts for compared with one that training expects.
WEIGHTS = PriorWeights(prior_lexical=0.2)
#: Pairs whose links are counted, at most; of larger text as many, evenly spread.
PAIRS = 50_000
#: Pairs of the largest text that has two rounds in any case. Larger ones gain by the second if a source of evidence has
#: read this share of them; with less they lose (`bench/SETTINGS.md`).
LARGEST, READ = 100_000, 0.2


#: How often a base model is trained, and the network that finds links after each time but the last.
Rounds: TypeAlias = tuple[LinkNetwork | None, int]


def rounds_of(asked: int | None, network: LinkNetwork | None, pairs: int, fast: bool = False, read: float = 0.0) -> int:
    """Return how many rounds there are: as asked, else two where a network judges the text, else one.

    Large text has one too, unless sources of evidence have ``read`` enough of it (a share of its pairs).
    """
    if asked is None:
        return 2 if network is not None and not fast and (read >= READ or pairs <= LARGEST) else 1
    if asked > 1 and network is None:
        raise UsageProblem("`rounds` above 1 needs the feature trees, and a `start` other than paper")
    return asked


def count_found(finder: CandidateFinder, bitext: Bitext, pairs: int = PAIRS) -> Priors:
    """Count the links that a finder's network finds in a text, or in so many pairs of it."""
    if len(bitext) > pairs:
        bitext = pick(bitext, np.linspace(0, len(bitext) - 1, pairs).astype(np.int64))
    links = concatenate([found.links(found.local[:, kf.TREES] > 0) for _, found in finder.find(bitext)])
    counter = PriorCounter()
    counter.add(bitext, links, links)
    return counter.finish()


def train_again(
    found: Priors,
    settings: ResolvedSettings,
    bitext: Bitext,
    pool: Pool,
    lowercase: bool = True,
    known: Priors | None = None,
    of_pieces: Priors | None = None,
    **more: Any,
) -> AlignmentModel:
    """Train a base model again, from the start, with the links that the network found as priors.

    known: Of the text's words, in full; ``of_pieces`` has what of it pieces of words have too.
    """
    given = GivenPriors(*joined_with(found if len(found.lexical) else None, known, WEIGHTS), of_pieces)
    return train_model(bitext, settings, pool, lowercase=lowercase, given=given, **more)


def train_in_rounds(
    rounds: Rounds,
    bitext: Bitext,
    settings: ResolvedSettings,
    pool: Pool,
    *,
    lowercase: bool = True,
    report: Report | None = None,
    keep_text: bool = True,
    max_memory: int | None = None,
    given: GivenPriors = GivenPriors(),  # noqa: B008
    known: Priors | None = None,
    learned: AlignmentModel | None = None,
    **first: Any,
) -> AlignmentModel:
    """Train a base model as often as there are rounds, each after the first with what the network found.

    given: The first round's; known: What is known of words beforehand, of the other rounds.
    learned: A model of other text, whose counts are priors in every round; first: For the first round's `train_model`.
    """
    how: dict[str, Any] = {"lowercase": lowercase, "report": report, "max_memory": max_memory, "learned": learned}
    network, count = rounds
    model = train_model(bitext, settings, pool, keep_text=keep_text or count > 1, given=given, **how, **first)
    for left in reversed(range(count - 1)):
        found = count_found(CandidateFinder(model, pool, network), bitext)
        del model  # its memory serves the next one
        how |= {"keep_text": keep_text or left > 0}
        model = train_again(found, settings, bitext, pool, known=known, of_pieces=given.of_pieces, **how)
    return model
