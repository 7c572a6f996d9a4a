"""``--dictionary`` as a user runs it."""

import gzip
import random

import pytest

import aligntools as at
from tests.cli.running import run

NAMES = [f"{a}{b}" for a in ("ba", "ce", "di", "fo", "gu", "ha") for b in ("lm", "nt", "rs", "st", "xk", "zz")]


def backwards(file, names):
    """Write text of which each word is written backwards on the other side, in another order, and comes twice."""
    rng = random.Random(3)
    deck = [word for _ in range(2) for word in rng.sample(names, len(names))]
    rows = [deck[begin : begin + 6] for begin in range(0, len(deck), 6)]
    rows[4:4] = [[]]
    sides = {"source": [], "target": [], "gold": []}
    for row in rows:
        order = rng.sample(range(len(row)), len(row))
        links = sorted(enumerate(order), key=lambda pair: pair[1])
        both = row, [row[k][::-1].title() for k in order], [f"{k}-{j}" for j, k in links]
        for name, words in zip(sides, both, strict=True):
            sides[name].append(" ".join(words) + "\n")
    source, target, _ = (file(name, "".join(lines).encode()) for name, lines in sides.items())
    return "-s", source, "-t", target


@pytest.fixture
def text(file):
    return backwards(file, NAMES)


@pytest.fixture
def entries(file):
    """Compressed, in upper case."""
    rows = "".join(f"{name.upper()}\t{name[::-1]}\n" for name in NAMES)
    return "--dictionary", file("own.tsv.gz", gzip.compress(rows.encode()))


def right(done, text):
    """The share of links that are right, of those that are and those that should be."""
    assert done.returncode == 0, done.stderr
    wanted = (text[1].parent / "gold").read_text().splitlines()
    pairs = [(set(a.split()), set(b.split())) for a, b in zip(done.stdout.decode().splitlines(), wanted, strict=True)]
    return sum(2 * len(a & b) for a, b in pairs) / sum(len(a) + len(b) for a, b in pairs)


@pytest.mark.parametrize("command", [("align",), ("align", "--best", "--no-encoder"),
                                     ("contrastive-align", "--no-encoder")])  # fmt: skip
def test_words_are_known_beforehand(text, entries, command):
    done, plain = run(*command, *text, *entries), run(*command, *text)
    assert right(done, text) > 0.9 > right(plain, text) + 0.2
    assert (
        b"dictionary own.tsv.gz: agreement 1.00, weight 100 %; of 36 entries 36 met the text"
        b" (0 of several words that stand together), of 36 of 36, 36 of 36 words" in done.stderr
    )
    assert b"dictionary" not in plain.stderr
    assert run(*command, *text, *entries, "--threads", "1").stdout == done.stdout


def test_models_and_python(text, entries, tmp_path):
    done = run("align", *text, *entries, "--save-model", tmp_path / "model")
    entries[1].rename(tmp_path / "away")
    assert run("align", *text, "-m", tmp_path / "model").stdout == done.stdout
    assert b"entries of a dictionary" in run("view", "--model", tmp_path / "model").stdout
    assert at.load(tmp_path / "model").model.evidence["dictionary"]["met"] == 36
    (tmp_path / "away").rename(entries[1])
    paths, path = [str(path) for path in text[1::2]], entries[1]
    out = run("align", "-q", *text, *entries).stdout.decode().splitlines()
    for given in ([path], (str(path),), str(path), path):
        assert [str(a) for a in at.align(*paths, dictionary=given)] == out
    run("align", *text, "--save-model", tmp_path / "first")
    done = run("align", *text, "--init-model", tmp_path / "first", *entries)
    assert right(done, text) > right(run("align", *text, "--init-model", tmp_path / "first"), text)
    for name, more in (("with", entries), ("without", ())):
        run("align", *text, *more, "--set", "views=0", "--set", "subwords=50", "--save-model", tmp_path / name)
    one, other = (at.load(tmp_path / name).model.subwords.model.counts[0].sum() for name in ("with", "without"))
    assert one > other + 1


def test_several_files_each_with_its_sides(text, entries, file):
    one, other = NAMES[:18], NAMES[18:]
    halves = (
        file("one.tsv", "".join(f"{name}\t{name[::-1]}\n" for name in one).encode()),
        file("other.tsv", "".join(f"{name[::-1]}\t{name}\n" for name in other).encode()),
    )
    done = run("align", *text, "--dictionary", halves[0], "--dictionary", halves[1])
    assert done.stdout == run("align", *text, *entries).stdout
    assert b"other.tsv, sides exchanged: agreement 1.00" in done.stderr
    assert b"warning: other.tsv has its sides exchanged, and is read so" in done.stderr
    assert b"warning: one.tsv" not in done.stderr


@pytest.mark.parametrize("turn", [lambda s, t: (s, t[::-1]), lambda s, t: (s, s), lambda s, t: (f"x{s}", f"x{t}")])
def test_a_wrong_dictionary_changes_nothing(text, file, turn):
    """Other words, words of one side alone, words that are not in the text."""
    rows = ["\t".join(turn(name, name[::-1])) for name in NAMES]
    done = run("align", *text, "--dictionary", file("wrong.tsv", "\n".join(rows).encode()))
    assert b"weight 0 %" in done.stderr
    assert b"warning: wrong.tsv is not used: " in done.stderr
    assert done.stdout == run("align", *text).stdout


def test_words_that_stand_together(text, file, entries):
    source, target = (path.read_text().splitlines() for path in text[1::2])
    rows = [f"{s.split()[0]} {s.split()[1]}\t{t.split()[2]}" for s, t in zip(source, target, strict=True) if s]
    both = file("more.tsv", "\n".join(rows).encode()), "--dictionary", entries[1]
    done = run("align", *text, "--dictionary", *both)
    assert b"(12 of several words that stand together)" in done.stderr
    assert b"more.tsv: agreement 0.92, weight 100 %" in done.stderr
    mixed = [
        f"{s.split()[0]} {s.split()[1]}\t{t.split()[2]}" for s, t in zip(source, target[1:], strict=False) if s and t
    ]
    done = run("align", *text, "--dictionary", file("mixed.tsv", "\n".join(mixed).encode()))
    assert b"mixed.tsv is not used" in done.stderr


@pytest.mark.slow
def test_parts_and_workers_read_it_too(text, entries, tmp_path):
    source, target = (path.read_text().splitlines() for path in text[1::2])
    rows = [f"{s.split()[0]} {s.split()[1]}\t{t.split()[2]}\n" for s, t in zip(source, target, strict=True) if s]
    with gzip.open(entries[1], "at") as file:
        file.writelines(rows)
    how = "align", *text, "--set", "views=0", "--set", "part_size=9"
    found = [run(*how, *entries, *more) for more in ((), ("--workers", "2"), ("--threads", "1"))]
    assert found[0].stdout == found[1].stdout == found[2].stdout
    assert right(found[0], text) > right(run(*how), text)
    assert b"of 48 entries 48 met the text (12 of several words" in found[0].stderr
    run(*how[:-2], "--set", "subwords=0", *entries, "--save-model", tmp_path / "whole")
    run(*how, *entries, "--save-model", tmp_path / "parts")
    whole, parts = (at.load(tmp_path / name).model.evidence["dictionary"] for name in ("whole", "parts"))
    tried = [one.pop("files")[0] for one in (whole, parts)]  # by the first part
    assert whole == parts
    assert [one["belief"] for one in tried] == [1.0, 1.0]
