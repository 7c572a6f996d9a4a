import dataclasses
import itertools

import numpy as np
import pytest

from aligntools.aligning.models import kernels_jumps as kj
from aligntools.aligning.models import kernels_positions as kp
from aligntools.aligning.models.hmm import Hmm
from aligntools.aligning.models.jumps import jump_taps
from aligntools.aligning.models.position_tables import DIAGONAL, PositionTable
from aligntools.aligning.settings import AlignerSettings, ReconstructionSettings
from aligntools.aligning.text.kernels_pairs import Directed
from aligntools.aligning.text.link_matrices import Chunk
from aligntools.aligning.training import kernels_reconstruction as km
from aligntools.aligning.training.reconstruction import reconstruct
from aligntools.aligning.training.stages import train
from aligntools.aligning.training.train_model import warm_start
from aligntools.ground.parallel import Pool
from tests import naive_mre
from tests.aligning.building import random_jumps, side
from tests.aligning.test_training import small

SHAPES = [(1, 1), (3, 2), (2, 3), (0, 0), (3, 3), (1, 3), (3, 1), (2, 2)]
WORDS = 4, 5  # of the given and of the observed side, with NULL


@dataclasses.dataclass
class Tiny:
    """One direction's model of a few sentences, in double precision."""

    given: object
    observed: object
    corpus: list
    lexicon: np.ndarray
    null: np.ndarray
    jumps: np.ndarray
    positions: PositionTable
    tension: float
    p_null: float
    forward: bool

    def cells(self):
        """Link matrices, given words by rows when they are the source."""
        parts = [self.lexicon[np.ix_(g, o)] for g, o in self.corpus if g]
        return np.concatenate([(m if self.forward else m.T).ravel() for m in parts])

    def run(self, model):
        """Return the objective and the log-likelihood of each sentence, and gradients by parameter."""
        n = len(self.corpus)
        offsets = np.cumsum([0] + [len(g) * len(o) for g, o in self.corpus])
        cells, apart = self.cells(), np.zeros(offsets[-1])
        uses, nulls = np.zeros(len(self.given.tokens)), np.zeros((2, len(self.observed.tokens)))
        loglik, objective = np.zeros(n), np.zeros(n)
        given, observed = self.given, self.observed
        text = Directed(0, given.tokens, given.offsets, observed.tokens, observed.offsets, offsets)
        place = (0, n, text, cells, self.forward, np.ones(WORDS[0] + 1), self.null, self.p_null)
        outcome = kp.Outcome(uses, nulls, loglik, objective)
        gradients = {}
        if model == "hmm":
            jumps = np.stack([self.jumps] * 2)
            taps, back = jump_taps(jumps)
            counts = np.zeros((2, 2, kj.JUMP_SIZE))
            km.reconstruct_block(*place, kj.Jumps(jumps[:1], taps[:1], back[:1]), outcome, counts)
            (c_p, e_p), (c_q, e_q) = counts
            gradients["jumps"] = c_q - c_p - self.jumps * (e_q - e_p)
        else:
            p = self.positions if model == "table" else DIAGONAL
            values, features = p.values.astype(np.float64), np.zeros(2)
            table = kp.PositionBlocks(p.shape_of, p.shapes, p.starts, values)
            kp.positioned_block(*place, self.tension, table, True, apart, outcome, features)
            gradients["tension"] = features[0]
            if model == "table":
                found = np.zeros(len(values))
                chunk = Chunk(0, n, offsets, [(0, n)])
                p.collect(chunk, self.given, self.observed, self.forward, apart, found, Serial)
                gradients["positions"] = found
        gradients["lexicon"] = np.zeros(WORDS)
        for (g, o), at in zip(self.corpus, offsets, strict=False):
            m = cells[at : at + len(g) * len(o)].reshape((len(g), len(o)) if self.forward else (len(o), len(g)))
            np.add.at(gradients["lexicon"], np.ix_(g, o), m if self.forward else m.T)
        gradients["null"] = np.bincount(self.observed.tokens, nulls[1], len(self.null))
        self.uses, self.nulls = uses, nulls
        return objective, loglik, gradients

    def enumerated(self, model, k):
        """Return P(x | y), P(x | x, y) and posteriors under P and Q of a sentence."""
        g, o = self.corpus[k]
        if model == "hmm":
            w = kj.WINDOW
            row = self.jumps
            alignments = naive_mre.hmm_alignments(
                len(g), len(o), row[: 2 * w + 1], row[kj.TAIL], row[kj.FIRST : kj.FIRST_TAIL], row[kj.FIRST_TAIL],
                self.p_null,
            )  # fmt: skip
        else:
            prior = naive_mre.diagonal(len(g), len(o), self.tension)
            if model == "table":
                s = self.positions.shape_of[len(g), len(o)]
                prior = self.positions.values[self.positions.starts[s] :][: len(g) * len(o)]
                prior = prior.reshape(len(o), len(g)).astype(float)
                prior = prior / prior.sum(1, keepdims=True)
            alignments = naive_mre.ibm_alignments(prior, self.p_null)
        return naive_mre.reconstruction(alignments, self.lexicon[np.ix_(g, o)].T, self.null[o])


class Serial:
    """Runs what a pool would, here and now."""

    map = staticmethod(lambda function, items: [function(x) for x in items])


def tiny(seed, forward=True):
    rng = np.random.default_rng(seed)
    corpus = [
        (rng.integers(1, WORDS[0], g).tolist(), rng.integers(1, WORDS[1], o).tolist()) for g, o in SHAPES
    ]  # fmt: skip
    given, observed = side([g for g, _ in corpus]), side([o for _, o in corpus])
    positions = PositionTable.of_lengths(given.lengths(), observed.lengths(), 2.0)
    rows = positions.rows()
    for a, b in itertools.pairwise(rows):
        positions.values[a:b] = rng.dirichlet(np.ones(b - a))
    return Tiny(
        given, observed, corpus, rng.uniform(0.02, 1, WORDS), rng.uniform(0.02, 0.5, WORDS[1] + 1),
        random_jumps(rng)[0].astype(np.float64), positions, float(rng.uniform(1, 6)), float(rng.uniform(0.05, 0.4)),
        forward,
    )  # fmt: skip


@pytest.mark.parametrize("model", ["diagonal", "table", "hmm"])
@pytest.mark.parametrize("seed", range(4))
def test_objective_and_posteriors_as_enumerated(seed, model):
    t = tiny(seed, forward=seed % 2 == 0)
    objective, loglik, gradients = t.run(model)
    lexical, null = np.zeros(WORDS), np.zeros(WORDS[1] + 1)
    uses = np.zeros(len(t.given.tokens))
    for k, (g, o) in enumerate(t.corpus):
        if not g:
            assert objective[k] == loglik[k] == 0
            continue
        likelihood, reconstruction, p, q = t.enumerated(model, k)
        np.testing.assert_allclose(loglik[k], np.log(likelihood), rtol=1e-6 if model == "table" else 1e-10)
        np.testing.assert_allclose(objective[k], np.log(reconstruction), rtol=1e-6 if model == "table" else 1e-10)
        np.add.at(lexical, np.ix_(g, o), (2 * q - p).T)
        np.add.at(null, o, 2 * (1 - q.sum(1)) - (1 - p.sum(1)))
        uses[t.given.offsets[k] : t.given.offsets[k + 1]] = p.sum(0)
    np.testing.assert_allclose(gradients["lexicon"], lexical, atol=1e-6)
    np.testing.assert_allclose(gradients["null"], null, atol=1e-6)
    np.testing.assert_allclose(t.uses, uses, atol=1e-6)


def slope(t, model, array, place, width=1e-5):
    """Return ``p dL/dp`` by central differences of the objective."""
    kept = array[place]
    ends = []
    for factor in (1 + width, 1 - width):
        array[place] = kept * factor
        ends.append(t.run(model)[0].sum())
    array[place] = kept
    return (ends[0] - ends[1]) / (2 * width)


@pytest.mark.parametrize("model", ["diagonal", "table", "hmm"])
@pytest.mark.parametrize("seed", range(3))
def test_gradients_are_those_of_the_objective(seed, model):
    """To 1e-6, in double precision: the kernels are the ones that train in single precision."""
    t = tiny(10 + seed, forward=seed % 2 == 0)
    gradients = t.run(model)[2]
    for name, array in (("lexicon", t.lexicon), ("null", t.null)):
        for place in itertools.product(*(range(1, n) for n in array.shape)):
            np.testing.assert_allclose(gradients[name][place], slope(t, model, array, place), atol=1e-6, rtol=1e-6)
    if model == "hmm":
        for x in np.flatnonzero(t.jumps):
            np.testing.assert_allclose(gradients["jumps"][x], slope(t, model, t.jumps, x), atol=1e-6, rtol=1e-6)
    if model == "diagonal":
        ends = [dataclasses.replace(t, tension=t.tension + x).run(model)[0].sum() for x in (1e-5, -1e-5)]
        np.testing.assert_allclose(gradients["tension"], (ends[0] - ends[1]) / 2e-5, atol=1e-6, rtol=1e-6)
    if model == "table":
        # rows are scaled to sum to 1, so that what all of a row gains alike does not count
        t.positions.values = t.positions.values.astype(np.float64)
        rows = t.positions.rows()
        gradients = t.run(model)[2]["positions"]
        for a, b in itertools.pairwise(rows):
            share = t.positions.values[a:b] / t.positions.values[a:b].sum()
            expected = gradients[a:b] - share * gradients[a:b].sum()
            found = [slope(t, model, t.positions.values, x) for x in range(a, b)]
            np.testing.assert_allclose(expected, found, atol=1e-6, rtol=1e-6)


def climb(bitext, iterations=12, threads=1, cells=1_000_000, how=None, **choices):
    """Train, then reconstruct; return the start, what was reached, the settings and the reports."""
    settings = AlignerSettings(**{"views": (0,), "estimator": "em", "agreement": False, **choices}).resolved(1)
    reports, how = [], how or ReconstructionSettings(iterations)
    with Pool(threads) as pool:
        start = train(bitext, settings, pool, cells, position_smoothing=how.mre_position_smoothing)
        reached, after = reconstruct(bitext, list(start), settings, pool, cells, how, reports.append)
    return start, reached, after, reports


ALL = dict(mre_positions=True, mre_null=True)
KINDS = {
    "hmm": (dict(model_type="hmm"), {}),
    "hmm all": (dict(model_type="hmm"), dict(mre_smoothing=0.0, **ALL)),
    "hmm joint": (dict(model_type="hmm", estimator="vb", agreement=True), {}),
    "diagonal": (dict(model_type="ibm2"), dict(mre_smoothing=3.0, **ALL)),
    "table": (dict(model_type="ibm2", positions="table"), dict(mre_smoothing=3.0, **ALL)),
    "reverse": (dict(model_type="ibm2", direction="reverse"), {}),
    "paper": (
        dict(model_type="ibm2", positions="table", tension=0.0),
        dict(mre_smoothing=0.0, mre_position_smoothing=0.0, **ALL),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_objective_never_falls(sample_bitext, kind):
    choices, how = KINDS[kind]
    _, (member,), settings, reports = climb(sample_bitext, how=ReconstructionSettings(12, **how), **choices)
    assert [r["iteration"] for r in reports] == list(range(13))
    objectives = np.array([r["objective"] for r in reports])
    for d in (0, 1):
        if choices.get("direction") == "reverse" and d == 0:
            assert not objectives[:, d].any()
            continue
        assert (np.diff(objectives[:, d]) >= 0).all()
        assert objectives[-1, d] > objectives[0, d] + 50
        if how.get("smoothing") == 0 and "positions" in how:
            np.testing.assert_array_equal(objectives, [r["reconstruction"] for r in reports])
    assert (settings.estimator, settings.agreement, settings.look_alike) == ("em", False, False)
    # every distribution is still one
    table, lexicon = member.table, member.lexicon
    rows = table.row_sums(lexicon.forward) * lexicon.s_inverse[:-1]
    columns = table.column_sums(lexicon.reverse) * lexicon.t_inverse[:-1]
    for sums, trained in ((rows, choices.get("direction") != "reverse"), (columns, True)):
        if trained:
            np.testing.assert_allclose(sums[sums > 0.5], 1, atol=1e-3)
            assert (sums[1:] > 0.99).mean() > 0.99
    for p in getattr(member, "positions", []):
        np.testing.assert_allclose(np.add.reduceat(p.values, p.rows()[:-1]), 1, atol=1e-4)


@pytest.mark.parametrize("kind", ["hmm all", "paper"])
def test_what_is_climbed_is_the_papers_objective(kind):
    """Of whole models, equation 24: by enumeration with the start's own parameters, without any prior."""
    choices, how = KINDS[kind]
    corpus = [("das haus", "the house"), ("das buch", "the book"), ("ein buch ist da", "a book is here")]
    (start,), _, _, reports = climb(small(corpus), how=ReconstructionSettings(0, **how), **choices)
    dense = np.zeros((2, start.table.n_source, start.table.n_target))
    rows = np.repeat(np.arange(start.table.n_source), np.diff(start.table.ptr))
    dense[0, rows, start.table.ids], dense[1, rows, start.table.ids] = start.lexicon.forward, start.lexicon.reverse
    dense[0] /= np.maximum(dense[0].sum(1, keepdims=True), 1e-30)
    dense[1] /= np.maximum(dense[1].sum(0), 1e-30)
    wanted = np.zeros((2, 2))
    w = kj.WINDOW
    for source, target in corpus:
        s = [start.words.s_ids[word] for word in source.split()]
        t = [start.words.t_ids[word] for word in target.split()]
        for d, (given, observed) in enumerate(((s, t), (t, s))):
            emissions = dense[d][np.ix_(s, t)]
            null = (start.t_null, start.s_null)[d]
            null = null.astype(float) / null[1:-1].sum()
            shape, p_null = (len(given), len(observed)), float(start.p_null[d])
            if isinstance(start, Hmm):
                j = start.jumps[d].astype(float)
                alignments = naive_mre.hmm_alignments(
                    *shape, j[: 2 * w + 1], j[kj.TAIL], j[kj.FIRST : kj.FIRST_TAIL], j[kj.FIRST_TAIL], p_null
                )
            else:
                p = start.positions[d]
                n = p.shapes.tolist().index(list(shape))
                prior = p.values[p.starts[n] : p.starts[n + 1]].reshape(shape[::-1]).astype(float)
                alignments = naive_mre.ibm_alignments(prior, p_null)
            found = naive_mre.reconstruction(alignments, emissions if d else emissions.T, null[observed])
            wanted[:, d] += np.log(found[:2])
    np.testing.assert_allclose(reports[0]["log_likelihood"], wanted[0], rtol=1e-4)
    np.testing.assert_allclose(reports[0]["reconstruction"], wanted[1], rtol=1e-4)
    assert reports[0]["objective"] == reports[0]["reconstruction"]


def test_what_is_held_stays(sample_bitext):
    (before,), (after,), *_ = climb(sample_bitext, 4, model_type="hmm")
    np.testing.assert_allclose(
        after.jumps[0, : kj.FIRST], before.jumps[0, : kj.FIRST] / before.jumps[0, : kj.FIRST].sum()
    )
    np.testing.assert_array_equal(after.t_null, before.t_null)
    _, (moved,), *_ = climb(
        sample_bitext, how=ReconstructionSettings(4, mre_positions=True, mre_null=True), model_type="hmm"
    )
    assert np.abs(moved.jumps - after.jumps).max() > 1e-3
    assert np.abs(moved.t_null - after.t_null).max() > 1e-4


def moved_by(member):
    """Return what a model knows of positions."""
    return member.jumps if isinstance(member, Hmm) else np.concatenate([p.values for p in member.positions])


@pytest.mark.parametrize("kind", ["hmm", "table"])
def test_threads_do_not_show(sample_bitext, kind):
    choices, how = KINDS[kind]
    results = []
    for threads in (1, 3):
        _, (member,), _, reports = climb(sample_bitext, 3, threads, 20_000, ReconstructionSettings(3, **how), **choices)
        results.append(([r["objective"] for r in reports], [*member.counts, moved_by(member), member.t_null]))
    assert results[0][0] == results[1][0]
    for a, b in zip(results[0][1], results[1][1], strict=True):
        np.testing.assert_array_equal(a, b)


def test_an_adopted_model_is_the_one_it_was(sample_bitext):
    """On its own text an older model's probabilities are the start; other words begin alike."""
    settings = AlignerSettings(model_type="hmm", views=(0,), estimator="em", agreement=False).resolved(1)
    with Pool(1) as pool:
        (old,) = train(sample_bitext, settings, pool, 1_000_000)
        (new,) = warm_start(sample_bitext, [old], settings, pool)
    np.testing.assert_array_equal(new.lexicon.forward, old.lexicon.forward)
    np.testing.assert_array_equal(new.lexicon.reverse, old.lexicon.reverse)
    np.testing.assert_array_equal(new.t_null, old.t_null)
    np.testing.assert_array_equal(new.table.ids, old.table.ids)


@pytest.mark.parametrize("model", ["ibm2", "hmm"])
@pytest.mark.parametrize("sentences", [[("", ""), ("", "")], [("a", "b")], [("a", "b"), ("", "")]])
def test_corpora_of_next_to_nothing(model, sentences):
    _, (member,), _, reports = climb(small(sentences), 3, model_type=model)
    assert np.isfinite([r["objective"] for r in reports]).all()
    assert np.isfinite(member.lexicon.forward).all()


@pytest.mark.slow
def test_very_long_sentences_stay_in_range():
    rng = np.random.default_rng(0)
    words = [" ".join(f"w{x}" for x in rng.integers(0, 200, 1500)) for _ in range(2)]
    for model in ("ibm2", "hmm"):
        _, (member,), _, reports = climb(small([tuple(words)]), 2, model_type=model)
        assert np.isfinite([r["objective"] for r in reports]).all()
        assert np.isfinite(member.counts[0]).all()
