"""Glossaries: tables and TBX, read, refused and written."""

import csv
import gzip
import io
from xml.etree import ElementTree

import pytest

from aligntools.formats.links.glossaries import COLUMNS, format_table, format_tbx, read_glossary
from aligntools.ground.errors import DataError

NAMESPACE = "{urn:iso:std:iso:30042:ed-2}"
MARTIF = """<?xml version='1.0'?><!DOCTYPE martif SYSTEM "TBXBasiccoreStructV02.dtd"><martif type="TBX" xml:lang="en">
<text><body><termEntry id="1"><langSet xml:lang="en-US"><tig><term>water
 tank</term></tig></langSet><langSet xml:lang="de"><tig><term>Wassertank</term></tig><tig><term>Tank</term></tig>
</langSet></termEntry><termEntry id="2"><langSet xml:lang="fr"><tig><term>eau</term></tig></langSet></termEntry>
</body></text></martif>"""


@pytest.fixture
def named(tmp_path):
    def write(text, name="glossary"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def test_tables_and_tbx_of_others(named):
    rows = [("Wassertank", "water tank"), ("a, b", 'c "d"')]
    assert (
        read_glossary(named('# about\n\nWassertank\twater tank\tmore\r\na, b\tc "d"\nWassertank\twater tank\n')) == rows
    )
    assert read_glossary(named(gzip.compress(format_table([[*row, *["x"] * 7] for row in rows]).encode()))) == rows
    assert read_glossary(named(format_table([[*row, *["x"] * 7] for row in rows], comma=True))) == rows
    assert read_glossary(named("Haus,house\n")) == [("Haus", "house")]
    path = named(MARTIF)
    assert read_glossary(path) == [("water tank", "Wassertank"), ("water tank", "Tank")]
    assert read_glossary(path, ("de", "en")) == [("Wassertank", "water tank"), ("Tank", "water tank")]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Haus\thouse\nTank\n", "glossary:2: 'Tank' has no translation"),
        ("Haus\t\n", "glossary:1: 'Haus' has no translation"),
        ("", "glossary: has no terms"),
        ("# none\n", "has no terms"),
        (b"Haus\t\xff\n", "glossary:1: bytes that are not UTF-8"),
        (MARTIF.replace("</term>", "", 1), r"glossary:\d+: column \d+: mismatched tag"),
        (MARTIF.replace("termEntry", "entry"), "has no terms"),
    ],
)
def test_what_is_refused(named, text, problem):
    with pytest.raises(DataError, match=problem):
        read_glossary(named(text))


def test_tables_and_tbx_that_are_written(named):
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
    assert read_glossary(named(text)) == [("Wassertank", "water tank"), ("Wassertank", "tank"), ("Öl", "oil")]
