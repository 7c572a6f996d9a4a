"""The page of a service, in a real browser."""

import socket
import threading

import pytest

import aligntools as at
from tests import models

pytest.importorskip("starlette")
uvicorn = pytest.importorskip("uvicorn")

TYPED = (
    "const given = arguments;"
    "['source', 'target'].forEach((id, k) => { document.getElementById(id).value = given[k]; });"
    "document.getElementById('source').dispatchEvent(new Event('input'));"
)


@pytest.fixture(scope="module")
def address():
    """Where a service answers, in a thread."""
    from aligntools.serving.app import application

    model = at.load(models.model("align"))
    server = uvicorn.Server(uvicorn.Config(application({"de-en": model}), log_level="error", lifespan="off"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        server.should_exit = True
        thread.join()


def test_links_are_drawn_as_sentences_change(browser, address):
    browser.driver.get(address)
    browser.js("localStorage.clear()")
    browser.reload()
    browser.keys("s", "Der Zug fährt um acht Uhr ab.", "ESCAPE", "t", "The train leaves at at eight o'clock.", "ESCAPE")
    browser.wait("return document.querySelectorAll('#drawing .ribbon .tie').length >= 7", 20)
    assert browser.texts("#drawing .word")[:2] == ["Der", "Zug"]
    browser.wait("return document.querySelector('#found').textContent.includes('Repeated: \\u2068at\\u2069')")
    browser.keys("m")
    assert len(browser.all("#drawing .matrix")) == 1
    browser.js(TYPED, "<b onclick=x>Zug</b>", "<script>window.ran = 1</script> train")
    browser.wait("return document.querySelector('#drawing').textContent.includes('script')", 20)
    assert browser.js("return window.ran === undefined && !document.querySelector('main b')")
    browser.js(TYPED, "הרכבת יוצאת (היום).", "The train leaves (today).")
    browser.wait("return document.querySelector('#drawing').textContent.includes('today')", 20)
    assert browser.js("return getComputedStyle(document.getElementById('source')).direction") == "rtl"
    browser.resize(400, 800)
    browser.js(TYPED, "Wort " * 300, "word " * 300)
    browser.wait("return document.querySelectorAll('#drawing .word').length === 600", 30)
    assert not browser.overflows()
    browser.js(TYPED, "", "x")
    browser.wait("return !document.querySelector('#drawing').firstChild")
    browser.driver.get(address + "docs")
    assert browser.texts("h2 code") == ["/align", "/check", "/transfer-markup"]
    assert not browser.overflows()
