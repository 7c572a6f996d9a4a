"""``aligntools tag``: a tagger applied to text."""

import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from aligntools import Run, TagDecisions, TagLists, TagReading, TagWriting
from aligntools.api.given.texts import RawReading
from aligntools.cli import declared, engine_options, kinds, notices, options, reporting, serving
from aligntools.cli.flags import as_flag, renamed
from aligntools.ground.errors import UsageProblem

if TYPE_CHECKING:
    from aligntools import Tagger
    from aligntools.api.given.annotated import Parsed
    from aligntools.api.tag.tag_sequences import TagSequence
    from aligntools.api.tag.word_classes import Counts
    from aligntools.ground.parallel import Pool


class _Tag(options.Command):
    """The command, of which --split-tokens was called --split."""

    def _modern(self, args: Iterable[str]) -> list[str]:
        words = list(args)
        for k, word in enumerate(words[: words.index("--")] if "--" in words else words):
            if word == "--split" and words[k + 1 : k + 2] not in (["spaces"], ["unicode"]):
                sys.stderr.write("note: --split without spaces or unicode after it is called --split-tokens now\n")
                words[k] = "--split-tokens"
        return super()._modern(words)


@click.command("tag", cls=_Tag, renamed=renamed(TagDecisions))
@click.argument("texts", metavar="[TEXT]...", nargs=-1)
@options.group(
    "Common options",
    click.option("-m", "--model", required=True, metavar="FILE", help="Tagger from train-tagger (or train-hmm)."),
    options.output,
    declared.group(TagWriting, "to"),
)
@options.group(
    "Input and output",
    declared.option(TagReading, "format", choices=("auto", "text", "conll")),
    declared.option(TagReading, "predicted_columns"),
    declared.group(TagWriting, "column", "separator"),
    declared.option(
        TagWriting,
        "keep",
        type=kinds.Column(),
        multiple=True,
        show_default=False,
        help=declared.help_of(TagWriting, "keep") + " May be given several times.",
    ),
    options.split,
    click.option(
        "--save-classes",
        metavar="FILE",
        type=options.WRITTEN,
        help="Also write each word, each of its tags and how often it got that tag, between tabs.",
    ),
    serving.unbuffered,
)
@declared.group(RawReading)
@declared.group(TagDecisions)
@options.group(
    "Probabilities",
    declared.group(TagLists, "n_best", "samples"),
    click.option(
        "--scores",
        metavar="FILE",
        type=options.WRITTEN,
        help="Also write ln p(x) of each sentence, summed over its tags, one per line.",
    ),
    click.option(
        "--posteriors",
        metavar="FILE",
        type=options.WRITTEN,
        help="Also write the probability of every tag of every word: a line for each word, word and"
        " tag:probability between tabs, and a blank line after each sentence.",
    ),
)
@engine_options.group
@options.group(
    "Resources and messages", options.verify, declared.option(TagLists, "seed"), options.threads, options.verbosity
)
def command(**o: Any) -> None:
    """Tag text: one line out per line in, or CoNLL with one column filled in.

    In CoNLL, columns that say more about a tag than was predicted are emptied (XPOS and FEATS where UPOS is new); all
    else is unchanged.

    Reads standard input if no TEXT is given, and writes while it reads. Words are separated by spaces. Raw text needs
    --tokenize; `aligntools conll --to raw` turns the output into the same text again.

    \b
    Example:
      aligntools train-tagger -q --tagged data/samples/en.tagged -o /tmp/en.tagger
      aligntools tag -m /tmp/en.tagger data/samples/en.txt
    """
    from aligntools.api.given.streams import column_place, split_as, stream_raw, stream_requests, stream_sentences
    from aligntools.api.running.annotating_blocks import annotated, parts_of
    from aligntools.api.running.threads import pool_of
    from aligntools.api.tag.tag_sequences import format_sequences
    from aligntools.api.tag.tagging import PART, Tagger
    from aligntools.api.tag.word_classes import Counts, list_of
    from aligntools.formats.opening import files

    run = declared.settings(Run, o)
    wanted = _Wanted(declared.settings(TagLists, o), o["scores"] is not None, o["posteriors"] is not None)
    raw = declared.settings(RawReading, o)
    _check(o, wanted, run)
    writing, quiet, texts = declared.settings(TagWriting, o), o["quiet"], o["texts"] or ("-",)
    texts = [split_as(path, o["split"]) for path in texts]
    tagger = Tagger.load(o["model"], verify=o["verify"])
    for name in (tagger.column if writing.column is None else writing.column, *writing.keep):
        column_place(name)
    lines = reporting.Lines(not quiet)
    began, words, turned, unanswered = time.perf_counter(), 0, 0, serving.Unanswered()

    decisions, counting = declared.settings(TagDecisions, o), o["save_classes"] is not None
    if decisions.split_tokens and tagger.model.splitter is None:
        raise UsageProblem(
            f"{o['model']}: `split_tokens` is for taggers of train-hmm `tokens=surface`, which this one is not"
        )
    how = _How(decisions, writing, o["predicted_columns"], counting, wanted)
    counts: Counts = Counter()
    number, total = 0, Counter[str]()

    def take(found: _Found) -> bytes:
        nonlocal words, turned, number
        words, turned = words + found.words, turned + found.turned
        counts.update(found.counts)
        written = found.written if found.lists is None else format_sequences(number, found.lists)
        for file, rows in zip(also, (found.scores, found.posteriors), strict=True):
            if file is not None:
                file.write(rows)
        number += found.sentences
        total.update(found.figures)
        return written

    def answered(text: "Parsed") -> bytes:
        return take(_tag(how, tagger, text, pool, remember=False))

    with (
        pool_of(o["threads"]) as pool,
        files.writing(o["output"]) as out,
        ExitStack() as stack,
        serving.until_terminated(o["unbuffered"]),
        engine_options.mapping(run, pool, quiet) as blocks,
    ):
        also = [stack.enter_context(files.writing(o[n])) if o[n] else None for n in ("scores", "posteriors")]
        if o["unbuffered"]:
            for path in texts:
                serving.answer(stream_requests(path, o["format"]), path, answered, out, unanswered)
        else:
            if raw.tokenize:
                read: Callable[..., Any] = partial(stream_raw, most=PART, **raw.arguments())
            else:
                read = partial(stream_sentences, format=o["format"], sentences=PART)
            annotate = partial(_tag, how) if blocks is not None else _numbered(how, lambda: number)
            for _, _, found in annotated(parts_of(texts, read), tagger, annotate, pool, blocks):
                out.write(take(found))
                out.flush()
                lines.tell(f"{words} words tagged")
        if o["save_classes"]:
            list_of(counts).save(o["save_classes"])
        if not quiet:
            unanswered.tell()
            notices.tell_turned(turned, "tagger")
            if o["scores"]:
                sys.stderr.write(_likelihood(total))
    if o["verbose"] and not quiet:
        seconds = time.perf_counter() - began
        sys.stderr.write(f"{words} words in {seconds:.1f} s ({words / max(seconds, 1e-9):.0f} words/s)\n")


@dataclass(frozen=True)
class _Wanted:
    """What is asked for besides the tags."""

    lists: TagLists
    scores: bool
    posteriors: bool


@dataclass(frozen=True)
class _How:
    """What is done with each part of a text."""

    decisions: TagDecisions
    writing: TagWriting
    predicted_columns: bool
    counting: bool
    wanted: _Wanted


@dataclass(frozen=True)
class _Found:
    """What is found in a part of a text."""

    written: bytes
    words: int
    turned: int
    counts: "Counts"
    sentences: int
    lists: "list[list[TagSequence]] | None" = None
    scores: bytes = b""
    posteriors: bytes = b""
    figures: dict[str, float] = field(default_factory=dict)


def _check(o: dict[str, Any], wanted: _Wanted, run: Run) -> None:
    """Refuse what only the command has, and what does not go with it."""
    from aligntools.api.given.streams import check_predicted

    given, lists = declared.given(), wanted.lists
    check_predicted(o["predicted_columns"], "raw" if o["tokenize"] else o["format"])
    if o["tokenize"] and (o["unbuffered"] or o["format"] == "conll"):
        raise UsageProblem(f"`tokenize` does not go with {'`unbuffered`' if o['unbuffered'] else '`format=conll`'}")
    if o["tokenize"] and "split" in given:
        raise UsageProblem("`split` is about words between spaces; `tokenize` finds its own")
    engine_options.check_unbuffered(o["unbuffered"], run)
    listed = "n_best" if lists.n_best else "samples" if lists.samples else None
    if o["unbuffered"] and (listed or wanted.scores or wanted.posteriors):
        raise UsageProblem(
            "`unbuffered` answers a line with a line; leave out `n_best`, `samples`, `scores` and `posteriors`"
        )
    if lists.samples and run.asked:
        raise UsageProblem("`samples` are drawn by the number of the sentence; leave out `workers` and `cluster`")
    others = sorted(given & {*TagWriting.names(), *TagDecisions.names()})
    if listed and others:
        raise UsageProblem(f"`{listed}` writes sequences of tags; leave out {as_flag(others[0])}")


def _numbered(how: _How, number: Callable[[], int]) -> "Callable[[Tagger, Parsed, Pool], _Found]":
    """Return `_tag` for parts that come one after the other, with the number of each part's first sentence."""

    def tag(tagger: "Tagger", text: "Parsed", pool: "Pool") -> _Found:
        return _tag(how, tagger, text, pool, number())

    return tag


def _tag(how: _How, tagger: "Tagger", text: "Parsed", pool: "Pool", first: int = 0, *, remember: bool = True) -> _Found:
    """Tag a part of a text.

    Parameters
    ----------
    first : int
        Number of the part's first sentence, for samples.
    """
    from aligntools.api.given.annotated import predicted_of
    from aligntools.api.tag.word_classes import counts_of

    text = predicted_of(text) if how.predicted_columns else text
    found = tagger.tag_text(text, how.decisions, run=Run(threads=pool), remember=remember)
    listed = how.wanted.lists.n_best or how.wanted.lists.samples
    written = b"" if listed else found.format(how.writing)
    counts = counts_of(found) if how.counting else Counter()
    more = _more(how.wanted, tagger, text, pool, first)
    return _Found(written, len(found.ids), found.turned, counts, len(text), **more)


def _more(wanted: _Wanted, tagger: "Tagger", text: "Parsed", pool: "Pool", first: int) -> dict[str, Any]:
    """Return lists, scores and posteriors of a part."""
    import numpy as np

    from aligntools.api.tag.tag_sequences import format_posteriors, format_scores

    more: dict[str, Any] = {}
    lists = wanted.lists
    if lists.n_best or lists.samples or wanted.scores:
        own = tagger.sequences_of(text, pool)
        if lists.n_best:
            more["lists"] = tagger.named(own.best(lists.n_best))
        if lists.samples:
            more["lists"] = tagger.named(own.samples(lists.samples, lists.seed, first))
        if wanted.scores:
            logs = own.log_probabilities()
            sizes = np.diff(own.offsets)
            more["scores"] = format_scores(logs.tolist(), own.offsets)
            more["figures"] = {
                "log": float(logs.sum()),
                "words": int(sizes.sum()),
                "sentences": int((sizes > 0).sum()),
                "unknown": own.unknown,
            }
    if wanted.posteriors:
        found = tagger.posteriors_of(text, threads=pool)
        names = [name.encode("utf-8", "surrogateescape") for name in tagger.tags]
        tags = [names[k] for k in found.ids.tolist()]
        more["posteriors"] = format_posteriors(text.words, text.offsets, found.cells, tags, found.values)
    return more


def _likelihood(total: Counter[str]) -> str:
    """Say how probable the text is."""
    events = total["words"] + total["sentences"]
    perplexity = math.exp(min(-total["log"] / events, 700)) if events and math.isfinite(total["log"]) else math.inf
    return (
        f"log-likelihood {total['log']:.2f}; {total['words']} words, {total['sentences']} sentences; perplexity"
        f" {perplexity:.2f}; {total['unknown']} unknown words\n"
    )
