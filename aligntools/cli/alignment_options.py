"""Options of the commands that align: align, mre-align, contrastive-align, train-hmm."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import click

from aligntools import AlignerSettings, Decisions, Reading
from aligntools.aligning.evidence_kinds import SETTINGS, EvidenceOptions
from aligntools.aligning.text_files import LinkWriting, PiecedText, TextFiles
from aligntools.cli import declarations, kinds, options
from aligntools.cli.kinds import Decorator
from aligntools.encoding.settings import EncoderSettings
from aligntools.ground.errors import UsageProblem
from aligntools.ground.progress import Watch

if TYPE_CHECKING:
    from aligntools.tools.text_work import TextWork

#: How text in pieces is named.
_PIECES = "--pieces SOURCE --pieces TARGET"
#: Options of the kinds of evidence that are asked.
evidence = options.group("", *map(declarations.group, SETTINGS))
#: The one of them that holds for a saved model, too.
encoder = declarations.option(
    EncoderSettings,
    "encoder",
    help="Where the encoder is that a model asks, or that one is trained with, if it is not the extra's; --no-encoder"
    " leaves it out.  [default: the extra's, for a model of align --best]",
)
#: A text's sides, in a file each.
sides = (
    options.file("-s", "--source", help="Source side, one sentence per line."),
    options.file("-t", "--target", help="Target side, the same number of lines."),
)
#: Both of them in one file, passed as ``joint_file``.
joint_file = options.file(
    "-i",
    "--input",
    "joint_file",
    help="Both sides in one file: ' ||| ' or a tab between them, or TMX or XLIFF (- is standard input).",
)
#: What is read, and where the alignment goes.
text = options.group(
    "Common options",
    *sides,
    joint_file,
    options.output(help="Write the alignment to this file instead of standard output, completely or not at all."),
)
save_model = options.written("--save-model", excludes=("model",), help="Save the model that was trained.")


def model_files(saved: Any) -> Decorator:
    """Return the options of models on disk; ``saved`` is where one is saved."""
    return options.group(
        "Models",
        options.file(
            "-m",
            "--model",
            help="Apply a saved model, or a folder with GIZA++'s tables; reads and writes line by line.",
        ),
        saved,
        options.file("--init-model", excludes=("model",), help="Continue training from a saved model, on this text."),
        options.verify,
    )


#: Models on disk.
models = model_files(save_model)


def deciding(note: str = "") -> Decorator:
    """Return the options of how links are decided on; with a ``note`` the command chooses ``symmetrize`` itself."""
    return options.group(
        "Links",
        declarations.group(Decisions, "threshold"),
        declarations.option(Decisions, "symmetrize", otherwise=note),
        declarations.group(Decisions, "flavor", "decode", "phrases"),
    )


#: How links are decided on.
decisions = deciding()
#: What else is written.
outputs = options.group(
    "More output",
    options.written("--forward-output", help="Also write the forward direction (target words choose)."),
    options.written("--reverse-output", help="Also write the reverse direction (source words choose)."),
    options.written("--scores", help="Also write ln p(t|s), ln p(s|t), and both per word, separated by tabs."),
    declarations.group(LinkWriting, "score_form", "link_probabilities"),
    options.written("--ttable", help="Also write ln p(target|source) as 'source TAB target TAB ln p'."),
    options.option(
        "--moses-dir",
        metavar="DIR",
        excludes=("unbuffered", "to_words", "joint_pieces"),
        help="Also write what Moses' train-model.perl --first-step 4 starts from: the links as"
        " aligned.grow-diag-final-and (or .METHOD, with --symmetrize), lex.f2e and lex.e2f.",
    ),
    options.option(
        "--giza-dir",
        metavar="DIR",
        excludes=("model",),
        help="Also write what GIZA++ leaves: forward.A3.final, and t3, n3, a3, d3, d4, D4 and p0_3.final as far as the"
        " model has them; the same of reverse; vocabularies, classes and coded text.",
    ),
    options.written("--log-json", help="Also write the figures of each training step as JSON lines."),
)
#: What links are between, and what is written with them.
shapes = options.group(
    "Raw text, pieces, and text with links",
    options.tokenize,
    options.tokenizer,
    declarations.group(LinkWriting, "output_format"),
    options.written(
        "--word-pairs",
        excludes=("joint_pieces",),
        help="Also write each link's words and posterior as 'source TAB target TAB p', and a blank line after"
        " each sentence pair.",
    ),
    options.file(
        "--pieces",
        "joint_pieces",
        multiple=True,
        help="The same text cut into pieces: write links between these. Both sides in one file, or, given twice, the"
        " source side and the target side.",
    ),
    *(
        click.option(f"--{side}-pieces", metavar="FILE", cls=kinds.Former, of="joint_pieces", now=_PIECES)
        for side in ("source", "target")
    ),
    declarations.option(PiecedText, "to_words"),
    options.group("", options.scheme, needs=("joint_pieces|to_words",)),
)
#: Which text is read, and how the work is done.
limits = options.group(
    "Text and resources",
    declarations.group(Reading, "case_sensitive", excludes=("model", "init_model")),
    declarations.group(Reading, without=("case_sensitive",)),
    options.option(
        "--unbuffered",
        is_flag=True,
        needs=("model",),
        help="With -m: write each line as soon as its pair is read.",
    ),
    options.max_memory(),
    options.threads,
    options.verbosity,
)


def whole_text(*more: Any, without: Collection[str] = ()) -> Decorator:
    """Return how a text is read that one model aligns, and how the work is done; ``more``: of the model."""
    return options.group(
        "Text and resources",
        options.group(
            "",
            declarations.option(AlignerSettings, "fast", help="Train the HMM alone, one view of the text: quickest."),
            *more,
            declarations.option(Reading, "case_sensitive"),
            excludes=("model",),
        ),
        options.tokenize,
        options.tokenizer,
        declarations.group(Reading, without=[*without, "case_sensitive"]),
        encoder,
        options.max_memory(),
        options.verify,
        options.threads,
        options.seed,
        options.verbosity,
    )


def text_files(o: Mapping[str, Any]) -> TextFiles:
    """Return the files of the text that the options name."""
    together, alone = o.get("joint_pieces", ()), {side: o.get(f"{side}_pieces") for side in ("source", "target")}
    if len(together) > 2 or (together and any(alone.values())):
        raise UsageProblem("`joint_pieces` is one file with both sides, or two: the source side, then the target side")
    if len(together) == 2:
        alone, together = dict(zip(alone, together, strict=True)), ()
    cut = {"joint_pieces": together[0] if together else None} | {f"{side}_pieces": f for side, f in alone.items()}
    return declarations.call(TextFiles, o, **cut)


def text_work(o: Mapping[str, Any], watch: Watch) -> "TextWork":
    """Return the text that the options name, what aligns it, and how the work is done."""
    from aligntools.tools.text_work import TextWork

    evidence = evidence_of(o, o["model"] is not None)
    return declarations.call(TextWork, o, text=text_files(o), watch=watch, evidence=evidence)


def evidence_of(o: Mapping[str, Any], applying: bool = False) -> EvidenceOptions:
    """Return which evidence the options ask for."""
    return EvidenceOptions.of(lambda kind: declarations.settings(kind, o), applying=applying)
