"""Two documents side by side: groups in order, doubtful ones first, corrected and saved in the page."""

import pytest

from aligntools.formats.links.ladder import SentenceGroup, format_ladder, read_ladder
from tests.cli.running import fails, run
from tests.viewing.browsing import page_of, shot

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
    browser.js("const e = document.getElementById('order'); e.value = 'file'; e.dispatchEvent(new Event('input'));")
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
