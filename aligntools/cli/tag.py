"""``aligntools tag``: a tagger applied to text."""

import sys
from collections.abc import Iterable
from typing import Any

import click

from aligntools import TagDecisions, TagLists, TagReading, TagWriting
from aligntools.cli import declarations, kinds, options, service_options
from aligntools.cli.flags import renamed
from aligntools.formats.inputs.sentences import RawReading
from aligntools.ground.declarations import declared


class _Tag(options.Command):
    """The command, of which --split-tokens was called --split."""

    def _modern(self, args: Iterable[str]) -> list[str]:
        words = list(args)
        for k, word in enumerate(words[: words.index("--")] if "--" in words else words):
            if word == "--split" and words[k + 1 : k + 2] not in (["spaces"], ["unicode"]):
                sys.stderr.write("note: --split without spaces or unicode after it is called --split-tokens now\n")
                words[k] = "--split-tokens"
        return super()._modern(words)


@click.command(
    "tag",
    cls=_Tag,
    renamed=renamed(TagDecisions),
    basic="model output to format column keep unbuffered tokenize n_best samples scores posteriors workers"
    " threads quiet",
)
@click.argument("texts", metavar="[TEXT]...", nargs=-1)
@options.group(
    "Common options",
    options.file("-m", "--model", required=True, help="Tagger from train-tagger (or train-hmm)."),
    options.output(),
    declarations.group(TagWriting, "to"),
)
@options.group(
    "Input and output",
    declarations.option(TagReading, "format", choices=("auto", "text", "conll")),
    declarations.option(TagReading, "predicted_columns"),
    declarations.group(TagWriting, "column", "separator"),
    declarations.option(
        TagWriting,
        "keep",
        type=kinds.Column(),
        multiple=True,
        show_default=False,
        help=declared(TagWriting)["keep"].option.help + " May be given several times.",
    ),
    options.split,
    options.written(
        "--save-classes", help="Also write each word, each of its tags and how often it got that tag, between tabs."
    ),
    service_options.unbuffered,
)
@declarations.group(RawReading)
@declarations.group(TagDecisions)
@options.group(
    "Probabilities",
    declarations.group(TagLists, "n_best", "samples"),
    options.written("--scores", help="Also write ln p(x) of each sentence, summed over its tags, one per line."),
    options.written(
        "--posteriors",
        help="Also write the probability of every tag of every word: a line for each word, word and"
        " tag:probability between tabs, and a blank line after each sentence.",
    ),
)
@options.engines
@options.group(
    "Resources and messages", options.verify, declarations.option(TagLists, "seed"), options.threads, options.verbosity
)
def command(**o: Any) -> None:
    """Tag text: one line out per line in, or CoNLL with one column filled in.

    In CoNLL, columns that say more about a tag than was predicted are emptied (XPOS and FEATS where UPOS is new); all
    else is unchanged.

    Reads standard input if no TEXT is given, and writes while it reads. Words are separated by spaces. Raw text needs
    --tokenize; `aligntools conll --to raw` turns the output into the same text again.

    \b
    Example:
      aligntools train-tagger -q --tagged data/samples/en.tagged -o /tmp/en.tagger
      aligntools tag -m /tmp/en.tagger data/samples/en.txt
    """
    from aligntools.tagging.tag_files import tag_files

    words, lines = service_options.answered(tag_files, o, given=declarations.given())
    if o["verbose"]:
        lines.took(words, "words")
