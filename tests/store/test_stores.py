"""Named arrays in a folder."""

import os
import pickle

import numpy as np
import pytest

from aligntools.ground.errors import DataError, ModelError
from aligntools.store import stores, tensors
from aligntools.store.stores import Store, held


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
