"""Damage to model files is noticed, wherever it is; what was written before there were checksums is read as it was."""

import json
import shutil

import numpy as np
import pytest

from aligntools.formats.models import modelfile
from aligntools.formats.models.modelfile import read_model, write_model
from aligntools.ground.errors import DataError, ModelError
from tests.cli.running import fails, ran, run
from tests.keeping import KEPT

ARRAYS = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.arange(50, dtype=np.uint8)}


def flipped(data, bit):
    changed = bytearray(data)
    changed[bit >> 3] ^= 1 << (bit & 7)
    return bytes(changed)


@pytest.mark.slow
def test_every_flipped_bit_is_noticed(tmp_path):
    path = tmp_path / "model"
    write_model(str(path), "tagger", {"name": "ö", "n": [1, 0.5]}, ARRAYS)
    data = path.read_bytes()
    for bit in range(8 * len(data)):
        path.write_bytes(flipped(data, bit))
        with pytest.raises(ModelError):
            read_model(str(path), "tagger")
    path.write_bytes(data)
    read_model(str(path), "tagger")


def test_damage_is_told_what_to_do_about(tmp_path):
    path = tmp_path / "model"
    write_model(str(path), "tagger", {}, ARRAYS)
    data = path.read_bytes()
    path.write_bytes(flipped(data, 8 * len(data) - 3))
    with pytest.raises(ModelError, match=r"model: is damaged: its checksum does not match; write it again or copy it"):
        read_model(str(path), "tagger")
    _, arrays = read_model(str(path), "tagger", verify=False)
    assert sorted(arrays) == ["a", "b"]
    from safetensors.numpy import save_file

    path = tmp_path / "model"
    about = {"kind": "tagger", "version": modelfile.VERSION, "header": {}}
    save_file(ARRAYS, str(path), {"aligntools": json.dumps(about)})
    read_model(str(path), "tagger")
    save_file(ARRAYS, str(path), {"aligntools": json.dumps(about | {"checkrum": "0"})})
    with pytest.raises(ModelError, match="is damaged or not a model file"):
        read_model(str(path), "tagger")


def test_blocks_of_large_files(tmp_path, monkeypatch):
    """Every block counts, and their order."""
    path = tmp_path / "model"
    monkeypatch.setattr(modelfile, "_BLOCK", 16)
    write_model(str(path), "tagger", {}, {"b": np.arange(100, dtype=np.uint8)})
    data = path.read_bytes()
    read_model(str(path), "tagger")
    begin = len(data) - 100
    for changed in (
        data[:begin] + data[begin + 16 : begin + 32] + data[begin : begin + 16] + data[begin + 32 :],
        *(data[:place] + b"\xff" + data[place + 1 :] for place in range(begin, len(data), 16)),
    ):
        path.write_bytes(changed)
        with pytest.raises(ModelError, match="checksum does not match"):
            read_model(str(path), "tagger")


@pytest.mark.parametrize("name", ["align.hmm", "tag.hmm", "parse.labels", "grammar", "lm"])
def test_every_kind_of_model_notices_random_damage(tmp_path, name):
    """A few bits here and there; all of them is done above."""
    import aligntools as at

    path, rng = tmp_path / name, np.random.default_rng(1)
    header, arrays = read_model(str(KEPT / "0.2.0" / name), kind := modelfile.model_kind(KEPT / "0.2.0" / name))
    write_model(str(path), kind, header, arrays)
    at.load(path)
    data = path.read_bytes()
    for bit in rng.integers(0, 8 * len(data), 25).tolist():
        path.write_bytes(flipped(data, bit))
        with pytest.raises(DataError):
            at.load(path)


def test_a_command_verifies_unless_it_is_told_not_to(tmp_path):
    path, text = tmp_path / "tagger", tmp_path / "text"
    text.write_text("The bus leaves .\n")
    header, arrays = read_model(str(KEPT / "0.2.0" / "tag.hmm"), "tagger")
    write_model(str(path), "tagger", header, arrays)
    data = path.read_bytes()
    path.write_bytes(flipped(data, 8 * len(data) - 20))
    fails(run("tag", "-q", "-m", path, text), f"{path}: is damaged: its checksum does not match")
    ran("tag", "-q", "-m", path, "--set", "verify=false", text)
    shutil.copy(KEPT / "0.2.0" / "tag.hmm", path)
    ran("tag", "-q", "-m", path, text)
