"""Starts: files of a network and weights."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from aligntools.aligning.aligner import Aligner
from aligntools.aligning.alignment import read_bitext, train_aligner
from aligntools.aligning.applying.applier import Applier
from aligntools.aligning.contrastive import distillation, features, rounds
from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive.base import train_base
from aligntools.aligning.contrastive.candidates import CandidateFinder
from aligntools.aligning.contrastive.features import NAMES
from aligntools.aligning.contrastive.network_learning import part_of
from aligntools.aligning.contrastive.settings import TeachingSettings
from aligntools.aligning.contrastive.tasks import learning_plan
from aligntools.aligning.contrastive.weights import FORMER, SHIPPED, ContrastiveStart, Weights, load_weights, shipped
from aligntools.aligning.settings import AlignerSettings
from aligntools.aligning.training.train_model import train_model
from aligntools.aligning.training.view_priors import GivenPriors
from aligntools.formats.links.priors import Counted, Priors
from aligntools.formats.models.modelfile import read_model, write_model
from aligntools.formats.text.corpus import pick, with_own_words
from aligntools.formats.text.text_settings import Reading
from aligntools.ground.errors import DataError, ModelError, UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.ground.run import Run
from tests.aligning.contrastive.making import candidates_of, random_pair
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


@pytest.fixture(scope="module")
def pool():
    with Pool(2) as made:
        yield made


@pytest.fixture(scope="module")
def base(text, pool):
    return train_aligner(text, threads=pool).model


@pytest.fixture(scope="module")
def again(text, base, pool):
    return once_more(base, text, pool)


def once_more(model, text, pool):
    """Train what comes after a model, with the links that the shipped network finds."""
    found = rounds.count_found(CandidateFinder(model, pool, shipped().network), text)
    return rounds.train_again(found, model.settings, text, pool)


def counted(model, pool, text, sentences):
    """Count pairs of words with a link whose log-odds are above 0, sentence by sentence."""
    e = CandidateFinder(model, pool, shipped().network).find_all(text)
    counts = Counter()
    for k in sentences:
        s, t = (x.tokens[x.offsets[k] : x.offsets[k + 1]].tolist() for x in (text.source, text.target))
        for c in range(e.starts[k], e.starts[k + 1]):
            if e.local[c, kf.TREES] > 0:
                counts[s[e.rows[c]], t[e.columns[c]]] += 1
    return counts


def as_counter(priors):
    return Counter({tuple(k): a for k, a in zip(priors.lexical.keys.tolist(), priors.lexical.alphas, strict=True)})


def test_links_as_priors(text, base, pool, again):
    pairs = [random_pair(np.random.default_rng(n), n % 4, 3, 0.7) for n in range(1, 8)]
    e = candidates_of(pairs)
    found = e.links(e.local[:, kf.TREES] > 0)
    assert [sorted(map(tuple, found[k].pairs.tolist())) for k in range(len(pairs))] == [
        sorted(c for c in p.candidates if p.cells["trees"][c] > 0) for p in pairs
    ]
    assert 0 < len(found.pairs) < sum(len(p.candidates) for p in pairs)
    finder = CandidateFinder(base, pool, shipped().network)
    found = as_counter(rounds.count_found(finder, text))
    assert found == counted(base, pool, text, range(len(text)))
    assert sum(found.values()) > len(text)
    assert as_counter(rounds.count_found(finder, text, 3)) == counted(base, pool, text, [0, 119, 239])
    counts = counted(base, pool, text, range(len(text)))
    keys = np.array(list(counts), np.int64)
    table = Counted.of(list(keys.T), np.array(list(counts.values()), np.float64))
    priors = Priors(text.source_vocabulary, text.target_vocabulary, lexical=table)
    due = train_model(text, base.settings, pool, given=GivenPriors(priors, rounds.WEIGHTS))
    assert again.settings == base.settings
    for one, other, first in zip(again.views, due.views, base.views, strict=True):
        np.testing.assert_array_equal(one.lexicon.forward, other.lexicon.forward)
        np.testing.assert_array_equal(one.lexicon.reverse, other.lexicon.reverse)
        assert not np.array_equal(one.lexicon.forward, first.lexicon.forward)


def test_rounds_go_on_from_the_model_before_whatever_the_threads(text, again):
    with Pool(1) as one:
        third = train_base(text, shipped().network, AlignerSettings(), 3, reading=Reading(), run=Run(one)).model
        due = once_more(again, text, one)
    for a, b, before in zip(third.views, due.views, again.views, strict=True):
        np.testing.assert_array_equal(a.lexicon.forward, b.lexicon.forward)
        assert not np.array_equal(a.lexicon.forward, before.lexicon.forward)


def test_a_text_without_links_is_trained_again_without_a_word(pool, caplog):
    blank = read_bitext(["", ""], ["", ""])
    model = train_aligner(blank, threads=pool).model
    assert len(rounds.count_found(CandidateFinder(model, pool, shipped().network), blank).lexical) == 0
    once_more(model, blank, pool)
    assert not caplog.records


def test_how_many_rounds():
    network, most = shipped().network, rounds.LARGEST
    assert [rounds.rounds_of(None, judge, 9) for judge in (network, None)] == [2, 1]
    assert [rounds.rounds_of(None, network, n) for n in (most, most + 1)] == [2, 1]
    assert rounds.rounds_of(None, network, 9, fast=True) == 1
    assert [rounds.rounds_of(None, network, most + 1, read=share) for share in (0.19, 0.2, 1.0)] == [1, 2, 2]
    assert rounds.rounds_of(None, network, 9, fast=True, read=1.0) == 1
    assert [rounds.rounds_of(n, network, 2 * most, fast=True) for n in (1, 2, 3)] == [1, 2, 3]
    with pytest.raises(UsageProblem, match="needs the feature trees"):
        rounds.rounds_of(2, None, 9)
