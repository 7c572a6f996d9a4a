"""Words and the pieces that they are cut into: which pieces each word has, and the other way round.

Schemes of marks: ``sentencepiece`` (``▁`` begins a word), ``bpe`` (``@@`` at the end: it goes on), ``wordpiece``
(``##`` at the beginning: it goes on), ``icu`` (a ``▁`` by itself is a space), ``opennmt`` (``￭`` at either end: it goes
on there), ``byte-level`` (GPT-2's bytes; ``Ġ`` begins a word), ``end-of-word`` (``</w>`` ends it) and ``underscore``
(``_`` joins words). Special tokens are pieces of no word. Where words are known, letters that are seen decide.
"""

import itertools
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

#: What is wrong with a text that should be in pieces, and in which no scheme is recognized.
NO_MARKS = "no marks of pieces: none of ▁ @@ ## ￭ Ġ </w>"
_SPACES = re.compile(rb"[ \t]+")
#: What `str.split` takes for spaces besides the space and the tab, within a line.
_OTHER_SPACE = re.compile("[\\x0b-\\r\\x1c-\\x1f\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]")
_SPACE = re.compile("[ \t]")
_UNKNOWN = re.compile(r"<unk>|\[UNK\]|⁇|<0x[0-9A-Fa-f]{2}>".encode(), re.IGNORECASE)
_UNDERSCORE = re.compile(rb"(?<=[^ \t\n_])_(?=[^ \t\n_])")


@dataclass(eq=False)
class Units:
    """Of each unit of a text, such as a word, the units of another cut of the same text that it is made of.

    begins, ends (int64 [units]): Its first unit of the other cut in the sentence, and the one after its last.
    offsets (int64 [sentences + 1]): Where each sentence's units begin.
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
        none = np.zeros(0, np.int64)
        begins, ends = (np.concatenate([none, *(getattr(part, side) for part in parts)]) for side in ("begins", "ends"))
        return cls(begins, ends, np.cumsum(np.concatenate([[0], *(part.lengths() for part in parts)])))


@dataclass(eq=False)
class Cut:
    """A text in words and in pieces.

    ``pieces_of`` has none that are nothing but marks. ``wrong`` (int64 [n]): Sentences without units, whose pieces do
    not spell their words.
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
    """The tokens of some lines and their letters: all bytes but spaces and marks of pieces.

    With ``pieces`` special tokens have no letters; with ``seen`` characters that are not seen are none. ``bare`` and
    ``special`` say of each token whether it has no letters, and whether it is a special one.
    """

    def __init__(self, lines: Sequence[bytes], scheme: str | None, *, pieces: bool = True, seen: bool = False) -> None:
        self.n_lines, self._spaces = len(lines), scheme == "icu"
        data = b"".join(line + b"\n" for line in lines)
        text = np.frombuffer(data, np.uint8)
        newline = text == 10
        blank = newline | (text == 32) | (text == 9)
        edges = np.diff(np.concatenate([[0], ~blank, [0]]).astype(np.int8))
        self.begin, self.end = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
        self.line = np.searchsorted(np.flatnonzero(newline), self.begin)
        mark = self._marks(text, data, scheme)
        self.special = np.zeros(len(self.begin), bool)
        unseen = np.zeros(len(text), bool)
        if pieces:
            found = _spans(SPECIAL, data)
            _fill(mark, found)
            self.special[np.searchsorted(self.begin, found[:, 0])] = True
        if seen:
            _fill(unseen, _spans(INVISIBLE, data))
        places = np.flatnonzero((~blank & ~mark & ~unseen) | newline)
        self.letters = text[places]
        self.token_begin, self.token_end = np.searchsorted(places, self.begin), np.searchsorted(places, self.end)
        self.bare = self.token_begin == self.token_end
        #: Tokens of nothing but what is not seen, which belong to what is before them.
        count = np.concatenate([[0], np.cumsum(mark)])
        self.unseen = self.bare & (count[self.begin] == count[self.end])
        # Of each letter whether a mark stands before it.
        self.after_mark = np.zeros(len(places), bool)
        self.after_mark[np.searchsorted(places, np.flatnonzero(mark))] = True

    def _marks(self, text: np.ndarray, data: bytes, scheme: str | None) -> np.ndarray:
        """Return which bytes are marks; find the tokens that go on in the next, or go on with the last."""
        mark = np.zeros(len(text), bool)
        self.goes_on = self.continues = np.zeros(0, np.int64)
        if scheme in ("sentencepiece", "icu"):
            at = np.flatnonzero((text[:-2] == 0xE2) & (text[1:-1] == 0x96) & (text[2:] == 0x81))
            mark[at] = mark[at + 1] = mark[at + 2] = True
        elif scheme == "underscore":
            _fill(mark, _spans(_UNDERSCORE, data))
        elif scheme == "bpe":
            self.goes_on = self._at(self.end, text, mark, b"@@", 2)
        elif scheme == "wordpiece":
            self.continues = self._at(self.begin, text, mark, b"##", 2)
        elif scheme == "opennmt":
            self.goes_on = self._at(self.end, text, mark, JOINER, 2)
            self.continues = self._at(self.begin, text, mark, JOINER, 2)
        elif scheme == "end-of-word":
            ends = self._at(self.end, text, mark, END_OF_WORD, 3)
            self.goes_on = np.setdiff1d(np.arange(len(self.begin)), ends, assume_unique=True)
        return mark

    def _at(self, edges: np.ndarray, text: np.ndarray, mark: np.ndarray, what: bytes, least: int) -> np.ndarray:
        """Return the tokens of more than so many bytes that begin or end so, and take note of the mark."""
        long = np.flatnonzero(self.end - self.begin > least)
        places = edges[long][:, None] + np.arange(len(what)) - (len(what) if edges is self.end else 0)
        found = (text[places] == np.frombuffer(what, np.uint8)).all(axis=1)
        mark[places[found]] = True
        return np.asarray(long[found])

    def lines(self) -> list[bytes]:
        """Return the letters of each line."""
        return self.letters.tobytes().split(b"\n")[:-1]

    def first_in_line(self) -> np.ndarray:
        """Return which tokens are the first of their lines."""
        return np.diff(self.line, prepend=-1) > 0

    def word_begins(self, scheme: str | None) -> np.ndarray:
        """Return the letters that begin words, as the marks say."""
        if scheme == "underscore":
            begins = np.zeros(len(self.letters), bool)
            begins[self.token_begin[~self.bare]] = True
            return np.flatnonzero(begins | (self.after_mark & (self.letters != 10)))
        if scheme in ("sentencepiece", "icu"):
            letter = self.letters != 10
            return np.flatnonzero(letter & (self.after_mark | np.concatenate([[True], ~letter[:-1]])))
        begins = self.first_in_line() | ~self.bare
        begins[self.goes_on[self.goes_on + 1 < len(begins)] + 1] = False
        begins[self.continues] = False
        begins = (begins | self.first_in_line()) & ~self.bare
        return np.asarray(self.token_begin[begins])

    def cut(self, word_begins: np.ndarray) -> Cut:
        """Return which words tokens are made of, and the other way round, by where words begin."""
        ends_of_lines = np.flatnonzero(self.letters == 10)
        words = np.searchsorted(word_begins, np.concatenate([[0], ends_of_lines]))
        line, pieces = self.line, np.searchsorted(self.line, np.arange(self.n_lines + 1))
        first = np.searchsorted(word_begins, self.token_begin, "right") - 1
        last = np.searchsorted(word_begins, self.token_end - 1, "right")
        bare = np.flatnonzero(self.bare)  # of the next word, or of the last one of the line
        following = np.searchsorted(word_begins, self.token_begin[bare])
        following -= self.unseen[bare]
        first[bare] = np.maximum(np.minimum(following, words[line[bare] + 1] - 1), words[line[bare]])
        last[bare] = first[bare] if self._spaces else np.minimum(first[bare] + 1, words[line[bare] + 1])
        last[self.special] = first[self.special]
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


def _spans(pattern: re.Pattern[bytes], data: bytes) -> np.ndarray:
    """Return where a pattern is found [shape=(found, 2)]."""
    return np.array([found.span() for found in pattern.finditer(data)], np.int64).reshape(-1, 2)


def _fill(flags: np.ndarray, spans: np.ndarray) -> None:
    """Set the flags of some spans."""
    steps = np.zeros(len(flags) + 1, np.int32)
    np.add.at(steps, spans[:, 0], 1)
    np.add.at(steps, spans[:, 1], -1)
    flags |= np.cumsum(steps[:-1]) > 0


def recognized(lines: Sequence[bytes]) -> str | None:
    """Return the scheme that most marks of some lines are of; None where there are no marks.

    Capital Ġ is a letter too, in Maltese, so that one token in ten has to begin with it.
    """
    known = ("sentencepiece", "bpe", "wordpiece", "opennmt", "byte-level", "end-of-word")
    counts, mark, spaces, tokens = dict.fromkeys(known, 0), MARK, 0, 0
    for line in lines:
        for token in line.split():
            tokens += 1
            counts["sentencepiece"] += token.startswith(mark)
            spaces += token == mark
            counts["bpe"] += len(token) > 2 and token.endswith(b"@@")
            counts["wordpiece"] += len(token) > 2 and token.startswith(b"##")
            counts["opennmt"] += token.startswith(JOINER) or token.endswith(JOINER)
            counts["byte-level"] += token.startswith(BYTE_SPACE)
            counts["end-of-word"] += token.endswith(END_OF_WORD)
    counts["byte-level"] *= counts["byte-level"] * 10 >= tokens
    found = max(counts, key=counts.__getitem__)
    if found == "sentencepiece" and spaces == counts[found] > 0:
        return "icu"
    return found if counts[found] else None


def _in_bytes(lines: Sequence[bytes], scheme: str | None) -> tuple[Sequence[bytes], str | None]:
    """Return lines of pieces in GPT-2's alphabet as the bytes that it stands for, with ``▁`` for spaces in pieces."""
    if scheme != "byte-level":
        return lines, scheme
    found = []
    for line in lines:
        tokens = re.split("[ \t]+", line.decode("utf-8", "surrogateescape"))
        found.append(b" ".join(_decoded(token) for token in tokens if token))
    return found, "sentencepiece"


def cut_by_marks(lines: Sequence[bytes], scheme: str | None) -> Cut:
    """Find the words of lines of pieces, without their ends, by the pieces' marks; scheme None: they have none."""
    lines, scheme = _in_bytes(lines, scheme)
    text = _Text(lines, scheme)
    return text.cut(text.word_begins(scheme))


def words_of_line(line: bytes, scheme: str) -> bytes:
    """Return the words of a line of pieces, with a space between them."""
    (line,), known = _in_bytes([line], scheme)
    text = _Text([line], known)
    letters, cuts = text.letters[:-1].tobytes(), [*text.word_begins(known).tolist(), len(text.letters) - 1]
    return b" ".join(letters[a:b] for a, b in itertools.pairwise(cuts))


def cut_by_words(words: Sequence[bytes], pieces: Sequence[bytes], scheme: str | None) -> Cut:
    """Find the pieces of known words by their letters, in lines of the same sentences; scheme None: without marks.

    Where letters differ they are compared without case, accents and compatibility forms, then without ``_``; where they
    differ still, as in pieces of something unknown, the marks decide, if they make as many words and the others agree.
    """
    if not words:
        return cut_by_marks([], scheme)
    return _cut_by_words(words, *_in_bytes(pieces, scheme))


def _cut_by_words(words: Sequence[bytes], pieces: Sequence[bytes], scheme: str | None) -> Cut:
    marked = scheme if scheme in ("sentencepiece", "icu", "underscore") else None  # a ▁ of the text is a mark, too
    left, right = _Text(words, marked, pieces=False, seen=True), _Text(pieces, scheme, seen=True)
    if not left.bare.any() and np.array_equal(left.letters, right.letters):
        return right.cut(left.token_begin)
    if len(words) == 1:
        return _cut_line(words[0], pieces[0], scheme)
    same = np.array([a == b for a, b in zip(left.lines(), right.lines(), strict=True)])
    same[left.line[left.bare]] = False
    alike = [[text if one else b"" for text, one in zip(side, same, strict=True)] for side in (words, pieces)]
    others = np.flatnonzero(~same)
    cuts = Cut.joined([_cut_line(words[n], pieces[n], scheme) for n in others.tolist()])
    cut = _cut_by_words(alike[0], alike[1], scheme)
    units = [_filled(getattr(cut, name), getattr(cuts, name), others) for name in ("words_of", "pieces_of")]
    return Cut(units[0], units[1], others[cuts.wrong])


def _filled(units: Units, others: Units, lines: np.ndarray) -> Units:
    """Put the units of some lines into those of all lines, where they have none."""
    counts = units.lengths()
    places = np.repeat(units.offsets[lines], others.lengths())
    counts[lines] = others.lengths()
    begins, ends = (
        np.insert(*side) for side in ((units.begins, places, others.begins), (units.ends, places, others.ends))
    )
    return Units(begins, ends, np.concatenate([[0], np.cumsum(counts)]))


def _letters(tokens: Sequence[bytes], fold: Callable[[str], str]) -> str:
    """Return the letters of a line's tokens."""
    return "".join(map(fold, b"".join(tokens).decode("utf-8", "surrogateescape")))


def _tokens_of_letters(tokens: Sequence[bytes], fold: Callable[[str], str]) -> list[tuple[int, int]]:
    """Return the first and the last token of each letter of a line's tokens."""
    token = np.repeat(np.arange(len(tokens)), list(map(len, tokens)))
    characters = b"".join(tokens).decode("utf-8", "surrogateescape")
    sizes = np.array([len(c.encode("utf-8", "surrogateescape")) for c in characters], np.int64)
    ends, counts = np.cumsum(sizes), [len(fold(c)) for c in characters]
    first, last = np.repeat(token[ends - sizes], counts), np.repeat(token[ends - 1], counts)
    return list(zip(first.tolist(), last.tolist(), strict=True))


def _cut_line(words: bytes, pieces: bytes, scheme: str | None) -> Cut:
    tokens, whole = ([token for token in _SPACES.split(line) if token] for line in (pieces, words))
    marks = special(tokens)
    parts = [content(token, scheme) for token in tokens]
    for skipped in (False, True) if any(marks) else (False,):
        own = [b"" if skipped and is_special else part for part, is_special in zip(parts, marks, strict=True)]
        for fold in (visible, folded, lambda c: "" if c == "_" else folded(c)):  # _ joins syllables of a word
            if _letters(whole, fold) == _letters(own, fold):
                free = [skipped and one for one in marks]
                if scheme == "icu":
                    free = [one or part == MARK for one, part in zip(free, own, strict=True)]
                return _by_letters(whole, own, fold, free)
    return _cut_unknown(whole, tokens, parts, scheme)


def _by_letters(words: list[bytes], parts: list[bytes], fold: Callable[[str], str], free: list[bool]) -> Cut:
    """Cut a line whose letters are those of its words; tokens that are ``free`` have no word."""
    n_words = len(words)
    begins, ends = [-1] * n_words, [0] * n_words
    first, last = [-1] * len(parts), [0] * len(parts)
    for (word, _), (begin, end) in zip(_tokens_of_letters(words, fold), _tokens_of_letters(parts, fold), strict=True):
        begins[word], ends[word] = begin if begins[word] < 0 else begins[word], end + 1
        for token in range(begin, end + 1):
            first[token], last[token] = word if first[token] < 0 else first[token], word + 1
    previous = -1
    for token, part in enumerate(parts):
        if first[token] >= 0:
            previous = last[token] - 1
            continue
        seen = _letters([part], visible)
        word = previous if part.replace(MARK, b"") and previous >= 0 else -1  # else of the next one, if any
        if word < 0:
            word = next((w for w in range(previous + 1, n_words) if begins[w] >= 0), previous)
        elif seen and ends[word] == token:
            ends[word] = token + 1
        none = free[token] or word < 0
        first[token], last[token] = max(word, 0), max(word, 0) if none else word + 1
    at = 0
    for word in range(n_words):  # those without pieces
        begins[word], ends[word] = (at, at) if begins[word] < 0 else (begins[word], ends[word])
        at = ends[word]
    units = [
        Units(np.array(a, np.int64), np.array(b, np.int64), np.array([0, len(a)], np.int64))
        for a, b in ((first, last), (begins, ends))
    ]
    return Cut(units[0], units[1], np.zeros(0, np.int64))


def _cut_unknown(whole: list[bytes], tokens: list[bytes], parts: list[bytes], scheme: str | None) -> Cut:
    """Cut a line by its marks, in which pieces stand for something unknown."""
    cut = cut_by_marks([b" ".join(tokens)], scheme)
    words = [_letters([word], folded) for word in whole]
    seen = np.flatnonzero([bool(_letters([word], visible)) for word in whole])
    begins, ends = cut.pieces_of.begins, cut.pieces_of.ends
    none = Units(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(2, np.int64))
    wrong = Cut(none, none, np.zeros(1, np.int64))
    if len(begins) != len(seen):
        return wrong
    for word, begin, end in zip(seen.tolist(), begins.tolist(), ends.tolist(), strict=True):
        unknown = any(_UNKNOWN.search(token) for token in tokens[begin:end])
        if not unknown and _letters(parts[begin:end], folded) != words[word]:
            return wrong
    if len(seen) == len(whole):
        return cut
    at = np.searchsorted(seen, np.arange(len(whole)))  # an invisible word has no pieces
    is_seen = np.isin(np.arange(len(whole)), seen)
    place = np.append(begins, len(tokens))[at]
    pieces_of = Units(place, np.where(is_seen, np.append(ends, 0)[at], place), np.array([0, len(whole)], np.int64))
    of = cut.words_of
    numbers = np.append(seen, len(whole))
    first = numbers[of.begins]
    last = np.where(of.ends > of.begins, numbers[np.maximum(of.ends, 1) - 1] + 1, first)
    return Cut(Units(first, last, of.offsets), pieces_of, cut.wrong)


def cut_as_python(lines: Sequence[bytes]) -> Units | None:
    """Find the words that `str.split` makes of each word between spaces and tabs; None where they are the same."""
    if not _OTHER_SPACE.search(b"\n".join(lines).decode("utf-8", "replace")):
        return None
    counts = [[len(word.split()) for word in _SPACE.split(line.decode("utf-8", "replace")) if word] for line in lines]
    offsets = np.cumsum([0, *map(len, counts)])
    ends = np.array([n for row in counts for n in itertools.accumulate(row)], np.int64)
    flat = np.array([n for row in counts for n in row], np.int64)
    return Units(ends - flat, ends, offsets)


# What in pieces of words is not a letter of the word: marks of schemes, special tokens, invisible characters, some of
# which normalizers drop.

#: SentencePiece's mark of a space, in UTF-8.
MARK = "▁".encode()
#: OpenNMT's mark of pieces that belong together, in UTF-8.
JOINER = "￭".encode()
#: What ends the last piece of a word, in the scheme ``end-of-word``.
END_OF_WORD = b"</w>"
#: What begins a piece after a space in the alphabet of GPT-2's bytes, in UTF-8.
BYTE_SPACE = "Ġ".encode()

#: Unicode's Default_Ignorable_Code_Point, U+FFFD, and the control characters but tabs and line ends, as bytes of UTF-8.
INVISIBLE = re.compile(
    rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f\xad]|\xcd\x8f|\xd8\x9c|\xe1\x85[\x9f\xa0]|\xe1\x9e[\xb4\xb5]"
    rb"|\xe1\xa0[\x8b-\x8f]|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xaf]|\xe3\x85\xa4|\xef\xb8[\x80-\x8f]"
    rb"|\xef\xbb\xbf|\xef\xbe\xa0|\xef\xbf[\xb0-\xb8\xbd]|\xf0\x9b\xb2[\xa0-\xa3]|\xf0\x9d\x85[\xb3-\xba]"
    rb"|\xf3\xa0[\x80-\xbf][\x80-\xbf]"
)
_SPECIAL = (
    rb"</?(?:s|pad|mask|bos|eos|cls|sep|S|PAD|MASK|BOS|EOS|CLS|SEP)>|\[(?:CLS|SEP|PAD|MASK|BOS|EOS)\]"
    rb"|<\|[^ \t\n|]+\|>|__[A-Za-z][A-Za-z_-]*__|<2[A-Za-z][A-Za-z_-]*>|>>[A-Za-z][A-Za-z_-]*<<"
)
#: Tokens that models put around sentences: they are pieces of no word.
SPECIAL = re.compile(rb"(?<![^ \t\n])(?:" + _SPECIAL + rb")(?![^ \t\n])")
#: Codes of languages, as mBART, M2M and NLLB put them at the beginning or the end.
LANGUAGE = re.compile(rb"[a-z]{2}_[A-Z]{2}|[a-z]{3}_[A-Z][a-z]{3}")
#: A byte that has no piece, as SentencePiece writes it.
BYTE = re.compile(rb"<0x([0-9A-Fa-f]{2})>")


#: The byte that each character of GPT-2's alphabet stands for: those that print are themselves, others come after them.
_PRINTED = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = sorted({*range(256)} - {*_PRINTED})
_BYTES = {chr(byte): byte for byte in _PRINTED} | {chr(256 + n): byte for n, byte in enumerate(_OTHERS)}


@lru_cache(1 << 18)
def _decoded(token: str) -> bytes:
    if not all(c in _BYTES for c in token):
        return token.encode("utf-8", "surrogateescape")
    raw = bytes(_BYTES[c] for c in token)
    return MARK.join(re.split(rb"[ \t\r\n]", raw))


def content(token: bytes, scheme: str | None) -> bytes:
    """Return a piece without its scheme's marks, but with every ``▁``; for ``<0xC3>`` and the like the byte."""
    byte = BYTE.fullmatch(token)
    if byte:
        return bytes([int(byte[1], 16)])
    if scheme == "bpe" and len(token) > 2:
        return token.removesuffix(b"@@")
    if scheme == "wordpiece" and len(token) > 2:
        return token.removeprefix(b"##")
    if scheme == "opennmt":
        return token.removeprefix(JOINER).removesuffix(JOINER)
    return token.removesuffix(END_OF_WORD) if scheme == "end-of-word" else token


def special(tokens: list[bytes]) -> list[bool]:
    """Return which tokens of a line are special ones."""
    found = [SPECIAL.fullmatch(token) is not None for token in tokens]
    for place in {0, len(tokens) - 1} if tokens else ():
        found[place] |= LANGUAGE.fullmatch(tokens[place]) is not None
    return found


@cache
def visible(c: str) -> str:
    """Return a character if it is a letter to be compared: no mark, no space, and one that is seen."""
    unseen = c == "▁" or c.isspace() or unicodedata.category(c) in ("Cc", "Cs")
    return "" if unseen or INVISIBLE.fullmatch(c.encode()) else c


@cache
def folded(c: str) -> str:
    """Return a character without case, accents and compatibility forms."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", visible(c)).casefold())
    return "".join(one for one in plain if unicodedata.category(one) != "Mn" and visible(one))
