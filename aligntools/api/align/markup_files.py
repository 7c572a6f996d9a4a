"""Tags carried over in files: segments one a line, or documents."""

import logging
from codecs import BOM_UTF8
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from aligntools.aligning.settings import AlignerSettings
from aligntools.api.align.aligner import Aligner
from aligntools.api.align.files import loaded
from aligntools.api.align.markup import MarkedText, MarkupTransfer, Pair, pair_or_error, trained
from aligntools.api.align.markup import MarkupSettings as MarkupSettings
from aligntools.formats.markup.documents import Document, read_document, read_translation
from aligntools.formats.markup.segments import Segment, decoded
from aligntools.formats.markup.webpages import Page
from aligntools.formats.markup.xliff import TranslationFile
from aligntools.formats.opening.files import Output, lines, reading, writing
from aligntools.formats.text.reading import Reading, Tokenizing
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.parallel import pool_of
from aligntools.ground.progress import Watch
from aligntools.ground.running import Run
from aligntools.projecting.markup.placing import BY_POSITION
from aligntools.projecting.markup.transfer import CHARACTERS, WORDS
from aligntools.projecting.markup.words import missing_placeholders
from aligntools.words.line_scan import SEPARATOR

#: Less sure than this, a tag counts as unsure.
UNSURE = 0.5
_HEADER = "segment\ttag\tconfidence\tlinked\tplaced by\ttext\n"
_log = logging.getLogger("aligntools")
_PLAIN = str.maketrans("\t\n\r", "   ")


@dataclass(frozen=True)
class MarkupFiles:
    """Files that are read and written; None for what is not.

    source, target: Segments with tags and their translations without, one a line.
    document: In the place of ``source`` a document. XLIFF and TMX have the translations in them: targets without tags
        get those of their sources. Of HTML and DOCX ``target`` is the translation: lines of text, one for each segment,
        or a document with the same blocks. All else is written as it is.
    segments: The text of the segments of an HTML or DOCX document, one a line without tags, to be translated; nothing
        else is done.
    output: The translations with tags.
    report: A line for every tag, with how sure its place is.
    model: A saved model.
    train: Train a model on these segments, and on more text.
    train_source, train_target, train_input: More text to train on, in two files or one with ``' ||| '`` or a tab
        between the sides.
    save_model: Where the model is saved that is trained.
    """

    source: str | None = None
    target: str | None = None
    output: str = "-"
    document: str | None = None
    segments: str | None = None
    report: str | None = None
    model: str | None = None
    train: bool = False
    train_source: str | None = None
    train_target: str | None = None
    train_input: str | None = None
    save_model: str | None = None

    def check(self, training: AlignerSettings) -> None:
        """Refuse what does not go together."""
        if (self.source is None) == (self.document is None) or (self.source is not None and self.target is None):
            ways = "the segments with tags as `source` and their translations as `target`, or a document"
            raise UsageProblem(f"give {ways}")
        if [self.source, self.target, self.document].count("-") > 1:
            raise UsageProblem("standard input ('-') can be only one of the files")
        if self.segments is not None:
            self._check_segments()
            return
        if (self.model is None) != self.train:
            raise UsageProblem("give a saved model as `model`, or `train` one on these segments")
        more = {"train_source": self.train_source, "train_target": self.train_target, "train_input": self.train_input}
        of_training = more | {
            "save_model": self.save_model,
            "fast": training.fast or None,
            "seed": None if training.seed == AlignerSettings.seed else training.seed,
        }
        for name, value in of_training.items():
            if self.model is not None and value is not None:
                raise UsageProblem(f"`{name}` is for a new model; `model` applies a saved one")
        if (self.train_source is None) != (self.train_target is None):
            raise UsageProblem("give both `train_source` and `train_target`")

    def _check_segments(self) -> None:
        """Refuse what says how tags are carried over, where none are."""
        if self.document is None:
            raise UsageProblem("`segments` writes the text of a document; give one")
        for name in ("target", "model", "train", "train_source", "train_target", "train_input", "save_model", "report"):
            if getattr(self, name):
                raise UsageProblem(f"`segments` writes the text to translate alone; `{name}` goes with its translation")

    def pairs(self, markup: str, ends: deque[bytes]) -> Iterator[Pair]:
        """Yield the segments and their translations, or in the place of a segment what is wrong with it.

        ``ends`` gets how each line of the translations ends, behind the byte order mark that they may begin with.
        """
        assert self.source is not None and self.target is not None  # noqa: PT018
        names = self.source, self.target
        for number, (source, target) in enumerate(_both(*names, ends), 1):
            yield pair_or_error(source, target, names, number, markup)

    def more(self) -> Iterator[tuple[str, str]]:
        """Yield more sentences and their translations to train on; those that are no pair are left out."""
        if self.train_source is not None and self.train_target is not None:
            yield from _both(self.train_source, self.train_target)
        if self.train_input is not None:
            for line in lines(self.train_input):
                sides = line.split(b"\t") if b"\t" in line else SEPARATOR.split(line)
                if len(sides) == 2:
                    yield sides[0].decode("utf-8", "replace"), sides[1].decode("utf-8", "replace")


def _both(source: str, target: str, ends: deque[bytes] | None = None) -> Iterator[tuple[str, str]]:
    """Yield the lines of two files, which must be as many; note how those of the second end."""
    ours, theirs = _text_lines(source), _text_lines(target, ends)
    for number in count():
        first, second = next(ours, None), next(theirs, None)
        if first is None and second is None:
            return
        if first is None or second is None:
            short, long = (source, target) if first is None else (target, source)
            problem = f"{number} lines, fewer than {long}; both must have the same number of lines"
            raise DataError(short, None, problem)
        yield first, second


def _text_lines(path: str, ends: deque[bytes] | None = None) -> Iterator[str]:
    for number, line in enumerate(lines(path) if ends is None else _with_ends(path, ends), 1):
        try:
            yield line.decode()
        except UnicodeDecodeError as error:
            problem = f"byte {error.start + 1} is not UTF-8; convert the file to UTF-8"
            raise DataError(path, number, problem) from None


def _with_ends(path: str, ends: deque[bytes]) -> Iterator[bytes]:
    """Yield lines without their ends, and note these, after the byte order mark that the file may have."""
    with reading(path, mark=True) as file:
        for number, line in enumerate(file):
            if not number:
                ends.append(BOM_UTF8 if line.startswith(BOM_UTF8) else b"")
                line = line.removeprefix(BOM_UTF8)
            text = line.rstrip(b"\n").removesuffix(b"\r")
            ends.append(line[len(text) :])
            yield text


class Report:
    """What was placed how, and how sure that is."""

    def __init__(self) -> None:
        self.tags, self.unsure, self.segments = 0, 0, 0
        self.long: list[int] = []
        self.missing, self.added = 0, 0
        self.left: Counter[str] = Counter()
        self.problems, self.first_problem = 0, ""
        self.how: Counter[str] = Counter()

    def rows(self, found: MarkedText, target: str, number: int) -> Iterator[str]:
        """Count the tags of a segment and the placeholders that differ, and yield a line for each."""
        self.segments += 1
        if found.problem:
            self.add_problem(found.problem)
        if found.tags and found.tags[0].how == BY_POSITION:
            self.long.append(number)
        for tag in found.tags:
            self.tags += 1
            self.how[tag.how] += 1
            self.unsure += tag.confidence < UNSURE
            text = target[tag.begin : tag.end].translate(_PLAIN)
            shown = tag.tag.translate(_PLAIN)
            yield f"{number}\t{shown}\t{tag.confidence:.3f}\t{tag.linked:.3f}\t{tag.how}\t{text}\n"
        yield from self.placeholders(found.missing, found.added, number)

    def add_problem(self, problem: str) -> None:
        """Count a segment whose tags could not be carried over."""
        self.problems += 1
        self.first_problem = self.first_problem or problem

    def warn(self, document: str | None) -> None:
        """Warn of segments that could not be read, and of a document in which nothing was done."""
        if self.problems:
            counted = f"{self.problems} segments are" if self.problems > 1 else "1 segment is"
            _log.warning("%s left without tags, such as %s", counted, self.first_problem)
        if document is not None and not self.segments:
            why = "; ".join(f"{count} {reason}" for reason, count in sorted(self.left.items()) if reason)
            _log.warning("%s: nothing was to be done: %s", document, why or "no segment has tags and a translation")

    def placeholders(self, missing: Sequence[str], added: Sequence[str], number: int) -> Iterator[str]:
        """Count placeholders that a translation lacks, or has beyond those of its source; yield a line for each."""
        self.missing, self.added = self.missing + len(missing), self.added + len(added)
        for how, these in (("missing", missing), ("added", added)):
            for one in these:
                yield f"{number}\t{one.translate(_PLAIN)}\t0.000\t0.000\t{how}\t\n"

    def summary(self) -> str:
        """Return how many tags were placed how."""
        how = ", ".join(f"{count} by {name}" for name, count in sorted(self.how.items()))
        placed = f"{self.segments} segments, {self.tags} tags" + (f": {how}; {self.unsure} unsure" if how else "")
        placed += "".join(f"; {count} {why}, and are as they were" for why, count in sorted(self.left.items()) if why)
        if self.long:
            placed += f"; over-long (more than {WORDS:,} words or {CHARACTERS:,} characters): {len(self.long)}, first"
            placed += f" segment {self.long[0]}; their tags are as far along as in the source"
        differ = f"; placeholders: {self.missing} missing, {self.added} added"
        return placed + (differ if self.missing or self.added else "")


@dataclass
class MarkedFiles:
    """Segments in files whose tags are carried over, in order, by a saved model or by one that is trained on them."""

    files: MarkupFiles
    settings: MarkupSettings
    tokenizing: Tokenizing
    training: AlignerSettings
    run: Run
    watch: Watch
    verify: bool = True
    languages: str | None = None

    def transfer(self) -> None:
        """Carry all tags over and write the translations.

        Raises UsageProblem when files and options do not go together. Raises DataError when a file cannot be read or
        written, tags are not well-formed, or a target has some.
        """
        self.files.check(self.training)
        if self.files.document is not None and self.settings.markup != "xml":
            raise UsageProblem(f"documents have tags of XML; `markup={self.settings.markup}` does not go with them")
        if self.files.document is None and self.languages is not None:
            raise UsageProblem("`languages` says which two of a TMX file are meant; give it as the document")
        self.tokenizing.checked()
        if self.files.segments is not None:
            self._write_segments(self.files.segments)
            return
        report = Report()
        with pool_of(self.run.threads) as pool, ExitStack() as stack:
            run = replace(self.run, threads=pool)
            document = self._translated()
            ends: deque[bytes] = deque()
            pairs = (
                self.files.pairs(self.settings.markup, ends)
                if document is None
                else [(s.source, s.target.text) for s in document.segments]
            )
            if self.files.model is not None:
                model, _ = loaded(self.files.model, pool, self.watch, self.verify, Reading())
            else:
                pairs = list(pairs)
                model = self._trained(pairs, run)
            out = stack.enter_context(writing(self.files.output, exact=True))
            rows = stack.enter_context(writing(self.files.report)) if self.files.report else None
            if rows is not None:
                rows.write(_HEADER.encode())
            transfer = MarkupTransfer(model, self.settings, tokenizing=self.tokenizing)
            with self.watch.stage("placing tags"):
                if document is None:
                    for number, (found, target) in enumerate(self._found(transfer, pairs, pool), 1):
                        self._report(report.rows(found, target, number), rows)
                        out.write((ends.popleft() if number == 1 else b"") + found.text.encode() + ends.popleft())
                        self.watch.tell(f"placing tags: {report.segments} segments")
                else:
                    out.write(self._document(document, transfer, pool, report, rows))
        self.watch.close()
        report.warn(self.files.document)
        self.watch.say(report.summary())

    def _write_segments(self, path: str) -> None:
        """Write the text of a document's segments."""
        document = read_document(self.files.document, self.languages)
        if isinstance(document, TranslationFile):
            raise UsageProblem("XLIFF and TMX have their translations in them; `segments` is for HTML and DOCX")
        with writing(path) as out:
            for line in document.plain():
                out.write(line.encode("utf-8", "xmlcharrefreplace") + b"\n")
        self.watch.close()

    def _translated(self) -> Document[Any] | None:
        """Return the document with its translations, where there is one."""
        if self.files.document is None:
            return None
        document = read_document(self.files.document, self.languages)
        if isinstance(document, TranslationFile):
            if self.files.target is not None:
                raise UsageProblem("XLIFF and TMX have their translations in them; `target` does not go with them")
            return document
        if self.files.target is None:
            kind = "HTML" if isinstance(document, Page) else "DOCX"
            ways = "a line for each segment, or a document like this one"
            raise UsageProblem(f"{self.files.document} is {kind}: give the translation as `target`: {ways}")
        return read_translation(document, self.files.target)

    def _found(self, transfer: MarkupTransfer, pairs: Iterable[Pair], pool: Any) -> Iterator[tuple[MarkedText, str]]:
        """Yield translations with tags, and without."""
        kept: list[str] = []
        for found in transfer.transfer_pairs(_noting(pairs, kept), threads=pool, max_memory=self.run.memory):
            yield found, kept.pop(0)

    def _document(
        self, document: Document[Any], transfer: MarkupTransfer, pool: Any, report: "Report", rows: Output | None
    ) -> bytes:
        """Return a document whose targets have tags."""
        each = list(zip(document.segments, document.wanted, strict=True))
        found = self._found(transfer, [(one.source, one.target.text) for one, wanted in each if wanted], pool)
        written = []
        report.left += document.others
        for problem in document.problems if isinstance(document, TranslationFile) else ():
            report.add_problem(str(problem))
        for number, (one, wanted) in enumerate(each, 1):
            if wanted:
                text, target = next(found)
                self._report(report.rows(text, target, number), rows)
                if not one.unchanged:
                    written.append((one, text.text))
            else:
                report.left[document.why_left(one)] += 1
                texts = decoded(one.source.text)[0], decoded(one.target.text)[0]
                missing, added = missing_placeholders(*texts), missing_placeholders(*texts[::-1])
                self._report(report.placeholders(missing, added, number), rows)
        return document.with_targets(written)

    @staticmethod
    def _report(lines_of: Iterator[str], rows: Output | None) -> None:
        text = "".join(lines_of)
        if rows is not None:
            rows.write(text.encode())

    def _trained(self, pairs: Iterable[tuple[Segment, str]], run: Run) -> Aligner:
        how: dict[str, Any] = {"settings": self.training, "run": run, "keep_text": False, "progress": self.watch}
        model = trained(pairs, self.files.more(), self.tokenizing, **how)
        if self.files.save_model:
            with self.watch.stage("saving"):
                model.save(self.files.save_model)
        return model


def _noting(pairs: Iterable[Pair], kept: list[str]) -> Iterator[Pair]:
    for segment, target in pairs:
        kept.append(target)
        yield segment, target
