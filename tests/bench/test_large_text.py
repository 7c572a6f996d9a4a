"""The made text: as long as asked, the same for the same seed, names that hold through a copy."""

import re

import numpy as np
import pytest

from bench import large_text, texts


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """Two hundred pairs, each word beside its translation, on Zipf's law."""
    work = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(3)
    drawn = [rng.zipf(1.3, 8) % 5000 for _ in range(200)]
    (work / "s.en").write_text("".join(" ".join(f"word{_letters(n)}" for n in row) + "\n" for row in drawn))
    (work / "t.fr").write_text("".join(" ".join(f"mot{_letters(n)}é" for n in row) + "\n" for row in drawn))
    return texts.given(work / "s.en", work / "t.fr", work)


def _letters(n):
    return "".join(chr(97 + int(digit)) for digit in str(n))


def lines(made):
    return made.path.read_bytes().decode().split("\n")[:-1]


@pytest.fixture(scope="module")
def made(base):
    return large_text.make(base, 1500, base.joint.parent, seed=5, path=base.joint.with_name("made.joint"))


def test_the_text_that_is_made(base, made):
    assert len(lines(made)) == made.n_pairs == 1500
    assert lines(made)[:200] == base.joint.read_text().split("\n")[:-1]
    assert all(re.fullmatch(r"\S+( \S+)* \|\|\| \S+( \S+)*", line) for line in lines(made))

    def again(seed, name):
        return lines(large_text.make(base, 1500, base.joint.parent, seed, base.joint.with_name(name)))

    assert again(5, "again") == lines(made)
    assert again(6, "other") != lines(made)
    for pairs, s_words, s_types, t_words, t_types in made.growth:
        sides = zip(*(line.split(" ||| ") for line in lines(made)[:pairs]), strict=True)
        words = [" ".join(side).split() for side in sides]
        assert [len(w) for w in words] == [s_words, t_words]
        assert [len(set(w)) for w in words] == pytest.approx([s_types, t_types], rel=0.01)
    for before, whole in made.exponents:
        assert whole == pytest.approx(before, abs=0.03)


def test_a_copy_keeps_translations(made):
    """Where no word was dropped or moved, a word and its translation are named alike in few ways in a copy."""
    copy = [line.split(" ||| ") for line in lines(made)[200:400]]
    seen = {}
    for source, target in copy:
        s, t = source.split(), target.split()
        if len(s) == len(t) == 8:
            for a, b in zip(s, t, strict=True):
                seen.setdefault(a, []).append(b)
    agreeing = [max(map(b.count, b)) / len(b) for b in seen.values() if len(b) > 3]
    assert np.mean(agreeing) > 0.9


def test_words_that_are_the_same_on_both_sides_stay_so(tmp_path, monkeypatch):
    rows = [" ".join(f"name{_letters(n)} {n}" for n in range(k, k + 4)) for k in range(0, 400, 2)]
    for name in ("s.en", "t.fr"):
        (tmp_path / name).write_text("".join(row + "\n" for row in rows))
    base = texts.given(tmp_path / "s.en", tmp_path / "t.fr", tmp_path)
    monkeypatch.setattr(large_text, "RATES", (0.0, 0.0, 0.0))
    made = large_text.make(base, 600, tmp_path, path=tmp_path / "made")
    pairs = [line.split(" ||| ") for line in lines(made)]
    assert all(source == target for source, target in pairs)
    assert len({source for source, _ in pairs}) > 400
