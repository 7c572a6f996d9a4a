"""Dictionaries of dictd, as FreeDict's are: articles in one file, and in another, the index, where each begins.

A line of the index has a headword, a tab, where its article begins, a tab and how many bytes it has, both numbers in
base 64. An article begins with the headword; translations follow, several on a line with commas between them, on
numbered lines where the word has several senses. Pronunciations, grammar and remarks are in brackets of some kind.
"""

import os
import re
from collections.abc import Iterator

from aligntools.formats.links.entries import Entry, plain
from aligntools.formats.opening import files
from aligntools.ground.errors import DataError
from aligntools.ground.ranges import shown

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
    """Tell whether a file's content is an index."""
    first = [line for line in data[: 1 << 16].split(b"\n")[:50] if line.strip()]
    known = any(line.startswith(_OWN) for line in data.split(b"\n"))
    return known and 2 * sum(bool(_INDEX_LINE.fullmatch(line)) for line in first) > len(first)


def is_articles(data: bytes) -> bool:
    """Tell whether a file's content is that of articles."""
    return bool(_FIRST.match(data[:64]))


def read_articles(path: str, data: bytes) -> Iterator[Entry]:
    """Read the entries of a file of articles, beside which its index is.

    Raises DataError when there is no index, or it is none of these articles.
    """
    stem = next((path.removesuffix(end) for end in _ARTICLES if path.endswith(end)), path)
    names = [stem + ".index" + end for end in ("", *_COMPRESSED)]
    index = next((name for name in names if os.path.isfile(name)), None)
    if index is None:
        raise DataError(path, None, f"has articles of a dictd dictionary; its index, {names[0]}, is not there")
    with files.reading(index) as file:
        return _entries(index, file.read(), path, data)


def read_by_index(path: str, index: bytes) -> Iterator[Entry]:
    """Read the entries of an index, beside which the articles are.

    Raises DataError when there are none, or they are not those of the index.
    """
    stem = next((path.removesuffix(end) for end in _COMPRESSED if path.endswith(end)), path).removesuffix(".index")
    names = [stem + end for end in _ARTICLES]
    articles = next((name for name in names if os.path.isfile(name)), None)
    if articles is None:
        problem = f"is the index of a dictd dictionary; its articles, {names[0]} or {names[1]}, are not there"
        raise DataError(path, None, problem)
    with files.reading(articles) as file:
        return _entries(path, index, articles, file.read())


def _entries(path: str, index: bytes, articles_path: str, articles: bytes) -> Iterator[Entry]:
    for number, line in enumerate(index.split(b"\n"), 1):
        if not line.strip() or line.startswith(_OWN):
            continue
        found = _INDEX_LINE.fullmatch(line)
        if found is None:
            problem = "a headword and two numbers in base 64 were expected, with tabs between them"
            raise DataError(path, number, f"'{shown(line.decode('utf-8', 'replace'))}': {problem}")
        begin, size = _number(found[2]), _number(found[3])
        if begin + size > len(articles):
            problem = f"the article ends at byte {begin + size}, and {articles_path} has {len(articles)} bytes"
            raise DataError(path, number, f"{problem}: is it another dictionary's, or cut short?")
        try:
            word, article = found[1].decode(), articles[begin : begin + size].decode()
        except UnicodeDecodeError:
            raise DataError(path, number, "the headword or its article is not UTF-8") from None
        for translation in translations(article):
            yield Entry(plain(word), translation)


def _number(digits: bytes) -> int:
    value = 0
    for digit in digits:
        value = 64 * value + _DIGITS[digit]
    return value


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
