"""Symmetrization and lexicons from Python."""

from types import SimpleNamespace

import numpy as np
import pytest

import aligntools as at
from aligntools.formats.links.pharaoh import Links, read_pharaoh
from aligntools.links.operations import combine_files
from tests.places import ROOT, SAMPLES

GOLDENS = ROOT / "tests" / "data" / "symmetrize"
FORWARD, REVERSE = [(0, 0), (1, 1), (2, 2)], [(0, 0), (1, 1), (1, 2), (2, 2)]


@pytest.mark.parametrize("wrap", [
    list, set, np.array, lambda links: SimpleNamespace(links=links),
    lambda links: SimpleNamespace(pairs=np.array(links, np.int32)), lambda links: (link for link in links),
    lambda links: " ".join(f"{i}-{j}" for i, j in links),
])  # fmt: skip
def test_one_pair_in_every_form(wrap):
    assert at.symmetrize(wrap(FORWARD), wrap(REVERSE), "union") == REVERSE
    assert at.symmetrize(wrap(FORWARD), wrap(REVERSE), "intersect") == FORWARD
    assert at.symmetrize([wrap(FORWARD)], [wrap(REVERSE)], "union") == [REVERSE]


def test_the_default_and_flavors_are_those_of_the_programs():
    texts = [(GOLDENS / f"{name}.align").read_text().splitlines() for name in ("forward", "reverse")]

    def golden(name):
        return read_pharaoh(GOLDENS / name).tolists()

    assert at.symmetrize(*texts) == golden("atools.grow-diag-final-and.align")
    assert at.symmetrize(*texts, "grow-diag", flavor="symal") == golden("symal.grow-diag.align")
    read = [read_pharaoh(GOLDENS / f"{name}.align") for name in ("forward", "reverse")]
    assert at.symmetrize(*read, "union") == golden("union.align")
    one = [at.symmetrize(f, r) for f, r in zip(*texts, strict=True)]
    assert one == golden("atools.grow-diag-final-and.align")


def test_no_links_and_files(tmp_path):
    assert at.symmetrize([], []) == []
    assert at.symmetrize("", "0-0", "union") == [(0, 0)]
    assert at.symmetrize([], [(0, 0)], "union") == [(0, 0)]
    assert at.symmetrize([[], []], [[], [(1, 0)]], "union") == [[], [(1, 0)]]
    assert at.symmetrize(np.empty((0, 2), int), [(0, 1)], "union") == [(0, 1)]
    out = tmp_path / "out"
    tally = combine_files("union", [str(GOLDENS / "forward.align"), str(GOLDENS / "reverse.align")], str(out))
    assert out.read_bytes() == (GOLDENS / "union.align").read_bytes()
    assert tally.sentences == 12
    with pytest.raises(at.UsageProblem, match="no operation 'joint'"):
        combine_files("joint", [], str(out))
    links, text = tmp_path / "links", tmp_path / "text"
    links.write_bytes(b"0-1\n")
    text.write_bytes(b"a b\n")
    with pytest.raises(at.UsageProblem, match="links is the file that is read as paths"):
        combine_files("invert", [str(links)], str(links))
    with pytest.raises(at.UsageProblem, match="text is the file that is read as check"):
        combine_files("invert", [str(links)], str(text), check=(str(text), str(text)))
    assert (links.read_bytes(), text.read_bytes()) == (b"0-1\n", b"a b\n")
    combine_files("invert", [str(links)], in_place=True)
    assert links.read_bytes() == b"1-0\n"


@pytest.mark.parametrize(("arguments", "error", "message"), [
    (("0-0", "0-0", "grow-final"), at.UsageProblem, "no method 'grow-final'"),
    (("0-0", "0_0"), at.DataError, "reverse:1: '0_0' is not a link"),
    ((["0-0"], ["0-0", "0-0"]), at.DataError, "reverse: 2 alignments, but forward has 1"),
    (("0-0", ["0-0"]), at.DataError, "one direction is an alignment"),
    (([["a"]], [[]]), at.DataError, "forward:1: .* is not an alignment"),
])  # fmt: skip
def test_what_is_wrong(arguments, error, message):
    with pytest.raises(error, match=message):
        at.symmetrize(*arguments)
    with pytest.raises(at.UsageProblem, match="no flavor 'giza'"):
        at.symmetrize("0-0", "0-0", flavor="giza")


SOURCES, TARGETS = ["das Haus", "", "das Buch"], [["the", "house"], [], ["the", "book", "."]]
LINKS = [[(0, 0), (1, 1)], [], "0-0 1-1"]


def test_a_lexicon(tmp_path):
    tables = at.extract_lexicon(SOURCES, TARGETS, LINKS)
    assert (len(tables), tables.links) == (4, 4)
    assert str(tables) == "4 pairs of words, 3 source and 4 target words"
    rows = zip(tables.source.tolist(), tables.target.tolist(), strict=True)
    words = [(tables.source_words[i], tables.target_words[j]) for i, j in rows]
    assert dict(zip(words, tables.given_source().tolist(), strict=True)) == {
        ("NULL", "."): 1, ("das", "the"): 1, ("Haus", "house"): 1, ("Buch", "book"): 1,
    }  # fmt: skip
    tables.save(str(tmp_path / "lex"))
    assert (tmp_path / "lex.f2e").read_text().splitlines()[0] == ". NULL 1.0000000"
    with pytest.raises(at.UsageProblem, match="top must be"):
        tables.shortlist(0)
    with pytest.raises(at.UsageProblem, match="min_share must be"):
        tables.save("unwritten", min_share=2)
    short = tables.shortlist(1)
    short.save(str(tmp_path / "short"))
    assert list(short) == [("Buch", "book", 1.0), ("Haus", "house", 1.0), ("das", "the", 1.0)]
    assert (tmp_path / "short").read_text().splitlines()[0] == "book Buch 1.00000000"
    assert len(short) == 3


def test_a_lexicon_of_a_bitext_and_of_files(tmp_path):
    bitext = at.read_bitext(SOURCES, TARGETS, case_sensitive=True)
    (tmp_path / "links").write_text("1-1 2-2\n\n1-1 2-2\n")
    for links in (LINKS, Links.from_lists([[(0, 0), (1, 1)], [], [(0, 0), (1, 1)]])):
        assert list(at.extract_lexicon(bitext, None, links).shortlist()) == [
            ("Buch", "book", 1.0), ("Haus", "house", 1.0), ("das", "the", 1.0),
        ]  # fmt: skip
    found = at.extract_lexicon(bitext, None, tmp_path / "links", index_base=1)
    assert list(found.shortlist()) == list(at.extract_lexicon(SOURCES, TARGETS, LINKS).shortlist())
    gold = [line.replace("?", "-") for line in (SAMPLES / "de-en.wa").read_text().splitlines()]
    joint = tmp_path / "joint"
    joint.write_text("".join((SAMPLES / "de-en.txt").read_text().splitlines(True)[: len(gold)]))
    assert at.extract_lexicon(joint, None, gold).links == sum(len(line.split()) for line in gold)


def test_lexicons_that_cannot_be(caplog):
    with pytest.raises(at.DataError, match="alignments: 2 lines, but the text has 3 sentence pairs"):
        at.extract_lexicon(SOURCES, TARGETS, LINKS[:2])
    bad = [[(0, 0), (2, 1)], [], [(0, 0)]]
    with pytest.raises(at.DataError, match="alignments:1: link 2-1 points past the source sentence, which has 2"):
        at.extract_lexicon(SOURCES, TARGETS, bad)
    with caplog.at_level("INFO", "aligntools"):
        assert at.extract_lexicon(SOURCES, TARGETS, bad, skip_bad_links=True).links == 2
    assert [r.getMessage() for r in caplog.records] == [
        "alignments: 1 links past the end of a sentence left out",
        "pairs without words: 1 blank; first at line 2",
    ]
    with pytest.raises(at.AligntoolsError):
        at.extract_lexicon(SOURCES, TARGETS[:2], LINKS)


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
