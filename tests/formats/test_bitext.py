"""Parallel text: what a line is, what is skipped, what is an error."""

import os

import numpy as np
import pytest

from aligntools.formats.text.bitext import read_bitext, read_side, stream_bitext
from aligntools.formats.text.corpus import Skipped, frequent_first
from aligntools.ground.errors import DataError, UsageProblem
from tests.formats.conftest import NOTHING, both, sentences, settled

# What is read


def test_two_files(pair, either_path):
    corpus = read_bitext(*pair(b"Das Haus\nist  das haus .\n", b"the house\nis the\thouse .\n"))
    assert both(corpus) == (
        [["das", "haus"], ["ist", "das", "haus", "."]],
        [["the", "house"], ["is", "the", "house", "."]],
    )
    assert corpus.source.tokens.dtype == np.int32
    assert corpus.source.offsets.dtype == np.int64
    assert corpus.source.tokens.tolist() == [1, 2, 3, 1, 2, 4]
    assert corpus.source.lengths().tolist() == [2, 4]
    assert len(corpus) == len(corpus.source) == len(corpus.target) == 2
    assert corpus.source_vocabulary.words() == ["", "das", "haus", "ist", "."]
    assert (corpus.skipped.total, corpus.skipped.summary()) == (0, "")
    corpus = read_bitext(*pair(b"Das das\n", b"The the\n"), lowercase=False)
    assert both(corpus) == ([["Das", "das"]], [["The", "the"]])
    text = "ΟΔΟΣ İstanbul ǅ ẞ ΣΑΣ Σ"
    corpus = read_bitext(*pair(text.encode(), text.encode()))
    assert both(corpus)[0] == [text.lower().split(" ")]
    assert both(read_bitext(*pair(b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", b"a\nb")))[0] == [["a"], ["\ufeffb"]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b" a\t b  ", ["a", "b"]), (b"a\r", ["a"]), (b"a \r\r", ["a", "\r"]), (b"a\rb", ["a\rb"]),
        (b"a\xc2\xa0b\xe3\x80\x80\x0b\x0c\x1c\xc2\x85\xe2\x80\xa8c", ["a\xa0b\u3000\x0b\x0c\x1c\x85\u2028c"]),
        (b"\xef\xbb\xbfa \xef\xbb\xbfb", ["a", "\ufeffb"]), (b"||| a|||", ["|||", "a|||"]),
        (b"a\x00b \x00", ["a\x00b", "\x00"]), (b"\xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf", ["😀", "\U0010ffff"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_words_of_a_line(pair, either_path, text, words, end):
    if not end and b"\r" in text[:-1]:
        pytest.skip("carriage returns and no line ends are refused")
    source, target = both(read_bitext(*pair(text + end, b"x" + end)))
    assert source == [words]
    assert target == [["x"]]


def test_joint_and_tab_separated_files(one, either_path):
    corpus = read_bitext(joint=one(b"a b ||| x\r\n|||\n||| y\n  c\t|||  z|||  \n\nd |||"))
    assert both(corpus) == ([["a", "b"], [], [], ["c"], [], []], [["x"], [], [], ["z|||"], [], []])
    assert corpus.skipped.summary() == "4 blank; first at line 2"
    corpus = read_bitext(joint=one(b"a b\tx y\nc ||| z\n \te\n"), input_format="either")
    assert both(corpus) == ([["a", "b"], ["c"], []], [["x", "y"], ["z"], []])
    with pytest.raises(DataError, match=r':1: no \S \|\|\| \S separator .*input_format="tsv"'):
        read_bitext(joint=one(b"a b\tx y\n"), input_format="joint")
    with pytest.raises(DataError, match=":2: 2 separators"):
        read_bitext(joint=one(b"a\tb\na ||| \tb"), input_format="either", strict=True)
    text = b"\n \t\na b\tx ||| y\r\n\nc\t\nd\te\tf\n" + b"g\th\n" * 95
    corpus = read_bitext(joint=one(text), input_format="tsv")
    assert both(corpus)[0][:6] == [[], [], ["a", "b"], [], [], []]
    assert both(corpus)[1][:6] == [[], [], ["x", "|||", "y"], [], [], []]
    assert corpus.skipped.summary() == "4 blank, 1 malformed (line 6); first at line 1"
    with pytest.raises(DataError, match=r':1: no tab .*input_format="joint"'):
        read_bitext(joint=one(b"a ||| b\n"), input_format="tsv")
    with pytest.raises(DataError, match=r":1: 2 tabs; 9 of 9 lines are malformed \(3 columns\? .*cut -f1,2"):
        read_bitext(joint=one(b"a\tb\tc\n" * 9), input_format="tsv")


@pytest.mark.parametrize(
    ("text", "tabs"),
    [
        (b"a\tb\n", True), (b"\n \r\n\n a b \t c\r\nx ||| y\n", True), (b"a ||| b\nc\td\n", False),
        (b"a ||| b\tc\n", False), (b"a\tb ||| c\n", False), (b"\ta ||| b\t\n", False),
    ],
)  # fmt: skip
def test_the_first_line_with_words_tells_the_format(one, either_path, text, tabs, caplog):
    caplog.set_level("INFO", "aligntools")
    for unbuffered in (False, True):
        caplog.clear()
        known = {"source_vocabulary": NOTHING, "target_vocabulary": NOTHING}
        with settled(_BLOCK=1):
            list(stream_bitext(joint=one(text), **known, unbuffered=unbuffered))
        found = [record.getMessage() for record in caplog.records]
        assert len(found) == tabs
        assert all("joint: its first line has one tab and no ' ||| '" in message for message in found)
    with pytest.raises(UsageProblem, match="one file with both sides"):
        read_bitext(one(text), one(text), input_format="tsv")
    with pytest.raises(UsageProblem, match="no input format 'csv'"):
        read_bitext(joint=one(text), input_format="csv")


# What is malformed

GOOD, BARE, MANY = b"a ||| b\n", b"a b c\n", b"a ||| b ||| c\n"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (GOOD + BARE, [2]),
        (BARE + MANY + GOOD, [1, 2]),
        ((BARE + GOOD) * 4, [1, 3, 5, 7]),
        (GOOD * 495 + BARE * 5, [496, 497, 498, 499, 500]),
        (BARE * 999 + GOOD * 98_901, [1, 2, 3, 4, 5]),
        (b"\n" * 1000 + BARE + GOOD, [1001]),
    ],
)
def test_a_few_malformed_lines_are_blank_and_counted(one, either_path, text, lines):
    corpus = read_bitext(joint=one(text))
    assert corpus.skipped.malformed_lines == lines
    assert corpus.skipped.counts["malformed"] == text.count(BARE) + text.count(MANY)
    assert len(corpus) == text.count(b"\n")
    bad = np.array(lines) - 1
    assert not corpus.source.lengths()[bad].any()
    assert not corpus.target.lengths()[bad].any()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BARE, r":1: no ' \|\|\| ' separator \(one field; use source and target for two files\)"),
        (b"\n\n" + BARE, r":3: no ' \|\|\| ' separator \(one"),
        (GOOD * 494 + BARE * 5, r":495: no ' \|\|\| ' separator; 5 of 499 lines are malformed"),
        (BARE * 1000 + GOOD * 100_000, r":1: no ' \|\|\| ' separator; 1000 of the first 1000 lines are malformed"),
        (b"\n" * 100 + BARE * 900 + GOOD * 99_000, r":101: .* 900 of the first 1000 lines"),
        (BARE * 1001 + GOOD * 99_000, r":1: .* 1000 of the first 1000 lines"),
        (GOOD + MANY * 5, r":2: 2 separators; 5 of 6 lines are malformed \(one is expected; remove"),
    ],
)
def test_too_many_malformed_lines_are_an_error(one, either_path, text, message):
    known = {"source_vocabulary": NOTHING, "target_vocabulary": NOTHING}
    for rows in (7, 1 << 15):
        with settled(_ROWS=rows):
            with pytest.raises(DataError, match=message):
                read_bitext(joint=one(text))
            with pytest.raises(DataError, match=message):
                list(stream_bitext(joint=one(text), **known))


def test_a_service_bears_any_number_of_malformed_lines(one):
    known = {"source_vocabulary": NOTHING, "target_vocabulary": NOTHING}
    found = list(stream_bitext(joint=one(BARE * 1001), **known, unbuffered=True))
    assert len(found) == 1001
    total = Skipped()
    for block in found:
        total.add(block.skipped)
    assert total.summary() == "1001 malformed (lines 1, 2, 3, 4, 5, ...); first at line 1"
    with pytest.raises(DataError, match=":1: no "):
        list(stream_bitext(joint=one(BARE), **known, unbuffered=True, strict=True))


@pytest.mark.parametrize(
    ("line", "seems"),
    [
        (b"a b\tc\n", 'input_format="tsv"'), (b"a\tb\tc\td\n", "4 columns"),
        (b"1\tThe\tthe\tDET\t_\t_\t2\tdet\t_\t_\n", "CoNLL"), (b"0-0 1-1 2-3:0.5\n", "an alignment"),
        (b"<seg>a b</seg>\n", "XML"), (b"a|||b\n", "spaces"), (b"0 ||| a b ||| lm=-1.5 ||| -2\n", "one is expected"),
        (b"just words\n", "source and target"),
    ],
)  # fmt: skip
def test_the_error_says_which_format_it_looks_like(one, either_path, line, seems):
    for text in (line, line * 20):
        with pytest.raises(DataError, match=rf":1: .*\(.*{seems}"):
            read_bitext(joint=one(text), input_format="joint")


# What is skipped


def test_skipped_pairs_are_empty_on_both_sides_and_counted(pair, either_path):
    corpus = read_bitext(
        *pair(b"a\n\nb\nc\xff\nd\ne e e\nf\n \t \n", b"x\nnew\n\ny\nz\xc3\nw\nv v v v\n\n"), max_length=2
    )
    assert both(corpus) == ([["a"], [], [], [], [], [], [], []], [["x"], [], [], [], [], [], [], []])
    assert corpus.source_vocabulary.words() == ["", "a"]
    assert corpus.target_vocabulary.words() == ["", "x"]
    assert corpus.skipped.counts == {"blank": 3, "undecodable": 2, "over_long": 2, "malformed": 0}
    assert corpus.skipped.first == {"blank": 2, "undecodable": 4, "over_long": 6}
    assert corpus.skipped.total == 7
    assert corpus.skipped.summary() == "3 blank, 2 not UTF-8, 2 over-long; first at line 2"
    corpus = read_bitext(*pair(b"\n\nb\n", b"x\xff\nx x x\nx\n"), max_length=2)
    assert corpus.skipped.counts == {"blank": 1, "undecodable": 1, "over_long": 0, "malformed": 0}
    corpus = read_bitext(*pair(b"\n\n", b"\n\n"))
    assert both(corpus) == ([[], []], [[], []])
    assert corpus.source_vocabulary.words() == [""]
    corpus = read_bitext(*pair(b"a " * 2000 + b"\n" + b"a " * 2001, b"x\nx"))
    assert corpus.source.lengths().tolist() == [2000, 0]


def test_counts_of_parts_add_up():
    whole = Skipped()
    whole.add(Skipped({"blank": 2, "undecodable": 0, "over_long": 0}, {"blank": 3}))
    whole.add(Skipped({"blank": 1, "undecodable": 1, "over_long": 0}, {"blank": 13, "undecodable": 12}))
    assert whole.summary() == "3 blank, 1 not UTF-8; first at line 3"
    assert whole.first == {"blank": 3, "undecodable": 12}


# What is an error


@pytest.mark.parametrize(
    ("source", "target", "name", "line", "message"),
    [
        (b"a\n\n", b"x\ny\n", "s", 2, "the line is blank"),
        (b"a\nb\n", b"x\n  \n", "t", 2, "the line is blank"),
        (b"a\nb\xed\xa0\x80\n", b"x\ny\n", "s", 2, "bytes that are not UTF-8"),
        (b"a\n\n", b"x\ny\xff\n", "t", 2, "bytes that are not UTF-8"),
        (b"a\nb\n", b"x\ny y y\n", "t", 2, "a sentence has 3 words, over 2"),
        (b"\nb b b\n", b"\ny\n", "s", 1, "the line is blank"),
    ],
)
def test_strict_reading_stops_at_what_would_be_skipped(pair, either_path, source, target, name, line, message):
    with pytest.raises(DataError, match=message) as caught:
        read_bitext(*pair(source, target), max_length=2, strict=True)
    assert os.path.basename(caught.value.path) == name
    assert caught.value.line == line
    assert "mend or remove" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"a ||| b\n ||| x\n", ":2: the source side is blank"),
        (b"a ||| b\nx |||\n", ":2: the target side is blank"),
        (b"a ||| b\n\n", ":2: the line is blank"),
        (b"a ||| b\n|||\n", ":2: the line is blank"),
        (b"a ||| b\na ||| \x80\n", ":2: bytes that are not UTF-8"),
        (b"a ||| b\na ||| b c d\n", ":2: the target side has 3 words, over 2"),
        (b"a ||| b\nc d\n", r":2: no ' \|\|\| ' separator \(one field; use source and target for two files\)"),
        (b"a ||| b\nc|||d\n", r":2: no ' \|\|\| ' separator \(there must be spaces"),
        (b"a ||| b\nc |||| d\n", r":2: no ' \|\|\| ' separator"),
        (b"a ||| b ||| c\n", ":1: 2 separators"),
        (b"||| ||| |||\n", ":1: 3 separators"),
    ],
)
def test_strict_reading_of_a_joint_file(one, either_path, text, message):
    with pytest.raises(DataError, match=message):
        read_bitext(joint=one(text), max_length=2, strict=True)


def test_unequal_line_counts(pair, either_path):
    source, target = pair(b"a\n" * 5, b"x\n" * 3 + b"y")
    message = f"{source}:5: this line has no counterpart: {source} has 5 lines, {target} 4"
    with pytest.raises(DataError) as caught:
        read_bitext(source, target)
    assert str(caught.value) == message
    with pytest.raises(DataError) as caught:
        read_bitext(target, source)
    assert str(caught.value) == message
    source, target = pair(b"a b c\n" * 700, b"x\n" * 1001 + b"y")
    with settled(_BLOCK=100, _ROWS=7), pytest.raises(DataError, match=r"t:701: .*has 1002 lines, .*s 700$"):
        read_bitext(source, target)
    with pytest.raises(DataError, match=r"t:1: .* has 2 lines, .*s 0$"):
        read_bitext(*pair(b"", b"x\ny\n"))


@pytest.mark.parametrize("text", [b"", b"\xef\xbb\xbf"])
def test_an_empty_corpus(pair, one, either_path, text):
    for files_ in ({"joint": one(text)}, dict(zip(("source", "target"), pair(text, text), strict=True))):
        with pytest.raises(DataError, match="is empty"):
            read_bitext(**files_)
        with pytest.raises(DataError, match="is empty"):
            list(stream_bitext(**files_, source_vocabulary=NOTHING, target_vocabulary=NOTHING))
    with pytest.raises(DataError, match="is empty"):
        read_side(one(text))


@pytest.mark.parametrize(
    "arguments", [{}, {"source": "s"}, {"target": "t"}, {"source": "s", "joint": "j"}, {"source": "-", "target": "-"}]
)
def test_which_files(arguments):
    with pytest.raises(UsageProblem):
        read_bitext(**arguments)


# One-sided text


def test_one_sided_text_and_frequent_words(one, either_path, pair):
    side, vocabulary = read_side(one(b"\xef\xbb\xbfA ||| b\r\n\n a"))
    assert sentences(side, vocabulary) == [["a", "|||", "b"], [], ["a"]]
    side, vocabulary = read_side(one(b"A a"), lowercase=False)
    assert sentences(side, vocabulary) == [["A", "a"]]
    with pytest.raises(DataError, match=":2: bytes that are not UTF-8"):
        read_side(one(b"a\nb\xc0\x80\nc\n"))
    corpus = read_bitext(*pair(b"a b\nb c\nc b d\n", b"x\ny\ny\n"))
    assert [v.words()[1:] for v in frequent_first(corpus)] == [["b", "c", "a", "d"], ["y", "x"]]
