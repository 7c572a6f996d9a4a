"""Training and aligning a text in parts: the jobs in their order, and what each leaves behind."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from aligntools.aligning.alignments import Alignments, joined
from aligntools.aligning.applying.applier import Applier
from aligntools.aligning.applying.decisions import align_text
from aligntools.aligning.contrastive import tasks
from aligntools.aligning.contrastive.candidates import CELLS, CandidateFinder
from aligntools.aligning.contrastive.settings import ContrastiveSettings
from aligntools.aligning.contrastive.weights import Weights, weights_of
from aligntools.aligning.model import AlignmentModel
from aligntools.aligning.models.base import LexicalModel
from aligntools.aligning.models.registry import kind_of, kinds
from aligntools.aligning.parts import given_pairs, passes, table, words
from aligntools.aligning.parts.passes import last_stage, part_fields
from aligntools.aligning.parts.table import PartTable
from aligntools.aligning.parts.work import (
    JobRunner,
    PartedText,
    PartReading,
    ViewWork,
    links_name,
    links_of,
    read_file,
    save_links,
    sizes_of,
)
from aligntools.aligning.settings import Decisions, ResolvedSettings
from aligntools.aligning.training.stages import schedule
from aligntools.formats.opening.files import is_regular
from aligntools.formats.text.corpus import Bitext
from aligntools.ground.engines import Serial
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool


def check_settings(settings: ResolvedSettings) -> None:
    """Refuse what is not trained in parts."""
    if not kind_of(settings.model_type).in_parts:
        known = " and ".join(kind.name for kind in kinds() if kind.in_parts)
        raise UsageProblem(f"in parts {known} are trained, not {settings.model_type}")
    smoothed = settings.null_smoothing is not None
    chosen = {"subwords": settings.subwords, "view_agreement": settings.view_agreement, "null_smoothing": smoothed}
    for name in (name for name, value in chosen.items() if value):
        raise UsageProblem(f"`{name}` is for text in memory; leave it out for text in parts")
    if settings.ibm1_iterations < 1:
        raise UsageProblem("in parts training begins with IBM 1; give it at least one iteration")


def read_text(reading: PartReading, runner: JobRunner, pool: Pool) -> tuple[tuple[int, ...], int]:
    """Cut all files of a text into parts; return what `sizes_of` does. What only this process can read is read here."""
    function = partial(read_file, reading)
    here = [n for n, file in enumerate(reading.files) if not all(map(is_regular, file.values()))]
    for number in here:
        Serial(pool).run("reading", function, [number], lambda: None)
    rest = [n for n in range(len(reading.files)) if n not in here]
    runner.run("reading", function, rest)
    return sizes_of(reading)


class ViewTraining:
    """The training of a view. A job is done if its files are there; files that no later one needs are removed."""

    def __init__(self, view_work: ViewWork, runner: JobRunner) -> None:
        self.view_work, self.runner, self.parts = view_work, runner, range(view_work.parts)
        self.store, self.name = view_work.store, view_work.name
        self.generation = 0

    @property
    def shards(self) -> range:
        """The table's shards."""
        return range(self.view_work.shards())

    def run(self, name: str, function: Callable[..., None], jobs: Sequence[int], *arguments: Any) -> None:
        """Run jobs: ``function(view_work, *arguments, job, pool)``."""
        self.runner.run(name, partial(function, self.view_work, *arguments), jobs, view=self.view_work.letters)

    def tell(self, name: str, **figures: Any) -> None:
        """Report what this process did between the jobs."""
        self.runner.report({"stage": name, "view": self.view_work.letters, **figures})

    def number(self) -> None:
        """Count and number the words."""
        if not self.store.has(self.name("vocabulary")):
            self.run("words", words.count_view_words, self.parts)
            self.tell("numbering", words=words.number_words(self.view_work))
        given_pairs.number_given(self.view_work)
        self.store.remove(*(self.name("words", part) for part in self.parts))

    def tabulate(self) -> None:
        """Find which words occur together."""
        if not self.store.has(self.name("tabled")):
            self.run("pairs of words", table.find_pairs, self.parts)
            table.cut_shards(self.view_work)
            self.run("table", table.merge_shard, self.shards)
            entries, shards = table.gather_layout(self.view_work, 0)
            self.tell("layout", pairs=entries, shards=shards)
            self.run("table of parts", table.restrict, self.parts, 0)
            self.store.write(self.name("tabled"))
        self.store.remove(*(self.name("found", part) for part in self.parts))
        self.store.remove(*(self.name("keeps", 0, shard) for shard in self.shards))

    def iterate(self, iteration: int, stage: str, prunes: bool, last: bool) -> None:
        """Expect, sum and estimate; iteration 0 are the table's first counts."""
        if not self.store.has(self.name("estimate", iteration)):
            if iteration:
                self.run(stage, passes.expect_part, self.parts, iteration, self.generation, stage)
                loglik = passes.gather_expected(self.view_work, iteration, stage)
                self.tell(stage, iteration=iteration, log_likelihood=loglik.tolist())
            self.run("sums", passes.sum_shard, self.shards, iteration, self.generation, stage)
            if prunes:  # makes the table's next generation
                self.run("pruning", passes.prune_shard, self.shards, iteration, self.generation)
                entries, shards = table.gather_layout(self.view_work, self.generation + 1)
                self.tell("layout", pairs=entries, shards=shards)
                self.run("table of parts", table.restrict, self.parts, self.generation + 1)
            new = self.generation + prunes
            self.run("estimate", passes.estimate_shard, self.shards, iteration, new, last)
            passes.gather_estimate(self.view_work, iteration, new)
            self.tell("normalizers")
        before, self.generation = self.generation, self.generation + prunes
        self.store.remove(*(self.name("counted", iteration, part) for part in self.parts))
        self.store.remove(self.name("seen", iteration))
        for shard in self.shards:  # a step's counts are mixed with those before it
            self.store.remove(
                self.name("sums", before, iteration - 1, shard), self.name("values", iteration - 1, shard)
            )
            if last:
                self.store.remove(self.name("sums", self.generation, iteration, shard))
        if prunes:
            self.store.remove(*(self.name("table", before, part) for part in self.parts))
            for shard in self.shards:
                old = (self.name(what, before, shard) for what in ("shard", "places"))
                self.store.remove(
                    *old, self.name("keeps", before + 1, shard), self.name("sums", before, iteration, shard)
                )


def train_view(view_work: ViewWork, runner: JobRunner) -> tuple[int, int]:
    """Train a view; return the last iteration and the last generation of its table."""
    settings, made = view_work.settings, ViewTraining(view_work, runner)
    made.number()
    made.tabulate()
    first, stages_of = settings.ibm1_iterations, schedule(settings)
    last = len(stages_of) - 1
    for iteration, stage in enumerate(stages_of):
        prunes = iteration + 1 == first and iteration < last and settings.prune > 0
        made.iterate(iteration, stage, prunes, iteration == last)
    kind_of(settings.model_type).load().finish_in_parts(made, last)
    return last, made.generation


def train_parts(work: PartedText, runner: JobRunner) -> tuple[tuple[int, int], ...]:
    """Train on a text in parts; return each view's last iteration and the last generation of its table.

    Where the network decides on links, learn by which weights it does.
    """
    models = tuple(train_view(view, runner) for view in work.views())
    if work.best:
        runner.run("deciding", partial(decide, work, models), [0])
    return models


def link_parts(
    work: PartedText,
    runner: JobRunner,
    models: tuple[tuple[int, int], ...],
    decisions: Decisions,
    directions: bool = False,
) -> Iterator[Alignments]:
    """Yield the links of each part."""
    runner.run("aligning", partial(link_part, work, models, decisions, directions), range(work.parts))
    for part in range(work.parts):
        yield links_of(work, part)


#: What is kept of the network's decision, and how many parts it is learned from at most, evenly spread.
DECISION, DECIDING = "decision", 4
#: Of each view the last iteration, and the generation of the table.
Models = tuple[tuple[int, int], ...]


def _views(work: PartedText, models: Models, part: int) -> list[LexicalModel]:
    """Return all views' models of the whole text, of the words of a part alone."""
    of, found = kind_of(work.settings.model_type).load(), []
    for view_work, (last, generation) in zip(work.views(), models, strict=True):
        part_table = PartTable(view_work, generation, part)
        found.append(of.of_part(part_table, part_fields(part_table, last), last_stage(view_work, last).parameters()))
    return found


def _finder(
    work: PartedText, views: Sequence[LexicalModel], text: Bitext, judged: Weights | tasks.LearningPlan, pool: Pool
) -> CandidateFinder:
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
    pairs = int(work.sizes()[:, 0].sum())
    plan = tasks.plan_of(ContrastiveSettings(seed=work.settings.seed), threshold, pairs=pairs)
    parts = np.unique(np.linspace(0, work.parts - 1, min(work.parts, DECIDING)).astype(np.int64))

    def drawn() -> Iterator[tuple[CandidateFinder, Bitext, np.ndarray, int]]:
        for part in parts.tolist():
            text = work.text(part)
            (chosen,) = tasks.draw([text], math.ceil(plan.sentences / len(parts)), plan.learning.seed)
            yield _finder(work, _views(work, models, part), text, plan, pool), text, chosen, 0

    work.store.write(DECISION, tasks.learned_from(drawn(), plan, pool).text())


def decision_of(work: PartedText) -> Weights:
    """Return the weights that were learned."""
    return weights_of("the text in parts", work.store.about(DECISION))


def link_part(work: PartedText, models: Models, decisions: Decisions, directions: bool, part: int, pool: Pool) -> None:
    """Decide on a part's links, and keep them."""
    if work.store.has(links_name(part)):
        return
    text, views = work.text(part), _views(work, models, part)
    if work.best and decisions.by_network:
        weights = decision_of(work)
        finder = _finder(work, views, text, weights, pool)
        runs = tasks.align(finder, text, weights, pool, (), directions, decisions)
    else:
        sizes = len(text.source_vocabulary), len(text.target_vocabulary)
        runs = align_text(Applier(views, work.settings, sizes), text, decisions, pool, directions)
    found = joined(list(runs), text.skipped)
    save_links(work, part, found)
