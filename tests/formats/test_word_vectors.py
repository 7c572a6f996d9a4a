"""Vectors of words in text: word2vec, fastText, GloVe; compressed, odd and damaged."""

import gzip
import logging
import lzma

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.models.word_vectors import read_word_vectors
from aligntools.formats.opening import files
from aligntools.ground.errors import DataError

LINES = b"the 1 2 3\ncat -0.5 1e-3 .25\nKatze 4 5 6 \nthe 9 9 9\n"
WANTED = [[1, 2, 3], [-0.5, 0.001, 0.25], [4, 5, 6], [0, 0, 0]]


@pytest.mark.parametrize("header", [b"", b"4 3\n", b"4 3 \r\n", b"\xef\xbb\xbf4\t3\n"])
@pytest.mark.parametrize("change", [lambda d: d, lambda d: d.replace(b" ", b"\t"), lambda d: d.replace(b"\n", b"\r\n")])
@pytest.mark.parametrize("pack", [lambda d: d, gzip.compress, lzma.compress])
def test_forms_of_files(file, header, change, pack, caplog):
    path = file("a.vec", pack(header + change(LINES)))
    found = read_word_vectors(str(path), ["the", "cat", "katze", "dog"])
    np.testing.assert_allclose(found, WANTED)
    assert found.dtype == np.float32
    assert not caplog.records


def naive(lines, words):
    """A word's own first vector, or that of the first word that differs in case alone."""
    found = []
    for word in words:
        own = [row for row in lines if row[0] == word]
        like = [row for row in lines if row[0].lower() == word.lower()]
        found.append((own or like or [(word, [0, 0])])[0][1])
    return found


word = st.text("aAbBßẞİiéÉ猫", min_size=1, max_size=3)


@given(
    st.lists(st.tuples(word, st.lists(st.integers(-9, 9), min_size=2, max_size=2)), min_size=1, max_size=12),
    st.lists(word, unique=True, max_size=8),
    st.booleans(),
    st.integers(1, 40),
)
def test_a_word_has_its_own_vector_or_that_of_another_case(tmp_path_factory, rows, words, header, size):
    path = tmp_path_factory.getbasetemp() / "rows.vec"
    text = f"{len(rows)} 2\n" * header + "".join(f"{name} {a} {b}\n" for name, (a, b) in rows)
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        whole = files.blocks_of_lines
        patch.setattr(files, "blocks_of_lines", lambda name: whole(name, size))
        found = read_word_vectors(str(path), words)
    assert found.tolist() == (naive(rows, words) if words else [])


def test_what_no_word_of_the_text_has_is_not_read(file):
    """Words with spaces in them, blank lines, bytes that are not UTF-8, a word that is empty."""
    data = b"3 2\n. . 1 2\n\n\xff\xfe 1 2\n 5 6\nbad x y\nthe 3 4"
    assert read_word_vectors(str(file("a.vec", data)), ["the", ".", "cat", "5"]).tolist() == [[3, 4]] + [[0, 0]] * 3


@pytest.mark.parametrize(
    ("data", "line", "problem"),
    [
        (b"2 3\nthe 1 2 3\ncat 1 2\n", 3, "2 numbers after the word; 3 were expected"),
        (b"the 1 2 3\ncat 1 x 3\n", 2, "'x' is not a number"),
        (b"the 1 2 3\ncat 1 nan 3\n", 2, "'nan' is not a number"),
        (b"the 1 2 3\ncat 1 1e99 3\n", 2, "'1e99' is not a number"),
        (b"", 1, "a word and its numbers were expected"),
        (b"\n\nthe 1\n", 1, "a word and its numbers were expected"),
        (b"the cat sat\n", 1, "'the cat sat': on each line"),
        (b"the\n", 1, "'the': on each line"),
        (b"5 0\n", 1, "a word and its numbers were expected"),
        (b"5 99999999999999999999\n", 1, "a word and its numbers were expected"),
        (b"2 3\n</s> \0\0\x80?\0\0\0@\0\0@@\n", 2, "is binary"),
        (b"\xba\x16O/\x0c\0\0\0\x64\0\0\0\x05\0\0\0word\0\xe8\3\0\0\0\0\0\0\n", 1, "is binary"),
    ],
)
def test_files_that_cannot_be_used(file, data, line, problem):
    path = file("a.vec", data)
    with pytest.raises(DataError, match=problem) as found:
        read_word_vectors(str(path), ["the", "cat"])
    assert found.value.line == line
    assert "\n" not in str(found.value)
    assert str(found.value).startswith(f"{path}:")


def test_files_that_are_cut_short_or_not_there(file, caplog):
    with caplog.at_level(logging.WARNING):
        read_word_vectors(str(file("a.vec", b"9 1\nthe 1\ncat 2\n")), ["the"])
    assert "has 2 words, and 9 by its first line: is it whole?" in caplog.text
    with pytest.raises(DataError, match="nowhere"):
        read_word_vectors("nowhere.vec", ["the"])
