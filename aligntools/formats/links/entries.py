"""Entries of dictionaries, whatever file they are of, and their words as text has them."""

import re
import unicodedata
from typing import NamedTuple

from aligntools.words.vocabulary import split_words

#: Signs of entries that text has otherwise: hyphens, the ligature of Dutch, hyphens that show at ends of lines alone.
_SIGNS = str.maketrans({"‐": "-", "‑": "-", "ĳ": "ij", "Ĳ": "IJ", "\u00ad": None})
#: Stress marks, which dictionaries of Cyrillic scripts have and text has not; letters with a sign of their own are one
#: character in NFC.
_STRESS = re.compile("(?<=[\u0400-\u052f])\u0301")


class Entry(NamedTuple):
    """A word or words of one language, of the other, and how much the entry weighs.

    Words of an entry have single spaces between them.
    """

    source: str
    target: str
    weight: float = 1.0


def plain(text: str) -> str:
    """Return the words of an entry as text would have them, with single spaces between them."""
    if not text.isascii():
        text = _STRESS.sub("", unicodedata.normalize("NFC", text).translate(_SIGNS))
    return " ".join(split_words(text.replace("\n", " ").replace("\r", " ")))
