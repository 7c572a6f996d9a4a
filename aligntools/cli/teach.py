"""``aligntools teach``: the start of contrastive-align, taught by large text."""

from typing import Any

import click

from aligntools import Reading, TeachingSettings
from aligntools.cli import declarations, options, training
from aligntools.cli.reporter import reporting


@click.command(
    "teach",
    cls=options.Command,
    basic="source target joint_file output model students passes max_length threads seed quiet",
)
@options.group(
    "Common options",
    options.file(
        "-s",
        "--source",
        multiple=True,
        help="Source side, one sentence per line. May come several times, with as many -t.",
    ),
    options.file("-t", "--target", multiple=True, help="Target side, the same number of lines."),
    options.file(
        "-i",
        "--input",
        "joint_file",
        multiple=True,
        help="Both sides in one file, ' ||| ' between them; may come several times.",
    ),
    options.written("-o", "--output", required=True, help="Write the start to this file."),
)
@options.group(
    "Teaching",
    options.file(
        "-m",
        "--model",
        multiple=True,
        help="The teacher of a text, from align --save-model: one for each text, in their order.  [default:"
        " train them]",
    ),
    declarations.group(TeachingSettings, without=["seed"]),
    training.log_json,
    options.verify,
)
@options.group(
    "Text and resources",
    declarations.group(Reading),
    options.threads,
    options.seed,
    options.verbosity,
)
def command(**o: Any) -> None:
    """Learn a start for contrastive-align from large text, without gold links.

    What a model of 300 sentence pairs gets wrong, one of 200,000 pairs of the same text gets right. Models of samples
    (students) say what they know of links, a model of all of the text (the teacher) says what is linked, and a small
    network learns how far the students' evidence is to be trusted. What it learns is not bound to words or languages:
    contrastive-align --start FILE uses it on any text. Several texts, of several languages, teach more.

    \b
    Example:
      aligntools teach -s data/samples/de-en.de -t data/samples/de-en.en --students 60 -o /tmp/start
      aligntools contrastive-align -s data/samples/fr-en.fr -t data/samples/fr-en.en --start /tmp/start -o /tmp/links
    """
    from aligntools.aligning.contrastive.distillation import teach_by_files

    with reporting(o) as watch:
        declarations.call(teach_by_files, o, watch=watch)
