"""The sampler over a text in parts: approximate distributed Gibbs (Newman, Asuncion, Smyth & Welling 2009).

Every part samples its own links. For the links of other parts it uses the HMM's expected counts, as training in memory
does for sentences that are not reached yet. Then the counts of the parts are summed.
"""

from typing import Any

import numpy as np

from aligntools.aligning.alignments import Alignments, joined
from aligntools.aligning.models import kernels_link_counts as kc
from aligntools.aligning.models.hmm import Hmm
from aligntools.aligning.parts.passes import by_words, last_stage, over_parts, part_fields, shard_table
from aligntools.aligning.parts.table import PartTable
from aligntools.aligning.parts.work import ViewWork, save_links
from aligntools.aligning.text.cooccurrence import Table
from aligntools.aligning.training.sampling import (
    CHUNK_TOKENS,
    DirectionCounts,
    LastPass,
    most_linked,
    prior_jumps,
    sample,
)
from aligntools.ground.parallel import Pool


def sample_view(view: Any, last: int) -> None:
    """Sample the links of a view, a `training.ViewTraining` whose iterations are done."""
    if not view.store.has(view.name("sampler")):
        gather_sums(view.view_work, last, view.generation)
        view.tell("sums of words")
        view.run("sampler", sample_part, view.parts, last, view.generation)
        view.run("links of words", sum_sampled, view.shards, last, view.generation)
        gather_sampled(view.view_work, last, view.generation)
        view.tell("sums of links")
    view.store.remove(*(view.name("sampled", part) for part in view.parts))


def gather_sums(view_work: ViewWork, last: int, generation: int) -> None:
    """Keep the sums of expected counts, and of priors, of all words, and which words have jumps of their own."""
    done, store = view_work.name("word-sums"), view_work.store
    if store.has(done):
        return
    values = view_work.name("values", last)
    forward, reverse = by_words(view_work, generation, values, "row_sums", "column_sums")
    extra = by_words(view_work, generation, values, "extra_rows", "extra_columns")
    cells = int(view_work.sizes()[:, 3].sum())
    rows = {f"jump-rows{d}": most_linked(expected) for d, expected in enumerate((forward, reverse))}
    store.write(done, {"cells": cells}, forward=forward, reverse=reverse, s_extra=extra[0], t_extra=extra[1], **rows)


def _rows_of(jump_rows: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Return the rows of jumps of some words, and of unknown ones."""
    return np.append(jump_rows[words], jump_rows[-1])


def sample_part(view_work: ViewWork, last: int, generation: int, part: int, pool: Pool) -> None:
    """Sample a part's links, and keep what they count."""
    store, settings = view_work.store, view_work.settings
    name = view_work.name("sampled", part)
    if store.has(name):
        return
    part_table = PartTable(view_work, generation, part)
    hmm = Hmm(**part_fields(part_table, last), **last_stage(view_work, last).parameters())
    table, ids = part_table.table, (part_table.s_ids, part_table.t_ids)
    *counts, extra = part_table.values(
        view_work.name("values", last), *(f"counts{d}" for d in range(view_work.arrays)), "extra"
    )
    sums = store.read(view_work.name("word-sums"), "forward", "reverse", "s_extra", "t_extra")
    all_rows = store.read(view_work.name("word-sums"), "jump-rows0", "jump-rows1")
    total = store.about(view_work.name("word-sums"))["cells"]
    directions, begun = [], []
    for d, forward in enumerate((True, False)):
        given, observed = ids[d], ids[1 - d]
        expected, known = (counts[-d], sums[d][given]), (extra, sums[2 + d][given])
        rows = _rows_of(all_rows[d], given)
        begun.append(prior_jumps(hmm.jumps[d], rows))
        priors = np.zeros(len(observed) + 1), rows, begun[d].copy(), np.zeros((len(given), kc.FERTILITIES), np.float32)
        seed = 2 * (settings.seed + part) + forward
        directions.append(DirectionCounts(table, forward, expected, known, priors, seed))
    matrices = part_table.matrices(pool, (part_table.source, part_table.target), CHUNK_TOKENS // 4)
    several = view_work.parts > 1 or len(matrices.chunks) > 1
    found: list[Alignments] = []
    last_pass = LastPass(found.append, view_work.decisions, view_work.directions)
    decides = not view_work.best and last_pass.serves(settings, int(view_work.sizes()[:, 1].sum()))
    sample(hmm, matrices, directions, max(1, total), several, settings, pool, last_pass.add if decides else None)
    if decides:
        save_links(view_work, part, joined(found, view_work.text(part).skipped))
    arrays: dict[str, np.ndarray] = {}
    for n, one in enumerate(directions):
        jumps, fertility = one.means.jumps - begun[n], one.means.fertility.astype(np.float32)
        arrays |= {f"pairs{n}": one.means.pairs, f"null{n}": one.counts.null, f"jumps{n}": jumps}
        arrays[f"fertility{n}"] = fertility
    sizes = part_table.offsets[part + 1] - part_table.offsets[part]
    store.write(name, starts=np.concatenate([[0], np.cumsum(sizes)]), **arrays)


def sum_sampled(view_work: ViewWork, last: int, generation: int, shard: int, pool: Pool) -> None:
    """Sum what the parts have sampled of a shard's pairs, and write the sums part by part."""
    store = view_work.store
    name = view_work.name("links", shard)
    if store.has(name):
        return
    table, _, _ = shard_table(view_work, generation, shard)
    (places,) = store.read(view_work.name("places", generation, shard), "places")
    (columns,) = store.read(view_work.name("shard", generation, shard), "columns")
    (given,) = store.read(view_work.name("values", last, shard), "extra")
    extra = np.zeros(len(table.ids), np.float32)
    extra[places] = given
    pairs = [p + extra for p in over_parts(view_work, generation, shard, ("pairs0", "pairs1"), "sampled")]
    at = np.searchsorted(columns, table.ids)
    store.write(
        name,
        pairs0=pairs[0][places],
        pairs1=pairs[1][places],
        whole0=pairs[0],
        whole1=pairs[1],
        **{f"rows{d}": table.row_sums(one) for d, one in enumerate(pairs)},
        **{f"columns{d}": np.bincount(at, one, len(columns)) for d, one in enumerate(pairs)},
    )


def gather_sampled(view_work: ViewWork, last: int, generation: int) -> None:
    """Keep the sampled counts of words, jumps and fertilities."""
    done, store = view_work.name("sampler"), view_work.store
    if store.has(done):
        return
    sums = by_words(view_work, generation, view_work.name("links"), "rows0", "columns1")
    linked = by_words(view_work, generation, view_work.name("links"), "rows1", "columns0")
    sizes = [len(one) for one in sums]
    rows = store.read(view_work.name("word-sums"), "jump-rows0", "jump-rows1")
    jumps = [prior_jumps(*one) for one in zip(last_stage(view_work, last).parameters()["jumps"], rows, strict=True)]
    null = [np.zeros(sizes[1] + 1), np.zeros(sizes[0] + 1)]
    fertility = [np.zeros((size, kc.FERTILITIES), np.float32) for size in sizes]
    for part in range(view_work.parts):
        ids = store.read(view_work.name("ids", part), "source.ids", "target.ids")
        sampled = store.read_all(view_work.name("sampled", part))
        for d in range(2):
            jumps[d] += sampled[f"jumps{d}"]
            null[d][ids[1 - d]] += sampled[f"null{d}"][:-1]
            fertility[d][ids[d]] += sampled[f"fertility{d}"]
    arrays: dict[str, np.ndarray] = {"linked0": linked[0], "linked1": linked[1]}
    for d in range(2):
        arrays |= {f"words{d}": np.append(sums[d], null[d].sum()), f"null{d}": null[d]}
        arrays |= {f"jump-rows{d}": rows[d], f"jumps{d}": jumps[d], f"fertility{d}": fertility[d]}
    store.write(done, **arrays)


def part_sampler(part_table: PartTable) -> tuple[list[kc.LinkCounts], tuple[np.ndarray, np.ndarray]]:
    """Return a part's counts of sampled links, and the ``linked`` arrays of its `WordLinks`."""
    view_work = part_table.view_work
    pairs = part_table.values(view_work.name("links"), "pairs0", "pairs1")
    whole = view_work.store.read_all(view_work.name("sampler"))
    ids, table = (part_table.s_ids, part_table.t_ids), part_table.table
    found = []
    for d, types in enumerate((table.types, table.target_types)):
        words, null = whole[f"words{d}"], whole[f"null{d}"]
        own = np.append(words[:-1][ids[d]], words[-1]), types.astype(np.float32)
        own_null = np.append(null[:-1][ids[1 - d]], null[-1])
        jumps = _rows_of(whole[f"jump-rows{d}"], ids[d]), whole[f"jumps{d}"]
        found.append(kc.LinkCounts(pairs[d], *own, own_null, *jumps, whole[f"fertility{d}"][ids[d]]))
    return found, (whole["linked0"][ids[0]], whole["linked1"][ids[1]])


def whole_sampler(view_work: ViewWork, table: Table) -> list[kc.LinkCounts]:
    """Return what was sampled of the whole text."""
    store, shards = view_work.store, range(view_work.shards())
    whole = store.read_all(view_work.name("sampler"))
    found = []
    for d, types in enumerate((table.types, table.target_types)):
        pairs = np.concatenate([store.read(view_work.name("links", s), f"whole{d}")[0] for s in shards])
        words = whole[f"words{d}"], types.astype(np.float32), whole[f"null{d}"]
        jumps = whole[f"jump-rows{d}"], whole[f"jumps{d}"]
        found.append(kc.LinkCounts(pairs, *words, *jumps, whole[f"fertility{d}"]))
    return found
