"""Options of the commands that align: align, mre-align, contrastive-align, train-hmm."""

import os
import sys

import click
from click.core import ParameterSource

from aligntools.aligning.settings import (
    DECODERS,
    FLAVORS,
    JOINTLY,
    POSITIONS,
    SYMMETRIZATIONS,
    AlignerSettings,
    DecisionSettings,
)
from aligntools.cli import options
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import counts

DEFAULTS, DECISIONS = AlignerSettings(), DecisionSettings()


_ITERATIONS = options.number(counts(1))
_VIEWS = options.Numbers(
    AlignerSettings.VIEW,
    lambda views: min(views) >= 0 and len(set(views)) == len(views),
    "different numbers of letters, with commas; 0 for whole words",
)


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


def deciding(symmetrize=DECISIONS.symmetrize, default=""):
    """Return the options of how links are decided on.

    Parameters
    ----------
    symmetrize : str or None
        The default of ``--symmetrize``; None where the command chooses it by what is trained.
    default : str
        What the help says of it then.
    """
    return options.group(
        "Links",
        options.setting("--threshold", of=DecisionSettings, metavar="P",
                        help="Posterior that a link must exceed (with joint, a word's first one): higher for"
                          f" precision, lower for recall.  [default: {DecisionSettings.THRESHOLDS}]"),
        click.option("--symmetrize", type=click.Choice(SYMMETRIZATIONS), default=symmetrize,
                     show_default=symmetrize is not None,
                     help="How the two directions are combined. joint: by their mean posterior, with a lower threshold"
                          " beside a word's other link and a higher one away from it; mean: with one threshold."
                          + default),
        click.option("--flavor", type=click.Choice(FLAVORS), default=DECISIONS.flavor, show_default=True,
                     help="Scan order of the heuristics: as atools or as Moses' symal."),
        click.option("--decode", type=click.Choice(DECODERS), default=DECISIONS.decode, show_default=True,
                     help="Single directions: each word's best link, all links over the threshold, or the Viterbi"
                       " path."),
    )  # fmt: skip


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
views = click.option("--views", type=_VIEWS, metavar="N,N..",
                     help="Views to average: 0 whole words, n their first n letters.  [default: by size]")  # fmt: skip
look_alike = click.option(
    "--look-alike/--no-look-alike",
    default=DEFAULTS.look_alike,
    show_default=True,
    help="Expect words that look alike to be translations, as far as the text supports it.",
)
agreement = click.option(
    "--agreement/--no-agreement", default=DEFAULTS.joint, show_default=True, help="Train the directions jointly."
)
case_sensitive = click.option("--case-sensitive", is_flag=True, help="Keep upper and lower case apart.")
estimation = options.group(
    "Training",
    click.option("--estimator", type=click.Choice(["vb", "em"]), default=DEFAULTS.estimator, show_default=True,
                 help="Variational Bayes or maximum likelihood."),
    agreement,
    click.option("--direction", type=click.Choice(["both", "forward", "reverse"]), default=DEFAULTS.direction,
                 show_default=True, help="Train and write one direction alone (not for fertility)."),
    look_alike,
    views,
    click.option("--ibm1-iterations", type=_ITERATIONS, default=DEFAULTS.ibm_iterations, show_default=True,
                 metavar="N", help="Iterations of IBM 1, before the model."),
    click.option("--iterations", type=_ITERATIONS, metavar="N",
                 help="Iterations of the HMM or of IBM 2.  [default: 2 before the sampler, hmm 4, ibm2 5]"),
    options.setting("--alpha", of=AlignerSettings, metavar="A", help="Dirichlet prior of each pair of words (vb)."),
    options.setting("--p-null", of=AlignerSettings, metavar="P", help="Probability of no link."),
    options.setting("--tension", of=AlignerSettings, metavar="X", help="Initial tension of IBM 2's diagonal."),
    click.option("--positions", type=click.Choice(POSITIONS), default=DEFAULTS.positions, show_default=True,
                 help="IBM 2's prior over positions: the diagonal, or a table of p(m|n,M,N)."),
)  # fmt: skip
#: Which text is read, and how the work is done.
limits = options.group(
    "Text and resources",
    case_sensitive,
    options.split,
    options.input_format,
    options.max_length,
    options.strict,
    click.option("--unbuffered", is_flag=True, help="With -m: write each line as soon as its pair is read."),
    options.max_memory("Use at most this much memory, for instance 800M or 4G."),
    options.threads,
    options.seed,
    options.verbosity,
)  # fmt: skip

#: Options that a saved model has settled.
OF_THE_MODEL = {
    "model_type", "fast", "estimator", "agreement", "direction", "look_alike", "views", "ibm1_iterations",
    "iterations", "sweeps", "alpha", "p_null", "tension", "positions", "seed", "case_sensitive", "subwords",
    "view_agreement", "best",
}  # fmt: skip
#: How reconstruction continues from a model, and so what may be given with --init-model.
OF_RECONSTRUCTION = {
    "preset", "mre_iterations", "mre_smoothing", "mre_position_smoothing", "mre_positions", "mre_null",
}  # fmt: skip
TYPES = ("ibm1", "ibm2", "hmm", "fertility")


def given() -> set[str]:
    """Return the names of the options that the command line itself gave."""
    context = click.get_current_context()
    return {n for n in context.params if context.get_parameter_source(n) is ParameterSource.COMMANDLINE}


def take_old_type(o, chosen, known=TYPES):
    """Read ``--model hmm`` as ``--model-type hmm``, as it was written before ``--model`` named a file."""
    if o["model"] in TYPES and not os.path.exists(o["model"]):
        sys.stderr.write("note: --model hmm and the like are called --model-type now; --model is a file\n")
        if o["model"] not in known:
            raise UsageProblem(f"--model-type is one of {', '.join(known)} here, not {o['model']}")
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
        flag = "--" + fixed[0].replace("_", "-")
        raise UsageProblem(f"{flag} is for a new model; a saved one keeps the settings it was trained with")
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
    DecisionSettings(o["symmetrize"], o["flavor"], o["decode"], o["threshold"]).checked(direction)


def _check_costs(o):
    """Refuse what eflomal's scores cannot be made of."""
    if not o["scores"]:
        raise UsageProblem("--score-form is about --scores FILE")
    if o["model"]:
        raise UsageProblem("--score-form eflomal counts the links of the text that is trained on; leave out -m")
    if o["decode"] == "posterior":
        raise UsageProblem("--score-form eflomal scores each word's best link; leave out --decode posterior")
