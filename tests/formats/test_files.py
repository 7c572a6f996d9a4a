"""Opening, compression, and output that appears whole or not at all."""

import io
import os
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.opening import files
from aligntools.ground.errors import DataError

SUFFIXES = ["", ".gz", ".bz2", ".xz", ".zst"]
COMPRESSED = SUFFIXES[1:]
TEXT = b"".join(b"%d %d\r\nand\n\n" % (i, i * i * 7919) for i in range(3000)) + b"no newline"


def write(path, text=TEXT):
    with files.writing(path) as out:
        out.write(text)


def write_and_fail(path, error):
    with files.writing(path) as out:
        out.write(TEXT)
        raise error


def read(path):
    with files.reading(path) as file:
        return file.read()


@pytest.fixture(params=SUFFIXES)
def path(request, tmp_path):
    if request.param == ".zst":
        pytest.importorskip("zstandard")
    return tmp_path / f"text{request.param}"


@pytest.fixture(params=COMPRESSED)
def squeezed(request, tmp_path):
    if request.param == ".zst":
        pytest.importorskip("zstandard")
    path = tmp_path / f"text{request.param}"
    write(path)
    return path


def test_what_is_written_is_read_back(path):
    with files.writing(path) as out:
        out.write(TEXT)
        out.flush()
        assert not path.exists()
    assert read(path) == TEXT
    assert list(files.lines(path)) == TEXT.replace(b"\r\n", b"\n").split(b"\n")
    with files.reading(path) as file:
        assert file.readline() + file.readline() == b"0 0\r\nand\n"
    assert os.listdir(path.parent) == [path.name]
    write(path, b"")
    assert (read(path), list(files.blocks_of_lines(path))) == (b"", [])


def test_compression_members_and_damage(squeezed):
    first = squeezed.read_bytes()
    assert len(first) < len(TEXT) / 2
    write(squeezed)
    assert squeezed.read_bytes() == first
    squeezed.write_bytes(squeezed.read_bytes() * 2)
    assert read(squeezed) == TEXT * 2
    data = bytearray(first)
    data[len(data) // 2] ^= 0x55
    squeezed.write_bytes(data)
    with pytest.raises(DataError):
        read(squeezed)


def test_what_cannot_be_opened_or_written_is_a_data_error(tmp_path):
    with pytest.raises(DataError, match="No such file"):
        files.open_input(tmp_path / "missing")
    with pytest.raises(DataError, match="is a directory"):
        files.open_input(tmp_path)
    with pytest.raises(DataError, match="cannot be written: there is no folder"):
        write(tmp_path / "missing" / "x")
    with pytest.raises(DataError, match="cannot be written: Is a directory"):
        write(tmp_path)


def test_zstandard_missing_is_a_data_error(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    (tmp_path / "x.txt").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))
    with pytest.raises(DataError, match=r"aligntools\[zstd\]"), files.reading(tmp_path / "x.txt") as file:
        file.read()
    with pytest.raises(DataError, match=r"aligntools\[zstd\]"):
        write(tmp_path / "x.zst")
    assert os.listdir(tmp_path) == ["x.txt"]


@given(st.lists(st.sampled_from([b"\n", b"a", b"bc\n", b"\r\n", b"long line\n"])), st.integers(1, 12))
def test_blocks_are_whole_lines(tmp_path_factory, pieces, size):
    path = tmp_path_factory.mktemp("blocks") / "x"
    path.write_bytes(b"".join(pieces))
    blocks = list(files.blocks_of_lines(path, size))
    assert b"".join(blocks) == b"".join(pieces)
    assert all(blocks)
    assert all(block.endswith(b"\n") for block in blocks[:-1])


def test_lines_lose_one_carriage_return_and_nothing_else(tmp_path):
    (tmp_path / "x").write_bytes(b" a\r\r\n\x0b\xa0\n\rb\r")
    assert list(files.lines(tmp_path / "x")) == [b" a\r", b"\x0b\xa0", b"\rb"]


def test_failure_leaves_nothing_behind_and_the_old_file_alone(path):
    with pytest.raises(KeyboardInterrupt):
        write_and_fail(path, KeyboardInterrupt())
    assert os.listdir(path.parent) == []
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError, match="midway"):
        write_and_fail(path, RuntimeError("midway"))
    assert path.read_bytes() == b"old"
    assert os.listdir(path.parent) == [path.name]


def test_permissions_follow_the_umask(path):
    old = os.umask(0o027)
    try:
        write(path)
    finally:
        os.umask(old)
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device here")
def test_a_full_device_is_a_data_error():
    with pytest.raises(DataError, match="cannot be written: No space"):
        write("/dev/full")


def test_a_device_is_written_in_place():
    write(os.devnull)
    assert not os.path.isfile(os.devnull)


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_named_pipes_are_read_and_written(tmp_path, suffix):
    path = tmp_path / f"pipe{suffix}"
    os.mkfifo(path)
    writer = threading.Thread(target=write, args=(path,))
    writer.start()
    assert list(files.lines(path)) == TEXT.replace(b"\r\n", b"\n").split(b"\n")
    writer.join()
    assert os.listdir(tmp_path) == [path.name]


def test_a_reader_that_leaves_a_named_pipe_is_a_broken_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: open(path, "rb").close())
    reader.start()
    with pytest.raises(BrokenPipeError):
        write(path, TEXT * 10)  # more than a pipe holds
    reader.join()


def test_standard_streams(tmp_path, monkeypatch):
    write(tmp_path / "x")
    with open(tmp_path / "x") as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert read("-") == TEXT
        assert not file.closed
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    assert read("-") == TEXT
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(DataError, match="<stdin>: is closed"):
        read("-")
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(DataError, match="<stdout>: is closed"):
        write("-")


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_standard_output(capfdbinary, name):
    with files.writing(name) as out:
        out.write(b"a\n")
    assert capfdbinary.readouterr().out == b"a\n"
