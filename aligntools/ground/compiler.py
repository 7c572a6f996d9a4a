"""How kernels are compiled and where the compiled code is kept: the one place that knows Numba's decorators.

A folder is for the versions of Numba, LLVM, NumPy and Python, the CPU, and Numba's settings; a file in it is for a
kernel, a signature, and the sources of its module and of the kernel modules that this one imports: a kernel that calls
one of another file must be compiled again when that one changes, which Numba's own cache does not see.
"""

import functools
import hashlib
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aligntools.ground import numba_settings

with numba_settings.understood():
    import numba
    import numpy as np
    from numba.core import codegen, config
    from numba.core.registry import cpu_target

from aligntools.ground import code_cache
from aligntools.ground.code_cache import CodeCache, log
from aligntools.ground.code_folders import CodeFolders
from aligntools.ground.errors import UsageProblem
from aligntools.ground.numba_settings import NEEDED, baseline, portable

#: Floating-point freedoms that let loops vectorise and keep NaN and infinity as they are.
_FAST = {"contract", "reassoc", "nsz", "arcp"}
#: Settings of Numba's that change the code that it compiles.
_SETTINGS = (
    "OPT",
    "BOUNDSCHECK",
    "DEBUGINFO_DEFAULT",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "ENABLE_AVX",
    "USING_SVML",
    "LLVM_REFPRUNE_PASS",
    "LLVM_REFPRUNE_FLAGS",
    "EXTEND_VARIABLE_LIFETIMES",
)


def _keep_to_baseline() -> None:
    """Have Numba compile for the baseline, all that this process compiles."""
    if baseline() != "generic":
        found = codegen.ll.get_host_cpu_features()
        if lacking := [name for name in NEEDED if not found.get(name)]:
            raise UsageProblem(f"ALIGNTOOLS_PORTABLE: this CPU is below {baseline()} (no {', '.join(lacking)})")
    os.environ["NUMBA_CPU_NAME"], os.environ["NUMBA_CPU_FEATURES"] = baseline(), ""  # it looks there now and then
    config.CPU_NAME, config.CPU_FEATURES = baseline(), ""
    if cpu_target.target_context.codegen().magic_tuple()[1:] != (baseline(), ""):
        raise UsageProblem("ALIGNTOOLS_PORTABLE: import aligntools before anything is compiled with Numba")


if portable():
    _keep_to_baseline()


def _imported(source: bytes) -> list[str]:
    """Return the kernel modules that a kernel module imports; tests hold that each imports others in no other form."""
    return [name.decode() for name in re.findall(rb"^from ((?:\w+\.)*kernels\w*) import ", source, re.MULTILINE)]


@functools.cache
def _source(module: str) -> bytes:
    return Path(sys.modules[module].__file__ or "").read_bytes()


@functools.cache
def _sources(module: str) -> str:
    """Return a hash of the sources of a kernel module that is being imported, and of all that it imports."""
    found, left = {}, [module]
    while left:
        name = left.pop()
        if name not in found:
            found[name] = _source(name)
            left += _imported(found[name])
    digest = hashlib.sha256()
    for name in sorted(found):
        digest.update(f"{name} {len(found[name])}\n".encode() + found[name])
    return digest.hexdigest()[:16]


def _folder_name() -> str:
    """Name what is compiled, by what, for what: wherever that is the same, compiled code is the same."""
    cpu = config.CPU_NAME or codegen.ll.get_host_cpu_name()
    features = codegen.get_host_cpu_features() if config.CPU_FEATURES is None else config.CPU_FEATURES
    settings = [
        codegen.ll.llvm_version_info,
        np.__version__.split(".")[:2],
        sys.implementation.cache_tag,
        cpu,
        features,
        *(getattr(config, name, None) for name in _SETTINGS),
        hashlib.sha256(Path(__file__).read_bytes()).hexdigest(),
    ]
    digest = hashlib.sha256(repr(settings).encode()).hexdigest()[:16]
    return f"numba-{numba.__version__}-py{sys.version_info[0]}{sys.version_info[1]}-{cpu}-{digest}"


_FOLDERS = CodeFolders(_folder_name(), log.warning)


def cache_folder() -> Path | None:
    """Return the folder that compiled code is written to; None, and a warning logged once, where there is none."""
    return _FOLDERS.writable()


def is_kept(compiled: Any) -> bool:
    """Return whether a kernel's compiled code is kept, for any signature."""
    cache = getattr(compiled, "_cache", None)  # none where Numba is told to compile nothing
    return not isinstance(cache, CodeCache) or cache.any()


def lock(name: str) -> int | None:
    """Return an open file's descriptor: of a lock beside the compiled code, or None where another process has it."""
    folder = cache_folder()
    return None if folder is None else code_cache.lock(folder / f"{name}.lock")


def kernel(
    function: Callable[..., Any] | None = None,
    *,
    fast: bool = True,
    inline: bool = False,
    part: bool = False,
    owning: bool = True,
) -> Any:
    """Compile a function lazily, without the GIL, cached.

    fast: Allow sums to be reordered, in an order that the compiled code fixes, so that loops vectorise.
    inline: Inline into the calling kernel, as floats need, or the first run rounds differently from what is loaded.
    part: Put the source into its one caller's before that is compiled: a step that few kernels take.
    owning: False for kernels that allocate nothing: they do not count references to arrays in named tuples.
    """
    if function is None:
        return functools.partial(kernel, fast=fast, inline=inline, part=part, owning=owning)
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    options["no_cfunc_wrapper"] = True  # kernels are called from Python and from kernels: a tenth less to compile
    if fast:
        options["fastmath"] = _FAST
    if inline:
        options["forceinline"] = True
    if part:
        options["inline"] = "always"
    if not owning:
        options["_nrt"] = False
    compiled = numba.njit(function, **options)
    if not config.DISABLE_JIT:
        compiled._cache = CodeCache(
            function, _sources(function.__module__), _FOLDERS
        )  # what ``cache=True`` does, with files of our own
    return compiled
