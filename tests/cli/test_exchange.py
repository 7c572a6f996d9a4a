"""TMX, XLIFF and tables on the command line: aligned unit by unit, filtered and written back."""

import re

import pytest

from tests.cli.aligning import done
from tests.cli.running import ROOT, run

MANUAL = ROOT / "data" / "samples" / "manual.tmx"
UNITS = 48


def units(text):
    return re.findall(r"<tu .*?</tu>", text, re.DOTALL)


def test_a_line_for_each_unit():
    found = done(run("align", "--fast", "-i", MANUAL, "--languages", "de,en", "--output-format", "tsv"))
    rows = [row.split("\t") for row in found.stdout.decode().splitlines()]
    assert len(rows) == UNITS
    assert rows[12][:2] == [
        "Drücken Sie die Espresso, um einen Espresso zu brühen.",
        "Press Espresso to brew an espresso.",
    ]
    assert b"manual.tmx: read as TMX, de to en: 48 translation units\n" in found.stderr
    how = ("--tokenize", "de-fr", "--languages", "de,fr", "--fast", "-i")
    links = done(run("align", "-q", *how, MANUAL)).stdout
    assert [n for n, unit in enumerate(units(MANUAL.read_text(encoding="utf-8"))) if "fr-FR" not in unit] == [
        n for n, line in enumerate(links.splitlines()) if not line
    ]
    assert done(run("align", "-q", *how, "-", stdin=MANUAL.read_bytes())).stdout == links
    parts = done(run("align", "-q", "--fast", "-i", MANUAL, "--languages", "de,en", "--set", "part_size=20")).stdout
    assert len(parts.splitlines()) == UNITS


@pytest.mark.parametrize("piped", [False, True])
def test_filter_writes_tmx(tmp_path, piped):
    out, rejected = tmp_path / "kept.tmx", tmp_path / "rejected.tsv"
    text = MANUAL.read_text(encoding="utf-8")
    given = {"stdin": MANUAL.read_bytes()} if piped else {}
    how = ("--fast", "--languages", "de,fr", "-o", out, "--rejected", rejected)
    done(run("filter", "-q", *how, "-i", "-" if piped else MANUAL, **given))
    kept = out.read_text(encoding="utf-8")
    numbers = [int(line.split("\t")[0]) for line in rejected.read_text(encoding="utf-8").splitlines()]
    assert numbers == [n for n, unit in enumerate(units(text), 1) if "fr-FR" not in unit]
    assert units(kept) == [unit for n, unit in enumerate(units(text), 1) if n not in numbers]
    assert kept.split("<tu ")[0] == text.split("<tu ")[0]
    assert kept.endswith("</tu>\n  </body>\n</tmx>\n")
    assert len(done(run("align", "-q", "--fast", "-i", out, "--languages", "en,fr")).stdout.splitlines()) == len(
        units(kept)
    )


def test_filter_writes_sides_and_tables(tmp_path):
    table = tmp_path / "export.tsv"
    done(run("align", "-q", "--fast", "-i", MANUAL, "--languages", "de,en", "--output-format", "tsv", "-o", table))
    rows = table.read_text(encoding="utf-8").splitlines()[:40]
    table.write_text("de-DE\tEN\tlinks\n" + "\n".join([*rows, "Nur\t\tx"]) + "\n", encoding="utf-8")
    sides = [tmp_path / side for side in ("de", "en")]
    how = ("filter", "-q", "--fast", "--min-score", "0", "--max-copied", "1", "-i", table, "--languages", "en,de")
    kept = done(run(*how)).stdout.decode()
    assert kept.splitlines() == ["de-DE\tEN\tlinks", *rows]
    done(run(*how, "--source-output", sides[1], "--target-output", sides[0]))
    assert [side.read_text(encoding="utf-8").splitlines() for side in sides] == [
        [row.split("\t")[k] for row in rows] for k in (0, 1)
    ]


def test_other_commands_read_two_of_several_languages(tmp_path):
    how = ("-i", MANUAL, "--languages", "de,fr")
    done(run("align", "-q", "--fast", *how, "-o", tmp_path / "a", "--output-format", "tsv"))
    rows = [line.split("\t") for line in (tmp_path / "a").read_text("utf-8").splitlines()]
    for name, column in (("de", 0), ("fr", 1), ("links", 2)):
        (tmp_path / name).write_text("".join(row[column] + "\n" for row in rows), "utf-8")
    sides, links = ("-s", tmp_path / "de", "-t", tmp_path / "fr"), ("-a", tmp_path / "links")
    for command in (("extract-grammar", "-q"), ("view", "--number", "3"), ("lexicon", "-q", "-o", tmp_path / "lex")):
        assert done(run(*command, *how, *links)).stdout == done(run(*command, *sides, *links)).stdout, command
