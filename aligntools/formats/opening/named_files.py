"""Names of files: patterns with a star, and the check that no file is both read and written."""

import glob
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass

from aligntools.ground.errors import DataError, UsageProblem


@dataclass(frozen=True)
class Named:
    """A file that a caller names, and how: the option, or the argument's name."""

    flag: str
    path: str

    @property
    def standard(self) -> bool:
        """Whether it is standard input or output."""
        return self.path == "-"


def _identity(named: Named, descriptor: int) -> tuple[int, int] | None:
    """Return what tells a regular file from all others; None for a device, a pipe, or what is not there."""
    try:
        info = os.fstat(descriptor) if named.standard else os.stat(named.path)
    except (OSError, ValueError):
        return None
    return (info.st_dev, info.st_ino) if stat.S_ISREG(info.st_mode) else None


def check(inputs: Iterable[Named], outputs: Iterable[Named]) -> None:
    """Refuse an output that is also an input, or two outputs that are one file, by whatever names or links."""
    identities: dict[tuple[int, int], Named] = {}
    for named in inputs:
        if (identity := _identity(named, 0)) is not None:
            identities.setdefault(identity, named)
    places: dict[object, Named] = {}
    for named in outputs:
        identity = _identity(named, 1)
        other = identities.get(identity) if identity else None
        if other:
            shown = "standard output" if named.standard else f"{named.flag} {named.path}"
            read = "standard input" if other.standard else f"{other.flag} {other.path}"
            raise UsageProblem(f"{shown} is the file that is read as {read}; write to another one")
        if named.standard or (identity is None and os.path.exists(named.path)):
            continue  # a device or a pipe may be written more than once
        place = identity or os.path.realpath(named.path)
        if place in places:
            raise UsageProblem(f"two outputs have the same name: {places[place].flag} and {named.flag} {named.path}")
        places[place] = named


def is_pattern(name: object) -> bool:
    """Return whether a name stands for several files: it has a star, and no file has that name."""
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
