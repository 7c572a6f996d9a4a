"""fast_align's closed forms against plain sums, and where they are not what the paper says."""

import itertools

import numpy as np
import pytest

from aligntools.aligning.models import diagonal_series, ibm1
from aligntools.aligning.models import kernels_ibm as ki
from aligntools.aligning.models import kernels_positions as kp
from aligntools.aligning.models.ibm2 import TENSION_RANGE, expect_tables, sentence_shapes, tension_step
from aligntools.aligning.models.position_tables import LONGEST, PositionTable
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.text.corpus import Side
from tests import naive, naive_mre
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


PAIRS = [(1, 1), (1, 3), (3, 1), (2, 3), (3, 2), (0, 0), (3, 3), (2, 3)]


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
    w = world(seed, PAIRS)
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
    w = world(4, PAIRS, shared=True)
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


def feature(i, j, m, n):
    return -abs(j / n - i / m)


@pytest.mark.parametrize("tension", [0.1, 1.0, 4.0, 14.0])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (3, 7), (7, 3), (5, 5)])
def test_the_prior_is_the_papers(m, n, tension):
    for i in range(1, m + 1):
        weights = [np.exp(tension * feature(i, j, m, n)) for j in range(1, n + 1)]
        found = diagonal_series.prior_as_fast_align(float(i), np.arange(1.0, n + 1), float(m), float(n), tension, 0.1)
        assert found == pytest.approx(0.9 * np.array(weights) / sum(weights), rel=1e-9)


def test_the_climb():
    """And every word linked: then the two differences from the paper make none."""
    shapes, counts = np.array([[4, 4], [9, 9]]), np.array([3, 2])
    expected = -0.1 * float((shapes[:, 1] * counts).sum())
    new, steps = diagonal_series.climb_as_fast_align(4.0, expected, shapes, counts)
    assert new == pytest.approx(tension_step(4.0, expected, 30, shapes, counts), rel=1e-9)
    assert steps[0][1] == 4.0
    assert len(steps) == 8
    shapes, counts = np.array([[2, 5], [6, 3]]), np.array([1, 1])
    new, steps = diagonal_series.climb_as_fast_align(4.0, -0.05 * 8, shapes, counts)
    slow = 0.0
    for n, m in shapes.tolist():
        for i in range(1, m + 1):
            top = sum(feature(i, j, m, n) * np.exp(4 * feature(i, j, m, n)) for j in range(1, n + 1))
            slow += top / normalizer_with_lengths_exchanged(i, n, m, 4.0)
    assert steps[0] == (pytest.approx(slow / 8, rel=1e-9), 4.0)
    assert 0.1 <= new <= 14


def normalizer_with_lengths_exchanged(i, m, n, tension):
    """As the two series sum it: where i is past the diagonal's end, the upper one goes on without end."""
    below = int(i * n / m)
    ratio = np.exp(-tension / n)
    total = np.exp(tension * feature(i, below, m, n)) * (1 - ratio**below) / (1 - ratio) if below else 0.0
    above = n - below
    if above:
        share = 1 - ratio**above if above > 0 else 1.0
        total += np.exp(tension * feature(i, below + 1, m, n)) * share / (1 - ratio)
    return total


def test_ties_are_between_like_words_as_far_from_the_diagonal():
    given = Side(np.array([5, 6, 5, 5, 6, 7], np.int32), np.array([0, 3, 6]))
    observed = Side(np.array([1, 1, 1, 1, 1, 1], np.int32), np.array([0, 3, 6]))
    links = Links(np.array([[0, 1], [2, 2], [0, 1]], np.int32), np.array([0, 2, 3]))
    found = diagonal_series.settle_ties(links, given, observed, 4.0, 0.08)
    # the middle word of three may take the first or the third of "5 6 5", by the last bit; in "5 6 7" there is no tie
    left, right = diagonal_series.prior_as_fast_align(2.0, np.array([1.0, 3.0]), 3.0, 3.0, 4.0, 0.08)
    assert found.tolist() == [[2 if right > left else 0, 1], [2, 2], [0, 1]]
