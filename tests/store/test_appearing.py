"""Files that appear whole, alone or together, and what killed runs leave."""

import fcntl
import os
import signal
import stat
import struct
import subprocess
import sys

import pytest

from aligntools.formats.models.modelfile import write_model
from aligntools.formats.opening import files
from aligntools.ground import system
from aligntools.ground.errors import DataError
from aligntools.store import atomic_write


@pytest.fixture
def calls(monkeypatch):
    """Note the order in which files are put on the disk and named."""
    seen = []

    def note(name):
        real = getattr(os, name)
        monkeypatch.setattr(
            os, name, lambda first, *rest: (seen.append((name, os.stat(first).st_ino)), real(first, *rest))[1]
        )

    monkeypatch.setattr(atomic_write, "SYNC", True)
    note("fsync")
    note("replace")
    return seen


def write(path, text=b"x"):
    with files.writing(path) as out:
        out.write(text)


@pytest.mark.parametrize("kind", ["text", "text.gz", "model"])
def test_a_file_is_on_the_disk_before_it_takes_its_name_and_then_the_name_is(tmp_path, calls, kind):
    path = tmp_path / kind
    write_model(path, "tagger", {}, {}) if kind == "model" else write(path)
    file, folder = path.stat().st_ino, tmp_path.stat().st_ino
    assert calls == [("fsync", file), ("replace", file), ("fsync", folder)]


def test_without_care_for_power_cuts(tmp_path, calls, monkeypatch):
    monkeypatch.setattr(atomic_write, "SYNC", False)
    write(tmp_path / "x")
    assert [name for name, _ in calls] == ["replace"]


def test_files_that_belong_together_appear_at_the_end_in_their_order(tmp_path, calls):
    names = [tmp_path / name for name in ("log", "model", "out")]
    with atomic_write.together(names):
        for path in reversed(names):
            write(path)
        write(tmp_path / "other")
        write(tmp_path / "log", b"written again")
        assert [p.name for p in tmp_path.iterdir() if not p.name.startswith(".")] == ["other"]
    numbers = [path.stat().st_ino for path in names]
    assert [number for name, number in calls if name == "replace"][1:] == numbers
    assert (tmp_path / "log").read_bytes() == b"written again"
    assert len(os.listdir(tmp_path)) == 4


def test_files_that_belong_together_do_not_appear_when_one_fails(tmp_path):
    names = [tmp_path / name for name in ("log", "out")]
    names[0].write_bytes(b"old")

    def fail():
        with atomic_write.together(names):
            write(names[0])
            write(names[1])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert (os.listdir(tmp_path), names[0].read_bytes()) == (["log"], b"old")
    write(names[1])  # nothing waits any more
    assert names[1].exists()


def test_a_signal_between_two_names_does_not_part_the_files(tmp_path, monkeypatch):
    names, real = [tmp_path / name for name in ("log", "model", "out")], os.replace

    def interrupted(*paths):
        monkeypatch.setattr(os, "replace", real)
        real(*paths)
        raise KeyboardInterrupt

    def stop():
        with atomic_write.together(names):
            for path in names:
                write(path)
            monkeypatch.setattr(os, "replace", interrupted)

    with pytest.raises(KeyboardInterrupt):
        stop()
    assert sorted(os.listdir(tmp_path)) == ["log", "model", "out"]


def test_names_and_errors(tmp_path):
    def fail():
        with atomic_write.together([tmp_path / "x"]):
            write(tmp_path / "x")
            (tmp_path / "x").mkdir()

    with pytest.raises(DataError, match="x: cannot be written: Is a directory"):
        fail()
    assert os.listdir(tmp_path) == ["x"]
    (tmp_path / "x").rmdir()

    def fail():
        with files.writing(tmp_path / "x"):
            raise OSError(28, "No space left on device", "elsewhere")

    with pytest.raises(OSError, match="elsewhere"):
        fail()
    assert os.listdir(tmp_path) == []
    write(tmp_path / ("語" * 85))
    assert os.listdir(tmp_path) == ["語" * 85]


def test_only_what_dead_runs_left_is_a_leftover(tmp_path):
    script = "import sys, time; from aligntools.formats.opening import files\nwith files.writing(sys.argv[1]) as out:\n"
    script += "  out.write(b'half'); out.flush(); print('ready', flush=True); time.sleep(60)"
    command = [sys.executable, "-c", script, tmp_path / "out"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        assert len(os.listdir(tmp_path)) == 1
        assert atomic_write.leftovers(tmp_path / "out") == []  # it lives
        process.send_signal(signal.SIGKILL)
    (left,) = atomic_write.leftovers(tmp_path / "out")
    assert (left.process, left.size, left.host) == (process.pid, 4, os.uname().nodename)
    assert os.path.basename(left.name) == os.listdir(tmp_path)[0]
    (tmp_path / ".out.scores.1@h.12345678.part").touch()  # another output's
    assert len(atomic_write.leftovers(tmp_path / "out")) == 1
    assert atomic_write.leftovers(tmp_path / "missing" / "out") == []


def test_file_systems_without_locks(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(95, "Operation not supported")

    (tmp_path / ".x.1@h.12345678.part").touch()
    assert len(atomic_write.leftovers(tmp_path / "x")) == 1
    monkeypatch.setattr(fcntl, "flock", refuse)
    write(tmp_path / "x")
    assert atomic_write.leftovers(tmp_path / "x") == []


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def write_as_model(path):
    write_model(path, "tagger", {}, {})


def write_as_library(path):
    """As a library does that makes a file of its own and renames it."""
    with atomic_write.appearing(path) as part:
        with open(f"{part}.own", "wb") as file:
            file.write(b"x")
        os.replace(f"{part}.own", part)


@pytest.mark.parametrize("how", [write, write_as_model, write_as_library])
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
def test_the_mode_of_what_is_replaced_is_kept(tmp_path, how, mode):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    path.chmod(mode)
    how(path)
    assert (path.read_bytes() != b"old", mode_of(path)) == (True, mode)


def _access_list(*entries):
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", tag, rights, who) for tag, rights, who in entries)


#: Owner 6, a named user 6, the group 0, mask 6, others 0.
LISTED = _access_list((1, 6, 0xFFFFFFFF), (2, 6, 65534), (4, 0, 0xFFFFFFFF), (16, 6, 0xFFFFFFFF), (32, 0, 0xFFFFFFFF))
ACL = "system.posix_acl_access"


@pytest.fixture
def listed(tmp_path):
    (tmp_path / "x").write_bytes(b"old")
    try:
        os.setxattr(tmp_path / "x", ACL, LISTED)
    except (AttributeError, OSError):
        pytest.skip("no access lists here")
    return tmp_path / "x"


@pytest.mark.parametrize("how", [write, write_as_model, write_as_library])
def test_the_access_list_of_what_is_replaced_is_kept(listed, how):
    how(listed)
    assert (listed.read_bytes() != b"old", os.getxattr(listed, ACL)) == (True, LISTED)


def test_without_its_access_list_no_group_gets_what_a_named_user_had(listed, monkeypatch):
    def refuse(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "setxattr", refuse)
    write(listed)
    assert mode_of(listed) == 0o600


def test_the_list_that_a_folder_gives_to_new_files_is_not_that_of_replaced_ones(listed, tmp_path):
    (tmp_path / "plain").write_bytes(b"old")
    (tmp_path / "plain").chmod(0o640)
    os.setxattr(tmp_path, "system.posix_acl_default", LISTED)
    write(tmp_path / "new")
    assert os.getxattr(tmp_path / "new", ACL) == LISTED
    write(tmp_path / "plain")
    assert (mode_of(tmp_path / "plain"), ACL in os.listxattr(tmp_path / "plain")) == (0o640, False)


def test_modes_of_new_and_replaced_files(tmp_path):
    names = [tmp_path / name for name in ("log", "model")]
    for path in names:
        path.touch(0o600)
    with atomic_write.together(names):
        write(names[0])
        write_as_model(names[1])
    assert [mode_of(path) for path in names] == [0o600, 0o600]
    (tmp_path / "private").touch(0o600)
    (tmp_path / "link").symlink_to("private")
    write(tmp_path / "link")
    assert (mode_of(tmp_path / "private"), (tmp_path / "link").is_symlink()) == (0o600, True)
    (tmp_path / "x").touch(0o600)
    with atomic_write.appearing(tmp_path / "x") as part:
        assert mode_of(part) == 0o600
    before = os.umask(0o027)
    try:
        write(tmp_path / "new")
        with atomic_write.appearing(tmp_path / "program", executable=True):
            pass
    finally:
        os.umask(before)
    assert (mode_of(tmp_path / "new"), mode_of(tmp_path / "program")) == (0o640, 0o750)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_and_group_of_what_is_replaced_are_kept(tmp_path):
    (tmp_path / "x").touch(0o640)
    os.chown(tmp_path / "x", 12345, 23456)
    write(tmp_path / "x")
    found = os.stat(tmp_path / "x")
    assert (found.st_uid, found.st_gid, mode_of(tmp_path / "x")) == (12345, 23456, 0o640)


def test_where_the_group_stays_another_it_may_do_no_more_than_all(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    status = list(os.stat(tmp_path))
    status[0], status[5] = stat.S_IFREG | 0o664, status[5] + 1
    (tmp_path / "x").touch()
    monkeypatch.setattr(os, "fchown", refuse)
    with open(tmp_path / "x", "rb") as file:
        assert system.keep_owner(file.fileno(), os.stat_result(status), tmp_path / "x") == 0o644


@pytest.mark.parametrize("how", [write, write_as_model])
def test_a_folder_that_cannot_be_written_is_named(tmp_path, how, monkeypatch):
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match=rf"missing/x: cannot be written: there is no folder {tmp_path}/missing$"):
        how(tmp_path / "missing" / "x")
    with pytest.raises(DataError, match=rf"file/x: cannot be written: {tmp_path}/file is not a folder$"):
        how(tmp_path / "file" / "x")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(DataError, match=rf"/x: cannot be written: nothing .* in the folder {tmp_path} \(Perm"):
        how(tmp_path / "x")
