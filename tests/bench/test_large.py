"""What the bench of large text measures with: memory of all processes, links shared, parts cut."""

import sys
import types

import pytest

from bench import large, large_model
from bench.large_faults import Outcome, digest
from bench.watching import Watch, descendants, kill, watched
from tests.places import ROOT


def test_programs_that_are_measured():
    child = "import time; x = b'x' * (60 << 20); time.sleep(0.6)"
    both = f"import subprocess, sys; c = [subprocess.Popen([sys.executable, '-c', {child!r}]) for _ in range(2)]\n"
    done = watched([sys.executable, "-c", both + "[x.wait() for x in c]"])
    assert done.status == 0
    assert 60 << 20 < done.peak < 110 << 20  # of a child; not of this process
    assert done.whole > 120 << 20
    assert 120 << 20 < done.private <= done.whole
    watch = Watch([sys.executable, "-c", "import sys, time; sys.stderr.write('said\\n'); time.sleep(60)"])
    watch.wait(0.5)
    assert descendants(watch.process.pid) == [watch.process.pid]
    assert watch.workers() == []
    assert kill(watch.process.pid)
    done = watch.end()
    assert (done.status, done.messages) == (-9, "said\n")
    assert not watch.running
    assert not kill(watch.process.pid)
    with pytest.raises(SystemExit, match=r"exit status 3\nsaid"):
        watched([sys.executable, "-c", "import sys; sys.stderr.write('said'); sys.exit(3)"])


def test_rows_and_parts(tmp_path):
    (tmp_path / "a").write_text("0-0 1-1\n\n2-2\nmore\n")
    (tmp_path / "b").write_text("0-0\n1-1\n2-2\n")
    assert large.shared(tmp_path / "a", tmp_path / "b") == pytest.approx(200 * 2 / 6)
    lines = [f"a{n} ||| b{n}\n" for n in range(10)]
    joint = tmp_path / "joint"
    joint.write_text("".join(lines))
    files = large._cut(joint, types.SimpleNamespace(joint=joint, n_gold=2), 4, tmp_path)
    found = [path.read_text().splitlines(keepends=True) for path in files]
    assert found == [lines[:4], lines[:2] + lines[4:8], lines[:2] + lines[8:]]
    (tmp_path / "x").write_text("x")
    assert len(digest(tmp_path / "x")) == 64
    assert Outcome(2, 3, 1, 1, 0, [1.0, 2.5]).row("kills") == ["kills", 2, 3, 1, 1, 0, "1.0 to 2.5 times"]
    results = tmp_path / "results"
    body = "### One machine\n\na\n\n### Faults\n\n| b |"
    results.write_text(f"<!-- begin large -->\n## Text in parts\n\n{body}\n<!-- end large -->\n### Other\n")
    assert large.written(results) == {"One machine": "### One machine\n\na", "Faults": "### Faults\n\n| b |"}
    assert large.written(tmp_path / "none") == {}
    titles = "".join(path.read_text() for path in (ROOT / "bench").glob("large*.py"))
    assert all(f'"### {title}"' in titles for title in large.TITLES.values())


@pytest.mark.slow
def test_figures_are_kept(tmp_path):
    calls = []
    for _ in range(2):
        kept = large.Kept(tmp_path / "kept.json")
        assert kept.of("one", lambda: calls.append(1) or {"seconds": 2.0}) == {"seconds": 2.0}
    assert len(calls) == 1


@pytest.mark.slow
def test_a_run_is_taken_apart_and_more_machines_take_less_time(tmp_path):
    """All of a run's time is in one of three kinds; cores divide two of them, bandwidth the traffic."""
    costs = large_model.measure(ROOT / "data/samples/de-en.txt", 240, tmp_path, 60)
    assert min(costs.part, costs.shard, costs.client, costs.entries) > 0
    assert costs.passes == 4 * 7
    assert costs.words > 500
    one, more = (large_model.predict(costs, 10**6, 10**4, cores, 100 * cores) for cores in (1, 10))
    for kind in ("parts", "shards", "folder"):
        assert more[kind] == pytest.approx(one[kind] / 10)
    assert more["client"] == one["client"]
    few = large_model.predict(costs, 10**6, 10**6, 10, 100)
    assert few["parts"] == one["parts"]  # one part keeps one core
    text = large_model.section(costs, "240 pairs")
    assert text.count("| 1,000,000,000 |") == 4
