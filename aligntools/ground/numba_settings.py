"""Numba's own settings in the environment: a value that it refuses is reported in one line, without a traceback."""

import contextlib
import os
import re
import warnings
from collections.abc import Iterator

from aligntools.ground.errors import UsageProblem

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
