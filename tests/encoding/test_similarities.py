"""Similarities of words, and the map that is learned."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.encoding import similarities, word_map
from aligntools.encoding.pieces import LibraryCutter, Pieces, UnigramCutter, runs
from aligntools.encoding.similarities import unit
from aligntools.ground.parallel import Pool
from tests import naive_encoding
from tests import naive_encoding as naive
from tests.encoding import tiny


def states(rng, words, width=6, layers=1):
    return rng.standard_normal((layers, words, width)).astype(np.float32)


def test_hubs_and_sides():
    """A word that is near to all is no better for anything."""
    cosines = np.array([[0.9, 0.8, 0.8], [0.9, 0.7, 0.2], [0.9, 0.2, 0.7]], np.float32)
    found = similarities.unhubbed(cosines)
    np.testing.assert_allclose(found, cosines - cosines.mean(1)[:, None] / 2 - cosines.mean(0) / 2, rtol=1e-6)
    assert np.argmax(found[0]) != 0
    rng = np.random.default_rng(1)
    a, b = states(rng, 4), states(rng, 3)
    one, other = similarities.compare_pair(a, b), similarities.compare_pair(b, a)
    np.testing.assert_allclose(one[0], other[0].T, atol=1e-6)
    np.testing.assert_allclose(one[1], other[2].T, atol=1e-6)
    rng = np.random.default_rng(1)
    a, b = states(rng, 3), states(rng, 3)
    a[:, 1] = 0
    found = similarities.compare_pair(a, b)
    assert not found[1][1].any()
    assert not found[2][1].any()
    np.testing.assert_allclose(found[2].sum(0), 1, rtol=1e-5)
    for one in (a[:, :0], a * 0):
        assert not any(found.any() for found in similarities.compare_pair(one, b))


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 3), st.integers(0, 1000))
def test_shares_sum_to_one(n, m, layers, seed):
    rng = np.random.default_rng(seed)
    found = similarities.compare_pair(states(rng, n, 6, layers), states(rng, m, 6, layers))
    np.testing.assert_allclose(found[1].sum(1), 1, rtol=1e-5)
    np.testing.assert_allclose(found[2].sum(0), 1, rtol=1e-5)


def pair(rng, n, m, width=6):
    links = (rng.random((n, m)) < 0.3) * rng.choice([0.5, 1.0], (n, m))
    return word_map.Linked(states(rng, n, width)[0], states(rng, m, width)[0], links.astype(np.float32))


def test_the_loss_and_its_derivative():
    rng = np.random.default_rng(4)
    pairs = [
        pair(rng, 4, 5),
        pair(rng, 3, 2),
        word_map.Linked(*(2 * [states(rng, 2)[0]]), np.zeros((2, 2), np.float32)),
    ]
    matrix = np.eye(6) + 0.2 * rng.standard_normal((6, 6))
    exact = [word_map.Linked(p.source.astype(float), p.target.astype(float), p.links.astype(float)) for p in pairs]
    total, derivative, words = word_map.loss(matrix, exact, 4.0)
    naive = sum(
        naive_encoding.cross_entropy(p.source.tolist(), p.target.tolist(), p.links.tolist(), matrix.tolist(), 4.0, 0.5)
        for p in exact
    )
    assert total == pytest.approx(naive, rel=1e-6)
    assert words == sum(int(p.links.any(0).sum() + p.links.any(1).sum()) for p in pairs)
    for i, j in [(0, 0), (2, 5), (5, 1), (3, 3)]:
        moved = np.zeros((6, 6))
        moved[i, j] = 1e-5
        change = word_map.loss(matrix + moved, exact, 4.0)[0] - word_map.loss(matrix - moved, exact, 4.0)[0]
        assert derivative[i, j] == pytest.approx(change / 2e-5, rel=1e-4, abs=1e-6)


def test_maps_that_are_learned_and_kept():
    """Translations whose states are a mixture: a map that weighs the half that they share is found."""
    rng = np.random.default_rng(5)
    pairs = []
    for _ in range(120):
        shared = rng.standard_normal((6, 8))
        sides = [np.concatenate([shared, 2 * rng.standard_normal((6, 8))], 1).astype(np.float32) for _ in range(2)]
        pairs.append(word_map.Linked(*sides, np.eye(6, dtype=np.float32)))
    found = word_map.learn(pairs[:100], passes=12, rate=1e-2)
    before, after = (word_map.loss(m, pairs[100:])[0] for m in (np.eye(16, dtype=np.float32), found))
    assert after < 0.5 * before
    assert found.tobytes() == word_map.learn(pairs[:100], passes=12, rate=1e-2).tobytes()
    rng = np.random.default_rng(6)
    first = word_map.WordMap((6, 7), rng.standard_normal((2, 6, 6)).astype(np.float32))
    again = word_map.WordMap.from_parts(*first.parts())
    assert again.layers == (6, 7)
    np.testing.assert_allclose(again.matrices, first.matrices, atol=2e-3)
    np.testing.assert_allclose(first(states(rng, 3, 6, 2)).shape, (2, 3, 6))
    header, arrays = first.parts()
    for wrong in ({"layers": [6]}, {"layers": ["x", 7]}, {}):
        with pytest.raises((ValueError, KeyError)):
            word_map.WordMap.from_parts(wrong, arrays)
    with pytest.raises(ValueError, match="matrices"):
        word_map.WordMap.from_parts(header, {"matrices": np.zeros((2, 6, 5))})


def vectors(seed, words, width=6, none=0.2):
    rng = np.random.default_rng(seed)
    found = rng.standard_normal((words, width)).astype(np.float32)
    found[rng.random(words) < none] = 0
    return found


def test_what_is_usual_and_threads():
    of = similarities.nearest_of
    assert [of(n, n) for n in (3, 30, 1000, 5000, 20_000, 10**6)] == [3, 10, 200, 300, 99, 10]
    assert of(4, 10**6) == 4
    assert of(10**6, 500) == 10
    source, target = vectors(1, 1300, 40), vectors(2, 900, 40)
    (pairs, margins), (same, again) = near(source, target, 1), near(source, target, 3)
    assert pairs.tobytes() == same.tobytes()
    assert margins.tobytes() == again.tobytes()
    assert len(np.unique(pairs[:, 0])) > 600  # over several blocks
    source, target = vectors(3, 50), vectors(4, 50)
    pairs, _ = near(source, target)
    assert source[pairs[:, 0]].any(1).all()
    assert target[pairs[:, 1]].any(1).all()
    none = np.zeros((7, 6), np.float32)
    for a, b in ((none, target), (source, none), (source[:0], target)):
        pairs, margins = near(a, b)
        assert pairs.shape == (0, 2)
        assert not len(margins)


def near(source, target, threads=1):
    with Pool(threads) as pool:
        return similarities.near_pairs(source, target, pool)


@given(st.integers(0, 10**6), st.integers(0, 40), st.integers(0, 40), st.integers(1, 7), st.integers(1, 9))
def test_as_plain_loops_whatever_the_blocks(seed, words, others, rows, columns):
    source, target = vectors(seed, words), vectors(seed + 1, others)
    count = similarities.nearest_of(int(source.any(1).sum()), int(target.any(1).sum()))
    wanted = naive.near_pairs(source.tolist(), target.tolist(), count)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(similarities, "_ROWS", rows)
        patch.setattr(similarities, "_COLUMNS", columns)
        pairs, margins = near(source, target)
    found = dict(zip(map(tuple, pairs.tolist()), margins.tolist(), strict=True))
    doubtful = {pair for pair in wanted.keys() ^ found.keys() if max(wanted.get(pair, 0), found.get(pair, 0)) > 1e-5}
    assert not doubtful
    assert {p: m for p, m in found.items() if p in wanted} == pytest.approx(
        {p: m for p, m in wanted.items() if p in found}, abs=1e-5
    )
    assert pairs.tolist() == sorted(pairs.tolist())
    assert (margins > 0).all()


@given(st.integers(0, 10**6), st.sampled_from([-90, -20, 20, 90]))
def test_lengths_of_vectors_do_not_matter(seed, power):
    source, target = vectors(seed, 30), vectors(seed + 1, 20)
    pairs, margins = near(source, target)
    same, again = near(source * np.float32(2.0**power), target)
    assert pairs.tobytes() == same.tobytes()
    assert margins.tobytes() == again.tobytes()


def test_of_many_words_the_first_are_compared(monkeypatch):
    source, target = vectors(6, 50), vectors(7, 60)
    monkeypatch.setattr(similarities, "WORDS", 30)
    pairs, margins = near(source, target)
    first = [np.flatnonzero(side.any(1))[29] + 1 for side in (source, target)]
    same, again = near(source[: first[0]], target[: first[1]])
    assert pairs.tolist() == same.tolist()
    assert margins.tolist() == again.tolist()
    assert len(pairs)


def test_a_hub_is_nobodys_translation():
    """A word that is near to all words of the other side is left out, though its cosines are the highest."""
    rng = np.random.default_rng(5)
    words = rng.standard_normal((60, 40)).astype(np.float32) + np.float32(2.0)  # all share a direction
    hub = np.full((1, 40), 2.0, np.float32)
    others = np.concatenate([words + rng.standard_normal(words.shape).astype(np.float32), hub])
    one, other = (unit(side) for side in (words, others))
    assert (np.argmax(one @ other.T, 1) == 60).sum() > 10
    pairs, margins = near(words, others)
    best = {}
    for (i, j), margin in zip(pairs.tolist(), margins.tolist(), strict=True):
        best[i] = max(best.get(i, (0, -1)), (margin, j))
    assert all(j == i for i, (_, j) in best.items())
    assert len(best) == 60


NAMES, SCORES = tiny.pieces()
#: What Thai, Chinese and Japanese, Latin words, and a word between them look like.
CUTTER = UnigramCutter(NAMES, SCORES.tolist(), 0, 2, 3, tiny.REPLACED)


def shown(numbers):
    return [NAMES[n] for n in numbers]


@given(st.text("abcdestzq猫が", min_size=1, max_size=9))
def test_the_best_cut_is_found(word):
    scores = {name: float(score) for name, score in zip(NAMES, SCORES, strict=True) if name not in tiny.SPECIAL}
    unknown = float(min(SCORES)) - 10
    best = max(score for score, _ in naive_encoding.segmentations("▁" + word, scores, unknown))
    numbers, spans = CUTTER.cut(word)
    cost = sum(unknown * (b - a) if n == 3 else float(SCORES[n]) for n, (a, b) in zip(numbers, spans, strict=True))
    assert cost == pytest.approx(best, abs=1e-4)
    assert "".join(word[a:b] for a, b in spans) == word


def test_words_and_spaces():
    numbers, spans = CUTTER.cut("aqqzb")
    assert shown(numbers) == ["▁a", "<unk>", "b"]
    assert spans == [(0, 1), (1, 4), (4, 5)]
    numbers, spans = CUTTER.cut("が")
    assert shown(numbers) == ["▁", "が"]
    assert spans == [(0, 0), (0, 1)]
    numbers, spans = CUTTER.cut("ab" * 5000)
    assert shown(numbers)[:3] == ["▁ab", "a", "b"]
    assert spans[-1][1] == 10_000
    assert runs(["the", "猫", "が", ".", "い", "る"]) == [(0, 1), (1, 3), (3, 4), (4, 6)]
    assert runs(["", "猫", "", "が"]) == [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert runs(["แมว", "กิน", "한국", "어"]) == [(0, 2), (2, 3), (3, 4)]
    pieces = Pieces(CUTTER)
    first, second = (pieces.cut(["abc", "the"]) for _ in range(2))
    assert first.pieces.tolist() == second.pieces.tolist()


@pytest.mark.parametrize(
    ("word", "pieces", "spans"),
    [
        ("\u200b", [], []), ("", [], []), ("\x1f\xa0", [], []), ("a\u200b", ["▁a"], [(0, 1)]),
        ("\u200bab", ["▁ab"], [(1, 3)]), ("A", ["▁a"], [(0, 1)]),
        ("…", ["▁", ".", ".", "."], [(0, 0), (0, 1), (0, 1), (0, 1)]),
        ("a\xa0\xa0the", ["▁a", "▁the"], [(0, 1), (1, 6)]),
    ],
)  # fmt: skip
def test_replaced_characters(word, pieces, spans):
    numbers, found = CUTTER.cut(word)
    assert (shown(numbers), found) == (pieces, spans)


def test_a_piece_may_be_of_two_words():
    cut = Pieces(CUTTER).cut(["the", "猫", "が", "い", "る", "cat"])
    names = shown(cut.pieces)
    of = [[names[p] for p, w in zip(cut.of, cut.word, strict=True) if w == k] for k in range(cut.words)]
    assert names == ["▁the", "▁", "猫が", "い", "る", "▁cat"]
    assert of == [["▁the"], ["猫が"], ["猫が"], ["い"], ["る"], ["▁cat"]]


@given(st.lists(st.sampled_from(["猫", "が", "い", "る", "猫い", "a", "the", "\u200b", "zz", "…", "猫a"]), max_size=8))
def test_every_word_has_its_pieces(words):
    """Words of a sentence have pieces unless nothing is left of them, numbered within the sentence, in order."""
    cut = Pieces(CUTTER).cut(words)
    assert cut.words == len(words)
    assert set(cut.word) == {k for k, word in enumerate(words) if word != "\u200b"}
    assert list(cut.word) == sorted(cut.word)
    assert all(0 <= piece < len(cut.pieces) for piece in cut.of)


@given(word=st.text("abcdesthq.猫がい", min_size=1, max_size=12))
def test_the_library_cuts_alike(word):
    tokenizers = pytest.importorskip("tokenizers")
    vocabulary = list(zip(NAMES, SCORES.tolist(), strict=True))
    model = tokenizers.Tokenizer(tokenizers.models.Unigram(vocabulary, unk_id=3, byte_fallback=False))
    assert model.encode("▁" + word, add_special_tokens=False).ids == CUTTER.cut(word)[0]


def test_a_tokenizer_without_ends(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    model = tokenizers.Tokenizer(tokenizers.models.Unigram([("a", 0.0)], unk_id=0, byte_fallback=False))
    with pytest.raises(ValueError, match="one piece before a text"):
        LibraryCutter(model)
