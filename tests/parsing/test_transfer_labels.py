"""Labels of transferred parsers: what edges are learned from, and the labeler that comes of it."""

from dataclasses import replace

import numpy as np
import pytest

from aligntools.ground.parallel import Pool
from aligntools.parsing import labels as module
from aligntools.parsing.labels import Edges, Labeler, Shares
from aligntools.parsing.learning import treebank
from aligntools.parsing.parser import ParserModel
from aligntools.parsing.settings import ParserSettings, TransferSettings
from aligntools.parsing.text import NoSentences
from aligntools.parsing.transfer import learning, projection
from aligntools.parsing.transfer.learning import TransferPairs
from tests.parsing.test_parser import TEXT, split
from tests.parsing.test_parts import in_parts
from tests.parsing.test_transfer import PAIRS, pairs  # noqa: F401

SETTINGS = TransferSettings(bits=10, l2=0.05, min_length=1, min_count=1)
#: What the words of `PAIRS` are in the target language.
RIGHT = b"det nsubj root det nsubj det obj root nsubj obj root nsubj amod advmod root".split()


@pytest.fixture(scope="module")
def labeled():
    words, tags, offsets, heads, names = split(TEXT * 3)
    return treebank.train(words, tags, offsets, heads, names, ParserSettings(bits=10, l2=0.1, iterations=20))[0]


@pytest.fixture
def sides(labeled, pairs):  # noqa: F811
    source, target, links = pairs
    x, y = (labeled.sentences(t.words, t.tags, t.offsets) for t in (source, target))
    return TransferPairs(x, y, y, projection.one_to_one(links.pairs, links.offsets, target.offsets))


def labels_of(found, target):
    sentences = found.sentences(target.words, target.tags, target.offsets)
    return found.labeler.label(sentences, found.parse(sentences)[0])


@pytest.mark.parametrize("method", ["full", "projected"])
def test_the_target_parser_learns_the_source_parsers_labels(labeled, pairs, method, monkeypatch):  # noqa: F811
    settings = replace(SETTINGS, method=method, reward=30.0)
    found, _ = learning.train([learning.TransferSource(labeled, *pairs)], None, settings)
    by_tags = [*RIGHT]
    by_tags[6] = b"nsubj"  # an object before its verb: in the source language, a subject's place
    assert labels_of(found, pairs[1])[:15] == by_tags
    monkeypatch.setattr(learning, "TARGET", 0.0)
    found, _ = learning.train([learning.TransferSource(labeled, *pairs)], None, settings)
    assert labels_of(found, pairs[1])[:15] == RIGHT


def test_no_labels_where_there_are_none_or_none_are_wanted(labeled, pairs):  # noqa: F811
    assert (
        learning.train([learning.TransferSource(labeled, *pairs)], None, replace(SETTINGS, labels=False, iterations=2))[
            0
        ].labeler
        is None
    )
    found, _ = learning.train(
        [learning.TransferSource(replace(labeled, labeler=None), *pairs)], None, replace(SETTINGS, iterations=2)
    )
    assert found.labeler is None
    assert found.settings["labels"] is False


def test_probable_edges_and_labels_of_words():
    text = split(TEXT[:2])
    sentences = ParserModel.sentences(treebank.train(*text, ParserSettings(iterations=1))[0], *text[:3])
    expected = np.zeros(int(sentences.edges[-1]))
    expected[1], expected[8], expected[9], expected[12 + 6] = 0.5, learning.LEAST_EDGE, learning.LEAST_EDGE / 2, 1.0
    edges, weights = learning.probable_edges(sentences, expected)
    assert edges.starts.tolist() == [0, 2, 3]
    assert list(zip(edges.heads.tolist(), edges.modifiers.tolist(), strict=True)) == [(1, 1), (0, 3), (0, 2)]
    assert weights.tolist() == [0.5, learning.LEAST_EDGE, 1.0]
    assert len(RIGHT) == sum(len(line.split()) for _, line, _ in PAIRS)


@pytest.mark.parametrize("chunk", [7, 10_000])
def test_shares_are_those_of_the_equation(labeled, sides, chunk, monkeypatch):
    """Each edge by itself, as docs/models/parsing.md has it."""
    monkeypatch.setattr(learning, "CHUNK", chunk)
    aligned = sides.aligned.copy()
    aligned[[1, 5]] = -1
    aligned[3] = aligned[4]
    sides = replace(sides, aligned=aligned)
    expected = np.random.default_rng(1).random(int(sides.target.edges[-1]))
    edges, weights = learning.probable_edges(sides.target, expected)
    found = learning.shares_of(labeled.labeler, sides, edges, weights)
    plain, both = labeled.labeler.without_words(), 0

    def one(labeler, text, s, head, modifier):
        edge = Edges(np.array([0, 1]), np.array([head], np.int32), np.array([modifier], np.int32))
        return labeler.distributions(text.part(s, s + 1), edge)[0].astype(np.float64)

    for e in range(len(edges)):
        s = int(np.searchsorted(edges.starts, e, side="right")) - 1
        h, m = int(edges.heads[e]), int(edges.modifiers[e])
        own = aligned[sides.target.offsets[s] :]
        i, k = int(own[m - 1]) + 1, int(own[h - 1]) + 1 if h else 0
        wanted = one(plain, sides.target, s, h, m)
        if i and (k or not h) and i != k:
            wanted = wanted**learning.TARGET * one(labeled.labeler, sides.source, s, k, i) ** (1 - learning.TARGET)
            wanted /= wanted.sum()
            both += 1
        dense = np.zeros(len(wanted))
        dense[found.labels[found.starts[e] : found.starts[e + 1]]] = found.shares[found.starts[e] : found.starts[e + 1]]
        assert np.allclose(dense, wanted * weights[e], atol=learning.LEAST_LABEL)
    assert 20 < both < len(edges)


def test_labelers_and_whole_labels(labeled):
    """Edges that look alike have labels in proportion to what each counts."""
    text = split(TEXT[:1] * 400)
    parser = treebank.train(*text, ParserSettings(iterations=1))[0]
    sentences, heads = parser.sentences(*text[:3]), text[3]
    edges, names = Edges.of_trees(sentences.offsets, heads), parser.labeler.labels
    starts = np.arange(len(edges) + 1) * 2
    both = Shares(
        starts, np.tile([0, 1], len(edges)).astype(np.int32), np.tile([0.7, 0.3], len(edges)).astype(np.float32)
    )
    found = Labeler.fitted(sentences, edges, both, names).distributions(sentences, edges)
    assert np.allclose(found, [0.7, 0.3, 0.0], atol=0.05)
    half = Shares(both.starts, both.labels, both.shares * np.float32(0.5))
    assert np.allclose(Labeler.fitted(sentences, edges, half, names).distributions(sentences, edges), found, atol=0.05)
    words, tags, offsets, heads, names = split(TEXT * 3)
    sentences = labeled.sentences(words, tags, offsets)
    own = np.asarray(labeled.labeler.labels.ids(names) - 1, np.int32)
    shares = Shares(np.arange(len(own) + 1), own, np.ones(len(own), np.float32))
    edges = Edges.of_trees(sentences.offsets, heads)
    again = Labeler.fitted(sentences, edges, shares, labeled.labeler.labels)
    assert again.weights.tobytes() == labeled.labeler.weights.tobytes()


def test_the_direct_parser_finds_labels_without_words(labeled, pairs, tmp_path):  # noqa: F811
    _, target, _ = pairs
    direct = projection.direct(labeled)
    assert direct.labeler.templates == module.TAGS
    assert not any(atom in template for template in module.TAGS for atom in "wx")
    other = replace(target, words=[b"?"] * len(target.words))
    found = labels_of(direct, target)
    assert found == labels_of(direct, other)
    assert found[:3] == RIGHT[:3]
    direct.save(tmp_path / "m")
    again = ParserModel.load(tmp_path / "m")
    assert again.labeler.templates == module.TAGS
    assert labels_of(again, target) == found
    assert projection.direct(labeled, labels=False).labeler is None


def thirds(pairs, parsers, direct=None):  # noqa: F811
    """Return pairs as those of several source languages."""
    source, target, links = pairs
    sides = []
    for k, parser in enumerate(parsers):
        keep = np.arange(len(target)) * len(parsers) // len(target) == k
        sides.append(learning.TransferSource(parser, source, target, links, direct).chosen(keep))
    return sides


@pytest.mark.parametrize("method", ["full", pytest.param("projected", marks=pytest.mark.slow)])
def test_several_source_languages_are_one_training_set(labeled, pairs, method, tmp_path):  # noqa: F811
    """The same pairs by the same parser give the same parser, whatever languages they are said to be of."""
    settings = replace(SETTINGS, method=method, iterations=4, rounds=1)
    whole, report = learning.train(
        [learning.TransferSource(labeled, *pairs)], pairs[1], replace(settings, method=method)
    )
    for parsers in ([labeled] * 2, [labeled] * 3):
        found, again = learning.train(thirds(pairs, parsers), pairs[1], settings)
        assert found.weights.tobytes() == whole.weights.tobytes()
        assert found.labeler.weights.tobytes() == whole.labeler.weights.tobytes()
        assert (again["pairs"], again["words"], again["aligned"]) == (20, 75, report["aligned"])
    with in_parts("two", tmp_path) as place:
        sides = thirds(pairs, parsers, projection.direct(labeled))
        parts, _ = learning.train(sides, pairs[1], settings, place.pool, parts=place)
    assert parts.weights.tobytes() == whole.weights.tobytes()
    assert parts.labeler.weights.tobytes() == whole.labeler.weights.tobytes()


def test_labels_of_several_sources(labeled, pairs):  # noqa: F811
    words, tags, offsets, heads, names = split(TEXT * 3)
    renamed = [b"subject" if name == b"nsubj" else name for name in names]
    other = treebank.train(words, tags, offsets, heads, renamed, ParserSettings(bits=10, l2=0.1, iterations=20))[0]
    found, _ = learning.train(thirds(pairs, [labeled, other]), None, SETTINGS)
    assert found.labeler.labels.words()[1:] == ["det", "nsubj", "root", "obj", "amod", "advmod", "subject"]
    bare = replace(other, labeler=None)
    with_bare, _ = learning.train(thirds(pairs, [labeled, bare]), None, SETTINGS)
    assert with_bare.weights.tobytes() == found.weights.tobytes()
    assert with_bare.labeler.labels.words() == labeled.labeler.labels.words()
    edges = labels_of(with_bare, pairs[1])
    assert edges[:3] == RIGHT[:3]
    settings = replace(SETTINGS, min_length=4, iterations=2, max_pairs=3)
    _, report = learning.train(thirds(pairs, [labeled] * 2), None, settings)
    assert (report["pairs"], report["skipped"]) == (6, {learning.LENGTH: 10})
    assert report["left_out"] == [
        "10 of 20 pairs left out: a sentence has fewer than 4 or more than 100 words (`min_length=4`, `max_length=100`)"
    ]
    with pytest.raises(NoSentences, match="20 of 20 pairs left out"):
        learning.train(thirds(pairs, [labeled] * 2), None, replace(settings, min_length=50))


@pytest.mark.parametrize("method", ["full", pytest.param("projected", marks=pytest.mark.slow)])
def test_the_same_labels_whoever_works(labeled, pairs, method, tmp_path):  # noqa: F811
    settings = replace(SETTINGS, method=method, iterations=3, rounds=1)
    whole, _ = learning.train([learning.TransferSource(labeled, *pairs)], None, settings)
    with Pool(3) as pool:
        threads, _ = learning.train([learning.TransferSource(labeled, *pairs)], None, settings, pool)
    with in_parts("two", tmp_path) as place:
        parts, _ = learning.train([learning.TransferSource(labeled, *pairs)], None, settings, place.pool, parts=place)
    assert whole.labeler.weights.any()
    for found in (threads, parts):
        assert found.labeler.weights.tobytes() == whole.labeler.weights.tobytes()
    kinds = {name.name.split(".")[0] for name in (tmp_path / "parts").iterdir()}
    assert "labels" not in kinds
    assert "source-labeler" not in kinds
