"""IBM 3 and IBM 4: one alignment, its neighbours and what is counted over them, as enumerated."""

from functools import cache

import numpy as np
import pytest

from aligntools.aligning.models import kernels_cepts as kc
from aligntools.aligning.models.cepts import CeptTotals, distributions, fertilities
from aligntools.aligning.models.ibm3 import Ibm3
from aligntools.aligning.models.ibm4 import Ibm4, head_distances, other_distances
from aligntools.aligning.models.position_tables import PositionTable
from aligntools.aligning.text.link_matrices import plan_chunks
from aligntools.ground.parallel import Pool
from tests.aligning.building import close, random_jumps, world
from tests.naive_cepts import Sentence

SHAPES = [(1, 1), (2, 2), (3, 2), (2, 3), (3, 4), (4, 4), (3, 5), (1, 3), (4, 3), (0, 0), (2, 5), (4, 5)]
LONG = [(30, 25), (12, 40), (45, 10), (50, 50)]
CLASSES = 3
BOTH = pytest.mark.parametrize("kind", [Ibm3, Ibm4])


def shares(rng, *shape):
    found = rng.uniform(0.05, 1, shape)
    return (found / found.sum(-1, keepdims=True)).astype(np.float32)


@cache
def built(kind, seed, shapes=tuple(SHAPES), pegs=False):
    w, rng = world(seed, shapes, low=0.01), np.random.default_rng(seed)
    n_s, n_t = len(w.s_null) - 1, len(w.t_null) - 1
    own = {
        "jumps": random_jumps(rng),
        "fertility": tuple(shares(rng, n + 1, kc.FERTILITIES) for n in (n_s, n_t)),
        "p1": rng.uniform(0.05, 0.3, 2),
        "pegs": pegs,
    }
    if kind is Ibm3:
        lengths = w.target.lengths(), w.source.lengths()
        tables = [PositionTable.of_lengths(*which, 1.0) for which in (lengths, lengths[::-1])]
        for table in tables:
            for begin, end in zip(table.rows()[:-1], table.rows()[1:], strict=True):
                table.values[begin:end] = shares(rng, end - begin)
        own["positions"] = tables
    else:
        own["word_classes"] = tuple(rng.integers(0, CLASSES, n + 1).astype(np.int32) for n in (n_s, n_t))
        own["heads"] = tuple(shares(rng, CLASSES, CLASSES, kc.DISTANCES) for _ in (0, 1))
        own["others"] = tuple(shares(rng, CLASSES, kc.DISTANCES) for _ in (0, 1))
    return w, kind(**w.fields(), **own)


def sentence(w, model, k, d):
    """Return a sentence in one direction as the slow version takes it."""
    emissions, null, *_ = w.direction(k, d)
    words = w.corpus[k] if d == 0 else w.corpus[k][::-1]
    translation = np.concatenate([np.array(null)[:, None], emissions], axis=1)
    about = {"translation": translation, "fertility": model.fertility[d][words[0]], "p1": float(model.p1[d])}
    if isinstance(model, Ibm3):
        table, shape = model.positions[d], (len(words[0]), len(words[1]))
        (at,) = np.flatnonzero((table.shapes == shape[::-1]).all(1))
        return Sentence(**about, position=table.values[table.starts[at] : table.starts[at + 1]].reshape(shape))
    given, observed = (model.word_classes[d], model.word_classes[1 - d])
    return Sentence(
        **about,
        head=lambda a, b, x: float(model.heads[d][a, b, x + kc.FARTHEST]),
        other=lambda b, x: float(model.others[d][b, x + kc.FARTHEST]),
        given_classes=given[words[0]].tolist(),
        observed_classes=observed[words[1]].tolist(),
    )


def run(w, model, threads=1, **how):
    """Return what a model makes of the link matrices, forward and reverse, the log-likelihoods, and the counts."""
    (chunk,) = plan_chunks(w.source.lengths(), w.target.lengths(), 1 << 40)
    matrices = w.chunks()
    matrices.index(chunk)
    cells, other = np.zeros(chunk.n_cells, np.float32), np.zeros(chunk.n_cells, np.float32)
    matrices.fill(chunk, w.lexicon.forward, w.lexicon.default, cells)
    matrices.fill(chunk, w.lexicon.reverse, w.lexicon.default, other)
    logs = np.zeros((2, len(w.corpus)))
    sizes = [len(x) - 1 for x in model.fertility]
    none = [tuple(np.zeros(x.shape) for x in model.distances(d)) for d in (0, 1)]
    counted = CeptTotals([np.zeros((n, kc.FERTILITIES)) for n in sizes], np.zeros((2, 2)), none, [])
    with Pool(threads) as pool:
        model.run(w, chunk, (cells, other), 3, pool, logs, counted=counted, **how)
    return w.matrices(cells), [m.T for m in w.matrices(other)], logs, counted


def climbed(w, model):
    found = run(w, model, paths=True)[:2]
    return [[[int(c.argmax()) + 1 if c.any() else 0 for c in matrix.T] for matrix in one] for one in found]


@BOTH
def test_a_pair_with_a_huge_neighbourhood_keeps_the_posteriors_of_the_hmm(kind):
    w, model = built(kind, 3, ((1, 600), (3, 4)))
    found, of_hmm = run(w, model)[0], run(w, model, climbs=False)[0]
    assert np.array_equal(found[0], of_hmm[0])
    assert not np.array_equal(found[1], of_hmm[1])


@BOTH
@pytest.mark.parametrize("seed", range(4))
def test_neighbourhoods_as_enumerated(kind, seed):
    """Posteriors, likelihoods and all counts, over the neighbours of the alignment that is climbed to."""
    w, model = built(kind, seed)
    forward, reverse, logs, counted = run(w, model)
    alignments = climbed(w, model)
    for d, matrices in enumerate((forward, reverse)):
        fertility, nulls = np.zeros_like(counted.fertility[d]), np.zeros(2)
        distances = tuple(np.zeros_like(x) for x in counted.distances[d])
        for k, (source, target) in enumerate(w.corpus):
            if not source:
                continue
            slow, given = sentence(w, model, k, d), (source, target)[d]
            total, pairs, found, null, apart = slow.expectations(alignments[d][k])
            close(logs[d, k], np.log(total))
            expected = [[pairs[j, i + 1] for j in range(slow.m)] for i in range(slow.l)]
            close(matrices[k], expected, absolute=2e-5)
            nulls += null, slow.m - 2 * null
            for (g, n), p in found.items():
                fertility[given[g], n] += p
            for (before, observed, x), p in apart.items():
                where = distances[1][observed] if before is None else distances[0][before, observed]
                where[x + kc.FARTHEST] += p
        close(counted.fertility[d], fertility, absolute=1e-4)
        close(counted.nulls[d], nulls, absolute=1e-4)
        if kind is Ibm4:
            close(counted.distances[d][0], distances[0], absolute=1e-4)
            close(counted.distances[d][1], distances[1], absolute=1e-4)


@BOTH
def test_no_move_and_no_swap_improves_what_is_climbed_to(kind):
    """It is the best of all alignments of most short sentences, and of more with pegging."""
    best = {}
    for pegs in (False, True):
        reached = []
        for seed in range(4):
            w, model = built(kind, seed, pegs=pegs)
            for d, alignments in enumerate(climbed(w, model)):
                for k, links in enumerate(alignments):
                    if not links:
                        continue
                    slow = sentence(w, model, k, d)
                    p = slow.probability(links)
                    assert p >= max(map(slow.probability, slow.neighbours(links))) * (1 - 1e-4)
                    reached.append(p >= max(map(slow.probability, slow.all())) * (1 - 1e-4))
        best[pegs] = np.mean(reached)
    assert best[False] > 0.7
    assert best[True] > best[False]


@BOTH
@pytest.mark.parametrize("shape", [(3, 4), (5, 6)])
def test_scores_of_moves_and_swaps_are_ratios_of_probabilities(kind, shape):
    """Of any alignment, whether it was climbed to or not."""
    w, model = built(kind, 9, (shape,))
    slow, tables, relative = sentence(w, model, 0, 0), model.tables[0], kind.RELATIVE
    n, m = slow.l, slow.m
    scores = np.log(slow.translation.astype(np.float32))
    if not relative:
        scores[:, 1:] += np.log(slow.position.T)
    i, f = np.zeros((9, 20), np.int32), np.zeros((5, 20))
    cepts = kc.Cepts(*i[:7], *f, *i[7:])
    cepts.given[1 : n + 1], cepts.observed[1 : m + 1] = slow.given_classes or 0, slow.observed_classes or 0
    given = np.array(w.corpus[0][0], np.int32)
    none = np.zeros(1, np.int32), np.zeros(1, np.float32), np.zeros(1, np.float32), np.zeros(1), np.zeros(1)
    counts = kc.CeptCounts(*none, np.zeros((1, 1, 1)), np.zeros((1, 1)))
    rng, low = np.random.default_rng(1), -200.0
    for _ in range(30):
        links = rng.integers(0, n + 1, m).tolist()
        if links.count(0) * 2 > m:
            continue
        cepts.links[:m] = links
        kc.gather_cepts(cepts, n, m)
        kc.refresh(cepts, n, m, given, tables, relative)
        for o in range(m):
            for x in range(n + m - o):
                changed = list(links)
                if x <= n:
                    changed[o] = x
                else:
                    p = o + x - n
                    changed[o], changed[p] = links[p], links[o]
                after = slow.probability(changed)
                if changed == links or after == 0:
                    continue
                found = kc.change_score(cepts, scores, n, o, x, low, tables, relative, counts)
                close(found, np.log(after / slow.probability(links)), 1e-4, 1e-4)


@BOTH
def test_long_sentences_and_words_that_nothing_allows_stay_in_range(kind):
    """One word for fifty, of which it can have nine, and NULL half."""
    w, model = built(kind, 5, (*LONG, (1, 50), (50, 1), (300, 2)))
    forward, reverse, logs, _ = run(w, model)
    assert np.isfinite(logs).all()
    for matrices in (forward, reverse):
        for m in matrices:
            assert np.isfinite(m).all()
            assert m.min() >= 0
            assert m.sum(0).max() <= 1 + 1e-3


@BOTH
def test_at_first_the_links_of_the_hmm_are_counted(kind):
    w, model = built(kind, 2)
    *matrices, _, counted = run(w, model, climbs=False)
    for d in (0, 1):
        words = sum(len(s[d]) for s in w.corpus if s[0])
        assert counted.fertility[d].sum() == words
        links = (counted.fertility[d] * np.arange(kc.FERTILITIES)).sum()
        assert links + counted.nulls[d, 0] == sum(len(s[1 - d]) for s in w.corpus if s[0])
        best = [int((m.max(0) >= 1 - m.sum(0)).sum()) for m in matrices[d] if m.size]
        assert links == sum(best)
        if kind is Ibm4:
            assert counted.distances[d][0].sum() + counted.distances[d][1].sum() == links


def test_estimates_are_distributions_with_priors():
    rng = np.random.default_rng(1)
    counts = rng.uniform(0, 9, (4, kc.FERTILITIES))
    found = fertilities(counts)
    close(found.sum(1), 1)
    close(found[-1], (counts.sum(0) + 0.1) / (counts.sum() + 1), 1e-5)  # words that are not known are as all words
    close(distributions(np.array([3.0, 1.0])), [0.75, 0.25])
    ends = np.where(np.isin(np.arange(kc.DISTANCES), (0, kc.DISTANCES - 1)), kc.FARTHEST, 1)
    heads = rng.uniform(0, 5, (2, 3, kc.DISTANCES))
    close((head_distances(heads) * ends).sum(-1), 1)
    close((other_distances(heads[0]) * ends).sum(-1), 1)
