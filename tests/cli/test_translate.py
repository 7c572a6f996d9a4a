"""translate: a line out for each line in, lists, samples, hypergraphs, and what is wrong with the input."""

import json

import pytest

from tests import naive_translating as naive
from tests.cli.running import fails, ran, run, succeeds

GRAMMAR = """\
[X] ||| das haus ||| the house ||| PhraseEgivenF=-0.2 PhraseFgivenE=-0.3
[X] ||| das [X,1] ||| the [X,1] ||| PhraseEgivenF=-0.3 PhraseFgivenE=-0.5
[X] ||| das ||| that ||| PhraseEgivenF=-1.5 PhraseFgivenE=-1
[X] ||| das ||| the ||| PhraseEgivenF=-0.5 PhraseFgivenE=-0.5
[X] ||| haus ||| building ||| PhraseEgivenF=-2 PhraseFgivenE=-0.1
[X] ||| haus ||| house ||| PhraseEgivenF=-0.4 PhraseFgivenE=-0.4
[X] ||| ist klein ||| is small ||| PhraseEgivenF=-0.3 PhraseFgivenE=-0.3
[X] ||| [X,1] ist [X,2] ||| [X,1] is [X,2] ||| PhraseEgivenF=-0.3 PhraseFgivenE=-0.3
[X] ||| klein ||| little ||| PhraseEgivenF=-1 PhraseFgivenE=-1
[X] ||| klein ||| small ||| PhraseEgivenF=-0.6 PhraseFgivenE=-0.5
"""
NUMBERS = {"[X,1]": -1, "[X,2]": -2}
RULES = [
    naive.Rule(*(tuple(NUMBERS.get(s, s) for s in side.split()) for side in line.split(" ||| ")[1:3]), {})
    for line in GRAMMAR.splitlines()
]
LM = """\
\\data\\
ngram 1=9
ngram 2=6

\\1-grams:
-3\t<unk>
-99\t<s>\t-0.3
-1\t</s>
-0.7\tthe\t-0.3
-1\thouse\t-0.3
-1.5\tbuilding\t-0.2
-1\tis\t-0.2
-1.2\tsmall\t-0.1
-1.4\tlittle\t-0.1

\\2-grams:
-0.3\t<s> the
-0.4\tthe house
-0.6\thouse is
-0.5\tis small
-0.9\tis little
-0.4\tsmall </s>

\\end\\
"""
TEXT = "das haus ist klein\n\nhaus zwölf\nzwölf\n".encode()
OUT = ["the house is small", "", "house zwölf", "zwölf"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("translate")
    (path / "grammar").write_text(GRAMMAR, encoding="utf-8")
    (path / "lm").write_text(LM)
    (path / "text").write_bytes(TEXT)
    return path


@pytest.fixture
def translate(folder, command_inside):
    """Run the command on the text, in this process."""
    options = ["--grammar", folder / "grammar", "--lm", folder / "lm", folder / "text"]
    return lambda *args: command_inside("translate", *options, *args)


def names(weights):
    return {"lm": 1, "PhraseEgivenF": 1, "PhraseFgivenE": 0.5, "word-penalty": 0.4, "arity-0": -0.1, "arity-1": 0,
            "arity-2": 0, "glue-unary": 0, "glue-binary": -0.5, "unknown": -3, "lm-unknown": 0} | weights  # fmt: skip


def write_weights(path, **weights):
    text = {"format": "aligntools weights", "kind": "translation", "version": 1, "features": names(weights)}
    path.write_text(json.dumps(text))
    return path


def test_lines_and_weights(folder, translate, tmp_path):
    done = ran("translate", "--grammar", folder / "grammar", "--lm", folder / "lm", stdin=TEXT)
    assert done.stdout.decode().split("\n") == [*OUT, ""]
    assert b"no weights given (-w)" in done.stderr
    again = run("translate", "-q", "--grammar", folder / "grammar", "--lm", folder / "lm", folder / "text")
    assert (again.stdout, again.stderr) == (done.stdout, b"")
    plain = translate("-w", write_weights(tmp_path / "w"))
    assert plain.stdout.decode().splitlines() == OUT
    assert plain.stderr == b""
    odd = translate("-w", write_weights(tmp_path / "w", lm=0, PhraseEgivenF=-1, PhraseFgivenE=0))
    assert odd.stdout.decode().splitlines()[0] in ("that building is little", "the building is little")
    assert odd.stdout.decode().splitlines()[2:] == ["building zwölf", "zwölf"]


def test_lists_have_distinct_strings_with_features_and_scores(translate, tmp_path):
    weights = names({})
    done = succeeds(translate("-w", write_weights(tmp_path / "w"), "--n-best", 50, "--pop-limit", 0))
    rows = [line.split(" ||| ") for line in done.stdout.decode().splitlines()]
    assert {row[0] for row in rows} == {"0", "1", "2", "3"}
    for number, (line, best) in enumerate(zip(TEXT.decode().splitlines(), OUT, strict=True)):
        own = [row for row in rows if row[0] == str(number)]
        assert own[0][1] == best
        strings = {row[1] for row in own}
        assert len(strings) == len(own)
        if line:
            everything = naive.Enumeration(RULES, line.split(), 10).derivations()
            assert strings == {" ".join(d.words) for d in everything}
        scores = [float(row[3]) for row in own]
        assert scores == sorted(scores, reverse=True)
        for row, score in zip(own, scores, strict=True):
            features = {name: float(value) for name, value in (pair.rsplit("=", 1) for pair in row[2].split())}
            assert sum(weights[name] * value for name, value in features.items()) == pytest.approx(score, abs=1e-3)
    assert rows[-1][2].split()[1:] == ["word-penalty=1", "glue-unary=1", "unknown=1", "lm-unknown=1"]


def test_samples_and_hypergraphs(translate, tmp_path):
    options = ["-w", write_weights(tmp_path / "w"), "--samples", 30, "--pop-limit", 0]
    done = translate(*options)
    rows = [line.split(" ||| ") for line in done.stdout.decode().splitlines()]
    assert [row[0] for row in rows] == [str(n) for n in range(4) for _ in range(30)]
    assert len({row[1] for row in rows[:30]}) > 1
    assert translate(*options).stdout == done.stdout
    assert translate(*options, "--seed", 2).stdout != done.stdout
    peaked = translate(*options, "--gamma", 50).stdout.decode().splitlines()
    assert {line.split(" ||| ")[1] for line in peaked[:30]} == {OUT[0]}
    done = translate("--hypergraphs", tmp_path / "forest.gz", "--pop-limit", 5)
    assert done.stdout.decode().splitlines() == OUT
    from aligntools.formats.opening.files import lines

    header, *forests = map(json.loads, lines(tmp_path / "forest.gz"))
    assert header["features"][:3] == ["lm", "PhraseEgivenF", "PhraseFgivenE"]
    assert [forest["root"] is None for forest in forests] == [False, True, False, False]
    assert any(edge["target"] == ["zwölf"] for node in forests[3]["nodes"] for edge in node["edges"])


def test_odd_sentences_and_no_language_model(translate, folder, tmp_path, command_inside):
    rows = [b"das haus " * 100, b"xx " * 200, b"\xff\xfe das", b" \t ", b"das\tkleine  haus", b"haus " * 1500]
    (tmp_path / "odd").write_bytes(b"\n".join(rows) + b"\n")
    options = ["translate", "-q", "--grammar", folder / "grammar", "--lm", folder / "lm", "--pop-limit", 5]
    assert command_inside(*options, tmp_path / "odd", "-o", tmp_path / "out").returncode == 0
    lines = (tmp_path / "out").read_bytes().split(b"\n")[:-1]
    assert [len(line.split()) for line in lines] == [200, 200, 2, 0, 3, 1500]
    assert lines[1] == b" ".join([b"xx"] * 200)
    assert lines[2].startswith(b"\xff\xfe ")
    options = ["translate", "--grammar", folder / "grammar", "--no-lm", folder / "text", "--n-best", 2]
    done = command_inside(*options, "-w", write_weights(tmp_path / "w", lm=100))
    assert b"lm=" not in done.stdout
    assert done.stdout.decode().splitlines()[0].split(" ||| ")[1] == OUT[0]


def test_bigrams_of_tags(folder, command_inside, tmp_path):
    (tmp_path / "tagged").write_text("the_D house_N is_V small_A\nthat_D building_N is_V little_A\n")
    options = ["translate", "--grammar", folder / "grammar", "--lm", folder / "lm", folder / "text"]
    weights = write_weights(tmp_path / "w", D_N=-9, D_X=0.5)
    done = succeeds(command_inside(*options, "-w", weights, "--tags", tmp_path / "tagged", "--n-best", 1))
    assert b"D_X=1" in done.stdout
    assert b"D_N" not in done.stdout
    assert fails(
        command_inside(*options, "-w", weights), "a weight for 'D_N' and 1 more, which the system does not have"
    )


def test_texts_without_words(folder, command_inside, tmp_path):
    grammar, lm = ["--grammar", folder / "grammar"], ["--lm", folder / "lm"]
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "blank").write_bytes(b"\n \n")
    for name, out in (("empty", b""), ("blank", b"\n\n")):
        done = command_inside("translate", *grammar, *lm, tmp_path / name)
        assert (done.returncode, done.stdout) == (0, out), done.stderr


# Lattices

LATTICE = "((('das',0.4,1),('den',0.6,1),),(('haus',1,1),),)"


@pytest.fixture
def lattices(folder, command_inside, tmp_path):
    """Run the command on lattices, in this process."""

    def made(text, *args, name="x.plf"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        options = ["--grammar", folder / "grammar", "--lm", folder / "lm", "-w", write_weights(tmp_path / "w")]
        return command_inside("translate", *options, "--input", "plf", *args, tmp_path / name)

    return made


def plf_of(line):
    """Return a sentence as a lattice."""
    arcs = "".join(f"(('{word}',1,1),)," for word in line.split())
    return f"({arcs})\n"


def test_lattices_and_confusion_networks(lattices):
    done = lattices(f"{LATTICE}\n()\n\n((('zwölf',1,1),),)\n")
    assert done.stdout.decode().splitlines() == ["the house", "", "", "zwölf"]
    as_text = "".join(plf_of(line) for line in TEXT.decode().splitlines())
    done = lattices(as_text)
    assert done.stdout.decode().splitlines() == OUT
    assert lattices(as_text, "--workers", 1).stdout == done.stdout
    done = lattices("das 0.4 den 0.6\n*EPS* 0.9 klein 0.1\nhaus 1\n\n\nhaus 1\n", "--input", "cn")
    assert done.stdout.decode().splitlines() == ["the house", "", "house"]


def test_features_and_weights_of_arcs(lattices, tmp_path, folder, command_inside):
    done = lattices(LATTICE, "--n-best", 20, "--hypergraphs", tmp_path / "h")
    rows = [line.split(" ||| ") for line in done.stdout.decode().splitlines()]
    assert {"lattice-1=-0.916291", "lattice-1=-0.510826"} == {row[2].split()[-1] for row in rows}
    assert json.loads((tmp_path / "h").read_text().splitlines()[0])["features"][-1] == "lattice-1"
    sure = lattices(LATTICE, "--set", "arc_weights=50")
    assert sure.stdout.decode() == "den house\n"
    two = LATTICE.replace(",1)", ",0.1,1)")
    assert (
        lattices(two, "--set", "arc_scores=2", "--set", "arc_weights=50", "--set", "arc_weights=0").stdout
        == sure.stdout
    )
    named = LATTICE.replace("0.4,", "0.4,x=2,")
    (tmp_path / "plf").write_text(named)
    options = ["--grammar", folder / "grammar", "--lm", folder / "lm", "--input", "plf", tmp_path / "plf"]
    for weights, out in (({"lattice-1": 50}, "den house"), ({"lattice-1": 50, "lattice-x": 50}, "the house")):
        done = command_inside("translate", *options, "-w", write_weights(tmp_path / "w", **weights))
        assert done.stdout.decode().strip() == out, done.stderr
    plain = ["--grammar", folder / "grammar", "--lm", folder / "lm", "-w", tmp_path / "w", folder / "text"]
    assert command_inside("translate", *plain).stdout.decode().splitlines() == OUT


def test_a_python_translator_takes_lattices(folder, tmp_path):
    import aligntools as at
    from aligntools.formats.translation.plf import parse_plf

    made = at.Translator(folder / "grammar", folder / "lm", write_weights(tmp_path / "w"))
    translator = made.for_lattices()
    (tmp_path / "plf").write_text(LATTICE + "\n")
    wanted = ["the house"]
    for text in ([LATTICE], [parse_plf(LATTICE)], tmp_path / "plf"):
        assert [str(one) for one in translator.translate_batch(text)] == wanted
        assert str(next(iter(translator.n_best(text, 3)))[0]) == wanted[0]
    assert translator.translate(LATTICE).features["lattice-1"] == pytest.approx(-0.9163, abs=1e-4)
    assert str(made.for_lattices("cn").translate("das 0.4 den 0.6\nhaus 1")) == wanted[0]
    assert str(made.for_lattices(weights=[50.0]).translate(LATTICE)) == "den house"
    with pytest.raises(at.UsageProblem, match="lattices"):
        next(translator.derivations([LATTICE]))
    for wrong in ({"format": "x"}, {"scores": -1}, {"weights": [1.0, 2.0]}):
        with pytest.raises(at.UsageProblem):
            made.for_lattices(**wrong)
