"""Texts in files translated: in parts or line by line, translations and what else is wanted of them written."""

import contextlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Any

from aligntools.api.running.answering import Unanswered, answer, check_unbuffered
from aligntools.api.running.threads import pool_of
from aligntools.api.running.watching import LineWatch
from aligntools.api.translate.translation import Translator
from aligntools.api.translate.translation_output import SystemFiles as SystemFiles
from aligntools.api.translate.translation_output import TranslationOutput, Written, prepared, written
from aligntools.formats.opening.files import writing
from aligntools.formats.text.reading import Split
from aligntools.formats.text.requests import stream_requests
from aligntools.ground.errors import UsageProblem
from aligntools.ground.running import Run
from aligntools.translating.settings import DecoderSettings, LatticeSettings, TranslationLists
from aligntools.translating.text import Lines
from aligntools.words.white_space import split_as


@dataclass(frozen=True)
class TranslationFiles:
    """Files that are read and written besides those of the system; None for what is not.

    texts: None of them is standard input, ``-``.
    output: Translations, or lists of candidates.
    hypergraphs: Packed derivations.
    derivations: The rules that made each translation.
    """

    texts: Sequence[str] = ()
    output: str = "-"
    hypergraphs: str | None = None
    derivations: str | None = None


@dataclass(frozen=True)
class Translated:
    """What was translated.

    score: The sum of the translations' scores; None where lists were made.
    """

    sentences: int
    score: float | None


class _Outputs:
    """The files, opened whole-or-nothing, and what was written to them."""

    def __init__(self, stack: ExitStack, files: TranslationFiles) -> None:
        self.sentences, self.score = 0, 0.0
        self.out = stack.enter_context(writing(files.output))
        others = files.hypergraphs, files.derivations
        self._others = [stack.enter_context(writing(path)) if path else None for path in others]

    def write(self, part: Written) -> None:
        """Write a part."""
        self.out.write(part.lines)
        for other, data in zip(self._others, (part.hypergraphs, part.derivations), strict=True):
            if other is not None:
                other.write(data)
        self.out.flush()
        self.score += sum(part.scores)
        self.sentences += part.sentences


@dataclass
class Translating:
    """Texts in files, and what is to be done with them.

    lattices: What is read in the place of sentences.
    lists: What is written in the place of translations.
    split: What separates words of the texts.
    verify: Check the checksums of files.
    unbuffered: Answer each line before the next is read.
    ending: Returns a context in which lines are answered, and that may end the reading.
    """

    system: SystemFiles
    files: TranslationFiles
    decoding: DecoderSettings
    lattices: LatticeSettings
    lists: TranslationLists
    run: Run
    watch: LineWatch
    split: Split | None = None
    verify: bool = True
    unbuffered: bool = False
    ending: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext

    @property
    def _listed(self) -> bool:
        return self.lists.n_best is not None or self.lists.samples is not None

    @property
    def _texts(self) -> Sequence[str]:
        return self.files.texts or ("-",)

    def check(self) -> None:
        """Refuse what does not go together, before anything is read."""
        if not self.unbuffered:
            return
        if self._listed or self.files.hypergraphs or self.files.derivations:
            more = "`n_best`, `samples`, `hypergraphs` and `derivations`"
            raise UsageProblem(f"`unbuffered` answers a line with a line; leave out {more}")
        if self.lattices.input != "text":
            raise UsageProblem(f"`unbuffered` is for sentences; leave it out with `input={self.lattices.input}`")
        check_unbuffered(self.unbuffered, self.run)

    def translate(self) -> Translated:
        """Translate the texts.

        Raises UsageProblem when files and options do not go together. Raises DataError when a file cannot be read or
        written.
        """
        self.check()
        files = self.files
        wanted = TranslationOutput(self.lists, files.hypergraphs is not None, files.derivations is not None)
        texts = None if self.unbuffered else self._texts
        translator, parts = prepared(
            texts,
            self.system,
            self.decoding,
            self.lattices,
            wanted,
            split=self.split,
            verify=self.verify,
            run=self.run,
        )
        self.watch.begin("translating", unit="sentence")
        with ExitStack() as stack:
            out = _Outputs(stack, files)
            if self.unbuffered:
                self._answer(translator, out)
            else:
                done = written(translator, wanted, parts, self.run)
                del translator  # workers have it
                self._write(done, out)
        return Translated(out.sentences, None if self._listed else out.score)

    def _write(self, parts: Iterable[Written], out: _Outputs) -> None:
        """Write the parts of the texts."""
        for part in parts:
            out.write(part)
            self.watch.tell(f"{out.sentences} sentences translated")

    def _answer(self, translator: Translator, out: _Outputs) -> None:
        """Translate each line before the next is read."""
        unanswered = Unanswered()

        def translated(own: Translator, text: Lines) -> bytes:
            (found,) = own.translate_batch(text)
            out.sentences += 1
            out.score += found.score
            return str(found).encode("utf-8", "surrogateescape") + b"\n"

        with pool_of(self.run.threads) as pool, self.ending():
            own = translator.with_threads(pool)
            for path in self._texts:
                requests: Any = stream_requests(split_as(path, self.split), "text")
                answer(requests, path, lambda text: translated(own, text), out.out, unanswered)
            if line := unanswered.summary():
                self.watch.say(line)
