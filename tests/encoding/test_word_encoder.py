"""USE: an encoder of words by themselves, where its package is installed."""

import importlib.metadata
import importlib.util

import numpy as np
import pytest

from aligntools.encoding import similarities, word_encoder
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool

installed = pytest.mark.skipif(importlib.util.find_spec(word_encoder.MODULE) is None, reason="USE is not installed")
ENGLISH = ["house", "water", "Tuesday", "green", "mother", "seven", "of", "write"]
GERMAN = ["Haus", "Wasser", "Dienstag", "grün", "Mutter", "sieben", "von", "schreiben"]


@installed
def test_translations_are_near_to_each_other():
    with Pool(1) as pool:
        sides = [word_encoder.word_vectors(words, pool) for words in (ENGLISH, GERMAN)]
    assert [side.shape for side in sides] == [(8, word_encoder.WIDTH)] * 2
    one, other = map(similarities.centered, sides)
    assert (one @ other.T).argmax(1).tolist() == list(range(8))


@installed
def test_the_same_bytes_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(word_encoder, "_WORDS", 7)
    words = [f"{word}{n}" for n in range(5) for word in ENGLISH + GERMAN] + ["", "\u200b", "x" * 10_000, "\ud800"]
    found = []
    for threads in (1, 3):
        with Pool(threads) as pool:
            found.append(word_encoder.word_vectors(words, pool))
    assert found[0].tobytes() == found[1].tobytes()
    assert np.isfinite(found[0]).all()
    assert word_encoder.word_vectors([], Pool(1)).shape == (0, word_encoder.WIDTH)


@installed
def test_words_beyond_what_is_compared_are_left_out(monkeypatch):
    whole = word_encoder.word_vectors(ENGLISH, Pool(1))
    monkeypatch.setattr(word_encoder, "WORDS", 5)
    found = word_encoder.word_vectors(ENGLISH, Pool(1))
    np.testing.assert_allclose(found[:5], whole[:5], atol=1e-6)
    assert not found[5:].any()


@installed
def test_letters_beyond_are_not_looked_at():
    found = word_encoder.word_vectors(["a" * 200, "a" * 200 + "b"], Pool(1))
    assert found[0].tobytes() == found[1].tobytes()


def test_what_is_not_installed_or_of_another_version_is_one_line(monkeypatch):
    monkeypatch.setattr(word_encoder, "MODULE", "nothing_of_this_name")
    with pytest.raises(UsageProblem, match=r"pip install 'aligntools\[use\]' brings fast-universal"):
        word_encoder.check()
    monkeypatch.setattr(word_encoder, "MODULE", "json")
    monkeypatch.setattr(importlib.metadata, "version", lambda _: "9.9")
    with pytest.raises(UsageProblem, match=r"encoder 9\.9 is not the one that is used: pip install"):
        word_encoder.check()
