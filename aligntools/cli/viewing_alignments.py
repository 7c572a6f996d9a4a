"""What ``view`` does with alignments."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aligntools import GoldReading
from aligntools.cli import declared, options
from aligntools.ground.errors import UsageProblem

if TYPE_CHECKING:
    from aligntools.api.views.viewing import View

GROUP = "Alignments"
#: Alignments are looked at where one of these is given.
ARGUMENTS = ("alignments", "source", "target", "joint")


class SystemFile(str):
    """The path of a system's file, with what the system is called."""

    label: str


class _SystemPlace(options.Place):
    """A file, or ``NAME=FILE``."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> SystemFile:
        """Split the name off, unless the whole is a file."""
        name, sign, path = value.partition("=")
        if not sign or not name or os.path.exists(value):
            name, path = "", value
        found = SystemFile(super().convert(path, param, ctx))
        found.label = name or ("standard input" if path == "-" else Path(path).name)
        return found


own_options = options.group(
    GROUP,
    click.option("-s", "--source", metavar="FILE", help="Source text, one sentence per line."),
    click.option("-t", "--target", metavar="FILE", help="Target text."),
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
    click.option(
        "--gold", metavar="FILE", help="Gold links, as eval-aer reads them: of the first pairs or of numbered lines."
    ),
    click.option("--source-tags", metavar="FILE", help="A tag for each source word, as eval-tags reads them."),
    click.option(
        "--target-tags", metavar="FILE", help="A tag for each target word. With tags, the page counts errors by tag."
    ),
    click.option(
        "--check",
        "checked",
        metavar="FILE",
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
    declared.option(
        GoldReading,
        "gold_format",
        help="pharaoh: i-j sure, i?j or ipj possible. naacl: 'sentence i j [S|P]', counted from 1.",
    ),
    *(declared.option(GoldReading, name) for name in ("index_base", "gold_base", "first_sentence")),
)


def view_of(given: dict[str, Any], number: int | None, title: str | None) -> "tuple[View, int | None]":
    """Return the view and the number of the pair that is asked for, or None."""
    from aligntools.api.views.viewing import view

    source, target, joint = given["source"], given["target"], given["joint"]
    if source and target and joint:
        if number or not (joint.isascii() and joint.isdigit() and int(joint)):
            raise UsageProblem("give the text as -i or as -s and -t; with those, -i is the number of a pair")
        number, joint = int(joint), None
    if bool(source) != bool(target) or not (source or joint):
        raise UsageProblem("give the text with -i, or with both -s and -t")
    systems = [*given["alignments"], *(_SystemPlace().convert(path, None, None) for path in given["files"])]
    if [source, target, joint, given["gold"], given["checked"], *systems].count("-") > 1:
        raise UsageProblem("standard input ('-') can be only one of the files")
    if not given["gold"] and (others := sorted(declared.given() & {"gold_format", "gold_base", "first_sentence"})):
        raise UsageProblem(f"`{others[0]}` goes with `gold`")
    names = ("gold", "source_tags", "target_tags", "checked", "input_format", "languages", *GoldReading.names())
    how = {name: given[name] for name in names}
    text = (source, target) if source else joint
    shown = view(text, *systems, names=[s.label for s in systems], title=title or "Alignments", **how)
    if number and number > len(shown):
        raise UsageProblem(f"there is no pair {number}; the text has {len(shown)}")
    return shown, number


def drawing(given: dict[str, Any]) -> dict[str, Any]:
    """Return how a picture is to be drawn."""
    return {"form": given["form"]}
