"""Texts in files translated: in parts or line by line, translations and what else is wanted of them written."""

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from aligntools.formats.annotation.tagged_text import Tokens
from aligntools.formats.text.text_settings import Split
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
from aligntools.translating.lattices import LatticeInput, joined, lattice_input, stream_input, without_arcs
from aligntools.translating.settings import DecoderSettings, LatticeSettings, TranslationLists
from aligntools.translating.translation_weights import TranslationWeights
from aligntools.translating.translator import JOB, PART, Grammar, LanguageModel, Translator
from aligntools.words.white_space import split_as

#: Bytes of input up to which the grammar is limited to the input's words before it is loaded.
FILTERED = 1 << 28


def translate_files(
    texts: Sequence[str],
    output: str,
    *,
    grammar: str,
    lm: str | None,
    weights: str | None,
    tags: str | None,
    hypergraphs: str | None,
    derivations: str | None,
    decoding: DecoderSettings,
    lattices: LatticeSettings,
    lists: TranslationLists,
    run: Run,
    watch: LineWatch,
    split: Split | None = None,
    verify: bool = True,
    unbuffered: bool = False,
    ending: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext,
) -> tuple[int, float | None]:
    """Translate texts (none: standard input).

    grammar, lm, weights, tags: See `Translator`. Where all texts are in files and not too large, only those rules of
        the grammar are read that they can use.
    ending: Returns a context in which lines are answered, and that may end the reading.
    Returns how many sentences there are, and the sum of the translations' scores, or None where lists were made.
    """
    from aligntools.formats.translation.derivations import format_header, format_hypergraph_header

    listed = lists.kind is not None
    if unbuffered and (listed or hypergraphs or derivations):
        more = "`n_best`, `samples`, `hypergraphs` and `derivations`"
        raise UsageProblem(f"`unbuffered` answers a line with a line; leave out {more}")
    if unbuffered and lattices.input != "text":
        raise UsageProblem(f"`unbuffered` is for sentences; leave it out with `input={lattices.input}`")
    check_unbuffered(unbuffered, run)
    if derivations is not None and lattices.input != "text":
        raise UsageProblem(f"`derivations` is for sentences; leave it out with `input={lattices.input}`")
    # first: a wrong file is soon found
    of_arcs = {} if weights is None else without_arcs(TranslationWeights.load(weights).features)[1]
    reads = None if lattices.input == "text" else lattice_input(lattices, of_arcs)[0]
    names, known = [split_as(path, split) for path in texts or ("-",)], None
    parts: Iterable[Part]
    if unbuffered:
        parts = parts_of(names, lambda path: stream_requests(path, "text"))
    else:
        parts, known = _parts(names, JOB if run.asked and lists.samples is None else PART, reads)
    rules = Grammar.load(grammar, text=known, span_limit=decoding.span_limit, verify=verify)
    model = None if lm is None else LanguageModel.load(lm, verify=verify)
    translator = Translator(rules, model, weights, decoding, tags=tags).with_threads(None)
    if reads is not None:
        translator = translator.for_lattices(lattices)
    del rules, model, known

    sinks, tally = Sinks(output=output, hypergraphs=hypergraphs, derivations=derivations), Tally()
    watch.begin("translating", unit="sentence")
    with sinks, pool_of(run.threads) as pool, ending():
        sinks.write({"hypergraphs": format_hypergraph_header(translator.features), "derivations": format_header()})
        done = map_parts(partial(_translate_part, lists, [*sinks.paths]), translator, parts, run, pool, tally)
        del translator  # workers have it
        write_parts(done, sinks, tally, watch, "" if unbuffered else "{sentences} sentences translated")
        for line in tally.lines():
            watch.say(line)
    return tally.counts["sentences"], None if listed else tally.counts["score"]


def _translate_part(
    lists: TranslationLists, wanted: Collection[str], translator: Translator, part: Part, pool: Pool
) -> Worked:
    from aligntools.formats.translation.derivations import format_nbest, format_sentences

    translator, n_best, samples = translator.with_threads(pool), lists.n_best, lists.samples
    counts: dict[str, float] = {"sentences": len(part.text)}
    written, listed = {}, lists.kind is not None
    if not listed:
        found = list(translator.translate_batch(part.text))
        written["output"] = b"".join(str(one).encode("utf-8", "surrogateescape") + b"\n" for one in found)
        counts["score"] = sum(one.score for one in found)
    if listed or "hypergraphs" in wanted or "derivations" in wanted:
        forests = next(translator.hypergraphs(part.text, first=part.number))
        if n_best is not None:
            written["output"] = format_nbest(part.number, forests.n_best(n_best))
        elif samples is not None:
            drawn = forests.samples(samples, gamma=lists.gamma, seed=lists.seed)
            written["output"] = format_nbest(part.number, drawn)
        if "hypergraphs" in wanted:
            written["hypergraphs"] = b"".join(forests.lines())
        if "derivations" in wanted:
            written["derivations"] = b"".join(format_sentences(forests.derivations(n_best or 1)))
    return Worked(written, counts)


def _parts(texts: Sequence[str], size: int, reads: LatticeInput | None) -> tuple[Iterable[Part], Tokens | None]:
    """Return the input in parts of ``size`` sentences, and whole if all of it is in files."""
    total = 0
    for path in texts:
        try:
            info = os.fstat(sys.stdin.fileno()) if path == "-" else os.stat(path)
            mode = stat.S_IFMT(info.st_mode)
            total += info.st_size if mode in (stat.S_IFREG, stat.S_IFDIR) else FILTERED
        except (OSError, ValueError, AttributeError):  # a standard input that is no file, or nothing to open
            total += FILTERED if path == "-" else 0
    parts: Any = parts_of(texts, lambda path: stream_input(path, size, reads))
    if total >= FILTERED:
        return parts, None
    found = list(parts)
    return found, joined([part.text for part in found])
