"""``--encoder DIR`` as a user runs it: encoders of the BERT and XLM-R kinds, tiny ones made here."""

import pytest

import aligntools as at
from aligntools.encoding import knowledge
from tests.cli.running import fails, ran, run
from tests.cli.test_encoder import text  # noqa: F401
from tests.encoding import tiny

pytest.importorskip("tokenizers")


@pytest.fixture(params=[("bert", True), ("xlm-roberta", False)])
def folder(request, tmp_path):
    kind, onnx = request.param
    (tmp_path / "encoder").mkdir()
    return tiny.write_folder(tmp_path / "encoder", kind, onnx=onnx)


@pytest.fixture(autouse=True)
def believed(monkeypatch):
    """Believe whatever a tiny encoder says."""
    monkeypatch.setattr(knowledge, "DOUBTED", -2.0)
    monkeypatch.setattr(knowledge, "BELIEVED", -1.0)


@pytest.mark.slow
@pytest.mark.parametrize("command", [("align",), ("align", "--best"), ("contrastive-align",)])
def test_a_folder_serves_training_and_new_text(folder, text, command, tmp_path):  # noqa: F811
    found, model, weights = [], tmp_path / "model", tmp_path / "weights"
    for layer in ("1", "2"):
        saved = ["--save-model", model] + (["--save-weights", weights] if command[0] != "align" else [])
        done = ran(*command, *text, "--encoder", folder, "--set", f"encoder_layer={layer}", *saved)
        assert done.stdout.count(b"\n") == 60
        about = at.Aligner.load(model, encoder=folder).model.evidence["encoder"]
        assert about["layers"] == [int(layer)]
        assert b"encoder " + about["name"].encode() in done.stderr
        found.append((model.read_bytes(), done.stdout))
    assert found[0][0] != found[1][0]
    if command != ("align",):  # links are decided on with the encoder
        with_weights = ["-w", weights] if command[0] != "align" else []
        again = command[0], "-q", *text, "-m", model, *with_weights
        assert run(*again, "--encoder", folder).stdout == found[1][1]
        assert fails(run(*again), "give its folder to --encoder", status=2)
        ran(*again, "--no-encoder")
    else:
        assert run("align", "-q", *text, "-m", model).stdout == found[1][1]


def test_a_layer_that_is_not_there(folder, text):  # noqa: F811
    done = run("align", *text, "--encoder", folder, "--set", "encoder_layer=3")
    assert fails(done, "which has layers 0 to 2", status=2)
    assert fails(run("align", *text, "--encoder", folder), "layer 7 of", status=2)


@pytest.mark.slow
def test_parts_and_workers_read_a_folder(folder, text):  # noqa: F811
    how = *text, "--encoder", folder, "--set", "encoder_layer=2", "--set", "views=0", "--set", "part_size=17"
    one, two = run("align", *how), run("align", *how, "--workers", "2")
    assert one.returncode == 0, one.stderr
    assert one.stdout == two.stdout
