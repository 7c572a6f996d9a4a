"""``align`` in parts, from disk: options, files, what is kept and what is said."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from aligntools.aligning import aligner
from aligntools.aligning import memory as parts_memory
from aligntools.ground import memory
from aligntools.ground.errors import ResourceError
from tests.cli.running import ROOT, program, ran, run

SOURCE, TARGET = ROOT / "data/samples/de-en.de", ROOT / "data/samples/de-en.en"
TEXT = ("-s", SOURCE, "-t", TARGET)
QUICK = ("--fast", "--set", "ibm1_iterations=2", "--iterations", "1")


def align(*args, **more):
    done = ran("align", *args, **more)
    return done


@pytest.fixture(scope="module")
def expected():
    return align(*TEXT, *QUICK, "--set", "part_size=100").stdout


def test_parts_give_the_same_and_leave_nothing(tmp_path, expected):
    done = align(*TEXT, *QUICK, "--set", "part_size=100", "--tmpdir", tmp_path, "-o", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == expected
    assert os.listdir(tmp_path) == ["out"]
    assert b"240 pairs" in done.stderr
    assert expected.count(b"\n") == 240
    assert align(*TEXT, *QUICK, "--set", "part_size=1000").stdout == align(*TEXT, *QUICK).stdout
    joint = b"".join(
        a + b" ||| " + b + b"\n"
        for a, b in zip(SOURCE.read_bytes().splitlines(), TARGET.read_bytes().splitlines(), strict=True)
    )
    assert align("-i", "-", *QUICK, "--set", "part_size=100", stdin=joint).stdout == expected
    table = align(*TEXT, *QUICK, "--set", "part_size=100", "--output-format", "tsv").stdout
    assert [line.split(b"\t")[2] for line in table.splitlines()] == expected.splitlines()


def test_what_is_written_beside_the_links(tmp_path):
    files = {name: tmp_path / name for name in ("forward", "reverse", "scores", "log", "model")}
    own = ("--forward-output", files["forward"], "--reverse-output", files["reverse"], "--scores", files["scores"],
           "--log-json", files["log"], "--link-probabilities", "--save-model", files["model"])  # fmt: skip
    done = align(*TEXT, *QUICK, "--set", "part_size=100", *own)
    assert all(files[name].read_bytes().count(b"\n") == 240 for name in ("forward", "reverse", "scores"))
    assert re.match(rb"\d+-\d+:0\.\d+", done.stdout)
    assert b'"iteration"' in files["log"].read_bytes()
    again = align(*TEXT, "-m", files["model"], "--link-probabilities", "--scores", tmp_path / "again")
    assert again.stdout == done.stdout
    assert (tmp_path / "again").read_bytes() == files["scores"].read_bytes()


def test_a_saved_model_is_applied_in_workers(trained, tmp_path, monkeypatch):
    monkeypatch.setattr(aligner, "JOB", 70)
    found = []
    for name, own in (("here", ()), ("workers", ("--workers", 2, "--tmpdir", tmp_path, "--max-memory", "3G"))):
        files = {what: tmp_path / f"{name}.{what}" for what in ("forward", "scores")}
        done = align("-m", trained / "model", *TEXT, *own, "--forward-output", files["forward"], "--scores",
                     files["scores"], "--link-probabilities")  # fmt: skip
        found.append(
            (done.stdout, re.sub(rb" in .*/s\)", b"", done.stderr), *(path.read_bytes() for path in files.values()))
        )
    assert found[0] == found[1]
    done = run("align", "-m", trained / "model", *TEXT, "--workers", 2, "--save-priors", tmp_path / "p", "-q")
    assert done.stderr == b"error: links are counted in this process; leave out the workers\n"


@pytest.fixture
def files(tmp_path):
    """The sample as three files."""
    pairs = list(zip(SOURCE.read_bytes().splitlines(), TARGET.read_bytes().splitlines(), strict=True))
    (tmp_path / "out").mkdir()
    for name, a, b in (("a", 0, 100), ("b", 100, 110), ("c", 110, 240)):
        (tmp_path / f"{name}.txt").write_bytes(b"".join(s + b" ||| " + t + b"\n" for s, t in pairs[a:b]))
        (tmp_path / f"{name}.de").write_bytes(b"".join(s + b"\n" for s, _ in pairs[a:b]))
        (tmp_path / f"{name}.en").write_bytes(b"".join(t + b"\n" for _, t in pairs[a:b]))
    return tmp_path


def test_files_by_a_star_stay_files(files):
    align("-i", "*.txt", "-o", "out/*.align", "--scores", "out/*.scores", *QUICK, "-q", cwd=files)
    lines = [(files / f"out/{name}.align").read_bytes().count(b"\n") for name in "abc"]
    assert lines == [100, 10, 130]
    assert sorted(os.listdir(files / "out")) == sorted(f"{n}.{e}" for n in "abc" for e in ("align", "scores"))
    whole = align("-s", "*.de", "-t", "*.en", *QUICK, cwd=files).stdout
    assert whole == b"".join((files / f"out/{name}.align").read_bytes() for name in "abc")


def test_sides_that_do_not_fit(files):
    (files / "d.de").write_bytes(b"ein haus\n")
    done = run("align", "-s", "*.de", "-t", "*.en", cwd=files)
    assert (done.returncode, done.stderr) == (1, b"error: d.de: has no counterpart on the other side\n")
    (files / "d.de").unlink()
    (files / "c.en").write_bytes(b"a house\n" * 131)
    for more in ((), ("--workers", 2)):
        done = run("align", "-s", "*.de", "-t", "*.en", "--set", "part_size=50", *more, cwd=files)
        assert done.returncode == 1
        assert b"c.en:131: this line has no counterpart" in done.stderr


def test_a_checkpoint_is_of_one_task(tmp_path, expected):
    keep = tmp_path / "keep"
    common = (*TEXT, *QUICK, "--checkpoint", keep, "-q")
    assert align(*common, "--set", "part_size=100").stdout == expected
    assert os.listdir(keep) == []  # nothing is left of what ended well
    from aligntools.store.stores import Store, held

    Store(str(keep)).write("task", {"version": "another"})
    done = run("align", *common)
    assert done.returncode == 1
    assert b"was made with other text or options" in done.stderr
    with held(str(keep)):
        done = run("align", *common)
    assert done.returncode == 1
    assert b"another run works in this folder" in done.stderr


def test_a_checkpoint_goes_on(tmp_path, expected, monkeypatch):
    """A run that ends between two stages keeps what it has, and the next one gives the same bytes."""
    from aligntools.aligning.parts import passes

    real, keep = passes.gather_expected, tmp_path / "keep"

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(passes, "gather_expected", full)
    done = run("align", *TEXT, *QUICK, "--set", "part_size=100", "--checkpoint", keep)
    assert done.returncode == 1
    assert len(os.listdir(keep)) > 5
    monkeypatch.setattr(passes, "gather_expected", real)
    assert align(*TEXT, *QUICK, "--set", "part_size=100", "--checkpoint", keep).stdout == expected


def test_a_checkpoint_goes_on_with_other_memory(tmp_path, monkeypatch):
    """The size of its parts was found from a bound; another bound leaves it, unless it is too small for them."""
    from aligntools.aligning.parts import passes

    real, keep, common = passes.gather_expected, tmp_path / "keep", (*TEXT, *QUICK, "--checkpoint", tmp_path / "keep")

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(parts_memory, "FEWEST", 10)
    monkeypatch.setattr(parts_memory, "A_PAIR", 1 << 20)
    large, small, least = (f"{memory.FIXED + parts_memory.of_part(pairs) >> 20}M" for pairs in (111, 51, 31))
    first = align(*TEXT, *QUICK, "--tmpdir", tmp_path, "--max-memory", small)
    assert f"note: parts of 50 pairs, to keep to {small}".encode() in first.stderr
    monkeypatch.setattr(passes, "gather_expected", full)
    assert run("align", *common, "--max-memory", small).returncode == 1
    monkeypatch.setattr(passes, "gather_expected", real)
    done = run("align", *common, "--max-memory", least)
    assert done.returncode == 1
    assert b"(another --checkpoint: this one was begun with parts of 50 pairs)" in done.stderr
    other = run("align", *TEXT, *QUICK, "--iterations", 2, "--checkpoint", keep, "--max-memory", large)
    assert b"was made with other text or options" in other.stderr
    done = align(*common, "--max-memory", large)
    assert f"note: parts of 50 pairs, with which {keep} was begun".encode() in done.stderr
    assert done.stdout == first.stdout


def test_plans_and_vocabularies(tmp_path):
    done = align(*TEXT, *QUICK, "--set", "part_size=100", "--plan", "--workers", 4, "-o", tmp_path / "out")
    lines = done.stderr.decode().splitlines()
    assert [line.split(":")[0] for line in lines] == ["text", "parts", "memory", "disk", "traffic", "time"]
    assert "about 240 pairs" in lines[0]
    assert "parts: 3 of up to 100 pairs; passes over each: 4" in lines[1]
    assert not (tmp_path / "out").exists()
    least = memory.FIXED + parts_memory.of_part(100_000)
    assert least <= 500 << 20
    parts_memory.check(least, 0, 100_000, 10**9)
    with pytest.raises(ResourceError, match="part_size="):
        parts_memory.check(least - (1 << 20), 0, 100_000, 10**9)


def test_text_that_seems_too_large_goes_to_disk(tmp_path, monkeypatch):
    """Without any option but the bound; what is too little for any part is said before any work."""
    from aligntools.aligning.parts import alignment as large

    calls = []
    real = large.seems_too_large
    monkeypatch.setattr(large, "seems_too_large", lambda *args: calls.append(args) or real(*args))
    monkeypatch.setattr(parts_memory, "LEAST", 90 << 20)
    big = tmp_path / "big"
    words = [f"w{n:05d}" for n in range(60_000)]
    lines = (" ".join(words[k : k + 30]) for k in range(0, 59_000, 3))
    big.write_text("".join(f"{line} ||| {line}\n" for line in lines))
    bound = (memory.FIXED >> 20) + 110
    done = run("align", "-i", big, *QUICK, "--max-memory", f"{bound}M", "--plan")
    assert b"parts:" in done.stderr
    assert len(calls) == 0  # --plan asked
    assert real([str(big)], {}) is False  # no bound here
    done = run("align", "-i", big, *QUICK, "--max-memory", f"{bound - 50}M")
    assert len(calls) == 1
    assert done.returncode == 1
    assert b"is too little: about" in done.stderr


@pytest.mark.parametrize("plan", [[], ["--plan"]])
def test_parts_are_as_large_as_memory_lets_them_be(tmp_path, plan):
    """A bound that parts of the default's size do not fit into; more workers do not change the links."""
    bound = (memory.FIXED + parts_memory.of_part(50_500) >> 20) + 1
    done = align(*TEXT, *QUICK, "--max-memory", f"{bound}M", "--tmpdir", tmp_path, *plan)
    assert f"note: parts of 50000 pairs, to keep to {bound}M of memory".encode() in done.stderr
    assert (b"parts: 1 of up to 50000 pairs" in done.stderr) == bool(plan)
    assert done.stdout.count(b"\n") == (0 if plan else 240)


@pytest.mark.parametrize(
    ("more", "megabytes", "helps"),
    [
        (["--set=part_size=100000"], 400, [r"--set part_size=\d+"]),
        (["--workers", 3, "--set=part_size=20000"], 1000, ["--workers", r"\d+"]),
        (["--workers", 1], 600, ["no --workers"]),
        ([], 290, None),
    ],
)
def test_what_is_refused_is_refused_by_the_plan_and_told_what_fits(tmp_path, more, megabytes, helps):
    common = (*TEXT, *QUICK, "--max-memory", f"{megabytes}M", "--tmpdir", tmp_path)
    refused = [run("align", *common, *more, *plan) for plan in ([], ["--plan"])]
    assert [done.returncode for done in refused] == [1, 1]
    error = refused[0].stderr.decode().splitlines()[-1]
    assert error == refused[1].stderr.decode().splitlines()[-1]
    assert f"--max-memory {megabytes}M is too little: about" in error
    if helps is None:
        assert "(or a part of the text)" in error
        return
    advice = re.search(" ".join(helps), error)[0].split(" ")
    kept = [] if advice[0] == "no" else [x for k, x in enumerate(more) if advice[0] not in more[max(0, k - 1) : k + 1]]
    align(*common, *kept, *(advice if advice[0] != "no" else []), "--plan")


def test_a_cluster_gives_the_same(tmp_path, expected):
    """Two workers of Dask, found by address and by the scheduler's file; a worker without the folder is named."""
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 60}
    with distributed.LocalCluster(processes=False, **options) as cluster:
        file = tmp_path / "scheduler.json"
        file.write_text(json.dumps(cluster.scheduler.identity()))
        for where in (("--cluster", cluster.scheduler_address), ("--cluster", file)):
            assert align(*TEXT, *QUICK, "--set", "part_size=100", *where, "--tmpdir", tmp_path).stdout == expected
        assert os.listdir(tmp_path) == ["scheduler.json"]


def _long_text(path, pairs):
    """Write pairs of 25 words whose frequencies follow Zipf's law; a word's translation is its own name, mostly."""
    rng = np.random.default_rng(7)
    names = np.array([f"w{n}" for n in range(200_000)])
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(0, pairs, 1000):
            ids = np.minimum(rng.zipf(1.2, (1000, 25)), len(names)) - 1
            for row in names[ids].tolist():
                file.write(f"{' '.join(row)} ||| {' '.join('x' + word for word in reversed(row))}\n")


@pytest.mark.slow
def test_memory_keeps_its_bound_and_does_not_grow(tmp_path):
    """A quarter of the text and the whole take the same memory, less than the bound, which is too little otherwise."""
    bound = (memory.FIXED + parts_memory.of_part(12_500) >> 20) + 1
    peaks = []
    for pairs in (25_000, 100_000):
        _long_text(tmp_path / "text", pairs)
        script = (
            "import resource, subprocess, sys\n"
            "subprocess.run(sys.argv[1:], check=True)\n"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)\n"
        )
        command = [*program(), "align", "-q", "-i", tmp_path / "text", *QUICK, "--set", "part_size=12500", "-o",
                   tmp_path / "out", "--max-memory", f"{bound}M", "--tmpdir", tmp_path]  # fmt: skip
        done = subprocess.run([sys.executable, "-c", script, *map(str, command)], capture_output=True, cwd=ROOT)
        assert done.returncode == 0, done.stderr
        peaks.append(int(done.stdout))
        assert (tmp_path / "out").read_bytes().count(b"\n") == pairs
    assert max(peaks) < bound
    assert peaks[1] < 1.1 * peaks[0]


@pytest.mark.slow
def test_killed_processes_lose_nothing(tmp_path):
    """Killed in one stage after the other, a checkpoint ends in the bytes of the unbroken run."""
    keep, out = tmp_path / "keep", tmp_path / "out"
    command = [*program(), "align", "-q", *map(str, TEXT), *QUICK, "--set", "part_size=20", "--checkpoint", str(keep),
               "-o", str(out)]  # fmt: skip
    plain = run("align", "-q", *TEXT, *QUICK, "--set", "part_size=20").stdout
    stages = ("text.00000.000005", "v0.ids.000003", "v0.found.000006", "v0.counted.000001.000004", "links.000002")
    killed = 0
    for name in stages:
        process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE)
        while process.poll() is None and not (keep / f"{name}.arrays").exists():
            time.sleep(0.002)
        process.kill()
        process.communicate()
        killed += process.returncode == -signal.SIGKILL  # one that had ended was too quick for this machine
    assert killed >= 3
    align(*command[command.index("align") + 1 :])
    assert out.read_bytes() == plain
    assert os.listdir(keep) == []


def test_a_checkpoint_that_was_half_removed_is_begun_anew(tmp_path, expected, monkeypatch):
    """Ended while it emptied the folder, at any file."""
    from aligntools.store.stores import Store

    command = (*TEXT, *QUICK, "--set", "part_size=100", "--checkpoint", tmp_path / "keep", "-q")
    for kept in (1, 5, 9):

        def clear(self, kept=kept):
            self.remove(*self.names("*")[kept:])
            raise OSError(5, "the end")

        with monkeypatch.context() as patched:
            patched.setattr(
                Store, "clear", lambda self, clear=clear: clear(self) if self.has("v0.vocabulary") else None
            )
            assert run("align", *command).stdout == expected
        assert len(Store(str(tmp_path / "keep")).names("*")) == kept
        assert align(*command).stdout == expected
        assert os.listdir(tmp_path / "keep") == []


def test_a_checkpoint_stays_until_the_output_is_in_its_place(tmp_path, expected):
    """Where the output cannot take its name, nothing of the work is lost."""
    (tmp_path / "folder").mkdir()
    common = (*TEXT, *QUICK, "--set", "part_size=100", "--checkpoint", tmp_path / "keep", "-o", tmp_path / "out")
    from aligntools.store import atomic_write

    real = atomic_write._appear
    with pytest.MonkeyPatch.context() as patched:

        def fails(parts, sync):
            if any(part.place.endswith("/out") for part in parts):
                raise OSError(30, "Read-only file system")
            real(parts, sync)

        patched.setattr(atomic_write, "_appear", fails)
        assert run("align", *common).returncode == 1
    assert any(name.startswith("links.") for name in os.listdir(tmp_path / "keep"))
    align(*common)
    assert (tmp_path / "out").read_bytes() == expected
    assert os.listdir(tmp_path / "keep") == []
