"""Chromium without a window, as the tests of pages use it."""

import contextlib
import json
import time
from pathlib import Path

from tests.cli.running import ran


class Browser:
    """One browser, which opens pages from disk."""

    def __init__(self, program, driver, folder):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        self.folder, self.downloads = folder, folder / "downloads"
        self.downloads.mkdir()
        options = webdriver.ChromeOptions()
        options.binary_location = program
        for flag in (
            "headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "no-first-run",
            "disable-background-networking", "disable-component-update", "disable-sync", "disable-extensions",
            "hide-scrollbars", "force-color-profile=srgb", f"user-data-dir={folder / 'profile'}",
        ):  # fmt: skip
            options.add_argument(f"--{flag}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        options.add_experimental_option("prefs", {"download.default_directory": str(self.downloads)})
        self.driver = webdriver.Chrome(options, Service(driver))
        self._count = 0

    def quit(self):
        self.driver.quit()

    def open(self, document):
        """Open a document (str, or the path of one); what pages have stored before is forgotten."""
        if isinstance(document, str):
            self._count += 1
            path = self.folder / f"{self._count}.html"
            path.write_bytes(document.encode())
        else:
            path = Path(document)
        self.driver.get(path.as_uri())
        if self.js("return localStorage.length"):
            self.js("localStorage.clear()")
            self.driver.refresh()
        return self

    def reload(self):
        """Load the page again, as its reader does; what it has stored stays.

        Chromium hands what a page stores to another process: reading it first leaves it the moment that a reader does.
        """
        self.js("return JSON.stringify(localStorage)")
        self.driver.refresh()

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def set(self, selector, value, event="change"):
        """Give a field a value, and let it tell; return the milliseconds that this takes."""
        return self.js(
            "const began = performance.now(), e = document.querySelector(arguments[0]); e.value = arguments[1];"
            "e.dispatchEvent(new Event(arguments[2])); return performance.now() - began", selector, value, event,
        )  # fmt: skip

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def one(self, selector):
        return self.driver.find_element("css selector", selector)

    def texts(self, selector):
        return self.js("return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector)

    def click(self, selector):
        self.one(selector).click()

    def keys(self, *keys):
        """Press keys, wherever the focus is; names such as ``ARROW_DOWN`` stand for keys without a letter."""
        from selenium.webdriver import ActionChains, Keys

        chain = ActionChains(self.driver, duration=0)
        for key in keys:
            chain.send_keys(getattr(Keys, key) if len(key) > 1 and key.isupper() else key)
        chain.perform()

    def wait(self, script, seconds=5):
        """Wait until a script returns something true; return it."""
        end = time.monotonic() + seconds
        while not (found := self.js(script)):
            assert time.monotonic() < end, f"not within {seconds} s: {script}"
            time.sleep(0.02)
        return found

    def resize(self, width, height):
        """Give the view this size, narrower than a window can be too."""
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )

    def media(self, **features):
        """Set media features, such as ``prefers_color_scheme="dark"``; all others are as usual."""
        named = {"prefers_color_scheme": "light", "prefers_reduced_motion": "no-preference"} | features
        listed = [{"name": name.replace("_", "-"), "value": value} for name, value in named.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": listed})

    def screenshot(self, path, whole=False):
        """Write a picture of what is seen, or of the whole page."""
        import base64

        made = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": whole})
        Path(path).write_bytes(base64.b64decode(made["data"]))

    def overflows(self):
        return self.js("return document.documentElement.scrollWidth > document.documentElement.clientWidth")

    def downloaded(self, name, seconds=5):
        """Wait for a download; return its bytes, and remove it.

        The browser puts an empty file in its place first, and renames what it has written at the end.
        """
        path, end = self.downloads / name, time.monotonic() + seconds
        while not (path.exists() and path.stat().st_size) or any(self.downloads.glob("*.crdownload")):
            assert time.monotonic() < end, f"no {name} among {[p.name for p in self.downloads.iterdir()]}"
            time.sleep(0.02)
        data = path.read_bytes()
        path.unlink()
        return data

    def complaints(self):
        """Return what stands on the console since it was asked last: errors, breaches of the page's policy."""
        return [json.dumps(entry) for entry in self.driver.get_log("browser") if entry["level"] != "DEBUG"]

    def first_view(self, path, selector):
        """Return the milliseconds from the start of loading to when an element has been drawn."""
        self.driver.get(Path(path).as_uri())
        return self.wait(
            "const paint = performance.getEntriesByType('paint').find((p) => p.name === 'first-contentful-paint');"
            f"return document.querySelector({json.dumps(selector)}) && paint"
            " && Math.max(paint.startTime, performance.getEntriesByName('shown')[0]?.startTime ?? 0)",
            20,
        )


def page_of(folder, *args):
    """Run ``aligntools view ARGS -o page.html`` and return the path."""
    path = folder / "page.html"
    ran("view", *args, "-o", path)
    return path


@contextlib.contextmanager
def shot(browser, name):
    """Take a picture when the block has ended, where the environment names a folder for pictures."""
    import os

    yield
    if folder := os.environ.get("ALIGNTOOLS_SCREENSHOTS"):
        browser.screenshot(Path(folder) / f"{name}.png")
