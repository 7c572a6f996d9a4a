"""Normal forms: words with accents composed (NFC) or decomposed (NFD), and tags of languages.

Text in the other form looks the same, and no model knows its words. Models know which form they were trained on; words
in the other one are converted for them, and written unchanged.
"""

import unicodedata
from collections.abc import Collection
from typing import Literal, TypeAlias

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
    """Return words in a form, and how many of them were in another; with None they stay as they are.

    Bytes that are not UTF-8 stay, too.
    """
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
