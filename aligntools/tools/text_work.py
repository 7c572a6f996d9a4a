"""Text in files that a saved model aligns, or one that is trained on it: what tasks on aligned text begin with."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from aligntools.aligning.aligner import Aligner
from aligntools.aligning.aligner_training import tell_unused, train_with
from aligntools.aligning.alignment import text_with_evidence
from aligntools.aligning.alignments import Alignments
from aligntools.aligning.evidence import EvidenceOptions
from aligntools.aligning.files import loaded
from aligntools.aligning.settings import AlignerSettings
from aligntools.aligning.text_files import TextFiles, TextSides, raw_text
from aligntools.formats.text.text_settings import Reading
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import pool_of
from aligntools.ground.progress import Watch
from aligntools.ground.run import Run

#: Links below this posterior count for nothing.
LEAST = 0.02


def qualities(model: Aligner, *texts: Any, **options: Any) -> Iterator[Alignments]:
    """Align as `Aligner.align_blocks` does, with every link that counts for a pair's quality."""
    least = LEAST if model.settings.direction == "both" else None  # one direction has each word's best link
    yield from model.align_blocks(*texts, threshold=least, directions=False, **options)


@dataclass
class OpenedText:
    """A text that is being read, as a saved model asks for: its lines as they are, and tokens where it has some."""

    work: "TextWork"
    model: Aligner | None
    reading: Reading
    run: Run
    raw: Any
    tokens: Any

    @property
    def inputs(self) -> TextSides:
        """What functions take in place of the text's files."""
        return tuple((self.tokens or self.raw).inputs)

    def aligned(self) -> tuple[Aligner, Iterator[Alignments]]:
        """Return a model, which is trained on the text and saved where there is none, and the text aligned by it."""
        if self.model is not None:
            return self.model, qualities(self.model, *self.inputs, reading=self.reading, run=self.run)
        watch, training = self.work.watch, self.work.training
        tell_unused(training)
        evidence = self.work.evidence.chosen(training.best)
        bitext, known = text_with_evidence(*self.inputs, evidence, self.reading, self.run, watch)
        how: Any = {"reading": self.reading, "run": self.run, "keep_text": False, "progress": watch, "known": known}
        aligner = train_with(bitext, training, **how)
        if self.work.save_model:
            with watch.stage("saving"):
                aligner.save(self.work.save_model)
        return aligner, qualities(aligner, bitext, run=self.run)


@dataclass
class TextWork:
    """A text in files, what aligns it (a saved model, or one that is trained and may be saved), and how."""

    text: TextFiles
    training: AlignerSettings
    reading: Reading
    run: Run
    watch: Watch = field(default_factory=Watch)
    model: str | None = None
    save_model: str | None = None
    verify: bool = True
    evidence: EvidenceOptions = EvidenceOptions()  # noqa: RUF009

    def check(self) -> None:
        """Refuse a text that is not given in one of the two ways, and options of training beside a saved model."""
        self.text.check()
        given = {"save_model": self.save_model is not None, "case_sensitive": self.reading.case_sensitive}
        given |= {name: value != getattr(AlignerSettings, name) for name, value in vars(self.training).items()}
        name = next((name for name, there in given.items() if there), None)
        if self.model and name:
            raise UsageProblem(f"`{name}` is for a new model; `model` applies a saved one")

    @contextmanager
    def opened(self, live: bool | None = None, copies: bool = False) -> Iterator[OpenedText]:
        """Open the text while the block runs; ``copies``: units of TMX and the like are to be written as they stand.

        live: Whether lines are asked for while they are read, not once the text is read; None: with a saved model.
        """
        with pool_of(self.run.threads) as pool, ExitStack() as stack:
            model, reading = None, self.reading
            if self.model is not None:
                model, reading = loaded(self.model, pool, self.watch, self.verify, reading, self.evidence)
            raw, tokens = raw_text(self.text, reading, model is not None if live is None else live, copies)
            for one in filter(None, (raw, tokens)):
                stack.callback(one.close)
            yield OpenedText(self, model, reading, replace(self.run, threads=pool), raw, tokens)
