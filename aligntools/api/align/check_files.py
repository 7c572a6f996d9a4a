"""Translations in files checked: every pair judged, the worst first, with its line number."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from aligntools.aligning.checking.settings import CheckSettings
from aligntools.api.align.alignments import AlignmentTally
from aligntools.api.align.checking import Checked, Checker, PairCheck
from aligntools.api.align.text_work import OpenedText, TextWork
from aligntools.formats.links.findings import as_text
from aligntools.formats.opening.files import writing
from aligntools.ground.errors import UsageProblem
from aligntools.words.vocabulary import split_words

if TYPE_CHECKING:
    pass

CheckFormat = Literal["tsv", "json"]

#: Tabs and carriage returns, which cannot stand within a field, as spaces.
_PLAIN = str.maketrans("\t\r", "  ")


@dataclass(frozen=True)
class CheckFiles:
    """Files that are read and written besides the text, and what is written; None for what is not.

    Attributes
    ----------
    output : str
        Rows, the worst pair first; ``-`` is standard output.
    output_format : {'tsv', 'json'}
        Rows with tabs between their fields, or an object a line.
    summary : bool
        ``output`` has one line about the text alone.
    flagged : bool
        Leave out pairs that are not flagged.
    in_order : bool
        Pairs as they stand in the text.
    """

    output: str = "-"
    output_format: CheckFormat = "tsv"
    summary: bool = False
    flagged: bool = False
    in_order: bool = False

    def check(self) -> None:
        """Refuse what does not go together."""
        if self.summary and (self.flagged or self.in_order or self.output_format != "tsv"):
            raise UsageProblem("`summary` writes one line; leave out what is about the lines of pairs")


def row(pair: PairCheck, source: str, target: str, form: CheckFormat) -> str:
    """Return the line of a pair."""
    found = pair.finding
    if form == "json":
        return json.dumps(pair.as_dict() | {"source": source, "target": target}, ensure_ascii=False)
    shares = (f"{pair.source_unlinked:.3f}", f"{pair.target_unlinked:.3f}")
    figures = (str(pair.line), f"{pair.score:.2f}", f"{pair.below:.4f}", "flagged" if pair.flagged else "passed")
    return "\t".join(
        [
            *figures,
            *shares,
            as_text(found.words, found.differences).replace("\t", " "),
            *(text.translate(_PLAIN) for text in (source, target)),
        ]
    )


@dataclass
class CheckedText:
    """A text in files that is checked, by a saved model or by one that is trained on it.

    Attributes
    ----------
    work : TextWork
    files : CheckFiles
    settings : CheckSettings
    """

    work: TextWork
    files: CheckFiles
    settings: CheckSettings

    def check(self) -> Checked:
        """Check all pairs, write what was found and return it.

        The text is kept in memory: the pairs have to be put in order, and what is usual is learned from all of them.

        Raises
        ------
        UsageProblem
            When files and options do not go together.
        DataError
            When a file cannot be read or written.
        """
        self.work.check()
        self.files.check()
        tally, watch = AlignmentTally(), self.work.watch
        shown: tuple[list[str], list[str]] = ([], [])
        with self.work.opened() as text, watch.stage("checking"):
            model, blocks = text.aligned()
            checker = Checker(model, self.settings)
            for block in blocks:
                lines = text.raw.read(len(block))
                words = self._words(text.tokens.read(len(block)) if text.tokens else lines, text)
                texts = [[line.decode("utf-8", "replace") for line in side] for side in lines]
                checker.add(block, words, texts)
                for side in (0, 1):
                    shown[side].extend(texts[side])
                tally.add(block)
                watch.tell(f"checking: {tally.pairs} pairs")
        found = checker.judged()
        self._write(found, shown)
        watch.close()
        if unread := tally.skipped.summary():
            watch.say(f"not checked: {unread}")
        if not self.files.summary:
            watch.say(found.summary())
        return found

    def _words(self, lines: list[Any], text: OpenedText) -> list[list[list[str]]]:
        spaced = (text.tokens or text.raw).spaced(lines) if text.reading.split == "unicode" else lines
        return [[split_words(line.decode("utf-8", "replace")) for line in side] for side in spaced]

    def _write(self, found: Checked, shown: tuple[list[str], list[str]]) -> None:
        with writing(self.files.output) as out:
            if self.files.summary:
                out.write(found.summary().encode() + b"\n")
                return
            for pair in found.pairs if self.files.in_order else found.worst:
                if pair.flagged or not self.files.flagged:
                    source, target = (side[pair.line - 1] for side in shown)
                    line = row(pair, source, target, self.files.output_format)
                    out.write(line.encode("utf-8", "replace") + b"\n")
