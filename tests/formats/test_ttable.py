import numpy as np
import pytest

from aligntools.errors import DataError
from aligntools.formats.ttable import read_ttable


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


def test_an_empty_table_knows_nothing(tmp_path):
    path = tmp_path / "table"
    path.write_bytes(b"")
    assert read_ttable(path).lookup([b"a"], [b"b", b"c"], 0.5).tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize("row", [b"a b", b"a\tb\tc", b"a\tb\t-1\t2", b""])
def test_errors_name_the_line(tmp_path, row):
    path = tmp_path / "table"
    path.write_bytes(b"a\tb\t-1\n" + row + b"\na\tc\t-1\n")
    with pytest.raises(DataError, match=f"{path}:2: "):
        read_ttable(path)
