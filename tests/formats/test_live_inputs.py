"""Pipes that one program feeds are taken in while another one is waited for."""

import contextlib
import os
import threading

import pytest

from aligntools.formats.opening import files, live_inputs
from aligntools.ground.errors import ResourceError


@pytest.fixture
def pipes():
    ends = [os.pipe() for _ in range(2)]
    yield ends
    for pair in ends:
        for end in pair:
            with contextlib.suppress(OSError):
                os.close(end)


@pytest.mark.parametrize("held", [live_inputs.HELD, 1000, 0])
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
            taken.append(file.raw._file._raw._kept._size)

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
    monkeypatch.setattr(live_inputs, "HELD", 0)
    missing = str(tmp_path / "missing")
    with live_inputs.of_command([], missing), pytest.raises(ResourceError, match=f"in {missing}: .*[(]tmpdir names"):
        live_inputs._Kept().add(b"x")
    kept = live_inputs._Kept()
    kept.add(b"x")
    kept.close()
