"""Dictionaries: plain pairs, dictd, Apertium; compressed, odd and damaged."""

import csv
import gzip
import io
import logging
import lzma
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.links.dictionary import Entry, plain, read_dictionary
from aligntools.formats.links.glossaries import COLUMNS, format_table, format_tbx, read_glossary
from aligntools.formats.models.word_vectors import read_word_vectors
from aligntools.formats.opening import files
from aligntools.ground.errors import DataError

LINES = (
    b"# English and German\n\nhouse\tHaus\ntown\tStadt; Ort ;;\n"
    b"to  look for\tsuchen\t0.5\ntown\tOrt\t3\n;\t;\n\xc2\xadwell\xe2\x80\x90known\tbekannt\n"
)
ENTRIES = [
    Entry("house", "Haus"),
    Entry("town", "Stadt"),
    Entry("town", "Ort", 3.0),
    Entry("to look for", "suchen", 0.5),
    Entry(";", ";"),
    Entry("well-known", "bekannt"),
]
ARTICLES = {
    "00databaseinfo": "00-database-info\nof a house\n",
    "aback": "aback /əbæk/ <adv>\n1. überrascht, verdutzt [poet.]\n2. zurück <adv> (alt; neu), rückwärts; hin\n",
    "go": "go /gəʊ/\ngehen\n see: {walk}\n Note: of people and trains\nin eine andere Richtung als vorher gehen\n",
    "empty": "empty /ɛmpti/\n",
    "за́мок": "за́мок\nSchloss, …\n",
}
DIX = b"""<?xml version="1.0" encoding="UTF-8"?>
<!-- a comment --><dictionary>
  <alphabet/>
  <sdefs><sdef n="n"/></sdefs>
  <pardefs><pardef n="p"><e><p><l>no</l><r>nein</r></p></e></pardef></pardefs>
  <section id="main" type="standard">
    <e><p><l>house<s n="n"/></l><r>Haus<s n="n"/><s n="nt"/></r></p></e>
    <e r="LR"><p><l>look<g><b/>for</g><s n="vblex"/></l><r>suchen</r></p><par n="p"/></e>
    <e><i>Europa<s n="np"/></i></e>
    <e><re>[0-9]+</re><p><l>x</l><r>y</r></p></e>
    <e i="yes"><p><l>old</l><r>alt</r></p></e>
    <e><p><l></l><r>nichts</r></p></e>
    <e><i>pre</i><p><l>view</l><r>schau</r></p></e>
  </section>
</dictionary>
"""


def read(path):
    return read_dictionary(str(path))


def base64(number):
    """dictd's numbers."""
    signs = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return (base64(number // 64) if number >= 64 else "") + signs[number % 64]


def dictd_files():
    text, rows = b"", []
    for word, article in ARTICLES.items():
        data = article.encode()
        rows.append(f"{word}\t{base64(len(text))}\t{base64(len(data))}\n".encode())
        text += data
    return b"".join(rows), text


@pytest.mark.parametrize("change", [lambda d: d, lambda d: d.replace(b"\n", b"\r\n"), lambda d: b"\xef\xbb\xbf" + d])
@pytest.mark.parametrize("pack", [lambda d: d, gzip.compress, lzma.compress])
def test_plain_pairs(file, change, pack):
    assert read(file(pack(change(LINES)), "any.name")) == ENTRIES


def test_words_are_as_text_has_them():
    assert plain(" за́мок  ийё ") == "замок ийё"
    assert plain("ѝ ќ é") == "ѝ ќ é"  # letters of their own
    assert plain("e\u0301 ĳs") == "é ijs"


@pytest.mark.parametrize("given", ["a.index", "a.dict.dz"])
def test_dictd_is_read_by_either_file(file, given):
    index, articles = dictd_files()
    file(index, "a.index")
    file(gzip.compress(articles), "a.dict.dz")
    assert read(file(index, "a.index").with_name(given)) == [
        *(Entry("aback", word) for word in ("überrascht", "verdutzt", "zurück", "rückwärts", "hin")),
        Entry("go", "gehen"),
        Entry("замок", "Schloss"),
    ]


def test_dictd_that_is_not_compressed_or_twice(file):
    index, articles = dictd_files()
    file(articles, "a.dict")
    assert len(read(file(lzma.compress(index), "a.index.xz"))) == 7
    path = file(b"a\tb\t2\nthe\tder\t3\n", "a.tsv")
    assert read(path) == [Entry("a", "b", 2.0), Entry("the", "der", 3.0)]


def test_dictd_that_is_damaged(file):
    index, articles = dictd_files()
    path = file(index, "a.index")
    with pytest.raises(DataError, match=r"a\.index: is the index of a dictd dictionary; its articles, .*a\.dict\.dz"):
        read(path)
    file(articles[:-5], "a.dict")
    with pytest.raises(DataError, match=r"a\.index:5: the article ends at byte \d+, and .*a\.dict has \d+ bytes"):
        read(path)
    file(articles, "a.dict")
    with pytest.raises(DataError, match=r"a\.index:6: 'und so weiter': a headword and two numbers"):
        read(file(index + b"und so weiter\n" * 3, "a.index"))
    file(articles.replace(b"gehen", b"geh\xff\xff"), "a.dict")
    with pytest.raises(DataError, match=r"a\.index:3: the headword or its article is not UTF-8"):
        read(file(index, "a.index"))
    with pytest.raises(DataError, match=r"b\.dict: has articles of a dictd dictionary; its index, .*b\.index"):
        read(file(articles, "b.dict"))


def test_apertium(file):
    assert read(file(gzip.compress(DIX), "a.xml")) == [
        Entry("house", "Haus"),
        Entry("look for", "suchen"),
        Entry("Europa", "Europa"),
        Entry("preview", "preschau"),
    ]
    with pytest.raises(DataError, match=r"a\.dix:9: is not XML: mismatched tag"):
        read(file(DIX.replace(b"<e><i>Europa", b"<i>Europa"), "a.dix"))
    with pytest.raises(DataError, match="not a dictionary of two languages"):
        read(file(DIX.replace(b"<p>", b"<x>").replace(b"</p>", b"</x>"), "a.dix"))
    with pytest.raises(DataError, match="is XML, and not a dictionary of Apertium"):
        read(file(b'<?xml version="1.0"?>\n<TEI><text/></TEI>\n', "a.tei"))


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"a\tb\nhouse Haus\n", r":2: 'house Haus' has 0 tabs; a word, a tab and its translation were expected"),
        (b"a\tb\t1\tn\n", r":1: .* has 3 tabs"),
        (b"a\t \n", r":1: 'a' has an empty side"),
        (b"\tb\n", r":1: 'b' has an empty side"),
        (b"a\t;;\n", r":1: .* has an empty side"),
        (b"a\tb\tmuch\n", r":1: 'much' is not a weight from 0 to 1e\+06"),
        (b"a\tb\tnan\n", r":1: 'nan' is not a weight"),
        (b"a\tb\t-1\n", r":1: '-1' is not a weight"),
        (b"a\tb\nH\xe4user\thouses\n", r":2: bytes that are not UTF-8"),
        (b"a\tb\0c\n", r"is binary|NUL"),
        (b"# nothing\n\n", r": has no entries"),
        (b"", r": has no entries"),
    ],
)
def test_what_is_none_is_one_line(file, data, problem):
    with pytest.raises(DataError, match=problem) as raised:
        read(file(data, "a.tsv"))
    assert "\n" not in str(raised.value)


NAMESPACE = "{urn:iso:std:iso:30042:ed-2}"
MARTIF = """<?xml version='1.0'?><!DOCTYPE martif SYSTEM "TBXBasiccoreStructV02.dtd"><martif type="TBX" xml:lang="en">
<text><body><termEntry id="1"><langSet xml:lang="en-US"><tig><term>water
 tank</term></tig></langSet><langSet xml:lang="de"><tig><term>Wassertank</term></tig><tig><term>Tank</term></tig>
</langSet></termEntry><termEntry id="2"><langSet xml:lang="fr"><tig><term>eau</term></tig></langSet></termEntry>
</body></text></martif>"""


def test_tables_and_tbx_of_others(file):
    rows = [("Wassertank", "water tank"), ("a, b", 'c "d"')]
    assert (
        read_glossary(file('# about\n\nWassertank\twater tank\tmore\r\na, b\tc "d"\nWassertank\twater tank\n')) == rows
    )
    assert read_glossary(file(gzip.compress(format_table([[*row, *["x"] * 7] for row in rows]).encode()))) == rows
    assert read_glossary(file(format_table([[*row, *["x"] * 7] for row in rows], comma=True))) == rows
    assert read_glossary(file("Haus,house\n")) == [("Haus", "house")]
    path = file(MARTIF)
    assert read_glossary(path) == [("water tank", "Wassertank"), ("water tank", "Tank")]
    assert read_glossary(path, ("de", "en")) == [("Wassertank", "water tank"), ("Tank", "water tank")]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Haus\thouse\nTank\n", "file:2: 'Tank' has no translation"),
        ("Haus\t\n", "file:1: 'Haus' has no translation"),
        ("", "file: has no terms"),
        ("# none\n", "has no terms"),
        (b"Haus\t\xff\n", "file:1: bytes that are not UTF-8"),
        (MARTIF.replace("</term>", "", 1), r"file:\d+: column \d+: mismatched tag"),
        (MARTIF.replace("termEntry", "entry"), "has no terms"),
    ],
)
def test_what_is_refused(file, text, problem):
    with pytest.raises(DataError, match=problem):
        read_glossary(file(text))


def test_tables_and_tbx_that_are_written(file):
    rows = [["a\tb", "c\nd", '"', *[""] * 6]]
    assert format_table(rows).splitlines() == ["\t".join(COLUMNS), "\t".join(["a b", "c d", '"', *[""] * 6])]
    assert [tuple(row) for row in csv.reader(io.StringIO(format_table(rows, comma=True), newline=""))] == [
        COLUMNS,
        ("a\tb", "c\nd", '"', *[""] * 6),
    ]
    entries = [
        (["Wassertank", "Der <Tank> & \x01"], ["water tank", "tank", "The tank"], "count 3"),
        (["Öl", ""], ["oil", ""], ""),
    ]
    text = "".join(format_tbx(entries, ("de", "en")))
    root = ElementTree.fromstring(text)
    assert (root.tag, root.attrib["type"], root.attrib["style"]) == (f"{NAMESPACE}tbx", "TBX-Basic", "dca")
    concepts = root.findall(f".//{NAMESPACE}conceptEntry")
    assert [concept.attrib["id"] for concept in concepts] == ["c1", "c2"]
    found = [[[term.text for term in section.iter(f"{NAMESPACE}term")] for section in c[1:]] for c in concepts]
    assert found == [[["Wassertank"], ["water tank", "tank"]], [["Öl"], ["oil"]]]
    assert [one.text for one in root.iter(f"{NAMESPACE}descrip")] == ["Der <Tank> & ", "The tank"]
    assert read_glossary(file(text)) == [("Wassertank", "water tank"), ("Wassertank", "tank"), ("Öl", "oil")]


VECTORS = b"the 1 2 3\ncat -0.5 1e-3 .25\nKatze 4 5 6 \nthe 9 9 9\n"
WANTED = [[1, 2, 3], [-0.5, 0.001, 0.25], [4, 5, 6], [0, 0, 0]]


@pytest.mark.parametrize("header", [b"", b"4 3\n", b"4 3 \r\n", b"\xef\xbb\xbf4\t3\n"])
@pytest.mark.parametrize("change", [lambda d: d, lambda d: d.replace(b" ", b"\t"), lambda d: d.replace(b"\n", b"\r\n")])
@pytest.mark.parametrize("pack", [lambda d: d, gzip.compress, lzma.compress])
def test_forms_of_files(file, header, change, pack, caplog):
    path = file(pack(header + change(VECTORS)), "a.vec")
    found = read_word_vectors(path, ["the", "cat", "katze", "dog"])
    np.testing.assert_allclose(found, WANTED)
    assert found.dtype == np.float32
    assert not caplog.records


def naive(lines, words):
    """A word's own first vector, or that of the first word that differs in case alone."""
    found = []
    for word in words:
        own = [row for row in lines if row[0] == word]
        like = [row for row in lines if row[0].lower() == word.lower()]
        found.append((own or like or [(word, [0, 0])])[0][1])
    return found


word = st.text("aAbBßẞİiéÉ猫", min_size=1, max_size=3)


@given(
    st.lists(st.tuples(word, st.lists(st.integers(-9, 9), min_size=2, max_size=2)), min_size=1, max_size=12),
    st.lists(word, unique=True, max_size=8),
    st.booleans(),
    st.integers(1, 40),
)
def test_a_word_has_its_own_vector_or_that_of_another_case(tmp_path_factory, rows, words, header, size):
    path = tmp_path_factory.getbasetemp() / "rows.vec"
    text = f"{len(rows)} 2\n" * header + "".join(f"{name} {a} {b}\n" for name, (a, b) in rows)
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        whole = files.blocks_of_lines
        patch.setattr(files, "blocks_of_lines", lambda name: whole(name, size))
        found = read_word_vectors(path, words)
    assert found.tolist() == (naive(rows, words) if words else [])


def test_what_no_word_of_the_text_has_is_not_read(file):
    """Words with spaces in them, blank lines, bytes that are not UTF-8, a word that is empty."""
    data = b"3 2\n. . 1 2\n\n\xff\xfe 1 2\n 5 6\nbad x y\nthe 3 4"
    assert read_word_vectors(file(data, "a.vec"), ["the", ".", "cat", "5"]).tolist() == [[3, 4]] + [[0, 0]] * 3


@pytest.mark.parametrize(
    ("data", "line", "problem"),
    [
        (b"2 3\nthe 1 2 3\ncat 1 2\n", 3, "2 numbers after the word; 3 were expected"),
        (b"the 1 2 3\ncat 1 x 3\n", 2, "'x' is not a number"),
        (b"the 1 2 3\ncat 1 nan 3\n", 2, "'nan' is not a number"),
        (b"the 1 2 3\ncat 1 1e99 3\n", 2, "'1e99' is not a number"),
        (b"", 1, "a word and its numbers were expected"),
        (b"\n\nthe 1\n", 1, "a word and its numbers were expected"),
        (b"the cat sat\n", 1, "'the cat sat': on each line"),
        (b"the\n", 1, "'the': on each line"),
        (b"5 0\n", 1, "a word and its numbers were expected"),
        (b"5 99999999999999999999\n", 1, "a word and its numbers were expected"),
        (b"2 3\n</s> \0\0\x80?\0\0\0@\0\0@@\n", 2, "is binary"),
        (b"\xba\x16O/\x0c\0\0\0\x64\0\0\0\x05\0\0\0word\0\xe8\3\0\0\0\0\0\0\n", 1, "is binary"),
    ],
)
def test_files_that_cannot_be_used(file, data, line, problem):
    path = file(data, "a.vec")
    with pytest.raises(DataError, match=problem) as found:
        read_word_vectors(path, ["the", "cat"])
    assert found.value.line == line
    assert "\n" not in str(found.value)
    assert str(found.value).startswith(f"{path}:")


def test_files_that_are_cut_short_or_not_there(file, caplog):
    with caplog.at_level(logging.WARNING):
        read_word_vectors(file(b"9 1\nthe 1\ncat 2\n", "a.vec"), ["the"])
    assert "has 2 words, and 9 by its first line: is it whole?" in caplog.text
    with pytest.raises(DataError, match="nowhere"):
        read_word_vectors("nowhere.vec", ["the"])
