import pytest

from aligntools.formats.links.goldlinks import read_gold
from aligntools.ground.errors import DataError, UsageProblem


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
