"""Link trees taught by a model of much text."""

from dataclasses import replace

import numpy as np
import pytest

from aligntools.aligning.applying.applier import Applier
from aligntools.aligning.contrastive import boosting, teaching
from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive.candidates import CandidateFinder
from aligntools.aligning.contrastive.noise import pick
from aligntools.aligning.contrastive.taught import TeachingSettings
from aligntools.api.alignment import read_bitext, train_aligner
from aligntools.formats.corpus import with_own_words
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.parallel import Pool
from tests.places import SAMPLES

pytest.importorskip("sklearn")


@pytest.fixture(scope="module")
def text():
    return read_bitext(SAMPLES / "de-en.de", SAMPLES / "de-en.en")


@pytest.fixture(scope="module")
def teacher(text):
    return train_aligner(text, fast=True).model


def test_a_part_of_a_text_has_its_own_words(text):
    part = pick(text, np.array([3, 17]))
    own = with_own_words(part)
    for name in ("source", "target"):
        words, old = getattr(own, f"{name}_vocabulary"), getattr(part, f"{name}_vocabulary")
        assert len(words) < len(old)
        assert [words.word(t) for t in getattr(own, name).tokens] == [old.word(t) for t in getattr(part, name).tokens]


def test_lessons_come_first_and_far_ones_from_outside(text):
    rng = np.random.default_rng(1)
    rows, n = teaching.draw(text, 60, 20, rng)
    assert (n, len(rows), len(set(rows.tolist()))) == (20, 60, 60)
    lengths = np.minimum(text.source.lengths(), text.target.lengths())
    assert lengths[rows].mean() > lengths.mean()
    large = replace(text)
    teaching_small, teaching.SMALL = teaching.SMALL, 10
    try:
        rows, n = teaching.draw(large, 60, 10, rng)
    finally:
        teaching.SMALL = teaching_small
    assert (n, len(rows)) == (20, 70)
    own = np.concatenate([rows[:10], rows[20:]])
    assert ((rows[10:20] < own.min()) | (rows[10:20] > own.max())).mean() > 0.5


def test_answers_are_the_teachers_posteriors(text, teacher):
    part = pick(text, np.arange(12))
    with Pool(1) as pool:
        finder = CandidateFinder(teacher, pool)
        candidates = finder.find_all(part)
        found = teaching.answers(Applier(teacher.views, teacher.settings, teacher.sizes), part, candidates, pool)
    odds = np.log(found / (1 - found))
    between = (found > 0.05) & (found < 0.95)
    assert between.sum() > 5
    np.testing.assert_allclose(odds[between], candidates.local[between, kf.POSTERIOR], atol=1e-3)


@pytest.mark.slow
def test_students_teach_what_their_teacher_knows(text, teacher):
    """The trees' log-odds are nearer to what the teacher says than the students' own."""
    settings = TeachingSettings((40, 100), lessons=40)
    told = []
    with Pool(1) as pool:
        lessons = teaching.lessons_of(text, teacher, settings, pool, told.append)
        start = teaching.learn_start([lessons], settings)
        again = teaching.learn_start([teaching.lessons_of(text, teacher, settings, pool)], settings, 2)
    assert [t["student"] for t in told] == [40] * 6 + [100] * 6
    assert lessons.about == {"pairs": 240, "students": {"40": 6, "100": 6}}
    assert start.by_name == {"posterior": teaching.LEAN, "trees": 1.0}
    assert start.trees.fingerprint == again.trees.fingerprint
    table, answers = np.concatenate(lessons.tables), np.concatenate(lessons.answers)
    assert table.shape[1] == kf.FEATURES + 10
    out = np.empty(len(table), np.float32)
    nodes = (start.trees.columns, start.trees.thresholds, start.trees.lefts, start.trees.rights, start.trees.leaves)
    from aligntools.aligning.contrastive import kernels_linktrees as kl

    kl.tree_odds(0, len(out), table[:, : kf.FEATURES].copy(), table[:, kf.FEATURES :].copy(), start.trees.roots,
                 *nodes, start.trees.bias, out)  # fmt: skip

    def loss(odds):
        p = np.clip(1 / (1 + np.exp(-odds.astype(np.float64))), 1e-6, 1 - 1e-6)
        return -(answers * np.log(p) + (1 - answers) * np.log(1 - p)).mean()

    assert loss(out) < 0.8 * loss(table[:, kf.POSTERIOR])


def test_both_sides_count_alike(text, teacher):
    settings = TeachingSettings((100,), lessons=40)
    with Pool(1) as pool:
        lessons = teaching.lessons_of(text, teacher, settings, pool)
    table, links = lessons.tables[0], lessons.answers[0] > 0.5
    turned = table.copy()
    turned[:, [kf.FORWARD_USE, kf.REVERSE_USE]] = turned[:, [kf.REVERSE_USE, kf.FORWARD_USE]]
    shares = np.ones(len(links))
    one, other = (boosting.fit_trees(t, links, shares).fingerprint for t in (table, turned))
    assert one == other


def test_what_cannot_be_taught_is_refused(text, teacher, monkeypatch):
    with Pool(1) as pool, pytest.raises(DataError, match="240 pairs teach no student of 300"):
        teaching.lessons_of(text, teacher, TeachingSettings((300, 1000)), pool)
    with pytest.raises(UsageProblem, match="there are no students"):
        TeachingSettings(()).checked()
    with pytest.raises(UsageProblem, match="student"):
        TeachingSettings((3,)).checked()
    with pytest.raises(UsageProblem, match="link nothing"):
        teaching.learn_start([teaching.Lessons()], TeachingSettings())
    import builtins

    real = builtins.__import__

    def without(name, *rest, **more):
        if name.startswith("sklearn"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UsageProblem, match=r"aligntools\[teach\]"):
        boosting.learner()


def test_students_by_size():
    drawn = TeachingSettings((300, 1000, 5000, 20000)).drawn(12000)
    assert [(size, views) for size, _, views in drawn] == [(300, None)] * 6 + [(1000, None)] * 2 + [
        (5000, None), (5000, (5,)),
    ]  # fmt: skip
