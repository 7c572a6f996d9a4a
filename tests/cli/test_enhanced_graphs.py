"""DEPS where HEAD is written anew: a graph of words and empty nodes that the official validator takes."""

import subprocess
import sys

import pytest

from tests import models
from tests.cli.running import run

ENHANCED = b"""# sent_id = e1
# text = Ann likes tea and Bob coffee
1	Ann	Ann	PROPN	_	Number=Sing	2	nsubj	2:nsubj	_
2	likes	like	VERB	_	VerbForm=Fin	0	root	0:root	_
3	tea	tea	NOUN	_	Number=Sing	2	obj	2:obj	_
4	and	and	CCONJ	_	_	5	cc	5.1:cc	_
5	Bob	Bob	PROPN	_	Number=Sing	2	conj	5.1:nsubj	_
5.1	likes	like	VERB	_	VerbForm=Fin	_	_	2:conj:and	_
6	coffee	coffee	NOUN	_	Number=Sing	5	orphan	5.1:obj	_

# sent_id = e2
# text = Ann likes
1	Ann	Ann	PROPN	_	Number=Sing	2	nsubj	2:nsubj	_
2	likes	like	VERB	_	VerbForm=Fin	0	root	0:root	_

"""
PLAIN = b"# sent_id = p\n# text = Ann\n1\tAnn\tAnn\tPROPN\t_\t_\t0\troot\t_\t_\n\n"


@pytest.fixture(scope="module")
def model():
    return models.model("parser")


def rows(data):
    return [line.split(b"\t") for line in data.splitlines() if line[:1].isdigit()]


def check_edges(data):
    """All words have their tree's edge; the empty node is as it was."""
    assert [row for row in rows(data) if b"." in row[0]] == [row for row in rows(ENHANCED) if b"." in row[0]]
    for number, *_, head, label, deps, _misc in rows(data):
        if number.isdigit():
            assert deps == head + b":" + (b"root" if head == b"0" else label if label != b"_" else b"dep")


def validated(data, tmp_path):
    """Check that the official program takes it at level 2, where it is installed."""
    pytest.importorskip("udtools")
    path = tmp_path / "out.conllu"
    path.write_bytes(data)
    command = [sys.executable, "-m", "udtools.cli", "--lang", "en", "--level", "2", str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "PASSED" in done.stderr, done.stdout + done.stderr


def test_graphs_of_sentences(model, tmp_path):
    done = run("parse", "-m", model, stdin=ENHANCED)
    check_edges(done.stdout)
    validated(done.stdout, tmp_path)
    check_edges(run("parse", "-m", model, "--no-labels", stdin=ENHANCED).stdout)
    assert [row[8] for row in rows(run("parse", "-m", model, stdin=PLAIN).stdout)] == [b"_"]
    projected = PLAIN.replace(b"\t_\t_\n", b"\t0\t_\n")  # PHEAD of CoNLL-X
    assert [row[8] for row in rows(run("parse", "-m", model, stdin=projected).stdout)] == [b"_"]


def test_heads_that_are_put_in_take_the_graph_along(tmp_path):
    path, heads = tmp_path / "x.conllu", tmp_path / "heads"
    path.write_bytes(ENHANCED)
    heads.write_text("2 0 2 2 3 5\n2 0\n")
    out = run("conll", path, "--put", "head", heads).stdout
    first, second = (block + b"\n\n" for block in out.rstrip(b"\n").split(b"\n\n"))
    check_edges(first)
    assert [row[8] for row in rows(first)][3:6] == [b"2:cc", b"3:conj", b"2:conj:and"]
    assert second == ENHANCED.split(b"\n\n")[1] + b"\n\n"
    validated(out, tmp_path)
    heads.write_text("2 0 2 5 2 5\n2 0\n")
    assert run("conll", path, "--put", "head", heads).stdout == ENHANCED  # the same tree, the same graph
    (tmp_path / "deps").write_text("2:a 0:root 2:a 2:a 3:a 5:a\n2:b 0:root\n")
    both = run("conll", path, "--put", "deps", tmp_path / "deps", "--put", "head", heads).stdout
    assert [row[8] for row in rows(both)][:2] == [b"2:a", b"0:root"]


def test_projected_heads_take_the_graph_along(tmp_path):
    source, target, links = (tmp_path / name for name in ("s.conllu", "t.conllu", "links"))
    source.write_bytes(ENHANCED)
    target.write_bytes(ENHANCED)
    links.write_text("0-1 1-0 2-2 3-3 4-4\n0-0 1-1\n")
    columns = "head,deprel"
    done = run("project", "-q", "--source", source, "--target", target, "-a", links, "--columns", columns)
    first = rows(done.stdout.split(b"\n\n")[0])
    assert [row[8] for row in first] == [b"0:root", b"1:nsubj", b"1:obj", b"5:cc", b"1:conj", b"2:conj:and", b"_"]
    links.write_text("0-1 1-0 2-2 3-3 4-4 5-5\n0-0 1-1\n")
    done = run("project", "-q", "--source", source, "--target", target, "-a", links, "--columns", columns)
    check_edges(done.stdout)
    validated(done.stdout, tmp_path)
