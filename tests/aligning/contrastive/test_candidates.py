"""CandidateLinks against what the paper's and our definitions say, word by word, from a small model."""

import itertools
import math
from dataclasses import fields, replace

import numpy as np
import pytest

from aligntools.aligning.applying.applier import Applier
from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive.candidate_links import concatenate
from aligntools.aligning.contrastive.candidates import FEWEST, MOST, CandidateFinder, text_columns, uses_of
from aligntools.aligning.contrastive.rounds import LARGEST
from aligntools.aligning.contrastive.search import SearchSettings, search
from aligntools.aligning.contrastive.settings import ContrastiveSettings
from aligntools.aligning.contrastive.tasks import plan_of
from aligntools.aligning.model import AlignmentModel
from aligntools.aligning.models.fertility import Fertility
from aligntools.aligning.models.ibm2 import Ibm2
from aligntools.aligning.settings import AlignerSettings
from aligntools.aligning.text.look_alikes import romanized, simplify
from aligntools.aligning.training.stages import train
from aligntools.formats.text.bitext import stream_bitext
from aligntools.formats.text.corpus import pick
from aligntools.ground.parallel import Pool
from tests.aligning.contrastive.making import LOCAL, random_weights
from tests.naive_contrastive import NAMES, Pair


@pytest.fixture(scope="module", params=["fertility", "hmm"])
def model(request, sample_bitext):
    settings = AlignerSettings(model_type=request.param, views=(0, 4), sweeps=4).resolved(1)
    with Pool(1) as pool:
        members = train(sample_bitext, settings, pool, 1_000_000)
    return AlignmentModel(settings, sample_bitext.source_vocabulary, sample_bitext.target_vocabulary, members)


def posteriors(model, text):
    """Return each sentence's matrices [I, J], forward and reverse."""
    sizes = len(model.source_vocabulary), len(model.target_vocabulary)
    out = []
    with Pool(1) as pool:
        for p in Applier(model.views, model.settings, sizes).posteriors(text, pool):
            for k in range(p.k0, p.k1):
                a, b = p.cell_offsets[k - p.k0 : k - p.k0 + 2]
                n = p.source_offsets[k + 1] - p.source_offsets[k]
                out.append([x[a:b].astype(float).reshape(n, -1) if n else x[:0] for x in (p.forward, p.reverse)])
    return out


def log_odds(p):
    p = min(max(p, 1e-3), 1 - 1e-3)
    return math.log(p / (1 - p))


def spelled(word):
    return romanized(word) or simplify(word)


def dice(a, b):
    pairs = [{x + y for x, y in itertools.pairwise(w)} for w in (a, b)]
    return 1.0 if a == b else 2 * len(pairs[0] & pairs[1]) / max(len(a) + len(b) - 2, 1)


def expected_cell(mean, forward, reverse, i, j, s, t):
    n_i, n_j = mean.shape
    row = [mean[i, x] for x in range(n_j) if x != j]
    column = [mean[x, j] for x in range(n_i) if x != i]

    def at(*steps):
        return sum(mean[i + a, j + b] for a, b in steps if 0 <= i + a < n_i and 0 <= j + b < n_j)

    letters = [any(c.isalpha() for c in w) for w in (s, t)]
    return {
        "link-count": 1.0,
        "relative-position": abs((i + 1) / n_i - (j + 1) / n_j),
        "posterior": log_odds(mean[i, j]),
        "agreement": log_odds(min(forward[i, j], reverse[i, j])),
        "rivals": max(row, default=0) + max(column, default=0),
        "hardest-rival": max([*row, *column], default=0),
        "others": sum(row) + sum(column),
        "best": int(mean[i, j] > max(row, default=0)) + int(mean[i, j] > max(column, default=0)),
        "diagonal-support": at((1, 1), (-1, -1)),
        "side-support": at((1, 0), (-1, 0), (0, 1), (0, -1)),
        "wide-support": at((2, 2), (-2, -2), (2, 1), (-2, -1), (1, 2), (-1, -2)),
        "similarity": dice(spelled(s), spelled(t)),
        "same-word": float(spelled(s) == spelled(t)),
        "symbols": float(not any(letters)),
        "mismatch": float(letters[0] != letters[1]),
    }


def test_local_features_are_what_they_say(model, sample_bitext):
    text = pick(sample_bitext, np.arange(25))
    with Pool(2) as pool:
        candidates = CandidateFinder(model, pool, candidates="few").find_all(text)
    for k, (forward, reverse) in enumerate(posteriors(model, text)):
        mean = (forward + reverse) / 2
        a, b = candidates.starts[k], candidates.starts[k + 1]
        s0, t0 = text.source.offsets[k], text.target.offsets[k]
        found = list(zip(candidates.rows[a:b].tolist(), candidates.columns[a:b].tolist(), strict=True))
        ranks = [np.argsort(np.argsort(-mean, axis=d, kind="stable"), axis=d, kind="stable") for d in (0, 1)]
        assert found == [tuple(x) for x in np.argwhere((mean > 0.05) & (np.minimum(*ranks) < 4)).tolist()]
        assert candidates.expected[k] == pytest.approx(mean.sum(), rel=1e-5)
        for i in range(mean.shape[0]):
            assert candidates.s_words[s0 + i, kf.LINKED_ODDS] == pytest.approx(log_odds(reverse[i].sum()), abs=1e-3)
        for j in range(mean.shape[1]):
            assert candidates.t_words[t0 + j, kf.LINKED_ODDS] == pytest.approx(log_odds(forward[:, j].sum()), abs=1e-3)
        for c, (i, j) in enumerate(found, a):
            s, t = (
                side_vocabulary.word(int(side.tokens[at]))
                for side, side_vocabulary, at in (
                    (text.source, text.source_vocabulary, s0 + i), (text.target, text.target_vocabulary, t0 + j),
                )
            )  # fmt: skip
            values = dict(zip(NAMES, candidates.local[c].tolist(), strict=True))
            wanted = expected_cell(mean, forward, reverse, i, j, s, t)
            if len(set(itertools.pairwise(spelled(s)))) < len(spelled(s)) - 1:
                values.pop("similarity")  # pairs of letters that come twice count twice
                wanted.pop("similarity")
            assert {n: values[n] for n in wanted} == pytest.approx(wanted, abs=2e-4), (s, t)
            null = candidates.s_words[s0 + i, kf.NULL_COST], candidates.t_words[t0 + j, kf.NULL_COST]
            assert values["frequency-gap"] == pytest.approx(abs(null[0] - null[1]), abs=1e-5)
            assert values["rarity"] == pytest.approx(-sum(null), abs=1e-5)
            structural = (
                *("cross-count", "monotone-neighbours", "source-max-fertility", "many-to-many", "lonely", "coverage"),
            )
            assert not any(values[n] for n in structural)


def test_words_probabilities(model, sample_bitext):
    """Translation product, NULL costs and uses: the mean over the members, in logarithms."""
    text = pick(sample_bitext, np.arange(10))
    with Pool(1) as pool:
        candidates = CandidateFinder(model, pool).find_all(text)
    sentence = np.repeat(np.arange(10), np.diff(candidates.starts))
    for c, (k, i, j) in enumerate(zip(sentence, candidates.rows, candidates.columns, strict=True)):
        p, q = text.source.offsets[k] + i, text.target.offsets[k] + j
        logs, uses, nulls = [], [], []
        for m in model.views:
            s, t = m.words.s_map[text.source.tokens[p]], m.words.t_map[text.target.tokens[q]]
            row = m.table.ids[m.table.ptr[s] : m.table.ptr[s + 1]].tolist()
            x = m.table.ptr[s] + row.index(t)  # words of one sentence pair occur together
            f, r = m.lexicon.forward[x] * m.lexicon.s_inverse[s], m.lexicon.reverse[x] * m.lexicon.t_inverse[t]
            logs.append(math.log(max(f, 1e-7)) + math.log(max(r, 1e-7)))
            nulls.append((math.log(m.s_null[s]), math.log(m.t_null[t])))
            if isinstance(m, Fertility):
                a, b = m.sampler
                uses.append(
                    (
                        math.log((a.pairs[x] + 0.001) / (a.words[s] + 1)),
                        math.log((b.pairs[x] + 0.001) / (b.words[t] + 1)),
                    )
                )
        assert candidates.local[c, kf.TRANSLATION] == pytest.approx(np.mean(logs), abs=1e-3)
        assert candidates.s_words[p, kf.NULL_COST] == pytest.approx(np.mean(nulls, axis=0)[0], abs=1e-4)
        assert candidates.t_words[q, kf.NULL_COST] == pytest.approx(np.mean(nulls, axis=0)[1], abs=1e-4)
        if uses:
            found = candidates.local[c, [kf.FORWARD_USE, kf.REVERSE_USE]]
            np.testing.assert_allclose(found, np.mean(uses, axis=0), atol=1e-3)


def test_what_networks_see_of_words(model, sample_bitext):
    """Of each word: its sentence and spelling; how often the text has it and how often it is linked there."""
    text = pick(sample_bitext, np.arange(10))
    with Pool(1) as pool:
        candidates = CandidateFinder(model, pool).find_all(text)
    for words, side, vocabulary, n in (
        (candidates.s_words, text.source, text.source_vocabulary, 0),
        (candidates.t_words, text.target, text.target_vocabulary, 1),
    ):
        for a, b in itertools.pairwise(side.offsets.tolist()):
            sentence = side.tokens[a:b].tolist()
            for p, v in enumerate(sentence, a):
                seen = [sentence.count(v), len(vocabulary.word(v)), b - a]
                columns = [kf.REPEATS, kf.LETTERS, kf.LENGTH]
                assert words[p, columns].tolist() == pytest.approx([math.log(x) for x in seen], abs=1e-5)
                occurrences, each = [], []
                for m in model.views:
                    w = (m.words.s_map, m.words.t_map)[n][v]
                    if isinstance(m, Fertility):
                        own, other = m.sampler[n], m.sampler[1 - n]
                        rows = np.repeat(np.arange(m.table.n_source), np.diff(m.table.ptr))
                        often = other.pairs[(rows, m.table.ids)[n] == w].sum() + other.null[w]
                        links = own.words[w]
                    else:
                        links = often = 1 / (m.lexicon.s_inverse, m.lexicon.t_inverse)[n][w]
                    occurrences.append(math.log(often + 1))
                    each.append(math.log((links + 0.5) / (often + 1)))
                assert words[p, kf.OCCURRENCES] == pytest.approx(np.mean(occurrences), abs=1e-3)
                assert words[p, kf.LINKS_EACH] == pytest.approx(np.mean(each), abs=1e-3)


def test_bounds_of_words_and_candidates():
    found = text_columns(np.array([0.0, 1e9, 3.0]), np.array([1e6, 1.0, 2.0]))
    expected = [(math.log(1e6 + 1), FEWEST), (math.log(2), MOST), (math.log(3), math.log(3.5 / 3)), (0, math.log(0.5))]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    for pairs, expected in ((LARGEST, "base"), (LARGEST + 1, "few"), (None, "base")):
        assert plan_of(ContrastiveSettings(), pairs=pairs).search.candidates == expected
        assert plan_of(ContrastiveSettings(candidates="all"), pairs=pairs).search.candidates == "all"
        assert plan_of(ContrastiveSettings(start="paper"), pairs=pairs).search.candidates == "base"


def test_the_full_space_is_every_alignment(model, sample_bitext):
    """Every cell may be linked; with all that is tried extended, the lists are those of enumeration."""
    text = first_words(pick(sample_bitext, np.arange(4)), 3)
    with Pool(1) as pool:
        some = CandidateFinder(model, pool).find_all(text)
        candidates = CandidateFinder(model, pool, candidates="all").find_all(text)
    assert np.diff(candidates.starts).tolist() == [9] * 4
    assert len(some.rows) < len(candidates.rows)
    for c in range(len(some.rows)):  # what a cell is worth does not depend on which others may be linked
        k = int(np.searchsorted(some.starts, c, side="right")) - 1
        at = 9 * k + 3 * some.rows[c] + some.columns[c]
        np.testing.assert_array_equal(some.local[c], candidates.local[at])
    weights, named = random_weights(np.random.default_rng(3), 0.3)
    space = SearchSettings(beam=512, n_best=512, slack=math.inf).among("all")
    best = search(candidates, weights, np.ones(len(NAMES), bool), space)
    for k in range(4):
        pair = as_naive(candidates.part(k, k + 1))
        expected = pair.best(named, 512)
        assert best.scores[k, : best.sizes[k]].tolist() == pytest.approx([s for s, _ in expected], abs=1e-3)
        assert frozenset(best.links().tolists()[k]) == expected[0][1]


def first_words(text, n):
    sides = {}
    for name in ("source", "target"):
        side = getattr(text, name)
        tokens = np.concatenate([side.tokens[a : a + n] for a in side.offsets[:-1]])
        sides[name] = replace(side, tokens=tokens, offsets=np.arange(len(text) + 1) * n)
    return replace(text, **sides)


def as_naive(e):
    cells = list(zip(e.rows.tolist(), e.columns.tolist(), strict=True))
    values = {n: dict(zip(cells, e.local[:, NAMES.index(n)].tolist(), strict=True)) for n in LOCAL}
    words = [x[:, column].tolist() for column in (kf.NULL_COST, kf.LINKED_ODDS) for x in (e.s_words, e.t_words)]
    return Pair(len(e.s_words), len(e.t_words), values, *words, cells)


def test_chunks_and_threads_do_not_show(model, sample_bitext):
    text = pick(sample_bitext, np.arange(60))
    found = []
    for threads, cells in ((1, 10**6), (2, 10**6), (2, 900)):
        with Pool(threads) as pool:
            found.append(CandidateFinder(model, pool, cells=cells).find_all(text))
    for other in found[1:]:
        for name, value in vars(found[0]).items():
            if name == "expected":
                np.testing.assert_allclose(value, getattr(other, name))
            else:
                np.testing.assert_array_equal(value, getattr(other, name), name)


def test_unknown_words_and_blank_sides(model, tmp_path):
    """Long enough that the table is filled by word, which looks unknown words up too."""
    line = ("haus qqq und zzz " * 40).split(), ("house xxx and yyy " * 40).split()
    for n, name in enumerate(("s", "t")):
        lines = [" ".join(line[n]), "", "qqq ." if n == 0 else "xxx .", " ".join(line[n])]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    with Pool(1) as pool:
        finder = CandidateFinder(model, pool)
        (text,) = stream_bitext(
            str(tmp_path / "s"), str(tmp_path / "t"), source_vocabulary=model.source_vocabulary,
            target_vocabulary=model.target_vocabulary,
        )  # fmt: skip
        candidates = finder.find_all(text)
        alone = [finder.find_all(pick(text, np.array([k]))) for k in range(4)]
    assert np.isfinite(candidates.local).all()
    assert np.isfinite(candidates.s_words).all()
    joined = concatenate(alone)
    np.testing.assert_array_equal(joined.rows, candidates.rows)
    np.testing.assert_array_equal(joined.local, candidates.local)
    assert candidates.starts[2] - candidates.starts[1] == 0


def test_words_of_a_table_are_as_frequent_as_under_null(model):
    """Sums of a table's probabilities are 1 for every word: they say nothing of how often it occurs."""
    m = model.views[0]
    ones = [np.ones_like(x) for x in (m.lexicon.s_inverse, m.lexicon.t_inverse)]
    words = {n: getattr(m, n) for n in (one.name for one in fields(Ibm2)) if hasattr(m, n)}
    words |= {"lexicon": replace(m.lexicon, s_inverse=ones[0], t_inverse=ones[1]), "tension": np.ones(2)}
    found = uses_of(Ibm2(**words))[2][0]
    expected = np.log(m.s_null[1:-1] / m.s_null[1:-1].min() + 1)
    np.testing.assert_allclose(found[1:-1, 0], expected[: len(found) - 2], rtol=1e-4)
    assert found[-1].tolist() == pytest.approx([0, math.log(0.5)])
