import gzip
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.links import pharaoh
from aligntools.formats.links.pharaoh import Links
from aligntools.ground.errors import DataError

sentences = st.lists(st.sets(st.tuples(st.integers(0, 1200), st.integers(0, 70)), max_size=60), max_size=8)
either = pytest.mark.parametrize("compiled", [False, True])


@pytest.fixture
def file(tmp_path):
    def write(data, name="corpus.align"):
        path = tmp_path / name
        path.write_bytes(data)
        return str(path)

    return write


@either
@given(sentences)
def test_written_links_are_read_back(compiled, corpus):
    links = Links.from_lists(corpus)
    for order in ("source", "target"):
        text = pharaoh.format_pharaoh(links, order, compiled=compiled)
        assert text.count(b"\n") == len(corpus)
        assert pharaoh.parse_pharaoh(text, compiled=compiled).tolists() == [sorted(s) for s in corpus]


@given(sentences, st.integers(0, 2**32 - 1))
def test_compiled_and_plain_writing_agree(corpus, seed):
    links = Links.from_lists(corpus)
    p = np.random.default_rng(seed).random(len(links.pairs)).astype(np.float32)
    for order in ("source", "target"):
        for probabilities in (None, p):
            texts = [pharaoh.format_pharaoh(links, order, probabilities, compiled=c) for c in (False, True)]
            assert texts[0] == texts[1]


@given(st.binary(max_size=40) | st.text("01-: \n\r\t|.x", max_size=30).map(str.encode))
def test_compiled_and_plain_reading_agree_on_anything(data):
    results = []
    for compiled in (False, True):
        try:
            results.append(pharaoh.parse_pharaoh(data, compiled=compiled).tolists())
        except DataError as error:
            results.append(str(error))
    assert results[0] == results[1]
    if isinstance(results[0], list):
        assert len(results[0]) == data.count(b"\n") + (not data.endswith(b"\n") and data != b"")


@either
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", []),
        (b"\n", [[]]),
        (b"0-0", [[(0, 0)]]),
        (b"1-0 0-2  0-1\t0-1 \r\n\n", [[(0, 1), (0, 2), (1, 0)], []]),
        (b"a b ||| c - d ||| 0-1 1-0\n||| 2-2\n x ||| y ||| \n", [[(0, 1), (1, 0)], [(2, 2)], []]),
        (b"0-0\n|||", [[(0, 0)], []]),
        (b"0-0:0.9731 1-2:1e-05 3-3:1\n", [[(0, 0), (1, 2), (3, 3)]]),
        (b"999999999-999999999\n", [[(999999999, 999999999)]]),
    ],
)
def test_forms_that_are_read(compiled, text, expected):
    assert pharaoh.parse_pharaoh(text, compiled=compiled).tolists() == expected


@either
@pytest.mark.parametrize(
    "token", ["3", "3-", "-3", "3-4-5", "a-b", "3--4", "3_4", "1234567890-1", "1-2:", "1-2:x", "1-2:3-4", "é", "\x0b"]
)
def test_a_bad_token_is_named_with_its_line(compiled, token):
    text = f"0-0 1-1\n\n1-1 {token} 2-2\n0-0\n".encode()
    with pytest.raises(DataError, match=r"^corpus:13: '") as caught:
        pharaoh.parse_pharaoh(text, path="corpus", line=11, compiled=compiled)
    assert f"'{token}' is not a link" in str(caught.value)


def test_bad_tokens_come_with_hints_and_lines_over_blocks(file):
    with pytest.raises(DataError, match="possible links belong in gold files"):
        pharaoh.parse_pharaoh(b"0-0 1?1\n")
    with pytest.raises(DataError, match="remove a score there"):
        pharaoh.parse_pharaoh(b"0-0 1-1 ||| -12.25\n")
    reader = pharaoh.LinkReader(file(b"0-0\n" * 7 + b"x\n"))
    with closing(reader):
        assert [len(reader.read(3)), len(reader.read(3))] == [3, 3]
        with pytest.raises(DataError, match=r"corpus\.align:8: 'x'"):
            reader.read(3)


@either
def test_index_base(compiled):
    assert pharaoh.parse_pharaoh(b"1-1 2-3\n", index_base=1, compiled=compiled).tolists() == [[(0, 0), (1, 2)]]
    with pytest.raises(DataError, match="corpus:2: link 0-1 has an index 0"):
        pharaoh.parse_pharaoh(b"1-1\n0-1\n", path="corpus", index_base=1, compiled=compiled)


def test_probabilities_have_four_decimals_and_stay_between_0_and_1():
    links = Links.from_lists([[(0, 0), (1, 1), (2, 2), (3, 3)]])
    p = np.array([0.97314, 0.99999, -0.1, 0.00005])
    expected = b"0-0:0.9731 1-1:1.0000 2-2:0.0000 3-3:0.0001\n"
    assert pharaoh.format_pharaoh(links, probabilities=p) == expected


def test_files_are_read_whole_in_part_and_in_blocks(file):
    path = file(b"0-0\n" * 5 + b"1-1 2-2\n\n3-3")
    whole = pharaoh.read_pharaoh(path)
    assert whole.tolists() == [[(0, 0)]] * 5 + [[(1, 1), (2, 2)], [], [(3, 3)]]
    assert pharaoh.read_pharaoh(path, head=6).tolists() == whole[:6].tolists()
    blocks = []
    with closing(pharaoh.LinkReader(path)) as reader:
        while len(block := reader.read(3)):
            blocks.append(block)
    assert [len(block) for block in blocks] == [3, 3, 2]
    assert pharaoh.concatenate(blocks).tolists() == whole.tolists()
    packed = file(gzip.compress(b"0-0\n"), "corpus.align.gz")
    assert pharaoh.read_pharaoh(packed).tolists() == [[(0, 0)]]
    assert len(pharaoh.read_pharaoh(file(b""))) == 0


@given(st.lists(st.integers(1, 5), max_size=10), st.integers(0, 12), st.booleans())
def test_a_line_reader_gives_every_line_once(tmp_path_factory, sizes, lines, newline):
    data = b"".join(b"line %d\n" % k for k in range(lines))
    data = data if newline else data[:-1]
    path = tmp_path_factory.mktemp("lines") / "text"
    path.write_bytes(data)
    reader = pharaoh.LineReader(path)
    parts = [reader.read(size) for size in sizes]
    for size, part in zip(sizes, parts, strict=True):
        assert part.count(b"\n") in (size, size - 1) or reader.line == lines
    while part := reader.read(3):
        parts.append(part)
    assert b"".join(parts) == data
    assert reader.line == lines
    reader.close()


@given(sentences)
def test_turning_links_round_twice_changes_nothing(corpus):
    links = Links.from_lists(corpus)
    assert links.inverted().inverted().tolists() == links.tolists()
    assert links.inverted().tolists() == [sorted((j, i) for i, j in s) for s in corpus]


@given(sentences)
def test_slices_are_those_of_lists(corpus):
    links, lists = Links.from_lists(corpus), [sorted(s) for s in corpus]
    for part in (slice(None, 2), slice(1, None), slice(None, None, 2), slice(1, None, 2), slice(5, 3)):
        assert links[part].tolists() == lists[part]


def test_links_past_a_sentence_are_refused():
    links = Links.from_lists([[(0, 0)], [(1, 0), (2, 1)], [(0, 5)]])
    pharaoh.check_range(links, [1, 3, 1], [1, 2, 6], path="corpus")
    with pytest.raises(DataError, match="corpus:12: link 2-1 points past the source sentence, which has 2"):
        pharaoh.check_range(links, [1, 2, 1], [1, 2, 5], path="corpus", line=11)
    with pytest.raises(DataError, match="corpus:3: link 1-6 points past the target sentence, which has 5"):
        pharaoh.check_range(links, None, [1, 2, 5], path="corpus", index_base=1)


@given(st.text("ab \t\n\r\u00a0\u3000", max_size=30).map(str.encode))
def test_words_stand_between_spaces_and_tabs(data):
    rows = [row.removesuffix(b"\r") for row in data.split(b"\n")]
    rows = rows if rows[-1] or not data.endswith(b"\n") else rows[:-1]
    if not data.endswith(b"\r"):  # the end of a text in the middle of a line end is nobody's business
        expected = [len([w for w in row.replace(b"\t", b" ").split(b" ") if w]) for row in rows]
        assert pharaoh.count_words(data).tolist() == (expected if data else [])
