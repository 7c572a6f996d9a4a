"""The help of commands is their docstring, which Python leaves out under ``-OO``."""

import ast
import inspect
import sys
from collections.abc import Callable
from typing import Any


def docstring(function: Callable[..., Any] | None) -> str | None:
    """Return a function's docstring, from its source where Python has left it out; None where there is none."""
    if function is None or sys.flags.optimize < 2:
        return inspect.getdoc(function) if function is not None else None
    # not ast.parse: since Python 3.14 it leaves docstrings out, too
    tree = compile(inspect.getsource(function), "<help>", "exec", ast.PyCF_ONLY_AST, optimize=0)
    (definition,) = tree.body if isinstance(tree, ast.Module) else (None,)
    return ast.get_docstring(definition) if isinstance(definition, ast.FunctionDef) else None
