"""Tokenizers and sentence splitters of raw text; without one, words and grapheme clusters by Unicode's rules.

sacremoses, what most parallel text was tokenized with, takes 3 MB and is within 2 points of spaCy's rules, which take
150 MB, on PUD and ParTUT in nine languages. ICU finds words of Chinese, Japanese, Thai and Khmer by dictionaries;
icu4py is compiled for every platform. sentencex has rules for 300 languages in 4 MB, level with pysbd's for 22.
"""

import logging
import re
import sys
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import cache
from importlib.util import find_spec

from aligntools.ground.errors import UsageProblem

_CHUNK, _BETWEEN_SPACES = re.compile(r"\S+"), re.compile("[^ ]+")
#: Web and mail addresses, without the punctuation behind them.
_ADDRESS = re.compile(r"(?<!\S)(?:(?:https?|ftp)://|www\.)\S*[\w/=&#]|(?<!\S)[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
#: Languages whose words have no spaces between them, and that ICU has dictionaries of.
UNSPACED = {
    **dict.fromkeys(("zh", "zho", "chi", "cmn", "yue"), "Chinese"),
    **dict.fromkeys(("ja", "jpn"), "Japanese"),
    **dict.fromkeys(("th", "tha"), "Thai"),
    **dict.fromkeys(("lo", "lao"), "Lao"),
    **dict.fromkeys(("km", "khm"), "Khmer"),
    **dict.fromkeys(("my", "mya", "bur"), "Burmese"),
}
_log = logging.getLogger("aligntools")
_LANGUAGES = re.compile(r"([a-z]{2,3})[-,]([a-z]{2,3})")


def languages_of(pair: str, takes: str = "`tokenize` takes icu, or") -> tuple[str, str]:
    """Return the two languages of a pair such as ``de-en`` or ``de,en``; ``takes`` begins the error for none."""
    found = _LANGUAGES.fullmatch(pair)
    if not found:
        raise UsageProblem(f"{takes} the languages of both sides, such as de-en, not '{pair}'")
    return found[1], found[2]


class Words(ABC):
    """What finds the words of a text."""

    def __call__(self, line: bytes) -> bytes:
        """Return a line with spaces between tokens, which spell its words; as it is where they would not."""
        try:
            text = line.decode().replace("\t", " ")
        except UnicodeDecodeError:
            return line
        return " ".join(text[a:b] for a, b in self._spans(text, 0, len(text), _BETWEEN_SPACES)).encode()

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where each token of a text begins and ends; no token has a space in it."""
        return self._spans(text, 0, len(text), _CHUNK)

    @abstractmethod
    def _spans(self, text: str, begin: int, end: int, words: "re.Pattern[str]") -> list[tuple[int, int]]:
        """Return the tokens of a part of a text, within what a pattern finds."""


def tokenizer(language: str, name: str = "moses") -> Words:
    """Return ``moses`` or ``icu`` for a language, an ISO code; warn where Moses' rules find no words in it."""
    if name == "icu":
        return IcuTokenizer(language)
    if language in UNSPACED:
        needed = "" if find_spec("icu4py") else " (needs pip install 'aligntools[icu]')"
        problem = "%s has no spaces between words, and Moses' rules leave what stands between spaces or punctuation as"
        advice = "one word; `tokenizer=icu` finds its words by a dictionary%s"
        _log.warning(f"{problem} {advice}", UNSPACED[language], needed, extra={"once": f"unspaced {language}"})
    return Tokenizer(language)


def tokenizers(pair: str, name: str | None = None) -> list[Words]:
    """Return what finds the words of both sides: ``pair`` is two languages, such as ``de-en``, or ``icu``."""
    if pair == "icu":
        return [tokenizer("", "icu")] * 2
    return [tokenizer(language, name or "moses") for language in languages_of(pair)]


def sentence_splitter(language: str, asked: str = "tokenize") -> Callable[[str], list[str]]:
    """Return what cuts a text into sentences, each with the spaces behind it; joined they are the text."""
    try:
        from sentencex import segment
    except ImportError:
        raise UsageProblem(f"`{asked}` needs sentencex: pip install 'aligntools[tokenize]'") from None

    def split(text: str) -> list[str]:
        found: list[str] = segment(language, text)
        return found if "".join(found) == text else [text]

    return split


class Tokenizer(Words):
    """Moses' tokenizer for a language; tokens spell the text's words, and none of them goes across a space."""

    def __init__(self, language: str) -> None:
        try:
            from sacremoses import MosesTokenizer
        except ImportError:
            raise UsageProblem("`tokenize` needs sacremoses: pip install 'aligntools[tokenize]'") from None
        self._tokenizer = MosesTokenizer(language)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where each token of a text begins and ends; web addresses are one. No token has a space in it."""
        spans, begin = [], 0
        for address in _ADDRESS.finditer(text):
            spans += [*self._spans(text, begin, address.start(), _CHUNK), address.span()]
            begin = address.end()
        return spans + self._spans(text, begin, len(text), _CHUNK)

    def _spans(self, text: str, begin: int, end: int, words: "re.Pattern[str]") -> list[tuple[int, int]]:
        chunks = [found.span() for found in words.finditer(text, begin, end)]
        spelled = in_letters(text)  # sacremoses knows no marks, and takes them for punctuation
        tokens = self._tokens(spelled[begin:end]) if chunks else []
        if "".join(tokens) != "".join(spelled[a:b] for a, b in chunks):  # what Moses replaces, such as two apostrophes
            chunk_tokens = ((spelled[a:b], self._tokens(spelled[a:b])) for a, b in chunks)
            tokens = [one for word, own in chunk_tokens for one in (own if "".join(own) == word else [word])]
        spans, lengths, left = [], iter(map(len, tokens)), 0
        for a, b in chunks:
            while a < b:
                left = left or next(lengths)
                size = min(left, b - a)
                spans.append((a, a + size))
                a, left = a + size, left - size
        return whole(text, spans)

    def _tokens(self, text: str) -> list[str]:
        found = self._tokenizer.tokenize(text, escape=False)
        return [part for token in found for part in token.split(" ") if part]


class IcuTokenizer(Words):
    """ICU's word boundaries, by rules of the language if it has some: those of Mozilla's pipelines."""

    def __init__(self, language: str = "") -> None:
        try:
            from icu4py.breakers import WordBreaker
        except ImportError:
            raise UsageProblem("ICU's words need icu4py: pip install 'aligntools[icu]'") from None
        self._breaker, self._language = WordBreaker, language

    def _spans(self, text: str, begin: int, end: int, words: "re.Pattern[str]") -> list[tuple[int, int]]:
        spans = []
        for token in self._breaker(text, self._language):  # its own places count UTF-16 units
            spans += [chunk.span() for chunk in words.finditer(text, begin, begin + len(token))]
            begin += len(token)
        return whole(text, spans)


#: Not seen, and nothing ends there: soft hyphen, marks of direction, word joiner, Arabic signs above numbers, the BOM.
_UNSEEN = (
    "\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
)
_JOINERS, _FLAGS = "\u200c\u200d", "\U0001f1e6-\U0001f1ff"
#: What is part of the character before it, besides marks: vowels of Thai and Lao, sound marks of half width, skin
#: tones, tags, selectors of variants.
_MODIFIERS = "\u0e33\u0eb3\uff9e\uff9f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\U000e0100-\U000e01ef"


@cache
def marks() -> str:
    """Return the class of combining marks, which belong to the character before."""
    ranges: list[list[int]] = []
    for number in range(0x300, min(sys.maxunicode, 0x1FFFF)):
        if unicodedata.category(chr(number))[0] == "M":
            if ranges and ranges[-1][1] == number - 1:
                ranges[-1][1] = number
            else:
                ranges.append([number, number])
    return "".join(f"{chr(a)}-{chr(b)}" for a, b in ranges)


@cache
def _patterns() -> tuple["re.Pattern[str]", "re.Pattern[str]"]:
    """Return what finds characters that may be part of a cluster, and what finds clusters of several characters."""
    extending = f"{marks()}{_MODIFIERS}"
    never = f"{extending}{_JOINERS}{_UNSEEN}"
    letter = rf"(?:(?![_{never}])\w)"
    flag = rf"[{_FLAGS}]{{2}}[{never}]*"
    word = rf"{letter}(?:[{never}]|(?<=[{_JOINERS}{_UNSEEN}]){letter})*"
    joined = rf"(?<=\u200d)[^\w\s{never}{_FLAGS}]"
    symbol = rf"[^\s{never}](?:[{extending}{_JOINERS}]|{joined}|[{_UNSEEN}](?![{_UNSEEN}]*{letter}))*"
    whole = rf"[{_UNSEEN}]*(?:{flag}|(?P<word>{word})|{symbol})|[{never}]+"
    return re.compile(f"[{never}{_FLAGS}]"), re.compile(whole)


def whole(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the places of words, those joined that a cluster stands across."""
    spans = list(spans)
    some, clusters = _patterns()
    if not some.search(text):
        return spans
    within = {at: found.start() for found in clusters.finditer(text) for at in range(found.start() + 1, found.end())}
    joined: list[tuple[int, int]] = []
    for begin, end in spans:
        if not joined or joined[-1][1] != begin or begin not in within:
            joined.append((begin, end))
            continue
        first, start = joined[-1][0], within[begin]
        if first < start and some.match(text, start):  # what is not seen belongs to the word behind it
            joined[-1:] = (first, start), (start, end)
        else:
            joined[-1] = first, end
    return joined


def in_letters(text: str) -> str:
    """Return a text as long, in which letters stand for what is in words besides: for what knows letters alone."""
    some, clusters = _patterns()
    if not some.search(text):
        return text

    def spelled(found: "re.Match[str]") -> str:
        if found["word"] is None:
            return found.group()
        base = found["word"][0]
        return "".join(c if c.isalnum() else base for c in found.group())

    return clusters.sub(spelled, text)


_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9f"
#: Han, hiragana, and scripts of South-East Asia, of which a word is a letter with its marks.
_SINGLE = "\u2e80-\u2fdf\u3005-\u3007\u3041-\u3096\u309d-\u309f\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_CLUSTERS = "\u0e01-\u0e4f\u0e81-\u0edf\u1000-\u109f\u1780-\u17d3"


@cache
def _pattern() -> "re.Pattern[str]":
    joiners = marks()
    joined = f"\u200c\u200d{joiners}"  # joiners stand within words of Persian and of Indian languages
    apart = f"{_KATAKANA}{_SINGLE}{_CLUSTERS}"
    return re.compile(
        rf"[{_KATAKANA}]+|[{_SINGLE}][{joiners}]*|[{_CLUSTERS}][{joiners}]*"
        rf"|[^\W\d_{apart}](?:[^\W\d_{apart}]|[{joined}])*|\d+|\S"
    )


def raw_words(text: str) -> list[tuple[int, int]]:
    """Return where each word of a text begins and ends, by Unicode alone; none has a space in it, or a part of a
    cluster.

    Letters and digits are apart, punctuation is one by one, words are cut where lower case turns to upper case. Of
    scripts without spaces, a run of katakana is a word, and each other character.

    Examples
    --------
    >>> [text[a:b] for text in ["Save-all v2.0"] for a, b in raw_words(text)]
    ['Save', '-', 'all', 'v', '2', '.', '0']
    """
    spans = []
    for found in _pattern().finditer(text):
        begin, end = found.span()
        word = found.group()
        if end - begin > 1 and not (word.islower() or word[1:].islower() or word.isupper()):
            # before a capital with a small letter before it, or only behind it
            last, start = len(word) - 1, begin
            for k in range(1, len(word)):
                if word[k].isupper() and (word[k - 1].islower() or (k < last - 1 and word[k + 1 : k + 3].islower())):
                    spans.append((begin, start + k))
                    begin = start + k
        spans.append((begin, end))
    return whole(text, spans)
