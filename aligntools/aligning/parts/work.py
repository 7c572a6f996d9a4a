"""What jobs share: the folder, the settings, and the files of parts and shards. Also how a text is cut into parts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aligntools.aligning.alignments import Alignments
from aligntools.aligning.settings import PART_PAIRS, Decisions, ResolvedSettings
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.text.bitext import bitext_in_parts
from aligntools.formats.text.corpus import Bitext, Side, Skipped, in_lower_case
from aligntools.ground.engines import Engine, JobFunction
from aligntools.ground.parallel import Pool
from aligntools.ground.run import Report
from aligntools.store.stores import Store
from aligntools.words.vocabulary import Vocabulary

#: A part ends before its pairs do when it has so many words on both sides together.
PART_WORDS = 6_000_000
#: Of all parts, what `PartedText.sizes` returns.
SIZES = "sizes"
#: Link-matrix cells that are worked at a time. Fixed, since sums over them are rounded.
CELLS = 8_000_000


@dataclass(frozen=True)
class PartedText:
    """A text in parts.

    files: How many parts each file of the text has.
    best: Whether the network decides on links.
    decisions, directions: How the last pass of training decides on links, and whether on those of the directions too.
    """

    store: Store
    settings: ResolvedSettings
    files: tuple[int, ...]
    best: bool = False
    decisions: Decisions | None = None
    directions: bool = True

    @property
    def parts(self) -> int:
        """Parts of the whole text."""
        return sum(self.files)

    def views(self) -> "list[ViewWork]":
        """Return the work on each view."""
        own = self.store, self.settings, self.files, self.best, self.decisions, self.directions
        return [ViewWork(*own, number, letters) for number, letters in enumerate(self.settings.views)]

    def sizes(self) -> np.ndarray:
        """Return of each part its pairs, its words on either side and its link-matrix cells, int64 [parts, 4]."""
        return self.store.read(SIZES, "sizes")[0]

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


def links_name(part: int) -> str:
    """Return the name of a part's links."""
    return f"links.{part:06d}"


def save_links(work: PartedText, part: int, found: Alignments) -> None:
    """Keep the links of a part."""
    arrays = {name: getattr(found, name) for name in ("log_likelihood", "lengths", "probabilities")}
    for key, of in (("links", found.table), ("forward", found.forward_table), ("reverse", found.reverse_table)):
        if of is not None:
            arrays |= {f"{key}.pairs": of.pairs, f"{key}.offsets": of.offsets}
    work.store.write(links_name(part), **arrays)


def links_of(work: PartedText, part: int) -> Alignments:
    """Return the links of a part."""
    a = work.store.read_all(links_name(part))

    def table(key: str) -> Links | None:
        return Links(a[f"{key}.pairs"], a[f"{key}.offsets"]) if f"{key}.pairs" in a else None

    return Alignments(
        Links(a["links.pairs"], a["links.offsets"]),
        a["probabilities"],
        table("forward"),
        table("reverse"),
        a["log_likelihood"],
        a["lengths"],
        work.text(part).skipped,
    )


@dataclass(frozen=True)
class PartReading:
    """Where the text is and how it is read: of each file or pair of files the arguments of `bitext.read_bitext`.

    ``written`` keeps a copy of each part before it is put in lower case.
    """

    store: Store
    files: tuple[dict[str, Any], ...]
    how: Mapping[str, Any] = field(default_factory=dict)
    pairs: int = PART_PAIRS
    written: bool = False


def read_file(reading: PartReading, number: int, pool: Pool) -> None:
    """Cut a file into parts.

    Raises DataError as `formats.text.bitext.read_bitext`.
    """
    store = reading.store
    done = f"read.{number:05d}"
    if store.has(done):
        return
    lowercase, sizes = reading.how.get("lowercase", True), []
    how = {**reading.how, "lowercase": lowercase and not reading.written}
    texts = bitext_in_parts(**reading.files[number], **how, pairs=reading.pairs, words=PART_WORDS)
    for part, read in enumerate(texts):
        bitext = read
        if reading.written:
            save_text(store, written_name(number, part), read)
            bitext = in_lower_case(read) if lowercase else read
        save_text(store, text_name(number, part), bitext)
        lengths = bitext.source.lengths(), bitext.target.lengths()
        sizes.append([len(bitext), *(int(n.sum()) for n in lengths), int((lengths[0] * lengths[1]).sum())])
    store.write(done, sizes=np.array(sizes, np.int64).reshape(-1, 4))


def sizes_of(reading: PartReading) -> tuple[tuple[int, ...], int]:
    """Once all files were read, keep the sizes of all parts; return how many each file has, and the source words."""
    store = reading.store
    files = [store.read(f"read.{number:05d}", "sizes")[0] for number in range(len(reading.files))]
    sizes = np.concatenate(files)
    store.write(SIZES, sizes=sizes)
    return tuple(map(len, files)), int(sizes[:, 1].sum())


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

    def word_counts(self) -> list[np.ndarray]:
        """Return how often the text has each of the view's words, float64 [n_source], [n_target]."""
        return self.store.read(self.name("vocabulary"), "source.counts", "target.counts")

    def shards(self) -> int:
        """Return how many shards the table has."""
        return len(self.store.read(self.name("cuts"), "bounds")[0]) - 1


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
