"""Commands by name: the module of each is imported when the command is called."""

import ast
import importlib
import inspect
import sys
from collections.abc import Callable
from typing import Any

import click

#: Modules that several commands share. Any other command's module has its name, with ``_`` for ``-`` and no ``.py``.
SHARED = {
    "aligntools.cli": {
        "grammars": ("extract-grammar", "filter-grammar"),
        "installation": ("drop-ins", "warmup"),
        "language_models": ("train-lm", "eval-lm"),
        "scoring": ("eval-aer", "eval-sentences", "eval-tags", "eval-uas", "eval-brackets", "eval-bleu"),
        "taggers": ("train-hmm", "train-tagger"),
    },
    "aligntools.cli.standins": {
        "eflomal": ("eflomal", "eflomal-align", "eflomal-makepriors"),
        "giza_numbers": ("plain2snt", "snt2cooc"),
        "links": ("atools", "extract_lex", "merge_alignment.py", "symal"),
    },
}


def module_of(name: str, package: str = "aligntools.cli") -> str:
    """Return the name of the module that has a command."""
    own = name.removesuffix(".py").replace("-", "_")
    return f"{package}.{next((module for module, names in SHARED[package].items() if name in names), own)}"


def command(name: str, package: str = "aligntools.cli") -> click.Command:
    """Return the click command of a name."""
    there = vars(importlib.import_module(module_of(name, package))).values()
    return next(one for one in there if isinstance(one, click.Command) and one.name == name)


def docstring(function: Callable[..., Any] | None) -> str | None:
    """Return a function's docstring, from its source where Python has left it out; None where there is none."""
    if function is None or sys.flags.optimize < 2:
        return inspect.getdoc(function) if function is not None else None
    # not ast.parse: since Python 3.14 it leaves docstrings out, too
    tree = compile(inspect.getsource(function), "<help>", "exec", ast.PyCF_ONLY_AST, optimize=0)
    (definition,) = tree.body if isinstance(tree, ast.Module) else (None,)
    return ast.get_docstring(definition) if isinstance(definition, ast.FunctionDef) else None
