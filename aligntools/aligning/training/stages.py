"""Training: IBM 1, then IBM 2 or the HMM, then the sampler, for each view of the text.

With joint training both directions share one expected count a pair of words, the product of their posteriors,
and so one array of values: ``p(t | s)`` and ``p(s | t)`` differ in their normalizers alone.
"""

import time

import numpy as np

from aligntools.aligning.models.base import LexicalModel
from aligntools.aligning.models.diagonal import sentence_shapes, tension_step
from aligntools.aligning.models.diagonal_series import climb_as_fast_align
from aligntools.aligning.models.fertility import Fertility
from aligntools.aligning.models.hmm import Hmm
from aligntools.aligning.models.ibm import DiagonalIbm2, Ibm1, TableIbm2
from aligntools.aligning.models.jumps import initial_jumps, jumps_from_counts
from aligntools.aligning.models.lexical import LookAlikes, lexicon_from_counts, uniform_lexicon
from aligntools.aligning.models.position_tables import PositionTable
from aligntools.aligning.settings import DIRECTIONS, POSITION_SMOOTHING, AlignerSettings
from aligntools.aligning.text import kernels_cooccurrence as kt
from aligntools.aligning.text.cooccurrence import Table, build_table, unigrams
from aligntools.aligning.text.kernels_look_alikes import TIERS
from aligntools.aligning.text.link_matrices import LinkMatrices
from aligntools.aligning.text.views import view_text
from aligntools.aligning.training.expectation import Expectations
from aligntools.aligning.training.sampling import train_sampler
from aligntools.aligning.training.stepwise import interpolate, step_text, steps_of
from aligntools.aligning.training.view_agreement import expect_together
from aligntools.aligning.training.view_priors import add_jumps

#: Jumps are counted on every so many sentences that about this many tokens take part.
JUMP_SAMPLE = 400_000


def train(
    bitext, settings: AlignerSettings, pool, max_cells, report=None, start=None, priors=None,
    position_smoothing=POSITION_SMOOTHING, last_pass=None,
) -> list[LexicalModel]:  # fmt: skip
    """Train a model of every view.

    Parameters
    ----------
    bitext : Bitext
        Blank pairs are passed over.
    settings : AlignerSettings, resolved
    max_cells : int
        Link-matrix cells worked at a time.
    report : callable or None
        Called with a dict after each iteration: view, stage, iteration, log-likelihoods, seconds.
    start : list of LexicalModel or None
        Models of the same views to go on from: what they learned is added to the priors.
    priors : callable or None
        Called with the words of a view; returns its `ViewPriors`.
    position_smoothing : float
        Words that each distribution of a table of positions is given beforehand, in every M-step.
    last_pass : LastPass or None
        Takes the links of a large text.

    Returns
    -------
    list of LexicalModel
        `Ibm1`, `DiagonalIbm2`, `TableIbm2`, `Hmm` or `Fertility`, as the settings say.
    """

    def begin(number, length):
        old = start[number] if start else None
        training = _Training(bitext, length, settings, pool, max_cells, report or (lambda _: None), old, priors)
        training.position_smoothing = position_smoothing
        if last_pass is not None and last_pass.serves(settings, len(bitext.source.tokens)):
            training.last_pass = last_pass
        return training

    views = list(enumerate(settings.views or ()))
    if settings.view_agreement and len(views) > 1:
        return _train_together((begin(*view) for view in views), settings)
    return [begin(*view).run() for view in views]


def _train_together(beginning, settings):
    """Train the HMMs of all views at once, after each view's own IBM 1; return the models."""
    trainings: list[_Training] = []
    for training in beginning:
        if trainings:
            training.matrices.share(trainings[0].matrices)
        training.iterate(1, settings.ibm1_iterations)
        trainings.append(training)
    first = max(settings.ibm1_iterations, 1)
    for iteration in range(first, settings.ibm1_iterations + settings.iterations):
        began = time.perf_counter()
        if iteration == first and settings.prune > 0:
            for training in trainings:
                training.prune()
        lexicons = [training.estimate()[0] for training in trainings]
        for training in trainings:
            training.forget()
        found = expect_together(
            [t.steps for t in trainings], lexicons, [t.jumps for t in trainings], [t.counts[0] for t in trainings],
            trainings[0].stride,
        )  # fmt: skip
        took = (time.perf_counter() - began) / len(trainings)
        for training, (loglik, jumps) in zip(trainings, found, strict=True):
            training.take_jumps(jumps)
            training.tell("hmm", time.perf_counter() - took, iteration, loglik)
    return [training.finish() for training in trainings]


def old_values(table, words, old, arrays, missing=0.0):
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


def prune(table, all_counts, least):
    """Leave out pairs with fewer expected counts than ``least`` (in both directions)."""
    most = all_counts[0] if len(all_counts) == 1 else np.maximum(*all_counts)
    ptr = np.zeros_like(table.ptr)
    if len(all_counts) == 1:
        n = kt.prune_rows(table.ptr, table.ids, most, least, ptr)
        ids, kept = table.ids[:n].copy(), [all_counts[0][:n].copy()]
    else:
        keep = most >= least
        np.cumsum(np.bincount(np.repeat(np.arange(table.n_source), np.diff(table.ptr))[keep], minlength=table.n_source),
                  out=ptr[1:])  # fmt: skip
        ids, kept = table.ids[keep], [c[keep] for c in all_counts]
    return Table(ptr, ids, table.types, table.target_types), kept


class _Training:
    """The model of one view in the making; its stages are methods, called in the order of `run`."""

    position_smoothing = POSITION_SMOOTHING
    last_pass = None

    def __init__(self, bitext, length, settings, pool, max_cells, report, old, priors):
        began = time.perf_counter()
        self.settings, self.pool, self.length, self.old, self._report = settings, pool, length, old, report
        text = view_text(bitext, length)
        self.source, self.target, self.words = text.source, text.target, text.words
        source, target = text.source, text.target
        sizes = len(self.words.s_words), len(self.words.t_words)
        self.table, counts = build_table(source, target, *sizes, pool, settings.keep, settings.p_null)
        s_null, self.s_counts = unigrams(source, sizes[0])
        t_null, self.t_counts = unigrams(target, sizes[1])
        self.variational = settings.estimator == "vb"
        self.counts = [counts] if settings.agreement else [counts, counts.copy()]
        self.prior = old_values(self.table, self.words, old, old.counts) if old else None
        if self.prior:
            self.counts = [c + p for c, p in zip(self.counts, self.prior, strict=True)]
        self.given = priors(self.words) if priors else None
        self.given_pairs = self.given.of_pairs(self.table) if self.given else None
        self.jumps = old.jumps if isinstance(old, Hmm) else initial_jumps()
        self.tension = np.full(2, settings.tension if settings.favor_diagonal else 0.0)
        self.p_null = np.full(2, settings.null_prior, np.float32)
        self.looks = self.shapes = None
        self.figures: dict = {}  # of an iteration, besides those of all models
        self.report("table", began, pairs=len(self.table.ids))
        self.positions = self._first_positions()
        self.matrices = LinkMatrices(source, target, self.table, pool, max_cells)
        self.steps = Expectations(
            self.matrices, pool, DIRECTIONS[settings.direction], settings.agreement, s_null, t_null,
            self.p_null,
        )  # fmt: skip
        if self.given:
            self.steps.null_priors = self.given.t_null, self.given.s_null

    def report(self, stage, began, **figures):
        """Pass on what a step took and gave."""
        self._report({"view": self.length, "stage": stage, **figures, "seconds": time.perf_counter() - began})

    def _first_positions(self):
        if self.settings.positions != "table":
            return []
        if isinstance(self.old, TableIbm2):
            return self.old.positions
        lengths = self.source.lengths(), self.target.lengths()
        return [PositionTable.of_lengths(*lengths[::way], self.tension[0]) for way in (1, -1)]

    def run(self):
        """Train; return the model."""
        s = self.settings
        if s.model_type == "ibm2" and s.ibm1_iterations == 0:
            self.uniform_start()
        self.iterate(1, s.ibm1_iterations + (s.iterations if s.model_type != "ibm1" else 0))
        return self.finish()

    def iterate(self, begin, end):
        """Run some of the iterations, of IBM 1 and of the model itself; the table's first counts are iteration 0."""
        s = self.settings
        first = s.ibm1_iterations
        for iteration in range(begin, end):
            began = time.perf_counter()
            if iteration == max(first, 1) and s.prune > 0:
                self.prune()
            stage = "ibm1" if iteration < first else s.model_type
            of = steps_of(s, len(self.source.tokens), stage)
            before = [c.copy() for c in self.counts] if of > 1 else []
            lexicon, _ = self.estimate()
            self.forget()
            if of > 1:
                stage = "ibm1" if iteration < first else "hmm"
                loglik = self.step(lexicon, stage, before, of, iteration)
            elif iteration < first:
                stage, loglik = "ibm1", self.ibm(lexicon, np.zeros(2))[0]
            elif s.model_type == "ibm2":
                stage, loglik = "ibm2", self.ibm2(lexicon)
            else:
                stage, loglik = "hmm", self.hmm(lexicon)
            self.tell(stage, began, iteration, loglik)

    def uniform_start(self):
        """Iterate once with all words equally likely, where no IBM 1 goes before: it knows the diagonal too."""
        began = time.perf_counter()
        self.forget()
        steps, table = self.steps, self.table
        if not self.settings.agreement:  # NULL is learned then, and begins as ignorant as the words
            steps.t_null = np.full_like(steps.t_null, 1 / table.n_target)
            steps.s_null = np.full_like(steps.s_null, 1 / table.n_source)
        loglik, _ = self.ibm(uniform_lexicon(table), self.tension)
        self.tell("ibm2", began, 0, loglik)

    def tell(self, stage, began, iteration, loglik):
        """Report an iteration."""
        figures = {"iteration": iteration, "log_likelihood": loglik.tolist(), "tension": self.tension.tolist()}
        self.report(stage, began, **figures, **self.figures)
        self.figures = {}

    def ibm(self, lexicon, tension):
        """One iteration of IBM 1, or of IBM 2 with the diagonal as it is."""
        loglik, features = self.steps.ibm(lexicon, tension, self.counts, not self.settings.favor_diagonal)
        if not self.settings.agreement:
            nulls = [float(counts.sum()) for counts in self.steps.null_counts]
            self.figures = {"null": nulls, "diagonal": features[:, 0].tolist()}
        self.steps.estimate_null(self.settings)
        return loglik, features

    def ibm2(self, lexicon):
        """One iteration of IBM 2, its prior estimated too; return the log-likelihoods."""
        if self.positions:
            loglik, counts = self.steps.ibm_table(lexicon, self.positions, self.counts)
            self.steps.estimate_null(self.settings)
            for p, c in zip(self.positions, counts, strict=True):
                p.values = p.estimate(c, self.tension[0], self.position_smoothing, self.pool)
            return loglik
        loglik, features = self.ibm(lexicon, self.tension)
        if self.settings.optimize_tension:
            if self.shapes is None:
                lengths = self.source.lengths(), self.target.lengths()
                self.shapes = [sentence_shapes(*lengths[::way]) for way in (1, -1)]
            if self.settings.optimize_tension == "fast_align":
                found = [climb_as_fast_align(self.tension[d], features[d, 0], *self.shapes[d]) for d in (0, 1)]
                self.tension = np.array([tension for tension, _ in found])
                self.figures["climb"] = [steps for _, steps in found]
            else:
                self.tension = np.array([tension_step(self.tension[d], *features[d], *self.shapes[d]) for d in (0, 1)])
        return loglik

    def step(self, lexicon, stage, before, of, iteration):
        """One iteration over a part of the text; return the log-likelihoods, scaled up to all of it."""
        whole, text = self.steps, step_text(self.source, self.target, of, iteration)
        matrices = LinkMatrices(*text, self.table, self.pool, self.matrices.max_cells)
        self.steps = Expectations(
            matrices, self.pool, whole.directions, whole.joint, whole.s_null, whole.t_null, self.p_null
        )
        loglik = self.ibm(lexicon, np.zeros(2))[0] if stage == "ibm1" else self.hmm(lexicon)
        self.steps = whole
        sizes = (self.s_counts[: self.table.n_source], self.t_counts[: self.table.n_target])
        for old, counts in zip(before, self.counts, strict=True):
            interpolate(self.table, old, counts, text, sizes, self.pool)
        return loglik * of

    @property
    def stride(self):
        """Jumps are counted on every so many sentences."""
        return max(1, len(self.steps.source.tokens) // JUMP_SAMPLE)

    def hmm(self, lexicon):
        """One iteration of the HMM; return the log-likelihoods."""
        loglik, jump_counts = self.steps.hmm(lexicon, self.jumps, self.counts, self.stride)
        self.take_jumps(jump_counts)
        return loglik

    def take_jumps(self, counts):
        """M-step of the jumps."""
        if self.given:
            add_jumps(counts, self.given.window() / self.stride)
        self.jumps = jumps_from_counts(counts, 0.5 if self.variational else 0.0)

    def forget(self):
        """Set the expected counts to 0."""
        for c in self.counts:
            c[:] = 0

    def prune(self):
        """Leave out the pairs that hardly count, and what is kept a pair; pairs that priors name stay."""
        if self.given_pairs is not None:
            for c in self.counts:
                np.maximum(c, self.settings.prune, out=c, where=self.given_pairs > 0)
        self.table, self.counts = prune(self.table, self.counts, self.settings.prune)
        self.matrices.table = self.table
        self.looks = None
        if self.prior:
            self.prior = old_values(self.table, self.words, self.old, self.old.counts)
        if self.given:
            self.given_pairs = self.given.of_pairs(self.table)

    def estimate(self):
        """M-step of the lexical tables; priors beyond alpha stay in the counts. Return them and the tiers."""
        if self.looks is None and self.settings.look_alike and self.variational:
            keys, counts = (self.words.s_keys, self.words.t_keys), (self.s_counts, self.t_counts)
            self.looks = LookAlikes(self.table, *keys, *counts, self.pool)
        if self.prior:
            for c, p in zip(self.counts, self.prior, strict=True):
                c += p
        tiers = np.zeros(TIERS)
        if self.looks is not None:
            for c in self.counts:
                self.looks.add_prior(c)
                tiers = np.maximum(tiers, self.looks.strengths)
        if self.given_pairs is not None:  # after the look-alikes, whose share is that of the text's own links
            for c in self.counts:
                c += self.given_pairs
        lexicon = lexicon_from_counts(
            self.table, self.counts[0], self.counts[-1], tiers, self.settings.alpha, self.variational, self.pool
        )
        return lexicon, tiers

    def finish(self):
        """Estimate for the last time, and sample."""
        s = self.settings
        lexicon, tiers = self.estimate()
        fields = {
            "words": self.words, "table": self.table, "lexicon": lexicon, "counts": self.counts, "tiers": tiers,
            "s_null": self.steps.s_null, "t_null": self.steps.t_null, "p_null": self.p_null,
        }  # fmt: skip
        if s.model_type == "ibm1":
            return Ibm1(**fields)
        if s.model_type == "ibm2" and self.positions:
            return TableIbm2(**fields, tension=self.tension, positions=self.positions)
        if s.model_type == "ibm2":
            return DiagonalIbm2(**fields, tension=self.tension)
        hmm = Hmm(**fields, jumps=self.jumps)
        if s.model_type == "hmm":
            return hmm
        began = time.perf_counter()
        sampler = train_sampler(hmm, self.matrices, self.looks, s, self.pool, self.given, self.last_pass)
        self.report("sampler", began)
        return Fertility(**fields, jumps=self.jumps, sampler=sampler)
