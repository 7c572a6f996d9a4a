"""``aligntools conll``: what stands in CoNLL taken out as text, and put in."""

from typing import Any

import click

from aligntools import ColumnReading
from aligntools.cli import declarations, kinds, options
from aligntools.ground.errors import UsageProblem


@click.command("conll", cls=options.Command)
@click.argument("text", metavar="[CONLL]", default="-")
@options.group(
    "Common options",
    options.choice(
        "--to",
        choices=("words", "tagged", "column", "text", "raw"),
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
    options.output(),
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
    options.choice(
        "--tokens",
        choices=("words", "surface"),
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
    options.choice(
        "--format",
        needs=("put",),
        said="--format describes the files of --put; add --put, or leave it out",
        choices=("auto", "conll", "tagged", "values"),
        help="What the FILEs of --put are: CoNLL, word_TAG lines, or lines of values; auto:"
        " as they begin. The words of word_TAG and CoNLL must be those of CONLL.",
    ),
)
@options.group("Messages", options.verbosity)
def command(*, put: tuple[tuple[str | int, str], ...], **o: Any) -> None:
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

    space, columns = o["space"], dict(put)
    if not space or space.split(" ") != [space] or set(space) & set("\t\r\n"):
        raise UsageProblem("--set space is written for a space within a word; it cannot be empty or contain a space")
    if any(path == "-" for _, path in put):
        raise UsageProblem("--put reads files; give CONLL on standard input instead")
    if len(columns) < len(put):
        raise UsageProblem("--put names a column twice")
    how: dict[str, Any] = {"path": o["text"], "reading": declarations.settings(ColumnReading, o)}
    parts = declarations.call(put_in, o, columns=columns, **how) if put else declarations.call(take_out, o, **how)
    with writing(o["output"], exact=o["to"] == "raw") as out:
        for part in parts:
            out.write(part)
