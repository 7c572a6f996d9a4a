"""White space in lines of text: which characters separate words and which only look so; normal forms; languages.

Words stand between spaces and tabs (`vocabulary.split_words`, `kernels_text`). Other characters are made spaces before
lines are looked at in text that is to be split as ``unicode``, all that Python's `str.split` splits at, and in text of
language models, where any of KenLM's programs separates words. How a file is split travels with its name: `split_as`.
"""

import logging
import os
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from aligntools.ground.errors import DataError, UsageProblem

if TYPE_CHECKING:
    import numpy as np


#: What separates words: spaces and tabs, or all of Unicode's white space.
SPLITS = ("spaces", "unicode")
#: White space at which C++ streams (`isspace` of the C locale) stop, but for what separates words and lines here. No
#: word of a table that is written for other programs holds any.
_STREAMED = re.compile(rb"[\v\f\r]")
#: The UTF-8 of what `str.isspace` holds for, but spaces, tabs and the end of a line.
_OTHERS = re.compile(
    rb"[\v\f\x1c-\x1f]|\r(?!\n|\Z)|\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2(?:\x80[\x80-\x8a\xa8\xa9\xaf]|\x81\x9f)|\xe3\x80\x80"
)
_CONTROLS = tuple(bytes([code]) for code in b"\v\f\x1c\x1d\x1e\x1f")
#: First bytes, or one of them where texts are full of it, and what is then looked for; U+2000 and on in `_has_general`.
_SINGLE = (
    (b"\xc2", b"\xc2\xa0"),
    (b"\xc2", b"\xc2\x85"),
    (b"\xe1", b"\xe1\x9a\x80"),
    (b"\xe2", b"\xe2\x81\x9f"),
    (b"\xe3", b"\xe3\x80\x80"),
)
_OF_MODELS = bytes.maketrans(b"\0\v\f\r", b"    ")
_NAMES = {
    "\v": "LINE TABULATION",
    "\f": "FORM FEED",
    "\r": "CARRIAGE RETURN",
    "\x1c": "INFORMATION SEPARATOR FOUR",
    "\x1d": "INFORMATION SEPARATOR THREE",
    "\x1e": "INFORMATION SEPARATOR TWO",
    "\x1f": "INFORMATION SEPARATOR ONE",
    "\x85": "NEXT LINE",
}
_UNREADABLE = (
    "a word holds a carriage return, vertical tab or form feed, at which programs that read the file would stop"
)
_SHOWN = 5  # characters
_SHORT = 1 << 9  # bytes: an expression is quicker up to here
_log, _unwritten = logging.getLogger("aligntools.hints"), logging.getLogger("aligntools")


class UnicodeSplit(str):
    """The name of a file whose words stand between any of Unicode's white space; what opens it takes it as a str."""

    __slots__ = ()
    splitting = SPLITS[1]

    def __str__(self) -> str:
        return self


def split_as(text: Any, split: str | None) -> Any:
    """Attach a splitting rule to a path; anything else, and a path that has one, is returned unchanged."""
    if split not in (None, *SPLITS):
        raise UsageProblem(f"no splitting '{split}'; there are {', '.join(SPLITS)}")
    if split != "unicode" or not isinstance(text, str | os.PathLike):
        return text
    return text.split_as(split) if hasattr(text, "split_as") else UnicodeSplit(os.fspath(text))


def split_of(text: object) -> str:
    """Return how a text is split, by its name or by what reads it; text in memory has seen to it, and is ``spaces``."""
    return getattr(text, "splitting", SPLITS[0])


def named_as(text: object, name: str) -> str:
    """Return another name for a text that is split as it is."""
    return UnicodeSplit(name) if isinstance(text, UnicodeSplit) else name


def whole_words(words: Sequence[str] | Sequence[bytes]) -> "np.ndarray":
    """Return which words other programs read as one, C++ streams above all [shape=(words,), dtype=bool]."""
    import numpy as np

    encoded = [word.encode("utf-8", "replace") if isinstance(word, str) else word for word in words]
    if not _STREAMED.search(b"".join(encoded)):
        return np.ones(len(encoded), bool)
    return np.array([not _STREAMED.search(word) for word in encoded], bool)


def tell_unwritten(rows: int) -> None:
    """Log how many rows of a table were left out since they hold a word that is none of `whole_words`."""
    if rows:
        _unwritten.warning("%d row%s left out: %s", rows, "s" if rows > 1 else "", _UNREADABLE)


def is_blank(line: bytes | str) -> bool:
    """Return whether a line, with its end or without, has nothing but what separates words."""
    return not (line.strip(b" \t\r\n") if isinstance(line, bytes) else line.strip(" \t\r\n"))


def kept_returns(lines: bytes) -> bytes:
    """Return lines of words with a space behind each last word's carriage return, which is else part of the end."""
    return lines.replace(b"\r\n", b"\r \n")


def has_others(block: bytes) -> bool:
    """Return whether whole lines have white space that is neither space nor tab nor their end."""
    if len(block) < _SHORT:
        return _OTHERS.search(block) is not None
    if any(control in block for control in _CONTROLS):
        return True
    if b"\r" in block and block.count(b"\r") > block.count(b"\r\n") + block.endswith(b"\r"):
        return True
    return any(lead in block and found in block for lead, found in _SINGLE) or _has_general(block)


def _has_general(block: bytes) -> bool:
    """Return whether there is one of U+2000 to U+200A, U+2028, U+2029 and U+202F; their first two bytes are common."""
    if b"\xe2\x80" not in block:
        return False
    import numpy as np

    data = np.frombuffer(block, np.uint8)
    at = np.flatnonzero(data[:-2] == 0xE2)
    third = data[at + 2][data[at + 1] == 0x80]
    return bool(((third <= 0x8A) & (third >= 0x80) | (third == 0xA8) | (third == 0xA9) | (third == 0xAF)).any())


def as_spaces(block: bytes) -> bytes:
    """Return whole lines with a space for each character at which `str.split` splits; line ends stay."""
    return _OTHERS.sub(b" ", block) if has_others(block) else block


def as_spaces_of_models(block: bytes) -> bytes:
    """Return whole lines with a space for each character at which KenLM separates words, the newline not among them."""
    return block.translate(_OF_MODELS) if any(code in block for code in (b"\r", b"\0", b"\v", b"\f")) else block


class WhiteSpace:
    """The white space of one text, block by block; its name says how the text is split into words.

    Text in memory has been split when it was given.
    """

    def __init__(self, text: Any, of_model: bool = False) -> None:
        self._name, self._of_model, self._unicode = text, of_model, split_of(text) == "unicode"
        self._looked_at = isinstance(text, str | os.PathLike) or hasattr(text, "splitting")
        self.lines, self.characters = 0, set[str]()

    def __call__(self, block: bytes) -> bytes:
        """Return whole lines in which spaces and tabs separate words; lines stay lines, of any number of bytes."""
        if self._of_model:
            block = as_spaces_of_models(block)
        if self._unicode:
            return as_spaces(block)
        if self._looked_at and has_others(block):
            self.count(block)
        return block

    def of_words(self, block: bytes) -> bytes:
        """Return lines of words, which are parted already: for a language model none of them holds white space."""
        return as_spaces_of_models(block) if self._of_model else block

    def of_lines(self, lines: list[bytes]) -> list[bytes]:
        """Return lines, with their ends, as `__call__` returns them."""
        return [self(line) for line in lines] if has_others(b"".join(lines)) else lines

    def count(self, block: bytes) -> None:
        """Count the lines that have other white space."""
        end = -1
        for found in _OTHERS.finditer(block):
            self.characters.add(found[0].decode())
            if found.start() > end:
                self.lines += 1
                end = block.find(b"\n", found.end())
                if end < 0:
                    end = len(block)

    def add(self, lines: int, characters: Iterable[str]) -> None:
        """Count what was found elsewhere in the same text."""
        self.lines += lines
        self.characters.update(characters)

    @property
    def found(self) -> str:
        """A line on what was found, or an empty one."""
        if not self.lines:
            return ""
        found = [f"U+{ord(c):04X} {_NAMES.get(c) or unicodedata.name(c)}" for c in sorted(self.characters)]
        if len(found) > _SHOWN:
            found[_SHOWN:] = ["..."]
        shown = "<stdin>" if str(self._name) == "-" else self._name
        have = f"{self.lines} lines have" if self.lines > 1 else "1 line has"
        return (
            f"{shown}: {have} white space other than spaces and tabs within words ({', '.join(found)});"
            " `split=unicode` separates words there too, as Python's str.split() does"
        )

    def tell(self) -> None:
        """Log, once for a text, what was found."""
        if found := self.found:
            _log.warning("%s", found, extra={"once": f"{self._name} split"})
        self.lines, self.characters = 0, set()

    def through(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield blocks of whole lines as `__call__` returns them; at the end tell."""
        for block in blocks:
            yield self(block)
        self.tell()


@contextmanager
def explained_by(texts: Iterable[WhiteSpace]) -> Iterator[None]:
    """Add to an error, such as a link past a sentence's end, that white space within words may be the reason."""
    try:
        yield
    except DataError as error:
        told = "".join(f"; {white.found}" for white in texts if white.found)
        raise DataError(error.path, error.line, error.problem + told) from None


#: A word with punctuation behind it, or a quotation mark or bracket before it, between spaces.
_HANGING = re.compile(r"(?<!\S)(?:\S*\w[.,;:!?][\"'”’»)\]]*|[\"“„«(\[]\w\S*)(?!\S)")
#: Tokenized text has up to 4 % of such words (abbreviations and slips), raw text 9 % and more.
_SHARE, _FEWEST, _GLANCE = 0.06, 6, 1 << 16


def hint(path: object, block: bytes) -> None:
    """Log, once for a run, that many words at a file's beginning, which this is, have punctuation on them."""
    if not isinstance(path, (str, os.PathLike)):
        return
    text = block[:_GLANCE].decode("utf-8", "ignore")
    hanging = len(_HANGING.findall(text))
    if hanging >= _FEWEST and hanging >= _SHARE * len(text.split()):
        shown = "<stdin>" if str(path) == "-" else path
        advice = "words would be taken with it (see `tokenize` of `align()` and `Tagger.tag_text()`)"
        once = {"once": "untokenized"}
        _log.warning("%s: looks untokenized: many words have punctuation on them; %s", shown, advice, extra=once)


# Normal forms: words with accents composed (NFC) or decomposed (NFD) look the same, and no model knows those of the
# other form: they are converted for it, and written unchanged.

NormalForm: TypeAlias = Literal["NFC", "NFD"]
#: Share of the words that look different in the two forms, and have one, from which on it is that of the text.
SHARE = 0.99


def _text(words: Collection[bytes]) -> str:
    return b" ".join(words).decode("utf-8", "surrogateescape")


def _in(form: NormalForm, word: bytes) -> bytes:
    return unicodedata.normalize(form, word.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def form_of(words: Collection[bytes]) -> NormalForm | None:
    """Return the form that nearly all words have for which it matters; None where they are mixed, or none is such."""
    whole = _text(words)
    if unicodedata.is_normalized("NFC", whole):
        return "NFC" if not unicodedata.is_normalized("NFD", whole) else None
    composed = sum(_in("NFD", word) != word for word in words)
    decomposed = sum(_in("NFC", word) != word for word in words)
    if composed >= SHARE * (composed + decomposed):
        return "NFC"
    return "NFD" if decomposed >= SHARE * (composed + decomposed) else None


def in_form(words: Collection[bytes], form: NormalForm | None) -> tuple[list[bytes], int]:
    """Return words in a form, if one is given, and how many were in another; bytes that are not UTF-8 stay."""
    if form is None or unicodedata.is_normalized(form, _text(words)):
        return list(words), 0
    turned = {word: other for word in set(words) if (other := _in(form, word)) != word}
    return [turned.get(word, word) for word in words], sum(word in turned for word in words)


def alike(word: bytes, other: bytes) -> bool:
    """Return whether two words differ in their normal forms alone."""
    return word != other and _in("NFC", word) == _in("NFC", other)


def same_language(language: str, tag: str) -> bool:
    """Return whether two language tags are one language: ``de`` and ``de-DE`` are, ``de-AT`` and ``de-DE`` are not."""
    one, other = (name.lower().replace("_", "-").split("-") for name in (language, tag))
    return bool(tag) and all(a == b for a, b in zip(one, other, strict=False))
