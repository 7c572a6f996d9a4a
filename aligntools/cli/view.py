"""``aligntools view``: alignments, and what else there is to look at, as pages, pictures and in the terminal."""

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from aligntools import GoldReading, ModelViewing
from aligntools.cli import declarations, kinds, options, reporter
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import counts

if TYPE_CHECKING:
    from aligntools.viewing.base import View


class SystemFile(str):
    """The path of a system's file, and the system's name."""

    label: str


class _SystemPlace(options.Place):
    """A file, or ``NAME=FILE``."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> SystemFile:
        name, sign, path = value.partition("=")
        if not sign or not name or os.path.exists(value):
            name, path = "", value
        found = SystemFile(super().convert(path, param, ctx))
        found.label = name or ("standard input" if path == "-" else Path(path).name)
        return found


class Kind(NamedTuple):
    """A kind of thing to look at, where one of its arguments is given; asked in their order.

    missing: The message about a number that is too large; shared: options of another group that it takes.
    """

    group: str
    arguments: tuple[str, ...]
    missing: str
    shared: tuple[str, ...] = ()


KINDS = {
    "sentences": Kind(
        "Sentences of two documents",
        ("ladder",),
        "there is no group {0}; there are {1}",
        ("source", "target"),
    ),
    "alignments": Kind(
        "Alignments",
        ("alignments", "source", "target", "joint"),
        "there is no pair {0}; the text has {1}",
    ),
    "models": Kind("Models", ("model",), "there is no chart {0}; there are {1}"),
    "training": Kind("Training", ("log",), "there is no chart {0}; there are {1}"),
    "translations": Kind("Translations", ("derivations",), "there is no sentence {0}; there are {1}"),
    "trees": Kind("Trees and tags", ("files",), "there is no sentence {0}; the text has {1}"),
}


@click.command(
    "view",
    cls=options.Command,
    basic="output svg number source target joint alignments gold ladder tags column derivations reference model log"
    " quiet",
)
@click.argument("files", metavar="[FILE]...", nargs=-1)
@options.group(
    "Common options",
    options.written("-o", "--output", help="Write a page: one HTML file."),
    options.written(
        "--svg",
        excludes=("output",),
        said="-o writes a page and --svg a picture; give one of them",
        help="Write a picture of one item, for papers.",
    ),
    click.option(
        "--number",
        "--pair",
        "--sentence",
        type=options.Number(counts(1)),
        metavar="N",
        help="Show the N-th sentence alone, counted from 1. --svg shows the first by default, or the worst tree.",
    ),
    options.option(
        "--title",
        metavar="TEXT",
        needs=("output",),
        said="--set title is for a page; give -o as well",
        help="Title of the page.",
    ),
)
@options.group(
    "Alignments",
    options.file("-s", "--source", help="Source text, one sentence per line."),
    options.file("-t", "--target", help="Target text."),
    click.option(
        "-i",
        "--input",
        "joint",
        metavar="FILE|N",
        help="Both texts in one file, ' ||| ' or a tab between them; with -s and -t a number, as --number.",
    ),
    click.option(
        "-a",
        "--alignments",
        metavar="[NAME=]FILE...",
        type=_SystemPlace(),
        multiple=True,
        help="Links i-j or i-j:p, one line per sentence pair; several files are systems to compare.",
    ),
    options.file("--gold", help="Gold links, as eval-aer reads them: of the first pairs or of numbered lines."),
    options.file("--source-tags", help="A tag for each source word, as eval-tags reads them."),
    options.file("--target-tags", help="A tag for each target word. With tags, the page counts errors by tag."),
    options.file(
        "--check",
        "checked",
        help="What check wrote of this text, rows or JSON: words that are left out, added or repeated are marked.",
    ),
    click.option(
        "--form",
        type=click.Choice(["matrix", "ribbon"]),
        help="How --svg and the terminal draw a pair.  [default: matrix if it fits]",
    ),
    options.input_format,
    options.languages,
    options.split,
    declarations.option(
        GoldReading,
        "gold_format",
        needs=("gold",),
        help="pharaoh: i-j sure, i?j or ipj possible. naacl: 'sentence i j [S|P]', counted from 1.",
    ),
    declarations.option(GoldReading, "index_base"),
    declarations.group(GoldReading, "gold_base", "first_sentence", title="Alignments", needs=("gold",)),
)
@options.group(
    "Sentences of two documents",
    options.file(
        "--ladder",
        excludes=("files",),
        said="'{files[0]}': --ladder is looked at with -s and -t alone",
        help="Groups of the lines of -s and -t, as align-sentences --ladder writes them, or in its other forms.",
    ),
    needs=("source", "target"),
    said="give both documents with --ladder, -s and -t",
)
@options.group(
    "Trees and tags",
    click.option("--tags", is_flag=True, help="Show the tags of the files, not trees: as eval-tags reads them."),
    click.option(
        "--column",
        default="upos",
        show_default=True,
        type=kinds.Column(),
        metavar="upos|xpos|N",
        help="Column of CoNLL with the tags.",
    ),
)
@options.group(
    "Translations",
    options.file(
        "--derivations",
        excludes=("files",),
        said="'{files[0]}': --derivations is looked at alone, or with --reference",
        help="What translate --derivations wrote.",
    ),
    options.file("--reference", help="A translation of each sentence, to compare with."),
)
@options.group(
    "Models",
    options.file(
        "-m",
        "--model",
        excludes=("files",),
        said="'{files[0]}': --model is looked at alone",
        help="A model of any kind, or weights; the file says which.",
    ),
    declarations.option(ModelViewing, "words"),
    declarations.option(ModelViewing, "best"),
    options.verify,
)
@options.group(
    "Training",
    click.option(
        "--log",
        metavar="FILE...",
        multiple=True,
        help="What align --log-json or another training wrote; several files are runs to compare.",
    ),
)
@options.group("Messages", options.verbosity)
def command(title: str | None, **given: Any) -> None:
    """Look at results: in the terminal, as a page (-o), as a picture (--svg).

    With -s, -t (or -i) and -a: sentence pairs with their links, of one system or several, beside gold links if there
    are any. The page is one file that needs no network. Links can be corrected in it and saved as gold links.

    With -s, -t and --ladder: two documents side by side, in groups of sentences, doubtful ones first. Groups can be
    corrected in the page, and saved as a ladder.

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
    kind = next((name for name, own in KINDS.items() if any(given[argument] for argument in own.arguments)), "")
    if not kind:
        raise UsageProblem(
            "give what to look at: text and alignments (-s, -t, -a), documents and a ladder (-s, -t, --ladder), files"
            " with trees, derivations, a model (-m) or logs of training (--log); see --help"
        )
    others = {own.group for own in KINDS.values()} - {KINDS[kind].group}
    said = declarations.given().difference(KINDS[kind].shared)
    for parameter in click.get_current_context().command.params:
        if parameter.name in said and getattr(parameter, "group", None) in others:
            raise UsageProblem(f"{parameter.opts[0]} does not go with {kind}")
    for option, other in (("output", ".svg"), ("svg", ".html")):
        if (given[option] or "").lower().endswith((other, ".png", ".pdf")):
            raise UsageProblem(f"'{given[option]}': `output` writes a page of HTML, and `svg` a picture in SVG")
    with reporter.shown(given["quiet"]):
        shown = _view_of(kind, given, title)
    number = given["number"]
    if number and number > len(shown):
        raise UsageProblem(KINDS[kind].missing.format(number, len(shown)))
    drawing = {"form": given["form"]} if kind == "alignments" else {}
    if given["svg"]:
        options.write_text(given["svg"], shown.svg(number, **drawing))
    elif given["output"]:
        options.write_text(given["output"], shown.html())
    else:
        _write(shown, number, **drawing)


def _view_of(kind: str, given: dict[str, Any], title: str | None) -> "View":
    """Return the view of what was given; with ``-s`` and ``-t``, ``-i`` may give the number of the pair."""
    if kind == "sentences":
        from aligntools.viewing.sentences import view_sentences

        return view_sentences(given["source"], given["target"], given["ladder"], title)
    if kind == "models":
        from aligntools.models import view_model

        how = declarations.settings(ModelViewing, given)
        return view_model(given["model"], how, title=title, verify=given["verify"])
    if kind != "alignments":
        from aligntools.viewing import annotation

        if kind == "training":
            return annotation.view_training(*given["log"], *given["files"], title=title or "Training")
        if kind == "translations":
            return annotation.view_derivations(given["derivations"], given["reference"], title=title)
        return annotation.view_annotation(given["files"], tags=given["tags"], column=given["column"], title=title)
    from aligntools.viewing.view import view

    source, target, joint = given["source"], given["target"], given["joint"]
    if source and target and joint:
        if given["number"] or not (joint.isascii() and joint.isdigit() and int(joint)):
            raise UsageProblem("give the text as -i or as -s and -t; with those, -i is the number of a pair")
        given["number"], joint = int(joint), None
    if bool(source) != bool(target) or not (source or joint):
        raise UsageProblem("give the text with -i, or with both -s and -t")
    systems = [*given["alignments"], *(_SystemPlace().convert(path, None, None) for path in given["files"])]
    names = ("gold", "source_tags", "target_tags", "checked", "input_format", "languages", *GoldReading.names())
    rest = {name: given[name] for name in names}
    text = (source, target) if source else joint
    return view(text, *systems, names=[s.label for s in systems], title=title or "Alignments", **rest)


def _write(shown: "View", number: int | None = None, **how: Any) -> None:
    """Write a view's text to standard output: in colors and through a pager in a terminal, plain elsewhere."""
    out = sys.stdout
    terminal = out.isatty()
    width = shutil.get_terminal_size().columns if terminal else 80
    color = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    text = shown.stream_text(width=width, color=color, number=number, **how)
    if terminal and number is None:
        os.environ.setdefault("LESS", "FRX")  # as git does: stay where it fits on a screen, colors
        click.echo_via_pager(text, color=color)
    else:
        for piece in text:
            out.buffer.write(piece.encode("utf-8", "surrogateescape"))
