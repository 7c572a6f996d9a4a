"""Learning the network that judges links: its gradients, and a step of it."""

import numpy as np
import pytest

from aligntools.aligning.contrastive import kernels_linknetwork as kn
from aligntools.aligning.contrastive import network_learning as learning
from aligntools.aligning.contrastive.linknetwork import LinkNetwork
from aligntools.aligning.contrastive.network_learning import POSTERIOR, Propagation, by_name
from aligntools.ground.parallel import Pool
from tests.aligning.contrastive.making import candidates_of, random_pair

pytestmark = pytest.mark.slow  # it compiles what learning alone needs


def some_part(seed=1, shapes=((4, 5), (5, 3), (1, 1))):
    rng = np.random.default_rng(seed)
    candidates = candidates_of([random_pair(rng, *shape, 0.8) for shape in shapes])
    n = len(candidates.rows)
    links, shares = (rng.random(n) < 0.3).astype(np.float32), rng.choice([0.5, 1.0, 2.0], n).astype(np.float32)
    return candidates, learning.part_of(candidates, links, shares)


def whole(part):
    return learning.lesson([(part, k) for k in range(len(part.starts) - 1)])


def propagation(part, seed=1, scale=0.2, kind=np.float32):
    rng, inputs = np.random.default_rng(seed), part.inputs.shape[1]
    statistics = tuple(rng.uniform(0.5, 1.5, (2, inputs)).astype(np.float32))
    flat = learning.begin(inputs, rng)
    flat = (scale * rng.normal(size=len(flat))).astype(kind)
    gradient = np.zeros_like(flat)
    return flat, gradient, Propagation(by_name(flat, inputs), by_name(gradient, inputs), statistics, 100)


def test_odds_of_both_sides_have_the_mean_of_the_compiled_network():
    candidates, part = some_part()
    _, _, own = propagation(part)
    own.statistics = np.zeros(1, np.float32), np.ones(1, np.float32)
    sides = [own.odds(whole(side)).copy() for side in learning.both_sides([part])]
    arrays = {name: x[None].copy() for name, x in own.parameters.items()}
    network = LinkNetwork(tuple(learning.INPUTS), **arrays)
    assert np.abs(sides[0] - sides[1]).max() > 0.1
    np.testing.assert_allclose(np.mean(sides, 0), network.odds(candidates), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", ["first", "first_bias", "layers", "biases", "last", "last_bias", "trust"])
def test_gradients_are_those_of_finite_differences(name):
    _, part = some_part()
    _, _, own = propagation(part, kind=np.float64)
    lesson, rng = whole(part), np.random.default_rng(2)
    own.loss(lesson)
    found, changed = own.gradient[name].copy(), own.parameters[name]
    before = changed.copy()
    for _ in range(5):
        way = rng.normal(size=before.shape)
        values = []
        for far in (1e-6, -1e-6):
            changed[...] = before + far * way
            values.append(own.loss(lesson))
        changed[...] = before
        assert (values[0] - values[1]) / 2e-6 == pytest.approx((found * way).sum(), rel=1e-4)


def test_layers_lessons_and_what_is_dropped():
    _, part = some_part()
    _, _, own = propagation(part)
    own.loss(whole(part))
    assert np.abs(own.gradient["layers"]).max(axis=(2, 3)).min() > 1e-3
    _, part = some_part()
    _, gradient, own = propagation(part)
    together = own.loss(whole(part))
    summed = gradient.copy()
    gradient[:] = 0
    alone = [own.loss(learning.lesson([(part, k)])) for k in range(3)]
    assert sum(alone) == pytest.approx(together, rel=1e-5)
    np.testing.assert_allclose(gradient, summed, rtol=1e-3, atol=1e-3)
    _, part = some_part()
    _, _, own = propagation(part)
    lesson, rng = whole(part), np.random.default_rng(3)
    plain = own.odds(lesson).copy()
    own.parameters["layers"][1:] = own.parameters["biases"][1:] = 0  # so that odds are linear in what one layer adds
    plain = own.odds(lesson).copy()
    many = np.mean([own.odds(lesson, 0.5, rng) for _ in range(4000)], 0)
    np.testing.assert_allclose(many, plain, rtol=0.05, atol=0.1)
    assert np.abs(own.odds(lesson, 0.5, rng) - plain).max() > 0.1


def test_a_step_is_that_of_adamw():
    rng = np.random.default_rng(1)
    flat = rng.normal(size=3).astype(np.float32)
    expected, m, v = flat.astype(float), np.zeros(3), np.zeros(3)
    means, squares = np.zeros((2, 3), np.float32)
    for n in range(1, 5):
        g = rng.normal(size=3).astype(np.float32)
        learning.descend(flat, g, means, squares, n, 0.1)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        expected -= 0.1 * (m / (1 - 0.9**n) / (np.sqrt(v / (1 - 0.999**n)) + 1e-8) + learning.DECAY * expected)
        np.testing.assert_allclose(flat, expected, rtol=1e-4)


def test_lessons_are_varied_as_wholes_but_for_the_posterior():
    _, part = some_part(shapes=[(5, 5)] * 4)
    lesson = whole(part)
    statistics = part.inputs.mean(0), part.inputs.std(0) + np.float32(1)
    other = learning.varied(lesson, statistics, np.random.default_rng(1)).inputs
    assert other.dtype == np.float32
    changed = []
    for k in range(part.inputs.shape[1]):
        one, two = lesson.inputs[:, k], other[:, k]
        slope, height = np.polyfit(one, two, 1) if np.ptp(one) else (1, two[0] - one[0])
        np.testing.assert_allclose(two, slope * one + height, atol=1e-4)
        changed.append(not np.allclose(one, two, atol=1e-3))
    assert changed.count(False) == 1
    assert not changed[POSTERIOR]
    np.testing.assert_array_equal(other[:, POSTERIOR], lesson.inputs[:, POSTERIOR])


def test_passes_and_threads():
    _, part = some_part(shapes=[(3, 4)] * 40)
    seen = []
    for lessons in learning.steps([part], np.random.default_rng(1)):
        seen += [tuple(x) for lesson in lessons for x in lesson.inputs.tolist()]
    assert sorted(seen) == sorted(map(tuple, part.inputs.tolist()))
    _, part = some_part(shapes=[(3, 4)] * 30)
    found, told = [], []
    for threads in (1, 2):
        with Pool(threads) as pool:
            found += learning.fit([[part]], 2, 3, pool, report=told.append)
    one, two = found
    assert sorted((t["network"], t["pass"]) for t in told) == sorted(2 * [(n, k) for n in (1, 2) for k in (1, 2, 3)])
    for name, values in one.parts()[1].items():
        np.testing.assert_array_equal(values, two.parts()[1][name])
    assert one.first.shape[2] == kn.CHANNELS
    assert not np.array_equal(one.first[0], one.first[1])


def test_learning_finds_what_links_are(monkeypatch):
    monkeypatch.setattr(learning, "STEP", 200)
    monkeypatch.setattr(learning, "LESSON", 100)
    candidates, part = some_part(shapes=[(4, 4)] * 60)
    known = part.inputs[:, learning.INPUTS.index("similarity")]
    part = learning.part_of(candidates, (known > np.median(known)).astype(np.float32), np.ones_like(known))
    losses = []
    network = learning.averaged([learning.learn([part], 30, 1, lambda figures: losses.append(figures["loss"]))])
    assert losses[-1] < 0.5 * losses[0] < np.log(2)
    assert np.mean((network.odds(candidates) > 0) == (part.links > 0)) > 0.95
