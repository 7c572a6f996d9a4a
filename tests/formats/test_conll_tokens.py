"""Surface tokens and spaces of CoNLL-U."""

import gzip

import pytest

from aligntools.formats.annotation.conll import parse_conll, read_conll
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
from aligntools.ground.errors import DataError
from tests.places import REALDATA

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
    assert surface.words.tolist() == [0, 2, 3, 4, 6]
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
