"""Engines: the same files whatever runs the jobs, and what is said where jobs or workers end."""

import contextlib
import gc
import json
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import types

import pytest

from aligntools.ground import cluster as module
from aligntools.ground import kernels_vectors, memory, processes
from aligntools.ground.cluster import Cluster
from aligntools.ground.engines import Serial
from aligntools.ground.errors import AligntoolsError, ClusterError, DataError, ModelError, ResourceError, UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.ground.processes import Processes
from aligntools.links.operations import MismatchedLines
from tests.ground import jobs
from tests.places import ROOT


@contextlib.contextmanager
def closing(engine):
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def two():
    """Two workers, kept between tests: what ends a run leaves the engine of use."""
    with closing(Processes(2, 2, limit=123 << 20)) as engine:
        yield engine


def written(folder):
    return {p.name: p.read_text() for p in folder.iterdir() if "." not in p.name}


def workers_of(folder):
    return {p.read_text() for p in folder.glob("*.by")}


def test_the_same_files_whatever_runs_the_jobs(tmp_path, two):
    found = []
    engines = {"serial": Serial(Pool(1)), "one": Processes(1), "two": two}
    for name, engine in engines.items():
        folder, done = tmp_path / name, []
        folder.mkdir()
        engine.run("squares", jobs.square, [(str(folder), k) for k in range(20)], lambda done=done: done.append(1))
        assert len(done) == 20
        found.append(written(folder))
    assert found[0] == found[1] == found[2] == {str(k): str(k * k) for k in range(20)}
    assert len(workers_of(tmp_path / "one")) == 1
    assert len(workers_of(tmp_path / "two")) == 2
    assert str(os.getpid()) not in workers_of(tmp_path / "two")
    (pid,) = workers_of(tmp_path / "one")
    engines["one"].close()
    assert ended(int(pid))


def test_workers_and_what_they_have(tmp_path, two):
    engine = Processes(2)
    engine.run("nothing", jobs.square, [], lambda: None)
    assert engine._running == []
    done = []
    two.run("dying", jobs.dies, [(str(tmp_path), k, False) for k in range(8)], lambda: done.append(1))
    assert written(tmp_path) == {str(k): str(k * k) for k in range(8)}
    assert len(done) == 8
    assert len(workers_of(tmp_path)) in (2, 3)


def test_workers_have_what_this_process_has(tmp_path, two, monkeypatch, capfd):
    monkeypatch.setenv("ALIGNTOOLS_TEST", "here")
    with closing(Processes(1, 3, limit=123 << 20)) as engine:
        engine.run("looking", jobs.surroundings, [str(tmp_path / "seen")], lambda: None)
    kept = kernels_vectors.combine._cache.cache_path
    assert (tmp_path / "seen").read_text().split("\n") == ["3", str(123 << 20), kept, "here"]
    assert capfd.readouterr() == ("", "")


def test_a_job_that_ends_every_worker_is_given_up(tmp_path, two):
    with pytest.raises(ResourceError) as caught:
        two.run("dying", jobs.dies, [(str(tmp_path), k, True) for k in range(8)], lambda: None)
    message = str(caught.value)
    assert "dying, job 3 of 8: 3 workers ended one after the other (the last was killed by SIGKILL)" in message
    assert "memory" in message
    assert "\n" not in message
    two.run("after it", jobs.square, [(str(tmp_path), 9)], lambda: None)
    assert written(tmp_path)["9"] == "81"


def test_processes_that_do_not_start(monkeypatch, tmp_path):
    monkeypatch.setattr(processes, "_BEGIN", "raise SystemExit(3)")
    with (
        closing(Processes(2)) as engine,
        pytest.raises(ResourceError, match=r"do not start \(.* ended with status 3\)"),
    ):
        engine.run("squares", jobs.square, [(str(tmp_path), k) for k in range(4)], lambda: None)

    def refused(*_args, **_more):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refused)
    with pytest.raises(ResourceError, match="worker 1 of 2 cannot be started: Resource temporarily unavailable"):
        Processes(2).run("squares", jobs.square, [(str(tmp_path), 1)], lambda: None)


@pytest.mark.parametrize(
    "error",
    [
        DataError("some/text", 12, "found x; expected y"),
        DataError("-", None, "nothing in it"),
        ModelError("model", None, "version 9"),
        MismatchedLines("a", 3, "b has more lines"),
        UsageProblem("--this contradicts --that"),
        ResourceError("too little"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_of_our_own_can_be_sent(error):
    error.add_note("a note")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_the_first_error_in_order_arrives_as_it_is(tmp_path, two):
    with pytest.raises(DataError, match=r"text:1: found x; expected y") as caught:
        two.run("failing", jobs.fails, [(str(tmp_path), k, "data") for k in range(12)], lambda: None)
    assert (caught.value.path, caught.value.line) == (f"{tmp_path}/text", 1)
    assert "in fails" in caught.value.__notes__[0]
    assert "11" not in written(tmp_path)
    with pytest.raises(OSError, match="No space left") as caught:
        two.run("failing", jobs.fails, [(str(tmp_path), k, "disk") for k in range(3)], lambda: None)
    assert (caught.value.errno, caught.value.filename) == (28, "part-1")
    with pytest.raises(RuntimeError, match="ValueError"):  # what cannot be sent itself
        two.run("failing", jobs.fails, [(str(tmp_path), k, "other") for k in range(3)], lambda: None)


def test_what_all_workers_log_is_said_once(two, caplog):
    with caplog.at_level(logging.INFO, logger="aligntools"):
        two.run("warning", jobs.warns, list(range(6)), lambda: None)
    said = [(r.levelname, r.message) for r in caplog.records if r.name == "aligntools.test"]
    assert said == [("WARNING", "the same for all"), ("INFO", "a note")]


def test_a_callback_that_raises_ends_the_workers(tmp_path):
    def stop():
        raise KeyboardInterrupt

    engine = Processes(2)
    with pytest.raises(KeyboardInterrupt):
        engine.run("squares", jobs.square, [(str(tmp_path), k) for k in range(30)], stop)
    assert len(written(tmp_path)) < 30
    assert all(ended(int(pid)) for pid in workers_of(tmp_path))


def ended(pid, seconds=20):
    """Wait until a process is gone; return whether it went."""
    for _ in range(int(seconds / 0.05)):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
            if file.read().rsplit(b")", 1)[1].split()[0] == b"Z":
                return True  # it waits for a parent that reads its status
        time.sleep(0.05)
    return False


def program(kind, folder):
    """Return a command line whose workers wait."""
    if kind == "module":
        return [sys.executable, "-m", "tests.ground.jobs", folder]
    code = f"from tests.ground.jobs import run_waiting\nrun_waiting({str(folder)!r})\n"
    if kind == "text":
        return [sys.executable, "-c", code]
    script = folder / "script.py"
    script.write_text(code)  # no guard: workers do not run it
    return [sys.executable, str(script)]


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        pytest.param("module", signal.SIGTERM, marks=pytest.mark.slow),
        ("script", signal.SIGKILL),
        pytest.param("text", signal.SIGINT, marks=pytest.mark.slow),
    ],
)
def test_workers_end_with_the_program(tmp_path, kind, number):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    main = subprocess.Popen(
        program(kind, tmp_path), cwd=ROOT, env=environment, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored where the suite is in the background
    )  # fmt: skip
    try:
        for _ in range(400):
            if len(written(tmp_path)) == 2:
                break
            time.sleep(0.05)
        pids = [int(text) for text in written(tmp_path).values()]
        assert len(pids) == 2
        assert not any(ended(pid, 0.05) for pid in pids)
        main.send_signal(number)
        errors = main.communicate(timeout=30)[1]
        assert main.returncode == -number
        assert all(ended(pid) for pid in pids)
        assert {p.name for p in tmp_path.glob("*.ended")} == {"0.ended", "1.ended"}  # each in order
        assert errors.count(b"Traceback") == (number == signal.SIGINT)  # Python's own, of the program
    finally:
        main.kill()


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


def test_the_first_error_of_a_cluster_arrives_as_it_is(tmp_path, engine, capfd):
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
