"""``aligntools imputed-risk`` as a user runs it, on the samples with a small grammar."""

import json
from itertools import pairwise

import numpy as np
import pytest

from tests.cli.running import fails, ran, run

FAST = ("--rounds", 1, "--pop-limit", 10, "--n-best", 10, "--threads", 1)


def arpa(sentences):
    """Return a bigram model of the words: all alike, followed by what has followed them."""
    words = sorted({w for s in sentences for w in s.split()})
    pairs = sorted({p for s in sentences for w in [["<s>", *s.split(), "</s>"]] for p in pairwise(w)})
    log = -np.log10(len(words) + 2)
    lines = ["\\data\\", f"ngram 1={len(words) + 3}", f"ngram 2={len(pairs)}", "", "\\1-grams:"]
    lines += [f"{log:.4f}\t{w}\t-0.8" for w in ["<unk>", "</s>", *words]] + ["-99\t<s>\t-0.8"]
    lines += ["", "\\2-grams:"] + [f"-0.7\t{a} {b}" for a, b in pairs] + ["", "\\end\\", ""]
    return "\n".join(lines)


@pytest.fixture(scope="session")
def systems(tmp_path_factory, samples, trained):
    """A folder with grammars and language models of both directions, and some of the text."""
    from aligntools.formats.links.pharaoh import Links, read_pharaoh
    from aligntools.formats.text.bitext import read_bitext
    from aligntools.formats.translation.grammar_text import write_grammar
    from aligntools.translating.grammar.extraction import Extraction, whole
    from aligntools.translating.settings import ExtractionSettings

    folder = tmp_path_factory.mktemp("systems")
    standard = ExtractionSettings(phrases="tight", features="standard")
    begin = {"align": trained / "align"} | {side: samples / f"de-en.{side}" for side in ("de", "en")}
    for name, path in begin.items():
        (folder / name).write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:60]))
    links = read_pharaoh(str(folder / "align"))
    sentence = np.repeat(np.arange(len(links)), np.diff(links.offsets))
    exchanged = links.pairs[np.lexsort((links.pairs[:, 0], links.pairs[:, 1], sentence))][:, ::-1]
    paths = {side: str(folder / side) for side in ("de", "en")}
    for name, source, target, of in (
        ("de-en.grammar", "de", "en", links),
        ("en-de.grammar", "en", "de", Links(np.ascontiguousarray(exchanged), links.offsets)),
    ):
        bitext = read_bitext(paths[source], paths[target], lowercase=False)
        write_grammar(str(folder / name), whole(Extraction(bitext, of, standard).parts()))
    for side in paths:
        lines = (folder / side).read_text(encoding="utf-8").splitlines()
        (folder / f"{side}.arpa").write_text(arpa(lines))
        (folder / f"dev.{side}").write_text("\n".join([*lines[:12], "", *lines[12:16]]) + "\n")
        (folder / f"more.{side}").write_text("\n".join([*lines[30:36], ""]) + "\n")
    lines = (folder / "dev.en").read_bytes().splitlines(keepends=True)
    (folder / "turned.en").write_bytes(b"".join(lines[:8] + lines[:7:-1]))  # or all are perfect
    return folder


@pytest.fixture
def learn(systems, tmp_path):
    """Run the command with the forward system; return the process, which has ended well, and the weights' file."""

    def run_it(*args, output="w.json", command=ran):
        path = tmp_path / output
        given = ("--grammar", systems / "de-en.grammar", "--lm", systems / "en.arpa", "-o", path)
        return command("imputed-risk", *given, *FAST, *args), path

    return run_it


@pytest.fixture
def refused(learn):
    """Run it where it ends otherwise."""
    return lambda *args: learn(*args, command=run)[0]


@pytest.fixture
def supervised(systems):
    return "--supervised", systems / "dev.de", "--reference", systems / "dev.en"


@pytest.fixture
def reverse(systems):
    """Options of a reverse system whose weights were learned with the sides exchanged."""
    weights = systems / "reverse.json"
    if not weights.exists():
        ran(
            "imputed-risk", "--supervised", systems / "dev.en", "--reference", systems / "dev.de",
            "--grammar", systems / "en-de.grammar", "--lm", systems / "de.arpa", "-o", weights,
            "--method", "likelihood", *FAST,
        )  # fmt: skip
    return (
        "--monolingual", systems / "more.en", "--reverse-grammar", systems / "en-de.grammar",
        "--reverse-lm", systems / "de.arpa", "--reverse-weights", weights,
    )  # fmt: skip


def bleus(process):
    lines = [line for line in process.stderr.decode().splitlines() if line.startswith("round ")]
    return [float(line.split("BLEU ")[1].split()[0]) for line in lines]


@pytest.mark.parametrize(
    "options", ["", "--method mert --restarts 1", "--method mira", "--method likelihood --forest --set oracle=true"]
)
def test_supervised(learn, supervised, options):
    done, path = learn(*supervised, *options.split())
    found = json.loads(path.read_text())
    assert (found["format"], found["kind"]) == ("aligntools weights", "translation")
    assert {"lm", "PhraseEgivenF", "word-penalty", "glue-unary", "unknown"} <= set(found["features"])
    scores = bleus(done)
    assert len(scores) == 2
    assert found["about"]["bleu"] == pytest.approx(max(scores), abs=0.01)
    assert found["about"]["supervised"] == 17


@pytest.mark.parametrize(
    "options",
    [
        *("--n-sources 2 --set source_weights=equal --method mert --restarts 1", "--method mira --n-sources 2"),
        *("--impute rules --method perceptron", "--samples 3", "--impute lattice --method mert"),
        "--impute lattice --forest --set quench=4 --loss linear",
    ],
)
@pytest.mark.parametrize("alone", [pytest.param(True, marks=pytest.mark.slow), False])
def test_imputed(learn, supervised, reverse, options, alone):
    done, path = learn(*reverse, *options.split(), *(() if alone else supervised))
    assert len(bleus(done)) == 2
    found = json.loads(path.read_text())
    assert not any(name.startswith("lattice") for name in found["features"])
    assert found["about"]["monolingual"] == 7
    said = done.stderr.decode()
    lists = "lattices of 6 of 7 sentences" if "lattice" in options else "sources of 7 sentences"
    assert ("trees of" if "rules" in options else lists) in said


def test_reverse_models_threads_and_starts(learn, reverse, supervised):
    with_model, _ = learn(*reverse)
    at = reverse.index("--reverse-lm")
    done, _ = learn(*reverse[:at], *reverse[at + 2 :], "--no-reverse-lm")
    assert done.stderr != with_model.stderr
    files = [
        learn(*supervised, *reverse, "--samples", 2, "--threads", n, output=f"{n}.json")[1].read_bytes() for n in (1, 3)
    ]
    assert files[0] == files[1]
    _, first = learn(*supervised, output="first.json")
    done, _ = learn(*supervised, "--start", first, "--rounds", 0)
    assert bleus(done) == [pytest.approx(json.loads(first.read_text())["about"]["bleu"], abs=0.01)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        ("--forest", "--loss", "linear", "--samples", 2),
        pytest.param(("--rounds", 2, "--impute", "rules", "--method", "mert"), marks=pytest.mark.slow),
        pytest.param(("--forest", "--impute", "lattice"), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_workers_change_nothing(learn, supervised, reverse, tmp_path, options):
    given = (*supervised, *reverse, *options)
    files = []
    for own in ((), ("--workers", 2, "--tmpdir", tmp_path)):
        done, path = learn(*given, *own)
        files.append((path.read_bytes(), done.stderr))
    assert files[0] == files[1]
    assert not list(tmp_path.glob("aligntools.*"))


def test_the_round_that_is_written(learn, supervised, systems, reverse):
    options = (*supervised[:3], systems / "turned.en", *reverse, "--rounds", 2, "--set", "patience=9")
    options += ("--prior", "start", "--l2", 0.01)
    found = {}
    for choice in ("supervised", "all", "last"):
        done, path = learn(*options, "--set", f"choose={choice}")
        found[choice] = json.loads(path.read_text())["about"]
    assert found["last"]["round"] == len(bleus(done)) - 1
    assert found["supervised"]["bleu"] == pytest.approx(max(bleus(done)), abs=0.01)
    assert found["all"]["bleu"] != found["supervised"]["bleu"]


@pytest.fixture
def imperfect(systems, supervised):
    """Options of a text whose references are partly those of other sentences."""
    return (*supervised[:3], systems / "turned.en", "--set", "choose=last")


@pytest.fixture(scope="module")
def plain():
    """The weights that options are compared with, by the command line that learned them."""
    return {}


def differs(learn, plain, given, option):
    """Learn with an option more, and without it if no other option was compared with that."""

    def weights(*more):
        _, path = learn(*given, *more)
        return json.loads(path.read_text())["features"]

    if given not in plain:
        plain[given] = weights()
    return weights(*option) != plain[given]


@pytest.fixture
def start(learn, systems, imperfect):
    """Weights of which the best must not be the first."""
    path = systems / "start.json"
    if not path.exists():
        text = json.loads(learn(*imperfect, "--rounds", 0)[1].read_text())
        scaled = {name: w * (-0.02 if name.startswith(("P", "L")) else 0.1) for name, w in text["features"].items()}
        path.write_text(json.dumps(text | {"features": scaled}))
    return path


#: Options that change what is learned, each with what is given besides.
EFFECTS = {
    "tuning": """--method mert; --method likelihood; --loss sentence; --loss linear; --forest; --n-best 4; --gamma 3;
        --set quench=4; --l2 1; --set temperature=0.5; --pop-limit 2; --span-limit 2; --rounds 2;
        --set patience=1 | --rounds 4 --l2 10; --restarts 0 | --method mert --rounds 3 --n-best 40;
        --seed 7 | --method mert""",
    "online learning": """--method mira | --method perceptron; --loss sentence; --set step=0.5; --seed 7;
        --passes 1 | --method perceptron; --set step=0.5 | --method perceptron;
        --set reach=grammar | --method likelihood --forest""",
    "imputation": """--set source_weights=equal | --n-sources 3; --n-sources 3; --impute samples | --n-sources 3;
        --impute rules; --impute lattice | --forest --set reverse_gamma=0.03;
        --set lattice_order=5 | --forest --impute lattice --set reverse_gamma=0.1;
        --set lattice_prune=0.4 | --forest --set reverse_gamma=0.03 --impute lattice;
        --set reverse_gamma=0.2 | --n-sources 3; --monolingual-weight 1;
        --seed 7 | --samples 4 --set reverse_gamma=0.05""",
}


@pytest.mark.parametrize(("kind", "row"), [(k, " ".join(r.split())) for k in EFFECTS for r in EFFECTS[k].split(";")])
def test_every_option_has_an_effect(learn, plain, imperfect, request, kind, row):
    option, _, base = row.partition(" | ")
    if kind == "online learning":
        imperfect = (*imperfect, "--start", request.getfixturevalue("start"), "--method", "mira")
    elif kind == "imputation":
        imperfect = (*imperfect, *request.getfixturevalue("reverse"))
    assert differs(learn, plain, (*imperfect, *base.split()), option.split())


def test_priors_and_figures(learn, supervised):
    _, zero = learn(*supervised, "--l2", 100, "--set", "choose=last", output="zero.json")
    _, start = learn(*supervised, "--l2", 100, "--set", "choose=last", "--prior", "start", output="start.json")
    _, begun = learn(*supervised, "--rounds", 0, output="begun.json")
    zero, start, begun = (
        np.array(list(json.loads(path.read_text())["features"].values())) for path in (zero, start, begun)
    )
    assert np.linalg.norm(zero) < 0.2 * np.linalg.norm(begun)
    assert np.linalg.norm(start - begun) < 0.2 * np.linalg.norm(begun)
    quiet, _ = learn(*supervised, "-q")
    assert (quiet.returncode, quiet.stderr) == (0, b"")
    assert b"; together " not in learn(*supervised)[0].stderr
    assert b"; together " in learn(*supervised, "-v")[0].stderr


def test_bigrams_of_tags_are_features_too(learn, supervised, samples):
    _, path = learn(*supervised, "--tags", samples / "en.tagged", "--set", "bigrams=30")
    names = list(json.loads(path.read_text())["features"])
    assert sum("X" in name.split("_") for name in names) > 3
    assert len(names) == 4 + 9 + 30
    tagged = (*supervised, "--tags", samples / "en.tagged", "--rounds", 0)
    _, other = learn(*tagged, "--start", path, output="other.json")
    assert list(json.loads(other.read_text())["features"]) == names
    _, plain = learn(*supervised, "--rounds", 0, output="plain.json")
    learn(*tagged, "--set", "bigrams=30", "--start", plain)


@pytest.mark.parametrize(
    "more", [(), ("--method", "mira"), ("--method", "likelihood", "--forest", "--set", "oracle=true")], ids=str
)
def test_an_interrupted_run_goes_on(learn, refused, supervised, tmp_path, monkeypatch, more):
    from aligntools.translating.tuning import learning

    folder = tmp_path / "kept"
    folder.mkdir()
    options = (*supervised, "--rounds", 3, "--set", "patience=9", *more)
    _, whole = learn(*options, output="whole.json")
    save = learning.save_state

    def interrupted(path, own, progress):
        save(path, own, progress)
        if len(progress.rounds) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(learning, "save_state", interrupted)
    stopped, path = learn(*options, "--checkpoint", folder, command=run)
    assert stopped.returncode == 130
    assert not path.exists()
    monkeypatch.setattr(learning, "save_state", save)
    done, path = learn(*options, "--checkpoint", folder)
    assert b"continues after round 1" in done.stderr
    assert path.read_bytes() == whole.read_bytes()
    other = refused(*options, "-q", "--l2", 0.5, "--checkpoint", folder)
    assert fails(other, "tuning.state", "other text, weights or options")


def test_several_sets_of_references_are_all_imputed(learn, systems, reverse, file, monkeypatch):
    """As the paper does with 16 references: each is reverse translated, and all are references of each source."""
    from aligntools.translating.tuning import learning

    lines = (systems / "more.en").read_bytes().splitlines(keepends=True)
    other = file("other.en", b"".join(line.lower().replace(b" a ", b" the ") for line in lines))
    made, make = [], learning.tuning_set
    monkeypatch.setattr(learning, "tuning_set", lambda *args, **more: made.append(args) or make(*args, **more))
    done, path = learn(*reverse, "--monolingual", other)
    assert done.stderr.decode().count("imputed 6 sources of 7 sentences") == 2
    assert len(made) == 2
    sources = [args[1].words for args in made]
    assert sources[0] != sources[1]
    for args in made:
        assert [text.name for text in args[2]] == [str(systems / "more.en"), str(other)]
        assert args[3].tolist() == list(range(6))
        assert args[4] == pytest.approx(np.full(6, 0.1))
    assert json.loads(path.read_text())["about"]["monolingual"] == 14


def test_references_that_can_be_derived_are_counted(learn, refused, supervised, file):
    done, _ = learn(*supervised, "--method", "likelihood", "--forest")
    counted = [line for line in done.stderr.decode().splitlines() if line.startswith("references of ")]
    assert len(counted) == 1
    reached, of = map(int, counted[0].split()[2:5:2])
    assert (0 < reached < of, of) == (True, 17)
    strange = file("strange.en", b"".join(b"nowhere .\n" if line else b"\n" for line in range(17)))
    given = (*supervised[:3], strange, "--method", "likelihood", "--forest")
    assert fails(refused(*given), "derives no reference", "--set oracle=true takes", status=2)
    learn(*given, "--set", "oracle=true")
