"""How far the network holds back, by the size of the text."""

import numpy as np
import pytest

from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive.settings import ContrastiveSettings
from aligntools.aligning.contrastive.tasks import FEW, MANY, MOST, held_back, learning_plan, plan_of, share_of_base


def test_what_is_held_back():
    assert [share_of_base(n) for n in (0, 1, FEW)] == [0, 0, 0]
    assert share_of_base(round((FEW * MANY) ** 0.5)) == pytest.approx(MOST / 2)
    assert [share_of_base(n) for n in (MANY, 10 * MANY)] == [MOST, MOST]
    plan = learning_plan("all")
    assert held_back(plan.start, plan.active, FEW) is plan.start
    found = held_back(plan.start, plan.active, MANY)
    assert found[kf.POSTERIOR] == pytest.approx(MOST * plan.start[kf.TREES])
    assert found[[kf.TREES, kf.POSTERIOR]].sum() == pytest.approx(plan.start[kf.TREES])
    others = np.delete(np.arange(len(found)), [kf.TREES, kf.POSTERIOR])
    assert (found[others] == plan.start[others]).all()
    paper, usual = learning_plan("all", "paper"), learning_plan("all")
    assert held_back(paper.start, paper.active, MANY) is paper.start
    without = usual.active.copy()
    without[kf.POSTERIOR] = False
    assert held_back(usual.start, without, MANY) is usual.start
    plain = plan_of(ContrastiveSettings()).start
    assert (plan_of(ContrastiveSettings(), pairs=FEW).start == plain).all()
    assert plan_of(ContrastiveSettings(), pairs=MANY).start[kf.POSTERIOR] > plain[kf.POSTERIOR]
    paper = ContrastiveSettings(start="paper")
    assert (plan_of(paper, pairs=MANY).start == plan_of(paper).start).all()
