"""How kernels are compiled and where the compiled code is kept: the one place that knows Numba's decorators.

Two traps of Numba's own cache are avoided. A kernel that calls a kernel of another file is not recompiled
when that other file changes, so the cache folder is named after a hash of *all* kernel sources. And a
read-only installation without a usable home fails at import, so where no folder can be made the kernels
are compiled again in each process, with a logged warning.
"""

import functools
import hashlib
import logging
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

#: Floating-point freedoms that let loops vectorise and keep NaN and infinity as they are.
_FAST = {"contract", "reassoc", "nsz", "arcp"}


def _source_hash() -> str:
    root = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for path in sorted([*root.glob("**/kernels*.py"), Path(__file__)]):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> Path | None:
    """Return a writable per-user folder for this version's compiled code, or None."""
    name = f"numba-{numba.__version__}-py{sys.version_info[0]}{sys.version_info[1]}-{_source_hash()}"
    bases = []
    if os.environ.get("ALIGNTOOLS_CACHE_DIR"):
        bases.append(Path(os.environ["ALIGNTOOLS_CACHE_DIR"]))
    elif os.environ.get("XDG_CACHE_HOME"):
        bases.append(Path(os.environ["XDG_CACHE_HOME"]) / "aligntools")
    home = os.path.expanduser("~")
    if os.path.isabs(home):
        bases.append(Path(home) / ".cache" / "aligntools")
    for base in bases:
        folder = base / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    return None


_real = functools.cache(os.path.realpath)
CACHE_FOLDER = _cache_folder()
if CACHE_FOLDER is None:
    logging.getLogger("aligntools").warning(
        "no folder for compiled code can be written; compiling again in this run"
        " (set ALIGNTOOLS_CACHE_DIR to a writable folder)"
    )


def kernel(
    function: Callable[..., Any] | None = None,
    *,
    fast: bool = True,
    inline: bool = False,
    part: bool = False,
    owning: bool = True,
) -> Any:
    """Compile a function lazily, without the GIL, cached.

    Parameters
    ----------
    fast : bool
        Allow sums to be reordered so that loops vectorise. The order is fixed in the compiled code,
        so results still do not vary between runs or with the number of threads.
    inline : bool
        Always inline into the calling kernel. Every kernel with floats that kernels call needs it: otherwise
        code loaded from the cache may call another copy of it, optimized otherwise, than code just compiled
        did, and a machine's first run would round differently from all later ones.
    part : bool
        A step of another kernel: its source is put into its caller's before that is compiled, so that it takes no
        compiling of its own, and rounds as if it had been written there. For steps that few kernels take; what
        many do, or one at several places, compiles sooner with ``inline``.
    owning : bool
        False for kernels that allocate nothing: they do not count references to their arrays. Where arrays come in
        named tuples, counting at each use would cost more than the work.
    """
    if function is None:
        return functools.partial(kernel, fast=fast, inline=inline, part=part, owning=owning)
    options: dict[str, Any] = {"nogil": True, "cache": CACHE_FOLDER is not None, "error_model": "numpy"}
    options["no_cfunc_wrapper"] = True  # kernels are called from Python and from kernels: a tenth less to compile
    if fast:
        options["fastmath"] = _FAST
    if inline:
        options["forceinline"] = True
    if part:
        options["inline"] = "always"
    if not owning:
        options["_nrt"] = False
    # Numba keeps compiled code by the path of the source: links to a package share its compiled code.
    function.__code__ = function.__code__.replace(co_filename=_real(function.__code__.co_filename))
    before = numba.config.CACHE_DIR
    if CACHE_FOLDER is not None:
        numba.config.CACHE_DIR = str(CACHE_FOLDER)
    try:
        return numba.njit(function, **options)
    finally:
        numba.config.CACHE_DIR = before  # a caller's own compiled functions keep their place
