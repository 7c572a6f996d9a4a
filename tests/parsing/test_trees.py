"""What is wrong with given trees, against definitions, and what becomes of them."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aligntools.parsing.learning import treebank as module
from aligntools.parsing.settings import TreeConstraints
from aligntools.parsing.trees import kernels_trees as bits
from tests import naive_parsing as naive


def flat(sentences):
    offsets = np.concatenate([[0], np.cumsum([len(s) for s in sentences])]).astype(np.int64)
    return np.array([h for s in sentences for h in s], np.int32), offsets


def expected(heads):
    n, found = len(heads), 0
    if any(h < 0 or h > n for h in heads):
        return bits.NO_HEAD
    tree = naive.is_tree(heads)
    found |= 0 if tree else bits.CYCLE
    found |= bits.NO_ROOT if n and 0 not in heads else 0
    found |= bits.ROOTS if heads.count(0) > 1 else 0
    return found | (bits.CROSSING if tree and not naive.is_projective(heads) else 0)


def test_small_trees():
    every = [list(h) for n in range(5) for h in itertools.product(range(-1, n + 2), repeat=n)]
    heads, offsets = flat(every)
    assert module.inspect(heads, offsets).tolist() == [expected(h) for h in every]
    heads, offsets = flat([[3, 0, 2, 2, 3]])  # 5 under 3 spans 4, which is under 2
    lifted, _, _, changed = module.usable(heads, offsets, TreeConstraints(), crossing="lift")
    assert lifted.tolist() == [3, 0, 2, 2, 2] or lifted.tolist() == [2, 0, 2, 2, 2]
    assert naive.is_projective(lifted.tolist())
    assert changed == {"crossing edges": 1}


@st.composite
def any_tree(draw):
    n = draw(st.integers(1, 12))
    order = draw(st.permutations(range(1, n + 1)))
    heads = [0] * n
    for k, word in enumerate(order):
        heads[word - 1] = draw(st.sampled_from([0, *order[:k]])) if k else 0
    return heads


@given(sentences=st.lists(any_tree(), max_size=6))
def test_mended_trees_are_what_the_model_can_have(sentences):
    heads, offsets = flat(sentences)
    mended, keep, skipped, _ = module.usable(heads, offsets, TreeConstraints(), crossing="lift", roots="join")
    assert keep.all()
    assert not skipped
    assert not module.inspect(mended, offsets).any()
    for s, before in enumerate(sentences):
        after = mended[offsets[s] : offsets[s + 1]].tolist()
        if before.count(0) == 1 and naive.is_projective(before):
            assert after == before
    only_lifted, *_ = module.usable(heads, offsets, TreeConstraints(True, False), crossing="lift")
    for s, before in enumerate(sentences):  # lifting moves an edge to an ancestor
        after = only_lifted[offsets[s] : offsets[s + 1]].tolist()
        assert all(naive.dominates(before, h, m) for m, h in enumerate(after, 1))


def test_what_is_skipped_is_counted():
    sentences = [[0], [2, 1], [0, 0], [3, 4, 0, 3], [2, 0, -1], [], [0, 1]]
    heads, offsets = flat(sentences)
    _, keep, skipped, _ = module.usable(heads, offsets, TreeConstraints())
    assert keep.tolist() == [True, False, False, False, False, True, True]
    assert skipped == {"a word without a head": 1, "a cycle": 1, "several roots": 1, "crossing edges": 1}
    assert module.usable(heads, offsets, TreeConstraints(False, False))[1].tolist() == [
        *(True, False, True, True, False, True, True),
    ]
