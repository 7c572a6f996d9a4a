"""Tags carried over in whole documents, by the command."""

import re

import pytest
from click.testing import CliRunner

import aligntools as at
from aligntools.cli.main import cli
from tests import models
from tests.docx_files import body, paragraph, parts_of, text, write_docx

PAGE = """<!DOCTYPE html>
<html lang="de"><title>Der Zug</title><script>let a = "<p>Zug</p>";</script>
<p class=x>Der <b>Zug</b>
fährt um <i>acht Uhr</i> ab.<!-- {0} --></p>
<ul><li>Ein <a href="buch.html">Buch</a>.<li>{0} Kinder</ul></html>
"""
LINES = "The train\nThe train leaves at eight o'clock.\na book.\nchildren\n"
TAGGED = """<!DOCTYPE html>
<html lang="de"><title>The train</title><script>let a = "<p>Zug</p>";</script>
<p class=x>The <b>train</b> leaves at <i>eight o'clock</i>.<!-- {0} --></p>
<ul><li>a <a href="buch.html">book</a>.<li>children</ul></html>
"""


@pytest.fixture(scope="module")
def model():
    return models.model("fast")


def run(*args):
    return CliRunner().invoke(cli, ["transfer-markup", "-q", *map(str, args)])


@pytest.fixture
def page(tmp_path):
    (tmp_path / "p.html").write_text(PAGE, "utf-8")
    (tmp_path / "lines").write_text(LINES, "utf-8")
    return tmp_path / "p.html"


def test_pages_with_lines_and_translated_pages(page, model, tmp_path):
    assert run(page, "--segments", tmp_path / "segments").exit_code == 0
    segments = (tmp_path / "segments").read_text("utf-8")
    assert segments == "Der Zug\nDer Zug fährt um acht Uhr ab.\nEin Buch.\n{0} Kinder\n"
    found = run("-m", model, page, "--target", tmp_path / "lines", "--report", tmp_path / "r", "-o", tmp_path / "o")
    assert found.exit_code == 0, found.output
    assert (tmp_path / "o").read_text("utf-8") == TAGGED
    rows = [row.split("\t") for row in (tmp_path / "r").read_text("utf-8").splitlines()]
    assert [(row[0], row[1]) for row in rows[1:]] == [
        *(("2", "<b>"), ("2", "<i>"), ("3", '<a href="buch.html">'), ("4", "{0}"))
    ]
    assert rows[-1] == ["4", "{0}", "0.000", "0.000", "missing", ""]
    expected = TAGGED.replace('"de"', '"en"').replace("<!-- {0} -->", "")
    (tmp_path / "t").write_text(re.sub("<b>|<i>|<a [^>]*>|</[abi]>", "", expected), "utf-8")
    assert run("-m", model, page, "--target", tmp_path / "t").output == expected


def test_a_docx_gets_looks_and_the_rest_stays(model, tmp_path):
    main = body(
        paragraph(text("Der "), text("Zug", "<w:b/>"), text(" fährt ab.")), paragraph("<w:r><w:drawing/></w:r>")
    )
    source = write_docx(tmp_path / "a.docx", main)
    run(source, "--segments", tmp_path / "segments")
    assert (tmp_path / "segments").read_text("utf-8") == "Der Zug fährt ab.\n"
    (tmp_path / "lines").write_text("The train leaves.\n")
    drawing = paragraph("<w:r><w:drawing/></w:r>")
    copy = write_docx(tmp_path / "c.docx", body(paragraph(text("The train leaves.")), drawing))
    for target in (tmp_path / "lines", copy):
        found = run("-m", model, source, "--target", target, "-o", tmp_path / "b.docx")
        assert found.exit_code == 0, found.output
        written = parts_of(tmp_path / "b.docx")
        runs = [text("The "), text("train", "<w:b/>"), text(" leaves.")]
        expected = body(paragraph(*runs), drawing).replace(' w:rsidR="00A1"', "")
        assert written.pop("word/document.xml").decode() == expected
        assert written.items() <= parts_of(source).items()


def test_placeholders_that_differ_are_reported_of_lines(model, tmp_path):
    (tmp_path / "a").write_text("{0} von <b>{1}</b>\n%s\n")
    (tmp_path / "b").write_text("{1} %d\n%s\n")
    files = "--source", tmp_path / "a", "--target", tmp_path / "b", "--report", tmp_path / "r"
    assert run("-m", model, *files).exit_code == 0
    rows = [row.split("\t") for row in (tmp_path / "r").read_text("utf-8").splitlines()]
    assert [(row[0], row[1], row[4]) for row in rows[2:]] == [("1", "{0}", "missing"), ("1", "%d", "added")]


def test_what_does_not_go_with_documents_is_refused(page, model, samples, tmp_path):
    lines, xliff = tmp_path / "lines", samples / "tagged.xlf"
    for args, message in (
        (("-m", model, page), "give the translation as target"),
        (("-m", model, xliff, "--target", lines), "have their translations in them; target"),
        ((xliff, "--segments", tmp_path / "s"), "segments is for HTML and DOCX"),
        ((page, "--segments", tmp_path / "s", "-m", model), "exclude each other"),
        (("--source", lines, "--target", lines, "--segments", tmp_path / "s"), "exclude each other"),
        (("-m", model, page, "--source", lines, "--target", lines), "or a document"),
        (("-m", model, page, "--target", lines, "--markup", "usfm"), "does not go with them"),
    ):
        found = run(*args)
        assert isinstance(found.exception, at.UsageProblem), args
        assert message in str(found.exception), args
    assert not (tmp_path / "s").exists()
