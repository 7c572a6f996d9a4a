"""Words with and without tags: one sentence a line (``word_TAG word_TAG`` or plain), one word a line, or CoNLL.

Words are what stands between spaces and tabs; only a newline ends a line, and one carriage return before it goes
with it. Where a line is a sentence, a blank line is a sentence without words, and no line is lost.
"""

import io
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice

import numpy as np

from aligntools.formats.annotation.brackets import plain_trees, trees_of_lines
from aligntools.formats.annotation.conll import Conll, blocks_of, column_place, parse_conll, parse_parts
from aligntools.formats.annotation.conll_layouts import COLUMNS
from aligntools.formats.annotation.conll_tokens import NO_BREAK, lines_of
from aligntools.formats.annotation.text_kinds import (
    FORMATS,
    KINDS,
    SAMPLE,
    SEPARATORS,
    first_lines,
    is_comment,
    refuse_conll,
    refuse_others,
    sniff,
)
from aligntools.formats.opening import files
from aligntools.formats.opening.files import FOR_OBJECTS
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.ranges import shown
from aligntools.words.vocabulary import split_words
from aligntools.words.white_space import WhiteSpace, hint, is_blank

_log = logging.getLogger("aligntools")
_BLOCK = 4_000  # sentences of other kinds that are written as plain text at a time
_SPACES = re.compile(rb"[\r\v\f]")  # what bytes.split takes for a space and we do not


@dataclass(eq=False)
class Tokens:
    """Sentences as flat lists, with tags or without.

    offsets (int64 [sentences + 1]): Sentence ``n`` is ``words[offsets[n]:offsets[n + 1]]``.
    lines (int64 [sentences]): 1-based number of the line where each sentence begins; by default one a sentence.
    name: What messages call the text.
    """

    words: list[bytes]
    offsets: np.ndarray
    tags: list[bytes] | None = None
    lines: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    format: str = "text"
    name: str = "<sentences>"

    def __post_init__(self) -> None:
        if not len(self.lines):
            self.lines = np.arange(1, len(self) + 1)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def chosen(self, sentences: np.ndarray) -> "Tokens":
        """Return the words of the sentences with these numbers, int64 [sentences]."""
        ends = self.offsets.tolist()
        words = [word for k in sentences.tolist() for word in self.words[ends[k] : ends[k + 1]]]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.diff(self.offsets)[sentences])])
        return Tokens(words, offsets, name=self.name)

    def line_of_word(self, k: int) -> int:
        """Return the number of the line where the sentence of a word begins."""
        return int(self.lines[np.searchsorted(self.offsets, k, "right") - 1])


def stream_text(path: object, lines: int = 10_000) -> Iterator[Tokens]:
    """Read the words of text of any kind, in parts; with one line in a part it is plain text, answered line by line."""
    for part in stream_tags(path, "text" if lines == 1 else "auto", None, lines, plain=True, wanted=False):
        text = tokens_of_conll(part, None) if isinstance(part, Conll) else part
        if text.format != "text":
            text = replace(text, words=list(map(without_spaces, text.words)), tags=None)
        yield replace(text, name=str(path))


def stream_sentences(path: object, format: str = "auto", sentences: int = 10_000) -> Iterator[Conll | Tokens]:
    """Yield text to be tagged in parts, CoNLL or words without tags; see `stream_tags`."""
    for part in stream_tags(path, format, None, sentences, plain=True, wanted=False):
        yield part if isinstance(part, Conll) else replace(part, tags=None)


def stream_tags(
    path: object,
    format: str = "auto",
    separator: bytes | None = None,
    sentences: int = 10_000,
    plain: bool = False,
    column: str | int | None = None,
    wanted: bool = True,
) -> Iterator[Conll | Tokens]:
    """Read text with tags in parts; all have ``words`` and ``offsets``.

    format, separator: As for `read_tags`. sentences: Most in a part; one of CoNLL may have none, but lines.
    plain: It may be plain text (``text``), too, which has no tags.
    column: Of ``columns``: that of the tags, counted from 1; a name or None is the second one.
    wanted: Its tags are; otherwise it is logged that a file of lines has some.
    """
    among = FORMATS if plain else FORMATS[:-1]
    with files.reading(path) as file:
        lines: Iterable[bytes] = file
        if format == "auto" or (format == "tagged" and separator is None):
            seen, lines = first_lines(file)
            kinds = among if format == "auto" else ("tagged",)
            format, separator = sniff(seen, kinds, separator, path)
            if format in ("trees", "columns") or (format == "tagged" and not wanted):
                tell_kind(path, format)
        yield from parts_of_kind(path, lines, format, separator, sentences, column)


def parts_of_kind(
    path: object,
    lines: Iterable[bytes],
    format: str,
    separator: bytes | None,
    sentences: int,
    column: str | int | None = None,
) -> Iterator[Conll | Tokens]:
    """Read lines of a kind that is known, in parts of ``sentences``; see `stream_tags`."""
    if format == "conll":
        yield from parse_parts(path, lines, sentences)
    elif format == "trees":
        yield from _of_trees(path, lines, sentences)
    elif format == "columns":
        for first, part in blocks_of(lines, sentences):
            yield _columns(path, part, column or "upos", first)
    elif format == "tagged":
        for first, part in _parts(lines, sentences):
            yield parse_tagged(path, part, first, SEPARATORS[0] if separator is None else separator)
    else:
        white = WhiteSpace(path)
        for first, part in _parts(lines, sentences):
            if first == 1 and sentences > 1:
                hint(path, b"".join(part[:SAMPLE]))
            yield parse_text(white.of_lines(part), first)
        white.tell()


def _of_trees(path: object, lines: Iterable[bytes], most: int) -> Iterator[Tokens]:
    """Read the words of trees and their tags; a tree without words is a sentence without them."""
    found = list(trees_of_lines(lines, path))
    trees, notes = plain_trees([tree for _, tree in found])
    for note in notes:
        _log.info("%s: %s", path, note)
    for begin in range(0, len(trees), most):
        leaves = [list(tree.leaves()) for tree in trees[begin : begin + most]]
        words = [(leaf.word or "").encode("utf-8", "surrogateescape") for own in leaves for leaf in own]
        tags = [(leaf.label or "_").encode("utf-8", "surrogateescape") for own in leaves for leaf in own]
        offsets = np.cumsum([0, *map(len, leaves)], dtype=np.int64)
        yield Tokens(words, offsets, tags, np.array([line for line, _ in found[begin : begin + most]]), "trees")


def tell_kind(path: object, kind: str) -> None:
    """Note the format of a file of text that may have been meant as plain text."""
    words = ", its words those of syntax, one for each id" if kind == "conll" else ""
    shown_path = "<stdin>" if str(path) == "-" else path
    _log.info("%s: read as %s; its sentences are the lines%s", shown_path, KINDS[kind], words)


def read_tags(
    path: object,
    column: str | int | None = "upos",
    format: str = "auto",
    separator: bytes | None = None,
    partial: bool = False,
) -> Tokens:
    """Read tagged text of any kind, for training and for scoring.

    column: Of CoNLL, by name (``upos``, ``xpos``) or number from 1; in ``columns`` a name is the second. None: no tags.
    format: One of `FORMATS` but ``text``, or ``auto``: as the first lines look, see `sniff`.
    separator: Between word and tag of tagged text; None: the one that the first lines have.
    partial: Words may have no tag, ``_``; in tagged text that is ``word__``.
    """
    if column is not None and format == "text":
        raise UsageProblem("plain text has no tags; give tagged text or CoNLL")
    if isinstance(column, str):
        column_place(column)
    if isinstance(column, int) and column < 1:
        raise UsageProblem(f"column {column}: columns are counted from 1")
    with files.reading(path, FOR_OBJECTS) as file:
        lines = list(file)
    if format == "auto" or (format == "tagged" and separator is None):
        among = FORMATS if column is None else FORMATS[:-1]
        kinds = among if format == "auto" else ("tagged",)
        format, separator = sniff(first_lines(lines)[0], kinds, separator, path)
    if format == "conll":
        return tokens_of_conll(parse_conll(path, lines), column, partial)
    if format == "columns":
        return _columns(path, lines, column)
    if format == "trees":
        return next(_of_trees(path, lines, len(lines)))
    if format == "tagged":
        return parse_tagged(path, lines, 1, separator or SEPARATORS[0], partial)
    hint(path, b"".join(lines[:SAMPLE]))
    white = WhiteSpace(path)
    tokens = parse_text(white.of_lines(lines), 1)
    white.tell()
    return tokens


def read_words(path: object, format: str = "auto", separator: bytes | None = None) -> Tokens:
    """Read the words of text of any kind, plain text too; tags are passed over. See `read_tags`."""
    return read_tags(path, None, format, separator)


def format_tagged(
    words: Sequence[bytes], offsets: list[int] | np.ndarray, tags: Sequence[bytes], separator: bytes = b"_"
) -> bytes:
    """Write one sentence a line, ``word_TAG word_TAG``, with no-break spaces in words; refuse a separator in a tag."""
    for tag in set(tags):
        if separator in tag or split_words(tag) != [tag] or tag.endswith((b"\r", b"\n")):
            name, mark = shown(tag), shown(separator)
            raise UsageProblem(f"tag '{name}' cannot stand behind the separator '{mark}' (use another `separator`)")
    pairs = zip(words, tags, strict=True)
    return lines_of([word + separator + tag for word, tag in pairs], np.asarray(offsets), NO_BREAK)


def check_tags(text: Tokens, path: str) -> None:
    """Refuse tags that are not UTF-8, where they become part of names."""
    bad = {tag for tag in set(text.tags or ()) if tag != tag.decode("utf-8", "ignore").encode()}
    if bad:
        assert text.tags is not None
        k = next(k for k, tag in enumerate(text.tags) if tag in bad)
        name = shown(text.tags[k])
        problem = f"the tag '{name}' is not UTF-8 (convert the file, for instance with iconv)"
        raise DataError(path, text.line_of_word(k), problem)


def without_spaces(word: bytes) -> bytes:
    """Return a word with no-break spaces for its spaces: as it stands where spaces separate words."""
    return word.replace(b" ", NO_BREAK) if b" " in word else word


def _parts(lines: Iterable[bytes], count: int) -> Iterator[tuple[int, list[bytes]]]:
    """Yield (number of the first line, lines) for every ``count`` lines."""
    first, rest = 1, iter(lines)
    while part := list(islice(rest, count)):
        yield first, part
        first += len(part)


def _split(lines: list[bytes]) -> tuple[list[bytes], np.ndarray]:
    """Return the words of lines, joined, and where each line's words begin."""
    split: Callable[[bytes], list[bytes]] = bytes.split
    if any(map(_SPACES.search, lines)):  # then split_words, which is slower, after the line ends are gone
        lines = [line.removesuffix(b"\n").removesuffix(b"\r") for line in lines]
        split = split_words
    rows = list(map(split, lines))
    return list(chain.from_iterable(rows)), np.cumsum([0, *map(len, rows)], dtype=np.int64)


def parse_text(lines: list[bytes], first: int) -> Tokens:
    """Read plain text, one sentence a line, the first of which has the number ``first``."""
    words, offsets = _split(lines)
    return Tokens(words, offsets, None, np.arange(first, first + len(lines)))


def parse_tagged(path: object, lines: list[bytes], first: int, separator: bytes, partial: bool = False) -> Tokens:
    """Read ``word_TAG word_TAG`` lines; with ``partial`` words may have no tag, ``_``: ``word__``."""
    tokens, offsets = _split(lines)
    parts = [token.rpartition(separator) for token in tokens]
    if partial:
        bare = separator + b"_"
        parts = [
            (token[: -len(bare)], separator, b"_") if token.endswith(bare) else part
            for token, part in zip(tokens, parts, strict=True)
        ]
    words, tags = [part[0] for part in parts], [part[2] for part in parts]
    if b"" in words or b"" in tags:
        k = next(k for k, (word, _, tag) in enumerate(parts) if not (word and tag))
        token, mark = shown(tokens[k]), shown(separator)
        if separator not in tokens[k]:
            problem = f"token '{token}' has no separator '{mark}'"
        else:
            problem = f"token '{token}' has no {'tag' if parts[k][0] else 'word'} beside its last '{mark}'"
        line = first + int(np.searchsorted(offsets, k, "right")) - 1
        advice = "tag plain text with `Tagger.tag_text()`, or use another `separator` or `format`"
        raise DataError(path, line, f"{problem}; every token is word{mark}TAG ({advice})")
    return Tokens(words, offsets, tags, np.arange(first, first + len(lines)), "tagged")


def _columns(path: object, lines: list[bytes], column: int | str | None, first_line: int = 1) -> Tokens:
    """Take one word a line: the first column, and the tag from column ``column``, counted from 1."""
    place = column - 1 if isinstance(column, int) else 1
    tabs = any(b"\t" in line for line in lines)
    words, tags, lengths, starts, inside = [], [], [], [], False
    for number, line in enumerate(lines, first_line):
        if is_blank(line):
            inside = False
            continue
        if tabs and is_comment(line):
            continue
        plain = line.removesuffix(b"\n").removesuffix(b"\r")
        fields = plain.split(b"\t") if tabs else split_words(plain)
        if not fields[0] or (column is not None and (len(fields) <= place or not fields[place])):
            problem = f"{len(fields)} columns, and none of number {place + 1} for the tag (see `column`)"
            raise DataError(path, number, problem if fields[0] else "no word in the first column")
        if not inside:
            inside = True
            lengths.append(0)
            starts.append(number)
        lengths[-1] += 1
        words.append(fields[0])
        if column is not None:
            tags.append(fields[place])
    if tabs and max(lengths, default=0) > 1 and words == [b"%d" % k for n in lengths for k in range(1, n + 1)]:
        problem = "the first column numbers the words, where it is to hold them"
        raise DataError(path, starts[0], f"{problem}; leave it out, for instance with cut -f 2-")
    offsets = np.cumsum([0, *lengths], dtype=np.int64)
    return Tokens(words, offsets, None if column is None else tags, np.array(starts, np.int64), "columns")


def column_name(place: int) -> str:
    """Return what messages call a column, counted from 0."""
    return f"column {place + 1} ({list(COLUMNS)[place].upper()})"


def filled_column(conll: Conll, place: int) -> list[bytes]:
    """Return a column, counted from 0, that has something in every word's line, if only ``_``."""
    values = conll.column(place)
    if b"" in values:
        line = conll.line_of_word(values.index(b""))
        raise DataError(conll.path, line, f"{column_name(place)} is empty; a value, or _, was expected")
    return values


def tokens_of_conll(conll: Conll, column: str | int | None, partial: bool = False) -> Tokens:
    """Return the words of a text in CoNLL and the tags of a column, by name or number; see `read_tags`."""
    tags = None
    if column is not None:
        place = column_place(column)
        tags = filled_column(conll, place)
        if tags and set(tags) == {b"_"} and not partial:
            problem = "is _ in every line; the tags must be in another `column`"
            raise DataError(conll.path, None, f"{column_name(place)} {problem}")
    return Tokens(conll.words, conll.offsets, tags, conll.sentence_lines(), "conll")


def plain_blocks(path: object, blocks: Iterable[bytes], white: WhiteSpace, convert: bool = True) -> Iterator[bytes]:
    """Yield blocks of whole lines, or of text of another kind, told by the first of them, the words.

    Words of CoNLL are the syntactic ones, with no-break spaces, so that positions count words; a sentence without words
    is a blank line. Unless it is to ``convert`` them, other kinds are refused.
    """
    rest, memory = iter(blocks), is_memory(path)
    first = next(rest, b"")
    while files.is_regular(path) and first.count(b"\n") < SAMPLE and (more := next(rest, b"")):
        first += more
    if memory:  # sentences, whatever they look like; but CoNLL would be lines of columns
        refuse_conll(path, first)
    seen = first_lines(io.BytesIO(first))[0]
    kind, separator = ("text", None) if memory else sniff(seen, path=path)
    if kind == "text":
        hint(path, first)
        yield white(first)
        yield from white.through(rest)
        return
    if not convert or not isinstance(path, (str, os.PathLike)):
        refuse_others(path, seen)
    tell_kind(path, kind)
    lines = (line for block in chain([first], rest) for line in io.BytesIO(block))
    for part in parts_of_kind(path, lines, kind, separator, _BLOCK):
        yield white.of_words(lines_of(part.words, part.offsets, NO_BREAK))


def is_memory(path: object) -> bool:
    """Return whether a text is neither a file nor what something else reads of one, but sentences."""
    return not isinstance(path, (str, os.PathLike)) and not hasattr(path, "splitting")


def is_plain_text(path: object) -> bool:
    """Return whether a file, which must not be a pipe, begins as plain text does."""
    with files.reading(path) as file:
        return sniff(first_lines(file)[0], path=path)[0] == "text"


def refuse_file(path: object) -> None:
    """Refuse a file, which must not be a pipe, if it is no plain text."""
    with files.reading(path) as file:
        refuse_others(path, first_lines(file)[0])
