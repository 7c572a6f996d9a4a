import json

import pytest

from aligntools.aligning.contrastive.features import NAMES
from aligntools.aligning.contrastive.weights import load_weights
from aligntools.formats.opening.json_text import in_words, is_number, parse_json
from aligntools.ground.errors import DataError
from aligntools.translating.translation_weights import read_weights

DEEP = "[" * 100_000 + "]" * 100_000


def test_what_is_nested_too_deeply_is_not_json_and_short_in_messages():
    with pytest.raises(ValueError, match="nested too deeply"):
        parse_json(DEEP)
    assert parse_json(b'{"a": [1]}') == {"a": [1]}
    deep = value = []
    for _ in range(100_000):
        value.append([])
        value = value[0]
    assert len(in_words(deep)) < 50
    assert in_words({"a": 1}) == '{"a": 1}'
    assert len(in_words("x" * 1000)) <= 40


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400, "1", None, True, [1]])
def test_what_is_no_number(value):
    assert not is_number(value)
    assert is_number(1)
    assert is_number(-1e-3)


@pytest.mark.parametrize("read", [load_weights, read_weights])
@pytest.mark.parametrize("text", [DEEP, '{"a":' * 100_000, "9" * 5000, "nan", ""])
def test_no_reader_of_json_ends_in_a_traceback(tmp_path, read, text):
    path = tmp_path / "x"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read(str(path))
    assert len(str(caught.value)) < 300 + len(str(path))


@pytest.mark.parametrize("value", [DEEP, "1e999", "1" + "0" * 400, "[]", "true", '"x"', "NaN"])
def test_weights_are_numbers(tmp_path, value):
    path = tmp_path / "x"
    head = '{"format": "aligntools weights", "kind": "translation", "version": 1, "features": {"a": '
    path.write_text(head + value + "}}")
    with pytest.raises(DataError, match=r"weights|a number was expected"):
        read_weights(str(path))


@pytest.mark.parametrize(
    ("name", "value"), [("beam", 10**30), ("beam", 0), ("beam", True), ("slack", 10**400), ("constraint", ["none"])]
)
def test_settings_of_the_search_are_in_their_ranges(tmp_path, name, value):
    path = tmp_path / "x"
    text = {
        "format": "aligntools contrastive weights",
        "version": 1,
        "features": ["null_source"],
        "search": {name: value},
    }

    text |= {"features": [NAMES[0]], "weights": {NAMES[0]: 1}}
    path.write_text(json.dumps(text))
    with pytest.raises(DataError, match=f"'{name}' is .* in 'search'; .* was expected"):
        load_weights(str(path))
