"""Training: for each view of the text IBM 1, then the models that come before the model, then the model itself.

The lexical table is here. The E-step and M-step of a model are its `models.base.Stage`.

In joint training both directions share one expected count of each pair of words, the product of their posteriors, and
so one array of values: ``p(t | s)`` and ``p(s | t)`` differ only in their normalizers.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from aligntools.aligning.models.base import LexicalModel, LinkTaker, Stage, ViewTask, check_classes
from aligntools.aligning.models.lexical import Lexicon, LookAlikes, lexical_fields, lexicon_from_counts
from aligntools.aligning.models.registry import kind_of
from aligntools.aligning.settings import DIRECTIONS, POSITION_SMOOTHING, SMALL, ResolvedSettings
from aligntools.aligning.text import kernels_cooccurrence as kt
from aligntools.aligning.text.cooccurrence import Table, build_table, count_words, unigrams
from aligntools.aligning.text.kernels_look_alikes import TIERS
from aligntools.aligning.text.link_matrices import LinkMatrices
from aligntools.aligning.text.views import ViewWords, view_text
from aligntools.aligning.training.expectation import Expectations
from aligntools.aligning.training.sampling import LastPass
from aligntools.aligning.training.view_priors import ViewPriors
from aligntools.formats.text.corpus import Bitext, Side
from aligntools.ground.parallel import Pool
from aligntools.ground.run import Report

# Views that learn from each other: an E-step over several views at once; each counts the mean of their posteriors.
#
# Where a view goes wrong, because it cuts a word too short or the whole word is too rare, the others correct it. The
# idea is that of agreement between the two directions (Liang, Taskar & Klein 2006), which are trained so within each
# view; the mean takes the place of the product here.


def expect_together(
    stages: list[Stage], steps: list[Expectations], lexicons: list[Lexicon], counts: list[np.ndarray]
) -> list[tuple[np.ndarray, Any]]:
    """Take expectations of the models of several views of the same sentences, whose directions are trained jointly.

    The steps' matrices share their cells. The mean of all views' posteriors is added to ``counts`` (float32 [n_pairs])
    of each view's own table; what is returned, as of `Stage.expect`, is from its own.
    """
    parts: list[list[np.ndarray]] = [[] for _ in steps]
    turns = [
        own.by_blocks(stage.block(own, lexicon), found)
        for stage, own, lexicon, found in zip(stages, steps, lexicons, parts, strict=True)
    ]
    logliks = np.zeros((len(steps), 2))
    matrices = steps[0].matrices
    share = np.float32(1.0 / len(steps))
    for chunk in matrices.chunks:
        cells, total = matrices.cells[: chunk.n_cells], matrices.second[: chunk.n_cells]
        total[:] = 0
        for loglik, own, lexicon, turn in zip(logliks, steps, lexicons, turns, strict=True):
            own.matrices.index(chunk)
            own.matrices.fill(chunk, lexicon.forward, lexicon.default, matrices.cells)
            logs = np.zeros((2, chunk.k1 - chunk.k0))
            turn(chunk, (cells, cells), logs)
            loglik += logs.sum(1)
            total += cells
        total *= share
        for own, of_pairs in zip(steps, counts, strict=True):
            own.matrices.collect(chunk, of_pairs, total)
    return [(loglik, sum(found)) for loglik, found in zip(logliks, parts, strict=True)]


def train(
    bitext: Bitext,
    settings: ResolvedSettings,
    pool: Pool,
    max_cells: int,
    report: Report | None = None,
    start: list[LexicalModel] | None = None,
    priors: Callable[[ViewWords], ViewPriors] | None = None,
    position_smoothing: float = POSITION_SMOOTHING,
    last_pass: LastPass | None = None,
) -> list[LexicalModel]:
    """Train a model of every view.

    bitext: Blank pairs are passed over.
    report: Called with a dict after each iteration: view, stage, iteration, log-likelihoods, seconds.
    start: Models of the same views to go on from: what they learned is added to the priors.
    priors: Called with the words of a view; returns its `ViewPriors`.
    position_smoothing: Pseudo-count of each distribution of a table of positions, in every M-step.
    Returns of the class that ``settings.model_type`` names.
    """

    def begin(number: int, letters: int) -> "Training":
        old = start[number] if start else None
        training = Training(
            bitext, letters, settings, pool, max_cells, report or (lambda _: None), old, priors, position_smoothing
        )
        if last_pass is not None and last_pass.serves(settings, len(bitext.source.tokens)):
            training.last_pass = last_pass.add
        return training

    views = list(enumerate(settings.views))
    if settings.view_agreement and len(views) > 1:
        return _train_together((begin(*view) for view in views), settings)
    return [begin(*view).run() for view in views]


def schedule(settings: ResolvedSettings) -> list[str]:
    """Return the model of each iteration. The first iteration of IBM 1 is the counts that come with the table."""
    iterations = settings.iterations
    chain = kind_of(settings.model_type).chain()
    main = [kind.name for kind in chain[1:] if "iterations" in kind.own]
    return [chain[0].name] * settings.ibm1_iterations + [name for name in main for _ in range(iterations)]


def begin(task: ViewTask) -> dict[str, Stage]:
    """Return the stages of a training, by the names of their models, in their order."""
    found: dict[str, Stage] = {}
    before = None
    for kind in kind_of(task.settings.model_type).chain():
        before = found[kind.name] = kind.load().stage(task, before)
    return found


def _train_together(beginning: "Iterable[Training]", settings: ResolvedSettings) -> list[LexicalModel]:
    """Train all views at once after each view's own IBM 1, so that they learn from each other; return the models."""
    trainings: list[Training] = []
    for training in beginning:
        if trainings:
            training.matrices.share(trainings[0].matrices)
        training.iterate(1, settings.ibm1_iterations)
        trainings.append(training)
    first = max(settings.ibm1_iterations, 1)
    kinds = schedule(settings)
    for iteration in range(first, len(kinds)):
        began = time.perf_counter()
        if iteration == first and settings.prune > 0:
            for training in trainings:
                training.prune()
        lexicons = [training.estimate()[0] for training in trainings]
        for training in trainings:
            training.forget()
        stages = [training.stages[kinds[iteration]] for training in trainings]
        found = expect_together(stages, [t.steps for t in trainings], lexicons, [t.counts[0] for t in trainings])
        took = (time.perf_counter() - began) / len(trainings)
        for training, stage, (loglik, counted) in zip(trainings, stages, found, strict=True):
            stage.maximize(counted, training.steps)
            training.tell(kinds[iteration], time.perf_counter() - took, iteration, loglik)
    return [training.finish() for training in trainings]


def old_values(
    table: Table, words: ViewWords, old: LexicalModel, arrays: Sequence[np.ndarray], missing: float = 0.0
) -> list[np.ndarray]:
    """Return what an older model's arrays [its pairs] hold for this table's pairs, float32 [n_pairs] each."""
    s_ids, t_ids = old.words.s_ids, old.words.t_ids
    n_s, n_t = len(s_ids), len(t_ids)
    s_map = np.array([s_ids.get(w, n_s) for w in words.s_words], np.int32)
    t_map = np.array([t_ids.get(w, n_t) for w in words.t_words], np.int32)
    rows = s_map[np.repeat(np.arange(table.n_source), np.diff(table.ptr))]
    columns = t_map[table.ids]
    keys = np.repeat(np.arange(old.table.n_source, dtype=np.int64), np.diff(old.table.ptr)) * (n_t + 1) + old.table.ids
    wanted = rows.astype(np.int64) * (n_t + 1) + columns
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    found = (keys[at] == wanted) if len(keys) else np.zeros(len(wanted), bool)
    return [np.where(found, a[at] if len(a) else missing, missing).astype(np.float32) for a in arrays]


def prune(table: Table, all_counts: list[np.ndarray], least: float) -> tuple[Table, list[np.ndarray]]:
    """Leave out pairs with fewer expected counts than ``least`` (in both directions)."""
    most = all_counts[0] if len(all_counts) == 1 else np.maximum(*all_counts)
    ptr = np.zeros_like(table.ptr)
    if len(all_counts) == 1:
        n = kt.prune_rows(table.ptr, table.ids, most, least, ptr)
        ids, kept = table.ids[:n].copy(), [all_counts[0][:n].copy()]
    else:
        keep = most >= least
        np.cumsum(
            np.bincount(np.repeat(np.arange(table.n_source), np.diff(table.ptr))[keep], minlength=table.n_source),
            out=ptr[1:],
        )
        ids, kept = table.ids[keep], [c[keep] for c in all_counts]
    return Table(ptr, ids, table.types, table.target_types), kept


class Training:
    """The training of one view's model: the lexical table, and the stages that use it.

    stages: By the names of their models, in their order.
    """

    last_pass: LinkTaker | None = None

    def __init__(
        self,
        bitext: Bitext,
        letters: int,
        settings: ResolvedSettings,
        pool: Pool,
        max_cells: int,
        report: Report,
        old: LexicalModel | None,
        priors: Callable[[ViewWords], ViewPriors] | None,
        position_smoothing: float,
    ) -> None:
        began = time.perf_counter()
        check_classes(bitext, settings, letters)
        self.settings, self.pool, self.letters, self.old, self._report = settings, pool, letters, old, report
        text = view_text(bitext, letters)
        self.source, self.target, self.words = text.source, text.target, text.words
        source, target = text.source, text.target
        sizes = len(self.words.s_words), len(self.words.t_words)
        self.table, counts = build_table(source, target, *sizes, pool, settings.keep, settings.p_null)
        s_null, self.s_counts = unigrams(source, sizes[0])
        t_null, self.t_counts = unigrams(target, sizes[1])
        self.variational = settings.estimator == "vb"
        self.counts = [counts] if settings.agreement else [counts, counts.copy()]
        self.older = old_values(self.table, self.words, old, old.counts) if old else None
        if self.older:
            self.counts = [c + p for c, p in zip(self.counts, self.older, strict=True)]
        self.priors = priors(self.words) if priors else None
        self.prior_pairs = self.priors.of_pairs(self.table) if self.priors else None
        self.p_null = np.full(2, settings.null_prior, np.float32)
        self.looks: LookAlikes | None = None
        self.report("table", began, pairs=len(self.table.ids))
        kind = kind_of(settings.model_type)
        learns_null = kind.learns_null and not settings.agreement
        known = self.words, old, self.priors, position_smoothing, learns_null, bitext.classes
        self.stages = begin(ViewTask(settings, source, target, *known))
        self.matrices = LinkMatrices(source, target, self.table, pool, max_cells)
        directions = DIRECTIONS[settings.direction]
        self.steps = Expectations(self.matrices, pool, directions, settings.agreement, s_null, t_null, self.p_null)
        if self.priors:
            self.steps.null_priors = self.priors.t_null, self.priors.s_null

    @property
    def last(self) -> Stage:
        """The stage of the model itself."""
        return self.stages[self.settings.model_type]

    def report(self, stage: str, began: float, **figures: Any) -> None:
        """Report the time and the figures of a step."""
        self._report({"view": self.letters, "stage": stage, **figures, "seconds": time.perf_counter() - began})

    def timed(self, stage: str, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function, and report it as a step; return what it returns."""
        began = time.perf_counter()
        found = function(*args)
        self.report(stage, began)
        return found

    def run(self) -> LexicalModel:
        """Train; return the model."""
        if self.settings.ibm1_iterations == 0:
            began = time.perf_counter()
            loglik = self.last.start(self.steps, self.counts)
            if loglik is not None:
                self.tell(self.settings.model_type, began, 0, loglik)
        self.iterate(1, len(schedule(self.settings)))
        return self.finish()

    def iterate(self, begin: int, end: int) -> None:
        """Run the iterations ``begin..end`` of the schedule; the counts that come with the table are iteration 0."""
        s, kinds = self.settings, schedule(self.settings)
        for iteration in range(begin, end):
            began = time.perf_counter()
            if iteration == max(s.ibm1_iterations, 1) and (s.prune or 0.0) > 0:
                self.prune()
            stage = kinds[iteration]
            of = steps_of(s, len(self.source.tokens), stage)
            before = [c.copy() for c in self.counts] if of > 1 else []
            lexicon, _ = self.estimate()
            self.forget()
            if of > 1:
                loglik = self.step(lexicon, self.stages[stage], before, of, iteration)
            else:
                loglik, counted = self.stages[stage].expect(self.steps, lexicon, self.counts)
                self.stages[stage].maximize(counted, self.steps)
            self.tell(stage, began, iteration, loglik)

    def tell(self, stage: str, began: float, iteration: int, loglik: np.ndarray) -> None:
        """Report an iteration."""
        figures = {"iteration": iteration, "log_likelihood": loglik.tolist()}
        self.report(stage, began, **figures, **self.stages[stage].figures())

    def step(self, lexicon: Lexicon, stage: Stage, before: list[np.ndarray], of: int, iteration: int) -> np.ndarray:
        """One iteration over a part of the text; return the log-likelihoods, scaled up to all of it."""
        whole, text = self.steps, step_text(self.source, self.target, of, iteration)
        matrices = LinkMatrices(*text, self.table, self.pool, self.matrices.max_cells)
        how = whole.directions, whole.joint, whole.s_null, whole.t_null, self.p_null
        steps = Expectations(matrices, self.pool, *how)
        loglik, counted = stage.expect(steps, lexicon, self.counts)
        stage.maximize(counted, steps)
        whole.s_null, whole.t_null = steps.s_null, steps.t_null
        sizes = (self.s_counts[: self.table.n_source], self.t_counts[: self.table.n_target])
        seen = [count_words(side.tokens, len(n))[: len(n)] for side, n in zip(text, sizes, strict=True)]
        for old, counts in zip(before, self.counts, strict=True):
            interpolate(self.table, old, counts, seen, sizes, self.pool)
        return loglik * of

    def forget(self) -> None:
        """Set the expected counts to 0."""
        for c in self.counts:
            c[:] = 0

    def prune(self) -> None:
        """Leave pairs with very small counts out of the table and its arrays; pairs that priors name stay."""
        least = self.settings.prune
        if self.prior_pairs is not None:
            for c in self.counts:
                np.maximum(c, least, out=c, where=self.prior_pairs > 0)
        self.table, self.counts = prune(self.table, self.counts, least)
        self.matrices.table = self.table
        self.looks = None
        if self.old:
            self.older = old_values(self.table, self.words, self.old, self.old.counts)
        if self.priors:
            self.prior_pairs = self.priors.of_pairs(self.table)

    def estimate(self) -> tuple[Lexicon, np.ndarray]:
        """M-step of the lexical tables; priors beyond alpha stay in the counts. Return them and the tiers."""
        if self.looks is None and self.settings.look_alike and self.variational:
            keys, counts = (self.words.s_keys, self.words.t_keys), (self.s_counts, self.t_counts)
            self.looks = LookAlikes(self.table, *keys, *counts, self.pool)
        if self.older:
            for c, p in zip(self.counts, self.older, strict=True):
                c += p
        tiers = np.zeros(TIERS)
        if self.looks is not None:
            for c in self.counts:
                self.looks.add_prior(c)
                tiers = np.maximum(tiers, self.looks.strengths)
        if self.prior_pairs is not None:  # after the look-alikes, whose share is that of the text's own links
            for c in self.counts:
                c += self.prior_pairs
        lexicon = lexicon_from_counts(
            self.table, self.counts[0], self.counts[-1], tiers, self.settings.alpha, self.variational, self.pool
        )
        return lexicon, tiers

    def finish(self) -> LexicalModel:
        """Estimate the table for the last time, and do what comes after the iterations; return the model."""
        lexicon, tiers = self.estimate()
        nulls = self.steps.s_null, self.steps.t_null, self.p_null
        return self.last.finish(lexical_fields(self.words, self.table, lexicon, self.counts, tiers, *nulls), self)


# Stepwise EM for large text (after Liang & Klein 2009): each E-step goes over a part of the sentences.
#
# The counts of a step are scaled up to the whole text and interpolated with those of the step before. The weight of
# the new counts is chosen for each pair of words: it grows with the occurrences of the rarer word in the step's
# sentences. So counts of frequent words change at each step, and those of rare words stay until these occur.

#: Weight of the counts before against those of a step, in occurrences of a word.
KEPT = 1.0


def steps_of(settings: ResolvedSettings, n_tokens: int, stage: str) -> int:
    """Return in how many steps a text of so many source tokens is gone over once; 1 if an iteration takes all of it."""
    wanted = kind_of(settings.model_type).steps.get(stage)
    if n_tokens <= SMALL or settings.estimator != "vb" or wanted is None:
        return 1
    return max(1, n_tokens // wanted)


def step_text(source: Side, target: Side, steps: int, step: int, first: int = 0) -> tuple[Side, Side]:
    """Return every ``steps``-th sentence pair of a text, from the ``step``-th on; the sides begin at its ``first``."""
    chosen = np.arange(first, first + len(source)) % steps == step % steps
    sides = []
    for side in (source, target):
        lengths = side.lengths()
        offsets = np.concatenate([[0], np.cumsum(lengths[chosen])])
        sides.append(Side(side.tokens[np.repeat(chosen, lengths)], offsets))
    return sides[0], sides[1]


def interpolate(
    table: Table,
    before: np.ndarray,
    found: np.ndarray,
    seen: Sequence[np.ndarray],
    whole: Sequence[np.ndarray],
    pool: Pool,
) -> None:
    """Make counts of the whole text, in place of ``found``, from those of a step and those before it.

    seen, whole ([n_source], [n_target]): How often each word occurs in the step's sentences, and in the text.
    """
    words = [n.astype(np.float32) for n in (*whole, *seen)]

    def task(block: tuple[int, int]) -> None:
        kt.interpolate_counts(*block, table.ptr, table.ids, *words, np.float32(KEPT), before, found)

    pool.map(task, table.blocks())
