"""The parser as a whole: text to trees, and its model file."""

import numpy as np
import pytest

from aligntools.formats.models.modelfile import read_model, write_model
from aligntools.ground.errors import ModelError
from aligntools.ground.parallel import Pool
from aligntools.parsing import feature_space as features
from aligntools.parsing import parser as module
from aligntools.parsing.feature_space import SETS, FeatureSpace, Vocabularies
from aligntools.parsing.labels import Labeler
from aligntools.parsing.learning import training
from aligntools.parsing.parser import ParserModel
from aligntools.parsing.settings import TreeConstraints

TEXT = [
    ("the/DET/2/det dog/NOUN/3/nsubj sleeps/VERB/0/root"),
    ("a/DET/2/det cat/NOUN/3/nsubj sees/VERB/0/root the/DET/5/det dog/NOUN/3/obj"),
    ("dogs/NOUN/2/nsubj see/VERB/0/root the/DET/4/det 23/NUM/2/obj"),
    ("Cats/NOUN/2/nsubj sleep/VERB/0/root"),
    ("the/DET/3/det old/ADJ/3/amod cat/NOUN/4/nsubj sleeps/VERB/0/root well/ADV/4/advmod"),
]


def split(text):
    """Return words, tags, offsets, heads, labels."""
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
    assert parsed.heads.tolist() == heads.tolist()
    assert parser.labeler.label(sentences, parsed.heads) == labels
    assert not parsed.flat.any()
    assert np.all(np.isfinite(parsed.scores))
    words, tags = [b"The", b"wug", b"sleeps", b"!", b"\xff\xfe"], [b"DET", b"NOUN", b"VERB", b"NEW", b"NEW"]
    offsets = np.array([0, 0, 3, 4, 5, 5])
    parsed = parser.parse(parser.sentences(words, tags, offsets))
    assert parsed.heads.tolist() == [2, 3, 0, 0, 0]
    with pytest.raises(ValueError, match="5 words, 4 tags"):
        parser.sentences(words, tags[:4], offsets)
    words, tags, offsets, _, _ = split(TEXT)
    sentences = parser.sentences(words, tags, offsets)
    for trees in (TreeConstraints(False, True), TreeConstraints(True, False), TreeConstraints(False, False)):
        assert parser.parse(sentences, constraints=trees).scores.sum() >= parser.parse(sentences).scores.sum() - 1e-9
    words, tags, offsets, heads, _ = split(TEXT)
    parsed = parser.parse(parser.sentences(words, tags, offsets), longest=4)
    assert parsed.flat.tolist() == [False, True, False, False, True]
    assert parsed.heads[3:8].tolist() == [0, 1, 1, 1, 1]
    assert parsed.heads[8:14].tolist() == heads[8:14].tolist()


def test_a_saved_parser_is_the_same_parser(parser, tmp_path):
    path = str(tmp_path / "m")
    parser.save(path)
    again = ParserModel.load(path)
    assert again.weights.tobytes() == parser.weights.tobytes()
    assert (again.constraints, again.settings, again.space.templates) == (
        parser.constraints,
        parser.settings,
        parser.space.templates,
    )
    assert again.labeler.weights.tobytes() == parser.labeler.weights.tobytes()
    words, tags, offsets, _, labels = split(TEXT)
    parsed = again.parse(again.sentences(words, tags, offsets))
    assert parsed.heads.tolist() == parser.parse(parser.sentences(words, tags, offsets)).heads.tolist()
    assert again.labeler.label(again.sentences(words, tags, offsets), parsed.heads) == labels
    again.save(str(tmp_path / "n"))
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()


def test_runs_and_threads_change_nothing(parser, monkeypatch):
    words, tags, offsets, _, _ = split(TEXT * 7)
    sentences = parser.sentences(words, tags, offsets)
    whole = parser.parse(sentences)
    monkeypatch.setattr(module, "CHUNK", 50)
    with Pool(3) as pool:
        parts = parser.parse(sentences, pool)
    assert parts.heads.tobytes() == whole.heads.tobytes()
    assert parts.scores.tobytes() == whole.scores.tobytes()


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
