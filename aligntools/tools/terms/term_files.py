"""Terms of a text in files: aligned where there are no links, written as a glossary, held against a known one."""

from dataclasses import replace
from typing import TYPE_CHECKING

from aligntools.aligning.settings import AlignerSettings
from aligntools.formats.text.units import languages_given
from aligntools.ground.errors import UsageProblem
from aligntools.ground.progress import Watch
from aligntools.pipeline import Sinks
from aligntools.tools.terms.settings import TermSettings
from aligntools.tools.terms.settings import TermWriting as TermWriting
from aligntools.tools.terms.terms import TermList, format_of, known_terms, terms
from aligntools.tools.text_work import TextWork
from aligntools.words.tokenizers import languages_of, tokenizers

if TYPE_CHECKING:
    from aligntools.formats.text.raw_pairs import RawPairs

#: Lines of the text that are read at a time for examples.
_LINES = 10_000


def term_files(
    work: TextWork,
    writing: TermWriting,
    settings: TermSettings,
    output: str = "-",
    *,
    alignments: str | None = None,
    known: str | None = None,
    inconsistent: str | None = None,
    source_tags: str | None = None,
    target_tags: str | None = None,
) -> None:
    """Find the terms of a text and write them.

    alignments: Links of the text, one line for each sentence pair.
    known: A glossary whose terms are left out.
    inconsistent: Where the text translates these terms otherwise: line, term, its translations, what it is linked to.
    source_tags, target_tags: A tag for each word of the sides.
    Raises UsageProblem when files and options do not go together. Raises DataError when a file cannot be read or
    written.
    """
    work.check()
    text, tags = work.text, (source_tags, target_tags)
    if alignments is not None and work.model is not None:
        raise UsageProblem("`alignments` are links of the text, and `model` aligns it; give one of them")
    if alignments is not None and text.tokenizing.tokenize:
        raise UsageProblem("`tokenize` finds other words than the links of `alignments` are between")
    if alignments and work.training != AlignerSettings():
        raise UsageProblem("options of training are for a text that is aligned here; `alignments` are its links")
    if inconsistent and not known:
        raise UsageProblem("`inconsistent` holds the text against `known`; give that too")
    if any(tags) and text.tokenizing.tokenize:
        raise UsageProblem("`tokenize` finds other words than those that have tags; give the words themselves")
    form, languages = writing.output_format, _languages(work)
    form = format_of(output) if form == "auto" else form
    if form == "tbx" and languages is None:
        raise UsageProblem("TBX names the languages of its terms; give `languages`, such as de,en")
    with Sinks(output=output, inconsistent=inconsistent or None) as sinks:
        found = replace(_found(work, alignments, settings, tags), languages=languages)
        if known is not None:
            how = text.tokenizing
            finders = None if how.tokenize is None else tokenizers(how.tokenize, how.tokenizer)
            glossary = known_terms(known, languages, finders)
            if inconsistent:
                sinks.write({"inconsistent": _inconsistent(found, glossary, work.watch)})
            found = found.without(glossary)
        sinks.write({"output": found.format(form).encode("utf-8", "surrogateescape")})
        work.watch.close()
        work.watch.say(f"{len(found)} terms of {len(found.bitext)} sentence pairs")


def _languages(work: TextWork) -> tuple[str, str] | None:
    """Return the languages of both sides, where an option names them."""
    if work.reading.languages is not None:
        return languages_given(work.reading.languages)
    asked = work.text.tokenizing.tokenize
    return languages_of(asked) if asked and asked != "icu" else None


def _found(
    work: TextWork, alignments: str | None, settings: TermSettings, tags: tuple[str | None, str | None]
) -> TermList:
    """Return the terms of the text."""
    if work.text.joint_file is None:  # its languages are known, whatever their names
        work = replace(work, reading=replace(work.reading, languages=None))
    with work.opened(live=False) as text:
        source, target = text.inputs
        found = terms(
            source,
            target,
            alignments,
            settings,
            tags=tags,
            model=text.model,
            training=work.training if text.model is None and alignments is None else None,
            reading=text.reading,
            run=text.run,
            progress=work.watch,
        )
        return found if text.tokens is None else found.showing(_lines_of(text.raw, {one.pair for one in found}))


def _inconsistent(found: TermList, known: list[tuple[str, str]], watch: Watch) -> bytes:
    """Return lines of where the text translates known terms otherwise, and say how often."""
    rows, places = [b"line\tsource\texpected\tfound\n"], found.inconsistencies(known)
    for one in places:
        row = [str(one.pair + 1), one.source, "; ".join(one.expected), one.found]
        rows.append("\t".join(row).encode("utf-8", "surrogateescape") + b"\n")
    lines = len({one.pair for one in places})
    watch.say(f"known terms translated otherwise: {len(places)} times, in {lines} sentence pairs")
    return b"".join(rows)


def _lines_of(raw: "RawPairs", wanted: set[int]) -> dict[int, tuple[str, str]]:
    """Return pairs of a text as they are written, by their numbers from 0."""
    found: dict[int, tuple[str, str]] = {}
    at, last = 0, max(wanted, default=-1)
    while at <= last:
        sides = raw.read(min(_LINES, last + 1 - at))
        for number, pair in enumerate(zip(*sides, strict=True), at):
            if number in wanted:
                source, target = (side.decode("utf-8", "surrogateescape") for side in pair)
                found[number] = source, target
        at += len(sides[0])
    return found
