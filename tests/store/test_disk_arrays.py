"""Arrays in memory and in temporary files, and text that is read in parts."""

import gc

import numpy as np
import pytest

from aligntools.formats.text.numbered_text import stream_numbered
from aligntools.ground.errors import DataError, ResourceError
from aligntools.store.sorting import ArrayStore
from aligntools.words.vocabulary import CompiledLexicon


def test_bounds_and_folders(tmp_path):
    store = ArrayStore(1000, str(tmp_path))
    first = store.empty((10, 10))
    assert store.spilled == 0
    second = store.empty((200, 3))
    assert store.spilled == 2400
    for array in (first, second):
        array[:] = np.arange(array.size, dtype=np.uint32).reshape(array.shape)
        assert type(array) is np.ndarray
    assert second[199].tolist() == [597, 598, 599]
    assert list(tmp_path.iterdir()) == []
    assert store.empty((0, 3)).shape == (0, 3)
    store = ArrayStore(1000, str(tmp_path))
    part = store.empty((200,))[:3]
    store.empty((100,))  # 800 and 400 bytes do not fit
    assert store.spilled == 400
    del part
    gc.collect()
    store.empty((100,))
    assert store.spilled == 400
    with pytest.raises(ResourceError, match="tmpdir"):
        ArrayStore(0, str(tmp_path / "none")).empty((10,))
    with pytest.raises(ResourceError, match="no room"):
        ArrayStore(0, str(tmp_path)).empty((1 << 50,))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("block", [1 << 22, 3])
def test_numbered_text(tmp_path, block):
    (tmp_path / "t").write_bytes(b"\xef\xbb\xbfa  b\tA\r\n\n c\xc2\xa0d a")
    lexicon = CompiledLexicon([b"z"])
    sides = list(stream_numbered(str(tmp_path / "t"), lexicon, block=block))
    assert np.concatenate([s.tokens for s in sides]).tolist() == [2, 3, 4, 5, 2]
    assert np.concatenate([s.lengths() for s in sides]).tolist() == [3, 0, 2]
    assert lexicon.words(1) == [b"z", b"a", b"b", b"A", "c\u00a0d".encode()]
    folded = CompiledLexicon()
    sides = list(stream_numbered(str(tmp_path / "t"), folded, lowercase=True, block=block))
    assert np.concatenate([s.tokens for s in sides]).tolist() == [1, 2, 1, 3, 1]


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("block", [1 << 22, 3])
def test_bytes_that_are_not_utf8(tmp_path, lowercase, block):
    (tmp_path / "t").write_bytes(b"a\nb\n\nc \xc3 d\ne\xff\n")
    with pytest.raises(DataError, match="not UTF-8") as error:
        list(stream_numbered(str(tmp_path / "t"), CompiledLexicon(), lowercase=lowercase, block=block))
    assert error.value.line == 4
