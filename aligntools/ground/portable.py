"""Whether kernels are compiled for this machine's CPU, or for a baseline on which all machines give the same bytes."""

import os
import platform
import sys

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
