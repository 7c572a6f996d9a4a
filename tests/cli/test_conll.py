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
