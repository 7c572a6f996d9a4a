"""train-parser and parse: from a treebank to trees, every sentence in the output."""

import json

import pytest

from tests import models
from tests.cli.running import fails, ran, run


@pytest.fixture(scope="module")
def model():
    assert b"101 sentences, 768 words" in (models.folder("parser") / "errors").read_bytes()
    return models.model("parser")


def columns(data, *places):
    rows = [line.split(b"\t") for line in data.splitlines() if line[:1].isdigit()]
    return [tuple(row[p] for p in places) for row in rows]


def test_heads_and_labels_in_all_else_as_it_was(model, samples):
    source = (samples / "en.conllu").read_bytes()
    bare = b"\n".join(
        b"\t".join([*f[:6], b"_", b"_", *f[8:]]) if len(f := line.split(b"\t")) == 10 else line
        for line in source.split(b"\n")
    )
    done = ran("parse", "-m", model, stdin=bare)
    assert done.stderr == b""
    keep = (0, 1, 2, 3, 4, 5, 9)
    assert columns(done.stdout, *keep) == columns(source, *keep)
    graphs = [block for block in done.stdout.split(b"\n\n") if any(d != b"_" for (d,) in columns(block, 8))]
    assert len(graphs) == sum(any(b":" in d for (d,) in columns(s, 8)) for s in source.split(b"\n\n"))
    for number, head, label, deps in columns(b"\n".join(graphs), 0, 6, 7, 8):
        assert not number.isdigit() or deps == head + b":" + label
    assert len({deps for number, deps in columns(source, 0, 8) if number.isdigit()}) > 1
    assert done.stdout.count(b"\n") == source.count(b"\n")
    pairs = list(zip(columns(source, 6, 7), columns(done.stdout, 6, 7), strict=True))
    assert sum(a == b for a, b in pairs) > 0.95 * len(pairs)


def test_comments_ranges_and_empty_nodes_come_through(model):
    text = (
        b"# sent_id = 1\n1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n1\tdo\tdo\tAUX\t_\t_\t_\t_\t_\t_\n"
        b"2\tn't\tnot\tPART\t_\tF=1\t_\t_\t_\t_\n2.1\tgo\t_\tVERB\t_\t_\t_\t_\t0:root\t_\n"
        b"3\tsleep\tsleep\tVERB\t_\t_\t_\t_\t_\tX=Y\n\n# text =\n\n"
    )
    done = run("parse", "-m", model, stdin=text)
    lines, given = done.stdout.split(b"\n"), text.split(b"\n")
    assert len(lines) == len(given)
    for k in (0, 1, 4, 6, 7, 8):
        assert lines[k] == given[k]
    assert lines[3].split(b"\t")[5] == b"F=1"
    assert all(row[0].isdigit() for row in columns(done.stdout, 6) if row != (b"_",))


def test_tagged_lines_become_conll(model, samples):
    done = ran("parse", "-m", model, samples / "en.tagged")
    lines = (samples / "en.tagged").read_text().splitlines()
    assert done.stdout.count(b"\n\n") == len(lines)
    tokens = [tuple(t.rsplit("_", 1)) for line in lines for t in line.split(" ")]
    assert [(w.decode(), t.decode()) for w, t in columns(done.stdout, 1, 3)] == tokens
    conll = run("parse", "-m", model, stdin=done.stdout)
    assert conll.stdout == done.stdout
    slashes = b"\n".join(b" ".join(f"{w}/{t}".encode() for w, t in tokens[:3]) for _ in range(2)) + b"\n\n"
    assert columns(run("parse", "-m", model, stdin=slashes).stdout, 1) == [(w.encode(),) for w, _ in tokens[:3]] * 2
    assert run("parse", "-m", model, stdin=slashes).stdout.endswith(b"# text =\n\n")
    tagged = (samples / "en.tagged").read_bytes()
    assert run("parse", "-m", model, "--separator", "/", stdin=tagged.replace(b"_", b"/")).stdout == done.stdout


def test_options_and_what_cannot_be_parsed(model, samples, tmp_path):
    text = samples / "en.conllu"
    for flags in (("--no-projective",), ("--no-single-root",), ("--no-projective", "--no-single-root")):
        done = ran("parse", "-m", model, *flags, text)
        assert len(columns(done.stdout, 0)) == len(columns(text.read_bytes(), 0))
        said = done.stderr.decode()
        assert ("warning: the parser was trained on projective trees" in said) == ("--no-projective" in flags)
    assert run("parse", "-q", "-m", model, "--no-projective", text).stderr == b""
    ran("parse", "-m", model, "--no-labels", samples / "en.conllu", "-o", tmp_path / "parsed")
    for head, label in columns((tmp_path / "parsed").read_bytes(), 6, 7):
        assert label == (b"root" if head == b"0" else b"_")
    scored = run("eval-uas", "--json", samples / "en.conllu", tmp_path / "parsed").stdout
    assert json.loads(scored)["results"][0]["las"] is None


def test_a_checkpoint_is_gone_on_from(samples, tmp_path):
    flags = ("train-parser", "-q", "--treebank", samples / "en.conllu", "--no-labels", "--set", "tolerance=0")
    for name, steps in (("whole", 8), ("part", 4)):
        ran(*flags, "--iterations", steps, "-o", tmp_path / name, "--checkpoint", tmp_path / name.upper())
    ran(*flags, "--iterations", 8, "-o", tmp_path / "again", "--checkpoint", tmp_path / "WHOLE", "--threads", 1)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "whole").read_bytes()
    other = run(*flags, "--iterations", 8, "-o", tmp_path / "m", "--checkpoint", tmp_path / "PART")
    fails(other, "train.state", "other text or options")


def test_tags_are_mapped(samples, tmp_path):
    for column, mapping in (("upos", "upos"), ("xpos", "penn")):
        model = tmp_path / mapping
        how = ("--treebank", samples / "en.conllu", "--column", column, "--map", mapping)
        ran("train-parser", "-q", *how, "-o", model)
        parsed = run("parse", "-m", model, samples / "en.conllu")
        assert parsed.stderr == b""
        assert columns(parsed.stdout, 3, 4) == columns((samples / "en.conllu").read_bytes(), 3, 4)
    unseen = run("parse", "-m", tmp_path / "upos", "--map", "none", samples / "en.conllu").stderr.decode()
    assert "tags that the parser has never seen" in unseen


def test_kinds_of_trees_show(samples, file, tmp_path):
    """A parser that knows little finds crossing edges; one that learned from several roots finds several."""
    row = b"%d\t%s\t_\tX\tX\t_\t%d\t_\t_\t_\n"
    roots = file("roots", (row % (1, b"a", 0) + row % (2, b"b", 0) + b"\n") * 9)
    model, kinds = tmp_path / "model", ("--no-projective", "--no-single-root")
    for bank, change, flag in (
        (samples / "en.conllu", ("--iterations", 1, "--set", "bits=4"), "--projective"),
        (roots, (), "--single-root"),
    ):
        done = run("train-parser", "-q", "--treebank", bank, *kinds, *change, "-o", model)
        assert (done.returncode, done.stderr) == (0, b"")
        assert run("parse", "-m", model, flag, bank).stdout != run("parse", "-m", model, bank).stdout
