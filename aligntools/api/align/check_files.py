"""Translations in files checked: every pair judged, the worst first, with its line number."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from aligntools.aligning.checking.settings import CheckSettings
from aligntools.aligning.settings import AlignerSettings
from aligntools.api.align.aligner import Aligner
from aligntools.api.align.alignment import read_bitext, train_aligner
from aligntools.api.align.alignments import Alignments, Tally
from aligntools.api.align.checking import Checked, Checker, PairCheck
from aligntools.api.align.files import loaded
from aligntools.api.align.filtering import qualities
from aligntools.api.align.text_files import TextFiles, raw_text
from aligntools.api.running.threads import pool_of
from aligntools.api.running.watching import Watch
from aligntools.formats.links.findings import as_text
from aligntools.formats.opening.files import writing
from aligntools.formats.text.reading import Reading
from aligntools.ground.errors import UsageProblem
from aligntools.ground.running import Run

if TYPE_CHECKING:
    from aligntools.formats.text.raw_pairs import RawPairs

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
    model : str
        A saved model that judges.
    save_model : str
        Where the model is saved that is trained in the place of one.
    """

    output: str = "-"
    output_format: CheckFormat = "tsv"
    summary: bool = False
    flagged: bool = False
    in_order: bool = False
    model: str | None = None
    save_model: str | None = None

    def check(self, training: AlignerSettings, reading: Reading) -> None:
        """Refuse what does not go together."""
        of_training = {
            "case_sensitive": reading.case_sensitive,
            "fast": training.fast,
            "save_model": self.save_model is not None,
            "seed": training.seed != AlignerSettings.seed,
        }
        if self.model and any(of_training.values()):
            name = next(name for name, given in of_training.items() if given)
            raise UsageProblem(f"`{name}` is for a new model; `model` applies a saved one")
        if self.summary and (self.flagged or self.in_order or self.output_format != "tsv"):
            raise UsageProblem("`summary` writes one line; leave out what is about the lines of pairs")


def _split(line: bytes) -> list[str]:
    """Return the words of a line."""
    words = line.decode("utf-8", "replace").replace("\t", " ").split(" ")
    return [word for word in words if word]


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
            *(text.translate(_PLAIN) for text in (as_text(found.words, found.differences), source, target)),
        ]
    )


@dataclass
class CheckedText:
    """A text in files that is checked, by a saved model or by one that is trained on it.

    Attributes
    ----------
    text : TextFiles
    files : CheckFiles
    settings : CheckSettings
    training : AlignerSettings
    reading : Reading
    run : Run
    watch : Watch
    verify : bool
        Check a saved model's checksum.
    """

    text: TextFiles
    files: CheckFiles
    settings: CheckSettings
    training: AlignerSettings
    reading: Reading
    run: Run
    watch: Watch
    verify: bool = True

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
        self.text.check()
        self.files.check(self.training, self.reading)
        tally = Tally()
        shown: tuple[list[str], list[str]] = ([], [])
        with pool_of(self.run.threads) as pool:
            model, reading = None, self.reading
            if self.files.model is not None:
                model, reading = loaded(self.files.model, pool, self.watch, self.verify, reading)
            raw, tokens = raw_text(self.text, reading, applied=model is not None)
            with closing(raw), closing(tokens or raw), self.watch.stage("checking"):
                model, blocks = self._blocks(model, (tokens or raw).inputs, reading, replace(self.run, threads=pool))
                checker = Checker(model, self.settings)
                for block in blocks:
                    lines = raw.read(len(block))
                    words = self._words(tokens.read(len(block)) if tokens else lines, tokens or raw, reading)
                    texts = [[line.decode("utf-8", "replace") for line in side] for side in lines]
                    checker.add(block, words, texts)
                    for side in (0, 1):
                        shown[side].extend(texts[side])
                    tally.add(block)
                    self.watch.tell(f"checking: {tally.pairs} pairs")
        found = checker.judged()
        self._write(found, shown)
        self.watch.close()
        if unread := tally.skipped.summary():
            self.watch.say(f"not checked: {unread}")
        if not self.files.summary:
            self.watch.say(found.summary())
        return found

    def _words(self, lines: list[Any], text: "RawPairs", reading: Reading) -> list[list[list[str]]]:
        spaced = text.spaced(lines) if reading.split == "unicode" else lines
        return [[_split(line) for line in side] for side in spaced]

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

    def _blocks(
        self, model: Aligner | None, inputs: Any, reading: Reading, run: Run
    ) -> tuple[Aligner, Iterator[Alignments]]:
        """Return a model, which is trained on the text where there is none, and the text aligned by it."""
        if model is not None:
            return model, qualities(model, *inputs, reading=reading, run=run)
        with self.watch.stage("reading"):
            bitext = read_bitext(*inputs, reading=reading)
        how: Any = {"reading": reading, "run": run, "keep_text": False, "progress": self.watch}
        aligner = train_aligner(bitext, None, self.training, **how)
        if self.files.save_model:
            with self.watch.stage("saving"):
                aligner.save(self.files.save_model)
        return aligner, qualities(aligner, bitext, run=run)
