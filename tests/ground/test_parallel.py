import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.ground.parallel import Pool, balanced_blocks


@given(st.lists(st.integers(0, 1000), max_size=60), st.integers(1, 40))
def test_blocks_cover_everything_in_order(costs, blocks):
    runs = balanced_blocks(np.array(costs), blocks)
    assert [i for a, b in runs for i in range(a, b)] == list(range(len(costs)))
    assert all(a < b for a, b in runs)
    assert len(runs) <= blocks
    assert (not runs) == (not costs)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=60), st.integers(1, 40))
def test_no_block_costs_much_more_than_its_share(costs, blocks):
    for a, b in balanced_blocks(np.array(costs), blocks):
        assert sum(costs[a:b]) <= sum(costs) / blocks + max(costs) + 1e-3


def test_blocks_and_threads():
    assert balanced_blocks(np.ones(12), 4) == [(0, 3), (3, 6), (6, 9), (9, 12)]
    assert balanced_blocks(np.ones(2), 2) == [(0, 1), (1, 2)]
    barrier = threading.Barrier(3, timeout=20)
    with Pool(3) as pool:
        assert len(pool.map(lambda _: barrier.wait(), range(3))) == 3
    with Pool(1) as pool:
        assert pool.map(lambda _: threading.get_ident(), range(2)) == [threading.get_ident()] * 2


@pytest.mark.parametrize("threads", [1, 3])
def test_a_pool_keeps_the_order_and_raises_what_was_raised(threads):
    with Pool(threads) as pool:
        assert pool.map(lambda x: (time.sleep(0.01 * (3 - x)), x)[1], range(4)) == [0, 1, 2, 3]
        assert pool.map(str, []) == []
        with pytest.raises(ZeroDivisionError):
            pool.map(lambda x: 1 / x, [2, 1, 0])
