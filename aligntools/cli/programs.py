"""Commands by their names: each is a module, which is imported when the command is asked for."""

import importlib

import click


def command(name: str, package: str = "aligntools.cli") -> click.Command:
    """Return the click command of a module, which has the command's name with ``_`` for ``-`` and no ``.py``."""
    module = importlib.import_module(f"{package}.{name.removesuffix('.py').replace('-', '_')}")
    found: click.Command = module.command
    return found
