import numpy as np
import pytest

from aligntools.aligning.models import kernels_hmm as kv
from aligntools.aligning.models import kernels_jumps as kj
from aligntools.aligning.models.jumps import initial_jumps
from aligntools.aligning.text.link_matrices import plan_chunks
from aligntools.ground.parallel import Pool
from tests import naive
from tests.aligning.building import World, close, hmm_expected, jump_row, naive_jumps, random_jumps, world

TINY = [(i, j) for i in range(1, 4) for j in range(1, 4)] + [(0, 0), (4, 1), (1, 4), (2, 4), (4, 3)]
LONG = [(60, 37), (25, 60), (1, 30), (30, 1), (16, 16), (17, 15), (11, 48), (10, 10)]


def posteriors(w: World, threads=1):
    """Return both directions' posteriors [source, target] of each sentence, and the log-likelihoods."""
    (chunk,) = plan_chunks(w.source.lengths(), w.target.lengths(), 1 << 40)
    matrices = w.chunks()
    matrices.index(chunk)
    cells, other = np.zeros(chunk.n_cells, np.float32), np.zeros(chunk.n_cells, np.float32)
    matrices.fill(chunk, w.lexicon.forward, w.lexicon.default, cells)
    matrices.fill(chunk, w.lexicon.reverse, w.lexicon.default, other)
    logs = np.zeros((2, len(w.corpus)))
    with Pool(threads) as pool:
        w.hmm().posteriors(w, chunk, (cells, other), 3, pool, logs)
    return w.matrices(cells), w.matrices(other), logs


def expected(w: World):
    """Return the same from the slow version, and counts and exposures of the jumps [2, 2, JUMP_SIZE]."""
    matrices, logs = ([], []), np.zeros((2, len(w.corpus)))
    jumps = np.zeros((2, 2, kj.JUMP_SIZE))
    for k, (source, target) in enumerate(w.corpus):
        for d in (0, 1):
            if not source or not target:
                matrices[d].append(np.zeros((len(source), len(target))))
                continue
            logs[d, k], posterior, counts, exposures = naive.hmm_forward_backward(*w.direction(k, d))
            matrices[d].append(posterior if d else posterior.T)
            jumps[d] += jump_row(counts), jump_row(exposures)
    return *matrices, logs, jumps


@pytest.mark.parametrize(("seed", "shapes", "words"), [*((n, TINY, (6, 5)) for n in range(3)), (100, LONG, (40, 30))])
def test_posteriors_and_counts_as_in_plain_double_precision(seed, shapes, words):
    w = world(seed, shapes, words)
    forward, reverse, logs, jumps = expected(w)
    found = posteriors(w)
    for k in range(len(w.corpus)):
        close(found[0][k], forward[k])
        close(found[1][k], reverse[k])
    close(found[2], logs)
    # the E-step of training: log-likelihood, expected jumps, expected counts of pairs of words
    state = w.state()
    counts = [np.zeros(len(w.table.ids), np.float32) for _ in range(2)]
    loglik, jump_counts = hmm_expected(state, w.lexicon, w.jumps, counts)
    close(loglik, logs.sum(1))
    close(jump_counts, jumps, absolute=1e-5 * len(w.corpus))
    for d, matrices in enumerate((forward, reverse)):
        lexical = naive.lexical_counts(w.corpus, matrices)
        found = w.by_pair(counts[d])
        assert found.keys() == lexical.keys()
        close([found[x] for x in lexical], list(lexical.values()), absolute=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_agreement_multiplies_the_posteriors(seed):
    w = world(seed, TINY, shared=True)
    forward, reverse, logs, jumps = expected(w)
    state = w.state(joint=True)
    counts = np.zeros(len(w.table.ids), np.float32)
    loglik, jump_counts = hmm_expected(state, w.lexicon, w.jumps, [counts])
    close(loglik, logs.sum(1))
    close(jump_counts, jumps, absolute=1e-4)
    products = [naive.agreement(f, r) for f, r in zip(forward, reverse, strict=True)]
    lexical = naive.lexical_counts(w.corpus, products)
    found = w.by_pair(counts)
    close([found[x] for x in lexical], list(lexical.values()), absolute=1e-5)


def test_one_direction_leaves_the_other_alone():
    w = world(5, TINY)
    forward, reverse, logs, jumps = expected(w)
    for d, matrices in enumerate((forward, reverse)):
        counts = [np.zeros(len(w.table.ids), np.float32) for _ in range(2)]
        loglik, jump_counts = hmm_expected(w.state(directions=d + 1), w.lexicon, w.jumps, counts)
        close(loglik[d], logs[d].sum())
        close(jump_counts[d], jumps[d], absolute=1e-4)
        assert not jump_counts[1 - d].any()
        assert loglik[1 - d] == 0
        assert not counts[1 - d].any()
        close(counts[d].sum(), sum(m.sum() for m in matrices))


def test_jumps_are_counted_on_every_nth_sentence():
    w = world(7, [(3, 3), (2, 3), (3, 2), (3, 3), (1, 2)])
    parts = []
    for k in range(len(w.corpus)):
        one = world(7, [(3, 3), (2, 3), (3, 2), (3, 3), (1, 2)])
        counts = np.zeros((2, 2, kj.JUMP_SIZE))
        for d in (0, 1):
            _, _, c, e = naive.hmm_forward_backward(*one.direction(k, d))
            counts[d] = jump_row(c), jump_row(e)
        parts.append(counts)
    for stride, those in ((1, range(5)), (2, (0, 2, 4)), (3, (0, 3)), (9, (0,))):
        counts = [np.zeros(len(w.table.ids), np.float32) for _ in range(2)]
        _, found = hmm_expected(w.state(), w.lexicon, w.jumps, counts, stride)
        close(found, sum(parts[k] for k in those), absolute=1e-4)


@pytest.mark.parametrize("seed", range(2))
def test_bands_of_zeros_between_sentences_do_not_leak(seed):
    """A sentence's posteriors are its own, whatever stands beside it in the block."""
    shapes = [(3, 50), (50, 3), (17, 17), (16, 32), (1, 1), (48, 47)]
    w = world(seed, shapes, words=(30, 30))
    together = posteriors(w)
    for k in range(len(shapes)):
        alone = World(
            [w.corpus[k]],
            type(w.source)(w.source.tokens[w.source.offsets[k] : w.source.offsets[k + 1]], np.array([0, shapes[k][0]])),
            type(w.source)(w.target.tokens[w.target.offsets[k] : w.target.offsets[k + 1]], np.array([0, shapes[k][1]])),
            w.table, w.lexicon, w.s_null, w.t_null, w.jumps, w.p_null,
        )  # fmt: skip
        found = posteriors(alone)
        for d in (0, 1):
            np.testing.assert_array_equal(found[d][0], together[d][k])
        np.testing.assert_array_equal(found[2][:, 0], together[2][:, k])


@pytest.mark.parametrize("low", [0.05, 1e-14])
def test_very_long_sentences_stay_in_range(low):
    w = world(1, [(1200, 1200), (3000, 2), (2, 3000)], words=(400, 300), low=low)
    w.jumps[:] = initial_jumps()
    forward, reverse, logs = posteriors(w)
    for d, matrices in enumerate((forward, reverse)):
        assert np.isfinite(logs[d]).all()
        assert (logs[d] < 0).all()
        for m in matrices:
            assert np.isfinite(m).all()
            assert m.min() >= 0
            assert m.sum(d).max() <= 1 + 1e-3
    counts = [np.zeros(len(w.table.ids), np.float32) for _ in range(2)]
    _, jump_counts = hmm_expected(w.state(), w.lexicon, w.jumps, counts)
    assert np.isfinite(jump_counts).all()
    assert jump_counts.min() >= 0


@pytest.mark.parametrize("p_null", [0.0, 0.99])
def test_words_that_nothing_explains(p_null):
    """Emissions at the floor of single precision, and no NULL to take them, are no reason for NaN."""
    w = world(2, [(5, 7), (40, 30)], words=(9, 9), low=1e-30)
    w.lexicon.forward[:] = w.lexicon.reverse[:] = 1e-30
    w.p_null[:] = p_null
    forward, reverse, logs = posteriors(w)
    assert np.isfinite(logs).all()
    for d, matrices in enumerate((forward, reverse)):
        for m in matrices:
            assert np.isfinite(m).all()
            assert m.min() >= 0
            assert m.sum(d).max() <= 1 + 1e-3


# Viterbi


def path_probability(path, emissions, null, jumps, p_null):
    """Return the probability of a path whose null twins stand where the last real word is, or begin anywhere."""
    best = 0.0
    for begin in range(emissions.shape[1]) if path[0] < 0 else [0]:
        states, at = [], begin
        for i in path:
            at = at if i < 0 else i
            states.append((at, i >= 0))
        best = max(best, naive.hmm_path_probability(states, emissions, null, jumps, p_null))
    return best


def viterbi_by_class(emissions, null, jumps, classes, p_null):
    path = np.full(len(emissions), -9, np.int32)
    score = kv.viterbi_sentence(
        emissions.astype(np.float32), emissions.shape[1], len(emissions), jumps, np.log(jumps.astype(float) + 1e-300),
        classes, np.float32(p_null), np.asarray(null, np.float32), path,
    )  # fmt: skip
    return path.tolist(), score


def viterbi(emissions, null, jumps, p_null):
    return viterbi_by_class(emissions, null, jumps[None], np.zeros(emissions.shape[1], np.int16), p_null)


@pytest.mark.parametrize("seed", range(3))
def test_viterbi_of_long_sentences(seed):
    rng = np.random.default_rng(seed)
    jumps = random_jumps(rng)
    emissions, null = rng.uniform(0, 1, (45, 40)) ** 3, rng.uniform(0, 1, 45)
    path, score = viterbi(emissions, null, jumps[0], 0.2)
    slow = naive_jumps(jumps[0])
    close(score, naive.hmm_best_log_probability(emissions, null, slow, 0.2), 1e-5)
    close(score, np.log(path_probability(path, emissions, null, slow, 0.2)), 1e-5)


def test_viterbi_ties_go_to_the_lowest_position():
    jumps = np.full((2, kj.JUMP_SIZE), 0.1, np.float32)
    jumps[:, 2 * kj.WINDOW + 1] = 0
    assert viterbi(np.full((3, 4), 0.5), np.full(3, 0.1), jumps[0], 0.2)[0] == [0, 0, 0]
