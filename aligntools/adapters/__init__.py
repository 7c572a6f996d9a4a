"""Other aligners' Python interfaces over our models; nothing here has another package's name by itself."""

import os

#: The variable by which they write the links of ``align --best``.
BEST = "ALIGNTOOLS_BEST"


def best_asked() -> bool:
    """Return whether the links are wanted that the network decides on."""
    return os.environ.get(BEST, "") not in ("", "0")
