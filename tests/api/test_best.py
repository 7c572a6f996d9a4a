"""``best``: the network decides on links, and everything else means what it means without it."""

import pickle
from dataclasses import replace

import pytest

import aligntools as at
from tests.listing import lines, pharaoh
from tests.places import SAMPLES


@pytest.fixture(scope="module")
def texts():
    return lines("de-en.de"), lines("de-en.en")


@pytest.fixture(scope="module")
def steps():
    return []


@pytest.fixture(scope="module")
def best(texts, steps):
    return at.train_aligner(*texts, best=True, encoder=False, progress=steps.append)


def test_the_last_step_is_the_last_that_was_announced(best, steps):
    assert best.weights is not None
    assert [step.done for step in steps] == list(range(1, len(steps) + 1))
    assert {step.total for step in steps} == {len(steps)}
    assert steps[-1].stage == "deciding"


@pytest.mark.slow
def test_best_has_the_links_of_the_contrastive_aligner(texts, best):
    """By API alike: so do its saved model, one pair at a time, workers, and one thread."""
    contrastive = at.train_contrastive_aligner(*texts, encoder=False)
    expected = pharaoh(contrastive.align_batch(*texts))
    assert expected != pharaoh(contrastive.aligner.align_batch(*texts))
    assert pharaoh(at.align(*texts, best=True, encoder=False, threads=1)) == expected
    assert pharaoh(best.align_batch(*texts)) == expected
    assert pharaoh(best.align_batch(*texts, workers=1)) == expected
    assert [str(best.align(*pair)) for pair in zip(*texts, strict=True)][:20] == expected[:20]
    assert pharaoh(pickle.loads(pickle.dumps(best)).align_batch(*texts)) == expected


def test_what_the_network_decides(texts, best):
    """Scores and single directions are the base model's, and so is all of other symmetrizations."""
    base = at.Aligner(replace(best.model, decision=None))
    ours, theirs = (list(one.align_batch(*texts)) for one in (best, base))
    assert pharaoh(ours) != pharaoh(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert (one.forward, one.reverse, one.scores) == (other.forward, other.reverse, other.scores)
    for options in ({"symmetrize": "union"}, {"symmetrize": "mean"}, {"symmetrize": "grow-diag-final-and"}):
        assert pharaoh(best.align_batch(*texts, **options)) == pharaoh(base.align_batch(*texts, **options))
    for decode in ("posterior", "viterbi"):
        ours, theirs = (list(one.align_batch(*texts, decode=decode)) for one in (best, base))
        assert pharaoh(ours) == pharaoh(best.align_batch(*texts))
        assert [x.forward for x in ours] == [x.forward for x in theirs]

    def links(threshold):
        found = best.align_batch(*texts, threshold=threshold)
        return {(n, *link) for n, one in enumerate(found) for link in one.links}

    usual = {(n, *link) for n, one in enumerate(best.align_batch(*texts)) for link in one.links}
    assert links(best.model.usual_threshold) == usual
    low, high = links(0.2), links(0.8)
    assert high < usual < low
    assert links(1.0) == set()
    assert len(links(0.0)) > len(low)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"model_type": "hmm", "views": (0,)}])
def test_best_in_parts(tmp_path, options):
    """Its model decides on the same links, and workers do; with other symmetrizations nothing changes."""
    files = SAMPLES / "de-en.de", SAMPLES / "de-en.en"

    def found(best=True, **more):
        how = {"best": best, "encoder": False, "part_size": 90, **options, **more}
        return [str(a) for block in at.align_in_parts(*files, **how) for a in block]

    links = found(save_model=tmp_path / "model")
    assert len(links) == 240
    assert links != found(best=False)
    assert links == found(workers=1)
    loaded = at.Aligner.load(tmp_path / "model")
    assert loaded.weights is not None
    assert pharaoh(loaded.align_batch(*files)) == links
    assert found(symmetrize="union") == found(best=False, symmetrize="union")
    assert found(threshold=0.9) != links


def test_best_in_one_part_and_from_an_older_model(texts, best):
    files = SAMPLES / "de-en.de", SAMPLES / "de-en.en"
    how = {"model_type": "hmm", "views": (0,), "best": True, "encoder": False, "subwords": 0}
    parts = [str(a) for block in at.align_in_parts(*files, **how) for a in block]
    plain = at.train_aligner(*files, **how | {"best": False})
    text = at.read_bitext(*files)
    contrastive = at.train_contrastive_aligner(text, aligner=plain, encoder=False)
    assert parts == pharaoh(contrastive.align_batch(*files))
    further = at.train_aligner(*texts, init_model=best)
    assert further.weights is not None
    assert pharaoh(further.align_batch(*texts)) != pharaoh(best.align_batch(*texts))
    assert at.train_aligner(*texts, init_model=at.Aligner(replace(best.model, decision=None))).weights is None
