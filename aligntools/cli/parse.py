"""``aligntools parse``: a parser, or a grammar of constituents, applied to text."""

from typing import Any

import click

from aligntools import GrammarDecisions, ParserDecisions, ParserReading, TreeLists
from aligntools.cli import declarations, options, service_options
from aligntools.cli.flags import renamed
from aligntools.ground.errors import UsageProblem

#: Options that only one kind of model has.
_DEPENDENCIES = {"labels", "map", "projective", "single_root"}
_CONSTITUENTS = {"decode", "pruning", "keep_tags", *TreeLists.names()}


@click.command(
    "parse",
    cls=options.Command,
    renamed=renamed(ParserDecisions, GrammarDecisions),
    basic="model output labels format column map unbuffered projective max_length n_best samples workers threads quiet",
)
@click.argument("texts", metavar="[TEXT]...", nargs=-1)
@options.group(
    "Common options",
    options.file(
        "-m",
        "--model",
        required=True,
        help="Parser from train-parser or transfer-parse, or grammar from train-grammar.",
    ),
    options.output(),
    declarations.group(ParserDecisions, "labels"),
)
@options.group(
    "Input",
    declarations.option(
        ParserReading,
        "format",
        choices=("auto", "conll", "tagged", "text"),
        help="Format of the text; auto looks at its first lines. Plain text (text) is for grammars of constituents.",
    ),
    declarations.group(ParserReading, "column", "predicted_columns", "map", "separator"),
    service_options.unbuffered,
)
@declarations.group(ParserDecisions, without=("labels", "max_length"))
@options.group(
    "Trees",
    declarations.option(
        ParserDecisions,
        "max_length",
        otherwise=f"{ParserDecisions.max_length}; {GrammarDecisions.max_length} with a grammar",
    ),
)
@declarations.group(GrammarDecisions, without=("max_length",))
@declarations.group(TreeLists, without=("seed",))
@options.engines
@options.group(
    "Resources and messages", options.verify, declarations.option(TreeLists, "seed"), options.threads, options.verbosity
)
def command(**o: Any) -> None:
    """Parse text with tags: CoNLL with heads and labels filled in and all else unchanged.

    A parser without labels writes _ in DEPREL, and root at roots. An enhanced graph in DEPS is replaced by the edges of
    the new tree, and empty nodes stay; without one DEPS is emptied. Reads standard input if no TEXT is given, and
    writes while it reads. word_TAG lines become CoNLL. Every sentence of the input is in the output.

    With a grammar of constituents the text may be plain, and a tree in brackets is written for each sentence, one a
    line; (()) where there are no words. Tags that the text has are kept in the trees: XPOS by default in CoNLL.
    Of trees in brackets the words are parsed, and with --keep-tags their tags are kept. With --n-best or
    --samples several trees of each sentence are written, with its number and their probabilities.

    \b
    Example:
      aligntools train-parser -q --treebank data/samples/en.conllu -o /tmp/en.parser
      aligntools parse -m /tmp/en.parser data/samples/en.tagged
      aligntools train-grammar -q --treebank data/samples/en.mrg -o /tmp/en.pcfg
      aligntools parse -m /tmp/en.pcfg data/samples/en.txt
    """
    from aligntools.formats.models.modelfile import model_kind
    from aligntools.tools.parse_files import parse_files

    grammar = model_kind(o["model"]) in ("pcfg", "induced-pcfg", "neural-pcfg")
    kind = "a grammar of constituents" if grammar else "a parser of dependencies"
    declarations.refuse(_DEPENDENCIES if grammar else _CONSTITUENTS, f"{kind}, which {o['model']} is", o)
    if not grammar and o["format"] == "text":
        raise UsageProblem(f"`format=text`: {o['model']} parses text with tags; tag it first")
    decisions = declarations.settings(GrammarDecisions if grammar else ParserDecisions, o)
    words, lines = service_options.answered(parse_files, o, decisions=decisions)
    if o["verbose"]:
        lines.took(words, "words")
