"""Each word's own probability of NULL: E-step and M-step as enumerated, likelihoods, models in files, refusals."""

from dataclasses import replace

import numpy as np
import pytest

import aligntools as at
from aligntools.aligning.models.base import ViewTask
from aligntools.aligning.models.hmm import Hmm, HmmStage, null_words
from aligntools.aligning.settings import AlignerSettings
from tests import naive
from tests.aligning.building import close, world
from tests.cli.running import ran, run
from tests.naive_null import null_words as slow
from tests.places import SAMPLES

TINY = [(1, 1), (2, 3), (3, 2), (3, 3), (1, 3), (4, 2), (0, 2), (2, 0)]
TEXT = str(SAMPLES / "de-en.txt")


def hmm_stage(w, smoothing):
    settings = AlignerSettings("hmm", null_smoothing=smoothing).resolved(10)
    return HmmStage(Hmm, ViewTask(settings, w.source, w.target)).restore({"jumps": w.jumps})


def tokens_of(w, unlinked):
    """Return (word, probability of NULL) of each token of the target, and of the source; ``unlinked`` by sentence."""
    found = [[], []]
    for k, (source, target) in enumerate(w.corpus):
        for d, words in enumerate((target, source)):
            posteriors = unlinked(k, d) if source and target else [None] * len(words)
            found[d] += zip(words, posteriors, strict=True)
    return found


def estimated(w, stage, joint=False, directions=3):
    """Run one iteration; return what is known of NULL after it."""
    steps = w.state(directions, joint)
    counts = [np.zeros(len(w.table.ids), np.float32) for _ in range(1 if joint else 2)]
    _, counted = stage.expect(steps, w.lexicon, counts)
    stage.maximize(counted, steps)
    assert np.array_equal(steps.p_null, w.p_null)
    return steps.t_null, steps.s_null


@pytest.mark.parametrize("smoothing", [0.0, 0.7, 20.0])
@pytest.mark.parametrize("joint", [False, True])
def test_as_enumerated(smoothing, joint):
    w = world(3, TINY, shared=joint)
    tokens = tokens_of(w, lambda k, d: (1 - naive.hmm_forward_backward(*w.direction(k, d))[1].sum(1)).tolist())
    found = estimated(w, hmm_stage(w, smoothing), joint)
    for of, own in zip(found, tokens, strict=True):
        close(of, slow(own, smoothing, len(of)), absolute=1e-5)


def test_directions_smoothing_and_likelihood():
    w = world(5, TINY)
    t_null, s_null = estimated(w, hmm_stage(w, 1.0), directions=1)
    assert np.array_equal(s_null, w.s_null)
    assert not np.allclose(t_null, w.t_null)
    assert np.isclose(t_null.sum(), 1)
    words, unlinked = np.array([0, 5, 3, 2, 0]), np.array([0, 4.0, 0.1, 0.3, 0])
    shares = np.maximum(words, 0.5) / np.maximum(words, 0.5).sum()
    close(null_words(unlinked, words, words, 1e9), shares)
    own = null_words(unlinked, words, words, 1.0) / shares
    assert own[1] > 1 > own[2]
    close(null_words(unlinked * 0, words, words, 1.0), shares)
    w = world(6, [(3, 4), (5, 6), (4, 3), (6, 6), (2, 5)])
    steps, logs = w.state(), []
    steps.t_null, steps.s_null = (np.full(len(x), 1 / len(x), np.float32) for x in (w.t_null, w.s_null))
    stage = hmm_stage(w, 0.0)
    for _ in range(6):
        loglik, _ = stage.expect(steps, w.lexicon, [np.zeros(len(w.table.ids), np.float32) for _ in range(2)])
        logs.append(loglik)
        stage.maximize(np.ones((2, 2, w.jumps.shape[1])), steps)
        stage.restore({"jumps": w.jumps})
    assert (np.diff(logs[1:], axis=0) > -1e-5).all()  # after the first, half a token for each word that is not there
    assert (logs[-1] > logs[1]).all()


def test_parts_of_a_text_count_together():
    """Where each E-step takes a part of the text, words that the last one lacks keep what others counted."""
    w = world(7, [(3, 3), (2, 4), (4, 3), (3, 2)])
    stage = hmm_stage(w, 1.0)
    found = []
    for first in (0, 2):
        part = world(7, [(3, 3), (2, 4), (4, 3), (3, 2)])
        part.corpus = w.corpus[first : first + 2]
        for name in ("source", "target"):
            side = getattr(w, name)
            a, b = side.offsets[first], side.offsets[first + 2]
            cut = type(side)(side.tokens[a:b], side.offsets[first : first + 3] - a)
            setattr(part, name, cut)
        found.append(part)
        estimated(part, stage)
        stage.restore({"jumps": w.jumps})
    both = stage._null._counts[0][1]
    assert np.array_equal(both, np.bincount(w.target.tokens, minlength=len(both)))


def test_models_with_null_shares(tmp_path):
    given = "align", "-q", "-i", TEXT, "--set", "views=0", "--model-type"
    for model, classes in (("hmm", ()), ("hmm-classes", ("--set", "word_classes=4"))):
        own = *given, model, *classes, "--set", "null_smoothing=2"
        ran(*own, "--save-model", tmp_path / model, "-o", tmp_path / "a")
        ran(*given[:4], "-m", tmp_path / model, "-o", tmp_path / "b")
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
        ran(*given, model, "--set", "word_classes=4", "--set", "null_smoothing=1e9", "-o", tmp_path / "c")
        assert (tmp_path / "a").read_bytes() != (tmp_path / "c").read_bytes()
    plain, model = (at.train_aligner(TEXT, model_type="hmm", views=(0,), null_smoothing=n) for n in (None, 5.0))
    before, after = plain.model.views[0], model.model.views[0]
    ratio = after.s_null / before.s_null
    comma, house = (after.words.s_ids[word] for word in (",", "haus"))
    assert ratio[comma] > 1.2
    assert ratio[house] < ratio[comma]
    assert np.array_equal(before.p_null, after.p_null)
    told = run("align", "-i", TEXT, "--model-type", "ibm1", "--set", "null_smoothing=5")
    assert "--set null_smoothing changes nothing: it is of the HMM" in told.stderr.decode()
    with pytest.raises(at.UsageProblem, match="is for text in memory"):
        next(iter(at.align_in_parts(TEXT, part_size=100, model_type="hmm", null_smoothing=5.0)))
    with pytest.raises(at.UsageProblem, match="null_smoothing"):
        replace(AlignerSettings(), null_smoothing=-1.0).checked()
