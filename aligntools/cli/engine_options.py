"""Options of commands that can do their work in several processes or on a cluster: align and other long ones."""

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from aligntools.cli import declared, notices
from aligntools.cli.grouping import FC
from aligntools.ground.running import Run

if TYPE_CHECKING:
    from aligntools.api.running.engines import BlockMap
    from aligntools.ground.parallel import Pool

#: Where the work is done.
NAMES = ("workers", "cluster", "cluster_file", "tmpdir")


def option(name: str, **instead: Any) -> Callable[[FC], FC]:
    """Return click's option for a field of `Run`."""
    return declared.option(Run, name, **instead)


#: In the help of commands whose results do not depend on any of these.
group = declared.group(Run, *NAMES)


def asked(o: dict[str, Any]) -> bool:
    """Tell whether a command's options ask for other processes."""
    return declared.settings(Run, {name: o[name] for name in NAMES if name in o}).asked


@contextlib.contextmanager
def mapping(run: Run, pool: "Pool", quiet: bool) -> "Iterator[BlockMap | None]":
    """Yield what does jobs over the blocks of a text, while what it says is shown; None where they are done here."""
    from aligntools.api.running import engines

    if not run.asked:
        yield None
        return
    with notices.shown(quiet), engines.mapping(run, pool) as blocks:
        yield blocks
