import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.aligning.contrastive import features
from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.ground.errors import UsageProblem
from tests import naive_contrastive as naive
from tests.aligning.contrastive.making import ALL, candidates_of, random_pair


class State:
    """An alignment's state, and what changes it."""

    def __init__(self, candidates):
        self.e = e = candidates
        n = len(e.rows)
        self.arrays = kf.State(
            np.zeros((n + 63) // 64, np.uint64), np.zeros((len(e.s_words), 3), np.int32),
            np.zeros((len(e.t_words), 3), np.int32), np.zeros(kf.TOTALS, np.int32), np.zeros(n, np.int32),
        )  # fmt: skip

    def features(self, order):
        out = np.zeros(kf.FEATURES)
        e = self.e
        pair = kf.Pair(e.rows, e.columns, e.neighbours, e.local, e.s_words, e.t_words)
        kf.replay(ALL, pair, np.array(order, np.int32), np.zeros(kf.FEATURES), self.arrays, out)
        return out


def test_the_slow_version_and_the_registry_have_the_same_features():
    assert features.NAMES == naive.NAMES
    assert len(features.ALL) == kf.FEATURES
    assert [f.name for f in features.ALL if f.group in ("local", "non-local")] == list(naive.NAMES[:16])
    assert naive.NAMES.index("lonely") == kf.LONELY
    start = dict(zip(features.NAMES, features.start_weights(ALL), strict=True))
    assert {name: weight for name, weight in start.items() if weight} == {"trees": 1}


@given(st.integers(0, 2**32 - 1), st.integers(1, 7), st.integers(1, 7), st.sampled_from([0.3, 0.7, 1.0]))
def test_changes_over_links_in_any_order_sum_to_the_definition(seed, n_i, n_j, density):
    rng = np.random.default_rng(seed)
    pair = random_pair(rng, n_i, n_j, density)
    n = len(pair.candidates)
    order = rng.permutation(n)[: rng.integers(0, n + 1)]
    found = dict(zip(naive.NAMES, State(candidates_of([pair])).features(order).tolist(), strict=True))
    expected = pair.features([pair.candidates[c] for c in order])
    assert found == pytest.approx(expected, abs=1e-6)


@given(st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_neighbours_are_the_cells_around(seed, density):
    rng = np.random.default_rng(seed)
    pairs = [random_pair(rng, *rng.integers(1, 6, 2), density) for _ in range(3)]
    e = candidates_of(pairs)
    at = 0
    for pair in pairs:
        for c, (i, j) in enumerate(pair.candidates):
            around = [(i + a, j + b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]
            expected = [pair.candidates.index(x) if x in pair.candidates else -1 for x in around]
            assert e.neighbours[at + c].tolist() == expected
        at += len(pair.candidates)


def test_selections():
    assert features.select("local").sum() == 5
    assert features.select("paper").sum() == 16
    assert features.select("all").all()
    assert features.select("posterior, cross-count").nonzero()[0].tolist() == [3, 16]
    assert features.select("paper,-translation,-local,posterior").sum() == 12
    with pytest.raises(UsageProblem, match=r"no feature 'cross-coun'; did you mean cross-count.*\?"):
        features.select("cross-coun")
    with pytest.raises(UsageProblem, match="no feature 'crosses'; the groups are local, paper, all"):
        features.select("crosses")
    with pytest.raises(UsageProblem, match="leaves no feature"):
        features.select("local,-local")
    assert features.start_weights(features.select("local"), paper=True).tolist() == [
        *(1, 1, -1, 0, 1, -1),
        *[0] * (kf.FEATURES - 6),
    ]
