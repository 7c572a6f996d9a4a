"""``aligntools view``: alignments, and what else there is to look at, as pages, pictures and in the terminal."""

from typing import Any

import click
from click.core import ParameterSource

from aligntools.cli import (
    notices,
    options,
    paging,
    viewing_alignments,
    viewing_derivations,
    viewing_models,
    viewing_training,
    viewing_trees,
)
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import counts

#: Each kind of thing to look at: its module, which has ``GROUP``, the title of its own options, ``ARGUMENTS``, what
#: it is known by, and ``view_of``, which reads it.
KINDS = {
    "alignments": viewing_alignments,
    "models": viewing_models,
    "training": viewing_training,
    "translations": viewing_derivations,
    "trees": viewing_trees,
}


@click.command(
    "view",
    cls=options.Command,
    basic="output svg number source target joint alignments gold tags column derivations reference model log quiet",
)
@click.argument("files", metavar="[FILE]...", nargs=-1)
@options.group(
    "Common options",
    click.option("-o", "--output", metavar="FILE", type=options.WRITTEN, help="Write a page: one HTML file."),
    click.option("--svg", metavar="FILE", type=options.WRITTEN, help="Write a picture of one item, for papers."),
    click.option(
        "--number",
        "--pair",
        "--sentence",
        type=options.number(counts(1)),
        metavar="N",
        help="Show the N-th sentence alone, counted from 1. --svg shows the first by default, or the worst tree.",
    ),
    click.option("--title", metavar="TEXT", help="Title of the page."),
)
@viewing_alignments.own_options
@viewing_trees.own_options
@viewing_derivations.own_options
@viewing_models.own_options
@viewing_training.own_options
@options.group("Messages", options.verbosity)
@click.pass_context
def command(
    ctx: click.Context,
    /,
    output: str | None,
    svg: str | None,
    number: int | None,
    title: str | None,
    quiet: bool,
    verbose: bool,
    **given: Any,
) -> None:
    """Look at results: in the terminal, as a page (-o), as a picture (--svg).

    With -s, -t (or -i) and -a: sentence pairs with their links, of one system or several, beside gold links if there
    are any. The page is one file that needs no network. Links can be corrected in it and saved as gold links.

    With one or two files in CoNLL-X or CoNLL-U, or of trees in brackets: trees, and with gold trees (the second file)
    what is wrong in them.
    With tagged text, or --tags: tags, a table of which are taken for which, and the sentences with wrong ones.

    With --derivations: the rules that made translations, and with --reference what differs from it.

    With -m: what a model learned, as charts and tables of words to search in; --number chooses a chart.

    With --log: curves of one training or several, time and memory by stage. Its page and its charts need Matplotlib
    (the extra "plots").

    \b
    Example:
      aligntools view -i data/samples/de-en.txt --gold data/samples/de-en.wa --number 2
      aligntools view data/samples/en.conllu --sentence 3
    """
    kind = _kind(given)
    _check_options(ctx, kind)
    if output and svg:
        raise UsageProblem("-o writes a page and --svg a picture; give one of them")
    if title and not output:
        raise UsageProblem("--title is of a page, which -o writes")
    with notices.shown(quiet):
        shown, number = KINDS[kind].view_of(given, number, title)
    if svg:
        options.write_text(svg, shown.svg(number, **KINDS[kind].drawing(given)))
    elif output:
        options.write_text(output, shown.html())
    else:
        paging.write(shown, number, **KINDS[kind].drawing(given))


def _kind(given: dict[str, Any]) -> str:
    """Return what is to be looked at, by what was given."""
    for kind, module in KINDS.items():
        if any(given[name] for name in module.ARGUMENTS):
            return kind
    raise UsageProblem(
        "give what to look at: text and alignments (-s, -t, -a), files with trees, derivations, a model (-m) or logs of"
        " training (--log); see --help"
    )


def _check_options(ctx: click.Context, kind: str) -> None:
    """Refuse options of another kind's group."""
    others = {module.GROUP for name, module in KINDS.items() if name != kind} - {KINDS[kind].GROUP}
    for parameter in ctx.command.params:
        given = ctx.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
        if given and getattr(parameter, "group", None) in others:
            raise UsageProblem(f"{parameter.opts[0]} does not go with {kind}")
