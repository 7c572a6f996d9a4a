"""Opening, compression, and output that appears whole or not at all."""

import contextlib
import gzip
import io
import itertools
import os
import re
import resource
import subprocess
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.annotation.tagged_text import read_words, stream_text
from aligntools.formats.opening import files, live_inputs
from aligntools.formats.text.bitext import read_bitext
from aligntools.ground import memory
from aligntools.ground.errors import DataError, ResourceError
from tests.cli.running import ROOT, program

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


def refused(read, *fragments):
    with pytest.raises(DataError) as error:
        read()
    for fragment in fragments:
        assert fragment in str(error.value)


def test_a_line_without_an_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LONGEST_LINE", 1 << 20)
    path = tmp_path / "text"
    path.write_bytes(b"a ||| b\n" * 3 + b"x" * (3 << 20))
    refused(lambda: read_bitext(joint=str(path)), f"{path}:4: a line of more than 1 MiB", "split it")
    refused(lambda: list(stream_text(str(path))), f"{path}:4: a line of more than 1 MiB")
    path.write_bytes(b"a ||| b\n" * 3 + b"x" * (1 << 20) + b"\ny\n")
    assert len(read_words(str(path), "text")) == 5


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_text_that_does_not_fit_is_refused(tmp_path, monkeypatch, suffix):
    path = tmp_path / f"text{suffix}"
    with (gzip.open if suffix else open)(path, "wb") as out:
        out.write(b"\n" * (5 << 20))
    used = itertools.count(30 << 20, 30 << 20)  # 30 MiB more at each look
    monkeypatch.setattr(memory, "used", lambda: next(used))
    with memory.bounded(45 << 20):
        refused(lambda: read_bitext(joint=str(path)), f"{path}:", "does not fit in memory: 60M of memory needed")
    used = itertools.count(10 << 20, 10 << 20)
    with memory.bounded(45 << 20):  # readers that keep objects stop earlier
        refused(lambda: read_words(str(path), "text"), f"{path}:", "20M of", "45M, of which reading may take 30%")


@pytest.mark.slow
@pytest.mark.parametrize("args", [("align", "--max-memory", "500M", "-i"), ("train-hmm", "--states", "5", "--text")])
def test_a_small_file_that_unpacks_to_much_is_refused_before_the_kernel_steps_in(tmp_path, args):
    path, limit = tmp_path / "text.gz", 4 << 30
    with gzip.open(path, "wb", compresslevel=1) as out:
        for _ in range(400):
            out.write(b"\n" * (1 << 20))
    done = subprocess.run(
        [*program(), *args, str(path), "-o", str(tmp_path / "out")], capture_output=True, cwd=ROOT, timeout=300,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )  # fmt: skip
    message = done.stderr.decode()
    assert done.returncode == 1, message
    assert re.fullmatch(rf"error: {path}:\d+: does not fit in memory: .*\n", message)
    assert not (tmp_path / "out").exists()


@pytest.fixture
def pipes():
    ends = [os.pipe() for _ in range(2)]
    yield ends
    for pair in ends:
        for end in pair:
            with contextlib.suppress(OSError):
                os.close(end)


@pytest.mark.parametrize("held", [live_inputs.HELD, 1000, 1])
def test_one_side_may_come_whole_before_the_other(pipes, monkeypatch, held):
    """In memory, and beyond a bound in a file, in the right order."""
    monkeypatch.setattr(live_inputs, "HELD", held)
    texts = [b"".join(b"%s %d\n" % (name, n) for n in range(100_000)) for name in (b"source", b"target")]

    def feed():
        for k in (1, 0):
            with open(pipes[k][1], "wb", closefd=False) as out:
                out.write(texts[k])
            os.close(pipes[k][1])

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    with files.reading(f"/dev/fd/{pipes[0][0]}") as source, files.reading(f"/dev/fd/{pipes[1][0]}") as target:
        lines = [(source.readline(), target.readline()) for _ in range(50_000)]
        rest = [source.read(), target.read()]
    feeder.join()
    assert [b"".join(side) + end for side, end in zip(zip(*lines, strict=True), rest, strict=True)] == texts


def test_a_line_is_answered_as_soon_as_it_is_there(pipes):
    """Nothing is waited for but the input that is read."""
    with files.reading(f"/dev/fd/{pipes[0][0]}") as source, files.reading(f"/dev/fd/{pipes[1][0]}") as target:
        for n in range(3):
            os.write(pipes[0][1], b"s %d\n" % n)
            assert source.readline() == b"s %d\n" % n
            os.write(pipes[1][1], b"t %d\n" % n)
            assert target.readline() == b"t %d\n" % n
        os.close(pipes[0][1])
        os.close(pipes[1][1])
        assert source.read() + target.read() == b""


def test_inputs_of_other_threads_are_left_alone(pipes):
    """Who reads slowly on purpose is not hurried by somebody else's wait."""
    taken = []

    def other():
        with files.reading(f"/dev/fd/{pipes[1][0]}") as file:
            ready.set()
            done.wait(10)
            taken.append(file.raw._file._raw._kept._written)

    ready, done = threading.Event(), threading.Event()
    thread = threading.Thread(target=other)
    thread.start()
    ready.wait(10)
    os.write(pipes[1][1], b"x" * 1000)
    threading.Timer(0.2, lambda: os.write(pipes[0][1], b"y\n")).start()
    with files.reading(f"/dev/fd/{pipes[0][0]}") as file:
        assert file.readline() == b"y\n"
    done.set()
    thread.join()
    assert taken == [0]


def test_what_memory_does_not_keep_is_in_the_folder_of_the_command(monkeypatch, tmp_path):
    """A folder that cannot be written is named, and after the command its folder is no longer used."""
    monkeypatch.setattr(live_inputs, "HELD", 1)
    missing = str(tmp_path / "missing")
    with live_inputs.of_command([], missing), pytest.raises(ResourceError, match=f"in {missing}: .*[(]tmpdir names"):
        live_inputs._Kept().add(b"xx")
    kept = live_inputs._Kept()
    kept.add(b"xx")
    kept.close()
