"""Dependency trees to look at: what is wrong in them, as a page, a picture and text."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aligntools as at
from aligntools.formats.annotation.conll import read_conll
from aligntools.metrics.attachment import DependencyTrees
from aligntools.viewing.tree_svg import arcs, columns, crossings, drawn_rows, tree_svg
from aligntools.viewing.trees import TreesView
from tests.cli.running import ran, run
from tests.places import SAMPLES
from tests.viewing.browsing import page_of, shot

GOLD = SAMPLES / "en.conllu"
SVG = "{http://www.w3.org/2000/svg}"
ODD = "</script><b>&amp;\x00\x1b[31m"

SMALL = """\
# sent_id = 1
1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_
1\tde\t_\tADP\t_\t_\t3\tcase\t_\t_
2\tle\t_\tDET\t_\t_\t3\tdet\t_\t_
3\tpain\t_\tNOUN\t_\t_\t0\troot\t_\t_
3.1\tvide\t_\t_\t_\t_\t_\t_\t_\t_

1\tA\t_\tDET\t_\t_\t2\tdet\t_\t_
2\thearing\t_\tNOUN\t_\t_\t3\tnsubj\t_\t_
3\tis\t_\tAUX\t_\t_\t0\troot\t_\t_
4\ton\t_\tADP\t_\t_\t2\tnmod\t_\t_
"""
#: The first sentence with a wrong label, the second with a wrong head.
WRONG = SMALL.replace("\t3\tdet\t", "\t3\tamod\t").replace("\t2\tnmod\t", "\t1\tnmod\t")


@pytest.fixture
def two(tmp_path):
    (tmp_path / "gold").write_text(SMALL)
    (tmp_path / "parsed").write_text(WRONG)
    return tmp_path


def test_errors_in_text_and_pictures(two):
    shown = at.view_trees(two / "parsed", two / "gold")
    score = at.score_trees(two / "gold", two / "parsed")
    assert shown.errors.tolist() == [[0, 1], [1, 0]]
    words = len(shown.trees.heads)
    assert shown.score.uas == score.uas == (words - 1) / words
    assert shown.score.las == score.las == (words - 2) / words
    assert shown.order() == [1, 2]
    tables = {table["caption"]: table["rows"] for table in shown.tables()}
    assert tables["By tag"][:2] == [["ADP", 2, 1, 0, "50.00"], ["DET", 2, 0, 1, "100.00"]]
    assert tables["Wrong labels"] == [["det", "amod", 1]]
    assert ["nmod", 1, 1, 0, "0.00"] in tables["By gold label"]
    assert ["2", 2, 1, 0, "50.00"] in tables["By distance of the gold head"]
    assert at.view_trees(two / "parsed", two / "gold").text(number=2).splitlines() == [
        "sentence 2  1 wrong head, 0 wrong labels",
        "  ╭─┬  A  DET det",
        "╭─┴─┼  hearing  NOUN nsubj",
        "┴   │  is  AUX root".replace("   │", "───┼"),
        "    ╰──  on  ADP nmod  ✗ head is 2 hearing (nmod)",
    ]
    assert "◇ label is det" in at.view_trees(two / "parsed", two / "gold").text(number=1)
    assert "\x1b[1;31m" in at.view_trees(two / "parsed", two / "gold").text(color=True)
    root = ElementTree.fromstring(at.view_trees(two / "parsed", two / "gold").svg(2))
    groups = {g.get("class"): [t.text for t in g.iter(f"{SVG}text")] for g in root.iter(f"{SVG}g")}
    assert groups["arc-wrong"] == ["✗ nmod"]
    assert groups["arc-missed"] == ["○ nmod"]
    assert groups["tree-words"] == ["A", "DET", "hearing", "NOUN", "is", "AUX", "on", "ADP"]
    dashed = [p for p in root.iter(f"{SVG}path") if p.get("stroke-dasharray")]
    assert len(dashed) == 2
    assert len(list(root.iter(f"{SVG}circle"))) == 2  # above and below: over the root
    done = run("view", "parsed", "gold", "--sentence", "2", cwd=two)
    assert "✗ head is 2 hearing" in done.stdout.decode()
    ran("view", "gold", "--column", "xpos", "--svg", "tree.svg", "--sentence", "2", cwd=two)
    assert "hearing" in (two / "tree.svg").read_text()


def test_heights_and_data():
    words = ["an", "incomprehensibilities", "a", "b", "統計的機械翻訳", "x"]
    heads, labels = [2, 0, 2, 3, 3, 5], ["nmod:a-long-label-of-a-short-arc", "root", "x", "y", "z:long-label", "w"]
    root = ElementTree.fromstring(tree_svg(words, heads, labels, ["T"] * 6))
    boxes = {}
    for text in root.iter(f"{SVG}text"):
        half = 0.29 * float(text.get("font-size")) * len(text.text)
        x = float(text.get("x"))
        boxes.setdefault(text.get("y"), []).append((x - half, x + half))
    for row in boxes.values():
        row.sort()
        assert all(a[1] <= b[0] + 0.1 for a, b in pairwise(row))
    width = float(root.get("width"))
    assert all(min(a, width - b) >= 0 for row in boxes.values() for a, b in row)
    trees = DependencyTrees(
        np.array([0, 1], np.int32), np.array([0, 2]), [b"root", ODD.encode()], [ODD.encode(), b"\xff"]
    )
    shown = TreesView(trees, title=ODD)
    assert "<b>" not in shown.html().replace("</b>", "")
    picture = ElementTree.fromstring(shown.svg())
    assert [t.text for t in picture.iter(f"{SVG}text")][-2:] == ["</script><b>&amp;␀␛[31m", "\ufffd"]
    assert "\x1b" not in shown.text()


def test_what_a_parser_returns_can_be_looked_at(two):
    parser = at.load(SAMPLES.parents[1] / "tests/data/models/0.3.0/parse.labels")
    parse = parser.parse("the_DET dog_NOUN sleeps_VERB")
    assert at.view_trees([parse, parse]).sentence(2).words == ["the", "dog", "sleeps"]
    assert at.view_trees(parse, parse).score.uas == 1
    root = ElementTree.fromstring(parse._repr_svg_())
    assert "dog" in [t.text for t in root.iter(f"{SVG}text")]
    parses = parser.parse_text(read_conll(GOLD))
    assert len(at.view_trees(parses, GOLD)) == len(parses) == 101
    assert "iframe" in parses._repr_html_()


def test_trees_without_labels_and_large_ones(tmp_path):
    shown = TreesView(DependencyTrees(np.array([0, -1], np.int32), np.array([0, 2, 2]), None, [b"a", b"b"]))
    assert "2 sentences, 2 words" in shown.text()
    assert shown.svg(2)
    assert "arc" in shown.svg(1)
    shown.html()
    heads = [0, *range(1, 1000)]
    assert tree_svg(["word"] * 1000, heads, ["x"] * 1000).count("<path") == 2 * 1000
    assert TreesView(DependencyTrees(np.array(heads, np.int32), np.array([0, 1000]), None, [b"w"] * 1000)).text()


def test_the_page(browser, two):
    browser.open(page_of(two, two / "parsed", two / "gold"))
    with shot(browser, "trees"):
        assert "UAS 85.71 %, LAS 71.43 %" in browser.one(".headline").text
    assert browser.texts("#sentences .list-row bdi") == ["de le pain", "A hearing is on"]
    assert browser.texts(".arc-label text") == ["◇ amod"]
    browser.keys("j")
    assert browser.texts(".arc-wrong text") == ["✗ nmod"]
    assert browser.texts(".arc-missed text") == ["○ nmod"]
    assert len(browser.all("#picture .crossing")) == 2  # as in the picture that Python draws
    assert "2 hearing (nmod)" in browser.one("#wrongs").text
    browser.set("#below", "missed", "input")
    assert len(browser.all("#picture .arc")) == 5
    browser.set("#below", "apart", "input")
    assert len(browser.all("#picture svg")) == 2


def test_the_page_is_filtered_and_sorted(browser, tmp_path):
    browser.open(page_of(tmp_path, GOLD, GOLD))
    count = "return document.querySelector('#count').textContent"
    assert browser.js(count) == "101 of 101 sentences"
    browser.one("#query").send_keys("/bridge|train/")
    browser.wait(f"{count} !== '101 of 101 sentences'")
    assert all(re.search("bridge|train", row) for row in browser.texts("#sentences .list-row bdi"))
    assert browser.all("#picture .found")
    browser.js("document.querySelector('#query').value = ''")
    passive = "return [...document.querySelector('#relation').options].find((o) => o.textContent === 'nsubj:pass')"
    browser.set("#relation", browser.js(f"{passive}.value"), "input")
    passive = GOLD.read_text().count("\tnsubj:pass\t")
    assert browser.js(count).startswith(f"{passive} of")
    browser.set("#which", "wrong", "input")
    assert browser.js(count).startswith("0 of")
    assert browser.one("#which-one").text == "No sentence"


def test_long_sentences_and_odd_words_are_shown_and_stay_quick(browser, two):
    n = 1000
    words = ["".join(f"{k}\tw{k}\t_\tX\t_\t_\t{max(0, k - 1 - k % 3)}\tx\t_\t_\n" for k in range(1, n + 1))]
    words.append("1\t<img src=x onerror=alert(1)>\t_\tX\t_\t_\t0\t</script>\t_\t_\n")
    (two / "long").write_text("\n".join(words))
    browser.open(page_of(two, two / "long"))
    assert len(browser.all("#picture .word")) == n
    for width in (1280, 400):
        browser.resize(width, 800)
        assert not browser.overflows()
    spent = browser.js("const t = performance.now();"
                       "document.querySelector('#order').dispatchEvent(new Event('input'));"
                       "document.querySelector('#picture svg').getBBox(); return performance.now() - t")  # fmt: skip
    assert spent < 1000
    browser.keys("j")
    assert browser.texts("#picture .form") == ["<img src=x onerror=alert(1)>"]
    assert browser.texts("#picture .arc text") == ["</script>"]


@st.composite
def graphs(draw, most=12):
    """Heads of any words: trees, several roots, missing heads, cycles."""
    n = draw(st.integers(1, most))
    return [draw(st.integers(-1, n).filter(lambda head, k=k: head != k + 1)) for k in range(n)]


def naive_crossings(heads):
    edges = [(min(h - 1, w), max(h - 1, w)) for w, h in enumerate(heads) if h > 0]
    roots = [w for w, h in enumerate(heads) if h == 0]
    pairs = sum(a < c < b < d for a, b in edges for c, d in edges)
    return pairs + sum(a < r < b for a, b in edges for r in roots)


@given(graphs())
def test_arcs_over_the_same_gap_are_at_different_heights(heads):
    found = [arc for arc in arcs(heads) if arc.head >= 0]
    for a in found:
        for b in found:
            if a is not b and max(a.begin, b.begin) < min(a.end, b.end):
                assert a.level != b.level
            if a.begin <= b.begin and b.end <= a.end and (a.begin, a.end) != (b.begin, b.end):
                assert a.level > b.level  # what is inside is below


@given(graphs())
def test_lines_cross_where_edges_do(heads):
    found = crossings(arcs(heads))
    over_roots = [pair for pair in found if pair[1].head < 0]
    assert all(pair[0].level < pair[1].level for pair in found)
    assert len(found) <= naive_crossings(heads)
    between_edges = naive_crossings([-1 if head == 0 else head for head in heads])
    assert len(found) - len(over_roots) == between_edges


def test_a_root_under_an_arc_is_a_crossing():
    assert len(crossings(arcs([2, 0]))) == 0
    assert len(crossings(arcs([3, 0, 2]))) == 1


@given(graphs())
def test_lines_of_a_text_tree_do_not_lie_on_each_other(heads):
    place, taken = columns(heads), set()
    for word, column in enumerate(place):
        own = [k for k, head in enumerate(heads) if head == word + 1 and place[k] > column]
        rows = [word, *own]
        cells = {(row, column) for row in range(min(rows), max(rows) + 1)}
        assert not cells & taken
        taken |= cells
    assert len(drawn_rows(heads)) == len(heads)


@pytest.mark.parametrize(
    ("heads", "rows"),
    [
        ([2, 0], ["╭──", "┴"]),
        ([0, 1, 2], ["┬", "╰─┬", "  ╰──"]),
        ([3, 4, 4, 0], ["    ╭──", "╭───┼", "├───┴", "┴"]),  # the edges of the first two words cross
        ([2, 1], ["┬", "╰──"]),  # a cycle
        ([-1], ["─"]),
        ([], []),
    ],
)
def test_text_trees(heads, rows):
    assert [row.rstrip() for row in drawn_rows(heads)] == rows
