"""What other aligners' links are worth, against made-up ones whose errors are known, and against plain definitions."""

from dataclasses import replace

import numpy as np
import pytest

from aligntools.aligning.contrastive import evidence, features, tasks
from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive.search import SearchSettings, search
from aligntools.aligning.contrastive.weights import Weights, load_weights, scale, shipped
from aligntools.formats.links.given_links import parse_given
from aligntools.formats.links.pharaoh import Links
from aligntools.ground.errors import DataError
from tests.aligning.contrastive.making import ALL, candidates_of, random_pair, random_weights


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
