"""Grammars as text and as model files: goldens, round trips, and lines that are not rules."""

import gzip
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from aligntools.formats.models import modelfile
from aligntools.formats.text.corpus import Side
from aligntools.formats.translation import grammar as grammars
from aligntools.formats.translation.grammar import GrammarRules
from aligntools.formats.translation.grammar_text import FORMATS, read_grammar, write_grammar
from aligntools.ground.errors import DataError, ModelError
from aligntools.words.vocabulary import Vocabulary
from tests import naive_grammar

HIERO = """[X] ||| [X,1] Haus ||| the house [X,1] ||| P=-0.5 Q=0 ||| 1-1
[X] ||| [X,1] der [X,2] ||| [X,2] of [X,1] ||| P=-1.25 Q=3 ||| 1-1
[X] ||| das ||| it ||| P=0 Q=-0.00001
[X] ||| das ||| the ||| P=-12345.5 Q=100 ||| 0-0
"""
MOSES = """[X][X] Haus [X] ||| the house [X][X] [X] ||| 0.5 0.25 1 0.0003012 2.71828 ||| 0-2 1-1 ||| 10 5 2.5 ||| |||
[X][X] der [X][X] [X] ||| [X][X] of [X][X] [X] ||| 3.2e-07 1 1 1 1 ||| 0-2 1-1 2-0 ||| 1 1 1 ||| |||
das [X] ||| it [X] ||| 1 1 1 1 1 |||  ||| 3 4 2 ||| |||
"""


def same(a, b):
    for name in ("source", "target", "source_offsets", "target_offsets", "features", "links", "links_offsets",
                 "counts", "sparse_offsets", "sparse_ids", "sparse_values"):  # fmt: skip
        x, y = getattr(a, name), getattr(b, name)
        assert x.dtype == y.dtype, name
        np.testing.assert_array_equal(x, y, name)
    assert a.feature_names == b.feature_names
    assert a.sparse_names == b.sparse_names
    assert a.source_vocabulary.words() == b.source_vocabulary.words()
    assert a.target_vocabulary.words() == b.target_vocabulary.words()


def test_hiero_and_moses(file):
    g = read_grammar(file(HIERO))
    assert len(g) == 4
    assert g.feature_names == ["P", "Q"]
    assert g.source_vocabulary.words() == ["", "Haus", "das", "der"]
    assert g.target_vocabulary.words() == ["", "house", "it", "of", "the"]
    assert g.source.tolist() == [-1, 1, -1, 3, -2, 2, 2]
    assert g.target.tolist() == [4, 1, -1, -2, 3, -1, 2, 4]
    np.testing.assert_allclose(g.features, [[-0.5, 0], [-1.25, 3], [0, -1e-5], [-12345.5, 100]])
    assert (g.features.dtype, g.links.dtype, g.source.dtype) == (np.float32, np.uint8, np.int32)
    assert g.links.tolist() == [[1, 1], [1, 1], [0, 0]]
    assert g.links_offsets.tolist() == [0, 1, 2, 2, 3]
    assert g.arities().tolist() == [1, 2, 0, 0]
    assert g.rule(1) == (["[X,1]", "der", "[X,2]"], ["[X,2]", "of", "[X,1]"])
    g = read_grammar(file(MOSES))
    assert g.feature_names == [*grammars.STANDARD, "PhraseModel_4"]
    np.testing.assert_allclose(g.features[0], [0, np.log(0.5), np.log(0.0003012), np.log(0.25), 1], atol=6e-6)
    assert g.target.tolist() == [4, 1, -1, -2, 3, -1, 2]
    assert g.links.tolist() == [[1, 1], [1, 1]]  # of words alone
    assert g.counts.tolist() == [[10, 5, 2.5], [1, 1, 1], [3, 4, 2]]


@pytest.mark.parametrize(("text", "format"), [(HIERO, "hiero"), (MOSES, "moses")])
@pytest.mark.parametrize("name", ["g", "g.gz"])
def test_text_comes_back_as_it_was(text, format, name, file, tmp_path):
    g = read_grammar(file(text, "in." + name))
    out = tmp_path / f"out.{name}"
    write_grammar(out, g, format)
    data = out.read_bytes()
    assert (gzip.decompress(data) if name.endswith("gz") else data).decode() == text


def test_binary_comes_back_as_it_was(file, tmp_path):
    g = replace(
        read_grammar(file(HIERO)),
        sparse_offsets=np.array([0, 1, 1, 3, 3]),
        sparse_ids=np.array([0, 0, 1], np.int32),
        sparse_values=np.array([1, 2, 1], np.float32),
        sparse_names=["a_b", "X_b"],
    )
    write_grammar(tmp_path / "bin", g, "binary")
    same(read_grammar(tmp_path / "bin"), g)
    side = Side(np.array([1], np.int32), np.array([0, 1]))
    some = read_grammar(tmp_path / "bin", only_for=(side, Vocabulary.from_words(["das"])))
    assert some.sparse_offsets.tolist() == [0, 2, 2]
    assert some.source_vocabulary.words() == ["", "das"]


symbol = st.sampled_from(["a", "b", "ü", "-", "=", "[X]x", "1-1", "||", "\u00a0"])


@st.composite
def random_grammar(draw):
    """Any rules with distinct sides, features of five decimals and links."""
    rows = {}
    for _ in range(draw(st.integers(1, 8))):
        arity = draw(st.integers(0, 2))
        left = draw(st.lists(symbol, min_size=1, max_size=4))
        right = draw(st.lists(symbol, min_size=1, max_size=4))
        for k in range(1, arity + 1):
            left += [-k, "b"]  # no two of them touch
            right.insert(draw(st.integers(0, len(right))), -k)
        links = draw(st.sets(st.tuples(st.integers(0, len(left) - 1), st.integers(0, len(right) - 1)), max_size=4))
        links = sorted((i, j) for i, j in links if isinstance(left[i], str) and isinstance(right[j], str))
        features = [draw(st.integers(-2_000_000, 2_000_000)) / 1e5 for _ in range(4)]
        rows[tuple(left), tuple(right)] = links, features
    return rows


def build(rows):
    sides = []
    for which in (0, 1):
        numbers = {}
        symbols = [
            s if isinstance(s, int) else numbers.setdefault(s, len(numbers) + 1) for key in rows for s in key[which]
        ]
        offsets = np.concatenate([[0], np.cumsum([len(key[which]) for key in rows])]).astype(np.int64)
        sides.append((Vocabulary.from_words(numbers), offsets, np.array(symbols, np.int32)))
    (sv, so, s), (tv, to, t) = sides
    links = [link for value in rows.values() for link in value[0]]
    links_offsets = np.concatenate([[0], np.cumsum([len(value[0]) for value in rows.values()])]).astype(np.int64)
    features = np.array([value[1] for value in rows.values()], np.float32)
    return GrammarRules(sv, tv, so, s, to, t, features, list(grammars.STANDARD), links_offsets,
                   np.array(links, np.uint8).reshape(-1, 2)).canonical()  # fmt: skip


@given(random_grammar())
def test_every_format_gives_back_every_grammar(tmp_path, rows):
    g = build(rows)
    pairs = [tuple(map(tuple, g.rule(k))) for k in range(len(g))]
    assert len(pairs) == len(rows)
    for format in FORMATS:
        write_grammar(tmp_path / format, g, format)
        same(read_grammar(tmp_path / format), g)


def test_the_one_form_and_numbers(file):
    rows = {(("b",), ("y",)): ([], [0] * 4), (("b",), ("x", "z")): ([], [1] * 4), (("b", -1), (-1, "x")): ([], [2] * 4),
            ((-1, "b"), ("x", -1)): ([], [3] * 4), (("a", "b"), ("x",)): ([], [4] * 4),
            (("b",), ("x",)): ([], [5] * 4)}  # fmt: skip
    g = build(rows)
    assert g.features[:, 0].tolist() == [3, 4, 5, 1, 0, 2]
    assert g.canonical().source is not None
    same(g.canonical(), g)
    g = read_grammar(file("[X] ||| [X,2] a [X,1] ||| [X,1] b [X,2] ||| P=1\n[X] ||| [X,1] c ||| d [1] ||| P=1\n"))
    assert g.rule(0) == (["[X,1]", "a", "[X,2]"], ["[X,2]", "b", "[X,1]"])
    assert g.rule(1) == (["[X,1]", "c"], ["d", "[X,1]"])
    lines = ["a ||| a ||| Q=1 P=2", "b ||| b ||| P=3e-1 R=+.5 ||| 0-0", "c ||| c ||| ", "d ||| d ||| 7 P=1. -8E0"]
    g = read_grammar(file("\r\n".join(f"[X] ||| {line}" for line in lines)))
    assert g.feature_names == ["Q", "P", "R", "PhraseModel_0", "PhraseModel_1"]
    expected = [[1, 2, 0, 0, 0], [0, 0.3, 0.5, 0, 0], [0, 0, 0, 0, 0], [0, 1, 0, 7, -8]]
    np.testing.assert_allclose(g.features, expected, rtol=1e-7)


def test_blocks_do_not_show(file, monkeypatch):
    from aligntools.formats.translation import grammar_text

    text = "".join(f"[X] ||| w{k % 50} x{k} ||| v{k % 3} ||| P=-{k}{' N=1' if k == 700 else ''}\n" for k in range(900))
    whole = read_grammar(file(text))
    monkeypatch.setattr(grammar_text, "_BLOCK", 512)
    same(read_grammar(file(text)), whole)
    assert whole.features[:, 1].sum() == 1


GOOD = "[X] ||| a ||| b ||| P=1\n"
M_GOOD = "a [X] ||| b [X] ||| 1 1 1 1 ||| 0-0 ||| 1 1 1\n"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (GOOD + "\n[X] ||| a ||| b\n", 3, "is not a rule"),
        (GOOD + "some words\n", 2, "is not a rule|left side"),
        (GOOD + "[S] ||| a ||| b ||| P=1\n", 2, "left side other than"),
        (GOOD + "[X] ||| a |||  ||| P=1\n", 2, "empty side"),
        (GOOD + "[X] ||| a [X,1] ||| b ||| P=1\n", 2, "not in pairs"),
        (GOOD + "[X] ||| a ||| b [X,1] ||| P=1\n", 2, "not in pairs"),
        (GOOD + "[X] ||| a [X,1] ||| [X,1] b [X,1] ||| P=1\n", 2, "not in pairs"),
        (GOOD + "[X] ||| [X,1] a [X,1] ||| [X,1] b [X,2] ||| P=1\n", 2, "twice"),
        (GOOD + "[X] ||| [X,1] a [X,2] b [X,1] ||| [X,1] b [X,2] ||| P=1\n", 2, "more than two nonterminals"),
        (GOOD + "[X] ||| a ||| b ||| P=one\n", 2, "'P=one' is not a feature"),
        (GOOD + "[X] ||| a ||| b ||| one\n", 2, "'one' is not a feature"),
        (GOOD + "[X] ||| a ||| b ||| P=\n", 2, "'P=' is not a feature"),
        (GOOD + "[X] ||| a ||| b ||| P=nan\n", 2, "is not a feature"),
        (GOOD + "[X] ||| a ||| b ||| =1\n", 2, "no name"),
        (GOOD + "[X] ||| a ||| b ||| P=1 ||| 0-1\n", 2, "links"),
        (GOOD + "[X] ||| a ||| b ||| P=1 ||| 0\n", 2, "links"),
        (GOOD + "[X] ||| a ||| b ||| P=1 ||| 0-0x\n", 2, "links"),
        (b"[X] ||| a ||| b ||| P=1\n[X] ||| \xff ||| b ||| P=1\n", 2, "UTF-8"),
        (M_GOOD + "a ||| b ||| 1 1 1 1\n", 2, "left side"),
        (M_GOOD + "a [X] ||| b [X]\n", 2, "is not a rule"),
        (M_GOOD + "a [X][X] [X] ||| b [X][X] [X] ||| 1 1 1 1 ||| 0-0\n", 2, "links such as 1-1 pair"),
        (M_GOOD + "a [X] ||| b [X] ||| 1 1 1 -1 ||| 0-0\n", 2, "a probability"),
        (M_GOOD + "a [X] ||| b [X] ||| 1 1 1 1 1 ||| 0-0\n", 2, "more scores than the 4"),
        (M_GOOD + "a [X] ||| b [X] ||| 1 1 1 1 ||| 0-0 ||| x\n", 2, "counts"),
        (M_GOOD + "[X] ||| b [X] ||| 1 1 1 1 ||| 0-0\n", 2, "empty side"),
        ("", None, "is empty"),
        ("\n\n", None, "has no rules"),
    ],
)
def test_what_is_no_rule(text, line, message, file):
    with pytest.raises(DataError, match=message) as caught:
        read_grammar(file(text))
    assert caught.value.line == line
    assert "\n" not in str(caught.value)


def test_damaged_model_files(file, tmp_path):
    g = read_grammar(file(HIERO))
    write_grammar(tmp_path / "good", g, "binary")
    header, arrays = modelfile.read_model(tmp_path / "good", "grammar")
    for name, value in (
        ("source", np.full(len(g.source), 9, np.int32)),
        ("target_offsets", g.target_offsets[::-1].copy()),
        ("features", np.full_like(g.features, np.nan)),
        ("links", g.links[:2]),
        ("sparse_ids", np.zeros(1, np.int32)),
    ):
        with pytest.raises(ModelError, match="could not be loaded"):
            write_grammar(tmp_path / "bad", replace(g, **{name: value}), "binary")
        modelfile.write_model(tmp_path / "bad", "grammar", header, arrays | {name: value})
        with pytest.raises(ModelError, match="damaged"):
            read_grammar(tmp_path / "bad")
    modelfile.write_model(tmp_path / "other", "tagger", {}, {"a": np.zeros(1)})
    with pytest.raises(ModelError, match="of kind 'tagger'"):
        read_grammar(tmp_path / "other")


sentence = st.lists(st.sampled_from("abcd"), max_size=6)


@st.composite
def patterns(draw):
    """A source side with a word in it, and no nonterminals side by side."""
    found = draw(st.lists(st.sampled_from(["a", "b", "c", "e", -1]), min_size=1, max_size=6))
    found = [s for k, s in enumerate(found) if s != -1 or k == 0 or found[k - 1] != -1]
    places = [k for k, s in enumerate(found) if s == -1]
    for k in places[2:]:
        found[k] = "a"
    for number, k in enumerate(places[:2], 1):
        found[k] = -number
    return tuple(found) if any(isinstance(s, str) for s in found) else ("a", *found)


def pieces(pattern):
    """Return the words between nonterminals."""
    found, rest = [[]], list(pattern)
    for s in rest:
        found.append([]) if isinstance(s, int) else found[-1].append(s)
    return [piece for piece in found if piece]


@given(st.lists(sentence, min_size=1, max_size=3), st.sets(patterns(), min_size=1, max_size=12), st.integers(1, 6))
def test_filtering(tmp_path, text, lefts, span):
    rows = {(left, tuple(s for s in left if isinstance(s, int)) or ("t",)): ([], [0] * 4) for left in lefts}
    g = build(rows)
    words = Vocabulary.from_words("dcba")
    side = Side(np.array([words.id(w) for line in text for w in line], np.int32),
                np.concatenate([[0], np.cumsum([len(line) for line in text])]).astype(np.int64))  # fmt: skip
    write_grammar(tmp_path / "g", g)

    def left(grammar):
        return {tuple(-int(s[3]) if s[0] == "[" else s for s in grammar.rule(k)[0]) for k in range(len(grammar))}

    by_pieces = {
        p for p in lefts
        if all(any(line[k : k + len(q)] == q for line in text for k in range(len(line))) for q in
               [q[:5] for q in pieces(p)])
        and all(isinstance(s, int) or words.id(s) > 0 for s in p)
    }  # fmt: skip
    assert left(read_grammar(tmp_path / "g", only_for=(side, words))) == by_pieces
    whole = {p for p in by_pieces if len(p) > 5 or any(naive_grammar.matches(p, line, span) for line in text)}
    some = read_grammar(tmp_path / "g", only_for=(side, words), span=span)
    assert left(some) == whole
    same(grammars.filtered(g, grammars.TextFilter(side, words, span=span)), some)
