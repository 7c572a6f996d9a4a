"""Other aligners' links with probabilities, read in step with a text."""

import gzip
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.links import pharaoh
from aligntools.formats.links.given_links import POSSIBLE, GivenLinks, GivenLinksReader, concatenate_given, parse_given
from aligntools.formats.links.goldlinks import read_gold
from aligntools.formats.links.pharaoh import Links, read_with_probabilities
from aligntools.ground.errors import DataError, UsageProblem

sentences = st.lists(st.sets(st.tuples(st.integers(0, 1200), st.integers(0, 70)), max_size=60), max_size=8)
either = pytest.mark.parametrize("compiled", [False, True])


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
        with pytest.raises(DataError, match=r"file:8: 'x'"):
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
    packed = file(b"0-0\n", "corpus.align.gz")
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


def shown(given):
    """Return sentence -> link -> strength."""
    return [
        dict(zip(map(tuple, given[k : k + 1].links.pairs.tolist()), given[k : k + 1].strengths.tolist(), strict=True))
        for k in range(len(given))
    ]


def test_links_probabilities_and_possible_links_in_any_order():
    data = b"3-4 0-1:0.25\t1?2\r\n\n1p0:0.75 0-0:1e-3 id ||| 2-2\nx y ||| 0-0:0.5"
    found = [{(3, 4): 1.0, (0, 1): 0.25, (1, 2): POSSIBLE}, {}, {(2, 2): 1.0}, {(0, 0): 0.5}]
    assert shown(parse_given(data)) == found
    assert shown(parse_given(b"1P0:0.75\n")) == [{(1, 0): 0.75}]
    assert shown(parse_given(b"3-4 0-1\n\n2-2\n")) == [{(0, 1): 1.0, (3, 4): 1.0}, {}, {(2, 2): 1.0}]
    assert shown(parse_given(b"")) == []
    assert shown(parse_given(b"0-0:0.1 1-1 0-0:0.9\n")) == [{(0, 0): 0.9, (1, 1): 1.0}]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (b"0-0:1.5", "'0-0:1.5': a probability from 0 to 1 was expected"),
        (b"0-0:0.1.2", "'0-0:0.1.2': a probability from 0 to 1"),
        (b"0-0:-2", "'0-0:-2' is not a link"),
        (b"0-0:nan", "'0-0:nan' is not a link"),
        (b"1?", "'1?' is not a link (3-4, 3-4:0.97 with a probability, or 3?4 for a possible one)"),
        (b"1-2-3:0.5", "'1-2-3:0.5' is not a link"),
        (b"x", "'x' is not a link"),
    ],
)
def test_what_is_no_link_is_named_with_its_line(row, said):
    with pytest.raises(DataError) as error:
        parse_given(b"0-0:0.5\n" + row + b"\n", path="f", line=11)
    assert str(error.value).startswith("f:12: " + said)


def test_parts_and_exchanged_sides():
    whole = parse_given(b"0-1:0.5 2-0\n\n1-1:0.25\n0-0\n")
    assert shown(whole[1:3]) == [{}, {(1, 1): 0.25}]
    assert shown(whole[np.array([3, 0])]) == [{(0, 0): 1.0}, {(0, 1): 0.5, (2, 0): 1.0}]
    assert shown(concatenate_given([whole[:2], whole[2:]])) == shown(whole)
    assert shown(whole.turned())[0] == {(0, 2): 1.0, (1, 0): 0.5}
    assert shown(GivenLinks.of(Links.from_lists([[(0, 0)]]))) == [{(0, 0): 1.0}]


def test_a_file_in_step_with_blocks_of_text(tmp_path):
    path = tmp_path / "links.gz"
    path.write_bytes(gzip.compress(b"0-0\n9-9\n1-1:0.5 0-0\n"))
    reader = GivenLinksReader(path)
    first = reader.read(np.array([1, 0]), np.array([2, 0]))  # links of a pair that was skipped are left out
    assert shown(first) == [{(0, 0): 1.0}, {}]
    assert shown(reader.read(np.array([2]), np.array([2]))) == [{(0, 0): 1.0, (1, 1): 0.5}]
    reader.end(3)
    with pytest.raises(DataError, match="has 3 lines of links, but the text has more"):
        reader.read(np.array([1]), np.array([1]))
    reader.close()
    reader = GivenLinksReader(path)
    reader.read(np.array([1]), np.array([2]))
    with pytest.raises(DataError, match=r"links.gz:2: link 9-9 points past the source sentence, which has 3 words"):
        reader.read(np.array([3]), np.array([2]))
    reader.close()
    reader = GivenLinksReader(path)
    reader.read(np.array([1, 0]), np.array([2, 0]))
    with pytest.raises(DataError, match=r"links.gz:3: there are more lines of links than the 2 of the text"):
        reader.end(2)
    reader.close()


def test_probabilities_follow_their_links(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"2-1:0.25 0-0:1e-3 1-1\n\nx ||| 0-3:7 0-0:0.5\n")
    links, found = read_with_probabilities(path)
    assert links.tolists() == [[(0, 0), (1, 1), (2, 1)], [], [(0, 0), (0, 3)]]
    np.testing.assert_array_equal(found, [0.001, np.nan, 0.25, 0.5, 1.0])
    again, shifted = read_with_probabilities(path, index_base=0)
    assert again.tolists() == links.tolists()
    np.testing.assert_array_equal(shifted, found)
    path = tmp_path / "a"
    path.write_bytes(b"1-1\n2-2")
    links, found = read_with_probabilities(path, index_base=1)
    assert (links.tolists(), found) == ([[(0, 0)], [(1, 1)]], None)
    path.write_bytes(b"1-1:x\n")
    with pytest.raises(DataError, match=":1: '1-1:x' is not a link"):
        read_with_probabilities(path)


@pytest.fixture
def gold(tmp_path):
    def read(text, **how):
        path = tmp_path / "gold.wa"
        path.write_text(text)
        return read_gold(str(path), **how)

    return read


def test_pharaoh_marks_and_ids(gold):
    links = gold("0-0 2p1 1?1 1P2\n\n3-3 3?3\n")
    assert links.format == "pharaoh"
    assert links.sure.tolists() == [[(0, 0)], [], [(3, 3)]]
    assert links.possible.tolists() == [[(0, 0), (1, 1), (1, 2), (2, 1)], [], [(3, 3)]]
    assert links.all_sure().sure.tolists() == links.possible.tolists()
    assert links.ignore_possible().possible.tolists() == links.sure.tolists()
    links = gold("1-1 2?3\n", index_base=1)
    assert links.possible.tolists() == [[(0, 0), (1, 2)]]
    with pytest.raises(DataError, match=r"gold\.wa:2: link 0-1 has an index 0, but counting from 1"):
        gold("1-1\n0-1\n", index_base=1)
    assert len(gold("\n\n", format="pharaoh")) == 2
    links = gold("GEN 1:1\t0-0 2p1\n40001001\t\n\n3-3\t1-1\n")
    assert links.sure.tolists() == [[(0, 0)], [], [], [(1, 1)]]
    assert links.possible.tolists() == [[(0, 0), (2, 1)], [], [], [(1, 1)]]
    assert gold("0-0\t1-1\n2-2\n").sure.tolists() == [[(0, 0), (1, 1)], [(2, 2)]]  # a tab between links is a blank
    with pytest.raises(DataError, match=r":3: '4-4' has no id and tab before its links"):
        gold("a\t0-0\n\n4-4\n")


NAACL = "0001 1 1 S\n0001 2 3 P\n0003 2 2\n0003 0 4 S\n0003 1 1 P 0.5\n0003 1 2 S 1.0\n0003 1 3 0.25\n"


def test_numbered_lines(gold):
    links = gold(NAACL)
    assert (links.format, links.index_base, links.first_sentence, links.null_links) == ("naacl", 1, 1, 1)
    assert links.sure.tolists() == [[(0, 0)], [], [(0, 1), (0, 2), (1, 1)]]
    assert links.possible.tolists() == [[(0, 0), (1, 2)], [], [(0, 0), (0, 1), (0, 2), (1, 1)]]
    with pytest.raises(UsageProblem):
        gold(NAACL, index_base=0)
    text = NAACL.replace("0001", "0038").replace("0003", "0040")
    assert gold(text, sentences=3).first_sentence == 38
    assert len(gold(text, sentences=3)) == 3
    assert len(gold(text, sentences=40)) == 40
    assert gold(text, first_sentence=37).sure.tolists()[:2] == [[], [(0, 0)]]
    with pytest.raises(DataError, match="sentence numbers run from 38 to 40: give the number"):
        gold(text, sentences=100)
    with pytest.raises(DataError, match="has a sentence 38, which is before the first sentence, 39"):
        gold(text, first_sentence=39)


@pytest.mark.parametrize(
    ("text", "how", "message"),
    [
        ("", {}, "has no gold links"),
        ("\n\n", {}, "has no gold links"),
        ("\nhello world\n", {}, "gold.wa:2: 'hello world' is not a gold alignment"),
        ("0-0\n1-1 2x2\n", {}, "gold.wa:2: '2x2' is not a gold link"),
        ("1 1 1 S\n1 1 S\n", {}, "gold.wa:2: '1 1 S' is not 'sentence source target"),
        ("1 1 1 S\n1 1 1 Q\n", {}, "gold.wa:2: "),
        ("1 1 1 S\n1 2 3 S 0.5 7\n", {}, "gold.wa:2: "),
        ("1 0 1\n", {}, "has no gold links"),
        ("0-0\n", {"format": "naacl"}, "gold.wa:1: "),
    ],
)
def test_wrong_files_are_refused(gold, text, how, message):
    with pytest.raises(DataError) as caught:
        gold(text, **how)
    assert message in str(caught.value)


def test_ids_may_be_numbers_of_the_corpuss_lines(gold):
    links = gold("#2\t0-0 2?1\n#3\t\n#17\t1-1\n")
    assert links.sure.tolists() == [[(0, 0)], [], [(1, 1)]]
    assert links.numbers.tolist() == [2, 3, 17]
    assert (links.rows.tolist(), links.reach) == ([1, 2, 16], 17)
    assert links.all_sure().rows.tolist() == [1, 2, 16]
    plain = gold("0-0\n\n1-1\n")
    assert (plain.numbers, plain.rows.tolist(), plain.reach) == (None, [0, 1, 2], 3)
    for wrong, message in (("#2\t0-0\n#2\t0-0\n", ":2: '#2' is not the number of a later line, as in '#3'"),
                           ("#2\t0-0\nx\t0-0\n", ":2: 'x' is not the number"),
                           ("#2\t0-0\n\n#3\t0-0\n", ":2: '' is not the number")):  # fmt: skip
        with pytest.raises(DataError, match=message):
            gold(wrong)
