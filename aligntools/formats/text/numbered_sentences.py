"""Sentences as numbers, as the ``eflomal`` program reads them: a header, a line of ids for each sentence.

The header is ``SENTENCES WORDS``; a line is the sentence's length and its word ids, from 0. Behind the last sentence,
where eflomal reads no further, the words themselves may follow, one a line, below a line ``# words``.
"""

from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np

from aligntools.formats.opening import files
from aligntools.formats.text.corpus import Side
from aligntools.ground.errors import DataError
from aligntools.words.vocabulary import Vocabulary

#: Longer sentences are written without words, as eflomal does, which could not read them.
LONGEST = 0x400 - 1
#: What stands above the words.
WORDS = b"# words"
_LINES = 10_000  # formatted at a time


def format_numbered(sentences: Sequence[np.ndarray], size: int, words: Iterable[str] = ()) -> Iterable[bytes]:
    """Yield a file in blocks.

    size: How many words there are.
    words: All words, by id; none: the ids alone are written.
    """
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
    """Read a file.

    Returns ids from 1, since 0 is NULL; and whether the vocabulary has the words: otherwise their numbers stand for
    them.
    """
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
