"""What memory there is, and the bound on it."""

import numpy as np
import pytest

from aligntools.ground import memory
from aligntools.ground.errors import ResourceError


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
