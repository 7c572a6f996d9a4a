"""conll: words, tags, columns and raw text out of CoNLL, and columns in."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.tools.conll_columns import put_in, take_out
from tests.cli.running import ran, run

RICH = (
    "# newdoc\n# sent_id = 1\n# text = Au prix de 25 000, non.\n"
    "1-2\tAu\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tÀ\tà\tADP\tE\t_\t3\tcase\t_\t_\n"
    "2\tle\tle\tDET\tD\t_\t3\tdet\t_\t_\n"
    "3\tprix\tprix\tNOUN\tN\t_\t0\troot\t_\t_\n"
    "3.1\tempty\t_\tVERB\t_\t_\t_\t_\t0:root\t_\n"
    "4\tde\tde\tADP\tE\t_\t5\tcase\t_\t_\n"
    "5\t25 000\t25 000\tNUM\tM\t_\t3\tnmod\t_\tSpaceAfter=No\n"
    "6\t,\t,\tPUNCT\t,\t_\t3\tpunct\t_\t_\n"
    "7\tnon\tnon\tINTJ\tI\t_\t3\tdep\t_\tSpaceAfter=No|Gloss=not so\n"
    "8\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_\n\n"
    "# text =\n\n"
    "# text = Fin\n1\tFin\tfin\tNOUN\tN\t_\t0\troot\t_\t_\n\n"
).encode()


@pytest.fixture
def rich(tmp_path):
    path = tmp_path / "rich.conllu"
    path.write_bytes(RICH)
    return path


GOLDENS = {
    (): "À le prix de 25\u00a0000 , non .\n\nFin\n",
    ("--tokens", "surface"): "Au prix de 25\u00a0000 , non .\n\nFin\n",
    ("--set", "space=_"): "À le prix de 25_000 , non .\n\nFin\n",
    ("--to", "tagged"): (
        "À_ADP le_DET prix_NOUN de_ADP 25\u00a0000_NUM ,_PUNCT non_INTJ ._PUNCT\n\nFin_NOUN\n"
    ),
    ("--to", "tagged", "--tokens", "surface", "--separator", "/", "--column", "xpos"): (
        "Au/E+D prix/N de/E 25\u00a0000/M ,/, non/I ./.\n\nFin/N\n"
    ),
    ("--to", "column", "--column", "lemma"): "à le prix de 25\u00a0000 , non .\n\nfin\n",
    ("--to", "column", "--column", 7): "3 3 0 5 3 3 3 3\n\n0\n",
    ("--to", "text"): "Au prix de 25 000, non.\n\nFin\n",
    ("--to", "raw"): "Au prix de 25 000, non. Fin\n",
}  # fmt: skip


@pytest.mark.parametrize("options", GOLDENS, ids=lambda options: " ".join(map(str, options)))
def test_what_comes_out(options, rich):
    done = run("conll", rich, *options)
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, GOLDENS[options], b"")


def test_columns_that_go_in(rich, tmp_path):
    (tmp_path / "tags").write_text("A B C D E F G H\n\nI\n")
    ran("conll", "-", "--put", "upos", tmp_path / "tags", "-o", tmp_path / "new", stdin=RICH)
    new = (tmp_path / "new").read_bytes()
    expected = iter("ABCDEFGHI")
    lines = [line.split(b"\t") for line in RICH.split(b"\n")]
    for fields in lines:
        if fields[0].isdigit():
            fields[3] = next(expected).encode()
    assert new == b"\n".join(map(b"\t".join, lines))
    assert run("conll", rich, "--put", "4", tmp_path / "new").stdout == new
    assert run("conll", tmp_path / "new", "--put", "upos", rich, "--put", "misc", rich).stdout == RICH
    (tmp_path / "forms").write_text("AU prix de 26~000 , non .\n\nFin\n")
    done = run("conll", rich, "--put", "form", tmp_path / "forms", "--tokens", "surface", "--set", "space=~")
    assert done.stdout == RICH.replace(b"1-2\tAu", b"1-2\tAU").replace(b"\t25 000\t25", b"\t26 000\t25")
    path = tmp_path / "some.conllu"
    path.write_text("# text = a b\n1\ta\ta\tDET\t_\t_\t2\t_\t_\t_\n2\tb\tb\tNO_UN\t_\t_\t0\t_\t_\t_\n\n")
    assert run("conll", "--to", "tagged", "--separator", "/", path).stdout == b"a/DET b/NO_UN\n"


CELL = st.sampled_from(
    ["a", "_", "#", "25 000", "25\u00a0000", "a \u00a0 b", "a_b", "a_b c", "<s>", " a", "é=|", "1-2", " "]
)


@st.composite
def texts(draw):
    """CoNLL with all kinds of lines."""
    out = []
    for _ in range(draw(st.integers(1, 3))):
        length, n = draw(st.integers(1, 5)), 1
        out.append("# text = x\n")
        while n <= length:
            if n < length and draw(st.booleans()):
                out.append(f"{n}-{n + 1}\t{draw(CELL)}\t_\t_\t_\t_\t_\t_\t_\t{draw(CELL)}\n")
                out.append(f"{n}\t" + "\t".join(draw(CELL) for _ in range(9)) + "\n")
                n += 1
            out.append(f"{n}\t" + "\t".join(draw(CELL) for _ in range(9)) + "\n")
            if draw(st.booleans()):
                out.append(f"{n}.1\t" + "\t".join(draw(CELL) for _ in range(9)) + "\n")
            n += 1
        out.append("\n")
    return "".join(out).encode()


@given(texts(), st.integers(2, 10), st.sampled_from(["\u00a0", "_", "<s>"]))
def test_what_was_taken_out_goes_in_again(tmp_path, text, column, space):
    path, values = tmp_path / "x.conllu", tmp_path / "values"
    path.write_bytes(text)
    for tokens in ("words", "surface") if column in (2, 10) else ("words",):
        taken = b"".join(take_out(path, "column", column=column, tokens=tokens, space=space))
        assert len(taken.split(b"\n")) - 1 == text.count(b"# text")
        counts = [len(line.split(b" ")) for line in taken.split(b"\n")[:-1]]
        ids = [re.findall(rb"^(\d+)\t", block, re.M) for block in text.split(b"\n\n")[:-1]]
        assert tokens == "surface" or counts == list(map(len, ids))
        values.write_bytes(taken)
        assert b"".join(put_in(path, {column: values}, tokens=tokens, space=space)) == text
        assert b"".join(put_in(path, {column: path}, tokens=tokens, space=space)) == text


TWO = b"1\tthe\t_\t_\t_\t_\t2\t_\t_\t_\n2\tdog\t_\t_\t_\t_\t0\t_\t_\t_\n\n1\tbarks\t_\tX\t_\t_\t0\t_\t_\t_\n\n"


@pytest.mark.parametrize(
    ("lines", "options", "tags"),
    [
        ("the_DET dog_NOUN\nbarks_VERB\n", (), "DET NOUN\nVERB\n"),
        ("the/DET dog/NOUN\nbarks/V_3\n", (), "DET NOUN\nV_3\n"),
        ("the|DET dog|NOUN\nbarks|VERB\n", ("--separator", "|"), "DET NOUN\nVERB\n"),
        ("the__ dog_NOUN_SG\nbarks_VERB\n", (), "_ NOUN_SG\nVERB\n"),
        ("a_1 b_2\nc_3\n", ("--format", "values"), "a_1 b_2\nc_3\n"),
        ("DET NOUN\nVERB_3\n", (), "DET NOUN\nVERB_3\n"),
    ],
)
def test_tags_go_in_from_tagged_words(lines, options, tags, tmp_path):
    text, values = tmp_path / "x.conllu", tmp_path / "values"
    text.write_bytes(TWO)
    values.write_text(lines)
    done = ran("conll", text, "--put", "upos", values, *options)
    text.write_bytes(done.stdout)
    assert run("conll", text, "--to", "column").stdout.decode() == tags


@pytest.mark.parametrize(
    ("tokens", "old", "new", "message"),
    [
        ("words", "\tle\tle", "\tla\tle", "other:6: the word 'la', where {} has 'le' at line 6"),
        ("words", "non\tnon", "Non\tnon", "other:12: the word 'Non', where {} has 'non' at line 12"),
        ("words", "Fin\tfin", "Fins\tfin", "other:18: the word 'Fins', where {} has 'Fin' at line 18"),
        ("surface", "2\tAu", "2\tAux", "other:4: the word 'Aux', where {} has 'Au' at line 4"),
    ],
)
def test_conll_of_other_words_is_refused(tokens, old, new, message, rich, tmp_path):
    other = tmp_path / "other"
    other.write_bytes(RICH.replace(old.encode(), new.encode()))
    assert other.read_bytes() != RICH
    put = ("conll", rich, "--tokens", tokens, "--put", "misc", other)
    done = run(*put)
    assert b"`aligntools conll` and use --format values" in done.stderr
    with_forms = ran(*put, "--put", "form", other)
    assert with_forms.stdout == other.read_bytes()
