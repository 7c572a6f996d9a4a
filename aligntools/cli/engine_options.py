"""Options of commands that can do their work in several processes or on a cluster: align and other long ones."""

import contextlib

from aligntools.cli import declared, notices
from aligntools.ground.errors import UsageProblem
from aligntools.ground.running import Run

#: Where the work is done.
NAMES = ("workers", "cluster", "cluster_file", "tmpdir")


def option(name, **instead):
    """Return click's option for a field of `Run`."""
    return declared.option(Run, name, **instead)


#: In the help of commands whose results do not depend on any of these.
group = declared.group(Run, *NAMES)


def run_of(o):
    """Return the `Run` of a command's options."""
    return declared.settings(Run, o)


def asked(o):
    """Tell whether a command's options ask for other processes."""
    return run_of({name: o[name] for name in NAMES if name in o}).asked


def check_unbuffered(unbuffered, run):
    """Refuse to answer line by line in other processes."""
    if unbuffered and run.asked:
        raise UsageProblem("`unbuffered` answers each line in this process; leave out `workers` and `cluster`")


@contextlib.contextmanager
def mapping(run, pool, quiet):
    """Yield what does jobs over the blocks of a text, while what it says is shown; None where they are done here."""
    from aligntools.api.running import engines

    if not run.asked:
        yield None
        return
    with notices.shown(quiet), engines.mapping(run, pool) as blocks:
        yield blocks
