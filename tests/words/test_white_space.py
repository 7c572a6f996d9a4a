"""What separates words, in every reader: spaces and tabs, or all that `str.split` splits at."""

import logging
import time
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.annotation import tagged_text
from aligntools.formats.text import bitext, numbered_text
from aligntools.formats.text.bitext import TextLines
from aligntools.formats.text.raw_pairs import RawPairs
from aligntools.ground.errors import UsageProblem
from aligntools.tools.judgements import compared
from aligntools.words import line_scan, white_space
from aligntools.words.placeholders import placeholders, visible
from aligntools.words.tokenizers import UNSPACED, languages_of, tokenizers
from aligntools.words.vocabulary import CompiledLexicon, split_words
from aligntools.words.white_space import (
    WhiteSpace,
    alike,
    as_spaces,
    as_spaces_of_models,
    form_of,
    has_others,
    in_form,
    split_as,
)

_SPACES = "".join(c for c in map(chr, range(0x110000)) if c.isspace())
_LINES = st.lists(st.text(st.sampled_from(_SPACES.replace("\n", "") + "ab«»„“…。、")).map(lambda s: s.rstrip("\r")))


@given(_LINES)
def test_unicode_splits_as_str_split(lines):
    block = "".join(f"{line}\n" for line in lines).encode()
    found = [split_words(line) for line in as_spaces(block).split(b"\n")[:-1]]
    assert found == [[word.encode() for word in line.split()] for line in lines]


@given(_LINES)
def test_others_are_found_where_str_split_makes_more_words(lines):
    block = "".join(f"{line}\n" for line in lines).encode()
    others = [any(c.isspace() and c not in " \t" for c in line) for line in lines]
    assert has_others(block) == has_others(block * 300) == any(others)
    white = WhiteSpace("text")
    white(block)
    assert white.lines == sum(others)
    assert white.characters == {c for c in "".join(lines) if c.isspace()} - set(" \t")


def test_a_block_may_end_in_the_middle_of_nothing():
    assert as_spaces("a\u00a0b\r".encode()) == b"a b\r"
    assert as_spaces("a\rb\r\nc\u2028d".encode()) == b"a b\r\nc d"
    assert not has_others(b"a\r\nb\r")
    assert not has_others(b"a\r\n" * 300 + b"b\r")


def _compiled(monkeypatch, compiled):
    monkeypatch.setattr(line_scan, "_SMALL", 0 if compiled else 1 << 40)


def _sentences(side, vocabulary):
    words = vocabulary.words()
    return [[words[k] for k in side.tokens[a:b]] for a, b in zip(side.offsets, side.offsets[1:], strict=False)]


@pytest.mark.parametrize("compiled", [False, True])
def test_every_reader_splits_alike(tmp_path, monkeypatch, compiled):
    _compiled(monkeypatch, compiled)
    lines = [f"x{c}y z" for c in _SPACES if c != "\n"] + ["x\u00a0\u202fy", "\u3000x y\u2009"]
    path = tmp_path / "text"
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    expected = [line.split() for line in lines]
    name = split_as(path, "unicode")
    assert _sentences(*bitext.read_side(name)) == expected
    both = bitext.read_bitext(name, name)
    assert _sentences(both.target, both.target_vocabulary) == expected
    assert [t.words for t in tagged_text.stream_text(name)] == [[w.encode() for words in expected for w in words]]
    assert list(tagged_text.read_words(name, "text").offsets) == list(np.cumsum([0, *map(len, expected)]))
    lexicon = CompiledLexicon()
    (side,) = numbered_text.stream_numbered(name, lexicon)
    assert _sentences(side, lexicon.vocabulary()) == expected
    raw = RawPairs(name, name)
    sides = raw.read(len(lines))
    assert [split_words(line) for line in raw.spaced(sides)[1]] == [[w.encode() for w in words] for words in expected]
    assert sides[0][-2] == "x\u00a0\u202fy".encode()  # as it stands, to be written
    raw.close()
    memory = bitext.read_bitext(TextLines(lines, split="unicode"), TextLines(expected, split="unicode"))
    assert _sentences(memory.source, memory.source_vocabulary) == expected
    joint = tmp_path / "joint"
    joint.write_bytes("".join(f"{line} ||| {line}\n" for line in lines).encode())
    found = bitext.read_bitext(joint=split_as(joint, "unicode"))
    assert _sentences(found.source, found.source_vocabulary) == expected


@pytest.mark.parametrize("compiled", [False, True])
def test_spaces_and_tabs_alone_separate_words_otherwise(tmp_path, monkeypatch, compiled, caplog):
    _compiled(monkeypatch, compiled)
    path = tmp_path / "text"
    path.write_bytes("a\u00a0b c\na\td\r\ne\u202f\u00a0f\n".encode())
    with caplog.at_level(logging.WARNING, "aligntools"):
        found = _sentences(*bitext.read_side(path))
    assert found == [["a\u00a0b", "c"], ["a", "d"], ["e\u202f\u00a0f"]]
    (line,) = [record.getMessage() for record in caplog.records]
    assert line == (
        f"{path}: 2 lines have white space other than spaces and tabs within words (U+00A0 NO-BREAK SPACE, U+202F"
        " NARROW NO-BREAK SPACE); `split=unicode` separates words there too, as Python's str.split() does"
    )


def test_lists_of_words_are_split_already(caplog):
    text = TextLines([["a\u00a0b", "c"], "d e"])
    with caplog.at_level(logging.WARNING, "aligntools"):
        found = bitext.read_bitext(text, TextLines(["f", "g\u2028h"], "the target"))
    assert found.source.lengths().tolist() == [2, 2]
    assert [record.getMessage()[:27] for record in caplog.records] == ["the target: 1 line has white"[:27]]


def test_words_of_conll_are_split_already(tmp_path, caplog):
    path = tmp_path / "text.conllu"
    path.write_bytes("1\t25 000\t_\t_\t_\t_\t_\t_\t_\t_\n2\ta\u00a0b\t_\t_\t_\t_\t_\t_\t_\t_\n\n".encode())
    with caplog.at_level(logging.WARNING, "aligntools"):
        side, _ = bitext.read_side(split_as(path, "unicode"))
    assert side.lengths().tolist() == [2]
    assert not caplog.records


def test_language_models_split_where_kenlm_does(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"a\rb\r\nc\0d\ve\ff\tg h\r\r\ni\r\n")
    lexicon = CompiledLexicon()
    (side,) = numbered_text.stream_numbered(str(path), lexicon)
    assert _sentences(side, lexicon.vocabulary()) == [["a", "b"], list("cdefgh"), ["i"]]
    assert as_spaces_of_models("a\u00a0b".encode()) == "a\u00a0b".encode()


def test_no_other_splitting():
    with pytest.raises(UsageProblem, match=r"no splitting 'words'; there are spaces, unicode"):
        split_as("text", "words")
    assert white_space.split_of(split_as(split_as("text", "unicode"), None)) == "unicode"


WORDS = [word.encode() for word in ("été", "a", "façade", "über", "\u0111i")]
OTHER = [unicodedata.normalize("NFD", word.decode()).encode() for word in WORDS]


def test_forms_of_words():
    assert (form_of(WORDS), form_of(OTHER)) == ("NFC", "NFD")
    assert form_of([b"a", b"b", b"\xff"]) is None  # nothing tells
    assert form_of([*WORDS, *OTHER]) is None
    many = [f"é{k}".encode() for k in range(300)]
    assert form_of([*many, OTHER[0]]) == "NFC"
    assert form_of([*(unicodedata.normalize("NFD", word.decode()).encode() for word in many), WORDS[0]]) == "NFD"
    assert alike(WORDS[0], OTHER[0])
    assert not alike(WORDS[0], WORDS[0])
    assert not alike(WORDS[0], WORDS[1])
    assert form_of([b"\xff\xfe", "é".encode()]) == "NFC"


@pytest.mark.parametrize(("form", "given_", "expected"), [("NFC", OTHER, WORDS), ("NFD", WORDS, OTHER)])
def test_words_are_turned_and_counted(form, given_, expected):
    assert in_form(given_, form) == (expected, 3)
    assert in_form(expected, form) == (expected, 0)
    assert in_form(given_, None) == (given_, 0)


@given(
    st.lists(st.binary(min_size=1, max_size=6).filter(lambda word: not word.isspace())), st.sampled_from(["NFC", "NFD"])
)
def test_bytes_that_are_no_text_stay(words, form):
    found, count = in_form(words, form)
    assert len(found) == len(words)
    for word, other in zip(words, found, strict=True):
        assert word == other or unicodedata.normalize(form, word.decode("utf-8", "surrogateescape")) == other.decode(
            "utf-8", "surrogateescape"
        )
    assert count == sum(a != b for a, b in zip(words, found, strict=True))


@pytest.mark.parametrize("language", ["zh", "ja", "th", "lo", "km", "my"])
def test_moses_rules_are_warned_of_and_icu_is_named(caplog, language, monkeypatch):
    monkeypatch.setattr("aligntools.words.tokenizers.Tokenizer", str)  # Moses' rules take a second to load
    with caplog.at_level(logging.WARNING, logger="aligntools"):
        tokenizers(f"{language}-en")
    assert [record.getMessage().split(" has no spaces")[0] for record in caplog.records] == [UNSPACED[language]]
    assert "`tokenizer=icu`" in caplog.text


def test_other_languages_and_icu_are_not(caplog):
    pytest.importorskip("icu4py.breakers", exc_type=Exception)
    with caplog.at_level(logging.WARNING, logger="aligntools"):
        tokenizers("de-en")
        tokenizers("zh-ja", "icu")
        tokenizers("icu")
    assert not caplog.records


def test_a_pair_of_languages_has_a_hyphen_or_a_comma():
    assert languages_of("de-en") == languages_of("de,en") == ("de", "en")
    for pair in ("de", "de en", "de-en-fr", "de,", "DE-EN", "de-GB"):
        with pytest.raises(UsageProblem, match="such as de-en"):
            languages_of(pair)


def different_placeholders(source, target):
    return compared(placeholders(source), placeholders(target))


#: Of whose messages they are, and some of them.
KINDS = {
    "printf": ["%s", "%d", "%1$s", "%2$d", "%5.2f", "%-10s", "%lld", "%zu", "%u", "%x", "%c", "%.*f"],
    "Python": ["%(name)s", "%(count)d", "{}", "{0}", "{name}", "{user.name}", "{items[0]}", "{x!r}", "{:>10}"],
    "Apple": ["%@", "%1$@", "%ld"],
    "Qt": ["%1", "%2", "%12", "%L1", "%n", "%Ln"],
    "ICU": ["{count, number}", "{day, date, short}", "{0,number,#.##}"],
    "C#": ["{0:N2}", "{0,10:F1}"],
    "Fluent": ["{$name}", "{ $name }", "{-brand}", '{NUMBER($n, style: "percent")}'],
    "JavaScript": ["${x}", "${user.name}", "{{x}}", "{{ user.name }}", "{{{raw}}}", "$t(key)"],
    "Ruby": ["%{name}", "%<name>s", "#{name}"],
    "Qt Creator, MSBuild": ["$(x)", "$(Project.Name)"],
    "Windows, Symfony": ["%NAME%", "%name%", "%user_name%", "%%NAME%%"],
    "SDL and others": ["#NAME#", "#name#", "##NAME##", "$NAME$", "$name", "$[officename]"],
    "Laravel": [":name", ":user_name"],
    "templates": ["{% if x %}", "<%= x %>", "{{#if x}}"],
    "tags": ["<b>", "</b>", "<br/>", '<x id="1"/>', "<0/>", "<1>", "</1>", "<a href='/x'>"],
}


@pytest.mark.parametrize("one", [one for own in KINDS.values() for one in own])
def test_each_kind_is_known(one):
    source, target = f"Fahrt nach {one} um acht, 100 % sicher.", f"At eight to {one}: 100% sure."
    assert different_placeholders(source, target) == ([], [])
    (known,) = placeholders(one).needed
    assert different_placeholders(source, "At eight.") == ([known], [])
    assert different_placeholders("Um acht.", target) == ([], [known])
    assert not visible(one, placeholders(one).hidden).strip()


@pytest.mark.parametrize(
    "text",
    [
        *(
            *("100% sure", "5 % der Züge", "20%iger Alkohol", "50% des", "a < b > c", "x<y", "<a@b.de>", "3 <5"),
            "C# und F#",
        ),
        *(
            *("5 $", "$5", "US$ 1,000", "um 10:30", "{ user profile }", "{guess,sub}", "{ }", "#5", "Nr. #1", "a:b"),
            *(":-)", ":D"),
        ),
        *(
            *("100 %%", "http://example.org/%20a?b=%s#c", "Hashtag #Zug", "List<", "{", "}", "%", "50%-60%", "10%–20%"),
            "::name",
        ),
    ],
)
def test_what_only_looks_like_one_is_none(text):
    assert placeholders(text.replace("%s", "x")).needed == []


@pytest.mark.parametrize(
    ("source", "target", "found"),
    [
        ("{0} of {name}", "{name} : { 0 }", ([], [])),
        ("%s and %1$d at 5 % sure", "%1$d", (["%s"], [])),
        ("${user} <b>x</b>", "x", (["${user}", "<b>", "</b>"], [])),
        ("100% sure, a < b", "", ([], [])),
        ("x", "{{x}}", ([], ["{{x}}"])),
        ("a<br>b", "a<br />b", ([], [])),
        ("a<BR>b", "a<br/>b", ([], [])),
        ('<a href="/de/zug">Zug</a>', '<a href="/en/train" class="x">train</a>', ([], [])),
        ("""<a title="der 'Zug' > hier">x</a>""", """<a title='the "train"'>x</a>""", ([], [])),
        ('<x id="1"/> a <x id="2"/>', '<x id="2"/> b <x id="1"/>', ([], [])),
        ('<x id="1"/>', '<x id="2"/>', (["<x id=1/>"], ["<x id=2/>"])),
        ("<b>a</b>", "a", (["<b>", "</b>"], [])),
        ("https://example.org/de", "https://example.org/en", ([], [])),
        ("%s von %s", "%2$s of %1$s", ([], [])),
        ("%1$s von %2$s", "%s of %s", ([], [])),
        ("%s von %d", "%d of %s", ([], [])),
        ("%s von %s", "%2$s of", (["%1$s"], [])),
        ("{} von {}", "{1} of {0}", ([], [])),
        ("%L1 Züge", "%1 trains", ([], [])),
        ("{ $name }, {n,number}", "{$name}: {n, number, integer}", ([], [])),
        ("am {0:dd.MM.yyyy}", "on {0:MM/dd/yyyy}", ([], [])),
        ("50 %s", "%s 50", ([], [])),
    ],
)
def test_spellings_that_mean_the_same(source, target, found):
    assert different_placeholders(source, target) == found


DE = "{n, plural, one {# Zug} other {# Züge}}"
RIGHT = [
    "{n, plural, one {# train} other {# trains}}",
    "{n,plural,=0 {no train} one {one train} few {# trains} many {# trains} other {# trains}}",
    "{n, plural, offset:1 other {{n} trains}}",
    "{ n , plural ,\n one { # train }\n other { # trains }\n}",
]
WRONG = {
    "{n, plural, one {# train} many {# trains}}": (["{n,plural,other}"], []),
    "{m, plural, one {# train} other {# trains}}": None,
    "{n, plural, one {# train} other {trains}}": ([], []),  # the number stands in the other branch
    "{n, plural, one {a train} other {trains}}": (["{n}"], []),
    "{n, plural, one {# train} other {# {x} trains}}": ([], ["{x}"]),
    "{n, plural, one {# train} other {# trains}": None,
    "{n} trains": None,
}


@pytest.mark.parametrize("target", RIGHT)
def test_plurals_may_have_the_forms_of_their_language(target):
    assert different_placeholders(DE, target) == ([], [])
    assert different_placeholders(target, DE) == ([], [])
    shown = visible(target, placeholders(target).hidden).split()
    assert shown == ["trains"]


@pytest.mark.parametrize(("target", "found"), WRONG.items())
def test_plurals_that_lack_something_are_found(target, found):
    wrong = different_placeholders(DE, target)
    assert wrong == found if found is not None else wrong[0]


def test_branches_within_branches():
    source = "{g, select, female {Sie hat {n, plural, one {# Zug} other {# Züge <b>hier</b>}}} other {Er hat {n} Züge}}"
    target = "{g, select, female {She has {n, plural, one {# train} other {# <b>trains</b>}}} other {They have {n}}}"
    assert different_placeholders(source, target) == ([], [])
    assert different_placeholders(source, target.replace("female", "f"))[0] == ["{g,select,female}"]
    fluent = "{ $n -> [one] { $n } Zug *[other] { $n } Züge }"
    assert different_placeholders(fluent, "{ $n -> [one] one train [few] x *[other] { $n } trains }") == ([], [])
    assert different_placeholders(fluent, "{ $n -> [one] one train *[other] trains }") == (["{$n}"], [])


@given(
    st.lists(
        st.sampled_from(["{n, plural,", "other {", "one {", "}", "#", "{n}", "{", " a", "{$n ->", "*[x]", "<b>", "%s"])
    )
)
def test_anything_is_read_and_is_its_own_translation(parts):
    text = "".join(parts)
    found = placeholders(text)
    assert different_placeholders(text, text) == ([], [])
    assert [span for span in found.hidden if span[0] >= span[1]] == []
    assert found.hidden == sorted(found.hidden)
    assert len(visible(text, found.hidden)) == len(text)


#: What is nested deep or broken, repeated, and how many stretches of the whole are no text.
BROKEN = {
    "{": 0, "{n, plural, one {": 0, "{n, plural, other {x} ": 3000, "{$n -> [a] ": 0, '<a x="': 0, "<!--": 0, "%": 0,
    "{{": 0, "#a": 1500,
}  # fmt: skip


@pytest.mark.parametrize("part", BROKEN)
def test_what_is_nested_deep_or_broken_costs_no_more_than_its_length(part):
    began = time.process_time()
    assert len(placeholders(part * 3000).hidden) == BROKEN[part]
    assert time.process_time() - began < 2  # about 0.02 s; the square of the length would take a minute
