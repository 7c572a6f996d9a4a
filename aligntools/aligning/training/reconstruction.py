"""Maximum reconstruction estimation of alignment models (Cheng, Liu & Xu 2017), for IBM 2 and for the HMM.

Training maximizes ``P(x | x, y) = sum_z P(z | x, y) P(x | z, y)``, by exponentiated gradient with adaptive rates, each
direction by itself. Without a prior, as in the paper, rare words become translations of whatever occurs with them. So
each word's distribution can be smoothed towards the words of the text, and each one over positions towards the
diagonal; then the objective has the logarithm of these (Dirichlet) priors, too.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from aligntools.aligning.models.base import LexicalModel
from aligntools.aligning.models.lexical import lexical_fields, lexicon_from_counts
from aligntools.aligning.models.position_tables import DirectedChunk
from aligntools.aligning.models.registry import kind_of
from aligntools.aligning.settings import ReconstructionSettings, ResolvedSettings
from aligntools.aligning.text.cooccurrence import Table, count_words
from aligntools.aligning.text.kernels_look_alikes import TIERS
from aligntools.aligning.text.link_matrices import LinkMatrices
from aligntools.aligning.text.views import view_text
from aligntools.aligning.training import kernels_reconstruction as km
from aligntools.aligning.training.exponentiated_steps import LEAST, DirectionClimb, DistributionFamily
from aligntools.aligning.training.reconstruction_positions import PositionClimb
from aligntools.formats.text.corpus import Bitext, Side
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.ground.run import Report

#: Probability of a pair of words that the table does not have.
MISSING = 1e-9

_NONE = np.zeros(0, np.float32)


def _normalized(values: np.ndarray, table: Table, by_target: bool) -> np.ndarray:
    """Scale values so that each word's sum to 1, float32."""
    sums = table.column_sums(values) if by_target else table.row_sums(values)
    share = np.divide(1.0, sums, out=np.zeros(len(sums)), where=sums > 0).astype(np.float32)
    out = np.empty(len(values), np.float32)
    if by_target:
        for a in range(0, len(values), 1 << 20):
            part = slice(a, a + (1 << 20))
            out[part] = values[part] * share[table.ids[part]]
    else:
        np.multiply(values, np.repeat(share, np.diff(table.ptr)), out=out)
    return np.maximum(out, np.float32(LEAST), out=out)


class Climb:
    """The optimization of one view's model by reconstruction.

    positions: What is trained of positions, by direction.
    ones: Inverse totals of the given words of each direction, whose values are probabilities already.
    """

    def __init__(
        self,
        model: LexicalModel,
        source: Side,
        target: Side,
        settings: ResolvedSettings,
        how: ReconstructionSettings,
        pool: Pool,
        max_cells: int,
    ) -> None:
        self.model, self.settings, self.how, self.pool = model, settings, how, pool
        self.table = model.table
        self.matrices = LinkMatrices(source, target, self.table, pool, max_cells)
        self.of: Callable[..., LexicalModel] = kind_of(settings.model_type).load()
        self.positions: dict[int, PositionClimb] = {}
        ways = ("forward", "reverse")
        chosen = [d for d in (0, 1) if settings.direction in ("both", ways[d])]
        self.directions = [self._direction(d, *((source, target)[:: 1 - 2 * d])) for d in chosen]
        self.ones = [np.ones(n + 1, np.float32) for n in (self.table.n_source, self.table.n_target)]

    def _direction(self, d: int, given: Side, observed: Side) -> DirectionClimb:
        m, table, how = self.model, self.table, self.how
        n_given, n_observed = (table.n_source, table.n_target)[:: 1 - 2 * d]
        start = _normalized((m.lexicon.forward, m.lexicon.reverse)[d], table, d == 1)
        ids = None if d == 0 else table.ids
        lexicon = DistributionFamily(start, table.ptr, how.mre_rate, ids, n_given)
        words, shares = count_words(observed.tokens, n_observed), np.zeros(n_given)
        if how.mre_smoothing:
            ptr, _, by_id = lexicon.place
            uses = count_words(given.tokens, n_given)
            km.smooth(ptr, table.ids, by_id, lexicon.p, words, float(how.mre_smoothing), uses, shares)
        null = np.array((m.t_null, m.s_null)[d], np.float32)
        rate = how.mre_rate if how.mre_null and m.p_null[d] > 0 else 0.0
        if rate:
            null[1:-1] /= max(float(null[1:-1].sum(dtype=np.float64)), 1e-30)
        nulls = DistributionFamily(null, np.array([1, max(len(null) - 1, 1)], np.int64), rate)
        assert m.climbing is not None, "its declaration says that it is reconstructed from"
        self.positions[d] = m.climbing(self, d, given, observed)
        families = [lexicon, nulls, self.positions[d].family]
        return DirectionClimb(d == 0, given, observed, float(m.p_null[d]), lexicon, nulls, families, words, shares)

    def evaluate(self, d: DirectionClimb) -> tuple[float, float, float]:
        """Compute for the step that ``d`` tries: the objective with priors, without priors, and ln P(x | y).

        Gradients and totals are written to its families.
        """
        for family in d.families:
            if isinstance(family, DistributionFamily):
                family.gradient[:] = 0
        uses = np.zeros(len(d.lexicon.totals))
        null_gradient, null_uses = np.zeros(len(d.null.p)), 0.0
        sums, extra = np.zeros(2), np.zeros(())
        positions = self.positions[d.way]
        for chunk in self.matrices.chunks:
            cells = self.matrices.cells
            apart = self.matrices.second if positions.apart else _NONE
            self.matrices.index(chunk)
            self.matrices.fill(chunk, d.lexicon.tried, MISSING, cells)
            part = DirectedChunk(chunk, d.given, d.observed, d.forward)
            extra = extra + positions.pass_over(part, d, cells, apart)
            found = part.outcome
            sums += found.objective.sum(), found.loglik.sum()
            if positions.apart:
                positions.after(chunk, d.forward, apart)
            self.matrices.collect(chunk, d.lexicon.gradient, cells)
            a, b = d.given.offsets[chunk.k0], d.given.offsets[chunk.k1]
            uses += np.bincount(d.given.tokens[a:b], found.uses, len(uses))
            a, b = d.observed.offsets[chunk.k0], d.observed.offsets[chunk.k1]
            null_gradient += np.bincount(d.observed.tokens[a:b], found.nulls[1], len(null_gradient))
            null_uses += float(found.nulls[0].sum(dtype=np.float64))
        d.lexicon.totals = uses + (self.how.mre_smoothing or 0.0)
        if d.null.moves:
            d.null.gradient[:] = null_gradient
            d.null.totals[:] = null_uses
        positions.gradients(extra)
        log_prior = positions.log_prior()
        if self.how.mre_smoothing:
            ptr, _, by_id = d.lexicon.place
            place, smoothing = (ptr, self.table.ids, by_id, d.lexicon.tried, d.words), float(self.how.mre_smoothing)
            log_prior = km.pull(*place, smoothing, d.word_shares, d.lexicon.gradient) + log_prior
        return sums[0] + log_prior, sums[0], sums[1]

    def steps(self, iterations: int) -> Iterator[int]:
        """Climb, yielding after the start and after each iteration."""
        for d in self.directions:
            d.judge(*self.evaluate(d))
        yield 0
        for iteration in range(1, iterations + 1):
            climbing = [d for d in self.directions if not d.done]
            self.pool.map(DirectionClimb.propose, climbing)
            for d in climbing:
                d.judge(*self.evaluate(d))
            yield iteration

    def reached(self) -> LexicalModel:
        """Return the model as it is saved: probabilities times how often their words occur, as counts for EM."""
        m, table = self.model, self.table
        counts = [np.zeros(len(table.ids), np.float32)] * 2  # a direction that was not trained is not used either
        nulls = [m.t_null, m.s_null]
        for d in self.directions:
            way = d.way
            n = np.maximum(count_words(d.given.tokens, len(d.lexicon.totals)), 1).astype(np.float32)
            counts[way] = d.lexicon.p * (np.repeat(n, np.diff(table.ptr)) if d.forward else n[table.ids])
            nulls[way] = d.null.p
        tiers = np.zeros(TIERS)
        lexicon = lexicon_from_counts(table, counts[0], counts[1], tiers, self.settings.alpha, False, self.pool)
        fields = lexical_fields(m.words, table, lexicon, counts, tiers, nulls[1], nulls[0], m.p_null)
        assert m.climbing is not None
        found: LexicalModel = m.climbing.reached(self, fields, self.positions)
        return found


def reconstructed_from(settings: ResolvedSettings) -> str:
    """Return the model that reconstruction trains from one of these settings.

    Raises UsageProblem when there is none.
    """
    found = kind_of(settings.model_type).reconstructs
    if found is None:
        raise UsageProblem(f"`model_type={settings.model_type}` is not a model that maximum reconstruction starts from")
    return found


def reconstruct(
    bitext: Bitext,
    models: list[LexicalModel],
    settings: ResolvedSettings,
    pool: Pool,
    max_cells: int,
    how: ReconstructionSettings,
    report: Report | None = None,
) -> tuple[list[LexicalModel], ResolvedSettings]:
    """Go on from trained models to those that reconstruct the text best; return them and their settings.

    The list of models is emptied, so that each one's memory is free as soon as it is not needed. ``report`` is called
    after each iteration (0: the start), with objective (and prior), reconstruction (ln P(x | x, y)) and log_likelihood.
    """
    report = report or (lambda _: None)
    model = reconstructed_from(settings)
    how = how.resolved(settings.estimator)
    settings = replace(settings, model_type=model, estimator="em", agreement=False, look_alike=False)
    reached = []
    while models:
        start = models.pop(0)
        text = view_text(bitext, start.letters)
        climb = Climb(start, text.source, text.target, settings, how, pool, max_cells)
        for iteration in climb.steps(how.mre_iterations):
            figures = {name: [0.0, 0.0] for name in ("objective", "reconstruction", "log_likelihood")}
            for d in climb.directions:
                for name, pair in figures.items():
                    pair[0 if d.forward else 1] = float(getattr(d, name))
            report({"view": start.letters, "stage": "mre", "iteration": iteration, **figures})
        reached.append(climb.reached())
    return reached, settings
