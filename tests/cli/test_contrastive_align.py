"""``aligntools contrastive-align`` as a user runs it."""

import json
import re

import pytest

from aligntools.aligning.contrastive import aligner
from aligntools.aligning.contrastive.features import NAMES
from tests import models
from tests.cli.running import fails, ran, run
from tests.conftest import SAMPLES

TEXT = ("-s", SAMPLES / "de-en.de", "-t", SAMPLES / "de-en.en")


@pytest.fixture(scope="module")
def learned():
    """A folder with weights (``model``) and ``align`` of a run on the sample with its base model."""
    return models.folder("weights")


def aer(gold, *alignments):
    done = run("eval-aer", "--json", "--bootstrap", "0", "--head", gold, *alignments)
    return [r["aer"] for r in json.loads(done.stdout)["results"]]


def test_links_against_the_base(trained, learned):
    lines = (learned / "align").read_text().splitlines()
    assert len(lines) == 240
    base, ours = aer(SAMPLES / "de-en.wa", trained / "align", learned / "align")
    assert ours <= base + 0.005  # forty easy pairs, nearly all right before
    errors = (learned / "errors").read_text()
    assert "pass 0: objective" in errors
    assert "weights from 60 pairs: translation" in errors
    assert "240 pairs" in errors
    base, ours = (len((f / "align").read_text().split()) for f in (trained, learned))
    assert abs(base - ours) < 0.05 * base
    expected = (learned / "align").read_bytes()
    done = run("contrastive-align", "-q", "-m", trained / "model", "-w", learned / "model", *TEXT)
    assert (done.stdout, done.stderr) == (expected, b"")
    how = ("contrastive-align", "-q", "-m", trained / "model", "-w", learned / "model", *TEXT)
    found = [
        {(n, link) for n, line in enumerate(run(*how, *more).stdout.splitlines()) for link in line.split()}
        for more in ((), ("--threshold", "0.4"), ("--threshold", "0.8"), ("--threshold", "0.1"))
    ]
    assert found[0] == found[1]
    assert found[2] < found[1] < found[3]


@pytest.mark.slow
def test_workers_do_not_show(trained, learned, tmp_path, monkeypatch):
    """Neither do the blocks that they get, in memory or as they come, with words that the model does not know."""
    monkeypatch.setattr(aligner, "JOB", 70)
    sides = [(SAMPLES / f"de-en.{x}").read_text().splitlines() for x in ("de", "en")]
    text = "".join(f"{s} neu{n % 9} ||| {t} novum{n % 7}\n" for n, (s, t) in enumerate(zip(*sides, strict=True)))
    given = "contrastive-align", "-m", trained / "model", "-i", "-"
    weights, learning = ("-w", learned / "model"), ("--sentences", "20", "--passes", "1")
    for own, bad in ((learning, b""), (weights, b"x\n" * 300)):
        stdin = text.encode() + b"\nno separator\n" + bad
        found = [
            run(*given, *own, *more, stdin=stdin)
            for more in ((), ("--workers", 2, "--tmpdir", tmp_path, "--threads", 2))
        ]
        assert len({(done.returncode, re.sub(rb" in .*/s\)", b"", done.stderr)) for done in found}) == 1
        assert found[0].returncode == bool(bad), found[0].stderr
        if not bad:  # what is written before the text is refused depends on the blocks
            assert found[0].stdout == found[1].stdout
            assert found[0].stdout.count(b"\n") == 242
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_what_is_learned_does_not_depend_on_how_the_text_is_read(tmp_path):
    """A model kept, and the text read again in other parts, give the weights of the run that trained it."""
    for x in ("de", "en"):  # more lines than a part of the stream
        (tmp_path / x).write_text(("ja .\n" * 70 + (SAMPLES / f"de-en.{x}").read_text()) * 40)
    command = ["contrastive-align", "-q", "--fast", "-s", tmp_path / "de", "-t", tmp_path / "en", "--sentences", "30"]
    first = ran(*command, "--save-model", tmp_path / "m", "--save-weights", tmp_path / "w1")
    again = run(*[c for c in command if c != "--fast"], "-m", tmp_path / "m", "--save-weights", tmp_path / "w2")
    assert (tmp_path / "w1").read_bytes() == (tmp_path / "w2").read_bytes()
    assert first.stdout == again.stdout


@pytest.mark.parametrize("method", ["risk", "mert"])
def test_weights_from_gold(trained, tmp_path, method):
    done = ran(
        "contrastive-align", "-m", trained / "model", *TEXT, "--gold", SAMPLES / "de-en.wa", "--method", method,
        "--features", "posterior,link-count,mismatch", "--set", "folds=2", "--save-weights", tmp_path / "w",
    )  # fmt: skip
    text = done.stderr.decode()
    assert "AER % on 40 gold pairs: base model" in text
    assert "cross-validated" in text
    assert "(2 folds)" in text
    weights = json.loads((tmp_path / "w").read_text())
    assert weights["features"] == ["link-count", "posterior", "mismatch"]
    assert weights["learned"] == {"from": "gold", "method": method, "pairs": 40}
    assert len(done.stdout.splitlines()) == 240


def test_base_models_of_its_own_and_of_tables(tmp_path, tables):
    done = ran("contrastive-align", "-q", "--fast", *TEXT, "--sentences", "20", "--save-model", tmp_path / "m")
    assert len(done.stdout.splitlines()) == 240
    again = run("contrastive-align", "-q", "-m", tmp_path / "m", *TEXT, "--sentences", "20")
    assert again.stdout == done.stdout
    done = ran(*of_tables(tables), "--save-model", tmp_path / "m", "--save-weights", tmp_path / "w")
    links = tmp_path / "a"
    links.write_bytes(done.stdout)
    assert len(done.stdout.splitlines()) == 240
    assert aer(SAMPLES / "de-en.wa", links)[0] < 0.3
    again = run(*of_tables(tables, ".t3"))  # the same numbers, rounded to nine digits
    same = sum(a == b for a, b in zip(done.stdout.splitlines(), again.stdout.splitlines(), strict=True))
    assert same > 235
    kept = run(
        "contrastive-align", "-q", "-m", tmp_path / "m", "-w", tmp_path / "w", "-s", tables / "de", "-t", tables / "en"
    )
    assert kept.stdout == done.stdout


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Tables of both directions as fast_align writes them, and the same as GIZA++ has them by number."""
    folder = tmp_path_factory.mktemp("tables")
    pairs = zip(*((SAMPLES / f"de-en.{x}").read_text().lower().splitlines() for x in ("de", "en")), strict=True)
    (folder / "joint").write_text("".join(f"{s} ||| {t}\n" for s, t in pairs))
    for name, way in (("forward", []), ("reverse", ["-r"])):
        ran("-i", folder / "joint", "-d", "-o", "-v", *way, "-p", folder / name, script="fast_align")
    numbers = {}
    for name, columns in (("forward", "st"), ("reverse", "ts")):
        rows = [line.split("\t") for line in (folder / name).read_text().splitlines()]
        with open(folder / f"{name}.t3", "w") as out:
            for *words, p in rows:
                ids = [
                    0 if w == "<eps>" else numbers.setdefault((c, w), len(numbers) + 2)
                    for c, w in zip(columns, words, strict=True)
                ]
                out.write(f"{ids[0]} {ids[1]} {2.718281828459045 ** float(p):.9g}\n")
    for side in "st":
        (folder / f"{side}.vcb").write_text("".join(f"{n} {w} 1\n" for (c, w), n in numbers.items() if c == side))
    for x in ("de", "en"):
        (folder / x).write_text((SAMPLES / f"de-en.{x}").read_text().lower())
    return folder


def of_tables(tables, kind=""):
    names = ["--set", f"forward_table={tables}/forward{kind}", "--set", f"reverse_table={tables}/reverse{kind}"]
    if kind:
        names += [f"--set=source_vcb={tables}/s.vcb", f"--set=target_vcb={tables}/t.vcb"]
    return ["contrastive-align", "-q", *names, "-s", tables / "de", "-t", tables / "en", "--sentences", "20"]


def test_case_is_ignored_in_tables_and_text_alike(tables, tmp_path):
    def capital(text):
        return re.sub(r"(?m)(?<![^ ])[a-zäöü]", lambda letter: letter[0].upper(), text)

    for name in ("de", "en"):
        (tmp_path / name).write_text(capital((tables / name).read_text()))
    for name in ("forward", "reverse"):
        rows = [line.split("\t") for line in (tables / name).read_text().splitlines()]
        rows = [[*map(capital, words), p] for *words, p in rows]
        (tmp_path / name).write_text("".join("\t".join(row) + "\n" for row in rows))
    quick = ["--passes", "0"]
    lower = run(*of_tables(tables), *quick).stdout
    assert run(*of_tables(tmp_path), *quick).stdout == lower
    text = ["-s", tmp_path / "de", "-t", tmp_path / "en"]
    assert run(*of_tables(tables)[:6], *text, "--sentences", "20", *quick).stdout == lower
    kept = ran(*of_tables(tables)[:6], *text, "--sentences", "20", *quick, "--case-sensitive")
    assert kept.stdout != lower


def test_tables_that_do_not_fit(tables, tmp_path):
    command = of_tables(tables)
    command[5] = f"reverse_table={tables}/forward"  # twice the same direction
    assert fails(run(*command), f"{tables}/forward: the two tables have ", "pairs of words in common")
    (tmp_path / "bad").write_text("a b c d\n")
    command[5] = f"reverse_table={tmp_path}/bad"
    assert fails(run(*command), f"{tmp_path}/bad:1: 'a b c d' is not two words")


def test_the_paper_s_way_of_learning(trained, tmp_path):
    """The full space, mixed noise, plain descent: kept in the weights file, so that links are searched alike."""
    command = ["contrastive-align", "-q", "-m", trained / "model", *TEXT]
    own = ["--features", "paper", "--set", "optimizer=sgd", "--set", "noise=shuffle,replace,delete,insert", "--set",
           "density=learned", "--sentences", "12", "--passes", "2", "--n-best", "50"]  # fmt: skip
    done = ran(*command, *own, "--set", "candidates=all", "--save-weights", tmp_path / "w")
    kept = json.loads((tmp_path / "w").read_text())
    assert sum(map(abs, kept["weights"].values())) == pytest.approx(1)
    assert (kept["search"]["candidates"], kept["search"]["source_limit"]) == ("all", 100)
    assert kept["learned"]["optimizer"] == "sgd"
    assert kept["learned"]["noise"] == "shuffle,replace,delete,insert"
    given = [*command, "-w", tmp_path / "w"]
    assert run(*given).stdout == run(*given, "--set", "candidates=all").stdout == done.stdout
    usual, few = (run(*given, "--set", f"candidates={name}").stdout for name in ("base", "few"))
    assert len({usual, few, done.stdout}) == 3


def test_densities_differ_in_the_weight_of_the_number_of_links(trained, tmp_path):
    """From the paper's start: the network may find as many links by itself as the base model decides on."""
    learned = (
        "contrastive-align",
        "-m",
        trained / "model",
        *TEXT,
        "--sentences",
        20,
        "--passes",
        1,
        "--start",
        "paper",
    )
    found = []
    for name in ("base", "expected", "learned"):
        ran(*learned, "--set", f"density={name}", "--save-weights", tmp_path / name)
        found.append(json.loads((tmp_path / name).read_text())["weights"])
    assert len({weights["link-count"] for weights in found}) == 3
    for weights in found:
        weights.pop("link-count")
    assert found[0] == found[1] == found[2]


def test_folds_and_starts(trained):
    command = [
        "contrastive-align", "-m", trained / "model", *TEXT, "--gold", SAMPLES / "de-en.wa", "--features", "posterior",
    ]  # fmt: skip
    for folds in ("0", "3"):
        errors = run(*command, "--set", f"folds={folds}").stderr.decode()
        assert ("(3 folds)" in errors) == ("cross-validated" in errors) == (folds == "3")
    args = ("contrastive-align", "-m", trained / "model", *TEXT, "--sentences", 20, "--features")
    assert b"from the paper's weights" in run(*args, "all,-lonely").stderr
    for flags in (("all",), ("all,-lonely", "--start", "languages"), ("all,-lonely", "-q")):
        assert b"from the paper's weights" not in run(*args, *flags).stderr


def test_texts_to_learn_little_from(trained, learned, tmp_path):
    (tmp_path / "text").write_text("haus ||| house\n ||| a\n")
    command = ["contrastive-align", "-m", trained / "model", "-w", learned / "model", "-i", tmp_path / "text"]
    assert run(*command).stdout == b"0-0\n\n"
    text = tmp_path / "text"
    text.write_text("haus ||| house\n ||| \nund ||| and\n")
    done = ran("contrastive-align", "-m", trained / "model", "-i", text)
    assert b"no pair to learn weights from" in done.stderr
    assert len(done.stdout.splitlines()) == 3
    text = tmp_path / "text"
    text.write_text("aaa bbb ccc . ||| ddd eee .\nbbb ccc ||| eee fff ggg\n" * 4)
    done = ran("contrastive-align", "-m", trained / "model", "-i", text)
    assert len(done.stdout.splitlines()) == 8


def test_sentences_that_are_hard(trained, learned, tmp_path):
    """Blank sides, one-word pairs, five hundred words and unknown words: a line each."""
    long = " ".join(["haus"] * 250 + ["und"] * 250), " ".join(["house"] * 250 + ["and"] * 250)
    pairs = [("", "a b"), ("haus", ""), ("", ""), ("haus", "house"), ("qqq zzz", "xxx"), long, (".", ".")]
    for n, side in enumerate(("s", "t")):
        (tmp_path / side).write_text("".join(p[n] + "\n" for p in pairs))
    text = ("-s", tmp_path / "s", "-t", tmp_path / "t", "-m", trained / "model")
    done = ran("contrastive-align", *text, "-w", learned / "model")
    lines = done.stdout.decode().splitlines()
    assert len(lines) == 7
    assert lines[:3] == ["", "", ""]
    assert lines[6] == "0-0"
    assert b"blank lines written for: 3 blank" in done.stderr
    done = ran("contrastive-align", *text)  # learned from what there is
    assert len(done.stdout.splitlines()) == 7


def test_weights_files_that_do_not_fit(trained, learned, tmp_path):
    good = json.loads((learned / "model").read_text())
    assert good["features"] == list(NAMES)

    def wrong(change, *fragments):
        text = json.loads(json.dumps(good))
        change(text)
        (tmp_path / "w").write_text(json.dumps(text))
        fails(run("contrastive-align", "-m", trained / "model", "-w", tmp_path / "w", *TEXT), *fragments)

    wrong(lambda t: t["weights"].pop("posterior"), "no weight for the feature 'posterior'")
    wrong(lambda t: (t["weights"].update(crosses=1.0), t["features"].append("crosses")), "unknown feature 'crosses'")
    wrong(lambda t: t["features"].remove("mismatch"), "a weight for 'mismatch', which is not among its features")
    wrong(lambda t: t["weights"].update(posterior="high"), "the weight of 'posterior' is \"high\"")
    wrong(lambda t: t["weights"].update(posterior=float("nan")), "the weight of 'posterior' is NaN")
    wrong(lambda t: t.update(version=9), "has version 9")
    wrong(lambda t: t.update(format="other"), "is not a weights file")
    wrong(lambda t: t["search"].update(beam=0), "'beam' is 0")
    wrong(lambda t: t["search"].update(constraint="tight"), "'constraint' is \"tight\"")
    wrong(lambda t: t["search"].update(candidates=[]), "'candidates' is", "one of few, base, all was expected")


def test_gold_of_numbered_lines_is_learned_from_as_if_it_were_first(trained, tmp_path):
    rows = (SAMPLES / "de-en.wa").read_text().splitlines(True)
    command = ["contrastive-align", "-m", trained / "model", *TEXT, "--features", "posterior", "--set", "folds=0"]
    for name, text in (("first", rows), ("numbered", [f"#{n}\t{row}" for n, row in enumerate(rows, 1)]),
                       ("some", [f"#{n}\t{row}" for n, row in enumerate(rows, 1) if n % 3])):  # fmt: skip
        (tmp_path / name).write_text("".join(text))
        ran(*command, "--gold", tmp_path / name, "--save-weights", tmp_path / f"{name}.json")
    read = [json.loads((tmp_path / f"{name}.json").read_text()) for name in ("first", "numbered", "some")]
    assert read[0] == read[1]
    assert read[2]["learned"]["pairs"] == 27


@pytest.mark.slow
def test_the_base_of_the_last_round_is_saved_and_weights_go_with_it(tmp_path):
    own = "--sentences", "20", "--passes", "1"
    done = ran(
        "contrastive-align", "-q", *TEXT, *own, "--save-model", tmp_path / "model", "--save-weights", tmp_path / "w",
        "--log-json", tmp_path / "log",
    )  # fmt: skip
    for more in (
        ("-m", tmp_path / "model", "-w", tmp_path / "w"), ("-m", tmp_path / "model", *own), ("--rounds", 2, *own),
        ("-w", tmp_path / "w"),
    ):  # fmt: skip
        assert run("contrastive-align", "-q", *TEXT, *more).stdout == done.stdout
    stages = [json.loads(line)["stage"] for line in (tmp_path / "log").read_text().splitlines()]
    assert stages.count("sampler") == 10  # five members, twice
    once = run("contrastive-align", "-q", *TEXT, *own, "--rounds", 1).stdout
    assert once != done.stdout
    assert once.count(b"\n") == done.stdout.count(b"\n")
