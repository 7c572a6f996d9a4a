import gzip

import pytest

from tests.cli.running import ran, run


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "f").write_text("das Haus\n\ndas Buch\n", encoding="utf-8")
    (tmp_path / "e").write_text("the house\n\nthe book .\n", encoding="utf-8")
    (tmp_path / "a").write_text("0-0 1-1\n\n0-0 1-1\n")
    return tmp_path


def test_tables_and_shortlists(corpus):
    done = ran("lexicon", "-s", "f", "-t", "e", "-a", "a", "-v", cwd=corpus)
    assert b"3 sentence pairs, 4 links" in done.stderr
    f2e = ". NULL 1.0000000\nbook Buch 1.0000000\nhouse Haus 1.0000000\nthe das 1.0000000\n"
    e2f = "Buch book 1.0000000\nHaus house 1.0000000\nNULL . 1.0000000\ndas the 1.0000000\n"
    assert (corpus / "lex.f2e").read_text() == f2e
    assert (corpus / "lex.e2f").read_text() == e2f
    (corpus / "lex.f2e").unlink()
    joint = b"das Haus ||| the house\ndas ||| it\ndas ||| it\n"
    (corpus / "a").write_text("1-1 2-2\n1-1\n1-1\n")
    ran(
        *("lexicon", "-i", "-", "-a", "a", "--shortlist", "s2t.gz", "--top", "1", "--index-base", "1"),
        stdin=joint,
        cwd=corpus,
    )
    assert gzip.decompress((corpus / "s2t.gz").read_bytes()) == b"house Haus 1.00000000\nit das 0.66666667\n"
    assert not (corpus / "lex.f2e").exists()


def test_wrong_input_is_one_line(corpus):
    lexicon = "lexicon", "-s", "f", "-t", "e", "-a"
    (corpus / "bad").write_text("0-0 1-1\n\n0-0 2-1\n")
    done = ran(*lexicon, "bad", "--skip-bad-links", cwd=corpus)
    notes = (
        b"note: bad: 1 links past the end of a sentence left out\nnote: pairs without words: 1 blank; first at line 2\n"
    )
    assert done.stderr == notes
    assert run(*lexicon, "bad", "--skip-bad-links", "-q", cwd=corpus).stderr == b""


def test_what_a_word_seldom_is_may_be_left_out(tmp_path):
    """As in bicleaner's dictionaries: no NULL, nothing below a tenth of the best."""
    (tmp_path / "t").write_text("a ||| x\n" * 10 + "a ||| y\n" * 2 + "a ||| z\n" + "b c ||| x\n")
    (tmp_path / "a").write_text("0-0\n" * 14)
    both = ("lexicon", "-i", "t", "-a", "a")
    ran(*both, cwd=tmp_path)
    assert (tmp_path / "lex.f2e").read_text() == (
        "NULL c 1.0000000\nx a 0.7692308\nx b 1.0000000\ny a 0.1538462\nz a 0.0769231\n"
    )
    ran(*both, "--min-share", "0.11", "--no-null", cwd=tmp_path)
    assert (tmp_path / "lex.f2e").read_text() == "x a 0.7692308\nx b 1.0000000\ny a 0.1538462\n"
    assert (tmp_path / "lex.e2f").read_text() == "a x 0.9090909\na y 1.0000000\na z 1.0000000\n"
