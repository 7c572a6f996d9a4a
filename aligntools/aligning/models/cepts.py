"""What IBM 3 and IBM 4 (Brown et al. 1993) share: fertilities, words from NULL, and the way they are trained.

Each sentence's alignment begins as the HMM has it and climbs by moves and swaps; expectations are over this alignment
and its neighbours (`kernels_cepts`, `kernels_neighbours`). In the first iteration nothing climbs: the HMM's links are
counted.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from aligntools.aligning.models import kernels_cepts as kc
from aligntools.aligning.models import kernels_neighbours as kn
from aligntools.aligning.models.base import Stage, ViewTask
from aligntools.aligning.models.hmm import Hmm, shares
from aligntools.aligning.models.jumps import jump_taps
from aligntools.aligning.models.kernels_jumps import Jumps
from aligntools.aligning.models.kernels_positions import PositionBlocks
from aligntools.aligning.models.lexical import LexicalFields, Lexicon
from aligntools.aligning.models.position_tables import DIAGONAL, PositionTable
from aligntools.aligning.text.link_matrices import Both, Chunk, directed_of
from aligntools.aligning.text.views import ParallelText
from aligntools.aligning.training.expectation import Expectations
from aligntools.formats.models.modelfile import hold
from aligntools.ground.parallel import Pool
from aligntools.viewing.models import Columns

#: Pseudo-count of each word's fertilities, spread as those of all words are.
FERTILITY_SMOOTHING = 2.0
#: Least probability of anything.
LEAST = 1e-7
#: IBM 3 has no distances.
NO_HEADS, NO_OTHERS = np.zeros((1, 1, kc.DISTANCES), np.float32), np.zeros((1, kc.DISTANCES), np.float32)


#: One direction's distances of IBM 4, of heads and of others; see `kernels_cepts.CeptTables`.
Distances: TypeAlias = tuple[np.ndarray, np.ndarray]


@dataclass
class CeptTotals:
    """What a pass over a text counts besides pairs of words; forward and reverse.

    nulls (float64 [2, 2]): Expected words from NULL, and the others less these: how often ``p1`` and ``p0`` are taken.
    """

    fertility: list[np.ndarray]
    nulls: np.ndarray
    distances: list[Distances]
    positions: list[np.ndarray]


@dataclass(frozen=True, eq=False, kw_only=True)
class CeptModel(Hmm):
    """IBM 3 or IBM 4, with the HMM that its alignments begin with.

    fertility (tuple of float32 [n_given_words + 1, FERTILITIES]): Forward, then reverse; last of unknown words.
    p1 (float64 [2]): How often a linked word is followed by one from NULL.
    """

    RELATIVE = False

    fertility: tuple[np.ndarray, np.ndarray]
    p1: np.ndarray
    pegs: bool = False

    def posteriors(
        self, text: ParallelText, chunk: Chunk, both: Both, directions: int, pool: Pool, logs: np.ndarray
    ) -> None:
        """Turn link matrices into posteriors over neighbourhoods; see `LexicalModel.posteriors`."""
        self.run(text, chunk, both, directions, pool, logs)

    def paths(self, text: ParallelText, chunk: Chunk, both: Both, directions: int, pool: Pool) -> None:
        """Turn link matrices into the alignments that were climbed to: 1 at their links, 0 elsewhere, in place."""
        self.run(text, chunk, both, directions, pool, np.zeros((2, chunk.k1 - chunk.k0)), paths=True)

    @cached_property
    def tables(self) -> list[kc.CeptTables]:
        """The parameters as kernels take them, forward and reverse."""
        with np.errstate(divide="ignore"):
            found = []
            for d in (0, 1):
                p1 = float(np.clip(self.p1[d], LEAST, 0.5))
                heads, others = self.distances(d)
                given, observed = self.classes(d)
                logs = [np.log(np.maximum(x, LEAST)) for x in (self.fertility[d], heads, others)]
                table = self.position_table(d)
                blocks = PositionBlocks(table.shape_of, table.shapes, table.starts, table.values)
                found.append(
                    kc.CeptTables(logs[0], np.log1p(-p1), np.log(p1), blocks, logs[1], logs[2], given, observed)
                )
        return found

    def distances(self, d: int) -> Distances:
        """Return one direction's distances; those of IBM 3 are never looked at."""
        return NO_HEADS, NO_OTHERS

    def classes(self, d: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the classes of one direction's given words, and of the observed ones, int32 [n_words + 1]."""
        sizes = len(self.s_null), len(self.t_null)
        given, observed = (np.zeros(n, np.int32) for n in (sizes if d == 0 else sizes[::-1]))
        return given, observed

    def position_table(self, d: int) -> PositionTable:
        """Return one direction's table of positions: rows are given positions; that of IBM 4 is never looked at."""
        return DIAGONAL

    def run(
        self,
        text: ParallelText,
        chunk: Chunk,
        both: Both,
        directions: int,
        pool: Pool,
        logs: np.ndarray,
        climbs: bool = True,
        paths: bool = False,
        counted: CeptTotals | None = None,
    ) -> None:
        """Turn link matrices into posteriors, or into alignments; add to what is counted.

        climbs: False: the posteriors are the HMM's, and the counts those of its links.
        paths: Give alignments.
        """
        ways = kn.Ways(self.RELATIVE, climbs, self.pegs, paths, counted is not None)
        taps, back = jump_taps(self.jumps)
        for d in (0, 1):
            if not directions & (d + 1):
                continue
            given, observed = (text.source, text.target) if d == 0 else (text.target, text.source)
            a, b = given.offsets[chunk.k0], given.offsets[chunk.k1]
            fertility, nulls = np.full(b - a, -1, np.int32), np.zeros(chunk.k1 - chunk.k0)
            fewer, more = np.zeros((2, b - a), np.float32)
            way, tables = slice(d, d + 1), self.tables[d]
            shapes = [x.shape if counted is not None else (1,) * x.ndim for x in (tables.heads, tables.others)]
            inverse, null = (self.lexicon.s_inverse, self.lexicon.t_inverse)[d], (self.t_null, self.s_null)[d]
            words = inverse, null, Jumps(self.jumps[way], taps[way], back[way]), self.p_null[d], tables, ways
            place = directed_of(text, chunk, d), both[d], d == 0, *words
            sums = fertility, fewer, more, nulls, logs[d]

            def task(block: tuple[int, int], place: Any = place, sums: Any = sums, shapes: Any = shapes) -> Distances:
                own = np.zeros(shapes[0]), np.zeros(shapes[1])
                kn.cept_block(*block, *place, kc.CeptCounts(*(*sums, *own)))
                return own

            parts = pool.map(task, chunk.sentence_blocks)
            if counted is None:
                continue
            for part in parts:
                for total, own in zip(counted.distances[d], part, strict=True):
                    total += own
            lengths = [np.diff(side.offsets[chunk.k0 : chunk.k1 + 1]) for side in (given, observed)]
            n_words = lengths[1][lengths[0] > 0].sum()
            counted.nulls[d] += nulls.sum(), n_words - 2 * nulls.sum()
            # what each word has, and the probabilities of one less and of one more
            known = fertility >= 0
            tokens, fertility, fewer, more = given.tokens[a:b][known], fertility[known], fewer[known], more[known]
            total = counted.fertility[d]
            for shift, weight in ((0, 1.0 - fewer.astype(np.float64) - more), (-1, fewer), (1, more)):
                places = tokens.astype(np.int64) * kc.FERTILITIES + np.clip(fertility + shift, 0, kc.FERTILITIES - 1)
                total += np.bincount(places, weight, total.size).reshape(total.shape)

    # Files

    def arrays(self) -> dict[str, np.ndarray]:
        """Return its own arrays, as a file names them."""
        own = {f"fertility.{d}": x for d, x in enumerate(self.fertility)}
        return super().arrays() | own | {"p1": self.p1}

    @classmethod
    def own_fields(cls, fields: LexicalFields, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
        """Return the fields of what was in a file, checked: kernels trust shapes."""
        sizes = len(fields["words"].s_words), len(fields["words"].t_words)
        shapes = [(n + 1, kc.FERTILITIES) for n in sizes]
        fertility = tuple(hold(arrays, f"fertility.{d}", shapes[d], np.float32, 0) for d in (0, 1))
        return {"jumps": arrays["jumps"], "fertility": fertility, "p1": hold(arrays, "p1", (2,), np.float64, 0, 1)}

    # Looking at it

    def facts(self) -> list[list[Any]]:
        """Return how often words come from NULL."""
        return [["words from NULL, p1", ", ".join(f"{x:.4f}" for x in self.p1)]]

    def charts(self) -> list[Columns]:
        """Return jumps and fertilities."""
        series = [
            (f"{side} words", shares(one[-1].astype(np.float64)))
            for side, one in zip(("source", "target"), self.fertility, strict=True)
        ]
        names = [str(k) for k in range(kc.FERTILITIES)]
        return [*super().charts(), Columns("Fertilities", "words that are linked to a word", names, series)]

    def word_shares(self, d: int, words: np.ndarray) -> list[list[float]]:
        """Return the fertilities of some words."""
        known = self.fertility[d][words].astype(np.float64)
        shown: list[list[float]] = (known / np.maximum(known.sum(axis=1, keepdims=True), 1e-9)).tolist()
        return shown


class CeptStage(Stage):
    """IBM 3 or IBM 4 in training."""

    def __init__(self, model: type[CeptModel], task: ViewTask, before: Stage | None = None) -> None:
        super().__init__(model, task, before)
        self.own: dict[str, Any] = {}
        self.climbs = False

    def parameters(self) -> dict[str, Any]:
        """Return the parameters, those of the HMM among them."""
        assert self.before is not None, "the HMM comes before"
        if not self.own:
            self.own = self.first()
        return self.before.parameters() | self.own

    def sizes(self) -> tuple[int, int]:
        """Return how many words there are on both sides, with NULL."""
        assert self.task.words is not None, "it is not trained in parts"
        return len(self.task.words.s_words), len(self.task.words.t_words)

    def first(self) -> dict[str, Any]:
        """Return parameters for the first iteration, which does not climb by them."""
        flat = tuple(np.full((n + 1, kc.FERTILITIES), 1 / kc.FERTILITIES, np.float32) for n in self.sizes())
        settings = self.task.settings
        # it is given: estimated, it grows, and words that are hard to explain come from NULL
        p1 = np.full(2, float(np.clip(settings.p_null, LEAST, 0.5)))
        return {"fertility": flat, "p1": p1, "pegs": settings.pegging}

    def begin_counts(self) -> CeptTotals:
        """Return what counts begin as."""
        none = [(np.zeros(NO_HEADS.shape), np.zeros(NO_OTHERS.shape)) for _ in (0, 1)]
        return CeptTotals([np.zeros((n, kc.FERTILITIES)) for n in self.sizes()], np.zeros((2, 2)), none, [])

    def expect(self, steps: Expectations, lexicon: Lexicon, counts: list[np.ndarray]) -> tuple[np.ndarray, CeptTotals]:
        """Return log-likelihoods of the neighbourhoods, and what was counted.

        In joint training pairs of words are counted by the product of both directions' posteriors.
        """
        model, counted = self.now(steps, lexicon), self.begin_counts()
        assert isinstance(model, CeptModel)

        def turn(chunk: Chunk, both: Both, logs: np.ndarray) -> None:
            model.run(steps.matrices, chunk, both, steps.directions, steps.pool, logs, self.climbs, counted=counted)

        def then(chunk: Chunk, both: Both) -> None:
            self.count_positions(steps, chunk, both, counted)
            if steps.joint:
                cells, n = both[0], chunk.n_cells
                cells[:n] *= both[1][:n]
            else:
                steps.count_null(chunk, both)

        steps.forget_null()
        return steps.over(lexicon, counts, turn, then, apart=True), counted

    def count_positions(self, steps: Expectations, chunk: Chunk, both: Both, counted: CeptTotals) -> None:
        """Count positions of a chunk's posteriors, where the model has any."""

    def maximize(self, counted: Any, steps: Expectations | None = None) -> None:
        """Estimate fertilities; from now on alignments climb."""
        self.own["fertility"] = tuple(fertilities(c) for c in counted.fertility)
        self.climbs = True


def fertilities(counts: np.ndarray) -> np.ndarray:
    """Estimate fertilities from expected counts [n_words, FERTILITIES]; return one row more, for unknown words."""
    total = counts.sum(0)
    common = (total + 0.1) / (total + 0.1).sum()
    smoothed = np.concatenate([counts, np.zeros((1, counts.shape[1]))]) + FERTILITY_SMOOTHING * common
    return distributions(smoothed)


def distributions(counts: np.ndarray) -> np.ndarray:
    """Return the shares that counts with their pseudo-counts have along the last axis, float32.

    These are the means of the posterior distributions. Variational Bayes, as lexical tables have it, would give next
    to nothing to what was not seen.
    """
    found: np.ndarray = counts / np.maximum(counts.sum(-1, keepdims=True), 1e-300)
    return found.astype(np.float32)
