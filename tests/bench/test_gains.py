"""``bench.run gains``: AER beside an older checkout's."""

import types

import numpy as np
import pytest

from bench import gains

#: Of two sentences: links, sure and possible gold links, links that are sure and possible.
RIGHT, WRONG = [[2, 2, 2, 2, 2], [1, 1, 1, 1, 1]], [[2, 2, 2, 1, 1], [1, 1, 1, 0, 0]]


def test_differences_are_in_points_over_all_seeds():
    wrong, right = np.array(WRONG), np.array(RIGHT)
    found = gains.compared([wrong, wrong], [right, wrong])
    assert found["before"] == pytest.approx([200 / 3, 200 / 3])
    assert found["now"] == pytest.approx([0, 200 / 3])
    value, low, high = found["difference"]
    assert value == pytest.approx(-100 / 3)
    assert low <= value <= high < 0
    assert gains.share(found) == pytest.approx(0.5)


def test_each_side_runs_its_checkout_and_large_texts_take_one_seed(tmp_path, monkeypatch):
    runs = []

    def counts(o, text, seed, python, checkout):
        runs.append((text.name, seed, str(checkout)))
        return WRONG if checkout == tmp_path / "old" else RIGHT

    sizes = {"en-xx.a": 2, "en-yy.b": gains.SEEDED + 1}
    monkeypatch.setattr(gains, "_counts", counts)
    monkeypatch.setattr(gains.code, "of", lambda *_: "code")
    monkeypatch.setattr(
        gains.texts, "text", lambda data, name, work: types.SimpleNamespace(name=name, n_pairs=sizes[name])
    )
    o = types.SimpleNamespace(
        data=tmp_path, work=tmp_path, checkout=tmp_path / "old", python="python", seeds="1,2", sets=",".join(sizes),
        threads=1,
    )  # fmt: skip
    body = gains.run(o)
    now = str(gains.report.ROOT)
    assert sorted(runs) == sorted(
        [("en-xx.a", seed, at) for seed in (1, 2) for at in (str(tmp_path / "old"), now)]
        + [("en-yy.b", 1, at) for at in (str(tmp_path / "old"), now)]
    )
    assert "| en-xx.a | 2 | 66.67 | 0.00 | 0.00 | 0.000 | -66.67 |" in body
    assert "Mean of the shares: 0.000. Lower beyond chance on 2 of 2 sets, higher beyond chance on 0." in body
    runs.clear()
    gains.run(o)  # figures are kept
    assert not runs
