"""Counting n-grams by jobs over parts: the same model as in one process, whoever does the jobs and ends meanwhile."""

import gzip
import os

import numpy as np
import pytest

import aligntools as at
from aligntools.formats.opening import files
from aligntools.formats.text.numbered_text import LineSource
from aligntools.ground.engines import Serial
from aligntools.ground.errors import DataError, ResourceError, UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.ground.processes import Processes
from aligntools.store.sorting import ArrayStore
from aligntools.store.stores import Store
from aligntools.translating.lm import kneser_ney as parts
from aligntools.translating.lm.kneser_ney import count
from tests.ground.jobs import Dying
from tests.places import SAMPLES


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Cut short texts into many parts, blocks and pieces."""
    monkeypatch.setattr(parts, "FEWEST", 1000)
    monkeypatch.setattr(parts, "MOST", 1500)
    monkeypatch.setattr(parts, "BLOCK", 100)
    monkeypatch.setattr(parts, "MERGED", 400)


@pytest.fixture
def texts(tmp_path):
    """Files with all that is odd: a mark at the beginning, carriage returns, blank lines, no end of the last line."""
    lines = (SAMPLES / "de-en.en").read_bytes().splitlines()
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbf" + b"\r\n".join(lines[:100]) + b"\n\n \n")
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"\n".join(lines[50:170])))
    (tmp_path / "c").write_bytes(b"\n".join([b"x\ry z\r w", b"\xef\xbb\xbfq r", *lines[150:], "Ä ö\tü Ö".encode()]))
    (tmp_path / "d").write_bytes(b"")
    return [LineSource(str(tmp_path / name)) for name in ("a", "b.gz", "c", "d")]


def engine_of(kind, folder, pool):
    if kind == "serial":
        return Serial(pool)
    return Processes(2) if kind == "two" else Dying(folder, {"reading", "n-grams", "merging"})


def same(found, expected):
    assert found.table.dtype == expected.table.dtype
    assert found.table.tobytes() == expected.table.tobytes()
    assert found.vocabulary.words() == expected.vocabulary.words()
    assert (found.sentences, found.words, found.blank) == (expected.sentences, expected.words, expected.blank)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "order", "lowercase"), [
    ("serial", 1, False), ("serial", 4, True), ("two", 3, False), ("dying", 3, False),
])  # fmt: skip
def test_the_same_counts(kind, order, lowercase, texts, tmp_path):
    expected = count(texts, order, ArrayStore(1 << 26), lowercase=lowercase)
    (tmp_path / "parts").mkdir()
    with Pool(2) as pool:
        engine = engine_of(kind, tmp_path, pool)
        found = parts.count_in_parts(texts, order, Store(str(tmp_path / "parts")), engine, pool, lowercase=lowercase)
        engine.close()
    assert len(os.listdir(tmp_path / "parts")) > 3
    same(found(ArrayStore(1 << 26)), expected)
    assert os.listdir(tmp_path / "parts") == []
    if kind == "dying":
        assert {"ended in reading", "ended in n-grams", "ended in merging"} <= set(os.listdir(tmp_path))


def test_files_are_cut_between_lines(texts):
    for size in (1, 7, 300, 1 << 20):
        for source in (texts[0], texts[2], texts[3]):
            ranges = files.line_ranges(source.name, size)
            assert ranges[0][0] == 0
            assert ranges[-1][1] == os.path.getsize(source.name)
            pieces = [b"".join(files.blocks_of_lines(source.name, 64, *one)) for one in ranges]
            with open(source.name, "rb") as file:
                assert b"".join(pieces) == file.read().removeprefix(b"\xef\xbb\xbf")
            assert all(piece.endswith(b"\n") for piece in pieces[:-1])
            for (begin, _), before in zip(ranges, np.cumsum([0, *(p.count(b"\n") for p in pieces)]), strict=False):
                assert files.lines_before(source.name, begin) == before
    assert len(parts.sources_in_parts(texts, 2)) > 6


def test_text_that_one_process_alone_can_read(tmp_path):
    rows = [b"a b", b"", b"b a a"] * 50
    expected = count([LineSource("memory", rows)], 2, ArrayStore(1 << 26))
    with Pool(1) as pool:
        engine = Processes(1)
        found = parts.count_in_parts([LineSource("memory", iter(rows))], 2, Store(str(tmp_path)), engine, pool)
        engine.close()
    same(found(ArrayStore(1 << 26)), expected)


@pytest.mark.parametrize(("bad", "problem"), [(b"\xff", "not UTF-8"), (b"a <s> b", "special meaning")])
def test_what_is_wrong_is_named_by_file_and_line(bad, problem, texts, tmp_path):
    with open(texts[2].name, "r+b") as file:
        lines = file.read().split(b"\n")
        lines[70] = bad
        file.seek(0)
        file.write(b"\n".join(lines))
    with Pool(1) as pool, pytest.raises(DataError, match=problem) as caught:
        parts.count_in_parts(texts, 2, Store(str(tmp_path)), Serial(pool), pool)
    assert (caught.value.path, caught.value.line) == (texts[2].name, 71)
    with pytest.raises(DataError, match=f"c:71: .*{problem}"):
        count(texts, 2, ArrayStore(1 << 26))


def test_the_public_function(tmp_path):
    text = SAMPLES / "de-en.en"
    at.train_lm(text, order=3).save(tmp_path / "plain")
    seen = []
    found = at.train_lm(text, order=3, workers=2, threads=2, tmpdir=tmp_path, progress=seen.append)
    found.save(tmp_path / "parts")
    assert (tmp_path / "parts").read_bytes() == (tmp_path / "plain").read_bytes()
    assert seen[0].figures["sentences"] == 240
    assert sorted(os.listdir(tmp_path)) == ["parts", "plain"]
    with pytest.raises(DataError, match="has no words"):
        at.train_lm(["", ""], workers=1)
    with pytest.raises(ResourceError, match=r"is too little: about .* \(fewer workers\)"):
        at.train_lm(text, workers=3, max_memory=1 << 30)
    with pytest.raises(UsageProblem, match="workers are processes"):
        at.train_lm(text, workers=1, cluster="tcp://127.0.0.1:9")


def test_a_cluster_gives_the_same(tmp_path):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 60}
    with distributed.LocalCluster(processes=False, **options) as cluster:
        where = {"cluster": cluster.scheduler_address, "tmpdir": tmp_path}
        found = at.train_lm(SAMPLES / "de-en.en", order=2, **where)
    found.save(tmp_path / "parts")
    at.train_lm(SAMPLES / "de-en.en", order=2).save(tmp_path / "plain")
    assert (tmp_path / "parts").read_bytes() == (tmp_path / "plain").read_bytes()
