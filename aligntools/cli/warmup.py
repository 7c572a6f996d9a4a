"""``aligntools warmup``: compile everything once."""

import tempfile
import time
from pathlib import Path

import click

from aligntools.cli.options import SETTINGS, verbosity


@click.command("warmup", context_settings=SETTINGS)
@verbosity
def command(quiet, verbose):
    """Compile everything once and keep it, so that no later run waits for the compiler.

    \b
    Example:
      aligntools warmup
    """
    from aligntools.aligning import warming as aligning
    from aligntools.ground import compiling
    from aligntools.ground.parallel import Pool
    from aligntools.parsing import warming as parsing
    from aligntools.tagging import warming as tagging
    from aligntools.translating import warming as translating

    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        aligning.warm(Path(folder))
        with Pool(1) as pool:
            tagging.warm(pool)
            parsing.warm(pool)
            translating.warm(Path(folder), pool)
    if not quiet:
        where = f"kept in {compiling.CACHE_FOLDER}" if compiling.CACHE_FOLDER else "not kept: no writable folder"
        click.echo(f"compiled in {time.perf_counter() - began:.1f} s; {where}", err=True)
