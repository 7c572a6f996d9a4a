"""Lists of word classes: both forms, and what models keep of them."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.annotation.class_lists import ClassList, WordLookup, read_classes
from aligntools.ground.errors import DataError, UsageProblem

#: Bytes that are not UTF-8, with a NUL among them, may be UTF-16: `test_recognizing`. `test_odd_words` has NUL.
WORDS = st.binary(min_size=1, max_size=4).filter(lambda w: not set(w) & set(b"\0\t\n\v\f\r"))


def list_of(rows, paths=False):
    words, classes, counts = zip(*rows, strict=True)
    return ClassList(list(words), list(classes), np.array(counts, np.int64), paths)


def rows_of(found):
    return sorted(zip(found.words, found.classes, found.counts.tolist(), strict=True))


@pytest.fixture
def written(tmp_path):
    def write(data):
        path = tmp_path / "classes"
        path.write_bytes(data)
        return path

    return write


def test_forms_and_counts():
    rows = [(b"dog", b"10", 2), (b"a", b"01", 5), (b"cat", b"10", 7), (b"the", b"01", 5)]
    assert list_of(rows).format() == b"cat\t10\t7\na\t01\t5\nthe\t01\t5\ndog\t10\t2\n"
    assert list_of(rows, True).format() == b"01\ta\t5\n01\tthe\t5\n10\tcat\t7\n10\tdog\t2\n"
    rows = [(b"run", b"N", 3), (b"dog", b"N", 1), (b"run", b"V", 4), (b"dog", b"V", 1)]
    assert rows_of(list_of(rows).best()) == [(b"dog", b"N", 2), (b"run", b"V", 7)]


@given(
    st.lists(st.tuples(WORDS, st.text("01", min_size=1).map(str.encode), st.integers(0, 10**15)), min_size=1),
    st.lists(st.tuples(WORDS, WORDS, st.integers(0, 10**15))),
)
def test_what_is_written_is_read_as_it_was(tmp_path_factory, with_paths, others):
    path = tmp_path_factory.getbasetemp() / "list"
    for rows, of_paths in ((with_paths, True), ([*others, (b"word", b"3", 1)], False)):  # not all words are bits
        list_of(rows, of_paths).save(path)
        found = read_classes(path)
        assert found.paths == of_paths
        assert rows_of(found) == sorted(rows)


@pytest.mark.parametrize("word", [b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe", b"\x1f\x8b", b"BZh91AY&SY", b"(\xb5/\xfd"])
def test_a_first_word_that_looks_like_a_mark_of_a_file_is_a_word(word, tmp_path):
    rows = [(word, b"3", 9), (b"word", b"3", 1)]
    list_of(rows).save(tmp_path / "list.gz")
    assert rows_of(read_classes(tmp_path / "list.gz")) == sorted(rows)


def test_files_of_other_programs(written, tmp_path):
    assert rows_of(read_classes(written(b"\xef\xbb\xbfhouse\t12\r\ntree\t12\r\n"))) == [
        (b"house", b"12", 1),
        (b"tree", b"12", 1),
    ]
    packed = tmp_path / "paths.gz"
    packed.write_bytes(gzip.compress(b"0010\thouse\t44\n"))
    assert rows_of(read_classes(packed)) == [(b"house", b"0010", 44)]


@pytest.mark.parametrize(
    ("data", "line", "problem"),
    [
        (b"", None, "has no words"),
        (b"dog\t1\t2\ncat\n", 2, "has 1 fields"),
        (b"dog\t1\t2\n\n", 2, "has 1 fields"),
        (b"dog\t1\t2\t3\n", 1, "has 4 fields"),
        (b"dog\t\t2\n", 1, "an empty one"),
        (b"dog\t1\t-2\n", 1, "'-2' is not a count"),
        (b"dog\t1\t1.5\n", 1, "'1.5' is not a count"),
        (b"dog\t1\t" + b"9" * 30 + b"\n", 1, "is not a count"),
    ],
)
def test_what_is_no_list_is_refused(written, data, line, problem):
    with pytest.raises(DataError) as caught:
        read_classes(written(data))
    assert caught.value.line == line
    assert problem in str(caught.value)


@pytest.mark.parametrize("word", [b"", b"a\tb", b"a\n"])
def test_what_has_no_form_is_not_written(word, tmp_path):
    for rows in ([(word, b"1", 1)], [(b"dog", word, 1)]):
        with pytest.raises(UsageProblem, match="cannot be in a list"):
            list_of(rows).save(tmp_path / "classes")
    assert not (tmp_path / "classes").exists()


def test_words_are_looked_up_as_they_are_then_in_lower_case():
    rows = [(b"US", b"0110", 9), (b"us", b"0111", 9), ("\u00e4ra".encode(), b"1", 1)]
    lookup = WordLookup.of(list_of(rows, True))
    names = list(lookup.names.encoded())
    found = lookup.find([b"US", b"us", b"Us", "\u00c4RA".encode(), b"\xff", b"none"])
    assert [names[k] for k in found] == [b"0110", b"0111", b"0111", b"1", b"", b""]
    short = lookup.shortened(2)
    assert short[found[0]] == short[found[1]] != short[found[3]]
    assert short[0] == 0


def test_a_model_s_lookup_is_the_same_and_held_to_what_it_promises():
    lookup = WordLookup.of(list_of([(b"dog", b"N", 3), (b"runs", b"V", 1)]))
    arrays = lookup.arrays("x")
    again = WordLookup.from_arrays(arrays, "x")
    assert (
        again.find([b"runs", b"dog", b"cat"]).tolist() == lookup.find([b"runs", b"dog", b"cat"]).tolist() == [2, 1, 0]
    )
    assert not again.paths
    wrong = {
        "ids": np.array([1, 3], np.int32), "paths": np.array([2], np.int32),
        "names.starts": np.array([0, 0, 9], np.int64),
    }  # fmt: skip
    for name, array in wrong.items():
        with pytest.raises((ValueError, KeyError)):
            WordLookup.from_arrays(arrays | {f"x.{name}": array}, "x")
