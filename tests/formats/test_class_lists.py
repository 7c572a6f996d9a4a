"""Lists of word classes: both forms, and what models keep of them."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aligntools as at
from aligntools.formats.annotation.class_lists import ClassList, WordLookup, read_classes
from aligntools.formats.annotation.tag_lists import likely, read_dictionary, sets_of
from aligntools.formats.annotation.tagged_text import Tokens, read_tags
from aligntools.formats.links.giza import read_giza_a3
from aligntools.formats.links.priors import priors_of, read_priors, write_priors
from aligntools.formats.links.ttable import read_ttable
from aligntools.ground.errors import DataError, UsageProblem
from tests.cli.running import ran, run

#: Bytes that are not UTF-8, with a NUL among them, may be UTF-16: `test_recognizing`. `test_odd_words` has NUL.
WORDS = st.binary(min_size=1, max_size=4).filter(lambda w: not set(w) & set(b"\0\t\n\v\f\r"))


def list_of(rows, paths=False):
    words, classes, counts = zip(*rows, strict=True)
    return ClassList(list(words), list(classes), np.array(counts, np.int64), paths)


def rows_of(found):
    return sorted(zip(found.words, found.classes, found.counts.tolist(), strict=True))


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


@pytest.mark.parametrize(
    "word",
    [b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe", b"\x1f\x8b", b"BZh91AY&SY", b"(\xb5/\xfd", b"PK\x05\x06", b"%PDF-"],
)
def test_a_first_word_that_looks_like_a_mark_of_a_file_is_a_word(word, tmp_path):
    rows = [(word, b"3", 9), (b"word", b"3", 1)]
    list_of(rows).save(tmp_path / "list.gz")
    assert rows_of(read_classes(tmp_path / "list.gz")) == sorted(rows)


def test_files_of_other_programs(file, tmp_path):
    assert rows_of(read_classes(file(b"\xef\xbb\xbfhouse\t12\r\ntree\t12\r\n"))) == [
        (b"house", b"12", 1),
        (b"tree", b"12", 1),
    ]
    packed = tmp_path / "paths.gz"
    packed.write_bytes(gzip.compress(b"0010\thouse\t44\n"))
    assert rows_of(read_classes(packed)) == [(b"house", b"0010", 44)]


@pytest.mark.parametrize(
    ("data", "line", "problem"),
    [
        (b"", None, "has no words"), (b"dog\t1\t2\ncat\n", 2, "has 1 fields"), (b"dog\t1\t2\n\n", 2, "has 1 fields"),
        (b"dog\t1\t2\t3\n", 1, "has 4 fields"), (b"dog\t\t2\n", 1, "an empty one"),
        (b"dog\t1\t-2\n", 1, "'-2' is not a count"), (b"dog\t1\t1.5\n", 1, "'1.5' is not a count"),
        (b"dog\t1\t" + b"9" * 30 + b"\n", 1, "is not a count"),
    ],
)  # fmt: skip
def test_what_is_no_list_is_refused(file, data, line, problem):
    with pytest.raises(DataError) as caught:
        read_classes(file(data))
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


def test_a_dictionary_is_words_tags_and_weights(file):
    text = b"\xef\xbb\xbfdog\tNOUN\t3.5\r\n\nNew York\tPROPN\ndog\tVERB\t0\ndog\tNOUN\t1\n"
    found = read_dictionary(file(text))
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
def test_what_is_no_dictionary_is_refused(file, text, line, problem):
    with pytest.raises(DataError, match=problem) as found:
        read_dictionary(file(text))
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


def test_words_at_which_other_programs_stop_are_left_out_and_counted(tmp_path, caplog):
    fine = [f"a{c}b" for c in "\0\x1c\x85\xa0\u3000"]
    words = ["a\vb", "a\fb", "a\rb", *fine]
    numbers = np.arange(1, len(words) + 1)
    ClassList([w.encode() for w in words], [b"c%d" % k for k in numbers], numbers, False).save(tmp_path / "classes")
    assert sorted(read_classes(tmp_path / "classes").words) == sorted(w.encode() for w in fine)
    write_priors(str(tmp_path / "priors"), priors_of([(w, w, 2) for w in words], [(w, 1, 3) for w in words]))
    found = read_priors(str(tmp_path / "priors"))
    assert set(found.source_vocabulary.words()[1:]) == set(fine)
    assert [message.partition(":")[0] for message in caplog.messages] == ["3 rows left out", "6 rows left out"]
    grammar = at.extract_grammar(*[[f"{w} {x}" for w in words] for x in "xy"], ["0-0 1-1"] * len(words))
    assert (
        set(fine)
        <= {word for rule in grammar for word in str(rule).split(" ||| ")[1].split(" ")}
        <= {*fine, "x", "[X,1]"}
    )
    (tmp_path / "text").write_text("".join(f"{w} x\n" for w in words * 3), newline="")
    sides = "-s", tmp_path / "text", "-t", tmp_path / "text", "--ttable", tmp_path / "table", "-o", tmp_path / "links"
    assert b"left out: a word holds a carriage return" in ran("align", "--fast", "--set", "views=0", *sides).stderr
    assert set(read_ttable(str(tmp_path / "table")).given) - {b"<eps>", b"x"} == {w.encode() for w in fine}


def test_lexical_tables_have_two_words_and_any_line_ends(tmp_path):
    (tmp_path / "crlf").write_bytes(b"a b 0.5\r\nc d 0.25\r\n")
    assert list(read_ttable(str(tmp_path / "crlf")).words) == [b"b", b"d"]
    (tmp_path / "cut").write_bytes(b"a\vb 0.5\n")
    with pytest.raises(DataError, match="not two words"):
        read_ttable(str(tmp_path / "cut"))


def test_links_of_words_with_other_white_space(tmp_path):
    """Lines of links keep their pairs: words stay whole, and the text's line says what is in them."""
    (tmp_path / "wide").write_text("a\u3000b c\n" * 8, encoding="utf-8")
    (tmp_path / "links").write_text("0-1 1-0\n" * 8)
    how = "symmetrize", "-c", "convert", tmp_path / "links", "--check", *[tmp_path / "wide"] * 2, "--to", "giza"
    done = ran(*how, "-o", tmp_path / "g")
    assert done.stderr.count(b"8 lines have white space other than spaces and tabs within words") == 1  # one file
    links, missing = read_giza_a3(str(tmp_path / "g"))
    assert (links.tolists(), missing) == ([[(0, 1), (1, 0)]] * 8, 0)
    (tmp_path / "links").write_text("0-1 2-0\n" * 3 + "0-1\n" * 5)
    split = run(*how, "--split", "unicode")
    assert split.stdout.startswith(b"# Sentence pair (1) source length 3 target length 3 ")
    assert b"\nNULL ({ 3 }) a ({ 2 }) b ({ }) c ({ 1 }) \n" in split.stdout
    refused = run(*how)
    assert refused.returncode == 1
    assert b"--split unicode separates words there too" in refused.stderr
