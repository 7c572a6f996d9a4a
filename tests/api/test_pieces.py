"""Links between words and pieces, from Python."""

import pytest

import aligntools as at

SOURCE, TARGET = ["▁Fahr rad ▁neu", "▁x"], ["▁bi cycle ▁ new", "▁y"]


def test_links_of_pieces():
    links = ["0-0 1-1", ""]
    there = at.links_to_pieces(links, SOURCE, TARGET)
    assert there == [[(0, 0), (0, 1), (1, 0), (1, 1), (2, 3)], []]
    assert at.links_to_words(there, SOURCE, TARGET) == [[(0, 0), (1, 1)], []]
    pieces = [["Fahr", "rad", "neu"]], [["bi", "cycle", "new"]]
    words = {"source_words": ["Fahrrad neu"], "target_words": [["bicycle", "new"]]}
    assert at.links_to_pieces([[(1, 1)]], *pieces, scheme="icu", **words) == [[(2, 2)]]
    with pytest.raises(at.UsageProblem, match="scheme is one of auto, sentencepiece"):
        at.links_to_words(["0-0"], ["▁a"], ["▁b"], scheme="spm")
    assert at.links_to_words([], [], []) == []
    words = {"source_words": ["\u200b می\u200cخواهم"], "target_words": ["want it"]}
    links = at.links_to_pieces(["0-0 1-0 1-1"], ["میخواهم"], ["<s> want it </s>"], **words)
    assert links == [[(0, 1), (0, 2)]]
    assert at.links_to_words(["0-0 1-1 2-2 3-3"], ["<s> Ġa b </s>"], ["__en__ Ġx Ġy </s>"], scheme="byte-level") == [
        [(0, 0), (0, 1)]
    ]


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: at.links_to_words(["0-0"], SOURCE, TARGET), "2 sentences, but there are 1 alignments"),
        (lambda: at.links_to_words(["0-0 3-0", ""], SOURCE, TARGET), "link 3-0 points past the source sentence"),
        (lambda: at.links_to_words(["0-0"], ["a"], ["b"]), "no marks of pieces"),
        (
            lambda: at.links_to_pieces(["", ""], SOURCE, TARGET, source_words=["a b", "y"]),
            "source pieces:1: the source pieces do not spell the words of the text; so in 2 of 2 lines",
        ),
    ],
)
def test_what_does_not_go_together_is_named(call, problem):
    with pytest.raises(at.DataError, match=problem):
        call()


def test_a_pair_of_other_words_has_no_links(caplog):
    found = at.links_to_pieces(["0-0", "0-0"], SOURCE, TARGET, source_words=["Fahrrad neu", "other"])
    assert found == [[(0, 0), (0, 1), (1, 0), (1, 1)], []]
    assert "pairs left without links: 1 with pieces that do not spell the words; first at line 2" in caplog.text
