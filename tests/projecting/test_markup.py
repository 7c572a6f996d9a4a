"""Tags carried over: what holds for any links, and what links decide."""

import re
import weakref

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import aligntools as at
from aligntools.cli.main import cli
from aligntools.formats.markup.segments import BrokenSegment, parse_segment, render
from aligntools.formats.markup.usfm import parse_usfm
from aligntools.projecting.markup.placement import SIZE, Evidence, MarkupSide, SparseLinks
from aligntools.projecting.markup.transfer import MarkupSettings, prepare, transferred
from aligntools.projecting.markup.words import WordFinder, missing_placeholders
from tests import models
from tests.docx_files import body, paragraph, parts_of, text, write_docx
from tests.naive_markup import best_span

WORDS = st.sampled_from(["der", "Zug", "fährt", "{0}", "12", "(", ")", ".", "–", "日本", "カタ", "&amp;", "x-y", "«"])
TEXT = st.lists(WORDS, max_size=4).map(" ".join)


@st.composite
def tagged(draw, depth=2):
    """A segment whose tags are well-formed."""
    parts = [draw(TEXT)]
    for _ in range(draw(st.integers(0, 2))):
        kind = draw(st.sampled_from(["pair", "empty", "comment", "cdata"]))
        space = draw(st.sampled_from(["", " "]))
        if kind == "pair":
            name = draw(st.sampled_from(["b", "a", 'g id="1"']))
            inner = draw(tagged(depth - 1)) if depth else draw(TEXT)
            parts.append(f"{space}<{name}>{space}{inner}</{name.split()[0]}>")
        else:
            parts.append({"empty": "<x/>", "comment": "<!-- - -->", "cdata": "<![CDATA[Zug]]>"}[kind])
        parts.append(space + draw(TEXT))
    return "".join(parts)


def tags(text):
    return sorted(re.findall(r"<!--.*?-->|<!\[CDATA\[|\]\]>|<[^<>]*>", text))


@given(tagged(), TEXT, st.integers(0, 2**32 - 1), st.sampled_from(["once", "repeat"]))
def test_tags_nest_and_stand_once_and_the_text_is_untouched(source, target, seed, splits):
    finders = WordFinder(), WordFinder()
    segment = parse_segment(source)
    rng = np.random.default_rng(seed)
    prepared = prepare(segment, target, finders)
    links = rng.random([len(words) for words in prepared.words]) ** 4
    found = transferred(prepared, SparseLinks.of(links), MarkupSettings(split_spans=splits))
    again = parse_segment(found.text)
    assert again.text == target
    if splits == "once":
        assert tags(found.text) == tags(source)
    else:
        assert set(tags(found.text)) == set(tags(source))
        for once in ("<a>", '<g id="1">', "<x/>"):
            assert tags(found.text).count(once) == tags(source).count(once)
    assert len(found.tags) == len(segment.marks)
    assert all(0 <= tag.confidence <= 1 and 0 <= tag.linked <= 1 for tag in found.tags)


def carried(source, target, pairs):
    """Carry tags over links that are certain, between words counted as they stand."""
    finders = WordFinder(), WordFinder()
    prepared = prepare(parse_segment(source), target, finders)
    links = np.zeros([len(words) for words in prepared.words])
    for pair in pairs.split():
        i, j = pair.split("-")
        links[int(i), int(j)] = 0.97
    return transferred(prepared, SparseLinks.of(links), MarkupSettings()).text


@pytest.mark.parametrize(
    ("source", "target", "links", "expected"),
    [
        ("<b>alles</b> gut.", "good <b>all</b>.", "0-1 1-0 2-2", None),
        ("<p>Alles gut.</p>", "<p>All good.</p>", "0-0 1-1 2-2", None),
        ("Das <b>rote Haus</b> da", "That <b>red house</b> there", "0-0 1-1 2-2 3-3", None),
        ("Zu {0} <b>und</b> {1}", "On {1} <b>and</b> {0}", "0-0 4-4", None),
        ("ein <b>neues <i>Rad</i></b> hier", "a <b>new <i>bicycle</i></b> here", "0-0 1-1 2-2 3-3", None),
        ("<b>Rot</b> und <b>Blau</b>", "<b>Blue</b> and <b>Red</b>", "0-2 1-1 2-0", None),
        ("Eins <br/>zwei", "One <br/>two", "0-0 1-1", None),
        ("Eins<br/>zwei", "One <br/>two", "0-0 1-1", "One<br/> two"),
        ("A &amp; <b>B</b>", "<b>B</b> &amp; A", "0-2 1-1 2-0", None),
        ("Click <b>Save</b> now", "<b>[保存]</b> 今", "1-1 1-2 2-4", None),
        ("Click [<b>Save</b>] now", "[<b>保存</b>] 今", "1-0 2-1 2-2 3-3 4-4", None),
        ("Nichts <b>davon</b> da", "None there", "0-0 2-1", None),
        # a note's number that the translation does not have; one that it calls otherwise
        ("Das<a>1</a> da<sup>[2]</sup>.", "That<a></a> there<sup></sup>.", "0-0 1-1 2-1 4-0 6-2", None),
        ("Das<a>1</a> da<a>2</a>.", "That<a></a> there<a>2</a>.", "0-0 2-1 3-2 4-3", None),
        ("Um <b>8</b> Uhr", "At <b>eight</b>", "0-0 1-1 2-1", None),
        ("Um <b>8</b> Uhr", "Now <b></b>then", "0-0 2-1", None),
        # the stop behind a block's last word is the block's own; that of an inline tag is not
        ("Da: <li>eins</li><li>zwei</li>", "There: <li>one.</li><li>two.</li>", "0-0 1-1 2-2 3-4", None),
        ("Da: <i>eins</i>, <i>zwei</i>", "There: <i>one</i>, <i>two</i>.", "0-0 1-1 2-2 3-3 4-4", None),
        ("Da: <li>eins</li>.", "There: <li>one</li>.", "0-0 1-1 2-2 3-3", None),
        # where sentences touch in the source, they do so in the translation
        (
            "Alles gut.<i>Die Züge kommen.</i>",
            "All is good.<i>The trains come.</i>",
            "0-0 0-4 1-2 2-3 4-5 5-6 6-7",
            None,
        ),
    ],
)
def test_what_links_decide(source, target, links, expected):
    plain = re.sub("<[^>]*>", "", target)
    found = carried(source, plain, links)
    if target == "None there":
        assert parse_segment(found).text == plain
        assert found.count("<b>") == found.count("</b>") == 1
    else:
        assert found == (expected or target)


def test_repeated_tags_and_scores():
    finders = WordFinder(), WordFinder()
    links = np.zeros((4, 5))
    for i, j in ((0, 0), (1, 1), (1, 3), (2, 2), (3, 4)):
        links[i, j] = 0.97
    for tag, twice in (("b", 2), ("a", 1)):
        source = f"sie <{tag}>anrufen</{tag}> alle ."
        prepared = prepare(parse_segment(source), "they ring all up .", finders)
        found = transferred(prepared, SparseLinks.of(links), MarkupSettings("repeat"))
        assert found.text.count(f"<{tag}>") == found.text.count(f"</{tag}>") in (1, twice)
    assert parse_segment(found.text).text == "they ring all up ."
    rng = np.random.default_rng(3)
    source, target = "the (new) Option – 3 x", 'die «neue» Option "drei" 3'
    spans = [WordFinder()(text).spans for text in (source, target)]
    evidence = Evidence(
        MarkupSide(source, spans[0]),
        MarkupSide(target, spans[1]),
        SparseLinks.of(rng.random([len(s) for s in spans]) ** 3),
    )
    weights = rng.normal(size=SIZE)
    for begin, end in ((0, 1), (1, 4), (2, 6)):
        features = evidence.features(begin, end)
        assert np.isclose(features.scores(weights).max(), best_span(features, weights)[0])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("l'eau d’or", "l' eau d’ or"),
        ("qu'il jusqu'à dell'acqua", "qu' il jusqu' à dell' acqua"),
        ("user's don't they're", "user 's don 't they 're"),
        ("users' 'x' 5'6 rock'n'roll", "users ' ' x ' 5 ' 6 rock 'n ' roll"),
    ],
)
def test_without_a_model_an_apostrophe_goes_with_what_is_shorter(text, words):
    assert " ".join(WordFinder()(text).words) == words
    places = {text.index("'") + 1} if text.startswith("l'") else set()
    assert " ".join(WordFinder()(text, places).words) == words


def test_apostrophes_placeholders_and_notes():
    assert WordFinder()("l'eau", {1}).words == ["l", "'", "eau"]
    assert missing_placeholders("{0} of {1}, %s, %s", "%s {1}") == ["{0}", "%s"]
    with pytest.raises(BrokenSegment, match="is not closed"):
        parse_usfm(r"\f + a")
    known = {"e-mail", "o'clock", "日本"}
    finder = WordFinder(lambda words: [word.lower() in known for word in words])
    assert finder("E-Mail at 8 o'clock, 日本語").words == ["E-Mail", "at", "8", "o'clock", ",", "日本", "語"]
    assert finder("日本語", cuts=[1]).words == ["日", "本", "語"]


# USFM


@pytest.mark.parametrize(
    ("line", "text", "marks"),
    [
        (
            r"\v 3 Der \nd Herr\nd* ist\f + \ft Note\f* da",
            "Der Herr ist da",
            [("\\v 3 ", 0, 0), ("\\nd ", 4, 8), ("\\f + \\ft Note\\f*", 12, 12)],
        ),
        (r"\p", "", [("\\p", 0, 0)]),
        (r"\add a \+nd b\+nd*\add*", "a b", [("\\add ", 0, 3), ("\\+nd ", 2, 3)]),
        (r'Der \w Zug|strong="H1"\w* da|b', "Der Zug da|b", [("\\w ", 4, 7)]),
        (
            r'\qt-s |sid="q" who="x"\*Der\qt-e |eid="q"\* Zug \ts\* \v 2-3a fährt',
            "Der Zug fährt",
            [('\\qt-s |sid="q" who="x"\\*', 0, 3), ("\\ts\\* ", 8, 8), ("\\v 2-3a ", 8, 8)],
        ),
        (
            r"a\nd* \nd b \add c\nd* d\add*",
            "a b c d",
            [("\\nd*", 1, 1), ("\\nd ", 2, 5), ("\\add ", 4, 4), ("\\add*", 7, 7)],
        ),
        (r"Der // \zx-Y 1 \xt Mt 1.1\xt* \p ", "Der 1 Mt 1.1", None),
    ],
)
def test_what_is_parsed_of_usfm(line, text, marks):
    found = parse_usfm(line)
    assert found.text == text
    assert marks is None or [(m.opening, m.begin, m.end) for m in found.marks] == marks
    assert render(found.text, found.marks, [[(m.begin, m.end)] for m in found.marks]) == line


def test_usfm_and_files_of_links(model, tmp_path):
    transfer = at.MarkupTransfer(at.Aligner.load(model), markup="usfm")
    found = transfer.transfer(r"\v 3 Der \nd Zug\nd*\f + \ft Bahn\f* fährt ab.", "The train leaves.")
    assert found.text == r"\v 3 The \nd train\nd*\f + \ft Bahn\f* leaves."
    (tmp_path / "a").write_text("Der \\nd Zug\\nd* fährt ab.\n")
    (tmp_path / "b").write_text("The train leaves.\n")
    files = "--source", tmp_path / "a", "--target", tmp_path / "b"
    found = run("-q", "-m", model, "--markup", "usfm", "--split-spans", "repeat", *files)
    assert found.output == "The \\nd train\\nd* leaves.\n"


# The command


@pytest.fixture(scope="module")
def model():
    return models.model("fast")


def run(*args):
    return CliRunner().invoke(cli, ["transfer-markup", *map(str, args)])


def test_the_command_writes_a_line_for_each_and_a_report(model, samples, tmp_path):
    found = run("-q", "-m", model, "--source", samples / "tagged.de", "--target", samples / "tagged.en",
                "--report", tmp_path / "r.tsv", "-o", tmp_path / "o")  # fmt: skip
    assert found.exit_code == 0, found.output
    written = (tmp_path / "o").read_text(encoding="utf-8").splitlines()
    source = (samples / "tagged.de").read_text(encoding="utf-8").splitlines()
    plain = (samples / "tagged.en").read_text(encoding="utf-8").splitlines()
    assert [parse_segment(line).text for line in written] == plain
    assert [tags(line) for line in written] == [tags(line) for line in source]
    assert written[1].startswith("The <b>train</b> leaves")
    rows = (tmp_path / "r.tsv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 1 + sum(len(parse_segment(line).marks) for line in source)
    assert all(len(row.split("\t")) == 6 for row in rows)


# XLIFF


def test_targets_of_xliff_get_tags_and_all_else_stays(model, samples, tmp_path):
    path = samples / "tagged.xlf"
    found = run("-q", "-m", model, path, "-o", tmp_path / "o.xlf")
    assert found.exit_code == 0, found.output
    expected = path.read_text(encoding="utf-8")
    for plain, with_tags in (
        (
            "The train leaves at eight o'clock.",
            """The <g id="1" ctype="bold">train</g> leaves at """
            """<x id="2" ctype="lb"/>eight o'clock.""",
        ),
        ("a book.", 'a <bpt id="1">&lt;em&gt;</bpt>book<ept id="1">&lt;/em&gt;</ept>.'),
    ):
        assert expected.count(plain) == 1
        expected = expected.replace(plain, with_tags)
    assert (tmp_path / "o.xlf").read_text(encoding="utf-8") == expected


def test_what_it_learns_from_may_come_in_one_file_or_in_two(samples, tmp_path):
    files = "--source", samples / "tagged.de", "--target", samples / "tagged.en"
    for name, more in (
        ("one", ["-i", samples / "de-en.txt"]),
        ("two", ["-s", samples / "de-en.de", "-t", samples / "de-en.en"]),
    ):
        found = run("-q", "--train", "--fast", "--tokenize", "icu", *more, *files, "-o", tmp_path / name)
        assert found.exit_code == 0, found.output
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    plain = (samples / "tagged.en").read_text("utf-8")
    assert re.sub("<[^>]*>", "", (tmp_path / "one").read_text("utf-8")) == re.sub("<[^>]*>", "", plain)


# Long segments


def tagged_words(count, nested=False):
    """A segment of so many words with as many tags, around one word each or all within each other."""
    if nested:
        return "<b>Zug " * count + "da" + "</b>" * count
    return " ".join(["<b>Zug</b>"] * count)


@pytest.mark.parametrize("nested", [False, True])
def test_scores_are_not_kept_and_those_of_long_segments_are_of_a_window(monkeypatch, nested):
    finders, count, most = (WordFinder(), WordFinder()), 300, 9 * 96**2
    prepared = prepare(parse_segment(tagged_words(count, nested)), " ".join(["van"] * count), finders)
    n, m = map(len, prepared.words)
    links = SparseLinks(np.arange(m), np.arange(m), np.full(m, 0.9), (n, m))
    kept, found_features = [], Evidence.features

    def features(self, *args):
        found = found_features(self, *args)
        kept.append(weakref.ref(found.whole))
        assert found.whole.size <= most
        assert sum(one() is not None for one in kept) <= 2
        return found

    monkeypatch.setattr(Evidence, "features", features)
    found = transferred(prepared, links, MarkupSettings())
    assert len(kept) >= count - 1
    assert found.text.count("<b>") == found.text.count("</b>") == count
    if not nested:
        assert found.text == " ".join(["<b>van</b>"] * count)


def test_tags_may_be_nested_as_deep_as_they_are():
    finders, count = (WordFinder(), WordFinder()), 3000
    source = f"{'<b>' * count}Zug{'</b>' * count} ab"
    prepared = prepare(parse_segment(source), "train leaves", finders)
    found = transferred(prepared, SparseLinks.of(np.eye(2)), MarkupSettings())
    assert found.text == f"{'<b>' * count}train{'</b>' * count} leaves"


@pytest.mark.parametrize("long", [tagged_words(2001), "<b>" + "x" * 100_001 + "</b> y", "<b>" + "x-" * 2600 + "</b> y"])
def test_a_segment_that_is_too_long_for_links_keeps_its_tags_and_is_counted(model, tmp_path, long):
    short = "Der <b>Zug</b> ab"
    (tmp_path / "s").write_text(f"{short}\n{long}\n")
    (tmp_path / "t").write_text(f"The train leaves\n{'one two ' * 500}\n")
    found = run("-m", model, "--source", tmp_path / "s", "--target", tmp_path / "t", "-o", tmp_path / "o")
    assert found.exit_code == 0, found.output
    lines = (tmp_path / "o").read_text().splitlines()
    assert lines[0] == "The <b>train</b> leaves"
    assert parse_segment(lines[1]).text == "one two " * 500
    assert tags(lines[1]) == tags(long)
    assert "1, first segment 2" in found.output
    assert "over-long" in found.output


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


def projected(*args):
    return CliRunner().invoke(cli, ["transfer-markup", "-q", *map(str, args)])


@pytest.fixture
def page(tmp_path):
    (tmp_path / "p.html").write_text(PAGE, "utf-8")
    (tmp_path / "lines").write_text(LINES, "utf-8")
    return tmp_path / "p.html"


def test_pages_with_lines_and_translated_pages(page, model, tmp_path):
    assert projected(page, "--segments", tmp_path / "segments").exit_code == 0
    segments = (tmp_path / "segments").read_text("utf-8")
    assert segments == "Der Zug\nDer Zug fährt um acht Uhr ab.\nEin Buch.\n{0} Kinder\n"
    found = projected(
        "-m", model, page, "--target", tmp_path / "lines", "--report", tmp_path / "r", "-o", tmp_path / "o"
    )
    assert found.exit_code == 0, found.output
    assert (tmp_path / "o").read_text("utf-8") == TAGGED
    rows = [row.split("\t") for row in (tmp_path / "r").read_text("utf-8").splitlines()]
    assert [(row[0], row[1]) for row in rows[1:]] == [
        *(("2", "<b>"), ("2", "<i>"), ("3", '<a href="buch.html">'), ("4", "{0}"))
    ]
    assert rows[-1] == ["4", "{0}", "0.000", "0.000", "missing", ""]
    expected = TAGGED.replace('"de"', '"en"').replace("<!-- {0} -->", "")
    (tmp_path / "t").write_text(re.sub("<b>|<i>|<a [^>]*>|</[abi]>", "", expected), "utf-8")
    assert projected("-m", model, page, "--target", tmp_path / "t").output == expected


def test_a_docx_gets_looks_and_the_rest_stays(model, tmp_path):
    main = body(
        paragraph(text("Der "), text("Zug", "<w:b/>"), text(" fährt ab.")), paragraph("<w:r><w:drawing/></w:r>")
    )
    source = write_docx(tmp_path / "a.docx", main)
    projected(source, "--segments", tmp_path / "segments")
    assert (tmp_path / "segments").read_text("utf-8") == "Der Zug fährt ab.\n"
    (tmp_path / "lines").write_text("The train leaves.\n")
    drawing = paragraph("<w:r><w:drawing/></w:r>")
    copy = write_docx(tmp_path / "c.docx", body(paragraph(text("The train leaves.")), drawing))
    for target in (tmp_path / "lines", copy):
        found = projected("-m", model, source, "--target", target, "-o", tmp_path / "b.docx")
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
    assert projected("-m", model, *files).exit_code == 0
    rows = [row.split("\t") for row in (tmp_path / "r").read_text("utf-8").splitlines()]
    assert [(row[0], row[1], row[4]) for row in rows[2:]] == [("1", "{0}", "missing"), ("1", "%d", "added")]
