"""Words of two segmentations of one text: which of them are the same, by the characters that they are made of.

As the evaluation script of the CoNLL 2018 shared task has it, ``conll18_ud_eval.py``: both texts have the same
characters but for spaces. A word that is a token is the same as one that has the same characters. Words of multiword
tokens are compared by their forms, within the shortest stretch that no such token of either text sticks out of: by a
longest common subsequence, whatever the case of letters.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aligntools.formats.annotation.conll import Conll
from aligntools.formats.annotation.conll_layouts import COLUMNS
from aligntools.formats.annotation.conll_tokens import surface_of
from aligntools.ground.errors import DataError


@dataclass(frozen=True, eq=False)
class WordMatches:
    """Words that are the same in two texts.

    gold, other (int64 [aligned]): Their indexes among the words of each text, ascending.
    tokens, sentences: How many the gold text has, the other text has, and both have.
    """

    gold: np.ndarray
    other: np.ndarray
    tokens: tuple[int, int, int]
    sentences: tuple[int, int, int]

    def heads(self, heads: np.ndarray, offsets: np.ndarray, gold_offsets: np.ndarray) -> np.ndarray:
        """Return the other text's heads over the gold's words.

        heads (int32 [other words]): Numbers in the sentence, counted from 1; 0 for a root.
        offsets, gold_offsets (int64 [sentences + 1]): Where the sentences of the other text and of the gold begin.
        Returns int32 [gold words]: -1 where a word is none of the other text's, or its head is none of the gold's in
        its sentence.
        """
        as_gold = np.full(len(heads), -1)
        as_gold[self.other] = self.gold
        numbers = heads[self.other]
        begins = np.repeat(offsets[:-1], np.diff(offsets))[self.other]
        above = as_gold[begins + np.maximum(numbers, 1) - 1] if len(heads) else begins
        sentences = np.repeat(np.arange(len(gold_offsets) - 1), np.diff(gold_offsets))
        own = sentences[self.gold]
        inside = (numbers > 0) & (above >= 0) & (sentences[above] == own)
        found = np.full(len(sentences), -1, np.int32)
        found[self.gold] = np.where(inside, above - gold_offsets[own] + 1, np.where(numbers == 0, 0, -1))
        return found


class _Words:
    """A text's words with the characters that they stand for, and its tokens and sentences."""

    def __init__(self, text: Conll) -> None:
        surface = surface_of(text)
        self.tokens = [_characters(form) for form in surface.column(COLUMNS["form"])]
        self.characters = "".join(self.tokens)
        #: Where each token begins, and the end of the last.
        self.edges = np.cumsum([0, *map(len, self.tokens)], dtype=np.int64)
        self.lines = surface.places + text.first_line
        sizes = np.diff(surface.edges)
        self.starts = np.repeat(self.edges[:-1], sizes).tolist()
        self.ends = np.repeat(self.edges[1:], sizes).tolist()
        is_range = surface.places != text.places[surface.edges[:-1]]
        self.multiword = np.repeat(is_range, sizes).tolist()
        self.forms = [_characters(form).lower() for form in text.column(COLUMNS["form"])]
        some = np.flatnonzero(np.diff(surface.offsets))
        self.sentences = np.column_stack([self.edges[surface.offsets[some]], self.edges[surface.offsets[some + 1]]])

    def past(self, k: int, end: int) -> bool:
        """Return whether a word is behind a stretch that ends before character ``end``."""
        if k >= len(self.starts):
            return True
        return self.starts[k] >= end if self.multiword[k] else self.ends[k] > end

    def reach(self, k: int, end: int) -> int:
        """Return where the stretch ends if this word is in it."""
        return max(end, self.ends[k]) if self.multiword[k] else end


def _characters(form: bytes) -> str:
    text = form.decode("utf-8", "surrogateescape")
    return text if text.isascii() and " " not in text else "".join(c for c in text if unicodedata.category(c) != "Zs")


def align_words(gold: Conll, other: Conll, gold_name: str, name: str) -> WordMatches:
    """Find the words that are the same in two texts with the same characters.

    Raises DataError at the first token whose characters are others.

    Zeman et al. (2018), "CoNLL 2018 shared task: multilingual parsing from raw text to Universal Dependencies",
    section 4.1.
    """
    a, b = _Words(gold), _Words(other)
    if a.characters != b.characters:
        _refuse(a, b, gold_name, name)
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(a.starts) and j < len(b.starts):
        if a.multiword[i] or b.multiword[j]:
            first_i, first_j, i, j = _stretch(a, b, i, j)
            found = _common(a.forms[first_i:i], b.forms[first_j:j])
            pairs += [(first_i + k, first_j + m) for k, m in found]
        elif (a.starts[i], a.ends[i]) == (b.starts[j], b.ends[j]):
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif a.starts[i] <= b.starts[j]:
            i += 1
        else:
            j += 1
    ours, theirs = np.array(pairs, np.int64).reshape(-1, 2).T
    tokens = (np.column_stack([text.edges[:-1], text.edges[1:]]) for text in (a, b))
    return WordMatches(ours, theirs, _same(*tokens), _same(a.sentences, b.sentences))


def _stretch(a: _Words, b: _Words, i: int, j: int) -> tuple[int, int, int, int]:
    """Return where the words of both texts begin and end that multiword tokens here hold together."""
    if a.multiword[i]:
        end = a.ends[i]
        j += not b.multiword[j] and b.starts[j] < a.starts[i]
    else:
        end = b.ends[j]
        i += not a.multiword[i] and a.starts[i] < b.starts[j]
    first_i, first_j = i, j
    while not a.past(i, end) or not b.past(j, end):
        if i < len(a.starts) and (j >= len(b.starts) or a.starts[i] <= b.starts[j]):
            end, i = a.reach(i, end), i + 1
        else:
            end, j = b.reach(j, end), j + 1
    return first_i, first_j, i, j


def _common(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """Return a longest common subsequence, as pairs of indexes; what can be left out of ``a`` is, first."""
    longest = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in reversed(range(len(a))):
        for j in reversed(range(len(b))):
            on = 1 + longest[i + 1][j + 1] if a[i] == b[j] else 0
            longest[i][j] = max(on, longest[i + 1][j], longest[i][j + 1])
    pairs, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif longest[i][j] == longest[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _same(a: np.ndarray, b: np.ndarray) -> tuple[int, int, int]:
    both = {*map(tuple, a.tolist())} & {*map(tuple, b.tolist())}
    return len(a), len(b), len(both)


def _refuse(a: _Words, b: _Words, gold_name: str, name: str) -> None:
    """Return where the characters of two texts part."""
    length = min(len(a.characters), len(b.characters))
    place = next((k for k in range(length) if a.characters[k] != b.characters[k]), length)
    lines, shown = [], []
    for text in (a, b):
        k = min(int(np.searchsorted(text.edges, place, "right")) - 1, len(text.tokens) - 1)
        lines.append(int(text.lines[k]) if k >= 0 else None)
        rest = text.characters[place : place + 20].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        shown.append(f"'{rest}'" if rest else "the text's end")
    where = gold_name if lines[0] is None else f"{gold_name}:{lines[0]}"
    problem = f"the text goes on with {shown[1]} where the gold at {where} has {shown[0]}"
    raise DataError(name, lines[1], f"{problem}; both must have the same characters, but for spaces")
