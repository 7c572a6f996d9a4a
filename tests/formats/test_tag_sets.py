import numpy as np
import pytest

from aligntools.formats.annotation.tag_sets import likely, read_dictionary, sets_of
from aligntools.formats.annotation.tagged_text import Tokens, read_tags
from aligntools.ground.errors import DataError


@pytest.fixture
def written(tmp_path):
    def write(text):
        (tmp_path / "types").write_bytes(text)
        return str(tmp_path / "types")

    return write


def test_a_dictionary_is_words_tags_and_weights(written):
    text = b"\xef\xbb\xbfdog\tNOUN\t3.5\r\n\nNew York\tPROPN\ndog\tVERB\t0\ndog\tNOUN\t1\n"
    found = read_dictionary(written(text))
    assert found == {b"dog": {b"NOUN": 4.5, b"VERB": 0.0}, b"New York": {b"PROPN": 1.0}}


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (b"", None, "has no words"),
        (b"a\tA\ndog NOUN\n", 2, "'dog NOUN': a word, a tag and perhaps a weight"),
        (b"a\tA\t1\tx\n", 1, "between tabs"),
        (b"a\tA\tnan\n", 1, "a weight of 0 or more"),
        (b"a\tA\tinf\n", 1, "a weight of 0 or more"),
        (b"a\tA\t-1\n", 1, "a weight of 0 or more"),
        (b"a\tA\tmany\n", 1, "a weight of 0 or more"),
        (b"\tA\t1\n", 1, "a word, a tag"),
        (b"a\tA B\n", 1, "a word, a tag"),
        (b"a\t_\t1\n", 1, "'_' is not a tag"),
        (b"a\tA|B\t1\n", 1, "each tag of a word a line of its own"),
    ],
)
def test_what_is_no_dictionary_is_refused(written, text, line, problem):
    with pytest.raises(DataError, match=problem) as found:
        read_dictionary(written(text))
    assert found.value.line == line


def test_rare_tags_and_sets():
    assert likely({"A": 1.0, "B": 2.0, "C": 1.0}, 0.3) == {"B": 2.0}
    assert list(likely({"C": 1.0, "A": 1.0, "B": 2.0}, 0.25)) == ["B", "A", "C"]
    assert likely({"A": 1.0, "B": 1.0}, 0.9) == {"A": 1.0}
    assert likely({"A": 0.0}, 0.5) == {"A": 0.0}
    found = sets_of(text_of(b"A", b"_", b"A|B", b"B", b"A|C"), "text", {b"C"})
    assert found == {b"A": (b"A",), b"B": (b"B",), b"_": (), b"A|B": (b"A", b"B"), b"A|C": (b"A", b"C")}


def text_of(*labels):
    words = [b"w"] * len(labels)
    return Tokens(words, np.arange(len(words) + 1), list(labels), np.arange(10, 10 + len(words)), "tagged")


@pytest.mark.parametrize(
    ("label", "problem"),
    [
        (b"A|A", "a tag twice"),
        (b"A|", "an empty tag"),
        (b"|", "an empty tag"),
        (b"A|_", "an empty tag, _ or a tag twice"),
        (b"A|UTR|SIN", "no word has the tag 'UTR' alone"),
    ],
)
def test_sets_that_are_not_clear_are_refused(label, problem):
    with pytest.raises(DataError, match=problem) as found:
        sets_of(text_of(b"A", label), "text")
    assert found.value.line == 11


def test_words_without_tags_in_all_kinds_of_text(tmp_path):
    path = tmp_path / "text"
    wanted = [b"a", b"_", b"b_c"], [b"A|B", b"_", b"_"]
    for separator in (b"_", b"/"):
        path.write_bytes(b" ".join(word + separator + tag for word, tag in zip(*wanted, strict=True)) + b"\n")
        found = read_tags(str(path), format="tagged", separator=separator, partial=True)
        assert (found.words, found.tags) == wanted
        assert read_tags(str(path), partial=True).words == wanted[0]
    path.write_bytes(b"a_A b__\n")
    with pytest.raises(DataError, match="no tag beside its last"):
        read_tags(str(path))
    path.write_bytes(b"a_A __\n")
    with pytest.raises(DataError, match="'__' has no word"):
        read_tags(str(path), partial=True)
    path.write_bytes(b"1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n")
    assert read_tags(str(path), partial=True).tags == [b"_"]
