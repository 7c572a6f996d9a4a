"""``aligntools tag``: a tagger applied to text, as it comes."""

import sys
import time

import click

from aligntools.cli import notices, options, serving


@click.command("tag", cls=options.Command)
@click.argument("texts", metavar="[TEXT]...", nargs=-1)
@options.group(
    "Common options",
    click.option("-m", "--model", required=True, metavar="FILE", help="Tagger from train-hmm."),
    options.output,
    click.option("--to", type=click.Choice(["same", "tagged", "conll"]), default="same", show_default=True,
                 help="Write word_TAG lines or CoNLL; same: CoNLL for CoNLL, word_TAG lines for plain text."),
)  # fmt: skip
@options.group(
    "Input and output",
    click.option("--format", type=click.Choice(["auto", "text", "conll"]), default="auto", show_default=True,
                 help="Format of TEXT: plain text, one sentence per line, or CoNLL; auto looks at its first lines."),
    click.option("--column", type=options.Column(), metavar="upos|xpos|N",
                 help="Column of CoNLL that gets the tags.  [default: the one that the tagger learned]"),
    click.option("--separator", default="_", show_default=True, callback=options.tag_separator, metavar="TEXT",
                 help="Separator between word and tag in word_TAG lines."),
    click.option("--keep", type=options.Column(), multiple=True, metavar="upos|xpos|feats",
                 help="Leave this column of CoNLL as it is, where UPOS, XPOS and FEATS are emptied otherwise. May be"
                      " given several times."),
    serving.unbuffered,
)  # fmt: skip
@options.group(
    "Decisions",
    click.option("--posterior/--viterbi", default=True, show_default=True,
                 help="Give each word its most probable tag, or each sentence its most probable sequence of tags."),
)  # fmt: skip
@options.group("Resources and messages", options.verify, options.threads, options.verbosity)
def command(
    texts, model, output, to, format, column, separator, keep, unbuffered, posterior, verify, threads, quiet, verbose
):
    """Tag text: one line out per line in, or CoNLL with one column filled in.

    Of CoNLL's other columns, those that say more of the tag are emptied (XPOS and FEATS beside new UPOS), since they
    were not predicted; all else is unchanged.

    Reads standard input if no TEXT is given, and writes while it reads. Words are separated by spaces.

    \b
    Example:
      aligntools train-hmm -q --tagged data/samples/en.tagged -o /tmp/en.tagger
      aligntools tag -m /tmp/en.tagger data/samples/en.txt
    """
    from aligntools.api.tagging import PART, Tagger
    from aligntools.api.threads import pool_of
    from aligntools.formats import files
    from aligntools.formats.conll import column_place
    from aligntools.formats.requests import stream_requests
    from aligntools.formats.tagged import stream_sentences

    tagger = Tagger.load(model, verify=verify)
    column = tagger.column if column is None else column
    for name in (column, *keep):
        column_place(name)
    began, words, turned, unanswered = time.perf_counter(), 0, 0, serving.Unanswered()

    def tagged(text):
        nonlocal words, turned
        decoder = "posterior" if posterior else "viterbi"
        found = tagger.tag_text(text, decoder=decoder, threads=pool, remember=not unbuffered)
        words += len(found.ids)
        turned += found.turned
        return found.format(to, column, separator, keep)

    with pool_of(threads) as pool, files.writing(output) as out, serving.until_terminated(unbuffered):
        for path in texts or ("-",):
            if unbuffered:
                serving.answer(stream_requests(path, format), path, tagged, out, unanswered)
                continue
            for part in stream_sentences(path, format, PART):
                out.write(tagged(part))
                out.flush()
        if not quiet:
            unanswered.tell()
            notices.tell_turned(turned, "tagger")
    if verbose and not quiet:
        seconds = time.perf_counter() - began
        sys.stderr.write(f"{words} words in {seconds:.1f} s ({words / max(seconds, 1e-9):.0f} words/s)\n")
