"""What finds words and sentences in raw text.

sacremoses, what most parallel text was tokenized with, takes 3 MB and is within 2 points of spaCy's rules, which take
150 MB, on PUD and ParTUT in nine languages. ICU finds words of Chinese, Japanese, Thai and Khmer by dictionaries;
icu4py is compiled for every platform. sentencex has rules for 300 languages in 4 MB, level with pysbd's for 22.
"""

import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from importlib.util import find_spec

from aligntools.ground.errors import UsageProblem
from aligntools.words import raw_words

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
        spelled = raw_words.in_letters(text)  # sacremoses knows no marks, and takes them for punctuation
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
        return raw_words.whole(text, spans)

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
        return raw_words.whole(text, spans)
