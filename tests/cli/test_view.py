"""``aligntools view`` of alignments."""

import pytest

from tests.cli.running import fails, run
from tests.places import SAMPLES

DE, EN, JOINT, GOLD = (SAMPLES / f"de-en.{end}" for end in ("de", "en", "txt", "wa"))


@pytest.fixture
def few(file):
    """Three pairs of the sample in files, and links for them."""
    for side in (DE, EN):
        file(side.name[-2:], b"".join(side.read_bytes().splitlines(True)[:3]))
    file("gold", b"".join(GOLD.read_bytes().splitlines(True)[:3]))
    return file("a", b"0-0 1-1\n0-0:0.5 1-2:0.25\n\n").parent


def test_pairs_are_shown_with_links_as_text(few):
    done = run("view", "-s", "de", "-t", "en", "-a", "a", "--gold", "gold", cwd=few)
    assert done.returncode == 0, done.stderr
    assert "\n  Zug  · ■ · · · · ·\n" in done.stdout.decode()
    assert b"\x1b" not in done.stdout


@pytest.mark.parametrize(
    "text", [["-s", "de", "-t", "en"], ["-i", "both"], ["-i", "both", "--input-format", "joint"]]
)  # fmt: skip
def test_a_page_of_several_systems(few, text):
    sides = zip(*((few / side).read_text().splitlines() for side in ("de", "en")), strict=True)
    (few / "both").write_text("".join(f"{s} ||| {t}\n" for s, t in sides))
    for more in (["-a", "a", "a"], ["-a", "a", "-a", "other=a"]):
        done = run("view", *text, *more, "--title", "Two & more", "-o", "page.html", cwd=few)
        assert done.returncode == 0, done.stderr
        assert "<title>Two &amp; more</title>" in (few / "page.html").read_text()


@pytest.mark.parametrize(
    ("data", "fragments"),
    [
        (b"0-0\n0-9\n\n", ("a:2: link 0-9 points past the target sentence",)),
        (b"0-0\n", ("a: 1 lines, but de has 3 sentence pairs",)),
        (b"0-0\nx\n\n", ("a:2: 'x' is not a link",)),
    ],
)
def test_files_that_do_not_belong_together(few, data, fragments):
    (few / "a").write_bytes(data)
    fails(run("view", "-s", "de", "-t", "en", "-a", "a", cwd=few), *fragments)


def test_texts_and_gold_that_do_not_belong_together(few):
    (few / "short").write_bytes(b"one\n")
    fails(run("view", "-s", "de", "-t", "short", cwd=few), "short: 1 lines, but de has 3")
    fails(run("view", "-s", "short", "-t", "short", "--gold", "gold", cwd=few), "gold: 3 sentence pairs, but short has")
    fails(run("view", "-i", "de", cwd=few), "de:1: no ' ||| ' or tab between two sides")


def test_what_does_not_go_together_is_a_wrong_command_line(few):
    wrong = (
        [], ["-s", "de"], ["-s", "de", "-t", "en", "-i", "x"], ["-s", "-", "-t", "-"],
        ["-s", "de", "-t", "en", "--pair", "4"], ["-s", "de", "-t", "en", "-o", "a", "--svg", "b"],
    )  # fmt: skip
    for args in wrong:
        fails(run("view", *args, cwd=few), status=2)


def test_gold_of_another_form(few):
    (few / "naacl").write_bytes(b"1 1 1 S\n2 2 3 P\n")
    done = run("view", "-s", "de", "-t", "en", "--gold", "naacl", "--gold-format", "naacl", "--form", "matrix", cwd=few)
    assert done.returncode == 0, done.stderr
