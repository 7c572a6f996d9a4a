"""Interpolated modified Kneser-Ney smoothing (Kneser & Ney 1995; Chen & Goodman 1998), as KenLM's lmplz does it.

The probability of an n-gram is ``(a - D(a)) / sum of a + gamma * p(shorter n-gram)``. Its adjusted count ``a`` is how
often it occurs, if it has the model's order or begins a sentence, and otherwise after how many different words it
occurs; the sum is over all words after the same context, and gamma is the mass that the discounts free. Unigrams are
interpolated with the uniform distribution over all words, <unk> and </s>. Each order has three discounts, from how
many n-grams have an adjusted count of 1, 2, 3 and 4 (Chen & Goodman, equation 26).

Everything is a pass over sorted tables (Heafield et al. 2013), which need not be in memory.
"""

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.formats.annotation.tagged_text import is_plain_text
from aligntools.formats.opening import files
from aligntools.formats.text.numbered_text import LineSource, stream_numbered
from aligntools.ground import memory
from aligntools.ground.engines import Engine, Serial
from aligntools.ground.errors import DataError
from aligntools.ground.parallel import Pool
from aligntools.store.sorting import ArrayStore
from aligntools.store.stores import Store
from aligntools.translating.lm import kernels_ngram_counts as kernels
from aligntools.translating.lm.language_model import BEGIN
from aligntools.translating.settings import TABLES
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
    columns: The order of the result, the most important column first.
    passes: The columns that a part has to be sorted by, if it comes sorted by the others.
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
        rows = int(np.clip(store.limit // (6 * 4 * (order + 2)), 1 << 10, _MOST_ROWS))
        self._most = max(rows // sharing, 1 << 10)

    def add(self, table: np.ndarray) -> None:
        """Add rows; the array may be changed."""
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
        (m, right), (n, left) = self._parts.pop(), self._parts.pop()
        table = self._store.empty((len(left) + len(right), self._order + 2))
        rows = in_steps(self._store, kernels.merge, left, right, self._columns, table)
        self._parts.append((m + n, table[:rows]))

    def finish(self) -> np.ndarray:
        """Return all rows in order, equal ones as one, their first numbers added up."""
        while len(self._parts) > 1:
            self._merge()
        if not self._parts:
            return np.asarray(self._store.empty((0, self._order + 2)))
        return self._parts.pop()[1]


def in_steps(store: ArrayStore, function: Callable[..., Any], *arguments: Any) -> int:
    """Run one of the kernels that go over tables piece by piece; return the first of its cursors."""
    state = np.zeros(3, np.int64)
    while function(*arguments, state, _STEP):
        store.relieve()
    store.relieve()
    return int(state[0])


@dataclass(eq=False)
class NgramCounts:
    """Counts of n-grams.

    table (uint32 [n-grams, order + 2]): In suffix order: words from the last to the first, how often, and an unused
        column. A sentence is preceded by as many <s> as are needed.
    sentences, words, blank: Read: sentences with words, their words, and lines without any, which do not count.
    """

    order: int
    vocabulary: Vocabulary  # Word ids as in `language_model.NgramModel`
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
    """Count the n-grams of the texts, one sentence a line."""
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
    """
    line = 0
    for side in stream_numbered(source, lexicon, lowercase=lowercase, block=block, white=white):
        tokens, offsets = side.tokens, side.offsets
        special = tokens <= len(CONTROL)
        if special.any():
            if not skip_symbols:
                place = int(np.argmax(special))
                word = CONTROL[tokens[place] - 1].decode()
                problem = f"the word {word}, which has a special meaning in a language model (`skip_symbols` skips it)"
                raise DataError(source.name, line + int(np.searchsorted(offsets, place, "right")), problem)
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


#: Discounts of an order whose own cannot be computed, for adjusted counts 1, 2, and 3 and more (lmplz's).
FALLBACK = (0.5, 1.0, 1.5)
_ROWS = 1 << 18
_NONE = np.empty((0, 2), np.uint32)  # in the place of a table that is given up


@dataclass(frozen=True)
class Discounts:
    """The discounts of one order."""

    values: tuple[float, ...]  # Three, for adjusted counts 1, 2, and 3 and more
    problem: str = ""  # Why they are the fallback; empty if they are not


@dataclass(eq=False)
class Estimate:
    """A model as it comes from counts, ready for `arpa.write_arpa` and `lm.from_blocks`.

    tables (list of np.ndarray [shape=(n-grams, order + 2), dtype=uint32]): In suffix order: words from the last to the
        first, and as float32 the probability and the backoff weight; the highest order has none.
    """

    order: int
    vocabulary: Vocabulary
    counts: list[int]
    discounts: list[Discounts]
    tables: list[np.ndarray]
    store: ArrayStore

    def blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield n-grams and decimal logarithms as `arpa.ArpaReader.blocks` does."""
        for order, table in enumerate(self.tables, 1):
            step = _ROWS if order > 1 else max(len(table), 1)
            for begin in range(0, len(table), step):
                part = table[begin : begin + step]
                ids = np.ascontiguousarray(part[:, order - 1 :: -1] if order > 1 else part[:, :1]).view(np.int32)
                weights = part[:, order:].view(np.float32).astype(np.float64)
                with np.errstate(divide="ignore"):
                    logs = np.clip(np.log10(weights), -99.0, [0.0, np.inf])
                if order == self.order:
                    logs[:, 1] = 0
                yield ids, np.ascontiguousarray(logs, np.float32)
                self.store.relieve()


def discounts_of(counts_of_counts: Sequence[int] | np.ndarray) -> Discounts:
    """Compute an order's discounts from how many of its n-grams have each adjusted count.

    counts_of_counts: For adjusted counts 0 (unused) to 4.
    """
    n = [int(x) for x in counts_of_counts]
    for count in (1, 2, 3):
        if n[count] == 0:
            return Discounts(FALLBACK, f"none has an adjusted count of {count}")
    y = n[1] / (n[1] + 2 * n[2])
    values = tuple(j - (j + 1) * y * n[j + 1] / n[j] for j in (1, 2, 3))
    for j, value in enumerate(values, 1):
        # without a discount nothing is left for words that do not follow: the product of whole numbers tells a zero
        if not 0 <= value <= j or j * n[j] * (n[1] + 2 * n[2]) == (j + 1) * n[1] * n[j + 1]:
            return Discounts(FALLBACK, f"the discount of adjusted count {j} would be {value:.3g}")
    return Discounts(values)


def estimate(counts: NgramCounts, store: ArrayStore, pool: Pool, thresholds: Sequence[int] = (0,)) -> Estimate:
    """Estimate a model.

    counts: Its table is given up.
    thresholds: By order: n-grams of this order that occur this often or less are not in the model; the last number is
        for all higher orders. They do not fall, and the first is 0: no word is left out.
    """
    top, words = counts.order, len(counts.vocabulary)
    thresholds = [*thresholds, *[thresholds[-1]] * top][:top]
    # each order's table in suffix order: words, count, adjusted count
    tables, counts.table = [counts.table], _NONE
    for order in range(top - 1, 0, -1):
        lower = store.empty((in_steps(store, kernels.runs, tables[0], 0, order), order + 2))
        in_steps(store, kernels.shorten, tables[0], order, lower)
        tables.insert(0, lower)
    discounts = []
    for order in range(1, top + 1):
        found = np.zeros(5, np.int64)
        rows = in_steps(store, kernels.settle, tables[order - 1], order, order == top, found)
        tables[order - 1] = tables[order - 1][:rows]
        discounts.append(discounts_of(found))
    # the probabilities of all words, those of <unk> and <s> put in
    adjusted = np.zeros(words, np.int64)
    adjusted[tables[0][:, 0]] = tables[0][:, 2]
    amounts = np.array([0.0, *discounts[0].values])[np.minimum(adjusted, 3)]
    total = adjusted.sum()
    probabilities = (adjusted - amounts) / total + amounts.sum() / total / (words - 1)  # all words but <s>
    probabilities[BEGIN] = 0
    unigrams = store.empty((words, 3))
    unigrams[:, 0] = np.arange(words)
    unigrams.view(np.float32)[:, 1] = probabilities
    unigrams.view(np.float32)[:, 2] = 1

    def weigh(order: int) -> tuple[np.ndarray, np.ndarray]:
        """Return an order's table with probabilities yet to be interpolated, and its contexts' backoff weights."""
        columns = range(order)
        turned = Sorter(store, order, [*columns[1:], 0], columns[1:], pool.threads)
        turned.add(tables[order - 1])
        tables[order - 1] = _NONE  # its room is needed, so nothing here holds it
        table = turned.finish()
        contexts = store.empty((in_steps(store, kernels.runs, table, 1, order), order + 1))
        given = thresholds[order - 1], np.array([0.0, *discounts[order - 1].values]), contexts
        floats = table.view(np.float32), contexts.view(np.float32)
        rows = in_steps(store, kernels.weigh, table, floats[0], order, *given, floats[1])
        back = Sorter(store, order, columns, columns[:1], pool.threads)
        back.add(table[:rows])
        del table, floats, turned
        return back.finish(), contexts

    weighed = pool.map(weigh, range(2, top + 1))
    results = [unigrams, *(table for table, _ in weighed)]
    # interpolated from the lowest order up; then each n-gram gets its backoff weight
    both = [(table, table.view(np.float32)) for table in results]
    for order in range(2, top + 1):
        in_steps(store, kernels.interpolate, *both[order - 2], *both[order - 1], order)
    for order, (_, contexts) in enumerate(weighed, 1):
        in_steps(store, kernels.attach, *both[order - 1], order, contexts, contexts.view(np.float32))
    return Estimate(top, counts.vocabulary, [len(table) for table in results], discounts, results, store)


#: Bytes of text in a job, at least and at most, and jobs that a text makes at least, if it is large enough.
FEWEST, MOST, JOBS = 1 << 20, 1 << 25, 16
#: Words whose n-grams one job sorts, about, and n-grams that one job merges, of all parts together, about.
BLOCK, MERGED = 1 << 22, 1 << 22
# Counting n-grams by jobs over parts of the text, in files that all workers see.
#
# Jobs number the words of a part each by themselves; the leading process gives the words of the text their numbers,
# part after part, which are those that one process would give. Then jobs sort the n-grams of the parts, and others
# merge what all parts have of some last words. The table is the one that `ngram_counts.count` makes.

#: Bytes that a process needs for a job.
A_JOB = memory.SPARE + memory.LEAST
_READ = 1 << 22  # bytes of text at a time


@dataclass(frozen=True)
class CountingTask:
    """What all jobs have to know."""

    store: Store
    order: int
    lowercase: bool
    skip_symbols: bool

    def sorter(self) -> Sorter:
        """Return what sorts n-grams, within the memory that this process may have."""
        tables = memory.for_tables(None, TABLES)
        return Sorter(ArrayStore(tables * 7 // 10, self.store.folder), self.order, range(self.order))


def sources_in_parts(sources: Sequence[LineSource], workers: int) -> list[LineSource]:
    """Cut files into ranges of lines; what is compressed, not plain, a pipe or in memory stays whole."""
    can_be_cut = [s.lines is None and files.is_plain(s.name) and is_plain_text(s.name) for s in sources]
    total = sum(os.path.getsize(s.name) for s, cut in zip(sources, can_be_cut, strict=True) if cut)
    size = int(np.clip(total // max(JOBS, 4 * workers), FEWEST, MOST))
    parts = []
    for source, cut in zip(sources, can_be_cut, strict=True):
        if not cut:
            parts.append(source)
            continue
        parts += [LineSource(source.name, None, begin, end) for begin, end in files.line_ranges(source.name, size)]
    return parts


def read_part(task: CountingTask, job: tuple[int, LineSource], pool: Pool) -> None:
    """Write the sentences of a part, with numbers of its own for words, and these words."""
    number, source = job
    lexicon, first = CompiledLexicon(list(CONTROL)), len(CONTROL) + 1
    sentences = words = blank = blocks = 0
    white = WhiteSpace(source.name, of_model=True)
    held: list[tuple[np.ndarray, np.ndarray]] = []

    def write() -> None:
        nonlocal blocks
        offsets = np.concatenate([[0], np.cumsum(np.concatenate([lengths for _, lengths in held]))])
        tokens = np.concatenate([tokens for tokens, _ in held]) - np.int32(first)
        task.store.write(f"text.{number}.{blocks}", tokens=tokens, offsets=offsets)
        blocks += 1
        held.clear()

    try:
        for tokens, offsets in numbered(source, lexicon, task.lowercase, task.skip_symbols, _READ, white):
            lengths = np.diff(offsets)
            full = int(np.count_nonzero(lengths))
            sentences, words, blank = sentences + full, words + len(tokens), blank + len(lengths) - full
            held.append((tokens, lengths[lengths > 0]))
            if sum(len(tokens) for tokens, _ in held) >= BLOCK:
                write()
    except DataError as error:
        if error.line is None or not source.begin:
            raise
        line = error.line + files.lines_before(source.name, source.begin)
        raise DataError(error.path, line, error.problem) from None
    if held:
        write()
    counts = np.zeros(len(lexicon) - first, np.int64)
    for block in range(blocks):
        counts += np.bincount(task.store.read(f"text.{number}.{block}", "tokens")[0], minlength=len(counts))
    text = b" ".join([b"", *lexicon.words(first), b""])  # whatever is at the ends of a line stays between spaces
    about = {
        "blocks": blocks,
        "sentences": sentences,
        "words": words,
        "blank": blank,
        "white": [white.lines, sorted(white.characters)],
    }
    task.store.write(f"words.{number}", about, text=np.frombuffer(text, np.uint8), counts=counts)


def sort_block(task: CountingTask, cuts: np.ndarray, job: tuple[int, int], pool: Pool) -> None:
    """Write the n-grams of a block of sentences in order, and where each piece of the table begins in them."""
    number, block = job
    tokens, offsets = task.store.read(f"text.{number}.{block}", "tokens", "offsets")
    tokens = task.store.read(f"numbers.{number}", "ids")[0][tokens]
    sorter = task.sorter()
    rows = offsets + np.arange(len(offsets))  # n-grams before each sentence
    begin = 0
    while begin < len(offsets) - 1:
        end = max(begin + 1, int(np.searchsorted(rows, rows[begin] + (1 << 20), "right")) - 1)
        table = np.empty((int(rows[end] - rows[begin]), task.order + 2), np.uint32)
        own = tokens[offsets[begin] : offsets[end]]
        kernels.fill_ngrams(own, offsets[begin : end + 1] - offsets[begin], task.order, table)
        sorter.add(table)
        begin = end
    table = sorter.finish()
    starts = np.searchsorted(np.ascontiguousarray(table[:, 0]), cuts)
    task.store.write(f"grams.{number}.{block}", starts=starts, table=table)


def merge_piece(task: CountingTask, blocks: Sequence[tuple[int, int]], piece: int, pool: Pool) -> None:
    """Write what all blocks have of a piece of the table."""
    sorter = task.sorter()
    for number, block in blocks:
        name = f"grams.{number}.{block}"
        (starts,) = task.store.read(name, "starts")
        begin, end = starts[piece : piece + 2].tolist()
        if begin < end:
            sorter.add_sorted(task.store.read_run(name, begin, end, "table")[0])
    table = sorter.finish()
    task.store.write(f"piece.{piece}", {"rows": len(table)}, table=table)


def count_in_parts(
    texts: Iterable[LineSource],
    order: int,
    store: Store,
    engine: Engine,
    pool: Pool,
    *,
    lowercase: bool = False,
    skip_symbols: bool = False,
) -> Callable[[ArrayStore], NgramCounts]:
    """Count the n-grams of texts as `kneser_ney.count` does, by jobs; return what reads them from their files.

    texts: Those that are compressed, or not plain text, are jobs of their own; those that are no files at all are read
        in this process.
    """
    task, texts = CountingTask(store, order, lowercase, skip_symbols), list(texts)

    def run(stage: str, function: Callable[..., Any], jobs: Sequence[Any]) -> None:
        engine.run(stage, function, jobs, lambda: None)

    jobs = list(enumerate(sources_in_parts(texts, engine.workers)))
    read = functools.partial(read_part, task)
    anywhere = [source.lines is None and files.is_regular(source.name) for _, source in jobs]
    here = [job for job, read_by_any in zip(jobs, anywhere, strict=True) if not read_by_any]
    Serial(pool).run("reading", read, here, lambda: None)
    run("reading", read, [job for job, read_by_any in zip(jobs, anywhere, strict=True) if read_by_any])
    found = [store.about(f"words.{number}") for number, _ in jobs]
    sentences, words, blank = (sum(one[key] for one in found) for key in ("sentences", "words", "blank"))
    check_words(texts, words)
    spaces = {source.name: WhiteSpace(source.name, of_model=True) for _, source in jobs}
    for (_, source), one in zip(jobs, found, strict=True):
        spaces[source.name].add(*one["white"])
    for white in spaces.values():
        white.tell()
    # the words of all parts get numbers, in order of first occurrence
    lexicon, totals = CompiledLexicon(list(CONTROL)), np.zeros(1 << 16, np.int64)
    for number, _ in jobs:
        text, counts = store.read(f"words.{number}", "text", "counts")
        (ids,) = [side.tokens - 1 for side in stream_numbered(LineSource("words", [text.tobytes()]), lexicon)]
        if len(lexicon) > len(totals):
            totals = np.concatenate([totals, np.zeros(2 * len(lexicon) - len(totals), np.int64)])
        totals[ids] += counts
        store.write(f"numbers.{number}", ids=ids)
    totals = totals[: len(lexicon) - 1]
    totals[CONTROL.index(b"</s>") + 1] = sentences  # each end is the last word of an n-gram
    # the numbers of words before which the table is cut, the first one's and past the last one's with them
    ends = np.cumsum(totals)
    many = max(int(ends[-1]) // MERGED, min(int(ends[-1]) // 100_000, 4 * engine.workers)) + 1
    cuts = np.searchsorted(ends, np.linspace(0, ends[-1], many + 1)[1:-1]) + 1
    cuts = np.unique(np.concatenate([[0], np.minimum(cuts, len(totals)), [len(totals)]]))
    blocks = [(number, block) for number, one in enumerate(found) for block in range(one["blocks"])]
    run("n-grams", functools.partial(sort_block, task, cuts), blocks)
    store.remove(*(f"text.{number}.{block}" for number, block in blocks))
    store.remove(*(f"{name}.{number}" for name in ("words", "numbers") for number, _ in jobs))
    pieces = range(len(cuts) - 1)
    run("merging", functools.partial(merge_piece, task, blocks), pieces)
    store.remove(*(f"grams.{number}.{block}" for number, block in blocks))

    def gathered(memory: ArrayStore) -> NgramCounts:
        names = [f"piece.{piece}" for piece in pieces]
        table, row = memory.empty((sum(store.about(name)["rows"] for name in names), order + 2)), 0
        for name in names:
            (piece,) = store.read(name, "table")
            table[row : row + len(piece)] = piece
            row += len(piece)
            store.remove(name)
            memory.relieve()
        return NgramCounts(order, vocabulary_of(lexicon), table, sentences, words, blank)

    return gathered
