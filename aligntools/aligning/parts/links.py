"""The links of a text in parts, decided on part by part with the whole text's model."""

import math
from collections.abc import Sequence

import numpy as np

from aligntools.aligning.applying.applier import CHUNK_CELLS, Applier
from aligntools.aligning.applying.decisions import decided
from aligntools.aligning.applying.link_blocks import Decided, joined
from aligntools.aligning.contrastive import tasks
from aligntools.aligning.contrastive.candidates import CELLS, CandidateFinder
from aligntools.aligning.contrastive.settings import ContrastiveSettings
from aligntools.aligning.contrastive.weights import Weights, weights_of
from aligntools.aligning.model import AlignmentModel
from aligntools.aligning.models.base import LexicalModel
from aligntools.aligning.models.registry import kind_of
from aligntools.aligning.parts.part_reader import read_sizes
from aligntools.aligning.parts.passes import last_stage, part_fields
from aligntools.aligning.parts.table import PartTable
from aligntools.aligning.parts.work import PartedText, ViewWork
from aligntools.aligning.settings import Decisions
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.text.corpus import Bitext, Skipped
from aligntools.ground.parallel import Pool

#: What is kept of the network's decision, and how many parts it is learned from at most, evenly spread.
DECISION, DECIDING = "decision", 4
#: Of each view the last iteration, and the generation of the table.
Models = tuple[tuple[int, int], ...]


def part_model(view_work: ViewWork, last: int, generation: int, part: int) -> LexicalModel:
    """Return a view's model of the whole text, of the words of a part alone."""
    part_table = PartTable(view_work, generation, part)
    of: type[LexicalModel] = kind_of(view_work.settings.model_type).load()
    return of.of_part(part_table, part_fields(part_table, last), last_stage(view_work, last).parameters())


def _views(work: PartedText, models: Models, part: int) -> list[LexicalModel]:
    """Return all views' models, of the words of a part alone."""
    return [
        part_model(ViewWork(work, n, letters), last, generation, part)
        for n, (letters, (last, generation)) in enumerate(zip(work.settings.views, models, strict=True))
    ]


def _finder(
    work: PartedText, views: Sequence[LexicalModel], text: Bitext, judged: Weights | tasks.LearningPlan, pool: Pool
) -> CandidateFinder:
    """Return what finds the links of a part that the network judges."""
    words = text.source_vocabulary, text.target_vocabulary
    model = AlignmentModel(work.settings, *words, list(views))  # type: ignore[arg-type]
    return CandidateFinder(model, pool, judged.network, judged.search.candidates, cells=CELLS)


def decide(work: PartedText, models: Models, _job: int, pool: Pool) -> None:
    """Learn the weights by which the network decides on links, from some of the parts, and keep them.

    A text of one part has those that it has in memory.
    """
    if work.store.has(DECISION):
        return
    threshold = work.settings.threshold(len(models))
    pairs = sum(int(read_sizes(work.store, file)[:, 0].sum()) for file in range(len(work.files)))
    plan = tasks.plan_of(ContrastiveSettings(seed=work.settings.seed), threshold, pairs=pairs)
    parts = np.unique(np.linspace(0, work.parts - 1, min(work.parts, DECIDING)).astype(np.int64))
    found = tasks.Observed()
    for part in parts.tolist():
        text = work.text(part)
        (chosen,) = tasks.draw([text], math.ceil(plan.sentences / len(parts)), plan.learning.seed)
        found.add(_finder(work, _views(work, models, part), text, plan, pool), text, chosen, 0, plan)
    work.store.write(DECISION, tasks.learned_from(found, plan, pool).text())


def decision_of(work: PartedText) -> Weights:
    """Return the weights that were learned."""
    return weights_of("the text in parts", work.store.about(DECISION))


def link_part(work: PartedText, models: Models, decisions: Decisions, directions: bool, part: int, pool: Pool) -> None:
    """Decide on a part's links, and keep them."""
    name, store = f"links.{part:06d}", work.store
    if store.has(name):
        return
    text, views = work.text(part), _views(work, models, part)
    if work.best and decisions.by_network:
        weights = decision_of(work)
        finder = _finder(work, views, text, weights, pool)
        runs = tasks.align(finder, text, weights, pool, (), directions, decisions)
    else:
        sizes = len(text.source_vocabulary), len(text.target_vocabulary)
        runs = decided(Applier(views, work.settings, sizes, CHUNK_CELLS), text, decisions, pool, directions)
    found = joined(list(runs))
    arrays = {name: getattr(found, name) for name in ("log_likelihood", "lengths", "probabilities")}
    for key, table in (("links", found.table), ("forward", found.forward_table), ("reverse", found.reverse_table)):
        if table is not None:
            arrays |= {f"{key}.pairs": table.pairs, f"{key}.offsets": table.offsets}
    store.write(name, **arrays)


def links_of(work: PartedText, part: int) -> tuple[Decided, Skipped]:
    """Return what was decided on a part, and what of it was skipped."""
    a = work.store.read_all(f"links.{part:06d}")

    def table(key: str) -> Links | None:
        return Links(a[f"{key}.pairs"], a[f"{key}.offsets"]) if f"{key}.pairs" in a else None

    found = Decided(
        Links(a["links.pairs"], a["links.offsets"]),
        a["probabilities"],
        table("forward"),
        table("reverse"),
        a["log_likelihood"],
        a["lengths"],
    )
    return found, work.text(part).skipped
