"""What all metrics have in common: signatures, intervals, paired tests, tables and JSON."""

import dataclasses
import hashlib
import importlib.util
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools import __version__
from aligntools.formats.annotation.tagged_text import Tokens
from aligntools.formats.links.goldlinks import Gold, read_gold
from aligntools.formats.links.ladder import SentenceGroup
from aligntools.formats.links.pharaoh import Links
from aligntools.ground.errors import UsageProblem
from aligntools.metrics import aer, base, report
from aligntools.metrics.aer import AerScore
from aligntools.metrics.attachment import DependencyTrees, TreeScore
from aligntools.metrics.bleu import BleuScore, Segments
from aligntools.metrics.sentence_groups import LadderScore
from aligntools.metrics.settings import AlignmentScoring, TranslationScoring, TreeScoring
from aligntools.metrics.tags import TagScore
from tests.places import REALDATA

#: What the metrics said of the corpus of `everything` at each version: a digest of counts and figures. If this test
#: fails, figures have changed: move the version, so that signatures tell, and add a line.
RECORDED = {"0.2.0": "ea72e8fcf624dcbb", "0.3.0": "ea72e8fcf624dcbb", "1.0.0": "ea72e8fcf624dcbb"}


def tagging(rng, n, words=None, quality=1.0):
    """Return sentences of 1 to 20 words; tags differ from ``words``' in a share of them."""
    if words is None:
        offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 20, n))])
        tags = [b"NVDA"[k : k + 1] for k in rng.integers(0, 4, offsets[-1])]
        return Tokens([b"w"] * len(tags), offsets, tags, np.arange(1, n + 1), "tagged")
    right = rng.random(len(words.tags)) < quality
    return dataclasses.replace(words, tags=[t if r else b"V" for t, r in zip(words.tags, right, strict=True)])


@pytest.fixture
def systems():
    """Return a gold tagging, and a better and a worse one."""
    rng = np.random.default_rng(4)
    gold = tagging(rng, 300)
    return gold, tagging(rng, 300, gold, 0.9), tagging(rng, 300, gold, 0.8)


def test_the_interval_is_that_of_many_draws(systems):
    score = TagScore.of(*systems[:2])
    low, high = score.interval(2000)
    assert score.interval(2000) == (low, high)
    assert score.interval(2000, seed=2) != (low, high)
    right, words = score.counts.T
    residual = right - score.accuracy * words  # the delta method's standard error of a ratio
    error = np.sqrt(np.sum(residual**2)) / words.sum()
    assert low == pytest.approx(score.accuracy - 1.96 * error, abs=error / 4)
    assert high == pytest.approx(score.accuracy + 1.96 * error, abs=error / 4)
    inner = score.interval(2000, level=0.5)
    assert low < inner[0] < score.accuracy < inner[1] < high


def test_intervals_and_p_values():
    links = Links.from_lists([[(0, 0), (1, 1)]] * 20)
    gold = Gold(Links.from_lists([[(0, 0)]] * 20), Links.from_lists([[(0, 0)]] * 20), "pharaoh", 0)
    score = AerScore.of(gold, links)
    assert score.interval(50) == pytest.approx((score.aer, score.aer))
    one, other = (ShareScore.of(c) for c in ([[3, 4], [3, 4], [4, 4]], [[1, 4], [2, 4], [3, 4]]))
    assert one.minus(other, 20_000).p_value == pytest.approx(2 / 8, abs=0.01)
    rng = np.random.default_rng(5)
    words = rng.integers(5, 15, 8)
    a, b = (np.stack([rng.binomial(words, 0.7), words], axis=1) for _ in range(2))
    observed = abs(ShareScore.of(a).share - ShareScore.of(b).share)
    extreme = 0
    for mask in range(256):
        swap = np.array([[mask >> k & 1] for k in range(8)])
        x, y = (ShareScore.of(np.where(s, b, a)) for s in (swap, 1 - swap))
        extreme += abs(x.share - y.share) >= observed - 1e-12
    found = ShareScore.of(a).minus(ShareScore.of(b), 4000)
    assert found.p_value == pytest.approx(extreme / 256, abs=0.03)


def test_comparison(systems):
    gold, good, bad = systems
    one, other = (TagScore.of(gold, text) for text in (good, bad))
    better = one.minus(other, 500)
    assert better.value == pytest.approx(one.accuracy - other.accuracy)
    assert 0 < better.interval[0] < better.value < better.interval[1]
    assert better.p_value == 1 / 501
    back = other.minus(one, 500)
    assert (back.value, back.p_value) == (-better.value, better.p_value)
    assert back.interval == pytest.approx((-better.interval[1], -better.interval[0]))
    same = one.minus(one, 100)
    assert (same.value, same.interval, same.p_value) == (0, (0, 0), 1)
    with pytest.raises(ValueError, match="300 sentences by tags and 10 sentences by tags"):
        one.minus(TagScore.of(*[tagging(np.random.default_rng(1), 10)] * 2))


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class ShareScore(base.Score):
    """A metric of given counts."""

    NAME, HEADLINE, TITLE, SYSTEM = "share", "share", "share", "system"
    LABELS = ("right", "words")
    share: float

    @classmethod
    def of(cls, counts):
        counts = np.asarray(counts)
        share = float(counts[:, 0].sum() / counts[:, 1].sum())
        return cls.signed({"nsent": len(counts)}, counts=counts, share=share)

    def figures(self, totals):
        return base.divide(totals[..., :1], totals[..., 1:])

    def cells(self, verbose=False):
        return {"share": base.percent(self.share)}


def test_a_new_metric_gets_table_and_json():
    scores = [ShareScore.of([[k, 4], [2, 4]]) for k in (1, 4)]
    shown = report.compare_scores(scores, ["a", "bb"], bootstrap=20)
    lines = str(shown).splitlines()
    assert lines[0].split() == ["system", "share", "95%", "interval"]
    assert lines[1].split()[:2] == ["a", "37.50"]
    assert lines[3].startswith("bb minus a: share +37.50 (95% +0.00 to ")
    assert lines[4] == f"signature: metric:share|nsent:2|bootstrap:20|seed:1|version:{__version__}"
    held = json.loads(shown.json())
    assert held["settings"] == {"metric": "share", "nsent": 2, "bootstrap": 20, "seed": 1, "version": __version__}
    assert held["results"][1]["share"] == 0.75
    assert held["results"][1]["difference"]["share"] == 0.375
    assert held["results"][0]["share_interval"] == list(shown.intervals[0])
    assert shown.details() == "a: right 3, words 8\nbb: right 6, words 8\n"
    bare = report.compare_scores(scores, paired=False, bootstrap=0)
    assert (bare.names, bare.intervals, bare.differences) == (("1", "2"), (), ())
    assert str(bare).splitlines()[0].split() == ["system", "share"]
    assert str(bare.signature) == f"metric:share|nsent:2|version:{__version__}"
    tested = report.compare_scores(scores, bootstrap=0, seed=3)
    assert tested.differences[1] == scores[1].minus(scores[0], 1000, 3)
    assert "bootstrap:0|seed:3" in str(tested)


def test_signatures_and_what_cannot_be_compared(systems):
    tags, share = TagScore.of(*systems[:2]), ShareScore.of([[1, 2]])
    for scores in ([], [tags, share], [share, ShareScore.of([[1, 2]] * 2)]):
        with pytest.raises(UsageProblem):
            report.compare_scores(scores)
    with pytest.raises(UsageProblem, match="1 names for 2 scores"):
        report.compare_scores([share, share], ["a"])
    scores = [ShareScore.of([[1, 2]]) for _ in range(2)]
    other = dataclasses.replace(scores[1], signature=base.Signature({"metric": "share", "nsent": 1, "train": "3types"}))
    assert str(report.compare_scores([scores[0], other], bootstrap=0, paired=False).signature) == (
        f"metric:share|nsent:1|train:3types|version:{__version__}"
    )
    other = dataclasses.replace(scores[1], signature=base.Signature({"metric": "share", "nsent": 2}))
    assert "nsent:1,2|" in str(report.compare_scores([scores[0], other]).signature)
    digest = hashlib.sha256()
    for score in everything():
        figures = json.loads(json.dumps(score.as_dict()), parse_float=lambda x: f"{float(x):.9g}")
        digest.update(json.dumps([score.totals, figures], sort_keys=True).encode())
    assert digest.hexdigest()[:16] == RECORDED.get(__version__)


def everything():
    """Yield the scores of a random corpus by every metric, in several ways."""
    rng = np.random.default_rng(0)

    def links():
        return Links.from_lists([[(i, j) for i, j in rng.integers(0, 6, (n, 2))] for n in rng.integers(0, 9, 40)])

    sure, other = links(), links()
    both = [set(a) | set(b) for a, b in zip(sure.tolists(), other.tolists(), strict=True)]
    for settings in ({}, {"all_sure": True}, {"ignore_possible": True}, {"reverse": True}):
        yield AerScore.of(Gold(sure, Links.from_lists(both), "pharaoh", 0), links(), AlignmentScoring(**settings))
    gold = tagging(rng, 40)
    predicted = tagging(rng, 40, gold, 0.7)
    yield TagScore.of(gold, predicted)
    yield TagScore.of(gold, dataclasses.replace(predicted, tags=[t + b"0" for t in predicted.tags]))
    words = [b"a.,"[k : k + 1] for k in rng.integers(0, 3, len(gold.words))]
    labels = [b"x:y" if k else b"x" for k in rng.integers(0, 2, len(words))]
    heads = [rng.integers(0, 3, len(words)).astype(np.int32) for _ in range(2)]
    trees = [
        DependencyTrees(h, gold.offsets, labels[::d], words, gold.tags) for h, d in zip(heads, (1, -1), strict=True)
    ]
    for settings in ({}, {"punct": "conll"}, {"punct": "ud"}, {"subtypes": False}, {"max_length": 8}):
        yield TreeScore.of(*trees, TreeScoring(**settings))
    texts = [Segments(rng.integers(0, 4, gold.offsets[-1]).astype(np.int32), gold.offsets) for _ in range(3)]
    for smooth in ("exp", "floor", "add-k", "none"):
        yield BleuScore.of(texts[1:], texts[0], TranslationScoring(smooth=smooth))


_CUTS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)).filter(any), min_size=1, max_size=8)


def groups(cuts):
    found, i, j = [], 0, 0
    for a, b in cuts:
        found.append(SentenceGroup(tuple(range(i, i + a)), tuple(range(j, j + b))))
        i, j = i + a, j + b
    return found


def share(test, gold, lax):
    """Return the share of groups that are right, by the words of the definition."""
    right = 0
    for one in test:
        strict = any(one[:2] == other[:2] for other in gold)
        near = any(set(one.source) & set(other.source) and set(one.target) & set(other.target) for other in gold)
        right += strict or (lax and near)
    return right / len(test) if test else 0.0


@given(_CUTS, _CUTS)
def test_figures_are_those_of_the_definition(gold_cuts, cuts):
    gold, found = groups(gold_cuts), groups(cuts)
    score = LadderScore.of(gold, found)
    both = [[g for g in one if g.source and g.target] for one in (gold, found)]
    for lax, names in ((False, ("f1", "precision", "recall")), (True, ("f1_lax", "precision_lax", "recall_lax"))):
        precision, recall = share(found, gold, lax), share(both[0], both[1], lax)
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        assert [getattr(score, name) for name in names] == pytest.approx([f1, precision, recall])
    assert score.gold == len(both[0])


def test_the_gold_itself_is_right():
    gold = groups([(1, 1), (2, 1), (0, 1), (1, 0), (1, 2)])
    score = LadderScore.of(gold, gold)
    assert (score.f1, score.f1_lax, score.groups, score.gold) == (1, 1, 5, 3)


point = st.tuples(st.integers(0, 5), st.integers(0, 5))
sets = st.frozensets(point, max_size=12)
corpora = st.lists(st.tuples(sets, sets, sets), min_size=1, max_size=5)


def gold_of(sure, possible):
    both = [set(s) | set(p) for s, p in zip(sure, possible, strict=True)]
    return Gold(Links.from_lists(sure), Links.from_lists(both), "pharaoh", 0)


def test_worked_example():
    # |A| = 4, |S| = 3, |P| = 5, A∩S = {0-0, 2-2}, A∩P = {0-0, 2-2, 1-2}:
    # precision 3/4, recall 2/3, AER 1 - (2 + 3) / (4 + 3) = 2/7 (Och & Ney 2003, equation 44 ff.)
    gold = gold_of([[(0, 0), (1, 1), (2, 2)]], [[(1, 2), (2, 1)]])
    hypothesis = Links.from_lists([[(0, 0), (1, 2), (2, 2), (3, 3)]])
    counts = aer.count(hypothesis, gold)
    assert counts.tolist() == [[4, 3, 5, 2, 3]]
    scores = AerScore.of(gold, hypothesis)
    assert scores.counts.tolist() == counts.tolist()
    assert scores.precision == 3 / 4
    assert scores.recall == pytest.approx(2 / 3)
    assert scores.f1 == pytest.approx(2 * (3 / 4) * (2 / 3) / (3 / 4 + 2 / 3))
    assert scores.aer == pytest.approx(2 / 7)


@given(corpora)
def test_counts_are_those_of_sets(corpus):
    gold = gold_of([s for s, _, _ in corpus], [p for _, p, _ in corpus])
    counts = aer.count(Links.from_lists([a for _, _, a in corpus]), gold)
    for (s, p, a), row in zip(corpus, counts.tolist(), strict=True):
        p = s | p
        assert row == [len(a), len(s), len(p), len(a & s), len(a & p)]


@given(corpora)
def test_without_possible_links_aer_is_one_minus_f1(corpus):
    gold = gold_of([s for s, _, _ in corpus], [()] * len(corpus))
    scores = AerScore.of(gold, Links.from_lists([a for _, _, a in corpus]))
    if scores.links + scores.sure:
        assert scores.f1 is None or scores.aer == pytest.approx(1 - scores.f1)


def test_extremes():
    gold = gold_of([[(0, 0)], [(1, 1)]], [[(0, 1)], []])
    assert AerScore.of(gold, gold.sure).aer == 0
    assert AerScore.of(gold, gold.possible).aer == 0
    nothing = Links.from_lists([[], []])
    assert AerScore.of(gold, nothing).aer == 1
    nothing_found = AerScore.of(gold, nothing)
    assert (nothing_found.precision, nothing_found.recall, nothing_found.f1) == (None, 0, None)
    assert nothing_found.as_dict()["precision"] is None
    assert "precision -, recall 0.00, F1 -" in str(nothing_found)
    possible = gold_of([[], []], [[(0, 1)], [(1, 1)]])
    score = AerScore.of(possible, possible.possible)
    assert (score.aer, score.precision, score.recall, score.f1) == (0, 1, None, None)
    assert AerScore.of(gold_of([[], []], [[], []]), nothing).aer == 0
    with pytest.raises(ValueError, match="2 sentences where the gold has 1"):
        aer.count(nothing, gold_of([[]], [[]]))


@pytest.mark.slow
@pytest.mark.skipif(not (REALDATA / "alignment").is_dir(), reason="no real data (ALIGNTOOLS_REALDATA)")
def test_agrees_with_an_independent_scorer_on_real_gold():
    script = REALDATA.parent / "tools" / "aer.py"
    if not script.exists():
        pytest.skip("no independent scorer beside the real data")
    spec = importlib.util.spec_from_file_location("independent_aer", script)
    other = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(other)
    rng = np.random.default_rng(0)
    files = sorted((REALDATA / "alignment").glob("*/*.wa"))
    assert files
    for path in files:
        gold = read_gold(path)
        noisy = [
            {(max(0, i + int(d)), j) for (i, j), d in zip(row, rng.integers(-1, 2, len(row)), strict=True)}
            for row in gold.possible.tolists()
        ]
        scores = AerScore.of(gold, Links.from_lists(noisy))
        sure, possible = other.parse(path, 0, False, True)
        expected = other.score(sure, possible, noisy)
        assert scores.aer == pytest.approx(expected["aer"], abs=1e-12), path
        assert (scores.precision, scores.recall, scores.f1) == pytest.approx(
            (expected["p"], expected["r"], expected["f1"])
        )
        assert (scores.links, scores.links_in_sure) == (expected["A"], expected["AS"])


@given(corpora)
def test_groups_of_links_have_the_counts_of_all(corpus):
    hypothesis, sure, possible = (Links.from_lists(column) for column in zip(*corpus, strict=True))
    both = gold_of(sure.tolists(), possible.tolists())
    found = aer.count_by_group(hypothesis, both, lambda sentences, pairs: (sentences + pairs[:, 0]) % 3, 3)
    assert found.sum(axis=0).tolist() == aer.count(hypothesis, both).sum(axis=0).tolist()
    expected = np.zeros((3, 5), int)
    for n, (links, own, other) in enumerate(corpus):
        allowed = own | other
        for i, j in links | allowed:
            group = expected[(n + i) % 3]
            group += [
                (i, j) in links,
                (i, j) in own,
                (i, j) in allowed,
                (i, j) in links & own,
                (i, j) in links & allowed,
            ]
    assert found.tolist() == expected.tolist()
