"""Text of another kind than is expected: CoNLL where there should be plain text, or damaged, or raw text."""

from itertools import pairwise

import pytest

from aligntools.formats.annotation.tagged_text import stream_sentences, stream_tags, stream_text
from aligntools.formats.text.bitext import read_bitext, read_side
from aligntools.formats.text.numbered_text import LineSource
from aligntools.formats.text.raw_pairs import KeptInput, RawPairs
from aligntools.ground.errors import DataError
from tests.cli.running import ran, run

CONLL = "# sent_id = 1\n# text = a b\n" + "".join(
    f"{k}\t{w}\t_\tX\t_\t_\t{k - 1}\tx\t_\t_\n" for k, w in ((1, "a"), (2, "b"))
)
PLAIN = "# 1 is a sentence\n1 too\n2 also a b c d e f g h\n"


@pytest.fixture
def conll(tmp_path):
    path = tmp_path / "x.conllu"
    path.write_text(CONLL)
    return path


def blocks(path):
    return b"".join(LineSource(str(path)).blocks(1 << 20))


def words(side, vocabulary):
    return [" ".join(vocabulary.words()[k] for k in side.tokens[a:b]) for a, b in pairwise(side.offsets.tolist())]


READERS = {
    "two files": lambda path: words((bitext := read_bitext(path, path)).target, bitext.target_vocabulary),
    "a side": lambda path: words(*read_side(path)),
    "a stream": lambda path: [w.decode() for part in stream_text(path) for w in _joined(part)],
    "numbers": lambda path: blocks(path).decode().split("\n")[:-1],
}


def _joined(part):
    return [b" ".join(part.words[a:b]) for a, b in pairwise(part.offsets.tolist())]


@pytest.mark.parametrize("read", READERS.values(), ids=list(READERS))
@pytest.mark.parametrize("change", [lambda t: t, lambda t: "\ufeff" + t, lambda t: "\n" + t.replace("\n", "\r\n")])
def test_words_of_conll_are_read_where_plain_text_is(conll, read, change):
    conll.write_text(
        change(CONLL + "\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n" + CONLL.replace("b\t", "25 000\t")), newline=""
    )
    assert read(conll) == ["a b", "a 25\u00a0000"]


@pytest.mark.parametrize("read", [*READERS.values(), stream_sentences, stream_tags])
def test_spaces_are_no_tabs(conll, read):
    conll.write_text(CONLL.replace("\t", " "))
    refused = r"x\.conllu:3: no tab; CoNLL has 10 columns with tabs between them, not spaces"
    with pytest.raises(DataError, match=refused):
        list(read(conll))
    conll.write_text("# x\n1 a _ X _ _ 0 x _ _\n\n1 b _ X _ _ 0 x _ _\n")
    with pytest.raises(DataError, match=r"x\.conllu:2: no tab"):
        list(read(conll))


def test_conll_in_the_place_of_plain_text(conll, tmp_path, samples):
    refused = r"x\.conllu:3: CoNLL, where plain text is expected; `aligntools conll` writes"
    with pytest.raises(DataError, match=refused):
        RawPairs(conll, conll, keep="disk")
    with open(conll, "rb", buffering=0) as file, pytest.raises(DataError, match="CoNLL, where plain"):
        read_bitext(KeptInput(file, file, lambda data: None), conll)
    conll.write_text((CONLL + "\n") * 40)
    plain = tmp_path / "plain"
    plain.write_text("a b\n" * 40)
    for name in ("conll", "plain"):
        text = conll if name == "conll" else plain
        ran("train-lm", "-q", "-n", 2, text, "-o", tmp_path / f"{name}.1")
        ran("train-lm", "-q", "-n", 2, text, "-o", f"{tmp_path / name}.2", "--workers", 1)
    models = [(tmp_path / name).read_bytes() for name in ("conll.1", "plain.1", "conll.2", "plain.2")]
    assert len(set(models)) == 1
    conll = tmp_path / "en.conllu"
    ran("conll", samples / "en.conllu", "-o", tmp_path / "en.txt")
    conll.write_bytes((samples / "en.conllu").read_bytes())
    options = ("align", "--fast", "--set", "views=0")
    want = run(*options, "-q", "-s", tmp_path / "en.txt", "-t", tmp_path / "en.txt")
    found = run(*options, "-s", conll, "-t", conll)
    assert (found.returncode, found.stdout) == (0, want.stdout)
    assert found.stderr.count(b"en.conllu: read as CoNLL") == 2


@pytest.mark.parametrize("columns", [4, 9])
@pytest.mark.parametrize("read", [stream_sentences, stream_tags])
def test_columns_that_are_missing_are_counted(conll, read, columns):
    conll.write_text("".join("\t".join(line.split("\t")[:columns]).rstrip("\n") + "\n" for line in CONLL.split("\n")))
    with pytest.raises(DataError, match=rf"x\.conllu:3: {columns} columns; CoNLL-X and CoNLL-U have 10"):
        list(read(conll))


RAW = "He said: “Come in, please!” (The door, however, was locked.) So they went.\n" * 3
TOKENS = "He said : “ Come in , please ! ” ( The door , however , was locked . ) Mr. Smith went .\n" * 3


@pytest.mark.parametrize(
    "command",
    [("align", "--fast", "-s", "x", "-t", "x"), ("tag", "-m", "m", "x"), ("train-lm", "-n", "2", "x", "-o", "lm"),
     ("train-hmm", "--text", "x", "--iterations", "1", "--states", "2", "-o", "h")],
    ids=lambda command: command[0],
)  # fmt: skip
def test_untokenized_text_gets_one_hint(command, tmp_path, samples):
    model = ("train-hmm", "-q", "--tagged", samples / "en.tagged", "--latent", 1, "--members", 1, "-o", tmp_path / "m")
    ran(*model)
    for text, hints in ((RAW, 1), (TOKENS, 0)):
        (tmp_path / "x").write_text(text)
        done = run(*command, cwd=tmp_path)
        assert (done.returncode, done.stderr.count(b"looks untokenized")) == (0, hints), done.stderr
        assert b"looks" not in run(*command, "-q", cwd=tmp_path).stderr


def test_plain_text_may_look_a_little_like_it(tmp_path):
    for name in "st":
        (tmp_path / name).write_text(PLAIN)
    assert len(read_bitext(tmp_path / "s", tmp_path / "t")) == 3
    assert [len(part) for part in stream_text(tmp_path / "s")] == [3]
