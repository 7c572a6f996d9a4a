"""The form of safetensors, written."""

import json
import os

import numpy as np
import pytest
from hypothesis import given
import hypothesis.strategies as st
from hypothesis.extra import numpy as arrays_of
from safetensors.numpy import load_file, save

from aligntools.store import tensors

ARRAYS = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    st.sampled_from(sorted(tensors.TYPES)).flatmap(
        lambda kind: arrays_of.arrays(tensors.TYPES[kind], arrays_of.array_shapes(min_dims=0, min_side=0, max_side=3))
    ),
    min_size=1,  # safetensors 0.4.0 writes no JSON where there are none
)


def test_small_files_and_full_disks(tmp_path):
    blocks = b"".join(bytes(block) for block in tensors.blocks({}, {"about": ""}))
    assert json.loads(blocks[8:]) == {"__metadata__": {"about": ""}}
    assert int.from_bytes(blocks[:8], "little") == len(blocks) - 8
    path = tmp_path / "part"
    path.write_bytes(b"longer than what comes" * 100)
    inode = os.stat(path).st_ino
    a = np.arange(12, dtype=np.float32).reshape(3, 4).T
    tensors.write(str(path), {"a": a}, {})
    assert (os.stat(path).st_ino, os.listdir(tmp_path)) == (inode, ["part"])
    np.testing.assert_array_equal(load_file(path)["a"], a)
    with pytest.raises(OSError, match="No space left on device"):
        tensors.write("/dev/full", {"a": np.zeros(3)}, {})


@given(ARRAYS, st.text(st.characters(exclude_categories=["Cs"])))
def test_the_bytes_are_the_librarys(arrays, about):
    ours = b"".join(bytes(block) for block in tensors.blocks(arrays, {"about": about}))
    assert ours == save(arrays, {"about": about})
