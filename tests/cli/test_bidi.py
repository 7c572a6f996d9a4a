"""What turns the direction of text, or does anything else to a terminal, is shown as an escape."""

import unicodedata

import pytest

from aligntools.cli.reporter import Reporter
from aligntools.ground.errors import harmless, one_line
from aligntools.viewing.terminal import cells, fitted, padded, rendered
from tests.cli.running import run

OVERRIDE = "a\u202eb\u202c"
SCRIPTS = "مرحبا שלום می\u200cخواهم 日本 e\u0301\n"


@pytest.mark.parametrize("show", [harmless, one_line], ids=["harmless", "one_line"])
def test_all_that_acts_on_a_terminal_is_escaped(show):
    acting = [
        chr(c)
        for c in range(0x110000)
        if unicodedata.bidirectional(chr(c)) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
        or (unicodedata.category(chr(c)) == "Cc" and chr(c) not in "\t\n")
        or c in (0x200E, 0x200F, 0x061C)
    ]
    assert len(acting) > 70
    for c in acting:
        assert c not in show(f"x{c}y")
    assert show(OVERRIDE) == "a\\u202eb\\u202c"
    assert harmless(SCRIPTS) == SCRIPTS
    assert one_line("مرحبا שלום") == "مرحبا שלום"


def test_what_is_drawn_has_the_width_that_it_is_given():
    assert cells(OVERRIDE) == len(harmless(OVERRIDE)) == 14
    assert rendered([(padded(OVERRIDE, 16), ""), ("|", "head")], False) == "a\\u202eb\\u202c  |"
    assert fitted(OVERRIDE, 6) == "a\\u20…"
    assert "\x1b[" not in rendered([("\x1b[31m", "")], True)


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["view", "-i", "text", "-a", "links"], f"{OVERRIDE} c ||| {OVERRIDE}\n"),
        (["view", "-i", "text", "-a", "links", "--form", "ribbon"], f"{OVERRIDE} c ||| {OVERRIDE}\n"),
        (["view", "text"], f"{OVERRIDE}_A{OVERRIDE} b_B\n"),
        (["view", "text"], f"1\t{OVERRIDE}\t_\tN{OVERRIDE}\t_\t_\t0\t{OVERRIDE}\t_\t_\n\n"),
        (["conll", "text"], f"1-{OVERRIDE}\t{OVERRIDE}\t_\tN\t_\t_\t0\t_\t_\t_\n\n"),
        (["conll", "text", "--to", OVERRIDE], ""),
        (["symmetrize", "-c", "convert", "text"], f"{OVERRIDE}\n"),
    ],
)
def test_commands_do_not_pass_it_on(args, text, tmp_path):
    (tmp_path / "text").write_text(text)
    (tmp_path / "links").write_text("0-0\n")
    done = run(*args, cwd=tmp_path)
    shown = (done.stdout if args[0] == "view" else done.stderr).decode()
    assert "\u202e" not in shown
    assert "\\u202e" in shown


def test_what_is_said_and_stand_ins(capsys):
    Reporter(False, False).say(OVERRIDE)
    assert capsys.readouterr().err == "a\\u202eb\\u202c\n"
    done = run("-c", "intersect", "-i", f"/{OVERRIDE}", "-j", f"/{OVERRIDE}", script="atools")
    assert "\u202e" not in done.stderr.decode()
    assert done.returncode
