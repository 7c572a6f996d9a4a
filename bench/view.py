"""Pages of many sentence pairs: how long they take to make, how large they are, and when they can be seen."""

import shutil
import statistics
import tempfile
from pathlib import Path

from bench import measuring, report, texts
from tests.viewing.browsing import Browser


def run(o):
    if not o.data:
        raise SystemExit("view needs text: --data DIR")
    driver, program = shutil.which("chromedriver"), shutil.which("chromium")
    if driver is None or program is None:
        raise SystemExit("view needs chromium and chromedriver")
    whole, rows = texts.text(o.data, o.set, o.work), []
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        browser = Browser(program, driver, Path(folder))
        try:
            for size in map(int, o.sizes.split(",")):
                rows.append(_row(texts.beginning(whole, size, o.work), whole.gold, Path(folder), browser, o.runs))
        finally:
            browser.quit()
    about = (
        f"`aligntools view` of the first pairs of {o.set}: two systems (`align`, `align --fast`), the first with"
        f" probabilities, and the gold links that there are ({whole.n_gold} pairs). First view: from the start of"
        " loading to where the list and the first pair are drawn, in Chromium without a window; the median of"
        f" {o.runs} loads, and the longest."
    )
    header = ["pairs", "page MB", "made in s", "peak MB", "first view ms", "longest"]
    return "\n\n".join([about, report.table(header, rows), report.circumstances()])


def _row(text, gold, folder, browser, loads):
    """Return the columns of one size."""
    systems = {"ours": ["--link-probabilities"], "fast": ["--fast"]}
    for name, flags in systems.items():
        command = ["align", "-q", "-s", text.source, "-t", text.target, "-o", folder / name, *flags]
        measuring.run(measuring.aligntools(*command))
    page = folder / "page.html"
    links = [f"{name}={folder / name}" for name in systems]
    command = ["view", "-s", text.source, "-t", text.target, "-a", *links, "--gold", gold, "-o", page]
    used = measuring.run(measuring.aligntools(*command))
    times = [browser.first_view(page, ".list-row") for _ in range(loads)]
    measuring.note(f"{text.n_pairs} pairs: first view {statistics.median(times):.0f} ms")
    return [
        f"{text.n_pairs:,}", f"{page.stat().st_size / 1e6:.1f}", f"{used.seconds:.1f}", f"{used.peak / 1e6:.0f}",
        f"{statistics.median(times):.0f}", f"{max(times):.0f}",
    ]  # fmt: skip
