"""``bench.run best``: texts after the gold sentences, both ways of aligning, what is kept."""

import itertools
import types
from pathlib import Path

import pytest

from bench import best, measuring


@pytest.fixture
def o(tmp_path):
    """English and French: two gold sets of a sentence each, and two texts, one line of which has a blank side."""
    folder = tmp_path / "data" / "en-fr"
    folder.mkdir(parents=True)
    for name in ("a", "b"):
        (folder / f"{name}.en").write_text(f"gold {name}\n")
        (folder / f"{name}.fr").write_text(f"or {name}\n")
        (folder / f"{name}.wa").write_text("0-0 1-1\n")
    for name in ("train", "laws"):
        (folder / f"{name}.en").write_text(f"{name} one\n\n{name} two\n")
        (folder / f"{name}.fr").write_text(f"{name} un\nblanc\n{name} deux\n")
    work = tmp_path / "work"
    work.mkdir()
    return types.SimpleNamespace(data=tmp_path / "data", work=work, texts=",".join(best.TEXTS), threads=1)


def test_texts_follow_the_gold_sentences(o, tmp_path):
    files, n = best._write(o, [("a", 1), ("b", 1)], "the million pairs", tmp_path)
    assert n == 6
    source = ["gold a", "gold b", "train one", "train two", "laws one", "laws two"]
    target = ["or a", "or b", "train un", "train deux", "laws un", "laws deux"]
    assert [p.read_text().splitlines() for p in files] == [source, target]


@pytest.mark.slow
def test_both_ways_are_compared_and_kept(o, monkeypatch):
    monkeypatch.setitem(best.TEXTS, "some of the training text", (("train",), 1))
    runs = []

    def align(command):
        options = dict(itertools.pairwise(command))
        lines = len(Path(options["-s"]).read_text().splitlines())
        runs.append(("--best" in command, lines))
        Path(options["-o"]).write_text(("0-0 1-1\n" if "--best" in command else "0-0\n") * lines)
        return measuring.Usage(3.0 if "--best" in command else 2.0, 0.0, 5_000_000)

    monkeypatch.setattr(measuring, "run", align)
    body = best.run(o)
    sample = runs[0][1]
    assert runs == [(way, n) for pairs in (3, 4, 6) for way in (False, True) for n in (sample, pairs)]
    assert "| the training text | a | 33.33 | 0.00 | 0.000 | -33.33 [-33.33, -33.33] |" in body
    assert "| some of the training text | a" not in body
    assert "| some of the training text | 3 | 2.0 | 3.0 | 1.5 | 5 | 5 |" in body
    assert "| the million pairs | 6 | 2.0 | 3.0 | 1.5 | 5 | 5 |" in body
    runs.clear()
    best.run(o)
    assert not runs
