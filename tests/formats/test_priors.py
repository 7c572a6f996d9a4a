import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.links.priors import (
    Priors,
    combined,
    format_priors,
    priors_of,
    read_priors,
    write_priors,
)
from aligntools.formats.text.bitext import TextLines
from aligntools.ground.errors import DataError
from tests.listing import listed

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
