"""TreeSums, maxima and entropies over trees, against enumeration and against central differences."""

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.ground.parallel import Pool
from aligntools.parsing.learning import treebank as module
from aligntools.parsing.settings import TreeConstraints
from aligntools.parsing.trees import inference
from aligntools.parsing.trees import kernels_trees as bits
from tests import naive_parsing as naive

KINDS = [TreeConstraints(projective, single) for projective in (True, False) for single in (True, False)]
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda k: f"{'proj' if k.projective else 'all'}-{k.single_root}")


@functools.cache
def enumerated(n, kind):
    return naive.trees(n, kind.projective, kind.single_root)


def batch(rng, lengths, scale=2.0):
    """Return scores of sentences as a list of matrices and as one flat array, with offsets."""
    matrices = [rng.normal(0, scale, (n, n + 1)) for n in lengths]
    flat = np.concatenate([m.ravel() for m in matrices]) if matrices else np.zeros(0)
    return matrices, flat, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def rows(flat, offsets):
    edges = inference.edge_offsets(offsets)
    return [
        flat[edges[s] : edges[s + 1]].reshape(n, n + 1) for s, n in enumerate(np.diff(offsets).tolist())
    ]  # fmt: skip


def test_numbers_of_trees_are_the_known_ones():
    """Over n words: n + 1 to the n - 1 trees, n to the n - 1 with one root; projective 1 3 12 55 and 1 2 7 30."""
    for n in range(1, 6):
        sizes = [len(enumerated(n, kind)) for kind in KINDS]
        known = [(1, 2, 7, 30, 143)[n - 1], (1, 3, 12, 55, 273)[n - 1], n ** (n - 1), (n + 1) ** (n - 1)]
        assert sizes == known
        for kind, size in zip(KINDS, known, strict=True):
            log_z, _ = inference.sums(np.zeros(n * (n + 1)), np.array([0, n]), kind)
            assert math.isclose(math.exp(log_z[0]), size, rel_tol=1e-13)


@kinds
@pytest.mark.parametrize("scale", [0.1, 3.0, 40.0, 400.0, 4000.0])
def test_sums_equal_enumeration(kind, scale):
    """The larger scales need log space."""
    rng = np.random.default_rng(int(scale))
    matrices, flat, offsets = batch(rng, [0, 1, 2, 3, 4, 5, 5, 4, 3, 0, 2], scale)
    function = rng.normal(0, 1, len(flat))
    z, probabilities, means, moved = inference.expectation(flat, function, offsets, kind)
    plain_z, plain = inference.sums(flat, offsets, kind)
    assert np.allclose(plain, probabilities, rtol=0, atol=1e-12)
    assert np.allclose(plain_z, z, rtol=1e-14, atol=1e-12)
    parts = zip(rows(probabilities, offsets), rows(moved, offsets), rows(function, offsets), strict=True)
    for s, (marginals, covariances, values) in enumerate(parts):
        scores = matrices[s]
        trees = enumerated(len(scores), kind)
        log_z, expected = naive.marginals(scores, trees)
        mean, slopes = naive.expected(scores, values, trees)
        assert math.isclose(z[s], log_z, rel_tol=1e-13, abs_tol=1e-12)
        assert np.allclose(marginals, expected, rtol=0, atol=1e-12)
        assert math.isclose(means[s], mean, rel_tol=0, abs_tol=1e-11)
        assert np.allclose(covariances, slopes, rtol=0, atol=1e-11)


@kinds
def test_forbidden_edges(kind):
    """Scores of -inf, in numbers that leave many, one, or no tree."""
    rng = np.random.default_rng(5)
    seen = set()
    for _ in range(60):
        n = int(rng.integers(1, 5))
        scores = rng.normal(0, 2, (n, n + 1))
        scores[rng.random(scores.shape) < rng.choice([0.2, 0.5, 0.8])] = -np.inf
        trees = [t for t in enumerated(n, kind) if naive.total(scores, t) > -math.inf]
        seen.add(min(len(trees), 2))
        offsets = np.array([0, n])
        entropy, gradient = inference.entropy(scores.ravel(), offsets, kind)
        z, probabilities = inference.sums(scores.ravel(), offsets, kind)
        heads, best = inference.best_trees(scores.ravel(), offsets, kind)
        assert np.all(np.isfinite(gradient))
        if not trees:
            assert z[0] == best[0] == -math.inf
            assert not probabilities.any()
            assert entropy[0] == 0
            assert heads.tolist() == [0] + [1] * (n - 1)
            continue
        log_z, expected = naive.marginals(scores, trees)
        assert math.isclose(z[0], log_z, rel_tol=1e-12, abs_tol=1e-12)
        assert np.allclose(probabilities, expected.ravel(), rtol=0, atol=1e-12)
        assert math.isclose(entropy[0], naive.entropy(scores, trees), abs_tol=1e-12)
        assert tuple(heads) in naive.best(scores, trees)[1]
    assert seen == {0, 1, 2}


@kinds
def test_entropies_equal_enumeration(kind):
    rng = np.random.default_rng(11)
    matrices, flat, offsets = batch(rng, [0, 1, 2, 3, 4, 5], 2.0)
    for alpha in (0.3, 0.999, 1.0, 2.0, 7.5):
        values, _ = inference.renyi_entropy(flat, alpha, offsets, kind)
        for s, scores in enumerate(matrices):
            want = naive.entropy(scores, enumerated(len(scores), kind), alpha)
            assert math.isclose(values[s], want, rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.parametrize("alpha", [0, -1, math.inf, math.nan])
def test_orders_that_are_none(alpha):
    with pytest.raises(ValueError, match="above 0"):
        inference.renyi_entropy(np.zeros(2), alpha, np.array([0, 1]), TreeConstraints())


def differences(function, x, step=1e-5):
    """Return the gradient by central differences."""
    result = np.zeros(len(x))
    for i in range(len(x)):
        moved = x.copy()
        moved[i] += step
        high = function(moved)
        moved[i] -= 2 * step
        result[i] = (high - function(moved)) / (2 * step)
    return result


@kinds
@pytest.mark.parametrize(("n", "scale"), [(3, 1.0), (6, 2.0), (7, 0.5)])
def test_gradients_equal_central_differences(kind, n, scale):
    rng = np.random.default_rng(n)
    _, flat, offsets = batch(rng, [n], scale)
    function = rng.normal(0, 1, len(flat))
    _, probabilities, _, covariances = inference.expectation(flat, function, offsets, kind)
    checks = [
        (lambda x: inference.sums(x, offsets, kind)[0][0], probabilities),
        (lambda x: inference.expectation(x, function, offsets, kind)[2][0], covariances),
        (lambda x: inference.entropy(x, offsets, kind)[0][0], inference.entropy(flat, offsets, kind)[1]),
    ]
    for alpha in (0.5, 2.0):
        checks.append((
            lambda x, alpha=alpha: inference.renyi_entropy(x, alpha, offsets, kind)[0][0],
            inference.renyi_entropy(flat, alpha, offsets, kind)[1],
        ))  # fmt: skip
    for value, gradient in checks:
        assert np.abs(gradient - differences(value, flat)).max() < 1e-8


@kinds
@given(n=st.integers(1, 5), seed=st.integers(0, 2**32 - 1), levels=st.sampled_from([2, 3, 1000]))
def test_best_trees_are_the_best(kind, n, seed, levels):
    """Small integers, so that many trees tie."""
    scores = np.random.default_rng(seed).integers(-levels, levels, (n, n + 1)).astype(float)
    heads, best = inference.best_trees(scores.ravel(), np.array([0, n]), kind)
    top, winners = naive.best(scores, enumerated(n, kind))
    assert tuple(heads) in winners
    assert best[0] == top
    again, _ = inference.best_trees(scores.ravel(), np.array([0, n]), kind)
    assert again.tolist() == heads.tolist()


@kinds
def test_large_trees_are_trees_and_close_to_the_tempered_marginals(kind):
    """At 25 words nothing can be enumerated; scaled up, the distribution is its best tree."""
    rng = np.random.default_rng(3)
    _, flat, offsets = batch(rng, [25, 40, 9, 25], 2.0)
    heads, best = inference.best_trees(flat, offsets, kind)
    sharp, probabilities = inference.sums(1000 * flat, offsets, kind)
    assert np.allclose(sharp / 1000, best, rtol=1e-3)
    edges = inference.edge_offsets(offsets)
    for s in range(4):
        tree = heads[offsets[s] : offsets[s + 1]].tolist()
        assert naive.is_tree(tree)
        assert not kind.projective or naive.is_projective(tree)
        assert not kind.single_root or tree.count(0) == 1
        marginals = probabilities[edges[s] : edges[s + 1]].reshape(len(tree), -1)
        assert np.mean(marginals[np.arange(len(tree)), tree]) > 0.9


@kinds
@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0])
def test_two_hundred_words(kind, scale):
    """Marginals of every word sum to 1, and none of them is out of range."""
    rng = np.random.default_rng(8)
    _, flat, offsets = batch(rng, [200], scale)
    entropy, gradient = inference.entropy(flat, offsets, kind)
    log_z, probabilities = inference.sums(flat, offsets, kind)
    matrix = probabilities.reshape(200, 201)
    assert np.abs(matrix.sum(axis=1) - 1).max() < 1e-9
    assert matrix.min() >= 0
    assert not kind.single_root or abs(matrix[:, 0].sum() - 1) < 1e-9
    assert np.isfinite(log_z[0])
    assert np.all(np.isfinite(gradient))
    # a constant added to all the heads of a word changes nothing: covariances with its edges sum to 0
    assert np.abs(gradient.reshape(200, 201).sum(axis=1)).max() < 1e-7
    limit = {(True, True): 1.91 * 200, (True, False): 1.91 * 200}.get(
        (kind.projective, kind.single_root), 200 * math.log(201)
    )
    assert 0 <= entropy[0] <= limit


@kinds
@pytest.mark.parametrize("scale", [3.0, 15.0, 30.0])
def test_real_space_and_log_space_agree(kind, scale):
    """At the larger scales Z is near the ends of what is safe."""
    rng = np.random.default_rng(21)
    lengths = [12, 30, 20]
    _, flat, offsets = batch(rng, lengths, scale)
    function = rng.normal(0, 1, len(flat))
    found = inference.expectation(flat, function, offsets, kind)
    edges = inference.edge_offsets(offsets)
    out = np.zeros(3), np.zeros(len(flat)), np.zeros(3), np.zeros(len(flat))
    inference._in_log_space(np.arange(3), flat, function, np.array(lengths), edges, kind, out, None)
    for fast, slow in zip(found, out, strict=True):
        assert np.allclose(fast, slow, rtol=1e-11, atol=1e-10)


def test_roots_and_scores_at_the_edges():
    """Two words that want each other: a determinant loses every digit here, elimination none."""
    scores = np.array([[-60.0, 0, 0], [-61.0, 0, 0]])
    log_z, marginals = inference.sums(scores.ravel(), np.array([0, 2]), TreeConstraints(False, False))
    p = 1 / (1 + math.exp(-1))
    assert math.isclose(log_z[0], math.log(math.exp(-60) + math.exp(-61) + math.exp(-121)), rel_tol=1e-15)
    assert np.allclose(marginals.reshape(2, 3), [[p, 0, 1 - p], [1 - p, p, 0]], rtol=0, atol=1e-14)
    scores = np.array([[1.0, 99, 3], [-np.inf, 4, 99]])
    assert inference.relative(scores.ravel(), np.array([0, 2])).tolist() == [-2, 0, 0, 0, 0, 0]
    with pytest.raises(ValueError, match="2 edges"):
        inference.sums(np.zeros(3), np.array([0, 1]), TreeConstraints())
    with pytest.raises(ValueError, match="values for"):
        inference.expectation(np.zeros(2), np.zeros(3), np.array([0, 1]), TreeConstraints())
    flat = np.random.default_rng(4).normal(0, 1, 30)
    found = [inference.sums(flat, np.array([0, 5]), kind)[0][0] for kind in KINDS]
    assert all(abs(a - b) > 1e-3 for a, b in itertools.combinations(found, 2))


@kinds
def test_threads_change_nothing(kind):
    rng = np.random.default_rng(1)
    lengths = rng.integers(0, 14, 150).tolist()
    _, flat, offsets = batch(rng, lengths, 3.0)
    flat[: len(flat) // 3] *= 200  # some of it in log space
    with Pool(5) as pool:
        several = inference.entropy(flat, offsets, kind, pool), inference.best_trees(flat, offsets, kind, pool)
    one = inference.entropy(flat, offsets, kind), inference.best_trees(flat, offsets, kind)
    for a, b in zip([*several[0], *several[1]], [*one[0], *one[1]], strict=True):
        assert a.tobytes() == b.tobytes()


def test_sentences_do_not_touch_each_other():
    """One batch gives what each sentence gives alone."""
    rng = np.random.default_rng(2)
    matrices, flat, offsets = batch(rng, [3, 0, 8, 1, 5], 2.0)
    for kind in KINDS:
        heads, _ = inference.best_trees(flat, offsets, kind)
        together = rows(inference.sums(flat, offsets, kind)[1], offsets)
        for s, scores in enumerate(matrices):
            own = np.array([0, len(scores)])
            alone = inference.sums(scores.ravel(), own, kind)[1]
            assert alone.tobytes() == together[s].tobytes()
            assert np.array_equal(
                inference.best_trees(scores.ravel(), own, kind)[0], heads[offsets[s] : offsets[s + 1]]
            )


def flat(sentences):
    offsets = np.concatenate([[0], np.cumsum([len(s) for s in sentences])]).astype(np.int64)
    return np.array([h for s in sentences for h in s], np.int32), offsets


def expected(heads):
    n, found = len(heads), 0
    if any(h < 0 or h > n for h in heads):
        return bits.NO_HEAD
    tree = naive.is_tree(heads)
    found |= 0 if tree else bits.CYCLE
    found |= bits.NO_ROOT if n and 0 not in heads else 0
    found |= bits.ROOTS if heads.count(0) > 1 else 0
    return found | (bits.CROSSING if tree and not naive.is_projective(heads) else 0)


def test_small_trees():
    every = [list(h) for n in range(5) for h in itertools.product(range(-1, n + 2), repeat=n)]
    heads, offsets = flat(every)
    assert module.inspect(heads, offsets).tolist() == [expected(h) for h in every]
    heads, offsets = flat([[3, 0, 2, 2, 3]])  # 5 under 3 spans 4, which is under 2
    lifted, _, _, changed = module.usable(heads, offsets, TreeConstraints(), crossing="lift")
    assert lifted.tolist() == [3, 0, 2, 2, 2] or lifted.tolist() == [2, 0, 2, 2, 2]
    assert naive.is_projective(lifted.tolist())
    assert changed == {"crossing edges": 1}


@st.composite
def any_tree(draw):
    n = draw(st.integers(1, 12))
    order = draw(st.permutations(range(1, n + 1)))
    heads = [0] * n
    for k, word in enumerate(order):
        heads[word - 1] = draw(st.sampled_from([0, *order[:k]])) if k else 0
    return heads


@given(sentences=st.lists(any_tree(), max_size=6))
def test_mended_trees_are_what_the_model_can_have(sentences):
    heads, offsets = flat(sentences)
    mended, keep, skipped, _ = module.usable(heads, offsets, TreeConstraints(), crossing="lift", roots="join")
    assert keep.all()
    assert not skipped
    assert not module.inspect(mended, offsets).any()
    for s, before in enumerate(sentences):
        after = mended[offsets[s] : offsets[s + 1]].tolist()
        if before.count(0) == 1 and naive.is_projective(before):
            assert after == before
    only_lifted, *_ = module.usable(heads, offsets, TreeConstraints(True, False), crossing="lift")
    for s, before in enumerate(sentences):  # lifting moves an edge to an ancestor
        after = only_lifted[offsets[s] : offsets[s + 1]].tolist()
        assert all(naive.dominates(before, h, m) for m, h in enumerate(after, 1))


def test_what_is_skipped_is_counted():
    sentences = [[0], [2, 1], [0, 0], [3, 4, 0, 3], [2, 0, -1], [], [0, 1]]
    heads, offsets = flat(sentences)
    _, keep, skipped, _ = module.usable(heads, offsets, TreeConstraints())
    assert keep.tolist() == [True, False, False, False, False, True, True]
    assert skipped == {"a word without a head": 1, "a cycle": 1, "several roots": 1, "crossing edges": 1}
    assert module.usable(heads, offsets, TreeConstraints(False, False))[1].tolist() == [
        *(True, False, True, True, False, True, True)
    ]
