"""train-grammar and parse: from trees to trees, through the shell and in Python."""

import json
import re

import numpy as np
import pytest

import aligntools as at
from aligntools.formats.annotation.brackets import parse_trees
from aligntools.formats.models.modelfile import read_model, write_model
from tests import models
from tests.cli.running import ran, run


@pytest.fixture(scope="module")
def model():
    said = (models.folder("trees") / "errors").read_bytes()
    assert b"round 1, after merging, iteration 0: log-likelihood -" in said
    assert b"40 sentences, 321 words; 47 symbols, 71 substates, 99 rules\n" in said
    return models.model("trees")


def trees(data):
    return [tree for _, tree in parse_trees(data.decode().splitlines(), "output")]


def test_logs_and_gold_trees(model, samples, tmp_path):
    steps = [json.loads(line) for line in (model.parent / "log").read_text().splitlines()]
    values = [step["objective"] for step in steps if step["stage"] == "split"]
    assert len(values) == 4
    assert values == sorted(values)
    ran("view", "--log", model.parent / "log")
    gold = trees((samples / "en.mrg").read_bytes())
    text = "".join(" ".join(tree.words()) + "\n" for tree in gold).encode()
    for how in ("viterbi", "max-rule"):
        parsed = run("parse", "-q", "-m", model, "--decode", how, "--pruning", "1e-6", stdin=text).stdout
        (tmp_path / how).write_bytes(parsed)
        assert at.score_brackets(samples / "en.mrg", tmp_path / how).f1 > 0.85


def test_members_parse_together(model, samples, tmp_path):
    how = ("--treebank", samples / "en.mrg", "--latent", "1", "--iterations", "4")
    done = ran("train-grammar", *how, "--members", "3", "-v", "-o", tmp_path / "m", "--log-json", tmp_path / "log")
    assert b"member 3, round 1, after merging, iteration 0: log-likelihood -" in done.stderr
    ran("view", "--log", tmp_path / "log")
    found = at.load(tmp_path / "m")
    alone = [at.load(model), *(at.train_grammar(samples / "en.mrg", latent=1, iterations=4, seed=s) for s in (2, 3))]
    for member, other in zip(found.model.members, alone, strict=True):
        np.testing.assert_array_equal(member.grammar.binary_weights, other.model.grammar.binary_weights)
        np.testing.assert_array_equal(member.lexicon.pair_counts, other.model.lexicon.pair_counts)
    states = sum(own.model.grammar.n_states for own in alone)
    assert repr(found) == f"<ConstituentParser of 47 symbols, {states} states>"
    assert f"symbols, {states} substates" in done.stderr.decode()
    text = tmp_path / "text"
    text.write_text("and uncle dinner that ! daughter washes\n" + (samples / "en.txt").read_text())
    parsed = [
        run("parse", "-q", "-m", m, text, "--threads", n)
        for m, n in ((tmp_path / "m", 1), (tmp_path / "m", 2), (model, 1))
    ]
    assert parsed[0].stdout == parsed[1].stdout != parsed[2].stdout
    derived = [run("parse", "-q", "-m", m, text, "--decode", "viterbi") for m in (tmp_path / "m", model)]
    assert derived[0].stdout == derived[1].stdout
    page = run("view", "-m", tmp_path / "m").stdout.decode()
    assert "members" in page


def test_damaged_members_are_refused(samples, tmp_path):
    at.train_grammar(samples / "en.mrg", latent=1, iterations=1, members=2).save(tmp_path / "m")
    header, arrays = read_model(tmp_path / "m", "pcfg")
    first = arrays["binary"].copy()
    first[0, 0] += 1
    for changed in (
        {"1.binary": first},
        {"1.binary_weights": arrays["1.binary_weights"][1:]},
        {"1.words.pair_counts": -arrays["1.words.pair_counts"]},
    ):
        write_model(tmp_path / "bad", "pcfg", header, arrays | changed)
        with pytest.raises(at.ModelError):
            at.load(tmp_path / "bad")
    for count in (0, 101, "2"):
        write_model(tmp_path / "bad", "pcfg", header | {"members": count}, arrays)
        with pytest.raises(at.ModelError):
            at.load(tmp_path / "bad")


def test_tags_of_the_text_are_kept(model, samples):
    done = ran("parse", "-m", model, samples / "en.conllu")
    rows = [row.split("\t") for row in (samples / "en.conllu").read_text().splitlines()]
    assert [tag for tree in trees(done.stdout) for tag in tree.tags()] == [r[4] for r in rows if r[0].isdigit()]
    found = run("parse", "-q", "-m", model, samples / "en.conllu", "--no-keep-tags").stdout
    assert found != done.stdout
    assert found.count(b"\n") == done.stdout.count(b"\n") == 101
    universal = run("parse", "-m", model, samples / "en.tagged")
    assert b"words have tags that the grammar has never seen (" in universal.stderr
    assert b"(DET The)" in universal.stdout
    assert b"(DET" not in run("parse", "-m", model, samples / "en.tagged", "--no-keep-tags").stdout


def test_functions_are_learned_if_asked_for(tmp_path):
    tree = "( (S (NP-SBJ-1 (DT The) (NN dog)) (VP (VBZ sleeps) (S (NP (-NONE- *-1)))) (. .)) )\n"
    (tmp_path / "bank").write_text(tree * 2 + "(())\n")
    for functions, label in ((True, "NP-SBJ"), (False, "NP")):
        parser = at.train_grammar(tmp_path / "bank", functions=functions)
        assert str(parser.parse("The dog sleeps .")) == f"(S ({label} (DT The) (NN dog)) (VP (VBZ sleeps)) (. .))"


@pytest.fixture(scope="module")
def induced():
    said = (models.folder("induced") / "errors").read_bytes()
    assert b"iteration 15: objective -" in said
    assert b"40 sentences, 277 words, 14 tags; objective -" in said
    return models.model("induced")


def test_a_grammar_from_tags_parses_text_with_tags(induced, samples):
    done = ran("parse", "-m", induced, samples / "en.tagged")
    found = trees(done.stdout)
    gold = trees((samples / "en.mrg").read_bytes())
    assert [tree.words() for tree in found] == [tree.words() for tree in gold]
    assert done.stdout.startswith(b"( (TOP (X")
    ran("eval-brackets", "--unlabelled", "--no-whole", samples / "en.mrg", "-", stdin=done.stdout)
    assert run("parse", "-m", induced, stdin=b"\n\n").stdout == b"(())\n(())\n"
    live = run("parse", "-m", induced, "--unbuffered", stdin=b"a_DET b_NOUN\n")
    assert live.stdout.startswith(b"( (TOP (X")
    unknown = run("parse", "-m", induced, stdin=b"a_XX b_NOUN ._PUNCT\n\n")
    assert b"1 words have tags that the grammar has never seen (XX)" in unknown.stderr
    assert unknown.stdout.endswith(b"\n(())\n")
    assert "above a sentence" in run("view", "-m", induced).stdout.decode()


def test_options_of_tags_alone(samples, tmp_path):
    def said(*args):
        done = ran("train-grammar", "--symbols", "2", "--iterations", "3", "-o", tmp_path / "m", *args)
        return done.stderr.decode()

    text = ("--text", samples / "en.tagged")
    assert said(*text, "--estimator", "vb", "--prior", "0.3") != said(*text, "--prior", "0.3")
    conll = ("--text", samples / "en.conllu")
    assert said(*conll, "--column", "xpos") != said(*conll)
    slashed = tmp_path / "slashed"
    slashed.write_text((samples / "en.tagged").read_text().replace("_", "/"))
    assert said("--text", slashed, "--separator", "/", "--format", "tagged") == said(*text)
    wanted = ("--predicted-columns",)
    assert run("train-grammar", *conll, *wanted, "-o", tmp_path / "m").returncode == 1


NETWORKS = ("--symbols", "3", "--set", "preterminals=4", "--set", "width=8", "--set", "epochs=2")


def test_a_compound_grammar_of_words(samples, tmp_path):
    model, text = tmp_path / "m", ("--text", samples / "en.tagged")
    done = ran(
        "train-grammar", *text, "--estimator", "compound", "--set", "terminals=words", *NETWORKS, "-v", "-o", model
    )
    assert b"iteration 2: objective -" in done.stderr
    assert re.search(
        rb"40 sentences, 277 words, \d+ words known; objective -\S+ after 2 steps \(2 passes\)", done.stderr
    )
    parsed = ran("parse", "-m", model, samples / "en.txt")
    assert [tree.words() for tree in trees(parsed.stdout)] == [
        line.split() for line in (samples / "en.txt").read_text().splitlines()
    ]
    tagged = run("parse", "-m", model, samples / "en.tagged")
    assert tagged.stderr == b""
    assert b"(DET The)" in tagged.stdout
    ran("eval-brackets", "--unlabelled", "--no-whole", samples / "en.mrg", "-", stdin=tagged.stdout)
    shown = run("view", "-m", model).stdout.decode()
    assert "Preterminals, the most probable words" in shown
    assert "the mean of its prior" in shown
    parser = at.load(model)
    assert repr(parser) == "<InducedConstituentParser of 3 symbols, 4 preterminals>"
    assert str(parser.parse(["the", "dog", "sleeps", "."])).endswith("(PUNCT .))")


def test_networks_from_python(samples):
    small = {"estimator": "neural", "symbols": 2, "preterminals": 3, "width": 8, "epochs": 1}
    lines = ["the dog sleeps .", "the cat saw the dog ."]
    plain = at.induce_grammar(lines, terminals="words", **small)
    pairs = at.induce_grammar([[(word, "_") for word in line.split()] for line in lines], terminals="words", **small)
    assert str(plain.parse(lines[0])) == str(pairs.parse(lines[0]))
    assert plain.parse(lines[1]).words() == lines[1].split()
    of_file = at.induce_grammar(samples / "en.conllu", terminals="words", **small)
    assert not of_file.needs_tags
    with pytest.raises(at.DataError, match="no words to learn from"):
        at.induce_grammar([], terminals="words", **small)
    of_tags = at.induce_grammar(["the_DET dog_NOUN sleeps_VERB ._PUNCT"], **small)
    assert of_tags.needs_tags
    assert of_tags.unknown_tags([b"DET", b"XX", b"PUNCT"]) == {b"XX"}


def test_a_grammar_from_tags_in_python(induced):
    parser = at.load(induced)
    assert repr(parser) == "<InducedConstituentParser of 4 symbols, 14 tags>"
    tree = parser.parse(["the", "dog", "sleeps"], ["DET", "NOUN", "VERB"])
    assert len(list(tree.spans())) == 3
    again = at.induce_grammar(["the_DET dog_NOUN sleeps_VERB"] * 3, symbols=2, iterations=4)
    assert again.parse(["a"], ["DET"]).words() == ["a"]
    with pytest.raises(at.DataError, match="no sentence can be learned from"):
        at.induce_grammar(["the_DET"])


def test_from_python(model, samples):
    parser = at.load(model)
    assert repr(parser) == "<ConstituentParser of 47 symbols, 71 states>"
    batch = list(parser.parse_batch(["The dog sleeps .", ["The", "dog"], [("Rain", "NN")], ""], batch_size=2))
    assert [tree.words() for tree in batch] == [["The", "dog", "sleeps", "."], ["The", "dog"], ["Rain"], []]
    assert batch[2].tags() == ["NN"]
    assert parser.parse(["Rain"], ["NN"]) == batch[2]
    assert parser.parse(["Rain"], ["XY"]).tags() == ["XY"]
    with pytest.raises(at.DataError, match="2 words, but 1 tags"):
        parser.parse("a b", ["X"])
    given = [str(tree) for tree in trees((samples / "en.mrg").read_bytes())]
    again = at.train_grammar(given, latent=1, iterations=4)
    assert str(again.parse("The dog sleeps .")) == str(parser.parse("The dog sleeps ."))
    assert "rules" in at.view_model(parser).text()


def test_a_damaged_model_is_refused(model, tmp_path):
    header, arrays = read_model(model, "pcfg")
    for name, change in (
        ("binary", lambda a: a[::-1].copy()),
        ("binary_weights", lambda a: a * -1),
        ("substates", lambda a: a + 1),
        ("words.pairs", lambda a: a + 9999),
        ("roots", lambda a: a[1:].copy()),
    ):
        write_model(tmp_path / "bad", "pcfg", header, arrays | {name: change(arrays[name])})
        with pytest.raises(at.ModelError):
            at.load(tmp_path / "bad")


@pytest.mark.parametrize("kind", ["pcfg", "induced-pcfg"])
def test_a_model_of_a_column_that_there_is_not_is_refused(model, induced, tmp_path, kind):
    header, arrays = read_model(model if kind == "pcfg" else induced, kind)
    write_model(tmp_path / "bad", kind, header | {"settings": header["settings"] | {"column": "x"}}, arrays)
    with pytest.raises(at.ModelError):
        at.load(tmp_path / "bad")
