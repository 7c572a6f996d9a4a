"""``aligntools transfer-parse``: a parser for a language without a treebank, through parallel text."""

import contextlib

import click
import numpy as np

from aligntools.cli import options
from aligntools.cli.train_parser import MAPS, Teller, checkpoint_of, mapped, model_options
from aligntools.ground.errors import DataError, UsageProblem


@click.command("transfer-parse", context_settings=options.SETTINGS)
@click.option("--source-model", required=True, metavar="FILE", help="Parser of the source language, from train-parser.")
@click.option("--source", metavar="FILE", help="Source side of parallel text, with tags: word_TAG lines or CoNLL.")
@click.option("--target", metavar="FILE", help="Target side, with tags; as many sentences.")
@click.option("-a", "--alignments", metavar="FILE", help="Their links, i-j with i the source word; a line a pair.")
@click.option("--unlabeled", metavar="FILE", help="More text of the target language, with tags, to become certain on.")
@click.option("-m", "--model", required=True, metavar="FILE", help="The parser to write.")
@click.option("--method", type=click.Choice(["full", "direct", "projected"]), default="full", show_default=True,
              help="full: transferred distributions (Ma & Xia 2014); direct: the source parser without its words;"
                   " projected: then trees that the links speak for (McDonald, Petrov & Hall 2011).")  # fmt: skip
@click.option("--weights", type=click.Choice(["posterior", "score"]), default="posterior", show_default=True,
              help="What is transferred of an edge: its probability in its own sentence, or its score.")  # fmt: skip
@click.option("--gamma", type=click.FloatRange(0), default=0.03, show_default=True, metavar="X",
              help="Weight of the entropy on --unlabeled text.")  # fmt: skip
@click.option("--entropy", type=click.Choice(["shannon", "renyi"]), default="shannon", show_default=True,
              help="Which entropy.")  # fmt: skip
@click.option("--alpha", type=click.FloatRange(0, min_open=True), default=2.0, show_default=True, metavar="X",
              help="Order of Renyi's entropy.")  # fmt: skip
@click.option("--rounds", type=click.IntRange(0), default=3, show_default=True, metavar="N",
              help="How often projected transfer chooses its trees anew.")  # fmt: skip
@click.option("--reward", type=click.FloatRange(0), default=1.0, show_default=True, metavar="X",
              help="What projected transfer adds to the score of an edge that the source tree has too.")  # fmt: skip
@click.option("--min-length", type=click.IntRange(1), default=3, show_default=True, metavar="N",
              help="Leave out pairs with a shorter sentence.")  # fmt: skip
@click.option("--max-length", type=click.IntRange(1), default=100, show_default=True, metavar="N",
              help="Leave out pairs with a longer sentence.")  # fmt: skip
@click.option("--min-aligned", type=click.FloatRange(0, 1), default=0.8, show_default=True, metavar="P",
              help="Leave out pairs with a smaller share of target words aligned one to one.")  # fmt: skip
@click.option("--head", type=click.IntRange(1), metavar="N", help="Use the first N of the pairs that are left.")
@click.option("--l2", type=click.FloatRange(0), default=100.0, show_default=True, metavar="X",
              help="Half of it times the squared weights is added to the objective.")  # fmt: skip
@click.option("--column", callback=options.tag_column, metavar="upos|xpos|N",
              help="Column of CoNLL with the tags.  [default: the one the source parser learned from]")  # fmt: skip
@click.option("--map", "mapping", type=MAPS,
              help="Map tags to the 12 universal ones.  [default: as the source parser learned]")  # fmt: skip
@click.option("--separator", callback=options.tag_separator, metavar="TEXT",
              help="Between word and tag; found out unless given ('_' or '/').")  # fmt: skip
@options.index_base(of="the links")
@model_options
def command(**o):
    """Train a parser for a language without a treebank, through parallel text with tags and word alignments.

    A source parser gives a distribution over the trees of each target sentence, by the links; the target parser
    learns to agree with it and, where there is --unlabeled text, to be certain there. The tags of both languages must
    be of one kind. Links count where both words have no other.

    \b
    Example:
      aligntools align -q -s data/samples/de-en.en -t data/samples/de-en.de -o /tmp/en-de.align
      aligntools train-hmm -q --tagged data/samples/en.conllu --members 1 -m /tmp/en.tagger
      aligntools tag -m /tmp/en.tagger data/samples/de-en.en -o /tmp/en.tagged
      aligntools tag -m /tmp/en.tagger data/samples/de-en.de -o /tmp/de.tagged
      aligntools train-parser -q --treebank data/samples/en.conllu -m /tmp/en.parser
      aligntools transfer-parse -q --source-model /tmp/en.parser --source /tmp/en.tagged \\
        --target /tmp/de.tagged -a /tmp/en-de.align -m /tmp/de.parser
      aligntools parse -m /tmp/de.parser /tmp/de.tagged
    """
    _check(o)
    from aligntools.formats.files import writing
    from aligntools.ground.parallel import Pool
    from aligntools.parsing.parser import Parser
    from aligntools.parsing.transfer.projection import direct

    parser = Parser.load(o["source_model"])
    with contextlib.ExitStack() as stack:
        log = stack.enter_context(writing(o["log_json"])) if o["log_json"] else None
        pool, tell = stack.enter_context(Pool(o["threads"])), Teller(o["quiet"], o["verbose"], log)
        if o["method"] == "direct":
            direct(parser).save(o["model"])
            return
        settings = transfer_training.Settings(
            o["method"], o["features"], o["bits"], o["min_count"], not o["non_projective"], not o["any_root"],
            o["min_length"], o["max_length"], o["min_aligned"], o["head"], o["weights"],
            o["gamma"], o["alpha"] if o["entropy"] == "renyi" else 1.0, o["l2"], o["iterations"], o["tolerance"],
            o["rounds"], o["reward"],
        )  # fmt: skip
        source, target, links, plain = _read(o, parser, tell)
        try:
            found, report = transfer_training.train(
                parser, source, target, links, plain, settings, pool,
                lambda stage, number, value: tell.step(number, value, stage=stage), checkpoint_of(o["checkpoint"]),
            )  # fmt: skip
        except transfer_training.NoPairs:
            problem = (
                "no pair is left of --min-length to --max-length words on both sides with --min-aligned of the target"
                " words aligned; is -a the alignment of these texts, source first?"
            )
            raise DataError(o["target"], None, problem) from None
        found.settings |= {"column": o["column"] or parser.settings.get("column", "upos"),
                           "map": o["mapping"] or parser.settings.get("map", "none")}  # fmt: skip
        found.save(o["model"])
    for reason, n in report.skipped.items():
        tell.say(f"left out: {n} {reason}")
    fit = report.fits[-1]
    tell.say(
        f"{report.pairs} pairs, {report.plain} plain sentences, {100 * report.aligned:.0f} % of the target words"
        f" aligned one to one; objective {fit.values[-1]:.1f} after {len(fit.values) - 1} steps ({fit.message})"
    )


def _check(o):
    """Refuse what does not go together."""
    texts = {"--source": "source", "--target": "target", "-a": "alignments"}
    if o["method"] == "direct":
        for flag, name in (texts | {"--unlabeled": "unlabeled"}).items():
            if o[name] is not None:
                raise UsageProblem(f"{flag} does not go with --method direct, which takes the source parser alone")
        return
    for flag, name in texts.items():
        if o[name] is None:
            raise UsageProblem(f"--method {o['method']} needs {flag}: parallel text with tags, and its links")
    if o["unlabeled"] is not None and o["method"] == "projected":
        raise UsageProblem("--unlabeled goes with --method full")
    if o["min_length"] > o["max_length"]:
        raise UsageProblem(f"--min-length {o['min_length']} is above --max-length {o['max_length']}: nothing is left")
    if [o[name] for name in ("source", "target", "alignments", "unlabeled")].count("-") > 1:
        raise UsageProblem("standard input ('-') can be only one of the files")


def _read(o, parser, tell):
    """Read both sides, their links and plain text, and see that they fit together."""
    from aligntools.formats.pharaoh import check_range, read_pharaoh
    from aligntools.formats.tagged import read_tags
    from aligntools.parsing.transfer.learning import Text

    column = o["column"] or parser.settings.get("column", "upos")
    mapping = o["mapping"] or parser.settings.get("map", "none")

    def text(path):
        found = read_tags(path, column, "auto", o["separator"])
        tags = mapped(found.tags, mapping)
        _strange(path, tags, found, parser, tell)
        return Text(found.words, tags, found.offsets)

    source, target = text(o["source"]), text(o["target"])
    links = read_pharaoh(o["alignments"], index_base=o["index_base"])
    if len(source) != len(target):
        problem = f"{len(target)} sentences, but {o['source']} has {len(source)}; both sides need equally many"
        raise DataError(o["target"], None, problem)
    if len(links) != len(source):
        raise DataError(o["alignments"], None, f"{len(links)} lines of links, but {len(source)} sentence pairs")
    lengths = np.diff(source.offsets), np.diff(target.offsets)
    check_range(links, *lengths, path=o["alignments"], index_base=o["index_base"])
    return source, target, links, None if o["unlabeled"] is None else text(o["unlabeled"])


def _strange(path, tags, text, parser, tell):
    """Tell of tags that the source parser never saw: it would see nothing."""
    kinds = list(dict.fromkeys(tags))
    strange = {tag for tag, n in zip(kinds, parser.lexicon.tags.ids(kinds).tolist(), strict=True) if n < 0}
    if not strange:
        return
    places = [k for k, tag in enumerate(tags) if tag in strange]
    sentence = int(np.searchsorted(text.offsets, places[0], side="right"))
    shown = " ".join(tag.decode("utf-8", "replace") for tag in sorted(strange)[:5])
    tell.say(
        f"warning: {path}: {len(places)} words have tags that the source parser never saw ({shown}; first in sentence"
        f" {sentence}); see --map"
    )
