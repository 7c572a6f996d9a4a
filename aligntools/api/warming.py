"""Calling every compiled function once, so that it is compiled and kept."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aligntools.ground.parallel import Pool

#: The task packages, those that compile longest first.
PARTS = ("aligning", "translating", "parsing", "tagging", "constituents", "encoding", "clustering")


def warm(part: str) -> None:
    """Compile all that one of `PARTS` uses."""
    from aligntools.ground.parallel import Pool

    with tempfile.TemporaryDirectory() as folder, Pool(1) as pool:
        _warm(part, Path(folder), pool)


def _warm(part: str, folder: Path, pool: "Pool") -> None:
    if part == "aligning":
        from aligntools.aligning import warming as aligning

        aligning.warm(folder, pool)
    elif part == "translating":
        from aligntools.translating import warming as translating

        translating.warm(folder, pool)
    elif part == "parsing":
        from aligntools.parsing import warming as parsing

        parsing.warm(pool)
    elif part == "tagging":
        from aligntools.tagging import warming as tagging

        tagging.warm(pool)
    elif part == "constituents":
        from aligntools.constituents import warming as constituents

        constituents.warm(pool)
    elif part == "clustering":
        from aligntools.clustering import warming as clustering

        clustering.warm()
    else:
        from aligntools.encoding import warming as encoding

        encoding.warm(pool)
