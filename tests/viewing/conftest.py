"""A browser for the tests of pages: Chromium without a window, one for all tests."""

import shutil

import pytest

from tests.viewing.browsing import Browser


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("needs chromium and chromedriver (Debian: apt-get install chromium chromium-driver)")
    pytest.importorskip("selenium")
    browser = Browser(program, driver, tmp_path_factory.mktemp("browser"))
    yield browser
    browser.quit()


@pytest.fixture
def browser(chromium):
    """The browser in a window of a desktop's size; after the test, nothing may stand on its console."""
    chromium.resize(1280, 900)
    chromium.media()
    yield chromium
    assert chromium.complaints() == []
