"""Commands by name: what they are for, and the module of each, which is imported when the command is called."""

import ast
import importlib
import inspect
import sys
from collections.abc import Callable
from typing import Any

import click

#: Every subcommand with its one line in ``aligntools --help``, by what it is for.
GROUPS = {
    "Word alignment": {
        "align": "Align a parallel corpus, or new text by a saved model.",
        "contrastive-align": "Align with a network, or features learned from gold.",
        "mre-align": "Align by maximum reconstruction (IBM 2, HMM).",
        "teach": "Train contrastive-align's network without gold.",
        "symmetrize": "Combine, convert and check alignment files.",
        "eval-aer": "Score alignments: precision, recall, F1, AER.",
        "lexicon": "Write translation tables and shortlists.",
    },
    "Work with aligned text": {
        "align-sentences": "Find the sentences of two documents that belong together.",
        "eval-sentences": "Score sentence groups: precision, recall, F1.",
        "filter": "Keep the sentence pairs that are translations.",
        "check": "Check what translations leave out, add or repeat.",
        "terms": "Find the terms of parallel text: a glossary.",
        "transfer-markup": "Carry tags of XML and HTML over to a translation.",
        "project": "Carry tags, features and trees over word alignments.",
        "serve": "Answer over HTTP: links, checks, tags carried over.",
    },
    "Tags and word classes": {
        "train-tagger": "Train a tagger on text with tags, some tags or none.",
        "train-hmm": "Train hidden Markov models of tags or alignments.",
        "tag": "Tag text with a trained tagger.",
        "train-classes": "Cluster words by their neighbours, as mkcls does.",
        "eval-tags": "Score tags: accuracy, many-to-1, 1-to-1, VI, V-measure.",
        "conll": "Convert CoNLL and trees: words, tags, columns, raw text.",
    },
    "Trees": {
        "train-parser": "Train a dependency parser from trees or tags.",
        "transfer-parse": "Train a parser through parallel text, without a treebank.",
        "train-grammar": "Learn a grammar of constituents from trees.",
        "parse": "Parse text: trees of dependencies, or of constituents.",
        "eval-uas": "Score dependency trees: UAS, LAS, whole trees, roots.",
        "eval-brackets": "Score trees of constituents: labelled F1, as EVALB counts.",
    },
    "Translation": {
        "train-lm": "Estimate an n-gram language model.",
        "eval-lm": "Measure the perplexity of text under a language model.",
        "extract-grammar": "Extract a Hiero grammar from aligned text.",
        "filter-grammar": "Keep the rules of a grammar that a text can use.",
        "translate": "Translate text with a hierarchical grammar.",
        "imputed-risk": "Learn the weights of a translation system.",
        "eval-bleu": "Score translations: BLEU.",
    },
    "Everything else": {
        "view": "Look at results: in the terminal, as a page, as a picture.",
        "drop-ins": "Write programs that stand in for other aligners.",
        "warmup": "Compile everything once, for container images and CI.",
    },
}
COMMANDS = {name: line for group in GROUPS.values() for name, line in group.items()}
#: Modules that several commands share. Any other command's module has its name, with ``_`` for ``-`` and no ``.py``.
SHARED = {
    "aligntools.cli": {
        "aligned_text": ("filter", "check", "terms"),
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
