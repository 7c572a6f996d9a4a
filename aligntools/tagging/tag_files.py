"""Tag files: read in blocks or line by line, write the tags and the other outputs."""

import contextlib
import math
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import numpy as np

from aligntools.formats.annotation.conll import column_place
from aligntools.formats.annotation.raw_text import stream_raw
from aligntools.formats.annotation.tag_lists import format_posteriors, format_scores, format_sequences
from aligntools.formats.annotation.tagged_text import stream_sentences
from aligntools.formats.inputs.annotation import predicted_of
from aligntools.formats.text.text_settings import RawReading, Split, check_predicted
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool, pool_of
from aligntools.ground.progress import LineWatch
from aligntools.ground.run import Run
from aligntools.pipeline import (
    Part,
    Sinks,
    Tally,
    Worked,
    check_unbuffered,
    map_parts,
    parts_of,
    stream_requests,
    write_parts,
)
from aligntools.tagging.settings import TagDecisions, TagLists, TagWriting
from aligntools.tagging.taggers import PART, Tagger
from aligntools.tagging.word_classes import counts_of, list_of
from aligntools.words.white_space import split_as


def tag_files(
    texts: Sequence[str],
    model: str,
    output: str,
    *,
    scores: str | None,
    posteriors: str | None,
    save_classes: str | None,
    format: str,
    predicted_columns: bool,
    split: Split | None,
    raw: RawReading,
    decisions: TagDecisions,
    writing: TagWriting,
    lists: TagLists,
    run: Run,
    watch: LineWatch,
    given: Collection[str] = (),
    verify: bool = True,
    unbuffered: bool = False,
    ending: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext,
) -> int:
    """Tag texts (none: standard input); return how many words they have.

    output: The texts with their tags, or lists of sequences of tags.
    split: What separates words; None where that was not said.
    given: Which of ``writing`` and ``decisions`` were said, be it as they are by default.
    """
    check_predicted(predicted_columns, "raw" if raw.tokenize else format)
    if raw.tokenize and (unbuffered or format == "conll"):
        raise UsageProblem(f"`tokenize` does not go with {'`unbuffered`' if unbuffered else '`format=conll`'}")
    if raw.tokenize and split is not None:
        raise UsageProblem("`split` is about words between spaces; `tokenize` finds its own")
    check_unbuffered(unbuffered, run)
    listed = lists.kind
    if unbuffered and (listed or scores is not None or posteriors is not None):
        raise UsageProblem(
            "`unbuffered` answers a line with a line; leave out `n_best`, `samples`, `scores` and `posteriors`"
        )
    others = sorted({*given} & {*TagWriting.names(), *TagDecisions.names()})
    if listed and others:
        raise UsageProblem(f"`{listed}` writes sequences of tags; leave out `{others[0]}`")

    def read(path: str) -> Iterable[Any]:
        if unbuffered:
            return stream_requests(path, format)
        if raw.tokenize:
            return stream_raw(path, most=PART, **raw.arguments())
        return stream_sentences(path, format=format, sentences=PART)

    tagger = _tagger(model, verify, decisions, writing)
    sinks, tally = Sinks(output=output, scores=scores, posteriors=posteriors), Tally()
    work = partial(
        _tag_part,
        decisions=decisions,
        writing=writing,
        lists=lists,
        predicted_columns=predicted_columns,
        wanted={*sinks.paths, *(["classes"] if save_classes is not None else [])},
        remember=not unbuffered,
    )
    watch.begin("tagging", unit="word")
    with pool_of(run.threads) as pool, sinks, ending():
        parts = parts_of([split_as(path, split) for path in texts or ("-",)], read)
        done = map_parts(work, tagger, parts, run, pool, tally)
        write_parts(done, sinks, tally, watch, "" if unbuffered else "{words} words tagged")
        if save_classes:
            list_of(tally.kinds).save(save_classes)
        for line in tally.lines("tagger"):
            watch.say(line)
        if scores:
            total = tally.counts
            events = total["scored"] + total["sentences"]
            finite = events and math.isfinite(total["log"])
            perplexity = math.exp(min(-total["log"] / events, 700)) if finite else math.inf
            watch.say(
                f"log-likelihood {total['log']:.2f}; {total['scored']} words, {total['sentences']} sentences;"
                f" perplexity {perplexity:.2f}; {total['unknown']} unknown words"
            )
    return tally.counts["words"]


def _tagger(model: str, verify: bool, decisions: TagDecisions, writing: TagWriting) -> Tagger:
    """Load the tagger; refuse what it has nothing for."""
    tagger = Tagger.load(model, verify=verify)
    for name in (tagger.column if writing.column is None else writing.column, *writing.keep):
        column_place(name)
    if decisions.split_tokens and tagger.model.splitter is None:
        problem = "`split_tokens` is for taggers of train-hmm `tokens=surface`, which this one is not"
        raise UsageProblem(f"{model}: {problem}")
    return tagger


def _tag_part(
    tagger: Tagger,
    part: Part,
    pool: Pool,
    *,
    decisions: TagDecisions,
    writing: TagWriting,
    lists: TagLists,
    predicted_columns: bool,
    wanted: Collection[str],
    remember: bool,
) -> Worked:
    """Tag a part; ``wanted``: ``scores``, ``posteriors``, ``classes``."""
    text = predicted_of(part.text) if predicted_columns else part.text
    found = tagger.tag_text(text, decisions, run=Run(threads=pool), remember=remember)
    counts: dict[str, float] = {"words": len(found.ids), "turned": found.turned}
    written, listed = {}, lists.n_best or lists.samples
    if not listed:
        written["output"] = found.format(writing)
    if listed or "scores" in wanted:
        own = tagger.sequences_of(text, pool)
        if listed:
            rows = own.best(listed) if lists.n_best else own.samples(listed, lists.seed, part.number)
            written["output"] = format_sequences(part.number, rows)
        if "scores" in wanted:
            logs, sizes = own.log_probabilities(), np.diff(own.offsets)
            written["scores"] = format_scores(logs.tolist(), own.offsets)
            counts |= {"log": float(logs.sum()), "scored": int(sizes.sum()), "sentences": int((sizes > 0).sum())}
            counts["unknown"] = own.unknown
    if "posteriors" in wanted:
        cells = tagger.posteriors_of(text, threads=pool)
        names = [name.encode("utf-8", "surrogateescape") for name in tagger.tags]
        tags = [names[k] for k in cells.ids.tolist()]
        written["posteriors"] = format_posteriors(text.words, text.offsets, cells.cells, tags, cells.values)
    return Worked(written, counts, kinds=counts_of(found) if "classes" in wanted else {})
