import itertools

import numpy as np
import pytest

from aligntools.aligning.models import ibm1
from aligntools.aligning.models import kernels_ibm as ki
from aligntools.aligning.models.ibm2 import TENSION_RANGE, sentence_shapes, tension_step
from tests import naive
from tests.aligning.building import close, world

SHAPES = [(1, 1), (1, 4), (4, 1), (2, 3), (3, 2), (3, 4), (0, 0), (4, 4), (3, 3)]


def expected(w, tension):
    """Return both directions' posteriors [source, target], log-likelihoods and the tension's features."""
    matrices, logs, features = ([], []), np.zeros(2), np.zeros((2, 2))
    for k, (source, _) in enumerate(w.corpus):
        for d in (0, 1):
            if not source:
                matrices[d].append(np.zeros((0, 0)))
                continue
            emissions, null, _, p_null = w.direction(k, d)
            likelihood, posterior = naive.ibm(emissions, null, p_null, tension[d])
            logs[d] += np.log(likelihood)
            if tension[d] > 0:
                features[d] += naive.diagonal_distance(posterior)
            matrices[d].append(posterior if d else posterior.T)
    return matrices, logs, features


@pytest.mark.parametrize("tension", [(0.0, 0.0), (4.0, 1.5), (0.0, 9.0)])
@pytest.mark.parametrize("seed", range(3))
def test_posteriors_likelihood_and_counts_as_enumerated(seed, tension):
    w = world(seed, SHAPES)
    matrices, logs, features = expected(w, tension)
    state = w.state()
    counts = [np.zeros(len(w.table.ids), np.float32) for _ in range(2)]
    loglik, found = ibm1.expect(state, w.lexicon, np.array(tension), counts)
    close(loglik, logs)
    close(found, features, absolute=1e-5)
    for d, cells in enumerate((state.matrices.cells, state.matrices.second)):
        for a, b in zip(w.matrices(cells), matrices[d], strict=True):
            close(a, b)
        lexical = naive.lexical_counts(w.corpus, matrices[d])
        by_pair = w.by_pair(counts[d])
        close([by_pair[x] for x in lexical], list(lexical.values()), absolute=1e-5)


@pytest.mark.parametrize("tension", [(0.0, 0.0), (4.0, 1.5)])
def test_joint_training_counts_the_mean_of_the_posteriors(tension):
    w = world(11, SHAPES, shared=True)
    matrices, logs, _ = expected(w, tension)
    state = w.state(joint=True)
    counts = np.zeros(len(w.table.ids), np.float32)
    loglik, _ = ibm1.expect(state, w.lexicon, np.array(tension), [counts])
    close(loglik, logs)
    for found, f, r in zip(w.matrices(state.matrices.cells), *matrices, strict=True):
        close(found, (f + r) / 2)


def test_single_directions_and_long_sentences():
    w = world(12, SHAPES)
    matrices, _, _ = expected(w, (2.0, 2.0))
    for d in (0, 1):
        counts = [np.zeros(len(w.table.ids), np.float32) for _ in range(2)]
        ibm1.expect(w.state(directions=d + 1), w.lexicon, np.array([2.0, 2.0]), counts)
        close(counts[d].sum(), sum(m.sum() for m in matrices[d]))
        assert not counts[1 - d].any()
    w = world(1, [(3000, 3000), (3000, 1)], words=(300, 200), low=1e-30)
    w.p_null[:] = 0
    state = w.state()
    counts = [np.zeros(len(w.table.ids), np.float32) for _ in range(2)]
    loglik, features = ibm1.expect(state, w.lexicon, np.array([14.0, 0.0]), counts)
    assert np.isfinite(loglik).all()
    assert np.isfinite(features).all()
    assert np.isfinite(counts).all()
    for d, cells in enumerate((state.matrices.cells, state.matrices.second)):
        for m in w.matrices(cells):
            assert m.min() >= 0
            assert m.sum(d).max() <= 1 + 1e-3


def test_expected_distance_of_the_prior():
    lengths, times = np.array([[3, 4], [1, 2], [5, 5]]), np.array([2, 7, 1])
    for tension in (0.1, 4.0, 14.0):
        total = 0.0
        for (given, observed), n in zip(lengths, times, strict=True):
            prior = np.array(
                [[naive.ibm_prior(i, j, given, observed, 0.0, tension) for i in range(given)] for j in range(observed)]
            )
            total += n * naive.diagonal_distance(prior, 1)[0]
        close(ki.diagonal_expectation(lengths, times, tension), total, 1e-9)


def test_the_tension_climbs_to_where_the_expectations_meet():
    """The gradient is the difference of the two expectations (Dyer et al. 2013, section 2.1)."""
    source, target = np.array([3, 5, 5, 0, 2]), np.array([4, 5, 5, 3, 2])
    shapes, counts = sentence_shapes(source, target)
    assert dict(zip(map(tuple, shapes.tolist()), counts.tolist(), strict=True)) == {(3, 4): 1, (5, 5): 2, (2, 2): 1}
    tokens = (shapes[:, 1] * counts).sum()
    wanted = ki.diagonal_expectation(shapes, counts, 6.0)  # what links drawn with a tension of 6 show
    tension = 1.0
    distance = [abs(tension - 6)]
    for _ in range(60):
        tension = tension_step(tension, wanted, tokens, shapes, counts)
        distance.append(abs(tension - 6))
    assert distance[-1] < 0.05
    assert all(b <= a for a, b in itertools.pairwise(distance))
    low, high = TENSION_RANGE
    assert tension_step(4.0, -1e9, tokens, shapes, counts) == low
    assert tension_step(4.0, 0.0, tokens, shapes, counts, steps=1000) == high
    assert tension_step(4.0, 0.0, 0.0, shapes, counts) == 4.0


@pytest.mark.parametrize("d", [0, 1])
def test_what_links_leave_over_is_nulls(d):
    w = world(8, SHAPES)
    matrices, _, _ = expected(w, (0.0, 0.0))
    state = w.state()
    ibm1.expect(state, w.lexicon, np.zeros(2), [np.zeros(len(w.table.ids), np.float32) for _ in range(2)])
    cells = (state.matrices.cells, state.matrices.second)[d]
    (chunk,) = state.matrices.chunks
    left = np.full(len((w.source if d else w.target).tokens), 9, np.float32)
    ki.null_posteriors(0, len(w.corpus), 0, w.source.offsets, w.target.offsets, chunk.cell_offsets, cells, d == 0, left)
    close(left, np.concatenate([1 - m.sum(d) for m in matrices[d]]))
