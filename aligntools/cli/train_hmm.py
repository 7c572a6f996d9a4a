"""``aligntools train-hmm``: hidden Markov models of alignments, of induced tags and of given ones."""

import contextlib
import sys
import time

import click

from aligntools.aligning.settings import AlignerSettings
from aligntools.cli import declared, notices, options, training
from aligntools.cli.alignment_options import given
from aligntools.formats.text.reading import Reading
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import PROBABILITY
from aligntools.tagging.settings import INDUCTION_PRESETS, MIN_SHARE, InductionSettings, TaggerSettings

#: The options of each use of the command, apart from those that all uses have.
USES = {
    "parallel text": {"source", "target", "joint_file", "preset", "estimator", "iterations", "mre_iterations",
                      "agreement", "look_alike", "views", "case_sensitive", "input_format", "split"},
    "--text": {"text", "format", "separator", "split", "preset", "estimator", "iterations", "mre_iterations", "states",
               "restarts", "tolerance", "transition_prior", "emission_prior", "stop", "save_classes", "save_paths",
               "dictionary", "min_share"},
    "--tagged": {"tagged", "format", "separator", "column", "tokens", "latent", "members", "iterations", "classes",
                 "partial", "dictionary", "min_share", "relative_frequencies"},
}  # fmt: skip
COMMON = {"output", "threads", "seed", "quiet", "verbose", "log_json"}


@click.command("train-hmm", cls=options.Command, renamed=training.RENAMED)
@options.group(
    "Common options",
    click.option("--tagged", metavar="FILE", help="Train a tagger on text with tags: CoNLL or word_TAG lines."),
    click.option("--text", metavar="FILE", help="Induce tags from text without tags."),
    training.output,
)
@options.group(
    "Parallel text",
    click.option("-s", "--source", metavar="FILE", help="Train an alignment HMM on parallel text: the source side."),
    click.option("-t", "--target", metavar="FILE", help="The target side; the same number of lines."),
    click.option("-i", "--input", "joint_file", metavar="FILE", help="Both sides in one file, ' ||| ' between them."),
    declared.group(AlignerSettings, "agreement", "look_alike", "views", title="Parallel text"),
    declared.group(Reading, "case_sensitive", "split", "input_format", title="Parallel text"),
)  # fmt: skip
@options.group(
    "Input of --tagged and --text",
    click.option("--format", type=click.Choice(["auto", "conll", "tagged", "columns", "text"]), default="auto",
                 show_default=True, help="Format of the text; auto looks at its first lines."),
    training.column,
    training.separator,
)  # fmt: skip
@options.group(
    "Tags that are not all known",
    click.option("--partial", is_flag=True,
                 help="Words of --tagged may have no tag (_; in word_TAG lines word__), or one of several (NOUN|VERB):"
                      " what is not known is summed over."),
    click.option("--dictionary", metavar="FILE",
                 help="Tags that words can have, as `project --dictionary` writes them: a word of it has one of these."
                      " For --tagged with --partial, and for --text, where the states get the tags' names."),
    click.option("--min-share", type=options.number(PROBABILITY), default=MIN_SHARE, show_default=True, metavar="P",
                 help="Leave tags out of the dictionary that are a smaller share of their word's weight."),
)  # fmt: skip
@options.group(
    "Training",
    click.option("--preset", type=click.Choice(list(INDUCTION_PRESETS)),
                 help="paper: maximum reconstruction as Cheng, Liu & Xu (2017) have it, unless other options say"
                      " otherwise: --estimator mre, with --text also --tolerance 0 --no-stop (so 100 iterations of EM,"
                      " then 50 steps), with parallel text what `mre-align --preset paper` does with an HMM."),
    click.option("--estimator", type=click.Choice(["em", "vb", "mre"]),
                 help="EM, variational Bayes, or EM and then maximum reconstruction.  [default: em; alignments vb]"),
    click.option("--iterations", type=options.number(InductionSettings, "iterations"), metavar="N",
                 help="Largest number of iterations of EM or variational Bayes.  [default: alignments 4,"
                      f" --text {InductionSettings.iterations}, --tagged {TaggerSettings.iterations} per split]"),
    click.option("--mre-iterations", type=options.number(InductionSettings, "mre_iterations"), metavar="N",
                 help="Steps of maximum reconstruction.  [default: as mre-align;"
                      f" {InductionSettings.mre_iterations} for --text]"),
)  # fmt: skip
@options.group(
    "Taggers (--tagged)",
    options.setting("--latent", of=TaggerSettings, metavar="N",
                    help="Largest number of substates of a tag; 1 is the plain bigram tagger."),
    options.setting("--members", of=TaggerSettings, metavar="N",
                    help="Number of models with different seeds that tag together."),
    click.option("--relative-frequencies", is_flag=True,
                 help="Plain relative frequencies, nothing smoothed; needs --latent 1. An unknown word has the"
                      " probability 0, and its tag goes by its neighbours."),
    training.classes,
    click.option("--tokens", type=click.Choice(["words", "surface"]), default="words", show_default=True,
                 help="Learn CoNLL's syntactic words, or its surface tokens: for text with au, not à le, which"
                      " `tag --split` can split."),
)  # fmt: skip
@options.group(
    "Induced tags (--text)",
    options.setting("--states", of=InductionSettings, metavar="N", help="Number of tags."),
    options.setting("--restarts", of=InductionSettings, metavar="N", help="Random starts; the best one is kept."),
    options.setting("--tolerance", of=InductionSettings, metavar="X",
                    help="When to stop: as soon as an iteration improves the objective by less than this share."
                         " Larger stops earlier."),
    options.setting("--transition-prior", of=InductionSettings, metavar="A",
                    help="Dirichlet prior of the transitions.  [default: 0 for em, 0.1 for vb]"),
    options.setting("--emission-prior", of=InductionSettings, metavar="A",
                    help="Dirichlet prior of the emissions.  [default: 0 for em, 0.1 for vb]"),
    click.option("--stop/--no-stop", default=InductionSettings.stop, show_default=True,
                 help="Whether the end of a sentence is part of the model."),
    click.option("--save-classes", metavar="FILE", type=options.WRITTEN,
                 help="Write each word with its tag and how often it occurs, between tabs."),
    click.option("--save-paths", metavar="FILE", type=options.WRITTEN,
                 help="Write the words with their tags as paths in a tree of the tags, strings of bits whose beginnings"
                      " are larger classes, as programs of Brown clustering do: path, word and count between tabs."),
)  # fmt: skip
@options.group("Resources and messages", training.log_json, options.threads, options.seed, options.verbosity)
def command(**o):
    """Train a hidden Markov model: a tagger from text with tags, induced tags from text without, or alignments.

    Models of --tagged and --text are for `tag -m`, models of parallel text (-s and -t) for `align -m`. With --text,
    each iteration shows the objective and the perplexity, or the mean of ln P(x|x) per sentence (mre). For taggers,
    `train-tagger` is the same.

    \b
    Example:
      aligntools train-hmm --text data/samples/en.txt --states 5 --iterations 20 -o /tmp/induced.hmm
      aligntools tag -m /tmp/induced.hmm data/samples/en.txt
    """
    train(o)


def train(o):
    """Train what the options say."""
    uses = [name for name in ("--text", "--tagged") if o[name[2:]] is not None]
    uses += ["parallel text"] if any(o.get(name) is not None for name in ("source", "target", "joint_file")) else []
    if len(uses) != 1:
        links = ", or -s and -t for alignments" if "source" in o else ""
        raise UsageProblem(f"give one text: --tagged for a tagger, --text to induce tags{links}")
    for name in sorted(given() - USES[uses[0]] - COMMON):
        flag = {"joint_file": "input"}.get(name, name.replace("_", "-"))
        raise UsageProblem(f"--{flag} does not go with {uses[0]}")
    _take_preset(o)
    if o["mre_iterations"] is not None and o["estimator"] != "mre":
        raise UsageProblem("--mre-iterations goes with --estimator mre")
    if o["dictionary"] is None and "min_share" in given():
        raise UsageProblem("--min-share goes with --dictionary")
    if o["dictionary"] is not None and o["tagged"] is not None and not o["partial"]:
        raise UsageProblem("--dictionary goes with --partial, or with --text")
    if o["dictionary"] is not None and "states" in given():
        raise UsageProblem("--states does not go with --dictionary, whose tags are the states")
    if uses[0] == "parallel text":
        _alignments(o)
        return
    from aligntools.formats.opening.files import writing

    began = time.perf_counter()
    with contextlib.ExitStack() as stack:
        log = stack.enter_context(writing(o["log_json"])) if o["log_json"] else None
        names = ("format", "separator", "iterations", "mre_iterations", "seed", "threads")
        chosen = {name: o[name] for name in names if o[name] is not None}
        summary = (_induce if o["text"] else _train)(o, chosen, log)
    if summary and not o["quiet"]:
        seconds = f"; {time.perf_counter() - began:.1f} s" if o["verbose"] else ""
        sys.stderr.write(f"{summary}{seconds}\n")


def _take_preset(o):
    """Put what a preset says in the place of what was not given."""
    if o["preset"] is None:
        return
    if o["estimator"] not in (None, "mre"):
        raise UsageProblem(f"--preset {o['preset']} is of --estimator mre, not {o['estimator']}")
    o["estimator"] = "mre"
    if o["text"] is not None:
        o.update({name: value for name, value in INDUCTION_PRESETS[o["preset"]].items() if name not in given()})


def _train(o, chosen, log):
    """Train a tagger; return what to say in the end."""
    from aligntools.api.tag.tagging import train_tagger

    def describe(step):
        f = step.figures
        return (
            f"model {f['member'] + 1}, split {f['split']}, iteration {f['iteration']}: {f['states']} states,"
            f" log-likelihood {f['log_likelihood']:.2f}"
        )

    steps = training.Steps(o["verbose"], log, describe, o["quiet"])
    names = ("column", "latent", "members", "tokens", "classes", "partial", "dictionary", "min_share",
             "relative_frequencies")  # fmt: skip
    train_tagger(o["tagged"], **chosen, **{n: o[n] for n in names}, progress=steps).save(o["output"])
    sizes = "{words} words, {tags} tags, {states} states, {models} models".format(**steps.result)
    if not o["partial"]:
        return sizes
    known = "; {given} words may have one tag, {several} several, {free} any".format(**steps.result)
    against = "; {dropped} given tags are not in the dictionary" if steps.result["dropped"] else ""
    return sizes + known + against.format(**steps.result)


def _induce(o, chosen, log):
    """Induce tags; return what to say in the end."""
    from aligntools.api.given.annotated import check_words, read_untagged
    from aligntools.api.tag.tagging import induce_tags
    from aligntools.api.tag.word_classes import word_classes

    def describe(step):
        f = step.figures
        if step.stage == "mre":
            return f"reconstruction {f['iteration']}: mean ln P(x|x) {f['objective']:.4f}"
        start = f"restart {f['restart'] + 1}, " if o["restarts"] > 1 else ""
        figures = f"objective {f['objective']:.2f}, perplexity {f['perplexity']:.3f}"
        return f"{start}iteration {f['iteration']}: {figures}"

    steps = training.Steps(True, log, describe, o["quiet"])
    names = (
        "states", "tolerance", "transition_prior", "emission_prior", "restarts", "stop", "dictionary", "min_share",
    )  # fmt: skip
    text, wanted = o["text"], {False: o["save_classes"], True: o["save_paths"]}
    if any(wanted.values()):  # it is read once: it may be standard input
        text = read_untagged(text, o["format"], o["separator"], o["split"])
        check_words(o["text"], text)
    tagger = induce_tags(
        text,
        **chosen,
        **{n: o[n] for n in names},
        split=o["split"],
        estimator=o["estimator"] or "em",
        progress=steps,
    )
    for paths, path in wanted.items():
        if path:
            word_classes(text, tagger, paths=paths, threads=o["threads"]).save(path)
    tagger.save(o["output"])
    kept = "; kept restart {}".format(steps.result["restart"] + 1) if o["restarts"] > 1 else ""
    return "{words} words, {types} different, {states} states".format(**steps.result) + kept if o["verbose"] else None


def _alignments(o):
    from aligntools.api.align.alignment import read_bitext, train_aligner, train_mre_aligner
    from aligntools.cli.aligning_run import text_paths
    from aligntools.cli.alignment_options import check_text
    from aligntools.cli.reporting import Reporter
    from aligntools.formats.opening.files import writing

    check_text(o)
    mre = o["estimator"] == "mre"
    names = ("iterations", "agreement", "look_alike", "seed")
    chosen = {n: o[n] for n in names if o[n] is not None} | {"keep_text": False}
    with contextlib.ExitStack() as stack:
        stack.enter_context(notices.shown(o["quiet"]))
        log = stack.enter_context(writing(o["log_json"])) if o["log_json"] else None
        reporter = Reporter(o["quiet"], o["verbose"], log)
        stack.callback(reporter.close)
        with reporter.stage("reading"):
            reading = declared.settings(Reading, o)
            bitext = read_bitext(*text_paths(o), reading=reading)
        chosen |= {"threads": o["threads"], "progress": reporter, "model_type": "hmm", "reading": reading}
        if mre:
            steps = {} if o["mre_iterations"] is None else {"mre_iterations": o["mre_iterations"]}
            if o["preset"] and "agreement" not in given():
                del chosen["agreement"]
            steps["preset"] = o["preset"]
            aligner = train_mre_aligner(bitext, **chosen, **steps, views=o["views"] or (0,))
        else:
            aligner = train_aligner(bitext, **chosen, views=o["views"], estimator=o["estimator"] or "vb")
        with reporter.stage("saving"):
            aligner.save(o["output"])
        reporter.summary(len(bitext), None, bitext.skipped.summary())
