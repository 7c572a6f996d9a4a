import numpy as np
import pytest

from aligntools.formats.links.ttable import read_ttable, read_vocabulary
from aligntools.ground.errors import DataError


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
