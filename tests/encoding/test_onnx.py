"""Encoders in files of ONNX: weights that exporters renamed, damage, files beside."""

import gzip
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.encoding import encoder as encoders
from aligntools.formats.models import onnx_weights
from aligntools.ground.errors import AligntoolsError, ModelError
from aligntools.ground.parallel import Pool
from tests.encoding import tiny
from tests.places import ROOT

#: Exports of tiny encoders by ``torch.onnx.export``, as optimum calls it, and what onnxruntime says of PIECES.
EXPORTED = ROOT / "tests" / "data" / "encoders"
PIECES = [3, 9, 4, 5, 7, 2]
WORDS = ["the", "cat", "zz"]


def same_arrays(path, prefix=""):
    found, _ = onnx_weights.read(str(path))
    for name, array in tiny.parts()[0].items():
        np.testing.assert_array_equal(found[prefix + name], array, name)


@pytest.mark.parametrize("gemm", [False, True])
@pytest.mark.parametrize("prefix", ["", "bert.", "model.0.auto_model."])
def test_matrices_have_the_names_of_their_layers(tmp_path, prefix, gemm):
    (tmp_path / "model.onnx").write_bytes(tiny.onnx_bytes(tiny.parts()[0], prefix, gemm))
    same_arrays(tmp_path / "model.onnx", prefix)


def test_weights_beside_shared_and_optimized(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(tiny.onnx_bytes(tiny.parts()[0], beside=tmp_path / "model.onnx_data"))
    same_arrays(path)
    assert onnx_weights.read(str(path))[1] == [str(path), str(tmp_path / "model.onnx_data")]
    tensor = tiny.message((1, 3), (2, 1), (8, "one.bias"), (9, np.float32([1, 2, 3]).tobytes()))
    node = tiny.message((1, "one.bias"), (2, "other.bias"), (4, "Identity"))
    (tmp_path / "a.onnx").write_bytes(tiny.message((7, tiny.message((1, node), (5, tensor)))))
    found, _ = onnx_weights.read(str(tmp_path / "a.onnx"))
    assert found["other.bias"].tolist() == [1, 2, 3]
    pytest.importorskip("tokenizers")
    tiny.write_folder(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    arrays = {name: array for name, array in tiny.parts()[0].items() if "query" not in name}
    (tmp_path / "model.onnx").write_bytes(tiny.onnx_bytes(arrays))
    with pytest.raises(ModelError, match=r"has no encoder\.layer\.0.*export it with neither optimization"):
        encoders.load(str(tmp_path), depth=2)


@pytest.mark.parametrize("name", ["../weights", "/etc/passwd", ""])
def test_weights_elsewhere_are_not_read(tmp_path, name):
    entry = tiny.message((1, "location"), (2, name))
    tensor = tiny.message((1, 2), (2, 1), (8, "a"), (13, entry))
    (tmp_path / "model.onnx").write_bytes(tiny.message((7, tiny.message((5, tensor)))))
    with pytest.raises(ValueError, match="there is no such file in its folder"):
        onnx_weights.read(str(tmp_path / "model.onnx"))


@pytest.mark.parametrize(("kind", "prefix"), [("bert", ""), ("xlm-roberta", "roberta.")])
@pytest.mark.parametrize("place", ["", "onnx"])
def test_a_folder(tmp_path, kind, prefix, place):
    """The same states as with safetensors, to the byte."""
    pytest.importorskip("tokenizers")
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    tiny.write_folder(tmp_path / "a", kind)
    folder = tiny.write_folder(tmp_path / "b", kind, prefix=prefix, onnx=True)
    if place:
        (folder / place).mkdir()
        (folder / "model.onnx").rename(folder / place / "model.onnx")
    one, other = (encoders.load(str(tmp_path / name), depth=2) for name in "ab")
    assert one.states([WORDS], (0, 1, 2))[0].tobytes() == other.states([WORDS], (0, 1, 2))[0].tobytes()
    assert one.checksum != other.checksum
    assert len(other.checksum) == 64


def test_the_checksum_is_of_the_weights_wherever_they_are(tmp_path):
    pytest.importorskip("tokenizers")
    found = []
    for seed in (1, 2):
        tiny.write_folder(tmp_path)
        (tmp_path / "model.safetensors").unlink()
        data = tiny.onnx_bytes(tiny.parts(seed)[0], beside=tmp_path / "weights")
        (tmp_path / "model.onnx").write_bytes(data)
        found.append((data, encoders.load(str(tmp_path), depth=1).checksum))
    assert found[0][0] == found[1][0]
    assert found[0][1] != found[1][1]


@pytest.mark.parametrize("name", ["bert", "xlm-roberta"])
def test_what_an_exporter_writes(tmp_path, name):
    """The states of the last layer are those of onnxruntime, as far as products of bytes can have them."""
    pytest.importorskip("tokenizers")
    tiny.write_folder(tmp_path, name)
    (tmp_path / "model.safetensors").unlink()
    with gzip.open(EXPORTED / f"{name}.onnx.gz") as file:
        (tmp_path / "model.onnx").write_bytes(file.read())
    (tmp_path / "config.json").write_bytes((EXPORTED / f"{name}.json").read_bytes())
    found = encoders.load(str(tmp_path), depth=2)
    (states,) = encoders.run(found.weights, [np.array(PIECES, np.int32)], [2], Pool(1))
    np.testing.assert_allclose(states[0], np.load(EXPORTED / f"{name}.npy"), atol=0.008)


@pytest.mark.parametrize(
    ("change", "problem"),
    [({"kind": 3}, "has 8-bit integers; export it with weights of float32 or float16"), ({"kind": 10}, None)],
)
def test_weights_of_fewer_bits(tmp_path, change, problem):
    pytest.importorskip("tokenizers")
    tiny.write_folder(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    (tmp_path / "model.onnx").write_bytes(tiny.onnx_bytes(tiny.parts()[0], **change))
    if problem is None:
        assert encoders.load(str(tmp_path), depth=2).depth == 2
    else:
        with pytest.raises(ModelError, match=problem) as found:
            encoders.load(str(tmp_path), depth=2)
        assert "\n" not in str(found.value)


@given(st.data())
def test_damage_is_one_line(tmp_path_factory, data):
    pytest.importorskip("tokenizers")
    folder = tmp_path_factory.getbasetemp() / "damaged"
    if not folder.exists():
        folder.mkdir()
        tiny.write_folder(folder, onnx=True)
        os.rename(folder / "model.onnx", folder / "whole")
    whole = bytearray((folder / "whole").read_bytes())
    if data.draw(st.booleans()):
        whole = whole[: data.draw(st.integers(0, len(whole) - 1))]
    for _ in range(data.draw(st.integers(0, 20))):
        place = data.draw(st.integers(0, max(len(whole) - 1, 0)))
        whole[place : place + 1] = bytes([data.draw(st.integers(0, 255))])
    (folder / "model.onnx").write_bytes(whole)
    problem = ""
    try:
        encoders.load(str(folder), depth=2)
    except AligntoolsError as error:
        problem = str(error)
    assert "\n" not in problem
