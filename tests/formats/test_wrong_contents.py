"""Model files whose checksum is right and whose contents are wrong are refused, or harm nobody: kernels trust them."""

import contextlib
import copy
import math
from itertools import islice

import numpy as np
import pytest

import aligntools as at
from aligntools.formats.models.modelfile import model_kind, read_model, write_model
from aligntools.ground.errors import DataError
from tests.keeping import KEPT

FILES = (
    *("align.fertility", "align.hmm-forward", "align.ibm2-table", "tag.hmm", "tag.induced", "parse.labels", "grammar"),
    "lm",
)
FOLDER = KEPT / "0.2.0"
VALUES = (-1, 2**30, math.nan, math.inf, -math.inf)
#: Changes that leave some arrays such as they may be.
MAY_PASS = {"gone", "backwards", "another shape", *(f"{value} at {k}" for value in VALUES[:2] for k in "abc")}
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
                for which, place in zip("abc", (0, array.size // 2, array.size - 1), strict=True):
                    other = array.copy()
                    other.reshape(-1)[place] = value
                    yield name, f"{value} at {which}", other


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


def refused_or_harmless(path, kind, header, arrays):
    """Write a model and load it; tell what it is refused with, or use it and return nothing."""
    write_model(str(path), kind, header, arrays)
    try:
        model = at.load(path)
    except DataError as error:
        return str(error)
    with contextlib.suppress(at.AligntoolsError):
        use(model)
    return ""


@pytest.mark.parametrize("every", [67, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", FILES)
def test_wrong_contents(tmp_path, name, every):
    """Some of the changes, or all."""
    path, kind = tmp_path / "model", model_kind(FOLDER / name)
    header, arrays = read_model(str(FOLDER / name), kind)
    refused = 0
    for array, what, value in islice(changed_arrays(arrays), None, None, every):
        changed = {k: v for k, v in arrays.items() if k != array} | ({} if value is None else {array: value})
        said = refused_or_harmless(path, kind, header, changed)
        refused += bool(said)
        assert said.startswith(f"{path}: is damaged") or (not said and what in MAY_PASS), (array, what, said)
        assert "\n" not in said
    for key, strange, changed in islice(changed_headers(header), None, None, every):
        said = refused_or_harmless(path, kind, changed, arrays)
        assert not said or said.startswith(f"{path}: is damaged"), (key, strange, said)
        assert "\n" not in said
    assert refused > len(arrays) / every
