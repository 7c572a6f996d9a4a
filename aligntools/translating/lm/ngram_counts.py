"""Counting n-grams of text of any size: parts are sorted as they come, and sorted parts merged."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from aligntools.formats.text.numbered_text import LineSource, stream_numbered
from aligntools.ground.errors import DataError
from aligntools.store.disk_arrays import ArrayStore
from aligntools.words.vocabulary import CompiledLexicon, Vocabulary
from aligntools.words.white_space import WhiteSpace

#: Words that the text must not have: they are the model's own. Numbered first, in this order.
CONTROL = (b"<s>", b"</s>", b"<unk>")
_MOST_ROWS = 1 << 22  # sorted at a time
_STEP = 1 << 19  # rows that a pass goes over before memory is let go of
_DIGITS = 2048


class Sorter:
    """Sorts tables that come in parts.

    store: Where sorted parts are kept; what is sorted at a time takes two sixths of its bound.
    order: Words in a row; two numbers follow.
    columns: The order of the result, the most important column first.
    passes: The columns that a part has to be sorted by, if it comes sorted by the others.
    sharing: How many sort at the same time.
    """

    def __init__(
        self,
        store: ArrayStore,
        order: int,
        columns: Sequence[int],
        passes: Sequence[int] | None = None,
        sharing: int = 1,
    ) -> None:
        self._store, self._order = store, order
        self._columns = np.array(columns, np.int64)
        self._passes = self._columns if passes is None else np.array(passes, np.int64)
        self._parts: list[tuple[int, np.ndarray]] = []  # of how many parts each is merged, and the sorted table
        self._most = max(rows_at_a_time(store, order) // sharing, 1 << 10)

    def add(self, table: np.ndarray) -> None:
        """Add rows; the array may be changed."""
        from aligntools.translating.lm import kernels_ngram_counts as kernels

        for begin in range(0, len(table), self._most):
            part = table[begin : begin + self._most]
            other, counts = np.empty_like(part), np.empty(_DIGITS, np.int64)
            if kernels.radix_sort(part, other, self._passes, counts):
                part = other
            rows = kernels.combine(part, self._order)
            self.add_sorted(part[:rows])
            del part, other

    def add_sorted(self, table: np.ndarray) -> None:
        """Add rows that are in order, no two of them equal; they are copied."""
        kept = self._store.empty((len(table), self._order + 2))
        kept[:] = table
        self._parts.append((1, kept))
        self._store.relieve()
        while len(self._parts) > 1 and self._parts[-1][0] >= self._parts[-2][0]:
            self._merge()

    def _merge(self) -> None:
        from aligntools.translating.lm import kernels_ngram_counts as kernels

        (m, right), (n, left) = self._parts.pop(), self._parts.pop()
        table = self._store.empty((len(left) + len(right), self._order + 2))
        rows = in_steps(self._store, kernels.merge, left, right, self._columns, table)
        self._parts.append((m + n, table[:rows]))

    def finish(self) -> np.ndarray:
        """Return all rows in order, equal ones as one, their first numbers added up."""
        while len(self._parts) > 1:
            self._merge()
        if not self._parts:
            none: np.ndarray = self._store.empty((0, self._order + 2))
            return none
        return self._parts.pop()[1]


def rows_at_a_time(store: ArrayStore, order: int) -> int:
    """Return how many n-grams are sorted at a time."""
    return int(np.clip(store.limit // (6 * 4 * (order + 2)), 1 << 10, _MOST_ROWS))


def in_steps(store: ArrayStore, function: Callable[..., Any], *arguments: Any) -> int:
    """Run one of the kernels that go over tables piece by piece; return the first of its cursors."""
    state = np.zeros(3, np.int64)
    while function(*arguments, state, _STEP):
        store.relieve()
    store.relieve()
    return int(state[0])


@dataclass(eq=False)
class NgramCounts:
    """What was counted.

    vocabulary: Word ids as in `language_model.NgramModel`.
    table (uint32 [n-grams, order + 2]): In suffix order: words from the last to the first, how often, and an unused
        column. A sentence is preceded by as many <s> as are needed.
    sentences, words, blank: Read: sentences with words, their words, and lines without any, which do not count.
    """

    order: int
    vocabulary: Vocabulary
    table: np.ndarray
    sentences: int
    words: int
    blank: int


def count(
    texts: Sequence[LineSource | str],
    order: int,
    store: ArrayStore,
    *,
    lowercase: bool = False,
    skip_symbols: bool = False,
) -> NgramCounts:
    """Count the n-grams of the texts, one sentence a line.

    texts: A str is a file's name.
    store: Memory for tables.
    skip_symbols: Pass over <s>, </s> and <unk> where they stand in the text, instead of raising an error.
    Raises DataError when a file cannot be read, is not UTF-8 or has one of those words, or no file has any word. Raises
    ResourceError when the disk is full.
    """
    from aligntools.translating.lm import kernels_ngram_counts as kernels

    lexicon, sorter = CompiledLexicon(list(CONTROL)), Sorter(store, order, range(order))
    sentences = words = blank = 0
    block = int(np.clip(store.limit // 100, 1 << 12, 1 << 24))
    sources = [text if isinstance(text, LineSource) else LineSource(str(text)) for text in texts]
    for source in sources:
        for tokens, offsets in numbered(source, lexicon, lowercase, skip_symbols, block):
            tokens = tokens - 1  # <unk> is not among the words of the model; it is 0
            lengths = np.diff(offsets)
            full = int(np.count_nonzero(lengths))
            sentences, words, blank = sentences + full, words + len(tokens), blank + len(lengths) - full
            table = np.empty((len(tokens) + full, order + 2), np.uint32)
            kernels.fill_ngrams(tokens, offsets, order, table)
            sorter.add(table)
    check_words(sources, words)
    return NgramCounts(order, vocabulary_of(lexicon), sorter.finish(), sentences, words, blank)


def numbered(
    source: LineSource,
    lexicon: CompiledLexicon,
    lowercase: bool,
    skip_symbols: bool,
    block: int,
    white: WhiteSpace | None = None,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield numbers of words and offsets of sentences, without words that are the model's own.

    lexicon: That begins with `CONTROL`.
    block: Bytes that are read at a time.
    white: As for `stream_numbered`.
    """
    line = 0
    for side in stream_numbered(source, lexicon, lowercase=lowercase, block=block, white=white):
        tokens, offsets = side.tokens, side.offsets
        special = tokens <= len(CONTROL)
        if special.any():
            if not skip_symbols:
                _refuse(source.name, line, tokens, offsets, int(np.argmax(special)))
            offsets = np.concatenate([[0], np.cumsum(~special)])[offsets]
            tokens = tokens[~special]
        line += len(side)
        yield tokens, offsets


def check_words(sources: Sequence[LineSource], words: int) -> None:
    """Refuse texts without words."""
    if not words:
        problem = "has no words" if len(sources) == 1 else "and the other files have no words"
        raise DataError(sources[0].name, None, f"{problem}; give text, one sentence per line")


def vocabulary_of(lexicon: CompiledLexicon) -> Vocabulary:
    """Return the words of a model, from what its text was numbered with."""
    return Vocabulary.from_bytes([*CONTROL[:2], *lexicon.words(len(CONTROL) + 1)])


def _refuse(path: str, line: int, tokens: np.ndarray, offsets: np.ndarray, place: int) -> NoReturn:
    line += int(np.searchsorted(offsets, place, "right"))
    word = CONTROL[tokens[place] - 1].decode()
    problem = f"the word {word}, which has a special meaning in a language model (`skip_symbols` skips it)"
    raise DataError(path, line, problem)
