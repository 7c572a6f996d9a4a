import numpy as np
import pytest

from aligntools.formats.links.goldlinks import Gold
from aligntools.formats.links.pharaoh import Links
from aligntools.metrics.aer import Aer
from bench import contrastive_systems as systems


@pytest.fixture
def gold():
    sure = Links.from_lists([[(0, 0), (1, 1)], [(2, 2)], []])
    possible = Links.from_lists([[(0, 0), (1, 1), (1, 2)], [(2, 2)], [(0, 1)]])
    return Gold(sure, possible, "pharaoh", 0)


def test_summed_counts_give_the_error_rate(gold):
    links = Links.from_lists([[(0, 0), (1, 2)], [(2, 2), (3, 3)], [(0, 1)]])
    assert systems._figure(systems._counts(links, gold).sum(0)) == pytest.approx(Aer().score(gold, links).aer)


def test_runs_are_tested_by_their_mean(gold):
    right, wrong = (
        systems._counts(Links.from_lists(x), gold) for x in ([[(0, 0), (1, 1)], [(2, 2)], []], [[], [], []])
    )
    assert systems._test(right + right, 2 * right) == [0, 1]
    difference, p = systems._test(np.tile(right + wrong, (20, 1)), np.tile(2 * wrong, (20, 1)))
    assert difference == pytest.approx(100 * systems._figure((right + wrong).sum(0)) - 100)
    assert p < systems.LEVEL
    assert systems._mean([3.0]) == "3.00"
    assert systems._mean([3.0, 4.0]) == "3.50 ± 0.50"
