"""Trees of constituents in brackets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.annotation.brackets import (
    DEEPEST,
    Tree,
    category,
    format_trees,
    parse_trees,
    plain,
    read_trees,
)
from aligntools.ground.errors import DataError
from tests.places import REALDATA, ROOT

#: Labels and words of trees that are drawn.
LABELS = st.text("ABS.*-=", min_size=1, max_size=4)
WORDS = st.text("ab()-Ré'`", min_size=1, max_size=4).filter(lambda word: "(" not in word[1:] or len(word) == 1)


def parsed(text):
    return [tree for _, tree in parse_trees(text.splitlines(), "x.mrg")]


def trees():
    plain_words = st.sampled_from(["dog", "(", ")", "-", "l'", "é"])
    leaves = st.builds(Tree, LABELS, st.just([]), plain_words, st.none() | plain_words)
    return st.recursive(leaves, lambda inner: st.builds(Tree, LABELS, st.lists(inner, min_size=1, max_size=3)))


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
    assert [tree.children[0] for tree in found] == given_trees
    assert format_trees(found) == text


def test_words_that_are_brackets():
    (tree,) = parsed("(NP (-LRB- -LRB-) (NN x) (-RRB- -RRB-))")
    assert tree.words() == ["(", "x", ")"]
    assert str(tree) == "(NP (-LRB- -LRB-) (NN x) (-RRB- -RRB-))"


def test_functions_traces_and_what_they_leave_empty():
    phrase = "(VP (VBN seen) (NP (-NONE- *-1)) (PP=2 (IN by) (NP (-NONE- *))))"
    penn = f"( (S (NP-SBJ-1 (NNP Ann)) (VP (VBD was) {phrase}) (. .)) )"
    assert str(plain(parsed(penn)[0])) == "(S (NP (NNP Ann)) (VP (VBD was) (VP (VBN seen) (PP (IN by)))) (. .))"
    assert "(NP (-NONE- *-1))" in str(plain(parsed(penn)[0], traces=True))
    assert "(NP-SBJ-1 " in str(plain(parsed(penn)[0], functions=True))
    cess = "( (S.co (sn.e-SUJ *0*) (grup.verb (vmip3s0 canta cantar)) (Fp . .)))"
    assert str(plain(parsed(cess)[0])) == "(S.co (grup.verb (vmip3s0 canta cantar)) (Fp . .))"
    assert plain(parsed("( (S (-NONE- *)))")[0]) == Tree("")
    assert [category(label) for label in ("-NONE-", "NP", "=")] == ["-NONE-", "NP", "="]


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
        ("(A " * (DEEPEST + 1), 1, f"{DEEPEST} brackets are open"),
    ],
)
def test_what_is_no_tree_is_told(text, line, problem):
    with pytest.raises(DataError) as caught:
        parsed(text)
    assert str(caught.value).startswith(f"x.mrg:{line}: {problem}")


def test_a_deep_tree():
    text = "(A " * (DEEPEST - 1) + "(B x)" + ")" * (DEEPEST - 1)
    (tree,) = parsed(text)
    assert str(tree) == text
    assert sum(1 for _ in plain(tree).spans()) == DEEPEST - 1


def test_a_sentence_without_a_tree():
    assert parsed("(())") == [Tree("", [Tree("")])]
    assert format_trees([Tree("")]) == "(())\n"


def test_the_sample():
    path = ROOT / "data" / "samples" / "en.mrg"
    found, lines = read_trees(path)
    assert lines == list(range(1, 41))
    assert format_trees(found) == path.read_text(encoding="utf-8")
    tagged = (ROOT / "data" / "samples" / "en.tagged").read_text(encoding="utf-8").splitlines()
    assert [[token.rsplit("_", 1)[0] for token in line.split()] for line in tagged] == [tree.words() for tree in found]


@pytest.mark.parametrize("name", ["wsj-dev", "es-dev"])
def test_treebanks_come_back(name):
    path = REALDATA / "treebanks" / "constituents" / f"{name}.mrg"
    if not path.exists():
        pytest.skip("no such treebank")
    found, _ = read_trees(path)

    def squeezed(text):
        return "".join(text.split())

    assert squeezed(format_trees(found)) == squeezed(path.read_text(encoding="utf-8"))
