"""Phrases that are linked as wholes, against a search over all blocks."""

import numpy as np
import pytest

from aligntools.aligning.contrastive import kernels_blocks as kp
from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive.candidate_links import bare_candidates
from aligntools.aligning.contrastive.search import BONUS, with_phrases
from aligntools.formats.links.pharaoh import Links
from aligntools.ground.parallel import Pool
from tests import naive_contrastive as naive

WEIGHTS = np.zeros(kf.FEATURES)
WEIGHTS[kf.TREES] = 2.0


def made(pairs):
    """Return the candidates of pairs: each the sizes of both sides, and the log-odds of its candidates."""
    sizes = np.array([size for size, _ in pairs])
    cells = [sorted(odds) for _, odds in pairs]
    offsets = [np.concatenate([[0], np.cumsum(x)]) for x in (*sizes.T, [len(c) for c in cells])]
    rows, columns = np.array([cell for c in cells for cell in c], np.int32).reshape(-1, 2).T.copy()
    candidates = bare_candidates(*offsets, rows, columns)
    candidates.local[:, kf.TREES] = [odds[cell] for (_, odds), c in zip(pairs, cells, strict=True) for cell in c]
    return candidates


def some_pairs(seed, count=40):
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(count):
        size = rng.integers(1, 8, 2)
        odds = rng.normal(-0.7, 1.5, tuple(size)).astype(np.float32)
        kept = rng.random(odds.shape) < rng.uniform(0.3, 1.0)
        pairs.append((size, {(int(i), int(j)): float(odds[i, j]) for i, j in np.argwhere(kept)}))
    return pairs


@pytest.mark.parametrize("seed", range(5))
def test_phrases_are_the_best_blocks(seed):
    pairs = some_pairs(seed)
    linked = [{cell for cell, x in odds.items() if x > 0} for _, odds in pairs]
    expected = [naive.phrases(some, odds, BONUS, kp.LONGEST) for some, (_, odds) in zip(linked, pairs, strict=True)]
    assert sum(map(len, expected)) > sum(map(len, linked))
    for threads in (1, 3):
        with Pool(threads) as pool:
            found = with_phrases(made(pairs), Links.from_lists([sorted(x) for x in linked]), WEIGHTS, pool)
        assert found.tolists() == [sorted(x) for x in expected]
