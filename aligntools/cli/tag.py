"""``aligntools tag``: a tagger applied to text, as it comes."""

import sys
import time

import click

from aligntools.cli import options

#: Sentences worked at a time.
PART = 4000


@click.command("tag", context_settings=options.SETTINGS)
@click.argument("texts", metavar="[TEXT]...", nargs=-1)
@click.option("-m", "--model", required=True, metavar="FILE", help="Tagger from train-hmm.")
@options.output
@click.option("--posterior/--viterbi", default=True, show_default=True,
              help="Each word's most probable tag, or the most probable tags of a sentence.")  # fmt: skip
@click.option("--format", type=click.Choice(["auto", "text", "conll"]), default="auto", show_default=True,
              help="What TEXT is: a sentence a line, or CoNLL.")  # fmt: skip
@click.option("--to", type=click.Choice(["same", "tagged", "conll"]), default="same", show_default=True,
              help="What is written; same: word_TAG for text, CoNLL for CoNLL.")  # fmt: skip
@click.option("--column", callback=options.tag_column, metavar="upos|xpos|N",
              help="Column of CoNLL that gets the tags.  [default: the one the tagger learned]")  # fmt: skip
@click.option("--separator", default="_", show_default=True, callback=options.tag_separator, metavar="TEXT",
              help="Between word and tag.")  # fmt: skip
@options.threads
@options.verbosity
def command(texts, model, output, posterior, format, to, column, separator, threads, quiet, verbose):
    """Tag text: a line out for each line in, or CoNLL with one column filled and all else as it was.

    Reads standard input where no TEXT is given, and writes as it goes. Words are what stands between spaces.

    \b
    Example:
      aligntools train-hmm -q --tagged data/samples/en.tagged -m /tmp/en.tagger
      aligntools tag -m /tmp/en.tagger data/samples/en.txt
    """
    from aligntools.formats import files, tagged
    from aligntools.formats.conll import Conll, column_place, format_conll
    from aligntools.ground.parallel import Pool
    from aligntools.tagging.tagger import Tagger

    tagger = Tagger.load(model)
    names = [name.encode("utf-8", "surrogateescape") for name in tagger.tags]
    place = column_place(column or tagger.settings.get("column", "upos"))
    decoder = "posterior" if posterior else "viterbi"
    began, words = time.perf_counter(), 0
    with Pool(threads) as pool, files.writing(output) as out:
        for path in texts or ("-",):
            for part in tagged.stream_sentences(path, format, PART):
                found = [names[n] for n in tagger.tag(part.words, part.offsets, pool, decoder)[0]]
                words += len(found)
                conll = isinstance(part, Conll)
                if to == "tagged" or (to == "same" and not conll):
                    text = tagged.format_tagged(part.words, part.offsets, found, separator)
                elif conll:
                    text = part.format({place: found})
                else:
                    text = format_conll(part.words, part.offsets, {place: found})
                out.write(text)
                out.flush()
    if verbose and not quiet:
        seconds = time.perf_counter() - began
        sys.stderr.write(f"{words} words in {seconds:.1f} s ({words / max(seconds, 1e-9):.0f} words/s)\n")
