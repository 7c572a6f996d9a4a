"""A second look at cells: what it sees of them, held against a slow version; and how many links it finds."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.aligning.contrastive import evidence, second_look
from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.encoding import knowledge
from tests.aligning.contrastive.making import candidates_of, random_pair


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


@pytest.mark.parametrize("seed", range(6))
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


@given(st.integers(2, 400), st.floats(0, 1), st.integers(0, 99))
def test_as_many_links(size, share, seed):
    """Of many links nearly as many are found; a few decide little."""
    odds, links = np.random.default_rng(seed).uniform(-1, 1, size), 1 + int(share * (size - 2))
    moved = second_look.at_count(odds, links)
    exact = -np.sort(odds)[::-1][links - 1 : links + 1].mean()
    assert moved == pytest.approx(exact * links / (links + second_look.FEW), abs=1e-9)
    assert second_look.at_count(odds, 0) == second_look.at_count(odds, len(odds)) == 0.0
