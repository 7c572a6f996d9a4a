"""Annotation carried over links: against one word at a time, and what cannot happen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aligntools as at
from aligntools.formats.annotation.brackets import Tree
from aligntools.formats.annotation.conll import parse_conll
from aligntools.projecting.columns import FlatLinks, spans, type_dictionary, voted
from tests import naive_projecting as naive

TAGS = ["DET", "NOUN", "VERB", "_"]


def conll(sentences):
    """Return sentences of (tag, head, label) as CoNLL."""
    rows = "".join(
        "".join(f"{k}\tw{k}\t_\t{tag}\t_\t_\t{head}\t{label}\t_\t_\n" for k, (tag, head, label) in enumerate(s, 1))
        + "\n"
        for s in sentences
    )
    return parse_conll("source.conllu", rows.encode().splitlines(keepends=True))


@st.composite
def pairs(draw):
    """Return a sentence with a tree, the length of its translation, and links with weights."""
    m, n = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    order = draw(st.permutations(range(m)))
    heads = [0] * m
    for k in range(1, m):
        heads[order[k]] = order[draw(st.integers(0, k - 1))] + 1
    sentence = [(draw(st.sampled_from(TAGS)), head, f"r{k}") for k, head in enumerate(heads)]
    cells = st.tuples(st.integers(0, m - 1), st.integers(0, n - 1))
    return sentence, n, draw(st.dictionaries(cells, st.sampled_from([0.25, 0.5, 1.0])))


@given(st.lists(pairs(), min_size=1, max_size=3), st.booleans())
def test_one_word_at_a_time(tmp_path_factory, texts, weighted):
    if not any(links for _, _, links in texts):
        return
    source = conll([sentence for sentence, _, _ in texts] + [[("NOUN", 0, "root")]])
    target = [" ".join(f"v{k}" for k in range(n)) for _, n, _ in texts] + ["end"]
    folder = tmp_path_factory.mktemp("links")
    lines = [" ".join(f"{i}-{j}:{p}" if weighted else f"{i}-{j}" for (i, j), p in links.items()) for *_, links in texts]
    (folder / "links").write_text("\n".join([*lines, "0-0", ""]))
    found = at.project(source, target, folder / "links", columns=["upos", "head", "deprel"])
    heads, tags, labels = found.columns[6], found.columns[3], found.columns[7]
    begin = 0
    for sentence, n, links in texts:
        given_ = links if weighted else dict.fromkeys(links, 1.0)
        partner, image = naive.choose(given_, len(sentence), n)
        expected = naive.tree([head for _, head, _ in sentence], image, n)
        for j in range(n):
            k = begin + j
            assert tags[k].decode() == (sentence[partner[j]][0] if j in partner else "_")
            assert heads[k].decode() == ("_" if expected[j] is None else str(expected[j]))
            assert labels[k].decode() == ("_" if expected[j] is None else sentence[partner[j]][2])
            assert found.reached[k] == (j in partner)
        begin += n


def flat(*links):
    """Return links (source, target, weight) of one sentence."""
    columns = np.array(links, float).reshape(-1, 3).T
    return FlatLinks(columns[0].astype(int), columns[1].astype(int), columns[2], np.zeros(len(links)))


def test_votes_spans_and_dictionaries():
    values = [b"DET", b"NOUN", b"NOUN", b"_"]
    labels, shares = voted(values, flat((0, 0, 0.5), (1, 0, 0.3), (2, 0, 0.3), (3, 1, 1.0), (0, 2, 1.0)), 4)
    assert labels == [b"NOUN", b"_", b"DET", b"_"]
    assert shares.tolist() == pytest.approx([0.6 / 1.1, 0, 1, 0])
    values = b"B-PER I-PER O B-LOC O I-ORG".split()
    links = flat((0, 2, 1), (1, 0, 1), (2, 3, 1), (3, 4, 1), (5, 5, 1))
    ends = np.array([0, 6]), np.array([0, 7])
    assert spans(values, *ends, links) == b"B-PER I-PER I-PER O B-LOC B-ORG _".split()
    inside = flat((0, 0, 1), (1, 3, 1), (3, 2, 1))  # of two that cross, the one of more words stays
    assert spans(values, *ends, inside) == b"B-PER I-PER I-PER I-PER _ _ _".split()
    words, labels = b"a a a a b c".split(), b"N N N V V _".split()
    found = type_dictionary(words, labels, np.array([1, 1, 0.5, 0.25, 1, 1]), 0.2)
    assert found == {b"a": {b"N": 2.5}, b"b": {b"V": 1.0}}
    assert type_dictionary(words, labels, np.ones(6))[b"a"] == {b"N": 3.0, b"V": 1.0}
    assert type_dictionary([b"a"] * 3, [b"N", b"V", b"X"], np.ones(3), 0.5) == {
        b"a": {b"N": 1.0}
    }  # none has half: one stays


@pytest.mark.parametrize(("links", "expected"), [("best", "DET NOUN"), ("one-to-one", "_ NOUN"), ("vote", "DET NOUN")])
def test_ways_to_choose(links, expected):
    source = conll([[("DET", 2, "det"), ("NOUN", 0, "root"), ("VERB", 2, "x")]])
    found = at.project(source, ["a b"], [[(0, 0), (2, 0), (1, 1)]], links=links)
    assert b" ".join(found.columns[3]).decode() == expected


def test_the_target_keeps_what_it_has():
    source = conll([[("DET", 2, "det"), ("NOUN", 0, "root")]])
    rows = ["#_sent_id", "1-2 ab _ _ _ _ _ _ _ _", "1 a x _ _ _ _ _ _ A=1|Projected=0.1", "2 b _ X Y _ _ _ _ _", ""]
    target = parse_conll("t", [row.replace(" ", "\t").encode() + b"\n" for row in rows])
    found = at.project(source, target, [[(0, 0)]], links="vote", columns=["upos"])
    assert found.format().decode().splitlines()[2:4] == [
        "1\ta\tx\tDET\t_\t_\t_\t_\t_\tA=1|Projected=1.000", "2\tb\t_\t_\tY\t_\t_\t_\t_\t_",
    ]  # fmt: skip
    assert found.dictionary() == {"a": {"DET": 1.0}}


@st.composite
def tree_pairs(draw):
    """Return a tree, the length of its translation, and links."""
    m, n = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    trees = [Tree(f"T{k}", [], f"w{k}") for k in range(m)]
    while len(trees) > 1 or trees[0].word is not None or draw(st.booleans()):
        begin = draw(st.integers(0, len(trees) - 1))
        end = draw(st.integers(begin + 1, len(trees)))
        trees[begin:end] = [Tree(draw(st.sampled_from("ABC")), trees[begin:end])]
    cells = st.tuples(st.integers(0, m - 1), st.integers(0, n - 1))
    return trees[0], n, draw(st.lists(cells, max_size=8, unique=True))


@given(st.lists(tree_pairs(), min_size=1, max_size=3))
def test_constituents_are_carried_over_as_they_are_defined(texts):
    if not any(links for *_, links in texts):
        return
    target = [" ".join(f"v{k}" for k in range(n)) for _, n, _ in texts]
    found = at.project([tree for tree, *_ in texts], target, [links for *_, links in texts], spans="brackets")
    carried = 0
    for (tree, n, links), own, words in zip(texts, found.trees, target, strict=True):
        expected = naive.constituents(list(tree.spans()), links, n)
        assert sorted((a, b, label) for label, a, b in own.spans()) == sorted(expected)
        assert " ".join(own.words()) == words
        carried += len(expected) - 1
    assert found.constituents == (carried, sum(len(list(tree.spans())) - 1 for tree, *_ in texts))


def test_partial_trees_have_the_tags_that_there_are():
    tree = "( (S (NP-SBJ (DT the) (NN dog) (-NONE- *T*)) (VP (VBZ sleeps) (ADVP (RB well))) (. .)) )"
    links = [(0, 0), (1, 1), (2, 3), (3, 2), (4, 4)]
    found = at.project([tree], ["der Hund gut schläft ."], [links], spans="brackets")
    assert str(found.trees[0]) == "(S (NP (DT der) (NN Hund)) (VP (ADVP (RB gut)) (VBZ schläft)) (. .))"
    assert found.format() == b"( (S (NP (DT der) (NN Hund)) (VP (ADVP (RB gut)) (VBZ schl\xc3\xa4ft)) (. .)))\n"
    apart = at.project([tree], ["gut der schläft Hund x"], [[(0, 1), (1, 3), (2, 2), (3, 0)]], spans="brackets")
    assert str(apart.trees[0]) == "(S (ADVP (RB gut)) (DT der) (VBZ schläft) (NN Hund) (_ x))"
    rows = "".join(f"{k}\t{w}\t_\tU{k}\t_\t_\t_\t_\t_\t_\n" for k, w in enumerate(["der", "Hund"], 1)) + "\n"
    tagged = at.project([tree], parse_conll("t", rows.encode().splitlines(True)), [[(0, 0)]], spans="brackets")
    assert str(tagged.trees[0]) == "(S (NP (U1 der)) (U2 Hund))"
    nothing = at.project(["(())", tree, "(NN a)"], ["x", "", "b"], [[], [], [(0, 0)]], spans="brackets")
    assert nothing.format() == b"(())\n(())\n( (TOP (NN b)))\n"
