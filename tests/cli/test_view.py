"""``aligntools view`` of alignments."""

import pytest

from tests.cli.running import ROOT, ran, run
from tests.places import SAMPLES

DE, EN, JOINT, GOLD = (SAMPLES / f"de-en.{end}" for end in ("de", "en", "txt", "wa"))


@pytest.fixture
def few(file):
    """Three pairs of the sample in files, and links for them."""
    for side in (DE, EN):
        file(side.name[-2:], b"".join(side.read_bytes().splitlines(True)[:3]))
    file("gold", b"".join(GOLD.read_bytes().splitlines(True)[:3]))
    return file("a", b"0-0 1-1\n0-0:0.5 1-2:0.25\n\n").parent


def test_pairs_by_links_gold_and_number(few):
    done = ran("view", "-s", "de", "-t", "en", "-a", "a", "--gold", "gold", cwd=few)
    assert "\n  Zug  · ■ · · · · ·\n" in done.stdout.decode()
    assert b"\x1b" not in done.stdout
    (few / "naacl").write_bytes(b"1 1 1 S\n2 2 3 P\n")
    ran("view", "-s", "de", "-t", "en", "--gold", "naacl", "--gold-format", "naacl", "--form", "matrix", cwd=few)
    (few / "tags").write_bytes(b"a_A b_B c_C d_D e_E f_F g_G h_H\n" * 3)
    text = ["-s", "de", "-t", "en", "-a", "a", "--gold", "gold"]
    assert run("view", *text, "-i", "2", "-q", cwd=few).stdout == run("view", *text, "--pair", "2", cwd=few).stdout
    ran("view", *text, "--source-tags", "tags", "-o", "page.html", cwd=few)
    assert "By source tag" in (few / "page.html").read_text()


@pytest.mark.parametrize(
    "text", [["-s", "de", "-t", "en"], ["-i", "both"], ["-i", "both", "--input-format", "joint"]]
)  # fmt: skip
def test_a_page_of_several_systems(few, text):
    sides = zip(*((few / side).read_text().splitlines() for side in ("de", "en")), strict=True)
    (few / "both").write_text("".join(f"{s} ||| {t}\n" for s, t in sides))
    for more in (["-a", "a", "a"], ["-a", "a", "-a", "other=a"]):
        ran("view", *text, *more, "--set", "title=Two & more", "-o", "page.html", cwd=few)
        assert "<title>Two &amp; more</title>" in (few / "page.html").read_text()


def test_the_picture_in_the_readme_is_what_its_commands_make(trained, tmp_path):
    text = ("-s", DE, "-t", EN)
    ran("align", "-q", "-m", trained / "model", *text, "--link-probabilities", "-o", tmp_path / "a")
    ran("view", *text, "-a", tmp_path / "a", "--gold", GOLD, "--pair", "8", "--svg", tmp_path / "pair8.svg")
    assert (tmp_path / "pair8.svg").read_bytes() == (ROOT / "docs" / "images" / "pair8.svg").read_bytes()
    again = run("view", *text, "-i", "8", "-a", tmp_path / "a", "--gold", GOLD, "--svg", "-", "--form", "matrix")
    assert again.stdout == (tmp_path / "pair8.svg").read_bytes()


def test_colors_and_a_pager_in_a_terminal(few):
    """A pseudo-terminal, in a process of its own; the pager writes what it gets to a file."""
    import os
    import pty
    import subprocess
    import sys

    def shown(**environment):
        leader, follower = pty.openpty()
        known = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "LESS")}
        subprocess.run(
            [sys.executable, "-m", "aligntools", "view", "-s", "de", "-t", "en", "-a", "a", "--gold", "gold"],
            cwd=few, stdout=follower, stdin=follower, stderr=subprocess.PIPE, timeout=60, check=True,
            env=known | {"PYTHONPATH": str(ROOT), "TERM": "xterm", "PAGER": "tee paged", **environment},
        )  # fmt: skip
        os.close(follower)
        os.close(leader)
        return (few / "paged").read_text()

    colored = shown()
    assert "\x1b[1m" in colored
    assert "\x1b" not in shown(NO_COLOR="1")
