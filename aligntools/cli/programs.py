"""Commands by name: each is a module that is imported when the command is called."""

import ast
import importlib
import inspect
import sys
from collections.abc import Callable
from typing import Any

import click


def command(name: str, package: str = "aligntools.cli") -> click.Command:
    """Return the click command of a module, which has the command's name with ``_`` for ``-`` and no ``.py``."""
    module = importlib.import_module(f"{package}.{name.removesuffix('.py').replace('-', '_')}")
    found: click.Command = module.command
    return found


def docstring(function: Callable[..., Any] | None) -> str | None:
    """Return a function's docstring, from its source where Python has left it out; None where there is none."""
    if function is None or sys.flags.optimize < 2:
        return inspect.getdoc(function) if function is not None else None
    # not ast.parse: since Python 3.14 it leaves docstrings out, too
    tree = compile(inspect.getsource(function), "<help>", "exec", ast.PyCF_ONLY_AST, optimize=0)
    (definition,) = tree.body if isinstance(tree, ast.Module) else (None,)
    return ast.get_docstring(definition) if isinstance(definition, ast.FunctionDef) else None
