"""Options of the commands that align: align, mre-align, contrastive-align, train-hmm."""

import os
import sys

import click

from aligntools.aligning.models import registry
from aligntools.aligning.settings import JOINTLY, AlignerSettings, Decisions, ReconstructionSettings
from aligntools.cli import declared, options
from aligntools.cli.declared import given as given
from aligntools.formats.text.reading import Reading
from aligntools.ground.errors import UsageProblem

#: Log-probabilities under the model; eflomal's costs, of counts over the text's own links.
SCORE_FORMS = ("log", "eflomal")
#: What is read, and where the alignment goes.
text = options.group(
    "Common options",
    click.option("-s", "--source", metavar="FILE", help="Source side, one sentence per line."),
    click.option("-t", "--target", metavar="FILE", help="Target side, the same number of lines."),
    click.option("-i", "--input", "joint_file", metavar="FILE",
                 help="Both sides in one file, ' ||| ' between them (- is standard input)."),
    options.output(help="Write the alignment here instead of standard output; appears whole or not at all."),
)  # fmt: skip
#: Models on disk.
models = options.group(
    "Models",
    click.option("-m", "--model", metavar="FILE", help="Apply a saved model; reads and writes line by line."),
    click.option("--save-model", metavar="FILE", type=options.WRITTEN, help="Save the trained model."),
    click.option("--init-model", metavar="FILE", help="Continue training from a saved model, on this text."),
    options.verify,
)


def deciding(note=""):
    """Return the options of how links are decided on; with a ``note`` the command chooses ``symmetrize`` itself."""
    how = {"default": None, "help": declared.help_of(Decisions, "symmetrize") + note} if note else {}
    return options.group(
        "Links",
        declared.group(Decisions, "threshold"),
        declared.option(Decisions, "symmetrize", **how),
        declared.group(Decisions, "flavor", "decode"),
    )


#: How links are decided on.
decisions = deciding()
#: What else is written.
outputs = options.group(
    "More output",
    click.option("--forward-output", metavar="FILE", type=options.WRITTEN,
                 help="Also write the forward direction (target words choose)."),
    click.option("--reverse-output", metavar="FILE", type=options.WRITTEN,
                 help="Also write the reverse direction (source words choose)."),
    click.option("--scores", metavar="FILE", type=options.WRITTEN,
                 help="Also write ln p(t|s), ln p(s|t), and both per word, separated by tabs."),
    click.option("--score-form", type=click.Choice(SCORE_FORMS), default="log", show_default=True,
                 help="What --scores writes: log-probabilities, or both directions' costs on eflomal's scale."),
    click.option("--link-probabilities", is_flag=True, help="Write links as i-j:p, with their posteriors."),
    click.option("--ttable", metavar="FILE", type=options.WRITTEN,
                 help="Also write ln p(target|source) as 'source TAB target TAB ln p'."),
    click.option("--moses-dir", metavar="DIR",
                 help="Also write what Moses' train-model.perl --first-step 4 goes on from: the links as"
                      " aligned.grow-diag-final-and (or .METHOD, with --symmetrize), lex.f2e and lex.e2f."),
    click.option("--log-json", metavar="FILE", type=options.WRITTEN,
                 help="Also write the figures of each training step as JSON lines."),
)  # fmt: skip
#: What links are between, and what stands beside them.
shapes = options.group(
    "Raw text, pieces, and text beside links",
    options.tokenize, options.tokenizer,
    click.option("--output-format", type=click.Choice(["pharaoh", "tsv"]), default="pharaoh", show_default=True,
                 help="tsv: source TAB target TAB links, as OpusTrainer and Marian read it."),
    click.option("--word-pairs", metavar="FILE", type=options.WRITTEN,
                 help="Also write each link's words and posterior as 'source TAB target TAB p', and a blank line after"
                      " each sentence pair."),
    click.option("--pieces", "joint_pieces", metavar="FILE",
                 help="The same text cut into pieces, both sides in one file: write links between these."),
    click.option("--source-pieces", metavar="FILE", help="The source side in pieces."),
    click.option("--target-pieces", metavar="FILE", help="The target side in pieces."),
    click.option("--to-words", is_flag=True, help="The text itself is in pieces: write links between words."),
    options.scheme,
)  # fmt: skip
#: Which text is read, and how the work is done.
limits = options.group(
    "Text and resources",
    declared.group(Reading),
    click.option("--unbuffered", is_flag=True, help="With -m: write each line as soon as its pair is read."),
    options.max_memory(),
    options.threads,
    options.verbosity,
)

#: Options that a saved model has settled.
OF_THE_MODEL = {*AlignerSettings.names(), "case_sensitive"}
#: How reconstruction continues from a model, and so what may be given with --init-model.
OF_RECONSTRUCTION = {"preset", *ReconstructionSettings.names()}


def take_old_type(o, chosen, known=None):
    """Read ``--model hmm`` as ``--model-type hmm``, as it was written before ``--model`` named a file."""
    names = registry.names()
    if o["model"] in names and not os.path.exists(o["model"]):
        sys.stderr.write("note: --model hmm and the like are called --model-type now; --model is a file\n")
        if o["model"] not in (known or names):
            raise UsageProblem(f"--model-type is one of {', '.join(known or names)} here, not {o['model']}")
        o["model_type"], o["model"] = o["model"], None
        chosen.discard("model")
        chosen.add("model_type")


def check_text(o):
    """Refuse a text that is not given in one of the two ways."""
    texts = o["joint_file"] is not None, o["source"] is not None or o["target"] is not None
    if sum(texts) != 1 or (texts[1] and (o["source"] is None or o["target"] is None)):
        raise UsageProblem("give the text as -s FILE -t FILE, or as one file with -i")


def check_tokenizer(o, chosen):
    """Refuse a tokenizer that would not be used."""
    if "tokenizer" in chosen and not o["tokenize"]:
        raise UsageProblem("--tokenizer goes with --tokenize")
    if o["tokenize"] == "icu" and o["tokenizer"] != "icu" and "tokenizer" in chosen:
        raise UsageProblem(f"--tokenize icu is by ICU's rules; --tokenizer {o['tokenizer']} does not go with it")


def check_shapes(o, chosen):
    """Refuse options on pieces and on text beside links that exclude each other."""
    joint, *sides = (o[f"{name}_pieces"] is not None for name in ("joint", "source", "target"))
    if joint and any(sides):
        raise UsageProblem("give the pieces as one file with --pieces, or as --source-pieces and --target-pieces")
    if o["word_pairs"] and (joint or any(sides)):
        raise UsageProblem("--word-pairs has words, and with --pieces links are between pieces; give one of them")
    if o["to_words"] and (joint or any(sides)):
        raise UsageProblem("--to-words is for text in pieces; with --pieces FILE the text is in words")
    if o["moses_dir"] and (o["to_words"] or joint or any(sides)):
        raise UsageProblem("--moses-dir counts links of the text as it is given, without --to-words or --pieces")
    check_tokenizer(o, chosen)
    if o["to_words"] and o["tokenize"]:
        raise UsageProblem("--tokenize is for raw text, --to-words for text in pieces")
    if "scheme" in chosen and not (o["to_words"] or joint or any(sides)):
        raise UsageProblem("--scheme is about --pieces or --to-words")
    if o["output_format"] == "tsv" and o["link_probabilities"]:
        raise UsageProblem("readers of --output-format tsv take links alone; leave out --link-probabilities")
    named = [o[name] for name in ("joint_file", "source", "target", "joint_pieces", "source_pieces", "target_pieces")]
    if named.count("-") > 1 and "-" in named[3:]:
        raise UsageProblem("only one file can be standard input")


def check(o, chosen, reconstructs=False):
    """Refuse options of the aligning commands that exclude each other; ``chosen`` are those that were given."""
    check_text(o)
    if o["model"] and (o["save_model"] or o["init_model"]):
        raise UsageProblem("-m applies a model as it is; to continue training from one use --init-model")
    fixed = OF_THE_MODEL | OF_RECONSTRUCTION
    if reconstructs and o["init_model"]:  # which model is trained from the given one may be chosen
        fixed = OF_THE_MODEL - {"model_type", "positions"}
    fixed = sorted(chosen & fixed)
    if fixed and (o["model"] or o["init_model"]):
        raise UsageProblem(f"`{fixed[0]}` is for a new model; a saved one keeps the settings it was trained with")
    other = {"forward": "reverse", "reverse": "forward"}.get(o["direction"])
    if other and o[f"{other}_output"]:
        raise UsageProblem(f"--{other}-output needs that direction trained; leave out --direction {o['direction']}")
    single = o["symmetrize"] not in JOINTLY or other or o["forward_output"] or o["reverse_output"]
    if "decode" in chosen and not single and not o["model"]:
        raise UsageProblem(
            f"--decode chooses links of single directions, and --symmetrize {o['symmetrize']} writes none; choose a"
            " heuristic such as --symmetrize grow-diag-final-and, or add --forward-output or --reverse-output"
        )
    if not o["model"] and not o["init_model"]:
        check_decisions(o, o["direction"])
    if o["score_form"] == "eflomal":
        _check_costs(o)
    if o["moses_dir"] and o["unbuffered"]:
        raise UsageProblem("--moses-dir counts the links of a whole text; leave out --unbuffered")
    if o["unbuffered"] and not o["model"]:
        raise UsageProblem("--unbuffered goes with -m: training needs the whole text")


def check_decisions(o, direction):
    """Refuse decisions on links that change nothing where this direction is trained, or both."""
    declared.settings(Decisions, o).suiting(direction)


def _check_costs(o):
    """Refuse what eflomal's scores cannot be made of."""
    if not o["scores"]:
        raise UsageProblem("--score-form is about --scores FILE")
    if o["model"]:
        raise UsageProblem("--score-form eflomal counts the links of the text that is trained on; leave out -m")
    if o["decode"] == "posterior":
        raise UsageProblem("--score-form eflomal scores each word's best link; leave out --decode posterior")
