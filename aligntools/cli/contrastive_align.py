"""``aligntools contrastive-align``: alignments by a log-linear model with features of the whole alignment."""

import contextlib
import time

import click

from aligntools.cli import options
from aligntools.ground.errors import DataError, UsageProblem

NOISE = ("shuffle", "delete", "insert", "replace")
CONSTRAINTS = ("none", "itg", "block-itg")


@click.command("contrastive-align", context_settings=options.SETTINGS)
@click.option("-i", "--input", "joint_file", metavar="FILE", help="Text with ' ||| ' between the sides (- is stdin).")
@click.option("-s", "--source", metavar="FILE", help="Source side; with -t, instead of -i.")
@click.option("-t", "--target", metavar="FILE", help="Target side.")
@options.output(help="Write the alignment here instead of standard output; appears whole or not at all.")
@click.option("-m", "--load-model", metavar="FILE", help="Base model, from align --save-model.  [default: train one]")
@click.option("--forward-table", metavar="FILE",
              help="Base model of tables: p(target|source), from fast_align -p or a GIZA++ t-table.")  # fmt: skip
@click.option("--reverse-table", metavar="FILE", help="With it: p(source|target).")
@click.option("--source-vcb", metavar="FILE", help="Names of the numbers in t-tables: the source side's .vcb file.")
@click.option("--target-vcb", metavar="FILE", help="The target side's.")
@click.option("--save-model", metavar="FILE", help="Keep the base model trained here, or made of tables.")
@click.option("-w", "--weights", metavar="FILE", help="Use these weights and learn nothing; with -m, streams.")
@click.option("--save-weights", metavar="FILE", help="Keep the weights, as JSON.")
@click.option("--gold", metavar="FILE", help="Learn weights from gold alignments of the text's first pairs.")
@click.option("--features", default="all", show_default=True, metavar="LIST",
              help="local, paper (the 16 of the paper), all, or names, with commas; -name leaves one out.")  # fmt: skip
@click.option("--start", type=click.Choice(["languages", "paper"]), default=None,
              help="Weights to start from: learned on other languages, or the paper's.  [default: languages with"
              " all features, else paper]")  # fmt: skip
@click.option("--sentences", type=click.IntRange(0), default=500, show_default=True, metavar="N",
              help="Pairs to learn from, chosen at random.")  # fmt: skip
@click.option("--noise", type=click.Choice(NOISE), default="shuffle", show_default=True,
              help="What spoils the copies that observed pairs are held against.")  # fmt: skip
@click.option("--n-best", type=click.IntRange(1), default=5, show_default=True, metavar="N",
              help="Alignments that stand for all in learning.")  # fmt: skip
@click.option("--passes", type=click.IntRange(0), default=5, show_default=True, metavar="N",
              help="Most passes over the pairs in learning; 0 keeps the start.")  # fmt: skip
@click.option("--rate", type=click.FloatRange(0), default=None, metavar="R",
              help="Size of the first steps in learning.  [default: 0.0001, from the paper's start 0.05]")  # fmt: skip
@click.option("--pull", type=click.FloatRange(0, 1), default=None, metavar="P",
              help="Share of the start in what is learned.  [default: 0.5, from the paper's start 0]")  # fmt: skip
@click.option("--density", type=click.Choice(["base", "expected", "learned"]), default=None,
              help="How many links: as the base model decides, as it expects, or as the weights say.  [default: base,"
              " with tables expected]")  # fmt: skip
@click.option("--beam", type=click.IntRange(1), default=None, metavar="N",
              help="Alignments gone on from at each step.  [default: 1, or what the weights say]")  # fmt: skip
@click.option("--constraint", type=click.Choice(CONSTRAINTS), default=None,
              help="Allow only alignments that nest.  [default: none, or what the weights say]")  # fmt: skip
@click.option("--method", type=click.Choice(["risk", "mert"]), default="risk", show_default=True,
              help="With --gold: minimum risk, or minimum error rate training.")  # fmt: skip
@click.option("--folds", type=click.IntRange(0), default=5, show_default=True, metavar="N",
              help="With --gold: parts for the cross-validated error; 0 for none.")  # fmt: skip
@click.option("--fast", is_flag=True, help="Train the quickest base model: the HMM, one view of the text.")
@click.option("--case-sensitive", is_flag=True, help="Keep upper and lower case apart, in a base model trained here.")
@click.option("--max-length", type=click.IntRange(1, 30000), default=2000, show_default=True, metavar="N",
              help="A pair with a longer side gets a blank line.")  # fmt: skip
@click.option("--strict", is_flag=True, help="Stop at pairs that would get a blank line.")
@click.option("--unbuffered", is_flag=True, help="With -m and -w: a line out for each line in, at once.")
@options.threads
@options.seed
@options.verbosity
def command(**o):
    """Align a parallel corpus by a log-linear model with features of the whole alignment.

    On top of align's model, which it trains or takes (-m), it weighs how links go together: crossings, neighbours,
    fertilities, unlinked words, 37 features in all (Liu & Sun 2015 and more). The weights are learned from the text
    itself, each pair against a corrupted copy, or from a few gold alignments (--gold), or taken (-w).

    \b
    Example:
      aligntools contrastive-align -s data/samples/de-en.de -t data/samples/de-en.en --save-weights /tmp/w.json
    """
    _check(o)
    with contextlib.ExitStack() as stack:
        _run(o, stack)


def _check(o):
    texts = o["joint_file"] is not None, o["source"] is not None or o["target"] is not None
    if sum(texts) != 1 or (texts[1] and (o["source"] is None or o["target"] is None)):
        raise UsageProblem("give the text as -s FILE -t FILE, or as one file with -i")
    tables = [o[name] is not None for name in ("forward_table", "reverse_table")]
    if any(tables) and (not all(tables) or o["load_model"] or o["fast"] or o["case_sensitive"]):
        raise UsageProblem(
            "a base model of tables takes --forward-table and --reverse-table, and no -m, --fast or --case-sensitive"
        )
    names = [o[name] is not None for name in ("source_vcb", "target_vcb")]
    if any(names) and not (all(names) and all(tables)):
        raise UsageProblem("--source-vcb and --target-vcb go together, with --forward-table and --reverse-table")
    if o["load_model"] and (o["save_model"] or o["fast"] or o["case_sensitive"]):
        raise UsageProblem(
            "-m takes a base model as it is; --save-model, --fast and --case-sensitive are for a new one"
        )
    if o["weights"] and (o["gold"] or o["save_weights"]):
        raise UsageProblem("-w takes weights as they are; --gold and --save-weights are for learning them")
    if o["unbuffered"] and not ((o["load_model"] or o["forward_table"]) and o["weights"]):
        raise UsageProblem("--unbuffered goes with -m and -w: learning needs the text first")
    outputs = [o[n] for n in ("output", "save_model", "save_weights") if o[n]]
    if len(set(outputs)) < len(outputs):
        raise UsageProblem("two outputs have the same name")


def _run(o, stack):
    from dataclasses import replace

    from aligntools.aligning.contrastive import tasks
    from aligntools.aligning.contrastive.candidates import CandidateFinder
    from aligntools.aligning.contrastive.kernels_features import TREES
    from aligntools.aligning.contrastive.learning import LearningSettings
    from aligntools.aligning.contrastive.linktrees import shipped
    from aligntools.aligning.contrastive.search import SearchSettings
    from aligntools.aligning.contrastive.weights import load_weights
    from aligntools.cli.reporting import Reporter
    from aligntools.formats.bitext import Skipped
    from aligntools.formats.files import writing
    from aligntools.formats.pharaoh import format_pharaoh
    from aligntools.ground.parallel import Pool

    began = time.perf_counter()
    weights = load_weights(o["weights"]) if o["weights"] else None
    search = SearchSettings(beam=o["beam"] or 1, constraint=o["constraint"] or "none")
    paper = o["start"] == "paper" or (o["start"] is None and o["features"].strip() != "all")
    learning = LearningSettings(
        n_best=o["n_best"], rate=(0.05 if paper else 0.0001) if o["rate"] is None else o["rate"],
        pull=(0.0 if paper else 0.5) if o["pull"] is None else o["pull"], passes=o["passes"], seed=o["seed"],
    )  # fmt: skip
    density = o["density"] or ("expected" if o["forward_table"] else "base")
    plan = tasks.learning_plan(
        o["features"], paper, sentences=o["sentences"], noise=o["noise"], density=density,
        learning=learning, search=search,
    )  # fmt: skip
    progress = Reporter(o["quiet"], o["verbose"])
    out = stack.enter_context(writing(o["output"]))
    pool = stack.enter_context(Pool(o["threads"]))
    model, blocks = _base(o, pool, progress)
    finder = CandidateFinder(model, pool, shipped() if (plan if weights is None else weights).active[TREES] else None)
    plan = replace(plan, threshold=0.4 if len(model.views) > 1 else 0.5)
    if weights is None:
        blocks = list(blocks)
        weights = _learn(o, tasks, finder, blocks, plan, progress)
        if o["save_weights"]:
            weights.save(o["save_weights"])
    elif o["beam"] or o["constraint"]:
        chosen = {k: o[k] for k in ("beam", "constraint") if o[k]}
        weights = replace(weights, search=replace(weights.search, **chosen))
    skipped, n, links = Skipped(), 0, 0
    for block in blocks:
        for found in tasks.align(finder, block, weights, pool):
            out.write(format_pharaoh(found))
            links += len(found.pairs)
        if o["unbuffered"]:
            out.flush()
        skipped.add(block.skipped)
        n += len(block)
    if skipped.total:
        progress.say(f"blank lines written for: {skipped.summary()}")
    seconds = time.perf_counter() - began
    progress.say(f"{n} pairs, {links} links in {seconds:.1f} s ({n / max(seconds, 1e-9):.0f} pairs/s)")


def _base(o, pool, progress):
    """Return the base model, and the text in blocks (an iterator)."""
    from aligntools.aligning.model import AlignmentModel
    from aligntools.formats.bitext import read_bitext, stream_bitext

    reading = {
        "source": o["source"], "target": o["target"], "joint": o["joint_file"], "max_length": o["max_length"],
        "strict": o["strict"],
    }  # fmt: skip
    if o["load_model"] or o["forward_table"]:
        model = AlignmentModel.load(o["load_model"], pool) if o["load_model"] else _of_tables(o)
        blocks = stream_bitext(
            **reading, source_vocabulary=model.source_vocabulary, target_vocabulary=model.target_vocabulary,
            lowercase=model.lowercase, unbuffered=o["unbuffered"],
        )  # fmt: skip
    else:
        from aligntools.api.alignment import train_aligner
        from aligntools.formats.corpus import parts_of

        bitext = read_bitext(**reading, lowercase=not o["case_sensitive"])
        if not len(bitext.source.tokens):
            progress.say("warning: every line has a blank side; nothing to learn from")
        model = train_aligner(
            bitext, fast=o["fast"], seed=o["seed"], case_sensitive=o["case_sensitive"], threads=pool,
            progress=progress,
        ).model  # fmt: skip
        if o["save_model"]:
            model.save(o["save_model"])
        blocks = parts_of(bitext, 50_000)
    if model.settings.direction != "both":
        raise UsageProblem("the base model has one direction alone; this needs one with both")
    return model, blocks


def _of_tables(o):
    """Return a base model made of another aligner's tables."""
    from aligntools.aligning.word_tables import model_from_tables
    from aligntools.formats.ttable import read_ttable, read_vocabulary

    names = [read_vocabulary(o[name]) if o[name] else None for name in ("source_vcb", "target_vcb")]
    forward = read_ttable(o["forward_table"], *names)
    reverse = read_ttable(o["reverse_table"], *names[::-1])
    try:
        model = model_from_tables(forward, reverse)
    except ValueError as error:
        raise DataError(o["reverse_table"], None, str(error)) from None
    if o["save_model"]:
        model.save(o["save_model"])
    return model


def _learn(o, tasks, finder, blocks, plan, progress):
    if o["gold"]:
        return _learn_from_gold(o, tasks, finder, blocks, plan, progress)

    def report(figures):
        if o["verbose"]:
            progress.say(f"pass {figures['pass']}: objective {figures['objective']:.4f} a pair")

    weights = tasks.learn_weights(finder, blocks, plan, report)
    if not weights.about["pairs"]:
        progress.say("warning: no pair to learn weights from; the start weights are used")
    elif o["verbose"]:
        progress.say(f"weights from {weights.about['pairs']} pairs: {_shown(weights)}")
    return weights


def _learn_from_gold(o, tasks, finder, blocks, plan, progress):
    import numpy as np

    from aligntools.aligning.contrastive.noise import pick
    from aligntools.formats.goldlinks import read_gold
    from aligntools.formats.pharaoh import check_range

    n = sum(map(len, blocks))
    gold = read_gold(o["gold"], sentences=n)
    if len(gold) > n:
        raise DataError(o["gold"], None, f"{len(gold)} sentence pairs, but the text has {n}")
    if len(gold) > len(blocks[0]):
        raise DataError(o["gold"], None, f"{len(gold)} sentence pairs; the first {len(blocks[0])} are enough")
    text = pick(blocks[0], np.arange(len(gold)))
    lengths = text.source.lengths(), text.target.lengths()
    check_range(gold.possible, *lengths, path=o["gold"], index_base=gold.index_base)

    def report(figures):
        if o["verbose"]:
            progress.say(f"round {figures['round']}: AER {100 * figures['aer']:.2f} %")

    found = tasks.learn_from_gold(finder, text, gold, plan, o["method"], o["folds"], report)
    figures = f"base model {100 * found.base:.2f}, fitted {100 * found.fitted:.2f}"
    if found.validated is not None:
        figures += f", cross-validated {100 * found.validated:.2f} ({o['folds']} folds)"
    progress.say(f"AER % on {len(gold)} gold pairs: {figures}")
    if o["verbose"]:
        progress.say(f"weights: {_shown(found.weights)}")
    return found.weights


def _shown(weights):
    from aligntools.aligning.contrastive.features import NAMES

    chosen = zip(NAMES, weights.values, weights.active, strict=True)
    return ", ".join(f"{name} {value:.3g}" for name, value, active in chosen if active)
