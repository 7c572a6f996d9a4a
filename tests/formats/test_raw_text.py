"""Raw text to CoNLL-U and back."""

import functools
import gzip
import io
import itertools
import re
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from aligntools.formats.annotation.conll import parse_conll
from aligntools.formats.annotation.conll_tokens import Raw, sentence_texts
from aligntools.formats.annotation.raw_text import format_raw, stream_raw
from aligntools.formats.markup.documents import read_document, read_translation
from aligntools.formats.markup.segments import render
from aligntools.formats.markup.webpages import read_page
from aligntools.formats.opening.streamed_xml import LONGEST_TAG, XmlReader, read_xml, xml_root
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.words.tokenizers import IcuTokenizer, Tokenizer, sentence_splitter


def plain_spans(text):
    return [found.span() for found in re.finditer(r"\w+|[^\w\s]", text)]


def plain_split(text):
    return re.split(r"(?<=[.!?])(?=\s)", text)


def lines_of(text):
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def conll_of(text, spans=plain_spans, split=plain_split):
    blocks = list(format_raw(lines_of(text), spans, split))
    return blocks, parse_conll("x", [line + b"\n" for block in blocks for line in block.split(b"\n")[:-1]])


def raw_of(conll, cut=None):
    raw = Raw()
    parts = [conll] if cut is None else [conll.part(0, cut), conll.part(cut, len(conll))]
    return b"".join([*map(raw.add, parts), raw.end()])


TEXTS = st.text(
    st.sampled_from("ab.,!|\\=\"'`éß\u00a0\u2028\ufeff\x00\x1c\x85 \t\r\n\n  «»1-2") | st.characters(codec="utf-8")
)


@given(TEXTS)
@example("")
@example("\n \n")
@example("\ufeff")
@example("\ufeff\n a ")
@example("a b ")
@example("One.\n\n\nTwo!  Three\r\nfour")
def test_any_raw_text_comes_back(text):
    for split in (plain_split, None):
        blocks, conll = conll_of(text, split=split)
        assert raw_of(conll) == text.encode()
        assert not len(conll) or raw_of(conll, len(conll) // 2) == text.encode()
        if split is None:
            assert len(blocks) == len(conll) == len(lines_of(text))


@settings(max_examples=30)
@given(TEXTS, st.sampled_from(["en", "fr", "zh", "tlh"]))
@example("Mr. Smith's ''x'' don't \x01 `y` http://a.b/c?d=e. 25\u00a0000 www.x.org/y), me@x.org.", "en")
def test_any_raw_text_comes_back_from_the_tokenizer(text, language):
    _, conll = conll_of(text, tokenizer(language), sentence_splitter(language))
    assert raw_of(conll) == text.encode()


@given(TEXTS, st.sampled_from(["en", "zh", "th", ""]))
@example("Don't \N{GRINNING FACE} go\u00a0on, \u0308x.", "en")
def test_any_raw_text_comes_back_from_icu(text, language):
    pytest.importorskip("icu4py")
    spans = IcuTokenizer(language).spans
    _, conll = conll_of(text, spans, None)
    assert raw_of(conll) == text.encode()
    if "\n" not in text:
        tokens = IcuTokenizer(language)(text.encode()).decode()
        assert tokens.replace(" ", "") == text.replace("\t", "").replace(" ", "")
        found = [text[a:b] for a, b in spans(text)]
        assert [part for token in tokens.split(" ") for part in token.split()] == found


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ("Don't \N{GRINNING FACE} go, x-ray.", "en", "Don't \N{GRINNING FACE} go , x - ray ."),
        ("\u6211\u559c\u6b22\u5403\u996d\u3002", "zh", "\u6211 \u559c\u6b22 \u5403\u996d \u3002"),
        ("\u0e1c\u0e21\u0e0a\u0e2d\u0e1a\u0e01\u0e34\u0e19\u0e02\u0e49\u0e32\u0e27", "",
         "\u0e1c\u0e21 \u0e0a\u0e2d\u0e1a \u0e01\u0e34\u0e19 \u0e02\u0e49\u0e32\u0e27"),
    ],
)  # fmt: skip
def test_words_of_icu(text, language, words):
    """As Mozilla's IcuTokenizer gives them, without the tokens of spaces."""
    pytest.importorskip("icu4py")
    assert IcuTokenizer(language)(text.encode()).decode() == words


@functools.cache
def tokenizer(language):
    return Tokenizer(language).spans


def test_spaces_and_lines():
    blocks, _ = conll_of("One,  two.\nThree|\n\n four")
    assert b"".join(blocks).decode().split("\n") == [
        *("# newpar", "# text = One, two.", "1\tOne\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No"),
        *("2\t,\t_\t_\t_\t_\t_\t_\t_\tSpacesAfter=\\s\\s", "3\ttwo\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No"),
        *("4\t.\t_\t_\t_\t_\t_\t_\t_\tSpacesAfter=\\n", "", "# text = Three|"),
        *("1\tThree\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No", "2\t|\t_\t_\t_\t_\t_\t_\t_\tSpacesAfter=\\n\\n\\s", ""),
        *("# newpar", "# text = four", "1\tfour\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No", "", ""),
    ]
    blocks, conll = conll_of("a b. C\n\n d\n", split=None)
    assert [len(block.split(b"\n")) for block in blocks] == [7, 4, 4]
    assert sentence_texts(conll) == [b"a b. C", b"", b"d"]


def test_what_is_not_raw_text_is_refused_with_its_line(tmp_path):
    (tmp_path / "x").write_bytes(b"good\n\xff\n")
    with pytest.raises(DataError, match=r"x:2: bytes that are not UTF-8"):
        list(stream_raw(str(tmp_path / "x"), "en"))
    path = tmp_path / "some.conllu"
    path.write_text("# text = a\n1\ta\ta\tDET\t_\t_\t0\troot\t_\t_\n\n")
    with pytest.raises(DataError, match="2: CoNLL, where plain text is expected"):
        list(stream_raw(str(path), "en"))


def test_parts_are_the_whole(tmp_path):
    text = "One is here. Two is there!\n\n" * 5
    (tmp_path / "x").write_text(text)
    parts = list(stream_raw(str(tmp_path / "x"), "en", most=3))
    assert [len(part) for part in parts] == [3, 3, 3, 1]
    raw = Raw()
    assert b"".join([*map(raw.add, parts), raw.end()]) == text.encode()
    assert [part.first_line for part in parts] == [1, *(1 + sum(len(p.lines) for p in parts[:k]) for k in (1, 2, 3))]


@pytest.mark.parametrize("library", ["sacremoses", "sentencex"])
def test_without_the_extra_it_says_what_to_install(library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UsageProblem, match=rf"^tokenize needs {library}: pip install 'aligntools\[tokenize\]'"):
        list(stream_raw("-", "en"))


def test_sentences_and_words_of_a_language():
    _, conll = conll_of(
        "L'État, M. Dupont, dit non. Voir http://a.org/b.", Tokenizer("fr").spans, sentence_splitter("fr")
    )
    assert b" ".join(conll.words).decode() == "L' État , M. Dupont , dit non . Voir http://a.org/b ."
    assert conll.offsets.tolist() == [0, 9, 12]


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


DOCUMENT = (
    '<?xml version="1.0"?><!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx a="1 &lt; 2">\n<x:y/>\u00e4&amp;b&nbsp;&#x41; '
    "<!-- c --><b>t<![CDATA[<q>]]>u</b>\n</tmx>\n"
)


def events(data):
    return list(XmlReader(io.BytesIO(data).read, "doc.xml"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_events_lie_side_by_side_in_every_encoding(encoding):
    data = DOCUMENT.encode(encoding)
    found = events(data)
    assert all(a.end == b.begin for a, b in itertools.pairwise(found))
    assert found[-1].end == len(data)
    reader = XmlReader(io.BytesIO(data).read, "doc.xml")
    assert data[next(iter(reader)).begin :].decode(reader.encoding) == DOCUMENT
    assert [(e.kind, e.name, e.local, e.attributes) for e in found if e.kind in ("start", "end")] == [
        ("start", "tmx", "tmx", {"a": "1 < 2"}),
        ("start", "x:y", "y", {}),
        ("end", "x:y", "y", {}),
        ("start", "b", "b", {}),
        ("end", "b", "b", {}),
        ("end", "tmx", "tmx", {}),
    ]
    assert "".join(e.text for e in found if e.kind == "text").split() == ["\u00e4&b", "A", "t<q>u"]
    empty = found[[e.name for e in found].index("x:y")]
    assert data[empty.begin : empty.end].decode(encoding[:6] if "sig" in encoding else reader.encoding) == "<x:y/>"
    assert empty.line == 3


def test_text_in_small_pieces_is_the_same():
    data = DOCUMENT.encode()
    places = iter(range(0, len(data), 7))
    small = list(XmlReader(lambda _size: data[(k := next(places, len(data))) : k + 7], "doc.xml"))
    assert small == events(data)


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (b"<a>\n <b></a>", "doc.xml:2: column 7: mismatched tag"),
        (b"<a>", "doc.xml:1: column 4: no element found"),
        (b"<a b=1/>", "doc.xml:1: column 6: not well-formed"),
        (b"<?xml version='1.0' encoding='UTF-99'?><a/>", ": unknown encoding: UTF-99; convert"),
        (b"<?xml version='1.0' encoding='gb18030'?><a/>", ": multi-byte encodings are not supported"),
        (b"<a>\xff</a>", "doc.xml:1: column 4: not well-formed"),
        (b"<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>", "declares the entity 'b'"),
        (b"<a>" * 300 + b"</a>" * 300, "more than 256 elements within each other"),
        (b"<a b='" + b"x" * (LONGEST_TAG + (1 << 18)), "a tag or comment of more than 16 MiB"),
    ],
)
def test_what_is_refused(document, problem):
    with pytest.raises(DataError) as caught:
        events(document)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_compressed_files(tmp_path):
    path = tmp_path / "t.xml"
    path.write_bytes(gzip.compress(DOCUMENT.encode("utf-16")))
    assert "".join(e.name for e in read_xml(path) if e.kind == "start") == "tmxx:yb"
    path.write_bytes(gzip.compress(DOCUMENT.encode())[:-9])
    with pytest.raises(DataError, match="cannot be read to its end"):
        list(read_xml(path))


def test_root():
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        assert xml_root(DOCUMENT.encode(encoding)) == "tmx"
    begun = [xml_root(DOCUMENT.encode()[:k]) for k in range(50)]
    assert begun == [None] * begun.count(None) + ["tmx"] * begun.count("tmx")
    assert xml_root(b"<!-- a --> <b>") == "b"
    assert [xml_root(text) for text in (b"", b"<", b"<?xml?>\n", b"<?xml?>\n<!-- a\n", b"<!-- a")] == [None] * 5
    assert {
        xml_root(text)
        for text in (b"\n", b" \n", b"<\n", b"<!-- a\n", b"a <b>", b"< a", b"<?xml" + b" " * (1 << 16), b"<! >")
    } == {""}
