"""The same file is the same text to every command: marks, compression that no name tells, UTF-16, carriage returns.

The harness of ``bench/abuse`` tries these on every input of every command; here is one command of each reader.
"""

import gzip
import io
import os
import subprocess
import threading
import zipfile

import pytest

from tests.cli.running import ROOT, program, ran, run

SAMPLES = ROOT / "data" / "samples"
MARK = b"\xef\xbb\xbf"
TREES = (SAMPLES / "en.conllu").read_bytes()
LINKS = b"0-0 1-1\n0-1\n"
TEXT = b"a b\nc d\n"
GIZA = b"# Sentence pair (1) source length 1 target length 1 alignment score : 1\na \nNULL ({ }) b ({ 1 }) \n"
#: Files, and a command with F where the file stands; `t` has two lines of two words, `l` links of these.
READERS = {
    "links": (LINKS, "symmetrize -c convert F"),
    "hypothesis": (LINKS, "eval-aer --bootstrap 0 l F"),
    "gold": (LINKS, "eval-aer --bootstrap 0 F l"),
    "lexicon": (LINKS, "lexicon -q -s t -t t -a F --shortlist -"),
    "grammar made of links": (LINKS, "extract-grammar -q -s t -t t -a F"),
    "links shown": (LINKS, "view -s t -t t -a F"),
    "evidence": (LINKS, "contrastive-align -q --fast -s t -t t --evidence F"),
    "giza": (GIZA, "symmetrize --format giza -c convert F"),
    "text": (TEXT, "align -q --fast -s F -t t"),
    "language model": (TEXT, "train-lm -q -n 2 F"),
    "translations": (TEXT, "eval-bleu --bootstrap 0 F t"),
    "priors": (b"LEX\ta\tb\t1\nLEX\tc\td\t1\n", "align -q --fast -s t -t t --priors F"),
    "words of trees": (TREES, "conll F"),
    "columns of trees": (TREES, "conll --put upos F F"),
    "tags": (TREES, "eval-tags F F"),
    "trees": (TREES, "eval-uas --bootstrap 0 F F"),
    "trees as text": (TREES, "train-lm -q -n 2 F"),
    "rules": (b"[X] ||| a ||| x ||| F=1\n[X] ||| b ||| y ||| F=1\n", "filter-grammar -q --grammar F --text t"),
}


@pytest.fixture
def given(tmp_path):
    """Return what runs a reader's command on some bytes."""
    (tmp_path / "t").write_bytes(TEXT)
    (tmp_path / "l").write_bytes(LINKS)

    def answer(name, data):
        (tmp_path / "F").write_bytes(data)
        done = run(*READERS[name][1].split(), cwd=tmp_path)
        return done.returncode, done.stdout, done.stderr.decode()

    return answer


@pytest.mark.parametrize("name", READERS)
def test_marks_and_compression_make_no_difference(given, name):
    plain = READERS[name][0]
    status, out, error = given(name, plain)
    assert (status, bool(out)) == (0, True), error
    assert given(name, MARK + plain)[:2] == (0, out)
    assert given(name, gzip.compress(MARK + plain))[:2] == (0, out)


@pytest.mark.parametrize("name", READERS)
def test_utf_16_and_carriage_returns_are_said(given, name):
    plain = READERS[name][0].decode()
    status, out, error = given(name, plain.encode("utf-16"))
    assert (status, out) == (1, b"")
    assert error.startswith("error: F: bytes that are not UTF-8 (UTF-16? convert it")
    status, out, error = given(name, plain.replace("\n", "\r").encode())
    assert (status, out) == (1, b"")
    assert error.startswith("error: F: carriage returns and no line ends; convert it")


@pytest.mark.parametrize("name", READERS)
def test_what_is_no_text_is_said(given, name):
    plain, archive = READERS[name][0], io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("x", plain)
    for data, said in (
        (archive.getvalue(), "a ZIP archive, where text is expected"),
        (gzip.compress(gzip.compress(plain)), "compressed twice; unpack it once"),
    ):
        status, out, error = given(name, data)
        assert (status, out, error) == (1, b"", f"error: F: {said}\n")


@pytest.mark.parametrize(
    ("begins", "kind"),
    [
        (b"x\0" + bytes(255) + b"ustar\0", "a tar archive"),
        (b"7z\xbc\xaf\x27\x1c\0\4", "a 7z archive"),
        (b"Rar!\x1a\x07\x01\0", "a RAR archive"),
        (b"\x04\x22\x4d\x18\x64\x40", "compressed by lz4"),
        (b"LZIP\x01\x0c", "compressed by lzip"),
        (b"\x1f\x9d\x90", "compressed by compress"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG picture"),
        (b'\x40\0\0\0\0\0\0\0{"__metadata__":{', "a file of a model"),
    ],
)
def test_other_archives_and_models_are_no_text(given, begins, kind):
    assert given("text", begins + TEXT)[2] == f"error: F: {kind}, where text is expected\n"
    assert given("text", b"PK a\nLZIP b\n")[0] == 0


def test_columns_of_numbers_and_marks(tmp_path):
    (tmp_path / "x").write_bytes(b"1\tthe\tDET\n2\tdog\tNOUN\n\n1\tgo\tVERB\n")
    done = run("eval-tags", "x", "x", cwd=tmp_path)
    assert (done.returncode, b"error: x:1: the first column numbers the words" in done.stderr) == (1, True)
    (tmp_path / "y").write_bytes(b"1\tNUM\n3\tNUM\n\n1\tNUM\n")
    ran("eval-tags", "y", "y", cwd=tmp_path)
    (tmp_path / "m").write_bytes(MARK + TREES)
    for line in ("train-parser -q --treebank m -o p", "train-tagger -q --latent 1 --members 1 --tagged m -o g"):
        ran(*line.split(), cwd=tmp_path)
    for command, model in (("parse", "p"), ("tag", "g")):
        written = run(command, "-q", "-m", model, "m", "m", cwd=tmp_path).stdout
        assert MARK not in written
        (tmp_path / "out").write_bytes(written)
        assert run("conll", "out", cwd=tmp_path).stdout == 2 * run("conll", "m", cwd=tmp_path).stdout


def test_a_long_header_of_comments_is_one_of_conll(tmp_path):
    """However many lines it has: CoNLL is told by its first words."""
    header = b"".join(b"# licence line %d\n" % n for n in range(5000))
    (tmp_path / "plain").write_bytes(TREES)
    (tmp_path / "long").write_bytes(header + TREES)
    for line in ("train-parser -q --treebank plain -o p", "train-tagger -q --latent 1 --members 1 --tagged plain -o g"):
        ran(*line.split(), cwd=tmp_path)
    for line in (
        "tag -q -m g", "parse -q -m p", "conll", "train-lm -q -n 2",
    ):  # fmt: skip
        found = [run(*line.split(), name, cwd=tmp_path) for name in ("plain", "long")]
        assert [done.returncode for done in found] == [0, 0], found[1].stderr
        plain, long = (done.stdout.replace(b"long", b"plain") for done in found)
        assert long.removeprefix(header) == plain


@pytest.mark.parametrize(
    "line", ["symmetrize -c union {} {}", "lexicon -q -s {} -t {} -a {} --shortlist -", "view -s {} -t {} -a {}"]
)
def test_one_program_may_feed_all_inputs_of_a_command_one_after_the_other(line):
    """The last one first, and whole: whoever waits takes in what comes to the others, opened yet or not."""
    kinds = [LINKS] * 2 if line.startswith("symmetrize") else [TEXT, TEXT, LINKS]
    texts, ends = [data * 9000 for data in kinds], [os.pipe() for _ in kinds]

    def feed():
        for (_, end), text in reversed(list(zip(ends, texts, strict=True))):
            with open(end, "wb") as out:
                out.write(text)

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    names = [f"/dev/fd/{end}" for end, _ in ends]
    with subprocess.Popen(
        [*program(), *line.format(*names).split()], pass_fds=[end for end, _ in ends], stdout=subprocess.PIPE,
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)},
    ) as process:  # fmt: skip
        for end, _ in ends:
            os.close(end)
        assert process.communicate(timeout=60)[0]
        assert process.returncode == 0
    feeder.join(10)
