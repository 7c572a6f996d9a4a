"""What the environment asks of programs and packages that stand in for other aligners'."""

import os

#: The variable by which they write the links of ``align --best``.
BEST = "ALIGNTOOLS_BEST"


def best_asked() -> bool:
    """Return whether the links are wanted that the network decides on."""
    return os.environ.get(BEST, "") not in ("", "0")
