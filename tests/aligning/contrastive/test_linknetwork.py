"""The network that judges links: its values against its definition, its file, what it may not depend on."""

import math
from dataclasses import replace

import numpy as np
import pytest

from aligntools.aligning.contrastive import evidence, features, linknetwork, second_look, tasks
from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive import kernels_linknetwork as kn
from aligntools.aligning.contrastive.features import NAMES
from aligntools.aligning.contrastive.linknetwork import LinkNetwork, turned
from aligntools.aligning.contrastive.search import SCALE, SearchSettings, known, link_probabilities, search
from aligntools.aligning.contrastive.settings import ContrastiveSettings
from aligntools.aligning.contrastive.tasks import FEW, MANY, MOST, held_back, learning_plan, plan_of
from aligntools.aligning.contrastive.weights import Weights, load_weights, scale, shipped
from aligntools.encoding import knowledge
from aligntools.formats.links.given_links import parse_given
from aligntools.formats.links.pharaoh import Links
from aligntools.ground.errors import DataError
from aligntools.ground.parallel import Pool
from tests import naive_contrastive as naive
from tests.aligning.contrastive.making import ALL, candidates_of, random_pair, random_weights

ASKED = ("posterior", "forward-use", "similarity", "reverse-use")


def network(seed=1, networks=2, layers=2):
    rng = np.random.default_rng(seed)
    channels = kn.CHANNELS
    shapes = {
        "first": (networks, len(ASKED) + kn.WORD_INPUTS, channels), "first_bias": (networks, channels),
        "layers": (networks, layers, kn.PLACES, channels, channels), "biases": (networks, layers, channels),
        "last": (networks, channels), "last_bias": (networks,), "trust": (networks,),
    }  # fmt: skip
    return LinkNetwork(ASKED, **{n: (0.2 * rng.normal(size=shape)).astype(np.float32) for n, shape in shapes.items()})


def pairs(seed=1):
    rng = np.random.default_rng(seed)
    return [random_pair(rng, 4, 5, 0.7), random_pair(rng, 5, 3, 0.5), random_pair(rng, 1, 1)]


@pytest.mark.parametrize("turned", [True, False])
@pytest.mark.parametrize("layers", [0, 1, 2])
def test_odds_are_those_of_the_definition(layers, turned):
    own, some = network(layers=layers), pairs()
    arrays = {name: a.tolist() for name, a in own.parts()[1].items()}
    expected = [x for pair in some for x in naive.network_odds(pair, ASKED, arrays, turned)]
    assert np.std(expected) > 0.1
    np.testing.assert_allclose(own.odds(candidates_of(some), turned=turned), expected, rtol=1e-4, atol=1e-4)


def test_odds_by_place_thread_and_side():
    """A change of one place's matrix is seen: no neighbour, row or column is passed over."""
    e = candidates_of(pairs())
    before = network().odds(e)
    for place in range(kn.PLACES):
        other = network()
        other.layers[:, :, place] *= -1
        assert not np.array_equal(other.odds(e), before), place
    some = pairs()
    together = network().odds(candidates_of(some))
    np.testing.assert_array_equal(np.concatenate([network().odds(candidates_of([p])) for p in some]), together)
    for threads in (1, 3):
        with Pool(threads) as pool:
            np.testing.assert_array_equal(network().odds(candidates_of(some), pool), together)
    pair = pairs()[0]
    cells = {turned(n): {(j, i): x for (i, j), x in v.items()} for n, v in pair.cells.items()}
    other = type(pair)(
        pair.n_j, pair.n_i, cells, pair.t_null, pair.s_null, pair.t_odds, pair.s_odds,
        sorted((j, i) for i, j in pair.candidates), pair.t_more, pair.s_more,
    )  # fmt: skip
    one = dict(zip(pair.candidates, network().odds(candidates_of([pair])).tolist(), strict=True))
    two = dict(zip(other.candidates, network().odds(candidates_of([other])).tolist(), strict=True))
    assert one == {(i, j): pytest.approx(x, abs=1e-5) for (j, i), x in two.items()}
    for name in NAMES:
        assert turned(turned(name)) == name
    changed = {name: turned(name) for name in NAMES if turned(name) != name}
    assert len(changed) == 10
    assert set(changed.values()) == set(changed)
    assert changed["one-to-many"] == "many-to-one"
    assert changed["forward-use"] == "reverse-use"


def test_the_shipped_one_thinks_more_of_probable_links():
    e = candidates_of(pairs())
    e.local[:] = 0
    odds = []
    for x in (-4, 0, 4):
        e.local[:, [NAMES.index("posterior"), NAMES.index("agreement")]] = x
        odds.append(shipped().network.odds(e).mean())
    assert odds[0] < odds[1] < odds[2]
    assert "trees" not in shipped().network.names


@pytest.mark.parametrize(
    ("name", "broken"),
    [("last", lambda a: a[:, :-1]), ("layers", lambda a: a[:, :, :-1]), ("first", lambda a: a[:, 1:]),
     ("trust", lambda a: a * np.nan), ("biases", lambda a: a.astype(np.float64)), ("layers", lambda a: a[0])],
)  # fmt: skip
def test_damaged_files_are_refused(name, broken):
    header, arrays = network().parts()
    with pytest.raises(ValueError, match=name):
        LinkNetwork.from_parts(header, arrays | {name: broken(arrays[name])})


def test_it_asks_for_features_by_name(monkeypatch):
    header, arrays = network().parts()
    assert header["network"] == list(ASKED)
    monkeypatch.setattr(linknetwork, "NAMES", tuple(n for n in NAMES if n != "similarity"))
    with pytest.raises(ValueError, match="other features"):
        LinkNetwork.from_parts(header, arrays)


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_they_are_the_log_odds_made_less_sure(share):
    rng = np.random.default_rng(3)
    candidates = candidates_of([random_pair(rng, 4, 9), random_pair(rng, 2, 5), random_pair(rng, 6, 20)])
    values = np.zeros(candidates.local.shape[1])
    values[[kf.TREES, kf.POSTERIOR]] = 1 - share, share
    pairs, offsets, expected = [], [0], []
    for k in range(len(candidates)):
        own = range(int(candidates.starts[k]), int(candidates.starts[k + 1]))
        for c in list(own)[::2][::-1]:
            pairs.append((candidates.rows[c], candidates.columns[c]))
            odds = (1 - share) * candidates.local[c, kf.TREES] + share * candidates.local[c, kf.POSTERIOR]
            expected.append(1 / (1 + math.exp(-SCALE * odds)))
        offsets.append(len(pairs))
    links = Links(np.array(pairs, np.int32), np.array(offsets))
    assert link_probabilities(candidates, links, values) == pytest.approx(expected, abs=1e-6)
    assert known(values)
    assert not known(np.zeros_like(values))


def test_what_is_held_back():
    plan = learning_plan("all")
    sizes = 0, 1, FEW, round((FEW * MANY) ** 0.5), MANY, 10 * MANY
    shares = [held_back(plan.start, plan.active, n)[kf.POSTERIOR] / plan.start[kf.TREES] for n in sizes]
    assert shares == pytest.approx([0, 0, 0, MOST / 2, MOST, MOST], abs=1e-5)
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


def test_where_a_source_has_read_the_text_the_network_decides_alone():
    """It finds as many links as it thinks right, unless a number is asked for or the start has no network."""
    usual, paper = ContrastiveSettings(), ContrastiveSettings(start="paper")
    plan = plan_of(usual, pairs=MANY, read=True)
    assert (plan.density, plan.learning.passes) == ("learned", 0)
    assert (plan.start == learning_plan("all").start).all()
    assert plan_of(replace(usual, sentences=100), pairs=MANY, read=True).learning.passes
    assert plan_of(usual, pairs=MANY).density == "base"
    assert plan_of(ContrastiveSettings(density="base"), pairs=MANY, read=True).density == "base"
    assert plan_of(paper, pairs=MANY, read=True).density == "base"


def some_candidates(seed):
    rng = np.random.default_rng(seed)
    found = candidates_of([random_pair(rng, *rng.integers(1, 5, 2), 0.7) for _ in range(4)])
    n = len(found.rows)
    found.readings = (rng.integers(0, evidence.READINGS, (n, 2)) * (rng.random((n, 2)) < 0.3)).astype(np.uint8)
    found.likeness = rng.normal(size=(n, 2, 2)).astype(np.float32)
    return found, rng.normal(size=n) * 6, rng.normal(size=evidence.READINGS), rng


def naive_inputs(candidates, first, table, source):
    """Return of each candidate that is looked at again, by number, what is known of it."""
    found = {}
    for k in range(len(candidates)):
        own = range(candidates.starts[k], candidates.starts[k + 1])
        read = {c: int(candidates.readings[c, source]) for c in own}
        place = {(int(candidates.rows[c]), int(candidates.columns[c])): c for c in own}
        first_look = {c: min(max(first[c], -10), 10) + table[read[c]] for c in own}
        link = {cell: 1 / (1 + np.exp(-first_look[c])) for cell, c in place.items()}
        for (i, j), c in place.items():
            if not any(read.values()):
                continue
            row = [p for (a, b), p in link.items() if a == i and b != j]
            column = [p for (a, b), p in link.items() if b == j and a != i]
            highest, rest = [max(x, default=0.0) for x in (row, column)], [sum(row), sum(column)]
            around = [
                sum(link.get((i + a, j + b), 0.0) for a, b in steps)
                for steps in (((-1, -1), (1, 1)), ((-1, 0), (0, -1), (0, 1), (1, 0)), ((-1, 1), (1, -1)))
            ]
            found[c] = [
                *(min(max(x, -10), 10) for x in (first[c], candidates.local[c, kf.POSTERIOR])),
                *(float(read[c] == n) for n in range(evidence.READINGS)), *candidates.likeness[c, source].tolist(),
                max(highest), min(highest), max(rest), min(rest), *around,
            ]  # fmt: skip
    return found


@pytest.mark.parametrize("seed", range(3))
def test_what_a_second_look_sees(seed):
    candidates, first, table, _ = some_candidates(seed)
    for source in (0, 1):
        at, found = second_look.inputs(candidates, first, table, source)
        due = naive_inputs(candidates, first, table, source)
        assert at.tolist() == sorted(due)
        assert found.shape == (len(at), len(second_look.INPUTS))
        assert found == pytest.approx(np.array([due[c] for c in at.tolist()]).reshape(found.shape), abs=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_candidates_have_the_second_odds_in_place_of_the_first(seed):
    """Where a source says nothing, or has no second look, all is as without one."""
    candidates, first, table, rng = some_candidates(seed)
    tables, look = [table, table[::-1]], rng.normal(size=len(second_look.INPUTS) + 1)
    plain = evidence.with_readings(candidates, tables).local[:, -2:]
    found = evidence.with_readings(candidates, tables, first, [None, look]).local[:, -2:]
    at, seen = second_look.inputs(candidates, first, tables[1], 1)
    assert (found[:, 0] == plain[:, 0]).all()
    assert first[at] + found[at, 1] == pytest.approx(seen @ look[:-1] + look[-1], abs=1e-4)
    assert not np.delete(found[:, 1], at).any()
    unlike = replace(candidates, likeness=None)
    assert (evidence.with_readings(unlike, tables, first, [None, look]).local[:, -2:] == plain).all()


@pytest.mark.parametrize(("read", "own"), [(True, knowledge.LOOK), (False, knowledge.LOOK_UNREAD)])
def test_an_encoder_that_is_not_believed_looks_once(read, own):
    """Its second odds are then the first ones, and between half and whole belief they go from these to its own."""
    assert knowledge.look(0.5, read).tolist() == [1.0] + [0.0] * len(second_look.INPUTS)
    assert knowledge.look(1.0, read).tolist() == own.tolist()
    assert knowledge.look(0.75, read) == pytest.approx((knowledge.look(0.5, read) + own) / 2)


def cells(rng, n, rates):
    """Return candidates with prior odds that are right, and readings of files with given true and false positives."""
    pair = random_pair(rng, 1, n)
    candidates = candidates_of([pair])
    prior = rng.normal(-1.0, 2.0, n)
    links = rng.random(n) < 1 / (1 + np.exp(-prior))
    candidates.local[:, kf.TREES] = prior
    candidates.local[:, kf.POSTERIOR] = 0
    said = [np.where(rng.random(n) < np.where(links, yes, no), evidence.READINGS - 1, 0) for yes, no in rates]
    candidates.readings = np.stack(said, 1).astype(np.uint8)
    return candidates, links


@pytest.mark.parametrize("rates", [[(0.9, 0.05)], [(0.6, 0.3), (0.8, 0.02)], [(0.3, 0.3)]])
def test_rates_of_independent_files_are_found_without_gold(rates):
    candidates, links = cells(np.random.default_rng(1), 20_000, rates)
    tables, precision, recall = evidence.judge(candidates, trees=True)
    for k, (yes, no) in enumerate(rates):
        worth = np.log(yes / no), np.log((1 - yes) / (1 - no))
        assert tables[k][[evidence.READINGS - 1, 0]] == pytest.approx(worth, abs=0.2)
        linked = candidates.readings[:, k] > 0
        assert precision[k] == pytest.approx(links[linked].mean(), abs=0.03)
        assert recall[k] == pytest.approx(linked[links].mean(), abs=0.03)


def test_each_pass_makes_the_readings_more_likely(monkeypatch):
    candidates, _ = cells(np.random.default_rng(2), 500, [(0.7, 0.2), (0.9, 0.1)])
    prior = 1 / (1 + np.exp(-candidates.local[:, kf.TREES].astype(float)))
    monkeypatch.setattr(evidence, "SMOOTHING", 1e-9)
    monkeypatch.setattr(evidence, "STILL", 0.0)
    found = []
    for passes in range(1, 6):
        monkeypatch.setattr(evidence, "PASSES", passes)
        links = np.clip(prior, 0, 1)
        rates = []
        for _ in range(passes):  # the same steps with distributions kept instead of their ratios
            rates = [
                [np.bincount(said, w, evidence.READINGS) / w.sum() for w in (links, 1 - links)]
                for said in candidates.readings.T
            ]
            yes, no = (np.prod([rates[k][z][candidates.readings[:, k]] for k in (0, 1)], axis=0) for z in (0, 1))
            links = prior * yes / (prior * yes + (1 - prior) * no)
        found.append(np.log(prior * yes + (1 - prior) * no).sum())
        tables = evidence.judge(candidates, trees=True)[0]
        for k in (0, 1):
            seen = [0, evidence.READINGS - 1]
            assert tables[k][seen] == pytest.approx(np.log(rates[k][0][seen] / rates[k][1][seen]), abs=1e-6)
    assert found == sorted(found)
    assert found[0] < found[-1]


def test_links_of_files_become_candidates_and_readings():
    starts, rows, columns = np.array([0, 2, 3]), np.array([0, 1, 0], np.int32), np.array([1, 1, 0], np.int32)
    given = parse_given(b"0-0:0.3 0-1:0.05 1-1 2-0:0.01\n0-0:0.6 0-2:0.8 1-0:0.92\n")
    starts, rows, columns = evidence.given_too(starts, rows, columns, [given])
    cells = list(zip(rows.tolist(), columns.tolist(), strict=True))
    assert starts.tolist() == [0, 3, 6]
    assert cells == [(0, 0), (0, 1), (1, 1), (0, 0), (0, 2), (1, 0)]
    pairs = [random_pair(np.random.default_rng(0), 3, 3)] * 2
    candidates = replace(candidates_of(pairs), starts=starts, rows=rows, columns=columns)
    other = parse_given(b"\n0-0:0.5\n")
    assert evidence.readings(candidates, [given, other])[0].tolist() == [[1, 0], [0, 0], [5, 0], [2, 2], [3, 0], [4, 0]]


def test_evidence_is_a_value_that_a_link_adds_by_itself():
    rng = np.random.default_rng(5)
    pairs = [random_pair(rng, 3, 3, 0.7) for _ in range(6)]
    candidates = candidates_of(pairs)
    candidates.readings = rng.integers(1, evidence.READINGS, (len(candidates.rows), 2)).astype(np.uint8)
    silent = slice(*candidates.starts[1:3])
    candidates.readings[silent, 1] = 0  # the second file has no link of this pair, so it says nothing
    tables = [rng.normal(size=evidence.READINGS) for _ in range(2)]
    more = evidence.with_readings(candidates, tables)
    weights = np.append(random_weights(rng)[0], [0.7, -0.4])
    worth = sum(w * t[candidates.readings[:, k]] for k, (w, t) in enumerate(zip(weights[-2:], tables, strict=True)))
    worth[silent] -= weights[-1] * tables[1][0]
    same = candidates_of(pairs)  # the same score by a feature that has weight 1
    weight = weights[kf.POSITION]
    same.local[:, kf.POSITION] += (worth / weight).astype(np.float32)
    settings = SearchSettings(beam=4, n_best=4)
    found, due = (
        search(more, weights, np.append(ALL, [True, True]), settings), search(same, weights[:-2], ALL, settings),
    )  # fmt: skip
    assert found.scores == pytest.approx(due.scores, abs=1e-4)
    phi = found.features(np.append(ALL, [True, True]))
    sizes = found.sizes > 0
    assert np.einsum("knf,f->kn", phi, weights)[sizes, 0] == pytest.approx(found.scores[sizes, 0], abs=1e-4)
    assert (found.features(np.append(ALL, [True, False]))[:, :, -1] == 0).all()
    part = more.part(2, 4)
    assert (part.readings == more.readings[more.starts[2] : more.starts[4]]).all()


def test_what_a_file_counts_for():
    shares = [tasks.share(p) for p in (0.5, 0.8, 0.9, 0.95, 0.99, 1.0)]
    assert shares == sorted(shares)
    assert shares[1] == 0
    assert shares[-1] == 1
    assert shares[2] < 0.01
    active, weights = features.select("all"), np.full(len(ALL), 0.5)
    weights[kf.TREES] = 3.0
    assert scale(weights, active) == 3.5
    active[kf.TREES] = False
    assert scale(weights, active) == 0.5
    assert scale(weights, features.select("paper")) == 1.0
    a, b = Links.from_lists([[(0, 0), (1, 1)], [(0, 0)]]), Links.from_lists([[(0, 0)], [(0, 1)]])
    assert evidence.agreement(a, b) == pytest.approx(2 * 1 / 5)
    assert evidence.agreement(a, a) == 1.0


def test_weights_with_evidence_on_disk(tmp_path):
    rng = np.random.default_rng(3)
    tables = tuple(rng.normal(size=evidence.READINGS).round(6) for _ in range(2))
    values, active = np.append(random_weights(rng)[0], [0.5, 0.0]), np.append(ALL, [True, True])
    weights = Weights(values, active, tables=tables, network=shipped().network)
    weights.save(tmp_path / "w")
    found = load_weights(tmp_path / "w")
    assert found.by_name == weights.by_name
    assert list(found.by_name)[-2:] == ["evidence-1", "evidence-2"]
    assert [t.tolist() for t in found.tables] == [t.tolist() for t in tables]
    text = (tmp_path / "w").read_text()
    for old, new, said in (
        ('"evidence": [', '"evidence": [[1],', "each file's list in 'evidence' must have 6 numbers"),
        ('"evidence": [', '"evidence": [' + "[1]," * 9, "of at most 9 files"),
        ('"evidence": [', '"evidence": 3, "x": [', "'evidence' must be a list"),
        ('"evidence": [', '"x": [', "unknown feature 'evidence-1'"),
    ):
        (tmp_path / "bad").write_text(text.replace(old, new))
        with pytest.raises(DataError, match=said):
            load_weights(tmp_path / "bad")
