"""Sentence pairs judged by their alignment."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aligntools as at
from aligntools.formats.links.pharaoh import Links
from aligntools.tools.filters import copied, coverage, scores
from tests.places import SAMPLES

SIDES = [(SAMPLES / f"de-en.{side}").read_text(encoding="utf-8").splitlines() for side in ("de", "en")]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=4), st.data())
def test_coverage_is_the_mean_of_best_links(lengths, data):
    drawn, probabilities = [], []
    for s, t in lengths:
        cells = [(i, j) for i in range(s) for j in range(t)]
        drawn.append(sorted(data.draw(st.sets(st.sampled_from(cells))) if cells else set()))
        probabilities += data.draw(st.lists(st.floats(0, 1), min_size=len(drawn[-1]), max_size=len(drawn[-1])))
    found = coverage(Links.from_lists(drawn), np.array(probabilities), np.array(lengths, np.int64).reshape(-1, 2).T)
    rest = iter(probabilities)
    for n, (pairs, sizes) in enumerate(zip(drawn, lengths, strict=True)):
        own = {pair: next(rest) for pair in pairs}
        for side in (0, 1):
            best = [max((p for pair, p in own.items() if pair[side] == k), default=0.0) for k in range(sizes[side])]
            assert found[side, n] == pytest.approx(sum(best) / sizes[side] if sizes[side] else 0.0, abs=1e-12)


def test_which_pairs_are_kept():
    found = scores(np.array([[0.5, 1.0, 0.2], [1.0, 1.0, 0.3]]), np.array([[-8.0, np.nan, 0.0], [0.0, -8.0, 0.0]]))
    assert found.tolist() == pytest.approx([0.5 / np.e, 1 / np.e, 0.2])
    assert copied(["Der", "Zug", "."], ["der", "Bus", "!", "?"]) == 0.5
    assert copied(["a", "a", "b"], ["a", "c", "d"]) == pytest.approx(1 / 3)
    assert copied(["1"], ["1"]) == 0.0
    model = at.train_aligner(*SIDES)
    mixed = SIDES[0][:20], [*SIDES[1][:10], *SIDES[1][100:110]]
    found = at.filter_pairs(*mixed, model=model)
    assert all(pair.kept for pair in found[:10])
    assert sum(pair.kept for pair in found[10:]) <= 2  # what 240 pairs can teach
    assert {pair.reason for pair in found if not pair.kept} == {"score"}
    assert at.filter_pairs([line.split() for line in mixed[0]], mixed[1], model=model) == found
    assert at.filter_pairs(["", "a"], ["x", "a"], model=model)[0].reason == "unaligned"
    found = at.filter_pairs(*SIDES, fast=True, min_score=0.0, max_copied=1.0)
    assert len(found) == len(SIDES[0])
    assert all(pair.kept for pair in found)
    with pytest.raises(at.UsageProblem, match="min_score"):
        at.filter_pairs(*SIDES, min_score=2)
