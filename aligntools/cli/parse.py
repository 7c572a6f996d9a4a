"""``aligntools parse``: a parser applied to text with tags, as it comes."""

import sys
import time

import click
import numpy as np

from aligntools.cli import options

#: Sentences worked at a time.
PART = 2000


@click.command("parse", context_settings=options.SETTINGS)
@click.argument("texts", metavar="[TEXT]...", nargs=-1)
@click.option("-m", "--model", required=True, metavar="FILE", help="Parser from train-parser or transfer-parse.")
@options.output
@click.option("--projective/--non-projective", default=None,
              help="Which trees to choose from.  [default: those that the parser learned over]")  # fmt: skip
@click.option("--any-root/--single-root", default=None,
              help="Whether several words may be under the root.  [default: as the parser learned]")  # fmt: skip
@click.option("--max-length", type=click.IntRange(1), default=1000, show_default=True, metavar="N",
              help="Longer sentences get a flat tree, and are counted.")  # fmt: skip
@click.option("--labels/--no-labels", default=True, show_default=True,
              help="Write labels too, where the parser learned any.")  # fmt: skip
@click.option("--format", type=click.Choice(["auto", "conll", "tagged"]), default="auto", show_default=True,
              help="What TEXT is: CoNLL, or word_TAG lines.")  # fmt: skip
@click.option("--column", callback=options.tag_column, metavar="upos|xpos|N",
              help="Column of CoNLL with the tags.  [default: the one the parser learned from]")  # fmt: skip
@click.option("--map", "mapping", type=click.Choice(["none", "upos", "penn"]),
              help="Map tags to the 12 universal ones for parsing; they are written as they were."
                   "  [default: as the parser learned]")  # fmt: skip
@click.option("--separator", callback=options.tag_separator, metavar="TEXT",
              help="Between word and tag; found out unless given ('_' or '/').")  # fmt: skip
@options.threads
@options.verbosity
def command(texts, model, output, projective, any_root, max_length, labels, format, column, mapping, separator,
            threads, quiet, verbose):  # fmt: skip
    """Parse text with tags: CoNLL with heads and labels filled in, and all else as it was.

    Reads standard input where no TEXT is given, and writes as it goes. word_TAG lines become CoNLL. Every sentence
    of the input is in the output.

    \b
    Example:
      aligntools train-parser -q --treebank data/samples/en.conllu -m /tmp/en.parser
      aligntools parse -m /tmp/en.parser data/samples/en.tagged
    """
    from dataclasses import replace

    from aligntools.cli.train_parser import mapped
    from aligntools.formats import files
    from aligntools.formats.conll import COLUMNS, Conll, column_place, format_conll
    from aligntools.formats.tagged import stream_tags
    from aligntools.ground.parallel import Pool
    from aligntools.parsing.parser import Parser

    parser = Parser.load(model)
    trees = parser.trees
    if projective is not None:
        trees = replace(trees, projective=projective)
    if any_root is not None:
        trees = replace(trees, single_root=not any_root)
    place = column_place(column or parser.settings.get("column", "upos"))
    mapping = mapping or parser.settings.get("map", "none")
    notes, began, words = Notes(parser), time.perf_counter(), 0
    with Pool(threads) as pool, files.writing(output) as out:
        for path in texts or ("-",):
            done = 0
            for part in stream_tags(path, format, separator, PART):
                conll = isinstance(part, Conll)
                given = part.column(place) if conll else part.tags
                tags = mapped(given, mapping)
                sentences = parser.sentences(part.words, tags, part.offsets)
                found = parser.parse(sentences, pool, trees, max_length)
                columns = {COLUMNS["head"]: [b"%d" % head for head in found.heads.tolist()]}
                if labels and parser.labeler is not None:
                    columns[COLUMNS["deprel"]] = parser.labeler.label(sentences, found.heads)
                if conll:
                    out.write(part.format(columns))
                else:
                    out.write(format_conll(part.words, part.offsets, columns | {COLUMNS["upos"]: given}))
                out.flush()
                notes.take(path, done, part, tags, found)
                done += len(part)
                words += len(part.words)
    if not quiet:
        notes.tell()
    if verbose and not quiet:
        seconds = time.perf_counter() - began
        sys.stderr.write(f"{words} words in {seconds:.1f} s ({words / max(seconds, 1e-9):.0f} words/s)\n")


class Notes:
    """What was not parsed as it should be: counted, and told with the first sentence's number."""

    def __init__(self, parser):
        self.known = parser.lexicon.tags
        self.flat, self.tags, self.first_flat, self.first_tag = 0, {}, None, None

    def take(self, path, before, part, tags, found):
        """Note a part of a text of which ``before`` sentences were there before."""
        flat = np.flatnonzero(found.flat)
        if len(flat):
            self.first_flat = self.first_flat or f"{path}, sentence {before + int(flat[0]) + 1}"
            self.flat += len(flat)
        kinds = list(dict.fromkeys(tags))
        strange = {tag for tag, n in zip(kinds, self.known.ids(kinds).tolist(), strict=True) if n < 0}
        for k, tag in enumerate(tags) if strange else ():
            if tag in strange:
                self.tags[tag] = self.tags.get(tag, 0) + 1
                s = int(np.searchsorted(part.offsets, k, side="right"))
                self.first_tag = self.first_tag or f"{path}, sentence {before + s}"

    def tell(self):
        """Say it on standard error."""
        if self.flat:
            sys.stderr.write(f"warning: {self.flat} sentences over --max-length have flat trees ({self.first_flat})\n")
        if self.tags:
            shown = " ".join(tag.decode("utf-8", "replace") for tag in list(self.tags)[:5])
            sys.stderr.write(
                f"warning: {sum(self.tags.values())} words have tags that the parser never saw ({shown}; first in"
                f" {self.first_tag}); see --column and --map\n"
            )
