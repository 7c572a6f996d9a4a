"""Parallel text that comes in streams: blocks of it, pipes, interrupts."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from aligntools.formats.text.bitext import read_bitext, stream_bitext
from aligntools.ground.errors import DataError
from aligntools.words.vocabulary import Vocabulary
from tests.cli.running import ROOT
from tests.formats.conftest import both


def stream(source=None, target=None, *, known=(), **options):
    base = Vocabulary.from_words(known)
    return stream_bitext(source, target, source_vocabulary=base, target_vocabulary=base, **options)


def test_streams_by_block(pair, either_path):
    blocks = list(stream(*pair(b"B x a\nY x y\nb z\n", b"a\nb\nc\n"), known=["a", "b"], block_lines=2))
    assert [block.source.tokens.tolist() for block in blocks] == [[2, 3, 1, 4, 3, 4], [2, 3]]
    assert [block.source_vocabulary.extra for block in blocks] == [["x", "y"], ["z"]]
    assert [block.source_vocabulary.base_size for block in blocks] == [3, 3]
    assert [len(block) for block in blocks] == [2, 1]
    assert both(blocks[0])[0] == [["b", "x", "a"], ["y", "x", "y"]]
    source, target = pair(b"a\nb\n\n\nc\n", b"x\ny\nz\nw\n\xff\n")
    blocks = list(stream(source, target, block_lines=2))
    assert [block.skipped.first for block in blocks] == [{}, {"blank": 3}, {"undecodable": 5}]
    with pytest.raises(DataError, match=":3: the line is blank"):
        list(stream(source, target, block_lines=2, strict=True))


def test_a_stream_may_forget_what_it_has_seen(pair, either_path, monkeypatch):
    source, target = pair(b"".join(b"w%d a W%d\n" % (n % 17, n % 23) for n in range(200)), b"x\n" * 200)
    plain = [both(block) for block in stream(source, target, known=["a", "w3"], block_lines=9)]
    monkeypatch.setattr("aligntools.words.vocabulary._FORGET", 5)
    assert [both(block) for block in stream(source, target, known=["a", "w3"], block_lines=9)] == plain


def test_streams_that_end_early(pair, either_path):
    for unbuffered, message in ((False, "s has 3 lines, .*t 2$"), (True, "t ends after 2 lines$")):
        blocks = stream(*pair(b"a\nb\nc\n", b"x\ny\n"), block_lines=1, unbuffered=unbuffered)
        assert [len(next(blocks)), len(next(blocks))] == [1, 1]
        with pytest.raises(DataError, match=f":3: this line has no counterpart: .*{message}"):
            next(blocks)
    source, target = pair(b"a\n" * 10, b"x\n" * 10)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    blocks = stream(source, target, block_lines=2)
    next(blocks)
    blocks.close()
    if before is not None:
        assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("joint", [True, False])
def test_unbuffered_lines_come_one_by_one(tmp_path, joint):
    names = [tmp_path / name for name in (["j"] if joint else ["s", "t"])]
    for name in names:
        os.mkfifo(name)
    arrived = threading.Semaphore(0)
    failures = []

    def feed():
        with contextlib.ExitStack() as stack:
            outs = [stack.enter_context(open(name, "wb", buffering=0)) for name in names]
            for n in range(3):
                for out in outs:
                    out.write(b"a%d ||| b\n" % n)
                if not arrived.acquire(timeout=20):
                    failures.append(n)
                    return

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    words = []
    for block in stream(*([] if joint else names), joint=names[0] if joint else None, unbuffered=True):
        words.append(both(block)[0][0][0])
        arrived.release()
    feeder.join()
    assert words == ["a0", "a1", "a2"]
    assert not failures


@pytest.mark.parametrize("ratio", [1, 7])
@pytest.mark.parametrize("buffer", [7, 1 << 13, 1 << 17, 1 << 20])
def test_one_program_may_feed_two_pipes(tmp_path, ratio, buffer):
    """Whatever it keeps back of the one while it waits for the other to be read."""
    names = [tmp_path / name for name in "st"]
    for name in names:
        os.mkfifo(name)

    def feed():
        with open(names[0], "wb", buffer) as source, open(names[1], "wb", buffer) as target:
            for n in range(30_000):
                source.write(b"a%d and\n" % (n % 999))
                target.write(b"the other\n".replace(b"the ", b"the " * ratio))

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    corpus = read_bitext(*names)
    feeder.join()
    assert corpus.target.lengths().tolist() == [ratio + 1] * 30_000
    assert corpus.source_vocabulary.words()[:4] == ["", "a0", "and", "a1"]
    assert len(corpus.source_vocabulary) == 1001


def wait_until_it_waits(process):
    """Return when a process sleeps and has done nothing for a while."""
    before, now = None, ()
    while now != before or now[0] != "S":
        time.sleep(0.2)
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(") ")[2].split()
        before, now = now, (fields[0], *fields[11:13])  # its state, and the time that it took


@pytest.mark.parametrize("kind", ["sentences", "pipe"])
def test_an_interrupt_is_answered_while_a_text_is_waited_for(tmp_path, kind):
    """At once, and as what it is."""
    code = "import sys, time, signal, aligntools as at\n"
    code += "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's background jobs ignore it
    code += "def slow():\n    yield 'a b'\n    print('waits', flush=True)\n    time.sleep(60)\n"
    code += "try:\n    at.train_aligner(open(sys.argv[1]) if sys.argv[1:] else slow(), ['x y', 'z'] * 9, fast=True)\n"
    code += "except KeyboardInterrupt:\n    print('interrupted', flush=True)\n"
    arguments = []
    if kind == "pipe":
        os.mkfifo(tmp_path / "pipe")
        arguments = [str(tmp_path / "pipe")]
        code = code.replace("open(sys.argv[1])", "sys.argv[1]").replace("['x y', 'z'] * 9", "'/dev/null'")
    with subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, cwd=ROOT) as process:
        guard = threading.Timer(40, process.kill)
        guard.start()
        if kind == "pipe":
            with open(tmp_path / "pipe", "wb", 0) as out:
                out.write(b"a b\n")
                wait_until_it_waits(process)
                process.send_signal(signal.SIGINT)
                assert process.stdout.readline() == b"interrupted\n"
        else:
            assert process.stdout.readline() == b"waits\n"
            wait_until_it_waits(process)
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == b"interrupted\n"
        assert process.wait(10) == 0
        guard.cancel()
