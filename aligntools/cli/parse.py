"""``aligntools parse``: a parser applied to text with tags, as it comes."""

import sys
import time
from dataclasses import dataclass
from functools import partial

import click
import numpy as np

from aligntools.cli import engine_options, kinds, notices, options, reporting, serving, training
from aligntools.parsing.settings import LONGEST, LONGEST_RANGE, MAPS

#: Unknown tags that the warning names.
SHOWN = 5


@click.command("parse", cls=options.Command)
@click.argument("texts", metavar="[TEXT]...", nargs=-1)
@options.group(
    "Common options",
    click.option("-m", "--model", required=True, metavar="FILE", help="Parser from train-parser or transfer-parse."),
    options.output,
    click.option("--labels/--no-labels", default=True, show_default=True,
                 help="Write labels too, where the parser has learned any."),
)  # fmt: skip
@options.group(
    "Input",
    click.option("--format", type=click.Choice(["auto", "conll", "tagged"]), default="auto", show_default=True,
                 help="Format of TEXT: CoNLL or word_TAG lines; auto looks at its first line."),
    click.option("--column", type=kinds.Column(), metavar="upos|xpos|N",
                 help="Column of CoNLL with the tags.  [default: the one that the parser learned from]"),
    click.option("--map", type=click.Choice(MAPS),
                 help="Map tags to the 12 universal ones for parsing; they are written unchanged."
                      "  [default: as in training]"),
    training.separator,
    serving.unbuffered,
)  # fmt: skip
@options.group(
    "Trees",
    click.option("--projective/--non-projective", default=None,
                 help="Choose from trees without crossing edges, or from all trees.  [default: as in training]"),
    click.option("--any-root/--single-root", default=None,
                 help="Whether several words may be under the root.  [default: as in training]"),
    click.option("--max-length", type=options.number(LONGEST_RANGE), default=LONGEST, show_default=True, metavar="N",
                 help="Longer sentences get a flat tree, and are counted."),
)  # fmt: skip
@engine_options.group
@options.group("Resources and messages", options.verify, options.threads, options.verbosity)
def command(
    texts, model, output, format, column, separator, unbuffered, verify, threads, quiet, verbose, tmpdir, workers,
    cluster, cluster_file, **decisions,
):  # fmt: skip
    """Parse text with tags: CoNLL with heads and labels filled in and all else unchanged.

    DEPREL of a parser without labels is _ (root at roots). DEPS belongs to other heads: where it was an enhanced graph,
    the tree's edges take its place, and empty nodes stay; elsewhere it is emptied. Reads standard input if no TEXT is
    given, and writes while it reads. word_TAG lines become CoNLL. Every sentence of the input is in the output.

    \b
    Example:
      aligntools train-parser -q --treebank data/samples/en.conllu -o /tmp/en.parser
      aligntools parse -m /tmp/en.parser data/samples/en.tagged
    """
    from aligntools.api.parse.parsing import PART, Parser
    from aligntools.api.running.annotating_blocks import annotated, parts_of
    from aligntools.api.running.threads import pool_of
    from aligntools.formats.annotation.conll import column_place
    from aligntools.formats.annotation.tagged import stream_tags
    from aligntools.formats.opening import files
    from aligntools.formats.text.requests import stream_requests

    run = engine_options.run_of(
        {"workers": workers, "cluster": cluster, "cluster_file": cluster_file, "tmpdir": tmpdir}
    )
    engine_options.check_unbuffered(unbuffered, run)
    parser = Parser.load(model, verify=verify)
    column = parser.column if column is None else column
    column_place(column)
    if decisions["projective"] is False and parser.projective and not (parser.unsupervised or quiet):
        sys.stderr.write(
            "warning: the parser was trained on projective trees; among all trees it finds worse ones (train it with"
            " --non-projective for them)\n"
        )
    lines = reporting.Lines(not quiet)
    notes, began, words, unanswered = Notes(), time.perf_counter(), 0, serving.Unanswered()

    how = {"column": column, **decisions}

    def take(path, before, found):
        nonlocal words
        written, own, note = found
        notes.take(path, before, note)
        words += own
        return written

    def answered(text):
        nonlocal done
        done += len(text)
        return take(path, done - len(text), _parse(how, parser, text, pool))

    with (
        pool_of(threads) as pool,
        files.writing(output) as out,
        serving.until_terminated(unbuffered),
        engine_options.mapping(run, pool, quiet) as blocks,
    ):
        if unbuffered:
            for path in texts or ("-",):
                done = 0
                requests = stream_requests(path, format, separator, tags=True)
                serving.answer(requests, path, answered, out, unanswered)
        else:
            parts = parts_of(texts or ("-",), lambda path: stream_tags(path, format, separator, PART))
            for path, before, found in annotated(parts, parser, partial(_parse, how), pool, blocks):
                out.write(take(path, before, found))
                out.flush()
                lines.tell(f"{words} words parsed")
        if not quiet:
            unanswered.tell()
            notes.tell()
    if verbose and not quiet:
        seconds = time.perf_counter() - began
        sys.stderr.write(f"{words} words in {seconds:.1f} s ({words / max(seconds, 1e-9):.0f} words/s)\n")


def _parse(how, parser, text, pool):
    """Return a part of a text with its trees, how many words it has, and what is noted of it."""
    found = parser.parse_text(text, **how, threads=pool)
    return found.format(), len(found.heads), Note.of(found)


@dataclass(frozen=True)
class Note:
    """What is noted of a part: sentences that were not parsed and words with unknown tags, the first of each by number.

    Attributes
    ----------
    flat, unknown, turned : int
    first_flat, first_unknown : int or None
        Sentences, from 0.
    tags : dict of bytes to None
        The unknown ones, in order.
    """

    flat: int
    first_flat: int | None
    unknown: int
    first_unknown: int | None
    tags: dict[bytes, None]
    turned: int

    @classmethod
    def of(cls, found):
        """Note a part."""
        flat, unknown = np.flatnonzero(found.flat), np.flatnonzero(found.unknown_tags)
        sentences = np.searchsorted(found.source.offsets, unknown[:1], side="right").tolist()
        return cls(
            len(flat), int(flat[0]) if len(flat) else None, len(unknown), sentences[0] - 1 if sentences else None,
            dict.fromkeys(found.mapped_tags[k] for k in unknown.tolist()), found.turned,
        )  # fmt: skip


class Notes:
    """Sentences that were not parsed, and words with unknown tags: their number, and the first sentence of them."""

    def __init__(self):
        self.flat, self.first_flat = 0, None
        self.unknown, self.tags, self.first_unknown = 0, {}, None  # the first few tags: there may be ever more
        self.turned = 0

    def take(self, path, before, note):
        """Add what is noted of a part of a text that has ``before`` sentences before it."""
        self.turned += note.turned
        if note.flat:
            self.flat += note.flat
            self.first_flat = self.first_flat or f"{path}, sentence {before + note.first_flat + 1}"
        if note.unknown:
            self.unknown += note.unknown
            if len(self.tags) < SHOWN:
                self.tags |= note.tags
            self.first_unknown = self.first_unknown or f"{path}, sentence {before + note.first_unknown + 1}"

    def tell(self):
        """Write the notes to standard error."""
        notices.tell_turned(self.turned, "parser")
        if self.flat:
            sys.stderr.write(f"warning: {self.flat} sentences over --max-length have flat trees ({self.first_flat})\n")
        if self.unknown:
            shown = " ".join(tag.decode("utf-8", "replace") for tag in list(self.tags)[:SHOWN])
            sys.stderr.write(
                f"warning: {self.unknown} words have tags that the parser has never seen ({shown}; first in"
                f" {self.first_unknown}); see --column and --map\n"
            )
