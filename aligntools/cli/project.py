"""``aligntools project``: annotation carried over word alignments."""

import sys

import click

from aligntools.cli import kinds, options
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import PROBABILITY

#: Columns that may be carried over; kept beside the API's, which costs more to import.
_COLUMNS = "lemma, upos, xpos, feats, head, deprel"

#: Percent of the words that are reached below which something is probably wrong.
FEW = 20


class _Columns(click.ParamType):
    """Names of columns between commas."""

    name = "columns"

    def convert(self, value, param, ctx):
        """Split the names; which ones there are is the API's to say."""
        return tuple(name.strip() for name in value.split(",")) if isinstance(value, str) else value


@click.command("project", cls=options.Command)
@options.group(
    "Common options",
    click.option("--source", required=True, metavar="FILE", help="Sentences with annotation, in CoNLL."),
    click.option("--target", required=True, metavar="FILE",
                 help="Their translations: plain text, one sentence per line, or CoNLL."),
    click.option("-a", "--alignments", required=True, metavar="FILE",
                 help="Links i-j or i-j:p, source-target, one line per sentence pair."),
    options.output,
    options.split,
    click.option("--columns", type=_Columns(), default="upos", show_default=True, metavar="A,B",
                 help=f"What is carried over: {_COLUMNS}."),
    click.option("--spans", type=kinds.Column(), metavar="xpos|misc|N",
                 help="Column with spans in BIO (B-PER I-PER O), carried over as spans."),
)  # fmt: skip
@options.group(
    "Links",
    click.option("--links", type=click.Choice(["best", "one-to-one", "vote"]), default="best", show_default=True,
                 help="Of several links take the most probable one, or none, or let all linked words vote on labels."),
    click.option("--reverse", is_flag=True, help="The links are target-source."),
    options.index_base(of="the alignment file"),
)  # fmt: skip
@options.group(
    "Type dictionary",
    click.option("--dictionary", metavar="FILE", type=options.WRITTEN,
                 help="Write the labels that each word took in the first column: word, label, weight, between tabs."),
    click.option("--min-share", type=options.number(PROBABILITY), default=0.0, show_default=True, metavar="P",
                 help="Leave labels out of the dictionary that are a smaller share of their word's weight."),
)  # fmt: skip
@options.group("Messages", options.verbosity)
def command(
    source,
    target,
    alignments,
    output,
    split,
    columns,
    spans,
    links,
    reverse,
    index_base,
    dictionary,
    min_share,
    quiet,
    verbose,
):
    """Carry tags, features and trees over word alignments, from sentences to their translations.

    The output is CoNLL with the target's words; what is not reached is _. Tags and features are those of the linked
    word. Trees go by direct correspondence (Hwa et al. 2005): the head of a word that stands for a source word is the
    word that stands for that word's head. Where links have probabilities, MISC has them (Projected=0.97).

    \b
    Example:
      aligntools train-hmm -q --tagged data/samples/en.tagged -o /tmp/en.tagger
      aligntools tag -m /tmp/en.tagger --to conll data/samples/de-en.en -o /tmp/en.conllu
      aligntools align -q -s data/samples/de-en.en -t data/samples/de-en.de -o /tmp/en-de.align
      aligntools project --source /tmp/en.conllu --target data/samples/de-en.de -a /tmp/en-de.align
    """
    if [source, target, alignments].count("-") > 1:
        raise UsageProblem("standard input ('-') can be only one of the files")
    from aligntools.api.convert.projecting import project
    from aligntools.formats.opening import files

    found = project(
        source,
        target,
        alignments,
        columns=columns,
        spans=spans,
        links=links,
        reverse=reverse,
        index_base=index_base,
        split=split,
    )
    with files.writing(output) as out:
        out.write(found.format())
    if dictionary:
        rows = found.dictionary(columns[0], min_share) if columns else {}
        with files.writing(dictionary) as out:
            for word, labels in rows.items():
                for label, weight in labels.items():
                    out.write(f"{word}\t{label}\t{weight:.4g}\n".encode("utf-8", "surrogateescape"))
    if not quiet:
        words = len(found.reached)
        share = 100 * found.reached.sum() / max(words, 1)
        if share < FEW:
            sys.stderr.write(
                f"warning: only {share:.1f}% of the words are reached; are these the alignments of these texts?\n"
            )
        sys.stderr.write(f"{len(found.source)} sentences, {words} words, {share:.1f}% reached\n")
        if verbose:
            for place, values in found.columns.items():
                filled = sum(value != b"_" for value in values)
                sys.stderr.write(f"column {place + 1}: {filled} of {words} words\n")
