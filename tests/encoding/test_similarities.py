"""Similarities of words, and the map that is learned."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.encoding import similarities, word_map
from tests import naive_encoding


def states(rng, words, width=6, layers=1):
    return rng.standard_normal((layers, words, width)).astype(np.float32)


def test_hubs_and_sides():
    """A word that is near to all is no better for anything."""
    cosines = np.array([[0.9, 0.8, 0.8], [0.9, 0.7, 0.2], [0.9, 0.2, 0.7]], np.float32)
    found = similarities.unhubbed(cosines)
    np.testing.assert_allclose(found, cosines - cosines.mean(1)[:, None] / 2 - cosines.mean(0) / 2, rtol=1e-6)
    assert np.argmax(found[0]) != 0
    rng = np.random.default_rng(1)
    a, b = states(rng, 4), states(rng, 3)
    one, other = similarities.compared(a, b), similarities.compared(b, a)
    np.testing.assert_allclose(one[0], other[0].T, atol=1e-6)
    np.testing.assert_allclose(one[1], other[2].T, atol=1e-6)
    rng = np.random.default_rng(1)
    a, b = states(rng, 3), states(rng, 3)
    a[:, 1] = 0
    found = similarities.compared(a, b)
    assert not found[1][1].any()
    assert not found[2][1].any()
    np.testing.assert_allclose(found[2].sum(0), 1, rtol=1e-5)
    for one in (a[:, :0], a * 0):
        assert not any(found.any() for found in similarities.compared(one, b))


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 3), st.integers(0, 1000))
def test_shares_sum_to_one(n, m, layers, seed):
    rng = np.random.default_rng(seed)
    found = similarities.compared(states(rng, n, 6, layers), states(rng, m, 6, layers))
    np.testing.assert_allclose(found[1].sum(1), 1, rtol=1e-5)
    np.testing.assert_allclose(found[2].sum(0), 1, rtol=1e-5)


def pair(rng, n, m, width=6):
    links = (rng.random((n, m)) < 0.3) * rng.choice([0.5, 1.0], (n, m))
    return word_map.Linked(states(rng, n, width)[0], states(rng, m, width)[0], links.astype(np.float32))


def test_the_loss_and_its_derivative():
    rng = np.random.default_rng(4)
    pairs = [
        pair(rng, 4, 5),
        pair(rng, 3, 2),
        word_map.Linked(*(2 * [states(rng, 2)[0]]), np.zeros((2, 2), np.float32)),
    ]
    matrix = np.eye(6) + 0.2 * rng.standard_normal((6, 6))
    exact = [word_map.Linked(p.source.astype(float), p.target.astype(float), p.links.astype(float)) for p in pairs]
    total, derivative, words = word_map.loss(matrix, exact, 4.0)
    naive = sum(
        naive_encoding.cross_entropy(p.source.tolist(), p.target.tolist(), p.links.tolist(), matrix.tolist(), 4.0, 0.5)
        for p in exact
    )
    assert total == pytest.approx(naive, rel=1e-6)
    assert words == sum(int(p.links.any(0).sum() + p.links.any(1).sum()) for p in pairs)
    for i, j in [(0, 0), (2, 5), (5, 1), (3, 3)]:
        moved = np.zeros((6, 6))
        moved[i, j] = 1e-5
        change = word_map.loss(matrix + moved, exact, 4.0)[0] - word_map.loss(matrix - moved, exact, 4.0)[0]
        assert derivative[i, j] == pytest.approx(change / 2e-5, rel=1e-4, abs=1e-6)


def test_maps_that_are_learned_and_kept():
    """Translations whose states are a mixture: a map that weighs the half that they share is found."""
    rng = np.random.default_rng(5)
    pairs = []
    for _ in range(120):
        shared = rng.standard_normal((6, 8))
        sides = [np.concatenate([shared, 2 * rng.standard_normal((6, 8))], 1).astype(np.float32) for _ in range(2)]
        pairs.append(word_map.Linked(*sides, np.eye(6, dtype=np.float32)))
    found = word_map.learn(pairs[:100], passes=12, rate=1e-2)
    before, after = (word_map.loss(m, pairs[100:])[0] for m in (np.eye(16, dtype=np.float32), found))
    assert after < 0.5 * before
    assert found.tobytes() == word_map.learn(pairs[:100], passes=12, rate=1e-2).tobytes()
    rng = np.random.default_rng(6)
    first = word_map.WordMap((6, 7), rng.standard_normal((2, 6, 6)).astype(np.float32))
    again = word_map.WordMap.from_parts(*first.parts())
    assert again.layers == (6, 7)
    np.testing.assert_allclose(again.matrices, first.matrices, atol=2e-3)
    np.testing.assert_allclose(first(states(rng, 3, 6, 2)).shape, (2, 3, 6))
    header, arrays = first.parts()
    for wrong in ({"layers": [6]}, {"layers": ["x", 7]}, {}):
        with pytest.raises((ValueError, KeyError)):
            word_map.WordMap.from_parts(wrong, arrays)
    with pytest.raises(ValueError, match="matrices"):
        word_map.WordMap.from_parts(header, {"matrices": np.zeros((2, 6, 5))})
