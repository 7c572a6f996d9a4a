"""Every way of reading parallel text gives the same: compiled or not, whole, in blocks or line by line."""

import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.text.bitext import read_bitext, read_side, stream_bitext
from aligntools.formats.text.corpus import Skipped
from aligntools.ground.errors import DataError
from aligntools.words.line_scan import FORMATS
from aligntools.words.vocabulary import Vocabulary
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


@given(
    st.one_of(st.binary(min_size=1), st.lists(PIECES, min_size=1).map(b"".join), st.text(min_size=1).map(str.encode))
)
def test_utf8_is_what_python_takes_for_it(data):
    lines = data.split(b"\n") if not data.endswith(b"\n") else data[:-1].split(b"\n")
    assert scanned_as_valid(data) == [is_utf8(line) for line in lines]


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
