"""Parallel text in memory: arrays of word ids, their vocabularies, and what was left out while reading."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from aligntools.words.vocabulary import AnyVocabulary, ExtendedVocabulary, Vocabulary
from aligntools.words.white_space import SPLITS

if TYPE_CHECKING:
    from aligntools.formats.annotation.class_lists import WordLookup

#: Why a pair is skipped, in rising priority where there are several reasons.
REASONS = ("over_long", "blank", "undecodable", "malformed")
_SHOWN = {"blank": "blank", "undecodable": "not UTF-8", "over_long": "over-long", "malformed": "malformed"}
_NAMED = 5  # lines


@dataclass
class Skipped:
    """Pairs that became empty on both sides, by reason; ``malformed`` is a joint line without its one separator.

    first: 1-based number of the first such line, for the reasons that occurred.
    malformed_lines: Those of the first five malformed lines.
    """

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_SHOWN, 0))
    first: dict[str, int] = field(default_factory=dict)
    malformed_lines: list[int] = field(default_factory=list)

    @property
    def total(self) -> int:
        """All skipped pairs."""
        return sum(self.counts.values())

    def add(self, other: "Skipped") -> None:
        """Add the counts of a later part of the same input."""
        for reason, count in other.counts.items():
            self.counts[reason] += count
        self.first = other.first | self.first
        self.malformed_lines = (self.malformed_lines + other.malformed_lines)[:_NAMED]

    def note(self, reason: str, lines: np.ndarray) -> None:
        """Count lines, by their 1-based numbers, that come after those counted so far."""
        if len(lines):
            self.counts[reason] += len(lines)
            self.first.setdefault(reason, int(lines[0]))
            if reason == "malformed":
                self.malformed_lines = (self.malformed_lines + lines[:_NAMED].tolist())[:_NAMED]

    def summary(self) -> str:
        """Return a line such as ``12 blank, 2 malformed (lines 17, 4711); first at line 9``, or an empty one."""
        found = [f"{self.counts[reason]} {shown}" for reason, shown in _SHOWN.items() if self.counts[reason]]
        if not found:
            return ""
        if self.malformed_lines:  # which is last
            lines = ", ".join(map(str, self.malformed_lines))
            more = ", ..." if self.counts["malformed"] > len(self.malformed_lines) else ""
            found[-1] += f" ({'line' if self.counts['malformed'] == 1 else 'lines'} {lines}{more})"
        return f"{', '.join(found)}; first at line {min(self.first.values())}"


@dataclass(eq=False)
class Side:
    """One side of a corpus.

    tokens (int32 [words]): Word ids of all sentences, joined.
    offsets (int64 [sentences + 1]): Sentence ``n`` is ``tokens[offsets[n]:offsets[n + 1]]``.
    """

    tokens: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def lengths(self) -> np.ndarray:
        """Return the number of words of each sentence [shape=(sentences,), dtype=int64]."""
        return np.diff(self.offsets)


@dataclass(eq=False)
class Bitext:
    """Two sides of equally many sentences, their vocabularies, and what was skipped.

    splitting: What separated the words; see `words.white_space`.
    classes: Classes of the words of both sides that came with the text.
    """

    source: Side
    target: Side
    source_vocabulary: AnyVocabulary
    target_vocabulary: AnyVocabulary
    skipped: Skipped
    splitting: str = SPLITS[0]
    classes: "tuple[WordLookup | None, WordLookup | None]" = (None, None)

    def __len__(self) -> int:
        return len(self.source)

    @property
    def sides(self) -> tuple[tuple[Side, AnyVocabulary], tuple[Side, AnyVocabulary]]:
        """Source and target, each with its vocabulary."""
        return (self.source, self.source_vocabulary), (self.target, self.target_vocabulary)


def paired(
    source: Side, target: Side, source_vocabulary: Vocabulary, target_vocabulary: Vocabulary, max_length: int
) -> Bitext:
    """Make a text of two sides; a pair with a blank side, or one of more than so many words, becomes empty."""
    lengths = np.stack([source.lengths(), target.lengths()])
    blank, over_long = lengths.min(0) == 0, lengths.max(0) > max_length
    skipped = Skipped()
    skipped.note("over_long", 1 + np.flatnonzero(over_long & ~blank))
    skipped.note("blank", 1 + np.flatnonzero(blank))
    left_out = blank | over_long
    sides = []
    for side, n in zip((source, target), lengths, strict=True):
        if left_out.any():
            offsets = np.concatenate([[0], np.cumsum(np.where(left_out, 0, n))])
            side = Side(side.tokens[np.repeat(~left_out, n)], offsets)
        sides.append(side)
    return Bitext(sides[0], sides[1], source_vocabulary, target_vocabulary, skipped)


Words = TypeVar("Words", bound=Side)


def part_of(side: Words, begin: int, end: int) -> Words:
    """Return some sentences of a side, of any kind, whose offsets begin at 0; words are not copied."""
    offsets = side.offsets[begin : end + 1]
    return replace(side, tokens=side.tokens[offsets[0] : offsets[-1]], offsets=offsets - offsets[0])


def parts_of(bitext: Bitext, sentences: int) -> Iterator[Bitext]:
    """Cut a text into runs of so many sentence pairs, whose offsets begin at 0; words are not copied."""
    for a in range(0, len(bitext), sentences):
        b = min(a + sentences, len(bitext))
        sides = {name: part_of(getattr(bitext, name), a, b) for name in ("source", "target")}
        yield replace(bitext, **sides, skipped=Skipped())


def compacted(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids that occur, in order, and the place of each id among them.

    That is what `numpy.unique` gives with ``return_inverse``, without sorting: ids are 0 and more, and not sparse.
    """
    occurs = np.zeros(int(ids.max(initial=-1)) + 1, bool)
    occurs[ids] = True
    found, places = np.flatnonzero(occurs), np.empty(len(occurs), np.int64)
    places[found] = np.arange(len(found))
    return found, places[ids]


def with_own_words(bitext: Bitext) -> Bitext:
    """Return a text whose vocabularies hold its own words alone, in the order of the old ids."""
    found: dict[str, Any] = {}
    for name in ("source", "target"):
        side, words = getattr(bitext, name), getattr(bitext, f"{name}_vocabulary")
        used, tokens = compacted(side.tokens)
        found[name] = replace(side, tokens=(tokens + 1).astype(np.int32))
        found[f"{name}_vocabulary"] = Vocabulary.from_words(words.word(int(id)) for id in used)
    return replace(bitext, **found)


def pick(bitext: Bitext, sentences: np.ndarray) -> Bitext:
    """Return the text of some sentences (int [n]) alone, in that order; vocabularies are shared."""
    sides = []
    for side in (bitext.source, bitext.target):
        lengths = side.lengths()[sentences]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        places = np.repeat(side.offsets[:-1][sentences] - offsets[:-1], lengths) + np.arange(offsets[-1])
        sides.append(replace(side, tokens=side.tokens[places], offsets=offsets))
    return replace(bitext, source=sides[0], target=sides[1])


def in_lower_case(bitext: Bitext) -> Bitext:
    """Return a text as if it had been read in lower case."""
    sides: list[Side] = []
    vocabularies: list[Vocabulary] = []
    for side, words in bitext.sides:
        own = words if isinstance(words, Vocabulary) else Vocabulary.from_words(words.words()[1:])
        folded, mapping = own.folded()
        sides.append(replace(side, tokens=mapping[side.tokens]))
        vocabularies.append(folded)
    return replace(
        bitext, source=sides[0], target=sides[1], source_vocabulary=vocabularies[0], target_vocabulary=vocabularies[1]
    )


def frequent_first(bitext: Bitext) -> tuple[Vocabulary, Vocabulary]:
    """Return the words of both sides, the most frequent first, equally frequent ones in the order of the text."""
    found = []
    for side, vocabulary in bitext.sides:
        words = vocabulary.words()
        counts = np.bincount(side.tokens, minlength=len(words))
        order = np.argsort(-counts[1:], kind="stable") + 1
        found.append(Vocabulary.from_words(words[k] for k in order.tolist()))
    return found[0], found[1]


def without_blanks(bitext: Bitext) -> Bitext:
    """Return a text without its pairs that have no words; words are not copied."""
    words = np.flatnonzero(bitext.source.lengths() + bitext.target.lengths()) + 1
    places = np.concatenate([np.zeros(1, np.int64), words])
    source, target = (Side(side.tokens, side.offsets[places]) for side in (bitext.source, bitext.target))
    return replace(bitext, source=source, target=target)


def in_ids_of(bitext: Bitext, source: Vocabulary, target: Vocabulary, lowercase: bool) -> Bitext:
    """Return a text with the ids of other vocabularies, unknown words behind them; itself if it has them already."""
    sides: list[Side] = []
    vocabularies: list[AnyVocabulary] = []
    for (side, old), new in zip(bitext.sides, (source, target), strict=True):
        if (old.base if isinstance(old, ExtendedVocabulary) else old) is new:
            sides.append(side)
            vocabularies.append(old)
            continue
        words = old.words()[1:]
        if lowercase:
            words = [word.lower() for word in words]
        ids = new.ids([word.encode() for word in words])
        extra: dict[str, int] = {}
        for k in np.flatnonzero(ids < 0).tolist():
            ids[k] = len(new) + extra.setdefault(words[k], len(extra))
        sides.append(Side(np.concatenate([[0], ids]).astype(np.int32)[side.tokens], side.offsets))
        vocabularies.append(ExtendedVocabulary(new, list(extra)))
    return Bitext(sides[0], sides[1], vocabularies[0], vocabularies[1], bitext.skipped, bitext.splitting)
