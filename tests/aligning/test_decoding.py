import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.aligning.applying import kernels_decoding as kd
from aligntools.aligning.applying.applier import Posteriors, decide, joint_thresholds
from aligntools.aligning.text.link_matrices import plan_chunks
from aligntools.ground.parallel import Pool
from tests import naive
from tests.aligning.building import close

shapes = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=6)


def posteriors(matrices):
    """Make posteriors of [source, target] matrices, forward and reverse."""
    source, target = (np.array([m.shape[d] for m, _ in matrices], np.int64) for d in (0, 1))
    (chunk,) = plan_chunks(source, target, 1 << 40)
    cells = [np.concatenate([pair[d].ravel() for pair in matrices]).astype(np.float32) for d in (0, 1)]
    offsets = [np.concatenate([[0], np.cumsum(lengths)]) for lengths in (source, target)]
    return Posteriors(0, len(matrices), *offsets, chunk.cell_offsets, chunk.sentence_blocks, *cells, None)


def grid(rng, i, j, forward):
    """Posteriors from a coarse grid, exact in binary, so that ties come up; at most 1 for an observed word."""
    matrix = rng.choice([0, 0, 1 / 8, 1 / 4, 1 / 2], (i, j)).astype(np.float32)
    for row in matrix.T if forward else matrix:
        while row.sum() > 1:
            row[rng.integers(len(row))] = 0
    return matrix


def lists(pairs, offsets):
    return [list(map(tuple, pairs[a:b].tolist())) for a, b in itertools.pairwise(offsets)]


@pytest.mark.parametrize("threads", [1, 3])
@given(shapes, st.integers(0, 10**6), st.sampled_from([0.0, 0.125, 0.25, 0.3, 0.5]))
def test_every_way_of_deciding(threads, shapes, seed, threshold):
    rng = np.random.default_rng(seed)
    matrices = [(grid(rng, i, j, True), grid(rng, i, j, False)) for i, j in shapes]
    p = posteriors(matrices)
    expected = {
        kd.JOINT: [naive.jointly((f + r) / 2, threshold) for f, r in matrices],
        kd.MEAN: [naive.above((f + r) / 2, threshold) for f, r in matrices],
        kd.FORWARD: [naive.above(f, threshold) for f, _ in matrices],
        kd.REVERSE: [naive.above(r, threshold) for _, r in matrices],
        kd.FORWARD_BEST: [naive.best_links(f, True) for f, _ in matrices],
        kd.REVERSE_BEST: [naive.best_links(r, False) for _, r in matrices],
    }
    with Pool(threads) as pool:
        for way, links in expected.items():
            pairs, offsets, probabilities = decide(p, way, threshold, pool)
            assert lists(pairs, offsets) == links
            values = [
                {kd.JOINT: (f + r) / 2, kd.MEAN: (f + r) / 2, kd.FORWARD: f, kd.FORWARD_BEST: f}.get(way, r)[i, j]
                for (f, r), sentence in zip(matrices, links, strict=True)
                for i, j in sentence
            ]
            np.testing.assert_array_equal(probabilities, np.array(values, np.float32))


@pytest.mark.parametrize("threshold", [0.0, 0.5, 1.0])
def test_thresholds_of_the_joint_decision_are_ordered_probabilities(threshold):
    first, beside, apart = joint_thresholds(threshold)
    assert 0 <= beside <= first <= apart <= 1
    assert first == threshold


@pytest.mark.parametrize("forward", [True, False])
def test_mixing_adds_both_members_with_their_weights(forward):
    rng = np.random.default_rng(4)
    shapes = [(3, 4), (0, 0), (5, 2), (1, 1)]
    source, target = (np.array([s[d] for s in shapes], np.int64) for d in (0, 1))
    (chunk,) = plan_chunks(source, target, 1 << 40)
    s_offsets, t_offsets = (np.concatenate([[0], np.cumsum(x)]) for x in (source, target))
    hmm = [rng.random(s) for s in shapes]
    n = int((target if forward else source).sum())
    sizes, positions = np.zeros(n, np.int8), np.zeros((n, 8), np.int16)
    masses = rng.random((n, 8)).astype(np.float32)
    expected = [0.5 + 0.25 * m for m in hmm]
    at = 0
    for (i, j), matrix in zip(shapes, expected, strict=True):
        for o in range(j if forward else i):
            size = rng.integers(0, (i if forward else j) + 1)
            sizes[at] = size if at % 3 else -size  # those that were not sampled too
            positions[at, :size] = rng.permutation(i if forward else j)[:size]
            for x in range(size):
                cell = (positions[at, x], o) if forward else (o, positions[at, x])
                matrix[cell] += 0.75 * masses[at, x]
            at += 1
    total = np.full(chunk.n_cells, 0.5, np.float32)
    cells = np.concatenate([m.ravel() for m in hmm]).astype(np.float32)
    kd.mix_block(
        0, 4, 0, s_offsets, t_offsets, chunk.cell_offsets, total, cells, np.float32(0.25),
        forward, sizes, positions, masses, np.float32(0.75),
    )  # fmt: skip
    close(total, np.concatenate([m.ravel() for m in expected]))
