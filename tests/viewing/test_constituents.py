"""Trees of constituents to look at: what is wrong in them, as a page, a picture and text."""

from itertools import pairwise
from xml.etree import ElementTree

import pytest

import aligntools as at
from aligntools.formats.annotation.brackets import Tree
from aligntools.viewing.constituents import ConstituentsView
from tests.cli.running import ran, run
from tests.places import SAMPLES
from tests.viewing.browsing import page_of, shot

GOLD = SAMPLES / "en.mrg"
SVG = "{http://www.w3.org/2000/svg}"
ODD = "</script><b>&amp;\x00\x1b[31m"
SMALL = """\
( (S (NP (PRP We)) (VP (VBD waited) (PP (IN for) (NP (NN rain)))) (. .)) )
(S (NP (DT The) (NN dog)) (VP (VBZ barks)))
"""
#: The first sentence with a missed and a wrong constituent, the second with a wrong label and a wrong tag.
WRONG = """\
(TOP (S (NP (PRP We)) (VP (VBD waited) (IN for) (NP (NX (NN rain)))) (. .)))
(S (NP-SBJ (DT The) (NN dog)) (ADJP (NNS barks)))
"""


@pytest.fixture
def two(tmp_path):
    (tmp_path / "gold").write_text(SMALL)
    (tmp_path / "parsed").write_text(WRONG)
    return tmp_path


def test_errors_in_text_and_pictures(two):
    shown = at.view_constituents(two / "parsed", two / "gold")
    score = at.score_brackets(two / "gold", two / "parsed")
    assert shown.score.f1 == score.f1
    first, second = shown.sentence(1), shown.sentence(2)
    assert (first.wrong, first.missed, second.wrong, second.missed) == (1, 1, 1, 1)
    assert score.counts[:, 0].tolist() == [4, 2]  # right
    assert [node.label for node in first.nodes if node.kind == "wrong"] == ["NX"]
    assert [node.kind for node in first.nodes if node.label in ("TOP", "PRP")] == ["plain", "plain"]
    assert list(second.instead.values()) == ["VP"]
    tables = {table["caption"]: table["rows"] for table in shown.tables()}
    assert tables["Wrong labels"] == [["VP", "ADJP", 1]]
    assert ["PP", 1, 0, 0, "0.00"] in tables["By label"]
    shown = at.view_constituents(two / "parsed", two / "gold")
    assert shown.text(number=2).splitlines() == ["sentence 2  1 wrong constituent, 1 missed", "S", "├─ NP",
        "│  ├─ DT The", "│  ╰─ NN dog", "╰─ ADJP  ◇ label is VP", "   ╰─ NNS barks  ◇ tag is VBZ",
        "○ missed: VP  barks"]  # fmt: skip
    assert "NX  ✗ not in the gold" in shown.text(number=1)
    assert "\x1b[1;31m" in shown.text(color=True)
    assert at.view_constituents(two / "gold").text().startswith("2 sentences, 8 words")
    root = ElementTree.fromstring(at.view_constituents(two / "parsed", two / "gold").svg(1))
    texts = [(g.get("class"), t.text) for g in root.iter(f"{SVG}g") for t in g.iter(f"{SVG}text")]
    assert ("node-wrong", "✗ NX") in texts
    assert ("node-missed", "○ PP") in texts
    assert ("node-right", "VP") in texts
    assert ("tree-words", "waited") in texts
    assert len([p for p in root.iter(f"{SVG}path") if p.get("stroke-dasharray")]) == 2
    done = run("view", "parsed", "gold", "--sentence", "1", cwd=two)
    assert "○ missed: PP  for rain" in done.stdout.decode()
    ran("view", "gold", "--svg", "tree.svg", "--sentence", "2", cwd=two)
    assert "barks" in (two / "tree.svg").read_text()
    (two / "tagged").write_text("(_-LRB- the_DT )_-RRB-\n")
    ran("view", "tagged", cwd=two)


def test_no_two_words_and_no_two_labels_of_a_height_overlap():
    long = Tree("abcde-abcde-abcde-abcde", [Tree("N", [], "a")])
    tree = Tree("S", [long, Tree("edcba-edcba", [Tree("x", [], "b"), Tree("y", [long])]), Tree("N", [], "統計的")])
    root = ElementTree.fromstring(ConstituentsView([tree]).svg(1))
    boxes = {}
    for text in root.iter(f"{SVG}text"):
        half = 0.29 * float(text.get("font-size")) * len(text.text)
        boxes.setdefault(text.get("y"), []).append((float(text.get("x")) - half, float(text.get("x")) + half))
    for row in boxes.values():
        row.sort()
        assert all(a[1] <= b[0] + 0.1 for a, b in pairwise(row))
    width = float(root.get("width"))
    assert all(min(a, width - b) >= 0 for row in boxes.values() for a, b in row)


def test_text_deep_trees_and_labels():
    shown = ConstituentsView([Tree(ODD, [Tree(ODD, [], ODD)])], title=ODD)
    assert "<b>" not in shown.html().replace("</b>", "")
    assert "</script><b>&amp;␀␛[31m" in [t.text for t in ElementTree.fromstring(shown.svg()).iter(f"{SVG}text")]
    assert "\x1b" not in shown.text()
    tree = Tree("N", [], "n")
    for _ in range(1500):
        tree = Tree("X", [tree])
    assert len(ConstituentsView([tree]).text(number=1).splitlines()) == 1502
    gold = "(S (N a) (N b))"
    shown = at.view_constituents(["(())", gold], [gold, gold])
    assert "○ missed: S  a b" in shown.text(number=1)
    assert shown.svg(1)
    assert shown.html()
    page = at.view_constituents(SMALL.strip().split("\n")).html()
    assert '"labels":["S","NP","VP","PP"]' in page


def test_the_page(browser, two):
    browser.open(page_of(two, two / "parsed", two / "gold"))
    with shot(browser, "constituents"):
        assert "F1 " in browser.one(".headline").text
    assert browser.texts("#sentences .list-row bdi") == ["We waited for rain .", "The dog barks"]
    assert browser.texts("text.wrong") == ["✗ NX"]
    assert browser.texts("text.missed") == ["○ PP"]
    browser.keys("j")
    assert browser.texts("text.label") == ["◇ ADJP"]
    assert "VP" in browser.one("#wrongs").text
    browser.one("#query").send_keys("rain")
    browser.wait("return document.querySelector('#count').textContent === '1 of 2 sentences'")
    assert browser.all("#picture .found")
    assert not browser.overflows()
