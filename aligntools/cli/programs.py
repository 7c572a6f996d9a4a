"""Commands by their names: each is a module, which is imported when the command is asked for."""

import importlib


def command(name, package="aligntools.cli"):
    """Return the click command of a module, which has the command's name with ``_`` for ``-`` and no ``.py``."""
    return importlib.import_module(f"{package}.{name.removesuffix('.py').replace('-', '_')}").command
