"""Word classes from Python: what they are called, and pairs of two languages, against the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aligntools as at
from aligntools.clustering.exchange import ClassSettings, apart, count_both, of_sides
from tests import naive_classes as naive

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
