"""``aligntools contrastive-align``: alignments by a log-linear model with features of the whole alignment."""

from typing import Any

import click

from aligntools import AlignerSettings, ContrastiveSettings, Decisions, Reading
from aligntools.cli import alignment_options as aligning
from aligntools.cli import declarations, options, training
from aligntools.cli.reporter import reporting
from aligntools.cli.service_options import ending

#: How alignments are searched: what weights files say, unless the command does.
SEARCH = ("beam", "constraint", "candidates")
_gold = options.group(
    "Common options",
    options.file(
        "--gold", help="Learn weights from gold links of the text's first pairs, or of lines that the file numbers."
    ),
    options.file(
        "--evidence",
        multiple=True,
        help="Another aligner's links of the same lines: 3-4, 3-4:0.97 with a probability, 3?4 possible. Repeat"
        " it for several aligners. How far each is trusted is learned, also without gold links.",
    ),
)
_models = options.group(
    "Models",
    options.file("-m", "--model", help="Base model, from align --save-model.  [default: train one]"),
    options.file(
        "-w",
        "--weights",
        excludes=("gold", "save_weights"),
        help="Weights of the features, from --save-weights: use these and learn nothing. With -m too, text is"
        " aligned while it is read.",
    ),
    options.written(
        "--save-model", excludes=("model",), help="Save the base model that was trained here or made of tables."
    ),
    options.written("--save-weights", help="Save the weights, as JSON."),
    training.log_json,
    options.verify,
    declarations.option(
        AlignerSettings,
        "fast",
        excludes=("model", "forward_table", "reverse_table"),
        help="Train the quickest base model: the HMM, one view of the text.",
    ),
)
_tables = options.group(
    "Base model of other aligners' tables",
    options.file(
        "--forward-table", needs=("reverse_table",), help="p(target|source), from fast_align -p or a GIZA++ t-table."
    ),
    options.file("--reverse-table", needs=("forward_table",), help="p(source|target), from the same programs."),
    options.file(
        "--source-vcb", needs=("target_vcb", "forward_table"), help="The .vcb file of the source side, for t-tables."
    ),
    options.file("--target-vcb", needs=("source_vcb", "forward_table"), help="The .vcb file of the target side."),
    excludes=("model",),
)
_learning = options.group(
    "Learning",
    declarations.group(ContrastiveSettings, "features", excludes=("weights",)),
    click.option(
        "--start",
        metavar="languages|paper|FILE",
        type=options.Place(),
        help="What judges links, and the weights to start from: learned from gold links of other languages"
        " (languages), the paper's (paper), or of a file that teach wrote. With -w, the file that the"
        " weights started from.  [default: languages with all features, else paper]",
    ),
    declarations.group(ContrastiveSettings, without=("features", *SEARCH, "seed", "rounds"), excludes=("weights",)),
    declarations.group(ContrastiveSettings, "rounds"),
)
_search = options.group(
    "Search",
    *(
        declarations.option(
            ContrastiveSettings,
            name,
            otherwise=f"{getattr(ContrastiveSettings, name)}, or what the weights file says",
        )
        for name in SEARCH
    ),
    declarations.option(Decisions, "threshold"),
)
_limits = options.group(
    "Text and resources",
    declarations.group(Reading, "case_sensitive", excludes=("model",)),
    declarations.group(Reading, without=("case_sensitive",)),
    options.option(
        "--unbuffered",
        is_flag=True,
        needs=("model|forward_table", "weights"),
        excludes=options.ENGINES,
        help="With -m and -w: write each line as soon as its pair is read.",
    ),
    options.threads,
    options.seed,
    options.verbosity,
)


@click.command(
    "contrastive-align",
    cls=options.Command,
    renamed={"--load-model": "--model"},
    basic="source target joint_file output gold evidence model weights save_model save_weights fast features"
    " threshold start encoder dictionary unbuffered threads seed quiet",
)
@aligning.text
@_gold
@_models
@_tables
@_learning
@_search
@aligning.evidence
@options.engines
@_limits
def command(**o: Any) -> None:
    """Align a parallel corpus by a log-linear model with features of the whole alignment.

    It starts from align's model, which it trains or reads (-m), and weighs how links go together: crossings,
    neighbours, fertilities, unlinked words and more (Liu & Sun 2015). The weights are learned from the text itself,
    each pair against a corrupted copy, or from a few gold alignments (--gold), or read from a file (-w). Links of
    other aligners, neural ones for instance, can be used as evidence (--evidence). Without any of these align --best
    writes the same links, with all outputs of align.

    \b
    Example:
      aligntools contrastive-align -s data/samples/de-en.de -t data/samples/de-en.en --save-weights /tmp/w.json
    """
    from aligntools.aligning.contrastive.files import contrastive_align_files

    text, there = aligning.text_files(o), bool(o["model"] or o["forward_table"])
    text.check()
    own = {name: value for name, value in o.items() if name not in (*SEARCH, "start")}
    with reporting(o) as watch:
        declarations.call(
            contrastive_align_files,
            o,
            text=text,
            settings=declarations.settings(ContrastiveSettings, own),
            search={name: o[name] for name in SEARCH if o[name]},
            asked=aligning.evidence_of(o, applying=bool(o["weights"]) and there),
            ending=ending(o["unbuffered"]),
            watch=watch,
            verbose=watch.verbose,
        )
