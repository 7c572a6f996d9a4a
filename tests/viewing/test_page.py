"""What pages are made of: templates, data and scripts, in which text stays text."""

import gzip
import json
import re
import subprocess
import sys

import pytest

import aligntools as at
from aligntools.formats.annotation.conll import read_conll
from aligntools.ground.errors import visible
from aligntools.viewing.alignments import tables_of
from aligntools.viewing.constituents import ConstituentsView
from aligntools.viewing.derivations import DerivationsView
from aligntools.viewing.models import ModelView
from aligntools.viewing.page import as_json, bundle, framed, page
from aligntools.viewing.tags import TagsView
from aligntools.viewing.training import TrainingView
from aligntools.viewing.trees import TreesView
from tests.cli.running import ran, run
from tests.places import ROOT, SAMPLES
from tests.viewing.browsing import page_of

ODD = "</script><script>alert(1)</script> & \" ' <!-- \u2028 \u2029 \x00"


def test_markup_in_text_and_data():
    assert visible("a b") == "a b"
    assert visible("\x00\t\x1b[1m\x7f\x85\udcff\ufffe") == "␀␉␛[1m␡\ufffd\ufffd\ufffd"
    assert visible("שלום é ü 你好") == "שלום é ü 你好"
    text = as_json({"a": [ODD]})
    assert not re.search("[<>&\u2028\u2029]", text)
    assert json.loads(text) == {"a": [ODD]}
    with pytest.raises(ValueError, match="Out of range"):
        as_json(float("nan"))
    made = page(ODD, "alignments", {"source": [ODD], "target": [ODD], "systems": []}, tables=[], left_out=0, most=1)
    assert "alert(1)</script>" not in made
    assert made.count("<script") == 2
    assert made.count("</script>") == 2
    assert "\x00" not in made
    made.encode()
    made = page("t", "alignments", {"source": [], "target": [], "systems": []}, tables=[], left_out=0, most=1)
    assert "default-src &#39;none&#39;" in made
    assert not re.search(
        r"""(?:src|href)=(?!["']?(?:#|data:))""", re.sub(r"<script>.*</script>", "", made, flags=re.DOTALL)
    )
    assert set(re.findall(r"https?://[\w./]+", made)) <= {"http://www.w3.org/2000/svg"}
    made = framed("<p class='a'>\"x\"</p>")
    assert "&lt;p class=&#x27;a&#x27;&gt;&quot;x&quot;" in made
    assert "allow-same-origin" not in made


def test_modules_become_functions_in_the_order_of_need():
    modules = {
        "main": 'import { two, Three } from "./lib.js";\nimport { one } from "./base-a.js";\nstart(one, two);\n',
        "lib": 'import { one } from "./base-a.js";\nexport const two = one + 1;\nexport class Three {}\n',
        "base-a": "const hidden = 1;\nexport function one() {}\nexport async function later() {}\n",
    }
    script = bundle("main", modules.__getitem__)
    assert [m[1] for m in re.finditer(r"^const (\$\w+) =", script, re.MULTILINE)] == ["$base_a", "$lib", "$main"]
    assert "return { one, later };" in script
    assert "const { two, Three } = $lib;" in script
    assert not re.search(r"^\s*(import|export)\b", script, re.MULTILINE)


@pytest.mark.parametrize(
    ("modules", "problem"),
    [
        ({"main": 'import x from "./lib.js";\n'}, "another form"),
        ({"main": "export default 1;\n"}, "another form"),
        ({"main": 'import { a } from "./b.js";\n', "b": 'import { c } from "./main.js";\n'}, "need each other"),
    ],
)
def test_modules_of_another_form_are_refused(modules, problem):
    with pytest.raises(ValueError, match=problem):
        bundle("main", modules.__getitem__)


SAMPLE = ("-i", SAMPLES / "de-en.txt", "--gold", SAMPLES / "de-en.wa")


def test_the_theme_follows_the_system_until_it_is_chosen_and_then_stays(browser, tmp_path):
    path = page_of(tmp_path, *SAMPLE)
    ink = "return getComputedStyle(document.body).color"
    browser.media(prefers_color_scheme="dark")
    browser.open(path)
    dark = browser.js(ink)
    browser.media()
    browser.wait("return document.documentElement.dataset.theme === 'light'")
    light = browser.js(ink)
    assert light != dark
    browser.click("#theme")
    assert browser.js(ink) == dark
    browser.reload()
    assert browser.js(ink) == dark


def test_keys_and_scripts(browser, tmp_path):
    browser.open(page_of(tmp_path, *SAMPLE))
    chosen = "return document.querySelector('#pairs [aria-selected=true]').getAttribute('aria-posinset')"
    browser.keys("j", "ARROW_DOWN", "k", "j")
    assert browser.js(chosen) == "3"
    browser.keys("?")
    assert browser.js("return document.querySelector('#keys').open")
    assert "next pair" in browser.one("#keys").text
    browser.keys("j", "ESCAPE")
    assert browser.js(chosen) == "3"
    browser.open(page_of(tmp_path, *SAMPLE))
    browser.js(
        "window.ran = 0; const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
        " document.body.append(s); const i = new Image(); i.src = 'https://example.invalid/a.png';"
        " document.body.append(i);"
    )
    assert browser.js("return window.ran") == 0
    found = browser.complaints()
    assert len(found) == 2
    assert all("Content Security Policy" in one for one in found)


KEPT = ROOT / "tests" / "data" / "models" / "0.3.0"


def test_each_result_is_shown_as_what_it_is():
    parser, tagger, aligner = (at.load(KEPT / name) for name in ("parse.labels", "tag.hmm", "align.hmm"))
    grammar, lm = at.load(KEPT / "grammar"), at.load(KEPT / "lm")
    sentence = tagger.tag("the dog sleeps")
    parse = parser.parse(sentence)
    conll = read_conll(SAMPLES / "en.conllu")
    for thing in (parse, parser.parse_text(conll), conll):
        assert isinstance(at.view(thing), TreesView)
    tree = at.Tree("S", [at.Tree("N", [], "rain")])
    assert isinstance(at.view(tree), ConstituentsView)
    assert at.view([tree], gold=[tree]).headline.startswith("F1 100.00 %")
    assert at.view(parse, gold=parse, title="T").headline.startswith("UAS 100.00 %")
    assert isinstance(at.view(sentence), TagsView)
    for model in (parser, tagger, aligner, grammar, lm, at.TranslationWeights({"lm": 1.0})):
        assert isinstance(at.view(model), ModelView)
    for model in (parser, tagger, aligner):
        assert "iframe" in model._repr_html_()
    derived = list(at.Translator(grammar, lm, threads=1).derivations(["das"]))
    assert isinstance(at.view(derived, gold=["the"]), DerivationsView)
    assert isinstance(at.view([at.Step("hmm", figures={"seconds": 1.0})]), TrainingView)


@pytest.mark.parametrize("name", ["en.mrg", "en.conllu", "en.tagged"])
def test_standard_input_is_known_by_its_beginning(name):
    """From a pipe, and packed, it is shown as the file is."""
    data = (SAMPLES / name).read_bytes()
    shown = run("view", SAMPLES / name).stdout
    assert shown
    assert run("view", "-", stdin=data).stdout == shown
    assert run("view", "-", stdin=gzip.compress(data)).stdout == shown
    ran("view", "-", SAMPLES / name, stdin=data)


def test_standard_input_may_be_a_file():
    """What is looked at beforehand is read again."""
    command = [sys.executable, "-m", "aligntools", "view", "-"]
    with (SAMPLES / "en.mrg").open("rb") as file:
        file.seek(0)
        found = subprocess.run(command, stdin=file, capture_output=True, cwd=ROOT)
    assert found.stdout == run("view", SAMPLES / "en.mrg").stdout


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
