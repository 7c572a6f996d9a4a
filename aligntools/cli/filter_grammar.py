"""``aligntools filter-grammar``: the rules of a grammar that a text can use."""

import sys

import click

from aligntools.cli import options
from aligntools.ground.errors import UsageProblem


@click.command("filter-grammar", context_settings=options.SETTINGS)
@click.option("--grammar", required=True, metavar="FILE", help="Grammar, of any of the formats.")
@click.option("--text", required=True, metavar="FILE", help="What is to be translated, a sentence a line.")
@options.output
@click.option("--span", type=click.IntRange(1, 200), metavar="N",
              help="Keep only what matches within N words of a sentence: the span limit of the decoder.")  # fmt: skip
@click.option("--format", type=click.Choice(["same", "hiero", "moses", "binary"]), default="same", show_default=True,
              help="What is written; same: the lines as they are.")  # fmt: skip
@options.verbosity
def command(grammar, text, output, span, format, quiet, verbose):
    """Keep the rules of a grammar that a text can use: it has all words between a source side's nonterminals.

    With --span the whole source side must match somewhere, which leaves far fewer. Text comes out unchanged unless
    --format says otherwise, so that this also turns one format into another.

    \b
    Example:
      aligntools align -q -i data/samples/de-en.txt -o /tmp/de-en.align
      aligntools extract-grammar -q -i data/samples/de-en.txt -a /tmp/de-en.align -o /tmp/de-en.grammar
      head -9 data/samples/de-en.de | aligntools filter-grammar --grammar /tmp/de-en.grammar --text -
    """
    if grammar == text == "-":
        raise UsageProblem("standard input ('-') can be only one of the files")
    from aligntools.formats import files, modelfile
    from aligntools.formats.bitext import read_side
    from aligntools.formats.grammar import TextFilter, read_grammar, write_grammar
    from aligntools.formats.grammar_text import filter_lines

    side, vocabulary = read_side(text, lowercase=False)
    binary = modelfile.is_model(grammar)
    if output == "-" and (format == "binary" or (format == "same" and binary)):
        raise UsageProblem("a binary grammar needs a file: -o FILE")
    kept = total = None
    if format == "same" and not binary:
        kept = total = 0
        with files.writing(output) as out:
            for lines, some, of in filter_lines(grammar, TextFilter(side, vocabulary, span=span)):
                out.write(lines)
                kept, total = kept + some, total + of
    else:
        rules = read_grammar(grammar, only_for=(side, vocabulary), span=span)
        write_grammar(output, rules, "binary" if format == "same" else format)
        kept = len(rules)
    if not quiet:
        sys.stderr.write(f"{kept} rules" + (f" of {total}\n" if total is not None else "\n"))
