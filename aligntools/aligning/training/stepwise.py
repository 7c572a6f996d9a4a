"""Stepwise EM for large text (after Liang & Klein 2009): each E-step goes over a part of the sentences.

The counts of a step are scaled up to the whole text and interpolated with those of the step before. The weight of the
new counts is chosen for each pair of words: it grows with the occurrences of the rarer word in the step's sentences. So
counts of frequent words change at each step, and those of rare words stay until these occur.
"""

import numpy as np

from aligntools.aligning.models.registry import kind_of
from aligntools.aligning.settings import SMALL, ResolvedSettings
from aligntools.aligning.text import kernels_cooccurrence as kt
from aligntools.aligning.text.cooccurrence import Table, count_words
from aligntools.formats.text.corpus import Side
from aligntools.ground.parallel import Pool

#: Weight of the counts before against those of a step, in occurrences of a word.
KEPT = 1.0


def steps_of(settings: ResolvedSettings, n_tokens: int, stage: str) -> int:
    """Return in how many steps a text of so many source tokens is gone over once; 1 if an iteration takes all of it."""
    wanted = kind_of(settings.model_type).steps.get(stage)
    if n_tokens <= SMALL or settings.estimator != "vb" or wanted is None:
        return 1
    return max(1, n_tokens // wanted)


def step_text(source: Side, target: Side, steps: int, step: int) -> tuple[Side, Side]:
    """Return every ``steps``-th sentence pair of a text, from the ``step``-th on."""
    return _every(source, steps, step % steps), _every(target, steps, step % steps)


def _every(side: Side, steps: int, first: int) -> Side:
    lengths = side.lengths()
    chosen = np.zeros(len(lengths), bool)
    chosen[first::steps] = True
    offsets = np.zeros(int(chosen.sum()) + 1, np.int64)
    np.cumsum(lengths[chosen], out=offsets[1:])
    return Side(side.tokens[np.repeat(chosen, lengths)], offsets)


def interpolate(
    table: Table,
    before: np.ndarray,
    found: np.ndarray,
    part: tuple[Side, Side],
    whole: tuple[np.ndarray, np.ndarray],
    pool: Pool,
) -> None:
    """Make counts of the whole text, in place of ``found``, from those of a step and those before it.

    before, found (float32 [n_pairs]).
    part: The step's sentences.
    whole ((float64 [n_source], float64 [n_target])): How often each word occurs in the text.
    """
    occurrences = [n.astype(np.float32) for n in whole]
    seen = [count_words(side.tokens, len(n))[: len(n)].astype(np.float32) for side, n in zip(part, whole, strict=True)]

    def task(block: tuple[int, int]) -> None:
        kt.interpolate_counts(*block, table.ptr, table.ids, *occurrences, *seen, np.float32(KEPT), before, found)

    pool.map(task, table.blocks())
