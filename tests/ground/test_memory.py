"""What memory there is, and the bound on it."""

import os
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.ground import memory, numba_settings
from aligntools.ground.errors import ResourceError, UsageProblem
from aligntools.ground.parallel import Pool, balanced_blocks
from tests.cli.running import ROOT


def system(root, groups, limits):
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(groups)
    for name, value in limits.items():
        path = root / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value)
    return str(root)


@pytest.mark.parametrize(
    ("groups", "limits"),
    [
        ("0::/\n", {"memory.max": "1000000\n"}),
        ("0::/user/job\n", {"memory.max": "max\n", "user/memory.max": "1000000\n", "user/job/memory.max": "2000000\n"}),
        ("4:memory:/job\n0::/\n", {"memory/job/memory.limit_in_bytes": "1000000\n"}),
        ("4:cpu,memory:/of/the/host\n", {"memory/memory.limit_in_bytes": "1000000\n"}),
    ],
)
def test_a_container_has_less_than_its_machine(tmp_path, groups, limits):
    assert memory.available(system(tmp_path, groups, limits)) == 1_000_000


def test_bounds_of_memory(tmp_path):
    root = system(tmp_path, "4:memory:/job\n0::/\n", {"memory/memory.limit_in_bytes": "9223372036854771712\n"})
    assert memory.available(root) == memory.available(str(tmp_path / "nowhere")) > 1 << 28
    before = memory.used()
    held = np.ones(1 << 27, np.uint8)
    assert memory.used() - before > len(held) // 2
    with memory.bounded(memory.used() + (64 << 20)):
        memory.ask(1 << 20, "a table")
        with pytest.raises(ResourceError, match=r"^a table: \d+M of memory needed, and max_memory is \d+M"):
            memory.ask(1 << 30, "a table")
    assert memory.limit() is None
    memory.ask(1 << 60, "a table")


@given(st.lists(st.integers(0, 1000), max_size=60), st.integers(1, 40))
def test_blocks_cover_everything_in_order(costs, blocks):
    runs = balanced_blocks(np.array(costs), blocks)
    assert [i for a, b in runs for i in range(a, b)] == list(range(len(costs)))
    assert all(a < b for a, b in runs)
    assert len(runs) <= blocks
    assert (not runs) == (not costs)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=60), st.integers(1, 40))
def test_no_block_costs_much_more_than_its_share(costs, blocks):
    for a, b in balanced_blocks(np.array(costs), blocks):
        assert sum(costs[a:b]) <= sum(costs) / blocks + max(costs) + 1e-3


def test_blocks_and_threads():
    assert balanced_blocks(np.ones(12), 4) == [(0, 3), (3, 6), (6, 9), (9, 12)]
    assert balanced_blocks(np.ones(2), 2) == [(0, 1), (1, 2)]
    barrier = threading.Barrier(3, timeout=20)
    with Pool(3) as pool:
        assert len(pool.map(lambda _: barrier.wait(), range(3))) == 3
    with Pool(1) as pool:
        assert pool.map(lambda _: threading.get_ident(), range(2)) == [threading.get_ident()] * 2


@pytest.mark.parametrize("threads", [1, 3])
def test_a_pool_keeps_the_order_and_raises_what_was_raised(threads):
    with Pool(threads) as pool:
        assert pool.map(lambda x: (time.sleep(0.01 * (3 - x)), x)[1], range(4)) == [0, 1, 2, 3]
        assert pool.map(str, []) == []
        with pytest.raises(ZeroDivisionError):
            pool.map(lambda x: 1 / x, [2, 1, 0])


def test_a_wrong_setting_is_one_line_of_the_command_line():
    command = [sys.executable, "-m", "aligntools", "align", "-i", "data/samples/de-en.txt"]
    environment = os.environ | {"NUMBA_NUM_THREADS": "0", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: NUMBA_NUM_THREADS=0: Numba does not take it (")
    assert done.stderr.count("\n") == 1


def test_what_numba_raises_names_the_variable(monkeypatch):
    monkeypatch.setenv("NUMBA_COLOR_SCHEME", "zz")
    with pytest.raises(UsageProblem, match=r"^NUMBA_COLOR_SCHEME=zz: .*unset it"), numba_settings.understood():
        raise KeyError("zz")


def test_what_numba_only_warns_of_is_an_error(monkeypatch):
    monkeypatch.setenv("NUMBA_OPT", "abc")
    with pytest.raises(UsageProblem, match=r"^NUMBA_OPT=abc: "), numba_settings.understood():
        warnings.warn("Environment variable 'NUMBA_OPT' is defined but its value 'abc' ...", RuntimeWarning)


def test_features_that_end_the_process_are_not_tried(monkeypatch):
    monkeypatch.setenv("NUMBA_CPU_FEATURES", "zz")
    with pytest.raises(UsageProblem, match=r"^NUMBA_CPU_FEATURES=zz: "), numba_settings.understood():
        pytest.fail("tried")


def test_other_errors_and_warnings_stay_what_they_are(monkeypatch):
    monkeypatch.setenv("NUMBA_CPU_FEATURES", "+avx,-fma")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with numba_settings.understood():
            warnings.warn("something else", UserWarning)
    assert [str(warning.message) for warning in said] == ["something else"]
    for name in [name for name in os.environ if name.startswith("NUMBA_")]:
        monkeypatch.delenv(name)
    with pytest.raises(ValueError, match="own"), numba_settings.understood():
        raise ValueError("own")
