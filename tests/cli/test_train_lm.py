"""train-lm and eval-lm: whole commands."""

import gzip
import json
import math

import pytest

from aligntools.ground import memory
from tests.cli.running import ROOT, fails, ran, run, succeeds
from tests.naive_lm import BEGIN, END, UNKNOWN, KneserNey

SAMPLES = ROOT / "data" / "samples"


def sentences(name):
    return [line.split() for line in (SAMPLES / name).read_text(encoding="utf-8").splitlines()]


def test_perplexity_of_samples_is_that_of_the_formulas(command_inside, tmp_path):
    done = succeeds(command_inside("train-lm", "-n", 3, SAMPLES / "de-en.en", "-o", tmp_path / "m.gz", "-v"))
    assert done.stdout == b""
    naive = KneserNey(sentences("de-en.en"), 3)
    messages = done.stderr.decode()
    assert "240 sentences, 2263 words, 474 different\n" in messages
    for order in (1, 2, 3):
        assert f"order {order}: " + ", ".join(f"{x:.4g}" for x in naive.discounts[order]) in messages
    assert gzip.decompress((tmp_path / "m.gz").read_bytes()).startswith(b"\\data\\\nngram 1=477\n")
    text, total, known, unknown, events = sentences("fr-en.en"), 0.0, 0.0, 0, 0
    for sentence in text:
        words = [w if w in naive.words else UNKNOWN for w in sentence]
        for k, word in enumerate([*words, END]):
            log = math.log(naive.probability(word, [BEGIN, *words[:k]]))
            total, events, unknown = total + log, events + 1, unknown + (word == UNKNOWN)
            known += log * (word != UNKNOWN)
    done = command_inside("eval-lm", "--json", "-m", tmp_path / "m.gz", SAMPLES / "fr-en.en")
    found = json.loads(done.stdout)["results"][0]
    assert found["perplexity"] == pytest.approx(math.exp(-total / events), rel=1e-5)
    assert found["perplexity_known"] == pytest.approx(math.exp(-known / (events - unknown)), rel=1e-5)
    assert found["log10"] == pytest.approx(total / math.log(10), rel=1e-5)
    assert found["bits"] == pytest.approx(-total / math.log(2) / events, rel=1e-5)
    assert (found["sentences"], found["words"], found["unknown"]) == (240, events - 240, unknown)
    assert sum(found["found_by_order"]) == events
    table = command_inside("eval-lm", "-v", "-m", tmp_path / "m.gz", SAMPLES / "fr-en.en").stdout.decode()
    assert f"{math.exp(-total / events):.3f}" in table
    assert ", ".join(f"{k}: {n}" for k, n in enumerate(found["found_by_order"], 1)) in table


def test_lines(command_inside, file):
    model, text = file("m", b""), file("t", b"a b\n\nb x\n")
    assert command_inside("train-lm", "-q", "-n", 2, file("c", b"a b\na b a\n"), "-o", model).returncode == 0
    rows = command_inside("eval-lm", "--lines", "-m", model, text).stdout.decode().splitlines()
    objects = [
        json.loads(x) for x in command_inside("eval-lm", "--lines", "--json", "-m", model, text).stdout.splitlines()
    ]
    whole = json.loads(command_inside("eval-lm", "--json", "-m", model, text).stdout)["results"][0]
    assert [(o["words"], o["unknown"]) for o in objects] == [(2, 0), (0, 0), (2, 1)]
    assert sum(o["log10"] for o in objects) == pytest.approx(whole["log10"])
    assert objects[0]["perplexity"] == pytest.approx(10 ** (-objects[0]["log10"] / 3))
    assert rows[0] == f"{objects[0]['log10']:.6g}\t2\t0\t{objects[0]['perplexity']:.6g}"
    assert rows[1] == "0\t0\t0\t-"


def test_the_same_from_a_pipe_in_little_memory_and_as_binary(command_inside, tmp_path, monkeypatch):
    text = SAMPLES / "de-en.en"
    plain = command_inside("train-lm", text).stdout
    assert plain.startswith(b"\\data\\\nngram 1=477\n")
    little = "train-lm", "-q", "-", "--max-memory", "100K", "--tmpdir", tmp_path
    fails(run(*little, stdin=text.read_bytes()), "--max-memory 100K is too little: about ", "M are needed")
    with monkeypatch.context() as patch:
        patch.setattr(memory, "for_tables", lambda *_: 100 << 10)
        assert run(*little, stdin=text.read_bytes()).stdout == plain
    halves = tmp_path / "1", tmp_path / "2"
    lines = text.read_bytes().splitlines(True)
    for half, part in zip(halves, (lines[:100], lines[100:]), strict=True):
        half.write_bytes(b"".join(part))
    assert command_inside("train-lm", *halves, "--threads", 2).stdout == plain
    done = command_inside("train-lm", "--binary", tmp_path / "b", text)
    assert (done.returncode, done.stdout) == (0, b"")
    (tmp_path / "a").write_bytes(plain)
    scores = [command_inside("eval-lm", "--lines", "-m", tmp_path / name, text).stdout for name in "ab"]
    for one, other in zip(*(s.decode().split() for s in scores), strict=True):
        assert float(one) == pytest.approx(float(other), rel=1e-5)


@pytest.mark.slow
def test_workers_do_not_show(tmp_path):
    text = SAMPLES / "de-en.en"
    models = []
    for flags in ((), ("--workers", 2, "--max-memory", "2G", "--tmpdir", tmp_path)):
        done = ran("train-lm", "-n", 3, text, "-", "-o", tmp_path / "m", *flags, stdin=b"more text\n")
        assert b"241 sentences" in done.stderr
        models.append((tmp_path / "m").read_bytes())
    assert models[0] == models[1]
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
