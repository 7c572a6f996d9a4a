"""tag: a line out for each line in, CoNLL as it was but for one column."""

import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests import models
from tests.cli.running import fails, ran, run


@pytest.fixture(scope="module")
def model():
    return models.model("tagger")


def test_lines_of_words_and_tags(model, samples, tmp_path):
    done = ran("tag", "-m", model, samples / "en.txt")
    text = (samples / "en.txt").read_text()
    tokens = [[token.rsplit("_", 1) for token in line.split(" ")] for line in done.stdout.decode().splitlines()]
    assert [[word for word, _ in line] for line in tokens] == [line.split() for line in text.splitlines()]
    assert all(tag.isupper() for line in tokens for _, tag in line)
    words = [b"a" * 50, b"", b"\xff\xfe", "日本".encode(), b" ", b"the  dog\tbarks"]
    done = run("tag", "-m", model, "-", stdin=b"\n".join(words) + b"\n")
    lines = done.stdout.split(b"\n")[:-1]
    assert [len(line.split()) for line in lines] == [1, 0, 1, 1, 0, 3]
    assert lines[2].startswith(b"\xff\xfe_")
    long = b"dog " * 6000
    assert run("tag", "--viterbi", "-m", model, stdin=long).stdout.count(b"_") == 6000
    text = samples / "en.txt"
    conll = run("tag", "-m", model, "--to", "conll", text).stdout
    again = run("tag", "-m", model, "--to", "tagged", stdin=conll)
    assert again.stdout == run("tag", "-m", model, text).stdout
    slashes = run("tag", "-m", model, "--separator", "/", text).stdout
    assert slashes == again.stdout.replace(b"_", b"/")
    (tmp_path / "cut").write_bytes(model.read_bytes()[:5000])
    fails(run("tag", "-m", tmp_path / "cut", samples / "en.txt"), "cut: is damaged")


def test_conll_keeps_everything_but_the_tags(model, samples):
    source = (samples / "en.conllu").read_bytes()
    done = ran("tag", "-m", model, samples / "en.conllu")
    pairs = list(zip(source.split(b"\n"), done.stdout.split(b"\n"), strict=True))
    changed = [(a.split(b"\t"), b.split(b"\t")) for a, b in pairs if a != b]
    assert sum(a[3] != b[3] for a, b in changed) < 20  # the tagger was trained on these very words
    assert all(a[:3] + a[6:] == b[:3] + b[6:] for a, b in changed)
    assert all(b[4:6] == [b"_", b"_"] for _, b in changed)  # they were not predicted
    kept = run("tag", "-m", model, "--keep", "xpos", "--keep", "feats", samples / "en.conllu").stdout.split(b"\n")
    assert [line.split(b"\t")[:3] + line.split(b"\t")[4:] for line in kept] == [
        line.split(b"\t")[:3] + line.split(b"\t")[4:] for line in source.split(b"\n")
    ]
    xpos = run("tag", "-m", model, "--column", "xpos", samples / "en.conllu").stdout
    assert [line.split(b"\t")[4] for line in xpos.split(b"\n") if line[:2] == b"1\t"] == [
        line.split(b"\t")[3] for line in done.stdout.split(b"\n") if line[:2] == b"1\t"
    ]


def test_raw_text_is_tokenized_and_comes_back(model, samples, tmp_path):
    text = b"\xef\xbb\xbfThe bus  leaves. My sister\tbought a\r\nred bicycle!\n\n (The soup is hot.) \n"
    (tmp_path / "raw.txt").write_bytes(text)
    tagged = run("tag", "-m", model, "--tokenize", "--language", "en", tmp_path / "raw.txt", "-o", tmp_path / "tagged")
    assert (tagged.returncode, tagged.stderr) == (0, b"")
    assert run("conll", tmp_path / "tagged").stdout.decode().splitlines() == [
        "The bus leaves .", "My sister bought a red bicycle !", "( The soup is hot . )"
    ]  # fmt: skip
    assert run("conll", tmp_path / "tagged", "--to", "raw").stdout == text
    words = run("tag", "-m", model, "--tokenize", "--to", "tagged", stdin=text).stdout
    assert words.startswith(b"The_DET bus_NOUN leaves_VERB ._PUNCT\n")
    parser = ("train-parser", "-q", "--treebank", samples / "en.conllu", "-o", tmp_path / "parser", "--iterations", 2)
    ran(*parser)
    parsed = run("parse", "-m", tmp_path / "parser", tmp_path / "tagged").stdout
    assert run("conll", "-", "--to", "raw", stdin=parsed).stdout == text


@settings(max_examples=20)
@given(st.text(st.sampled_from("ab.,!|\\\"'é\u00a0\ufeff\x1c \t\r\n«»1-2") | st.characters(codec="utf-8")))
@example("")
@example('\ufeff Mr. A\'s "b".\n\n \tC|d\\s é!  ')
def test_any_raw_text_comes_back(model, text):
    for sentences in ("split", "lines"):
        done = ran("tag", "-q", "-m", model, "--tokenize", "--sentences", sentences, stdin=text.encode())
        assert run("conll", "--to", "raw", stdin=done.stdout).stdout == text.encode()


def test_raw_text_by_icu(model, monkeypatch):
    pytest.importorskip("icu4py")
    text = b"A bus-stop. A dog\n\nbarks.\n"
    done = run("tag", "-m", model, "--tokenize", "--set", "tokenizer=icu", "--sentences", "lines", stdin=text)
    assert run("conll", stdin=done.stdout).stdout == b"A bus - stop . A dog\n\nbarks .\n"
    assert run("conll", "--to", "raw", stdin=done.stdout).stdout == text
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    fails(run("tag", "-m", model, "--tokenize"), "pip install 'aligntools[tokenize]'", status=2)


@pytest.mark.parametrize("more", [(), ("--workers", 1), ("--unbuffered",)])
def test_the_tags_of_each_word_are_counted(model, samples, tmp_path, more):
    done = ran("tag", "-m", model, samples / "en.txt", "--save-classes", tmp_path / "classes", *more)
    expected = {}
    for token in done.stdout.decode().split():
        expected[tuple(token.rsplit("_", 1))] = expected.get(tuple(token.rsplit("_", 1)), 0) + 1
    rows = [line.split("\t") for line in (tmp_path / "classes").read_text().splitlines()]
    assert {(word, tag): int(count) for word, tag, count in rows} == expected
