"""project: annotation over alignments, through the shell's eyes."""

import pytest

from tests.cli.running import ran, run, succeeds

SOURCE = (
    "1\tThe\tthe\tDET\tDT\tDefinite=Def\t2\tdet\t_\t_\n2\tdog\tdog\tNOUN\tNN\tNumber=Sing\t3\tnsubj\t_\tB-X\n"
    "3\tbarks\tbark\tVERB\tVBZ\t_\t0\troot\t_\tO\n\n1\tCats\tcat\tNOUN\tNNS\tNumber=Plur\t0\troot\t_\tO\n\n"
)


@pytest.fixture
def texts(tmp_path):
    (tmp_path / "en.conllu").write_text(SOURCE)
    (tmp_path / "de.txt").write_text("Der Hund , der bellt\nKatzen\n")
    (tmp_path / "links").write_text("0-0:0.9 1-1:0.8 0-3:0.4 2-4:0.7\n0-0:1\n")
    return tmp_path


def command(texts, *more, links="links"):
    return run("project", "--source", texts / "en.conllu", "--target", texts / "de.txt", "-a", texts / links, *more)


def test_columns(texts):
    done = succeeds(command(texts, "--columns", "upos,feats,head,deprel", "-v"))
    assert done.stdout.decode() == (
        "1\tDer\t_\tDET\t_\tDefinite=Def\t2\tdet\t_\tProjected=0.900\n"
        "2\tHund\t_\tNOUN\t_\tNumber=Sing\t5\tnsubj\t_\tProjected=0.800\n"
        "3\t,\t_\t_\t_\t_\t_\t_\t_\t_\n4\tder\t_\tDET\t_\tDefinite=Def\t_\t_\t_\tProjected=0.400\n"
        "5\tbellt\t_\tVERB\t_\t_\t0\troot\t_\tProjected=0.700\n\n"
        "1\tKatzen\t_\tNOUN\t_\tNumber=Plur\t0\troot\t_\tProjected=1.000\n\n"
    )
    assert "2 sentences, 6 words, 83.3% reached" in done.stderr.decode()
    assert "column 7: 4 of 6 words" in done.stderr.decode()


def test_links_of_other_directions_and_few_links(texts):
    plain = command(texts).stdout
    (texts / "turned").write_text("1-1:0.9 2-2:0.8 4-1:0.4 5-3:0.7\n1-1:1\n")
    assert command(texts, "--reverse", "--index-base", 1, links="turned").stdout == plain
    (texts / "few").write_text("0-0\n\n")
    done = succeeds(command(texts, links="few"))
    assert b"warning: only 16.7% of the words are reached; are these the alignments of these texts?\n" in done.stderr
    assert command(texts, "-q", links="few").stderr == b""


def test_spans_and_dictionaries(texts):
    done = command(
        texts, "--columns", "upos", "--spans", "misc", "--links", "one-to-one", "--dictionary", texts / "types", "-q"
    )
    assert done.stderr == b""
    misc = [line.split("\t")[9] for line in done.stdout.decode().splitlines() if line]
    assert misc == ["_", "B-X|Projected=0.800", "_", "_", "O|Projected=0.700", "O|Projected=1.000"]
    assert (texts / "types").read_text() == "Hund\tNOUN\t0.8\nbellt\tVERB\t0.7\nKatzen\tNOUN\t1\n"
    succeeds(command(texts, "--dictionary", texts / "types", "--min-share", 0.5))
    assert "Der\tDET\t0.9\n" in (texts / "types").read_text()


TREES = "( (S (NP (DT The) (NN dog)) (VP (VBZ barks))) )\n( (NP (NNS Cats)) )\n"


def test_partial_trees_that_a_grammar_learns_from(texts):
    (texts / "en.conllu").write_text(TREES)
    done = succeeds(command(texts, "--spans", "brackets"))
    assert done.stdout.decode().splitlines() == [
        "( (S (NP (DT Der) (NN Hund) (_ ,) (DT der)) (VP (VBZ bellt))))", "( (NP (NNS Katzen)))",
    ]  # fmt: skip
    assert done.stderr.decode() == "2 sentences, 6 words, 83.3% reached; 2 of 2 constituents carried over\n"
    alone = command(texts, "--spans", "brackets", "--links", "one-to-one", "-q", "-o", texts / "de.mrg")
    assert alone.stderr == b""
    assert "(S (_ Der) (NP (NN Hund)) (_ ,)" in (texts / "de.mrg").read_text()
    ran("train-grammar", "-q", "--treebank", texts / "de.mrg", "-o", texts / "de.pcfg")
