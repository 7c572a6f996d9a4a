"""Texts in files parsed: read in parts or line by line, written as CoNLL with their trees, or as trees in brackets."""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import numpy as np

from aligntools import pipeline
from aligntools.constituents.parsers import PART as TREE_PART
from aligntools.constituents.parsers import ConstituentParser, InducedConstituentParser, check_lists
from aligntools.constituents.settings import GrammarDecisions, TreeLists
from aligntools.formats.annotation.brackets import format_tree_lists, format_trees
from aligntools.formats.annotation.conll import column_place
from aligntools.formats.annotation.tagged_text import stream_tags
from aligntools.formats.inputs.annotation import predicted_of
from aligntools.formats.models.modelfile import model_kind
from aligntools.formats.text.text_settings import TagReading
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool, pool_of
from aligntools.ground.progress import LineWatch
from aligntools.ground.run import Run
from aligntools.parsing.parsers import PART, Parser
from aligntools.parsing.settings import ParserDecisions, ParserReading

#: Why sentences have other trees than the grammar's.
_FLAT = {
    "flat": "sentences over `max_length` have flat trees",
    "uncovered": "sentences are not covered by the grammar; their trees are of its labels without annotation, or flat",
}


def parse_files(
    texts: Sequence[str],
    model: str,
    output: str,
    decisions: ParserDecisions | GrammarDecisions,
    *,
    reading: ParserReading,
    lists: TreeLists,
    run: Run,
    watch: LineWatch,
    verify: bool = True,
    unbuffered: bool = False,
    ending: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext,
) -> int:
    """Parse texts (none: standard input); return how many words they have.

    lists: Several trees of each sentence, of a grammar; ending: returns a context that may end the reading.
    """
    pipeline.check_unbuffered(unbuffered, run)
    parser: Any
    if isinstance(decisions, GrammarDecisions):
        if unbuffered and lists.kind:
            raise UsageProblem("`unbuffered` answers a line with a line; leave out `n_best` and `samples`")
        kind = ConstituentParser if model_kind(model) == "pcfg" else InducedConstituentParser
        parser = kind.load(model, verify=verify)
        check_lists(lists, decisions, parser.has_lists)
        work, plain, size, lines = partial(_trees_of, decisions, reading, lists), not parser.needs_tags, TREE_PART, _odd
    else:
        parser = Parser.load(model, verify=verify)
        if decisions.projective is False and parser.projective and not parser.unsupervised:
            watch.say(
                "warning: the parser was trained on projective trees; among all trees it finds worse ones (train it"
                " with `projective=False` for them)"
            )
        work, plain, size, lines = partial(_heads_of, decisions, reading), False, PART, _unknown
    column_place(parser.column if reading.column is None else reading.column)

    def read(path: str) -> Iterable[Any]:
        if unbuffered:
            tags = not plain or reading.format == "tagged"
            return pipeline.stream_requests(path, reading.format, reading.mark, tags=tags)
        return stream_tags(path, reading.format, reading.mark, size, plain=plain, column=reading.column)

    tally, sinks = pipeline.Tally(), pipeline.Sinks(output=output)
    watch.begin("parsing", unit="word")
    with pool_of(run.threads) as pool, sinks, ending():
        done = pipeline.map_parts(work, parser, pipeline.parts_of(texts or ("-",), read), run, pool, tally)
        pipeline.write_parts(done, sinks, tally, watch, "" if unbuffered else "{words} words parsed")
        for line in lines(tally):
            watch.say(line)
    return tally.counts["words"]


def _heads_of(
    decisions: ParserDecisions, reading: ParserReading, parser: Parser, part: pipeline.Part, pool: Pool
) -> pipeline.Worked:
    found = parser.parse_text(part.text, decisions, reading=reading, run=Run(threads=pool))
    flat, unknown = np.flatnonzero(found.flat), np.flatnonzero(found.unknown_tags)
    firsts = {"flat": flat, "unknown": np.searchsorted(found.source.offsets, unknown[:1], side="right") - 1}
    return pipeline.Worked(
        {"output": found.format()},
        {"words": len(found.heads), "turned": found.turned, "flat": len(flat), "unknown": len(unknown)},
        {name: part.place(int(own[0])) for name, own in firsts.items() if len(own)},
        {"unknown": [found.mapped_tags[k] for k in unknown.tolist()]},
    )


def _unknown(tally: pipeline.Tally) -> Iterator[str]:
    """Yield what there is to say of sentences that were not parsed and of unknown tags."""
    yield from tally.lines("parser")
    counts, places = tally.counts, tally.places
    if counts["flat"]:
        yield f"warning: {counts['flat']} sentences over `max_length` have flat trees ({places['flat']})"
    if counts["unknown"]:
        yield (
            f"warning: {counts['unknown']} words have tags that the parser has never seen ({tally.names('unknown')};"
            f" first in {places['unknown']}); see `column` and `map`"
        )


def _trees_of(
    decisions: GrammarDecisions,
    reading: TagReading,
    lists: TreeLists,
    parser: ConstituentParser,
    part: pipeline.Part,
    pool: Pool,
) -> pipeline.Worked:
    text = predicted_of(part.text) if reading.predicted_columns else part.text
    words, given = parser.sentences_of(text, reading.column, decisions)
    if lists.kind:
        found = parser.model.listed(words, lists, given, decisions, pool, part.number)
        none = np.array([own[0].log_probability == -np.inf for own in found], np.bool_)
        long = np.diff(text.offsets) > decisions.max_length
        flat = {"flat": np.flatnonzero(none & long), "uncovered": np.flatnonzero(none & ~long)}
        written = format_tree_lists(part.number, found, lists.kind == "n_best")
    else:
        parsed = parser.model.parse(words, given, decisions, pool)
        flat = {name: np.flatnonzero(getattr(parsed, name)) for name in _FLAT}
        written = format_trees(parsed.trees).encode("utf-8", "surrogateescape")
    tags = parser.tags_of(text, reading.column, decisions) or []
    strange = parser.unknown_tags(tags)
    unknown = Counter(tag for tag in tags if tag in strange) if strange else Counter[bytes]()
    counts = {"words": len(text.words), "turned": parser.turned(text), "unknown": unknown.total()}
    return pipeline.Worked(
        {"output": written},
        counts | {name: len(own) for name, own in flat.items()},
        {name: part.place(int(own[0])) for name, own in flat.items() if len(own)},
        {"unknown": list(unknown)},
    )


def _odd(tally: pipeline.Tally) -> Iterator[str]:
    """Yield what there is to say of sentences without a tree of the grammar and of unknown tags."""
    yield from tally.lines("grammar")
    for name, place in tally.places.items():
        yield f"warning: {tally.counts[name]} {_FLAT[name]} (the first: {place})"
    if unknown := tally.counts["unknown"]:
        yield (
            f"warning: {unknown} words have tags that the grammar has never seen ({tally.names('unknown')}); see"
            " `column` and `keep_tags`"
        )
