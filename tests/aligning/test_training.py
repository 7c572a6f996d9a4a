import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import digamma, gammaln

import aligntools as at
from aligntools.aligning.aligner_training import train_with
from aligntools.aligning.applying.applier import Applier, decide
from aligntools.aligning.applying.kernels_decoding import JOINT
from aligntools.aligning.models import hmm, registry
from aligntools.aligning.settings import SEVERAL, SMALL, AlignerSettings
from aligntools.aligning.text.cooccurrence import build_table
from aligntools.aligning.text.link_matrices import LinkMatrices
from aligntools.aligning.training import sampling, stages
from aligntools.aligning.training.sampling import LastPass
from aligntools.aligning.training.stages import interpolate, step_text, steps_of, train
from aligntools.formats.text.corpus import Bitext, Side, Skipped
from aligntools.formats.text.text_settings import Reading
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.ground.run import Run
from aligntools.words.vocabulary import Vocabulary
from tests.aligning.building import close, world

CELLS = 1_000_000


def learn(bitext, threads=1, cells=CELLS, start=None, priors=None, **choices):
    settings = AlignerSettings(**choices).resolved(len(bitext.source.tokens))
    reports = []
    with Pool(threads) as pool:
        members = train(bitext, settings, pool, cells, reports.append, start, priors)
    return members, reports


def align(bitext, members, threads=1, cells=CELLS, **choices):
    sizes = len(bitext.source_vocabulary), len(bitext.target_vocabulary)
    settings = AlignerSettings(**choices).resolved(1)
    links, logs = [], []
    with Pool(threads) as pool:
        for p in Applier(members, settings, sizes, cells).posteriors(bitext, pool):
            links.append(decide(p, JOINT, 0.4, pool))
            logs.append(p.log_likelihood)
    return [np.concatenate([x[n] for x in links]) for n in (0, 2)] + [np.concatenate(logs, 1)]


def small(sentences):
    sides = []
    for d in (0, 1):
        words = list(dict.fromkeys(w for pair in sentences for w in pair[d].split()))
        ids = {w: i for i, w in enumerate(words, 1)}
        split = [pair[d].split() for pair in sentences]
        tokens = np.array([ids[w] for s in split for w in s], np.int32)
        sides.append((Side(tokens, np.cumsum([0, *map(len, split)]).astype(np.int64)), Vocabulary.from_words(words)))
    (s, sv), (t, tv) = sides
    return Bitext(s, t, sv, tv, Skipped())


# Objectives that must not fall


def by_stage(reports, direction):
    stages = {}
    for r in reports:
        if "log_likelihood" in r:
            stages.setdefault(r["stage"], []).append(r["log_likelihood"][direction])
    return stages


@pytest.mark.parametrize("direction", ["forward", "reverse"])
@pytest.mark.parametrize("model", ["ibm1", "ibm2", "hmm"])
def test_the_likelihood_never_falls_in_em(sample_bitext, model, direction):
    single = model == "ibm1"
    how = {"model_type": model, "ibm1_iterations": 14 if single else 2, "iterations": 14, "estimator": "em"}
    how |= {"direction": direction, "look_alike": False, "views": (0,), "optimize_tension": False}
    _, reports = learn(sample_bitext, **how)
    stages = by_stage(reports, direction == "reverse")
    assert len(stages[model]) >= 13
    for values in stages.values():
        for before, after in itertools.pairwise(values):
            assert after >= before - 1e-5 * abs(before)
    assert stages[model][-1] > stages[model][0] + 100


def divergence(counts, alpha):
    """KL(Dir(alpha + counts) || Dir(alpha))."""
    c = counts.astype(np.float64)
    total, size = c.sum(), len(c)
    return (
        gammaln(total + alpha * size)
        - gammaln(alpha * size)
        - (gammaln(c + alpha) - gammaln(alpha)).sum()
        + (c * (digamma(c + alpha) - digamma(total + alpha * size))).sum()
    )


@pytest.mark.parametrize(("model", "alpha"), [("ibm1", 0.01), ("ibm1", 0.2), ("ibm2", 0.2)])
def test_the_variational_bound_never_falls(model, alpha):
    """ln p of the expected log-parameters, less how far each word's distribution is from its prior."""
    lines = ["das haus ist klein", "das buch", "ein buch", "ein kleines haus", "das ist das buch", "ist ein haus klein"]
    others = ["the house is small", "the book", "a book", "a small house", "that is the book", "is a house small"]
    bitext = small(list(zip(lines, others, strict=True)))
    choices = {"estimator": "vb", "direction": "forward", "look_alike": False, "views": (0,), "alpha": alpha}
    choices |= {"optimize_tension": False, "p_null": 0.0}

    def after(n):
        """Counts after so many iterations, and the likelihood under the values that the last one took."""
        if model == "ibm1":
            steps = dict(model_type="ibm1", ibm1_iterations=n + 1)
        else:  # IBM 1 goes before
            steps = dict(model_type="ibm2", ibm1_iterations=1, iterations=n)
        (member,), reports = learn(bitext, **choices, **steps)
        ptr, counts = member.table.ptr, member.counts[0]
        distance = sum(divergence(counts[a:b], alpha) for a, b in itertools.pairwise(ptr) if b > a)
        return distance, [r["log_likelihood"][0] for r in reports if "log_likelihood" in r]

    distances, logs = zip(*(after(n) for n in range(12)), strict=True)
    bounds = [loglik[-1] - distance for loglik, distance in zip(logs[1:], distances, strict=False)]
    for before, now in itertools.pairwise(bounds):
        assert now >= before - 1e-5 * abs(before)
    assert bounds[-1] > bounds[0] + 0.1


# What a run consists of


def test_figures_are_reported_for_each_step(sample_bitext):
    _, reports = learn(sample_bitext, views=(0, 4), ibm1_iterations=3, iterations=4, sweeps=4)
    reports.sort(key=lambda r: r["view"])  # views take turns in the HMM
    for view, group in itertools.groupby(reports, key=lambda r: r["view"]):
        stages = [r["stage"] for r in group]
        assert stages == ["table", "ibm1", "ibm1", "hmm", "hmm", "hmm", "hmm", "sampler"], view
    assert [r["iteration"] for r in reports if "iteration" in r] == [1, 2, 3, 4, 5, 6] * 2
    assert all(r["seconds"] >= 0 for r in reports)


def test_chunks_seeds_and_shares(sample_bitext):
    choices = dict(model_type="hmm", views=(0,))
    (whole,), (parts,) = (learn(sample_bitext, cells=c, **choices)[0] for c in (CELLS, 3_000))
    np.testing.assert_allclose(parts.counts[0], whole.counts[0], rtol=2e-2, atol=1e-4)
    np.testing.assert_allclose(parts.jumps, whole.jumps, rtol=2e-3, atol=1e-6)
    one, same, other = (learn(sample_bitext, views=(4,), sweeps=6, seed=s)[0][0].sampler[0].pairs for s in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()
    whole, parts = (learn(sample_bitext, cells=c, views=(0,), sweeps=12)[0][0] for c in (CELLS, 4_000))
    assert parts.sampler[0].pairs.min() >= 0
    for d in (0, 1):
        a, b = whole.sampler[d].pairs, parts.sampler[d].pairs
        assert np.corrcoef(a, b)[0, 1] > 0.9
    (member,), _ = learn(sample_bitext, model_type="hmm", views=(0,))
    assert len(member.counts) == 1
    assert member.lexicon.reverse is member.lexicon.forward
    (member,), _ = learn(sample_bitext, model_type="hmm", views=(0,), agreement=False)
    assert len(member.counts) == 2
    assert (member.counts[0] != member.counts[1]).any()


def test_pruning_blank_pairs_and_large_texts(sample_bitext, monkeypatch):
    sentences = [("das haus", "the house"), ("ein buch", "a book"), ("das buch", "the book")]
    (plain,), _ = learn(small(sentences), model_type="hmm", views=(0,))
    (padded,), _ = learn(
        small([("", ""), *sentences[:2], ("", ""), sentences[2], ("", "")]), model_type="hmm", views=(0,)
    )
    np.testing.assert_array_equal(plain.counts[0], padded.counts[0])
    np.testing.assert_array_equal(plain.jumps, padded.jumps)
    (full,), _ = learn(sample_bitext, model_type="hmm", views=(0,))
    (pruned,), _ = learn(sample_bitext, model_type="hmm", views=(0,), prune=0.05)
    (kept,), _ = learn(sample_bitext, model_type="hmm", views=(0,), keep=1.5)
    for smaller in (pruned, kept):
        assert 0 < len(smaller.table.ids) < len(full.table.ids)
        assert smaller.table.types.tolist() == full.table.types.tolist()
        assert np.isfinite(smaller.lexicon.s_inverse).all()
    (whole,), _ = learn(sample_bitext, model_type="hmm", views=(0,))
    monkeypatch.setattr(hmm, "JUMP_SAMPLE", 1000)
    (part,), _ = learn(sample_bitext, model_type="hmm", views=(0,))
    assert (whole.jumps != part.jumps).any()
    np.testing.assert_allclose(part.jumps, whole.jumps, atol=0.12)


@pytest.mark.parametrize("model", ["ibm1", "ibm2", "hmm", "fertility"])
def test_a_corpus_of_one_word_or_none(model):
    for sentences, links in (([("", ""), ("", "")], []), ([("a", "b")], [[0, 0]])):
        members, _ = learn(small(sentences), model_type=model, views=(0,))
        pairs, probabilities, logs = align(small(sentences), members, model_type=model, views=(0,))
        assert pairs.tolist() == links
        assert ((probabilities > 0.4) & (probabilities <= 1)).all()
        assert np.isfinite(logs).all()
        assert links or not logs.any()


def test_training_goes_on_from_an_older_model():
    """What the older text showed is known on the new one, also where the new vocabulary has other numbers."""
    first = small([("das haus", "the house"), ("das buch", "the book"), ("ein buch", "a book")] * 30)
    second = small([("buch das", "the book")])
    choices = dict(model_type="hmm", views=(0,), ibm1_iterations=2, iterations=2, look_alike=False)
    old, _ = learn(first, **choices)
    kept = old[0].counts[0].copy()
    (alone,), _ = learn(second, **choices)
    (new,), _ = learn(second, start=old, **choices)
    np.testing.assert_array_equal(kept, old[0].counts[0])

    def count(member, s, t):
        v, w = member.words.s_ids[s], member.words.t_ids[t]
        row = member.table.ids[member.table.ptr[v] : member.table.ptr[v + 1]].tolist()
        return member.counts[0][member.table.ptr[v] + row.index(w)]

    assert count(new, "das", "the") > count(old[0], "das", "the")
    assert count(new, "buch", "book") > count(old[0], "buch", "book")
    assert align(second, [new], **choices)[0].tolist() == [[0, 1], [1, 0]]
    assert align(second, [alone], **choices)[0].tolist() == [[0, 0], [1, 1]]


def test_settings_that_exclude_each_other():
    assert AlignerSettings(direction="forward").resolved(10).model_type == "hmm"  # the sampler starts from both
    with pytest.raises(UsageProblem, match=r"model_type is one of ibm1, ibm2, hmm, .*, not ibm6"):
        AlignerSettings(model_type="ibm6").resolved(10)
    with pytest.raises(UsageProblem, match="fast and best exclude each other"):
        AlignerSettings(fast=True, best=True).resolved(10)
    assert not AlignerSettings(model_type="hmm", direction="reverse").resolved(10).agreement
    small_text, large = AlignerSettings().resolved(10_000), AlignerSettings().resolved(100_000_000)
    assert small_text.keep == 0 < large.keep
    assert AlignerSettings(estimator="em", model_type="hmm").resolved(100_000_000).keep == 0
    for resolved in (small_text, large):
        assert resolved.resolved(5) == resolved  # nothing is left to choose


VB = AlignerSettings()
SHAPES = [(3, 4), (0, 0), (5, 5), (1, 3), (3, 1), (6, 7), (2, 2)]


@pytest.fixture
def large(monkeypatch):
    """What is small counts as large: steps of a quarter or half of the sample text, links of the last pass."""
    monkeypatch.setattr(stages, "SMALL", 100)
    monkeypatch.setattr(sampling, "MEDIUM", 100)
    for kind in ("hmm", "fertility"):
        smaller = replace(registry.kind_of(kind), steps={"ibm1": 600, "hmm": 1200})
        monkeypatch.setitem(registry.KINDS, kind, smaller)


def f1(a, b):
    a, b = ({(k, *pair) for k, x in enumerate(run) for pair in x.links} for run in (a, b))
    return 2 * len(a & b) / (len(a) + len(b))


# Parts of a text


@pytest.mark.parametrize(("n_tokens", "expected"), [(2_000_000, (1, 1)), (4_500_000, (2, 1)), (21_000_000, (10, 5))])
def test_large_text_is_gone_over_in_steps(n_tokens, expected):
    assert (steps_of(VB, n_tokens, "ibm1"), steps_of(VB, n_tokens, "hmm")) == expected


@pytest.mark.parametrize("settings", [AlignerSettings(estimator="em"), AlignerSettings(model_type="ibm2")])
def test_what_follows_a_paper_does_not(settings):
    assert steps_of(settings, 100_000_000, "ibm1") == 1


def test_steps_take_every_sentence_once():
    w = world(1, SHAPES)
    seen = []
    for step in range(3):
        source, target = step_text(w.source, w.target, 3, step)
        assert len(source) == len(target)
        for k in range(len(source)):
            seen.append([s.tokens[s.offsets[k] : s.offsets[k + 1]].tolist() for s in (source, target)])
    assert sorted(seen) == sorted([list(s), list(t)] for s, t in w.corpus)


# Counts


def test_the_rarer_word_decides_what_a_step_weighs():
    rng = np.random.default_rng(2)
    w = world(2, SHAPES)
    part = step_text(w.source, w.target, 2, 1)
    whole = [
        np.bincount(side.tokens, minlength=n).astype(float)
        for side, n in ((w.source, w.table.n_source), (w.target, w.table.n_target))
    ]
    before, found = (rng.uniform(0, 3, len(w.table.ids)).astype(np.float32) for _ in range(2))
    expected = []
    for s in range(w.table.n_source):
        for x in range(w.table.ptr[s], w.table.ptr[s + 1]):
            t = w.table.ids[x]
            side, word = (0, s) if whole[0][s] <= whole[1][t] else (1, t)
            seen = int((part[side].tokens == word).sum())
            expected.append((stages.KEPT * before[x] + whole[side][word] * found[x]) / (seen + stages.KEPT))
    seen_words = [np.bincount(side.tokens, minlength=len(n)) for side, n in zip(part, whole, strict=True)]
    with Pool(2) as pool:
        interpolate(w.table, before, found, seen_words, whole, pool)
    assert found == pytest.approx(expected, rel=1e-5)


def test_a_word_that_a_step_does_not_have_keeps_its_counts():
    source = target = Side(np.array([1, 2], np.int32), np.array([0, 1, 2]))
    with Pool(1) as pool:
        table, counts = build_table(source, target, 3, 3, pool)
        found = np.zeros_like(counts)
        seen = np.array([0.0, 1.0, 0.0])  # of a step with the first sentence alone
        interpolate(table, counts, found, (seen, seen), (np.ones(3), np.ones(3)), pool)
    assert table.ids.tolist() == [1, 2]  # each with its own number alone
    assert found == pytest.approx([counts[0] / 2, counts[1]])


# Training


def test_steps_and_links_are_near_whole_passes(sample_bitext, request):
    whole = at.align(sample_bitext, fast=True, threads=1)
    request.getfixturevalue("large")
    in_steps = at.align(sample_bitext, fast=True, threads=1)
    assert 0.85 < f1(whole, in_steps) < 1
    model = at.train_aligner(sample_bitext, views=[5], threads=1)
    applied = list(model.align_batch(sample_bitext, threads=1))
    found = at.align(sample_bitext, views=[5], threads=2)
    assert len(found) == len(applied) == len(sample_bitext)
    assert 0.9 < f1(applied, found) < 1
    assert found.log_likelihood == pytest.approx(np.array([[a.scores[d] for a in applied] for d in (0, 1)]), rel=1e-4)
    assert found.forward_table is not None
    one, two = (at.align(sample_bitext, views=[5], threads=n) for n in (1, 2))
    assert (one.table.pairs == two.table.pairs).all()
    assert (one.probabilities == two.probabilities).all()


@pytest.mark.parametrize("options", [{"fast": True}, {"views": (5, 4)}, {"views": (5,), "model_type": "ibm2"}])
def test_other_models_are_applied(sample_bitext, large, options):
    taken = []
    links, settings = LastPass(taken.append), AlignerSettings(**options).checked()
    train_with(sample_bitext, settings, links=links, reading=Reading(), run=Run(threads=1))
    assert not links.found
    assert not taken


def test_a_large_text_is_sampled_in_chunks(sample_bitext, large, monkeypatch):
    monkeypatch.setattr(sampling, "SMALL", 100)
    monkeypatch.setattr(sampling, "CHUNK_TOKENS", 400)
    whole = at.align(sample_bitext, views=[5], threads=1)
    monkeypatch.setattr(sampling, "REMOVALS", 4)  # of the expected counts of several chunks at a time
    fewer = at.align(sample_bitext, views=[5], threads=1)
    assert len(fewer) == len(sample_bitext)
    assert 0.9 < f1(whole, fewer) < 1


def models_of(bitext, threads=1, max_cells=1_000_000, report=None, **how):
    settings = AlignerSettings(**{"model_type": "hmm", "views": (0, 3), **how}).resolved(100)
    with Pool(threads) as pool:
        return train(bitext, settings, pool, max_cells, report)


@pytest.fixture
def collected(monkeypatch):
    """The cells that expected counts are collected from, a chunk and view after another."""
    found, collect = [], LinkMatrices.collect

    def collecting(self, chunk, counts, cells):
        found.append(cells[: chunk.n_cells].copy())
        collect(self, chunk, counts, cells)

    monkeypatch.setattr(LinkMatrices, "collect", collecting)
    return found


def test_all_views_count_the_mean_of_their_posteriors(sample_bitext, collected):
    models_of(sample_bitext, iterations=1, view_agreement=False)
    own = collected[len(collected) // 2 - 1], collected[-1]  # the last iteration of each view
    collected.clear()
    models_of(sample_bitext, iterations=1, view_agreement=True)
    np.testing.assert_array_equal(*collected[-2:])
    assert not np.allclose(*own)
    close(collected[-1], (own[0] + own[1]) / 2)


@pytest.mark.parametrize("model", ["hmm", "fertility"])
def test_views_that_are_alike_agree_as_they_are(sample_bitext, model):
    """No word has a hundred letters: the two views are one."""
    together, apart = (
        models_of(sample_bitext, model_type=model, views=(100, 101), sweeps=4, view_agreement=agree)
        for agree in (True, False)
    )
    for a, b in zip(together, apart, strict=True):
        assert close(a.counts[0], b.counts[0])
        assert close(a.jumps, b.jumps)


@pytest.mark.parametrize("model", ["hmm", "fertility"])
def test_threads_and_chunks_make_no_difference(sample_bitext, model):
    how = {"model_type": model, "views": (0, 5, 3), "sweeps": 4}
    expected = models_of(sample_bitext, **how)
    for threads, cells in ((3, 1_000_000), (1, 2_000)):
        for a, b in zip(models_of(sample_bitext, threads, cells, **how), expected, strict=True):
            close(a.counts[0], b.counts[0])
            assert threads == 1 or (a.counts[0] == b.counts[0]).all()


def test_views_by_size_and_default():
    small, large, best = (
        AlignerSettings(best=wanted).resolved(n)
        for n, wanted in ((SEVERAL, False), (10 * SEVERAL, False), (10 * SEVERAL, True))
    )
    assert best == large
    assert (large.views, large.subwords, large.view_agreement) == ((5,), 0, False)
    assert len(small.views) > 1
    assert large.sweeps < small.sweeps
    assert large.prune == small.prune > AlignerSettings().resolved(SMALL).prune == 0
    small, large = AlignerSettings().resolved(SMALL), AlignerSettings().resolved(SMALL + 1)
    assert (small.threshold(4), large.threshold(4), small.threshold(1), large.threshold(1)) == (0.4, 0.45, 0.5, 0.5)
    assert AlignerSettings(prune=0.01).resolved(SMALL + 1).threshold(3) == 0.4  # a model of version 0.3

    def agree(n, **how):
        return AlignerSettings(**how).resolved(n).view_agreement

    assert agree(SEVERAL)
    assert agree(100, model_type="hmm")
    assert not agree(SEVERAL + 1, views=(0, 5))
    assert agree(SEVERAL + 1, views=(0, 5), view_agreement=True)
    assert not agree(100, views=(5,))
    assert not agree(100, agreement=False)
    assert not agree(100, model_type="ibm2", views=(0, 5))
    for how in ({"views": (5,)}, {"agreement": False, "model_type": "hmm"}, {"model_type": "ibm1", "views": (0, 5)}):
        with pytest.raises(UsageProblem, match="views agree"):
            agree(100, **how, view_agreement=True)
