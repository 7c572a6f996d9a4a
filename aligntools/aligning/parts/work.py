"""What jobs know: the folder, the settings, and the names of the files of parts and shards."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.aligning.settings import ResolvedSettings
from aligntools.formats.text.corpus import Bitext, Side, Skipped
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


def save_text(store: Store, name: str, bitext: Bitext) -> None:
    """Keep a part of the text."""
    arrays: dict[str, np.ndarray] = {}
    for side in ("source", "target"):
        text, vocabulary = getattr(bitext, side), getattr(bitext, f"{side}_vocabulary")
        arrays |= {f"{side}.tokens": text.tokens, f"{side}.offsets": text.offsets}
        arrays |= {f"{side}.blob": vocabulary.blob, f"{side}.starts": vocabulary.starts}
    store.write(name, skipped_facts(bitext.skipped), **arrays)


def load_text(store: Store, name: str) -> Bitext:
    """Return a part of the text."""
    a = store.read_all(name)
    sides = [Side(a[f"{side}.tokens"], a[f"{side}.offsets"]) for side in ("source", "target")]
    words = [Vocabulary(a[f"{side}.blob"], a[f"{side}.starts"]) for side in ("source", "target")]
    return Bitext(sides[0], sides[1], words[0], words[1], skipped_of(store.about(name)))


def skipped_facts(skipped: Skipped) -> dict[str, Any]:
    """Return what was skipped, for JSON."""
    return {"counts": skipped.counts, "first": skipped.first, "malformed": skipped.malformed_lines}


def skipped_of(facts: dict[str, Any]) -> Skipped:
    """Return what was skipped."""
    return Skipped(facts["counts"], facts["first"], facts["malformed"])


@dataclass(frozen=True)
class ViewWork:
    """A view of a text in parts, and how its table is cut into shards.

    number: Of the view.
    letters: That words are cut to.
    """

    work: PartedText
    number: int
    letters: int

    @property
    def store(self) -> Store:
        """The folder."""
        return self.work.store

    @property
    def settings(self) -> ResolvedSettings:
        """The settings."""
        return self.work.settings

    @property
    def parts(self) -> int:
        """Parts of the text."""
        return self.work.parts

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
