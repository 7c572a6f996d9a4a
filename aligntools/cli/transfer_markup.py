"""``aligntools transfer-markup``: tags of a text carried over to its translation, by word links."""

from typing import Any

import click

from aligntools import AlignerSettings, MarkupSettings, Reading, Tokenizing
from aligntools.cli import alignment_options as aligning
from aligntools.cli import declarations, options
from aligntools.cli.reporter import reporting


@click.command(
    "transfer-markup",
    cls=options.Command,
    renamed={"--train-source": "-s", "--train-target": "-t", "--train-input": "--input"},
    basic="source target segments output model train report markup best fast save_model tokenize max_memory threads"
    " quiet",
)
@options.group(
    "Common options",
    click.argument("document", metavar="[FILE]", required=False),
    options.file("--source", help="Segments with tags, one per line."),
    options.file(
        "--target",
        help="Their translations without tags, the same number of lines. Of a document: its translation, a line for"
        " each segment (--segments), or an HTML or DOCX document like it.",
    ),
    options.written(
        "--segments",
        excludes=("target", "model", "train", "report", "output"),
        help="Write the text of the segments of an HTML or DOCX document, one a line, to be translated; nothing else.",
    ),
    options.output(help="Write the translations with tags to this file instead of standard output."),
    options.file("-m", "--model", help="A saved model of the languages (align --save-model)."),
    options.option(
        "--train",
        is_flag=True,
        excludes=("model",),
        help="Without a model: train one on these segments and on more text.",
    ),
    options.written(
        "--report",
        help="Write a line for each tag, with tabs between: segment, tag, confidence (0 to 1), part of its words that"
        " is linked into its place, what it was placed by, and the text in it.",
    ),
)
@options.group("Tags", declarations.group(MarkupSettings))
@options.group(
    "Training",
    options.file("-s", "train_source", needs=("train_target",), help="More text to train on: source side."),
    options.file("-t", "train_target", needs=("train_source",), help="More text to train on: target side."),
    options.file("-i", "--input", "train_input", help="More text in one file, ' ||| ' or a tab between the sides."),
    declarations.option(
        AlignerSettings,
        "best",
        help="Train as align --best does. An encoder, if there is one, reads each segment too: some 15 ms.",
    ),
    declarations.option(AlignerSettings, "fast", help="Train the HMM alone, one view of the text: quickest."),
    options.written("--save-model", help="Save the model that was trained."),
    excludes=("model", "segments"),
)
@options.group(
    "Text and resources",
    declarations.option(
        Tokenizing,
        "tokenize",
        help="Find words by the rules of these languages, such as de-en, or by ICU's (icu), as the model's text was"
        " tokenized.  [default: by Unicode, joined where the model knows them joined]",
    ),
    declarations.option(
        Reading, "languages", help="Source and target language of a TMX document of more than two, such as de,en."
    ),
    options.tokenizer,
    aligning.encoder,
    options.max_memory(),
    options.verify,
    options.threads,
    options.group("", options.seed, excludes=("model",)),
    options.verbosity,
)
def command(**o: Any) -> None:
    """Carry tags over to a translation: each tag around the words that its words are linked to.

    The text is raw, with tags of XML or HTML in the source. In the output the target's text is as it was, each tag of
    the source stands in it once, and tags nest. A tag's words are found by the links of a model; capitals, punctuation
    and lengths decide where links leave a choice. Placeholders such as {0} or %s are text, and are linked to the same
    ones.

    A document (FILE) of XLIFF or TMX has the translations in it. Of HTML and DOCX, --segments writes the text to
    translate, and --target is its translation; everything else in the document stays as it is.

    \b
    Example:
      aligntools transfer-markup --train -i data/samples/de-en.txt --source data/samples/tagged.de \\
        --target data/samples/tagged.en --report /tmp/report.tsv
    """
    from aligntools.projecting.markup.markup_files import transfer_markup_files

    with reporting(o) as watch:
        evidence = aligning.evidence_of(o, o["model"] is not None)
        declarations.call(transfer_markup_files, o, watch=watch, evidence=evidence)
