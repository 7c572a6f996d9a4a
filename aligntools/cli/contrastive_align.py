"""``aligntools contrastive-align``: alignments by a log-linear model with features of the whole alignment."""

import contextlib
from dataclasses import replace
from pathlib import Path

import click

from aligntools import AlignerSettings, ContrastiveSettings, EncoderSettings, Reading
from aligntools.cli import alignment_options as aligning
from aligntools.cli import declared, engine_options, evidence_notes, options, training
from aligntools.ground.errors import UsageProblem
from aligntools.ground.running import Run

#: How alignments are searched: what weights files say, unless the command does.
SEARCH = ("beam", "constraint", "candidates")
_gold = options.group(
    "Common options",
    click.option(
        "--gold",
        metavar="FILE",
        help="Learn weights from gold links of the text's first pairs, or of lines that the file numbers.",
    ),
    click.option(
        "--evidence",
        metavar="FILE",
        multiple=True,
        help="Another aligner's links of the same lines: 3-4, 3-4:0.97 with a probability, 3?4 possible. Repeat it for"
        " several aligners. What each is worth is learned, without gold links too.",
    ),
)
_models = options.group(
    "Models",
    click.option("-m", "--model", metavar="FILE",
                 help="Base model, from align --save-model.  [default: train one]"),
    click.option("-w", "--weights", metavar="FILE",
                 help="Weights of the features, from --save-weights: use these and learn nothing. With -m too, text is"
                      " aligned while it is read."),
    click.option("--save-model", metavar="FILE", type=options.WRITTEN,
                 help="Save the base model that was trained here or made of tables."),
    click.option("--save-weights", metavar="FILE", type=options.WRITTEN, help="Save the weights, as JSON."),
    training.log_json,
    options.verify,
    click.option("--fast", is_flag=True, help="Train the quickest base model: the HMM, one view of the text."),
)  # fmt: skip
_tables = options.group(
    "Base model of other aligners' tables",
    click.option("--forward-table", metavar="FILE", help="p(target|source), from fast_align -p or a GIZA++ t-table."),
    click.option("--reverse-table", metavar="FILE", help="p(source|target), likewise."),
    click.option("--source-vcb", metavar="FILE", help="The .vcb file of the source side, for t-tables."),
    click.option("--target-vcb", metavar="FILE", help="The .vcb file of the target side."),
)  # fmt: skip
_learning = options.group(
    "Learning",
    declared.group(ContrastiveSettings, "features"),
    click.option("--start", metavar="languages|paper|FILE", type=options.Place(),
                 help="What judges links, and start weights: learned from gold links of other languages, the paper's,"
                      " or those of a file that teach wrote. With -w, the file that the weights started from."
                      "  [default: languages with all features, else paper]"),
    declared.group(ContrastiveSettings, without=("features", *SEARCH, "seed")),
)  # fmt: skip
_search = options.group(
    "Search",
    *(
        declared.option(
            ContrastiveSettings, name, default=None, help=declared.help_of(ContrastiveSettings, name)
            + f"  [default: {getattr(ContrastiveSettings, name)}, or what the weights file says]",
        )
        for name in SEARCH
    ),
)  # fmt: skip
_limits = options.group(
    "Text and resources",
    declared.group(Reading),
    click.option("--unbuffered", is_flag=True, help="With -m and -w: write each line as soon as its pair is read."),
    options.threads, options.seed, options.verbosity,
)  # fmt: skip


@click.command("contrastive-align", cls=options.Command, renamed={"--load-model": "--model"})
@aligning.text
@_gold
@_models
@_tables
@_learning
@_search
@declared.group(EncoderSettings)
@engine_options.group
@_limits
def command(**o):
    """Align a parallel corpus by a log-linear model with features of the whole alignment.

    On top of align's model, which it trains or takes (-m), it weighs how links go together: crossings, neighbours,
    fertilities, unlinked words, 37 features in all (Liu & Sun 2015 and more). The weights are learned from the text
    itself, each pair against a corrupted copy, or from a few gold alignments (--gold), or read (-w). Links of other
    aligners, neural ones for instance, can be weighed in (--evidence).

    \b
    Example:
      aligntools contrastive-align -s data/samples/de-en.de -t data/samples/de-en.en --save-weights /tmp/w.json
    """
    _check(o)
    with contextlib.ExitStack() as stack:
        _run(o, stack)


def _check(o):
    aligning.check_text(o)
    if "-" in o["evidence"] and [o["joint_file"], o["source"], o["target"], *o["evidence"]].count("-") > 1:
        raise UsageProblem("only one file can be standard input")
    tables = [o[name] is not None for name in ("forward_table", "reverse_table")]
    if any(tables) and (not all(tables) or o["model"] or o["fast"]):
        raise UsageProblem("a base model of tables takes --forward-table and --reverse-table, and no -m or --fast")
    names = [o[name] is not None for name in ("source_vcb", "target_vcb")]
    if any(names) and not (all(names) and all(tables)):
        raise UsageProblem("--source-vcb and --target-vcb go together, with --forward-table and --reverse-table")
    if o["model"] and (o["save_model"] or o["fast"] or o["case_sensitive"]):
        raise UsageProblem(
            "-m takes a base model as it is; --save-model, --fast and --case-sensitive are for a new one"
        )
    if declared.settings(EncoderSettings, o).asked and (o["model"] or any(tables)) and not o["weights"]:
        raise UsageProblem("--encoder is for a base model that is trained here; leave out -m and tables")
    if (o["rounds"] or 1) > 1 and (o["model"] or any(tables)):
        raise UsageProblem("--rounds is for a base model that is trained here; leave out -m and tables, or ask for one")
    if o["weights"] and (o["gold"] or o["save_weights"]):
        raise UsageProblem("-w takes weights as they are; --gold and --save-weights are for learning them")
    chosen = aligning.given()
    learned = sorted(chosen & set(ContrastiveSettings.names()) - {*SEARCH, "start", "seed", "evidence_share"})
    if o["weights"] and o["model"]:
        learned += sorted(chosen & {"seed"})
    elif o["weights"]:  # a base model is trained for them
        learned = [name for name in learned if name != "rounds"]
    if o["weights"] and learned:
        raise UsageProblem(f"-w takes weights as they are; --{learned[0].replace('_', '-')} is for learning them")
    of_gold = sorted(chosen & {"method", "folds"})
    if of_gold and not o["gold"]:
        raise UsageProblem(f"`{of_gold[0]}` is about --gold")
    if "evidence_share" in chosen and (not o["evidence"] or o["weights"]):
        raise UsageProblem("--evidence-share is about --evidence, and for learning; leave out -w")
    if o["unbuffered"] and engine_options.asked(o):
        raise UsageProblem("--unbuffered answers each line in this process; leave out --workers and --cluster")
    if o["unbuffered"] and not ((o["model"] or o["forward_table"]) and o["weights"]):
        raise UsageProblem("--unbuffered goes with -m and -w: learning needs the text first")


def _run(o, stack):
    from aligntools.api.align.alignment import read_bitext
    from aligntools.api.align.alignments import Tally
    from aligntools.api.align.contrastive import (
        ContrastiveAligner,
        load_contrastive_weights,
        train_contrastive_aligner,
    )
    from aligntools.api.align.evidence import read_evidence
    from aligntools.api.running.threads import pool_of
    from aligntools.cli.reporting import reporting
    from aligntools.cli.serving import until_terminated
    from aligntools.formats.opening.files import writing

    reporter = stack.enter_context(reporting(o))
    out = stack.enter_context(writing(o["output"]))
    pool = stack.enter_context(pool_of(o["threads"]))
    reading, run = declared.settings(Reading, o), declared.settings(Run, o, threads=pool)
    search = {name: o[name] for name in SEARCH if o[name]}
    weights = load_contrastive_weights(o["weights"], start=o["start"], **search) if o["weights"] else None
    base, text, evidence = _base(o, weights, reading, run, reporter)
    if o["save_model"]:
        base.save(o["save_model"])
    if weights is not None:
        aligner = ContrastiveAligner(base, weights, encoder=declared.settings(EncoderSettings, o))
    else:
        if text is None:  # read once: learning and aligning both need it
            reporter.begin("reading")
            text = read_bitext(
                *aligning.text_files(o).paths(o["split"]),
                reading=replace(reading, case_sensitive=not base.model.lowercase),
            )
            evidence = read_evidence(text, o["evidence"])
        if o["forward_table"] and not o["density"]:
            search["density"] = "expected"
        chosen = {name: value for name, value in o.items() if name not in (*SEARCH, "start", "rounds")} | search
        if o["start"] is None and o["features"].strip() != "all":
            reporter.say("note: not all features are used, so learning starts from the paper's weights; see --start")
        gold = Path(o["gold"]) if o["gold"] else None
        reporter.begin("learning", None if gold else o["passes"] or None, "pass")
        aligner = train_contrastive_aligner(
            text,
            None,
            declared.settings(ContrastiveSettings, chosen),
            start=o["start"],
            aligner=base,
            gold=gold,
            evidence=evidence,
            reading=reading,
            run=run,
            progress=reporter,
        )
        _tell(o, aligner, reporter)
        if o["save_weights"]:
            aligner.save_weights(o["save_weights"])
    tally = Tally()
    reporter.begin("aligning", None if text is None else len(text), "pair")
    source = (text,) if text is not None else aligning.text_files(o).paths(o["split"])
    with until_terminated(o["unbuffered"]):
        for block in aligner.align_blocks(
            *source, unbuffered=o["unbuffered"], evidence=evidence, reading=reading, run=run
        ):
            out.write(block.format())
            if o["unbuffered"]:
                out.flush()
            tally.add(block)
            reporter.advance("aligning", len(block))
        reporter.summary(tally.pairs, tally.links, tally.skipped.summary())


def _base(o, weights, reading, run, reporter):
    """Return the base model, the text where it was read to train it, and evidence: of that text, or its files."""
    from aligntools.api.align.aligner import Aligner
    from aligntools.api.align.alignment import known_text, read_bitext
    from aligntools.api.align.contrastive_base import aligner_from_tables, network_for, network_of, train_base
    from aligntools.api.align.evidence import read_evidence
    from aligntools.api.align.files import reading_encoder

    if o["model"]:
        return Aligner.load(o["model"], threads=run.threads, verify=o["verify"]), None, o["evidence"]
    if o["forward_table"]:
        names = {name: o[name] for name in ("source_vcb", "target_vcb")}
        reporter.begin("reading tables")
        tables = o["forward_table"], o["reverse_table"]
        return aligner_from_tables(*tables, **names, case_sensitive=o["case_sensitive"]), None, o["evidence"]
    network = network_of(weights) if weights is not None else network_for(o["features"], o["start"])
    reporter.begin("reading")
    encoder, known = declared.settings(EncoderSettings, o).chosen(network is not None and not o["fast"]), None
    if encoder.asked:
        bitext, known = known_text(
            *aligning.text_files(o).paths(o["split"]), encoder, reading, run, reading_encoder(reporter)
        )
        reporter.close()
        reporter.say(known.summary)
    else:
        bitext = read_bitext(*aligning.text_files(o).paths(o["split"]), reading=reading)
    evidence = read_evidence(bitext, o["evidence"])
    reporter.close()
    if not len(bitext.source.tokens):
        reporter.say("warning: every line has a blank side; nothing to learn from")
    settings = AlignerSettings(fast=o["fast"], seed=o["seed"])
    how = {"reading": reading, "run": run, "progress": reporter, "known": known}
    aligner = train_base(bitext, network, settings, o["rounds"], **how)
    return aligner, bitext, evidence


def _tell(o, aligner, reporter):
    """Say what was learned."""
    found, weights = aligner.report, aligner.weights
    if found is not None:
        figures = f"base model {100 * found.base:.2f}, fitted {100 * found.fitted:.2f}"
        if found.validated is not None:
            figures += f", cross-validated {100 * found.validated:.2f} ({o['folds']} folds)"
        reporter.say(f"AER % on {weights.about['pairs']} gold pairs: {figures}")
    elif not weights.about["pairs"]:
        reporter.say("warning: no pair to learn weights from; the start weights are used")
    evidence_notes.tell(o["evidence"], aligner, reporter)
    if reporter.verbose:
        shown = ", ".join(f"{name} {value:.3g}" for name, value in weights.by_name.items())
        reporter.say(f"weights from {weights.about['pairs']} pairs: {shown}")
