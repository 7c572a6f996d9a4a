"""``aligntools transfer-parse``: a parser for a language without a treebank, through parallel text."""

import sys
from typing import Any

import click

from aligntools import LinkReading, ParserReading, TransferSettings
from aligntools.cli import declarations, options, training
from aligntools.cli.flags import on_command_line, renamed


@click.command(
    "transfer-parse",
    cls=options.Command,
    renamed=training.RENAMED | renamed(TransferSettings),
    basic="source_models sources targets alignments output labels unlabeled column map method max_pairs"
    " features checkpoint workers threads quiet",
)
@options.group(
    "Common options",
    options.file(
        "--source-model",
        "source_models",
        required=True,
        multiple=True,
        help="Parser of the source language, from train-parser. To learn from several languages, give this and"
        " the next three once for each of them, in the same order.",
    ),
    options.file(
        "-s",
        "--source",
        "sources",
        multiple=True,
        help="Source side of parallel text, with tags: word_TAG lines or CoNLL.",
    ),
    options.file(
        "-t", "--target", "targets", multiple=True, help="Target side, with tags; the same number of sentences."
    ),
    options.file(
        "-a", "--alignments", multiple=True, help="Word alignments, i-j with i the source word; one line per pair."
    ),
    training.output,
    declarations.group(TransferSettings, "labels"),
)
@options.group(
    "Input",
    options.file("--unlabeled", help="More text of the target language, with tags."),
    declarations.group(ParserReading, "column", "predicted_columns", "map", "separator"),
    declarations.group(LinkReading),
    declarations.group(TransferSettings, "min_length", "max_length", "min_aligned", "max_pairs"),
)
@options.group(
    "Method",
    declarations.group(TransferSettings, "method", "transferred"),
    options.file(
        "--direct-model",
        help="A parser that learned without words (train-parser --features delexicalized), for edges that are"
        " not aligned (full), or to begin with (projected).  [default: the source parser without its"
        " words]",
    ),
    declarations.group(TransferSettings, "gamma", "direct_share", "entropy", "alpha", "rounds", "reward"),
)
@declarations.group(TransferSettings, "features", "projective", "single_root", "min_count", "bits")
@options.group("Training", declarations.group(TransferSettings, "l2", "iterations", "tolerance"), training.checkpoint)
@options.engines
@options.group("Resources and messages", training.log_json, options.verify, options.threads, options.verbosity)
def command(**o: Any) -> None:
    """Train a parser for a language without a treebank, through parallel text with tags and word alignments.

    A source parser gives a distribution over the trees of each target sentence, through the alignment; the target
    parser learns to agree with it and, with --unlabeled text, to be certain there. The tags of both languages must be
    of one kind. Only links between words without other links count. Pairs of several source languages are one training
    set; their parsers must know the same tags.

    \b
    Example:
      aligntools align -q -s data/samples/de-en.en -t data/samples/de-en.de -o /tmp/en-de.align
      aligntools train-hmm -q --tagged data/samples/en.conllu --members 1 -o /tmp/en.tagger
      aligntools tag -m /tmp/en.tagger data/samples/de-en.en -o /tmp/en.tagged
      aligntools tag -m /tmp/en.tagger data/samples/de-en.de -o /tmp/de.tagged
      aligntools train-parser -q --treebank data/samples/en.conllu -o /tmp/en.parser
      aligntools transfer-parse -q --source-model /tmp/en.parser --source /tmp/en.tagged \\
        --target /tmp/de.tagged -a /tmp/en-de.align -o /tmp/de.parser
      aligntools parse -m /tmp/de.parser /tmp/de.tagged
    """
    from aligntools.parsing.parser_transfer import transfer_parser

    texts, quiet = {"source": o["sources"], "target": o["targets"], "alignments": o["alignments"]}, o["quiet"]
    several = len(o["source_models"]) > 1 or any(len(own) > 1 for own in texts.values())
    given: dict[str, Any] = {name: ([*own] if several else own[0]) if own else None for name, own in texts.items()}
    with training.reporting(o, training.lbfgs_step) as (steps, found):
        given |= {"source_model": [*o["source_models"]] if several else o["source_models"][0], "verify": o["verify"]}
        given |= declarations.chosen(LinkReading, o)
        declarations.call(transfer_parser, o, **given, progress=steps).save(o["output"])
    if quiet or not found:
        return
    for line in found["left_out"]:
        sys.stderr.write(on_command_line(line) + "\n")
    sys.stderr.write(
        f"{found['pairs']} pairs, {found['unlabeled']} unlabeled sentences, {100 * found['aligned']:.0f} % of the"
        f" target words aligned one to one; objective {found['objective']:.1f} after {found['steps']} steps"
        f" ({found['message']})\n"
    )
