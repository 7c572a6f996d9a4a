"""The inputs of public reports, each with its command and what is right; shared with the real data."""

import gzip

import pytest

from tests.cli.running import ran, run, succeeds
from tests.models import model
from tests.places import REALDATA, SAMPLES

_CASES = REALDATA.parent / "cases"
pytestmark = pytest.mark.skipif(not _CASES.is_dir(), reason="no cases beside the real data (ALIGNTOOLS_REALDATA)")

# What is run (names of case files, SAMPLES as S), the status, what is on standard output and on standard error.
_TABLE = [
    ("symmetrize -c convert F1-bom.align", 0, "0-0 1-1\n", ""),
    ("eval-aer F1-bom.align F1-bom.align", 0, "0.00", ""),
    ("symmetrize -c convert F7-utf16.align", 1, "", "UTF-16?"),
    ("eval-aer F7-utf16.align F7-utf16.align", 1, "", "UTF-16?"),
    ("align --fast -s F8-mac.s -t F8-mac.t", 1, "", "carriage returns and no line ends"),
    ("align --fast -i nbsp.de-en.txt", 0, "", "4 lines have white space other than spaces and tabs"),
    ("translate --no-lm --grammar f3-adjacent.grammar --n-best 3 f3.txt", 0, "house is", "a rule is left out"),
    ("translate --no-lm --grammar f3-only-nonterminals.grammar f3.txt", 0, "house is", "a rule is left out"),
    ("translate --no-lm --grammar f4-labels.grammar --n-best 3 f4.txt", 0, "a is", "3 rules are left out"),
    ("eval-lm -m f10-duplicate.arpa f3.txt", 1, "", "f10-duplicate.arpa:15: this 2-gram is there twice"),
]


def _run(line, *more):
    words = [_CASES / word if (_CASES / word).is_file() else word for word in line.split()]
    return run(*words, *more)


@pytest.mark.parametrize(("line", "status", "printed", "said"), _TABLE, ids=[row[0] for row in _TABLE])
def test_case(line, status, printed, said):
    found = _run(line)
    assert found.returncode == status, found.stderr
    assert printed in found.stdout.decode()
    assert said in found.stderr.decode()


@pytest.mark.parametrize(
    ("words", "pieces"),
    [("F2-fa.words", "F2-fa.pieces"), ("G1.words", "G1.opennmt-joiner"), ("G1.words", "G1.special-tokens")],
)
def test_pieces_link_every_line(words, pieces):
    found = succeeds(_run(f"align -q --fast -i {words} --pieces {pieces}"))
    assert all(found.stdout.splitlines())
    assert found.stdout.count(b"\n") == (_CASES / words).read_bytes().count(b"\n")


@pytest.mark.parametrize("piped", [False, True])
def test_gzip_is_known_by_its_first_bytes(piped):
    packed = (_CASES / "F4-gzip-without-suffix.txt").read_bytes()
    name = "-" if piped else _CASES / "F4-gzip-without-suffix.txt"
    found = run("align", "-q", "--fast", "-i", name, stdin=packed if piped else b"")
    assert found.stdout == run("align", "-q", "--fast", "-i", "-", stdin=gzip.decompress(packed)).stdout != b""


def test_words_that_other_programs_take_for_marks(tmp_path):
    found = _run("lexicon -s F5.s -t F5.t -a F5.a --shortlist", tmp_path / "sl")
    assert b"1 row left out" in found.stderr
    assert (tmp_path / "sl").read_text() == "door Tür 1.00000000\n"
    found = succeeds(_run(f"align --fast -i {SAMPLES / 'de-en.txt'} --prior-lexical 1 --priors F6-null.priors"))
    assert b"warning" not in found.stderr
    import aligntools as at
    from aligntools.ground.errors import AligntoolsError

    with pytest.raises(AligntoolsError):
        at.bleu([["the cat sat on a mat ."], ["he came too late ."]], ["the cat sat on the mat .", "he came late ."])
    succeeds(_run("train-lm -n 2 f15-cr-inside.txt -o", tmp_path / "x.arpa"))
    assert not set(b"\r\v\f\0") & set((tmp_path / "x.arpa").read_bytes())
    ran("eval-lm", "-m", tmp_path / "x.arpa", _CASES / "f15-cr-inside.txt")


@pytest.mark.parametrize("more", [(), ("--format", "moses")])
def test_words_in_brackets_are_no_terminals(more):
    found = succeeds(_run("extract-grammar -s f5.de -t f5.en -a f5.align", *more))
    assert b"[BERICHT]" not in found.stdout
    assert b"[REPORT]" not in found.stdout


def test_references_and_conll_that_are_odd(tmp_path):
    (tmp_path / "g").write_text("[X] ||| Zug ||| train ||| F=1\n")
    ran("train-lm", "-q", "-n", "2", SAMPLES / "en.txt", "-o", tmp_path / "lm")
    found = _run("imputed-risk --supervised f13.de --reference f13-blank.en --method mert --rounds 1",
                 "--grammar", tmp_path / "g", "--lm", tmp_path / "lm", "-o", tmp_path / "w")  # fmt: skip
    assert found.returncode == 1, found.stderr
    assert b"length 24" not in found.stderr
    case = _CASES / "f1-bom.conllu"
    for command in (("parse", "-m", model("parser"), case, case), ("tag", "-m", model("tagger"), case)):
        found = ran(*command)
        assert "\ufeff" not in found.stdout.decode()
        (tmp_path / "out").write_bytes(found.stdout)
        ran("conll", tmp_path / "out")
    case = _CASES / "f7-header.conllu"
    words = run("conll", case).stdout.split()
    found = run("tag", "-m", model("tagger"), case).stdout.decode()
    rows = [line.split("\t") for line in found.splitlines() if line and not line.startswith("#")]
    assert [row[1].encode() for row in rows] == words
    ran("parse", "-m", model("parser"), case)
    ran("eval-tags", case, case)
