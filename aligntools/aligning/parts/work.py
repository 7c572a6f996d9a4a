"""What jobs know: the folder, the settings, and the names of the files of parts and shards."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aligntools.aligning.settings import ResolvedSettings
from aligntools.formats.text.corpus import Bitext, Side, Skipped
from aligntools.ground.engines import Engine, JobFunction
from aligntools.ground.run import Report
from aligntools.store.stores import Store
from aligntools.words.vocabulary import Vocabulary

#: A part ends before its pairs do when it has so many words on both sides together.
PART_WORDS = 6_000_000
#: Link-matrix cells that are worked at a time. Fixed, since sums over them are rounded.
CELLS = 8_000_000


@dataclass(frozen=True)
class PartedText:
    """A text in parts.

    files: How many parts each file of the text has.
    best: Whether the network decides on links.
    """

    store: Store
    settings: ResolvedSettings
    files: tuple[int, ...]
    best: bool = False

    @property
    def parts(self) -> int:
        """Parts of the whole text."""
        return sum(self.files)

    def views(self) -> "list[ViewWork]":
        """Return the work on each view."""
        own = self.store, self.settings, self.files, self.best
        return [ViewWork(*own, number, letters) for number, letters in enumerate(self.settings.views)]

    def place(self, part: int) -> tuple[int, int]:
        """Return which file a part is of, and its number there."""
        file = 0
        while part >= self.files[file]:
            part -= self.files[file]
            file += 1
        return file, part

    def text(self, part: int) -> Bitext:
        """Return a part of the text, with words of its own."""
        return load_text(self.store, text_name(*self.place(part)))


def text_name(file: int, part: int) -> str:
    """Return the name of a part of one file."""
    return f"text.{file:05d}.{part:06d}"


def written_name(file: int, part: int) -> str:
    """Return the name of a part of one file, as it is written."""
    return f"written.{file:05d}.{part:06d}"


def words_named(name: str, vocabulary: Any) -> dict[str, np.ndarray]:
    """Return the words of a vocabulary as arrays, under a name."""
    return {f"{name}.blob": vocabulary.blob, f"{name}.starts": vocabulary.starts}


def save_text(store: Store, name: str, bitext: Bitext) -> None:
    """Keep a part of the text."""
    arrays: dict[str, np.ndarray] = {}
    for side in ("source", "target"):
        text = getattr(bitext, side)
        arrays |= {f"{side}.tokens": text.tokens, f"{side}.offsets": text.offsets}
        arrays |= words_named(side, getattr(bitext, f"{side}_vocabulary"))
    skipped = bitext.skipped
    facts = {"counts": skipped.counts, "first": skipped.first, "malformed": skipped.malformed_lines}
    store.write(name, facts, **arrays)


def load_text(store: Store, name: str) -> Bitext:
    """Return a part of the text."""
    a = store.read_all(name)
    sides = [Side(a[f"{side}.tokens"], a[f"{side}.offsets"]) for side in ("source", "target")]
    words = [Vocabulary(a[f"{side}.blob"], a[f"{side}.starts"]) for side in ("source", "target")]
    facts = store.about(name)
    skipped = Skipped(facts["counts"], facts["first"], facts["malformed"])
    return Bitext(sides[0], sides[1], words[0], words[1], skipped)


@dataclass(frozen=True)
class ViewWork(PartedText):
    """A view of a text in parts, and how its table is cut into shards."""

    number: int = 0
    letters: int = 0

    @property
    def arrays(self) -> int:
        """How many counts a pair of words has: one where the directions are joint."""
        return 1 if self.settings.agreement else 2

    def name(self, what: str, *numbers: int) -> str:
        """Return the name of what this view keeps."""
        return ".".join([f"v{self.number}", what, *(f"{n:06d}" for n in numbers)])

    def shards(self) -> int:
        """Return how many shards the table has."""
        return len(self.store.read(self.name("cuts"), "bounds")[0]) - 1


def number_of(ids: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the places of global ids among a part's, which ascend, int32."""
    return np.searchsorted(ids, wanted).astype(np.int32)


@dataclass
class JobRunner:
    """Runs the jobs of a training in parts on an engine, those of one kind at a time.

    report: Called with a dict after the jobs of a kind: their name (``stage``) and what they found.
    advance: Called after each job with its name, how many of the kind are done, and how many there are.
    """

    engine: Engine
    report: Report = lambda _: None
    advance: Callable[[str, int, int], None] = field(default=lambda _name, _done, _of: None)

    def run(self, name: str, function: JobFunction, jobs: Sequence[Any], **figures: Any) -> None:
        """Run a function for each job, and report it."""
        done = 0

        def one() -> None:
            nonlocal done
            done += 1
            self.advance(name, done, len(jobs))

        self.engine.run(name, function, jobs, one)
        self.report({"stage": name, "jobs": len(jobs), **figures})
