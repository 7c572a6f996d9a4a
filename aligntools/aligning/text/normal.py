"""Words without accents."""

import unicodedata


def simplify(word: str) -> str:
    """Strip accents and other combining marks; letters that a script composes of parts (Hangul) stay composed."""
    if word.isascii():
        return word
    parts = unicodedata.normalize("NFD", word)
    return unicodedata.normalize("NFC", "".join(c for c in parts if not unicodedata.combining(c))) or word
