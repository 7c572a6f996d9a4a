"""The measures of the CoNLL 2018 shared task (Zeman et al. 2018).

They are those of the task's own evaluation script, ``conll18_ud_eval.py``: subtypes of labels do not count, of features
only the universal ones, and CLAS, MLAS and BLEX look at content words alone.

Texts that are segmented in other ways have the same characters but for spaces. A word that is a token is the same as
one that has the same characters. Words of multiword tokens are compared by their forms, within the shortest stretch
that no such token of either text sticks out of: by a longest common subsequence, whatever the case of letters.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aligntools.formats.annotation.conll import Conll
from aligntools.formats.annotation.conll_layouts import COLUMNS
from aligntools.formats.annotation.conll_tokens import surface_of
from aligntools.ground.errors import DataError

#: Relations of content words and of function words; a word of another relation is neither.
CONTENT = frozenset(
    b"nsubj obj iobj csubj ccomp xcomp obl vocative expl dislocated advcl advmod discourse nmod appos nummod acl amod"
    b" conj fixed flat compound list parataxis orphan goeswith reparandum root dep".split()
)
FUNCTIONAL = frozenset(b"aux cop mark det clf case cc".split())
#: Features that are compared.
FEATURES = frozenset(
    b"PronType NumType Poss Reflex Foreign Abbr Gender Animacy Number Case Definite Degree VerbForm Mood Tense Aspect"
    b" Voice Evident Polarity Person Polite".split()
)
MEASURES = ("UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "UAS", "LAS", "CLAS", "MLAS", "BLEX")
_OF_CONTENT = ("CLAS", "MLAS", "BLEX")


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
            # the words of both texts that multiword tokens here hold together
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


@dataclass(frozen=True)
class Measure:
    """Words that one measure looks at.

    gold, predicted: Words that count in the gold text and in the other one.
    aligned: Words of the gold text that count and are a word of the other text, too. Of tokens and sentences, those
        that are right.
    """

    gold: int
    predicted: int
    right: int
    aligned: int

    @property
    def precision(self) -> float:
        """Share of the other text's words that are right."""
        return self.right / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of the gold text's words that are right."""
        return self.right / self.gold if self.gold else 0.0

    @property
    def aligned_accuracy(self) -> float:
        """Share that is right of the gold text's words that are words of the other text, too: AligndAcc."""
        return self.right / self.aligned if self.aligned else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of the two."""
        return 2 * self.right / (self.gold + self.predicted) if self.gold + self.predicted else 0.0


class _Text:
    """A text's columns as they are compared."""

    def __init__(self, text: Conll) -> None:
        self.lemma, self.upos, self.xpos = (text.column(COLUMNS[name]) for name in ("lemma", "upos", "xpos"))
        features = text.column(COLUMNS["feats"])
        kept = {one: sorted(f for f in one.split(b"|") if f.split(b"=", 1)[0] in FEATURES) for one in set(features)}
        self.feats = [kept[one] for one in features]
        self.label = [label.split(b":")[0] for label in text.column(COLUMNS["deprel"])]
        self.heads = heads = text.heads()
        begins = np.repeat(text.offsets[:-1], np.diff(text.offsets))
        #: The head among all words of the text; -1 of a root.
        self.above = np.where(heads > 0, begins + heads - 1, -1)
        self.content, function = (
            np.fromiter((label in kind for label in self.label), bool, len(self.label))
            for kind in (CONTENT, FUNCTIONAL)
        )
        self.function = function & (heads > 0)


def conll18(gold: Conll, other: Conll, alignment: WordMatches | None = None) -> dict[str, Measure]:
    """Return the measures of `MEASURES`, by name.

    gold, other: A word of ``other`` without a head is wrong.
    alignment: Which words are the same; None: all, in order, which the caller has checked. With an alignment there are
        ``Tokens``, ``Sentences`` and ``Words`` before the other measures.

    Zeman et al. (2018), "CoNLL 2018 shared task: multilingual parsing from raw text to Universal Dependencies",
    section 4. MLAS asks that a content word's function words are the same, too, with relations, tags and features.
    """
    a, b = _Text(gold), _Text(other)
    first: dict[str, Measure] = {}
    if alignment is None:
        ours = theirs = np.arange(len(a.heads))
    else:
        ours, theirs = alignment.gold, alignment.other
        counts = {"Tokens": alignment.tokens, "Sentences": alignment.sentences}
        first = {name: Measure(*found, found[-1]) for name, found in counts.items()}
        first["Words"] = Measure(len(a.heads), len(b.heads), len(ours), len(ours))
    pairs, columns = list(zip(ours.tolist(), theirs.tolist(), strict=True)), ("upos", "xpos", "feats", "label", "lemma")
    values = [(getattr(a, name), getattr(b, name)) for name in columns]
    upos, xpos, feats, label, lemma = (
        np.fromiter((own[i] == other[j] for i, j in pairs), bool, len(pairs)) for own, other in values
    )
    lemma |= np.fromiter((one == b"_" for one in a.lemma), bool, len(a.lemma))[ours]
    as_gold = np.full(len(b.heads) + 1, -2)  # each word of the other text among those of the gold; -1 of no word
    as_gold[theirs], as_gold[-1] = ours, -1
    head = (as_gold[b.above[theirs]] == a.above[ours]) & (b.heads[theirs] >= 0)
    both = head & label
    right = a.function[ours] & b.function[theirs] & both & upos & feats
    spoiled = np.zeros(len(ours), bool)
    for text, mine in (a, ours), (b, theirs):
        wrong = text.function.copy()
        wrong[mine[right]] = False
        heads = np.zeros(len(text.heads), bool)
        heads[text.above[wrong]] = True
        spoiled |= heads[mine]
    rights = {
        "UPOS": upos,
        "XPOS": xpos,
        "UFeats": feats,
        "AllTags": upos & xpos & feats,
        "Lemmas": lemma,
        "UAS": head,
        "LAS": both,
        "CLAS": both,
        "MLAS": both & upos & feats & ~spoiled,
        "BLEX": both & lemma,
    }
    content = a.content[ours]
    found = {}
    for name, right in rights.items():
        if name in _OF_CONTENT:
            sums = map(np.sum, (a.content, b.content, right & content, content))
            found[name] = Measure(*map(int, sums))
        else:
            found[name] = Measure(len(a.heads), len(b.heads), int(right.sum()), len(ours))
    return first | found
