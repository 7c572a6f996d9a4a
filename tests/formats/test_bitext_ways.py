"""Every way of reading parallel text gives the same: compiled or not, whole, in blocks or line by line."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.text.bitext import read_bitext, read_side, stream_bitext
from aligntools.formats.text.corpus import Skipped
from aligntools.ground.errors import DataError
from aligntools.words.line_scan import FORMATS
from aligntools.words.vocabulary import Vocabulary
from tests.cli.running import ROOT
from tests.formats.conftest import PATHS, both, settled

# The two paths, and the two ways of reading

SPACES = [b" ", b"\t", b"\n", b"\r\n", b"\r", b"\xc2\xa0", b"\xe2\x80\x83", b"\xef\xbb\xbf", b"\0"]
SOUND = [b"a", b"B", b"the", b"THE", *(word.encode() for word in ("ΟΔΟΣ", "ñ", "語", "😀", "İ"))]
BARS = [b" ||| ", b"|||", b"|"]
UNSOUND = [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xe2\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xf8", b"\x80"]
PIECES = st.sampled_from([*SPACES, *SOUND, *BARS, *UNSOUND])
TEXTS = st.one_of(
    st.lists(PIECES, max_size=60).map(b"".join),
    st.binary(max_size=60),
    st.lists(st.sampled_from([b"a", b"b", b"C", b" ", b"\n"]), max_size=60).map(b"".join),
)
JOINTS = st.lists(
    st.tuples(st.lists(PIECES.filter(lambda x: b"\n" not in x and b"|||" not in x), max_size=6), st.booleans()),
    max_size=12,
).map(lambda lines: b"".join(b"".join(words) + b" ||| " + b"".join(words[::2]) + b"\n" * end for words, end in lines))
TABBED = JOINTS.map(lambda text: text.replace(b"\t", b" ").replace(b"|||", b"\t"))


def outcome(read):
    """Return everything that a reading gives, or its error."""
    try:
        blocks = read()
        blocks = blocks if isinstance(blocks, list) else [blocks]
    except DataError as error:
        return str(error)
    skipped = Skipped()
    lines = [], []
    for block in blocks:
        skipped.add(block.skipped)
        for all_lines, some in zip(lines, both(block), strict=True):
            all_lines.extend(some)
    ids = [(b.source.tokens.tolist(), b.target.tokens.tolist(), b.target_vocabulary.words()) for b in blocks]
    return lines, skipped.counts, (skipped.first, skipped.malformed_lines), ids if len(blocks) == 1 else None


def both_paths(read):
    with settled(_SMALL=PATHS["plain"]):
        plain = outcome(read)
    for size in (PATHS["compiled"], 12):  # the latter changes from one to the other midway
        with settled(_SMALL=size):
            assert outcome(read) == plain
    return plain


OPTIONS = st.fixed_dictionaries(
    {"lowercase": st.booleans(), "max_length": st.integers(1, 4), "strict": st.sampled_from([False] * 4 + [True])}
)
SIZES = st.fixed_dictionaries({"_BLOCK": st.sampled_from([3, 16, 1 << 22]), "_ROWS": st.sampled_from([1, 2, 1000])})


def check(arguments, options, block_lines, known):
    batch = both_paths(lambda: read_bitext(**arguments, **options))
    base = Vocabulary.from_words(known)
    fixed = {"source_vocabulary": base, "target_vocabulary": base}
    options = options | fixed
    streamed = both_paths(lambda: list(stream_bitext(**arguments, **options, block_lines=block_lines)))
    single = outcome(lambda: list(stream_bitext(**arguments, **options, unbuffered=True)))
    if isinstance(batch, str):
        assert streamed == batch
        if "where plain text is expected" in batch:  # which a service cannot tell by the first line
            return
        if re.search(r"separator|\btabs?\b", batch) and not options["strict"]:
            assert not isinstance(single, str)  # a service answers to anything
        else:
            assert isinstance(single, str)
            assert single.split(": ")[:2] == batch.split(": ")[:2]
    else:
        assert streamed[:3] == single[:3] == batch[:3]


@pytest.mark.slow
@given(TEXTS, TEXTS, st.booleans(), OPTIONS, SIZES, st.integers(1, 5))
def test_all_ways_of_reading_two_files_agree(tmp_path_factory, source, target, pad, options, sizes, block_lines):
    folder = tmp_path_factory.mktemp("two")
    if pad:  # else nearly every example is but an unequal pair
        missing = source.count(b"\n") - target.count(b"\n")
        source, target = source + b"\n" * max(0, -missing) + b"e", target + b"\n" * max(0, missing) + b"e"
    (folder / "s").write_bytes(source)
    (folder / "t").write_bytes(target)
    with settled(**sizes):
        check({"source": folder / "s", "target": folder / "t"}, options, block_lines, ["a", "the", "B"])


@pytest.mark.slow
@given(st.one_of(TEXTS, JOINTS, JOINTS, TABBED), st.sampled_from(FORMATS), OPTIONS, SIZES, st.integers(1, 5))
def test_all_ways_of_reading_a_joint_file_agree(tmp_path_factory, text, how, options, sizes, block_lines):
    path = tmp_path_factory.mktemp("joint") / "j"
    path.write_bytes(text)
    with settled(**sizes):
        check({"joint": path}, options | {"input_format": how}, block_lines, ["a", "the", "ñ"])


@given(TEXTS, st.booleans(), SIZES)
def test_both_paths_read_one_side_alike(tmp_path_factory, text, lowercase, sizes):
    path = tmp_path_factory.mktemp("one") / "x"
    path.write_bytes(text)
    results = []
    for small in (*PATHS.values(), 12):
        with settled(_SMALL=small, **sizes):
            try:
                side, vocabulary = read_side(path, lowercase=lowercase)
                results.append((side.tokens.tolist(), side.offsets.tolist(), vocabulary.words()))
            except DataError as error:
                results.append(str(error))
    assert results[0] == results[1] == results[2]


def is_utf8(data):
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def scanned_as_valid(data):
    from aligntools.words import kernels_text

    table = np.empty((data.count(b"\n") + 1, 8), np.int64)
    rows, at = kernels_text.scan_lines(np.frombuffer(data, np.uint8), 0, False, False, table)
    assert at == len(data)
    return table[:rows, 7].tolist()


def test_utf8_at_every_boundary():
    edges = [0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF]
    leads = range(0x80, 0x100)
    cases = [bytes([a]) for a in leads] + [bytes([a, b]) for a in leads for b in edges]
    cases += [bytes([a, b, c]) for a in leads for b in edges for c in edges]
    cases += [bytes([a, b, c, d]) for a in leads for b in edges for c in edges for d in edges]
    assert scanned_as_valid(b"\n".join(cases) + b"\n") == [is_utf8(case) for case in cases]


def test_a_large_input_is_compiled_and_a_small_one_is_not(pair):
    script = (
        "import sys; from aligntools.formats.text.bitext import read_bitext; corpus = read_bitext(*sys.argv[1:]);"
        "print('numba' in sys.modules, len(corpus), len(corpus.source_vocabulary))"
    )
    for lines, loaded in ((100, "False"), (30_000, "True")):
        names = pair(b"".join(b"a%d b\n" % (n % 777) for n in range(lines)), b"c d e f\n" * lines)
        ran = subprocess.run([sys.executable, "-c", script, *names], capture_output=True, text=True, check=True)
        assert ran.stdout.split() == [loaded, str(lines), str(min(lines, 777) + 2)]


def test_a_line_longer_than_a_block(pair, either_path):
    source, target = pair(b"a " * 5000 + b"\nb\n" + b"c " * 70_000, b"x\n" * 3)
    with settled(_BLOCK=1000):
        corpus = read_bitext(source, target, max_length=100_000)
    assert corpus.source.lengths().tolist() == [5000, 1, 70_000]
    assert corpus.source_vocabulary.words() == ["", "a", "b", "c"]


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
