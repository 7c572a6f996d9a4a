"""Word classes of a tagger, and what they add to taggers and parsers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aligntools as at
from aligntools.clustering.exchange import ClassSettings, apart, count_both, of_sides
from aligntools.formats.models.modelfile import read_model, write_model
from tests import naive_classes as naive
from tests.places import SAMPLES

TEXT = ["the dog barks", "a cat sleeps", "the cat barks", "a dog sleeps"] * 3
#: Two new words whose letters say nothing, and their classes.
CLASSES = at.ClassList([b"qqq", b"zzz", b"dog", b"cat", b"barks", b"sleeps"],
                       [b"0", b"1", b"0", b"0", b"1", b"1"], np.ones(6, np.int64), True)  # fmt: skip
TAGGED = ["the_DET dog_NOUN barks_VERB", "a_DET cat_NOUN sleeps_VERB"]


@pytest.fixture(scope="module")
def induced():
    return at.induce_tags(TEXT, states=4, iterations=30)


def test_tags_as_classes(induced):
    found = at.word_classes(TEXT, induced)
    assert dict(zip(found.words, found.counts.tolist(), strict=True)) == dict.fromkeys(
        [b"the", b"dog", b"barks", b"a", b"cat", b"sleeps"], 6
    )
    tags = {word.encode(): tag.encode() for word, tag in induced.tag("the dog barks")}
    assert all(found.classes[found.words.index(word)] == tag for word, tag in tags.items())
    plain, paths = at.word_classes(TEXT, induced), at.word_classes(TEXT, induced, paths=True)
    assert paths.paths
    assert paths.words == plain.words
    assert (
        len(set(zip(plain.classes, paths.classes, strict=True))) == len(set(plain.classes)) == len(set(paths.classes))
    )
    assert not any(b.startswith(a) for a in set(paths.classes) for b in set(paths.classes) if a != b)
    with pytest.raises(at.DataError, match="no words"):
        at.word_classes([""], induced)


def test_classes_of_unknown_words(tmp_path):
    tagger = at.train_tagger(TAGGED * 5, latent=1, classes=CLASSES)
    assert [tag for _, tag in tagger.tag(["the", "qqq", "zzz"])] == ["DET", "NOUN", "VERB"]
    assert tagger.model.unknown.probabilities([b"zzz"]).argmax() == tagger.tags.index("VERB")
    assert at.train_tagger(TAGGED * 5, latent=1).model.unknown.probabilities([b"zzz"]).max() < 0.9
    tagger.save(tmp_path / "tagger")
    again = at.Tagger.load(tmp_path / "tagger")  # without the list
    assert again.model.unknown.probabilities([b"zzz"]).tolist() == tagger.model.unknown.probabilities([b"zzz"]).tolist()
    classes = at.ClassList(["caf\u00e9".encode(), b"dog"], [b"1", b"0"], np.ones(2, np.int64))
    turned = "cafe\u0301"
    tagger = at.train_tagger([f"{turned}_VERB dog_NOUN"] * 3, latent=1, classes=classes)
    assert tagger.model.unknown.classes.find([turned.encode()]).tolist() == [1]


@pytest.mark.parametrize("paths", [True, False])
def test_parsers_score_edges_by_classes_and_keep_them(paths, tmp_path):
    treebank = str(SAMPLES / "en.conllu")
    tagger = at.induce_tags(str(SAMPLES / "en.txt"), states=6, iterations=10)
    classes = at.word_classes(str(SAMPLES / "en.txt"), tagger, paths=paths)
    parser = at.train_parser(treebank, classes=classes, iterations=15)
    assert ("f p | p" in parser.model.space.templates) == paths
    assert "c p | p" in parser.model.space.templates
    words, tags = ["the", "xyz", "leaves", "."], ["DET", "NOUN", "VERB", "PUNCT"]
    encoded = parser.model.sentences([w.encode() for w in words], [t.encode() for t in tags], np.array([0, 4]))
    assert len(encoded.layers) == 5
    assert encoded.layers[3:, 1].min() > 0
    assert encoded.layers[3:, 2].tolist() == [0, 0]
    parser.save(tmp_path / "parser")
    again = at.Parser.load(tmp_path / "parser")
    assert again.parse(words, tags).score == parser.parse(words, tags).score
    assert at.train_parser(treebank, features="delexicalized", classes=classes, iterations=2).n_features


def test_templates_and_parts(tmp_path):
    parser = at.train_parser(str(SAMPLES / "en.conllu"), classes=CLASSES, iterations=2)
    parser.save(tmp_path / "parser")
    header, arrays = read_model(tmp_path / "parser", "parser", True)
    write_model(tmp_path / "damaged", "parser", header | {"classes": False}, arrays)
    with pytest.raises(at.ModelError, match="no classes"):
        at.Parser.load(tmp_path / "damaged")
    treebank = str(SAMPLES / "en.conllu")
    whole = at.train_parser(treebank, classes=CLASSES, iterations=3)
    parts = at.train_parser(treebank, classes=CLASSES, iterations=3, tmpdir=tmp_path)
    assert whole.model.weights.tobytes() == parts.model.weights.tobytes()


PAIRS = st.lists(st.tuples(st.lists(st.integers(1, 4), min_size=1, max_size=4),
    st.lists(st.integers(1, 3), min_size=1, max_size=4), st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)))),
    min_size=1, max_size=6)  # fmt: skip


@given(PAIRS)
def test_pairs_of_both_texts_and_links_are_counted(pairs):
    expected = naive.pairs([s for s, _, _ in pairs])
    expected.update(naive.pairs([[w + 4 for w in t] for _, t, _ in pairs]))
    texts, links = [], ([], [])
    for k in (0, 1):
        rows = [pair[k] for pair in pairs]
        offsets = np.concatenate([[0], np.cumsum([len(r) for r in rows])]).astype(np.int64)
        texts.append((np.array([w for r in rows for w in r], np.int32), offsets, (5, 4)[k]))
    for n, (s, t, some) in enumerate(pairs):
        for i, j in some:
            if i < len(s) and j < len(t):
                expected[s[i], t[j] + 4] += 1
                links[0].append(texts[0][1][n] + i)
                links[1].append(texts[1][1][n] + j)
    found = count_both(*texts, (np.array(links[0], np.int64), np.array(links[1], np.int64)))
    counted = {}
    for w in range(8):
        for k in range(found.right_starts[w], found.right_starts[w + 1]):
            counted[w, int(found.right_words[k])] = int(found.right_counts[k])
    assert counted == {pair: n for pair, n in expected.items() if n}


def test_classes_of_sides_and_their_figures():
    texts = [(np.array([1, 1, 2], np.int32), np.array([0, 3]), 3), (np.array([1, 1, 2], np.int32), np.array([0, 3]), 3)]
    pairs = count_both(*texts, (np.zeros(1, np.int64), np.zeros(1, np.int64)))
    moves = apart(pairs, 3, ClassSettings(number=2, min_count=2))
    assert moves.ranges.tolist() == [[0, 1], [1, 3], [5, 6], [3, 5], [6, 7]]
    source, target = of_sides(np.array([0, 2, 5, 4, 6], np.int32), 3, 2)
    assert source.tolist() == [0, 2, 3]
    assert target.tolist() == [0, 2, 3]
    text = [["a", "dog", "barks"], ["the", "cat"], [], ["a", "cat", "barks"]]
    found = at.train_classes(text, number=2)
    ids = {word: k + 1 for k, word in enumerate(found.words)}
    counts = naive.pairs([[ids[w.encode()] for w in row] for row in text])
    classes = [0, *found.classes.tolist()]
    total = sum(counts.values())
    assert found.perplexity == pytest.approx(np.exp(-naive.log_likelihood(counts, classes) / total))
    assert found.information == pytest.approx(naive.information(counts, classes))


def test_words_are_found_by_name_and_forms_agree(tmp_path):
    found = at.train_classes(["a dog barks", "the cat sleeps", "a cat barks", "the dog sleeps"], number=3)
    assert found["a"] == found["the"] != found["dog"] == found["cat"]
    with pytest.raises(KeyError):
        found["bird"]
    assert len(found) == 6
    assert repr(found) == "<WordClasses of 6 words in 3 classes>"
    found.save(tmp_path / "c")
    read = at.read_classes(tmp_path / "c")
    assert dict(zip(read.words, read.classes, strict=True)) == {
        word: b"%d" % (k + 1) for word, k in zip(found.words, found.classes.tolist(), strict=True)
    }
    found.save(tmp_path / "p", "paths")
    assert at.read_classes(tmp_path / "p").paths
    with pytest.raises(at.UsageProblem, match="no form 'csv' of classes"):
        found.format("csv")
