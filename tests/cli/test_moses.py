"""Moses: the folder that its training goes on from, and GIZA++'s files."""

import pytest

from tests.cli.running import ROOT, ran, run

TEXT = ROOT / "data" / "samples" / "de-en.txt"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("moses")
    sides = [line.split(" ||| ") for line in TEXT.read_text().splitlines()]
    for name, k in (("de", 0), ("en", 1)):
        (folder / name).write_text("".join(side[k] + "\n" for side in sides))
    text = ["-s", folder / "de", "-t", folder / "en"]
    ran("align", "-q", "--fast", *text, "--moses-dir", folder / "new" / "model", "-o", folder / "links")
    return folder


def test_folders_of_moses(model, tmp_path):
    found = {path.name: path.read_bytes() for path in (model / "new" / "model").iterdir()}
    assert set(found) == {"aligned.grow-diag-final-and", "lex.e2f", "lex.f2e"}
    assert found["aligned.grow-diag-final-and"] == (model / "links").read_bytes()
    run("lexicon", "-q", "-s", model / "de", "-t", model / "en", "-a", model / "links", "-o", tmp_path / "lex")
    assert found["lex.e2f"] == (tmp_path / "lex.e2f").read_bytes()
    assert found["lex.f2e"] == (tmp_path / "lex.f2e").read_bytes()
    assert b"The " in found["lex.f2e"]
    how = ["--symmetrize", "union", "--moses-dir", tmp_path, "-o", tmp_path / "links"]
    ran("align", "-q", "--fast", "-i", TEXT, *how)
    assert (tmp_path / "aligned.union").read_bytes() == (tmp_path / "links").read_bytes()


def test_links_as_a3_files_and_back(model, tmp_path):
    """Both directions written as GIZA++ would, read again, combined: what the links themselves give."""
    text = ["-s", model / "de", "-t", model / "en"]
    how = ["--forward-output", tmp_path / "f", "--reverse-output", tmp_path / "r", "-o", tmp_path / "both"]
    ran("align", "-q", "--fast", *text, *how)
    done = run("symmetrize", "-c", "convert", tmp_path / "f", "--to", "giza", "--check", *text[1::2])
    (tmp_path / "f.A3").write_bytes(done.stdout)
    first = done.stdout.split(b"\n")[:3]
    source, target = (line.encode().split() for line in TEXT.read_text().splitlines()[0].split(" ||| "))
    assert first[0].startswith(b"# Sentence pair (1) source length %d target length %d" % (len(source), len(target)))
    assert first[1] == b" ".join(target) + b" "
    assert first[2].startswith(b"NULL ({ ")
    invert = ["symmetrize", "-c", "invert", "--to", "giza", "--check", *text[1::2], "-o", tmp_path / "r.A3"]
    ran(*invert, tmp_path / "r")
    back = run("symmetrize", "--format", "giza", tmp_path / "f.A3", tmp_path / "r.A3")
    assert back.stdout == run("symmetrize", tmp_path / "f", tmp_path / "r").stdout
    assert back.stdout.count(b"\n") == 240
