"""Links between words and pieces, from Python."""

import pytest

import aligntools as at

SOURCE, TARGET = ["▁Fahr rad ▁neu", "▁x"], ["▁bi cycle ▁ new", "▁y"]


def test_there_and_back():
    links = ["0-0 1-1", ""]
    there = at.links_to_pieces(links, SOURCE, TARGET)
    assert there == [[(0, 0), (0, 1), (1, 0), (1, 1), (2, 3)], []]
    assert at.links_to_words(there, SOURCE, TARGET) == [[(0, 0), (1, 1)], []]


def test_sentences_may_be_lists_and_words_be_known():
    pieces = [["Fahr", "rad", "neu"]], [["bi", "cycle", "new"]]
    words = {"source_words": ["Fahrrad neu"], "target_words": [["bicycle", "new"]]}
    assert at.links_to_pieces([[(1, 1)]], *pieces, scheme="icu", **words) == [[(2, 2)]]


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: at.links_to_words(["0-0"], SOURCE, TARGET), "2 sentences, but there are 1 alignments"),
        (lambda: at.links_to_words(["0-0 3-0", ""], SOURCE, TARGET), "link 3-0 points past the source sentence"),
        (lambda: at.links_to_words(["0-0"], ["a"], ["b"]), "no marks of pieces"),
        (lambda: at.links_to_pieces(["", ""], SOURCE, TARGET, source_words=["a b", "x"]), "source pieces:1: these pi"),
    ],
)
def test_what_does_not_go_together_is_named(call, problem):
    with pytest.raises(at.DataError, match=problem):
        call()


def test_unknown_schemes_are_refused():
    with pytest.raises(at.UsageProblem, match="no scheme 'spm'"):
        at.links_to_words(["0-0"], ["▁a"], ["▁b"], scheme="spm")
    assert at.links_to_words([], [], []) == []
