"""TMX, XLIFF and tables read as pairs: a line for each unit, in order, and copies of units as they stand."""

import gzip
import io
import pickle
import re

import pytest

from aligntools.formats.opening import files
from aligntools.formats.text.bitext import bitext_in_parts, read_bitext, stream_bitext
from aligntools.formats.text.exchange import PairsFile
from aligntools.formats.text.raw_pairs import RawPairs
from aligntools.ground.errors import DataError, UsageProblem

TMX = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="de-DE" segtype="sentence"><note>x</note></header>
<body>
  <tu tuid="1"><prop type="p">not text</prop>
    <tuv xml:lang="en-US"><seg>The <bpt>&lt;b&gt;</bpt>big<ept>&lt;/b&gt;</ept> house &amp; garden</seg></tuv>
    <tuv xml:lang="DE_de"><seg>Das gro\u00dfe
      <hi type="x">Haus</hi> &amp; der
      Garten<ph>&lt;br/&gt;</ph>neu<it pos="begin"><sub>nicht dies</sub></it>er</seg></tuv>
  </tu>
  <tu tuid="2"><tuv xml:lang="de"><seg>Nur dies</seg></tuv></tu>
  <tu tuid="3"/>
  <tu tuid="4"><tuv lang="de"><seg>Ein ||| Strich</seg></tuv><tuv lang="en"><seg>A\tbar</seg></tuv></tu>
</body></tmx>
"""
LINES = [
    "Das gro\u00dfe       Haus & der       Garten neuer\tThe big house & garden",
    "Nur dies\t",
    "\t",
    "Ein ||| Strich\tA bar",
]
XLIFF = """<xliff version="1.2"><file source-language="en" target-language="fr-FR"><body><group>
<trans-unit id="1"><source>Open <g id="1">the file</g><x id="2" ctype="lb"/>now</source>
 <seg-source><mrk mid="0" mtype="seg">no</mrk></seg-source>
 <target>Ouvrez <g id="1">le fichier</g><x id="2"/> <mrk mtype="seg">maintenant</mrk></target>
 <alt-trans><source>not</source><target>this</target></alt-trans></trans-unit>
<trans-unit id="2"><source>Close</source></trans-unit></group></body></file></xliff>"""
XLIFF_2 = """<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en" trgLang="fr"><file id="f">
<unit id="1"><mtc:matches xmlns:mtc="m"><mtc:match><source>not</source><target>this</target></mtc:match></mtc:matches>
<segment><source>Open <pc id="1">the <ph id="2"/>file</pc></source>
<target>Ouvrez <pc id="1">le fichier</pc></target></segment>
<ignorable><source> </source></ignorable><segment><source>Close</source><target>Fermez</target></segment>
</unit></file></xliff>"""
TABLE = "id\tde-DE\tNote\ten\n1\tHaus\tx\thouse\n2\tGarten\ty\n\n"


@pytest.fixture
def named(tmp_path):
    def write(text, name="memory.tmx", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text.encode(encoding) if isinstance(text, str) else text)
        return path

    return write


def lines(path, languages=None):
    with files.reading(PairsFile(path, languages)) as file:
        return file.read().decode().splitlines()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_tmx(named, encoding):
    assert lines(named(TMX.replace("UTF-8", encoding[:6].rstrip("-")), encoding=encoding)) == LINES
    path = named(gzip.compress(TMX.encode()))
    assert lines(path, "de,en") == LINES
    assert lines(path, "en-US, de-DE") == ["\t".join(line.split("\t")[::-1]) for line in LINES]
    assert lines(path, "en-GB,de")[0] == "\t" + LINES[0].split("\t")[0]  # en-US is not en-GB
    assert lines(path, "en-de") == lines(path, "en,de")


def test_xliff_and_tables(named):
    assert lines(named(XLIFF)) == ["Open the file now\tOuvrez le fichier maintenant", "Close\t"]
    assert lines(named(XLIFF), "fr,en") == ["Ouvrez le fichier maintenant\tOpen the file now", "\tClose"]
    assert lines(named(XLIFF_2)) == ["Open the file\tOuvrez le fichier", "Close\tFermez"]
    same = XLIFF.replace("fr-FR", "en-GB")
    assert lines(named(same))[0].startswith("Open the file now\tOuvrez")
    assert lines(named(TABLE), "en,de") == ["house\tHaus", "\tGarten", "\t"]
    assert lines(named(TABLE))[0] == TABLE.splitlines()[0]


@pytest.mark.parametrize(
    ("text", "languages", "problem"),
    [
        (TMX, "de,it", r"memory.tmx: no text in 'it'; it has de \(2\), DE_de \(1\), en \(1\)"),
        (TMX.replace("en-US", "fr"), None, r"text in 4 languages: de \(2\), .* languages, source first, such as de,en"),
        (re.sub('<tuv (xml:)?lang="en.*?</tuv>', "", TMX), None, r"text in one language, de \(2\)"),
        (re.sub("(?s)<tu .*</tu>", "", TMX), None, "TMX without translation units"),
        ("<tmx><body><tu></body></tmx>", None, r"memory.tmx:1: column 18: mismatched tag"),
        (TMX.replace('"tmx14.dtd"', '"tmx14.dtd" [<!ENTITY a "b">]'), None, "declares the entity 'a'"),
        (TABLE, "de,fr", "memory.tmx:1: no column 'fr' in the first line, and no TMX or XLIFF"),
        ("a ||| b\n", "de,en", "memory.tmx:1: no column 'de'"),
        (TMX[:300], None, r"memory.tmx:\d+: column \d+: "),
    ],
)  # fmt: skip
def test_what_is_refused(named, text, languages, problem):
    with pytest.raises(DataError, match=problem) as caught:
        read_bitext(joint=str(named(text)), languages=languages)
    assert "\n" not in str(caught.value)


def test_languages_and_readers(named):
    path = str(named(TMX))
    for about in ({"joint": path, "input_format": "tsv"}, {"source": path, "target": path}, {"joint": io.BytesIO()}):
        with pytest.raises(UsageProblem, match="languages"):
            read_bitext(**about, languages="de,en")
    for languages in ("de", "en-GB-de", "de,en,fr", "de-", ",en"):
        with pytest.raises(UsageProblem, match="two, source and target"):
            read_bitext(joint=path, languages=languages)
    path = str(named(TMX))
    whole = read_bitext(joint=path)
    assert len(whole) == 4
    assert whole.source.lengths().tolist() == [7, 0, 0, 3]
    words = {"source_vocabulary": whole.source_vocabulary, "target_vocabulary": whole.target_vocabulary}
    assert [len(b) for b in stream_bitext(joint=path, block_lines=3, **words)] == [3, 1]
    assert [len(b) for b in stream_bitext(joint=path, unbuffered=True, **words)] == [1] * 4
    assert [len(b) for b in bitext_in_parts(joint=path, pairs=2)] == [2, 2]
    assert pickle.loads(pickle.dumps(PairsFile(path, "en,de"))).languages == "en,de"


@pytest.mark.slow
def test_many_units_take_no_more_memory(named):
    import tracemalloc

    unit = '<tu><tuv xml:lang="de"><seg>Wort %d</seg></tuv><tuv xml:lang="en"><seg>word %d</seg></tuv></tu>'
    peaks = []
    for count in (2_000, 10_000):
        path = named("<tmx><body>" + "".join(unit % (n, n) for n in range(count)) + "</body></tmx>")
        tracemalloc.start()
        with files.reading(PairsFile(path)) as file:
            assert sum(block.count(b"\n") for block in files.line_blocks(file, 1 << 16)) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_units_are_copied_as_they_stand(named, encoding):
    path = named(TMX.replace("UTF-8", encoding), encoding=encoding)
    with_all = RawPairs(joint=str(path), copies=True)
    assert with_all.read(3)[1][0] == b"The big house & garden"
    copy = with_all.copy
    parts = [copy.take([True] * 3)]
    with_all.read(1)
    parts += [copy.take([True]), copy.rest()]
    with_all.close()
    assert b"".join(parts) == path.read_bytes()
    some = RawPairs(joint=str(path), copies=True)
    some.read(4)
    found = (some.copy.take([False, True, False, True]) + some.copy.rest()).decode(encoding)
    some.close()
    text = path.read_bytes().decode(encoding)
    first, third = (text[text.index(f'<tu tuid="{n}"') : text.index(f'<tu tuid="{n + 1}"')] for n in (1, 3))
    assert found.split() == text.replace(first, "").replace(third, "").split()
