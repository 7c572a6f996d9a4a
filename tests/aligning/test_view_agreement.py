import numpy as np
import pytest

from aligntools.aligning.settings import SEVERAL, SMALL, AlignerSettings
from aligntools.aligning.text.link_matrices import LinkMatrices
from aligntools.aligning.training.stages import train
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from tests.aligning.building import close


def models_of(bitext, threads=1, max_cells=1_000_000, report=None, **how):
    settings = AlignerSettings(**{"model_type": "hmm", "views": (0, 3), **how}).resolved(100)
    with Pool(threads) as pool:
        return train(bitext, settings, pool, max_cells, report)


@pytest.fixture
def collected(monkeypatch):
    """The cells that expected counts are collected from, a chunk and view after another."""
    found, collect = [], LinkMatrices.collect

    def collecting(self, chunk, counts, cells):
        found.append(cells[: chunk.n_cells].copy())
        collect(self, chunk, counts, cells)

    monkeypatch.setattr(LinkMatrices, "collect", collecting)
    return found


def test_all_views_count_the_mean_of_their_posteriors(sample_bitext, collected):
    models_of(sample_bitext, iterations=1, view_agreement=False)
    own = collected[len(collected) // 2 - 1], collected[-1]  # the last iteration of each view
    collected.clear()
    models_of(sample_bitext, iterations=1, view_agreement=True)
    np.testing.assert_array_equal(*collected[-2:])
    assert not np.allclose(*own)
    close(collected[-1], (own[0] + own[1]) / 2)


@pytest.mark.parametrize("model", ["hmm", "fertility"])
def test_views_that_are_alike_agree_as_they_are(sample_bitext, model):
    """No word has a hundred letters: the two views are one."""
    together, apart = (
        models_of(sample_bitext, model_type=model, views=(100, 101), sweeps=4, view_agreement=agree)
        for agree in (True, False)
    )
    for a, b in zip(together, apart, strict=True):
        close(a.counts[0], b.counts[0])
        close(a.jumps, b.jumps)


@pytest.mark.parametrize("model", ["hmm", "fertility"])
def test_threads_and_chunks_make_no_difference(sample_bitext, model):
    how = {"model_type": model, "views": (0, 5, 3), "sweeps": 4}
    expected = models_of(sample_bitext, **how)
    for threads, cells in ((3, 1_000_000), (1, 2_000)):
        for a, b in zip(models_of(sample_bitext, threads, cells, **how), expected, strict=True):
            close(a.counts[0], b.counts[0])
            assert threads == 1 or (a.counts[0] == b.counts[0]).all()


def test_views_by_size_and_default():
    small, large, best = (
        AlignerSettings(best=wanted).resolved(n)
        for n, wanted in ((SEVERAL, False), (10 * SEVERAL, False), (10 * SEVERAL, True))
    )
    assert best == large
    assert (large.views, large.subwords, large.view_agreement) == ((5,), 0, False)
    assert len(small.views) > 1
    assert large.sweeps < small.sweeps
    assert large.prune == small.prune > AlignerSettings().resolved(SMALL).prune == 0
    small, large = AlignerSettings().resolved(SMALL), AlignerSettings().resolved(SMALL + 1)
    assert (small.threshold(4), large.threshold(4), small.threshold(1), large.threshold(1)) == (0.4, 0.45, 0.5, 0.5)
    assert AlignerSettings(prune=0.01).resolved(SMALL + 1).threshold(3) == 0.4  # a model of version 0.3

    def agree(n, **how):
        return AlignerSettings(**how).resolved(n).view_agreement

    assert agree(SEVERAL)
    assert agree(100, model_type="hmm")
    assert not agree(SEVERAL + 1, views=(0, 5))
    assert agree(SEVERAL + 1, views=(0, 5), view_agreement=True)
    assert not agree(100, views=(5,))
    assert not agree(100, agreement=False)
    assert not agree(100, model_type="ibm2", views=(0, 5))
    for how in ({"views": (5,)}, {"agreement": False, "model_type": "hmm"}, {"model_type": "ibm1", "views": (0, 5)}):
        with pytest.raises(UsageProblem, match="views agree"):
            agree(100, **how, view_agreement=True)
