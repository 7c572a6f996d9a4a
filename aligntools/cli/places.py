"""Checks a command's files: no output may be an input; all outputs appear together."""

import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from aligntools.formats.opening.named_files import Named as Named
from aligntools.formats.opening.named_files import check as check
from aligntools.store import atomic_write


def _ago(seconds: float) -> str:
    for length, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def tell_leftovers(outputs: Iterable[Named]) -> None:
    """Return what killed runs have left next to these outputs, one line for each output."""
    for named in outputs:
        found = [] if named.standard else atomic_write.leftovers(named.path)
        if not found:
            continue
        last = found[-1]
        which = os.path.join(os.path.dirname(named.path), os.path.basename(last.name))
        more = f", and {len(found) - 1} older" if len(found) > 1 else ""
        sys.stderr.write(
            f"warning: {which} was left by a killed run (process {last.process} on {last.host}, last written"
            f" {_ago(time.time() - last.changed)} ago, {last.size} bytes){more}; remove it if you do not need it\n"
        )


@contextmanager
def placed(inputs: Iterable[Named], outputs: Iterable[Named], quiet: bool = False) -> Iterator[None]:
    """Run a command's block between these files.

    Raises UsageProblem at the beginning, as `check` does.
    """
    inputs, outputs = list(inputs), list(outputs)
    check(inputs, outputs)
    if not quiet:
        tell_leftovers(outputs)
    # -o comes last: where it is, all others are
    ordered = sorted(outputs, key=lambda named: named.flag in ("-o", "--output"))
    with atomic_write.together(named.path for named in ordered if not named.standard):
        yield
