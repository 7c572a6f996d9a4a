"""Training in parts: what parts and shards count is what the whole text counts, whoever works it, however it is cut."""

import itertools
import random
from pathlib import Path

import numpy as np
import pytest

import aligntools as at
from aligntools.aligning.aligner import Aligner
from aligntools.aligning.models import kernels_link_counts as kc
from aligntools.aligning.parts import kernels_parts, passes, table, training, words
from aligntools.aligning.parts.alignment import whole_model
from aligntools.aligning.parts.training import check_settings, link_parts, train_parts
from aligntools.aligning.parts.work import JobRunner, PartedText, PartReading, read_file, sizes_of
from aligntools.aligning.settings import AlignerSettings, Decisions
from aligntools.aligning.training import sampling, stages
from aligntools.aligning.training.train_model import train_model
from aligntools.formats.links.pharaoh import format_pharaoh
from aligntools.formats.text.bitext import bitext_in_parts, read_bitext
from aligntools.ground.engines import Serial
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.ground.processes import Processes
from aligntools.store.stores import Store
from tests.places import ROOT

SAMPLE = {"source": str(ROOT / "data/samples/de-en.de"), "target": str(ROOT / "data/samples/de-en.en")}
HMM = AlignerSettings(model_type="hmm", views=(0,))


@pytest.fixture
def pool():
    with Pool(2) as found:
        yield found


def in_parts(folder, settings, pool, part_size, engine=None, files=(SAMPLE,)):
    folder.mkdir(exist_ok=True)
    reading = PartReading(Store(str(folder)), tuple(files), pairs=part_size)
    for number in range(len(files)):
        read_file(reading, number, pool)
    parts, words = sizes_of(reading)
    work = PartedText(reading.store, settings.resolved(words), parts)
    runner = JobRunner(engine or Serial(pool))
    models = train_parts(work, runner)
    return work, models, runner


def links(work, models, runner):
    return b"".join(format_pharaoh(d.table) for d in link_parts(work, runner, models, Decisions()))


def aligned(*arguments, **more):
    return links(*in_parts(*arguments, **more))


def whole(settings, pool):
    """Return the model of the text in memory, and its links."""
    bitext = read_bitext(**SAMPLE)
    model = train_model(bitext, settings.resolved(len(bitext.source.tokens)), pool)
    blocks = Aligner(model).align_blocks(read_bitext(**SAMPLE), threads=pool)
    return model, b"".join(format_pharaoh(block.table) for block in blocks)


def agreement(one, other):
    a, b = ({(k, link) for k, line in enumerate(x.splitlines()) for link in line.split()} for x in (one, other))
    return 2 * len(a & b) / (len(a) + len(b))


@pytest.mark.parametrize(
    "settings", [HMM, AlignerSettings(model_type="hmm", agreement=False, estimator="em", views=(0, 4))]
)
def test_one_part_is_the_whole_text(tmp_path, pool, settings):
    """Where there is one part, every count is that of training in memory, bit by bit."""
    assert aligned(tmp_path / "a", settings, pool, 1000) == whole(settings, pool)[1]


@pytest.mark.parametrize(("keep", "prune"), [(0.0, 0.0), (1.0, 0.01)])
def test_expected_counts_of_parts_add_up(tmp_path, pool, keep, prune):
    """Lexical values from seven parts are those of the whole text, up to rounding."""
    settings = AlignerSettings(model_type="hmm", views=(4,), keep=keep, prune=prune)
    work, models, _ = in_parts(tmp_path / "a", settings, pool, 37)
    found = whole_model(work, models, True, pool)
    expected, _ = whole(settings, pool)
    a, b = found.views[0], expected.views[0]
    assert np.array_equal(a.table.ptr, b.table.ptr)
    assert np.array_equal(a.table.ids, b.table.ids)
    assert np.array_equal(a.table.types, b.table.types)
    assert np.array_equal(a.table.target_types, b.table.target_types)
    assert np.array_equal(a.words.s_map, b.words.s_map)
    assert np.array_equal(a.words.t_keys, b.words.t_keys)
    np.testing.assert_allclose(a.counts[0], b.counts[0], rtol=2e-3, atol=2e-5)
    np.testing.assert_allclose(a.lexicon.s_inverse, b.lexicon.s_inverse, rtol=1e-3)
    np.testing.assert_allclose(a.jumps, b.jumps, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("part_size", [1000, 37])
def test_steps_of_parts_are_those_of_the_whole_text(tmp_path, pool, monkeypatch, part_size):
    """Each iteration counts the same sentences, and mixes their counts with those before it, as in memory."""
    for module in (stages, passes):
        monkeypatch.setattr(module, "steps_of", lambda _settings, _n, stage: {"ibm1": 3, "hmm": 2}[stage])
    settings = AlignerSettings(model_type="hmm", views=(4,), prune=0.01)
    work, models, _ = in_parts(tmp_path / "a", settings, pool, part_size)
    assert not [name for what in ("sums", "seen", "counted") for name in work.store.names(f"*{what}*")]
    found, expected = whole_model(work, models, True, pool).views[0], whole(settings, pool)[0].views[0]
    assert np.array_equal(found.table.ids, expected.table.ids)
    np.testing.assert_allclose(found.counts[0], expected.counts[0], rtol=2e-3, atol=2e-5)
    np.testing.assert_allclose(found.jumps, expected.jumps, rtol=1e-3, atol=1e-6)


def test_samplers_shards_and_files(tmp_path, pool):
    settings = AlignerSettings(views=(4,))
    alone = aligned(tmp_path / "a", settings, pool, 1000)
    assert agreement(alone, whole(settings, pool)[1]) > 0.9
    assert agreement(aligned(tmp_path / "b", settings, pool, 30), alone) > 0.85
    sides = {}
    for side, path in SAMPLE.items():
        lines = Path(path).read_bytes().splitlines(keepends=True)
        for n, (a, b) in enumerate(((0, 100), (100, 240))):
            sides.setdefault(n, {})[side] = str(tmp_path / f"{n}.{side}")
            (tmp_path / f"{n}.{side}").write_bytes(b"".join(lines[a:b]))
    one = aligned(tmp_path / "c", HMM, pool, 100, files=[sides[0], sides[1]])
    assert one.count(b"\n") == 240
    assert one == aligned(tmp_path / "d", HMM, pool, 100)


@pytest.mark.parametrize(("part_size", "least"), [(1000, 0.9), (80, 0.85)])
def test_links_of_large_text_come_from_the_sampler(tmp_path, pool, monkeypatch, part_size, least):
    """The trained model is not applied: what it would find comes of training's last pass, as in memory."""
    settings = AlignerSettings(views=(4,))
    applied = aligned(tmp_path / "a", settings, pool, part_size)
    monkeypatch.setattr(sampling, "MEDIUM", 0)
    monkeypatch.delattr(training, "align_text")
    found = aligned(tmp_path / "b", settings, pool, part_size)
    assert agreement(found, applied) > least
    in_memory = at.align(SAMPLE["source"], SAMPLE["target"], views=(4,), subwords=0, threads=pool)
    assert agreement(found, in_memory.format()) > least
    with Pool(1) as single:
        assert aligned(tmp_path / "c", settings, single, part_size) == found


@pytest.mark.parametrize("part_size", [1000, 37])
def test_jumps_of_parts_are_counted_by_the_words_of_the_whole_text(tmp_path, pool, monkeypatch, part_size):
    monkeypatch.setattr(sampling, "JUMP_WORDS", 20)
    settings = AlignerSettings(views=(4,))
    work, models, _ = in_parts(tmp_path / "a", settings, pool, part_size)
    found, expected = whole_model(work, models, True, pool).views[0], whole(settings, pool)[0].views[0]
    for one, other in zip(found.sampler, expected.sampler, strict=True):
        np.testing.assert_array_equal(one.jump_rows, other.jump_rows)
        assert one.jumps.shape == (23, 2 * kc.JUMPS + 2)
        pairs = 240  # each begins once; words go on from each frequent word about as often
        assert one.jumps[-2, -1] == pytest.approx(pairs) == other.jumps[-2, -1]
        np.testing.assert_allclose(one.jumps[:-2, -1], other.jumps[:-2, -1], rtol=0.25, atol=10)
        np.testing.assert_allclose(one.jumps[:, :-1].sum(1), one.jumps[:, -1])
        assert one.jumps[-1, -1] == pytest.approx(one.jumps[:-1, -1].sum() + sampling.PRIOR_JUMPS)


def test_workers_and_threads_do_not_show(tmp_path, pool):
    settings = AlignerSettings(views=(4,), ibm1_iterations=2)
    alone = aligned(tmp_path / "a", settings, pool, 80)
    with Pool(1) as single:
        assert aligned(tmp_path / "b", settings, single, 80) == alone
    engine = Processes(2)
    try:
        assert aligned(tmp_path / "c", settings, pool, 80, engine) == alone
    finally:
        engine.close()


def test_shards_do_not_show(tmp_path, pool, monkeypatch):
    settings = AlignerSettings(views=(4,), ibm1_iterations=2)
    alone = aligned(tmp_path / "a", settings, pool, 80)
    monkeypatch.setattr(table, "SHARD_ENTRIES", 4000)
    work, models, runner = in_parts(tmp_path / "b", settings, pool, 80)
    assert work.views()[0].shards() > 2
    assert links(work, models, runner) == alone


class Interrupted(Exception):
    """The end of a process, as far as its files are concerned."""


class Ending(Serial):
    """Ends after so many jobs."""

    def __init__(self, pool, jobs):
        super().__init__(pool)
        self.left = jobs

    def run(self, stage, function, jobs, done):
        for job in jobs:
            if self.left == 0:
                raise Interrupted
            self.left -= 1
            function(job, self._pool)
            done()


def test_what_ended_goes_on_where_it_was(tmp_path, pool):
    """Ended after any number of jobs, again and again, it gives the same bytes, and no job is done twice."""
    settings = AlignerSettings(views=(4, 0), ibm1_iterations=2, prune=0.01, keep=1.0)
    folder, rest = tmp_path / "a", 0
    for turn in itertools.count():
        engine = Ending(pool, random.Random(turn).randint(1, 9))
        before = engine.left
        try:
            found = aligned(folder, settings, pool, 80, engine)
        except Interrupted:
            rest += before
            continue
        break
    assert turn > 10
    assert found == aligned(tmp_path / "b", settings, pool, 80)


def test_a_stage_that_was_done_is_not_done_again(tmp_path, pool):
    work, models, _ = in_parts(tmp_path / "a", HMM, pool, 80)
    counted = []

    class Counting(Serial):
        def run(self, stage, function, jobs, done):
            counted.append(stage)
            super().run(stage, function, jobs, done)

    assert train_parts(work, JobRunner(Counting(pool))) == models
    assert counted == []


def test_parts_and_what_is_kept(tmp_path, pool):
    work, _, _ = in_parts(tmp_path / "a", AlignerSettings(views=(4,), prune=0.01, keep=1.0), pool, 80)
    kept = {".".join(p for p in name.split(".") if not p.isdigit()) for name in work.store.names("*")}
    assert kept == {
        "read", "sizes", "text", "v0.ids", "v0.vocabulary", "v0.cuts", "v0.layout", "v0.shard", "v0.places", "v0.table",
        "v0.tabled", "v0.values", "v0.estimate", "v0.expected", "v0.word-sums", "v0.links", "v0.sampler",
    }  # fmt: skip
    assert all(name.split(".")[2] == "000001" for name in work.store.names("v0.table.*"))
    texts = list(bitext_in_parts(**SAMPLE, pairs=100))
    assert [len(text) for text in texts] == [100, 100, 40]
    all_words = read_bitext(**SAMPLE)
    joined = [w for text in texts for w in np.array(text.source_vocabulary.words())[text.source.tokens]]
    assert joined == np.array(all_words.source_vocabulary.words())[all_words.source.tokens].tolist()
    assert len(list(bitext_in_parts(**SAMPLE, words=1))) == 1  # looked at every few thousand lines


def test_rare_words_share(tmp_path, pool, monkeypatch):
    """With a bounded vocabulary the rest share words by their first letters, and alignment goes on."""
    settings = AlignerSettings(model_type="hmm", views=(5,))
    full = aligned(tmp_path / "a", settings, pool, 60)
    monkeypatch.setattr(words, "MOST_WORDS", 200)
    work, models, runner = in_parts(tmp_path / "b", settings, pool, 60)
    view_work = work.views()[0]
    shared = work.store.about(view_work.name("vocabulary"))["shared"]
    (counts,) = work.store.read(view_work.name("vocabulary"), "source.counts")
    assert min(shared) > 10
    assert counts.sum() == len(read_bitext(**SAMPLE).source.tokens)
    assert len(counts) <= 200 + 1 + shared[0]
    assert agreement(links(work, models, runner), full) > 0.6
    model = whole_model(work, models, True, pool)
    assert model.views[0].words.s_map[:-1].max() < len(counts)


def test_numbering_forgets_the_rarest():
    numbering = words.Numbering(3)
    numbering.add([b"", b"a", b"b", b"c"], np.array([0.0, 5, 1, 3]))
    assert list(numbering.ids) == [b"", b"a", b"b", b"c"]
    numbering.add([b"", b"d", b"e", b"f", b"g"], np.array([0.0, 4, 1, 1, 1]))
    assert list(numbering.ids) == [b"", b"a", b"c", b"d"]
    assert numbering.counts[:4].tolist() == [0, 5, 3, 4]
    numbering.add([b"", b"b"], np.array([0.0, 9]))
    numbering.forget()
    assert set(numbering.ids) <= {b"", b"a", b"b", b"d"}


def test_rows_of_parts_are_summed():
    """Against dictionaries: sums by pair in the order of the parts, the least frequent left out, places told."""
    rng = np.random.default_rng(5)
    n_t, parts = 12, 4
    entries = []
    for part in range(parts):
        for row in sorted(rng.choice(6, 4, replace=False)):
            for t in sorted(rng.choice(n_t, rng.integers(0, 5), replace=False)):
                entries.append((int(row) + 10, part, int(t), np.float32(rng.random())))
    by_part = sorted(entries, key=lambda e: (e[1], e[0], e[2]))
    ids = np.array([e[2] for e in by_part], np.int32)
    counts = np.array([e[3] for e in by_part], np.float32)
    keys = sorted({(e[0], e[1]) for e in by_part})
    spans = [[n for n, e in enumerate(by_part) if (e[0], e[1]) == key] for key in keys]
    rows, begins, ends = ([k[0] for k in keys], [s[0] for s in spans], [s[-1] + 1 for s in spans])
    s_mass, t_mass, total = rng.random(6), rng.random(n_t), 3.0
    ptr, distinct = np.zeros(7, np.int64), np.zeros(6, np.int64)
    out_ids, out_counts, places = np.empty_like(ids), np.empty_like(counts), np.empty_like(ids)
    n = kernels_parts.merge_rows(
        np.array(rows, np.int32), np.array(begins), np.array(ends), 10, 16, ids, counts, s_mass, t_mass, total, 1.5,
        np.zeros(n_t, np.float32), np.empty(n_t, np.int32), np.empty(n_t, np.int32), ptr, distinct, out_ids,
        out_counts, places,
    )  # fmt: skip
    sums: dict = {}
    for row, _, t, count in by_part:
        sums[row, t] = np.float32(sums.get((row, t), np.float32(0)) + count)
    kept = {(v, t): c for (v, t), c in sums.items() if c >= 1.5 * s_mass[v - 10] / total * t_mass[t]}
    found = {(v + 10, int(out_ids[x])): out_counts[x] for v in range(6) for x in range(ptr[v], ptr[v + 1])}
    assert found == kept
    assert 0 < n == len(kept) < len(sums)
    assert distinct.tolist() == [sum(v == row for v, _ in sums) for row in range(10, 16)]
    for x, (row, _, t, _) in enumerate(by_part):
        assert (places[x] >= 0) == ((row, t) in kept)
        if places[x] >= 0:
            assert out_ids[places[x]] == t
            assert ptr[row - 10] <= places[x] < ptr[row - 9]


@pytest.mark.parametrize("settings", [AlignerSettings(model_type="ibm2"), AlignerSettings(ibm1_iterations=0)])
def test_what_is_not_trained_in_parts_is_refused(settings):
    with pytest.raises(UsageProblem):
        check_settings(settings)
