"""Which files a command reads and writes: none is both, all that are written appear together, leftovers are told."""

import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from aligntools.formats import appearing
from aligntools.ground.errors import UsageProblem


@dataclass(frozen=True)
class Named:
    """A file that the command line names, and how: the option, or the argument's name."""

    flag: str
    path: str

    @property
    def standard(self) -> bool:
        """Whether it is standard input or output."""
        return self.path == "-"


def _identity(named, descriptor):
    """Return what tells a regular file from all others; None for a device, a pipe, or what is not there."""
    try:
        info = os.fstat(descriptor) if named.standard else os.stat(named.path)
    except (OSError, ValueError):
        return None
    return (info.st_dev, info.st_ino) if stat.S_ISREG(info.st_mode) else None


def check(inputs: Iterable[Named], outputs: Iterable[Named]) -> None:
    """Refuse an output that is also an input, or two outputs that are one file, by whatever names or links.

    Raises
    ------
    UsageProblem
    """
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


def _ago(seconds):
    for length, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def tell_leftovers(outputs: Iterable[Named]) -> None:
    """Say what killed runs have left beside the places of these outputs, one line for each output."""
    for named in outputs:
        found = [] if named.standard else appearing.leftovers(named.path)
        if not found:
            continue
        last = found[-1]
        which = os.path.join(os.path.dirname(named.path), os.path.basename(last.name))
        more = f", and {len(found) - 1} older" if len(found) > 1 else ""
        sys.stderr.write(
            f"warning: {which} was left by a killed run (process {last.process} on {last.host}, last written"
            f" {_ago(time.time() - last.changed)} ago, {last.size} bytes){more}; remove it if it is of no use\n"
        )


@contextmanager
def placed(inputs: Iterable[Named], outputs: Iterable[Named], quiet: bool = False) -> Iterator[None]:
    """Run a command's block between these files.

    Raises
    ------
    UsageProblem
        At the beginning, as `check` does.
    """
    inputs, outputs = list(inputs), list(outputs)
    check(inputs, outputs)
    if not quiet:
        tell_leftovers(outputs)
    # -o comes last: where it is, all others are
    ordered = sorted(outputs, key=lambda named: named.flag in ("-o", "--output"))
    with appearing.together(named.path for named in ordered if not named.standard):
        yield
