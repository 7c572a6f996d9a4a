"""Tags carried over in files: segments one a line, or documents."""

import logging
from codecs import BOM_UTF8
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any

from aligntools.aligning.evidence import EvidenceOptions
from aligntools.aligning.files import loaded
from aligntools.aligning.settings import AlignerSettings
from aligntools.formats.markup.documents import Document, read_document, read_translation
from aligntools.formats.markup.segments import decoded
from aligntools.formats.markup.webpages import Page
from aligntools.formats.markup.xliff import TranslationFile
from aligntools.formats.opening.files import lines, reading
from aligntools.formats.text.text_settings import Reading, Tokenizing
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.parallel import Pool, pool_of
from aligntools.ground.progress import Watch
from aligntools.ground.run import Run
from aligntools.pipeline import Part, Sinks, Tally, map_parts
from aligntools.projecting.markup.markup_transfer import (
    MarkedText,
    MarkupTransfer,
    Pair,
    blocks_of,
    pair_or_error,
    trained,
)
from aligntools.projecting.markup.markup_transfer import MarkupSettings as MarkupSettings
from aligntools.projecting.markup.placement import BY_POSITION
from aligntools.projecting.markup.transfer import CHARACTERS, WORDS
from aligntools.projecting.markup.words import missing_placeholders
from aligntools.words.line_scan import SEPARATOR

#: Less sure than this, a tag counts as unsure.
UNSURE = 0.5
_HEADER = "segment\ttag\tconfidence\tlinked\tplaced by\ttext\n"
_log = logging.getLogger("aligntools")
_PLAIN = str.maketrans("\t\n\r", "   ")


def _both(source: str, target: str, ends: deque[bytes]) -> Iterator[tuple[str, str]]:
    """Yield the lines of two files, which must be as many; note how those of the second end."""
    for number, both in enumerate(zip_longest(lines(source), _with_ends(target, ends)), 1):
        texts = []
        for path, line in zip((source, target), both, strict=True):
            try:
                texts.append((line or b"").decode())
            except UnicodeDecodeError as error:
                problem = f"byte {error.start + 1} is not UTF-8; convert the file to UTF-8"
                raise DataError(path, number, problem) from None
        if None in both:
            short, long = (source, target) if both[0] is None else (target, source)
            problem = f"{number - 1} lines, fewer than {long}; both must have the same number of lines"
            raise DataError(short, None, problem)
        yield texts[0], texts[1]


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
    """Counts of tags by how they were placed, and the confidence."""

    def __init__(self) -> None:
        self.unsure = self.segments = 0
        self.long, self.problems = list[int](), list[str]()
        self.left, self.how, self.differ = Counter[str](), Counter[str](), Counter[str]()

    def rows(self, found: MarkedText, target: str, number: int) -> Iterator[str]:
        """Count the tags of a segment and the placeholders that differ, and yield a line for each."""
        self.segments += 1
        if found.problem:
            self.problems.append(found.problem)
        if found.tags and found.tags[0].how == BY_POSITION:
            self.long.append(number)
        for tag in found.tags:
            self.how[tag.how] += 1
            self.unsure += tag.confidence < UNSURE
            text = target[tag.begin : tag.end].translate(_PLAIN)
            shown = tag.tag.translate(_PLAIN)
            yield f"{number}\t{shown}\t{tag.confidence:.3f}\t{tag.linked:.3f}\t{tag.how}\t{text}\n"
        yield from self.placeholders(found.missing, found.added, number)

    def warn(self, document: str | None) -> None:
        """Warn of segments that could not be read, and of a document in which nothing was done."""
        if self.problems:
            counted = f"{len(self.problems)} segments are" if len(self.problems) > 1 else "1 segment is"
            _log.warning("%s left without tags, such as %s", counted, self.problems[0])
        if document is not None and not self.segments:
            why = "; ".join(f"{count} {reason}" for reason, count in sorted(self.left.items()) if reason)
            _log.warning("%s: nothing was to be done: %s", document, why or "no segment has tags and a translation")

    def placeholders(self, missing: Sequence[str], added: Sequence[str], number: int) -> Iterator[str]:
        """Count placeholders that a translation lacks, or has beyond those of its source; yield a line for each."""
        for how, these in (("missing", missing), ("added", added)):
            self.differ[how] += len(these)
            for one in these:
                yield f"{number}\t{one.translate(_PLAIN)}\t0.000\t0.000\t{how}\t\n"

    def summary(self) -> str:
        """Return how many tags were placed how."""
        how = ", ".join(f"{count} by {name}" for name, count in sorted(self.how.items()))
        placed = f"{self.segments} segments, {self.how.total()} tags" + (
            f": {how}; {self.unsure} unsure" if how else ""
        )
        placed += "".join(f"; {count} {why}, and are as they were" for why, count in sorted(self.left.items()) if why)
        if self.long:
            placed += f"; over-long (more than {WORDS:,} words or {CHARACTERS:,} characters): {len(self.long)}, first"
            placed += f" segment {self.long[0]}; their tags are as far along as in the source"
        differ = f"; placeholders: {self.differ['missing']} missing, {self.differ['added']} added"
        return placed + (differ if self.differ.total() else "")


def transfer_markup_files(
    settings: MarkupSettings,
    tokenizing: Tokenizing,
    training: AlignerSettings,
    run: Run,
    *,
    watch: Watch,
    source: str | None = None,
    target: str | None = None,
    output: str = "-",
    document: str | None = None,
    segments: str | None = None,
    report: str | None = None,
    model: str | None = None,
    train: bool = False,
    train_source: str | None = None,
    train_target: str | None = None,
    train_input: str | None = None,
    save_model: str | None = None,
    verify: bool = True,
    languages: str | None = None,
    evidence: EvidenceOptions = EvidenceOptions(),  # noqa: B008
) -> None:
    """Carry all tags over, in order, by a saved model or by one that is trained on them, and write the translations.

    source, target: Segments with tags and their translations without, one a line.
    document: In the place of ``source``. XLIFF and TMX have the translations in them; of HTML and DOCX ``target`` is
        the translation: a line for each segment, or a document with the same blocks. All else is written as it is.
    segments: The text of a document's segments, one a line without tags, to be translated; nothing else is done.
    """
    if (source is None) == (document is None) or (source is not None and target is None):
        ways = "the segments with tags as `source` and their translations as `target`, or a document"
        raise UsageProblem(f"give {ways}")
    if document is not None and settings.markup != "xml":
        raise UsageProblem(f"documents have tags of XML; `markup={settings.markup}` does not go with them")
    if document is None and (languages is not None or segments is not None):
        problem = "`segments` writes the text of a document; give one"
        if languages is not None:
            problem = "`languages` is for TMX documents; give a TMX file as the document"
        raise UsageProblem(problem)
    tokenizing.checked()
    if segments is not None:
        found_in = read_document(str(document), languages)
        if isinstance(found_in, TranslationFile):
            raise UsageProblem("XLIFF and TMX have their translations in them; `segments` is for HTML and DOCX")
        with Sinks(output=segments) as sinks:
            for line in found_in.plain():
                sinks.write({"output": line.encode("utf-8", "xmlcharrefreplace") + b"\n"}, flush=False)
        return
    if (model is None) != train:
        raise UsageProblem("give a saved model as `model`, or `train` one on these segments")
    found, ends = Report(), deque[bytes]()
    with pool_of(run.threads) as pool:
        run = replace(run, threads=pool)
        whole = None if document is None else _translated(document, target, languages)
        pairs: Iterable[Pair]
        if whole is not None:
            pairs = [(s.source, s.target.text) for s in whole.segments]
        else:
            files = str(source), str(target)
            both = enumerate(_both(*files, ends), 1)
            pairs = (pair_or_error(*sides, files, number, settings.markup) for number, sides in both)
        if model is not None:
            aligner, _ = loaded(model, pool, watch, verify, Reading(), evidence)
        else:
            pairs = list(pairs)
            if not pairs and train_source is None and train_input is None:
                raise DataError(str(document or source), None, "has no segments to train on; give them, or more text")
            more = _more(train_source, train_target, train_input)
            how: dict[str, Any] = {"settings": training, "run": run, "keep_text": False, "progress": watch}
            aligner = trained(pairs, more, tokenizing, **how, **evidence.keywords())
            if save_model:
                with watch.stage("saving"):
                    aligner.save(save_model)
        transfer = MarkupTransfer(aligner, settings, tokenizing=tokenizing)
        with Sinks(("output",), output=output, report=report) as sinks, watch.stage("placing tags"):
            sinks.write({"report": _HEADER.encode()}, flush=False)
            if whole is not None:
                sinks.write({"output": _document(whole, transfer, run, pool, found, sinks)}, flush=False)
            else:
                for number, (text, plain) in enumerate(_marked(transfer, pairs, run, pool), 1):
                    begin = ends.popleft() if number == 1 else b""
                    written = begin + text.text.encode() + ends.popleft()
                    rows = "".join(found.rows(text, plain, number))
                    sinks.write({"output": written, "report": rows.encode()}, flush=False)
                    watch.tell(f"placing tags: {found.segments} segments")
    watch.close()
    found.warn(document)
    watch.say(found.summary())


def _more(source: str | None, target: str | None, joint: str | None) -> Iterator[tuple[str, str]]:
    """Yield more sentences and their translations to train on; those that are no pair are left out."""
    if source is not None and target is not None:
        yield from _both(source, target, deque(maxlen=0))
    for line in () if joint is None else lines(joint):
        sides = line.split(b"\t") if b"\t" in line else SEPARATOR.split(line)
        if len(sides) == 2:
            yield sides[0].decode("utf-8", "replace"), sides[1].decode("utf-8", "replace")


def _translated(path: str, target: str | None, languages: str | None) -> Document:
    document = read_document(path, languages)
    if isinstance(document, TranslationFile):
        if target is not None:
            raise UsageProblem("XLIFF and TMX have their translations in them; `target` does not go with them")
        return document
    if target is None:
        kind = "HTML" if isinstance(document, Page) else "DOCX"
        ways = "a line for each segment, or a document like this one"
        raise UsageProblem(f"{path} is {kind}: give the translation as `target`: {ways}")
    return read_translation(document, target)


def _marked(transfer: MarkupTransfer, pairs: Iterable[Pair], run: Run, pool: Pool) -> Iterator[tuple[MarkedText, str]]:
    parts = (Part("", 0, 0, block) for block in blocks_of(pairs))
    for found in map_parts(partial(_marked_part, run.memory), transfer, parts, run, pool, Tally()):
        yield from found


def _marked_part(memory: int | None, transfer: MarkupTransfer, part: Part, pool: Pool) -> list[tuple[MarkedText, str]]:
    found = transfer.transfer_pairs(part.text, threads=pool, max_memory=memory)
    return [(text, target) for text, (_, target) in zip(found, part.text, strict=True)]


def _document(
    document: Document, transfer: MarkupTransfer, run: Run, pool: Pool, report: Report, sinks: Sinks
) -> bytes:
    each = list(zip(document.segments, document.wanted, strict=True))
    found = _marked(transfer, [(one.source, one.target.text) for one, wanted in each if wanted], run, pool)
    written = []
    report.left += document.others
    report.problems += map(str, document.problems) if isinstance(document, TranslationFile) else ()
    for number, (one, wanted) in enumerate(each, 1):
        if wanted:
            text, target = next(found)
            rows = report.rows(text, target, number)
            if not one.unchanged:
                written.append((one, text.text))
        else:
            report.left[document.why_left(one)] += 1
            texts = decoded(one.source.text)[0], decoded(one.target.text)[0]
            missing, added = missing_placeholders(*texts), missing_placeholders(*texts[::-1])
            rows = report.placeholders(missing, added, number)
        sinks.write({"report": "".join(rows).encode()}, flush=False)
    made: bytes = document.with_targets(written)
    return made
