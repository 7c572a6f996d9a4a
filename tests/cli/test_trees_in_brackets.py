"""Trees that commands write, and those that other programs write: every command reads them, and they mean the same."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from aligntools.formats.annotation.brackets import clean, parse_trees, plain
from tests import models
from tests.cli.running import ran, run

#: What may stand in a column of CoNLL.
COLUMN = st.text(
    st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]), min_size=1, max_size=6
) | st.sampled_from(
    [
        "(",
        ")",
        "$(",
        "-LRB-",
        "a(b)",
        ":)",
        "-LCB-",
        "a b",
        "|||",
        "a ||| b",
        "**",
        "a\u2028b",
        "\x0b",
        "\x1c",
        "\x85",
        "x" * 9_000,
    ]
)


@pytest.fixture(scope="module")
def model():
    return models.model("trees")


def trees(data):
    return [tree for _, tree in parse_trees(data.decode().split("\n"), "output")]


def done(*args, **how):
    finished = ran(*args, **how)
    return finished


@settings(max_examples=8)
@given(st.lists(st.tuples(COLUMN, COLUMN), min_size=1, max_size=4))
@example([("0", "|||")])
@example([("The", "("), ("a b", "x y"), ("|||", "|||"), ("\u2028", "$("), ("dog", "_")])
def test_words_and_tags_come_back(model, pairs):
    folder = model.parent
    rows = [f"{k}\t{word}\t_\t_\t{tag}\t_\t0\t_\t_\t_\n" for k, (word, tag) in enumerate(pairs, 1)]
    (folder / "text").write_text("".join(rows) + "\n")
    (folder / "links").write_text("0-0\n")
    (folder / "source").write_text("(S (X a))\n")
    written = done("parse", "-q", "-m", model, folder / "text").stdout
    lists = [
        line.split(" ||| ", 1)[1].rsplit(" ||| ", 2 - k)[0].encode()
        for k, option in enumerate(("--n-best", "--samples"))
        for line in done("parse", "-q", "-m", model, folder / "text", option, 2).stdout.decode().split("\n")[:-1]
    ]
    given_links = ("-s", folder / "source", "-t", folder / "text", "-a", folder / "links")
    projected = done("project", "-q", *given_links, "--spans", "brackets").stdout
    for output in (written, projected, *lists):
        (tree,) = trees(output)
        assert tree.words() == [clean(word) for word, _ in pairs]
        for (_, tag), own in zip(pairs, tree.tags(), strict=True):
            assert own == clean(tag) or tag == "_"
    (folder / "written").write_bytes(written)
    kept = plain(trees(written)[0])
    assert kept.words() == [clean(word) for word, _ in pairs]
    assert (
        str(kept.words()[0])[:20] in done("view", folder / "written").stdout.decode()
        or not kept.words()[0].isprintable()
    )
    scored = run(
        "eval-brackets", folder / "written", folder / "written", "--json", "--bootstrap", 0, "--leave-out", "none"
    )
    assert json.loads(scored.stdout)["results"][0]["f1"] == 1
    done("train-grammar", "-q", "--treebank", folder / "written", "-o", folder / "own")
    assert trees(done("parse", "-q", "-m", folder / "own", folder / "text").stdout)[0].words() == kept.words()


def test_a_top_of_several_trees_is_a_label_like_any_other(file, tmp_path):
    bank = file("bank", b"( (S (NP-SB (ART Das) (NN Tor)) (VVFIN-HD knarrt)) ($. .))\n" * 2)
    for number, options in enumerate(((), ("--latent", 1), ("--functions", "--vertical", 1))):
        path = tmp_path / f"m{number}"
        done("train-grammar", "-q", "--treebank", bank, "-o", path, *options)
        out = done("parse", "-m", path, "-q", stdin=b"Das Tor knarrt .\n").stdout
        assert [tree.words() for tree in trees(out)] == [["Das", "Tor", "knarrt", "."]]
        assert trees(out)[0].label == ""
        assert [child.label for child in trees(out)[0].children] == ["S", "$."]
        assert b"(no label)" in done("view", "-m", path).stdout
    parsed, one = file("parsed", out), file("one", bank.read_bytes().split(b"\n")[0])
    assert b"100.00" in done("eval-brackets", one, parsed, "--bootstrap", 0, "--functions").stdout.split(b"\n")[1]
    assert b"(no label)" in done("view", parsed).stdout
    text, links = file("text", b"the gate creaks .\n"), file("links", b"0-0 1-1 2-2 3-3\n")
    carried = done("project", "-q", "-s", parsed, "-t", text, "-a", links, "--spans", "brackets").stdout
    assert carried == b"( (S (NP (ART the) (NN gate)) (VVFIN creaks)) ($. .))\n"


def test_brackets_within_words_are_those_of_the_treebank(file, tmp_path):
    bank = b"".join(
        b"( (S (NP (DT The) (NN %s)) (VP (VBZ runs)) (%s %s)))\n" % (noun, tag, mark)
        for noun in (b"dog", b"gate-LRB-s-RRB-")
        for tag, mark in ((b"NFP", b":-RRB-"), (b".", b"."), (b"$-LRB-", b"-LRB-"))
    )
    done("train-grammar", "-q", "--treebank", file("bank", bank), "-o", tmp_path / "m")
    text = "The gate(s) runs :)\nThe gate-LRB-s-RRB- runs :-RRB-\nThe dog runs (\nThe dog runs -LRB-\n"
    out = run("parse", "-m", tmp_path / "m", stdin=text.encode())
    assert out.stderr == b""
    first, second, third, fourth = out.stdout.decode().split("\n")[:4]
    assert first == second == "( (S (NP (DT The) (NN gate-LRB-s-RRB-)) (VP (VBZ runs)) (NFP :-RRB-)))"
    assert third == fourth == "( (S (NP (DT The) (NN dog)) (VP (VBZ runs)) ($-LRB- -LRB-)))"
    given = run("parse", "-m", tmp_path / "m", stdin=b"The_DT dog_NN runs_VBZ (_$(\n")
    assert (given.stdout.decode(), given.stderr) == (third + "\n", b"")


def test_traces_are_what_the_treebank_says(file, tmp_path):
    words = b"( (S (INTJ (UH *yawn*)) (NP (DT The) (NN gate)) (VP (VBZ squeaks) (ADVP (NFP **) (RB loudly)))))\n"
    told = done("train-grammar", "--treebank", file("words", words), "-o", tmp_path / "m").stderr
    assert told.startswith(b"1 sentences, 6 words;")
    named = b"( (IP (NP-SBJ *con*) (VBD came) (PP *T*-1) (NP (NN rain))) (ID CM,1.2))\n"
    told = done("train-grammar", "--treebank", file("named", named), "-o", tmp_path / "m").stderr.decode()
    assert "named: 2 words were taken for traces, as no leaf has the tag -NONE- (the first: (NP-SBJ *con*))\n" in told
    assert "1 sentences, 2 words" in told
    gold = file("gold", b"( (S (NP (-NONE- *-1)) (NP (X *T*-1)) (VP (V ran))))\n")
    parsed = file("parsed", b"( (S (NP (X *T*-1)) (VP (V ran))))\n")
    assert b"100.00" in done("eval-brackets", gold, parsed, "--bootstrap", 0).stdout.split(b"\n")[1]
    text, links = file("text", b"a b c\n"), file("links", b"0-0 1-1 2-2\n")
    one = file("one", b"(S (UH *yawn*) (NP (DT The) (NN gate)))\n")
    carried = done("project", "-q", "-s", one, "-t", text, "-a", links, "--spans", "brackets").stdout
    assert carried == b"( (S (UH a) (NP (DT b) (NN c))))\n"


def test_numbers_of_trees_and_functions(file, model, tmp_path):
    text = b"\nThe dog sleeps .\n\nThe dog sleeps .\n"
    parsed = file("parsed", done("parse", "-q", "-m", model, stdin=text).stdout)
    both = done("eval-brackets", parsed, parsed, "--bootstrap", 0)
    assert b"nsent:2" in both.stdout
    assert both.stderr.endswith(b"parsed: trees without words, which do not count: 2\n")
    gold = file("gold", b"( (S (NP (DT The) (NN dog)) (VP (VBZ sleeps)) (. .)))\n" * 2)
    found = done("eval-brackets", gold, parsed, "--bootstrap", 0)
    assert b"nsent:2" in found.stdout
    assert b"4 trees, but the gold" in found.stderr
    assert b"has 2; those without words are left out" in found.stderr
    gold = file("gold", b"( (S (NP-SBJ-1 (DT The) (NN gate)) (VP (VBD was) (PP-TMP=2 (IN at) (NP (NN noon))))))\n")
    other = file("other", b"( (S (NP-SBJ (DT The) (NN gate)) (VP (VBD was) (PP-TMP (IN at) (NP (NN noon))))))\n")
    done("train-grammar", "-q", "--functions", "--treebank", gold, "-o", tmp_path / "m")
    parsed = file("parsed", done("parse", "-q", "-m", tmp_path / "m", stdin=b"The gate was at noon\n").stdout)
    for one in (gold, other, parsed):
        lines = done("eval-brackets", "--functions", gold, one, "--bootstrap", 0).stdout.decode().split("\n")
        assert lines[1].split()[1] == "100.00"
        assert "functions:yes" in lines[-2]
    assert b"functions:" not in done("eval-brackets", gold, other, "--bootstrap", 0).stdout
