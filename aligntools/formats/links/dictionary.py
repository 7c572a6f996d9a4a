"""Dictionaries of two languages: their entries, whatever program wrote them, told apart by what a file has in it.

A file is text with a word, a tab and its translations on each line, the index or the articles of a dictd dictionary, or
a bilingual dictionary of Apertium.
"""

import os
import re
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import reduce
from typing import NamedTuple

from aligntools.formats.opening import files
from aligntools.formats.opening.json_text import as_number
from aligntools.ground.errors import DataError
from aligntools.ground.ranges import shown
from aligntools.words.vocabulary import split_words
from aligntools.words.white_space import is_blank

#: Signs of entries that text has otherwise: hyphens, the ligature of Dutch, hyphens that show at ends of lines alone.
_SIGNS = str.maketrans({"‐": "-", "‑": "-", "ĳ": "ij", "Ĳ": "IJ", "\u00ad": None})
#: Stress marks, which dictionaries of Cyrillic scripts have and text has not; letters with a sign of their own are one
#: character in NFC.
_STRESS = re.compile("(?<=[\u0400-\u052f])\u0301")


class Entry(NamedTuple):
    """A word or words of two languages, with single spaces between them, and how much the entry weighs."""

    source: str
    target: str
    weight: float = 1.0


def plain(text: str) -> str:
    """Return the words of an entry as text would have them, with single spaces between them."""
    if not text.isascii():
        text = _STRESS.sub("", unicodedata.normalize("NFC", text).translate(_SIGNS))
    return " ".join(split_words(text.replace("\n", " ").replace("\r", " ")))


# Dictionaries of dictd, as FreeDict's are. A line of the index has a headword, a tab, where its article begins, a tab
# and how many bytes it has, both in base 64. An article begins with the headword; translations follow, between commas,
# on numbered lines where the word has several senses. Pronunciations, grammar and remarks are in brackets of some kind.

_INDEX_LINE = re.compile(rb"([^\t\n]*)\t([A-Za-z0-9+/]+)\t([A-Za-z0-9+/]+)(\t[^\n]*)?\r?")
#: What dictd's own articles are called in the index, and at the beginning of the first article.
_OWN, _FIRST = (b"00database", b"00-database"), re.compile(rb"\s{0,9}00-?database")
_DIGITS = {c: n for n, c in enumerate(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")}
#: Names of files with articles, beside an index.
_ARTICLES = (".dict.dz", ".dict", ".dict.gz", ".dict.xz", ".dict.zst", ".dict.bz2")
_COMPRESSED = (".gz", ".xz", ".zst", ".bz2")
#: Longer translations are explanations.
WORDS = 5
_NUMBER = re.compile(r"^\s*\d{1,2}\.\s+")
_REMARKS = re.compile(r"<[^<>]*>|\[[^][]*\]|\{[^{}]*\}|\([^()]*\)|/[^/]*/")
_OTHER_LINE = re.compile(r"^\s*([A-Za-z][A-Za-z ]{0,30}:(\s|$)|[\"“„«])")


def is_index(data: bytes) -> bool:
    """Return whether a file's content is an index."""
    first = [line for line in data[: 1 << 16].split(b"\n")[:50] if line.strip()]
    known = any(line.startswith(_OWN) for line in data.split(b"\n"))
    return known and 2 * sum(bool(_INDEX_LINE.fullmatch(line)) for line in first) > len(first)


def _entries_beside(path: str, data: bytes, is_index: bool) -> Iterator[Entry]:
    """Read the entries of an index, beside which the articles are, or of articles, beside which the index is."""
    ends = _COMPRESSED if is_index else _ARTICLES
    stem = next((path.removesuffix(end) for end in ends if path.endswith(end)), path)
    if is_index:
        names = [stem.removesuffix(".index") + end for end in _ARTICLES]
        problem = f"is the index of a dictd dictionary; its articles, {names[0]} or {names[1]}, are not there"
    else:
        names = [stem + ".index" + end for end in ("", *_COMPRESSED)]
        problem = f"has articles of a dictd dictionary; its index, {names[0]}, is not there"
    other = next((name for name in names if os.path.isfile(name)), None)
    if other is None:
        raise DataError(path, None, problem)
    with files.reading(other) as file:
        found = file.read()
    return _entries(path, data, other, found) if is_index else _entries(other, found, path, data)


def _entries(path: str, index: bytes, articles_path: str, articles: bytes) -> Iterator[Entry]:
    for number, line in enumerate(index.split(b"\n"), 1):
        if not line.strip() or line.startswith(_OWN):
            continue
        found = _INDEX_LINE.fullmatch(line)
        if found is None:
            problem = "a headword and two numbers in base 64 were expected, with tabs between them"
            raise DataError(path, number, f"'{shown(line)}': {problem}")
        begin, size = (reduce(lambda value, digit: 64 * value + _DIGITS[digit], found[k], 0) for k in (2, 3))
        if begin + size > len(articles):
            problem = f"the article ends at byte {begin + size}, and {articles_path} has {len(articles)} bytes"
            raise DataError(path, number, f"{problem}: is it another dictionary's, or cut short?")
        try:
            word, article = found[1].decode(), articles[begin : begin + size].decode()
        except UnicodeDecodeError:
            raise DataError(path, number, "the headword or its article is not UTF-8") from None
        for translation in translations(article):
            yield Entry(plain(word), translation)


def translations(article: str) -> Iterator[str]:
    """Yield the translations in an article, without what is said of them."""
    for line in article.split("\n")[1:]:
        if _OTHER_LINE.match(line):
            continue
        line, more = _NUMBER.sub("", line), 1
        while more:
            line, more = _REMARKS.subn(" ", line)
        for part in re.split("[,;]", line):
            words = plain(part)
            if words and words.count(" ") < WORDS and any(map(str.isalnum, words)):
                yield words


# Bilingual dictionaries of Apertium (``.dix``): XML with entries of a left and a right side, or of both (``<i>``).
# Grammar is left out, and so are entries with patterns (``<re>``), ignored ones and paradigms.

_BEGIN = re.compile(rb"\s*(<\?xml[^>]*\?>)?(\s|<!--.*?-->|<!DOCTYPE[^>]*>)*<dictionary[\s>]", re.DOTALL)


def entries(path: str, data: bytes) -> Iterator[Entry]:
    """Yield the entries of a dictionary."""
    if not _BEGIN.match(data):
        raise DataError(path, None, "is XML, and not a dictionary of Apertium (<dictionary>); convert it to lines")
    try:
        root = ET.fromstring(data)
    except ET.ParseError as error:
        raise DataError(path, error.position[0], f"is not XML: {str(error).split(':')[0]}") from None
    if root.find("./section/e/p") is None:
        raise DataError(path, None, "has no pairs <p> in its sections: it is not a dictionary of two languages")
    for entry in root.iterfind("./section/e"):
        if entry.get("i") == "yes" or entry.find("re") is not None:
            continue
        sides = ["", ""]
        for part in entry:
            if part.tag == "i":
                sides = [side + _text(part) for side in sides]
            elif part.tag == "p":
                sides = [side + _text(part.find(name)) for side, name in zip(sides, "lr", strict=True)]
        yield Entry(plain(sides[0]), plain(sides[1]))


def _text(element: ET.Element | None) -> str:
    """Return the words of a side."""
    if element is None:
        return ""
    found = element.text or ""
    for part in element:
        if part.tag == "g":
            found += _text(part)
        elif part.tag in ("b", "j"):
            found += " "
        found += part.tail or ""
    return found


#: Largest weight of an entry.
MUCH = 1e6
_FORM = "a word, a tab and its translation were expected (several with ; between them, and after another tab a weight)"


def read_dictionary(path: str) -> list[Entry]:
    """Read a dictionary of any of the known formats: each entry once, in order, with its largest weight."""
    with files.reading(path) as file:
        data = file.read()
    if is_index(data):
        found = _entries_beside(path, data, True)
    elif _FIRST.match(data[:64]):
        found = _entries_beside(path, data, False)
    elif _BEGIN.match(data) or data.lstrip().startswith((b"<?xml", b"<!DOC", b"<TEI")):  # or XML of another kind
        found = entries(path, data)
    else:
        found = _pairs(path, data)
    weights: dict[tuple[str, str], float] = {}
    for source, target, weight in found:
        if source and target:
            weights[source, target] = max(weight, weights.get((source, target), 0.0))
    if not weights:
        raise DataError(path, None, f"has no entries: on each line {_FORM}")
    return [Entry(*pair, weight) for pair, weight in weights.items()]


def _pairs(path: str, data: bytes) -> Iterator[Entry]:
    """Yield the entries of text with tabs, or of hunalign's, whose lines are ``target @ source``."""
    for number, line in enumerate(data.split(b"\n"), 1):
        if is_blank(line) or line.startswith(b"#"):
            continue
        try:
            fields = line.decode().removesuffix("\r").split("\t")
        except UnicodeDecodeError:
            raise DataError(path, number, files.NOT_UTF8) from None
        if "\0" in line.decode():
            raise DataError(path, number, f"is binary; {_FORM}")
        if len(fields) == 1 and " @ " in fields[0]:
            fields = [side.strip(" ") for side in reversed(fields[0].split(" @ ", 1))]
        if not 2 <= len(fields) <= 3:
            raise DataError(path, number, f"'{shown(line.decode().strip())}' has {len(fields) - 1} tabs; {_FORM}")
        source, target = plain(fields[0]), fields[1].strip(" ")
        targets = [target] if target == ";" else [plain(one) for one in target.split(";")]
        if not source or not any(targets):
            raise DataError(path, number, f"'{shown(line.decode().strip())}' has an empty side; {_FORM}")
        weight = as_number(fields[2]) if len(fields) == 3 else 1.0
        if not 0 <= weight <= MUCH:
            raise DataError(path, number, f"'{shown(fields[2])}' is not a weight from 0 to {MUCH:g}")
        for one in filter(None, targets):
            yield Entry(source, one, weight)
