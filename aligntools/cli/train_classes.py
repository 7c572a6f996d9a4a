"""``aligntools train-classes``: word classes by the exchange algorithm."""

import sys
from pathlib import Path
from typing import Any

import click

from aligntools import ClassSettings, LinkReading
from aligntools.cli import declarations, options, reporter


@click.command("train-classes", cls=options.Command)
@click.argument("text", metavar="TEXT")
@options.group(
    "Common options",
    declarations.option(ClassSettings, "number", "-n"),
    options.output(help="Write words and the numbers of their classes here, as mkcls does."),
)
@declarations.group(ClassSettings, "iterations", "restarts", "min_count")
@options.group("Training", options.split)
@options.group(
    "Other files",
    options.written("--save-cats", help="Write the words of each class, as mkcls does to .cats."),
    options.written(
        "--save-paths",
        help="Write classes as paths in a tree, strings of bits whose beginnings are larger classes, as programs of"
        " Brown clustering do: path, word and count between tabs.",
    ),
    options.written("--save-counts", help="Write word, class and count between tabs."),
)
@options.group(
    "Classes of two languages",
    options.file(
        "-t", "--target", help="The text's translation: classes of both languages, by neighbours and by links."
    ),
    options.file("-a", "--alignments", help="Links i-j, source-target, one line per sentence pair."),
    options.written("--target-output", help="Write the classes of the translation's words."),
    needs=("target", "alignments", "target_output"),
    said="classes of two languages take `target`, `alignments` and `target_output`",
)
@declarations.group(LinkReading, "index_base", title="Classes of two languages", needs=("alignments",))
@options.group("Resources and messages", options.threads, options.seed, options.verbosity)
def command(**o: Any) -> None:
    """Learn classes of words from plain text, one sentence per line; '-' is standard input.

    Words move between classes so that a word's class says most of the class of the next word (Kneser & Ney 1993;
    Martin, Liermann & Ney 1998), as in mkcls. Its files are written: words and numbers, sorted by word; numbers begin
    with 2, and 1 is the class of words rarer than --min-count. Taggers and parsers read them with --classes.

    \b
    Example:
      aligntools train-classes -n 10 data/samples/de-en.de -o /tmp/de.classes
    """
    from aligntools.clustering.class_training import train_bilingual_classes, train_classes

    with reporter.shown(o["quiet"]):
        if bilingual := o["target"] is not None:
            files = {"sources": o["text"], "targets": o["target"], "alignments": o["alignments"]}
            paths = {name: Path(file) for name, file in files.items()}
            found, other = declarations.call(train_bilingual_classes, o, **paths)
            other.save(o["target_output"])
        else:
            found = declarations.call(train_classes, o)
        for form in ("cats", "paths", "counts"):
            if o[f"save_{form}"]:
                found.save(o[f"save_{form}"], form)
        found.save(o["output"])
    if not o["quiet"]:
        words = f"{len(found)} words in {len(set(found.classes.tolist()))} classes"
        perplexity = "" if bilingual else f"perplexity {found.perplexity:.3f}, "
        sys.stderr.write(f"{words}; {perplexity}mutual information {found.information:.4f}\n")
