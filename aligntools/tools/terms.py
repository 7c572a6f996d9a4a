"""Term pairs of parallel text, as a glossary has them."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack, get_args

from aligntools.aligning.aligner import Aligner, check_loaded
from aligntools.aligning.alignment import read_bitext, train_aligner
from aligntools.aligning.settings import AlignerSettings
from aligntools.formats.inputs.annotation import word_tags
from aligntools.formats.inputs.sentences import Sentences
from aligntools.formats.links import glossaries
from aligntools.formats.links.pharaoh import Links, check_range, concatenate
from aligntools.formats.opening import files
from aligntools.formats.text.bitext import name_of
from aligntools.formats.text.corpus import Bitext, in_lower_case
from aligntools.formats.text.exchange import languages_given
from aligntools.formats.text.text_settings import Reading
from aligntools.ground.declarations import Keywords, taking
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.progress import Progress
from aligntools.ground.ranges import shown
from aligntools.ground.run import Run
from aligntools.links.alignments import links_of
from aligntools.pipeline import Sinks
from aligntools.tools.term_extraction import Term, find_terms
from aligntools.tools.term_occurrences import InAnyCase, Inconsistency, inconsistencies
from aligntools.tools.term_settings import TagPattern, TermFormat, TermSettings, TermWriting
from aligntools.tools.text_work import TextWork
from aligntools.words.tokenizers import languages_of, tokenizers

if TYPE_CHECKING:
    from aligntools.formats.text.raw_pairs import RawPairs
    from aligntools.ground.keywords import TermsKeywords
    from aligntools.links.alignments import ManyAlignments


#: Terms that are known: a glossary in a file, or pairs of source and target terms.
Known: TypeAlias = str | os.PathLike[str] | Iterable[tuple[str, str]]
#: A file with a tag for each word of a side, where there is one.
TagFile: TypeAlias = str | os.PathLike[str] | None


@dataclass(frozen=True, eq=False)
class TermList(Sequence["Term"]):
    """Term pairs of a text, the best first; an item is a `Term`.

    Attributes
    ----------
    bitext : Bitext
        The text as it is written.
    links : Links
        Its alignment.
    languages : (str, str) or None
        Source and target, for TBX.
    """

    bitext: "Bitext"
    links: "Links"
    languages: tuple[str, str] | None = None
    _found: "list[Term]" = field(default_factory=list)
    _raw: Mapping[int, tuple[str, str]] | None = None

    def __len__(self) -> int:
        return len(self._found)

    def __getitem__(self, place: Any) -> Any:
        return self._found[place]

    def __repr__(self) -> str:
        return f"<TermList: {len(self)} terms of {len(self.bitext)} sentence pairs>"

    def example(self, term: "Term") -> tuple[str, str]:
        """Return a sentence pair that has a term: as it was written, where raw text was read, else its words."""
        if self._raw is not None and term.pair in self._raw:
            return self._raw[term.pair]
        text = self.bitext
        both = (text.source, text.source_vocabulary), (text.target, text.target_vocabulary)
        sides = [(side.tokens[slice(*side.offsets[term.pair : term.pair + 2])], words) for side, words in both]
        source, target = (" ".join(words.word(int(k)) for k in own) for own, words in sides)
        return source, target

    def without(self, known: Known) -> "TermList":
        """Return the list without the terms whose source side is known, in upper or lower case."""
        there = InAnyCase()
        for source, _ in known_terms(known, self.languages):
            there.add(source)
        return replace(self, _found=[term for term in self if there.number(term.source) is None])

    def inconsistencies(self, known: Known) -> "list[Inconsistency]":
        """Return the places of the text that translate known terms otherwise, in order.

        Terms and translations count in any case, and in forms of their words that differ in some letters at the end.
        """
        return list(inconsistencies(self.bitext, self.links, known_terms(known, self.languages)))

    def format(self, format: TermFormat = "tsv") -> str:
        """Return the list as text: a table with tabs or commas and names above its columns, or TBX.

        Raises
        ------
        UsageProblem
            When there is no such format, or TBX is asked for and the languages are not known.
        """
        if format not in get_args(TermFormat):
            raise UsageProblem(f"no format '{format}' of terms; there are {', '.join(get_args(TermFormat))}")
        if format == "tbx":
            return "".join(self._tbx())
        return glossaries.format_table(list(map(self._row, self)), comma=format == "csv")

    def save(self, path: str | os.PathLike[str], format: TermFormat = "auto") -> None:
        """Write `format` to a file, compressed as its name says; ``auto`` goes by ``.csv`` and ``.tbx`` in its name."""
        with files.writing(path) as out:
            out.write(self.format(format_of(path) if format == "auto" else format).encode("utf-8", "surrogateescape"))

    def _row(self, term: "Term") -> list[str]:
        shares = f"{term.target_given_source:.4f}", f"{term.source_given_target:.4f}"
        variants = "; ".join(f"{variant} ({count})" for variant, count in term.variants)
        return [term.source, term.target, str(term.count), *shares, f"{term.score:.1f}", variants, *self.example(term)]

    def _tbx(self) -> Iterator[str]:
        if self.languages is None:
            raise UsageProblem("TBX names the languages of its terms; give `languages`, such as de,en")

        def entries() -> Iterator[tuple[list[str], list[str], str]]:
            for term in self:
                examples = self.example(term)
                shares = f"p(target|source) {term.target_given_source:.4f}, p(source|target)"
                note = f"frequency {term.count}, {shares} {term.source_given_target:.4f}"
                targets = [term.target, *(variant for variant, _ in term.variants)]
                yield [term.source, examples[0]], [*targets, examples[1]], note

        return glossaries.format_tbx(entries(), self.languages)


def format_of(path: str | os.PathLike[str]) -> TermFormat:
    """Return the format that a file's name asks for."""
    parts = os.path.basename(os.fspath(path)).lower().split(".")
    if parts[-1] in {"xlsx", "xls", "ods"}:
        raise UsageProblem(f"'{os.fspath(path)}': no such file is written; spreadsheet programs open .csv and .tsv")
    return "tbx" if "tbx" in parts[1:] else "csv" if "csv" in parts[1:] else "tsv"


def known_terms(
    known: Known, languages: Sequence[str] | None = None, words: "Sequence[Callable[[bytes], bytes]] | None" = None
) -> list[tuple[str, str]]:
    """Return the terms of a glossary; ``words`` puts spaces between the words of either side."""
    if isinstance(known, str | os.PathLike):
        found = glossaries.read_glossary(os.fspath(known), languages or ())
    else:
        found = list(known)
        for number, pair in enumerate(found, 1):
            if not isinstance(pair, tuple) or len(pair) != 2 or not all(isinstance(side, str) for side in pair):
                raise DataError("<known>", number, "a known term is a tuple of two strings, source and target")
    if words is None:
        return found
    return [(words[0](a.encode()).decode(), words[1](b.encode()).decode()) for a, b in found]


@taking(TermSettings, AlignerSettings, Reading, Run)
def terms(
    sources: "Sentences | Bitext",
    targets: Sentences | None = None,
    alignments: "ManyAlignments | str | os.PathLike[str] | None" = None,
    settings: TermSettings | None = None,
    *,
    known: Known | None = None,
    tags: "tuple[TagFile, TagFile]" = (None, None),
    model: Aligner | None = None,
    training: AlignerSettings | None = None,
    reading: Reading | None = None,
    run: Run | None = None,
    progress: Progress = None,
    **options: "Unpack[TermsKeywords]",
) -> TermList:
    """Find the terms of parallel text and their translations, of one word and of several.

    A term pair is a pair of phrases that no link leaves (Koehn, Och & Marcu 2003), whose first and last words have
    links and are no stop words of the text. Pairs are ordered by their log-likelihood ratio (Dunning 1993), less what
    comes within longer pairs (C-value: Frantzi, Ananiadou & Mima 2000). Upper and lower case are the same.

    Parameters
    ----------
    sources, targets : iterables of str or of lists of str, or files (str or path)
        As for `train_aligner`. A `Bitext` should have been read with ``case_sensitive=True``: terms are shown as it has
        them.
    alignments : iterable of alignments, or a Pharaoh file (str or path), or None
        One for each sentence pair; see `symmetrize`. None aligns the text.
    settings, training, reading, run : TermSettings, AlignerSettings, Reading, Run or None
        The options below, whole. Where there are two texts, ``languages`` only names them, for TBX.
    known : str, path, iterable of (str, str), or None
        A glossary (tab-separated, CSV or TBX), or its pairs: terms that it has are left out.
    tags : (str, path or None; str, path or None)
        Tagged text or CoNLL with a tag for each word of the source and of the target, as `score_tags` takes it: terms
        are what matches ``patterns``.
    model : Aligner or None
        Aligns the text, where there are no ``alignments``; None trains one on it.
    progress : callable, True or None
        As for `train_aligner`.
    **options

    Returns
    -------
    TermList

    Raises
    ------
    DataError
        When a file cannot be read, there is not one alignment for each pair, or a link points past its sentence.
    UsageProblem
        When options exclude each other.

    Examples
    --------
    >>> import aligntools as at
    >>> found = at.terms("data/samples/de-en.de", "data/samples/de-en.en", min_count=2)
    >>> [(term.source, term.target, term.count) for term in found[:2]]  # doctest: +SKIP
    [('Gemeinderat', 'village council', 5), ('Zug', 'train', 9)]
    """
    given = Keywords("terms", options)
    settings = given.take(TermSettings, settings).checked()
    training = given.take(AlignerSettings, training)
    reading, run = given.take(Reading, reading), given.take(Run, run)
    given.end()
    check_loaded(model)
    if (settings.patterns is None) != (tags == (None, None)):
        raise UsageProblem("`patterns` goes with the words' tags (`source_tags`, `target_tags`); give both or neither")
    if (alignments is not None or model is not None) and training != AlignerSettings():
        raise UsageProblem("the text is aligned already, or by `model`; options of training do not go with that")
    languages = None if reading.languages is None else languages_given(reading.languages)
    if targets is not None:
        reading = replace(reading, languages=None)
    written = sources
    if not isinstance(written, Bitext):
        written = read_bitext(written, targets, reading=replace(reading, case_sensitive=True))
    if alignments is not None:
        name = name_of(alignments, "alignments")
        links = links_of(Path(alignments) if isinstance(alignments, str | os.PathLike) else alignments, name=name)
        if len(links) != len(written):
            problem = f"{len(links)} lines, but the text has {len(written)} sentence pairs"
            raise DataError(name, None, f"{problem}; they must have the same number of lines")
        check_range(links, written.source.lengths(), written.target.lengths(), path=name, index_base=0)
    else:
        text = written  # which a model reads in the case that it was trained on
        if model is None:
            text = written if reading.case_sensitive else in_lower_case(written)
            model = train_aligner(text, None, training, reading=reading, run=run, keep_text=True, progress=progress)
        links = concatenate([block.table for block in model.align_blocks(text, directions=False, run=run)])
    lengths = [side.lengths().tolist() for side in (written.source, written.target)]
    tagged = [None if path is None else _tags(path, own, settings) for path, own in zip(tags, lengths, strict=True)]
    found = TermList(written, links, languages, find_terms(written, links, settings, tagged))
    return found if known is None else found.without(known)


def _tags(path: str | os.PathLike[str], lengths: Sequence[int], settings: TermSettings) -> list[str]:
    """Return a tag for each word of a side, some of which the pattern names."""
    found = [tag for row in word_tags(path, lengths, left_out=True) for tag in row]
    named = TagPattern(settings.patterns or "").tags
    if named and found and named.isdisjoint(found):
        seen = ", ".join(shown(tag) for tag in sorted(set(found))[:8])
        raise DataError(os.fspath(path), None, f"has none of the tags that `patterns` names; it has {seen}")
    return found


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
    """Find the terms of a text, without ``known`` ones, and write them.

    inconsistent: Where the text translates known terms otherwise: line, term, its translations, what it is linked to.
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
    asked, languages = text.tokenizing.tokenize, None
    if work.reading.languages is not None:
        languages = languages_given(work.reading.languages)
    elif asked and asked != "icu":
        languages = languages_of(asked)
    form = writing.output_format
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
                rows, places = [b"line\tsource\texpected\tfound\n"], found.inconsistencies(glossary)
                for one in places:
                    row = [str(one.pair + 1), one.source, "; ".join(one.expected), one.found]
                    rows.append("\t".join(row).encode("utf-8", "surrogateescape") + b"\n")
                sinks.write({"inconsistent": b"".join(rows)})
                lines = len({one.pair for one in places})
                work.watch.say(f"known terms translated otherwise: {len(places)} times, in {lines} sentence pairs")
            found = found.without(glossary)
        sinks.write({"output": found.format(form).encode("utf-8", "surrogateescape")})
        work.watch.close()
        work.watch.say(f"{len(found)} terms of {len(found.bitext)} sentence pairs")


def _found(
    work: TextWork, alignments: str | None, settings: TermSettings, tags: tuple[str | None, str | None]
) -> TermList:
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
        raw = None if text.tokens is None else _lines_of(text.raw, {one.pair for one in found})
        return replace(found, _raw=raw)


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
