"""An extraction as jobs for workers: they sort the rules of blocks of text, merge shards, and score shards.

The steps are those of `extraction.Extraction`. Runs and shards stay in the folder. A job gives its files new names each
time it runs, so that what is left of a job that was lost does not count.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from aligntools.formats.translation.grammar import GrammarRules
from aligntools.formats.translation.grammar_text import format_text
from aligntools.ground import memory
from aligntools.ground.parallel import Pool, balanced_blocks
from aligntools.store import sorting
from aligntools.store.job_engines import BlockMap
from aligntools.store.sorting import ArrayStore
from aligntools.store.stores import Kept, Store, read_object, write_object
from aligntools.translating.grammar.extraction import Extraction, target_totals
from aligntools.translating.grammar.features import word_table
from aligntools.words.vocabulary import Vocabulary

#: Sentences of a job, at most, and how many jobs each worker gets of a shorter text.
_SENTENCES, _EACH = 1 << 16, 4
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
    count = max(_EACH * jobs, -(-len(costs) // _SENTENCES)) if len(costs) > 256 else 1
    found = blocks.run("extracting", partial(_extract, kept, share), balanced_blocks(costs, count))
    runs = [name for names in found for name in names]
    extraction.figures.runs = extraction.figures.runs_on_disk = len(runs)
    shards, targets = [], []
    for rules, sides, figures in _merged(blocks, kept, tables, runs, jobs, share):
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
        given = ((name, totals.get(number)[0]) for number, name in enumerate(shards))
        for number, part in enumerate(blocks.run("scoring", job, given)):
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


def _merged(
    blocks: BlockMap, kept: Kept, tables: Kept, runs: list[str], jobs: int, share: int
) -> Iterator[tuple[str, str, tuple[int, int, int, int]]]:
    """Merge the runs shard by shard; yield the names of a shard's rules and target sides, and its figures."""
    opened = _opened(blocks.store, runs)
    size = sum(array.nbytes for run in opened for array in run)
    count = max(2 * jobs if size > 1 << 22 else 1, -(-6 * size * _SHARDS // share))
    cuts = sorting.cuts(opened, count)
    names = blocks.keep(runs)
    given = (cuts[begin : begin + _SHARDS + 1] for begin in range(0, count, _SHARDS))
    for some in blocks.run("merging", partial(_merge, kept, tables, names), given):
        yield from some


def _opened(store: Store, names: list[str]) -> list[Any]:
    """Return the arrays of runs, parts of which are read when they are asked for."""
    held = len(names) < _HELD
    return [sorting.stored_arrays(store, name, "pool", "starts", "weights", held=held) for name in names]


def _merge(
    kept: Kept, tables: Kept, names: Kept, cuts: np.ndarray, pool: Pool
) -> list[tuple[str, str, tuple[int, int, int, int]]]:
    """Merge some shards; return what `_merged` yields of them."""
    store, extraction, words = kept.store, kept.get(), tables.get()
    opened = _opened(store, names.get())

    def merge(shard: int) -> tuple[str, str, tuple[int, int, int, int]]:
        rules, (hashes, joint, of_kept), figures = extraction.shard(opened, cuts[shard], cuts[shard + 1], words)
        token = uuid.uuid4().hex
        write_object(store, f"rules.{token}", rules)
        store.write(f"targets.{token}", hashes=hashes, joint=joint, kept=of_kept)
        return f"rules.{token}", f"targets.{token}", (*figures[:2], len(rules[0]) - 1, figures[2])

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
