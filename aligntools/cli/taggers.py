"""``aligntools train-hmm``: hidden Markov models of alignments and tags; ``train-tagger``: of tags alone."""

import sys
import time
from typing import Any

import click

from aligntools import (
    AlignerSettings,
    InductionSettings,
    Reading,
    ReconstructionSettings,
    Run,
    Step,
    TaggerSettings,
    TagReading,
    WordReading,
)
from aligntools.cli import declarations, options, training
from aligntools.ground.errors import UsageProblem

_ALIGNER, _READING = ("agreement", "look_alike", "views"), ("case_sensitive", "split", "input_format", "languages")
_PRESET = {"preset", "estimator", "iterations", "mre_iterations"}
#: The options of each use of the command, apart from those that all uses have.
USES = {
    "parallel text": {"source", "target", "joint_file", *_ALIGNER, *_READING, *_PRESET},
    "--text": {
        "text",
        *_PRESET,
        *WordReading.names(),
        *InductionSettings.names(),
        "save_classes",
        "save_paths",
        "dictionary",
    },
    "--tagged": {"tagged", *TagReading.names(), *TaggerSettings.names(), "classes", "dictionary"},
}


@click.command(
    "train-hmm",
    cls=options.Command,
    renamed=training.RENAMED,
    basic="tagged text output source target joint_file partial dictionary preset latent states save_classes"
    " threads seed quiet",
)
@options.group(
    "Common options",
    options.file("--tagged", help="Train a tagger on text with tags: CoNLL or word_TAG lines."),
    options.file("--text", help="Induce tags from text without tags."),
    training.output,
)
@options.group(
    "Parallel text",
    options.file("-s", "--source", help="Train an alignment HMM on parallel text: the source side."),
    options.file("-t", "--target", help="The target side; the same number of lines."),
    options.file("-i", "--input", "joint_file", help="Both sides in one file, ' ||| ' between them."),
    declarations.group(AlignerSettings, *_ALIGNER, title="Parallel text"),
    declarations.group(Reading, *_READING, title="Parallel text"),
)
@declarations.group(TagReading, title="Input of --tagged and --text")
@options.group(
    "Tags that are not all known",
    declarations.group(TaggerSettings, "partial"),
    options.file(
        "--dictionary",
        help="Tags that words can have, as `project --dictionary` writes them: a word that is listed has one of"
        " its tags there. For --tagged with --partial, and for --text, where the states get the tags' names.",
    ),
    declarations.group(TaggerSettings, "min_share"),
)
@options.group(
    "Training",
    click.option(
        "--preset",
        type=click.Choice(["paper"]),
        help="paper: maximum reconstruction as Cheng, Liu & Xu (2017) have it, unless other options say"
        " otherwise: --estimator mre, with --text also --set tolerance=0 --set stop=false (so 100 iterations of EM,"
        " then 50 steps), with parallel text what `mre-align --preset paper` does with an HMM.",
    ),
    declarations.option(InductionSettings, "estimator", otherwise="em; alignments vb"),
    declarations.option(
        InductionSettings,
        "iterations",
        otherwise=f"alignments 4, --text {InductionSettings.iterations},"
        f" --tagged {TaggerSettings.iterations} per split",
    ),
    declarations.option(
        InductionSettings,
        "mre_iterations",
        otherwise=f"as mre-align; {InductionSettings.mre_iterations} for --text",
    ),
)
@options.group(
    "Taggers (--tagged)",
    declarations.group(TaggerSettings, "latent", "members", "relative_frequencies", title="Taggers (--tagged)"),
    training.classes,
    declarations.group(TaggerSettings, "tokens", title="Taggers (--tagged)"),
)
@options.group(
    "Induced tags (--text)",
    declarations.group(
        InductionSettings, "states", "restarts", "tolerance", "transition_prior", "emission_prior", "stop"
    ),
    options.written("--save-classes", help="Write each word with its tag and how often it occurs, between tabs."),
    options.written(
        "--save-paths",
        help="Write the words with their tags as paths in a tree of the tags, strings of bits whose beginnings"
        " are larger classes, as programs of Brown clustering do: path, word and count between tabs.",
    ),
)
@options.group("Resources and messages", training.log_json, options.threads, options.seed, options.verbosity)
def train_hmm(**o: Any) -> None:
    """Train a hidden Markov model: a tagger from text with tags, induced tags from text without, or alignments.

    Models of --tagged and --text are for `tag -m`, models of parallel text (-s and -t) for `align -m`. With --text,
    each iteration shows the objective and the perplexity, or the mean of ln P(x|x) per sentence (mre). For taggers,
    `train-tagger` is the same.

    \b
    Example:
      aligntools train-hmm --text data/samples/en.txt --states 5 --iterations 20 -o /tmp/induced.hmm
      aligntools tag -m /tmp/induced.hmm data/samples/en.txt
    """
    asked = {name: o[name[2:]] is not None for name in ("--text", "--tagged")}
    asked["parallel text"] = any(o.get(name) is not None for name in ("source", "target", "joint_file"))
    links = ", or -s and -t for alignments" if "source" in o else ""
    which = f"give one text: --tagged for a tagger, --text to induce tags{links}"
    if training.check_use(o, USES, asked, which) == "parallel text":
        _alignments(o)
        return
    began = time.perf_counter()
    summary = (_induce if o["text"] is not None else _train)(o)
    if summary and not o["quiet"]:
        seconds = f"; {time.perf_counter() - began:.1f} s" if o["verbose"] else ""
        sys.stderr.write(f"{summary}{seconds}\n")


def _train(o: dict[str, Any]) -> str:
    from aligntools.tagging.taggers import train_tagger

    def describe(step: Step) -> str:
        f = step.figures
        return (
            f"model {f['member'] + 1}, split {f['split']}, iteration {f['iteration']}: {f['states']} states,"
            f" log-likelihood {f['log_likelihood']:.2f}"
        )

    with training.reporting(o, describe, notices=False) as (steps, result):
        declarations.call(train_tagger, o, text=o["tagged"], progress=steps).save(o["output"])
    sizes = "{words} words, {tags} tags, {states} states, {models} models".format(**result)
    if not o["partial"]:
        return sizes
    known = "; {given} words may have one tag, {several} several, {free} any".format(**result)
    against = "; {dropped} given tags are not in the dictionary" if result["dropped"] else ""
    return sizes + known + against.format(**result)


def _induce(o: dict[str, Any]) -> str | None:
    from aligntools.formats.inputs.annotation import check_words, read_untagged
    from aligntools.tagging.taggers import induce_tags
    from aligntools.tagging.word_classes import word_classes

    def describe(step: Step) -> str:
        f = step.figures
        if step.stage == "mre":
            return f"reconstruction {f['iteration']}: mean ln P(x|x) {f['objective']:.4f}"
        start = f"restart {f['restart'] + 1}, " if o["restarts"] > 1 else ""
        figures = f"objective {f['objective']:.2f}, perplexity {f['perplexity']:.3f}"
        return f"{start}iteration {f['iteration']}: {figures}"

    text, reading, run = o["text"], declarations.settings(WordReading, o), declarations.settings(Run, o)
    wanted = {False: o["save_classes"], True: o["save_paths"]}
    if any(wanted.values()):  # it is read once: it may be standard input
        text = read_untagged(text, reading)
        check_words(o["text"], text)
    with training.reporting(o | {"verbose": True}, describe, notices=False) as (steps, result):
        how: dict[str, Any] = declarations.chosen(InductionSettings, o) | {"settings": None, "progress": steps}
        tagger = declarations.call(induce_tags, o, text=text, reading=reading, **how)
        for paths, path in wanted.items():
            if path:
                word_classes(text, tagger, paths=paths, run=run).save(path)
        tagger.save(o["output"])
    kept = "; kept restart {}".format(result["restart"] + 1) if o["restarts"] > 1 else ""
    return "{words} words, {types} different, {states} states".format(**result) + kept if o["verbose"] else None


def _alignments(o: dict[str, Any]) -> None:
    from aligntools.aligning.alignment import read_bitext, train_aligner, train_mre_aligner
    from aligntools.cli.alignment_options import text_files
    from aligntools.cli.reporter import reporting

    text = text_files(o)
    text.check_text()
    mre = (o["estimator"] or ("mre" if o["preset"] else "vb")) == "mre"
    if o["preset"] and not mre:
        raise UsageProblem(f"`preset={o['preset']}` is of `estimator=mre`, not {o['estimator']}")
    if o["mre_iterations"] is not None and not mre:
        raise UsageProblem("`mre_iterations` goes with `estimator=mre`")
    with reporting(o) as reporter:
        with reporter.stage("reading"):
            reading = declarations.settings(Reading, o)
            bitext = read_bitext(*text.paths(o["split"]), reading=reading)
        chosen: dict[str, Any] = {"keep_text": False, "progress": reporter, "model_type": "hmm", "reading": reading}
        chosen |= {"run": declarations.settings(Run, o)} | declarations.chosen(AlignerSettings, o)
        if mre:
            chosen |= {"views": o["views"] or (0,)} | declarations.chosen(ReconstructionSettings, o)
            chosen.pop("estimator", None)
            aligner = train_mre_aligner(bitext, **chosen, preset=o["preset"])
        else:
            aligner = train_aligner(bitext, **chosen)
        with reporter.stage("saving"):
            aligner.save(o["output"])
        reporter.summary(len(bitext), None, bitext.skipped.summary())


#: What only alignments of parallel text need.
_ALIGNING = USES["parallel text"] - USES["--text"] - USES["--tagged"]

train_tagger = options.Command(
    "train-tagger",
    params=[p for p in train_hmm.params if p.name not in _ALIGNING],
    callback=train_hmm.callback,
    basic="tagged text output format column partial dictionary preset latent classes tokens states save_classes"
    " save_paths threads seed quiet",
    help="""Train a tagger: from text with tags (--tagged), with tags for some of its words (--partial), or without
    tags (--text).

    The same as train-hmm, without what aligns parallel text.

    \b
    Example:
      aligntools train-tagger -q --tagged data/samples/en.tagged -o /tmp/en.tagger
      aligntools tag -m /tmp/en.tagger data/samples/en.txt
    """,
)
