"""Text as eflomal's callers hand it over: lines, indexed sentences, files of numbers."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import IO, Any

import numpy as np

from aligntools.formats.links.priors import Priors, priors_of
from aligntools.formats.opening import files
from aligntools.formats.text.corpus import Bitext, Side
from aligntools.ground.errors import DataError
from aligntools.words.vocabulary import Vocabulary

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
    cut, sentences = cutter(prefix_len, suffix_len), list[np.ndarray]()
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


def read_numbered_priors(path: str, bitext: Bitext) -> Priors:
    """Read priors in the word ids of a text."""
    names = [["<NULL>", *vocabulary.words()[1:]] for vocabulary in (bitext.source_vocabulary, bitext.target_vocabulary)]
    lines = files.lines(path)
    header = next(lines, b"").split()
    if len(header) != 7 or not all(map(bytes.isdigit, header)):
        raise DataError(path, 1, "seven numbers are expected: words of both sides, and how many priors of each kind")
    sizes = list(map(int, header))
    for size, words, side in zip(sizes, names, ("source", "target"), strict=False):
        if size != len(words):
            raise DataError(
                path, 1, f"{size} {side} words, and the text has {len(words)}: these are priors of another text"
            )
    line = 1
    tables: list[list[tuple[Any, ...]]] = []
    for n, columns in zip(sizes[2:], ((0, 1), (None,), (None,), (0, None), (1, None)), strict=True):
        rows: list[tuple[Any, ...]] = []
        for _ in range(n):
            line += 1
            fields = next(lines, b"").split()
            try:
                numbers = list(zip(map(int, fields[:-1]), columns, strict=True))
                if any(x < 0 for x, side in numbers if side is not None):
                    raise ValueError
                row = [x if side is None else names[side][x] for x, side in numbers]
                rows.append((*row, float(fields[-1])))
            except (ValueError, IndexError):
                shown = b" ".join(fields)[:40].decode("utf-8", "replace")
                raise DataError(path, line, f"'{shown}' is not {len(columns)} numbers and a count") from None
        tables.append(rows)
    lexical, forward_jumps, reverse_jumps, source_fertilities, target_fertilities = tables
    return priors_of(lexical, source_fertilities, target_fertilities, forward_jumps, reverse_jumps)


# Sentences as numbers, as the ``eflomal`` program reads them: a header, a line of ids for each sentence.
#
# The header is ``SENTENCES WORDS``; a line is the sentence's length and its word ids, from 0. Behind the last
# sentence, where eflomal reads no further, the words themselves may follow, one a line, below a line ``# words``.

#: Longer sentences are written without words, as eflomal does, which could not read them.
LONGEST = 0x400 - 1
#: What stands above the words.
WORDS = b"# words"
_LINES = 10_000  # formatted at a time


def format_numbered(sentences: Sequence[np.ndarray], size: int, words: Iterable[str] = ()) -> Iterable[bytes]:
    """Yield a file in blocks; ``words`` are all of them, by id, and where there are none the ids alone are written."""
    yield b"%d %d\n" % (len(sentences), size)
    for begin in range(0, len(sentences), _LINES):
        block = sentences[begin : begin + _LINES]
        yield "".join(
            f"{' '.join(map(str, [len(row), *row.tolist()]))}\n" if len(row) <= LONGEST else "0\n" for row in block
        ).encode()
    rest = iter(words)
    head = WORDS
    while some := list(islice(rest, _LINES)):
        kept = (f"\n{word} " if word.endswith("\r") else f"\n{word}" for word in some)
        yield head + "".join(kept).encode("utf-8", "backslashreplace")
        head = b""
    if head != WORDS:
        yield b"\n"


def read_numbered(path: object) -> tuple[Side, Vocabulary, bool]:
    """Read a file; return ids from 1, since 0 is NULL, words or their numbers, and whether it has words."""
    lines = files.lines(path)
    numbers = _numbers(path, 1, next(lines, b""), "the numbers of sentences and of words")
    if len(numbers) != 2:
        raise DataError(path, 1, "the numbers of sentences and of words are expected (text is numbered by write_text)")
    n, size = numbers.tolist()
    rows, lengths = [], [0]
    for k in range(n):
        line = next(lines, None)
        if line is None:
            raise DataError(path, k + 2, f"ends after {k} of the {n} sentences that its first line says")
        row = _numbers(path, k + 2, line, "a sentence's length and its word ids")
        if not len(row) or row[0] != len(row) - 1:
            said = row[0] if len(row) else "no"
            raise DataError(path, k + 2, f"{said} word ids are announced and {max(len(row) - 1, 0)} found")
        if len(row) > 1 and row[1:].max() >= size:
            raise DataError(path, k + 2, f"the word id {row[1:].max()} is not below {size}, as its first line says")
        rows.append(row[1:].astype(np.int32) + np.int32(1))
        lengths.append(len(row) - 1)
    side = Side(np.concatenate([np.empty(0, np.int32), *rows]), np.cumsum(lengths, dtype=np.int64))
    if next(lines, None) != WORDS:
        return side, Vocabulary.from_words([str(k) for k in range(size)]), False
    words = [line.decode("utf-8", "replace").rstrip(" ") for line in lines]
    if len(words) != size or len(set(words)) != size:
        raise DataError(path, n + 2, f"{len(set(words))} different words follow, not {size}")
    return side, Vocabulary.from_words(words), True


def _numbers(path: object, line: int, text: bytes, what: str) -> np.ndarray:
    if not text.translate(None, b"0123456789 \t"):
        try:
            return np.array(text.split(), np.int64)
        except (ValueError, OverflowError):
            pass
    shown = text[:40].decode("utf-8", "replace")
    raise DataError(path, line, f"'{shown}' is not {what} (text is numbered by write_text)")
