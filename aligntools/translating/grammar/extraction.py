"""Hiero grammars from aligned text (Chiang 2007, section 3).

An initial phrase pair is a stretch of words on either side whose links do not leave it. It counts 1, shared equally
by all rules that it gives: itself, and what remains when one or two initial phrase pairs within it are replaced by
nonterminals. Rules are entered in tables of distinct ones, whose contents are stored as sorted runs, merged, scored
and pruned shard by shard; what is added up are whole numbers, so that neither the number of threads nor the bound on
memory shows in the result.
"""

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from aligntools.formats.links.pharaoh import Links
from aligntools.formats.text.corpus import Bitext, Side
from aligntools.formats.translation.grammar import GrammarRules, TextFilter, concatenate, unwritable
from aligntools.formats.translation.grammar_text import format_text
from aligntools.ground import memory
from aligntools.ground.parallel import Pool, balanced_blocks
from aligntools.store import sorting
from aligntools.store.job_engines import BlockMap
from aligntools.store.sorting import ArrayStore
from aligntools.store.stores import Kept, Store, read_object, write_object
from aligntools.translating.grammar import features, kernels_extraction, kernels_grammar
from aligntools.translating.grammar.features import LexicalTable, word_table
from aligntools.translating.grammar.kernels_extraction import AlignedText, PhraseTables, RuleRecords
from aligntools.translating.settings import ExtractionSettings
from aligntools.words.vocabulary import AnyVocabulary, Vocabulary

_RECORD = 128  # bytes that a distinct rule takes up in a table, about
_LEAST = 1 << 16  # records of the smallest table
_PHRASES = {"tight": kernels_extraction.TIGHT, "outer": kernels_extraction.OUTER, "loose": kernels_extraction.LOOSE}
_SENTENCES = 4096  # of a block that is worked at a time, at most


@dataclass
class ExtractionFigures:
    """Figures of an extraction: sentence pairs, those left out, rules found and written, sides seen, sorted runs."""

    pairs: int = 0
    skipped: str = ""
    found: int = 0
    kept: int = 0
    sources: int = 0
    targets: int = 0
    runs: int = 0
    runs_on_disk: int = 0
    unwritable: int = 0

    def take(self, shard: tuple[int, int, int, int]) -> None:
        """Add the figures of a shard: rules found, source sides, rules kept, rules that cannot be written."""
        found, sources, kept, unwritable = shard
        self.found += found
        self.sources += sources
        self.kept += kept
        self.unwritable += unwritable


class Extraction:
    """The extraction of one grammar, which comes in parts.

    text: Keep only rules that this text can use; all rules enter the scores.
    max_memory: Bytes for tables, runs and shards; a bound on what grows with the text, kept approximately.
    folder: Folder for runs that do not fit in memory; None: the system's folder for temporary files.
    """

    def __init__(
        self,
        bitext: Bitext,
        links: Links,
        settings: ExtractionSettings | None = None,
        *,
        text: tuple[Side, Vocabulary] | None = None,
        threads: int = 1,
        max_memory: int = 2 << 30,
        folder: str | None = None,
    ) -> None:
        self.settings = (settings or ExtractionSettings()).checked()
        self.source, self.source_vocabulary = _by_bytes(bitext.source, bitext.source_vocabulary)
        self.target, self.target_vocabulary = _by_bytes(bitext.target, bitext.target_vocabulary)
        self.links = Links(np.ascontiguousarray(links.pairs, np.int32), np.ascontiguousarray(links.offsets, np.int64))
        self._filter = None
        if text is not None:
            self._filter = TextFilter(text[0], text[1], longest=self.settings.max_symbols)
            self._mapping = self._filter.mapping(self.source_vocabulary)
        self._banned = unwritable(self.source_vocabulary), unwritable(self.target_vocabulary)
        self._threads, self.memory, self._folder = threads, max_memory, folder
        self.figures = ExtractionFigures(len(bitext), bitext.skipped.summary())

    def parts(self) -> Iterator[GrammarRules]:
        """Yield the grammar in parts, in order; they share vocabularies."""
        words = word_table(self.source, self.target, self.links)
        quarter = self.memory // 4
        with (
            Pool(self._threads) as pool,
            sorting.Spool(quarter, self._folder) as shards,
            sorting.Spool(quarter // 2, self._folder) as targets,
        ):
            with sorting.Spool(quarter, self._folder) as runs:
                self.extract_runs(0, len(self.source), pool, runs.add, self.memory)
                self.figures.runs, self.figures.runs_on_disk = len(runs), runs.on_disk
                opened: list[Any] = [runs.get(k, lazily=True) for k in range(len(runs))]
                size = sum(array.nbytes for run in opened for array in run)
                count = max(1, 2 * self._threads if size > 1 << 22 else 1, -(-6 * size * self._threads // self.memory))
                cuts = sorting.cuts(opened, count)
                for begin in range(0, count, self._threads):
                    some = range(begin, min(begin + self._threads, count))
                    made = pool.map(lambda k: self.shard(opened, cuts[k], cuts[k + 1], words), some)
                    for rules, sides, figures in made:
                        shards.add(rules)
                        targets.add(sides)
                        self.figures.take(figures)
                opened.clear()
            store = ArrayStore(quarter // 2, self._folder)
            with target_totals(targets.get, len(targets), store, self.figures) as totals:
                numbers = range(len(shards))
                for begin in range(0, len(shards), 4 * self._threads):
                    some = numbers[begin : begin + 4 * self._threads]
                    yield from pool.map(lambda k: self.finish(shards.get(k), totals.get(k)[0], words), some)
                    store.relieve()

    def extract_runs(self, begin: int, end: int, pool: Pool, add: Callable[..., Any], memory: int) -> None:
        """Fill tables with the distinct rules of sentences ``begin:end``, and add them as runs, sorted.

        memory: Bytes for tables of all threads.
        """
        room = max(_LEAST, memory // 4 // pool.threads // _RECORD)
        costs = np.minimum(self.source.lengths(), self.target.lengths())[begin:end]
        count = max(4 * pool.threads, -(-len(costs) // _SENTENCES)) if len(costs) > 256 else 1
        blocks = [(begin + a, begin + b) for a, b in balanced_blocks(costs, count)]
        pool.map(lambda block: self._extract_block(*block, room, add), blocks)

    def _extract_block(self, begin: int, end: int, room: int, add: Callable[..., Any]) -> None:
        s = self.settings
        longest = int(
            max(self.source.lengths()[begin:end].max(initial=0), self.target.lengths()[begin:end].max(initial=0))
        )
        settings = np.array([s.max_span, s.max_symbols, s.nonterminals, _PHRASES[s.phrases], s.min_hole], np.int64)
        state = np.array([begin, 0], np.int64)
        sides = self.source.tokens, self.source.offsets, self.target.tokens, self.target.offsets
        text = AlignedText(*sides, self.links.pairs, self.links.offsets)
        work = PhraseTables(
            np.empty((4, longest + 1), np.int32),
            np.empty(longest + 1, np.int64),
            np.empty((max(64, longest * s.max_span), 5), np.int32),
            np.empty(longest * s.max_span + 1, np.int64),
        )
        while True:
            records = RuleRecords(
                np.empty(16 * room + 1, np.int32),
                np.empty(room, np.int64),
                np.empty(room, np.uint64),
                np.empty((room, 2), np.int64),
                np.zeros(1 << (2 * room - 1).bit_length(), np.int32),
                np.zeros(2, np.int64),
            )
            while True:
                status = kernels_extraction.extract_rules(text, end, settings, state, work, records)
                if status != kernels_extraction.PHRASES_FULL:
                    break
                work = work._replace(phrases=np.empty((2 * len(work.phrases), 5), np.int32))
            count, size = records.used.tolist()
            if count:
                records.pool[size] = 0
                add(sorting.sorted_run(records.pool, records.starts[:count], records.weights[:count], size))
            if status == kernels_extraction.DONE:
                return
            if not count:
                room *= 2

    def shard(
        self, runs: Any, begins: np.ndarray, ends: np.ndarray, words: LexicalTable
    ) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...], tuple[int, int, int, int]]:
        """Return the rules of a shard that stay, the counts of its target sides, and its figures."""
        pool, starts, weights = sorting.merged(runs, begins, ends)
        rule_at, source_at = np.empty(len(starts) + 1, np.int64), np.empty(len(starts) + 1, np.int64)
        rules, sources = kernels_grammar.group_rules(pool, starts, rule_at, source_at)
        joint, lexical, best = np.empty((rules, 2), np.int64), np.empty((rules, 2)), np.empty(rules, np.int64)
        kernels_grammar.weigh_links(pool, starts, weights, rule_at, rules, *words, joint, lexical, best)
        hashes = np.empty(rules, np.uint64)
        kernels_grammar.hash_targets(pool, starts, rule_at, rules, hashes)
        source_at = source_at[: sources + 1]
        kept = np.empty(rules, np.uint8)
        kernels_grammar.select_rules(
            joint,
            lexical,
            source_at,
            sources,
            self._usable(pool, starts[rule_at[source_at[:-1]]]),
            self.settings.keep,
            round(self.settings.min_count * int(kernels_extraction.UNIT)),
            np.empty(self.settings.keep, np.int64),
            kept,
        )
        totals = np.add.reduceat(joint, source_at[:-1], axis=0) if sources else joint
        rows = np.flatnonzero(kept)
        sides = _gather(pool, starts, best[rows])
        writable = np.ones(len(rows), bool)  # without a word that a grammar's text uses otherwise
        for banned, offsets, symbols in zip(self._banned, sides[:4:2], sides[1:4:2], strict=True):
            if len(banned):
                places = np.flatnonzero(np.isin(symbols, banned))
                writable[np.searchsorted(offsets, places, side="right") - 1] = False
        dropped = int((~writable).sum())
        if dropped:
            rows = rows[writable]
            sides = _gather(pool, starts, best[rows])
        of = np.searchsorted(source_at, rows, side="right") - 1
        found = *sides, joint[rows], totals[of], lexical[rows], hashes[rows]
        return found, (hashes, joint, hashes[rows]), (rules, sources, len(rows), dropped)

    def _usable(self, pool: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Return which source sides, given by where their keys begin, may be used on the text."""
        if self._filter is None:
            return np.ones(len(starts), np.uint8)
        offsets, source, *_ = _gather(pool, starts, np.arange(len(starts)))
        return self._filter.matches(offsets, self._mapping[source]).astype(np.uint8)

    def finish(self, shard: Sequence[Any], target_totals: Any, words: LexicalTable) -> GrammarRules:
        """Return the rules of a shard with their features."""
        source_offsets, source, target_offsets, target, links_offsets, links, joint, totals, lexical, _ = shard
        unit = float(kernels_extraction.UNIT)
        counts = np.stack([target_totals, totals[:, 0], joint[:, 0]], axis=1) / unit
        sides, kind = (source_offsets, source, target_offsets, target), self.settings.features
        names, values = features.score(kind, counts, joint[:, 1], totals[:, 1], lexical, sides, words)
        named = self.source_vocabulary, self.target_vocabulary
        return GrammarRules(*named, *sides, values, names, links_offsets, links, features.rounded(counts))


def whole(parts: Iterable[GrammarRules]) -> GrammarRules:
    """Return a grammar that came in parts, in canonical form."""
    return concatenate(list(parts)).canonical()


def _by_bytes(side: Side, vocabulary: AnyVocabulary) -> tuple[Side, Vocabulary]:
    """Number a side's words in the order of their bytes."""
    words = [word.encode() for word in vocabulary.words()[1:]]
    order = sorted(range(len(words)), key=words.__getitem__)
    mapping = np.zeros(len(words) + 1, np.int32)
    mapping[np.array(order, np.int64) + 1] = np.arange(1, len(words) + 1)
    return Side(mapping[side.tokens], side.offsets), Vocabulary.from_bytes([words[k] for k in order])


def _gather(pool: np.ndarray, starts: np.ndarray, records: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the sides and links of records as in a `GrammarRules`."""
    sizes = np.empty((3, len(records)), np.int64)
    kernels_grammar.measure_rules(pool, starts, records, sizes)
    offsets = np.zeros((3, len(records) + 1), np.int64)
    np.cumsum(sizes, axis=1, out=offsets[:, 1:])
    source, target = np.empty(offsets[0, -1], np.int32), np.empty(offsets[1, -1], np.int32)
    links = np.empty((offsets[2, -1], 2), np.uint8)
    kernels_grammar.gather_rules(pool, starts, records, source, target, links)
    return offsets[0].copy(), source, offsets[1].copy(), target, offsets[2].copy(), links


def target_totals(
    get: Callable[..., Sequence[Any]], shards: int, store: ArrayStore, figures: ExtractionFigures
) -> sorting.Spool:
    """Return a `Spool` of the total count of each kept rule's target side, shard by shard.

    Target sides are told apart by 64 bits: two of them are taken for one with a probability of n**2 / 2**65.
    Where a table of all would exceed what the store has in memory, as many passes are made as are needed; what is
    found lies in its files if it does not fit.

    get: Returns hashes and counts of a shard's target sides, and hashes of the kept rules'; with ``lazily`` they are
        not read yet.
    """
    count = sum(len(get(k, lazily=True)[0]) for k in range(shards))
    parts = max(1, -(-count * 48 // max(store.limit, 1 << 20)))
    found = [store.empty(len(get(k, lazily=True)[2]), np.int64) for k in range(shards)]
    for totals in found:
        totals[:] = 0
        store.relieve()
    for part in range(parts):
        keys, sums, used = np.zeros(1 << 12, np.uint64), np.zeros((1 << 12, 2), np.int64), np.zeros(1, np.int64)
        for k in range(shards):
            hashes, joint, _ = get(k)
            row = 0
            while (row := kernels_grammar.add_targets(hashes, joint, row, part, parts, keys, sums, used)) < len(hashes):
                new_keys, new_sums = np.zeros(4 * len(keys), np.uint64), np.zeros((4 * len(keys), 2), np.int64)
                kernels_grammar.enter_rows(keys[keys != 0], sums[keys != 0], new_keys, new_sums)
                keys, sums = new_keys, new_sums
        figures.targets += int(used[0])
        for k in range(shards):
            kernels_grammar.find_targets(get(k)[2], part, parts, keys, sums, found[k])
            store.relieve()
    spool = sorting.Spool(1 << 62)
    for totals in found:
        spool.add((totals,))
    return spool


# An extraction as jobs for workers: they sort the rules of blocks of text, merge shards, and score shards.
#
# The steps are those of `Extraction`. Runs and shards stay in the folder. A job gives its files new names each time it
# runs, so that what is left of a job that was lost does not count.

#: Sentences of a job, at most, and how many jobs each worker gets of a shorter text.
_IN_JOB, _EACH = 1 << 16, 4
#: Shards that a job merges.
_SHARDS = 4
#: Runs up to which their files stay open while they are merged.
_HELD = 400


def parts_by_jobs(
    extraction: Extraction, blocks: BlockMap, workers: int, style: str | None = None
) -> Iterator[GrammarRules | bytes]:
    """Yield the grammar in parts, in order; in text of this style (see `grammar_text.format_text`) if there is one.

    workers: How many share the bound on memory.
    """
    store, jobs = blocks.store, max(workers, blocks.workers)
    words = word_table(extraction.source, extraction.target, extraction.links)
    kept, tables, share = blocks.keep(extraction), blocks.keep(words), extraction.memory // workers
    costs = np.minimum(extraction.source.lengths(), extraction.target.lengths())
    count = max(_EACH * jobs, -(-len(costs) // _IN_JOB)) if len(costs) > 256 else 1
    found = blocks.run("extracting", partial(_extract, kept, share), balanced_blocks(costs, count))
    runs = [name for names in found for name in names]
    extraction.figures.runs = extraction.figures.runs_on_disk = len(runs)
    shards, targets = [], []
    opened = _opened(store, runs)
    size = sum(array.nbytes for run in opened for array in run)
    count = max(2 * jobs if size > 1 << 22 else 1, -(-6 * size * _SHARDS // share))
    cuts = sorting.cuts(opened, count)
    del opened
    given = (cuts[begin : begin + _SHARDS + 1] for begin in range(0, count, _SHARDS))
    for some in blocks.run("merging", partial(_merge, kept, tables, blocks.keep(runs)), given):
        for rules, sides, figures in some:
            shards.append(rules)
            targets.append(sides)
            extraction.figures.take(figures)
    store.remove(*runs)
    room = ArrayStore(extraction.memory // 8, store.folder)

    def sides_of(shard: int, lazily: bool = False) -> Sequence[Any]:
        named = targets[shard], "hashes", "joint", "kept"
        return sorting.stored_arrays(store, *named) if lazily else store.read(*named)

    with target_totals(sides_of, len(targets), room, extraction.figures) as totals:
        store.remove(*targets)
        job = partial(_finish, kept, tables, style)
        scored = ((name, totals.get(number)[0]) for number, name in enumerate(shards))
        for number, part in enumerate(blocks.run("scoring", job, scored)):
            store.remove(shards[number])
            if isinstance(part, GrammarRules):
                source, target = extraction.source_vocabulary, extraction.target_vocabulary
                part = replace(part, source_vocabulary=source, target_vocabulary=target)
            yield part


def _extract(kept: Kept, share: int, block: tuple[int, int], pool: Pool) -> list[str]:
    """Store a block's rules as sorted runs; return their names."""
    names = list[str]()

    def add(arrays: tuple[np.ndarray, ...]) -> None:
        names.append(f"run.{uuid.uuid4().hex}")
        kept.store.write(names[-1], **dict(zip(("pool", "starts", "weights"), arrays, strict=True)))

    kept.get().extract_runs(*block, pool, add, memory.for_tables(None, share))
    return names


def _opened(store: Store, names: list[str]) -> list[Any]:
    """Return the arrays of runs, parts of which are read when they are asked for."""
    held = len(names) < _HELD
    return [sorting.stored_arrays(store, name, "pool", "starts", "weights", held=held) for name in names]


def _merge(
    kept: Kept, tables: Kept, names: Kept, cuts: np.ndarray, pool: Pool
) -> list[tuple[str, str, tuple[int, int, int, int]]]:
    """Merge the runs of some shards; return the names of each one's rules and target sides, and its figures."""
    store, extraction, words = kept.store, kept.get(), tables.get()
    opened = _opened(store, names.get())

    def merge(shard: int) -> tuple[str, str, tuple[int, int, int, int]]:
        rules, (hashes, joint, of_kept), figures = extraction.shard(opened, cuts[shard], cuts[shard + 1], words)
        token = uuid.uuid4().hex
        write_object(store, f"rules.{token}", rules)
        store.write(f"targets.{token}", hashes=hashes, joint=joint, kept=of_kept)
        return f"rules.{token}", f"targets.{token}", figures

    return pool.map(merge, range(len(cuts) - 1))


def _finish(
    kept: Kept, tables: Kept, style: str | None, shard: tuple[str, np.ndarray], pool: Pool
) -> GrammarRules | bytes:
    """Return a shard's rules with their features, without the words, or as text."""
    name, totals = shard
    found: GrammarRules = kept.get().finish(read_object(kept.store, name), totals, tables.get())
    if style is not None:
        return b"".join(format_text(found, style))
    none = Vocabulary.from_bytes([])
    return replace(found, source_vocabulary=none, target_vocabulary=none)
