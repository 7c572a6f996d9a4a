"""Pairs as SVG and as text."""

import re
import xml.etree.ElementTree as ET
from xml.etree import ElementTree

import pytest

import aligntools as at
from aligntools.ground.errors import UsageProblem
from aligntools.viewing.pictures import right_to_left
from aligntools.viewing.terminal import cells
from tests.cli.running import ran
from tests.places import ROOT, SAMPLES

SVG = "{http://www.w3.org/2000/svg}"
SHOWN = at.view(
    (["das neue haus", "x"], ["the new house", "y"]), ["0-0:0.5 1-1 2-0", ""], gold=["0-0 1?1 2-2 1?2", "0-0"]
)


def texts(svg):
    return ["".join(e.itertext()) for e in ET.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("form", ["matrix", "ribbon", None])
def test_a_picture_has_each_word_and_a_shape_for_each_sign(form):
    svg = SHOWN.svg(1, form=form)
    assert texts(svg)[:6] == ["das", "neue", "haus", "the", "new", "house"]
    assert svg.count('stroke="#8a5a00"') == (1 + 1 if form != "ribbon" else 2 + 1)  # missed, and in the legend
    if form != "ribbon":
        assert svg.count('stroke-dasharray="3 2"') == 2 + 1  # possible gold links
    assert re.search(r'opacity="0\.62"', svg) is None  # probabilities are of files
    assert "<script" not in svg


def test_text_and_shades(tmp_path):
    odd = "<script>a&b</script> \"\x00\x1b'\udcff"
    svg = at.view(([odd], [odd]), ["0-0"]).svg()
    assert texts(svg)[0] == "<script>a&b</script>"
    assert texts(svg)[1] == "\"␀␛'" + 3 * "\ufffd"
    svg.encode()
    (tmp_path / "a").write_bytes(b"0-0:0.5 1-1:1\n")
    svg = at.view((["a b"], ["a b"]), tmp_path / "a").svg()
    assert re.findall(r'opacity="([\d.]+)"', svg) == ["0.62", "1.00"]


def test_drawings_of_odd_pairs():
    assert right_to_left(['"', "שלום", "a"])
    assert right_to_left(["مرحبا"])
    assert not right_to_left(["1", "été", "שלום"])
    root = ET.fromstring(at.view((["שלום עולם"], ["hello world"]), ["0-0 1-1"]).svg(form="ribbon"))
    x = {e.text: float(e.get("x")) for e in root.iter(f"{SVG}text")}
    assert x["שלום"] > x["עולם"]
    assert x["hello"] < x["world"]
    assert {e.get("direction") for e in root.iter(f"{SVG}text")} == {"rtl", None}
    blank = at.view((["", "a"], ["", ""]), ["", ""])
    for number in (1, 2):
        ET.fromstring(blank.svg(number))
        assert blank.text(number=number)
    for number in (0, 3):
        with pytest.raises(UsageProblem, match="there is no pair"):
            blank.svg(number)
    with pytest.raises(UsageProblem, match="no form 'circle'"):
        blank.svg(form="circle")


def test_the_terminal():
    assert SHOWN.text(number=1) == (
        "1  1 AER 40.0\n"
        " das  ■ · ·\n"
        "neue  · ■ □\n"
        "haus  × · ○\n"
        "      │ │ └ house\n"
        "      │ └ new\n"
        "      └ the\n"
    )  # fmt: skip
    assert SHOWN.text(number=1, form="ribbon") == (
        "1  1 AER 40.0\n"
        "das neue haus\n"
        "the new house\n"
        "  ■ 0-0     das – the     sure\n"
        "  ■ 1-1     neue – new    possible\n"
        "  · 1-2     neue – house  possible\n"
        "  × 2-0     haus – the    false\n"
        "  ○ 2-2     haus – house  sure, missed\n"
    )
    shown = at.view((["你好 e\u0301a a"], ["x y z"]), ["0-0 1-1 2-2"]).text(number=1)
    rows = shown.splitlines()[1:4]
    assert [cells(row) for row in rows] == [cells(rows[0])] * 3
    assert {cells(row.split("■")[0]) - 2 * k for k, row in enumerate(rows)} == {6}
    plain, colored = SHOWN.text(), SHOWN.text(color=True)
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == plain
    assert "\x1b[1;31m×" in colored
    assert str(SHOWN) == plain.removesuffix("\n")
    assert plain.startswith("■ right  × false")


def test_a_view_saves_itself_and_shows_itself_in_notebooks(tmp_path):
    SHOWN.save(tmp_path / "a.html")
    SHOWN.save(tmp_path / "b.svg", 2)
    with pytest.raises(at.UsageProblem, match=r"c\.pdf': a page is HTML, and a picture is SVG"):
        SHOWN.save(tmp_path / "c.pdf")
    assert (tmp_path / "a.html").read_text() == SHOWN.html()
    assert (tmp_path / "b.svg").read_text() == SHOWN.svg(2)
    assert SHOWN._repr_html_().startswith("<iframe sandbox=")
    many = at.view((["a"] * 600, ["b"] * 600), ["0-0"] * 600, gold=["0-0"] * 600)
    assert "100 more are in the page" in many._repr_html_()
    assert "more are in the page" not in many.html()
    assert [len(many.data(500)[side]) for side in ("source", "target")] == [500, 500]
    assert [len(rows) for rows in many.data(500)["gold"].values()] == [500, 500, 500]


IMAGES = ROOT / "docs" / "images"


def made(name, folder, *args):
    """Run ``view ARGS --svg NAME`` and return the picture, and the one in the docs."""
    ran("view", *args, "--svg", folder / name)
    return (folder / name).read_text(), (IMAGES / name).read_text()


def test_pictures_of_trees_and_tags(tmp_path):
    text = re.sub(r"(?m)^(6\tin\t.*)\t8\tcase", r"\1\t5\tcase", (SAMPLES / "en.conllu").read_text())
    text = re.sub(r"(?m)^(2\tnew\t.*)amod", r"\1nmod", text)
    (tmp_path / "parsed.conllu").write_text(text)
    new, kept = made("tree.svg", tmp_path, tmp_path / "parsed.conllu", SAMPLES / "en.conllu", "--sentence", "10")
    assert new == kept
    text = (SAMPLES / "en.mrg").read_text()
    text = text.replace("(PP (IN in) (NP (PRP$ our) (NN street)))", "(IN in) (ADJP (PRP$ our) (NN street))")
    (tmp_path / "parsed.mrg").write_text(text)
    new, kept = made("constituents.svg", tmp_path, tmp_path / "parsed.mrg", SAMPLES / "en.mrg", "--sentence", "11")
    assert new == kept
    text = (SAMPLES / "en.tagged").read_text().replace("_ADJ", "_NOUN").replace("leaves_VERB", "leaves_NOUN")
    (tmp_path / "tagged").write_text(text)
    new, kept = made("tags.svg", tmp_path, tmp_path / "tagged", SAMPLES / "en.tagged")
    assert new == kept


def test_pictures_of_models(trained, tmp_path):
    new, kept = made("jumps.svg", tmp_path, "-m", trained / "model", "--number", "1")
    assert new == kept

    def do(*args):
        ran(*args, cwd=tmp_path)

    few = b"".join((SAMPLES / "de-en.de").read_bytes().splitlines(True)[:4])
    (tmp_path / "few.de").write_bytes(few)
    do("extract-grammar", "-q", "-i", SAMPLES / "de-en.txt", "-a", trained / "align", "-o", "g")
    do("train-lm", "-q", "-n", "3", SAMPLES / "de-en.en", "-o", "lm")
    do("translate", "-q", "--grammar", "g", "--lm", "lm", "few.de", "--derivations", "few.derivations", "-o", "few.out")
    new, kept = made("derivation.svg", tmp_path, "--derivations", tmp_path / "few.derivations", "--number", "2")
    assert new == kept
    pytest.importorskip("matplotlib")
    (tmp_path / "align.jsonl").write_bytes((trained / "log").read_bytes())
    pictures = made("training.svg", tmp_path, "--log", tmp_path / "align.jsonl", "--number", "1")
    texts = [[t.text for t in ElementTree.fromstring(p).iter("{http://www.w3.org/2000/svg}text")] for p in pictures]
    assert texts[0] == texts[1]
    assert "whole words, forward" in texts[0]
