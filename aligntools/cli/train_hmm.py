"""``aligntools train-hmm``: hidden Markov models of alignments, of induced tags and of given ones."""

import contextlib
import json
import sys

import click

from aligntools.cli import options
from aligntools.cli.alignment_options import given, look_alike, views
from aligntools.cli.options import SETTINGS
from aligntools.ground.errors import UsageProblem

#: What each use of the command takes beside the options that all do.
USES = {
    "parallel text": {"source", "target", "joint_file", "estimator", "iterations", "mre_iterations", "agreement",
                      "look_alike", "views", "case_sensitive"},
    "--text": {"text", "format", "separator", "estimator", "iterations", "mre_iterations", "states", "restarts",
               "tolerance", "transition_prior", "emission_prior", "stop"},
    "--tagged": {"tagged", "format", "separator", "column", "latent", "members", "iterations"},
}  # fmt: skip
COMMON = {"model", "threads", "seed", "quiet", "verbose", "log_json"}


@click.command("train-hmm", context_settings=SETTINGS)
@click.option("-s", "--source", metavar="FILE", help="Parallel text, source side: an alignment HMM.")
@click.option("-t", "--target", metavar="FILE", help="Target side.")
@click.option("-i", "--input", "joint_file", metavar="FILE", help="Both in one file, ' ||| ' between.")
@click.option("--text", metavar="FILE", help="Untagged text: tags are induced.")
@click.option("--tagged", metavar="FILE", help="Tagged text, CoNLL or word_TAG: a tagger.")
@click.option("-m", "--model", required=True, metavar="FILE", help="The model to write.")
@click.option("--estimator", type=click.Choice(["em", "vb", "mre"]),
              help="EM, variational Bayes, or EM and then reconstruction.  [default: em; alignments vb]")  # fmt: skip
@click.option("--iterations", type=click.IntRange(1), metavar="N",
              help="Of EM, at most.  [default: 4 for alignments, 100 for --text, 20 a split for --tagged]")  # fmt: skip
@click.option("--mre-iterations", type=click.IntRange(0), metavar="N",
              help="Steps of reconstruction.  [default: as mre-align's; 50 for --text]")  # fmt: skip
@click.option("--states", type=click.IntRange(1), default=50, show_default=True, metavar="N",
              help="Tags to induce (--text).")  # fmt: skip
@click.option("--restarts", type=click.IntRange(1), default=1, show_default=True, metavar="N",
              help="Random starts, the best of which is kept (--text).")  # fmt: skip
@click.option("--tolerance", type=click.FloatRange(0), default=1e-5, show_default=True, metavar="X",
              help="Stop when an iteration gains relatively less (--text).")  # fmt: skip
@click.option("--transition-prior", type=click.FloatRange(0), metavar="A",
              help="Dirichlet smoothing of the transitions (--text).")  # fmt: skip
@click.option("--emission-prior", type=click.FloatRange(0), metavar="A",
              help="Dirichlet smoothing of the emissions (--text).")  # fmt: skip
@click.option("--stop/--no-stop", default=True, show_default=True,
              help="Whether the end of a sentence is part of the model (--text).")  # fmt: skip
@click.option("--latent", type=click.IntRange(1), default=8, show_default=True, metavar="N",
              help="Substates a tag, at most; 1 is the plain bigram tagger (--tagged).")  # fmt: skip
@click.option("--members", type=click.IntRange(1), metavar="N",
              help="Models of different seeds that tag together (--tagged).  [default: 4]")  # fmt: skip
@click.option("--column", default="upos", show_default=True, callback=options.tag_column, metavar="upos|xpos|N",
              help="Column of CoNLL with the tags (--tagged).")  # fmt: skip
@click.option("--format", type=click.Choice(["auto", "conll", "tagged", "columns", "text"]), default="auto",
              show_default=True, help="What the text is; auto looks at its first lines.")  # fmt: skip
@click.option("--separator", callback=options.tag_separator, metavar="TEXT",
              help="Between word and tag; found out unless given ('_' or '/').")  # fmt: skip
@click.option("--agreement/--no-agreement", default=True, show_default=True,
              help="Train the directions of an alignment HMM jointly.")  # fmt: skip
@look_alike
@views
@click.option("--case-sensitive", is_flag=True, help="Keep upper and lower case of parallel text apart.")
@click.option("--log-json", metavar="FILE", help="Also write figures of each iteration, one JSON line each.")
@options.threads
@options.seed
@options.verbosity
def command(**o):
    """Train a hidden Markov model: of alignments from parallel text, of tags from text with tags or without.

    Parallel text (-s and -t) gives a model for `align -m`; --text or --tagged one for `tag -m`. EM prints its
    objective and the perplexity, reconstruction (mre) the mean of ln P(x|x) a sentence.

    \b
    Example:
      aligntools train-hmm --text data/samples/en.txt --states 5 --iterations 20 -m /tmp/induced.hmm
      aligntools tag -m /tmp/induced.hmm data/samples/en.txt
    """
    uses = [name for name in ("--text", "--tagged") if o[name[2:]] is not None]
    uses += ["parallel text"] if any(o[name] is not None for name in ("source", "target", "joint_file")) else []
    if len(uses) != 1:
        raise UsageProblem("give one text: -s and -t for alignments, --text to induce tags, --tagged to learn them")
    for name in sorted(given() - USES[uses[0]] - COMMON):
        flag = {"joint_file": "input"}.get(name, name.replace("_", "-"))
        raise UsageProblem(f"--{flag} does not go with {uses[0]}")
    if uses[0] == "parallel text":
        _alignments(o)
        return
    from aligntools.formats.files import writing
    from aligntools.ground.parallel import Pool

    with contextlib.ExitStack() as stack:
        log = stack.enter_context(writing(o["log_json"])) if o["log_json"] else None
        pool = stack.enter_context(Pool(o["threads"]))
        say = _Teller(o["quiet"], log)
        (_induced if o["text"] else _supervised)(o, pool, say)


class _Teller:
    """Says each iteration's figures on standard error, and writes them to the log."""

    def __init__(self, quiet, log):
        self.quiet, self.log = quiet, log

    def __call__(self, text, **figures):
        if not self.quiet:
            sys.stderr.write(text + "\n")
        if self.log and figures:
            self.log.write((json.dumps(figures) + "\n").encode())


def _alignments(o):
    from aligntools.api.alignment import read_bitext, train_aligner, train_mre_aligner
    from aligntools.cli.aligning_run import text_paths
    from aligntools.cli.alignment_options import check_text
    from aligntools.cli.reporting import Reporter
    from aligntools.formats.files import writing

    check_text(o)
    mre = o["estimator"] == "mre"
    if o["mre_iterations"] is not None and not mre:
        raise UsageProblem("--mre-iterations goes with --estimator mre")
    names = ("iterations", "agreement", "look_alike", "seed")
    training = {n: o[n] for n in names} | {"case_sensitive": o["case_sensitive"], "keep_text": False}
    with contextlib.ExitStack() as stack:
        log = stack.enter_context(writing(o["log_json"])) if o["log_json"] else None
        reporter = Reporter(o["quiet"], o["verbose"], log)
        stack.callback(reporter.close)
        with reporter.stage("reading"):
            bitext = read_bitext(*text_paths(o), case_sensitive=o["case_sensitive"])
        training |= {"threads": o["threads"], "progress": reporter, "model_type": "hmm"}
        if mre:
            steps = {} if o["mre_iterations"] is None else {"mre_iterations": o["mre_iterations"]}
            aligner = train_mre_aligner(bitext, **training, **steps, views=o["views"] or (0,))
        else:
            aligner = train_aligner(bitext, **training, views=o["views"], estimator=o["estimator"] or "vb")
        with reporter.stage("saving"):
            aligner.save(o["model"])
        reporter.summary(len(bitext), None, bitext.skipped.summary())


def _induced(o, pool, say):
    import numpy as np

    from aligntools.formats.tagged import read_words
    from aligntools.tagging.chains import induction, reconstruction
    from aligntools.tagging.chains.chain import ChainText, expected_counts
    from aligntools.tagging.tagger import from_chain

    estimator = o["estimator"] or "em"
    if o["mre_iterations"] is not None and estimator != "mre":
        raise UsageProblem("--mre-iterations goes with --estimator mre")
    text = read_words(o["text"], o["format"], o["separator"])
    numbers = {}
    tokens = np.fromiter((numbers.setdefault(w, len(numbers)) for w in text.words), np.int32, len(text.words))
    many, learner = o["restarts"] > 1, "vb" if estimator == "vb" else "em"

    def tell(restart, iteration, objective, perplexity):
        start = f"restart {restart + 1}, " if many else ""
        say(f"{start}iteration {iteration}: objective {objective:.2f}, perplexity {perplexity:.3f}", stage=learner,
            restart=restart, iteration=iteration, objective=objective, perplexity=perplexity)  # fmt: skip

    def tell_step(iteration, objective):
        say(f"reconstruction {iteration}: mean ln P(x|x) {objective:.4f}", stage="mre", iteration=iteration,
            objective=objective)  # fmt: skip

    found = induction.induce(
        tokens, text.offsets, len(numbers), o["states"], pool, o["seed"], o["iterations"] or 100, o["tolerance"],
        learner, o["transition_prior"], o["emission_prior"], o["restarts"], o["stop"], tell,
    )  # fmt: skip
    chain, corpus = found.chain, ChainText(tokens, text.offsets, len(numbers))
    if estimator == "mre":
        steps = reconstruction.ITERATIONS if o["mre_iterations"] is None else o["mre_iterations"]
        chain, _ = reconstruction.reconstruct(chain, corpus, pool, steps, tell_step)
    counts = expected_counts(chain, corpus, pool).emissions
    settings = {"estimator": estimator, "states": o["states"], "seed": o["seed"], "column": "upos"}
    from_chain(chain, list(numbers), counts, settings=settings).save(o["model"])


def _supervised(o, pool, say):
    from dataclasses import replace

    from aligntools.formats.tagged import read_tags
    from aligntools.tagging.supervised.training import Settings, train_supervised

    if o["format"] == "text":
        raise UsageProblem("plain text has no tags; to induce them give it as --text")
    text = read_tags(o["tagged"], o["column"], o["format"], o["separator"])
    settings = Settings(latent=o["latent"], seed=o["seed"])
    chosen = {name: o[name] for name in ("members", "iterations") if o[name] is not None}

    def tell(member, cycle, iteration, states, log_likelihood):
        if o["verbose"]:
            say(f"model {member + 1}, split {cycle}, iteration {iteration}: {states} states, log-likelihood"
                f" {log_likelihood:.2f}", member=member, split=cycle, iteration=iteration, states=states,
                log_likelihood=log_likelihood)  # fmt: skip

    tagger = train_supervised(text.words, text.offsets, text.tags, pool, replace(settings, **chosen), tell)
    tagger.settings["column"] = o["column"]
    tagger.save(o["model"])
    n_states = max(len(m.prior) for m in tagger.members)
    say(f"{len(text.words)} words, {len(tagger.tags)} tags, {n_states} states, {len(tagger.members)} models")
