import itertools

import numpy as np
import pytest

from aligntools.aligning.models import kernels_positions as kp
from aligntools.aligning.models.ibm2 import expect_tables
from aligntools.aligning.models.position_tables import LONGEST, PositionTable
from tests import naive, naive_mre
from tests.aligning.building import close, world

SHAPES = [(1, 1), (1, 3), (3, 1), (2, 3), (3, 2), (0, 0), (3, 3), (2, 3)]


def tables(w, seed):
    rng = np.random.default_rng(seed)
    out = []
    for given, observed in ((w.source, w.target), (w.target, w.source)):
        p = PositionTable.of_lengths(given.lengths(), observed.lengths(), 3.0)
        for a, b in itertools.pairwise(p.rows()):
            p.values[a:b] = rng.dirichlet(np.ones(b - a))
        out.append(p)
    return out


def block(p, given, observed):
    """Return the probabilities [observed, given] of a pair of lengths that the table has."""
    s = p.shapes.tolist().index([given, observed])
    return p.values[p.starts[s] : p.starts[s + 1]].reshape(observed, given)


def enumerated(w, positions):
    """Return both directions' posteriors [source, target], log-likelihoods and counts of positions."""
    matrices, logs = ([], []), np.zeros(2)
    counts = [np.zeros_like(p.values, dtype=float) for p in positions]
    for k, (source, target) in enumerate(w.corpus):
        for d in (0, 1):
            if not source:
                matrices[d].append(np.zeros((0, 0)))
                continue
            given, observed = (target, source) if d else (source, target)
            emissions, null, _, p_null = w.direction(k, d)
            prior = block(positions[d], len(given), len(observed)).astype(float)
            alignments = naive_mre.ibm_alignments(prior, p_null)
            likelihood, _, posterior, _ = naive_mre.reconstruction(alignments, emissions, null)
            logs[d] += np.log(likelihood)
            matrices[d].append(posterior if d else posterior.T)
            s = positions[d].shapes.tolist().index([len(given), len(observed)])
            counts[d][positions[d].starts[s] : positions[d].starts[s + 1]] += posterior.ravel()
    return matrices, logs, counts


def test_without_smoothing_counts_are_relative_frequencies():
    """A row that nothing was counted in is the diagonal, or uniform without tension."""
    p = PositionTable.of_lengths(np.array([3, 2]), np.array([2, 2]), 0.0)
    np.testing.assert_allclose(block(p, 3, 2), 1 / 3)
    counts = np.array([1, 3, 0, 0, 0, 0, 2, 2, 5, 0], np.float32)
    if p.shapes.tolist() == [[2, 2], [3, 2]]:
        counts = np.array([2, 2, 5, 0, 1, 3, 0, 0, 0, 0], np.float32)
    p.values = p.estimate(counts, 0.0, 0.0)
    np.testing.assert_allclose(block(p, 2, 2), [[0.5, 0.5], [1, 0]], atol=1e-8)
    np.testing.assert_allclose(block(p, 3, 2), [[0.25, 0.75, 0], [1 / 3, 1 / 3, 1 / 3]], atol=1e-8)
    diagonal = p.estimate(np.zeros(10, np.float32), 4.0, 1.0)
    np.testing.assert_allclose(p.estimate(np.zeros(10, np.float32), 4.0, 0.0), diagonal, rtol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_posteriors_and_counts_as_enumerated(seed):
    w = world(seed, SHAPES)
    positions = tables(w, seed)
    matrices, logs, expected = enumerated(w, positions)
    state = w.state()
    counts = [np.zeros(len(w.table.ids), np.float32) for _ in range(2)]
    loglik, found = expect_tables(state, w.lexicon, positions, counts)
    close(loglik, logs)
    for d, cells in enumerate((state.matrices.cells, state.matrices.second)):
        for a, b in zip(w.matrices(cells), matrices[d], strict=True):
            close(a, b)
        close(found[d], expected[d], absolute=1e-5)
        lexical = naive.lexical_counts(w.corpus, matrices[d])
        by_pair = w.by_pair(counts[d])
        close([by_pair[x] for x in lexical], list(lexical.values()), absolute=1e-5)
        close(counts[d].sum(), sum(lexical.values()))


def test_joint_counts_and_estimates():
    w = world(4, SHAPES, shared=True)
    positions = tables(w, 4)
    (forward, reverse), _, _ = enumerated(w, positions)
    state = w.state(joint=True)
    counts = np.zeros(len(w.table.ids), np.float32)
    _, found = expect_tables(state, w.lexicon, positions, [counts])
    means = [(f + r) / 2 for f, r in zip(forward, reverse, strict=True)]
    for a, b in zip(w.matrices(state.matrices.cells), means, strict=True):
        close(a, b)
    for f in found:
        close(f.sum(), sum(m.sum() for m in means))
    p = PositionTable.of_lengths(np.array([4, 2, 0, 150]), np.array([3, 2, 5, 7]), 5.0)
    assert p.shapes.tolist() == [[2, 2], [4, 3], [LONGEST, 7]]
    close(block(p, 4, 3), naive_mre.diagonal(4, 3, 5.0))
    counts = np.zeros_like(p.values)
    counts[p.starts[1]] = 6  # the first word of three chose the first of four, six times
    values = p.estimate(counts, 5.0, 2.0)
    expected = 2 * naive_mre.diagonal(4, 3, 5.0)[0] / 8
    expected[0] += 6 / 8
    close(values[p.starts[1] : p.starts[1] + 4], expected)
    for a, b in itertools.pairwise(p.rows()):
        close(values[a:b].sum(), 1.0)


@pytest.mark.parametrize(("given", "observed"), [(3, 3), (250, 170), (2, 9), (101, 1), (1, 400)])
def test_lengths_without_a_block_of_their_own_get_distributions(given, observed):
    p = PositionTable.of_lengths(np.array([3, 100, 100]), np.array([3, 100, 1]), 4.0)
    s = p.shape_of[min(given, LONGEST), min(observed, LONGEST)]
    assert s >= 0
    out = np.zeros((observed, given))
    columns, rows = p.shapes[s]
    kp.write_prior.py_func(p.values[p.starts[s] : p.starts[s + 1]], rows, columns, given, observed, 0.0, out)
    close(out.sum(1), np.ones(observed))
    assert out.min() > 0
    if given == observed == 3:
        close(out, naive_mre.diagonal(3, 3, 4.0))


def test_positions_of_a_long_sentence_share_what_their_bin_has():
    for n in (1, 7, 100, 101, 250, 1999):
        for size in (1, 7, 100):
            bins = [kp.scaled.py_func(x, n, size) for x in range(n)]
            assert bins == sorted(bins)
            assert 0 <= bins[0] <= bins[-1] < size
            if n >= size:
                assert set(bins) == set(range(size))
            if n == size:
                assert bins == list(range(n))
