"""XML as it streams in: events with the bytes they stand in, and what is refused in one line."""

import gzip
import io
import itertools

import pytest

from aligntools.formats.opening.streamed_xml import LONGEST_TAG, XmlReader, read_xml, xml_root
from aligntools.ground.errors import DataError

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
