"""Keys of any length, sorted and merged, in memory and on disk."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from aligntools.ground.errors import DataError
from aligntools.store import sorting

part = st.lists(st.integers(1, 3), max_size=4)
keys = st.tuples(part, part, part)


def packed(records):
    """Return keys and where they begin, with one more element at the end."""
    pool, starts = [], []
    for parts in records:
        starts.append(len(pool))
        for codes in parts:
            pool += [*codes, 0]
    return np.array([*pool, 0], np.int32), np.array(starts, np.int64), len(pool)


def unpacked(pool, starts):
    """Return keys as tuples of lists."""
    found = []
    for at in starts.tolist():
        parts = [[]]
        while len(parts) < 4:
            if pool[at]:
                parts[-1].append(int(pool[at]))
            else:
                parts.append([])
            at += 1
        found.append(tuple(parts[:3]))
    return found


def run(records):
    """Return a sorted run of ``{key: weight}``."""
    pool, starts, size = packed(records)
    weights = np.array([[w, 1] for w in records.values()], np.int64).reshape(-1, 2)
    return sorting.sorted_run(pool, starts, weights, size)


many = st.dictionaries(keys.map(lambda k: tuple(map(tuple, k))), st.integers(0, 9), max_size=40)


@given(many)
def test_a_run_is_sorted(records):
    pool, starts, weights = run(records)
    found = unpacked(pool, starts[:-1])
    assert found == sorted(found)
    assert {tuple(map(tuple, k)): w for k, w in zip(found, weights[:, 0].tolist(), strict=True)} == records


def test_long_keys_and_folders(tmp_path):
    rng = np.random.default_rng(1)
    records = {
        tuple(tuple(row[a:b]) for a, b in ((0, 9), (9, 12), (12, 14))): 1
        for row in rng.integers(1, 3, (5000, 14)).tolist()
    }
    pool, starts, _ = run(records)
    assert unpacked(pool, starts[:-1]) == sorted(tuple(map(list, key)) for key in records)
    with sorting.Spool(0, str(tmp_path / "none")) as spool, pytest.raises(DataError, match="tmpdir"):
        spool.add((np.arange(3),))


@given(st.lists(many, min_size=1, max_size=5), st.integers(1, 6))
def test_runs_are_merged_shard_by_shard(parts, shards):
    runs = [run(records) for records in parts]
    cuts = sorting.cuts(runs, shards)
    assert cuts[0].tolist() == [0] * len(runs)
    found, firsts = [], []
    for k in range(shards):
        pool, starts, sums = sorting.merged(runs, cuts[k], cuts[k + 1])
        rows = unpacked(pool, starts)
        found += list(zip(rows, map(tuple, sums.tolist()), strict=True))
        firsts.append({tuple(row[0]) for row in rows})
    expected = {}
    for records in parts:
        for key, weight in records.items():
            before = expected.get(key, (0, 0))
            expected[key] = before[0] + weight, before[1] + 1
    assert found == [(tuple(map(list, key)), expected[key]) for key in sorted(expected)]
    assert sum(map(len, firsts)) == len(set().union(*firsts))  # no first part is in two shards


def test_a_spool_goes_to_disk_past_its_budget(tmp_path):
    with sorting.Spool(100, str(tmp_path)) as spool:
        arrays = [(np.arange(n), np.ones((n, 2), np.int32)) for n in (3, 4000, 2, 0)]
        assert [spool.add(group) for group in arrays] == [0, 1, 2, 3]
        assert spool.on_disk == 1
        assert list(tmp_path.iterdir()) == []  # a name would be left behind by kill -9
        for lazily in (False, True):
            for k, group in enumerate(arrays):
                for a, b in zip(spool.get(k, lazily), group, strict=True):
                    assert (len(a), a.nbytes) == (len(b), b.nbytes)
                    np.testing.assert_array_equal(a[:], b)
                    np.testing.assert_array_equal(a[1:-1], b[1:-1])
        assert [spool.get(1, True)[0][k] for k in (0, 3999)] == [0, 3999]
