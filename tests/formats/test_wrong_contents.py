"""Model files whose checksum is right and whose contents are wrong are refused, or harm nobody: kernels trust them."""

import copy
import math

import numpy as np
import pytest

import aligntools as at
from aligntools.formats.modelfile import model_kind, read_model, write_model
from aligntools.ground.errors import DataError
from tests.keeping import KEPT

FILES = (
    "align.fertility",
    "align.hmm-forward",
    "align.ibm2-table",
    "tag.hmm",
    "tag.induced",
    "parse.labels",
    "grammar",
    "lm",
)
FOLDER = KEPT / "0.2.0"
VALUES = (-1, 2**30, math.nan, math.inf, -math.inf)
STRANGE = (None, "x", -1, 10**30, math.nan, True, [], {}, [[]], [1, "x"], 0)


def changed_arrays(arrays):
    """Yield every array made wrong in one way: type, shape, one value, order; or gone."""
    for name, array in arrays.items():
        yield name, "gone", None
        yield name, "another type", array.astype(np.int16 if array.dtype.kind == "f" else np.float32)
        yield (
            name,
            "longer",
            np.concatenate([array, array[-1:] if len(array) else np.zeros((1, *array.shape[1:]), array.dtype)]),
        )
        yield name, "another shape", array.reshape(-1, 1)
        if not array.size:
            continue
        yield name, "shorter", array[:-1]
        yield name, "backwards", np.ascontiguousarray(array[::-1])
        for value in VALUES:
            if array.dtype.kind == "f" or (
                math.isfinite(value) and np.iinfo(array.dtype).min <= value <= np.iinfo(array.dtype).max
            ):
                for place in (0, array.size // 2, array.size - 1):
                    other = array.copy()
                    other.reshape(-1)[place] = value
                    yield name, f"{value} at {place}", other


def changed_headers(header, path=()):
    """Yield the header with each of its values, however deep, made strange or taken away."""
    here = header
    for key in path:
        here = here[key]
    items = here.items() if isinstance(here, dict) else enumerate(here[:2]) if isinstance(here, list) else ()
    for key, value in items:
        for strange in STRANGE:
            other = copy.deepcopy(header)
            into = other
            for step in path:
                into = into[step]
            into[key] = strange
            yield (*path, key), strange, other
        yield from changed_headers(header, (*path, key)) if value else ()


def use(model):
    """Let the kernels have it."""
    if isinstance(model, at.Aligner):
        model.align("Der Zug fährt um acht Uhr ab .", "The train leaves at eight o'clock .")
    elif isinstance(model, at.Tagger):
        model.tag("The bus leaves unseen .")
        model.tag("The bus leaves unseen .", decoder="viterbi")
    elif isinstance(model, at.Parser):
        model.parse(["The", "bus", "leaves"], ["DET", "NOUN", "VERB"])
    elif isinstance(model, at.LanguageModel):
        model.score("The bus leaves .")
    else:
        at.Translator(model).translate("Der Zug fährt um acht Uhr ab .")


def refused_or_harmless(path, kind, header, arrays, what):
    write_model(str(path), kind, header, arrays)
    try:
        model = at.load(path)
    except DataError as error:
        assert str(error).startswith(f"{path}: ")
        assert "\n" not in str(error)
        return True
    try:
        use(model)
    except at.AligntoolsError:
        return False
    except Exception as error:
        raise AssertionError(f"{what}: {error!r}") from error
    return False


@pytest.mark.parametrize("name", FILES)
def test_wrong_contents(tmp_path, name):
    kind = model_kind(FOLDER / name)
    header, arrays = read_model(str(FOLDER / name), kind)
    refused, passed = 0, []
    for array, what, value in changed_arrays(arrays):
        changed = {k: v for k, v in arrays.items() if k != array} | ({} if value is None else {array: value})
        gone = refused_or_harmless(tmp_path / "model", kind, header, changed, (array, what))
        refused += gone
        if not gone:
            passed.append((array, what))
    for array, what in passed:
        assert what not in ("another type", "another shape") and "nan" not in what and "inf" not in what, (array, what)
    for key, strange, changed in changed_headers(header):
        refused += refused_or_harmless(tmp_path / "model", kind, changed, arrays, (key, strange))
    assert refused > len(arrays)
