"""Training and aligning a text in parts: the jobs in their order, and what each leaves behind."""

from collections.abc import Iterator
from functools import partial

from aligntools.aligning.applying.link_blocks import Decided
from aligntools.aligning.models.registry import kind_of, kinds
from aligntools.aligning.parts import given_pairs, links, passes, table, words
from aligntools.aligning.parts.jobs import JobRunner, ViewRunner
from aligntools.aligning.parts.part_reader import PartReading, TextSizes, read_file, sizes_of
from aligntools.aligning.parts.work import PartedText, ViewWork
from aligntools.aligning.settings import Decisions, ResolvedSettings
from aligntools.aligning.training.stages import schedule
from aligntools.formats.text.corpus import Skipped
from aligntools.ground.engines import Serial
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool


def check_settings(settings: ResolvedSettings) -> None:
    """Refuse what is not trained in parts."""
    if not kind_of(settings.model_type).in_parts:
        known = " and ".join(kind.name for kind in kinds() if kind.in_parts)
        raise UsageProblem(f"in parts {known} are trained, not {settings.model_type}")
    if settings.subwords:
        raise UsageProblem("`subwords` is for text in memory; leave it out for text in parts")
    if settings.view_agreement:
        raise UsageProblem("`view_agreement` is for text in memory; leave it out for text in parts")
    if settings.null_smoothing is not None:
        raise UsageProblem("`null_smoothing` is for text in memory; leave it out for text in parts")
    if settings.ibm1_iterations < 1:
        raise UsageProblem("in parts training begins with IBM 1; give it at least one iteration")


def read_text(reading: PartReading, runner: JobRunner, pool: Pool) -> TextSizes:
    """Cut all files of a text into parts; what only this process can read (a pipe) is read here."""
    function = partial(read_file, reading)
    here = [n for n, file in enumerate(reading.files) if not all(_is_file(path) for path in file.values())]
    for number in here:
        Serial(pool).run("reading", function, [number], lambda: None)
    rest = [n for n in range(len(reading.files)) if n not in here]
    runner.run("reading", function, rest)
    return sizes_of(reading)


def _is_file(path: object) -> bool:
    from aligntools.formats.opening.files import is_regular

    return is_regular(path)


class ViewTraining(ViewRunner):
    """The training of a view. A job is done if its files are there; files that no later one needs are removed."""

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
            self.run("sums", passes.sum_shard, self.shards, iteration, self.generation)
            if prunes:
                self.prune(iteration)
            new = self.generation + prunes
            self.run("estimate", passes.estimate_shard, self.shards, iteration, new, prunes, last)
            passes.gather_estimate(self.view_work, iteration, new, prunes)
            self.tell("normalizers")
        self.generation += prunes
        self.store.remove(*(self.name("counted", iteration, part) for part in self.parts))
        for what in ("sums", "values"):
            at = iteration - (what == "values")
            self.store.remove(*(self.name(what, at, shard) for shard in self.shards))
        if prunes:
            self.forget(self.generation - 1)

    def prune(self, iteration: int) -> None:
        """Make the table's next generation."""
        self.run("pruning", passes.prune_shard, self.shards, iteration, self.generation)
        entries, shards = table.gather_layout(self.view_work, self.generation + 1)
        self.tell("layout", pairs=entries, shards=shards)
        self.run("table of parts", table.restrict, self.parts, self.generation + 1)

    def forget(self, generation: int) -> None:
        """Remove a table that was pruned."""
        self.store.remove(*(self.name("table", generation, part) for part in self.parts))
        for shard in self.shards:
            old = (self.name(what, generation, shard) for what in ("shard", "places"))
            self.store.remove(*old, self.name("keeps", generation + 1, shard), self.name("pruned", shard))


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
    models = tuple(
        train_view(ViewWork(work, number, letters), runner) for number, letters in enumerate(work.settings.views)
    )
    if work.best:
        runner.run("deciding", partial(links.decide, work, models), [0])
    return models


def link_parts(
    work: PartedText,
    runner: JobRunner,
    models: tuple[tuple[int, int], ...],
    decisions: Decisions,
    directions: bool = False,
) -> Iterator[tuple[Decided, Skipped]]:
    """Yield the links of each part, and the pairs that were skipped in it."""
    runner.run("aligning", partial(links.link_part, work, models, decisions, directions), range(work.parts))
    for part in range(work.parts):
        yield links.links_of(work, part)
