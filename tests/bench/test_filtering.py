"""What the bench of filtering measures: AUC, and noise that is what it is called."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bench.filtering import NOISE, auc, noisy

FIGURES = st.lists(st.integers(0, 5), min_size=1, max_size=8).map(lambda x: np.array(x, float))


@given(FIGURES, FIGURES)
def test_auc_is_how_often_good_is_above_bad(good, bad):
    wins = [(g > b) + (g == b) / 2 for g in good for b in bad]
    assert abs(auc(good, bad) - np.mean(wins)) < 1e-12


def test_a_tenth_of_the_pairs_is_noise_of_each_kind(tmp_path):
    (tmp_path / "en-xx").mkdir()
    for language in ("en", "xx"):
        lines = "".join(f"{language}{n} b{n} {language}c d e{n}\n" for n in range(101))
        (tmp_path / "en-xx" / f"train.{language}").write_text(lines)
    source, target, kinds = noisy(tmp_path, "en-xx.train", 80)
    assert np.bincount(kinds).tolist() == [48] + [8] * len(NOISE)
    for s, t, kind in zip(source, target, kinds, strict=True):
        number, other = int(s.split()[0][2:]), int(t.split()[0][2:])
        assert (other == number) == (kind not in (1, 2))
        assert (other == number + 1) or kind != 2
        assert (len(t.split()) == 3) == (kind == 3)
        assert (s == t) == (kind == 4)
