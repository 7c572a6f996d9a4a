"""Terms of a text in files: aligned where there are no links, written as a glossary, held against a known one."""

from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aligntools.aligning.settings import AlignerSettings
from aligntools.aligning.terms.settings import TermSettings
from aligntools.aligning.terms.settings import TermWriting as TermWriting
from aligntools.api.align.terms import TermList, format_of, known_terms, terms
from aligntools.api.align.text_work import TextWork
from aligntools.formats.opening.files import Output, writing
from aligntools.ground.errors import UsageProblem

if TYPE_CHECKING:
    from aligntools.formats.text.raw_pairs import RawPairs

#: Lines of the text that are read at a time for examples.
_LINES = 10_000


@dataclass(frozen=True)
class TermFiles:
    """Files that are read and written besides the text; None for what is not.

    Attributes
    ----------
    output : str
        The terms.
    alignments : str
        Links of the text, one line for each sentence pair.
    known : str
        A glossary whose terms are left out.
    source_tags, target_tags : str
        A tag for each word of the sides.
    inconsistent : str
        Where the text translates these terms otherwise: line, term, its translations, what it is linked to.
    """

    output: str = "-"
    alignments: str | None = None
    known: str | None = None
    inconsistent: str | None = None
    source_tags: str | None = None
    target_tags: str | None = None

    def check(self, work: TextWork) -> None:
        """Refuse what does not go together, or not with the text."""
        text = work.text
        if self.alignments is not None and work.model is not None:
            raise UsageProblem("`alignments` are links of the text, and `model` aligns it; give one of them")
        if self.alignments is not None and text.tokenizing.tokenize:
            raise UsageProblem("`tokenize` finds other words than the links of `alignments` are between")
        if self.alignments and work.training != AlignerSettings():
            raise UsageProblem("options of training are for a text that is aligned here; `alignments` are its links")
        if self.inconsistent and not self.known:
            raise UsageProblem("`inconsistent` holds the text against `known`; give that too")
        if (self.source_tags or self.target_tags) and text.tokenizing.tokenize:
            raise UsageProblem("`tokenize` finds other words than those that have tags; give the words themselves")
        if [*text.text, self.alignments, self.known, self.source_tags, self.target_tags].count("-") > 1:
            raise UsageProblem("only one file can be standard input")


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


@dataclass
class TextTerms:
    """A text in files whose terms are found.

    Attributes
    ----------
    work : TextWork
    files : TermFiles
    writing : TermWriting
    settings : TermSettings
    """

    work: TextWork
    files: TermFiles
    writing: TermWriting
    settings: TermSettings

    def find(self) -> None:
        """Find the terms and write them.

        Raises
        ------
        UsageProblem
            When files and options do not go together.
        DataError
            When a file cannot be read or written.
        """
        self.work.check()
        self.files.check(self.work)
        form = self.writing.output_format
        form = format_of(self.files.output) if form == "auto" else form
        if form == "tbx" and self._languages() is None:
            raise UsageProblem("TBX names the languages of its terms; give `languages`, such as de,en")
        with ExitStack() as stack:
            out = stack.enter_context(writing(self.files.output))
            places = stack.enter_context(writing(self.files.inconsistent)) if self.files.inconsistent else None
            found = replace(self._found(), languages=self._languages())
            known = None if self.files.known is None else self._known(self.files.known)
            if known is not None:
                if places is not None:
                    self._tell_inconsistent(found, known, places)
                found = found.without(known)
            out.write(found.format(form).encode("utf-8", "surrogateescape"))
            self.work.watch.close()
            self.work.watch.say(f"{len(found)} terms of {len(found.bitext)} sentence pairs")

    def _languages(self) -> tuple[str, str] | None:
        """Return the languages of both sides, where an option names them."""
        from aligntools.formats.text.units import languages_given
        from aligntools.words.tokenizing import languages_of

        if self.work.reading.languages is not None:
            return languages_given(self.work.reading.languages)
        asked = self.work.text.tokenizing.tokenize
        return languages_of(asked) if asked and asked != "icu" else None

    def _found(self) -> TermList:
        """Return the terms of the text."""
        work = self.work
        if work.text.joint_file is None:  # its languages are known, whatever their names
            work = replace(work, reading=replace(work.reading, languages=None))
        with work.opened(live=False) as text:
            source, target = text.inputs
            found = terms(
                source,
                target,
                self.files.alignments,
                self.settings,
                tags=(self.files.source_tags, self.files.target_tags),
                model=text.model,
                training=work.training if text.model is None and self.files.alignments is None else None,
                reading=text.reading,
                run=text.run,
                progress=work.watch,
            )
            return found if text.tokens is None else found.showing(_lines_of(text.raw, {one.pair for one in found}))

    def _known(self, path: str) -> list[tuple[str, str]]:
        """Return the terms of a glossary, in words as the text's are."""
        from aligntools.words.tokenizing import tokenizers

        how = self.work.text.tokenizing
        finders = None if how.tokenize is None else tokenizers(how.tokenize, how.tokenizer)
        return known_terms(path, self._languages(), finders)

    def _tell_inconsistent(self, found: TermList, known: list[tuple[str, str]], out: Output) -> None:
        """Write where the text translates known terms otherwise."""
        out.write(b"line\tsource\texpected\tfound\n")
        places = found.inconsistencies(known)
        for one in places:
            row = [str(one.pair + 1), one.source, "; ".join(one.expected), one.found]
            out.write("\t".join(row).encode("utf-8", "surrogateescape") + b"\n")
        lines = len({one.pair for one in places})
        self.work.watch.say(f"known terms translated otherwise: {len(places)} times, in {lines} sentence pairs")
