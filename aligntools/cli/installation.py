"""``aligntools drop-ins`` and ``warmup``: other aligners' names, and compiled code, in folders."""

import importlib.util
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click

from aligntools.cli import options, standins
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.store.atomic_write import appearing

#: What tells files that this command wrote from all others.
MARK = "written by aligntools drop-ins"
#: What the programs import; each may have come from a folder of its own.
NEEDED = ("aligntools", "click", "numpy", "numba", "llvmlite", "safetensors", "tqdm", "scipy")
#: Longer first lines, and such with blanks, are cut by the kernel.
LONGEST = 120

_PROGRAM = '''{shebang}
"""Stands in for {name}; {mark}."""

import sys

sys.path[:0] = [folder for folder in {folders!r} if folder not in sys.path]
try:
    from aligntools.cli.standins import main

    status = main({name!r})
except ModuleNotFoundError as missing:
    status = f"{name}: no Python package {{missing.name}} for {{sys.executable}}; run aligntools drop-ins again"
sys.exit(status)
'''
_PACKAGE = '''"""Stands in for {name}; {mark}."""
from aligntools.adapters.{name} import *  # noqa: F403
'''


@click.command("drop-ins", cls=options.Command)
@click.argument("folder", metavar="DIR", type=options.Place("dir"))
@options.group(
    "Common options",
    click.option("--overwrite", is_flag=True, help="Replace files of these names that this command did not write."),
)
@options.group("Messages", options.verbosity)
def drop_ins(folder: str, overwrite: bool, quiet: bool, verbose: bool) -> None:
    """Write programs into DIR that take other aligners' flags and print what they print.

    With DIR first on the PATH, a pipeline that calls those aligners calls aligntools instead. The programs run with the
    Python that runs this command, whatever Python is on the PATH.

    DIR/python gets Python packages under other aligners' names. They are found by programs whose PYTHONPATH has
    DIR/python first, where aligntools is installed too. Nothing else on the machine changes; remove DIR to undo it.

    \b
    Example:
      aligntools drop-ins /tmp/drop-ins
      PATH=/tmp/drop-ins:$PATH fast_align -d -o -v -i data/samples/de-en.txt > /tmp/forward.align
    """
    place = Path(folder)
    for path in (place, place / "python"):
        if os.path.lexists(path) and not path.is_dir():
            raise UsageProblem(f"{path} is not a folder; give another name, or remove it")
    shebang = f"#!{sys.executable} -EP"  # the caller's PYTHONPATH and PYTHONHOME may be meant for another Python
    if len(sys.executable) >= LONGEST or set(sys.executable) & set(" \t"):
        shebang = f"#!/bin/sh\n'''exec' {shlex.quote(sys.executable)} -EP \"$0\" \"$@\"\n' '''"
    texts = {
        place / name: _PROGRAM.format(shebang=shebang, name=name, mark=MARK, folders=_folders())
        for name in standins.PROGRAMS
    }
    texts |= {place / "python" / name / "__init__.py": _PACKAGE.format(name=name, mark=MARK) for name in _packages()}
    for path in texts if not overwrite else ():
        own = path.is_file() and not path.is_symlink() and MARK in path.read_text(encoding="utf-8", errors="replace")
        if os.path.lexists(path) and not own:
            raise UsageProblem(f"{path} is there, and not from this command; give another folder or --overwrite")
    for path, text in texts.items():
        _write(path, text)
        if verbose:
            click.echo(path, err=True)
    if not quiet:
        click.echo(f"{place}: {' '.join(standins.PROGRAMS)}; put it first on the PATH", err=True)
        if packages := _packages():
            click.echo(f"{place / 'python'}: {' '.join(packages)}; put it first on the PYTHONPATH", err=True)


def _packages() -> list[str]:
    if importlib.util.find_spec("aligntools.adapters") is None:
        return []
    return [name for name in standins.PACKAGES if importlib.util.find_spec(f"aligntools.adapters.{name}")]


def _folders() -> list[str]:
    """Return where the packages are that such a Python does not find by itself."""
    found: dict[str, str] = {}
    for name in NEEDED:
        spec = importlib.util.find_spec(name)
        if spec and spec.origin:
            found[name] = str(Path(spec.origin).resolve().parent.parent)
    code = "import sys; print(*sys.path, sep='\\n')"
    known = subprocess.run([sys.executable, "-EPc", code], capture_output=True, text=True, check=False).stdout
    return [folder for folder in dict.fromkeys(found.values()) if folder not in known.splitlines()]


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():  # the link is replaced, not what it leads to
            path.unlink()
        with appearing(path, executable=text.startswith("#!")) as name:
            Path(name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataError(str(path), None, f"cannot be written: {error.strerror or error}") from None


#: The functions of `precompile`, those that compile longest first.
PARTS = ("aligning", "translating", "parsing", "tagging", "constituents", "encoding", "clustering", "sentences")


@click.command("warmup", cls=options.Command)
@options.group("Common options", options.threads, options.verbosity)
def warmup(threads: int, quiet: bool, verbose: bool) -> None:
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
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # not forked: the parent may have threads
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(_part, PARTS)


def _part(name: str) -> tuple[str, float]:
    began = time.perf_counter()
    from aligntools.cli.precompile import warm

    warm(name)
    return name, time.perf_counter() - began
