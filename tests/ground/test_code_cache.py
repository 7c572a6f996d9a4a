"""Compiled code on disk, with a kernel that takes no time to compile."""

import errno
import fcntl
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numba
import pytest

from aligntools.ground import code_cache
from aligntools.ground.code_cache import CodeCache
from aligntools.ground.code_folders import CodeFolders
from tests.places import ROOT


def double(x):
    return 2 * x


class Place:
    """A folder for compiled code, and new kernels as a process that starts there would have them."""

    def __init__(self, path):
        self.path, self.warnings = path, []

    def kernel(self, sources="sources"):
        compiled = numba.njit(double)
        compiled._cache = CodeCache(double, sources, CodeFolders("some", self.warnings.append))
        return compiled

    def compiles(self, sources="sources"):
        """Call a new kernel; return whether it was compiled and not loaded."""
        compiled = self.kernel(sources)
        assert compiled(21) == 42
        assert not code_cache.turns._held
        return bool(compiled.stats.cache_misses)

    @property
    def files(self):
        return sorted((self.path / "some").iterdir())


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("ALIGNTOOLS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(code_cache.turns, "_said", False)
    return Place(tmp_path / "cache")


@pytest.fixture
def said(caplog):
    caplog.set_level(logging.INFO, "aligntools.compiling")
    return lambda: [record.getMessage() for record in caplog.records]


def test_code_is_kept(place, said):
    assert place.compiles()
    assert not place.compiles()
    assert [p.suffix for p in place.files] == [".nbc"]  # no lock is left
    assert said() == ["compiling, once on this machine (up to 20 s)"]
    assert not place.warnings
    with pytest.raises(numba.TypingError):
        place.kernel()(None)
    assert not code_cache.turns._held
    assert [p.suffix for p in place.files] == [".nbc"]
    assert place.compiles("new")
    assert place.compiles("old")  # by another checkout, say
    assert not place.compiles("new")
    assert not place.compiles("old")
    assert place.kernel("old")._cache.any()
    assert not place.kernel("older")._cache.any()
    compiled = place.kernel()
    compiled(1)
    key = compiled._cache._index_key((numba.int64,), compiled.targetctx.codegen())
    compiled._cache._cache_file.save(key, ("nonsense",))
    assert place.compiles()
    assert not place.compiles()


def test_what_is_damaged_is_compiled_again_and_replaced(place):
    assert place.compiles()
    (file,) = place.files
    file.write_bytes(b"")
    assert place.compiles()
    assert file.read_bytes()[: len(code_cache.HEAD)] == code_cache.HEAD
    assert not place.compiles()
    files = code_cache.CodeFiles("double", CodeFolders("other", place.warnings.append))
    files.save("key", "code")
    (file,) = (place.path / "other").iterdir()
    data = file.read_bytes()
    for damaged in (
        data[: len(code_cache.HEAD)],
        data[:-1],
        b"\0" * len(data),
        data[:-4] + bytes([data[-4] ^ 1]) + data[-3:],
        pickle.dumps((1, 2)),
    ):
        file.write_bytes(damaged)
        assert files.load("key") is None
    file.write_bytes(data)
    assert files.load("key") == "code"


def half(x):
    return x // 2


def test_many_damaged_files_are_one_line(place, said, monkeypatch):
    monkeypatch.setattr(code_cache, "_damaged", [])
    folders = CodeFolders("some", place.warnings.append)
    for function in (double, half):
        code_cache.CodeFiles(function.__name__, folders).save("key", "code")
    for file in place.files:
        file.write_bytes(file.read_bytes()[:-1])
    for function in (double, half):
        assert code_cache.CodeFiles(function.__name__, folders).load("key") is None
    (line,) = said()
    assert line.startswith(f"compiled code in {place.path / 'some'} is damaged (")


def test_a_folder_that_is_named_gets_what_is_read_elsewhere(place, monkeypatch, tmp_path):
    monkeypatch.delenv("ALIGNTOOLS_CACHE_DIR")
    home = Place(tmp_path / "home" / ".cache" / "aligntools")
    assert home.compiles()
    monkeypatch.setenv("ALIGNTOOLS_CACHE_DIR", str(place.path))
    assert not place.compiles()
    assert [file.read_bytes() for file in place.files] == [file.read_bytes() for file in home.files]
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    assert not place.compiles()


def test_a_folder_that_is_not_named_gets_nothing_that_is_read_elsewhere(place, monkeypatch, tmp_path):
    monkeypatch.setattr("aligntools.ground.code_folders.SYSTEM", place.path)
    assert place.compiles()
    monkeypatch.delenv("ALIGNTOOLS_CACHE_DIR")
    assert not place.compiles()
    assert not list((tmp_path / "home").rglob("*.nbc"))


def test_where_nothing_can_be_written_and_all_is_there_nothing_is_said(place, monkeypatch, tmp_path):
    """In an image whose code was compiled for all, a user without a home waits for nothing."""
    assert place.compiles()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path / "file" / "below"))
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert not place.compiles()
    assert not place.warnings
    assert place.compiles("others")
    (warning,) = place.warnings
    assert warning.startswith("no folder for compiled code can be written; compiling again")


def test_a_full_disk_is_done_without(place, monkeypatch, said):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        compiled = place.kernel()
        assert [compiled(21), compiled(1.5)] == [42, 3.0]
    assert said()[1:] == [
        f"compiled code cannot be kept in {place.path / 'some'}: No space left on device; going on without"
    ]
    assert not place.files


def test_what_nobody_has_used_for_long_is_removed_where_something_new_is_kept(place):
    """Of any version; a folder goes with its last file, and what is not compiled code stays."""
    day, now = 86_400, time.time()
    ages = {"some/used": (1, 400), "some/new": (400, 1), "some/unused": (91, 91), "some-1/only": (100, 100)}
    ages |= {"some-2/unused": (100, 100), "some-2/used": (2, 100), "other/unused": (100, 100)}
    place.compiles()
    (written,) = place.files
    for name, days in ages.items():
        for suffix in (".nbc", ".lock", ".text"):
            path = place.path / (name + suffix)
            path.parent.mkdir(exist_ok=True)
            if (name, suffix) != ("some-1/only", ".text"):
                path.write_text("")
                os.utime(path, (now - day * days[0], now - day * days[1]))
    assert not place.compiles()
    assert (place.path / "some/unused.nbc").exists()  # nothing is looked through where nothing is compiled
    assert place.compiles("new")
    for name in ages:
        there = name in ("some/used", "some/new", "some-2/used", "other/unused")
        assert [(place.path / (name + suffix)).exists() for suffix in (".nbc", ".lock")] == [there, there], name
        assert (place.path / f"{name}.text").exists() == (name != "some-1/only")
    assert written.exists()
    assert not (place.path / "some-1").exists()


# One at a time

STORY = f"""
import sys, time
sys.path.insert(0, {str(ROOT)!r})
from tests.ground.test_code_cache import Place
from pathlib import Path
place = Place(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
print(place.compiles())
"""


def test_of_processes_that_start_together_one_compiles(place):
    processes = [
        subprocess.Popen([sys.executable, "-c", STORY, place.path], stdin=-1, stdout=-1, text=True) for _ in range(3)
    ]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    assert sorted(process.communicate()[0] for process in processes) == ["False\n", "False\n", "True\n"]


def lock_of(place):
    """Return where the lock of the kernel's only signature is, by compiling it; nothing else is left."""
    assert place.compiles()
    (file,) = place.files
    file.unlink()
    return file.with_suffix(".lock")


def test_it_waits_for_who_compiles_and_says_so(place, said, monkeypatch):
    lock = lock_of(place)
    monkeypatch.setattr(code_cache.turns, "_said", False)
    done = []
    with open(lock, "w") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        waiting = threading.Thread(target=lambda: done.append(place.compiles()))
        waiting.start()
        time.sleep(0.3)
        assert not done
    waiting.join()
    assert done == [True]
    assert said()[1:] == ["waiting for another process that compiles, once on this machine"]


def test_the_lock_of_a_process_that_died_is_free(place):
    lock = lock_of(place)
    code = "import fcntl, sys, time; file = open(sys.argv[1], 'w'); fcntl.flock(file, fcntl.LOCK_EX);"
    code += "print('held', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code, lock], stdout=-1) as holder:
        assert holder.stdout.readline() == b"held\n"
        holder.send_signal(signal.SIGKILL)
    assert lock.exists()
    assert place.compiles()
    assert not place.compiles()


def test_a_file_system_without_locks_will_do(place, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert place.compiles()
    assert not place.compiles()


def test_who_waits_in_vain_compiles(place, monkeypatch):
    lock = lock_of(place)
    monkeypatch.setattr(code_cache, "LOOKS", 2)
    with open(lock, "w") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        assert place.compiles()


# Whose code it is


def test_a_folder_that_may_only_be_read_serves(place, tmp_path, monkeypatch):
    """As an image's ``warmup`` leaves one: others have their own for what is not in it."""
    assert place.compiles()
    monkeypatch.setattr(os, "access", lambda path, _: place.path not in path.parents)
    assert not place.compiles()
    assert place.kernel()(1.5) == 3.0
    assert len(place.files) == 1
    assert len(list((tmp_path / "home" / ".cache" / "aligntools" / "some").iterdir())) == 1
    assert not place.warnings


@pytest.mark.parametrize(("which", "mode"), [("", 0o775), ("some", 0o757)])
def test_a_folder_that_others_may_write_to_is_not_used(place, which, mode):
    assert place.compiles()
    (place.path / which).chmod(mode)
    assert place.compiles()
    assert place.warnings[-1] == (
        f"{place.path / which} is not used for compiled code: others may write to it (chmod go-w)"
    )
    assert not place.compiles()  # from the folder in the home


def test_nor_is_one_of_another_user(place, monkeypatch):
    assert place.compiles()
    owner = os.stat
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    monkeypatch.setattr(
        type(place.path), "stat", lambda path, **_: os.stat_result((*owner(path)[:4], 54321, *owner(path)[5:10]))
    )
    folders = CodeFolders("some", place.warnings.append)
    assert not folders.readable
    assert folders.writable() is None
    assert place.warnings[0] == f"{place.path} is not used for compiled code: it belongs to another user"


def test_what_root_made_serves_all(place, monkeypatch):
    assert place.compiles()
    if os.getuid() != 0:
        pytest.skip("not root")
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert not place.compiles()
    assert not place.warnings


def test_nor_a_file_that_others_may_write_to(place):
    assert place.compiles()
    place.files[0].chmod(0o666)
    assert place.compiles()
    assert place.files[0].stat().st_mode & 0o777 == 0o644


def test_a_generous_umask_lets_nobody_write(tmp_path, monkeypatch, place):
    monkeypatch.delenv("ALIGNTOOLS_CACHE_DIR")
    before = os.umask(0)
    try:
        old = tmp_path / "home" / ".cache" / "aligntools"
        old.mkdir(parents=True)  # by an older version
        assert place.compiles()
        assert not place.compiles()
    finally:
        os.umask(before)
    for path in (old, old / "some", *(old / "some").iterdir()):
        assert not path.stat().st_mode & 0o022, path
    assert not place.warnings
