"""Which words look alike: keys and tiers against their definition."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.aligning.text import kernels_look_alikes as kl
from aligntools.aligning.text import look_alikes
from aligntools.aligning.text.look_alikes import look_alike_keys, romanized
from aligntools.aligning.text.views import simplify
from tests.cli.running import ROOT

WORDS = ["Haus", "haus", "hausboot", "häuser", "Москва", "moskau", "Mississippi", "missisipi", "12", "12-a", "...", "№"]


def common_subsequence(a, b):
    """Length of the longest common subsequence, by the recurrence."""
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
        st.sampled_from(WORDS) | st.text(min_size=1) | st.text("abcaé", min_size=4, max_size=25), min_size=2, max_size=8
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
    whole = look_alike_keys(["", *WORDS])
    monkeypatch.setattr(look_alikes, "_RUN", 3)
    assert look_alike_keys(["", *WORDS]).tolist() == whole.tolist()
    assert [look_alike_keys([word])[0].tolist() for word in ["", *WORDS]] == whole.tolist()


def test_keys_are_the_same_in_every_process():
    words = ["", "Haus", "été", "12", "Москва"]
    code = f"from aligntools.aligning.text.look_alikes import look_alike_keys as k; print(k({words!r}).tolist())"
    outs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert outs == {f"{look_alike_keys(words).tolist()}\n".encode()}
