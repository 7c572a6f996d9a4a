"""A map over blocks through an engine: order, bounds, what is kept, what is wrong, and workers that end."""

import contextlib
import os
from functools import partial

import numpy as np
import pytest

from aligntools.ground import engines
from aligntools.ground.engines import Serial
from aligntools.ground.errors import DataError, ModelError
from aligntools.ground.parallel import Pool
from aligntools.ground.processes import Processes
from aligntools.store import job_engines
from aligntools.store.job_engines import BlockMap
from aligntools.store.stores import Store, read_object, write_object
from tests.store import block_jobs as jobs


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
    found = mapped.run("twice", partial(jobs.dies_once, begun), jobs.blocks(9, size=2))
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
