"""``aligntools train-parser``: a dependency parser from a treebank."""

import json
import os
import sys

import click
import numpy as np

from aligntools.cli import options
from aligntools.ground.errors import DataError, UsageProblem

#: Ways to the 12 universal tags.
MAPS = click.Choice(["none", "upos", "penn"])


def model_options(function):
    """Add what all trainers of parsers take: features, trees, learning, progress."""
    for option in reversed((
        click.option("--features", type=click.Choice(["full", "prefixes", "delexicalized"]), default="full",
                     show_default=True, help="What edges are seen by: words and tags; word beginnings too; tags."),
        click.option("--non-projective", is_flag=True, help="Learn over all trees, with crossing edges too."),
        click.option("--any-root/--single-root", default=False, show_default=True,
                     help="Whether several words may be under the root."),
        click.option("--min-count", type=click.IntRange(1), default=2, show_default=True, metavar="N",
                     help="Rarer words are unknown ones."),
        click.option("--bits", type=click.IntRange(4, 24), default=19, show_default=True, metavar="N",
                     help="A feature template has at most 2^N weights."),
        click.option("--iterations", type=click.IntRange(1), default=100, show_default=True, metavar="N",
                     help="Steps of L-BFGS, at most."),
        click.option("--tolerance", type=click.FloatRange(0), default=1e-4, show_default=True, metavar="X",
                     help="Stop when a step gains relatively less."),
        click.option("--checkpoint", metavar="DIR",
                     help="Keep the state of the training there; the same command goes on from it."),
        click.option("--log-json", metavar="FILE", help="Also write figures of each step, one JSON line each."),
        options.threads, options.verbosity,
    )):  # fmt: skip
        function = option(function)
    return function


def column_options(function):
    """Add ``--column`` and ``--map``: where tags are, and what becomes of them."""
    function = click.option(
        "--map", "mapping", type=MAPS, default="none", show_default=True,
        help="Map tags to the 12 universal ones: from UPOS, or from the Penn Treebank's.",
    )(function)  # fmt: skip
    return click.option(
        "--column", default="upos", show_default=True, callback=options.tag_column, metavar="upos|xpos|N",
        help="Column of CoNLL with the tags.",
    )(function)  # fmt: skip


def mapped(tags, mapping):
    """Return tags as the parser sees them."""
    from aligntools.parsing.tagsets import universal

    return tags if mapping == "none" else universal(tags, mapping)


class Teller:
    """Says on standard error how training goes, and writes it to the log."""

    def __init__(self, quiet, verbose, log):
        self.quiet, self.verbose, self.log = quiet, verbose, log

    def step(self, number, objective, _weights=None, stage="train"):
        """Note a step of L-BFGS."""
        if self.verbose and not self.quiet:
            sys.stderr.write(f"{stage}, step {number}: objective {objective:.2f}\n")
        if self.log:
            figures = {"stage": stage, "step": number, "objective": objective}
            self.log.write((json.dumps(figures) + "\n").encode())

    def say(self, text):
        """Say something, unless quiet."""
        if not self.quiet:
            sys.stderr.write(text + "\n")

    def left_out(self, report, place):
        """Say what was not trained on; ``place`` names a sentence by its number from 0."""
        for counts, what in ((report.skipped, "left out"), (report.changed, "mended")):
            if counts:
                listed = ", ".join(f"{reason} {n}" for reason, n in counts.items())
                first = report.first_skipped if what == "left out" else None
                end = "" if first is None else f"; the first is {place(first)}"
                self.say(f"{sum(counts.values())} sentences {what}: {listed}{end}")


def checkpoint_of(folder):
    """Return the checkpoint that ``--checkpoint`` asks for, its folder made."""
    from aligntools.parsing.learning.checkpoints import Checkpoint

    if folder is None:
        return None
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise DataError(folder, None, f"cannot be made: {error.strerror or error}") from None
    return Checkpoint(folder)


def read_treebanks(paths, column, mapping):
    """Read trees of several files: words, tags, offsets, heads, labels (None if there are none), places."""
    from aligntools.formats.conll import COLUMNS, column_place, read_conll

    words, tags, labels, heads, offsets, places = [], [], [], [], [np.zeros(1, np.int64)], []
    for path in paths:
        conll = read_conll(path)
        own = conll.column(column_place(column))
        if own and set(own) == {b"_"}:
            raise DataError(path, None, "the column of the tags is _ in every line; try another --column, or tag it")
        words += conll.words
        tags += own
        labels += conll.column(COLUMNS["deprel"])
        heads.append(conll.heads())
        offsets.append(conll.offsets[1:] + offsets[-1][-1])
        places += [(path, n, line) for n, line in enumerate(conll.sentence_lines().tolist(), 1)]
    heads, offsets = np.concatenate(heads), np.concatenate(offsets)
    if len(heads) and np.all(heads < 0):
        raise DataError(paths[0], None, "has no heads; column 7 is _ in every line")
    return words, mapped(tags, mapping), offsets, heads, None if {*labels} <= {b"_"} else labels, places


@click.command("train-parser", context_settings=options.SETTINGS)
@click.option("--treebank", "treebanks", metavar="FILE", multiple=True, required=True,
              help="CoNLL-X or CoNLL-U with heads; may be given several times.")  # fmt: skip
@click.option("-m", "--model", required=True, metavar="FILE", help="The parser to write.")
@column_options
@click.option("--crossing", type=click.Choice(["skip", "lift"]), default="lift", show_default=True,
              help="Gold trees with crossing edges: leave out, or lift the edges.")  # fmt: skip
@click.option("--roots", type=click.Choice(["skip", "join"]), default="join", show_default=True,
              help="Gold trees with several roots: leave out, or put them under the first.")  # fmt: skip
@click.option("--min-length", type=click.IntRange(1), default=1, show_default=True, metavar="N",
              help="Leave out shorter sentences.")  # fmt: skip
@click.option("--max-length", type=click.IntRange(1), default=200, show_default=True, metavar="N",
              help="Leave out longer sentences.")  # fmt: skip
@click.option("--l2", type=click.FloatRange(0), default=5.0, show_default=True, metavar="X",
              help="Half of it times the squared weights is added to the objective.")  # fmt: skip
@click.option("--labels/--no-labels", default=True, show_default=True, help="Learn labels too, where there are any.")
@model_options
def command(treebanks, model, column, mapping, crossing, roots, min_length, max_length, l2, labels, features,
            non_projective, any_root, min_count, bits, iterations, tolerance, checkpoint, log_json, threads, quiet,
            verbose):  # fmt: skip
    """Train a dependency parser from a treebank, by maximum conditional likelihood.

    A log-linear model over trees, each edge by itself (McDonald, Crammer & Pereira 2005; Ma & Xia 2014), and labels.
    Sentences whose trees it cannot have are left out or mended, and counted.

    \b
    Example:
      aligntools train-parser -q --treebank data/samples/en.conllu -m /tmp/en.parser
      aligntools parse -m /tmp/en.parser data/samples/en.conllu
    """
    import contextlib
    from dataclasses import replace

    from aligntools.formats.files import writing
    from aligntools.ground.parallel import Pool
    from aligntools.parsing.learning.treebank import NoSentences, Settings, train

    if min_length > max_length:
        raise UsageProblem(f"--min-length {min_length} is above --max-length {max_length}: nothing is left")
    settings = Settings(
        features, bits, min_count, not non_projective, not any_root, crossing, roots, min_length, max_length, l2,
        iterations, tolerance, labels,
    )  # fmt: skip
    words, tags, offsets, heads, names, places = read_treebanks(treebanks, column, mapping)
    if names is None:
        settings = replace(settings, labels=False)

    def place(s):
        path, number, line = places[s]
        return f"{path}:{line} (sentence {number})"

    with contextlib.ExitStack() as stack:
        log = stack.enter_context(writing(log_json)) if log_json else None
        pool, tell = stack.enter_context(Pool(threads)), Teller(quiet, verbose, log)
        try:
            parser, report = train(
                words, tags, offsets, heads, names, settings, pool, tell.step, checkpoint_of(checkpoint)
            )
        except NoSentences:
            raise DataError(treebanks[0], None, "no sentence can be trained on; is it a treebank, and do --min-length,"
                            " --max-length, --crossing and --roots leave any?") from None  # fmt: skip
        parser.settings |= {"column": column, "map": mapping}
        parser.save(model)
    tell.left_out(report, place)
    used = int(np.count_nonzero(parser.weights))
    tell.say(
        f"{report.sentences} sentences, {report.words} words, {used} features; objective {report.fit.values[-1]:.1f}"
        f" after {len(report.fit.values) - 1} steps ({report.fit.message})"
    )
