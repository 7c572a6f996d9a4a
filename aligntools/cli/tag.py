"""``aligntools tag``: a tagger applied to text, as it comes."""

import math
import sys
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

import click

from aligntools.cli import engine_options, kinds, notices, options, reporting, serving
from aligntools.cli.alignment_options import given
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import counts as at_least

#: Sequences of tags of each sentence.
SEQUENCES = at_least(1, 100_000)
#: Where raw text has its sentences; `aligntools.formats.annotation.raw_text` has them, too.
SENTENCES = ("split", "lines")


@click.command("tag", cls=options.Command)
@click.argument("texts", metavar="[TEXT]...", nargs=-1)
@options.group(
    "Common options",
    click.option("-m", "--model", required=True, metavar="FILE", help="Tagger from train-tagger (or train-hmm)."),
    options.output,
    click.option("--to", type=click.Choice(["same", "tagged", "conll"]), default="same", show_default=True,
                 help="Write word_TAG lines or CoNLL; same: CoNLL for CoNLL, word_TAG lines for plain text."),
)  # fmt: skip
@options.group(
    "Input and output",
    click.option("--format", type=click.Choice(["auto", "text", "conll"]), default="auto", show_default=True,
                 help="Format of TEXT: plain text, one sentence per line, or CoNLL; auto looks at its first lines."),
    click.option("--column", type=kinds.Column(), metavar="upos|xpos|N",
                 help="Column of CoNLL that gets the tags.  [default: the one that the tagger learned]"),
    click.option("--separator", default="_", show_default=True, callback=options.tag_separator, metavar="TEXT",
                 help="Separator between word and tag in word_TAG lines."),
    click.option("--keep", type=kinds.Column(), multiple=True, metavar="upos|xpos|feats",
                 help="Leave this column of CoNLL as it is, where UPOS, XPOS and FEATS are emptied otherwise. May be"
                      " given several times."),
    click.option("--save-classes", metavar="FILE", type=options.WRITTEN,
                 help="Also write each word with each of its tags and how often it got it, between tabs."),
    serving.unbuffered,
)  # fmt: skip
@options.group(
    "Raw text",
    click.option("--tokenize", is_flag=True,
                 help="TEXT is raw: find its sentences and words, and write CoNLL that says where its spaces are"
                      " (needs aligntools[tokenize])."),
    options.tokenizer,
    click.option("--language", metavar="CODE", default="en", show_default=True,
                 help="Language of raw text, such as fr, whose rules find sentences and words."),
    click.option("--split", is_flag=True,
                 help="Write CoNLL with tokens of several words split, au into à le, as the treebank has them; for"
                      " taggers of train-hmm --tokens surface."),
    click.option("--sentences", type=click.Choice(SENTENCES), default="split", show_default=True,
                 help="Split raw text into sentences, or take each of its lines for one."),
)  # fmt: skip
@options.group(
    "Decisions",
    click.option("--posterior/--viterbi", default=True, show_default=True,
                 help="Give each word its most probable tag, or each sentence its most probable sequence of tags."),
)  # fmt: skip
@options.group(
    "Probabilities",
    click.option("--n-best", type=options.number(SEQUENCES), metavar="N",
                 help="Write the N most probable sequences of tags of each sentence: its number, the tags and"
                      " ln p(x, z), ' ||| ' between them. Exact with one state a tag and one model."),
    click.option("--samples", type=options.number(SEQUENCES), metavar="N",
                 help="Write N sequences of tags of each sentence, drawn from p(z|x), in the same format."),
    click.option("--scores", metavar="FILE", type=options.WRITTEN,
                 help="Also write ln p(x) of each sentence, summed over its tags, one per line."),
    click.option("--posteriors", metavar="FILE", type=options.WRITTEN,
                 help="Also write the probability of every tag of every word: a line for each word, word and"
                      " tag:probability between tabs, and a blank line after each sentence."),
)  # fmt: skip
@engine_options.group
@options.group("Resources and messages", options.verify, options.seed, options.threads, options.verbosity)
def command(
    texts, model, output, to, format, column, separator, keep, save_classes, unbuffered, tokenize, tokenizer, language,
    split, sentences, posterior, n_best, samples, scores, posteriors, verify, seed, threads, quiet, verbose, **where,
):  # fmt: skip
    """Tag text: one line out per line in, or CoNLL with one column filled in.

    Of CoNLL's other columns, those that say more of the tag are emptied (XPOS and FEATS beside new UPOS), since they
    were not predicted; all else is unchanged.

    Reads standard input if no TEXT is given, and writes while it reads. Words are separated by spaces; text as people
    write it wants --tokenize, whose output `aligntools conll --to raw` turns into the same text again.

    \b
    Example:
      aligntools train-tagger -q --tagged data/samples/en.tagged -o /tmp/en.tagger
      aligntools tag -m /tmp/en.tagger data/samples/en.txt
    """
    from aligntools.api.running.annotating_blocks import annotated, parts_of
    from aligntools.api.running.threads import pool_of
    from aligntools.api.tag.tagging import PART, Tagger
    from aligntools.api.tag.word_classes import Counts, list_of
    from aligntools.formats.annotation.conll import column_place
    from aligntools.formats.annotation.raw_text import stream_raw
    from aligntools.formats.annotation.tag_lists import format_sequences
    from aligntools.formats.annotation.tagged import stream_sentences
    from aligntools.formats.opening import files
    from aligntools.formats.text.requests import stream_requests

    _check(unbuffered, tokenize, format)
    wanted = _Wanted(n_best or 0, samples or 0, seed, scores is not None, posteriors is not None)
    run = engine_options.run_of(where)
    engine_options.check_unbuffered(unbuffered, run)
    wanted.check(unbuffered, run.asked)
    tagger = Tagger.load(model, verify=verify)
    column = tagger.column if column is None else column
    for name in (column, *keep):
        column_place(name)
    lines = reporting.Lines(not quiet)
    began, words, turned, unanswered = time.perf_counter(), 0, 0, serving.Unanswered()

    if split and tagger.model.splitter is None:
        raise UsageProblem(f"{model}: --split is for taggers of train-hmm --tokens surface, which this one is not")
    decoder = {"decoder": "posterior" if posterior else "viterbi"}
    how = decoder, split, (to, column, separator, keep), save_classes is not None, wanted
    counts: Counts = Counter()
    number, total = 0, Counter()

    def take(found):
        nonlocal words, turned, number
        written, *figures, more = found
        words, turned = words + figures[0], turned + figures[1]
        counts.update(figures[2])
        if more.lists is not None:
            written = format_sequences(number, more.lists)
        for file, lines in zip(also, (more.scores, more.posteriors), strict=True):
            if file is not None:
                file.write(lines)
        number += more.sentences
        total.update(more.figures)
        return written

    def answered(text):
        return take(_tag({**how[0], "remember": False}, *how[1:], tagger, text, pool))

    with (
        pool_of(threads) as pool,
        files.writing(output) as out,
        ExitStack() as stack,
        serving.until_terminated(unbuffered),
        engine_options.mapping(run, pool, quiet) as blocks,
    ):
        also = [stack.enter_context(files.writing(path)) if path else None for path in (scores, posteriors)]
        if unbuffered:
            for path in texts or ("-",):
                serving.answer(stream_requests(path, format), path, answered, out, unanswered)
        else:
            if tokenize:
                read = partial(stream_raw, language=language, sentences=sentences, most=PART, name=tokenizer)
            else:
                read = partial(stream_sentences, format=format, sentences=PART)
            parts = parts_of(texts or ("-",), read)
            annotate = partial(_tag, *how) if blocks is not None else _numbered(how, lambda: number)
            for _, _, found in annotated(parts, tagger, annotate, pool, blocks):
                out.write(take(found))
                out.flush()
                lines.tell(f"{words} words tagged")
        if save_classes:
            list_of(counts).save(save_classes)
        if not quiet:
            unanswered.tell()
            notices.tell_turned(turned, "tagger")
            if scores:
                sys.stderr.write(_likelihood(total))
    if verbose and not quiet:
        seconds = time.perf_counter() - began
        sys.stderr.write(f"{words} words in {seconds:.1f} s ({words / max(seconds, 1e-9):.0f} words/s)\n")


def _check(unbuffered, tokenize, format):
    """Refuse options that do not go together."""
    if tokenize and (unbuffered or format == "conll"):
        other = "--unbuffered" if unbuffered else "--format conll"
        raise UsageProblem(f"--tokenize does not go with {other}")
    if not tokenize and (others := sorted(given() & {"language", "sentences", "tokenizer"})):
        raise UsageProblem(f"--{others[0]} goes with --tokenize")


@dataclass(frozen=True)
class _Wanted:
    """What is asked for beside the tags."""

    n_best: int
    samples: int
    seed: int
    scores: bool
    posteriors: bool

    def check(self, unbuffered, workers):
        """Refuse what does not go together."""
        if self.n_best and self.samples:
            raise UsageProblem("--n-best and --samples exclude each other")
        lists = "--n-best" if self.n_best else "--samples" if self.samples else None
        if unbuffered and (lists or self.scores or self.posteriors):
            raise UsageProblem(
                "--unbuffered answers a line with a line; leave out --n-best, --samples, --scores and --posteriors"
            )
        if self.samples and workers:
            raise UsageProblem("--samples are drawn by the number of the sentence; leave out --workers and --cluster")
        if not self.samples and "seed" in given():
            raise UsageProblem("--seed goes with --samples")
        others = {"to", "column", "separator", "keep", "split", "posterior"} & given()
        if lists and others:
            flag = {"posterior": "posterior and --viterbi"}.get(min(others), min(others))
            raise UsageProblem(f"{lists} writes sequences of tags; leave out --{flag}")


@dataclass(frozen=True)
class _More:
    """What a part has beside its tags."""

    sentences: int
    lists: list | None = None
    scores: bytes = b""
    posteriors: bytes = b""
    figures: dict | None = None


def _numbered(how, number):
    """Return `_tag` for parts that come one after the other, with the number of each part's first sentence."""

    def tag(tagger, text, pool):
        return _tag(*how, tagger, text, pool, number())

    return tag


def _tag(how, split, writing, counting, wanted, tagger, text, pool, first=0):
    """Return a part of a text with its tags, how many words it has and were turned, how often each had each tag, more.

    Parameters
    ----------
    first : int
        Number of the part's first sentence, for samples.
    """
    from aligntools.api.tag.word_classes import counts_of

    found = tagger.tag_text(text, **how, threads=pool)
    if split:
        found = found.split()
    lists = wanted.n_best or wanted.samples
    written = b"" if lists else found.format(*writing)
    counts = counts_of(found) if counting else {}
    return written, len(found.ids), found.turned, counts, _more(wanted, tagger, text, pool, first)


def _more(wanted, tagger, text, pool, first):
    """Return lists, scores and posteriors of a part."""
    import numpy as np

    from aligntools.formats.annotation.tag_lists import format_posteriors, format_scores

    lists, scores, posteriors, figures = None, b"", b"", None
    if wanted.n_best or wanted.samples or wanted.scores:
        own = tagger.sequences_of(text, pool)
        if wanted.n_best:
            lists = tagger.named(own.best(wanted.n_best))
        if wanted.samples:
            lists = tagger.named(own.samples(wanted.samples, wanted.seed, first))
        if wanted.scores:
            logs = own.log_probabilities()
            scores = format_scores(logs.tolist(), own.offsets)
            sizes = np.diff(own.offsets)
            figures = {"log": float(logs.sum()), "words": int(sizes.sum()), "sentences": int((sizes > 0).sum()),
                       "unknown": own.unknown}  # fmt: skip
    if wanted.posteriors:
        found = tagger.posteriors_of(text, threads=pool)
        names = [name.encode("utf-8", "surrogateescape") for name in tagger.tags]
        tags = [names[k] for k in found.ids.tolist()]
        posteriors = format_posteriors(text.words, text.offsets, found.cells, tags, found.values)
    return _More(len(text), lists, scores, posteriors, figures)


def _likelihood(total):
    """Say how probable the text is."""
    events = total["words"] + total["sentences"]
    perplexity = math.exp(min(-total["log"] / events, 700)) if events and math.isfinite(total["log"]) else math.inf
    return (
        f"log-likelihood {total['log']:.2f}; {total['words']} words, {total['sentences']} sentences; perplexity"
        f" {perplexity:.2f}; {total['unknown']} unknown words\n"
    )
