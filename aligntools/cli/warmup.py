"""``aligntools warmup``: compile everything once."""

import multiprocessing
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import click

from aligntools.cli import options

#: The functions of `precompile`, those that compile longest first.
PARTS = ("aligning", "translating", "parsing", "tagging", "constituents", "encoding", "clustering", "sentences")


@click.command("warmup", cls=options.Command)
@options.group("Common options", options.threads, options.verbosity)
def command(threads: int, quiet: bool, verbose: bool) -> None:
    """Compile everything once and keep it, so that no later run waits for the compiler.

    \b
    Example:
      aligntools warmup
    """
    from aligntools.ground import compiler

    began = time.perf_counter()
    for part, seconds in _warm(min(threads, len(PARTS))):
        if verbose and not quiet:
            click.echo(f"{part}: {seconds:.1f} s", err=True)
    if not quiet:
        folder = compiler.cache_folder()
        where = f"kept in {folder}" if folder else "not kept: no writable folder"
        click.echo(f"compiled in {time.perf_counter() - began:.1f} s; {where}", err=True)


def _warm(processes: int) -> Iterator[tuple[str, float]]:
    """Warm up all parts; yield the name and the seconds of each. Numba compiles one function at a time a process."""
    if processes == 1:
        yield from map(_part, PARTS)
        return
    # not forked: the parent may have threads
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(_part, PARTS)


def _part(name: str) -> tuple[str, float]:
    began = time.perf_counter()
    from aligntools.cli.precompile import warm

    warm(name)
    return name, time.perf_counter() - began
