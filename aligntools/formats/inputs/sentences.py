"""What the functions for language models and translation take as text: files, and sentences in memory.

A single str or path is a file's name; an iterable has one sentence an item, a line of words between spaces or the
list of its words.
"""

import io
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise, tee
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from aligntools.formats.annotation.tagged_text import Tokens, stream_text
from aligntools.formats.text.bitext import IN_MEMORY, TextLines, read_side, sentences_given, words_given
from aligntools.formats.text.corpus import Side
from aligntools.formats.text.numbered_text import LineSource
from aligntools.formats.text.text_settings import InputFormat as InputFormat
from aligntools.formats.text.text_settings import RawReading as RawReading
from aligntools.formats.text.text_settings import Split as Split
from aligntools.ground.errors import DataError
from aligntools.words.vocabulary import AnyVocabulary, Vocabulary, split_words
from aligntools.words.white_space import UnicodeSplit, WhiteSpace, as_spaces, as_spaces_of_models, has_others, split_as

#: A sentence: a line of words between spaces, or the list of its words.
Sentence: TypeAlias = str | Sequence[str]
#: A sentence with tags or without: a line, words, or pairs of word and tag.
SomeSentence: TypeAlias = Sentence | Sequence[tuple[str, str]]
#: One side of a text: sentences, or a file of lines; where both sides are expected, tuples of two sentences, too. Where
#: a whole text is expected, a str names a file.
Sentences: TypeAlias = Iterable[Sentence] | str | os.PathLike[str]


def paths_of(sources: Sentences, targets: Sentences | None, split: str | None = None) -> dict[str, Any]:
    """Return a text's sides as the readers of files take them; ``split`` says what separates their words."""
    if targets is None:
        text: Any = sources
        in_pairs = False
        if not isinstance(sources, str | os.PathLike | io.RawIOBase):
            rows = sentences_given(sources, "<text>")
            first = list(islice(rows, 1))
            text = chain(first, rows)
            in_pairs = bool(first) and isinstance(first[0], tuple) and "|||" not in first[0]
        if in_pairs:
            source, target = tee(text)
            sides = (_side(source, 0), "<source>"), (_side(target, 1), "<target>")
            return {name[1:-1]: file_or_lines(side, name, split) for side, name in sides}
        return {"joint": file_or_lines(text, "<text>", split)}
    return {"source": file_or_lines(sources, "<source>", split), "target": file_or_lines(targets, "<target>", split)}


def text_path(path: str, split: str | None) -> str | os.PathLike[str]:
    """Return the file of a text as functions take it, with how it is split."""
    found = split_as(path, split)
    return found if isinstance(found, UnicodeSplit) else Path(path)


def _side(pairs: Iterable[Any], side: int) -> Iterator[Sentence]:
    """Yield one side of pairs of sentences."""
    for number, pair in enumerate(pairs, 1):
        if not isinstance(pair, tuple) or len(pair) != 2:
            shown = f"a tuple of {len(pair)}" if isinstance(pair, tuple) else type(pair).__name__
            raise DataError("<text>", number, f"{shown}; a pair is a tuple of two sentences, as the first one is")
        yield pair[side]


def file_or_lines(text: Sentences, name: str, split: str | None) -> Any:
    """Return a text, or one side of it, as the readers of files take it."""
    if isinstance(text, io.RawIOBase):  # open already
        return text
    named = split_as(text, split)
    return TextLines(text, name, split) if not isinstance(text, str | os.PathLike) else os.fspath(named)


def tokens_of_side(side: Side, vocabulary: AnyVocabulary, name: str = IN_MEMORY) -> Tokens:
    """Return the words of a side that was read with its vocabulary."""
    words = [word.encode() for word in vocabulary.words()]
    return Tokens([words[t] for t in side.tokens.tolist()], side.offsets, name=name)


def numbered(texts: Sequence[Tokens]) -> tuple[Side, Vocabulary]:
    """Return all texts, or parts of one, one after another, as a side with its own vocabulary."""
    ids: dict[bytes, int] = {}
    tokens = [ids.setdefault(word, len(ids) + 1) for text in texts for word in text.words]
    lengths = np.concatenate([np.zeros(1, np.int64), *(np.diff(text.offsets) for text in texts)])
    return Side(np.array(tokens, np.int32), np.cumsum(lengths)), Vocabulary.from_bytes(list(ids))


#: A file, by its name; ``-`` is standard input.
PathLike: TypeAlias = str | os.PathLike[str]
#: Text: a file, sentences, or what the readers return.
Text: TypeAlias = PathLike | Tokens | Iterable[Sentence]


def words_of(sentence: Sentence, split: str | None = None, white: WhiteSpace | None = None) -> list[bytes]:
    """Return the words of a sentence in UTF-8; ``white`` counts the white space within those of a line."""
    if not isinstance(sentence, str):
        return [word.encode("utf-8", "surrogateescape") for word in words_given(sentence, IN_MEMORY, None)]
    line = sentence.removesuffix("\n").removesuffix("\r").replace("\n", " ").encode("utf-8", "surrogateescape")
    if split == "unicode":
        line = as_spaces(line)
    elif white is not None and has_others(line):
        white.count(line)
    return split_words(line)


def words_of_model(sentence: Sentence, split: str | None = None) -> list[bytes]:
    """Return the words of a sentence as language models have them; see `words.white_space`."""
    words = words_of(sentence, split)
    return split_words(as_spaces_of_models(b" ".join(words)))


def tokens_of(sentences: Iterable[Sentence], split: str | None = None) -> Tokens:
    """Return sentences as flat lists of words."""
    white = WhiteSpace(IN_MEMORY)
    rows = [words_of(sentence, split, white) for sentence in sentences_given(sentences, IN_MEMORY)]
    white.tell()
    return Tokens([word for row in rows for word in row], np.cumsum([0, *map(len, rows)], dtype=np.int64))


def read_lines(text: Text, split: str | None = None) -> Tokens:
    """Return the words of a text, whichever way it is given; ``split`` says what separates them in lines."""
    text = split_as(text, split)
    if isinstance(text, Tokens):
        return text
    if isinstance(text, str | os.PathLike):
        return tokens_of_side(*read_side(os.fspath(text), lowercase=False), os.fspath(text))
    return tokens_of(text, split)


def side_of(text: Text, split: str | None = None) -> tuple[Side, Vocabulary]:
    """Return a text as word numbers and their vocabulary."""
    text = split_as(text, split)
    if isinstance(text, str | os.PathLike):
        return read_side(os.fspath(text), lowercase=False)
    return numbered([read_lines(text, split)])


def stream_lines(text: Text, sentences: int, split: str | None = None) -> Iterator[Tokens]:
    """Yield a text in parts of so many sentences."""
    text = split_as(text, split)
    if isinstance(text, Tokens):
        yield text
        return
    if isinstance(text, str | os.PathLike):
        yield from stream_text(text, sentences)
        return
    rows = sentences_given(text, IN_MEMORY)
    while part := list(islice(rows, sentences)):
        yield tokens_of(part, split)


def sources_of(text: Text | Iterable[os.PathLike[str]], split: str | None = None) -> list[LineSource]:
    """Return a text, or several files, to be read block by block for a language model."""
    text = split_as(text, split)
    if isinstance(text, str | os.PathLike):
        return [LineSource(os.fspath(text))]
    if isinstance(text, Tokens):
        ends = text.offsets.tolist()
        rows = (b" ".join(text.words[a:b]) for a, b in pairwise(ends))
        return [LineSource(IN_MEMORY, rows)]
    if isinstance(text, Sequence) and text and all(isinstance(item, os.PathLike) for item in text):
        return [LineSource(os.fspath(split_as(item, split))) for item in text if isinstance(item, os.PathLike)]
    found = (words_of_model(item, split) for item in sentences_given(text, IN_MEMORY))
    return [LineSource(IN_MEMORY, map(b" ".join, found))]
