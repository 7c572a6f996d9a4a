"""Engines: the same files whatever runs the jobs, and what is said where jobs or workers end."""

import contextlib
import logging
import os
import pickle
import signal
import subprocess
import sys
import time

import pytest

from aligntools.ground import kernels_vectors, processes
from aligntools.ground.engines import Serial
from aligntools.ground.errors import DataError, ModelError, ResourceError, UsageProblem
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
