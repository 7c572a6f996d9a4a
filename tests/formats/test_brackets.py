"""Trees of constituents in brackets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.annotation.brackets import (
    DEEPEST,
    Tree,
    category,
    clean,
    escaped,
    format_trees,
    parse_trees,
    plain,
    plain_trees,
    read_trees,
)
from aligntools.ground.errors import DataError
from tests.places import REALDATA

#: Words, tags and labels that are drawn: any characters, and pieces that are written otherwise, or separate elsewhere.
ODD = st.text(max_size=6) | st.lists(
    st.sampled_from([*"() \t\n\r-_=|*#<>;\x0b\x0c\x1c\x1e\x85\u2028\ufeff\udc80", "-LRB-", "RRB-", "-LCB-", "0=", "é"]),
    max_size=6,
).map("".join)
WORDS = ODD.filter(bool) | st.just("x" * 9_000)


def parsed(text):
    return [tree for _, tree in parse_trees(text.split("\n"), "x.mrg")]


def trees(words=WORDS):
    leaves = st.builds(Tree, ODD, st.just([]), words, st.none() | words)
    return st.recursive(leaves, lambda inner: st.builds(Tree, ODD, st.lists(inner, min_size=1, max_size=3)))


def test_a_tree_over_lines():
    first, second = parsed("( (S\n   (NP-SBJ (DT The)\n (NN dog))\n (VP (VBZ barks))))\n(X (Y z))")
    assert str(first) == "( (S (NP-SBJ (DT The) (NN dog)) (VP (VBZ barks))))"
    assert (first.words(), first.tags()) == (["The", "dog", "barks"], ["DT", "NN", "VBZ"])
    assert list(plain(first).spans()) == [("S", 0, 3), ("NP", 0, 2), ("VP", 2, 3)]
    assert second == Tree("X", [Tree("Y", [], "z")])


@given(st.lists(trees(), max_size=4))
def test_what_is_written_is_read(given_trees):
    text = format_trees(given_trees)
    assert text.count("\n") == len(given_trees)
    found = parsed(text)
    assert found == [Tree("", [tree]) if tree.label else tree for tree in given_trees]
    assert format_trees(found) == text


@given(ODD.filter(bool))
def test_what_is_kept_of_a_word_is_what_is_written(text):
    leaf = Tree(text, [], text)
    assert leaf.word == leaf.label == clean(text) == clean(leaf.word)
    assert escaped(text) == escaped(leaf.word)
    if not set(text) & set(" \t\r\n-"):
        assert leaf.word == text


@pytest.mark.parametrize("text", ["(", "dog(s)", ":)", "$(", "-LCB-", "{", "*yawn*", "[0=", "a\u2028b"])
def test_words_that_come_back_as_they_were(text):
    assert Tree("X", [], text).word == text
    assert parsed(str(Tree(text, [], text))) == [Tree(text, [], text)]


def test_single_leaves_brackets_and_deep_trees():
    with pytest.raises(ValueError, match="empty word"):
        Tree("NN", [], "")
    assert str(Tree("", [], "dog")) == "(_ dog)"
    assert parsed("(())") == [Tree("", [Tree("")])]
    assert format_trees([Tree("")]) == "(())\n"
    (tree,) = parsed("(NP (-LRB- -LRB-) (NN x) (-RRB- -RRB-))")
    assert tree.words() == ["(", "x", ")"]
    assert str(tree) == "(NP (-LRB- -LRB-) (NN x) (-RRB- -RRB-))"
    (tree,) = parsed("(S ($-LRB--NK -LRB-) (X :-RRB-))")
    assert (tree.words(), plain(tree).tags()) == (["(", ":)"], ["$(", "X"])
    text = "(A " * (DEEPEST - 1) + "(B x)" + ")" * (DEEPEST - 1)
    (tree,) = parsed(text)
    assert str(tree) == text
    assert tree == parsed(text)[0] != parsed(text.replace("x", "y"))[0]
    assert sum(1 for _ in plain(tree).spans()) == DEEPEST - 1


def test_functions_traces_and_what_they_leave_empty():
    phrase = "(VP (VBN seen) (NP (-NONE- *-1)) (PP=2 (IN by) (NP (-NONE- *))))"
    penn = f"( (S (NP-SBJ-1 (NNP Ann)) (VP (VBD was) {phrase}) (. .)) )"
    assert str(plain(parsed(penn)[0])) == "(S (NP (NNP Ann)) (VP (VBD was) (VP (VBN seen) (PP (IN by)))) (. .))"
    assert "(NP (-NONE- *-1))" in str(plain(parsed(penn)[0], traces=True))
    assert "(NP-SBJ " in str(plain(parsed(penn)[0], functions=True))
    assert "(NP-SBJ-1 " in str(plain(parsed(penn)[0], functions=True, traces=True))
    cess = "( (S.co (sn.e-SUJ *0*) (grup.verb (vmip3s0 canta cantar)) (Fp . .)))"
    assert str(plain(parsed(cess)[0])) == "(S.co (grup.verb (vmip3s0 canta cantar)) (Fp . .))"
    assert plain(parsed("( (S (-NONE- *)))")[0]) == Tree("")
    assert [category(label) for label in ("-NONE-", "NP", "=")] == ["-NONE-", "NP", "="]
    historical = parsed("( (IP (NP-SBJ *con*) (VBD came) (PP *T*-1) (UH *yawn*) (NFP **) (CD *)) (ID CM,1.2))")
    (tree,), notes = plain_trees(historical)
    assert tree.words() == ["came", "*yawn*", "**", "*"]
    assert tree.label == "IP"
    assert notes == ["2 words were taken for traces, as no leaf has the tag -NONE- (the first: (NP-SBJ *con*))"]
    both = [*historical, *parsed(penn)]
    assert plain_trees(both)[0][0].words() == ["*con*", "came", "*T*-1", "*yawn*", "**", "*"]
    assert plain_trees(historical, named=False)[1] == []


def test_lemmas_and_second_words():
    lemmas = parsed("(S (NP Mia Berg) (VP (VBD ran run)))")
    assert plain_trees(lemmas) == (lemmas, [])
    flat = parsed("(S (NP Mia Berg) (VP (VBD ran)) (. .))")
    assert plain_trees(flat)[1] == [
        "1 leaves have a second word, which was taken for a lemma and left out (the first: (NP Mia Berg))"
    ]


def test_what_stands_between_trees():
    text = """<DOC>
<DOCID> chtb_1.fid (a) </DOCID>
# a comment (with brackets
;; another
%% one more
<S ID=1>
( (S (NP
#) (X <b>)))
</S>
<S ID=2> (A b) </S>
wsj_0001.2
(A
;;)
s3: ((A d)) (A e)
"""
    lines, found = zip(*parse_trees(text.split("\n"), "x.mrg"), strict=True)
    assert [tree.words() for tree in found] == [["#", "<b>"], ["b"], [";;"], ["d"], ["e"]]
    assert lines == (7, 10, 12, 14, 14)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("(S (NP x)\n\n(S (NP x)", 3, "a bracket is not closed; the tree that begins on line 1 has no end"),
        ("(X y)\n(S (NP x)))", 2, "a closing bracket, but none is open"),
        ("word (S (NP x))", 1, "'word' outside of brackets"),
        ("(S x (NP y))", 1, "'x' stands beside constituents"),
        ("(S (NP y)\nx)", 2, "'x' stands beside constituents"),
        ("(S (NP))", 1, "'(NP)' has no word"),
        ("(S (NP a b c))", 1, "'(NP a ...' has 3 words"),
        ("%% x\n#FORMAT 3\n#BOS 1\nDas ART", 2, "Negra's export format, where trees in brackets are expected"),
        ("0 ||| (S (X a)) ||| -1.5", 1, "lists of trees (n_best, samples), where trees in brackets are"),
        ("(X a)\n(S (VP (A 1=es) (B 0=so)))", 2, "'1=es' is a numbered word of a discontinuous tree"),
        ("(A " * (DEEPEST + 1), 1, f"{DEEPEST} brackets are open"),
    ],
)
def test_what_is_no_tree_is_told(text, line, problem):
    with pytest.raises(DataError) as caught:
        parsed(text)
    assert str(caught.value).startswith(f"x.mrg:{line}: {problem}")


@pytest.mark.parametrize("name", ["wsj-dev", "es-dev"])
def test_treebanks_come_back(name):
    path = REALDATA / "treebanks" / "constituents" / f"{name}.mrg"
    if not path.exists():
        pytest.skip("no such treebank")
    found, _ = read_trees(path)

    def squeezed(text):
        return "".join(text.split())

    assert squeezed(format_trees(found)) == squeezed(path.read_text(encoding="utf-8"))
