"""``aligntools project``: annotation carried over word alignments."""

import sys
from typing import Any

import click

from aligntools import LinkReading, ProjectionSettings, Splitting, TaggerSettings
from aligntools.cli import declarations, options

#: Percent of the words that are reached below which something is probably wrong.
FEW = 20
_OF_WORDS = "`{name}` is for labels of words, which `spans=brackets` does not carry over"


def _columns(value: Any) -> Any:
    """Split names at commas; which ones there are is the settings' to say."""
    return tuple(name.strip() for name in value.split(",")) if isinstance(value, str) else value


@click.command(
    "project",
    cls=options.Command,
    basic="source target alignments output columns spans links reverse index_base dictionary quiet",
)
@options.group(
    "Common options",
    options.file(
        "-s",
        "--source",
        required=True,
        help="Sentences with annotation, in CoNLL; with --spans brackets, trees in brackets.",
    ),
    options.file(
        "-t", "--target", required=True, help="Their translations: plain text, one sentence per line, or CoNLL."
    ),
    options.file(
        "-a", "--alignments", required=True, help="Links i-j or i-j:p, source-target, one line per sentence pair."
    ),
    options.output(),
    options.split,
    declarations.option(
        ProjectionSettings, "columns", type=_columns, default="upos", excludes=("spans=brackets",), said=_OF_WORDS
    ),
    declarations.option(ProjectionSettings, "spans"),
)
@options.group(
    "Links", declarations.option(ProjectionSettings, "links"), declarations.group(LinkReading, title="Links")
)
@options.group(
    "Type dictionary",
    options.written(
        "--dictionary",
        excludes=("spans=brackets",),
        said=_OF_WORDS,
        help="Write the labels that each word took in the first column: word, label, weight, between tabs.",
    ),
    declarations.option(TaggerSettings, "min_share", default=0.0, needs=("dictionary",)),
)
@options.group("Messages", options.verbosity)
def command(**o: Any) -> None:
    """Carry tags, features and trees over word alignments, from sentences to their translations.

    The output is CoNLL with the target's words; words that nothing is carried over to get _. Tags and features are
    those of the linked word. Trees go by direct correspondence (Hwa et al. 2005): a target word's head is the word
    that is linked to the head of its source word. Where links have probabilities, MISC has them (Projected=0.97).

    With --spans brackets the source is trees of constituents, and so is the output: partial trees, one a line, of the
    constituents whose linked words are together and linked to no other word; (()) where a sentence has no words. Tags
    are the target's, where it is CoNLL with tags, or else those of the linked words. `aligntools train-grammar` learns
    from such trees.

    \b
    Example:
      aligntools train-hmm -q --tagged data/samples/en.tagged -o /tmp/en.tagger
      aligntools tag -m /tmp/en.tagger --to conll data/samples/de-en.en -o /tmp/en.conllu
      aligntools align -q -s data/samples/de-en.en -t data/samples/de-en.de -o /tmp/en-de.align
      aligntools project --source /tmp/en.conllu --target data/samples/de-en.de -a /tmp/en-de.align
      aligntools train-grammar -q --treebank data/samples/en.mrg -o /tmp/en.pcfg
      aligntools parse -q -m /tmp/en.pcfg data/samples/de-en.en -o /tmp/en.mrg
      aligntools project --source /tmp/en.mrg --target data/samples/de-en.de -a /tmp/en-de.align --spans brackets
    """
    from aligntools.formats.opening import files
    from aligntools.projecting.projection import project

    settings = declarations.settings(ProjectionSettings, o)
    more: Any = declarations.chosen(LinkReading, o) | declarations.chosen(Splitting, o)
    found = project(o["source"], o["target"], o["alignments"], settings, **more)
    with files.writing(o["output"]) as out:
        out.write(found.format())
    if o["dictionary"]:
        rows = found.format_dictionary(settings.columns[0], o["min_share"]) if settings.columns else b""
        with files.writing(o["dictionary"]) as out:
            out.write(rows)
    if not o["quiet"]:
        words = len(found.reached)
        share = 100 * found.reached.sum() / max(words, 1)
        if share < FEW:
            sys.stderr.write(
                f"warning: only {share:.1f}% of the words are reached; are these the alignments of these texts?\n"
            )
        said = f"{len(found.source)} sentences, {words} words, {share:.1f}% reached"
        if found.constituents is not None:
            said += "; {} of {} constituents carried over".format(*found.constituents)
        sys.stderr.write(said + "\n")
        if o["verbose"]:
            for place, values in found.columns.items():
                filled = sum(value != b"_" for value in values)
                sys.stderr.write(f"column {place + 1}: {filled} of {words} words\n")
