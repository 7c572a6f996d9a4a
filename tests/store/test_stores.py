"""Named arrays in a folder."""

import contextlib
import gc
import json
import os
import pickle
from functools import partial

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as arrays_of
from safetensors.numpy import load_file, save

from aligntools.formats.text.numbered_text import stream_numbered
from aligntools.ground import engines
from aligntools.ground.engines import Serial
from aligntools.ground.errors import DataError, ModelError, ResourceError
from aligntools.ground.parallel import Pool
from aligntools.ground.processes import Processes
from aligntools.store import job_engines, sorting, stores, tensors
from aligntools.store.job_engines import BlockMap
from aligntools.store.sorting import ArrayStore
from aligntools.store.stores import Store, held, read_object, write_object
from aligntools.words.vocabulary import CompiledLexicon
from tests.ground import jobs


@pytest.fixture
def store(tmp_path):
    return Store(str(tmp_path))


def test_arrays_of_a_store(store):
    arrays = {"a": np.arange(10, dtype=np.int32), "b": np.zeros((2, 3)), "c": np.array([True, False])}
    store.write("one.000001", {"x": 1.5, "y": ["z"]}, **arrays)
    assert store.has("one.000001")
    assert not store.has("one")
    assert store.about("one.000001") == {"x": 1.5, "y": ["z"]}
    found = store.read_all("one.000001")
    assert {k: (a.dtype, a.tolist()) for k, a in found.items()} == {k: (a.dtype, a.tolist()) for k, a in arrays.items()}
    assert [a.tolist() for a in store.read("one.000001", "c", "a")] == [[True, False], list(range(10))]
    for name in ("v0.a.000001", "v0.a.000000", "v0.b"):
        store.write(name, a=np.arange(3))
    assert store.names("v0.a.*") == ["v0.a.000000", "v0.a.000001"]
    store.remove("one.000001", "v0.b", "never there")
    assert store.names("*") == ["v0.a.000000", "v0.a.000001"]
    (left := os.path.join(store.folder, ".v0.a.000002.arrays.1@host.00000000.part"))
    open(left, "w").close()
    store.clear()
    assert os.listdir(store.folder) == []
    before = store.written_bytes
    store.write("one", a=np.arange(3))
    other = pickle.loads(pickle.dumps(store))
    assert (other.folder, other.read_bytes, store.written_bytes) == (store.folder, 0, before + 24)
    with pytest.raises(ModelError, match=r"two\.arrays: "):
        store.read("two", "a")
    store.write("one", a=np.arange(1000))
    with open(store.path("one"), "r+b") as file:
        file.truncate(300)
    with pytest.raises(ModelError, match=r"one\.arrays: .*begin anew"):
        store.read_all("one")


@pytest.mark.parametrize(("begin", "end"), [(0, 10), (3, 7), (4, 4), (0, 0), (10, 10)])
def test_runs_are_read(store, begin, end):
    store.write("one", a=np.arange(10), b=np.arange(10, dtype=np.float32) / 2, none=np.zeros(0, np.int32))
    a, b = store.read_run("one", begin, end, "a", "b")
    assert a.tolist() == list(range(begin, end))
    assert (b * 2).tolist() == a.tolist()
    assert b.dtype == np.float32
    (none,) = store.read_run("one", 0, 0, "none")
    assert (none.dtype, len(none)) == (np.int32, 0)


def test_a_full_disk_is_said(store, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tensors, "write", full)
    with pytest.raises(DataError, match=r"cannot be written: No space left on device \(see tmpdir"):
        store.write("one", a=np.arange(3))
    assert os.listdir(store.folder) == []


def test_locks_of_a_folder(tmp_path):
    folder = str(tmp_path / "new")
    with held(folder), pytest.raises(DataError, match="another run works in this folder"), held(folder):
        pass
    with held(folder):
        pass
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be made or written"), held(str(tmp_path / "file" / "below")):
        pass
    folder = str(tmp_path / "new")
    with pytest.raises(ValueError, match="not done"), held(folder, ends=True):
        raise ValueError("not done")
    assert os.listdir(folder) == ["lock"]
    with held(folder, ends=True), pytest.raises(DataError, match="another run works in this folder"), held(folder):
        pass
    assert os.listdir(folder) == []


def test_a_lock_that_was_taken_away_meanwhile_holds_nothing(tmp_path, monkeypatch):
    """Between opening the file and locking it, the run that held it has ended."""
    folder, lock, opened = str(tmp_path), stores.system.lock, []

    def late(handle):
        if not opened:
            os.unlink(tmp_path / "lock")
        opened.append(handle)
        lock(handle)

    monkeypatch.setattr(stores.system, "lock", late)
    with held(folder):
        assert len(opened) == 2
        with pytest.raises(DataError, match="another run works in this folder"), held(folder):
            pass


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


@pytest.fixture(scope="module")
def two():
    engine = Processes(2)
    yield engine
    engine.close()


@pytest.fixture(params=["serial", "two"])
def mapped(request, tmp_path):
    engine = Serial(Pool(1)) if request.param == "serial" else request.getfixturevalue("two")
    return BlockMap(engine, Store(str(tmp_path)))


def test_results_come_in_order_and_nothing_is_left(mapped, tmp_path, monkeypatch):
    monkeypatch.setattr(job_engines, "WINDOW", 4)
    monkeypatch.setattr(job_engines, "EACH", 2)
    for count in (0, 1, 2, 11):
        if count < 11:
            assert [int(x[0]) for x in mapped.run("twice", jobs.doubled, jobs.blocks(count))] == [0, 2][:count]
        else:
            found = mapped.run("twice", partial(jobs.scaled, mapped.keep({"by": np.int64(3)})), jobs.blocks(count))
            assert [int(x[0]) for x, _ in found] == [3 * k for k in range(count)]
    assert [name for name in os.listdir(tmp_path) if not name.startswith("kept.")] == []


def test_order_of_results(mapped):
    taken = []
    results = mapped.run("twice", jobs.doubled, jobs.blocks(1000, taken))
    next(results)
    assert len(taken) <= 2
    for _ in range(100):
        next(results)
    assert len(taken) <= 101 + 64
    for blocks, how_many, found in ((jobs.blocks(40), 13, "text:13: found 13"), (jobs.wrong_after(6), 6, "text:7: ")):
        results = []
        with pytest.raises(DataError, match=found):
            results.extend(mapped.run("twice", jobs.wary, blocks))
        assert len(results) == how_many


def test_a_worker_that_is_killed_is_replaced(tmp_path, two):
    begun = str(tmp_path / "begun")
    (tmp_path / "store").mkdir()
    mapped = BlockMap(two, Store(str(tmp_path / "store")))
    found = mapped.run("twice", partial(jobs.ends_once, begun), jobs.blocks(9, size=2))
    assert [x.tolist() for x in found] == [[2 * k, 2 * k + 2] for k in range(9)]
    assert os.path.exists(begun)


def test_the_same_on_a_cluster(tmp_path):
    distributed = pytest.importorskip("distributed")
    from aligntools.ground.cluster import Cluster

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 60}
    with (
        distributed.LocalCluster(processes=False, **options) as running,
        contextlib.closing(Cluster(running.scheduler_address)) as engine,
    ):
        mapped = BlockMap(engine, Store(str(tmp_path)))
        factor = mapped.keep({"by": np.int64(3)})
        found = mapped.run("thrice", partial(jobs.scaled, factor), jobs.blocks(20))
        assert [int(x[0]) for x, _ in found] == [3 * k for k in range(20)]
        assert (str(tmp_path), factor.name) in engines._things
    assert not engines._things  # workers let go of what a run has kept


# Objects


def test_objects_come_back_with_their_arrays(tmp_path):
    store = Store(str(tmp_path))
    order = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    frozen = np.arange(3)
    frozen.flags.writeable = False
    thing = {
        "odd": np.arange(3, dtype=np.uint8), "floats": np.arange(5.0), "words": ["ä", b"\xff"], "order": order,
        "none": np.empty((0, 2), np.int32), "some": np.arange(10)[::3], "frozen": frozen,
    }  # fmt: skip
    write_object(store, "thing", thing)
    for shared in (False, True):
        found = read_object(store, "thing", shared)
        assert list(found) == list(thing)
        assert found["words"] == thing["words"]
        for name, array in thing.items():
            if name != "words":
                np.testing.assert_array_equal(found[name], array)
                assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
                assert found[name].flags.aligned
                assert found[name].flags.writeable == array.flags.writeable
        assert found["order"].flags.f_contiguous
        found["floats"][0] = 7  # nobody else sees it
    assert read_object(store, "thing", shared=True)["floats"][0] == 0


def test_damaged_objects_and_what_is_made_once(tmp_path):
    store = Store(str(tmp_path))
    with pytest.raises(ModelError, match="cannot be read: No such file"):
        read_object(store, "thing")
    write_object(store, "thing", list(range(1000)))
    whole = (tmp_path / "thing.arrays").read_bytes()
    for damaged in (b"", whole[:4], whole[:40], whole[:-500], whole[:-9] + b"x" * 9):
        (tmp_path / "thing.arrays").write_bytes(damaged)
        for shared in (False, True):
            with pytest.raises(ModelError, match=r"thing\.arrays: is damaged"):
                read_object(store, "thing", shared)
    engines.forget()
    made = []

    def make(number):
        made.append(number)
        return number

    for number in [*range(engines.MOST), 0, engines.MOST, 0, 1]:
        assert engines.kept(("test", number), partial(make, number)) == number
    assert made == [*range(engines.MOST), engines.MOST, 1]
    engines.forget()


def test_bounds_and_folders(tmp_path):
    store = ArrayStore(1000, str(tmp_path))
    first = store.empty((10, 10))
    assert store.spilled == 0
    second = store.empty((200, 3))
    assert store.spilled == 2400
    for array in (first, second):
        array[:] = np.arange(array.size, dtype=np.uint32).reshape(array.shape)
        assert type(array) is np.ndarray
    assert second[199].tolist() == [597, 598, 599]
    assert list(tmp_path.iterdir()) == []
    assert store.empty((0, 3)).shape == (0, 3)
    store = ArrayStore(1000, str(tmp_path))
    part = store.empty((200,))[:3]
    store.empty((100,))  # 800 and 400 bytes do not fit
    assert store.spilled == 400
    del part
    gc.collect()
    store.empty((100,))
    assert store.spilled == 400
    with pytest.raises(ResourceError, match="tmpdir"):
        ArrayStore(0, str(tmp_path / "none")).empty((10,))
    with pytest.raises(ResourceError, match="no room"):
        ArrayStore(0, str(tmp_path)).empty((1 << 50,))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("block", [1 << 22, 3])
def test_numbered_text(tmp_path, block):
    (tmp_path / "t").write_bytes(b"\xef\xbb\xbfa  b\tA\r\n\n c\xc2\xa0d a")
    lexicon = CompiledLexicon([b"z"])
    sides = list(stream_numbered(str(tmp_path / "t"), lexicon, block=block))
    assert np.concatenate([s.tokens for s in sides]).tolist() == [2, 3, 4, 5, 2]
    assert np.concatenate([s.lengths() for s in sides]).tolist() == [3, 0, 2]
    assert lexicon.words(1) == [b"z", b"a", b"b", b"A", "c\u00a0d".encode()]
    folded = CompiledLexicon()
    sides = list(stream_numbered(str(tmp_path / "t"), folded, lowercase=True, block=block))
    assert np.concatenate([s.tokens for s in sides]).tolist() == [1, 2, 1, 3, 1]


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("block", [1 << 22, 3])
def test_bytes_that_are_not_utf8(tmp_path, lowercase, block):
    (tmp_path / "t").write_bytes(b"a\nb\n\nc \xc3 d\ne\xff\n")
    with pytest.raises(DataError, match="not UTF-8") as error:
        list(stream_numbered(str(tmp_path / "t"), CompiledLexicon(), lowercase=lowercase, block=block))
    assert error.value.line == 4


ARRAYS = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    st.sampled_from(sorted(tensors.TYPES)).flatmap(
        lambda kind: arrays_of.arrays(tensors.TYPES[kind], arrays_of.array_shapes(min_dims=0, min_side=0, max_side=3))
    ),
    min_size=1,  # safetensors 0.4.0 writes no JSON where there are none
)


def test_small_files_and_full_disks(tmp_path):
    blocks = b"".join(bytes(block) for block in tensors.blocks({}, {"about": ""}))
    assert json.loads(blocks[8:]) == {"__metadata__": {"about": ""}}
    assert int.from_bytes(blocks[:8], "little") == len(blocks) - 8
    path = tmp_path / "part"
    path.write_bytes(b"longer than what comes" * 100)
    inode = os.stat(path).st_ino
    a = np.arange(12, dtype=np.float32).reshape(3, 4).T
    tensors.write(str(path), {"a": a}, {})
    assert (os.stat(path).st_ino, os.listdir(tmp_path)) == (inode, ["part"])
    np.testing.assert_array_equal(load_file(path)["a"], a)
    with pytest.raises(OSError, match="No space left on device"):
        tensors.write("/dev/full", {"a": np.zeros(3)}, {})


@given(ARRAYS, st.text(st.characters(exclude_categories=["Cs"])))
def test_the_bytes_are_the_librarys(arrays, about):
    ours = b"".join(bytes(block) for block in tensors.blocks(arrays, {"about": about}))
    assert ours == save(arrays, {"about": about})
