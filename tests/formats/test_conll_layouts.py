"""CoNLL-U Plus and CoNLL-2009, by the one reader of CoNLL and the commands that stand on it."""

import gzip
import json

import pytest

import aligntools as at
from aligntools.formats.annotation.conll import parse_conll, parse_parts, read_conll
from aligntools.formats.annotation.conll_layouts import COLUMNS
from aligntools.formats.annotation.conll_tokens import (
    Raw,
    lines_of,
    sentence_texts,
    surface_of,
    unescaped,
    with_spaces,
    without_spaces,
)
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.pipeline import stream_requests
from tests import models
from tests.cli.running import ran, run
from tests.places import REALDATA

PLUS = (
    b"# global.columns = ID HEAD DEPREL FORM UPOS PARSEME:MWE\n# sent_id = 1\n"
    b"1-2\t_\t_\tdu\t_\t*\n1\t3\tcase\tde\tADP\t*\n2\t3\tdet\tle\tDET\t*\n3\t0\troot\tpain\tNOUN\t1:VID\n\n"
    b"# sent_id = 2\n1\t0\troot\tFin\tNOUN\t*\r\n\n"
)
#: The second word is a predicate, which the last column is about.
OF_2009 = (
    b"1\tThe\tthe\tthe\tDT\tNN\t_\t_\t2\t3\tNMOD\tSBJ\t_\t_\t_\n"
    b"2\tbus\tbus\tbus\tNN\tNN\tn=s\t_\t3\t3\tSBJ\tSBJ\t_\t_\tA0\n"
    b"3\tleaves\tleave\tleave\tVBZ\tNNS\t_\t_\t0\t0\tROOT\tROOT\tY\tleave.01\t_\n\n"
    b"1\tStop\tstop\tstop\tVB\tVB\t_\t_\t0\t0\tROOT\tROOT\t_\t_\n\n"
)


def lines(data):
    return data.splitlines(keepends=True)


def columns(data):
    conll = parse_conll("x", lines(data))
    return conll, [[value.decode() for value in conll.column(n)] for n in range(10)]


def test_columns_of_plus_are_where_the_header_has_them():
    conll, found = columns(PLUS)
    assert found[1] == ["de", "le", "pain", "Fin"]
    assert found[3] == ["ADP", "DET", "NOUN", "NOUN"]
    assert found[7] == ["case", "det", "root", "root"]
    assert found[2] == found[4] == found[9] == ["_"] * 4
    assert conll.heads().tolist() == [3, 3, 0, 0]
    assert conll.format() == PLUS
    assert conll.format({3: [b"A", b"B", b"C", b"D"], 4: [b"_"] * 4}) == (
        PLUS.replace(b"ADP", b"A")
        .replace(b"DET", b"B")
        .replace(b"pain\tNOUN", b"pain\tC")
        .replace(b"Fin\tNOUN", b"Fin\tD")
    )
    with pytest.raises(DataError, match="CoNLL-U Plus without a column for LEMMA"):
        conll.format({2: [b"a", b"b", b"c", b"d"]})


def test_columns_of_2009():
    conll, found = columns(OF_2009)
    assert found[1:4] == [["The", "bus", "leaves", "Stop"], ["the", "bus", "leave", "stop"], ["DT", "NN", "VBZ", "VB"]]
    assert found[5] == ["_", "n=s", "_", "_"]
    assert found[7] == ["NMOD", "SBJ", "ROOT", "ROOT"]
    assert conll.heads().tolist() == [2, 3, 0, 0]
    assert conll.format({3: [b"X"] * 4}) == OF_2009.replace(b"\tDT\t", b"\tX\t").replace(b"bus\tNN", b"bus\tX").replace(
        b"VBZ", b"X").replace(b"stop\tVB", b"stop\tX")  # fmt: skip
    with pytest.raises(
        DataError, match="x:3: head 9 is past the sentence's last word, 3; column 9 is another word's id"
    ):
        parse_conll("x", lines(OF_2009.replace(b"\t0\t0\tROOT\tROOT\tY", b"\t9\t0\tROOT\tROOT\tY"))).heads()


@pytest.mark.parametrize("data", [PLUS, OF_2009])
def test_parts_have_the_layout_of_the_file(data):
    parts = list(parse_parts("x", lines(data), 1))
    assert b"".join(part.format() for part in parts) == data
    assert [word for part in parts for word in part.words] == parse_conll("x", lines(data)).words


def test_ten_columns_in_their_order_are_conll_u(tmp_path):
    names = b"ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC"
    (tmp_path / "x").write_bytes(b"# global.columns = " + names + b"\n1\ta" + b"\t_" * 8 + b"\n\n")
    assert read_conll(tmp_path / "x").layout.usual
    (tmp_path / "x").write_bytes(PLUS)
    requests = [request.text.words for request in stream_requests(str(tmp_path / "x"))]
    assert requests == [[b"de", b"le", b"pain"], [b"Fin"]]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (PLUS.replace(b"\tdet\tle", b"\tle"), "x:5: 5 columns; global.columns has 6"),
        (PLUS.replace(b"FORM", b"WORD"), "x:1: no FORM in global.columns"),
        (PLUS.replace(b"ID HEAD", b"HEAD ID"), "x:1: global.columns begins with 'HEAD'"),
        (PLUS.replace(b"DEPREL", b"HEAD"), "x:1: column 'HEAD' is in global.columns twice"),
        (PLUS + b"# global.columns = ID FORM\n1\ta\n\n", "x:11: other global.columns than before"),
        (OF_2009.replace(b"\t_\t_\tA0", b"\t_\t_"), "x:2: 14 columns, where the line before has 15"),
        (OF_2009.replace(b"\tSBJ\tSBJ\t_\t_\tA0", b""), "x:2: 10 columns; CoNLL-2009 has at least 12"),
        (b"1\ta" + b"\t_" * 9 + b"\n\n", "x:1: 11 columns; CoNLL-X and CoNLL-U have 10"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(data, message):
    with pytest.raises(DataError) as error:
        parse_conll("x", lines(data))
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("data", [PLUS, OF_2009])
def test_commands_read_both(data, tmp_path):
    path = tmp_path / "x"
    path.write_bytes(data)
    plus = data is PLUS
    assert run("conll", path).stdout == (b"de le pain\nFin\n" if plus else b"The bus leaves\nStop\n")
    tags = b"ADP DET NOUN\nNOUN\n" if plus else b"DT NN VBZ\nVB\n"
    assert run("conll", path, "--to", "column").stdout == tags
    (tmp_path / "tags").write_bytes(tags)
    assert run("conll", path, "--put", "upos", tmp_path / "tags").stdout == data
    score = json.loads(run("eval-uas", "--json", path, path).stdout)["results"][0]
    assert (score["words"], score["uas"], score["las"]) == (4, 1, 1)
    assert json.loads(run("eval-tags", "--json", path, path).stdout)["results"][0]["accuracy"] == 1
    if plus:
        assert run("conll", path, "--tokens", "surface").stdout == b"du pain\nFin\n"


@pytest.mark.parametrize("data", [PLUS, OF_2009])
def test_tags_and_trees_are_written_into_both(data, tmp_path):
    (tmp_path / "x").write_bytes(data)
    tagged = ran("tag", "-q", "-m", models.model("tagger"), tmp_path / "x")
    (tmp_path / "tagged").write_bytes(tagged.stdout)
    parsed = ran("parse", "-q", "-m", models.model("small-parser"), tmp_path / "tagged")
    for out in tagged.stdout, parsed.stdout:
        conll = parse_conll("out", lines(out))
        assert conll.words == parse_conll("x", lines(data)).words
        assert b"_" not in conll.column(3)
        kept = 5 if data is PLUS else 1
        assert [row.split(b"\t")[kept : kept + 1] for row in lines(out)] == [
            row.split(b"\t")[kept : kept + 1] for row in lines(data)
        ]


def test_predicted_columns_of_2009():
    conll = parse_conll("x", lines(OF_2009)).predicted()
    found = [[value.decode() for value in conll.column(n)] for n in (2, 3, 5, 7)]
    assert found == [
        ["the", "bus", "leave", "stop"],
        ["NN", "NN", "NNS", "VB"],
        ["_"] * 4,
        ["SBJ", "SBJ", "ROOT", "ROOT"],
    ]
    assert conll.heads().tolist() == [3, 3, 0, 0]
    assert conll.format({3: [b"X"] * 4}) == OF_2009.replace(b"NN\t_\t_\t2", b"X\t_\t_\t2").replace(
        b"NN\tn=s", b"X\tn=s"
    ).replace(b"NNS", b"X").replace(b"VB\t_", b"X\t_")
    with pytest.raises(DataError, match="x:4: CoNLL-U Plus; predicted_columns is for CoNLL-2009"):
        parse_conll("x", lines(PLUS)).predicted()


@pytest.fixture
def of_2009(tmp_path):
    (tmp_path / "x").write_bytes(OF_2009)
    return tmp_path / "x"


def test_predicted_columns_are_put_and_scored(of_2009, tmp_path):
    assert run("conll", of_2009, "--predicted-columns", "--to", "tagged").stdout == (
        b"The_NN bus_NN leaves_NNS\nStop_VB\n"
    )
    (tmp_path / "heads").write_bytes(b"2 3 0\n0\n")
    put = run("conll", of_2009, "--predicted-columns", "--put", "head", tmp_path / "heads").stdout
    assert put == OF_2009.replace(b"\t2\t3\tNMOD", b"\t2\t2\tNMOD")
    found = json.loads(run("eval-uas", "--json", "--predicted-columns", of_2009, of_2009).stdout)["results"][0]
    assert (found["uas"], found["las"]) == (0.75, 0.75)
    tags = json.loads(run("eval-tags", "--json", "--predicted-columns", of_2009, of_2009).stdout)["results"][0]
    assert tags["accuracy"] == 0.5
    assert b"columns:predicted" in run("eval-uas", "--predicted-columns", of_2009, of_2009).stdout
    assert b"columns:predicted" in run("eval-tags", "--predicted-columns", of_2009, of_2009).stdout
    assert at.score_trees(of_2009, of_2009, predicted_columns=True).uas == 0.75
    assert at.score_tags(of_2009, of_2009, predicted_columns=True).accuracy == 0.5


def test_predicted_columns_are_learned_and_written(of_2009, tmp_path):
    with pytest.raises(UsageProblem, match="other text has no columns"):
        at.train_tagger(["a_B"], predicted_columns=True)
    tagger, parser = tmp_path / "tagger", tmp_path / "parser"
    for what, text, model in ("tagger", "--tagged", tagger), ("parser", "--treebank", parser):
        ran(f"train-{what}", "-q", "--predicted-columns", text, of_2009, "-o", model)
    bare = [[*row[:5], b"_", *row[6:9], b"_", *row[10:]] if len(row) > 1 else row for row in _rows(OF_2009)]
    (tmp_path / "bare").write_bytes(b"\n".join(map(b"\t".join, bare)) + b"\n")
    tagged = run("tag", "-q", "-m", tagger, tmp_path / "bare", "--predicted-columns").stdout
    assert [row[4] for row in _rows(tagged) if row[0]] == [b"DT", b"NN", b"VBZ", b"VB"]
    assert {row[5] for row in _rows(tagged) if row[0]} <= {b"NN", b"NNS", b"VB"}
    (tmp_path / "tagged").write_bytes(tagged)
    parsed = run("parse", "-q", "-m", parser, tmp_path / "tagged", "--predicted-columns").stdout
    assert [row[8] for row in _rows(parsed) if row[0]] == [b"2", b"3", b"0", b"0"]
    assert [row[9:12:2] for row in _rows(parsed) if row[0]] == [[b"3", b"SBJ"]] * 2 + [[b"0", b"ROOT"]] * 2


def _rows(data):
    return [row.split(b"\t") for row in data.splitlines()]


TREEBANKS = REALDATA / "treebanks" / "ud"


def row(id, form, misc="_"):
    return f"{id}\t{form}\t_\t_\t_\t_\t_\t_\t_\t{misc}"


def parsed(*rows):
    return parse_conll("x", [row.encode() + b"\n" for row in rows])


FRENCH = (
    "# newpar",
    row("1-2", "Au", "SpaceAfter=No"),
    row(1, "À"),
    row(2, "le"),
    row("2.1", "rien"),
    row(3, "25 000", "SpacesAfter=\\s\\n"),
    "",
    row(1, "a", "SpacesInToken=a\\sb"),
    row("2-3", "du"),
    row(2, "de"),
    row(3, "le"),
    "",
)


def test_tokens_spaces_and_values():
    surface = surface_of(parsed(*FRENCH))
    assert surface.column(COLUMNS["form"]) == [b"Au", b"25 000", b"a", b"du"]
    assert surface.offsets.tolist() == [0, 2, 4]
    assert surface.edges.tolist() == [0, 2, 3, 4, 6]
    conll = parsed(*FRENCH)
    assert sentence_texts(conll) == [b"Au25 000", b"a du"]
    raw = Raw()
    assert raw.add(conll) + raw.end() == b"Au25 000 \na b du\n"
    assert sentence_texts(parsed("# text = As written .", row(1, "x"), "")) == [b"As written ."]
    raw = Raw()
    assert raw.add(parsed(row(1, "a"), "", "# newpar", row(1, "b"), "", row(1, "c"), "")) == b"a\n\nb c"
    assert raw.end() == b"\n"
    assert unescaped(rb"\s\t\r\n\p\\s\x") == b" \t\r\n|\\s\\x"
    conll = parsed(*FRENCH)
    surface = surface_of(conll)
    written = surface.format({COLUMNS["misc"]: [b"A", b"B", b"C", b"D"]}).split(b"\n")
    before = conll.format().split(b"\n")
    differ = [k for k, (old, new) in enumerate(zip(before, written, strict=True)) if old != new]
    assert differ == [1, 5, 7, 8]
    assert written[8] == b"2-3\tdu\t_\t_\t_\t_\t_\t_\t_\tD"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ((row("2-3", "x"), row(1, "a"), row(2, "b"), row(3, "c"), ""), "x:1: the range 2-3 must stand before word 2"),
        ((row("1-3", "x"), row(1, "a"), row(2, "b"), ""), "x:1: the range 1-3 goes past the sentence's last word, 2"),
        ((row("1-2", "x"), row(1, "a"), row("2-3", "y"), row(2, "b"), row(3, "c"), ""), "x:3: the range 2-3 must"),
        ((row("1-1", "x"), row(1, "a"), ""), "x:1: the range 1-1 must"),
        ((row(1, "a"), row("2-3", "x"), "", row(1, "b"), row(2, "c"), ""), "x:2: the range 2-3 goes past"),
        ((row(1, "a"), row("1-2", "x"), "", row(1, "b"), row(2, "c"), ""), "x:2: the range 1-2 must"),
    ],
)
def test_wrong_ranges_are_refused_with_their_line(rows, message):
    with pytest.raises(DataError, match=message):
        surface_of(parsed(*rows))


def test_spaces_within_values_go_out_and_come_back():
    mark = b"\xc2\xa0"
    values = [b"25 000", b"25\xc2\xa0000", b"a \xc2\xa0 b", b"x"]
    shown = without_spaces(values, mark)
    assert not any(b" " in value for value in shown)
    assert with_spaces(shown, values, mark) == values
    assert with_spaces([b"26\xc2\xa0000", b"26\xc2\xa0000"], values[:2], mark) == [b"26 000", b"26\xc2\xa0000"]
    assert lines_of(values, surface_of(parsed(*FRENCH)).offsets, b"~").decode() == "25~000 25\u00a0000\na~\u00a0~b x\n"


@pytest.mark.slow
@pytest.mark.skipif(not TREEBANKS.is_dir(), reason="needs treebanks")
@pytest.mark.parametrize("path", sorted(TREEBANKS.glob("*.gz")), ids=lambda path: path.name)
def test_tokens_and_spaces_make_the_text_of_treebanks(path):
    with gzip.open(path) as file:
        lines = list(file)
    texts = sentence_texts(read_conll(path))
    bare = sentence_texts(parse_conll("x", [line for line in lines if not line.startswith(b"# text =")]))
    differ = sum(a.replace(b"\xc2\xa0", b" ") != b.replace(b"\xc2\xa0", b" ") for a, b in zip(texts, bare, strict=True))
    assert differ <= 0.005 * len(texts)
