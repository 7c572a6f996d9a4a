"""The page of alignments in a real browser: what is drawn, keys, filters, correcting, odd text, many pairs."""

import random
import re

import pytest

import aligntools as at
from aligntools.metrics.aer import figures
from tests.cli.running import fails, run
from tests.places import SAMPLES
from tests.viewing.browsing import page_of, shot

DE, EN, GOLD = (SAMPLES / f"de-en.{end}" for end in ("de", "en", "wa"))
TEXT = ("-s", DE, "-t", EN)


@pytest.fixture(scope="module")
def systems(tmp_path_factory):
    """Two alignments of the sample: gold links with changes and probabilities; every diagonal."""
    folder = tmp_path_factory.mktemp("systems")
    rng = random.Random(1)
    gold = [[tuple(map(int, re.split(r"[-?]", w))) for w in row.split()] for row in GOLD.read_text().splitlines()]
    lengths = [[len(line.split()) for line in side.read_text().splitlines()] for side in (DE, EN)]
    with open(folder / "changed", "w") as one, open(folder / "diagonal", "w") as other:
        for n, (s, t) in enumerate(zip(*lengths, strict=True)):
            links = [x for x in (gold[n] if n < len(gold) else [(0, 0)]) if rng.random() < 0.9]
            links = [(i, min(j + (rng.random() < 0.1), t - 1)) for i, j in links]
            one.write(" ".join(f"{i}-{j}:{rng.random():.2f}" for i, j in sorted(set(links))) + "\n")
            other.write(" ".join(f"{k}-{k}" for k in range(min(s, t))) + "\n")
    return folder


@pytest.fixture(scope="module")
def page(systems):
    return page_of(systems, *TEXT, "-a", systems / "changed", systems / "diagonal", "--gold", GOLD)


def chosen(browser):
    return int(browser.js("return document.querySelector('#pair-number').textContent.slice(5)"))


def listed(browser):
    """Return the numbers of the first pairs in the list."""
    return [int(x) for x in browser.texts(".row-head span:first-child")]


def test_the_first_pair_and_its_figures(browser, page, systems):
    browser.open(page)
    assert browser.texts("#summary h3")[:3] == ["Errors on gold links", "By position", "By frequency"]
    score = at.aer(str(GOLD), str(systems / "diagonal"), head=True)
    assert browser.texts("#summary tbody tr:nth-child(2) td")[0] == f"{100 * score.aer:.2f}"
    assert (
        browser.texts(".matrix .word") == (DE.read_text().split("\n")[0] + " " + EN.read_text().split("\n")[0]).split()
    )
    with shot(browser, "alignments"):
        assert not browser.overflows()
    browser.open(page)
    rows = browser.texts(".row-head span:nth-child(2)")
    scores = [at.aer(str(GOLD), str(systems / name), head=True).counts for name in ("changed", "diagonal")]
    expected = [
        "AER " + " · ".join(f"{100 * figures(counts[n])[0] + 1e-9:.0f}" for counts in scores) for n in range(len(rows))
    ]
    assert len(rows) > 5
    assert rows == expected


def test_marks_say_what_is_right_false_and_missed(browser, page):
    browser.open(page)
    browser.keys("2")  # hide the second system
    view = at.view((str(DE), str(EN)), str(page.parent / "changed"), gold=str(GOLD))
    for _ in range(5):
        pair = view.pair(chosen(browser))
        links = {*pair.links[0], *pair.sure}
        for what, mark in (("right", "m-right"), ("wrong", "m-wrong"), ("missed", "m-missed")):
            expected = sum(pair.verdict(0, link) == what for link in links)
            assert len(browser.all(f".matrix .{mark}")) == expected
        assert len(browser.all(".matrix .g-sure")) == len(pair.sure)
        assert len(browser.all(".matrix .g-possible")) == len(pair.possible - pair.sure)
        browser.keys("j")


def test_keys_go_through_pairs_and_forms(browser, page):
    browser.open(page)
    browser.keys("j", "j", "k", "ARROW_DOWN")
    assert chosen(browser) == 3
    browser.keys("END")
    assert chosen(browser) == 240
    browser.keys("PAGE_UP", "HOME", "m")
    assert chosen(browser) == 1
    assert browser.all("svg.ribbon")
    assert not browser.all("svg.matrix")
    with shot(browser, "ribbon"):
        before = len(browser.all(".tie"))
    browser.keys("1")
    assert len(browser.all(".tie")) < before
    browser.keys("g")
    assert not browser.all(".tie.missed")
    browser.reload()
    assert browser.all("svg.ribbon"), "the form is kept"


def test_words_expressions_filters_and_orders(browser, page):
    browser.open(page)
    browser.keys("/", *"bridge")
    assert browser.one("#count").text.endswith("of 240 pairs")
    found = [n for n, line in enumerate(EN.read_text().splitlines(), 1) if "bridge" in line.lower().split()]
    assert listed(browser) == found[: len(listed(browser))]
    browser.set("#query", "/^Der .*bridge/", "input")
    assert 0 < len(listed(browser)) < len(found)
    browser.set("#query", "/(/", "input")
    assert browser.one("#query-problem").text
    assert browser.one("#query").get_attribute("aria-invalid") == "true"
    browser.set("#query", "", "input")
    browser.set("#sort", "error")
    browser.set("#show", "errors")
    errors = [max(map(int, re.findall(r"\d+", text))) for text in browser.texts(".row-head span:nth-child(2)")]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > errors[-1] > 0
    for value in ("disagreement", "confidence", "long", "short"):
        browser.set("#sort", value)
    lengths = [len(text.split()) for text in browser.texts(".list-row .row-text")]
    assert lengths[0] + lengths[1] <= lengths[-2] + lengths[-1]


def test_links_are_corrected_kept_saved_and_loaded_again(browser, page, tmp_path):
    browser.open(page)
    browser.keys("j", "e")  # pair 2: 0-1 1?2 2-0 ...
    browser.keys(" ", "ARROW_RIGHT", " ", "ARROW_DOWN", " ", "ARROW_RIGHT", " ", "c")
    # 0-0 none -> sure; 0-1 sure -> possible; 1-1 none -> sure; 1-2 possible -> none
    first = GOLD.read_text().splitlines()[1]
    assert first.startswith("0-1 1?2 2-0")
    corrected = "#2\t0-0 0?1 1-1" + first.removeprefix("0-1 1?2")
    browser.keys("e", "END", "c", "s")
    saved = browser.downloaded("checked.gold").decode().splitlines()
    assert saved[0] == corrected
    assert saved[1].startswith("#240\t")
    browser.reload()
    assert browser.one("#restored").text == "Restored from this browser: 2 pairs, 2 of them checked."
    browser.keys("s")
    assert browser.downloaded("checked.gold").decode().splitlines() == saved
    browser.set("#show", "checked")
    assert listed(browser) == [2, 240]
    # the file is what other commands read
    (tmp_path / "g").write_text("\n".join(saved) + "\n")
    done = run("eval-aer", tmp_path / "g", page.parent / "diagonal", *TEXT)
    assert b"lines:numbered" in done.stdout, done.stderr
    # elsewhere, where nothing is kept yet
    browser.js("window.confirm = () => true")
    browser.click("#forget")
    assert browser.texts(".done") == []
    browser.one("#load").send_keys(str(tmp_path / "g"))
    browser.wait("return document.querySelector('#kept').textContent.startsWith('2 pairs checked')")
    browser.keys("s")
    assert browser.downloaded("checked.gold").decode().splitlines() == saved
    (tmp_path / "g").write_text("#2\t0-99\n")
    browser.one("#load").send_keys(str(tmp_path / "g"))
    browser.wait("return document.querySelector('#load-problem').textContent.includes('line 1: link 0-99 points past')")


def test_clicks_change_links_and_can_be_undone(browser, page):
    browser.open(page)
    board = "const b = document.querySelector('.board').getBoundingClientRect();"
    click = (
        board + "document.querySelector('.board').dispatchEvent(new MouseEvent('click', {bubbles: true,"
        " clientX: b.left + 24 * arguments[1] + 12, clientY: b.top + 24 * arguments[0] + 12}))"
    )
    browser.js(click, 0, 3)
    assert browser.texts(".row-head span:nth-child(3)") == [], "links change while correcting alone"
    browser.click("#edit")
    sure = len(browser.all(".matrix .g-sure"))
    browser.js(click, 0, 3)
    assert len(browser.all(".matrix .g-sure")) == sure + 1
    browser.js(click, 0, 3)
    assert len(browser.all(".matrix .g-sure")) == sure
    assert browser.texts("#at")[0].startswith("\u2068Der\u2069 – \u2068at\u2069; possible")
    browser.keys("u", "u")
    assert len(browser.all(".matrix .g-sure")) == sure
    browser.keys("x")
    assert browser.all(".matrix .g-sure") == []
    with shot(browser, "correcting"):
        browser.keys("u")
    assert len(browser.all(".matrix .g-sure")) == sure


ODD = [
    "<script>window.ran=1</script> <img/src=x/onerror=window.ran=1> &amp; \" ' </script> <!-- ${1} `",
    "\x00\x01 \x1b[31mred \u2028 \u202eabc \udcff",
    "שלום ( עולם ) 123",
    "e\u0301a\u0308 ก็ नि 👩\u200d👩\u200d👧",
    "",
    " ".join(f"w{k}" for k in range(10_000)),
]


TITLE = "</title><script>window.ran=1</script>"


def test_text_is_shown_and_never_run(browser, tmp_path):
    shown = at.view((ODD, [*ODD[:5], "x"]), ["0-0", "1-1", "0-0 1-2", "0-0", "", "0-0 9999-0"], names=["<b>&"],
                    gold=["0-0 0?1", "0-0", "", "", "", "0-0"], title=TITLE)  # fmt: skip
    browser.open(shown.html())
    for number in range(1, len(ODD) + 1):
        assert chosen(browser) == number
        for form in "mm":
            browser.keys(form)
        browser.keys("e", "e", "j")
    assert browser.js("return window.ran") is None
    assert browser.texts("h1") == [TITLE]
    browser.keys("HOME")
    words = ODD[0].split()
    shown = browser.js("return [...document.querySelectorAll('.matrix .word')].map((e) => (e.querySelector('title') ??"
                       " e).textContent)")  # fmt: skip
    assert shown[: len(words)] == words
    browser.keys("END")
    assert browser.texts("#drawing p") == ["9700 more words. Draw all"]
    browser.js("window.began = performance.now()")
    browser.click("#drawing button")
    assert len(browser.all("#drawing .word")) == 10_001
    browser.keys("HOME")
    assert browser.texts("#layers button")[0] == "<b>&"


def test_a_narrow_window_scrolls_in_no_direction_but_down(browser, page):
    browser.resize(400, 800)
    browser.open(page)
    for form in ("matrix", "ribbon"):
        with shot(browser, f"narrow-{form}"):
            assert not browser.overflows()
        browser.keys("e")
        assert not browser.overflows()
        browser.keys("e", "m")
    browser.media(prefers_color_scheme="dark")
    with shot(browser, "dark"):
        browser.wait("return document.documentElement.dataset.theme === 'dark'")


def test_controls_have_names_and_the_list_says_where_it_is(browser, page):
    browser.open(page)
    unnamed = browser.js(
        "return [...document.querySelectorAll('button, input, select, [role=listbox], [role=img]')].filter((e) =>"
        " !(e.textContent.trim() || e.ariaLabel || e.getAttribute('aria-label') || e.labels?.length)).length"
    )
    assert unnamed == 0
    browser.keys("j")
    row = browser.js("const l = document.querySelector('#pairs');"
                     "return document.getElementById(l.getAttribute('aria-activedescendant'))")  # fmt: skip
    assert (row.get_attribute("aria-posinset"), row.get_attribute("aria-setsize")) == ("2", "240")
    browser.click("#spelled summary")
    browser.wait("return document.querySelector('#links tbody tr')")
    assert any(text.startswith("0-1 Ich – I") for text in browser.texts("#links tbody tr"))


def test_ten_thousand_pairs_are_there_within_a_second(browser, tmp_path):
    rng = random.Random(2)
    words = [f"word{k}" for k in range(5000)]
    source = [" ".join(rng.choices(words, k=rng.randint(5, 25))) for _ in range(10_000)]
    links = [" ".join(f"{k}-{k}" for k in range(len(line.split()))) for line in source]
    files = {"s": source, "a": links, "g": [row.replace("1-1", "1?1") for row in links]}
    s, a, gold = (tmp_path / name for name in files)
    for name, rows in files.items():
        (tmp_path / name).write_text("\n".join(rows) + "\n")
    at.view((s, s), a, gold=gold).save(tmp_path / "page.html")
    took = browser.first_view(tmp_path / "page.html", ".list-row")
    assert took < 1000, f"{took:.0f} ms"
    rows = len(browser.all(".list-row"))
    assert rows < 40, "only what is in view is drawn"
    browser.keys("END")
    assert chosen(browser) == 10_000
    assert browser.set("#sort", "error") < 2000


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """The page of a text with what `check` found in some of its pairs."""
    folder = tmp_path_factory.mktemp("checked")
    source, target = DE.read_text().splitlines(), EN.read_text().splitlines()
    target[4] = "<b>x</b> " + target[4]
    (folder / "en").write_text("\n".join(target) + "\n")
    rows = [
        f"5\t12.50\t0.9\tflagged\t0.1\t0.1\tadded[0:1] <b>x</b>; numbers -8 +9\t{source[4]}\t{target[4]}",
        f"3\t9.00\t0.8\tflagged\t0.1\t0.1\tleft-out[1:3] {' '.join(source[2].split()[1:3])}; "
        f"repeated[2:3] {target[2].split()[2]}\t{source[2]}\t{target[2]}",
        f"1\t0.20\t0.1\tpassed\t0.1\t0.1\t\t{source[0]}\t{target[0]}",
    ]
    (folder / "found.tsv").write_text("\n".join(rows) + "\n")
    return page_of(folder, "-s", DE, "-t", folder / "en", "--check", folder / "found.tsv")


def test_what_was_found_is_marked_and_flagged_pairs_are_listed(browser, checked):
    browser.open(checked)
    assert browser.texts("#found .soft") == ["passed score 0.20"]
    assert not browser.all("#found mark")
    browser.keys("f")
    assert listed(browser) == [3, 5]
    source, target = DE.read_text().splitlines()[2].split(), EN.read_text().splitlines()[2].split()
    assert browser.texts("#found .marked .f-left-out") == [" ".join(source[1:3])]
    assert browser.texts("#found .marked .f-repeated") == [target[2]]
    assert browser.texts("#found .marked") == [" ".join(source), " ".join(target)]
    assert browser.texts(".list-row .f-added") == ["<b>x</b>"]
    browser.keys("j")
    assert browser.texts("#found .soft") == ["⚑ flagged score 12.50"]
    assert browser.texts("#found li") == ["numbers -8 +9"]
    browser.set("#sort", "score")
    assert listed(browser) == [5, 3]
    browser.resize(400, 800)
    with shot(browser, "checked"):
        assert not browser.overflows()
    browser.keys("f")
    assert browser.one("#count").text == "240 pairs"
    assert listed(browser)[:3] == [5, 3, 1]


def test_what_was_found_is_told_in_the_terminal_and_from_python(checked):
    folder = checked.parent
    done = run("view", "-s", DE, "-t", folder / "en", "--check", folder / "found.tsv", "--number", "5")
    assert done.stdout.decode().endswith("flagged 12.50  added[0:1] <b>x</b>; numbers -8 +9\n")
    found = at.check(["a b"], ["c d d"], model=at.train_aligner([("a b", "c d")] * 3, fast=True))
    assert at.view((["a b"], ["c d d"]), checked=found).data(1)["found"][0]["target"] == [(2, 3, "repeated")]
    long = tmp = folder / "long"
    tmp.write_text((folder / "found.tsv").read_text().replace("5\t", "500\t", 1))
    fails(
        run("view", "-s", DE, "-t", folder / "en", "--check", long), "is about pair 500, but", "has 240 sentence pairs"
    )
