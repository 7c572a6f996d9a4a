"""``aligntools warmup``: compile everything once."""

import importlib
import multiprocessing
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import click

from aligntools.cli import options

#: The task packages, those that compile longest first. Each is warmed up in a process of its own.
PARTS = ("aligning", "translating", "parsing", "tagging", "encoding")


@click.command("warmup", cls=options.Command)
@options.group("Common options", options.threads, options.verbosity)
def command(threads, quiet, verbose):
    """Compile everything once and keep it, so that no later run waits for the compiler.

    \b
    Example:
      aligntools warmup
    """
    from aligntools.ground import compiling

    began = time.perf_counter()
    for part, seconds in _warm(min(threads, len(PARTS))):
        if verbose and not quiet:
            click.echo(f"{part}: {seconds:.1f} s", err=True)
    if not quiet:
        folder = compiling.cache_folder()
        where = f"kept in {folder}" if folder else "not kept: no writable folder"
        click.echo(f"compiled in {time.perf_counter() - began:.1f} s; {where}", err=True)


def _warm(processes):
    """Warm up all parts; yield the name and the seconds of each. Numba compiles one function at a time a process."""
    if processes == 1:
        yield from map(_part, PARTS)
        return
    # not forked: the parent may have threads
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(_part, PARTS)


def _part(name):
    """Run the ``warm`` of a package's module ``warming``; return the name and the seconds."""
    from aligntools.ground.parallel import Pool

    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, Pool(1) as pool:
        arguments = (pool,) if name in ("tagging", "parsing", "encoding") else (Path(folder), pool)
        importlib.import_module(f"aligntools.{name}.warming").warm(*arguments)
    return name, time.perf_counter() - began
