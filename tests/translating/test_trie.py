"""The trie of source sides: every rule is where its source side leads, in order of score."""

import numpy as np
from hypothesis import given
import hypothesis.strategies as st

from aligntools.translating.decoding.system_tables import build_trie
from aligntools.translating.grammar import kernels_trie

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
