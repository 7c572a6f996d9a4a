"""Binary trees, and back without loss."""

from hypothesis import given
from hypothesis import strategies as st

from aligntools.constituents.binarization import binarize, restore, without_repeats
from aligntools.formats.annotation.brackets import Tree, parse_trees

LABELS = st.sampled_from(["S", "NP", "VP", "NP-SBJ", "ADVP|PRT", "@NP", "@", "NP^S", "a\\b", "\\@", "^", "\\"])
LEAVES = st.builds(Tree, LABELS, st.just([]), st.sampled_from(["the", "dog", "(", "@", "^"]))
TREES = st.recursive(
    LEAVES, lambda inner: st.builds(Tree, LABELS, st.lists(inner, min_size=1, max_size=6)), max_leaves=25
)
ORDERS = st.one_of(st.none(), st.integers(0, 4))


def tree(text):
    ((_, found),) = parse_trees([text], "text")
    return found


def nodes(top):
    return [top] + [node for child in top.children for node in nodes(child)]


@given(TREES, ORDERS, st.integers(1, 4))
def test_restoring_is_the_inverse_and_no_node_has_more_than_two_children(given_tree, horizontal, vertical):
    before = str(given_tree)
    binary = binarize(given_tree, horizontal, vertical)
    assert max(len(node.children) for node in nodes(binary)) <= 2
    assert [(leaf.word, leaf.lemma) for leaf in binary.leaves()] == [
        (leaf.word, leaf.lemma) for leaf in given_tree.leaves()
    ]
    assert restore(binary) == given_tree
    assert str(given_tree) == before


@given(TREES)
def test_what_stands_around_a_repeated_label_in_a_chain_is_left_out(given_tree):
    found = without_repeats(given_tree)
    assert found.words() == given_tree.words()
    for node in nodes(found):
        below = node
        while len(below.children) == 1:
            below = below.children[0]
            assert below.word is not None or below.label != node.label
    assert without_repeats(found) == found


def test_labels_and_sizes_of_trees():
    flat = tree("(S (A a) (B b) (NP (C c)) (D d))")
    assert str(binarize(flat, None, 1)) == "(S (A a) (@S|A (B b) (@S|A-B (NP (C c)) (D d))))"
    assert str(binarize(flat, 1, 1)) == "(S (A a) (@S|A (B b) (@S|B (NP (C c)) (D d))))"
    assert str(binarize(flat, 0, 2)) == "(S (A a) (@S (B b) (@S (NP^S (C c)) (D d))))"
    deep = tree("(S (VP (NP (N n) (PP (P p)))))")
    assert str(binarize(deep, 0, 3)) == "(S (VP^S (NP^VP^S (N n) (PP^NP^VP (P p)))))"
    wide = Tree("S", [Tree("N", [], str(k)) for k in range(3000)])
    assert restore(binarize(wide, 1, 2)) == wide
    deep = Tree("N", [], "n")
    for k in range(3000):
        deep = Tree(f"X{k % 7}", [deep, Tree("N", [], "n")])
    assert str(restore(binarize(deep, None, 3))) == str(deep)
    assert str(without_repeats(tree("(X (Y (X (X x))))"))) == "(X (X x))"
    assert str(without_repeats(tree("(X (Y (X (A a) (B b))))"))) == "(X (A a) (B b))"
