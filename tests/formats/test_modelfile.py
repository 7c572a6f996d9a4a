import json
import os
import stat
import threading

import numpy as np
import pytest

from aligntools.formats.models import modelfile
from aligntools.formats.models.modelfile import is_model, model_kind, read_model, write_model
from aligntools.ground.errors import DataError, ModelError
from aligntools.store import tensors

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


def test_what_could_not_be_loaded_is_not_written(tmp_path):
    def check(header, arrays):
        assert header == {"a": [1]}  # as it is read
        raise ValueError("no")

    path = tmp_path / "m"
    with pytest.raises(ModelError, match=r"m: is not written, as it could not be loaded \(no\)"):
        write_model(path, "x", {"a": (1,)}, {"b": np.zeros(2)}, check)
    assert not path.exists()
