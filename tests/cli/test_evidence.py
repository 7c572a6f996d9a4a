"""``contrastive-align --evidence`` as a user runs it."""

import gzip
import json
import random
import re

import pytest

import aligntools as at
from aligntools.aligning.contrastive import aligner
from tests.cli.running import fails, ran, run
from tests.conftest import SAMPLES

TEXT = ("-s", SAMPLES / "de-en.de", "-t", SAMPLES / "de-en.en")
FEW = ("--sentences", "30", "--passes", "0")


@pytest.fixture(scope="module")
def given(trained, tmp_path_factory):
    """Evidence: ``good`` (gold links where there are any), ``noisy`` ones, ``none``; and weights learned with two."""
    folder = tmp_path_factory.mktemp("evidence")
    own, gold = ((p).read_text().splitlines() for p in (trained / "align", SAMPLES / "de-en.wa"))
    (folder / "good").write_text("\n".join(gold + own[len(gold) :]) + "\n")
    lengths = [[len(line.split()) for line in p.read_text().splitlines()] for p in TEXT[1::2]]
    rng = random.Random(1)
    noise = [
        " ".join(f"{rng.randrange(i)}-{rng.randrange(j)}:{rng.random():.3f}" for _ in range(i))
        for i, j in zip(*lengths, strict=True)
    ]
    (folder / "noise").write_text("\n".join(noise) + "\n")
    done = ran(
        "contrastive-align", "-m", trained / "model", *TEXT, *FEW, "--evidence", folder / "good", "--evidence",
        folder / "noise", "--save-weights", folder / "weights", "-o", folder / "align",
    )  # fmt: skip
    (folder / "errors").write_bytes(done.stderr)
    return folder


def told(errors):
    """Return file -> (agreement, precision, recall, weight) of what was said."""
    numbers = r"evidence (\S+): \d+ links, (\S+) % agreement with the base model, estimated precision (\S+) %, recall"
    found = re.findall(numbers + r" (\S+) %, weight ([0-9.e+-]+)", errors)
    return {name.rpartition("/")[2]: tuple(map(float, rest)) for name, *rest in found}


def test_good_files_count_and_noise_does_not(given):
    errors = (given / "errors").read_text()
    said = told(errors)
    assert said["good"][0] > 90
    assert said["good"][3] > 0.1
    assert said["noise"][1] < 50
    assert said["noise"][3] == 0
    assert "noise hardly agrees with the base model; is it of these lines, counted from 0?" in errors
    weights = json.loads((given / "weights").read_text())
    assert weights["features"][-2:] == ["evidence-1", "evidence-2"]
    assert len((given / "align").read_text().splitlines()) == 240


@pytest.mark.slow
def test_saved_weights_take_as_many_files_whole_or_as_text_comes(trained, given, tmp_path, monkeypatch):
    monkeypatch.setattr(aligner, "JOB", 70)
    packed = tmp_path / "noise.gz"
    packed.write_bytes(gzip.compress((given / "noise").read_bytes()))
    command = ["contrastive-align", "-q", "-m", trained / "model", "-w", given / "weights"]
    files = ["--evidence", given / "good", "--evidence", packed]
    expected = (given / "align").read_bytes()
    for more in ([], ["--workers", 2, "--tmpdir", tmp_path], ["--unbuffered"]):
        done = run(*command, *TEXT, *files, *more)
        assert (done.returncode, done.stdout) == (0, expected), done.stderr
    done = run(*command, *TEXT, "--evidence", "-", "--evidence", packed, stdin=(given / "good").read_bytes())
    assert done.stdout == expected
    said = "weights were learned with 2 files of evidence, and 1 are given"
    assert fails(run(*command, *TEXT, "--evidence", given / "good"), said, status=2)
    assert fails(run(*command, *TEXT), said.replace("1 are", "0 are"), status=2)
    base = run("contrastive-align", "-q", "-m", trained / "model", *TEXT, *FEW)
    without = run("contrastive-align", "-q", "-m", trained / "model", *TEXT, *FEW, "--evidence", given / "noise")
    assert base.stdout == without.stdout  # nothing is believed of noise


def test_gold_links_say_what_is_better(trained, given):
    command = ["contrastive-align", "-m", trained / "model", *TEXT, "--gold", SAMPLES / "de-en.wa", "--set", "folds=2",
               "--features", "posterior,link-count"]  # fmt: skip
    done = ran(*command, "--evidence", given / "good", "--evidence", given / "noise")
    errors = done.stderr.decode()
    assert "without evidence: cross-validated AER % " in errors
    aers = dict(re.findall(r"evidence \S*/(\w+): .* AER % ([0-9.]+)", errors))
    assert float(aers["good"]) == 0
    assert float(aers["noise"]) > 50
    assert re.search(r"warning: combined links are not better than those of \S*/good alone: AER % \S+ cross-validated, "
                     r"0\.00 there", errors)  # fmt: skip
    alone = run(*command, "--evidence", given / "noise", "--set", "evidence_share=0.5")
    base = float(re.search(r"base model ([0-9.]+)", errors)[1])
    validated = [float(re.search(r"cross-validated ([0-9.]+)", e)[1]) for e in (errors, alone.stderr.decode())]
    assert validated[0] <= base
    assert validated[0] <= validated[1]


def test_its_own_base_model_tables_and_a_share(tmp_path, given):
    links = tmp_path / "links"
    links.write_bytes((given / "good").read_bytes())
    found = [
        run("contrastive-align", "-q", "--fast", *TEXT, *FEW, *more)
        for more in (
            (),
            ("--evidence", links, "--set", "evidence_share=1"),
            ("--evidence", links, "--set", "evidence_share=0"),
        )
    ]
    assert [done.returncode for done in found] == [0, 0, 0], found[1].stderr
    good = (given / "good").read_text().splitlines()
    agree = [
        sum(len(set(a.split()) & set(b.split())) for a, b in zip(done.stdout.decode().splitlines(), good, strict=True))
        for done in found
    ]
    assert found[0].stdout == found[2].stdout
    assert found[0].stdout != found[1].stdout
    assert agree[1] > agree[0]


def test_what_is_wrong_with_a_file_is_said_before_anything_is_trained(trained, given, tmp_path):
    good = (given / "good").read_text().splitlines()
    command = ["contrastive-align", "-m", trained / "model", *TEXT, "--evidence"]
    bad = tmp_path / "bad"
    for lines, said in (
        (good[:-1], "bad: has 239 lines of links, but the text has more"),
        ([*good, "0-0"], "bad:241: there are more lines of links than the 240 of the text"),
        ([*good[:6], "0-99", *good[7:]], "bad:7: link 0-99 points past the target sentence"),
        ([*good[:6], "0-0:7", *good[7:]], "bad:7: '0-0:7': a probability from 0 to 1"),
        ([*good[:6], "a b", *good[7:]], "bad:7: 'a' is not a link"),
    ):
        bad.write_text("\n".join(lines) + "\n")
        for more in (FEW, ("-w", given / "weights", "--evidence", given / "noise")):
            done = run(*command, bad, *more)
            assert fails(done, said), said


def test_exchanged_sides_are_noticed(tmp_path):
    rng = random.Random(2)
    rows = []
    for _ in range(100):  # the last word comes first in the other language
        a, b, c = rng.sample(range(12), 3)
        rows.append(f"v{a} v{b} v{c} ||| w{c} w{a} w{b}\n")
    (tmp_path / "text").write_text("".join(rows))
    (tmp_path / "right").write_text("0-1 1-2 2-0\n" * 100)
    (tmp_path / "turned").write_text("1-0 2-1 0-2\n" * 100)
    found = {}
    for name in ("right", "turned"):
        done = ran("contrastive-align", "--fast", "-i", tmp_path / "text", *FEW, "--evidence", tmp_path / name)
        found[name] = done.stderr.decode()
    assert "warning" not in found["right"]
    said = r"warning: with source and target exchanged \S+turned would agree with the base model on \d+\.\d %; is it of"
    assert re.search(said, found["turned"])


def test_from_python(trained, given):
    aligner = at.Aligner.load(trained / "model")
    text = at.read_bitext(TEXT[1], TEXT[3])
    lines = (given / "good").read_text().splitlines()
    files = [given / "good", given / "noise"]
    model = at.train_contrastive_aligner(text, aligner=aligner, sentences=30, passes=0, evidence=files)
    expected = (given / "align").read_text().splitlines()
    assert [str(a) for a in model.align_batch(text, evidence=files)] == expected
    assert [round(f.precision, 2) for f in model.evidence] == pytest.approx([1, 0.2], abs=0.2)
    same = at.train_contrastive_aligner(text, aligner=aligner, sentences=30, passes=0, evidence=[lines])
    source, target = (p.read_text().splitlines()[100] for p in TEXT[1::2])
    found = list(same.align_batch(text, evidence=[lines]))
    assert str(same.align(source, target, evidence=[lines[100]])) == str(found[100])
    with pytest.raises(at.DataError, match="evidence 1:2: more than one line"):
        list(same.align_batch(text, evidence=[["0-0", "0-0\n1-1"]]))
    with pytest.raises(at.DataError, match="evidence 1: alignments of 239 sentence pairs; the text has more"):
        list(same.align_batch(text, evidence=[lines[1:]]))
    with pytest.raises(at.DataError, match="evidence 1: alignments of 241 sentence pairs; the text has 240"):
        list(same.align_batch(text, evidence=[[*lines, "0-0"]]))
    with pytest.raises(at.UsageProblem, match="evidence is a list"):
        list(same.align_batch(text, evidence=str(given / "good")))
    with pytest.raises(at.UsageProblem, match="learned with 1 file of evidence, and 0 are given"):
        list(same.align_batch(text))
