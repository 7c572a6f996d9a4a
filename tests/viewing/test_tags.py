"""Tags to look at: which are taken for which, and where."""

from xml.etree import ElementTree

import pytest

import aligntools as at
from aligntools.formats.links.ladder import SentenceGroup, format_ladder, read_ladder
from tests.cli.running import fails, ran, run
from tests.places import ROOT, SAMPLES
from tests.viewing.browsing import page_of, shot

SVG = "{http://www.w3.org/2000/svg}"
GOLD = "the_DET dog_NOUN barks_VERB\n\nit_PRON runs_VERB fast_ADV ._PUNCT\n"
WRONG = "the_DET dog_VERB barks_VERB\n\nit_DET runs_NOUN fast_ADV ._PUNCT\n"


@pytest.fixture
def two(tmp_path):
    (tmp_path / "gold").write_text(GOLD)
    (tmp_path / "tagged").write_text(WRONG)
    return tmp_path


def test_the_confusion_table_counts_each_word_once(two):
    shown = at.view_tags(two / "tagged", two / "gold")
    names, columns, counts, right = shown.confusion()
    assert counts.sum() == 7
    assert dict(zip(names, counts.sum(axis=1).tolist(), strict=True)) == {
        "VERB": 2, "ADV": 1, "DET": 1, "NOUN": 1, "PRON": 1, "PUNCT": 1,
    }  # fmt: skip
    assert counts[names.index("VERB"), columns.index("NOUN")] == 1
    assert counts[right].sum() == 4
    assert shown.errors.tolist() == [1, 2]
    assert shown.order() == [2, 1]
    score = at.score_tags(two / "gold", two / "tagged")
    assert score.accuracy == 4 / 7
    assert shown.headline == "accuracy 57.14 %: 3 of 7 words have a wrong tag"


def test_text_pictures_and_classes(two):
    shown = at.view_tags(two / "tagged", two / "gold")
    assert shown.text(number=1) == "1  the_DET  dog_VERB ✗NOUN  barks_VERB\n"
    table = shown.text().splitlines()[2:9]
    assert table[0].split()[:3] == ["gold", "\\", "tagged"]
    assert sorted(row.split()[0] for row in table[1:]) == ["ADV", "DET", "NOUN", "PRON", "PUNCT", "VERB"]
    root = ElementTree.fromstring(shown.svg())
    assert len([r for r in root.iter(f"{SVG}rect") if r.get("stroke")]) == 3  # what is wrong has a frame
    assert [t.text for t in ElementTree.fromstring(shown.svg(1)).iter(f"{SVG}text")][:2] == ["the", "DET"]
    with pytest.raises(at.UsageProblem, match="there is no sentence 3"):
        shown.svg(3)
    (two / "induced").write_text("the_0 dog_1 barks_2\n\nit_0 runs_2 fast_3 ._2\n")
    shown = at.view_tags(two / "induced", two / "gold")
    assert shown.headline == "many-to-1 71.43 %: each class counts as the tag that it mostly is; 7 words"
    assert shown.errors.sum() == 2
    assert '<table class="heat">' in shown.html()
    done = run("view", "tagged", "gold", cwd=two)
    assert b"wrong tag" in done.stdout
    conll = SAMPLES / "en.conllu"
    assert b"accuracy 100.00 %" in run("view", conll, conll, "--tags", "--column", "xpos").stdout
    assert b"UAS" in run("view", conll, conll).stdout
    ran("view", "tagged", "--svg", "one.svg", "--number", "2", cwd=two)


def test_what_a_tagger_returns_can_be_looked_at():
    tagger = at.load(ROOT / "tests/data/models/0.3.0/tag.hmm")
    sentence = tagger.tag("the dog <b>")
    root = ElementTree.fromstring(sentence._repr_svg_())
    assert [t.text for t in root.iter(f"{SVG}text")][::2] == ["the", "dog", "<b>"]
    assert at.view_tags([sentence, sentence]).tokens.tags == [tag.encode() for tag in sentence.tags] * 2
    line = "1" + "".join(f"  {word}_{tag}" for word, tag in sentence)
    assert at.view_tags(sentence).text() == f"1 sentence, 3 words\n\n{line}\n"


def test_the_page(browser, two):
    odd = "<img/src=x/onerror=alert(1)>"
    for name in ("gold", "tagged"):
        (two / name).write_text((two / name).read_text() + f"{odd}_X_</b>\n")
    browser.open(page_of(two, two / "tagged", two / "gold", "--tags"))
    with shot(browser, "tags"):
        assert "3 of 8 words" in browser.one(".headline").text
    count = "return document.querySelector('#count').textContent"
    assert browser.js(count).startswith("3 of 3")
    assert len(browser.all("#confusion td.wrong")) == 3
    browser.js("[...document.querySelectorAll('#confusion td.wrong')].find((c) => c.dataset).click()")
    assert browser.js(count).startswith("1 of 3")
    assert len(browser.all(".token.found")) == 1
    browser.click("#clear")
    browser.keys("END")
    assert browser.texts("#sentence bdi") == [f"{odd}_X"]
    assert browser.texts("#sentence .tag") == ["</b>"]
    browser.resize(400, 800)
    assert not browser.overflows()


SOURCE = ["Anna .", "Berlin <b> .", "", "Carla .", "Dresden .", "Emil ."]
TARGET = ["Anna et Berlin .", "Carla .", "Ici seul .", "Dresden .", "Emil ."]
#: What the ladder has; lines 4 of both, and what stands alone in the target, come without one.
GROUPS = [
    SentenceGroup((0, 1), (0,), 0.9),
    SentenceGroup((3,), (1,), 0.3),
    SentenceGroup((4,), (3,), 0.8),
]


@pytest.fixture
def documents(tmp_path):
    for name, lines in (("s", SOURCE), ("t", TARGET)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "ladder").write_text(format_ladder(GROUPS))
    return tmp_path


def test_each_line_with_text_is_shown_once_in_order(documents):
    files = ("-s", "s", "-t", "t", "--ladder", "ladder")
    shown = run("view", *files, cwd=documents).stdout.decode()
    lines = [line[4:] for line in shown.splitlines() if line.startswith("  < ")]
    assert lines == [line for line in SOURCE if line]
    assert [line[4:] for line in shown.splitlines() if line.startswith("  > ")] == TARGET
    assert (
        run("view", *files, "--number", 2, cwd=documents).stdout.decode() == "2  1-1  0.30\n  < Carla .\n  > Carla .\n"
    )
    fails(run("view", *files, "--number", 9, cwd=documents), "there is no group 9; there are 6", status=2)
    fails(run("view", "-s", "s", "--ladder", "ladder", cwd=documents), "-s and -t", status=2)
    fails(run("view", *files, "-a", "s", cwd=documents), "does not go with sentences", status=2)
    (documents / "t").write_text("a\n")
    fails(run("view", *files, cwd=documents), "ladder: has line 3 of t, counted from 0, which has 1 lines")


def test_a_ladder_is_corrected_with_keys_and_saved(documents, browser):
    def rows():
        return [text[:6] for text in browser.texts("#groups .count")]

    def saved():
        browser.keys("s")
        (documents / "saved").write_bytes(browser.downloaded("corrected.ladder"))
        return [(g.source, g.target) for g in read_ladder(str(documents / "saved"))]

    paths = (documents / name for name in ("s", "t", "ladder"))
    options = zip(("-s", "-t", "--ladder"), paths, strict=True)
    browser.open(page_of(documents, *(one for pair in options for one in pair)))
    before = [((0, 1), (0,)), ((3,), (1,)), ((), (2,)), ((4,), (3,)), ((5,), ()), ((), (4,))]
    assert saved() == before
    assert rows() == ["? 0-1 ", "? 1-0 ", "? 0-1 ", "? 1-1 ", "  1-1 ", "  2-1 "]  # least probable first
    browser.set("#order", "file", "input")
    browser.keys("HOME", "j", "j", "j", "j", "m")  # the fifth and the sixth belong together
    assert saved() == [*before[:4], ((5,), (4,))]
    browser.keys("HOME", "x")
    assert saved()[:2] == [((0,), (0,)), ((1,), ())]
    browser.keys("a")
    assert saved()[:1] == [((0, 1), (0,))]
    browser.keys("l", "d")
    assert saved()[:2] == [((0,), ()), ((1, 3), (0, 1))]
    browser.keys("h", "j", "c")
    assert saved()[:2] == [((0,), (0,)), ((1, 3), (1,))]
    kept = saved()
    browser.reload()
    assert saved() == kept
    browser.keys(*"xu")
    assert saved() == kept
    with shot(browser, "sentences"):
        assert not browser.overflows()
    assert browser.complaints() == []
    assert "Berlin <b> ." in browser.one("#around").text
