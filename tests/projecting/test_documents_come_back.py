"""A document comes back as it was: all of it where its translation is its own text, else all but the segments.

Documents of every kind are put together here, with the text of their segments beside them. No link is right for them: a
model of other words is asked.
"""

import gzip
import io
import re
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aligntools as at
from aligntools.formats.markup.documents import read_document, read_translation
from tests import models
from tests.cli.running import ran, run
from tests.docx_files import body, paragraph, text, write_docx

QUICK = settings(max_examples=30)
#: Words as they are written in XML; all are in the model's text or in no text.
WORDS = [
    *("Der", "Zug", "fährt", "&amp;", "&lt;b&gt;", "&#228;", "12", "{0}", "日本", "«", "x-y", "👨‍👩‍👧", "&quot;", "."),
    "e\u0301",
]
ATTRIBUTES = ["", ' id="1"', " id='1'", ' a="x &gt; y" b = "2"', ' x:y="&quot;"', ' xml:space="preserve"']
SPACES = ["", " ", "  "]


@pytest.fixture(scope="module")
def model():
    return models.model("fast")


@pytest.fixture(scope="module")
def transfer(model):
    return at.MarkupTransfer(at.Aligner.load(model))


@st.composite
def words(draw):
    return "".join(draw(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(SPACES)).map("".join), max_size=4)))


@st.composite
def markup(draw, names, alone, depth=3):
    """Text with tags of these names around it and others alone, and its text."""
    tagged = plain = draw(words())
    for _ in range(draw(st.integers(0, 2))):
        if draw(st.booleans()):
            name, attributes = draw(st.sampled_from(names)), draw(st.sampled_from(ATTRIBUTES))
            attributes = "" if name.isdecimal() else attributes
            inner = draw(markup(names, alone, depth - 1)) if depth else (draw(words()),) * 2
            space = draw(st.sampled_from(["", " "]))
            tagged += f"<{name}{attributes}{space}>{inner[0]}</{name}{space}>"
            plain += inner[1]
        else:
            tagged += draw(st.sampled_from(alone))
        more = draw(words())
        tagged, plain = tagged + more, plain + more
    return tagged, plain


XML = markup(
    ["g", "x:g", "mrk"],
    ['<x id="1"/>', "<bx id='2' />", "<!-- <g> -->", "<?pi a>b?>", '<ph id="3">&lt;br/></ph>', "<ph>x</ph>"],
)
SEGMENTS = markup(
    ["b", "A", "x:y", "größe", "1"], ["<br>", "<br/>", "<IMG src=a.png>", "<0/>", "<!-- c -->", "<x a='<'/>"]
)
INLINE = markup(
    ["b", "A", "span"],
    ["<br>", "<br />", "<img src=a.png alt='>'>", "<!--c-->", "<wbr>", "&nbsp;", "<svg><b>x</b></svg>", "<i>", "</u>"],
)


def written(document, transfer):
    """A document with the tags of its sources, as the command writes it."""
    wanted = [one for one, yes in zip(document.segments, document.wanted, strict=True) if yes]
    found = transfer.transfer_pairs([(one.source, one.target.text) for one in wanted])
    return document.with_targets((a, b.text) for a, b in zip(wanted, found, strict=True) if not a.unchanged)


def with_lines(path, lines, transfer):
    """A document with lines of text as its translation."""
    (path.parent / "lines").write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="")
    return written(read_translation(read_document(path), path.parent / "lines"), transfer)


@QUICK
@given(st.lists(SEGMENTS, min_size=1, max_size=4))
def test_segments(transfer, pairs):
    found = list(transfer.transfer_batch(*zip(*pairs, strict=True)))
    assert [one.text for one in found] == [tagged for tagged, _ in pairs]
    assert {tag.how for one in found for tag in one.tags} <= {"copy"}


XLIFF_1 = (
    '<?xml version="1.0"?>\n<!DOCTYPE xliff>\n<!-- <target>no</target> -->\n<xliff  version = \'1.2\' xmlns:x="u">'
    "<file><header><note><![CDATA[<g>]]></note></header><body>\n",
    '<trans-unit  id="1"><source>{0}</source><target xml:lang="de" >{1}</target>'
    "<alt-trans><target>x</target></alt-trans></trans-unit>\n",
    "</body></file></xliff>\n<!-- ä -->",
)
SDL = (
    '<xliff version="1.2" xmlns:x="u" xmlns:sdl="s"><file><body>',
    '<trans-unit id="1"><source>{0}</source><seg-source><g id="9"><mrk mtype="seg" mid="7">{0}</mrk></g></seg-source>'
    '<target><g id="9"><mrk mtype="seg" mid="7">{1}</mrk></g></target>'
    '<sdl:seg-defs><sdl:seg id="7"/></sdl:seg-defs></trans-unit>',
    "</body></file></xliff>",
)
XLIFF_2 = (
    '<xliff version="2.0" xmlns:x="u" srcLang="de" trgLang="en"><file id="f">',
    '<unit id="1"><segment\tid="s"><source>{0}</source><target>{1}</target></segment><ignorable><source> </source>'
    "</ignorable></unit>",
    "</file></xliff>",
)
TMX = (
    '<?xml version="1.0"?><!DOCTYPE tmx SYSTEM "tmx14.dtd"><tmx version="1.4" xmlns:x="u"><header srclang="de"/><body>',
    '<tu><note>n</note><tuv xml:lang="de"><seg>{0}</seg></tuv>'
    '<tuv xml:lang="en"><prop type="x">y</prop><seg>{1}</seg></tuv></tu>',
    "</body></tmx>",
)


@QUICK
@given(
    st.lists(XML, min_size=1, max_size=3),
    st.sampled_from([XLIFF_1, SDL, XLIFF_2, TMX]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_files_of_translations(transfer, tmp_path, pairs, kind, encoding, newline):
    begin, unit, end = kind
    given, expected = (
        (begin + "".join(unit.format(pair[0], pair[k]) for pair in pairs) + end).replace("\n", newline).encode(encoding)
        for k in (1, 0)
    )
    (tmp_path / "a.xlf").write_bytes(given)
    assert written(read_document(tmp_path / "a.xlf"), transfer) == expected


@st.composite
def pages(draw):
    """The parts of a page: what is outside of segments, a segment, what is outside, and so on."""
    parts = [
        draw(
            st.sampled_from(["<!DOCTYPE html>\n<html lang='de'>", "\ufeff<!-- <p>x</p> -->", "<script>'<p>'</script>"])
        )
    ]
    for _ in range(draw(st.integers(1, 3))):
        opening, closing = draw(
            st.sampled_from([("<p>", ""), ("<P class=x >", "</P>"), ("<td\n id='a'>", "</td>"), ("<li>", "")])
        )
        tagged, plain = draw(INLINE)
        if not re.sub(r"[\s.«]|&nbsp;", "", plain):
            tagged += "Zug"
        parts[-1] += f"{opening}\n "
        parts += [tagged, f"\n{closing}<pre> a\n</pre><p translate='no'>bleibt</p>"]
    return parts


@QUICK
@given(pages(), st.sampled_from(["\n", "\r\n"]))
def test_pages(transfer, tmp_path, parts, newline):
    page = "".join(parts).replace("\n", newline)
    path = tmp_path / "a.html"
    path.write_bytes(page.encode())
    document = read_document(path)
    assert len(document.segments) == len(parts) // 2
    assert with_lines(path, document.plain(), transfer) == page.encode()
    translated = with_lines(path, ["The train"] * len(document.segments), transfer).decode()
    between = ".*?".join(re.escape(part.replace("\n", newline).rstrip("\r\n ")) for part in parts[::2])
    assert re.fullmatch(f"{between}\\s*", translated, re.DOTALL), translated


RUBY = (
    "<w:r><w:rPr><w:i/></w:rPr><w:ruby><w:rubyPr/><w:rt><w:r><w:t>とう</w:t></w:r></w:rt>"
    "<w:rubyBase><w:r><w:t>{}</w:t></w:r></w:rubyBase></w:ruby></w:r>"
)
FORMULA = "<m:oMath xmlns:m='m'><m:r><m:t>x</m:t></m:r></m:oMath>"
RUNS = (
    *(text("Der "), text("Zug", "<w:b/>"), text(" fährt", "<w:lang w:val='de-DE'/>"), RUBY.format("東"), FORMULA),
    *("<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t></w:r>", "<w:r><w:footnoteRef/></w:r>", "<w:bookmarkStart w:id='1'/>"),
    *("<w:proofErr w:type='spellStart'/>", "<w:r><w:br w:type='page'/></w:r>"),
    '<w:hyperlink r:id="rId1"><w:r><w:t>Rad</w:t></w:r></w:hyperlink>',
)


@QUICK
@given(st.lists(st.lists(st.sampled_from(RUNS), max_size=6), min_size=1, max_size=3))
def test_docx(transfer, tmp_path, paragraphs):
    path = write_docx(tmp_path / "a.docx", body(*(paragraph(*runs) for runs in paragraphs)))
    document = read_document(path)
    assert with_lines(path, document.plain(), transfer) == path.read_bytes()
    made = with_lines(path, ["The train"] * len(document.segments), transfer)
    before, after = (zipfile.ZipFile(io.BytesIO(data)) for data in (path.read_bytes(), made))
    assert before.namelist() == after.namelist()
    for name in before.namelist():
        if name != "word/document.xml":
            assert before.read(name) == after.read(name)
    (tmp_path / "b.docx").write_bytes(made)
    assert read_document(tmp_path / "b.docx").plain() == ["The train"] * len(document.segments)


STYLES = [
    ("\\nd {}\\nd*", 0),
    ('\\w {}|strong="H1" x-m="a:b"\\w*', 0),
    ("\\add {}\\+nd x\\+nd*\\add*", "x"),
    ("\\xt {}\\xt*", 0),
]
MARKERS = [
    *("\\v 3 ", "\\v 2-3a ", "\\c 1 ", "\\q1 ", "\\p ", "\\ts\\* ", "\\zcustom ", '\\qt-s |sid="1"\\*', "\\qt-e\\*")
]
NOTES = [
    "\\f + \\fr 1.1 \\ft Eine Note\\f*",
    "\\x - \\xo 1.1 \\xt Mt 1.1\\x*",
    '\\fig Bild|src="a.jpg"\\fig*',
    "\\ts-s\\*",
]


@st.composite
def usfm(draw):
    """A line of USFM and its text."""
    tagged, plain = draw(st.sampled_from(["", *MARKERS])), ""
    for _ in range(draw(st.integers(1, 4))):
        word = draw(st.sampled_from(["Zug", "Herr", "~", "ab//", "日本", "a|b"]))
        if draw(st.booleans()) and "|" not in word:
            style, more = draw(st.sampled_from(STYLES))
            tagged, plain = tagged + style.format(word), plain + word + (more or "")
        else:
            tagged, plain = tagged + word, plain + word
        tagged += draw(st.sampled_from(["", *NOTES]))
        tagged, plain = tagged + " ", plain + " "
    return tagged.rstrip(" "), plain.rstrip(" ")


@QUICK
@given(st.lists(usfm(), min_size=1, max_size=3))
def test_usfm(model, pairs):
    transfer = at.MarkupTransfer(at.Aligner.load(model), markup="usfm")
    assert [one.text for one in transfer.transfer_batch(*zip(*pairs, strict=True))] == [tagged for tagged, _ in pairs]


# The command

LINES = {"xml": ("Der <b>Zug</b>\r\n\r\n<i\tx = '1'>A</i> &amp; B", "Der Zug\r\n\r\nA &amp; B")}
LINES["usfm"] = ("\\p\r\n\\v 1 \\w Der|x\\w* Zug\r\n", "\r\nDer Zug\r\n")


@pytest.mark.parametrize("markup", LINES)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_lines_come_back_with_their_ends_and_byte_order_mark(model, tmp_path, markup, mark):
    for name, lines in zip("st", LINES[markup], strict=True):
        (tmp_path / name).write_bytes((mark + lines).encode())
    files = "--source", tmp_path / "s", "--target", tmp_path / "t"
    done = run("transfer-markup", "-m", model, "--markup", markup, *files)
    assert done.stdout == (tmp_path / "s").read_bytes()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.html", "\ufeff<!doctype html>\r\n<p CLASS=x >Der <B>Zug</B>&nbsp;&eacute;\r\n<td>x".encode()),
        ("b.html", "<meta charset=latin1><p>Für <i>é</i>".encode("latin-1")),
        ("c.html", "\ufeff<p>Der <b>Zug</b>".encode("utf-16-le")),
        ("d.html", gzip.compress(b"<p>Der <b>Zug</b>", mtime=0)),
        ("e.html", b"<pre>a</pre>"),
        ("f.docx", None),
    ],
)
def test_documents_come_back_from_the_command(model, tmp_path, name, data):
    path = tmp_path / name
    if data is None:
        write_docx(path, body(paragraph(*RUNS, text(" "))), word_footnotes=body(paragraph(*RUNS[::-1])))
    else:
        path.write_bytes(data)
    run("transfer-markup", path, "--segments", tmp_path / "lines")
    done = run("transfer-markup", "-m", model, path, "--target", tmp_path / "lines")
    expected = gzip.decompress(data) if name == "d.html" else path.read_bytes()
    assert done.stdout == expected, done.stderr


# Real translations


@pytest.fixture
def carried(model, tmp_path):
    """What the command writes of a document, and what it says."""

    def carry(name, data, *args, lines=None):
        data = data.encode() if isinstance(data, str) else data
        (tmp_path / name).write_bytes(data)
        if lines is not None:
            (tmp_path / "lines").write_text(lines, "utf-8")
            args = "--target", tmp_path / "lines", *args
        done = ran("transfer-markup", "-m", model, tmp_path / name, *args)
        return done.stdout if name.endswith(".docx") else done.stdout.decode(), done.stderr.decode()

    return carry


SDL_UNIT = (
    '<xliff version="1.2"><file><body><trans-unit id="1"><source>x</source><seg-source><mrk mtype="seg" mid="1">Der '
    '<g id="1">Zug</g> fährt.</mrk> <mrk mtype="seg" mid="2">Der <g id="2">Hund</g> schläft.</mrk></seg-source><target>'
    '<mrk mtype="seg" mid="2">{}</mrk> <mrk mtype="seg" mid="1">{}</mrk></target>{}</trans-unit></body></file></xliff>'
)
PLAIN = "The dog sleeps.", "The train leaves."
TAGGED = 'The <g id="2">dog</g> sleeps.', 'The <g id="1">train</g> leaves.'


def test_segments_of_xliff_pair_by_mid(carried):
    assert carried("a.xlf", SDL_UNIT.format(*PLAIN, ""))[0] == SDL_UNIT.format(*TAGGED, "")
    locked = '<sdl:seg-defs xmlns:sdl="s"><sdl:seg id="1" locked="true"/></sdl:seg-defs>'
    output, errors = carried("a.xlf", SDL_UNIT.format(*PLAIN, locked))
    assert output == SDL_UNIT.format(TAGGED[0], PLAIN[1], locked)
    assert "; 1 are final, locked or not to be translated, and are as they were" in errors
    unsegmented = SDL_UNIT.format(*PLAIN, "").replace("seg-source", "x")
    output, errors = carried("a.xlf", unsegmented)
    assert output == unsegmented
    assert "a.xlf: nothing was to be done: 2 have no segment of the source with their mid" in errors


@pytest.mark.parametrize(
    ("begin", "unit", "target"),
    [
        ('<trans-unit translate="no">', "trans-unit", "<target>"),
        ('<group translate="no"><trans-unit>', "trans-unit", "<target>"),
        ('<trans-unit approved="yes">', "trans-unit", "<target>"),
        ("<trans-unit>", "trans-unit", '<target state="final">'),
        ('<unit translate="no"><segment>', "segment", "<target>"),
        ('<file translate="no"><unit><segment>', "segment", "<target>"),
        ('<segment state="final">', "segment", "<target>"),
    ],
)
def test_what_is_final_or_not_to_be_translated_is_left_alone_and_counted(carried, begin, unit, target):
    end = "".join(f"</{name}>" for name in reversed(re.findall(r"<([\w-]+)", begin)))
    document = f'<xliff>{begin}<source>Der <g id="1">Zug</g></source>{target}The train</target>{end}</xliff>'
    output, errors = carried("a.xlf", document)
    assert output == document
    assert "a.xlf: nothing was to be done: 1 are final, locked or not to be translated" in errors
    free = document.replace(f"<{unit}", f'<group translate="yes"><{unit}').replace(f"</{unit}>", f"</{unit}></group>")
    free = free.replace(f'<{unit} translate="no"', f"<{unit}")
    if "translate" in begin:
        assert 'The <g id="1">train</g>' in carried("a.xlf", free)[0]


def test_tmx_of_three_languages_gets_the_tags_of_those_named(carried, tmp_path):
    document = (
        '<tmx version="1.4"><header srclang="fr"/><body><tu><tuv xml:lang="fr"><seg>Le <hi>train</hi></seg></tuv>'
        '<tuv xml:lang="en-US"><seg>The train</seg></tuv><tuv xml:lang="de"><seg>Der <hi>Zug</hi></seg></tuv></tu>'
        '<tu><tuv xml:lang="de"><seg><ph>x</ph></seg></tuv></tu></body></tmx>'
    )
    output, errors = carried("a.tmx", document, "--languages", "de,en")
    assert output == document.replace("The train", "The <hi>train</hi>")
    assert "1 have no translation" in errors


@pytest.mark.parametrize(
    ("runs", "line", "expected"),
    [
        (["Der Zug", "tab", "fährt"], "The train leaves", "The train[tab]leaves"),
        (["Der Zug", "br", " fährt"], "The train leaves", "The train[br] leaves"),
        (["footnoteRef", " Der Zug "], "The train", "[footnoteRef] The train "),
        (["Der Zug ", FORMULA, " fährt"], "The train leaves", "The train [oMath] leaves"),
        (["Der ", RUBY.format("Zug"), " fährt"], "The train leaves", "The [ruby]train leaves"),
        (["Der Zug", "endnoteReference", " fährt"], "The train leaves", "The train[endnoteReference] leaves"),
    ],
)
def test_spaces_of_docx_are_those_of_the_document(carried, tmp_path, runs, line, expected):
    runs = [
        one if one[0] == "<" else f"<w:r><w:{one}/></w:r>" if one.isascii() and one.isalpha() else text(one)
        for one in runs
    ]
    source = write_docx(tmp_path / "s", body(paragraph(*runs)))
    assert read_document(source).plain() == ["Der Zug fährt" if "leaves" in line else "Der Zug"]
    made, _ = carried("a.docx", source.read_bytes(), lines=f"{line}\n")
    main = zipfile.ZipFile(io.BytesIO(made)).read("word/document.xml").decode()
    main = re.sub(r"<w:rt>.*?</w:rt>|<m:r>.*?</m:r>", "", main)
    shown = re.findall(r"<w:t [^>]*>([^<]*)|<[wm]:(tab|br|footnoteRef|oMath|ruby|endnoteReference)\b", main)
    assert "".join(words or f"[{name}]" for words, name in shown) == expected


@pytest.mark.parametrize(
    ("page", "segment", "line", "expected"),
    [
        ("<p>Der Zug<br>fährt</p>", "Der Zug fährt", "The train leaves", "<p>The train<br>leaves</p>"),
        ("<p>Der Zug <br>\n fährt</p>", "Der Zug fährt", "The train leaves", "<p>The train <br>\n leaves</p>"),
        ("<p>Der Donau<wbr>zug</p>", "Der Donauzug", "The train", None),
        ("<p>Der <img> Zug</p>", "Der Zug", "The train", "<p>The <img> train</p>"),
        (
            "<p>Der <ruby>Zug<rp>(</rp><rt>とう</rt><rp>)</rp></ruby> fährt</p>",
            "Der Zug fährt",
            "The train leaves",
            "<p>The <ruby>train<rp>(</rp><rt>とう</rt><rp>)</rp></ruby> leaves</p>",
        ),
        (
            "<p><ruby>Der<rt>a</rt> Zug<rt>b</ruby> fährt</p>",
            "Der Zug fährt",
            "The train leaves",
            "<p><ruby>The<rt>a</rt> train<rt>b</ruby> leaves</p>",
        ),
    ],
)
def test_spaces_and_readings_of_html_are_those_of_the_document(carried, tmp_path, page, segment, line, expected):
    (tmp_path / "a").write_text(page)
    assert read_document(tmp_path / "a").plain() == [segment]
    output, _ = carried("a.html", page, lines=f"{line}\n")
    assert output == expected or (expected is None and output.replace("<wbr>", "") == f"<p>{line}</p>")


def test_a_segment_that_is_not_well_formed_costs_its_own_line(model, transfer, tmp_path):
    sources = ["Der <b>Zug</b>", "List<String>", "x<y", "<a@b.de>", "Der <1>Zug</1>", "Der <b>Zug</b>"]
    targets = ["The train", "List<String>", "x<y", "<a@b.de>", "The train", "The <i>train</i>"]
    expected = ["The <b>train</b>", *targets[1:4], "The <1>train</1>", targets[5]]
    for name, lines in (("s", sources), ("t", targets)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    done = run("transfer-markup", "-m", model, "--source", tmp_path / "s", "--target", tmp_path / "t")
    assert done.stdout.decode().split("\n")[:-1] == expected
    assert f"warning: 4 segments are left without tags, such as {tmp_path / 't'}:2: column 5: " in done.stderr.decode()
    found = list(transfer.transfer_batch(sources, targets))
    assert [one.text for one in found] == expected
    assert [bool(one.problem) for one in found] == [False, True, True, True, False, True]
    assert found[5].problem.startswith("target:6: has tags already, such as <i>")
    with pytest.raises(at.DataError, match="is not closed"):
        transfer.transfer(sources[1], "List")


def test_blocks_and_lines_that_are_no_markup(carried):
    page = "<p>Der Zug</p><p translate=no>Der Zug<p translate='no'>Der Zug</p><div translate=no>Der <div>Zug</div>"
    output, errors = carried("a.html", page, lines="The train\n")
    assert output == page.replace("Der Zug", "The train", 1)
    assert "; 3 are not to be translated, and are as they were" in errors
    page = "<h1>&lt;p> x</h1><p>Der <b>Zug</b></p>"
    assert carried("a.html", page, lines="<p> x\nDer Zug\n")[0] == page
