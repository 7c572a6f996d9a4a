"""A document as sentence alignment sees it: words cut to their first letters, lengths, borders."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from aligntools.aligning.text.look_alikes import simplify
from aligntools.encoding.pieces import unspaced
from aligntools.formats.text.corpus import Side, part_of

#: Letters of a word that are looked at: inflected forms are one word then.
LETTERS = 5
#: Words of a sentence that are looked at, the first ones: its length counts whole.
MOST_WORDS = 1000
#: A sentence is enormous that has more characters, and is so many times as long as half of the others.
ENORMOUS = (100.0, 20.0)
_WORD = re.compile(r"\d+|[^\W\d_]+|[^\w\s]")
_SPACES = re.compile(r"\s+")


@dataclass(eq=False)
class Text:
    """The sentences of a document: their words (side) by a vocabulary.

    counts (int64 [words]): How often each occurs; sizes (float64 [sentences]): Characters that are no spaces.
    costs (float64 [sentences + 1]): What it costs to have sentences on both sides of a place in one group.
    """

    lines: Sequence[str]
    side: Side
    words: list[str]
    counts: np.ndarray
    sizes: np.ndarray
    costs: np.ndarray

    def __len__(self) -> int:
        return len(self.lines)

    def part(self, rows: slice) -> "Text":
        """Return some of the sentences; the vocabulary and its counts stay those of the document."""
        begin, end, _ = rows.indices(len(self))
        side, costs = part_of(self.side, begin, end), self.costs[begin : end + 1]
        return replace(self, lines=self.lines[rows], side=side, sizes=self.sizes[rows], costs=costs)

    @property
    def shares(self) -> np.ndarray:
        """Each word's share of the text [words]."""
        return np.asarray(self.counts / max(1, int(self.counts.sum())))


def usual_sizes(sizes: np.ndarray) -> np.ndarray:
    """Return lengths without those of enormous sentences, which do not tell how long the others' translations are."""
    return sizes[sizes <= max(ENORMOUS[0], ENORMOUS[1] * float(np.median(sizes)))] if len(sizes) else sizes


def words_of(line: str) -> list[str]:
    """Return the words of a line, small, without accents; of scripts without spaces every two characters in a row.

    >>> words_of("Die Höhle, 1956")
    ['die', 'hohle', ',', '1956']
    """
    words: list[str] = []
    for word in map(re.Match.group, _WORD.finditer(line)):
        if not word.isascii() and unspaced(word[0]):
            words += [word[k : k + 2] for k in range(len(word))]
        else:
            words.append(simplify(word.lower()))
        if len(words) >= MOST_WORDS:
            break
    return words[:MOST_WORDS]


def cut(word: str) -> str:
    """Return a word as the vocabulary has it: its first letters."""
    return word[:LETTERS] if word.isalpha() else word


def spoken(line: str) -> list[str]:
    """Return the same words as they are written, of scripts without spaces every character: what an encoder reads."""
    words: list[str] = []
    for word in map(re.Match.group, _WORD.finditer(line)):
        words += word if not word.isascii() and unspaced(word[0]) else [word]
        if len(words) >= MOST_WORDS:
            break
    return words[:MOST_WORDS]


def text_of(lines: Sequence[str], costs: np.ndarray | None = None) -> Text:
    """Return a document's sentences; costs are 0 where none are given."""
    known: dict[str, int] = {}
    tokens, ends = list[int](), [0]
    for line in lines:
        for word in words_of(line):
            tokens.append(known.setdefault(cut(word), len(known)))
        ends.append(len(tokens))
    side = Side(np.array(tokens, np.int32), np.array(ends, np.int64))
    sizes = np.array([len(_SPACES.sub("", line)) for line in lines], np.float64)
    counts = np.bincount(side.tokens, minlength=len(known))
    return Text(lines, side, list(known), counts, sizes, np.zeros(len(lines) + 1) if costs is None else costs)
