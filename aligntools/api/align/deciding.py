"""Aligners whose links the network decides on, as `train_contrastive_aligner`'s weights do."""

from typing import TYPE_CHECKING

from aligntools.api.align.aligner import Aligner
from aligntools.formats.text.reading import Reading

if TYPE_CHECKING:
    from aligntools.aligning.evidence import Known
    from aligntools.formats.text.corpus import Bitext
    from aligntools.ground.parallel import Pool


def with_network(aligner: Aligner, bitext: "Bitext", known: "Known | None", reading: Reading, pool: "Pool") -> Aligner:
    """Return an aligner of a text whose links the network that comes with the program decides on.

    aligner: Of both directions, trained on the text.
    known: What was known of the text's words beforehand; what is known of its places, the model goes on asking.
    """
    from aligntools.aligning.contrastive import tasks
    from aligntools.aligning.contrastive.candidates import CandidateFinder
    from aligntools.aligning.contrastive.evidence_tasks import with_known
    from aligntools.aligning.contrastive.settings import ContrastiveSettings

    model = aligner.model
    plan = tasks.plan_of(ContrastiveSettings(seed=model.settings.seed), model.usual_threshold, pairs=len(bitext))
    finder = CandidateFinder(model, pool, plan.network, plan.search.candidates, applier=aligner.network_applier)
    weights = tasks.learn_weights(finder, list(aligner.texts(bitext, None, reading, False)), plan)
    return aligner.deciding(weights if known is None else with_known(weights, known))
