"""HTML documents: which segments they have, and that all else stays as it is written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.markup.documents import read_document, read_translation
from aligntools.formats.markup.segments import render
from aligntools.formats.markup.webpages import read_page
from aligntools.ground.errors import DataError

PAGE = """<!DOCTYPE html>
<!-- <p>no</p> --><html lang="de"><head><title>Rad &amp; Zug</title><style>p > b { color: red }</style>
<script>if (a < b) { write("<p>x</p>"); }</script></head><body class='x'>
<h1>Der <em>Rat</em></h1><td>&nbsp;</td><pre>bleibt
 <b>so</b></pre>
<p>Der <b>Zug</b>
  fährt.<!-- so --> <a href="a">Mehr</a><p translate=no>bleibt<p>Ein <img src="a"> Bild<br>hier <script>"</p>"</script>
<ul><li>Eins<li>zwei <b>x<i> y</b> z</i></ul><a href="b"><div>Buch</div></a>
<div translate="no">Firma <div>GmbH</div></div><IMG alt="a > b"> <textarea>c</textarea>
</body></html>
"""


def segments(text):
    return read_page(text.encode("utf-8"), "x")


def test_segments_are_what_stands_in_blocks():
    page = segments(PAGE)
    assert [(one.line, one.block, page.text[one.begin : one.end]) for one in page.segments] == [
        (2, "title", "Rad &amp; Zug"),
        (4, "h1", "Der <em>Rat</em>"),
        (6, "p", 'Der <b>Zug</b>\n  fährt.<!-- so --> <a href="a">Mehr</a>'),
        (7, "p", 'Ein <img src="a"> Bild<br>hier'),
        (8, "li", "Eins"),
        (8, "li", "zwei <b>x<i> y</b> z</i>"),
        (8, "div", "Buch"),
    ]
    assert "|".join(page.plain()) == "Rad & Zug|Der Rat|Der Zug fährt. Mehr|Ein Bild hier|Eins|zwei x y z|Buch"
    again = [render(s.source.text, s.source.marks, [[(m.begin, m.end)] for m in s.source.marks]) for s in page.segments]
    assert page.with_targets(zip(page.segments, again, strict=True)) == PAGE.encode("utf-8")
    assert page.with_targets([]) == PAGE.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("<p><b>a</b>", [("<b>", "</b>", 0, 1, -1)]),
        ("<p>a<b>b", [("<b>", "", 1, 1, -1)]),
        ("<p>a<b>b<i>c</b>d</i>", [("<b>", "</b>", 1, 3, -1), ("<i>", "", 2, 2, 0), ("</i>", "", 4, 4, -1)]),
        ("<p>a<svg><path/><b>x</b></svg>", []),
        ("<p>a<svg><path/></svg>b", [("<svg><path/></svg>", "", 1, 1, -1)]),
        ("<p>a<B ID=1>b</B>", [("<B ID=1>", "</B>", 1, 2, -1)]),
    ],
)
def test_marks_of_a_segment(text, marks):
    (found,) = segments(text).segments
    assert [(m.opening, m.closing, m.begin, m.end, m.parent) for m in found.source.marks] == marks


@pytest.mark.parametrize(
    "data",
    [
        "\ufeff<p>Ärger</p>".encode(),
        "<meta charset='iso-8859-1'><p>Ärger</p>".encode("latin-1"),
        "\ufeff<p>Ärger</p>\r\n".encode("utf-16-le"),
        "<META HTTP-EQUIV=x CONTENT='text/html; charset=windows-1252'><p>Ärger</p>".encode("cp1252"),
    ],
)
def test_encodings(data):
    page = read_page(data, "x")
    assert page.plain() == ["Ärger"]
    (segment,) = page.segments
    assert page.with_targets([(segment, "Ärger")]) == data
    if page.encoding in ("iso-8859-1", "windows-1252"):
        assert b"&#26085;" in page.with_targets([(segment, "日")])


def test_lines_and_documents(tmp_path):
    (tmp_path / "a").write_text("<p>a</p><p>b</p>")
    (tmp_path / "b").write_text("x < y & z\n<b>\n")
    page = read_translation(read_document(tmp_path / "a"), tmp_path / "b")
    written = page.with_targets((one, one.target.text) for one in page.segments)
    assert written == b"<p>x &lt; y &amp; z</p><p>&lt;b&gt;</p>"
    (tmp_path / "a").write_text("<p>a <b>b</b></p><h1>c</h1><p>d <i>e</i></p>")
    (tmp_path / "b").write_text("<p class=x>A\n B</p><h1>C</h1><p>D <u>E</u></p>")
    page = read_translation(read_document(tmp_path / "a"), tmp_path / "b")
    assert page.wanted == [True, False, False]
    assert [one.target.text for one in page.segments] == ["A\n B", "C", "D E"]
    first = page.segments[0]
    assert page.with_targets([(first, "A\n <b>B</b>")]) == (tmp_path / "b").read_bytes().replace(b"B<", b"<b>B</b><")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("A\n", "1 lines where .*a has 2 segments; give a line for each"),
        ("<p>A</p>\n<p>B</p>", r"b:2: text in <p> where .*a:1 has some in <h1>"),
        ("<p>A</p>", "1 segments where .*a has 2"),
        ("PK\x03\x04", "is a ZIP archive"),
    ],
)
def test_what_is_no_translation_is_refused(target, message, tmp_path):
    (tmp_path / "a").write_text("<p>a</p><h1>b</h1>")
    (tmp_path / "b").write_text(target)
    with pytest.raises(DataError, match=message):
        read_translation(read_document(tmp_path / "a"), tmp_path / "b")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"no tags", "is no document of XLIFF, TMX, HTML or DOCX"),
        (b"<p>\n\xff</p>", ":2: byte 5 is not utf-8"),
        (b"<meta charset=nonsense><p>a", "unknown encoding 'nonsense'"),
        (b"<tmy/>", "is no XLIFF"),
    ],
)
def test_what_is_no_document_is_refused(data, message, tmp_path):
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(DataError, match=message):
        read_document(tmp_path / "a")


SOUP = st.lists(
    st.sampled_from(
        [
            *[
                *("<p>", "</p>", "<b>", "</b>", "<i>", "</i>", "<li>", "<ul>", "</ul>", "wort", "&amp;", "&nbsp;", "&"),
                *("<", ">", "<!--", "-->", "<script>", "</script>"),
            ],
            *[
                *("<br>", "<br/>", "</a>", "<![CDATA[x]]>", "<?pi?>", "<pre>", "</pre>", "<svg>", "</svg>", "</div>"),
                *("<textarea>", "</textarea>"),
            ],
            *["<title>", '"', "</", "<a", "ä", "<td>", "</title>"],
            *("<i class='x>y'>", "text ", "<!-- c -->", "<a href=x>", "<div translate=no>", "\n", " ", "'"),
            *("<!DOCTYPE html>", "</ >", "<p translate=no>"),
        ]
    ),
    max_size=25,
).map("".join)


@given(SOUP)
def test_any_soup_of_tags_stays_as_it_is(soup):
    page = segments(soup)
    again = [render(s.source.text, s.source.marks, [[(m.begin, m.end)] for m in s.source.marks]) for s in page.segments]
    assert page.with_targets(zip(page.segments, again, strict=True)) == soup.encode("utf-8")
    assert all(line.strip() and "\n" not in line for line in page.plain())
