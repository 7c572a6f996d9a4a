"""The parts of every page, in a real browser."""

from tests.places import SAMPLES
from tests.viewing.browsing import page_of

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
