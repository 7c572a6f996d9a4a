"""Probabilities of links under a network, link by link."""

import math

import numpy as np
import pytest

from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive.search import SCALE, known, link_probabilities
from aligntools.formats.links.pharaoh import Links
from tests.aligning.contrastive.making import candidates_of, random_pair


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_they_are_the_log_odds_made_less_sure(share):
    rng = np.random.default_rng(3)
    candidates = candidates_of([random_pair(rng, 4, 9), random_pair(rng, 2, 5), random_pair(rng, 6, 20)])
    values = np.zeros(candidates.local.shape[1])
    values[[kf.TREES, kf.POSTERIOR]] = 1 - share, share
    pairs, offsets, expected = [], [0], []
    for k in range(len(candidates)):
        own = range(int(candidates.starts[k]), int(candidates.starts[k + 1]))
        for c in list(own)[::2][::-1]:
            pairs.append((candidates.rows[c], candidates.columns[c]))
            odds = (1 - share) * candidates.local[c, kf.TREES] + share * candidates.local[c, kf.POSTERIOR]
            expected.append(1 / (1 + math.exp(-SCALE * odds)))
        offsets.append(len(pairs))
    links = Links(np.array(pairs, np.int32), np.array(offsets))
    assert link_probabilities(candidates, links, values) == pytest.approx(expected, abs=1e-6)
    assert known(values)
    assert not known(np.zeros_like(values))
