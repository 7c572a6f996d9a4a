"""On a machine's first run other processes compile what training comes to later, while this one begins.

``python -m aligntools.aligning.precompile hmm`` is such a process.
"""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from aligntools.aligning.applying import kernels_decoding as kd
from aligntools.aligning.models import kernels_fertility, registry
from aligntools.aligning.models import kernels_hmm as kh
from aligntools.aligning.models import kernels_link_counts as kc
from aligntools.aligning.models.kernels_jumps import Jumps
from aligntools.aligning.text import kernels_byte_pairs as kb
from aligntools.aligning.text import kernels_cooccurrence as kt
from aligntools.aligning.text import kernels_look_alikes as kl
from aligntools.aligning.text.kernels_pairs import Directed, Pairs
from aligntools.ground import compiler, system

# Compiles kernels that training needs later, in other processes meanwhile, so that a first run waits less.
#
# The model names them (`LexicalModel.compiled_ahead`), and `aligntools.aligning.precompile` runs in the process.
# Kernels are called with no sentences, which compiles them and does nothing else. Other kernels are compiled when
# they are needed. A test checks that nothing is compiled here that `align` does not call.

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
    kh.hmm_block(0, 0, PAIRS, (F32, F32), (F32,) * 4, jumps, None, F32, 3, True, 0, counts, (F32, F32), logs)


def sampler() -> None:
    """The fertility model's sampler."""
    scratch = kernels_fertility.SamplerScratch(I64, F64, np.zeros((1, 1)))
    how, means = (0.1, 0.1, 1, 0, True, np.uint64(0)), kc.LinkMeans(F32, JUMPS, JUMPS)
    kernels_fertility.sweep(0, 0, TEXT, SAMPLED, COUNTS, means, *how, np.zeros(1, np.uint64), 0, 0, scratch)


def pieces() -> None:
    """Pieces of words."""
    kb.learn_merges(np.zeros(0, np.int32), I64, np.zeros(0, np.int64), 0, 1, 0, 2)
    kb.cut_words(I32, I64, 1, *np.zeros((3, 0), np.int32), I64, I32, I32, I32, np.zeros(0, np.int64))


def links() -> None:
    """What the sampler starts from."""
    kc.add_chunk(0, 0, TEXT, SAMPLED, 1.0, COUNTS, I64)
    kernels_fertility.candidates_block(0, 0, PAIRS, F32, I64, I32, True, ZERO, ZERO, SAMPLED)


def decisions() -> None:
    """What is done with a trained model."""
    place = I32, I64, I32, I64, I64
    kt.lookup_cells(0, 0, 0, *place, I64, I32, F32, ZERO, F32)
    keys = np.zeros((1, 1), np.int32)
    kl.look_alike_cells(0, 0, 0, *place, keys, keys, ZERO, F32, F32)
    kd.mix_block(0, 0, 0, I64, I64, I64, F32, F32, ZERO, True, I8, I16.reshape(1, 1), SQUARE, ZERO)
    kd.fold_block(0, 0, 0, I64, I64, I64, I64, I64, I64, F32, ZERO, F32)
    kd.joint_block(0, 0, 0, I64, I64, I64, F32, F32, F32, SQUARE, I64, I32.reshape(1, 1), F32)


class Ahead(NamedTuple):
    """What a process compiles for a model.

    telling: Tells whether it was done before.
    """

    telling: Any
    functions: tuple[Callable[[], None], ...]


@contextlib.contextmanager
def compiling_for(model_type: str, threads: int) -> Iterator[None]:
    """Compile ahead what training a model needs, where that is worth while; end with the block."""
    processes: list[subprocess.Popen[bytes]] = []
    # where a lock cannot be handed over, or there is one thread, training compiles for itself
    for kind in registry.kind_of(model_type).chain() if threads > 1 and system.HANDS_OVER else ():
        about = kind.load().compiled_ahead
        if about is None or compiler.is_kept(about.telling) or not sys.executable:
            continue
        lock = compiler.lock(f"ahead-{kind.name}")  # removed when the new process ends; until then no other is started
        if lock is None:
            continue
        path = os.pathsep.join(p or os.getcwd() for p in sys.path)
        with contextlib.suppress(OSError):
            processes.append(
                subprocess.Popen(
                    [sys.executable, "-P", "-m", __name__, kind.name],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=[lock],
                    env=os.environ | {"PYTHONPATH": path},
                )
            )
        os.close(lock)
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    ahead = registry.kind_of(sys.argv[1]).load().compiled_ahead
    for compile_now in ahead.functions if ahead else ():
        compile_now()
