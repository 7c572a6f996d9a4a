"""The alignment HMM (Vogel, Ney & Tillmann 1996; NULL as in Och & Ney 2003): posteriors and Viterbi paths."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from aligntools.aligning import precompile
from aligntools.aligning.models import kernels_hmm as kh
from aligntools.aligning.models import kernels_jumps as kj
from aligntools.aligning.models.base import LexicalModel, Stage, ViewTask
from aligntools.aligning.models.jumps import initial_jumps, jump_taps, jumps_from_counts
from aligntools.aligning.models.lexical import LexicalFields, Lexicon
from aligntools.aligning.settings import ResolvedSettings
from aligntools.aligning.text.kernels_pairs import Pairs
from aligntools.aligning.text.link_matrices import Both, Chunk, pairs_of
from aligntools.aligning.text.views import ParallelText, TextView
from aligntools.aligning.training.expectation import BlockStep, Expectations
from aligntools.aligning.training.reconstruction_positions import HmmClimb
from aligntools.aligning.training.view_priors import add_jumps
from aligntools.ground.parallel import Pool
from aligntools.viewing.models import Columns

#: Jumps are counted on every n-th sentence, so that about this many tokens take part.
JUMP_SAMPLE = 400_000
#: Class of each source word, and of each target word, int16 [n_words + 1]; None where jumps do not depend on it.
Classes: TypeAlias = tuple[np.ndarray, np.ndarray] | tuple[None, None]
NO_CLASSES: Classes = (None, None)
#: Where links to NULL are not counted.
NOT_COUNTED = np.zeros(0, np.float32), np.zeros(0, np.float32)


class HmmStage(Stage):
    """The HMM in training."""

    def __init__(self, model: type[LexicalModel], task: ViewTask, before: Stage | None = None) -> None:
        super().__init__(model, task, before)
        self._jumps = start_of(task.old)
        self._stride = 1
        self._null = NullShares(task)

    def parameters(self) -> dict[str, np.ndarray]:
        """Return the jumps."""
        return {"jumps": self._jumps}

    def restore(self, parameters: dict[str, np.ndarray]) -> Self:
        """Take jumps that were kept."""
        self._jumps = parameters.get("jumps", self._jumps)
        return self

    def jump_classes(self, steps: Expectations) -> Classes:
        """Return the classes that jumps depend on."""
        return NO_CLASSES

    def expect(self, steps: Expectations, lexicon: Lexicon, counts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Return log-likelihoods and jump counts."""
        found: list[np.ndarray] = []
        loglik = steps.over(lexicon, counts, steps.by_blocks(self.block(steps, lexicon), found))
        return loglik, sum(found, no_counts(self._jumps))

    def block(self, steps: Expectations, lexicon: Lexicon) -> BlockStep:
        """Return what an E-step does with a block of sentences; it returns jump counts."""
        self._stride = max(1, steps.n_tokens // JUMP_SAMPLE)
        self._null.begin(steps)
        classes = self.jump_classes(steps)
        return block_of(steps, lexicon, self._jumps, self._stride, classes, self._null.unlinked)

    def maximize(self, counted: np.ndarray, steps: Expectations | None = None) -> None:
        """Estimate the jumps, and each word's probability of NULL where it has one."""
        if steps is not None:
            self._null.estimate(steps)
        if self.task.priors:
            add_jumps(counted, self.task.priors.window() / self._stride)
        self._jumps = jumps_from_counts(counted, 0.5 if self.task.settings.estimator == "vb" else 0.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Hmm(LexicalModel):
    """The HMM; in a subclass jumps depend on the class of the word that they leave.

    jumps (float32 [2, JUMP_SIZE] or [2, classes, JUMP_SIZE]): Forward, then reverse.
    """

    HAS_PATHS = True
    STAGE: ClassVar[type[Stage]] = HmmStage
    climbing: ClassVar[type[HmmClimb] | None] = HmmClimb
    compiled_ahead: ClassVar[precompile.Ahead | None] = precompile.Ahead(
        kh.hmm_block, (precompile.hmm, precompile.decisions)
    )

    jumps: np.ndarray

    @property
    def all_jumps(self) -> np.ndarray:
        """Jumps of all words, float32 [2, JUMP_SIZE]."""
        return self.jumps

    @property
    def jump_classes(self) -> Classes:
        """Classes that jumps depend on."""
        return NO_CLASSES

    @cached_property
    def _jumps(self) -> kj.Jumps:
        rows = by_class(self.jumps)
        return kj.Jumps(rows, *jump_taps(rows))

    def posteriors(
        self, text: ParallelText, chunk: Chunk, both: Both, directions: int, pool: Pool, logs: np.ndarray
    ) -> None:
        """Turn link matrices into posteriors by forward-backward; see `LexicalModel.posteriors`."""
        unused, jumps = no_counts(self._jumps.rows), self._jumps
        words = self.lexicon.s_inverse, self.lexicon.t_inverse, self.s_null, self.t_null
        pairs, out = pairs_of(text, chunk), (unused, NOT_COUNTED, logs)

        def task(b: tuple[int, int]) -> None:
            reach = reach_of(self.jump_classes, pairs, b)
            kh.hmm_block(*b, pairs, both, words, jumps, reach, self.p_null, directions, False, 0, *out)

        pool.map(task, chunk.sentence_blocks)

    def paths(self, text: ParallelText, chunk: Chunk, both: Both, directions: int, pool: Pool) -> None:
        """Turn link matrices into the most probable paths: 1 at their links, 0 elsewhere, in place."""
        lexicon = self.lexicon
        place = pairs_of(text, chunk)
        inverses, nulls = (lexicon.s_inverse, lexicon.t_inverse), (self.t_null, self.s_null)
        jumps = by_class(self.jumps)
        classes = [
            np.zeros(len(inverse), np.int16) if of is None else of
            for of, inverse in zip(self.jump_classes, inverses, strict=True)
        ]

        def task(b: tuple[int, int]) -> None:
            for d, own in enumerate(both):
                if directions & (d + 1):
                    words = inverses[d], nulls[d]
                    kh.viterbi_block(*b, place, own, d == 0, *words, jumps[d], classes[d], self.p_null[d])

        pool.map(task, chunk.sentence_blocks)

    def jump_shares(self, d: int) -> list[float]:
        """Return one direction's probabilities of jumps from -WINDOW or less to WINDOW or more."""
        return shares(self.all_jumps[d, : 2 * kj.WINDOW + 1].astype(np.float64))

    def charts(self) -> list[Columns]:
        """Return the jumps of all words."""
        series = [(name, self.jump_shares(d)) for d, name in enumerate(("forward", "reverse"))]
        n = len(series[0][1]) // 2
        names = [f"{k:+d}" if k else "0" for k in range(-n, n + 1)]
        names[0], names[-1] = f"≤{names[0]}", f"≥{names[-1]}"
        return [Columns("Jumps", "words from the position of the word before", names, series)]

    def arrays(self) -> dict[str, np.ndarray]:
        """Return its own arrays, as a file names them."""
        return {"jumps": self.jumps}

    @classmethod
    def from_arrays(
        cls, fields: LexicalFields, arrays: dict[str, np.ndarray], about: dict[str, Any], settings: ResolvedSettings
    ) -> "Hmm":
        """Rebuild the model from saved arrays."""
        return cls(**fields, jumps=arrays["jumps"])

    @classmethod
    def on_text(cls, fields: LexicalFields, old: LexicalModel, text: TextView, settings: ResolvedSettings) -> "Hmm":
        """Return a model of a new text that begins with an older one's jumps, where it has them."""
        return cls(**fields, jumps=start_of(old))


def shares(counts: np.ndarray) -> list[float]:
    """Return counts as shares of all."""
    found: list[float] = (counts / max(counts.sum(), 1e-300)).tolist()
    return found


def start_of(old: LexicalModel | None) -> np.ndarray:
    """Return an older model's jumps of all words, if it has any, to begin with; float32 [2, JUMP_SIZE]."""
    return old.all_jumps if isinstance(old, Hmm) else initial_jumps()


def by_class(array: np.ndarray, axes: int = 3) -> np.ndarray:
    """Return jumps or counts of both directions with an axis of classes, of length 1 where they have none."""
    return array if array.ndim == axes else array[:, None]


def reach_of(classes: Classes, pairs: Pairs, block: tuple[int, int]) -> kj.Reach | None:
    """Return room for what leaves the positions of a block's sentences, where jumps depend on classes."""
    s_classes, t_classes = classes
    if s_classes is None or t_classes is None:
        return None
    k0, k1 = block
    longest = max(int(np.diff(offsets[k0 : k1 + 1]).max(initial=1)) for offsets in (pairs.s_offsets, pairs.t_offsets))
    width = longest + kj.LANES
    steps, tails = np.empty((2 * kj.WINDOW + 1, width), np.float32), np.empty(width, np.float32)
    return kj.Reach(s_classes, t_classes, np.empty(width, np.int16), steps, tails)


def no_counts(jumps: np.ndarray) -> np.ndarray:
    """Return what counts of jumps and their exposures begin as, float64 [2, 2, JUMP_SIZE] or [2, classes, 2, ...]."""
    return np.zeros((*jumps.shape[:-1], 2, kj.JUMP_SIZE))


def block_of(
    steps: Expectations,
    lexicon: Lexicon,
    jumps: np.ndarray,
    stride: int,
    classes: Classes = NO_CLASSES,
    unlinked: tuple[np.ndarray, np.ndarray] = NOT_COUNTED,
) -> BlockStep:
    """Return what an E-step with these jumps does with a block; they are counted on every ``stride``-th sentence."""
    rows = by_class(jumps)
    given = kj.Jumps(rows, *jump_taps(rows))

    words = lexicon.s_inverse, lexicon.t_inverse, steps.s_null, steps.t_null

    def block(b: tuple[int, int], chunk: Chunk, both: Both, logs: np.ndarray) -> np.ndarray:
        counted, pairs = no_counts(jumps), pairs_of(steps.matrices, chunk)
        how = steps.p_null, steps.directions, steps.joint, stride
        out = by_class(counted, 4), unlinked, logs
        kh.hmm_block(*b, pairs, both, words, given, reach_of(classes, pairs, b), *how, *out)
        return counted

    return block


# Each word's own probability of being linked to NULL, learned by EM.
#
# The HMM (Och & Ney 2003) takes a word ``w`` from NULL with probability ``p0 p(w | NULL)``. Usually ``p(w | NULL)`` is
# ``u(w)``, the word's share of the text, so that ``p0`` is the same for all words. Here a word has its own,
#
#     p0(w) = p0 pi(w) / sum_v u(v) pi(v),    p(w | NULL) = u(w) p0(w) / p0,
#
# whose mean over the text stays ``p0``. The M-step is ``pi(w) = (c(w) + n pi) / (f(w) + n)``, with the expected number
# ``c(w)`` of the word's tokens that are linked to NULL, of ``f(w)`` in all, and ``n`` pseudo-counts of ``pi``, which is
# the share of all tokens. Without pseudo-counts it is that of ``p(w | NULL)`` in EM.


class NullShares:
    """Expected links to NULL of each word of a text, forward and reverse, and NULL's words that come of them.

    unlinked (tuple of float32): By target and by source token, the probability of NULL; -1 where an E-step writes none.
        Empty if nothing is learned.
    """

    def __init__(self, task: ViewTask) -> None:
        smoothing = task.settings.null_smoothing
        self._smoothing = smoothing or 0.0
        self._sides = [task.target, task.source] if smoothing is not None and task.settings.p_null else []
        self._counts: dict[int, np.ndarray] = {}
        self.unlinked = np.zeros(0, np.float32), np.zeros(0, np.float32)

    def begin(self, steps: Expectations) -> None:
        """Begin an E-step."""
        if self._sides:
            sizes = len(steps.target.tokens), len(steps.source.tokens)
            self.unlinked = np.full(sizes[0], -1, np.float32), np.full(sizes[1], -1, np.float32)

    def estimate(self, steps: Expectations) -> None:
        """M-step: set the probabilities of words under NULL, in the directions that are trained.

        Where E-steps take a part of the text each, all up to now count.
        """
        nulls = [steps.t_null, steps.s_null]
        for d, (whole, side) in enumerate(zip(self._sides, (steps.target, steps.source), strict=False)):
            if whole is None or not steps.directions & (d + 1):
                continue
            known = self.unlinked[d] >= 0
            words, unlinked, size = side.tokens[known], self.unlinked[d][known], len(nulls[d])
            counted = np.stack([np.bincount(words, of, size) for of in (unlinked, None)])
            if d in self._counts and len(side.tokens) < len(whole.tokens):
                counted += self._counts[d]
            self._counts[d] = counted
            nulls[d] = null_words(counted[0], counted[1], np.bincount(whole.tokens, minlength=size), self._smoothing)
        steps.t_null, steps.s_null = nulls


def null_words(unlinked: np.ndarray, counted: np.ndarray, words: np.ndarray, smoothing: float) -> np.ndarray:
    """Return the probability of each word under NULL, float32 [n_words + 1].

    unlinked, counted, words [n_words + 1]: Of each word's tokens, how many are expected to be linked to NULL, of those
        counted, and how many the text has. A word without any has the share of all words, and half a token.
    """
    share = unlinked.sum() / max(counted.sum(), 1.0)
    total = counted + smoothing
    own = np.where(total > 0, (unlinked + smoothing * share) / np.maximum(total, 1e-300), share)
    mass = np.maximum(words, 0.5) * own
    if not mass.sum() > 0:
        mass = np.maximum(words, 0.5)
    found: np.ndarray = mass / mass.sum()
    return found.astype(np.float32)
