"""Options of commands that can do their work in several processes or on a cluster: align and other long ones."""

from collections.abc import Callable
from typing import Any

from aligntools.cli import declarations
from aligntools.cli.option_groups import FC
from aligntools.ground.run import Run

#: Where the work is done.
NAMES = ("workers", "cluster", "tmpdir")


def option(name: str, **instead: Any) -> Callable[[FC], FC]:
    """Return click's option for a field of `Run`."""
    return declarations.option(Run, name, **instead)


#: In the help of commands whose results do not depend on any of these.
group = declarations.group(Run, *NAMES)
