"""DOCX documents: paragraphs as text and marks, and what is written again."""

import zipfile
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.markup.documents import read_document, read_translation
from aligntools.formats.markup.segments import BrokenSegment, decoded, parse_segment, render
from aligntools.formats.opening.streamed_xml import XmlReader
from aligntools.ground.errors import DataError
from aligntools.projecting.markup.placement import SparseLinks
from aligntools.projecting.markup.transfer import MarkupSettings, prepare, transferred
from aligntools.projecting.markup.words import WordFinder
from tests.docx_files import body, paragraph, parts_of, text, write_docx

BOLD, LANGUAGE = "<w:b/>", '<w:lang w:val="de-DE"/>'
LINK = '<w:hyperlink r:id="rId1" w:history="1">{}</w:hyperlink>'
FIELD = (
    '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> PAGE </w:instrText></w:r>'
    '<w:r><w:fldChar w:fldCharType="separate"/></w:r>{}<w:r><w:fldChar w:fldCharType="end"/></w:r>'
)
NOTE = '<w:r><w:footnoteReference w:id="2"/></w:r>'
SDT = "<w:sdt><w:sdtPr><w:id w:val='1'/></w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt>"
BOX = "<w:r><w:pict><w:txbxContent><w:p><w:r><w:t>Kasten</w:t></w:r></w:p></w:txbxContent></w:pict></w:r>"


def one(tmp_path, *runs):
    """The only paragraph of a document."""
    (found,) = read_document(write_docx(tmp_path / "a.docx", body(paragraph(*runs)))).segments
    return found


def shape(found):
    return found.source.text, [(m.opening, m.begin, m.end, m.parent) for m in found.source.marks]


@pytest.mark.parametrize(
    ("runs", "plain", "marks"),
    [
        ([text("Der "), text("Zug", BOLD), text(" da")], "Der Zug da", [("<bold 0>", 4, 7, -1)]),
        ([text("Der ", LANGUAGE), "<w:proofErr/>", text("Zug")], "Der Zug", []),
        ([text("Ganz", BOLD), text(" fett", BOLD + LANGUAGE)], "Ganz fett", []),
        ([text("A &amp; "), LINK.format(text("b", "<w:u/>"))], "A &amp; b", [("<a 0>", 8, 9, -1)]),
        ([LINK.format(text("lang ") + text("b", BOLD))], "lang b", [("<a 0>", 0, 6, -1), ("<bold 1>", 5, 6, 0)]),
        (
            [text("S. "), FIELD.format(text("3")), NOTE],
            "S. 3",
            [("<field 0>", 3, 4, -1), ("<footnoteReference 1>", 4, 4, -1)],
        ),
        (
            [text("a"), text("b", BOLD), "<w:bookmarkStart w:id='1'/>", text("c", BOLD), text(" und so fort")],
            "abc und so fort",
            [("<bold 0>", 1, 3, -1), ("<bookmarkStart 1>", 2, 2, 0)],
        ),
        ([text("x"), SDT.format(text("y"))], "xy", [("<sdt 0>", 1, 2, -1)]),
        ([text("x"), "<w:del><w:r><w:delText>y</w:delText></w:r></w:del>"], "x", [("<del 0>", 1, 1, -1)]),
        (["<w:r><w:t>a</w:t><w:tab/><w:noBreakHyphen/><w:t>b</w:t></w:r>"], "a‑b", [("<tab 0>", 1, 1, -1)]),
    ],
)
def test_what_a_paragraph_is(runs, plain, marks, tmp_path):
    found = one(tmp_path, *runs)
    assert shape(found) == (plain, marks)
    tagged = render(plain, found.source.marks, [[(m.begin, m.end)] for m in found.source.marks])
    again = one(tmp_path, found.xml(tagged))
    assert shape(again) == (plain, marks)
    assert again.xml(tagged) == found.xml(tagged)


def test_runs_are_written_with_the_look_of_what_they_are_in(tmp_path):
    found = one(tmp_path, text("Der "), text("Zug", BOLD), LINK.format(text(" da", "<w:u/>")))
    assert found.xml("<a 1>A</a 1> &amp; <bold 0>B</bold 0>") == (
        '<w:hyperlink r:id="rId1" w:history="1"><w:r><w:rPr><w:u/></w:rPr><w:t xml:space="preserve">A</w:t></w:r>'
        '</w:hyperlink><w:r><w:t xml:space="preserve"> &amp; </w:t></w:r>'
        '<w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">B</w:t></w:r>'
    )


def test_all_else_stays_byte_for_byte(tmp_path):
    header = body(paragraph(text("Kopf")))
    first = paragraph(text("Eins ") + text("zwei", BOLD), properties="<w:pPr><w:b/></w:pPr>")
    cell = f"<w:tbl><w:tr><w:tc>{paragraph(text('drei'))}</w:tc></w:tr></w:tbl>"
    main = body(first, "<w:p/>", cell, paragraph(text("vier"), BOX))
    path = write_docx(tmp_path / "a.docx", main, word_header1=header)
    document = read_document(path)
    assert document.plain() == ["Eins zwei", "drei", "vier", "Kopf"]
    (tmp_path / "lines").write_text("One two\nthree\nfour\n<Head>\n")
    document = read_translation(document, tmp_path / "lines")
    assert document.wanted == [True, True, False, True]
    given = [(s, s.target.text) for s, wanted in zip(document.segments, document.wanted, strict=True) if wanted]
    (tmp_path / "b.docx").write_bytes(document.with_targets(given))
    before, after = parts_of(path), parts_of(tmp_path / "b.docx")
    assert list(before) == list(after)
    for name in before:
        assert (before[name] == after[name]) == (name not in ("word/document.xml", "word/header1.xml"))
    run = '<w:r><w:t xml:space="preserve">{}</w:t></w:r>'
    expected = main.replace(text("Eins ") + text("zwei", BOLD), run.format("One two"))
    expected = expected.replace(text("drei"), run.format("three"))
    assert after["word/document.xml"].decode() == expected
    assert after["word/header1.xml"].decode() == header.replace(text("Kopf"), run.format("&lt;Head&gt;"))


def test_a_translated_copy_gets_looks_and_links(tmp_path):
    source = write_docx(tmp_path / "a", body(paragraph(text("Der "), LINK.format(text("Zug"))), paragraph(text("x"))))
    target = write_docx(tmp_path / "b", body(paragraph(text("The train")), paragraph(text("y"))))
    document = read_translation(read_document(source), target)
    assert document.wanted == [True, False]
    written = document.with_targets([(document.segments[0], "The <a 0>train</a 0>")])
    (tmp_path / "c").write_bytes(written)
    main = parts_of(tmp_path / "c")["word/document.xml"]
    assert (
        b'<w:hyperlink r:id="rId1" w:history="1"><w:r><w:t xml:space="preserve">train</w:t></w:r></w:hyperlink>' in main
    )
    assert main.endswith(parts_of(target)["word/document.xml"][-60:])
    read = iter([main, b""])
    assert sum(event.kind == "start" for event in XmlReader(lambda _: next(read), "x"))


def test_a_paragraph_that_has_looks_already_stays(tmp_path):
    source = write_docx(tmp_path / "a", body(paragraph(text("Der "), text("Zug", BOLD))))
    target = write_docx(tmp_path / "b", body(paragraph(text("The train "), text("x", BOLD))))
    assert read_translation(read_document(source), target).wanted == [False]


@pytest.mark.parametrize(
    ("main", "link", "message"),
    [
        (
            body(paragraph(text("a")), paragraph(text("b"))),
            "http://a.org/",
            "2 paragraphs with text in word/document.xml",
        ),
        (body(paragraph(text("a"))), "http://b.org/", "has no relation rId1 as "),
    ],
)
def test_a_document_that_is_no_translation_is_refused(main, link, message, tmp_path):
    source = write_docx(tmp_path / "a", body(paragraph(text("Der "), LINK.format(text("Zug")))))
    target = write_docx(tmp_path / "b", main, link)
    with pytest.raises(DataError, match=message):
        read_translation(read_document(source), target)


@pytest.mark.parametrize(
    ("lines", "message"),
    [("a\nb\n", "2 lines where .* has 1 paragraphs"), ("a\x01\n", ":1: column 2: a character that XML cannot have")],
)
def test_lines_that_do_not_fit_are_refused(lines, message, tmp_path):
    source = write_docx(tmp_path / "a", body(paragraph(text("Der Zug"))))
    (tmp_path / "b").write_text(lines)
    with pytest.raises(DataError, match=message):
        read_translation(read_document(source), tmp_path / "b")


def test_damaged_documents_are_refused(tmp_path):
    path = write_docx(tmp_path / "a", body(paragraph(text("Der Zug"))))
    data = path.read_bytes()
    (tmp_path / "b").write_bytes(data[: len(data) // 2])
    with pytest.raises(DataError, match="is no DOCX that can be read"):
        read_document(tmp_path / "b")
    with zipfile.ZipFile(tmp_path / "c", "w") as archive:
        archive.writestr("x", "y")
    with pytest.raises(DataError, match=r"has no part word/document\.xml"):
        read_document(tmp_path / "c")
    write_docx(tmp_path / "d", "<w:document><w:p></w:document>")
    with pytest.raises(DataError, match=r"d \(word/document.xml\):1: column .*mismatched tag"):
        read_document(tmp_path / "d")
    (tmp_path / "old.docx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504))
    with pytest.raises(
        DataError, match=r"old.docx: an OLE file \(with a password, or of Office before 2007; save it as"
    ):
        read_document(tmp_path / "old.docx")


def test_damage_never_shows_as_anything_else(tmp_path):
    """Bytes that are wrong are a message, or are read; never another error."""
    data = write_docx(tmp_path / "a", body(paragraph(text("Der "), LINK.format(text("Zug"))))).read_bytes()
    for place in range(0, len(data), 7):
        (tmp_path / "b").write_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])
        try:
            read_document(tmp_path / "b")
        except DataError:
            continue


PIECES = (
    *(text("Der "), text("Zug", BOLD), text("x", "<w:u/>"), text(" da"), NOTE, "<w:bookmarkStart w:id='1'/>"),
    *(LINK.format(text("a") + text("b", BOLD)), FIELD.format(text("3")), SDT.format(text("y", BOLD)), LINK.format("")),
    *("<w:r><w:tab/></w:r>", '<w:r><w:fldChar w:fldCharType="end"/></w:r>', "<w:proofErr/>"),
    f"<w:ins w:id='2'>{text('neu', BOLD)}</w:ins>",
    '<w:r><w:fldChar w:fldCharType="begin"/></w:r>',
)


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=8), st.integers(0, 2**32 - 1))
def test_whatever_stands_in_a_paragraph_stays_well_formed(tmp_path, runs, seed):
    found = read_document(write_docx(tmp_path / "p", body(paragraph(*runs)))).segments
    for one_found in found:
        finders = WordFinder(), WordFinder()
        prepared = prepare(one_found.source, "One two &amp; three.", finders)
        links = np.random.default_rng(seed).random([len(words) for words in prepared.words]) ** 4
        tagged = transferred(prepared, SparseLinks.of(links), MarkupSettings(split_spans="repeat")).text
        again = read_document(write_docx(tmp_path / "q", body(paragraph(one_found.xml(tagged))))).segments
        assert again[0].source.text == "One two &amp; three."
        names = Counter(m.name for m in again[0].source.marks if m.name in ("a", "sdt", "ins", "bookmarkStart", "tab"))
        before = Counter(m.name for m in one_found.source.marks if m.name in names)
        assert names == before


def outline(line):
    """The text, and of each mark its tags, where it is, and in which it lies."""
    found = parse_segment(line)
    return found.text, [(m.opening, m.closing, m.begin, m.end, m.parent) for m in found.marks]


@pytest.mark.parametrize(
    ("line", "text", "marks"),
    [
        ("a < b & c", "a < b & c", []),
        ('a <b class="x>y">c</b>', "a c", [('<b class="x>y">', "</b>", 2, 3, -1)]),
        ("<i><b>c</b></i>", "c", [("<i>", "</i>", 0, 1, -1), ("<b>", "</b>", 0, 1, 0)]),
        ("a<br>b<br/>c", "abc", [("<br>", "", 1, 1, -1), ("<br/>", "", 2, 2, -1)]),
        ("a<!-- <b> -->b", "ab", [("<!-- <b> -->", "", 1, 1, -1)]),
        ("<![CDATA[a<b]]>c", "a&lt;bc", [("<![CDATA[", "]]>", 0, 6, -1)]),
        ("<1>a <0/></1> b<2 />", "a  b", [("<1>", "</1>", 0, 2, -1), ("<0/>", "", 2, 2, 0), ("<2 />", "", 4, 4, -1)]),
        ("1<2>0 or <3", "1<2>0 or <3", []),
        ("<größe a='<'>x</größe>", "x", [("<größe a='<'>", "</größe>", 0, 1, -1)]),
        ("a &lt;b&gt; &amp;", "a &lt;b&gt; &amp;", []),
        ('<bpt id="1">[</bpt>a<ept id="1">]</ept>', "a", [('<bpt id="1">[</bpt>', '<ept id="1">]</ept>', 0, 1, -1)]),
        ('a<ph id="1">{}</ph>b', "ab", [('<ph id="1">{}</ph>', "", 1, 1, -1)]),
        ("a<ph>b</ph>", "ab", [("<ph>", "</ph>", 1, 2, -1)]),
        ('<sc id="1"/>a<ec startRef="1"/>', "a", [('<sc id="1"/>', '<ec startRef="1"/>', 0, 1, -1)]),
        ('<bx id="1"/><b>a<ex id="1"/></b>', "a", None),
    ],
)
def test_what_is_parsed(line, text, marks):
    if marks is None:  # its two tags cross an element: each by itself
        assert [(m.closing, m.parent) for m in parse_segment(line).marks] == [("", -1), ("</b>", -1), ("", 1)]
    else:
        assert outline(line) == (text, marks)
    found = parse_segment(line)
    assert render(found.text, found.marks, [[(m.begin, m.end)] for m in found.marks]) == line


@pytest.mark.parametrize(
    ("line", "column", "words"),
    [
        ("a <b>c", 3, "is not closed"),
        ("a</b>", 2, "closes what is not open"),
        ("<b><i>a</b></i>", 8, "crosses <i>"),
        ("a <b c", 3, "begins like a tag"),
        ('<bpt id="1">a', 1, "is not closed"),
    ],
)
def test_what_is_refused(line, column, words):
    with pytest.raises(BrokenSegment, match=words) as refused:
        parse_segment(line)
    assert str(refused.value.as_error("a.xml", 7)).startswith(f"a.xml:7: column {column}: ")


def test_entities_are_resolved_with_their_places():
    text, places = decoded("a &amp;&#x41;b")
    assert text == "a &Ab"
    assert [places[k] for k in range(len(text) + 1)] == [0, 1, 2, 7, 13, 14]
