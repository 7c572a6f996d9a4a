"""``--vectors`` and ``--word-encoder`` as a user runs them."""

import gzip
import importlib.util
from pathlib import Path

import numpy as np
import pytest

import aligntools as at
from aligntools.encoding import word_encoder
from tests.cli.running import fails, run
from tests.cli.test_dictionary import NAMES, backwards, right

brought = pytest.mark.skipif(importlib.util.find_spec(word_encoder.MODULE) is None, reason="USE is not installed")


def direction(word, width=30):
    """A word and its translation, which is written backwards, have nearly the same."""
    rng = np.random.default_rng([*min(word, word[::-1]).encode()])
    return rng.standard_normal(width) + 0.1 * np.random.default_rng([*word.encode()]).standard_normal(width)


def lines_of(words, change=lambda v: v):
    return "".join(f"{word} {' '.join(f'{x:.4f}' for x in change(direction(word)))}\n" for word in words).encode()


@pytest.fixture
def text(file):
    """Text with a word that has no vector."""
    return backwards(file, [*NAMES, "none"])


@pytest.fixture
def vectors(file):
    """Compressed and with a header on one side, neither on the other."""
    more = [f"of{n}" for n in range(50)]
    source = file("source.vec.gz", gzip.compress(b"%d 30\n" % (len(NAMES) + 50) + lines_of(NAMES + more)))
    return "--vectors", source, file("target.vec", lines_of([name[::-1] for name in NAMES] + more))


@pytest.mark.parametrize("command", [("align",), ("align", "--best"), ("contrastive-align",)])
def test_words_are_known_beforehand(text, vectors, command, tmp_path):
    model = tmp_path / "model"
    done, plain = run(*command, *text, *vectors, "--save-model", model), run(*command, *text)
    assert right(done, text) > max(right(plain, text) + 0.1, 0.9)
    assert b"vectors of source.vec.gz target.vec: " in done.stderr
    assert b", 1 of 37, 1 of 37 words without a vector, agreement " in done.stderr
    assert b"weight 100 %" in done.stderr
    assert b"vectors" not in plain.stderr
    again = run(*command, *text, *vectors, "--threads", "1", "--save-model", tmp_path / "again")
    assert again.stdout == done.stdout
    assert (tmp_path / "again").read_bytes() == model.read_bytes()
    about = at.Aligner.load(model).model.evidence["vectors"]
    assert (about["missing"], about["belief"]) == ([1, 1], 1.0)


def test_models_and_python(text, vectors, tmp_path):
    done = run("align", *text, *vectors, "--save-model", tmp_path / "model")
    for path in vectors[1:]:
        path.rename(f"{path}.away")
    assert run("align", "-q", *text, "-m", tmp_path / "model").stdout == done.stdout
    assert b"vectors of words" in run("view", "--model", tmp_path / "model").stdout
    for path in vectors[1:]:
        Path(f"{path}.away").rename(path)
    paths, names = [str(path) for path in text[1::2]], [str(path) for path in vectors[1:]]
    out = run("align", "-q", *text, *vectors).stdout.decode().splitlines()
    assert [str(a) for a in at.align(*paths, vectors=names)] == out
    assert [str(a) for a in at.align(*paths, vectors=vectors[1:])] == out  # paths


def test_vectors_that_change_nothing(text, vectors, file):
    other = file("other.vec", lines_of([name[::-1] for name in NAMES], lambda v: v[::-1]))
    done = run("align", *text, *vectors[:2], other)
    assert b"weight 0 %" in done.stderr
    assert done.stdout == run("align", *text).stdout
    other = file("other.vec", lines_of(["x", "y"]))
    done = run("align", "--fast", *text, *vectors[:2], other)
    assert (
        done.stderr.count(b"has no vector of any word of the target side: another language, exchanged sides, or") == 1
    )
    assert b"of the source side" not in done.stderr


@pytest.mark.slow
def test_parts_and_workers_read_them_too(text, vectors):
    how = "align", *text, "--set", "views=0", "--set", "part_size=9"
    found = [run(*how, *vectors, *more) for more in ((), ("--workers", "2"), ("--threads", "1"))]
    assert found[0].stdout == found[1].stdout == found[2].stdout
    assert right(found[0], text) > right(run(*how), text)
    assert b"1 of 37, 1 of 37 words without a vector" in found[0].stderr


def test_with_an_encoder_of_words_beside_them(text, vectors, monkeypatch):
    def encoded(words, _pool):
        return np.array([direction(word.lower()) for word in words], np.float32)

    monkeypatch.setattr(word_encoder, "check", lambda: None)
    monkeypatch.setattr(word_encoder, "word_vectors", encoded)
    alone = run("align", *text, "--word-encoder")
    assert b"encoder of words USE multilingual 3" in alone.stderr
    assert right(alone, text) > 0.9
    both = run("align", *text, "--word-encoder", *vectors)
    assert both.stderr.count(b"weight 100 %") == 2


def test_one_file_and_no_encoder_of_words(text, monkeypatch):
    with pytest.raises(at.UsageProblem, match="vectors are two files"):
        at.align("a b", "a b", vectors="one.vec")
    monkeypatch.setattr(word_encoder, "MODULE", "nothing_of_this_name")
    assert fails(run("align", *text, "--word-encoder"), "pip install 'aligntools[use]'", status=2)


@brought
def test_the_encoder_of_words_knows_words():
    pairs = [("das haus", "the house"), ("ein baum", "a tree"), ("wasser trinken", "drink water")]
    source, target = ([pair[k] for pair in pairs] for k in (0, 1))
    model = at.train_aligner(source, target, word_encoder=True)
    assert str(model.align("wasser trinken", "drink water")) == "0-1 1-0"
    about = model.model.evidence["word_encoder"]
    assert about["missing"] == [0, 0]
