"""Counting n-grams by jobs over parts of the text, in files that all workers see.

Jobs number the words of a part each by themselves; the leading process gives the words of the text their numbers, part
after part, which are those that one process would give. Then jobs sort the n-grams of the parts, and others merge what
all parts have of some last words. The table is the one that `kneser_ney.count` makes.
"""

import functools
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.formats.annotation.as_plain_text import is_plain_text
from aligntools.formats.opening import files
from aligntools.formats.text.numbered_text import LineSource, stream_numbered
from aligntools.ground import memory
from aligntools.ground.engines import Engine, Serial
from aligntools.ground.errors import DataError
from aligntools.ground.parallel import Pool
from aligntools.store.sorting import ArrayStore
from aligntools.store.stores import Store
from aligntools.translating.lm import kneser_ney
from aligntools.translating.lm.kneser_ney import CONTROL, NgramCounts, Sorter
from aligntools.translating.settings import TABLES
from aligntools.words.vocabulary import CompiledLexicon
from aligntools.words.white_space import WhiteSpace

#: Bytes of text in a job, at least and at most, and jobs that a text makes at least, if it is large enough.
FEWEST, MOST, JOBS = 1 << 20, 1 << 25, 16
#: Words whose n-grams one job sorts, about, and n-grams that one job merges, of all parts together, about.
BLOCK, MERGED = 1 << 22, 1 << 22
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


@dataclass(frozen=True)
class PartedCounts:
    """What was counted, its table in files.

    lexicon: With the numbers of the text's words.
    sentences, words, blank: As `NgramCounts` has them.
    tables: Names of the pieces of the table, in order.
    """

    task: CountingTask
    lexicon: CompiledLexicon
    sentences: int
    words: int
    blank: int
    tables: list[str]

    def gathered(self, store: ArrayStore) -> NgramCounts:
        """Return the counts, the table in ``store``; its files are removed."""
        own, order = self.task.store, self.task.order
        table = store.empty((sum(own.about(name)["rows"] for name in self.tables), order + 2))
        row = 0
        for name in self.tables:
            (piece,) = own.read(name, "table")
            table[row : row + len(piece)] = piece
            row += len(piece)
            own.remove(name)
            store.relieve()
        vocabulary = kneser_ney.vocabulary_of(self.lexicon)
        return NgramCounts(order, vocabulary, table, self.sentences, self.words, self.blank)


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
    """Write the sentences of a part, with numbers of its own for words, and these words.

    Raises DataError as `kneser_ney.count`.
    """
    number, source = job
    try:
        _read_part(task, number, source)
    except DataError as error:
        if error.line is None or not source.begin:
            raise
        line = error.line + files.lines_before(source.name, source.begin)
        raise DataError(error.path, line, error.problem) from None


def _read_part(task: CountingTask, number: int, source: LineSource) -> None:
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

    for tokens, offsets in kneser_ney.numbered(source, lexicon, task.lowercase, task.skip_symbols, _READ, white):
        lengths = np.diff(offsets)
        full = int(np.count_nonzero(lengths))
        sentences, words, blank = sentences + full, words + len(tokens), blank + len(lengths) - full
        held.append((tokens, lengths[lengths > 0]))
        if sum(len(tokens) for tokens, _ in held) >= BLOCK:
            write()
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


def _number_words(task: CountingTask, parts: int) -> tuple[CompiledLexicon, np.ndarray]:
    """Give the words of all parts numbers, in order of first occurrence; return how often each comes, by number."""
    lexicon, totals = CompiledLexicon(list(CONTROL)), np.zeros(1 << 16, np.int64)
    for number in range(parts):
        text, counts = task.store.read(f"words.{number}", "text", "counts")
        source = LineSource("words", [text.tobytes()])
        (ids,) = [side.tokens - 1 for side in stream_numbered(source, lexicon)]
        if len(lexicon) > len(totals):
            totals = np.concatenate([totals, np.zeros(2 * len(lexicon) - len(totals), np.int64)])
        totals[ids] += counts
        task.store.write(f"numbers.{number}", ids=ids)
    return lexicon, totals[: len(lexicon) - 1]


def _tell_white(jobs: Sequence[tuple[int, LineSource]], found: Sequence[dict[str, Any]]) -> None:
    """Log the white space within words that was found, text by text."""
    spaces = {source.name: WhiteSpace(source.name, of_model=True) for _, source in jobs}
    for (_, source), one in zip(jobs, found, strict=True):
        spaces[source.name].add(*one["white"])
    for white in spaces.values():
        white.tell()


def _cut(totals: np.ndarray, workers: int) -> np.ndarray:
    """Return the numbers of words before which the table is cut, the first one's and past the last one's with them."""
    ends = np.cumsum(totals)
    pieces = max(int(ends[-1]) // MERGED, min(int(ends[-1]) // 100_000, 4 * workers)) + 1
    cuts = np.searchsorted(ends, np.linspace(0, ends[-1], pieces + 1)[1:-1]) + 1
    return np.unique(np.concatenate([[0], np.minimum(cuts, len(totals)), [len(totals)]]))


def sort_block(task: CountingTask, cuts: np.ndarray, job: tuple[int, int], pool: Pool) -> None:
    """Write the n-grams of a block of sentences in order, and where each piece of the table begins in them."""
    from aligntools.translating.lm import kernels_ngram_counts as kernels

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
) -> PartedCounts:
    """Count the n-grams of texts as `kneser_ney.count` does, by an engine's jobs.

    texts: Those that are compressed, or not plain text, are jobs of their own; those that are no files at all are read
        in this process.
    store: An empty folder that all workers see.
    lowercase, skip_symbols: As for `kneser_ney.count`.
    Raises DataError as `kneser_ney.count`.
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
    kneser_ney.check_words(texts, words)
    _tell_white(jobs, found)
    lexicon, totals = _number_words(task, len(jobs))
    totals[kneser_ney.CONTROL.index(b"</s>") + 1] = sentences  # each end is the last word of an n-gram
    cuts = _cut(totals, engine.workers)
    blocks = [(number, block) for number, one in enumerate(found) for block in range(one["blocks"])]
    run("n-grams", functools.partial(sort_block, task, cuts), blocks)
    store.remove(*(f"text.{number}.{block}" for number, block in blocks))
    store.remove(*(f"{name}.{number}" for name in ("words", "numbers") for number, _ in jobs))
    pieces = range(len(cuts) - 1)
    run("merging", functools.partial(merge_piece, task, blocks), pieces)
    store.remove(*(f"grams.{number}.{block}" for number, block in blocks))
    return PartedCounts(task, lexicon, sentences, words, blank, [f"piece.{piece}" for piece in pieces])
