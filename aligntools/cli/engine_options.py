"""Options of commands that can do their work in several processes or on a cluster: align and other long ones."""

import contextlib

import click

from aligntools.cli import notices, options
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import WORKERS

workers = click.option(
    "--workers", type=options.number(WORKERS), metavar="N", help="Work in N processes on this machine."
)
cluster = click.option("--cluster", metavar="ADDRESS", help="Work on the Dask cluster whose scheduler is there.")
cluster_file = click.option("--cluster-file", metavar="FILE", help="The same, with the file that the scheduler wrote.")
tmpdir = click.option(
    "--tmpdir",
    metavar="DIR",
    help="Folder for temporary files; a cluster's workers have to see it.  [default: the system's]",
)
#: In the help of commands whose results do not depend on any of these.
group = options.group("Work in several processes or on a cluster", workers, cluster, cluster_file, tmpdir)


def engines(o):
    """Take the options out of a command's; return `api.engines.Engines` of them."""
    from aligntools.api.engines import Engines

    chosen = Engines(o.pop("workers"), o.pop("cluster"), o.pop("cluster_file"), o.get("max_memory"))
    chosen.check()
    return chosen


def asked(o):
    """Tell whether a command's options ask for other processes."""
    return any(o[name] is not None for name in ("workers", "cluster", "cluster_file"))


def where(o):
    """Return a command's options as functions take them that work in one process, several or on a cluster."""
    return {name: o[name] for name in ("workers", "cluster", "cluster_file", "tmpdir")}


def check_unbuffered(unbuffered, engines):
    """Refuse to answer line by line in other processes."""
    if unbuffered and engines.asked:
        raise UsageProblem("--unbuffered answers each line in this process; leave out --workers and --cluster")


@contextlib.contextmanager
def mapping(engines, tmpdir, pool, quiet):
    """Yield what does jobs over the blocks of a text, while what it says is shown; None where they are done here."""
    from aligntools.api import engines as api

    api.check_tmpdir(tmpdir)
    if not engines.asked:
        yield None
        return
    with notices.shown(quiet), api.mapping(engines, tmpdir, pool) as blocks:
        yield blocks
