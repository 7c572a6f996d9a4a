"""Runs every kernel of the contrastive model once on a few sentences."""

from dataclasses import replace

from aligntools.aligning.contrastive import tasks, teaching
from aligntools.aligning.contrastive.candidates import CandidateFinder
from aligntools.aligning.contrastive.learning import LearningSettings
from aligntools.aligning.contrastive.taught import TeachingSettings
from aligntools.aligning.model import AlignmentModel
from aligntools.aligning.models.base import LexicalModel
from aligntools.aligning.settings import Decisions, ResolvedSettings
from aligntools.formats.links.goldlinks import Gold
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.text.corpus import Bitext
from aligntools.ground.parallel import Pool
from aligntools.words.vocabulary import Vocabulary


def warm(bitext: Bitext, settings: ResolvedSettings, members: list[LexicalModel], pool: Pool) -> None:
    """Compile what learning weights, with gold and without, aligning by them, and teaching the network use.

    ``settings`` and ``members`` are those of a base model of the text, which must be small.
    """
    source, target = bitext.source_vocabulary, bitext.target_vocabulary
    assert isinstance(source, Vocabulary)
    assert isinstance(target, Vocabulary)
    model = AlignmentModel(settings, source, target, members)
    plan = tasks.learning_plan("all", sentences=10, learning=LearningSettings(passes=1))
    finder = CandidateFinder(model, pool, plan.network)
    weights = tasks.learn_weights(finder, [bitext], plan)
    links = Links.from_lists([[(0, 0)] for _ in range(len(bitext))])
    tasks.learn_from_gold(finder, bitext, Gold(links, links, "pharaoh", 0), plan, folds=0)
    for constraint in ("none", "block-itg"):
        chosen = replace(weights, search=replace(weights.search, constraint=constraint))
        for _ in tasks.align(finder, bitext, chosen, pool, decisions=Decisions(phrases=True)):
            pass
    short = TeachingSettings(students=(50,), lessons=10, networks=1, passes=1)
    teaching.learn_start([teaching.lessons_of(bitext, model, short, pool)], short, pool)
