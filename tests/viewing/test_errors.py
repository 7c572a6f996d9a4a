"""The tables of the summary, against counts by hand."""

import aligntools as at
from aligntools.viewing.alignments import tables_of

SOURCE = ["das haus ist das haus", "ein haus"]
TARGET = ["the house is the house", "a house"]
GOLD = ["0-0 1-1 2-2 3-3 4-4 0?3", "0-0 1-1"]
ONE, OTHER = ["0-0 1-1 2-2 3-0 4-4", "0-0 1-1"], ["0-1 1-0 2-2 0-3", "1-1"]


def tables(*systems, **how):
    shown = at.view((SOURCE, TARGET), *systems, gold=GOLD, names=["one", "other"][: len(systems)], **how)
    return {table.title: table for table in tables_of(shown)}


def test_errors_are_counted(tmp_path):
    table = tables(ONE, OTHER)["Errors on gold links"]
    assert [row[:2] for row in table.rows] == [("one", "14.29"), ("other", "58.33")]
    assert [round(100 * at.aer(GOLD, links).aer, 2) for links in (ONE, OTHER)] == [14.29, 58.33]
    assert "2 pairs with gold links, 7 sure and 8 possible" in table.about
    assert table.rows[1][-1].startswith("+44.05 (p = ")
    table = tables(ONE)["By position"]
    # word 3 of 5 is in the fourth part: its link 3-0 is false and 3-3 missed
    assert [(row[0], row[1]) for row in table.rows if row[1] != "0.0"] == [("60–80 %", "100.0")]
    assert [row[2] for row in table.rows] == ["2", "1", "2", "1", "1"]
    table = tables(ONE)["By frequency"]
    # 1: ist-is, ein-a; 2-3: das-the, haus-house (three times)
    assert [(row[0], row[1], row[2]) for row in table.rows] == [("1", "0.0", "2"), ("2–3", "20.0", "5")]
    (tmp_path / "tags").write_text("das_DET haus_N ist_V das_DET haus_N\nein_DET haus_N\n")
    found = tables(ONE, source_tags=tmp_path / "tags")
    assert [row[:2] for row in found["By source tag"].rows] == [("DET", "33.3"), ("N", "0.0"), ("V", "0.0")]
    assert "By target tag" not in found
    shown = at.view((["שלום"], ["peace"]), [""], gold=["0-0"])
    cell = next(t for t in tables_of(shown) if "missed" in t.title).rows[0][0]
    assert cell == "\u2068שלום\u2069 – \u2068peace\u2069"
    found = tables(OTHER)
    assert found["Most often false: one"].rows == [("das – house", "1", "0"), ("haus – the", "1", "0")]
    assert found["Most often missed: one"].rows == [
        ("das – the", "2", "1"), ("haus – house", "2", "1"), ("ein – a", "1", "0"),
    ]  # fmt: skip
