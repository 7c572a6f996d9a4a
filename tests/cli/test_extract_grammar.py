"""``aligntools extract-grammar`` and ``filter-grammar`` as a user runs them."""

import gzip

import pytest

from aligntools.ground import memory
from tests.cli.running import ROOT, fails, ran, run, succeeds

SAMPLES = ROOT / "data" / "samples"
SOURCE, TARGET = SAMPLES / "de-en.de", SAMPLES / "de-en.en"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with an alignment of the sample and its grammar."""
    path = tmp_path_factory.mktemp("grammar")
    gold = (SAMPLES / "de-en.wa").read_text().replace("?", "-").replace("p", "-")
    (path / "align").write_text(gold + "\n" * (len(SOURCE.read_text().splitlines()) - gold.count("\n")))
    done = ran("extract-grammar", "-s", SOURCE, "-t", TARGET, "-a", "align", "-o", "g", "-v", cwd=path)
    assert b"240 sentence pairs: " in done.stderr
    assert b" source sides, " in done.stderr
    assert done.stdout == b""
    return path


def grammar(folder, *args, **how):
    return run("extract-grammar", "-q", "-s", SOURCE, "-t", TARGET, "-a", "align", *args, cwd=folder, **how)


def test_grammars_of_files_and_streams(folder, tmp_path, monkeypatch):
    lines = (folder / "g").read_text().splitlines()
    sides = [tuple(line.split(" ||| ")[1:3]) for line in lines]
    assert len(sides) == len(set(sides)) > 1000
    assert all(line.startswith("[X] ||| ") and " ||| PhraseEgivenF=" in line for line in lines)
    assert ("Der", "The") in sides
    assert all(len(source.split()) <= 5 for source, _ in sides)
    expected = (folder / "g").read_bytes()
    fails(grammar(folder, "--max-memory", "1M"), "--max-memory 1M is too little: about ", "M are needed")
    monkeypatch.setattr(memory, "for_tables", lambda *_: 1 << 20)
    done = grammar(folder, "--threads", "3", "--max-memory", "1M", "--tmpdir", tmp_path)
    assert done.stderr == b""
    assert done.stdout == expected
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_workers_change_nothing(folder, tmp_path):
    base = "extract-grammar", "-s", SOURCE, "-t", TARGET, "-a", "align", "-o", tmp_path / "out"
    for own in (("--format", "moses"), ("--format", "binary")):
        found = []
        for more in ((), ("--workers", 1, "--tmpdir", tmp_path, "--max-memory", "2G")):
            done = ran(*base, *own, *more, cwd=folder)
            found.append((done.stderr, (tmp_path / "out").read_bytes()))
        assert found[0] == found[1]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    fails(grammar(folder, "--workers", 9, "--max-memory", "1500M"), "--max-memory 1500M is too", "--workers")


def test_formats_and_filters(folder, tmp_path, command_inside):
    # Moses' files have no names, so that only the features that Moses has too come back as they were
    def do(*args):
        done = succeeds(command_inside(*args))
        return done

    first = tmp_path / "text"
    first.write_bytes(b"".join(SOURCE.read_bytes().splitlines(keepends=True)[:5]) + b"\n")
    moses, binary, back = tmp_path / "moses.gz", tmp_path / "bin", tmp_path / "back"
    base = "extract-grammar", "-q", "-s", SOURCE, "-t", TARGET, "-a", folder / "align", "--features", "standard"
    whole = tmp_path / "whole"
    do(*base, "-o", whole)
    base += "--text", first
    do(*base, "--format", "moses", "-o", moses)
    do(*base, "--format", "binary", "-o", binary)
    do(*base, "-o", tmp_path / "hiero")
    hiero = (tmp_path / "hiero").read_bytes()
    assert b"[X][X]" in gzip.decompress(moses.read_bytes())
    for other in (moses, binary):
        do("filter-grammar", "--grammar", other, "--text", first, "--format", "hiero", "-o", back, "-q")
        assert back.read_bytes() == hiero
    done = do("filter-grammar", "--grammar", whole, "--text", first, "-o", back)
    assert back.read_bytes() == hiero
    count = hiero.count(b"\n")
    assert f"{count} rules of ".encode() in done.stderr
    done = do("filter-grammar", "--grammar", whole, "--text", first, "--span-limit", "10")
    assert set(done.stdout.splitlines()) < set(hiero.splitlines())
    do("filter-grammar", "--grammar", moses, "--text", first, "-o", tmp_path / "same", "-q")
    assert (tmp_path / "same").read_bytes() == gzip.decompress(moses.read_bytes())
    do("filter-grammar", "--grammar", binary, "--text", first, "-o", tmp_path / "same.bin", "-q")
    assert (tmp_path / "same.bin").read_bytes()[8:9] == b"{"


def test_figures_and_faults(folder, tmp_path):
    (tmp_path / "g").write_bytes(grammar(folder).stdout)
    base = "filter-grammar", "--grammar", tmp_path / "g", "--text", SOURCE, "-o", tmp_path / "out"
    assert run(*base, "-q").stderr == b""
    assert b"the text has 240 sentences and" not in run(*base).stderr
    assert b"the text has 240 sentences and" in run(*base, "-v").stderr
    (tmp_path / "a").write_text("\n")
    (tmp_path / "t").write_text("x y\n")
    done = run("extract-grammar", "-s", "t", "-t", "t", "-a", "a", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"no rules" in done.stderr
    fails(grammar(folder, "--format", "binary"), status=2)
    fails(grammar(folder, "-o", "no/such/file"), "cannot be written")
