"""Parsers from Python: what they take, what they give, and that they can be kept, sent and shared."""

import logging

import numpy as np
import pytest

import aligntools as at
from aligntools.formats.annotation.conll import read_conll
from aligntools.formats.annotation.tagged_text import read_tags, read_words
from aligntools.formats.links.pharaoh import Links
from tests.cli.running import ran, run
from tests.places import SAMPLES

BANK = SAMPLES / "en.conllu"
SENTENCE = ["the", "dog", "sleeps", "."], ["DET", "NOUN", "VERB", "PUNCT"]
SOURCE = ["the_DET dog_NOUN sleeps_VERB", "a_DET cat_NOUN sees_VERB the_DET dog_NOUN", "dogs_NOUN sleep_VERB here_ADV"]
TARGET = [
    "der_DET hund_NOUN schlaf_VERB",
    "ein_DET katz_NOUN der_DET hund_NOUN seh_VERB",
    "hund_NOUN hier_ADV schlaf_VERB",
]
LINKS = ["0-0 1-1 2-2", "0-0 1-1 2-4 3-2 4-3", "0-0 1-2 2-1"]


@pytest.fixture(scope="module")
def parser():
    return at.train_parser(BANK, iterations=30)


def saved(parser, tmp_path):
    parser.save(tmp_path / "model")
    return (tmp_path / "model").read_bytes()


def test_a_sentence(parser):
    found = parser.parse(*SENTENCE)
    assert (found.tokens, found.tags) == tuple(map(tuple, SENTENCE))
    assert found.heads.tolist() == [2, 3, 0, 3]
    assert found.edges == [(2, 1), (3, 2), (0, 3), (3, 4)]
    assert found.labels == ("det", "nsubj", "root", "punct")
    assert np.isfinite(found.score)
    lines = str(found).split("\n")
    assert lines[0].split("\t") == ["1", "the", "_", "DET", "_", "_", "2", "det", "_", "_"]
    assert (len(lines), lines[-1], len(found)) == (5, "", 4)
    pairs = list(zip(*SENTENCE, strict=True))
    for same in (pairs, "the_DET dog_NOUN sleeps_VERB ._PUNCT", at.TaggedSentence(*map(tuple, SENTENCE), np.ones(4))):
        assert str(parser.parse(same)) == str(found)
    assert str(parser.parse("the dog sleeps .", SENTENCE[1])) == str(found)
    assert parser.parse(*SENTENCE, labels=False).labels is None
    assert parser.parse(*SENTENCE, max_length=3).heads.tolist() == [0, 1, 1, 1]
    assert parser.parse(*SENTENCE, max_length=3).score == -np.inf
    assert parser.parse([], []).edges == []


def test_batches_and_the_command(parser, tmp_path):
    lines = (SAMPLES / "en.tagged").read_text().splitlines()
    lines[3:3] = [""]
    alone = [str(parser.parse(line)) for line in lines]
    for options in ({}, {"batch_size": 7, "threads": 2}):
        assert [str(p) for p in parser.parse_batch(iter(lines), **options)] == alone
    taken = []
    stream = parser.parse_batch((taken.append(1) or "dogs_NOUN sleep_VERB" for _ in iter(int, 1)), batch_size=5)
    assert [next(stream).heads.tolist() for _ in range(6)] == [[2, 0]] * 6
    assert len(taken) == 10
    parser.save(tmp_path / "model")
    lines = (SAMPLES / "en.tagged").read_text().splitlines()
    written = run("parse", "-m", tmp_path / "model", SAMPLES / "en.tagged").stdout.decode()
    assert "".join(f"{p}\n" for p in parser.parse_batch(lines)) == written
    ran("train-parser", "-q", "--treebank", BANK, "--iterations", 30, "-o", tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_text_that_a_reader_returned(parser):
    conll = read_conll(str(BANK))
    found = parser.parse_text(conll)
    assert len(found) == len(conll)
    assert found.heads.dtype == np.int32
    assert not found.unknown_tags.any()
    assert not found.flat.any()
    assert np.mean(found.heads == conll.heads()) > 0.9
    assert [p.tokens for p in found[1:3]] == [found[1].tokens, found[2].tokens]
    assert found.format().count(b"\n") == BANK.read_bytes().count(b"\n")
    tagged = parser.parse_text(read_tags(str(SAMPLES / "en.tagged")))
    assert tagged.format().count(b"\n\n") == len(tagged)
    strange = parser.parse_text(conll, column="xpos")
    assert strange.unknown_tags.mean() > 0.5
    assert strange.tags == conll.column(4)
    with pytest.raises(at.DataError, match="no tags"):
        parser.parse_text(read_words(str(SAMPLES / "en.txt"), "text"))


def test_all_kinds_of_treebanks_give_the_same_parser(parser, tmp_path):
    conll = read_conll(str(BANK))
    options = {"iterations": 3}
    whole = saved(at.train_parser(BANK, **options), tmp_path)
    for same in (str(BANK), [BANK], conll, [conll.part(0, 40), conll.part(40, len(conll))]):
        assert saved(at.train_parser(same, **options), tmp_path) == whole
    columns = [[v.decode() for v in conll.column(n)] for n in (1, 3, 7)]
    trees = [
        at.Parse(*(tuple(c[a:b]) for c in columns[:2]), conll.heads()[a:b], tuple(columns[2][a:b]))
        for a, b in zip(conll.offsets[:-1], conll.offsets[1:], strict=True)
    ]
    assert saved(at.train_parser(trees, **options), tmp_path) == whole
    assert at.train_parser(parser.parse_batch(SOURCE), **options).parse(SOURCE[0]).labels is not None


def test_several_roots_and_crossing_edges_are_changed_or_left_out():
    roots = at.Parse(("a", "b", "c"), ("X", "Y", "Z"), np.array([0, 0, 2]))
    crossing = at.Parse(("a", "b", "c", "d"), ("X", "Y", "Z", "Z"), np.array([3, 4, 0, 3]))
    steps = []
    for option in ({}, {"roots": "skip"}, {"crossing": "skip"}):
        at.train_parser([roots, crossing, crossing], iterations=2, progress=steps.append, **option)
    ends = [s.figures for s in steps if s.stage == "trained"]
    assert [sum(e["skipped"].values()) for e in ends] == [0, 1, 2]
    assert [sum(e["changed"].values()) for e in ends] == [3, 2, 1]
    assert [e["first_skipped"] for e in ends] == [None, "sentence 1", "sentence 2"]


def test_a_checkpoint_is_continued(tmp_path):
    steps = []
    options = {"labels": False, "tolerance": 0.0, "checkpoint": tmp_path / "states", "progress": steps.append}
    first = saved(at.train_parser(BANK, iterations=6, **options), tmp_path)
    assert [s.figures["step"] for s in steps if s.stage == "train"] == [1, 2, 3, 4, 5, 6]
    steps.clear()
    assert saved(at.train_parser(BANK, iterations=6, **options), tmp_path) == first
    assert [s.stage for s in steps] == ["trained"]
    with pytest.raises(at.ModelError, match="other text or options"):
        at.train_parser(BANK, iterations=6, l2=2.0, **options)


def test_a_transferred_parser(parser, tmp_path):
    options = {"l2": 0.1, "min_count": 1, "min_aligned": 0.5}
    texts = [line * 1 for line in SOURCE] * 5, TARGET * 5
    german = at.transfer_parser(parser, *texts, LINKS * 5, **options)
    assert german.parse(TARGET[0]).heads.tolist() == [2, 3, 0]
    assert (german.column, german.map) == ("upos", "none")
    expected = saved(german, tmp_path)
    parser.save(tmp_path / "source")
    for name, lines in (("s", texts[0]), ("t", texts[1]), ("a", LINKS * 5)):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    files = [tmp_path / name for name in ("s", "t", "a")]
    pairs = [[tuple(map(int, link.split("-"))) for link in line.split()] for line in LINKS * 5]
    later = [" ".join(f"{i + 1}-{j + 1}" for i, j in row) for row in pairs]
    for given, more in (
        (files, {}),
        ([*texts, pairs], {}),
        ([*texts, Links.from_lists(pairs)], {}),
        ([*texts, later], {"index_base": 1}),
        ([read_tags(str(files[0])), read_tags(str(files[1])), str(files[2])], {}),
    ):
        assert saved(at.transfer_parser(tmp_path / "source", *given, **options, **more), tmp_path) == expected
    plain = at.train_parser(BANK, features="delexicalized", iterations=6)
    seeded = at.transfer_parser(parser, *texts, LINKS * 5, direct_model=plain, **options)
    assert seeded.parse(TARGET[0]).heads.tolist() == [2, 3, 0]
    several = at.transfer_parser([parser] * 2, [texts[0]] * 2, [texts[1]] * 2, [LINKS * 5] * 2, **options | {"l2": 0.2})
    assert several.parse(TARGET[0]).heads.tolist() == [2, 3, 0]
    direct = at.transfer_parser(parser, method="direct")
    assert direct.parse(TARGET[0]).heads.tolist() == [2, 3, 0]


def test_unknown_tags_are_logged(parser, caplog):
    with caplog.at_level(logging.WARNING, "aligntools"):
        list(parser.parse_batch(["wug_NEW", "wug_NEW"]))
        assert [r.name for r in caplog.records] == ["aligntools"]
        assert "never seen the tag NEW" in caplog.text
        caplog.clear()
        at.transfer_parser(parser, ["wug_NEW a_NOUN"] * 3, ["wug_NOUN"] * 3, ["0-0"] * 3, min_length=1, l2=1.0)
    assert "<source>: 3 words have tags that the source parser has never seen (NEW; first in sentence 1)" in caplog.text


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda p: p.parse(["a", "b"], ["X"]), at.DataError, "2 words, but 1 tags"),
        (lambda p: p.parse("the dog"), at.DataError, "no separator"),
        (lambda p: at.train_parser([]), at.DataError, "no sentence can be trained on"),
        (lambda p: at.train_parser("none"), at.DataError, "none: cannot be opened"),
        (lambda p: at.train_parser(BANK, min_length=9, max_length=3), at.UsageProblem, "nothing is left"),
        (lambda p: at.train_parser(BANK, features="all"), at.UsageProblem, "features is one of full"),
        (lambda p: at.train_parser(BANK, bits=30), at.UsageProblem, "bits must be a whole number from 4 to 24"),
        (lambda p: at.train_parser([at.Parse(("a",), ("X",), np.array([3]))]), at.DataError, "heads are 0 to 1"),
        (lambda p: at.train_parser([at.Parse(("a",), (), np.array([0]))]), at.DataError, "a tag and a head"),
        (lambda p: at.transfer_parser(p), at.UsageProblem, "needs source and target and alignments"),
        (lambda p: at.transfer_parser(p, method="direct", direct_model=p), at.UsageProblem, "direct_model does not go"),
        (lambda p: at.transfer_parser([p, p], method="direct"), at.UsageProblem, "takes one source parser"),
        (lambda p: at.transfer_parser([p, p], [SOURCE], [TARGET] * 2, [LINKS] * 2), at.UsageProblem, "but 1 of source"),
        (lambda p: at.transfer_parser([p, at.train_parser(BANK, map="upos", iterations=1)], [SOURCE] * 2, [TARGET] * 2,
                                      [LINKS] * 2), at.UsageProblem, "learned from different tags .column upos, map"),
        (lambda p: at.transfer_parser(p, SOURCE, method="direct"), at.UsageProblem, "takes the source parser alone"),
        (lambda p: at.transfer_parser(p, SOURCE, TARGET, LINKS, method="projected", unlabeled=TARGET),
         at.UsageProblem, 'unlabeled text goes with method="full"'),
        (lambda p: at.transfer_parser(p, SOURCE, TARGET[:2], LINKS), at.DataError, "2 sentences, but <source> has 3"),
        (lambda p: at.transfer_parser(p, SOURCE, TARGET, LINKS[:2]), at.DataError, "2 lines of links, but 3 sentence"),
        (lambda p: at.transfer_parser(p, SOURCE, TARGET, ["0-0", "9-0", ""]), at.DataError, "<alignments>:2"),
        (lambda p: at.transfer_parser(p, SOURCE, TARGET, ["", "", ""]), at.DataError, "has no link"),
        (lambda p: at.Parser.load(BANK), at.ModelError, "en.conllu"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(parser, call, error, message):
    with pytest.raises(error, match=message):
        call(parser)
