"""Settings of Numba from the environment, and the CPU that it compiles for; a wrong setting is one line of error."""

import contextlib
import os
import platform
import re
import sys
import warnings
from collections.abc import Iterator

from aligntools.ground.errors import UsageProblem

#: What a CPU needs for the baseline: that of Intel's since 2013 and AMD's since 2015.
NEEDED = ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
#: What NumPy and OpenBLAS choose by the CPU beyond the baseline, under the names of all versions of NumPy.
_NUMPY = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR X86_V4"


def portable() -> bool:
    """Return whether ``ALIGNTOOLS_PORTABLE`` asks for the baseline."""
    return os.environ.get("ALIGNTOOLS_PORTABLE", "") not in ("", "0")


def baseline() -> str:
    """Return what LLVM calls the baseline of this kind of machine."""
    return "x86-64-v3" if platform.machine() in ("x86_64", "AMD64") else "generic"


def prepare() -> None:
    """Keep to the baseline what other libraries choose by the CPU; for programs, before NumPy is imported."""
    if portable() and "numpy" not in sys.modules and baseline() == "x86-64-v3":
        os.environ.setdefault("NPY_DISABLE_CPU_FEATURES", _NUMPY)
        os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")


#: How each of the CPU's features is written; LLVM ends the process at any other.
_FEATURES = re.compile(r"([+-][^,]+(,[+-][^,]+)*)?")


def _refuse(found: str) -> UsageProblem:
    """Return the error for what Numba said: with the variables that it is about, or all that there are."""
    given = {name: value for name, value in os.environ.items() if name.startswith("NUMBA_")}
    named = [name for name, value in given.items() if name in found] or [
        name for name, value in given.items() if value and value in found
    ]
    shown = " ".join(f"{name}={given[name]}" for name in named or given)
    return UsageProblem(f"{shown}: Numba does not take it ({found}); unset it or give another value")


@contextlib.contextmanager
def understood() -> Iterator[None]:
    """Import Numba in the block; refuse variables of the environment whose value it does not take."""
    features = os.environ.get("NUMBA_CPU_FEATURES", "")
    if not _FEATURES.fullmatch(features):
        raise _refuse(f"NUMBA_CPU_FEATURES has features with + or - before each, separated by commas, not '{features}'")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")
        try:
            yield
        except (ValueError, KeyError, RuntimeError, TypeError) as error:
            if not any(name.startswith("NUMBA_") for name in os.environ):
                raise
            raise _refuse(" ".join(str(error).split()).rstrip(".")) from None
    for warning in said:
        text = str(warning.message)
        if found := re.match(r"Environment variable '(NUMBA_\w+)' is defined but", text):
            raise _refuse(f"the value of {found[1]} cannot be read")
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
