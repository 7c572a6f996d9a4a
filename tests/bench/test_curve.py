"""``bench.run curve``: texts of each size, links kept, and figures by band of words."""

import itertools
import types

import numpy as np
import pytest

from aligntools.formats.links.pharaoh import Links
from bench import curve, texts


@pytest.fixture
def data(tmp_path):
    """A pair of languages with two gold sets of one sentence and forty training pairs, one of them blank."""
    folder = tmp_path / "data" / "en-xx"
    folder.mkdir(parents=True)
    for name, en, xx in (("a", "Gold one", "un deux"), ("b", "the gold", "le deux")):
        (folder / f"{name}.en").write_text(en + "\n")
        (folder / f"{name}.xx").write_text(xx + "\n")
        (folder / f"{name}.wa").write_text("0-0 1?1\n")
    (folder / "train.en").write_text("".join(f"the w{n}\n" for n in range(39)) + "\n")
    (folder / "train.xx").write_text("".join(f"le m{n}\n" for n in range(40)))
    (tmp_path / "data" / "en-yy").mkdir()
    (tmp_path / "data" / "en-yy" / "a.wa").write_text("0-0\n")
    return tmp_path / "data"


def options(data, tmp_path, **others):
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    given = {"pairs": None, "sizes": "0,10,100,all", "systems": "align", "eflomal": None, "threads": 1, **others}
    return types.SimpleNamespace(data=data, work=work, **given)


def test_larger_texts_hold_the_smaller_and_begin_with_the_gold_sentences(data, tmp_path):
    (tmp_path / "work").mkdir()
    assert curve.pairs_with_text(data) == ["en-xx"]
    found = []
    for size in (0, 10, "all"):
        folder = tmp_path / str(size)
        folder.mkdir()
        part = curve.beginning(data, "en-xx", size, tmp_path / "work", folder)
        assert part.golds == (("a", 1), ("b", 1))
        found.append([p.read_text().splitlines() for p in (part.source, part.target)])
        assert part.n_pairs == len(found[-1][0]) == len(found[-1][1])
    assert [len(source) for source, _ in found] == [2, 12, 41]  # the pair with a blank side is left out
    assert found[0] == [["gold one", "the gold"], ["un deux", "le deux"]]
    for small, large in itertools.pairwise(found):
        assert all(large[d][: len(small[d])] == small[d] for d in (0, 1))
    source, target = found[-1]
    assert all(s.split()[1][1:] == t.split()[1][1:] for s, t in zip(source[2:], target[2:], strict=True))
    assert source[2:] != sorted(source[2:])


def test_what_was_aligned_is_kept_and_a_size_past_the_text_is_all_of_it(data, tmp_path, monkeypatch):
    runs = []

    def align(o, part, folder):
        runs.append((part.size, part.n_pairs))
        (folder_file := texts.Path(folder) / "joint").write_text("0-0 1-1\n" * part.n_pairs)
        return curve.measuring.Usage(1.0, 2.0, 3), [folder_file]

    monkeypatch.setitem(curve.RUNS, "align", align)
    monkeypatch.setattr(curve.code, "of", lambda *_: "code")
    o = options(data, tmp_path)
    body = curve.run(o)
    assert runs == [(0, 2), (10, 12), ("all", 41)]  # small texts first
    assert "### en-xx.a" in body
    assert "### en-xx.b" in body
    assert "| 41 in all | 0.0 | 100.0 | 100.0 |" in body
    assert "| 100 |" not in body
    assert curve.run(o) == body
    assert len(runs) == 3


def test_bands_and_their_links(data, tmp_path, monkeypatch):
    monkeypatch.setattr(curve, "_BANDS", {})
    monkeypatch.setattr(curve, "RARE", 2)
    monkeypatch.setattr(curve, "COMMON", 0.1)
    o = options(data, tmp_path)
    o.work.mkdir(exist_ok=True)
    assert curve._bands(o, "en-xx") == [[1, 0], [2, 1]]  # gold: 2 times, one: once, the: 40 of 82 words
    links = Links(np.array([[0, 0], [1, 1], [0, 2]], np.int32), np.array([0, 2, 2, 3]))
    some = curve._within(links, [[2, 0], [], [2]], 2)
    assert some.tolists() == [[(0, 0)], [], [(0, 2)]]
    assert curve._rise([(9.0, 0), (5.0, 1), (5.5, 2), (4.0, 3), (4.2, "all")]) == (0.5, 2)
    assert curve._rise([(9.0, 0), (5.0, 1)]) == (0.0, "")
