"""``aligntools align-sentences``: the sentences of a document and its translation that belong together."""

import os
from typing import Any

import click

from aligntools import SentenceSettings
from aligntools.cli import declarations, kinds, options
from aligntools.cli.reporter import reporting
from aligntools.ground.run import Run


class _AlignSentences(options.Command):
    """The command, whose -o is a folder where --documents is given."""

    def _named(self, ctx: click.Context, written: bool) -> list[kinds.Named]:
        named = super()._named(ctx, written)
        output = ctx.params.get("output") if written and ctx.params.get("documents") is not None else None
        folder = output is not None and (output.endswith("/") or os.path.isdir(output))
        return [one for one in named if one.path != output] if folder else named


#: What is written of one pair of documents alone.
_OF_ONE = (
    *("source", "target", "source_output", "target_output", "ladder", "source_alone", "target_alone"),
    *("source_sentences", "target_sentences"),
)


@click.command(
    "align-sentences",
    cls=_AlignSentences,
    basic="source target documents output output_format links ladder source_alone target_alone min_score anchors"
    " split_sentences encoder workers threads quiet",
)
@options.group(
    "Common options",
    options.file("-s", "--source", needs=("target",), help="A document: one sentence per line, or HTML, DOCX or USFM."),
    options.file("-t", "--target", needs=("source",), help="Its translation."),
    options.file(
        "--documents",
        needs=("output",),
        excludes=_OF_ONE,
        help="Many pairs of documents: source TAB target TAB name (optional), relative to this file. -o is a folder"
        " then, and gets NAME.txt, .tsv or .tmx. What is there and newer than both documents is not made again.",
    ),
    options.written(
        "-o",
        "--output",
        excludes=("source_output", "target_output"),
        help="Write the pairs to this file instead of standard output, both sides on a line with ' ||| ' between them."
        " Written completely or not at all.",
    ),
    options.choice(
        "--output-format",
        choices=("text", "tsv", "tmx"),
        excludes=("source_output",),
        help="tsv: source, target and score with tabs between. tmx: a translation memory with scores.",
    ),
    options.option(
        "--languages",
        metavar="SRC,TGT",
        needs=("output_format=tmx",),
        help="Languages of a translation memory; those of --split-sentences unless given.",
    ),
)
@options.group(
    "More output",
    options.written(
        "--source-output",
        needs=("target_output",),
        help="Write the source side of the pairs to this file, and nothing to -o.",
    ),
    options.written("--target-output", needs=("source_output",), help="Write their target side to this file."),
    options.written("--ladder", help="Write the groups as numbers of lines, from 0, and scores: [0, 1]:[2]:0.93."),
    options.choice(
        "--ladder-format",
        choices=("vecalign", "hunalign", "xces", "intertext"),
        needs=("ladder|links",),
        help="hunalign: a rung a line, where groups begin. xces: links in XML, from 1."
        " intertext: the same, the target first.",
    ),
    options.option(
        "--links", is_flag=True, needs=("documents",), help="With --documents, write NAME.ladder for each pair, too."
    ),
    options.written("--source-alone", help="Write the source sentences without a partner to this file."),
    options.written("--target-alone", help="Write the target sentences without a partner to this file."),
    options.written(
        "--source-sentences", help="Write all source sentences, which ladders of split text count, to this file."
    ),
    options.written("--target-sentences", help="Write all target sentences to this file."),
)
@declarations.group(SentenceSettings)
@options.engines
@options.group("Resources and messages", options.threads, options.verbosity)
def command(**o: Any) -> None:
    """Find the sentences of a document and its translation that belong together.

    Groups of up to five sentences on either side are found by vectors of an encoder, where the extra is installed, by
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
    from aligntools.sentences.document_pairs import align_sentence_files, align_sentence_lists

    if o["source"] is None and o["documents"] is None:
        raise click.UsageError("give a document and its translation (-s, -t), or a list of such (--documents)")
    run: Any = declarations.settings(Run, o)
    given = {"settings": declarations.settings(SentenceSettings, o), "run": run}
    with reporting(o) as reporter:
        if o["documents"] is not None:
            many = declarations.call(align_sentence_lists, o, **given, report=reporter.say)
            reporter.say(f"{many['aligned']} pairs of documents aligned, {many['there']} were there")
            return
        if given["run"].asked:
            raise click.UsageError(
                "--workers and --cluster need --documents: a pair of documents is work for one process"
            )
        output = o["output"] or (None if o["source_output"] else "-")
        found = declarations.call(align_sentence_files, o, **given, report=reporter.tell, output=output)
        reporter.say(found.summary())
