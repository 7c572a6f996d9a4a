"""``aligntools align-sentences``: the sentences of a document and its translation that belong together."""

from typing import Any

import click

from aligntools import SentenceSettings
from aligntools.cli import declared, options
from aligntools.cli.reporting import reporting
from aligntools.ground.running import Run


@click.command(
    "align-sentences",
    cls=options.Command,
    basic="source target output ladder source_alone target_alone min_score anchors encoder threads quiet",
)
@options.group(
    "Common options",
    click.option("-s", "--source", metavar="FILE", required=True, help="A document, one sentence per line."),
    click.option("-t", "--target", metavar="FILE", required=True, help="Its translation."),
    options.option(
        "-o",
        "--output",
        metavar="FILE",
        type=options.WRITTEN,
        excludes=("source_output", "target_output"),
        help="Write the pairs to this file instead of standard output, both sides on a line with ' ||| ' between them."
        " Written completely or not at all.",
    ),
)
@options.group(
    "More output",
    options.option(
        "--source-output",
        metavar="FILE",
        type=options.WRITTEN,
        needs=("target_output",),
        help="Write the source side of the pairs to this file, and nothing to -o.",
    ),
    options.option(
        "--target-output",
        metavar="FILE",
        type=options.WRITTEN,
        needs=("source_output",),
        help="Write their target side to this file.",
    ),
    click.option(
        "--ladder",
        metavar="FILE",
        type=options.WRITTEN,
        help="Write the groups as numbers of lines, from 0, and scores: [0, 1]:[2]:0.93.",
    ),
    options.option(
        "--ladder-format",
        type=click.Choice(["vecalign", "hunalign", "xces"]),
        default="vecalign",
        show_default=True,
        needs=("ladder",),
        help="hunalign: a rung a line, where groups begin. xces: links in XML, from 1.",
    ),
    click.option(
        "--source-alone",
        metavar="FILE",
        type=options.WRITTEN,
        help="Write the source sentences without a partner to this file.",
    ),
    click.option(
        "--target-alone",
        metavar="FILE",
        type=options.WRITTEN,
        help="Write the target sentences without a partner to this file.",
    ),
)
@declared.group(SentenceSettings)
@options.group("Resources and messages", options.threads, options.verbosity)
def command(**o: Any) -> None:
    """Find the sentences of a document and its translation that belong together.

    Groups of up to four sentences on either side are found by vectors of an encoder, where the extra is installed, by
    a lexicon that grows from the text, by words that look alike, and by lengths. Sections that stand elsewhere in the
    other document are found, too. Blank lines are borders of paragraphs.

    The pairs are text as `align -i` reads it; every sentence is in one group. Standard error says how many have no
    partner; --source-alone and --target-alone have them.

    \b
    Example:
      cut -d' ' -f1-30 data/samples/de-en.de > /tmp/book.de
      cut -d' ' -f1-30 data/samples/de-en.en > /tmp/book.en
      aligntools align-sentences -s /tmp/book.de -t /tmp/book.en -o /tmp/book.de-en --ladder /tmp/book.ladder
    """
    from aligntools.sentences.document_pairs import align_sentence_files

    output = o["output"] or (None if o["source_output"] else "-")
    with reporting(o) as reporter:
        found = declared.call(
            align_sentence_files,
            o,
            settings=declared.settings(SentenceSettings, o),
            run=declared.settings(Run, o),
            report=reporter.tell,
            output=output,
        )
        reporter.say(found.summary())
