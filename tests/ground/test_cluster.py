"""Jobs on a Dask cluster: what Dask itself does is Dask's to test; here what is made of it."""

import contextlib
import gc
import json
import sys
import threading
import time
import types

import pytest

from aligntools.ground import cluster as module
from aligntools.ground import memory
from aligntools.ground.cluster import Cluster
from aligntools.ground.errors import AligntoolsError, ClusterError, DataError, ResourceError, UsageProblem
from tests.ground import jobs
from tests.ground.test_engines import workers_of, written

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
#: A worker, as what it is asked sees it.
THERE = types.SimpleNamespace(address="tcp://there:1")


@contextlib.contextmanager
def local(processes=False, workers=2):
    options = {"n_workers": workers, "threads_per_worker": 2, "dashboard_address": ":0", "silence_logs": 60}
    with distributed.LocalCluster(processes=processes, **options) as found:
        yield found


@pytest.fixture(scope="module")
def running():
    with local() as found:
        yield found


@pytest.fixture(scope="module")
def engine(running):
    engine = Cluster(running.scheduler_address)
    yield engine
    engine.close()


def test_files_and_stages(tmp_path, engine, running):
    done = []
    engine.run("squares, all", jobs.square, [(str(tmp_path), k) for k in range(20)], lambda: done.append(1))
    assert written(tmp_path) == {str(k): str(k * k) for k in range(20)}
    assert len(done) == 20
    assert engine.workers == 2
    engine.run("nothing", jobs.square, [], lambda: None)
    engine.run("EM 1/3", jobs.square, [(str(tmp_path), k) for k in range(3)], lambda: None)
    assert "EM_1_3" in {prefix for prefix in running.scheduler.task_prefixes}


def test_a_job_has_a_whole_worker(tmp_path, engine, running, monkeypatch):
    """A worker keeps its own bound on memory; one that is a thread of the leading process leaves that one's."""
    seen = str(tmp_path / "seen")
    before = memory.limit()
    engine.run("looking", jobs.surroundings, [seen], lambda: None)
    assert (tmp_path / "seen").read_text().split("\n")[1] == str(before)
    with monkeypatch.context() as patched:
        patched.setattr(module, "_leads", threading.Event())
        engine.run("looking", jobs.surroundings, [seen], lambda: None)
    threads, limit, *_ = (tmp_path / "seen").read_text().split("\n")
    assert threads == "2"
    assert int(limit) == int(0.75 * running.workers[0].memory_manager.memory_limit)
    assert memory.limit() == before
    engine.run("together", jobs.alone, [str(tmp_path)] * 6, lambda: None)  # fails where two are


def test_the_first_error_in_order_arrives_as_it_is(tmp_path, engine, capfd):
    with pytest.raises(DataError, match=r"text:1: found x; expected y") as caught:
        engine.run("failing", jobs.fails, [(str(tmp_path), k, "data") for k in range(12)], lambda: None)
    assert (caught.value.path, caught.value.line) == (f"{tmp_path}/text", 1)
    assert "in fails" in caught.value.__notes__[0]
    with pytest.raises(OSError, match="No space left") as caught:
        engine.run("failing", jobs.fails, [(str(tmp_path), k, "disk") for k in range(3)], lambda: None)
    assert (caught.value.errno, caught.value.filename) == (28, "part-1")
    with pytest.raises(RuntimeError, match="ValueError"):  # what cannot be sent itself
        engine.run("failing", jobs.fails, [(str(tmp_path), k, "other") for k in range(3)], lambda: None)
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_workers_that_end(tmp_path, capfd):
    with local(processes=True) as found:
        engine = Cluster(found.scheduler_address)
        engine.run("dying", jobs.dies, [(str(tmp_path), k, False) for k in range(6)], lambda: None)
        assert written(tmp_path) == {str(k): str(k * k) for k in range(6)}
        assert len(workers_of(tmp_path)) >= 2
        with pytest.raises(
            ResourceError, match=r"job 3 of 4: 3 workers ended .* at tcp://.* little memory: give workers more"
        ):
            engine.run("dying", jobs.dies, [(str(tmp_path), k, True) for k in range(4)], lambda: None)
        engine.close()
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow  # the scheduler's own time to give up its workers
def test_a_scheduler_that_is_lost(capfd, monkeypatch):
    monkeypatch.setattr(module, "CONNECT", 5.0)
    # what is closed at the end would wait half a minute for the scheduler
    with dask.config.set({"distributed.comm.timeouts.connect": "2s"}), local() as found:
        engine = Cluster(found.scheduler_address)
        lost = threading.Timer(0.3, found.sync, [found.scheduler.close])
        lost.start()
        with pytest.raises(ClusterError, match=r"scheduler at inproc://.* is lost.*: give the same command again"):
            engine.run("sleeping", jobs.sleeps, [5] * 4, lambda: None)
        engine.close()
        lost.join()
    assert capfd.readouterr() == ("", "")


def test_a_connection_that_breaks(tmp_path, engine, capfd):
    broken = threading.Timer(0.1, engine._client.loop.add_callback, [engine._client.scheduler_comm.comm.abort])
    broken.start()
    done = []
    engine.run("sleeping", jobs.sleeps, [0.2] * 4, lambda: done.append(1))
    assert len(done) == 4
    assert capfd.readouterr() == ("", "")


def test_folders_that_workers_do_not_see(tmp_path, engine, monkeypatch):
    engine.check_folder(tmp_path)
    assert list(tmp_path.iterdir()) == []
    for folder, problem in (
        (tmp_path / "none", "is not there"), (tmp_path, "is another folder there"),
        (tmp_path, "cannot be read and written (Is a directory)"),
    ):  # fmt: skip
        with pytest.raises(DataError) as caught:
            module._check_folder(str(folder), "token", "tmpdir", THERE)
        assert f"{folder}: {problem}" in str(caught.value)
        assert "for the worker tcp://there:1 (give tmpdir a folder that all workers see)" in str(caught.value)
        if "another" in problem:
            (tmp_path / "token").mkdir()
    monkeypatch.setattr(module, "_check_folder", jobs.sees_nothing)
    with pytest.raises(DataError, match=r"is not there for the worker inproc://.* \(give tmpdir"):
        engine.check_folder(tmp_path)


def test_files_that_workers_do_not_see(tmp_path, engine):
    path = tmp_path / "text"
    path.write_text("one\n")
    engine.check_files([path, str(path)])
    module._check_files([(str(path), 4)], THERE)
    with pytest.raises(
        DataError, match=r"text: is another file there \(4 bytes, here 5\) for the worker tcp://there:1 "
    ):
        module._check_files([(str(path), 5)], THERE)
    with pytest.raises(DataError, match=r"texts: cannot be read \(No such file or directory\) for the worker tcp://t"):
        module._check_files([(f"{path}s", 5)], THERE)
    with pytest.raises(FileNotFoundError):
        engine.check_files([f"{path}s"])


@pytest.mark.parametrize("name", ["python", "numpy", "numba", "distributed", "aligntools", "ALIGNTOOLS_PORTABLE"])
def test_versions_have_to_be_the_same(engine, monkeypatch, name):
    here = module._versions()
    with pytest.raises(ClusterError) as caught:
        module._check_versions(here | {name: "0.1"}, THERE)
    assert f"{name} is 0.1 here and {here[name]} at the worker tcp://there:1" in str(caught.value)
    asked = engine._client.run
    monkeypatch.setattr(engine._client, "run", lambda f, versions, **how: asked(f, versions | {name: "0.1"}, **how))
    with pytest.raises(ClusterError, match=f"{name} is 0.1 here and .* at the worker inproc://"):
        engine._check_versions(engine._known)


def test_different_cpus_are_said(engine, monkeypatch, caplog):
    def answers(cpus):
        monkeypatch.setattr(engine, "_cpus", {})
        monkeypatch.setattr(engine, "_ask", lambda *_: cpus)
        engine._check_versions(cpus)

    answers({"tcp://a:1": "old", "tcp://c:1": "old"})
    assert not caplog.text
    answers({"tcp://a:1": "old", "tcp://b:1": "new"})
    assert "different CPUs (old at tcp://a:1, new at tcp://b:1)" in caplog.text
    caplog.clear()
    engine._check_versions(["tcp://a:1"])
    assert not caplog.text, "once is enough"
    monkeypatch.setenv("ALIGNTOOLS_PORTABLE", "1")
    answers({"tcp://a:1": "old", "tcp://b:1": "new"})
    assert not caplog.text


def test_what_workers_raise_is_told(engine):
    for function, message in (
        (jobs.sees_nothing, "is not there for the worker"),
        (jobs.lacks, "has no aligntools that can be used: none here"),
        (jobs.fails_at_once, "cannot do the work: so it is"),
    ):  # fmt: skip
        with pytest.raises(AligntoolsError, match=message):
            engine._ask(engine._known, function, "folder", "token", "`tmpdir`")


def test_workers_that_come_later(tmp_path, caplog, capfd):
    with local(workers=1) as found:
        engine = Cluster(found.scheduler_address)
        engine.check_folder(tmp_path)
        found.scale(2)
        found.sync(found._correct_state)
        engine.run("sleeping", jobs.sleeps, [0.3] * 4, lambda: None)
        assert engine.workers == 2
        found.scale(1)
        found.sync(found._correct_state)
        check = engine._checks[0]

        def refuse(workers):
            check(workers)
            raise ClusterError("not this one")

        engine._checks[0] = refuse
        found.scale(3)
        found.sync(found._correct_state)
        done = []
        engine.run("sleeping", jobs.sleeps, [0.1] * 4, lambda: done.append(1))
        assert len(done) == 4
        assert caplog.text.count("joined and is not used: not this one") == 2
        engine.close()
    assert capfd.readouterr() == ("", "")


def test_nothing_to_connect_to(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(module, "CONNECT", 0.3)
    with pytest.raises(
        ClusterError, match=r"no Dask scheduler at tcp://127.0.0.1:9: .*\(cluster is .* scheduler file "
    ):
        Cluster("tcp://127.0.0.1:9")
    began = time.monotonic()
    with pytest.raises(DataError, match="foo: is not there; `dask scheduler` writes it"):
        Cluster("foo")
    gc.collect()
    assert time.monotonic() - began < 20
    with pytest.raises(DataError, match="not the file of a Dask scheduler"):
        Cluster("/dev/zero")
    with pytest.raises(ClusterError, match="no Dask scheduler at nonsense://x"):
        Cluster("nonsense://x")
    for problem, text in (("is not the file", "no JSON"), ("is not the file", "[1]"), ("is not there", None)):
        path = tmp_path / "scheduler.json"
        path.unlink(missing_ok=True)
        if text:
            path.write_text(text)
        with pytest.raises(DataError, match=f"scheduler.json: {problem}"):
            Cluster(str(path))
    assert capfd.readouterr() == ("", "")


def test_a_file_of_the_scheduler_without_workers(tmp_path):
    with local(workers=0) as found:
        path = tmp_path / "scheduler.json"
        path.write_text(json.dumps({"address": found.scheduler_address}))
        with pytest.raises(
            ClusterError, match=r"has no workers, also after 0 s: start some with `dask worker inproc://"
        ):
            Cluster(str(path), wait=0.1)


def test_without_dask(monkeypatch):
    module._dask.cache_clear()
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageProblem, match=r"pip install 'aligntools\[cluster\]'"):
        Cluster("tcp://127.0.0.1:9")
