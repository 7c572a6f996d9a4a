"""Words cut into pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.encoding.pieces import LibraryCutter, Pieces, UnigramCutter, runs
from tests import naive_encoding
from tests.encoding import tiny

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
        ("\u200b", [], []),
        ("", [], []),
        ("\x1f\xa0", [], []),
        ("a\u200b", ["▁a"], [(0, 1)]),
        ("\u200bab", ["▁ab"], [(1, 3)]),
        ("A", ["▁a"], [(0, 1)]),
        ("…", ["▁", ".", ".", "."], [(0, 0), (0, 1), (0, 1), (0, 1)]),
        ("a\xa0\xa0the", ["▁a", "▁the"], [(0, 1), (1, 6)]),
    ],
)
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
