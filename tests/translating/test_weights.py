"""Files of weights: what is written is read; what does not fit a system is said in one line."""

import json

import numpy as np
import pytest

from aligntools.ground.errors import DataError
from aligntools.translating.decoding.system_tables import COUNTS
from aligntools.translating.translation_weights import TranslationWeights, default_weights, in_order, read_weights

NAMES = ["lm", "PhraseEgivenF", *COUNTS, "DT_NN"]


def load(path, names):
    """Return a file's weights in the order of a system's features."""
    return in_order(path, read_weights(path)[0], names)


def test_weights_that_are_saved_or_no_json(tmp_path):
    values = np.arange(len(NAMES)) / 7
    TranslationWeights(dict(zip(NAMES, values, strict=True)), {"bleu": 40.5}).save(tmp_path / "w")
    assert np.array_equal(load(tmp_path / "w", NAMES), values)
    assert np.array_equal(load(tmp_path / "w", NAMES[::-1]), values[::-1])
    assert read_weights(tmp_path / "w") == (dict(zip(NAMES, values, strict=True)), {"bleu": 40.5})
    for data in (b"", b"{", b"\xff", b"[1]"):
        (tmp_path / "w").write_bytes(data)
        with pytest.raises(DataError, match="is not a file of translation weights"):
            read_weights(tmp_path / "w")
    weights = dict(zip(NAMES, default_weights(NAMES), strict=True))
    assert weights["lm"] > 0
    assert weights["PhraseEgivenF"] > 0
    assert weights["unknown"] < 0
    assert weights["DT_NN"] == 0


@pytest.mark.parametrize(
    ("change", "fragments"),
    [
        (lambda t: t.update(format="other"), ["is not a file of translation weights"]),
        (lambda t: t.update(kind="alignment"), ["is not a file of translation weights"]),
        (lambda t: t.update(version=9), ["has version 9, this program reads 1"]),
        (lambda t: t.pop("features"), ["has no 'features'"]),
        (lambda t: t["features"].update(lm="much"), ["the weight of 'lm' is \"much\"; a number was expected"]),
        (lambda t: t["features"].update(lm=True), ["the weight of 'lm' is true"]),
        (lambda t: t["features"].update(lm=float("inf")), ["the weight of 'lm' is Infinity"]),
        (lambda t: t["features"].pop("lm"), ["no weight for the feature 'lm';"]),
        (lambda t: [t["features"].pop(n) for n in NAMES[:3]], ["no weight for the feature 'lm' and 2 more;"]),
        (lambda t: t["features"].update(b=1, a=2), ["a weight for 'a' and 1 more, which the system does not have"]),
    ],
)
def test_what_does_not_fit_is_one_line(change, fragments, tmp_path):
    TranslationWeights(dict.fromkeys(NAMES, 1.0)).save(tmp_path / "w")
    text = json.loads((tmp_path / "w").read_text())
    change(text)
    (tmp_path / "w").write_text(json.dumps(text))
    with pytest.raises(DataError) as error:
        load(str(tmp_path / "w"), NAMES)
    assert "\n" not in str(error.value)
    for fragment in [str(tmp_path / "w"), *fragments]:
        assert fragment in str(error.value)
