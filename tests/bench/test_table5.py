"""What the bench of Liu & Sun's Table 5 makes once, keeps, and holds against each other."""

import types

import pytest

from aligntools.metrics.aer import Aer
from bench import code, giza, table5, texts
from tests.conftest import SAMPLES

PAIRS = 6


@pytest.fixture
def o(tmp_path):
    """Options of a run on sample pairs whose gold links are the diagonal."""
    folder = tmp_path / "data" / "en-fr"
    folder.mkdir(parents=True)
    for side in ("en", "fr"):
        lines = (SAMPLES / f"fr-en.{side}").read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / f"dev.{side}").write_text("".join(lines[:PAIRS]), encoding="utf-8")
    (folder / "dev.wa").write_text("0-0 1-1 2-2\n" * PAIRS)
    (tmp_path / "work").mkdir()
    return types.SimpleNamespace(
        data=tmp_path / "data", work=tmp_path / "work", mgiza=tmp_path, fast_align="f", threads=1, sets="en-fr.dev"
    )


def test_rows_of_all_systems_are_made_once_and_tested_in_pairs(o, monkeypatch):
    made = []
    right, wrong = "0-0 1-1 2-2\n" * PAIRS, "0-0 1-2 2-1\n" * PAIRS

    def align(o, text, out, *options):
        made.append(" ".join(map(str, ("align", *options))))
        (out / "links").write_text(wrong if options else right)

    def contrastive(o, text, tables, out, *options):
        assert (tables / "forward").exists()
        made.append(" ".join(map(str, ("contrastive", *options))))
        (out / "links").write_text(wrong if options else right)

    def ibm4(o, text, out):
        (out / "joint").write_text(right)
        (out / "links").write_text(wrong)

    monkeypatch.setattr(table5, "_mgiza", lambda o, text, out: (out / "forward").write_text(wrong))
    monkeypatch.setattr(table5, "_symmetrized", lambda place, out: (out / "links").write_text(wrong))
    monkeypatch.setattr(table5, "_fast_align", lambda o, text, out: (out / "links").write_text(wrong))
    monkeypatch.setattr(table5, "_ibm4", ibm4)
    monkeypatch.setattr(table5, "_align", align)
    monkeypatch.setattr(table5, "_contrastive", contrastive)
    monkeypatch.setattr(code, "of", lambda *_: "code")
    body = table5.run(o)
    assert len(made) == 5
    assert "| MGIZA's IBM 4, symmetrized | 6.36 | 66.7 |" in body
    assert "| `align` |  | 0.0 |" in body
    lower = "-66.7 (-66.7 to -66.7), p "
    assert f"| MGIZA's IBM 4, symmetrized | {lower}" in body
    assert "| `align` | +0.0 (+0.0 to +0.0), p 1.000 |  |" in body
    assert table5.run(o).split("load")[0] == body.split("load")[0]
    assert len(made) == 5


def test_what_was_not_made_whole_is_not_kept(tmp_path):
    def half(folder):
        (folder / "links").write_text("")
        raise SystemExit("stopped")

    with pytest.raises(SystemExit):
        table5._kept(tmp_path / "text", "align", half)
    assert list((tmp_path / "text").iterdir()) == []


def test_tables_are_asked_of_mgiza_with_moses_settings():
    own = dict(zip(table5.TABLES[::2], table5.TABLES[1::2], strict=True))
    moses = dict(zip(giza.MOSES[::2], giza.MOSES[1::2], strict=True))
    assert {name for name in moses if own.get(name) != moses[name]} == {
        "-nodumps", "-onlyaldumps", "-model1dumpfrequency",
    }  # fmt: skip
    assert {name for name in own if name not in moses} == set()


def test_scores_are_of_the_pairs_with_gold_links(o):
    text = texts.text(o.data, "en-fr.dev", o.work)
    (o.work / "links").write_text("0-0 1-1\n" * (PAIRS + 3))
    assert isinstance(table5.score(text, o.work / "links").metric, Aer)
    assert table5.score(text, o.work / "links").aer == pytest.approx(1 - 4 / 5)
