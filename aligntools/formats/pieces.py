"""Words and the pieces that they are cut into: which pieces each word has, and the other way round.

Pieces are marked as SentencePiece (``▁`` begins a word), subword-nmt's BPE (``@@`` at the end of what goes on) or
WordPiece (``##`` at the beginning of what goes on) mark them; in the scheme ``icu`` a ``▁`` by itself stands for each
space and belongs to no word. Where the words are known too, letters decide.
"""

import itertools
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_MARK = "▁"
#: What `str.split` takes for spaces beside the space and the tab, within a line.
_OTHER_SPACE = re.compile("[\\x0b-\\r\\x1c-\\x1f\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]")
_SPACE = re.compile("[ \t]")
_UNKNOWN = re.compile(r"<unk>|\[UNK\]|⁇|<0x[0-9A-Fa-f]{2}>", re.IGNORECASE)


@dataclass(eq=False)
class Units:
    """Of each unit of a text, such as a word, the units of another cut of the same text that it is made of.

    Attributes
    ----------
    begins, ends : np.ndarray [shape=(units,), dtype=int64]
        A unit's first unit of the other cut, and the one after its last, within the sentence; the same for none.
    offsets : np.ndarray [shape=(sentences + 1,), dtype=int64]
        Where each sentence's units begin.
    """

    begins: np.ndarray
    ends: np.ndarray
    offsets: np.ndarray

    def lengths(self) -> np.ndarray:
        """Return the number of units of each sentence [shape=(sentences,), dtype=int64]."""
        return np.diff(self.offsets)

    @classmethod
    def joined(cls, parts: Sequence["Units"]) -> "Units":
        """Join blocks of sentences."""
        offsets = np.cumsum(np.concatenate([[0], *(part.lengths() for part in parts)]))
        none = np.zeros(0, np.int64)
        return cls(
            np.concatenate([none, *(part.begins for part in parts)]),
            np.concatenate([none, *(part.ends for part in parts)]),
            offsets,
        )


@dataclass(eq=False)
class Cut:
    """A text in words and in pieces.

    Attributes
    ----------
    words_of : Units
        The words of each piece: one, but for pieces that go across a space, and those that are the space.
    pieces_of : Units
        The pieces of each word, without those that are nothing but marks.
    wrong : np.ndarray [shape=(n,), dtype=int64]
        Sentences whose pieces do not spell their words. They have no units.
    """

    words_of: Units
    pieces_of: Units
    wrong: np.ndarray

    @classmethod
    def joined(cls, parts: Sequence["Cut"]) -> "Cut":
        """Join blocks of sentences."""
        begins = itertools.accumulate((len(part.words_of.offsets) - 1 for part in parts), initial=0)
        wrong = [part.wrong + begin for part, begin in zip(parts, begins, strict=False)]
        return cls(
            Units.joined([part.words_of for part in parts]),
            Units.joined([part.pieces_of for part in parts]),
            np.concatenate([np.zeros(0, np.int64), *wrong]),
        )


class _Text:
    """The tokens of some lines, and their letters: bytes that are neither space nor mark.

    Attributes
    ----------
    letters : np.ndarray
        The letters, with the newlines.
    token_begin, token_end : np.ndarray
        Where tokens begin and end among these.
    line : np.ndarray
        The line of each token.
    """

    def __init__(self, lines: Sequence[bytes], scheme: str | None):
        self.n_lines, self._spaces = len(lines), scheme == "icu"
        text = np.frombuffer(b"".join(line + b"\n" for line in lines), np.uint8)
        newline = text == 10
        blank = newline | (text == 32) | (text == 9)
        edges = np.diff(np.concatenate([[0], ~blank, [0]]).astype(np.int8))
        self.begin, self.end = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
        self.line = np.searchsorted(np.flatnonzero(newline), self.begin)
        mark = np.zeros(len(text), bool)
        long = np.flatnonzero(self.end - self.begin > 2)
        begin, end = self.begin[long], self.end[long]
        if scheme in ("sentencepiece", "icu"):
            at = np.flatnonzero((text[:-2] == 0xE2) & (text[1:-1] == 0x96) & (text[2:] == 0x81))
            mark[at] = mark[at + 1] = mark[at + 2] = True
        #: Tokens that go on in the next, or that go on with the last.
        self.goes_on = self.continues = np.zeros(0, np.int64)
        if scheme == "bpe":
            marked = (text[end - 1] == 64) & (text[end - 2] == 64)
            mark[end[marked] - 1] = mark[end[marked] - 2] = True
            self.goes_on = long[marked]
        if scheme == "wordpiece":
            marked = (text[begin] == 35) & (text[begin + 1] == 35)
            mark[begin[marked]] = mark[begin[marked] + 1] = True
            self.continues = long[marked]
        places = np.flatnonzero((~blank & ~mark) | newline)
        self.letters = text[places]
        self.token_begin, self.token_end = np.searchsorted(places, self.begin), np.searchsorted(places, self.end)
        self.bare = self.token_begin == self.token_end
        # Of each letter whether a mark stands before it.
        self.after_mark = np.zeros(len(places), bool)
        self.after_mark[np.searchsorted(places, np.flatnonzero(mark))] = True

    def first_in_line(self) -> np.ndarray:
        """Return which tokens are the first of their lines."""
        return np.diff(self.line, prepend=-1) > 0

    def word_begins(self, scheme: str | None) -> np.ndarray:
        """Return the letters that begin words, as the marks say."""
        if scheme in ("sentencepiece", "icu"):
            letter = self.letters != 10
            return np.flatnonzero(letter & (self.after_mark | np.concatenate([[True], ~letter[:-1]])))
        begins = self.first_in_line() | ~self.bare
        begins[self.goes_on[self.goes_on + 1 < len(begins)] + 1] = False
        begins[self.continues] = False
        begins = (begins | self.first_in_line()) & ~self.bare
        return self.token_begin[begins]

    def cut(self, word_begins: np.ndarray) -> Cut:
        """Return which words tokens are made of, and the other way round, by where words begin."""
        ends_of_lines = np.flatnonzero(self.letters == 10)
        words = np.searchsorted(word_begins, np.concatenate([[0], ends_of_lines]))
        line, pieces = self.line, np.searchsorted(self.line, np.arange(self.n_lines + 1))
        first = np.searchsorted(word_begins, self.token_begin, "right") - 1
        last = np.searchsorted(word_begins, self.token_end - 1, "right")
        bare = np.flatnonzero(self.bare)  # of the next word, or of the last one of the line
        following = np.searchsorted(word_begins, self.token_begin[bare])
        first[bare] = np.maximum(np.minimum(following, words[line[bare] + 1] - 1), words[line[bare]])
        last[bare] = first[bare] if self._spaces else np.minimum(first[bare] + 1, words[line[bare] + 1])
        whole = np.flatnonzero(~self.bare)
        word_line = np.searchsorted(words, np.arange(len(word_begins)), "right") - 1
        number = np.arange(len(word_begins))
        begin = whole[np.searchsorted(last[whole], number, "right")]
        end = whole[np.searchsorted(first[whole], number, "right") - 1] + 1
        return Cut(
            Units(first - words[line], last - words[line], pieces),
            Units(begin - pieces[word_line], end - pieces[word_line], words),
            np.zeros(0, np.int64),
        )


def recognized(lines: Sequence[bytes]) -> str | None:
    """Return the scheme that most marks of some lines are of; None where there are no marks."""
    counts, mark, spaces = dict.fromkeys(("sentencepiece", "bpe", "wordpiece"), 0), _MARK.encode(), 0
    for line in lines:
        for token in line.split():
            counts["sentencepiece"] += token.startswith(mark)
            spaces += token == mark
            counts["bpe"] += len(token) > 2 and token.endswith(b"@@")
            counts["wordpiece"] += len(token) > 2 and token.startswith(b"##")
    found = max(counts, key=counts.__getitem__)
    if found == "sentencepiece" and spaces == counts[found] > 0:
        return "icu"
    return found if counts[found] else None


def cut_by_marks(lines: Sequence[bytes], scheme: str | None) -> Cut:
    """Find the words of lines of pieces by the pieces' marks.

    Parameters
    ----------
    lines : sequence of bytes
        Without their ends.
    scheme : str
        ``sentencepiece``, ``bpe``, ``wordpiece`` or ``icu``; None for pieces without marks.
    """
    text = _Text(lines, scheme)
    return text.cut(text.word_begins(scheme))


def words_of_line(line: bytes, scheme: str) -> bytes:
    """Return the words of a line of pieces, with a space between them."""
    text = _Text([line], scheme)
    letters, cuts = text.letters[:-1].tobytes(), [*text.word_begins(scheme).tolist(), len(text.letters) - 1]
    return b" ".join(letters[a:b] for a, b in itertools.pairwise(cuts))


def cut_by_words(words: Sequence[bytes], pieces: Sequence[bytes], scheme: str | None) -> Cut:
    """Find the pieces of known words by their letters.

    Parameters
    ----------
    words, pieces : sequence of bytes
        Lines of the same sentences.
    scheme : str
        ``sentencepiece``, ``bpe``, ``wordpiece`` or ``icu``; None for pieces without marks.

    Notes
    -----
    Where the letters differ, as after normalization, they are compared without case, accents and compatibility forms;
    where they differ still, as in pieces that stand for something unknown, the marks decide, if they make as many words
    and the words without such pieces agree. All else is ``wrong``.
    """
    if not words:
        return cut_by_marks([], scheme)
    marked = scheme if scheme in ("sentencepiece", "icu") else None  # a ▁ of the text is a mark on both sides
    left, right = _Text(words, marked), _Text(pieces, scheme)
    if not left.bare.any() and np.array_equal(left.letters, right.letters):
        return right.cut(left.token_begin)
    if len(words) > 1:
        middle = len(words) // 2
        halves = (slice(None, middle), slice(middle, None))
        return Cut.joined([cut_by_words(words[half], pieces[half], scheme) for half in halves])
    return _cut_line(words[0], pieces[0], scheme)


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(c for c in plain if not unicodedata.combining(c) and c != _MARK and not c.isspace())


def _cut_line(words: bytes, pieces: bytes, scheme: str | None) -> Cut:
    try:
        tokens = [token for token in _SPACE.split(pieces.decode()) if token]
        whole = [_folded(word) for word in _SPACE.split(words.decode()) if word]
    except UnicodeDecodeError:
        return _wrong()
    parts = [_folded(_unmarked(token, scheme)) for token in tokens]
    if all(whole) and "".join(whole) == "".join(parts):
        marked = "icu" if scheme == "icu" else "sentencepiece"
        left, right = (_Text([" ".join(part or _MARK for part in side).encode()], marked) for side in (whole, parts))
        return right.cut(left.token_begin)
    cut = cut_by_marks([pieces], scheme)
    if cut.pieces_of.lengths()[0] != len(whole):
        return _wrong()
    for word, begin, end in zip(whole, cut.pieces_of.begins.tolist(), cut.pieces_of.ends.tolist(), strict=False):
        own = tokens[begin:end]
        if not any(_UNKNOWN.search(token) for token in own) and "".join(parts[begin:end]) != word:
            return _wrong()
    return cut


def _unmarked(piece: str, scheme: str | None) -> str:
    if scheme == "bpe" and len(piece) > 2:
        return piece.removesuffix("@@")
    if scheme == "wordpiece" and len(piece) > 2:
        return piece.removeprefix("##")
    return piece


def _wrong() -> Cut:
    none = Units(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(2, np.int64))
    return Cut(none, none, np.zeros(1, np.int64))


def cut_as_python(lines: Sequence[bytes]) -> Units | None:
    """Find the words that `str.split` makes of each word between spaces and tabs; None where they are the same.

    It splits at no-break spaces, carriage returns and the like too, as do programs that count words with it.
    """
    if not _OTHER_SPACE.search(b"\n".join(lines).decode("utf-8", "replace")):
        return None
    counts = [
        [len(word.split()) for word in _SPACE.split(line.decode("utf-8", "replace")) if word] for line in lines
    ]  # fmt: skip
    offsets = np.cumsum([0, *map(len, counts)])
    ends = np.array([n for row in counts for n in itertools.accumulate(row)], np.int64)
    flat = np.array([n for row in counts for n in row], np.int64)
    return Units(ends - flat, ends, offsets)
