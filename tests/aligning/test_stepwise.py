from dataclasses import replace

import numpy as np
import pytest

import aligntools as at
from aligntools.aligning.aligner_training import train_with
from aligntools.aligning.models import registry
from aligntools.aligning.settings import AlignerSettings
from aligntools.aligning.text.cooccurrence import build_table
from aligntools.aligning.training import sampling, stages
from aligntools.aligning.training.sampling import LastPass
from aligntools.aligning.training.stages import interpolate, step_text, steps_of
from aligntools.formats.text.corpus import Side
from aligntools.formats.text.text_settings import Reading
from aligntools.ground.parallel import Pool
from aligntools.ground.run import Run
from tests.aligning.building import world

VB = AlignerSettings()
SHAPES = [(3, 4), (0, 0), (5, 5), (1, 3), (3, 1), (6, 7), (2, 2)]


@pytest.fixture
def large(monkeypatch):
    """What is small counts as large: steps of a quarter or half of the sample text, links of the last pass."""
    monkeypatch.setattr(stages, "SMALL", 100)
    monkeypatch.setattr(sampling, "MEDIUM", 100)
    for kind in ("hmm", "fertility"):
        smaller = replace(registry.kind_of(kind), steps={"ibm1": 600, "hmm": 1200})
        monkeypatch.setitem(registry.KINDS, kind, smaller)


def f1(a, b):
    """Compare the links of two runs."""
    a, b = ({(k, *pair) for k, x in enumerate(run) for pair in x.links} for run in (a, b))
    return 2 * len(a & b) / (len(a) + len(b))


# Parts of a text


@pytest.mark.parametrize(("n_tokens", "expected"), [(2_000_000, (1, 1)), (4_500_000, (2, 1)), (21_000_000, (10, 5))])
def test_large_text_is_gone_over_in_steps(n_tokens, expected):
    assert (steps_of(VB, n_tokens, "ibm1"), steps_of(VB, n_tokens, "hmm")) == expected


@pytest.mark.parametrize("settings", [AlignerSettings(estimator="em"), AlignerSettings(model_type="ibm2")])
def test_what_follows_a_paper_does_not(settings):
    assert steps_of(settings, 100_000_000, "ibm1") == 1


def test_steps_take_every_sentence_once():
    w = world(1, SHAPES)
    seen = []
    for step in range(3):
        source, target = step_text(w.source, w.target, 3, step)
        assert len(source) == len(target)
        for k in range(len(source)):
            seen.append([s.tokens[s.offsets[k] : s.offsets[k + 1]].tolist() for s in (source, target)])
    assert sorted(seen) == sorted([list(s), list(t)] for s, t in w.corpus)


# Counts


def test_the_rarer_word_decides_what_a_step_weighs():
    rng = np.random.default_rng(2)
    w = world(2, SHAPES)
    part = step_text(w.source, w.target, 2, 1)
    whole = [
        np.bincount(side.tokens, minlength=n).astype(float)
        for side, n in ((w.source, w.table.n_source), (w.target, w.table.n_target))
    ]
    before, found = (rng.uniform(0, 3, len(w.table.ids)).astype(np.float32) for _ in range(2))
    expected = []
    for s in range(w.table.n_source):
        for x in range(w.table.ptr[s], w.table.ptr[s + 1]):
            t = w.table.ids[x]
            side, word = (0, s) if whole[0][s] <= whole[1][t] else (1, t)
            seen = int((part[side].tokens == word).sum())
            expected.append((stages.KEPT * before[x] + whole[side][word] * found[x]) / (seen + stages.KEPT))
    with Pool(2) as pool:
        interpolate(w.table, before, found, part, whole, pool)
    assert found == pytest.approx(expected, rel=1e-5)


def test_a_word_that_a_step_does_not_have_keeps_its_counts():
    source = target = Side(np.array([1, 2], np.int32), np.array([0, 1, 2]))
    with Pool(1) as pool:
        table, counts = build_table(source, target, 3, 3, pool)
        found = np.zeros_like(counts)
        interpolate(table, counts, found, step_text(source, target, 2, 0), (np.ones(3), np.ones(3)), pool)
    assert table.ids.tolist() == [1, 2]  # each with its own number alone
    assert found == pytest.approx([counts[0] / 2, counts[1]])


# Training


def test_steps_and_links_are_near_whole_passes(sample_bitext, request):
    whole = at.align(sample_bitext, fast=True, threads=1)
    request.getfixturevalue("large")
    in_steps = at.align(sample_bitext, fast=True, threads=1)
    assert 0.85 < f1(whole, in_steps) < 1
    model = at.train_aligner(sample_bitext, views=[5], threads=1)
    applied = list(model.align_batch(sample_bitext, threads=1))
    found = at.align(sample_bitext, views=[5], threads=2)
    assert len(found) == len(applied) == len(sample_bitext)
    assert 0.9 < f1(applied, found) < 1
    assert found.log_likelihood == pytest.approx(np.array([[a.scores[d] for a in applied] for d in (0, 1)]), rel=1e-4)
    assert found.forward_table is not None
    one, two = (at.align(sample_bitext, views=[5], threads=n) for n in (1, 2))
    assert (one.table.pairs == two.table.pairs).all()
    assert (one.probabilities == two.probabilities).all()


@pytest.mark.parametrize("options", [{"fast": True}, {"views": (5, 4)}, {"views": (5,), "model_type": "ibm2"}])
def test_other_models_are_applied(sample_bitext, large, options):
    taken = []
    links, settings = LastPass(taken.append), AlignerSettings(**options).checked()
    train_with(sample_bitext, settings, links=links, reading=Reading(), run=Run(threads=1))
    assert not links.found
    assert not taken


def test_a_large_text_is_sampled_in_chunks(sample_bitext, large, monkeypatch):
    monkeypatch.setattr(sampling, "SMALL", 100)
    monkeypatch.setattr(sampling, "CHUNK_TOKENS", 400)
    whole = at.align(sample_bitext, views=[5], threads=1)
    monkeypatch.setattr(sampling, "REMOVALS", 4)  # of the expected counts of several chunks at a time
    fewer = at.align(sample_bitext, views=[5], threads=1)
    assert len(fewer) == len(sample_bitext)
    assert 0.9 < f1(whole, fewer) < 1
