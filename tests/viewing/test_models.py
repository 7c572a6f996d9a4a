"""What models learned, to look at."""

import json
from xml.etree import ElementTree

import numpy as np
import pytest

import aligntools as at
from aligntools.aligning.contrastive.features import NAMES, select
from aligntools.aligning.contrastive.weights import Weights, shipped
from aligntools.aligning.model import model_view
from tests.cli.running import ran, run
from tests.places import ROOT
from tests.viewing.browsing import page_of, shot

KEPT = ROOT / "tests" / "data" / "models" / "0.3.0"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def fertility():
    return at.load(KEPT / "align.fertility")


def test_translations_are_the_best_of_the_table(fertility):
    view = fertility.model.views[0]
    found = model_view(fertility.model, "", 1000, 3)
    assert [len(side.words) for side in found.words] == [len(view.words.s_words) - 1, len(view.words.t_words) - 1]
    p = np.zeros((view.table.n_source, view.table.n_target))
    rows = np.repeat(np.arange(view.table.n_source), np.diff(view.table.ptr))
    p[rows, view.table.ids] = view.lexicon.forward * view.lexicon.s_inverse[rows]
    q = np.zeros_like(p)
    q[rows, view.table.ids] = view.lexicon.reverse * view.lexicon.t_inverse[view.table.ids]
    for side, table, own, other in (
        (found.words[0], p, view.words.s_words, view.words.t_words),
        (found.words[1], q.T, view.words.t_words, view.words.s_words),
    ):
        assert side.counts == sorted(side.counts, reverse=True)
        for word, pairs in zip(side.words, side.rows, strict=True):
            row = table[own.index(word)]
            best = sorted(row, reverse=True)[:3]
            assert [x for _, x in pairs] == pytest.approx([x for x in best if x >= 1e-4], rel=1e-5)
            assert all(row[other.index(name)] == pytest.approx(x, rel=1e-5) for name, x in pairs)


def test_jumps_and_fertilities_are_shares(fertility):
    found = model_view(fertility.model, "", 5, 2)
    jumps, fertilities = found.charts
    for _, shares in jumps.series:
        assert sum(shares) == pytest.approx(1)
        assert len(shares) == len(jumps.names) == 19
        assert np.argmax(shares) == 10  # the next position
    for _, shares in fertilities.series:
        assert sum(shares) == pytest.approx(1)
        assert len(shares) == len(fertilities.names)
    assert len(found.words[0].words) == 5
    known = found.words[0].shares
    assert all(sum(row) == pytest.approx(1) or sum(row) == 0 for row in known)


@pytest.mark.parametrize("name", ["align.hmm", "align.hmm-forward", "align.ibm1", "align.ibm2", "align.ibm2-table"])
def test_every_kind_of_aligner(name):
    shown = at.view_model(KEPT / name)
    assert [chart.title for chart in shown.charts] == (["Jumps"] if "hmm" in name else [])
    assert shown.words[0].rows[0]
    shown.html()
    if "hmm" not in name:
        with pytest.raises(at.UsageProblem, match="has no chart"):
            shown.svg()


def test_taggers_give_tags_of_words_and_words_of_tags():
    tagger = at.load(KEPT / "tag.hmm")
    shown = at.view_model(tagger, best=4)
    words = shown.words[0]
    tags = dict(zip(words.words, words.rows, strict=True))
    assert tags["the"][0][0] == "DET"
    assert all(sum(p for _, p in row) == pytest.approx(1, abs=1e-2) for row in words.rows)
    typical = {tag: names.split() for tag, _, names in shown.tables[0]["rows"]}
    assert "the" in typical["DET"]
    assert all(len(names) <= 4 for names in typical.values())
    _, rows, columns, shares = shown.matrix
    assert rows == columns == tagger.tags or set(rows) == set(tagger.tags)
    assert np.sum(shares, axis=1) == pytest.approx(np.ones(len(rows)))
    assert '<table class="heat">' in shown.html()
    assert at.view_model(KEPT / "tag.induced").text()


@pytest.fixture
def learned(tmp_path):
    """Weights of the contrastive model over the network that comes with the program."""
    path = tmp_path / "contrastive.weights"
    values = np.arange(len(NAMES)) / 7 - 2
    Weights(values, select("all"), network=shipped().network).save(path)
    return path


def test_parsers_weights_and_other_models(learned):
    parser = at.view_model(KEPT / "parse.labels")
    assert (
        sum(int(row[1].replace(",", "")) for row in parser.tables[0]["rows"])
        == at.load(KEPT / "parse.labels").n_features
    )
    weights = at.view_model(learned).weights
    given = json.loads(learned.read_text())["weights"]
    assert dict(weights) == given
    assert [abs(value) for _, value in weights] == sorted(map(abs, given.values()), reverse=True)
    assert "lm" in dict(at.view_model(KEPT / "translate.weights").weights)
    assert at.view_model(KEPT / "grammar").charts
    assert "order 3" in at.view_model(KEPT / "lm").text()
    with pytest.raises(at.UsageProblem, match="not a model to look at"):
        at.view_model([1])


def test_charts_and_the_command(fertility, tmp_path):
    shown = at.view_model(fertility)
    for number, columns in ((1, 19), (2, 10)):
        root = ElementTree.fromstring(shown.svg(number))
        assert len(list(root.iter(f"{SVG}rect"))) == 2 * columns + 2  # and two in the legend
    with pytest.raises(at.UsageProblem, match="there is no chart 3; there are: 1 Jumps, 2 Fertilities"):
        shown.svg(3)
    model = KEPT / "align.fertility"
    done = run("view", "--model", model, "--words", "3", "--best", "1", "--set", "verify=false")
    assert b"The 3 most frequent of" in done.stdout
    ran("view", "-m", model, "--number", "2", "--svg", tmp_path / "f.svg")
    assert "Fertilities" in (tmp_path / "f.svg").read_text()
    text = tmp_path / "text"
    text.write_text("no model\n")
    text.write_text('{"format": "other"}')


def test_the_page_is_searched_and_leads_from_word_to_word(browser, tmp_path):
    path = page_of(tmp_path, "--model", KEPT / "align.fertility")
    browser.open(path)
    with shot(browser, "model"):
        assert browser.texts("figcaption") == ["Jumps", "Fertilities"]
    browser.one("#query").send_keys("brück*")
    assert browser.js("return document.querySelector('#count').textContent").startswith("1 of")
    assert browser.one("#word h3").text == "brücke"
    other = browser.texts("#word th button")[0]
    browser.click("#word th button")
    assert browser.one("#word h3").text == other
    assert browser.js("return document.querySelector('#side').value") == "1"
    browser.one("#query").send_keys("nosuchword")
    assert "No such word" in browser.one("#word").text
    for width in (400, 1280):
        browser.resize(width, 800)
        assert not browser.overflows()


def test_pages_of_weights_and_tags(browser, tmp_path, learned):
    for name, seen in ((learned, ".weights rect"), ("tag.hmm", ".heat .h9, .heat .h8"), ("parse.labels", "td")):
        browser.open(page_of(tmp_path, "-m", KEPT / name))
        assert browser.all(seen)
        browser.resize(400, 800)
        assert not browser.overflows()
        browser.resize(1280, 900)
