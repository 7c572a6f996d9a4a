"""Text as eflomal's callers hand it over: lines, indexed sentences, files of numbers."""

from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

import numpy as np

from aligntools.formats.text.numbered_sentences import format_numbered

#: Pairs with a longer side get a blank line, as everywhere in this project; eflomal's own limit is 1,023.
MAX_LENGTH = 2000


class IndexedSentence(np.ndarray):
    """Word ids of a sentence, from 0, uint32; ``index`` is the dictionary of words that they are of."""

    index: dict[str, int] | None

    def __array_finalize__(self, whole: Any) -> None:
        self.index = getattr(whole, "index", None)


def cutter(prefix_len: int, suffix_len: int) -> Callable[[str], str] | None:
    """Return what cuts a word to its first or its last letters; None where words stay whole."""
    if prefix_len:
        return lambda word: word[:prefix_len]
    if suffix_len:
        return lambda word: word[-suffix_len:]
    return None


def words_of(line: str, lowercase: bool, cut: Callable[[str], str] | None) -> list[str]:
    """Return the words of a line as eflomal takes them: whatever ``str.split`` parts."""
    words = (line.lower() if lowercase else line).split()
    return list(map(cut, words)) if cut else words


def lines_of(lines: Iterable[str], lowercase: bool = True, prefix_len: int = 0, suffix_len: int = 0) -> Iterator[str]:
    """Yield lines with one space between words, so that all readers of ours count the words as eflomal does."""
    cut = cutter(prefix_len, suffix_len)
    for line in lines:
        yield " ".join(words_of(line, lowercase, cut))


def read_text(
    pyfile: Iterable[str], lowercase: bool, prefix_len: int, suffix_len: int
) -> tuple[list[np.ndarray], dict[str, int]]:
    """Index tokenized text.

    pyfile: Lines; read once.
    prefix_len, suffix_len: Cut words to so many first, or last, letters; 0 leaves them whole.
    Returns sentences (list of uint32 arrays): Word ids from 0. They remember the index, so that `write_text` can write
        the words too.
    """
    index: dict[str, int] = {}
    cut = cutter(prefix_len, suffix_len)
    sentences: list[np.ndarray] = []
    for line in pyfile:
        ids = [index.setdefault(word, len(index)) for word in words_of(line, lowercase, cut)]
        sentence = np.array(ids, np.uint32).view(IndexedSentence)
        sentence.index = index
        sentences.append(sentence)
    return sentences, index


def write_text(pyfile: IO[bytes], sents: tuple[np.ndarray, ...], voc_size: int) -> None:
    """Write sentences in the form that the ``eflomal`` program reads.

    Sentences of 1,024 words and more are written without words. Behind the sentences, where eflomal itself does not
    read, stand the words of sentences that `read_text` made: our ``eflomal`` makes use of their spelling.

    pyfile: Open for writing bytes.
    sents (tuple of uint32 arrays).
    """
    index = getattr(sents[0], "index", None) if sents else None
    words = list(index) if index is not None and len(index) == voc_size else []
    for block in format_numbered(sents, voc_size, words):
        pyfile.write(block)
    pyfile.flush()


class TextIndex:
    """Numbers of words from 1, with lower case and cutting; None for words that are not known."""

    def __init__(self, index: dict[str, int], prefix_len: int = 0, suffix_len: int = 0):
        self.index, self.prefix_len, self.suffix_len = index, prefix_len, suffix_len

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, word: str) -> int | None:
        cut = cutter(self.prefix_len, self.suffix_len)
        word = word.lower()
        found = self.index.get(cut(word) if cut else word)
        return None if found is None else found + 1


def to_eflomal_text_file(
    sentencefile: Iterable[str], outfile: IO[bytes], prefix_len: int = 0, suffix_len: int = 0
) -> tuple[TextIndex, int, int]:
    """Index lines and write them with `write_text`; return the index, and how many sentences and words there are."""
    sents, index = read_text(sentencefile, True, prefix_len, suffix_len)
    write_text(outfile, tuple(sents), len(index))
    return TextIndex(index, prefix_len, suffix_len), len(sents), len(index)


def sentences_from_joint_file(joint_file: Iterable[str], index: int | None = None) -> Iterator[Any]:
    """Yield the sentences of lines ``source ||| target``: pairs, or the one of them that ``index`` says.

    Raises ValueError for a line without its one separator, or with a blank side.
    """
    for number, line in enumerate(joint_file, 1):
        fields = line.strip().split(" ||| ")
        if len(fields) != 2:
            shown = line.strip()[:60]
            raise ValueError(f"line {number}: '{shown}' is not two sentences with one ' ||| ' between them")
        yield (fields[0], fields[1]) if index is None else fields[index]
