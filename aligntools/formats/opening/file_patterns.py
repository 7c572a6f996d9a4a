"""Several files by one name: a pattern with a star."""

import glob
import os

from aligntools.ground.errors import DataError, UsageProblem


def is_pattern(name: object) -> bool:
    """Tell whether a name stands for several files: it has a star, and no file has that name."""
    return isinstance(name, str) and "*" in name and not os.path.exists(name)


def matching(pattern: str) -> list[tuple[str, str]]:
    """Return the files that a pattern with one star matches, sorted by name, and what the star stands for in each.

    Raises UsageProblem when there are several stars. Raises DataError when no file matches.
    """
    if pattern.count("*") > 1:
        raise UsageProblem(f"{pattern}: give one star; it stands for what tells the files apart")
    before, after = pattern.split("*")
    found = []
    for path in glob.glob(glob.escape(before) + "*" + glob.escape(after)):
        star = path[len(before) : len(path) - len(after)]
        if os.path.isfile(path) and len(path) >= len(before) + len(after):
            found.append((path, star))
    if not found:
        raise DataError(pattern, None, "matches no file")
    return sorted(found)


def in_place_of_star(pattern: str, star: str) -> str:
    """Return a pattern with its star replaced."""
    return pattern.replace("*", star)
