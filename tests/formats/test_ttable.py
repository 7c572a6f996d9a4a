import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.links.giza import format_giza_a3, read_giza_a3
from aligntools.formats.links.pharaoh import parse_pharaoh
from aligntools.formats.links.priors import Priors, combined, format_priors, priors_of, read_priors, write_priors
from aligntools.formats.links.ttable import read_ttable, read_vocabulary
from aligntools.formats.text.bitext import TextLines
from aligntools.ground.errors import DataError
from tests.listing import listed


def test_reads_in_any_order_and_the_last_line_of_a_pair_counts(tmp_path):
    path = tmp_path / "table"
    path.write_bytes(b"b\ty\t-1\na\tx\t-0.5\n<eps>\tx\t-3e0\nb\ty\t-2\r\na y -1.5")
    table = read_ttable(path)
    assert len(table) == 4
    found = table.lookup([b"a", b"b", b"<eps>", b"?"], [b"x", b"y", b"?"], 1e-9)
    wanted = np.exp([[-0.5, -1.5], [0, -2], [-3, 0], [0, 0]])
    wanted[wanted == 1] = 1e-9
    assert found[:, :2] == pytest.approx(wanted)
    assert (found[:, 2] == 1e-9).all()
    path = tmp_path / "table"
    path.write_bytes(b"")
    assert read_ttable(path).lookup([b"a"], [b"b", b"c"], 0.5).tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize(
    "row",
    [b"a b", b"a\tb\tc", b"a\tb\t-1\t2", b"", b"F\xe4hre\tb\t-1"]
    + [b"a\tc\t" + number for number in (b"nan", b"inf", b"1e999", b"2", b"0.5")],
)
def test_errors_name_the_line(tmp_path, row):
    path = tmp_path / "table"
    path.write_bytes(b"a\tb\t-1\n" + row + b"\na\td\t-inf\n")
    with pytest.raises(DataError, match=f"{path}:2: "):
        read_ttable(path)


def test_t_tables_by_number_and_by_word(tmp_path):
    (tmp_path / "s.vcb").write_bytes(b"2 das 7\n3 haus 4\n")
    (tmp_path / "t.vcb").write_bytes(b"2 the 7\n3 house 4\n")
    (tmp_path / "t3").write_bytes(b"0 2 0.25\n2 2 0.75\n3 3 1\n")
    (tmp_path / "actual").write_bytes(b"NULL the 0.25\ndas the 0.75\nhaus house 1\n")
    vocabularies = [read_vocabulary(tmp_path / name) for name in ("s.vcb", "t.vcb")]
    for table in (read_ttable(tmp_path / "t3", *vocabularies), read_ttable(tmp_path / "actual")):
        found = table.lookup([b"<eps>", b"das", b"haus"], [b"the", b"house"], 0)
        assert found.tolist() == [[0.25, 0], [0.75, 0], [0, 1]]


@pytest.mark.parametrize(("row", "problem"), [(b"9 2 0.5", "no word has the number '9'"), (b"2 9 0.5", "number '9'")])
def test_numbers_without_a_word_name_the_line(tmp_path, row, problem):
    path = tmp_path / "t3"
    path.write_bytes(b"2 2 0.5\n" + row + b"\n")
    with pytest.raises(DataError, match=f"{path}:2: .*{problem}"):
        read_ttable(path, {b"2": b"a"}, {b"2": b"b"})


def test_vocabularies(tmp_path):
    path = tmp_path / "vcb"
    path.write_bytes(b"2 a 1\nb 3 1\n")
    with pytest.raises(DataError, match=f"{path}:2: 'b 3 1' is not a number"):
        read_vocabulary(path)
    (tmp_path / "a.vcb").write_bytes(b"2 the 5\n3 b\xfft 1\n")
    with pytest.raises(DataError, match=r"a\.vcb:2: bytes that are not UTF-8"):
        read_vocabulary(str(tmp_path / "a.vcb"))
    (tmp_path / "table").write_bytes(b"\xef\xbb\xbf2\t3\t-1\n")
    (tmp_path / "vcb").write_bytes(b"\xef\xbb\xbf2 das 7\n3 haus 4\n")
    names = read_vocabulary(tmp_path / "vcb")
    assert read_ttable(tmp_path / "table", names, names).lookup([b"das"], [b"haus"], 0.0)[0, 0] == pytest.approx(
        np.exp(-1)
    )


LINES = (
    "LEX\t<NULL>\tthe\t2\nLEX\tdas\t<NULL>\t0.5\nLEX\tdas\tthe\t3\nFERF\tdas\t1\t3\nFERR\tthe\t0\t1\n"
    "FERR\tthe\t1\t2\nHMMF\t-1\t4\nHMMF\t2\t1e+06\nHMMR\t0\t1.5\n"
)


def text_of(priors):
    return b"".join(format_priors(priors)).decode()


def test_what_is_read_in_any_order(tmp_path):
    path = tmp_path / "priors.tsv"
    path.write_text(LINES)
    priors = read_priors(path)
    assert listed(priors) == {
        "LEX": [("<NULL>", "the", 2), ("das", "<NULL>", 0.5), ("das", "the", 3)],
        "FERF": [("das", 1, 3)], "FERR": [("the", 0, 1), ("the", 1, 2)],
        "HMMF": [(-1, 4), (2, 1e6)], "HMMR": [(0, 1.5)],
    }  # fmt: skip
    write_priors(tmp_path / "out.tsv.gz", priors)
    assert gzip.decompress((tmp_path / "out.tsv.gz").read_bytes()).decode() == LINES
    assert len(priors) == 9
    assert "3 LEX" in repr(priors)
    lines = ["HMMR\t0\t1", "LEX\tb\ty\t1", "LEX\ta\tx\t1\r", "", "HMMR\t0\t0.5", "LEX\tb\ty\t2"]
    priors = read_priors(TextLines(["\ufeff" + lines[0], *lines[1:]]))
    assert text_of(priors) == "LEX\ta\tx\t1\nLEX\tb\ty\t3\nHMMR\t0\t1.5\n"
    rows = [f"LEX\tw{k % 7}\tv{k % 5}\t{k % 3}" for k in range(50)]
    quick, slow = read_priors(TextLines(rows)), read_priors(TextLines([*rows, "HMMF\t0\t1"]))
    assert len(quick.lexical) == 35
    assert listed(quick) == listed(slow) | {"HMMF": []}
    with pytest.raises(DataError, match=":1: "):
        read_priors(TextLines(["LEX\ta\t1", "5\tLEX\tb\tc\t2"]))
    assert (len(combined([])), text_of(Priors())) == (0, "")


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("LEX\ta\tx", "LEX a x"), ("LEX\ta\tx\t1\t2", "LEX a x 1 2"), ("LEX\ta\tx\tone", "'one'"),
        ("LEX\ta\tx\t-1", "'-1'"), ("LEX\ta\tx\tnan", "'nan'"), ("LEX\ta\tx\tinf", "'inf'"),
        ("LEX\ta\tx\t1e16", "'1e16'"), ("LEX\t\tx\t1", "LEX"), ("LEX a x 1", "LEX a x 1"),
        ("FERF\ta\tx\t1", "'x'"), ("FERF\ta\t-1\t1", "'-1'"), ("FERR\ta\t1.5\t1", "'1.5'"),
        ("FERF\ta\t99999999999999999999\t1", "'9999"), ("HMMF\t0\t1\t2", "HMMF 0 1 2"),
        ("HMMR\tx\t1", "'x'"), ("HMM\t0\t1", "HMM"), ("0-0 1-1", "0-0 1-1"),
    ],
)  # fmt: skip
def test_errors_name_the_line_and_what_was_found(tmp_path, row, found):
    path = tmp_path / "priors"
    for before in ("LEX\ta\tx\t1\n", "HMMF\t0\t1\n"):  # both ways of reading
        path.write_text(before + row + "\nLEX\tb\tx\t1\n")
        with pytest.raises(DataError, match=f"{path}:2: ") as error:
            read_priors(path)
        assert found in str(error.value)


def test_bytes_that_are_no_text_are_named(tmp_path):
    path = tmp_path / "priors"
    path.write_bytes(b"LEX\ta\tx\t1\nLEX\tF\xe4hre\tx\t1\n")
    with pytest.raises(DataError, match=f"{path}:2: bytes that are not UTF-8"):
        read_priors(path)


WORD = st.text(st.characters(blacklist_characters="\t\n\r", blacklist_categories=("Cs",)), min_size=1, max_size=3)
ALPHA = st.one_of(st.integers(0, 999_999), st.sampled_from([0.5, 0.25, 1.5]))
PRIORS = st.builds(
    priors_of, st.lists(st.tuples(WORD, WORD, ALPHA), max_size=8),
    *[st.lists(st.tuples(WORD, st.integers(0, 9), ALPHA), max_size=5)] * 2,
    *[st.lists(st.tuples(st.integers(-9, 9), ALPHA), max_size=5)] * 2,
)  # fmt: skip


@given(PRIORS)
def test_round_trip(priors):
    lines = b"".join(format_priors(priors))
    again = read_priors(TextLines(lines.decode().split("\n")[:-1]))
    assert b"".join(format_priors(again)) == lines
    rows = [line.split("\t") for line in lines.decode().split("\n")[:-1]]
    for kind, columns in (("LEX", 2), ("FERF", 2), ("FERR", 2), ("HMMF", 1), ("HMMR", 1)):
        keys = [
            tuple(key if kind == "LEX" or k < columns - 1 else int(key) for k, key in enumerate(row[1:-1]))
            for row in rows
            if row[0] == kind
        ]
        assert keys == sorted(set(keys))


@given(PRIORS, PRIORS)
def test_merging_adds(one, other):
    def totals(*all_priors):
        found = {}
        for priors in all_priors:
            for kind, rows in listed(priors).items():
                for *key, alpha in rows:
                    found[kind, *key] = found.get((kind, *key), 0) + alpha
        return found

    assert totals(combined([one, other])) == pytest.approx(totals(one, other))


def test_objects_that_no_file_could_hold_are_refused():
    with pytest.raises(DataError, match="'-1' is not a count"):
        priors_of([("a", "b", -1)])
    with pytest.raises(DataError, match="LEX  b"):
        priors_of([("", "b", 1)])


A3 = b"""# Sentence pair (2) source length 2 target length 3 alignment score : 0.01
la maison bleue
NULL ({ }) blue ({ 1 3 }) house ({ 2 })
# Sentence pair (1) source length 3 target length 1 alignment score : 1e-05
x
NULL ({ 1 }) ({ ({ }) }) ({ }) 5 ({ })
"""


def test_giza_files_are_put_in_the_order_of_their_numbers(file):
    links, missing = read_giza_a3(file(A3))
    assert links.tolists() == [[], [(0, 0), (0, 2), (1, 1)]]
    assert missing == 0
    links, missing = read_giza_a3(file(A3.replace(b"(1) s", b"(4) s")))
    assert (len(links), missing) == (4, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((b"(1) s", b"(2) s"), ":4: sentence pair 2 comes twice"),
        ((b"# Sentence pair (1)", b"# (1)"), ":4: '# Sentence pair"),
        ((b"({ 1 3 })", b"({ 1 4 })"), ":3: a position outside 1 to 3"),
        ((b"({ 1 3 })", b"({ 1 %s })" % (b"9" * 5000)), ":3: 2 words where NULL and 2"),
        ((b"(1) s", b"(999999999) s"), ": has a sentence pair 999999999 and only 2 pairs"),
        ((b"({ 1 3 })", b"({ 1 2 })"), ":3: a target position comes twice"),
        ((b"source length 2", b"source length 4"), ":3: 3 words where NULL and 4"),
        ((b"x\nNULL ({ 1 }) ({ ({ }) }) ({ }) 5 ({ })\n", b"x\n"), ":4: the file ends within"),
    ],
)
def test_giza_files_that_are_wrong(file, change, message):
    with pytest.raises(DataError) as caught:
        read_giza_a3(file(A3.replace(*change)))
    assert message in str(caught.value)


def test_words_in_a3_have_no_carriage_return():
    links = parse_pharaoh(b"0-0\n")
    one = format_giza_a3(links, b"a b", b"c")
    assert format_giza_a3(links, b"a b\r", b"c\r") == one
