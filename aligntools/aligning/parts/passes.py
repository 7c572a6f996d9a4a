"""One iteration over a text in parts: shards sum and estimate (M-step), parts take expectations (E-step)."""

from collections.abc import Sequence

import numpy as np

from aligntools.aligning.models.base import Stage, ViewTask
from aligntools.aligning.models.lexical import (
    LexicalFields,
    Lexicon,
    LookAlikes,
    floors_of,
    inverse_totals,
    lexical_fields,
    strengths_of,
    table_values,
)
from aligntools.aligning.parts.given_pairs import of_shard
from aligntools.aligning.parts.table import PartTable, write_shard
from aligntools.aligning.parts.words import SIDES
from aligntools.aligning.parts.work import ViewWork
from aligntools.aligning.settings import DIRECTIONS
from aligntools.aligning.text.cooccurrence import Table, count_words, segment_sums, smoothed_shares
from aligntools.aligning.text.kernels_look_alikes import TIERS
from aligntools.aligning.text.views import ViewWords
from aligntools.aligning.training.expectation import Expectations
from aligntools.aligning.training.stages import begin, interpolate, step_text, steps_of
from aligntools.ground.parallel import Pool


def _steps(view_work: ViewWork, stage: str) -> int:
    """Return in how many steps a model's iterations go over the text once."""
    return steps_of(view_work.settings, int(view_work.sizes()[:, 1].sum()), stage)


def sum_shard(view_work: ViewWork, iteration: int, generation: int, stage: str, shard: int, pool: Pool) -> None:
    """Sum the counts of a shard's pairs over the parts, in their order; count how many look-alikes are links.

    Counts of a step are scaled up to the whole text, and mixed with those before it.
    """
    store = view_work.store
    name = view_work.name("sums", generation, iteration, shard)
    if store.has(name):
        return
    keys = [f"counts{d}" for d in range(view_work.arrays)]
    if iteration == 0:
        sums = store.read(view_work.name("shard", 0, shard), "counts") * view_work.arrays
    else:
        sums = over_parts(view_work, generation, shard, keys, "counted", iteration)
        if _steps(view_work, stage) > 1:
            table, v0, v1 = shard_table(view_work, generation, shard)
            seen, whole = store.read(view_work.name("seen", iteration), *SIDES), view_work.word_counts()
            seen[0], whole[0] = seen[0][v0:v1], whole[0][v0:v1]
            before = store.read(view_work.name("sums", generation, iteration - 1, shard), *keys)
            for old, counts in zip(before, sums, strict=True):
                interpolate(table, old, counts, seen, whole, pool)
    store.write(name, **_look_alike_sums(view_work, generation, shard, sums), **dict(zip(keys, sums, strict=True)))


def over_parts(
    view_work: ViewWork, generation: int, shard: int, keys: Sequence[str], what: str, *numbers: int
) -> list[np.ndarray]:
    """Sum what parts have of a shard's pairs over the parts, in their order: float32 [pairs of the shard] of each key.

    what, numbers: The name's beginning; the part's number follows.
    """
    from aligntools.aligning.parts import kernels_parts as kp

    store = view_work.store
    places, offsets = store.read(view_work.name("places", generation, shard), "places", "offsets")
    size = len(store.read(view_work.name("shard", generation, shard), "ids")[0])
    sums = [np.zeros(size, np.float32) for _ in keys]
    for part in range(view_work.parts):
        name = view_work.name(what, *numbers, part)
        begin, end = store.read_run(name, shard, shard + 2, "starts")[0].tolist()
        for total, values in zip(sums, store.read_run(name, begin, end, *keys), strict=True):
            kp.add_at(places[offsets[part] : offsets[part + 1]], values, total)
    return sums


def _look_alike_sums(
    view_work: ViewWork, generation: int, shard: int, sums: Sequence[np.ndarray]
) -> dict[str, np.ndarray]:
    """Return a shard's links of pairs that look alike, by direction and tier, and how many there can be."""
    looks = _look_alikes(view_work, generation, shard)
    if looks is None:
        return {"found": np.zeros((len(sums), TIERS)), "possible": np.zeros(TIERS)}
    return {"found": np.stack([looks.found(total) for total in sums]), "possible": looks.possible()}


def _look_alikes(view_work: ViewWork, generation: int, shard: int) -> LookAlikes | None:
    """Return a shard's pairs that look alike; None where they are not looked for."""
    settings = view_work.settings
    if not (settings.look_alike and settings.estimator == "vb"):
        return None
    table, v0, v1 = shard_table(view_work, generation, shard)
    s_keys, t_keys, s_counts, t_counts = view_work.store.read(
        view_work.name("vocabulary"), "source.keys", "target.keys", "source.counts", "target.counts"
    )
    return LookAlikes(table, s_keys[v0:v1], t_keys, s_counts[v0:v1], t_counts)


def shard_table(view_work: ViewWork, generation: int, shard: int) -> tuple[Table, int, int]:
    """Return a shard's rows as a table, and which source words they are of."""
    store = view_work.store
    v0, v1 = (int(v) for v in store.read(view_work.name("cuts"), "bounds")[0][shard : shard + 2])
    ptr, ids = store.read(view_work.name("shard", generation, shard), "ptr", "ids")
    s_types, t_types = store.read(view_work.name("layout", 0), "source.types", "target.types")
    return Table(ptr, ids, s_types[v0:v1], t_types), v0, v1


def prune_shard(view_work: ViewWork, iteration: int, generation: int, shard: int, pool: Pool) -> None:
    """Leave out a shard's pairs with very small counts: write the table's next generation, and its sums."""
    store, least = view_work.store, view_work.settings.prune
    name = view_work.name("sums", generation + 1, iteration, shard)
    if store.has(name):
        return
    sums = store.read_all(view_work.name("sums", generation, iteration, shard))
    keys = [f"counts{d}" for d in range(view_work.arrays)]
    stays = np.max([sums[key] for key in keys], axis=0) >= least
    given = of_shard(view_work, *shard_table(view_work, generation, shard)[:2])
    if given is not None:
        stays |= given > 0
    ptr, ids = store.read(view_work.name("shard", generation, shard), "ptr", "ids")
    places, starts = store.read(view_work.name("places", generation, shard), "places", "offsets")
    moved = np.where(stays, np.cumsum(stays) - 1, -1).astype(np.int32)
    new_ptr = np.concatenate([[0], np.cumsum(segment_sums(stays, ptr).astype(np.int64))])
    write_shard(view_work, generation + 1, shard, new_ptr, ids[stays], moved[places], starts)
    kept = {key: sums[key][stays] for key in keys}
    store.write(name, **kept, **_look_alike_sums(view_work, generation + 1, shard, list(kept.values())))


def strengths(view_work: ViewWork, iteration: int, generation: int) -> np.ndarray:
    """Return the priors of look-alikes, estimated from the whole text, float64 [directions, TIERS]."""
    found, possible = np.zeros((view_work.arrays, TIERS)), np.zeros(TIERS)
    for shard in range(view_work.shards()):
        one, other = view_work.store.read(view_work.name("sums", generation, iteration, shard), "found", "possible")
        found, possible = found + one, possible + other
    return strengths_of(found, possible)


def estimate_shard(view_work: ViewWork, iteration: int, generation: int, last: bool, shard: int, pool: Pool) -> None:
    """Estimate a shard's values, and write them part by part; for the sampler the counts and priors too (``last``)."""
    store, settings = view_work.store, view_work.settings
    name = view_work.name("values", iteration, shard)
    if store.has(name):
        return
    variational = settings.estimator == "vb"
    keys = [f"counts{d}" for d in range(view_work.arrays)]
    counts = store.read(view_work.name("sums", generation, iteration, shard), *keys)
    table, first, _ = shard_table(view_work, generation, shard)
    (columns,) = store.read(view_work.name("shard", generation, shard), "columns")
    looks = _look_alikes(view_work, generation, shard)
    extra = np.zeros(len(table.ids), np.float32)
    if looks is not None:
        by_direction = strengths(view_work, iteration, generation)
        for one, strength in zip(counts, by_direction, strict=True):
            one[looks.entries] += strength[looks.tiers].astype(np.float32)
        extra[looks.entries] = by_direction[-1][looks.tiers]
    given = of_shard(view_work, table, first)
    if given is not None:  # after the look-alikes, whose share is that of the text's own links
        extra += given
        for one in counts:
            one += given
    (places,) = store.read(view_work.name("places", generation, shard), "places")
    arrays = {"row_sums": table.row_sums(counts[0]), "column_sums": _column_sums(table, counts[-1], columns)}
    for d, one in enumerate(counts):
        arrays[f"values{d}"] = table_values(one, settings.alpha, variational, pool)[places]
    if last:
        arrays |= {f"counts{d}": one[places] for d, one in enumerate(counts)}
        arrays |= {"extra": extra[places], "extra_rows": table.row_sums(extra)}
        arrays["extra_columns"] = _column_sums(table, extra, columns)
        arrays |= {f"whole{d}": one for d, one in enumerate(counts)}
    store.write(name, **arrays)


def _column_sums(table: Table, values: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Sum by target word, for the words that occur."""
    return np.bincount(np.searchsorted(columns, table.ids), values, len(columns))


def by_words(view_work: ViewWork, generation: int, what: str, rows: str, columns: str) -> tuple[np.ndarray, np.ndarray]:
    """Return what shards have summed by source word, and by target word over all shards, float64."""
    store = view_work.store
    source, target = [], np.zeros(len(store.read(view_work.name("vocabulary"), "target.counts")[0]))
    for shard in range(view_work.shards()):
        row_sums, column_sums = store.read(f"{what}.{shard:06d}", rows, columns)
        (ids,) = store.read(view_work.name("shard", generation, shard), "columns")
        source.append(row_sums)
        target[ids] += column_sums
    return np.concatenate(source), target


def gather_estimate(view_work: ViewWork, iteration: int, generation: int) -> None:
    """Keep the normalizers of all words, and the floors of pairs that the table does not have."""
    done, store, settings = view_work.name("estimate", iteration), view_work.store, view_work.settings
    if store.has(done):
        return
    variational = settings.estimator == "vb"
    s_sums, t_sums = by_words(view_work, generation, view_work.name("values", iteration), "row_sums", "column_sums")
    s_types, t_types = store.read(view_work.name("layout", 0), "source.types", "target.types")
    tiers = (
        np.max(strengths(view_work, iteration, generation), axis=0)
        if settings.look_alike and variational
        else np.zeros(TIERS)
    )
    store.write(
        done,
        s_inverse=inverse_totals(s_sums, s_types, settings.alpha, variational),
        t_inverse=inverse_totals(t_sums, t_types, settings.alpha, variational),
        floors=floors_of(tiers, settings.alpha, variational),
        tiers=tiers,
    )


def lexicon_of(part_table: PartTable, iteration: int) -> Lexicon:
    """Return a part's share of the lexical tables."""
    view_work = part_table.view_work
    keys = [f"values{d}" for d in range(view_work.arrays)]
    values = part_table.values(view_work.name("values", iteration), *keys)
    s_inverse, t_inverse, floors = view_work.store.read(
        view_work.name("estimate", iteration), "s_inverse", "t_inverse", "floors"
    )
    inverses = part_table.of_words(s_inverse, t_inverse)
    return Lexicon(values[0], values[-1], *inverses, float(floors[0]), floors)


def null_words(part_table: PartTable) -> tuple[np.ndarray, np.ndarray]:
    """Return the probability of each of a part's words under NULL: its share of the whole text."""
    counts = part_table.view_work.word_counts()
    return part_table.of_words(*(smoothed_shares(np.append(c, 0.0)) for c in counts))


def stage_before(view_work: ViewWork, iteration: int, kind: str) -> Stage:
    """Return a model's stage with the parameters that an iteration begins with."""
    stage = begin(ViewTask(view_work.settings))[kind]
    name = view_work.name("expected", iteration - 1)
    return stage.restore(view_work.store.read_all(name)) if view_work.store.has(name) else stage


def last_stage(view_work: ViewWork, last: int) -> Stage:
    """Return the stage of the model that is trained as the last iteration left it."""
    return stage_before(view_work, last + 1, view_work.settings.model_type)


def expect_part(view_work: ViewWork, iteration: int, generation: int, stage: str, part: int, pool: Pool) -> None:
    """Take a part's expected counts, with the values of the iteration before."""
    store, settings = view_work.store, view_work.settings
    name = view_work.name("counted", iteration, part)
    if store.has(name):
        return
    part_table = PartTable(view_work, generation, part)
    lexicon = lexicon_of(part_table, iteration - 1)
    counts = [np.zeros(len(part_table.table.ids), np.float32) for _ in range(view_work.arrays)]
    of, first = _steps(view_work, stage), int(view_work.sizes()[:part, 0].sum())
    text = step_text(part_table.source, part_table.target, of, iteration, first)
    steps = Expectations(
        part_table.matrices(pool, text),
        pool,
        DIRECTIONS[settings.direction],
        settings.agreement,
        *null_words(part_table),
        np.full(2, settings.null_prior, np.float32),
    )
    steps.n_tokens = int(view_work.sizes()[:, 1].sum()) // of
    loglik, counted = stage_before(view_work, iteration, stage).expect(steps, lexicon, counts)
    sizes = part_table.offsets[part + 1] - part_table.offsets[part]
    words = zip(SIDES, text, (part_table.s_ids, part_table.t_ids), strict=True)
    store.write(
        name,
        loglik=loglik * of,
        counted=np.zeros(0) if counted is None else np.asarray(counted),
        starts=np.concatenate([[0], np.cumsum(sizes)]),
        **{f"counts{d}": one for d, one in enumerate(counts)},
        **{side: count_words(own.tokens, len(ids))[: len(ids)] for side, own, ids in words if of > 1},
    )


def gather_expected(view_work: ViewWork, iteration: int, stage: str) -> np.ndarray:
    """Keep the parameters that come of an iteration; return its log-likelihoods."""
    done, store = view_work.name("expected", iteration), view_work.store
    if store.has(done):
        return store.read(done, "loglik")[0]
    loglik, counted = np.zeros(2), np.zeros(())
    for part in range(view_work.parts):
        one, found = store.read(view_work.name("counted", iteration, part), "loglik", "counted")
        loglik += one
        counted = counted + found
    if _steps(view_work, stage) > 1:
        store.write(view_work.name("seen", iteration), **_seen_words(view_work, iteration))
    made = stage_before(view_work, iteration, stage)
    made.maximize(counted)
    store.write(done, loglik=loglik, **made.parameters())
    return loglik


def _seen_words(view_work: ViewWork, iteration: int) -> dict[str, np.ndarray]:
    """Return how often each word of either side occurs in a step's sentences."""
    store = view_work.store
    seen = {side: np.zeros(len(counts)) for side, counts in zip(SIDES, view_work.word_counts(), strict=True)}
    for part in range(view_work.parts):
        found = store.read(view_work.name("counted", iteration, part), *SIDES)
        ids = store.read(view_work.name("ids", part), *(f"{side}.ids" for side in SIDES))
        for side, own, counts in zip(SIDES, ids, found, strict=True):
            seen[side][own] += counts
    return seen


def part_fields(part_table: PartTable, last: int) -> LexicalFields:
    """Return what a part's share of the trained model has of words, without its counts.

    Words have their numbers and look-alike keys; their names are not needed.
    """
    view_work, store = part_table.view_work, part_table.view_work.store
    maps = store.read(view_work.name("ids", part_table.part), *(f"{side}.map" for side in SIDES))
    keys = store.read(view_work.name("vocabulary"), *(f"{side}.keys" for side in SIDES))
    ids = part_table.s_ids, part_table.t_ids
    own = [key[np.append(i, len(key) - 1)] for key, i in zip(keys, ids, strict=True)]
    names: list[list[str]] = [[""] * len(i) for i in ids]
    with_unknown = [np.append(m, np.int32(len(i))) for m, i in zip(maps, ids, strict=True)]
    words = ViewWords(view_work.letters, names[0], names[1], with_unknown[0], with_unknown[1], own[0], own[1], True)
    (tiers,) = store.read(view_work.name("estimate", last), "tiers")
    lexicon, p_null = lexicon_of(part_table, last), np.full(2, view_work.settings.null_prior, np.float32)
    return lexical_fields(words, part_table.table, lexicon, [], tiers, *null_words(part_table), p_null)
