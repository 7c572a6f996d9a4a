"""Links between pieces, words and text beside links, written by ``align`` and ``symmetrize``."""

import gzip
import importlib
import sys

import pytest

from tests.cli.aligning import JOINT, LENGTHS, SOURCE, TARGET, TEXT, done, proper
from tests.cli.running import fails, run
from tests.places import CLIENTS

LINES = JOINT.read_text(encoding="utf-8").splitlines()
FAST = ("--fast", "--set", "views=0", "--model-type", "ibm1", "-q")


def bpe(text):
    """Cut words after every third letter."""
    return "".join(
        " ".join("@@ ".join(w[i : i + 3] for i in range(0, len(w), 3)) if w != "|||" else w for w in line.split())
        + "\n"
        for line in text.splitlines()
    )


def spm(text):
    """Cut words as SentencePiece might."""
    return "".join(
        " ".join(
            " ".join(("▁" + w)[i : i + 3] for i in range(0, len(w) + 1, 3)) if w != "|||" else w for w in line.split()
        ) + "\n"
        for line in text.splitlines()
    )  # fmt: skip


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m"
    done(run("align", *FAST, "-i", JOINT, "--save-model", path, "-o", path.with_suffix(".align")))
    return path


@pytest.fixture(scope="module")
def words(model):
    return model.with_suffix(".align").read_text()


@pytest.fixture(scope="module")
def pieces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pieces")
    for name, cut in (("bpe", bpe), ("spm", spm)):
        for kind, path in (("joint", JOINT), ("de", SOURCE), ("en", TARGET)):
            (folder / f"{name}.{kind}").write_text(cut(path.read_text(encoding="utf-8")), encoding="utf-8")
    return folder


def table(data):
    return [line.split("\t") for line in data.decode().removesuffix("\n").split("\n")]


# Text beside links


@pytest.mark.parametrize("text", [("-i", JOINT), TEXT], ids=["one file", "two files"])
def test_tsv_has_both_sides_and_the_links(inside, text, words):
    rows = table(done(inside(*FAST, *text, "--output-format", "tsv")).stdout)
    assert [f"{s} ||| {t}" for s, t, _ in rows] == LINES
    assert "".join(f"{links}\n" for *_, links in rows) == words


def test_tsv_of_streams_and_odd_lines(model, inside, tmp_path):
    data = JOINT.read_bytes()
    whole = done(run("align", *FAST, "-i", "-", "--output-format", "tsv", stdin=data)).stdout
    applied = done(run("align", "-q", "-m", model, "-i", "-", "--output-format", "tsv", stdin=data)).stdout
    single = run("align", "-q", "-m", model, "-i", "-", "--output-format", "tsv", "--unbuffered", stdin=data).stdout
    assert whole == applied == single
    assert [f"{s} ||| {t}" for s, t, _ in table(whole)] == LINES
    done(inside(*FAST, "-i", JOINT, "--output-format", "tsv", "-o", tmp_path / "a.gz"))
    assert [f"{s} ||| {t}" for s, t, _ in table(gzip.decompress((tmp_path / "a.gz").read_bytes()))] == LINES
    text = b"no separator\na ||| b ||| c\n\xff ||| x\n" + JOINT.read_bytes()
    (tmp_path / "x").write_bytes(text)
    rows = table(done(inside(*FAST, "-i", tmp_path / "x", "--output-format", "tsv")).stdout)
    assert rows[:3] == [["no separator", "", ""], ["a", "b ||| c", ""], ["\ufffd", "x", ""]]
    assert len(rows) == len(LINES) + 3


ODD = [
    ("zum\xa0Beispiel", "say"),
    ("zum\xa0Beispiel", "say"),
    ("tab\tin text", "one tab in text"),
    ("", "nothing"),
    ("\xa0", "x"),
    ("ring\x0bfeed é", "line\u2028sep é"),
    ("return\rhere", "carriage return"),
]


def test_tsv_counts_words_as_its_readers_do(tmp_path, inside):
    """And has three fields on each line, whatever the text holds."""
    text = [*ODD, *(line.split(" ||| ") for line in LINES)]
    for name, side in (("s", 0), ("t", 1)):
        (tmp_path / name).write_bytes("".join(pair[side] + "\n" for pair in text).encode())
    found = done(inside(*FAST[:-1], "-s", tmp_path / "s", "-t", tmp_path / "t", "--output-format", "tsv"))
    rows = table(found.stdout)
    assert b"tabs within sentences written as spaces: 1\n" in found.stderr
    assert len(rows) == len(text)
    for (source, target, links), given in zip(rows, text, strict=True):
        assert [source.split(), target.split()] == [side.split() for side in given]
        numbers = [tuple(map(int, link.split("-"))) for link in links.split()]
        assert all(i < len(source.split()) and j < len(target.split()) for i, j in numbers)
    assert rows[0][2] == "0-0 1-0"


# Words and pieces


@pytest.mark.parametrize("kind", ["bpe", "spm"])
def test_words_are_aligned_and_pieces_linked(inside, pieces, words, kind):
    one = done(inside(*FAST, "-i", JOINT, "--pieces", pieces / f"{kind}.joint")).stdout
    sides = ("--pieces", pieces / f"{kind}.de", "--pieces", pieces / f"{kind}.en")
    two = done(inside(*FAST, *TEXT, *sides)).stdout
    assert one == two
    lengths = [tuple(len(side.split()) for side in line.split(" ||| ")) for line in
               (pieces / f"{kind}.joint").read_text(encoding="utf-8").splitlines()]  # fmt: skip
    proper(one, lengths)
    texts = pieces / f"{kind}.de", pieces / f"{kind}.en"
    back = done(run("symmetrize", "-q", "-c", "convert", "-", "--to-words", *texts, stdin=one)).stdout
    assert back.decode() == words
    there = run("symmetrize", "-q", "-c", "convert", "-", "--to-pieces", *texts, stdin=back).stdout
    known = ("--words", SOURCE, TARGET, "--set", "scheme=" + {"bpe": "bpe", "spm": "sentencepiece"}[kind])
    assert there == one == run("symmetrize", "-c", "convert", "-", "--to-pieces", *texts, *known, stdin=back).stdout


def test_pieces_of_one_side_and_words_of_both(inside, pieces, words, model):
    found = done(inside(*FAST, *TEXT, "--target-pieces", pieces / "bpe.en", "--link-probabilities")).stdout.decode()
    assert [{w.split("-")[0] for w in line.split()} for line in found.splitlines()] == [
        {w.split("-")[0] for w in line.split()} for line in words.splitlines()
    ]
    found = done(inside(*FAST, "-i", pieces / "bpe.joint", "--to-words"))
    proper(found.stdout)
    rows = table(done(inside(*FAST, "-i", pieces / "bpe.joint", "--to-words", "--output-format", "tsv")).stdout)
    assert [f"{s} ||| {t}" for s, t, _ in rows] == LINES
    assert [links for *_, links in rows] == found.stdout.decode().splitlines()
    assert len(LENGTHS) == len(rows)
    arguments = ("align", "-m", model, "-i", "-", "--to-words", "--unbuffered")
    data = (pieces / "bpe.joint").read_bytes()
    assert fails(run(*arguments, stdin=data), "say --set scheme", status=2)
    assert done(run(*arguments, "--set", "scheme=bpe", stdin=data)).stdout.count(b"\n") == len(LINES)


def test_pairs_of_other_words_are_blank_and_counted(inside, pieces, words, tmp_path):
    lines = (pieces / "bpe.joint").read_text(encoding="utf-8").splitlines()
    lines[3] = "ei@@ ne ||| o@@ ther"
    (tmp_path / "p").write_text("\n".join(lines) + "\n", encoding="utf-8")
    arguments = (*FAST[:-1], "-i", JOINT, "--pieces", tmp_path / "p")
    found = done(inside(*arguments))
    assert b"no links written for pairs: 1 with pieces that do not spell the words; first at line 4\n" in found.stderr
    assert found.stdout.splitlines()[3] == b""
    assert all(found.stdout.splitlines()[:3])
    assert fails(inside(*arguments, "--strict"), f"{tmp_path / 'p'}:4: the source pieces do not spell the words")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            lambda lines: [*lines[1:], lines[0]],
            ":1: the source pieces do not spell the words of the text; so in 240 of",
        ),
        (lambda lines: lines[:-1], "p:239: there is no line 240, but the text that goes with it has one"),
        (lambda lines: [*lines, "a ||| b"], "p:241: this line has no counterpart"),
    ],
    ids=["off by one", "short", "long"],
)
def test_other_pieces_are_refused(inside, pieces, tmp_path, change, problem):
    lines = (pieces / "spm.joint").read_text(encoding="utf-8").splitlines()
    (tmp_path / "p").write_text("\n".join(change(lines)) + "\n", encoding="utf-8")
    found = inside(*FAST, "-i", JOINT, "--pieces", tmp_path / "p", "-o", tmp_path / "out")
    assert fails(found, problem)
    assert not (tmp_path / "out").exists()


# Their own reader


@pytest.mark.skipif(not (CLIENTS / "OpusTrainer").is_dir(), reason="OpusTrainer's source is not at hand")
def test_opustrainer_reads_what_is_written(tmp_path, inside, monkeypatch):
    monkeypatch.syspath_prepend(str(CLIENTS / "OpusTrainer" / "src"))
    parse = importlib.import_module("opustrainer.alignments").parse_alignments
    test_tsv_counts_words_as_its_readers_do(tmp_path, inside)
    found = done(inside(*FAST, "-s", tmp_path / "s", "-t", tmp_path / "t", "--output-format", "tsv")).stdout
    (tmp_path / "tsv").write_bytes(found)
    with open(tmp_path / "tsv", encoding="utf-8") as lines:
        links = [parse(c, a.split(), b.split()) for a, b, c in (line.rstrip("\n").split("\t") for line in lines)]
    assert len(links) == len(LINES) + len(ODD)
    assert sum(map(len, links)) > 1000
    assert "opustrainer" in sys.modules


# Raw text

RAW = ["".join(line.replace(" ,", ",").replace(" .", ".").replace(" !", "!").replace(" ?", "?")) for line in LINES]


@pytest.fixture
def raw(file):
    odd = ["Das ''Haus''\u00a0 ist\tneu. ||| The ''house'' is\u00a0new.", "a|||b, c. ||| d"]
    return file("raw", "".join(line + "\n" for line in [*RAW, *odd]).encode())


def test_raw_text_is_tokenized_and_links_are_between_its_words(inside, raw, tmp_path):
    found = done(inside(*FAST, "-i", raw, "--tokenize", "de-en"))
    lengths = [tuple(len(side.replace("\t", " ").split(" ")) for side in line.split(" ||| ")) for line in
               raw.read_text(encoding="utf-8").splitlines()]  # fmt: skip
    links = proper(found.stdout, lengths)
    assert sum(map(len, links)) > 1000
    rows = table(done(inside(*FAST, "-i", raw, "--tokenize", "de-en", "--output-format", "tsv")).stdout)
    assert [f"{s} ||| {t}" for s, t, _ in rows[:-2]] == RAW
    streamed = done(run("align", *FAST, "-i", "-", "--tokenize", "de-en", stdin=raw.read_bytes()))
    assert streamed.stdout == found.stdout
    for name, side in (("s", 0), ("t", 1)):
        lines = [line.split(" ||| ")[side] + "\n" for line in raw.read_text(encoding="utf-8").splitlines()]
        (tmp_path / name).write_text("".join(lines), encoding="utf-8")
    two = done(inside(*FAST, "-s", tmp_path / "s", "-t", tmp_path / "t", "--tokenize", "de-en"))
    assert two.stdout.splitlines()[:-1] == found.stdout.splitlines()[:-1]


def test_punctuation_is_aligned_by_itself(inside, raw, words):
    """Tokenized text has one word more where a stop is, and its links come back to the word before it."""
    tokens = [line.split() for line in words.splitlines()]
    found = done(inside(*FAST, "-i", raw, "--tokenize", "de-en")).stdout.decode().splitlines()
    plain = [n for n, line in enumerate(LINES) if RAW[n].count(" ") == line.count(" ") - 2 and line.endswith(" .")]
    assert len(plain) > 100
    same = [n for n in plain if set(tokens[n][:-1]) <= set(found[n].split())]
    assert len(same) > 0.9 * len(plain)


def test_raw_text_in_services_pieces_and_filters(model, raw, inside, file):
    found = run("align", "-q", "-m", model, "-i", "-", "--tokenize", "de-en", "--unbuffered", stdin=raw.read_bytes())
    assert done(found).stdout.count(b"\n") == len(RAW) + 2
    cut = file("cut", spm("\n".join(line.replace("\t", " ") for line in raw.read_text(encoding="utf-8").split("\n"))
                          ).replace("\n\n", "\n").encode())  # fmt: skip
    found = done(inside(*FAST, "-i", raw, "--tokenize", "de-en", "--pieces", cut, "--set", "scheme=sentencepiece"))
    assert found.stdout.count(b"\n") == len(RAW) + 2
    found = done(run("filter", "-q", "-m", model, "-i", raw, "--tokenize", "de-en", "--min-score", "0"))
    assert found.stdout.decode().splitlines()[: len(RAW)] == RAW


def test_without_sacremoses_it_says_what_is_missing(inside, monkeypatch):
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    assert fails(inside("-i", JOINT, "--tokenize", "de-en"), "pip install 'aligntools[tokenize]'", status=2)


def test_icu_finds_the_words(inside, raw, monkeypatch):
    pytest.importorskip("icu4py")
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    found = done(inside(*FAST, "-i", raw, "--tokenize", "icu"))
    lengths = [tuple(len(side.replace("\t", " ").split(" ")) for side in line.split(" ||| ")) for line in
               raw.read_text(encoding="utf-8").splitlines()]  # fmt: skip
    assert sum(map(len, proper(found.stdout, lengths))) > 1000
    assert done(inside(*FAST, "-i", raw, "--tokenize", "de-en", "--set", "tokenizer=icu")).stdout == found.stdout


def test_icu_is_named_where_it_is_not_there(inside, monkeypatch):
    monkeypatch.setitem(sys.modules, "icu4py", None)
    monkeypatch.setitem(sys.modules, "icu4py.breakers", None)
    assert fails(inside("-i", JOINT, "--tokenize", "icu"), "pip install 'aligntools[icu]'", status=2)
