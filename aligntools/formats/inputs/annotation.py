"""What the functions for tagging and parsing take: files, sentences in memory, and what the readers return."""

import logging
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice, pairwise
from typing import Any, Self, TypeAlias, TypeVar, overload

import numpy as np

from aligntools.formats.annotation import tagged_text
from aligntools.formats.annotation.class_lists import ClassList, WordLookup, read_classes
from aligntools.formats.annotation.conll import Conll, read_conll
from aligntools.formats.annotation.tagged_text import (
    Tokens,
    parse_tagged,
    read_tags,
    read_words,
    stream_tags,
    tokens_of_conll,
)
from aligntools.formats.annotation.text_kinds import sniff
from aligntools.formats.inputs.sentences import Sentence as Sentence
from aligntools.formats.inputs.sentences import tokens_of as tokens_of
from aligntools.formats.text.bitext import IN_MEMORY, name_of, sentences_given
from aligntools.formats.text.text_settings import TagReading, WordReading
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.words.white_space import form_of, in_form, split_as

#: A sentence with tags: a line of ``word_TAG``, or pairs of word and tag (as a tagger returns them).
Annotated: TypeAlias = str | Sequence[tuple[str, str]]
#: A file, by its name.
PathLike: TypeAlias = str | os.PathLike[str]
#: What the readers of `formats` return.
Parsed: TypeAlias = Tokens | Conll

_log = logging.getLogger("aligntools")
_TAGS, _WORDS = TagReading(), WordReading()


def encoded(word: str) -> bytes:
    """Return a word in UTF-8; bytes that were not UTF-8 come back as they were."""
    return word.encode("utf-8", "surrogateescape")


def decoded(word: bytes) -> str:
    """Return a word as text; bytes that are not UTF-8 survive in it."""
    return word.decode("utf-8", "surrogateescape")


def _is_pair(given: object) -> bool:
    return isinstance(given, tuple | list) and len(given) == 2 and all(isinstance(part, str) for part in given)


def tagged_tokens_of(sentences: Iterable[Annotated], separator: bytes | None = None, partial: bool = False) -> Tokens:
    """Return sentences with tags as flat lists of words and of tags; None looks for the separator."""
    rows = list(sentences_given(sentences, IN_MEMORY))
    lines = [encoded(row) for row in rows if isinstance(row, str)]
    if lines and separator is None:
        separator = sniff(lines, ("tagged",))[1]
    pairs: list[list[tuple[bytes, bytes]]] = []
    for number, row in enumerate(rows, 1):
        if isinstance(row, str):
            found = parse_tagged(IN_MEMORY, [encoded(row)], number, separator or b"_", partial)
            pairs.append(list(zip(found.words, found.tags or [], strict=True)))
            continue
        if not isinstance(row, Sequence) or not all(map(_is_pair, row)):
            due = "a sentence with tags is a string of word_TAG, or a list of pairs of word and tag, and a text a list"
            shown = repr(row)[:60] + "..." * (len(repr(row)) > 60)
            raise DataError(IN_MEMORY, number, f"{shown} is neither ({due} of these)")
        pairs.append([(encoded(word), encoded(tag)) for word, tag in row])
        if any(not word or not tag for word, tag in pairs[-1]):
            raise DataError(IN_MEMORY, number, "a word or a tag is empty")
    words, tags = ([pair[k] for row in pairs for pair in row] for k in (0, 1))
    offsets = np.cumsum([0, *map(len, pairs)], dtype=np.int64)
    return Tokens(words, offsets, tags, format="tagged")


def read_untagged(text: PathLike | Parsed | Iterable[Sentence], reading: WordReading = _WORDS) -> Tokens:
    """Return the words of a file, of sentences, or of what was read."""
    if isinstance(text, Tokens):
        return text
    if isinstance(text, (str, os.PathLike)):
        return read_words(os.fspath(split_as(text, reading.split)), reading.format, reading.mark)
    if isinstance(text, Conll):
        return tokens_of_conll(text, None)
    return tokens_of(text, reading.split)


def read_annotated(
    text: PathLike | Parsed | Iterable[Annotated], reading: TagReading = _TAGS, partial: bool = False
) -> Tokens:
    """Return the words and tags of a file, of sentences, or of what was read; ``partial``: some may be ``_``."""
    if isinstance(text, Tokens):
        if text.tags is None:
            raise DataError(IN_MEMORY, None, "the text has no tags")
        return text
    if reading.predicted_columns:
        return tokens_of_conll(predicted_of(text), reading.tags, partial)
    if isinstance(text, (str, os.PathLike)):
        found = read_tags(os.fspath(text), reading.tags, reading.format, reading.mark, partial)
        tell_unused(found.format, os.fspath(text), reading.column, reading.separator)
        return found
    if isinstance(text, Conll):
        return tokens_of_conll(text, reading.tags, partial)
    return tagged_tokens_of(text, reading.mark, partial)


def read_words_or_tags(text: PathLike | Parsed | Iterable[Any], reading: TagReading = _TAGS) -> Tokens:
    """Return the words of a file, of sentences, or of what was read, with tags where it has some (``_``: none)."""
    if isinstance(text, Tokens):
        return text
    if reading.predicted_columns:
        return tokens_of_conll(predicted_of(text), reading.tags, True)
    if isinstance(text, (str, os.PathLike)):
        name = os.fspath(text)
        found = list(stream_tags(name, reading.format, reading.mark, sys.maxsize, plain=True))
        if not found:
            return tokens_of([])
        text = found[0]
        kind = "conll" if isinstance(text, Conll) else text.format
        tell_unused(kind, name, reading.column, reading.separator)
    if isinstance(text, Conll):
        return tokens_of_conll(text, reading.tags, True)
    if isinstance(text, Tokens):
        return text
    sentences = list(text)
    pairs = any(isinstance(one, tuple) for sentence in sentences if not isinstance(sentence, str) for one in sentence)
    return tagged_tokens_of(sentences) if pairs else tokens_of(sentences)


def tell_unused(format: str, name: str, column: str | int | None, separator: str | bytes | None) -> None:
    """Log that a column or a separator was chosen for text which has none."""
    unused = "column" if format == "tagged" and column not in (None, "upos") else ""
    unused = "separator" if format == "conll" and separator is not None else unused
    if unused:
        kind = "CoNLL" if format == "conll" else "word_TAG text"
        _log.warning("`%s` changes nothing: %s is %s", unused, name, kind, extra={"once": f"{unused} {name}"})


def predicted_of(text: object) -> Conll:
    """Return CoNLL-2009, a file or what was read of one, with the predicted columns."""
    if isinstance(text, (str, os.PathLike)):
        text = read_conll(os.fspath(text))
    if not isinstance(text, Conll):
        problem = "`predicted_columns` is for CoNLL-2009; other text has no columns of what was predicted"
        raise UsageProblem(f"{name_of(text)}: {problem}")
    return text.predicted()


def check_words(text: object, tokens: Tokens) -> None:
    """Refuse a text without words to learn from."""
    if not tokens.words:
        raise DataError(name_of(text), None, "has no words to learn from; one sentence per line was expected")


def check_tags(text: object, tokens: Tokens) -> None:
    """Refuse words without a tag: ``_`` would be learned as one."""
    tags = tokens.tags or []
    bare = [k for k, tag in enumerate(tags) if tag == b"_"]
    if bare:
        problem = f"{len(bare)} of {len(tags)} words have no tag (_), the first of them in this sentence"
        advice = "every word needs one (with `partial` words may have none); leave such sentences out"
        raise DataError(name_of(text), tokens.line_of_word(bare[0]), f"{problem}; {advice}")


def lookup_of(classes: ClassList | PathLike | None, words: list[bytes]) -> WordLookup | None:
    """Return what a model of these words keeps of a list of classes: in the words' normal form."""
    if classes is None:
        return None
    given = classes if isinstance(classes, ClassList) else read_classes(os.fspath(classes))
    own = in_form(given.words, form_of(words))[0]
    lookup = WordLookup.of(ClassList(own, given.classes, given.counts, given.paths))
    if words and not lookup.find(list(set(words))).any():
        _log.warning("none of the words of `classes` is one of the text: another language, or another tokenization?")
    return lookup


def word_tags(path: str | os.PathLike[str], lengths: Sequence[int], left_out: bool = False) -> list[list[str]]:
    """Return a tag for each word of a side; blank sentences need not be in the file.

    left_out: Sentences without words may have tags: of those that were left out when the text was read.
    """
    path = os.fspath(path)
    tokens = tagged_text.read_tags(path)
    tags = [tag.decode("utf-8", "replace") for tag in tokens.tags or ()]
    rows = [tags[a:b] for a, b in pairwise(tokens.offsets.tolist())]
    filled = [n for n, length in enumerate(lengths) if length]
    places = range(len(lengths)) if len(rows) == len(lengths) else filled
    if len(rows) != len(places):
        raise DataError(path, None, f"{len(rows)} sentences, but the text has {len(lengths)}")
    found: list[list[str]] = [[] for _ in lengths]
    for place, row, line in zip(places, rows, tokens.lines.tolist(), strict=True):
        if left_out and not lengths[place]:
            continue
        if len(row) != lengths[place]:
            problem = f"{len(row)} tags, but the sentence, line {place + 1} of the text, has {lengths[place]} words"
            raise DataError(path, line, problem)
        found[place] = row
    return found


#: Text with tags: a file, what its reader returned, or sentences.
TaggedInput: TypeAlias = PathLike | Parsed | Iterable[Annotated]


S = TypeVar("S")


class Annotator(ABC):
    """A model of sentences with tags, which is kept in a file."""

    model: Any

    @classmethod
    @abstractmethod
    def _of_file(cls, path: PathLike, verify: bool) -> Self:
        """Read a model file."""

    @classmethod
    def load(cls, path: PathLike, *, verify: bool = True) -> Self:
        """Read a model file.

        Parameters
        ----------
        path : str or path
        verify : bool
            Check the checksum, which says whether the file is what was written.

        Raises
        ------
        ModelError
            When it is a model of another kind, or damaged.
        """
        return cls._of_file(path, verify)

    def save(self, path: PathLike) -> None:
        """Write a model file; it appears whole or not at all.

        Raises
        ------
        DataError
            When it cannot be written.
        """
        self.model.save(path)

    @property
    def column(self) -> str | int:
        """Column of CoNLL that the tags were learned from."""
        column: str | int = self.model.settings.get("column", "upos")
        return column


def batches(sentences: Iterable[S], size: int) -> Iterator[list[S]]:
    """Yield sentences in lists of ``size``, each before the next sentence is asked for."""
    rest: Iterator[Any] = sentences_given(sentences, IN_MEMORY)
    while part := list(islice(rest, size)):
        yield part


class OfText(Sequence[S]):
    """What was found in the sentences of a text, in arrays over its words; items are made as they are asked for."""

    source: Parsed

    @cached_property
    def _words(self) -> list[bytes]:
        return self.source.words

    @abstractmethod
    def _item(self, number: int, begin: int, end: int) -> S:
        """Return what was found in a sentence, which has these words."""

    def __len__(self) -> int:
        return len(self.source)

    @overload
    def __getitem__(self, index: int) -> S: ...
    @overload
    def __getitem__(self, index: slice) -> list[S]: ...
    def __getitem__(self, index: int | slice) -> S | list[S]:
        """Return what was found in a sentence, or in some of them."""
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        k = range(len(self))[index]
        return self._item(k, *self.source.offsets[k : k + 2].tolist())
