"""Other aligners' links with probabilities, read in step with a text."""

import gzip

import numpy as np
import pytest

from aligntools.formats.links.given_links import POSSIBLE, GivenLinks, GivenLinksReader, concatenate_given, parse_given
from aligntools.formats.links.pharaoh import Links
from aligntools.ground.errors import DataError


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
