"""The parser as a whole: text to trees, and its model file."""

import itertools

import numpy as np
import pytest

from aligntools.formats.models.modelfile import read_model, write_model
from aligntools.ground.errors import ModelError
from aligntools.ground.parallel import Pool, over
from aligntools.parsing import feature_space as features
from aligntools.parsing import parser as module
from aligntools.parsing.feature_space import SETS, EncodedSentences, FeatureSpace, Vocabularies
from aligntools.parsing.labels import Labeler
from aligntools.parsing.learning import training
from aligntools.parsing.parser import ParserModel
from aligntools.parsing.settings import TreeConstraints
from tests import naive_parsing as naive

TEXT = [
    ("the/DET/2/det dog/NOUN/3/nsubj sleeps/VERB/0/root"),
    ("a/DET/2/det cat/NOUN/3/nsubj sees/VERB/0/root the/DET/5/det dog/NOUN/3/obj"),
    ("dogs/NOUN/2/nsubj see/VERB/0/root the/DET/4/det 23/NUM/2/obj"),
    ("Cats/NOUN/2/nsubj sleep/VERB/0/root"),
    ("the/DET/3/det old/ADJ/3/amod cat/NOUN/4/nsubj sleeps/VERB/0/root well/ADV/4/advmod"),
]


def split(text):
    rows = [word.split("/") for line in text for word in line.split()]
    offsets = np.concatenate([[0], np.cumsum([len(line.split()) for line in text])]).astype(np.int64)
    columns = [[row[k].encode() for row in rows] for k in (0, 1, 3)]
    return columns[0], columns[1], offsets, np.array([int(row[2]) for row in rows], np.int32), columns[2]


@pytest.fixture(scope="module")
def parser():
    words, tags, offsets, heads, labels = split(TEXT * 3)
    vocabularies = Vocabularies.of(words, tags)
    sentences = vocabularies.sentences(words, tags, offsets)
    space = FeatureSpace.fitted(SETS["prefixes"], sentences, 12)
    objective = training.ParserObjective(space, [training.TreeLoss(sentences, heads, TreeConstraints())], 0.1)
    weights = training.minimize(objective, iterations=30)[0]
    labeler = Labeler.train(sentences, heads, labels, bits=8)
    return ParserModel(vocabularies, space, weights, TreeConstraints(), {"l2": 0.1}, labeler)


def test_what_is_learned_and_what_is_new(parser):
    words, tags, offsets, heads, labels = split(TEXT)
    sentences = parser.sentences(words, tags, offsets)
    parsed = parser.parse(sentences)
    assert parsed[0].tolist() == heads.tolist()
    assert parser.labeler.label(sentences, parsed[0]) == labels
    assert not parsed[2].any()
    assert np.all(np.isfinite(parsed[1]))
    words, tags = [b"The", b"wug", b"sleeps", b"!", b"\xff\xfe"], [b"DET", b"NOUN", b"VERB", b"NEW", b"NEW"]
    offsets = np.array([0, 0, 3, 4, 5, 5])
    parsed = parser.parse(parser.sentences(words, tags, offsets))
    assert parsed[0].tolist() == [2, 3, 0, 0, 0]
    with pytest.raises(ValueError, match="5 words, 4 tags"):
        parser.sentences(words, tags[:4], offsets)
    words, tags, offsets, _, _ = split(TEXT)
    sentences = parser.sentences(words, tags, offsets)
    for trees in (TreeConstraints(False, True), TreeConstraints(True, False), TreeConstraints(False, False)):
        assert parser.parse(sentences, constraints=trees)[1].sum() >= parser.parse(sentences)[1].sum() - 1e-9
    words, tags, offsets, heads, _ = split(TEXT)
    parsed = parser.parse(parser.sentences(words, tags, offsets), longest=4)
    assert parsed[2].tolist() == [False, True, False, False, True]
    assert parsed[0][3:8].tolist() == [0, 1, 1, 1, 1]
    assert parsed[0][8:14].tolist() == heads[8:14].tolist()


def test_runs_and_threads_change_nothing(parser, monkeypatch):
    words, tags, offsets, _, _ = split(TEXT * 7)
    sentences = parser.sentences(words, tags, offsets)
    whole = parser.parse(sentences)
    monkeypatch.setattr(module, "CHUNK", 50)
    with Pool(3) as pool:
        parts = parser.parse(sentences, pool)
    assert parts[0].tobytes() == whole[0].tobytes()
    assert parts[1].tobytes() == whole[1].tobytes()


def test_words_features_and_labels():
    assert features.normalized([b"\xc3\x84rger", b"1984", b"."]) == ["ärger".encode(), b"0000", b"."]
    assert features.prefixes(["Ärgernis".encode(), b"a"]) == ["Ärger".encode(), b"a"]
    assert features.vocabulary([b"b", b"a", b"b", b"c", b"a"], 2).words() == ["", "b", "a"]
    assert features.templates_of("delexicalized") == SETS["delexicalized"]
    with pytest.raises(ValueError, match="choose one of full"):
        features.templates_of("other")
    vocabularies = Vocabularies.of([], [])
    with pytest.raises(ValueError, match="no words"):
        Labeler.train(vocabularies.sentences([], [], np.array([0, 0])), np.zeros(0, np.int32), [])


@pytest.mark.parametrize(
    "damage",
    [
        lambda h, a: a.pop("words.blob"),
        lambda h, a: a.update(weights=a["weights"][:-1]),
        lambda h, a: a.update(places=a["places"][::-1].copy()),
        lambda h, a: a.update(places=a["places"] + 10**6),
        lambda h, a: a.update(weights=a["weights"] * np.float32(np.nan)),
        lambda h, a: a.update(weights=a["weights"].astype(np.float64)),
        lambda h, a: h.update(templates=["p |"]),
        lambda h, a: h.update(bins=[3]),
        lambda h, a: h.update(trees={"planar": True}),
        lambda h, a: a.update({"labeler.places": a["labeler.places"] + 10**6}),
        lambda h, a: a.update({"labeler.weights": a["labeler.weights"][:, :-1].copy()}),
    ],
)
def test_damaged_models_are_refused(parser, tmp_path, damage):
    path = str(tmp_path / "m")
    parser.save(path)
    header, arrays = read_model(path, "parser")
    arrays = {k: np.array(v) for k, v in arrays.items()}
    damage(header, arrays)
    write_model(path, "parser", header, arrays)
    with pytest.raises(ModelError, match="do not fit together"):
        ParserModel.load(path)


LENGTHS = [4, 0, 1, 9, 6]


def some_sentences(seed=0, lengths=LENGTHS, tags=4, classes=()):
    """Return sentences and, for each, its layers by letter, as the naive version takes them."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    ids = [rng.integers(-1, n, offsets[-1]).astype(np.int32) for n in (6, tags, 5, *classes)]
    sentences = EncodedSentences.from_ids(offsets, *ids)
    texts = []
    for a, b in itertools.pairwise(offsets.tolist()):
        part = [["root", *(max(v, 0) for v in values[a:b].tolist())] for values in ids]  # -1 and 0 are both unknown
        texts.append(dict(zip(features.LAYERS[: len(ids)], part, strict=True)))
    return sentences, texts


def edges_of(sentences):
    """Yield (place in the flat array, sentence, head, modifier)."""
    for s, n in enumerate(sentences.lengths.tolist()):
        for m in range(1, n + 1):
            for h in range(n + 1):
                yield int(sentences.edges[s]) + (m - 1) * (n + 1) + h, s, h, m


def add_gradient(space, values, sentences, gradient, pool=None):
    """Add edges' values to the entries of all their features."""
    work = lambda t: space.add_template(t, sentences, values, gradient[slice(*space.regions[t])])  # noqa: E731
    over(pool, work, range(len(space.templates)))


@pytest.mark.parametrize("name", ["full", "prefixes", "delexicalized", "classes"])
def test_every_edge_has_the_features_that_its_text_has(name):
    """As many weights as features, and each feature has its own weight, the same one in every edge."""
    templates = features.CLASSES + features.PATHS if name == "classes" else features.SETS[name]
    sentences, texts = some_sentences(0, [4, 0, 1, 7], classes=(3, 3) if name == "classes" else ())
    space = FeatureSpace(templates, [16] * len(templates))  # so large that nothing collides here
    numbers, gradient = {}, np.zeros(space.size)
    for place, s, h, m in edges_of(sentences):
        values = np.zeros(sentences.edges[-1])
        values[place] = 1.0
        add_gradient(space, values, sentences, gradient)
        used = np.flatnonzero(gradient)
        assert set(gradient[used]) <= {1.0}
        gradient[used] = 0
        found = set(used.tolist())
        want = naive.edge_features(texts[s], templates, features.BINS, h, m) if h != m else set()
        assert len(found) == len(want)
        for feature in want:
            numbers.setdefault(feature, set(found)).intersection_update(found)
        for feature in set(numbers) - want:
            numbers[feature] -= found
    assert all(numbers.values())
    assert len(numbers) > 100


def test_scores_and_gradients():
    """For every edge the same sum, whatever the templates; so with chunks of a batch."""
    sentences, _ = some_sentences(3)
    space = FeatureSpace(features.SETS["prefixes"], [9] * len(features.SETS["prefixes"]))
    weights = np.random.default_rng(1).normal(0, 1, space.size)
    scores = space.scores(weights, sentences)
    for place, _, h, m in edges_of(sentences):
        values, gradient = np.zeros(len(scores)), np.zeros(space.size)
        values[place] = 1.0
        add_gradient(space, values, sentences, gradient)
        assert np.isclose(scores[place], gradient @ weights, rtol=1e-12, atol=1e-12)
        assert h != m or scores[place] == 0
    alone = np.concatenate([space.scores(weights, sentences.part(s, s + 1)) for s in range(len(sentences))])
    assert alone.tobytes() == scores.tobytes()
    sentences, _ = some_sentences(4, [12, 3, 20])
    space = FeatureSpace(features.SETS["full"], [8] * len(features.SETS["full"]))
    rng = np.random.default_rng(2)
    weights, values = rng.normal(0, 1, space.size), rng.normal(0, 1, sentences.edges[-1])
    for place, _, h, m in edges_of(sentences):
        if h == m:
            values[place] = 99.0  # no edge: must not be read
    gradient = np.zeros(space.size)
    add_gradient(space, values, sentences, gradient)
    assert np.isclose(gradient @ weights, values @ space.scores(weights, sentences), rtol=1e-11)


def test_templates_and_numbers_of_features():
    """The delexicalized part and the rest of the scores are all of them."""
    sentences, _ = some_sentences(5)
    space = FeatureSpace(features.SETS["full"], [12] * len(features.SETS["full"]))
    weights = np.random.default_rng(3).normal(0, 1, space.size)
    parts = [space.scores(weights, sentences, only=names) for names in (features.TAGS, features.WORDS)]
    assert np.allclose(sum(parts), space.scores(weights, sentences), rtol=0, atol=1e-12)
    assert np.abs(parts[1]).max() > 0.1
    sentences, _ = some_sentences(6)
    alone = FeatureSpace(("p [p] p",), [12])
    among = FeatureSpace(("w |", "p  [p] p", "p | p"), [9, 12, 10])
    weights = np.random.default_rng(4).normal(0, 1, alone.size)
    wide = np.zeros(among.size)
    wide[slice(*among.regions[1])] = weights
    assert np.array_equal(alone.scores(weights, sentences), among.scores(wide, sentences))
    sentences, texts = some_sentences(8, [15] * 12, tags=9)
    space = FeatureSpace.fitted(("p |", "w p | w p"), sentences, 18)
    for t, template in enumerate(space.templates):
        known = set()
        for _, s, h, m in edges_of(sentences):
            if h != m:
                known |= naive.edge_features(texts[s], [template], features.BINS, h, m)
        assert 0.8 * 2 * len(known) <= 1 << space.bits[t] <= 1.3 * 4 * len(known)
    with pytest.raises(ValueError, match="layers of shape"):
        EncodedSentences(np.array([0, 3]), np.zeros((3, 3), np.int32))


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_nothing(threads):
    sentences, _ = some_sentences(7, [5, 17, 2, 30, 8] * 8)
    space = FeatureSpace(features.SETS["full"], [10] * len(features.SETS["full"]))
    rng = np.random.default_rng(5)
    weights, values = rng.normal(0, 1, space.size), rng.normal(0, 1, sentences.edges[-1])
    one, several = np.zeros(space.size), np.zeros(space.size)
    with Pool(threads) as pool:
        scores = space.scores(weights, sentences, pool)
        add_gradient(space, values, sentences, several, pool)
        fitted = FeatureSpace.fitted(features.TAGS, sentences, 12, pool=pool)
    add_gradient(space, values, sentences, one)
    assert scores.tobytes() == space.scores(weights, sentences).tobytes()
    assert several.tobytes() == one.tobytes()
    assert fitted.bits == FeatureSpace.fitted(features.TAGS, sentences, 12).bits


def test_distances_fall_into_their_bins():
    sentences = EncodedSentences.from_ids([0, 30], *np.ones((3, 30), np.int32))
    space = FeatureSpace(("p |",), [8], bins=(1, 2, 5))
    weights = np.random.default_rng(6).normal(0, 1, space.size)
    row = space.scores(weights, sentences).reshape(30, 31)[29]  # the last word under each head before it
    same = [row[a] == row[b] for a, b in ((29, 28), (28, 27), (27, 26), (26, 25), (25, 20), (20, 1))]
    assert same == [False, True, True, False, True, True]


@pytest.mark.parametrize(
    ("templates", "bits", "bins", "match"),
    [
        (("q | p",), [9], (1,), "not an atom"), (("p+3 | p",), [9], (1,), "not an atom"),
        (("p p",), [9], (1,), "not a template"), (("p [ p",), [9], (1,), "not a template"),
        (("w p x w+1 p+1 |",), [9], (1,), "more than 4"), (("p |",), [2], (1,), "bits"),
        (("p |",), [9, 9], (1,), "bits"), (("p |", "| p"), [30, 30], (1,), "together"),
        (("p |",), [9], (2, 3), "bins"), (("p |",), [9], (1, 2, 3, 4, 5, 6, 7, 8), "bins"),
    ],
)  # fmt: skip
def test_what_is_no_feature_space(templates, bits, bins, match):
    with pytest.raises(ValueError, match=match):
        FeatureSpace(templates, bits, bins)
