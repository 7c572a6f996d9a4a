"""``aligntools conll``: what stands in CoNLL taken out as text, and put in."""

from typing import TYPE_CHECKING

import click

from aligntools import ColumnReading
from aligntools.cli import declarations, kinds, options
from aligntools.ground.errors import UsageProblem

if TYPE_CHECKING:
    from aligntools.tools.conll_columns import PutFormat, Units, Wanted


@click.command("conll", cls=options.Command)
@click.argument("text", metavar="[CONLL]", default="-")
@options.group(
    "Common options",
    click.option(
        "--to",
        type=click.Choice(["words", "tagged", "column", "text", "raw"]),
        default="words",
        show_default=True,
        help="Write words, word_TAG, the values of --column, each sentence's raw text, or"
        " the whole raw text as it was before it was tokenized.",
    ),
    options.option(
        "--put",
        excludes=("to", "column"),
        said="--put writes CoNLL; `{other}` does not go with it",
        type=(kinds.Column(), str),
        multiple=True,
        metavar="COLUMN FILE",
        help="Write CoNLL, with this column's values from FILE: lines of values or of word_TAG, one sentence"
        " per line, or CoNLL. May be given several times.",
    ),
    options.output,
)
@options.group(
    "Columns and tokens",
    click.option(
        "--column",
        type=kinds.Column(),
        metavar="upos|xpos|N",
        help="Column that is taken out, by name (form, lemma, upos, ...) or number.  [default: upos]",
    ),
    declarations.option(ColumnReading, "predicted_columns"),
    click.option(
        "--tokens",
        type=click.Choice(["words", "surface"]),
        default="words",
        show_default=True,
        help="Write or put in a value for each syntactic word, or for each token of the surface (one for a range 1-2).",
    ),
    options.option(
        "--space",
        default="\N{NO-BREAK SPACE}",
        metavar="TEXT",
        help="Written for a space within a word, so that words can be counted.  [default: a no-break space]",
    ),
    click.option(
        "--separator",
        default=None,
        callback=options.tag_separator,
        metavar="TEXT",
        help="Separator between word and tag in word_TAG lines.  [default: _; with --put, the one of _ and /"
        " that most tokens have]",
    ),
    options.option(
        "--format",
        needs=("put",),
        said="--format describes the files of --put; add --put, or leave it out",
        type=click.Choice(["auto", "conll", "tagged", "values"]),
        default="auto",
        show_default=True,
        help="What the FILEs of --put are: CoNLL, word_TAG lines, or lines of values; auto:"
        " as they begin. The words of word_TAG and CoNLL must be those of CONLL.",
    ),
)
@options.group("Messages", options.verbosity)
def command(
    text: str,
    to: "Wanted",
    put: tuple[tuple[str | int, str], ...],
    output: str,
    column: str | int | None,
    tokens: "Units",
    space: str,
    separator: bytes | None,
    predicted_columns: bool,
    format: "PutFormat",
    quiet: bool,
    verbose: bool,
) -> None:
    """Take words, tags, columns or raw text out of CoNLL, words and tags out of trees in brackets, or put columns in.

    The output has one line per sentence, except with --to raw. --put replaces a column; comments, ranges (1-2), empty
    nodes (1.1) and all other columns stay as they are. Where heads are replaced, DEPS gets the new tree's edges.

    \b
    Example:
      aligntools conll data/samples/en.conllu --to tagged
      aligntools conll data/samples/en.conllu --to column --column lemma -o /tmp/en.lemmas
      aligntools conll data/samples/en.mrg --to words -o /tmp/en.words
      aligntools conll data/samples/en.conllu --put lemma /tmp/en.lemmas -o /tmp/en.conllu
    """
    from aligntools.formats.opening.files import writing
    from aligntools.tools.conll_columns import put_in, take_out

    if not space or space.split(" ") != [space] or set(space) & set("\t\r\n"):
        raise UsageProblem("--set space is written for a space within a word; it cannot be empty or contain a space")
    if any(path == "-" for _, path in put):
        raise UsageProblem("--put reads files; give CONLL on standard input instead")
    columns = dict(put)
    if len(columns) < len(put):
        raise UsageProblem("--put names a column twice")
    reading = ColumnReading(predicted_columns).checked()
    parts = (
        put_in(text, columns, tokens=tokens, space=space, format=format, separator=separator, reading=reading)
        if put
        else take_out(text, to, column=column, tokens=tokens, space=space, separator=separator, reading=reading)
    )
    with writing(output, exact=to == "raw") as out:
        for part in parts:
            out.write(part)
