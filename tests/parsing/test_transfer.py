"""Transferring weights and distributions, agreement, and parsers learned through them."""

import math

import numpy as np
import pytest

from aligntools.formats.links.pharaoh import Links
from aligntools.ground.parallel import Pool
from aligntools.parsing.feature_space import TAGS
from aligntools.parsing.learning import treebank
from aligntools.parsing.settings import TRANSFERRED, ParserSettings, TransferSettings, TreeConstraints
from aligntools.parsing.text import NoSentences, TaggedText
from aligntools.parsing.transfer import learning, projection
from aligntools.parsing.trees import inference
from tests import naive_parsing as naive
from tests.parsing.test_parser import TEXT, split

# In the target language the adjective follows its noun and the verb comes last.
PAIRS = [
    ("the dog sleeps", "der/DET hund/NOUN schlaf/VERB", [(0, 0), (1, 1), (2, 2)]),
    ("a cat sees the dog", "ein/DET katz/NOUN der/DET hund/NOUN seh/VERB", [(0, 0), (1, 1), (2, 4), (3, 2), (4, 3)]),
    ("dogs see the 23", "hund/NOUN 23/NUM seh/VERB", [(0, 0), (3, 1), (1, 2)]),
    ("the old cat sleeps well", "katz/NOUN alt/ADJ gut/ADV schlaf/VERB", [(2, 0), (1, 1), (4, 2), (3, 3)]),
]


def train(parser, source, target, links, *more, **how):
    """Train through one source language's text."""
    return learning.train([learning.TransferSource(parser, source, target, links)], *more, **how)


@pytest.fixture(scope="module")
def parser():
    words, tags, offsets, heads, _ = split(TEXT * 3)
    settings = ParserSettings(bits=10, l2=0.1, iterations=20, labels=False)
    return treebank.train(words, tags, offsets, heads, None, settings)[0]


def text(lines):
    rows = [[token.split("/") for token in line.split()] for line in lines]
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return TaggedText(
        [w.encode() for row in rows for w, _ in row], [t.encode() for row in rows for _, t in row], offsets
    )


@pytest.fixture(scope="module")
def pairs():
    known = {}
    for line in TEXT:
        for token in line.split():
            word, tag = token.split("/")[:2]
            known[word.lower()] = tag
    source = text([" ".join(f"{w}/{known[w]}" for w in s.split()) for s, _, _ in PAIRS] * 5)
    return source, text([t for _, t, _ in PAIRS] * 5), Links.from_lists([links for _, _, links in PAIRS] * 5)


def test_one_to_one_links_alone_count():
    links = Links.from_lists([[(0, 0), (1, 1), (1, 2)], [], [(0, 0), (1, 0), (2, 2)], [(3, 1)]])
    offsets = np.array([0, 3, 4, 7, 9])
    found = projection.one_to_one(links.pairs, links.offsets, offsets)
    assert found.tolist() == [0, -1, -1, -1, -1, -1, 2, -1, 3]
    assert found.dtype == np.int32
    empty = Links.from_lists([[], []])
    assert projection.one_to_one(empty.pairs, empty.offsets, np.array([0, 2, 3])).tolist() == [-1, -1, -1]


@pytest.mark.parametrize("threads", [None, 3])
def test_weights_are_those_of_equation_8(parser, pairs, threads):
    source, target, links = pairs
    x, y = (parser.sentences(t.words, t.tags, t.offsets) for t in (source, target))
    aligned = projection.one_to_one(links.pairs, links.offsets, target.offsets)
    if threads:
        with Pool(threads) as pool:
            found = projection.transferring_scores(parser, x, y, aligned, pool)
    else:
        found = projection.transferring_scores(parser, x, y, aligned)
    theirs, delexicalized = parser.scores(x), parser.scores(y, only=TAGS)
    taken = 0
    for s, (_, line, _) in enumerate(PAIRS):
        n, m = len(line.split()), int(x.lengths[s])
        partner = {j: i for i, j in PAIRS[s][2]}
        own = found[y.edges[s] : y.edges[s + 1]].reshape(n, n + 1)
        other = theirs[x.edges[s] : x.edges[s + 1]].reshape(m, m + 1)
        plain = delexicalized[y.edges[s] : y.edges[s + 1]].reshape(n, n + 1)
        for j in range(n):
            for h in range(n + 1):
                if h == j + 1:
                    continue
                if j in partner and (h == 0 or h - 1 in partner):
                    expected = other[partner[j], partner[h - 1] + 1 if h else 0]
                    taken += 1
                else:
                    expected = plain[j, h]
                assert own[j, h] == expected
    assert taken > 40


def test_the_distribution_is_that_of_equation_9(parser, pairs):
    source, target, links = pairs
    x, y = (parser.sentences(t.words, t.tags, t.offsets) for t in (source, target))
    aligned = projection.one_to_one(links.pairs, links.offsets, target.offsets)
    scores = projection.transferring_scores(parser, x, y, aligned)
    for trees in (TreeConstraints(), TreeConstraints(False, True), TreeConstraints(True, False)):
        expected = learning.expected_of(parser, None, learning.TransferPairs(x, y, y, aligned), trees, "score", None)
        for s in range(len(PAIRS)):
            n, here = int(y.lengths[s]), slice(y.edges[s], y.edges[s + 1])
            matrix = scores[here].reshape(n, n + 1)
            _, wanted = naive.marginals(matrix, naive.trees(n, trees.projective, trees.single_root))
            assert np.allclose(expected[here].reshape(n, n + 1), wanted, atol=1e-9)


def test_posteriors_do_not_depend_on_the_scale_of_a_word(parser, pairs):
    """A constant added to all heads of a source word changes no tree's probability there; nor may it here."""
    source, target, links = pairs
    x, y = (parser.sentences(t.words, t.tags, t.offsets) for t in (source, target))
    aligned = projection.one_to_one(links.pairs, links.offsets, target.offsets)
    aligned[1::2] = -1

    class Shifted:
        constraints = parser.constraints

        def scores(self, sentences, pool=None, only=None):
            return parser.scores(sentences, pool, only) + (0.0 if only else 7.0)

    found = {}
    for kind in TRANSFERRED:
        found[kind] = [
            learning.expected_of(p, None, learning.TransferPairs(x, y, y, aligned), TreeConstraints(), kind, None)
            for p in (parser, Shifted())
        ]
    assert np.allclose(*found["posterior"], atol=1e-9)
    assert not np.allclose(*found["score"], atol=0.01)


def test_agreement_with_the_source_tree(parser, pairs):
    source, target, links = pairs
    x, y = (parser.sentences(t.words, t.tags, t.offsets) for t in (source, target))
    aligned = projection.one_to_one(links.pairs, links.offsets, target.offsets)
    heads = split([TEXT[0], TEXT[1]])[3]
    rest = np.zeros(int(x.offsets[-1]) - len(heads), np.int32)
    found = projection.agreement(np.concatenate([heads, rest]), x, y, aligned)
    second = found[y.edges[1] : y.edges[2]].reshape(5, 6)
    # ein -> katz, katz -> seh, der -> hund, hund -> seh, seh -> root
    for j, h in ((0, 2), (1, 5), (2, 4), (3, 5), (4, 0)):
        assert second[j, h] == 1
        if h:
            assert second[h - 1, j + 1] == -1
    assert np.abs(second).sum() == 9


def test_the_target_parser_learns_the_source_parsers_trees(parser, pairs):
    source, target, links = pairs
    for method in ("full", "projected"):
        settings = TransferSettings(method=method, bits=10, l2=0.05, min_length=1, min_count=1, reward=30.0)
        stages = []
        found, report = train(
            parser, source, target, links, None, settings, progress=lambda stage, *_, all_=stages: all_.append(stage)
        )
        assert (report["pairs"], report["words"], report["skipped"]) == (20, 75, {})
        assert math.isclose(report["aligned"], 1.0)
        parsed = found.parse(found.sentences(target.words, target.tags, target.offsets))
        assert parsed[0][:15].tolist() == [2, 3, 0, 2, 5, 4, 5, 0, 3, 3, 0, 4, 1, 4, 0]
        assert len({*stages}) == (1 if method == "full" else 4)


@pytest.mark.parametrize("alpha", [1.0, 2.0])
@pytest.mark.parametrize("projective", [True, False])
def test_the_objective_falls_at_each_step(parser, pairs, alpha, projective):
    source, target, links = pairs
    settings = TransferSettings(
        bits=10, min_length=1, gamma=0.5, entropy="renyi", alpha=alpha, projective=projective, iterations=15, l2=1.0
    )
    seen = {}

    def note(stage, _, value):
        seen.setdefault(stage, []).append(value)

    _, report = train(parser, source, target, links, target, settings, progress=note)
    assert report["unlabeled"] == 20
    assert len(seen) == 2  # without and with the entropy, from there on
    for values in seen.values():
        assert len(values) > 4
        assert np.all(np.diff(values) < 0)
    assert report["objective"] == values[-1]


def test_entropy_on_plain_text_makes_the_parser_certain(parser, pairs):
    source, target, links = pairs
    plain = text(["hund/NOUN gut/ADV katz/NOUN schlaf/VERB", "der/DET hund/NOUN alt/ADJ seh/VERB"] * 4)

    def uncertainty(gamma):
        settings = TransferSettings(bits=10, min_length=1, gamma=gamma, iterations=40, l2=1.0)
        found, _ = train(parser, source, target, links, plain, settings)
        sentences = found.sentences(plain.words, plain.tags, plain.offsets)
        return float(np.sum(inference.entropy(found.scores(sentences), sentences.offsets, found.constraints)[0]))

    assert uncertainty(2.0) < 0.5 * uncertainty(0.0)


def test_shared_edges_are_those_of_squared_means():
    offsets, rng = np.array([0, 3, 3, 7]), np.random.default_rng(4)
    edges = inference.edge_offsets(offsets)
    scores = [rng.normal(0, 2, int(edges[-1])) for _ in range(3)]
    for trees in (TreeConstraints(), TreeConstraints(False)):
        found = projection.shared_edges(scores[0], scores[1:], 0.3, offsets, trees)
        for s, n in enumerate(np.diff(offsets).tolist()):
            here = slice(edges[s], edges[s + 1])
            possible = naive.trees(n, trees.projective, trees.single_root)
            own, *others = (naive.marginals(x[here].reshape(n, n + 1), possible)[1] for x in scores)
            mixed = 0.7 * own + 0.3 * (others[0] + others[1]) / 2
            _, wanted = naive.marginals(2 * np.log(np.maximum(mixed, projection.LEAST)), possible)
            assert np.allclose(found[here].reshape(n, n + 1), wanted, atol=1e-9)


def test_plain_text_teaches_what_the_direct_parser_knows(parser, pairs):
    plain = text(["hund/NOUN gut/ADV katz/NOUN schlaf/VERB", "der/DET hund/NOUN alt/ADJ seh/VERB"] * 20)

    def agreement(share):
        settings = TransferSettings(bits=10, min_length=1, gamma=0, direct_share=share, iterations=40, l2=1.0)
        found, report = train(parser, *pairs, plain, settings)
        heads = found.parse(found.sentences(plain.words, plain.tags, plain.offsets))[0]
        own = projection.direct(parser)
        return np.mean(heads == own.parse(own.sentences(plain.words, plain.tags, plain.offsets))[0]), report

    (without, _), (with_it, report) = agreement(0.0), agreement(1.0)
    assert without + 0.1 < with_it
    assert report["unlabeled"] == 40


def test_what_is_left_out_and_what_is_seen(parser, pairs):
    source, target, links = pairs
    _, report = train(
        parser, source, target, links, target, TransferSettings(bits=8, iterations=2, min_length=4, max_length=5)
    )
    assert (report["pairs"], report["unlabeled"]) == (10, 10)  # 4 words of the source and 3 of the target are too short
    assert report["skipped"] == {"pairs too short or too long": 10, "unlabeled sentences too short or too long": 10}
    with pytest.raises(NoSentences):
        train(parser, source, target, links, None, TransferSettings(min_length=50))
    _, target, _ = pairs
    found = projection.direct(parser)
    assert set(found.space.templates) == set(TAGS)
    x = parser.sentences(target.words, target.tags, target.offsets)
    y = found.sentences([b"?"] * len(target.words), target.tags, target.offsets)
    assert np.allclose(found.scores(y), parser.scores(x, only=TAGS))
    assert projection.direct(found) is found


@pytest.mark.parametrize("method", ["full", "projected"])
def test_a_parser_without_words_of_ones_own(parser, pairs, method):
    """The parser's own features of tags, given as another parser, change nothing; another one does."""
    settings = TransferSettings(method=method, bits=8, min_length=1, iterations=3, rounds=0, l2=1.0, min_aligned=0)
    source, target, _ = pairs
    fewer = Links.from_lists([[(i, j) for i, j in row if j % 2] for _, _, row in PAIRS] * 5)
    whole, _ = train(parser, source, target, fewer, None, settings)
    words, tags, offsets, heads, _ = split(TEXT[:2] * 3)
    other = ParserSettings(features="delexicalized", bits=10, l2=0.1, iterations=20, labels=False)
    models = projection.direct(parser), treebank.train(words, tags, offsets, heads, None, other)[0]
    found = []
    for model in models:
        sides = [learning.TransferSource(parser, source, target, fewer, model)]
        found.append(learning.train(sides, None, settings)[0].weights)
    assert found[0].tobytes() == whole.weights.tobytes()
    assert found[1].tobytes() != whole.weights.tobytes()
