"""Which words are near to each other, against plain loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.encoding import similarities
from aligntools.encoding.similarities import unit
from aligntools.ground.parallel import Pool
from tests import naive_encoding as naive


def vectors(seed, words, width=6, none=0.2):
    rng = np.random.default_rng(seed)
    found = rng.standard_normal((words, width)).astype(np.float32)
    found[rng.random(words) < none] = 0
    return found


def test_what_is_usual_and_threads():
    of = similarities.nearest_of
    assert [of(n, n) for n in (3, 30, 1000, 5000, 20_000, 10**6)] == [3, 10, 200, 300, 99, 10]
    assert of(4, 10**6) == 4
    assert of(10**6, 500) == 10
    source, target = vectors(1, 1300, 40), vectors(2, 900, 40)
    (pairs, margins), (same, again) = near(source, target, 1), near(source, target, 3)
    assert pairs.tobytes() == same.tobytes()
    assert margins.tobytes() == again.tobytes()
    assert len(np.unique(pairs[:, 0])) > 600  # over several blocks
    source, target = vectors(3, 50), vectors(4, 50)
    pairs, _ = near(source, target)
    assert source[pairs[:, 0]].any(1).all()
    assert target[pairs[:, 1]].any(1).all()
    none = np.zeros((7, 6), np.float32)
    for a, b in ((none, target), (source, none), (source[:0], target)):
        pairs, margins = near(a, b)
        assert pairs.shape == (0, 2)
        assert not len(margins)


def near(source, target, threads=1):
    with Pool(threads) as pool:
        return similarities.near_pairs(source, target, pool)


@given(st.integers(0, 10**6), st.integers(0, 40), st.integers(0, 40), st.integers(1, 7), st.integers(1, 9))
def test_as_plain_loops_whatever_the_blocks(seed, words, others, rows, columns):
    source, target = vectors(seed, words), vectors(seed + 1, others)
    count = similarities.nearest_of(int(source.any(1).sum()), int(target.any(1).sum()))
    wanted = naive.near_pairs(source.tolist(), target.tolist(), count)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(similarities, "_ROWS", rows)
        patch.setattr(similarities, "_COLUMNS", columns)
        pairs, margins = near(source, target)
    found = dict(zip(map(tuple, pairs.tolist()), margins.tolist(), strict=True))
    doubtful = {pair for pair in wanted.keys() ^ found.keys() if max(wanted.get(pair, 0), found.get(pair, 0)) > 1e-5}
    assert not doubtful
    assert {p: m for p, m in found.items() if p in wanted} == pytest.approx(
        {p: m for p, m in wanted.items() if p in found}, abs=1e-5
    )
    assert pairs.tolist() == sorted(pairs.tolist())
    assert (margins > 0).all()


@given(st.integers(0, 10**6), st.sampled_from([-90, -20, 20, 90]))
def test_lengths_of_vectors_do_not_matter(seed, power):
    source, target = vectors(seed, 30), vectors(seed + 1, 20)
    pairs, margins = near(source, target)
    same, again = near(source * np.float32(2.0**power), target)
    assert pairs.tobytes() == same.tobytes()
    assert margins.tobytes() == again.tobytes()


def test_of_many_words_the_first_are_compared(monkeypatch):
    source, target = vectors(6, 50), vectors(7, 60)
    monkeypatch.setattr(similarities, "WORDS", 30)
    pairs, margins = near(source, target)
    first = [np.flatnonzero(side.any(1))[29] + 1 for side in (source, target)]
    same, again = near(source[: first[0]], target[: first[1]])
    assert pairs.tolist() == same.tolist()
    assert margins.tolist() == again.tolist()
    assert len(pairs)


def test_a_hub_is_nobodys_translation():
    """A word that is near to all words of the other side is left out, though its cosines are the highest."""
    rng = np.random.default_rng(5)
    words = rng.standard_normal((60, 40)).astype(np.float32) + np.float32(2.0)  # all share a direction
    hub = np.full((1, 40), 2.0, np.float32)
    others = np.concatenate([words + rng.standard_normal(words.shape).astype(np.float32), hub])
    one, other = (unit(side) for side in (words, others))
    assert (np.argmax(one @ other.T, 1) == 60).sum() > 10
    pairs, margins = near(words, others)
    best = {}
    for (i, j), margin in zip(pairs.tolist(), margins.tolist(), strict=True):
        best[i] = max(best.get(i, (0, -1)), (margin, j))
    assert all(j == i for i, (_, j) in best.items())
    assert len(best) == 60
