"""Which words look alike: keys and tiers against their definition."""

import itertools
import os
import subprocess
import sys
import unicodedata
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.aligning.applying import kernels_decoding
from aligntools.aligning.applying.applier import Applier
from aligntools.aligning.memory import needed_for_training
from aligntools.aligning.model import WEIGHT
from aligntools.aligning.settings import FEW, MERGES, SEVERAL, AlignerSettings
from aligntools.aligning.text import kernels_look_alikes as kl
from aligntools.aligning.text import look_alikes, subwords
from aligntools.aligning.text.link_matrices import plan_chunks
from aligntools.aligning.text.look_alikes import look_alike_keys, romanized
from aligntools.aligning.text.subwords import cut_sides, learn_subwords
from aligntools.aligning.text.views import CutSide, collapse, cut, cut_words, simplify, view_text
from aligntools.aligning.training import train_model as training
from aligntools.aligning.training.train_model import count_steps, train_model
from aligntools.formats.text.corpus import Bitext, Side, Skipped
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.words.vocabulary import Vocabulary
from tests import naive_subwords as naive
from tests.cli.running import ROOT

WORDS = ["", "Haus", "häuser", "hauses", "haut", "1984", "…", "ÉTÉ", "ete", "ete", "日本語", "한국어"]


@pytest.mark.parametrize(
    ("word", "plain"),
    [
        ("été", "ete"),
        ("naïve", "naive"),
        ("e\N{COMBINING ACUTE ACCENT}te", "ete"),
        ("λόγος", "λογος"),
        ("한국어", "한국어"),  # stays in syllables
        ("straße", "straße"),
        ("\N{COMBINING ACUTE ACCENT}", "\N{COMBINING ACUTE ACCENT}"),  # nothing would be left
        ("plain", "plain"),
    ],
)
def test_accents_are_stripped(word, plain):
    assert simplify(word) == plain


@given(st.text(min_size=1))
def test_simplifying_is_done_at_once_and_leaves_something(word):
    plain = simplify(word)
    assert plain
    assert simplify(plain) == plain
    assert simplify(unicodedata.normalize("NFD", word)) == simplify(unicodedata.normalize("NFC", word))


@pytest.mark.parametrize(
    ("word", "length", "beginning"),
    [
        ("Häusern", 5, "Hause"), ("новости", 4, "ново"), ("국제연합", 3, "국제연"), ("国际法院", 5, "国际"),
        ("国际法院", 4, "国"), ("国际法院", 3, "国"), ("ありがとう", 5, "あり"), ("国", 5, "国"),
        ("国际法院", 0, "国际法院"), ("𠀋", 5, "𠀋"), ("国际", 1, "国"),
    ],
)  # fmt: skip
def test_words_are_cut_by_what_their_characters_say(word, length, beginning):
    assert cut(word, length) == beginning


@given(st.lists(st.text(min_size=1, max_size=6), unique=True, max_size=12), st.integers(0, 5))
def test_a_view_maps_words_to_their_beginnings(words, length):
    words = ["", *words]
    different, mapping = cut_words(words, length)
    assert [different[i] for i in mapping] == [cut(w, length) if w else "" for w in words]
    assert len(set(different)) == len(different)
    assert different[0] == ""
    assert mapping.dtype == np.int32
    order = list(dict.fromkeys(mapping.tolist()))
    assert order == sorted(order)  # in order of first occurrence


def german():
    """A text whose two sides are alike."""
    vocabulary = Vocabulary.from_words(["haus", "häuser", "häusern", "12"])
    sides = [Side(np.array([1, 2, 3, 4, 2], np.int32), np.array([0, 2, 2, 5])) for _ in range(2)]
    return Bitext(*sides, vocabulary, vocabulary, Skipped())


@pytest.mark.parametrize("length", [0, 3, 5])
def test_a_text_seen_through_a_view(length):
    bitext = german()
    text = view_text(bitext, length)
    for side, plain, words, mapping, keys in (
        (text.source, bitext.source, text.words.s_words, text.words.s_map, text.words.s_keys),
        (text.target, bitext.target, text.words.t_words, text.words.t_map, text.words.t_keys),
    ):
        whole = [bitext.source_vocabulary.word(int(i)) for i in plain.tokens]
        assert [words[i] for i in side.tokens] == [cut(word, length) for word in whole]
        assert side.offsets is plain.offsets
        assert len(side) == 3
        assert side.lengths().tolist() == [2, 0, 3]
        assert mapping[-1] == len(words)  # where unknown words go
        assert (len(mapping), len(keys)) == (6, len(words) + 1)
        assert not keys[-1].any()
    assert text.words.s_ids == {word: i for i, word in enumerate(text.words.s_words)}


def test_cutting_a_text_in_place_is_the_same_view():
    whole, bitext = view_text(german(), 4), german()
    collapse(bitext, 4)
    again = view_text(bitext, 4)
    assert isinstance(bitext.target, CutSide)
    np.testing.assert_array_equal(again.source.tokens, whole.source.tokens)
    np.testing.assert_array_equal(again.target.tokens, whole.target.tokens)
    assert again.words.s_words == whole.words.s_words
    for name in ("s_map", "t_map", "s_keys", "t_keys"):
        np.testing.assert_array_equal(getattr(again.words, name), getattr(whole.words, name))


ALIKE = ["Haus", "haus", "hausboot", "häuser", "Москва", "moskau", "Mississippi", "missisipi", "12", "12-a", "...", "№"]


def common_subsequence(a, b):
    rows = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            rows[i + 1][j + 1] = rows[i][j] + 1 if x == y else max(rows[i][j + 1], rows[i + 1][j])
    return rows[-1][-1]


def tier(a, b):
    """The definition: 1 the same word, 2 no letters in both, from 3 on by the share of letters in common."""
    a, b = simplify(a), simplify(b)
    if a == b:
        return kl.SAME
    kinds = [any(c.isalpha() for c in word) for word in (a, b)]
    if not any(kinds):
        return kl.SYMBOLS
    a, b = (romanized(word)[: kl.LETTERS] for word in (a, b))
    if not all(kinds) or min(len(a), len(b)) < kl.FEWEST:
        return 0
    share = 2 * common_subsequence(a, b) / (len(a) + len(b))
    return next((kl.BEST + k for k, least in enumerate(kl.SHARES) if share >= least), 0)


@given(
    st.lists(
        st.sampled_from(ALIKE) | st.text(min_size=1) | st.text("abcaé", min_size=4, max_size=25), min_size=2, max_size=8
    )
)
def test_tiers_are_what_they_are_defined_to_be(words):
    keys = look_alike_keys(["", *words])
    assert (keys.dtype, keys.shape) == (np.int32, (len(words) + 1, kl.KEY))
    assert not keys[0].any()
    for a, first in enumerate(words, 1):
        assert kl.tier(keys[0], keys[a]) == 0
        for b, second in enumerate(words, 1):
            assert kl.tier(keys[a], keys[b]) == tier(first, second), (first, second)


@pytest.mark.parametrize(
    ("word", "letters"),
    [("Москва", "moskwa"), ("Philosophie", "filosofie"), ("Théâtre", "teatre"), ("Zürich-2", "surikh2"), ("…", "")],
)
def test_words_in_latin_letters(word, letters):
    assert romanized(word) == letters


def test_names_in_two_scripts_whatever_is_beside(monkeypatch):
    keys = look_alike_keys(["Москва", "Moskwa", "Moskow", "Paris"])
    assert [int(kl.tier(keys[0], keys[x])) for x in (1, 2, 3)] == [kl.BEST, kl.BEST + 2, 0]
    whole = look_alike_keys(["", *ALIKE])
    monkeypatch.setattr(look_alikes, "_RUN", 3)
    assert look_alike_keys(["", *ALIKE]).tolist() == whole.tolist()
    assert [look_alike_keys([word])[0].tolist() for word in ["", *ALIKE]] == whole.tolist()


def test_keys_are_the_same_in_every_process():
    words = ["", "Haus", "été", "12", "Москва"]
    code = f"from aligntools.aligning.text.look_alikes import look_alike_keys as k; print(k({words!r}).tolist())"
    env = os.environ | {"PYTHONHASHSEED": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, check=True)
    assert done.stdout == f"{look_alike_keys(words).tolist()}\n".encode()


def pieces_of(learned, word):
    sizes, ids, pieces = learned.cut([word])
    assert sizes.tolist() == [len(ids)]
    return [pieces[n] for n in ids]


TO_CUT = st.lists(st.text("abcd", min_size=1, max_size=7), min_size=1, max_size=12, unique=True)


@given(TO_CUT, st.data(), st.integers(0, 12))
def test_merges_are_those_of_counting_anew_after_each(words, data, merges):
    counts = data.draw(st.lists(st.integers(0, 4), min_size=len(words), max_size=len(words)))
    assert learn_subwords(words, counts, merges).merges == naive.byte_pairs(words, counts, merges)


@given(TO_CUT, st.integers(0, 12), st.text("abcde", max_size=9))
def test_pieces_spell_the_word(words, merges, word):
    learned = learn_subwords(words, [2] * len(words), merges)
    pieces = pieces_of(learned, word)
    assert "".join(pieces) == word
    assert all(pieces)
    assert not set(itertools.pairwise(pieces)) & set(learned.merges)


@given(TO_CUT, st.integers(0, 12), st.lists(st.text("abcé汉😀", max_size=6)))
def test_words_are_cut_by_the_merge_that_was_learned_first(words, merges, others):
    learned = learn_subwords(words, [2] * len(words), merges)
    expected = [naive.cut(word, learned.merges) for word in others]
    sizes, ids, pieces = learned.cut(others)
    assert sizes.tolist() == [len(cut) for cut in expected]
    assert [pieces[n] for n in ids] == list(itertools.chain(*expected))
    assert pieces == list(dict.fromkeys(itertools.chain(*expected)))


def test_which_pieces_meet():
    """First *bc*, then *a bc*, *abc d*; a later *ab c* is the same piece, and is merged with *d* too."""
    words, counts = ["bc", "abcd", "ab", "zabcd", "zab"], [50, 9, 40, 3, 45]
    for merges in range(9):
        assert learn_subwords(words, counts, merges).merges == naive.byte_pairs(words, counts, merges)
    words = ["haus", "häuser", "hauses", "bauhaus", "baum", "bäume", "hausbaum"]
    learned = learn_subwords(words, [9, 4, 9, 3, 9, 4, 2], 9)
    assert pieces_of(learned, "baumhaus") == ["baum", "haus"]
    assert pieces_of(learned, "hausbaumes") == ["haus", "baum", "es"]
    assert pieces_of(learned, "x" * 61) == ["x" * 61]
    assert pieces_of(learned, "") == []
    assert learn_subwords(["ab", "cd"], [1, 1], 9).merges == []
    assert learn_subwords(["ab", "abc"], [1, 1], 9).merges == [("a", "b")]


@given(st.lists(st.text("a", min_size=1, max_size=9), min_size=1, max_size=4, unique=True), st.integers(0, 5))
def test_runs_of_a_letter_are_merged_from_the_left(words, merges):
    learned = learn_subwords(words, [3] * len(words), merges)
    assert learned.merges == naive.byte_pairs(words, [3] * len(words), merges)
    assert pieces_of(learned, "a" * 11) == naive.cut("a" * 11, learned.merges)


def test_a_text_in_pieces(monkeypatch):
    tokens, offsets = np.array([2, 1, 3, 1, 1], np.int32), np.array([0, 2, 2, 5], np.int64)
    sizes, ids = np.array([0, 1, 3, 2]), np.array([7, 4, 5, 6, 7, 8], np.int32)
    source, target = cut_sides((tokens, offsets, sizes, ids), (tokens[::-1], offsets, sizes, ids))
    assert source.tokens.tolist() == [4, 5, 6, 7, 7, 8, 7, 7]
    assert source.offsets.tolist() == [0, 4, 4, 8]
    assert source.starts.tolist() == [0, 3, 4, 6, 7, 8]
    assert target.tokens.tolist() == [7, 7, 7, 8, 7, 4, 5, 6]
    monkeypatch.setattr(subwords, "MOST", 4)
    source, target = cut_sides((tokens, offsets, sizes, ids), (tokens[::-1], offsets, sizes, ids))
    assert source.tokens.tolist() == [4, 5, 6, 7]  # the other side of the last pair has five
    assert (source.offsets.tolist(), target.offsets.tolist()) == ([0, 4, 4, 4], [0, 2, 2, 2])
    assert target.starts.tolist() == [0, 1, 2, 4, 5, 8]


@given(st.data())
def test_words_are_linked_unless_none_of_their_pieces_are(data):
    sizes = st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=4), min_size=2, max_size=3)
    source = data.draw(sizes)
    target = [data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=4)) for _ in source]
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    left_out = data.draw(st.integers(0, len(source)))  # this sentence has no pieces

    def offsets(parts):
        return np.concatenate([[0], np.cumsum(parts)]).astype(np.int64)

    words = [offsets([len(x) for x in side]) for side in (source, target)]
    starts = [offsets([n for x in side for n in x]) for side in (source, target)]
    pieces = [rng.random((sum(s), sum(t)), np.float32) for s, t in zip(source, target, strict=True)]
    total = [rng.random((len(s), len(t)), np.float32) for s, t in zip(source, target, strict=True)]
    expected = [
        t if k == left_out else 0.75 * t + 0.25 * naive.words_of_pieces(p, s, u)
        for k, (t, p, s, u) in enumerate(zip(total, pieces, source, target, strict=True))
    ]
    kept = [p for k, p in enumerate(pieces) if k != left_out]
    cells = np.concatenate([x.ravel() for x in total])
    kernels_decoding.fold_block(
        0, len(source), 0, *words, offsets([x.size for x in total]), *starts,
        offsets([0 if k == left_out else p.size for k, p in enumerate(pieces)]),
        np.concatenate([p.ravel() for p in kept]), np.float32(0.25), cells,
    )  # fmt: skip
    np.testing.assert_allclose(cells, np.concatenate([x.ravel() for x in expected]), rtol=1e-5)


@pytest.fixture(scope="module")
def model(sample_bitext):
    settings = AlignerSettings(views=(0,), sweeps=6, subwords=300).resolved(1)
    with Pool(2) as pool:
        return train_model(sample_bitext, settings, pool)


def test_the_pieces_have_their_say(model, sample_bitext, monkeypatch):
    """The posteriors are the mean of those of the words alone and of the pieces alone, by the weight."""

    def posteriors(subwords):
        with Pool(1) as pool:
            found = Applier(model.views, model.settings, model.sizes, subwords=subwords).posteriors(sample_bitext, pool)
            return np.concatenate([p.forward[: p.cell_offsets[-1]].copy() for p in found])

    both, words = posteriors(model.subwords), posteriors(None)
    monkeypatch.setattr("aligntools.aligning.applying.applier.WEIGHT", 1.0)
    np.testing.assert_allclose(both, (1 - WEIGHT) * words + WEIGHT * posteriors(model.subwords), atol=1e-6)
    assert abs(both - words).max() > 0.1


def test_threads_and_steps(model, sample_bitext, tmp_path):
    steps = []
    with Pool(1) as pool:
        again = train_model(sample_bitext, model.settings, pool, report=steps.append)
    for found, name in ((model, "a"), (again, "b")):
        found.save(str(tmp_path / name))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert Counter(step["view"] for step in steps)["subwords"] == len(steps) / 2
    assert len(steps) == count_steps(model.settings, None, False)


def test_pieces_of_a_large_text_are_learned_from_a_part(model, sample_bitext, monkeypatch):
    monkeypatch.setattr(training, "TOKENS", len(sample_bitext.source.tokens) // 3)
    with Pool(1) as pool:
        part = train_model(sample_bitext, model.settings, pool)
    assert part.subwords.source.merges == model.subwords.source.merges  # those of all words
    counts = [float(m.subwords.model.counts[0].sum()) for m in (part, model)]
    assert 0.2 < counts[0] / counts[1] < 0.5
    assert (part.views[0].counts[0] == model.views[0].counts[0]).all()


def test_training_with_pieces(model, sample_bitext):
    with Pool(1) as pool:
        more = train_model(sample_bitext, model.settings, pool, start=model)
    assert more.subwords.source.merges == model.subwords.source.merges
    assert more.subwords.model.counts[0].sum() > 1.5 * model.subwords.model.counts[0].sum()
    with Pool(1) as pool:
        applier = Applier(model.views, model.settings, model.sizes, 5_000, model.subwords)
        runs = [[(p.k0, p.k1) for p in applier.posteriors(sample_bitext, pool, viterbi=way)] for way in (False, True)]
    assert runs[0] == runs[1]
    assert len(runs[0]) > len(list(plan_chunks(sample_bitext.source.lengths(), sample_bitext.target.lengths(), 5_000)))


def test_settings(sample_bitext):
    for n_tokens, members, merges in (
        (1, 4, MERGES),
        (FEW, 4, MERGES),
        (FEW + 1, 3, MERGES),
        (SEVERAL, 3, MERGES),
        (SEVERAL + 1, 1, 0),
    ):
        settings = AlignerSettings().resolved(n_tokens)
        assert (len(settings.views), settings.subwords) == (members, merges)
        assert settings.resolved(1) == settings
    for n_tokens, fast, hmm in ((SEVERAL, 4, 4), (SEVERAL + 1, 2, 4)):
        assert AlignerSettings(fast=True).resolved(n_tokens).iterations == fast
        assert AlignerSettings("hmm", fast=True).resolved(n_tokens).iterations == hmm
    for words in ({"views": (0, 5)}, {"model_type": "hmm"}, {"subwords": 0}, {"agreement": False}):
        assert AlignerSettings(**words).resolved(FEW + 1).subwords == 0
    assert AlignerSettings(subwords=0).resolved(FEW + 1).views == (0, 5, 4, 3)
    settings = AlignerSettings(subwords=0).resolved(1)
    for wrong in ({"model_type": "ibm1"}, {"agreement": False}, {"model_type": "hmm", "direction": "forward"}):
        with pytest.raises(UsageProblem, match="both directions together"):
            AlignerSettings(subwords=9, **wrong).resolved(1)
    more = replace(settings, subwords=9)
    assert needed_for_training(sample_bitext, more) > needed_for_training(sample_bitext, settings)


def test_sentences_of_too_many_pieces_keep_what_words_say(model, sample_bitext, monkeypatch):
    monkeypatch.setattr(subwords, "MOST", 0)
    with Pool(1) as pool:
        found = [
            [
                p.forward.copy()
                for p in Applier(model.views, model.settings, model.sizes, subwords=x).posteriors(sample_bitext, pool)
            ]
            for x in (model.subwords, None)
        ]
    np.testing.assert_array_equal(*map(np.concatenate, found))
