"""Dictionaries: plain pairs, dictd, Apertium; compressed, odd and damaged."""

import gzip
import lzma

import pytest

from aligntools.formats.links.dictionary import Entry, plain, read_dictionary
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


@pytest.fixture
def file(tmp_path):
    """Write a file."""

    def write(name, data):
        (tmp_path / name).write_bytes(data)
        return str(tmp_path / name)

    return write


def base64(number):
    """dictd's numbers."""
    signs = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return (base64(number // 64) if number >= 64 else "") + signs[number % 64]


def dictd_files():
    """The index and the articles."""
    text, rows = b"", []
    for word, article in ARTICLES.items():
        data = article.encode()
        rows.append(f"{word}\t{base64(len(text))}\t{base64(len(data))}\n".encode())
        text += data
    return b"".join(rows), text


@pytest.mark.parametrize("change", [lambda d: d, lambda d: d.replace(b"\n", b"\r\n"), lambda d: b"\xef\xbb\xbf" + d])
@pytest.mark.parametrize("pack", [lambda d: d, gzip.compress, lzma.compress])
def test_plain_pairs(file, change, pack):
    assert read_dictionary(file("any.name", pack(change(LINES)))) == ENTRIES


def test_words_are_as_text_has_them():
    assert plain(" за́мок  ийё ") == "замок ийё"
    assert plain("ѝ ќ é") == "ѝ ќ é"  # letters of their own
    assert plain("e\u0301 ĳs") == "é ijs"


@pytest.mark.parametrize("given", ["a.index", "a.dict.dz"])
def test_dictd_is_read_by_either_file(file, given):
    index, articles = dictd_files()
    file("a.index", index)
    file("a.dict.dz", gzip.compress(articles))
    assert read_dictionary(file("a.index", index).removesuffix("a.index") + given) == [
        *(Entry("aback", word) for word in ("überrascht", "verdutzt", "zurück", "rückwärts", "hin")),
        Entry("go", "gehen"),
        Entry("замок", "Schloss"),
    ]


def test_dictd_that_is_not_compressed_or_twice(file):
    index, articles = dictd_files()
    file("a.dict", articles)
    assert len(read_dictionary(file("a.index.xz", lzma.compress(index)))) == 7
    path = file("a.tsv", b"a\tb\t2\nthe\tder\t3\n")
    assert read_dictionary(path) == [Entry("a", "b", 2.0), Entry("the", "der", 3.0)]


def test_dictd_that_is_damaged(file):
    index, articles = dictd_files()
    path = file("a.index", index)
    with pytest.raises(DataError, match=r"a\.index: is the index of a dictd dictionary; its articles, .*a\.dict\.dz"):
        read_dictionary(path)
    file("a.dict", articles[:-5])
    with pytest.raises(DataError, match=r"a\.index:5: the article ends at byte \d+, and .*a\.dict has \d+ bytes"):
        read_dictionary(path)
    file("a.dict", articles)
    with pytest.raises(DataError, match=r"a\.index:6: 'und so weiter': a headword and two numbers"):
        read_dictionary(file("a.index", index + b"und so weiter\n" * 3))
    file("a.dict", articles.replace(b"gehen", b"geh\xff\xff"))
    with pytest.raises(DataError, match=r"a\.index:3: the headword or its article is not UTF-8"):
        read_dictionary(file("a.index", index))
    with pytest.raises(DataError, match=r"b\.dict: has articles of a dictd dictionary; its index, .*b\.index"):
        read_dictionary(file("b.dict", articles))


def test_apertium(file):
    assert read_dictionary(file("a.xml", gzip.compress(DIX))) == [
        Entry("house", "Haus"),
        Entry("look for", "suchen"),
        Entry("Europa", "Europa"),
        Entry("preview", "preschau"),
    ]
    with pytest.raises(DataError, match=r"a\.dix:9: is not XML: mismatched tag"):
        read_dictionary(file("a.dix", DIX.replace(b"<e><i>Europa", b"<i>Europa")))
    with pytest.raises(DataError, match="not a dictionary of two languages"):
        read_dictionary(file("a.dix", DIX.replace(b"<p>", b"<x>").replace(b"</p>", b"</x>")))
    with pytest.raises(DataError, match="is XML, and not a dictionary of Apertium"):
        read_dictionary(file("a.tei", b'<?xml version="1.0"?>\n<TEI><text/></TEI>\n'))


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
        read_dictionary(file("a.tsv", data))
    assert "\n" not in str(raised.value)
