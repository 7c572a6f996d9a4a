"""What a decoder cannot use, cannot learn from or cannot write is said."""

import logging
from dataclasses import replace

import numpy as np
import pytest

import aligntools as at
from aligntools.formats.translation.grammar_text import write_grammar
from aligntools.ground.errors import AligntoolsError, DataError
from tests.cli.running import ROOT, ran, run

ADJACENT = """[X] ||| das [X,1] [X,2] ||| the [X,1] [X,2] ||| F=9
[X] ||| [X,1] [X,2] ||| [X,2] [X,1] ||| F=9
[X] ||| Haus ||| house ||| F=0.2
[X] ||| ist ||| is ||| F=0.1
"""
LABELS = """[X] ||| a [NP,1] ||| b [NP,1] ||| F=9
[X] ||| a [X,3] ||| b [X,3] ||| F=9
[X] ||| a [X] ||| b [X] ||| F=9
[X] ||| ist ||| is ||| F=0.1
"""
TARGETS = """[X] ||| ist ||| is ||| F=0.1
[X] ||| a ||| b [NP,1] ||| F=9
[X] ||| das [X,1] ||| the [X,1] [X,3] ||| F=9
[X] ||| Haus ||| [HOUSE] ||| F=9
"""
MOSES = """a [NP][X] [X] ||| b [NP][X] [X] ||| 0.5 0.5 0.5 0.5 ||| 0-0 1-1 |||
ist [X] ||| is [X] ||| 0.5 0.5 0.5 0.5 ||| 0-0 |||
"""


@pytest.mark.parametrize(
    ("grammar", "told", "left"),
    [
        (ADJACENT, ["g:2: a rule is left out: the source side has no word", "g:1: a rule is left out: nontermi"], 2),
        (LABELS, ["g:1: 3 rules are left out: nonterminals other than [X,1] and [X,2]"], 1),
        (TARGETS, ["g:2: 3 rules are left out: nonterminals other than [X,1] and [X,2]"], 1),
        (MOSES.replace("b [NP][X]", "b [X]"), ["g:1: a rule is left out: nonterminals other than [X][X]"], 1),
        (MOSES.replace("a [NP][X]", "a"), ["g:1: a rule is left out: nonterminals other than [X][X]"], 1),
        (MOSES, ["g:1: a rule is left out: nonterminals other than [X][X]"], 1),
    ],
)
def test_rules_that_are_never_used_are_counted(tmp_path, grammar, told, left, caplog):
    (tmp_path / "g").write_text(grammar)
    (tmp_path / "t").write_text("das Haus ist\na ist\n")
    done = ran("translate", "--no-lm", "--grammar", "g", "t", cwd=tmp_path)
    for line in told:
        assert f"warning: {line}" in done.stderr.decode()
    assert not run("translate", "-q", "--no-lm", "--grammar", "g", "t", cwd=tmp_path).stderr
    if grammar != ADJACENT:
        assert not run("filter-grammar", "-q", "--grammar", "g", "--text", "t", cwd=tmp_path).stderr
        done = run("filter-grammar", "--grammar", "g", "--text", "t", cwd=tmp_path)
        assert f"warning: {told[0]}" in done.stderr.decode()
    caplog.clear()
    with caplog.at_level(logging.WARNING, "aligntools"):
        assert len(at.Grammar.load(tmp_path / "g")) == left
    assert len(caplog.records) == len(told)


def test_rules_that_are_never_used_are_counted_in_binary_files(tmp_path, caplog):
    text = "[X] ||| das [X,1] a [X,2] ||| the [X,1] [X,2] ||| F=9\n[X] ||| [X,1] a ||| [X,1] ||| F=9\n"
    (tmp_path / "g").write_text(text)
    rules = at.Grammar.load(tmp_path / "g").rules
    order = rules.source.tolist()
    a = rules.source_vocabulary.id("a")
    kept = [k for k, symbol in enumerate(order) if symbol != a]  # the file of an older version
    offsets = np.array([0, *(sum(k < end for k in kept) for end in rules.source_offsets[1:].tolist())])
    older = replace(rules, source=rules.source[kept], source_offsets=offsets)
    write_grammar(tmp_path / "h", older, "binary")
    assert not caplog.records
    with caplog.at_level(logging.WARNING, "aligntools"):
        assert len(at.Grammar.load(tmp_path / "h")) == 0
    assert [record.getMessage().split("h: ")[1][:40] for record in caplog.records] == [
        "a rule is left out: the source side has ",
        "a rule is left out: nonterminals touch o",
    ]


def test_words_that_are_no_marks(tmp_path):
    """cdec, Joshua and Moses take them for nonterminals."""
    grammar = at.extract_grammar(["der [BERICHT] ist da"], ["the [REPORT] is here"], ["0-0 1-1 2-2 3-3"])
    sides = [word for n in range(len(grammar)) for side in grammar.rules.rule(n) for word in side]
    assert "der" in sides
    assert not {"[BERICHT]", "[REPORT]"} & set(sides)
    (tmp_path / "t").write_text("||| ist\n")
    (tmp_path / "g").write_text(ADJACENT)
    (line,) = run(
        "translate", "-q", "--no-lm", "--grammar", "g", "--n-best", "1", "t", cwd=tmp_path
    ).stdout.splitlines()
    assert line.split(b" ||| ")[1] == b"&#124;&#124;&#124; is"
    assert len(line.split(b" ||| ")) == 4


def test_words_that_moses_takes_for_factors_are_told(tmp_path, caplog):
    (tmp_path / "s").write_text("a | b|c\n")
    (tmp_path / "a").write_text("0-0 1-1 2-2\n")
    base = ["extract-grammar", "-s", "s", "-t", "s", "-a", "a", "--format", "moses"]
    told = b"4 words have '|', which Moses takes for what separates factors"
    one = run(*base, "-o", "g", cwd=tmp_path)
    two = run(*base, "-o", "h", "--workers", "2", cwd=tmp_path)
    assert one.stderr.count(told) == two.stderr.count(told) == 1
    assert (tmp_path / "g").read_bytes() == (tmp_path / "h").read_bytes()
    with caplog.at_level(logging.WARNING, "aligntools"):
        at.Grammar.load(tmp_path / "g").save(tmp_path / "k", "hiero")
        assert not caplog.records
        at.Grammar.load(tmp_path / "g").save(tmp_path / "k", "moses")
    assert len(caplog.records) == 1


@pytest.mark.parametrize("method", ["mert", "mira", "risk", "likelihood", "perceptron"])
@pytest.mark.parametrize("reference", ["", "nothing alike"])
def test_references_that_share_no_word_teach_nothing(tmp_path, method, reference):
    (tmp_path / "g").write_text(ADJACENT)
    lm = at.train_lm(["the house is"], order=2)
    with pytest.raises(AligntoolsError, match="nothing can be learned"):
        at.tune(
            at.Grammar.load(tmp_path / "g"), lm, supervised=["Haus ist"] * 3, references=[[reference] * 3],
            method=method, rounds=1,
        )  # fmt: skip


def test_an_n_gram_twice_is_an_error_with_its_line(tmp_path):
    head = (
        "\\data\\\nngram 1=5\nngram 2=3\nngram 3=2\n\n"
        "\\1-grams:\n-1.2\t<unk>\n-99\t<s>\t-0.5\n-1.0\t</s>\n-0.7\ta\t-0.3\n-0.9\tb\t-0.2\n\n"
    )
    two = ["-0.3\t<s> a\t-0.1", "-0.4\ta b\t-0.1", "-0.1\tb a\t-0.1"]
    three = ["-0.1\t<s> a b", "-0.1\ta b a"]

    def load(two, three):
        sections = [f"\\{n}-grams:\n" + "".join(f"{row}\n" for row in rows) for n, rows in ((2, two), (3, three))]
        (tmp_path / "x.arpa").write_text(head + "\n".join(sections) + "\n\\end\\\n")
        return at.LanguageModel.load(tmp_path / "x.arpa")

    assert load(two, three).order == 3
    with pytest.raises(DataError, match=r"x\.arpa:18: this 2-gram is there twice"):
        load([two[0], "", two[1], " ", two[1]], three)
    with pytest.raises(DataError, match=r"x\.arpa:16: this 2-gram is there twice"):
        load([*two[:2], two[1]], three)
    with pytest.raises(DataError, match=r"x\.arpa:20: this 3-gram is there twice"):
        load(two, [three[0], three[0]])


def test_words_of_a_language_model(tmp_path):
    model = at.train_lm(ROOT / "data" / "samples" / "de-en.en", order=3)
    words = model.score_words("The train leaves .")
    assert [one.word for one in words] == ["The", "train", "leaves", ".", "</s>"]
    assert sum(one.log_probability for one in words) == pytest.approx(model.score("The train leaves ."))
    without = model.score("The train leaves .", eos=False)
    assert without == pytest.approx(sum(one.log_probability for one in words[:-1]))
    assert model.score("The train", bos=False, eos=False) == pytest.approx(
        sum(one.log_probability for one in model.score_words("The train", bos=False)[:2])
    )
    assert model.score_words("The", bos=False)[0].order == 1
    assert [one.unknown for one in model.score_words("The xyz")] == [False, True, False]
    (tmp_path / "t").write_text("The xyz\n\nThe train\n")
    model.save(tmp_path / "lm")
    done = run("eval-lm", "-m", "lm", "--words", "t", cwd=tmp_path)
    rows = [line.split("\t") for line in done.stdout.decode().split("\n")]
    assert [row[0] for row in rows] == ["The", "xyz", "</s>", "", "", "The", "train", "</s>", "", ""]
    assert [row[3] for row in rows[:3]] == ["0", "1", "0"]
    assert list(map(len, map(list, model.score_lines_by_word(tmp_path / "t")))) == [3, 0, 3]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"method": "mert", "temperature": 2, "l2": 0.1, "prior": "start", "gamma": 2, "quench": 4, "loss": "linear"},
         ["temperature", "loss", "l2", "prior", "gamma", "quench"]),
        ({"restarts": 2, "passes": 3, "step": 0.1, "reach": "grammar", "temperature": 2, "loss": "linear"},
         ["restarts", "passes", "step", "reach"]),
        ({"l2": 0, "prior": "start"}, ["prior"]),
        ({"method": "mira", "restarts": 2, "passes": 3, "loss": "sentence"}, ["restarts"]),
        ({"n_sources": 3, "impute": "samples", "reverse_gamma": 2, "reverse_grammar": "no/such", "bigrams": 5},
         ["bigrams", "impute", "n_sources", "reverse_gamma", "reverse_grammar"]),
    ],
)  # fmt: skip
def test_settings_that_change_nothing_are_told(tmp_path, given, told, caplog):
    (tmp_path / "g").write_text("[X] ||| Haus ||| house ||| F=0.2\n[X] ||| ist ||| is ||| F=0.1\n")
    lm = at.train_lm(["the house is"], order=2)
    how = {"supervised": ["Haus ist"] * 3, "references": [["house is"] * 3], "rounds": 1, "n_best": 5}
    with caplog.at_level(logging.WARNING, "aligntools"):
        changed = at.tune(at.Grammar.load(tmp_path / "g"), lm, **how, **given)
    found = [record.getMessage().partition(" changes nothing: ")[0].strip("`") for record in caplog.records]
    assert found == told
    kept = {name: value for name, value in given.items() if name not in told}
    assert dict(at.tune(at.Grammar.load(tmp_path / "g"), lm, **how, **kept).features) == dict(changed.features)


def test_settings_of_imputation_that_change_nothing():
    from aligntools.translating.settings import ImputationSettings

    assert not ImputationSettings("lattice", lattice_order=2).unused(True)
    assert list(ImputationSettings("lattice", 3).unused(True)) == ["n_sources"]
    assert list(ImputationSettings("samples", 3, lattice_order=2).unused(True)) == ["lattice_order"]
