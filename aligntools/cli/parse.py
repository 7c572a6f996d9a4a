"""``aligntools parse``: a parser applied to text with tags."""

import sys
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from aligntools import ParserDecisions, ParserReading, Run
from aligntools.cli import declared, engine_options, options, reporting, serving
from aligntools.cli.flags import on_command_line, renamed

if TYPE_CHECKING:
    from aligntools import Parser
    from aligntools.api.given.annotated import Parsed
    from aligntools.api.parse.parsing import Parses
    from aligntools.ground.parallel import Pool

#: Unknown tags that the warning names.
SHOWN = 5


@click.command("parse", cls=options.Command, renamed=renamed(ParserDecisions))
@click.argument("texts", metavar="[TEXT]...", nargs=-1)
@options.group(
    "Common options",
    click.option("-m", "--model", required=True, metavar="FILE", help="Parser from train-parser or transfer-parse."),
    options.output,
    declared.group(ParserDecisions, "labels"),
)
@options.group(
    "Input",
    declared.option(ParserReading, "format", choices=("auto", "conll", "tagged")),
    declared.group(ParserReading, "column", "predicted_columns", "map", "separator"),
    serving.unbuffered,
)
@declared.group(ParserDecisions, without=("labels",))
@engine_options.group
@options.group("Resources and messages", options.verify, options.threads, options.verbosity)
def command(**o: Any) -> None:
    """Parse text with tags: CoNLL with heads and labels filled in and all else unchanged.

    A parser without labels writes _ in DEPREL, and root at roots. An enhanced graph in DEPS is replaced by the edges of
    the new tree, and empty nodes stay; without one DEPS is emptied. Reads standard input if no TEXT is given, and
    writes while it reads. word_TAG lines become CoNLL. Every sentence of the input is in the output.

    \b
    Example:
      aligntools train-parser -q --treebank data/samples/en.conllu -o /tmp/en.parser
      aligntools parse -m /tmp/en.parser data/samples/en.tagged
    """
    from aligntools.api.given.streams import column_place, stream_requests, stream_tags
    from aligntools.api.parse.parsing import PART, Parser
    from aligntools.api.running.annotating_blocks import annotated, parts_of, turned_note
    from aligntools.api.running.answering import Unanswered, answer, check_unbuffered
    from aligntools.api.running.threads import pool_of
    from aligntools.formats.opening import files

    run, quiet, texts = declared.settings(Run, o), o["quiet"], o["texts"] or ("-",)
    check_unbuffered(o["unbuffered"], run)
    reading, decisions = declared.settings(ParserReading, o), declared.settings(ParserDecisions, o)
    parser = Parser.load(o["model"], verify=o["verify"])
    column_place(parser.column if reading.column is None else reading.column)
    if decisions.projective is False and parser.projective and not (parser.unsupervised or quiet):
        problem = (
            "the parser was trained on projective trees; among all trees it finds worse ones (train it with"
            " `projective=False` for them)"
        )
        sys.stderr.write(f"warning: {on_command_line(problem)}\n")
    lines = reporting.Lines(not quiet)
    notes, began, words, done, unanswered = Notes(), time.perf_counter(), 0, 0, Unanswered()
    parse = partial(_parse, decisions, reading)

    def take(path: str, before: int, found: "tuple[bytes, int, Note]") -> bytes:
        nonlocal words
        written, own, note = found
        notes.take(path, before, note)
        words += own
        return written

    def answered(text: "Parsed") -> bytes:
        nonlocal done
        done += len(text)
        return take(path, done - len(text), parse(parser, text, pool))

    with (
        pool_of(run.threads) as pool,
        files.writing(o["output"]) as out,
        serving.until_terminated(o["unbuffered"]),
        engine_options.mapping(run, pool, quiet) as blocks,
    ):
        if o["unbuffered"]:
            for path in texts:
                done = 0
                requests = stream_requests(path, reading.format, reading.mark, tags=True)
                answer(requests, path, answered, out, unanswered)
        else:
            parts = parts_of(texts, lambda path: stream_tags(path, reading.format, reading.mark, PART))
            for path, before, found in annotated(parts, parser, parse, pool, blocks):
                out.write(take(path, before, found))
                out.flush()
                lines.tell(f"{words} words parsed")
        if not quiet:
            for line in (unanswered.summary(), turned_note(notes.turned, "parser")):
                if line:
                    reporting.say(line)
            notes.tell()
    if o["verbose"] and not quiet:
        seconds = time.perf_counter() - began
        sys.stderr.write(f"{words} words in {seconds:.1f} s ({words / max(seconds, 1e-9):.0f} words/s)\n")


def _parse(
    decisions: ParserDecisions, reading: ParserReading, parser: "Parser", text: "Parsed", pool: "Pool"
) -> "tuple[bytes, int, Note]":
    """Return a part of a text with its trees, how many words it has, and what is noted of it."""
    found = parser.parse_text(text, decisions, reading=reading, run=Run(threads=pool))
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
    def of(cls, found: "Parses") -> "Note":
        """Note a part."""
        flat, unknown = np.flatnonzero(found.flat), np.flatnonzero(found.unknown_tags)
        sentences = np.searchsorted(found.source.offsets, unknown[:1], side="right").tolist()
        return cls(
            len(flat),
            int(flat[0]) if len(flat) else None,
            len(unknown),
            sentences[0] - 1 if sentences else None,
            dict.fromkeys(found.mapped_tags[k] for k in unknown.tolist()),
            found.turned,
        )


class Notes:
    """Sentences that were not parsed, and words with unknown tags: their number, and the first sentence of them."""

    def __init__(self) -> None:
        self.flat = self.unknown = self.turned = 0
        self.first_flat: str | None = None
        self.first_unknown: str | None = None
        self.tags: dict[bytes, None] = {}  # the first few tags: there may be ever more

    def take(self, path: str, before: int, note: Note) -> None:
        """Add what is noted of a part of a text that has ``before`` sentences before it."""
        self.turned += note.turned
        if note.first_flat is not None:
            self.flat += note.flat
            self.first_flat = self.first_flat or f"{path}, sentence {before + note.first_flat + 1}"
        if note.first_unknown is not None:
            self.unknown += note.unknown
            if len(self.tags) < SHOWN:
                self.tags |= note.tags
            self.first_unknown = self.first_unknown or f"{path}, sentence {before + note.first_unknown + 1}"

    def tell(self) -> None:
        """Write the notes to standard error."""
        if self.flat:
            sys.stderr.write(f"warning: {self.flat} sentences over --max-length have flat trees ({self.first_flat})\n")
        if self.unknown:
            shown = " ".join(tag.decode("utf-8", "replace") for tag in list(self.tags)[:SHOWN])
            sys.stderr.write(
                f"warning: {self.unknown} words have tags that the parser has never seen ({shown}; first in"
                f" {self.first_unknown}); see --column and --map\n"
            )
