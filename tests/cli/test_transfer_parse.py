"""transfer-parse: a parser of another language from its parallel text, and texts that do not fit."""

import itertools
import json
import re

import pytest

from bench.abuse.model_damages import parts, whole
from tests.cli.running import fails, ran, run, succeeds
from tests.models import model

#: German words with their tags, in the order of the sample's sentences: enough for a tagger by look-up.
COMMON = dict.fromkeys(("der", "die", "das", "ein", "eine"), "DET") | {".": "PUNCT", ",": "PUNCT", "ich": "PRON"}
ROWS = 60


def tagged(path, rows, tags):
    lines = path.read_text(encoding="utf-8").splitlines()[:rows]
    return "".join(" ".join(f"{w}_{tags.get(w.lower(), 'NOUN')}" for w in x.split()) + "\n" for x in lines).encode()


@pytest.fixture(scope="module")
def folder(samples, trained, tmp_path_factory):
    """Both sides with tags, their links, English first, and an English parser."""
    path = tmp_path_factory.mktemp("transfer")
    (path / "en.parser").symlink_to(model("parser"))
    rows = [line.split("\t") for line in (samples / "en.conllu").read_text().splitlines() if line[:1].isdigit()]
    english = {row[1].lower(): row[3] for row in rows}
    (path / "en").write_bytes(tagged(samples / "de-en.en", ROWS, english))
    (path / "de").write_bytes(tagged(samples / "de-en.de", ROWS, COMMON))
    links = (trained / "align").read_text().splitlines()[:ROWS]  # German first
    turned = ("".join(" ".join("-".join(x.split("-")[::-1]) for x in line.split()) + "\n" for line in links)).encode()
    (path / "links").write_bytes(turned)
    return path


@pytest.fixture
def transfer(folder, tmp_path):
    """Run the command with what is usual, but for what is given by name."""

    def command(*flags, **files):
        use = {"source": folder / "en", "target": folder / "de", "alignments": folder / "links"} | files
        args = [x for name, path in use.items() if path is not None for x in (f"--{name}", path)]
        args += ["--source-model", folder / "en.parser", "-o", tmp_path / "de.parser", "--iterations", 10]
        args += ["--set", "min_aligned=0.5"]
        return run("transfer-parse", *args, *flags)

    return command


@pytest.mark.parametrize("flags", [(), ("--no-projective",), ("--method", "projected", "--rounds", "1")])
def test_a_parser_of_the_other_language(transfer, folder, tmp_path, flags):
    done = succeeds(transfer(*flags))
    errors = done.stderr.decode()
    summary = r"^(\d+) pairs, 0 unlabeled sentences, (\d+) % of the target words aligned one to one;"
    found = re.search(summary, errors, re.M)
    assert 30 < int(found[1]) <= ROWS
    assert int(found[2]) > 50
    parsed = ran("parse", "-m", tmp_path / "de.parser", folder / "de")
    assert parsed.stderr == b""
    assert parsed.stdout.count(b"\n\n") == ROWS
    rows = [line.split(b"\t") for line in parsed.stdout.splitlines() if line]
    articles = [(int(r[0]), int(r[6])) for r in rows if r[3] == b"DET"]
    assert sum(0 < h - k < 3 for k, h in articles) > 0.8 * len(articles)


def test_the_objective_falls_with_plain_text_and_both_entropies(transfer, folder, tmp_path):
    for flags in ((), ("--set", "entropy=renyi", "--set", "alpha=2"), ("--gamma", 0)):
        log = tmp_path / "log"
        done = succeeds(transfer("--unlabeled", folder / "de", "--log-json", log, *flags))
        assert b" 60 unlabeled sentences" in done.stderr
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        assert {line["stage"] for line in lines} == ({"train"} if "--gamma" in flags else {"train", "entropy"})
        for stage in {line["stage"] for line in lines}:
            values = [line["objective"] for line in lines if line["stage"] == stage]
            assert all(b < a for a, b in itertools.pairwise(values))


def test_the_direct_parser(folder, tmp_path):
    model = tmp_path / "direct"
    done = run("transfer-parse", "--method", "direct", "--source-model", folder / "en.parser", "-o", model)
    assert (done.returncode, done.stderr) == (0, b"")
    done = run("parse", "-m", model, folder / "de")
    rows = [line.split("\t") for line in done.stdout.decode().splitlines() if line]
    words = [word.rsplit("_", 1)[0] for line in (folder / "de").read_text().splitlines() for word in line.split()]
    assert [row[1] for row in rows] == words
    assert sum(row[6] == "0" for row in rows) == ROWS  # one root a sentence


def relations(folder, model):
    done = run("parse", "-m", model, folder / "de")
    return [(r[6], r[7]) for r in (line.split("\t") for line in done.stdout.decode().splitlines()) if len(r) == 10]


def test_labels(transfer, folder, tmp_path, samples):
    """They are learned where the source parser has any; without them, DEPREL is empty and there is no LAS."""
    model, gold, parsed = tmp_path / "de.parser", samples / "en.conllu", tmp_path / "parsed"
    assert transfer("-q").returncode == 0
    found = relations(folder, model)
    assert {label for head, label in found if head == "0"} == {"root"}
    assert {"det", "nsubj", "obj"} <= {label for _, label in found}
    direct = ("transfer-parse", "--method", "direct", "-o", model, "--source-model")
    ran(*direct, folder / "en.parser")
    found = relations(folder, model)
    assert {"det", "nsubj"} <= {label for _, label in found}
    ran("train-parser", "-q", "--no-labels", "--treebank", gold, "-o", tmp_path / "bare")
    made = [
        lambda: transfer("-q", "--no-labels"), lambda: run(*direct, folder / "en.parser", "--no-labels"),
        lambda: run(*direct, tmp_path / "bare"),
    ]  # fmt: skip
    for make in made:
        assert make().returncode == 0
        assert {label for _, label in relations(folder, model)} == {"_", "root"}
        run("parse", "-q", "-m", model, gold, "-o", parsed)
        head, row = run("eval-uas", gold, parsed).stdout.decode().splitlines()[:2]
        end = head.index("LAS%") + len("LAS%")
        assert row[:end].endswith(" -")


def test_several_source_languages(folder, tmp_path):
    """Each has its own parser, texts and links; here, the same ones twice."""
    common = ("--source-model", folder / "en.parser", "--source", folder / "en", "--target", folder / "de", "-a",
              folder / "links", "--iterations", 3, "--set", "min_aligned=0.5", "--min-count", 2)  # fmt: skip
    done = ran("transfer-parse", *common, *common, "-o", tmp_path / "m")
    assert done.stderr.startswith(b"120 pairs, ")
    ran("parse", "-q", "-m", tmp_path / "m", folder / "de")


def test_a_direct_model(transfer, tmp_path, samples):
    """It begins projected transfer and parses what is not aligned; it must know the same tags."""
    direct = tmp_path / "direct"
    bank = ("train-parser", "-q", "--treebank", samples / "en.conllu", "--features", "delexicalized", "-o", direct)
    ran(*bank)
    for flags in ((), ("--method", "projected", "--rounds", 0)):
        models = set()
        for more in ((), (f"--set=direct_model={direct}",)):
            done = transfer("-q", "--iterations", 3, *flags, *more)
            assert (done.returncode, done.stderr) == (0, b"")
            models.add((tmp_path / "de.parser").read_bytes())
        assert len(models) == 2
    ran(*bank, "--map", "upos")
    fails(
        transfer(f"--set=direct_model={direct}"),
        "learned from different tags (column upos, map none; column upos, map",
        status=2,
    )


def test_limits_threads_and_checkpoints(transfer, tmp_path):
    done = transfer("--max-pairs", 40, "--set", "min_length=6", "--max-length", 8)
    assert (
        b"of 60 pairs left out: a sentence has fewer than 6 or more than 8 words (--set min_length=6, --max-len"
        in done.stderr
    )
    done = transfer("--set", "min_aligned=0.9")
    why = (
        rb"\d+ of 60 pairs left out: fewer than 90 % of their target words are aligned one to one \(--set min_aligned=0"
    )
    assert re.search(why, done.stderr)
    models = []
    for threads in (1, 3):
        folder_of_states = tmp_path / "states"
        assert transfer("-q", "--threads", threads, "--checkpoint", folder_of_states).returncode == 0
        models.append((tmp_path / "de.parser").read_bytes())
        assert (folder_of_states / "train.state").exists()
        if threads == 1:
            (folder_of_states / "train.state").unlink()
    assert models[0] == models[1]
    succeeds(transfer("-q", "--checkpoint", tmp_path / "states", "--log-json", tmp_path / "log"))
    assert (tmp_path / "de.parser").read_bytes() == models[0]
    assert (tmp_path / "log").read_bytes() == b""
    fails(transfer("--checkpoint", tmp_path / "states", "--l2", 3), "train.state", "other text or options")


def test_odd_tags_and_few_links_are_told(transfer, folder, file):
    done = transfer(target=file("strange", (folder / "de").read_bytes().replace(b"_DET", b"_ART")))
    assert b"strange: " in done.stderr
    assert b"has never seen (ART; first in sentence 1)" in done.stderr
    done = succeeds(transfer("--set", "min_aligned=0", alignments=file("one", b"0-0\n" + b"\n" * (ROWS - 1))))
    assert re.search(rb"warning: only 0\.\d % of the target words are aligned one to one; are these their", done.stderr)


def test_the_other_direction(transfer, folder, tmp_path, file):
    turned = file("turned", re.sub(rb"(\d+)-(\d+)", rb"\2-\1", (folder / "links").read_bytes()))
    assert transfer("-q", "--iterations", 3, "--reverse", alignments=turned).returncode == 0
    model = (tmp_path / "de.parser").read_bytes()
    assert transfer("-q", "--iterations", 3).returncode == 0
    assert (tmp_path / "de.parser").read_bytes() == model


def test_tags_of_a_damaged_parser(folder, file, tmp_path):
    """Tags may be any bytes; those that are no UTF-8 are shown all the same."""
    metadata, arrays = parts((folder / "en.parser").read_bytes())
    arrays["tags.blob"][:] = 0xFF
    damaged = file("damaged.parser", whole(metadata, arrays))
    text = "--source", folder / "en", "--target", folder / "de", "-a", folder / "links"
    done = run("transfer-parse", "--source-model", damaged, *text, "-o", tmp_path / "de.parser")
    fails(done, "it knows \ufffd", "tag both sides as its treebank")


def test_each_option_shows(transfer, folder, tmp_path):
    """Every option changes the model; what the options mean is tested with the API."""
    links = (folder / "links").read_text().split("\n")
    (tmp_path / "from-1").write_text("\n".join(re.sub(r"\d+", lambda n: str(int(n[0]) + 1), line) for line in links))
    found = {}
    for change in (
        (), ("--unlabeled", folder / "en"), ("--max-pairs", 30), ("--set", "min_length=8"), ("--max-length", 7),
        ("--set", "min_aligned=0.9"), ("--map", "upos"), ("--set", "transferred=score"), ("--method", "projected"),
        ("--method", "projected", "--rounds", 0), ("--method", "projected", "--set", "reward=20"), ("--l2", 1),
        ("--features", "delexicalized"), ("--no-projective",), ("--no-single-root",), ("--min-count", 1), ("--set",
        "bits=6"),
        ("--iterations", 4), ("--set", "tolerance=0.5"), ("--unlabeled", folder / "en", "--gamma", 9),
        ("--unlabeled", folder / "en", "--set", "direct_share=0.15"),
        ("--unlabeled", folder / "en", "--set", "entropy=renyi"),
        ("--unlabeled", folder / "en", "--set", "entropy=renyi", "--set", "alpha=1.5"),
    ):  # fmt: skip
        done = transfer("-q", "--iterations", 3, *change)
        assert (done.returncode, done.stderr) == (0, b"")
        found[change] = (tmp_path / "de.parser").read_bytes()
    assert len(set(found.values())) == len(found)
    done = transfer("-q", "--iterations", 3, "--index-base", 1, alignments=tmp_path / "from-1")
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "de.parser").read_bytes() == found[()]
    assert b"/" in transfer("--separator", "/").stderr


def test_the_column_of_the_tags(transfer, samples, tmp_path):
    """With CoNLL on both sides, parsing is learned from the column that is named."""
    models = set()
    for column in ((), ("--column", "xpos", "--map", "penn")):
        bank, links = samples / "en.conllu", tmp_path / "links"
        words = [part.count("\n") for part in bank.read_text().strip().split("\n\n")]
        links.write_text("".join(" ".join(f"{k}-{k}" for k in range(min(n, 3))) + "\n" for n in words))
        done = transfer("-q", "--set", "min_aligned=0", *column, "-a", links, source=bank, target=bank, alignments=None)
        assert (done.returncode, done.stderr) == (0, b"")
        models.add((tmp_path / "de.parser").read_bytes())
    assert len(models) == 2
