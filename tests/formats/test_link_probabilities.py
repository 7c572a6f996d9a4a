import numpy as np
import pytest

from aligntools.formats.links.pharaoh import read_with_probabilities
from aligntools.ground.errors import DataError


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
