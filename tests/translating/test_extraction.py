"""Extraction against enumeration, and what must not change the result."""

import contextlib

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from aligntools.formats.links.pharaoh import Links
from aligntools.formats.text.corpus import Bitext, Side, Skipped
from aligntools.formats.translation.grammar_text import format_text
from aligntools.ground import engines
from aligntools.ground.engines import Serial
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.ground.processes import Processes
from aligntools.store.job_engines import BlockMap
from aligntools.store.stores import Store
from aligntools.translating.decoding.system_tables import build_trie
from aligntools.translating.grammar import extraction, kernels_trie
from aligntools.translating.grammar.extraction import Extraction, parts_by_jobs
from aligntools.translating.settings import ExtractionSettings
from aligntools.words.vocabulary import Vocabulary
from tests import naive_grammar

CORPUS = [
    (["das", "Haus", "von", "ihm"], ["his", "house"], [(0, 1), (1, 1), (3, 0)]),
    (["ein", "Haus"], ["a", "house"], [(0, 0), (1, 1)]),
    (["das", "Haus"], ["the", "house"], [(0, 0), (1, 1)]),
    ([], [], []),
    (["das", "Haus"], ["the", "house"], [(1, 1)]),
    (
        ["ich", "habe", "das", "Buch", "gelesen"],
        ["i", "have", "read", "the", "book"],
        [(0, 0), (1, 1), (2, 3), (3, 4), (4, 2)],
    ),
    (["ne", "va", "pas", "plus"], ["goes", "not"], [(0, 1), (1, 0), (2, 1)]),
]


def extract_grammar(bitext, links, settings=None, **how):
    return extraction.whole(Extraction(bitext, links, settings, **how).parts())


def tight(phrases="tight", features="standard", **options):
    """Return settings, tight phrases and the four standard features unless given."""
    return ExtractionSettings(phrases=phrases, features=features, **options)


def bitext(corpus):
    """Put a corpus of lists of words and links into arrays."""
    sides = []
    for which in (0, 1):
        numbers = {}
        tokens = [numbers.setdefault(word, len(numbers) + 1) for pair in corpus for word in pair[which]]
        offsets = np.concatenate([[0], np.cumsum([len(pair[which]) for pair in corpus])]).astype(np.int64)
        sides.append((Side(np.array(tokens, np.int32), offsets), Vocabulary.from_words(numbers)))
    (source, source_words), (target, target_words) = sides
    return Bitext(source, target, source_words, target_words, Skipped()), Links.from_lists(pair[2] for pair in corpus)


def as_dict(grammar):
    """Return ``{(source side, target side): (features, counts, links)}``."""
    found = {}
    for k in range(len(grammar)):
        key = tuple(tuple(-int(s[3]) if s in ("[X,1]", "[X,2]") else s for s in words) for words in grammar.rule(k))
        assert key not in found
        links = grammar.links[grammar.links_offsets[k] : grammar.links_offsets[k + 1]]
        found[key] = grammar.features[k], grammar.counts[k], tuple(map(tuple, links.tolist()))
    return found


def check(corpus, **options):
    grammar = extract_grammar(*bitext(corpus), tight(keep=1000, **options))
    found, expected = as_dict(grammar), naive_grammar.scored(corpus, **options)
    assert set(found) == set(expected)
    for key, (features, counts, _) in found.items():
        np.testing.assert_allclose(features, expected[key][0], atol=2e-5)
        np.testing.assert_allclose(counts, expected[key][1], atol=1e-5)
    return grammar


@pytest.mark.parametrize(
    "options",
    [
        {}, {"phrases": "loose"}, {"phrases": "outer"}, {"max_span": 3}, {"max_symbols": 2},
        {"max_symbols": 3, "phrases": "loose", "max_span": 4}, {"min_hole": 2}, {"nonterminals": 1},
        {"nonterminals": 0},
    ],
    ids=str,
)  # fmt: skip
def test_rules_counts_and_features_are_those_of_the_definition(options):
    grammar = check(CORPUS, **options)
    assert len(grammar) > 10


words = st.lists(st.sampled_from("abc"), min_size=0, max_size=6)
pairs = st.tuples(words, words, st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=7)).map(
    lambda p: (p[0], p[1].copy(), sorted((i, j) for i, j in p[2] if i < len(p[0]) and j < len(p[1])))
)


@given(
    st.lists(pairs, min_size=1, max_size=4),
    st.sampled_from(["tight", "outer", "loose"]),
    st.integers(1, 6),
    st.integers(1, 5),
    st.integers(1, 2),
)
def test_random_sentences(corpus, phrases, max_span, max_symbols, min_hole):
    check(corpus, phrases=phrases, max_span=max_span, max_symbols=max_symbols, min_hole=min_hole)


def test_links_and_words_that_are_left_out():
    one, two = [(0, 0), (1, 1)], [(0, 0), (0, 1), (1, 1)]
    corpus = [(["a", "b"], ["c", "d"], links) for links in (two, one, one)]
    found = as_dict(extract_grammar(*bitext(corpus), tight(nonterminals=0)))
    assert found[("a", "b"), ("c", "d")][2] == ((0, 0), (1, 1))
    all_rules = as_dict(extract_grammar(*bitext(CORPUS)))
    side = Side(np.array([1, 2, 3], np.int32), np.array([0, 3]))
    some = as_dict(extract_grammar(*bitext(CORPUS), text=(side, Vocabulary.from_words(["das", "Haus", "nie"]))))
    usable = {("das",), ("Haus",), ("das", "Haus"), ("das", -1), (-1, "Haus"), ("das", -1, "Haus")}
    assert {left for left, _ in some} <= usable
    assert set(some) == {key for key in all_rules if key[0] in usable | {(-1, "das"), ("Haus", -1)} and key in some}
    for key, value in some.items():
        np.testing.assert_array_equal(value[0], all_rules[key][0])
    corpus = [(["a", "[X,1]", "b"], ["c", "|||", "d"], [(0, 0), (1, 1), (2, 2)])]
    whole = Extraction(*bitext(corpus))
    found = as_dict(extraction.whole(whole.parts()))
    assert set(found) == {(("a",), ("c",)), (("b",), ("d",)), ((("a", -1, "b")), ("c", -1, "d"))} | {
        key for key in found if -1 in key[0]
    }
    assert not any({"[X]", "|||"} & set(left + right) for left, right in found)
    assert whole.figures.unwritable > 0


def text(corpus, settings=None, **how):
    parts = Extraction(*bitext(corpus), settings, **how).parts()
    return b"".join(piece for part in parts for piece in format_text(part, "hiero"))


@pytest.fixture(scope="module")
def random_corpus():
    rng = np.random.default_rng(5)
    corpus = []
    for _ in range(300):
        source, target = ([f"{c}{n}" for n in rng.integers(0, 30, rng.integers(1, 12))] for c in "fe")
        links = {(i, int(i * len(target) / len(source))) for i in range(len(source)) if rng.random() < 0.8}
        corpus.append((source, target, sorted(links)))
    return corpus


@pytest.mark.parametrize("processes", [0, 2])
def test_jobs_change_no_byte(monkeypatch, tmp_path, random_corpus, processes):
    monkeypatch.setattr(extraction, "_LEAST", 2048)  # in this process
    engine = Processes(processes, 2) if processes else Serial(Pool(2))
    with contextlib.closing(engine):
        blocks = BlockMap(engine, Store(str(tmp_path)))
        here = Extraction(*bitext(random_corpus), threads=2, max_memory=4_000_000)
        expected = b"".join(piece for part in here.parts() for piece in format_text(part, "hiero"))
        there = Extraction(*bitext(random_corpus), max_memory=4_000_000)
        assert b"".join(parts_by_jobs(there, blocks, 1, "hiero")) == expected
        if not processes:
            assert there.figures.runs > 10
        names = "found", "kept", "sources", "targets", "unwritable"
        assert [getattr(there.figures, n) for n in names] == [getattr(here.figures, n) for n in names]
        found = extraction.whole(parts_by_jobs(there, blocks, 1))
        assert b"".join(format_text(found, "hiero")) == expected
    assert {name.split(".")[0] for name in blocks.store.names("*")} == {"kept"}
    engines.forget()


@pytest.mark.slow
def test_neither_threads_nor_memory_change_a_byte(monkeypatch, tmp_path, random_corpus):
    corpus = random_corpus
    expected = text(corpus)
    assert expected.count(b"\n") > 2000
    assert text(corpus, threads=3) == expected
    monkeypatch.setattr(extraction, "_LEAST", 64)
    spilled = Extraction(*bitext(corpus), threads=2, max_memory=100_000, folder=str(tmp_path))
    parts = list(spilled.parts())
    assert b"".join(piece for part in parts for piece in format_text(part, "hiero")) == expected
    assert spilled.figures.runs_on_disk > 10
    assert len(parts) > 10
    assert list(tmp_path.iterdir()) == []


def test_counts_ties_and_long_sentences():
    corpus = [(["a"], [word], [(0, 0)]) for word in "xxxyyz"]
    found = as_dict(extract_grammar(*bitext(corpus), tight(keep=2)))
    assert {right for _, right in found} == {("x",), ("y",)}
    assert found[("a",), ("x",)][1].tolist() == [3, 6, 3]  # probabilities are those of all rules
    found = as_dict(extract_grammar(*bitext(corpus), tight(min_count=2.5)))
    assert {right for _, right in found} == {("x",)}
    corpus = [
        (["a", "b"], ["c"], [(0, 0), (1, 0)]),
        (["a", "b"], ["d"], [(0, 0), (1, 0)]),
        *[(["a"], ["d"], [(0, 0)])] * 3,
    ]
    found = as_dict(extract_grammar(*bitext(corpus), tight(keep=1)))
    assert [right for left, right in found if left == ("a", "b")] == [("d",)]
    n = 5000
    line = [f"w{k % 7}" for k in range(n)]
    corpus = [([], [], []), (line, line, [(k, k) for k in range(n)]), ([], [], [])]
    found = as_dict(extract_grammar(*bitext(corpus)))
    assert (("w0", -1, "w3"), ("w0", -1, "w3")) in found
    assert len(extract_grammar(*bitext([([], [], [])]))) == 0
    assert len(extract_grammar(*bitext([(["a"], ["b"], [])]))) == 0
    for wrong in ({"phrases": "some"}, {"features": "none"}):
        with pytest.raises(UsageProblem):
            extract_grammar(*bitext(CORPUS), tight(**wrong))


def test_many_unlinked_words_need_more_room():
    """Loose phrases of a sentence with one link: more than the work space has at first."""
    line = [f"w{k}" for k in range(21)]
    grammar = extract_grammar(*bitext([(line, line, [(10, 10)])]), tight(phrases="loose", max_symbols=10, keep=9999))
    # of each length up to 10 there are so many spans that hold the linked word
    assert len(grammar) == sum(range(1, 11)) ** 2


symbol = st.integers(1, 6)
side = st.lists(st.one_of(symbol, st.just(-1)), min_size=1, max_size=4).map(tuple)


def walk(trie, source):
    node = 0
    for word in source:
        node = int(trie.by_gap[node]) if word < 0 else kernels_trie.find_step(trie.keys, trie.children, node, word)
        if node < 0:
            return -1
    return node


@given(st.lists(side, max_size=40), st.booleans())
def test_every_rule_is_where_its_source_side_leads(sides, in_order):
    if in_order:
        sides.sort()
    offsets = np.cumsum([0] + [len(s) for s in sides]).astype(np.int64)
    source = np.array([w for s in sides for w in s], np.int32)
    trie = build_trie(offsets, source)
    assert len(trie) == len({s[:k] for s in sides for k in range(len(s) + 1)} | {()})
    scores = np.array([len(set(s)) for s in sides], np.float32)
    ordered = trie.ordered(scores)
    assert sorted(ordered) == list(range(len(sides)))
    for source_side in set(sides):
        node = walk(trie, source_side)
        own = ordered[trie.rule_at[node] : trie.rule_at[node + 1]].tolist()
        assert own == sorted((k for k, s in enumerate(sides) if s == source_side), key=lambda k: (-scores[k], k))
    for other in ((7,), (1, 7), (-1, -1, -1, -1, -1)):
        assert walk(trie, other) == -1
    assert walk(trie, (0,)) == -1


def test_many_rules_make_it_grow():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 6, 5000)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    source = rng.integers(1, 300, offsets[-1]).astype(np.int32)
    trie = build_trie(offsets, source)
    for rule in range(0, 5000, 97):
        node = walk(trie, source[offsets[rule] : offsets[rule + 1]].tolist())
        assert rule in trie.rules[trie.rule_at[node] : trie.rule_at[node + 1]]
    scores = rng.integers(0, 3, 5000).astype(np.float32)
    ordered = build_trie(np.arange(5001), np.ones(5000, np.int32)).ordered(scores)
    assert ordered.tolist() == sorted(range(5000), key=lambda k: (-scores[k], k))
