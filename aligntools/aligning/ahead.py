"""Compiles kernels that training needs later, in other processes meanwhile, so that a first run waits less.

The model names them (`LexicalModel.compiled_ahead`), and `aligntools.aligning.precompile` runs in the process. Kernels
are called with no sentences, which compiles them and does nothing else. Other kernels are compiled when they are
needed. A test checks that nothing is compiled here that `align` does not call.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from aligntools.aligning.applying import kernels_decoding as kd
from aligntools.aligning.applying import kernels_subwords as ks
from aligntools.aligning.models import kernels_candidates
from aligntools.aligning.models import kernels_fertility as kf
from aligntools.aligning.models import kernels_hmm as kh
from aligntools.aligning.models import kernels_link_counts as kc
from aligntools.aligning.models.kernels_jumps import Jumps
from aligntools.aligning.text import kernels_byte_pairs as kb
from aligntools.aligning.text import kernels_cooccurrence as kt
from aligntools.aligning.text import kernels_look_alikes as kl
from aligntools.aligning.text.kernels_pairs import Directed, Pairs

ZERO = np.float32(0)
I8, I16, I32, I64 = (np.zeros(1, t) for t in (np.int8, np.int16, np.int32, np.int64))
F32, F64 = np.zeros(1, np.float32), np.zeros(1)
SQUARE = np.zeros((1, 1), np.float32)
PAIRS = Pairs(0, I32, I64, I32, I64, I64)
TEXT = Directed(0, I32, I64, I32, I64, I64)
SAMPLED = kc.Sampled(I16, I8, I16.reshape(1, 1), I32.reshape(1, 1), SQUARE)
JUMPS = np.zeros((1, 1))
COUNTS = kc.LinkCounts(F32, F64, F32, F64, I16, JUMPS, SQUARE)


def hmm() -> None:
    """The HMM's forward-backward."""
    jumps, counts, logs = Jumps(*[np.zeros((2, 1, 1), np.float32)] * 3), np.zeros((2, 1, 2, 1)), np.zeros((2, 1))
    kh.hmm_block(0, 0, PAIRS, F32, F32, F32, F32, F32, F32, jumps, None, F32, 3, True, 0, counts, (F32, F32), logs)


def sampler() -> None:
    """The fertility model's sampler."""
    scratch = kf.SamplerScratch(I64, F64, np.zeros((1, 1)))
    kf.sweep(
        0,
        0,
        TEXT,
        SAMPLED,
        COUNTS,
        kc.LinkMeans(F32, JUMPS, JUMPS),
        0.1,
        0.1,
        1,
        0,
        True,
        np.uint64(0),
        np.zeros(1, np.uint64),
        0,
        0,
        scratch,
    )


def pieces() -> None:
    """Pieces of words."""
    kb.learn_merges(np.zeros(0, np.int32), I64, np.zeros(0, np.int64), 0, 1, 0, 2)
    kb.cut_words(np.zeros(0, np.int32), I64, 1, *np.zeros((3, 0), np.int32), np.int32(0), I32, np.zeros(0, np.int64))


def links() -> None:
    """What the sampler starts from."""
    kc.add_chunk(0, 0, TEXT, SAMPLED, 1.0, COUNTS, I64)
    kernels_candidates.candidates_block(0, 0, PAIRS, F32, I64, I32, True, ZERO, ZERO, SAMPLED)


def decisions() -> None:
    """What is done with a trained model."""
    place = I32, I64, I32, I64, I64
    kt.lookup_cells(0, 0, 0, *place, I64, I32, F32, ZERO, F32)
    keys = np.zeros((1, 1), np.int32)
    kl.look_alike_cells(0, 0, 0, *place, keys, keys, ZERO, F32, F32)
    kd.mix_block(0, 0, 0, I64, I64, I64, F32, F32, ZERO, True, I8, I16.reshape(1, 1), SQUARE, ZERO)
    ks.fold_block(0, 0, 0, I64, I64, I64, I64, I64, I64, F32, ZERO, F32)
    kd.joint_block(0, 0, 0, I64, I64, I64, F32, F32, F32, SQUARE, I64, I32.reshape(1, 1), F32)


class Ahead(NamedTuple):
    """What a process compiles for a model.

    telling: Tells whether it was done before.
    functions: In this order.
    """

    telling: Any
    functions: tuple[Callable[[], None], ...]
