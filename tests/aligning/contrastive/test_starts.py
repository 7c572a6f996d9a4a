"""Starts: files of a network and weights."""

import json
from dataclasses import replace

import numpy as np
import pytest

from aligntools.aligning.aligner import Aligner
from aligntools.aligning.alignment import read_bitext, train_aligner
from aligntools.aligning.applying.applier import Applier
from aligntools.aligning.contrastive import distillation, features
from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive.candidates import CandidateFinder
from aligntools.aligning.contrastive.features import NAMES
from aligntools.aligning.contrastive.learning import pick
from aligntools.aligning.contrastive.network_learning import part_of
from aligntools.aligning.contrastive.settings import TeachingSettings
from aligntools.aligning.contrastive.tasks import learning_plan
from aligntools.aligning.contrastive.weights import FORMER, SHIPPED, ContrastiveStart, Weights, load_weights, shipped
from aligntools.formats.models.modelfile import read_model, write_model
from aligntools.formats.text.corpus import with_own_words
from aligntools.ground.errors import DataError, ModelError, UsageProblem
from aligntools.ground.parallel import Pool
from tests.places import SAMPLES


def with_network():
    """A start of another network than any that comes with the program."""
    network = shipped("languages").network
    return ContrastiveStart(replace(network, trust=network.trust + 1), np.arange(len(NAMES)) / 7, {"by": "hand"})


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_ones_are_whole(name):
    found = shipped(name)
    assert found.network.layers.shape[:2] == (3, 3)
    assert found.by_name["trees"] > 0
    assert found.about


def test_starts_of_files(tmp_path):
    own = with_network()
    own.save(tmp_path / "s")
    found = ContrastiveStart.load(tmp_path / "s")
    assert found.network.fingerprint == own.network.fingerprint
    assert found.network.fingerprint != shipped("languages").network.fingerprint
    np.testing.assert_array_equal(found.weights, own.weights)
    assert found.about == {"by": "hand"}
    network = shipped("languages").network
    Weights(with_network().weights, features.select("all"), network=network).save(tmp_path / "w")
    assert load_weights(tmp_path / "w").network is network
    nodes = {"roots": np.zeros(1, np.int32), "columns": np.full(1, -1, np.int32)}
    write_model(str(tmp_path / "s"), "contrastive-start", {"bias": 0.0, "weights": {}, "taught": {}}, nodes)
    with pytest.raises(ModelError, match=r"s: is a start of link trees, .*; make it again with teach"):
        ContrastiveStart.load(tmp_path / "s")
    with pytest.raises(UsageProblem, match="no weight for these features"):
        learning_plan("paper", "languages")
    assert learning_plan("paper,trees", "languages").start.sum() == 1


@pytest.mark.parametrize(
    "broken",
    [
        {"weights": {"no such thing": 1.0}}, {"weights": {"trees": "1"}}, {"weights": [1]}, {"taught": 3},
        {"network": ["no such thing"]}, {"network": 3},
    ],
)  # fmt: skip
def test_damaged_files_are_refused(tmp_path, broken):
    with_network().save(tmp_path / "s")
    header, arrays = read_model(str(tmp_path / "s"), "contrastive-start")
    write_model(str(tmp_path / "s"), "contrastive-start", header | broken, arrays)
    with pytest.raises(ModelError, match="damaged"):
        ContrastiveStart.load(tmp_path / "s")


def test_weights_go_with_the_network_that_they_were_learned_over(tmp_path):
    own, active = with_network(), features.select("all")
    weights = Weights(own.weights, active, network=own.network)
    weights.save(tmp_path / "w")
    assert load_weights(tmp_path / "w", own.network).network is own.network
    with pytest.raises(DataError, match="another start than the one that comes with the program; give the file"):
        load_weights(tmp_path / "w")
    with pytest.raises(DataError, match="another start than that of mine; give the file"):
        load_weights(tmp_path / "w", shipped("languages").network, "mine")
    text = json.loads((tmp_path / "w").read_text())
    (tmp_path / "w").write_text(json.dumps(text | {"trees": 3}))
    with pytest.raises(DataError, match="'trees' is 3"):
        load_weights(tmp_path / "w")
    without = Weights(own.weights, features.select("paper"), network=own.network)
    without.save(tmp_path / "w")
    assert load_weights(tmp_path / "w").network is None


@pytest.mark.parametrize("named", [{}, {"trees": FORMER}])
def test_weights_over_link_trees_are_refused(tmp_path, named):
    Weights(with_network().weights, features.select("all"), network=shipped("languages").network).save(tmp_path / "w")
    text = json.loads((tmp_path / "w").read_text())
    del text["trees"]
    (tmp_path / "w").write_text(json.dumps(text | named))
    with pytest.raises(DataError, match=r"w: its weights were learned over link trees, .*; learn them again"):
        load_weights(tmp_path / "w")


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
    rows, n = distillation.draw(text, 60, 20, rng)
    assert (n, len(rows), len(set(rows.tolist()))) == (20, 60, 60)
    lengths = np.minimum(text.source.lengths(), text.target.lengths())
    assert lengths[rows].mean() > lengths.mean()
    large = replace(text)
    teaching_small, distillation.SMALL = distillation.SMALL, 10
    try:
        rows, n = distillation.draw(large, 60, 10, rng)
    finally:
        distillation.SMALL = teaching_small
    assert (n, len(rows)) == (20, 70)
    own = np.concatenate([rows[:10], rows[20:]])
    assert ((rows[10:20] < own.min()) | (rows[10:20] > own.max())).mean() > 0.5


def test_answers_are_the_teachers_posteriors_moved_towards_its_decision(text, teacher):
    part = pick(text, np.arange(12))
    with Pool(1) as pool:
        candidates = CandidateFinder(teacher, pool).find_all(part)
        found = distillation.answers(Applier(teacher.views, teacher.settings, teacher.sizes), part, candidates, pool)
        links = [own.links for own in Aligner(teacher).align_batch(part, threads=pool)]
    sentence = np.repeat(np.arange(12), np.diff(candidates.starts))
    decided = [(i, j) in links[k] for k, i, j in zip(sentence, candidates.rows, candidates.columns, strict=True)]
    odds = np.log(found / (1 - found)) - np.where(decided, distillation.DECIDED, -distillation.DECIDED)
    between = (found > 0.05) & (found < 0.95)
    assert between.sum() > 5
    assert 0 < np.sum(np.array(decided)[between]) < between.sum()
    np.testing.assert_allclose(odds[between], candidates.local[between, kf.POSTERIOR], atol=1e-3)


@pytest.mark.slow
def test_students_teach_what_their_teacher_knows(text, teacher):
    """The network's log-odds are nearer to what the teacher says than the students' own, on texts of other students."""
    settings = TeachingSettings((40, 100), lessons=40, networks=2, passes=60)
    told = []
    with Pool(1) as pool, Pool(2) as two:
        lessons = distillation.lessons_of(text, teacher, settings, pool, told.append)
        start = distillation.learn_start([lessons], settings, pool, told.append)
        few = replace(settings, passes=2)
        again = distillation.learn_start([distillation.lessons_of(text, teacher, settings, two)], few, two)
        assert distillation.learn_start([lessons], few, pool).network.fingerprint == again.network.fingerprint
        asked = [distillation.draw(text, 60, 30, np.random.default_rng(seed)) for seed in (7, 8, 9)]
        divergences = np.mean([divergence(text, teacher, start.network, *own, pool) for own in asked], 0)
    assert divergences[0] < 0.85 * divergences[1]
    assert [t["student"] for t in told[:12]] == [40] * 6 + [100] * 6
    assert [(t["network"], t["pass"]) for t in told[12:]] == [(m, k + 1) for m in (1, 2) for k in range(60)]
    assert lessons[1] == {"pairs": 240, "students": {"40": 6, "100": 6}}
    assert start.by_name == {"posterior": distillation.LEAN, "trees": 1.0}
    for part in lessons[0]:
        assert part.shares.sum() == pytest.approx((distillation.SHARE * len(part.links)) ** 0.5, rel=1e-4)


def divergence(text, teacher, network, rows, n, pool):
    """Return Kullback-Leibler divergences of a candidate, from the teacher to a network and to a new student."""
    part = with_own_words(pick(text, rows))
    candidates = CandidateFinder(train_aligner(part, threads=pool).model, pool, network).find_all(
        pick(part, np.arange(n))
    )
    applier = Applier(teacher.views, teacher.settings, teacher.sizes)
    answers = np.clip(distillation.answers(applier, pick(text, rows[:n]), candidates, pool), 1e-6, 1 - 1e-6)
    found = []
    for column in (kf.TREES, kf.POSTERIOR):
        p = np.clip(1 / (1 + np.exp(-candidates.local[:, column].astype(np.float64))), 1e-6, 1 - 1e-6)
        found.append((answers * np.log(answers / p) + (1 - answers) * np.log((1 - answers) / (1 - p))).mean())
    return found


def test_how_many_lessons_and_students():
    assert [TeachingSettings().enough(steps) for steps in (0, 10, 100, 370)] == [64, 64, 20, 8]
    assert TeachingSettings(passes=3).enough(10) == 3
    drawn = TeachingSettings((300, 1000, 5000, 20000)).drawn(12000)
    assert [(size, views) for size, _, views in drawn] == [(300, None)] * 6 + [(1000, None)] * 2 + [
        (5000, None), (5000, (5,)),
    ]  # fmt: skip


def test_what_cannot_be_taught_is_refused(text, teacher, monkeypatch):
    with pytest.raises(DataError, match="240 pairs teach no student of 300"):
        distillation.check_size(text, TeachingSettings((300, 1000)), "text")
    with pytest.raises(UsageProblem, match="there are no students"):
        TeachingSettings(()).checked()
    with pytest.raises(UsageProblem, match="student"):
        TeachingSettings((3,)).checked()
    with pytest.raises(UsageProblem, match="passes"):
        TeachingSettings(passes=0).checked()
    nothing = part_with(text, teacher, lambda links: 0 * links)
    everything = part_with(text, teacher, lambda links: 0 * links + 1)
    with Pool(1) as pool:
        for parts in ([], [nothing], [everything]):
            with pytest.raises(UsageProblem, match="has the same label"):
                distillation.learn_start([(parts, {})], TeachingSettings(), pool)


def part_with(text, teacher, links_of):
    """Return a part whose links are what a function makes of zeros."""
    with Pool(1) as pool:
        candidates = CandidateFinder(teacher, pool).find_all(pick(text, np.arange(3)))
    zeros = np.zeros(len(candidates.rows), np.float32)
    return part_of(candidates, links_of(zeros), zeros + 1)
