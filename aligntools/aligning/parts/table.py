"""The co-occurrence table of a text in parts: found by parts, summed by shards, and each part's share of it."""

import numpy as np

from aligntools.aligning.parts.work import CELLS, ViewWork
from aligntools.aligning.text.cooccurrence import Table, build_table, segment_sums
from aligntools.aligning.text.link_matrices import LinkMatrices
from aligntools.formats.text.corpus import Side
from aligntools.ground.parallel import Pool

#: About how many entries, found by parts, the source words of a shard have together.
SHARD_ENTRIES = 4_000_000


def part_sides(view_work: ViewWork, part: int) -> tuple[Side, Side, np.ndarray, np.ndarray]:
    """Return both sides of a part in the part's own numbers of the view's words, int32, and these words' ids."""
    text = view_work.text(part)
    arrays = view_work.store.read_all(view_work.name("ids", part))
    source = Side(arrays["source.map"][text.source.tokens], text.source.offsets)
    target = Side(arrays["target.map"][text.target.tokens], text.target.offsets)
    return source, target, arrays["source.ids"], arrays["target.ids"]


def find_pairs(view_work: ViewWork, part: int, pool: Pool) -> None:
    """Keep which words occur together in a part, all of them, with the counts of a first, uniform iteration."""
    name, store = view_work.name("found", part), view_work.store
    if store.has(name):
        return
    source, target, s_ids, t_ids = part_sides(view_work, part)
    table, counts = build_table(source, target, len(s_ids), len(t_ids), pool, p_null=view_work.settings.p_null)
    store.write(name, ptr=table.ptr, ids=t_ids[table.ids], counts=counts)


def cut_shards(view_work: ViewWork) -> None:
    """Cut the source words into shards, of about SHARD_ENTRIES entries of the parts each."""
    done, store = view_work.name("cuts"), view_work.store
    if store.has(done):
        return
    n_source = len(store.read(view_work.name("vocabulary"), "source.counts")[0])
    sizes = np.zeros(n_source, np.int64)
    for part in range(view_work.parts):
        ids, ptr = _rows_found(view_work, part)
        sizes[ids] += np.diff(ptr)
    ends = np.cumsum(sizes)
    marks = np.arange(1, ends[-1] // SHARD_ENTRIES + 1) * SHARD_ENTRIES
    bounds = np.unique(np.concatenate([[0], np.searchsorted(ends, marks) + 1, [n_source]]))
    rows = np.zeros((view_work.parts, len(bounds)), np.int64)
    found = np.zeros_like(rows)
    for part in range(view_work.parts):
        ids, ptr = _rows_found(view_work, part)
        rows[part] = np.searchsorted(ids, bounds)
        found[part] = ptr[rows[part]]
    store.write(done, bounds=bounds, rows=rows, found=found)


def _rows_found(view_work: ViewWork, part: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids of a part's source words, and where the pairs that were found of each begin."""
    (ids,), (ptr,) = (
        view_work.store.read(view_work.name(name, part), key) for name, key in (("ids", "source.ids"), ("found", "ptr"))
    )
    return ids, ptr


def merge_shard(view_work: ViewWork, shard: int, pool: Pool) -> None:
    """Sum what parts have found of a shard's source words, and leave out what is too rare in the whole text."""
    from aligntools.aligning.parts import kernels_parts as kp

    store, settings = view_work.store, view_work.settings
    if store.has(view_work.name("shard", 0, shard)):
        return
    bounds, rows, found = store.read(view_work.name("cuts"), "bounds", "rows", "found")
    s_mass, t_mass = store.read(view_work.name("vocabulary"), "source.masses", "target.masses")
    v0, v1 = int(bounds[shard]), int(bounds[shard + 1])
    starts = np.concatenate([[0], np.cumsum(found[:, shard + 1] - found[:, shard])])
    ids, counts = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float32)
    found_rows = []
    for part in range(view_work.parts):
        r0, r1 = (int(r) for r in rows[part, shard : shard + 2])
        a, b = (int(e) for e in found[part, shard : shard + 2])
        name = view_work.name("found", part)
        (own,) = store.read_run(view_work.name("ids", part), r0, r1, "source.ids")
        (ptr,) = store.read_run(name, r0, r1 + 1, "ptr")
        found_rows.append((own, ptr[:-1] - a + starts[part], ptr[1:] - a + starts[part]))
        ids[starts[part] : starts[part + 1]], counts[starts[part] : starts[part + 1]] = store.read_run(
            name, a, b, "ids", "counts"
        )
    words, begins, ends = map(np.concatenate, zip(*found_rows, strict=True))
    order = np.argsort(words, kind="stable")
    n_t = len(t_mass)
    ptr, distinct = np.zeros(v1 - v0 + 1, np.int64), np.zeros(v1 - v0, np.int64)
    out_ids, out_counts, places = np.empty_like(ids), np.empty_like(counts), np.empty_like(ids)
    found_words, masses = (words[order], begins[order], ends[order]), (s_mass[v0:v1], t_mass, float(s_mass.sum()))
    scratch = np.zeros(n_t, np.float32), np.empty(n_t, np.int32), np.empty(n_t, np.int32)
    out = ptr, distinct, out_ids, out_counts, places
    n = kp.merge_rows(*found_words, v0, v1, ids, counts, *masses, settings.keep, *scratch, *out)
    write_shard(
        view_work, 0, shard, ptr, out_ids[:n], places, starts, counts=out_counts[:n], types=distinct.astype(np.int32)
    )


def write_shard(
    view_work: ViewWork,
    generation: int,
    shard: int,
    ptr: np.ndarray,
    ids: np.ndarray,
    places: np.ndarray,
    starts: np.ndarray,
    **more: np.ndarray,
) -> None:
    """Keep a shard of the table, and which entries of each part it has and where."""
    keeps = places >= 0
    offsets = np.concatenate([[0], np.cumsum(keeps)])[starts]
    columns, column_sizes = np.unique(ids, return_counts=True)
    store = view_work.store
    store.write(view_work.name("places", generation, shard), places=places[keeps], offsets=offsets)
    store.write(view_work.name("keeps", generation, shard), keeps=keeps)
    store.write(
        view_work.name("shard", generation, shard), ptr=ptr, ids=ids, columns=columns, column_sizes=column_sizes, **more
    )


def gather_layout(view_work: ViewWork, generation: int) -> tuple[int, int]:
    """Keep where the entries of each part are in the runs of each shard, and how many pairs each word has.

    Returns entries of all parts, and shards.
    """
    done, store = view_work.name("layout", generation), view_work.store
    if store.has(done):
        (known,) = store.read(done, "offsets")
        return int(known[-1].sum()), known.shape[1]
    s_types, n_t = [], len(store.read(view_work.name("vocabulary"), "target.counts")[0])
    t_types = np.zeros(n_t, np.int32)
    offsets = []
    for shard in range(view_work.shards()):
        offsets += store.read(view_work.name("places", generation, shard), "offsets")
        if generation == 0:
            types, columns, sizes = store.read(view_work.name("shard", 0, shard), "types", "columns", "column_sizes")
            s_types.append(types)
            t_types[columns] += sizes.astype(np.int32)
    arrays = {"offsets": np.stack(offsets, axis=1)}  # [parts + 1, shards]
    if generation == 0:
        arrays |= {"source.types": np.concatenate(s_types), "target.types": t_types}
    store.write(done, **arrays)
    return int(arrays["offsets"][-1].sum()), len(offsets)


def restrict(view_work: ViewWork, generation: int, part: int, pool: Pool) -> None:
    """Keep a part's share of the table: the entries that shards have kept, in the part's own numbers of words."""
    name, store = view_work.name("table", generation, part), view_work.store
    if store.has(name):
        return
    if generation == 0:
        (t_ids,) = store.read(view_work.name("ids", part), "target.ids")
        ptr, ids = store.read(view_work.name("found", part), "ptr", "ids")
        ids = np.searchsorted(t_ids, ids).astype(np.int32)
        found = store.read(view_work.name("cuts"), "found")[0]
        starts = np.concatenate([np.zeros((1, found.shape[1] - 1), np.int64), np.cumsum(np.diff(found), axis=0)])
    else:
        ptr, ids = store.read(view_work.name("table", generation - 1, part), "ptr", "ids")
        (starts,) = store.read(view_work.name("layout", generation - 1), "offsets")
    (keeps,) = read_values(view_work, starts, part, view_work.name("keeps", generation), "keeps")
    sizes = segment_sums(keeps, ptr).astype(np.int64)
    store.write(name, ptr=np.concatenate([[0], np.cumsum(sizes)]), ids=ids[keeps])


def read_values(view_work: ViewWork, offsets: np.ndarray, part: int, what: str, *keys: str) -> list[np.ndarray]:
    """Return what all shards have for a part's entries, joined in the order of the part's table.

    offsets (int64 [parts + 1, shards]): Of the layout.
    what: The name's beginning; the shard's number follows.
    """
    store = view_work.store
    found = [
        store.read_run(f"{what}.{shard:06d}", int(offsets[part, shard]), int(offsets[part + 1, shard]), *keys)
        for shard in range(offsets.shape[1])
    ]
    return [np.concatenate(column) for column in zip(*found, strict=True)]


class PartTable:
    """A part's text with its own word ids, its table with the whole text's ids, and its link matrices.

    s_ids, t_ids (int32): The view's ids of the part's words, ascending.
    offsets (int64 [parts + 1, shards]).
    """

    def __init__(self, view_work: ViewWork, generation: int, part: int) -> None:
        store = view_work.store
        self.view_work, self.generation, self.part = view_work, generation, part
        self.source, self.target, self.s_ids, self.t_ids = part_sides(view_work, part)
        s_types, t_types = store.read(view_work.name("layout", 0), "source.types", "target.types")
        (self.offsets,) = store.read(view_work.name("layout", generation), "offsets")
        ptr, ids = store.read(view_work.name("table", generation, part), "ptr", "ids")
        self.table = Table(ptr, ids, s_types[self.s_ids], t_types[self.t_ids])

    def matrices(self, pool: Pool, text: tuple[Side, Side], max_tokens: int = 1 << 62) -> LinkMatrices:
        """Return the link matrices of the part's text, or of some of its sentence pairs."""
        return LinkMatrices(*text, self.table, pool, CELLS, max_tokens)

    def values(self, what: str, *keys: str) -> list[np.ndarray]:
        """Return what all shards have for the part's entries."""
        return read_values(self.view_work, self.offsets, self.part, what, *keys)

    def of_words(self, source: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the places of the part's words in arrays over all words, and the last place, of unknown words."""
        return tuple(a[np.append(ids, len(a) - 1)] for a, ids in ((source, self.s_ids), (target, self.t_ids)))
