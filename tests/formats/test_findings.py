"""What `check` wrote, read again."""

import json

import pytest

from aligntools.formats.links.findings import FoundWords, read_findings
from aligntools.ground.errors import DataError
from aligntools.tools.checks.check import FoundSpan, PairCheck
from aligntools.tools.checks.check_files import row

PAIRS = [
    PairCheck(
        7, 12.5, 0.9, True, 0.1, 0.2,
        [FoundSpan(1, 4, 4.0, "b ; added[0:1]")], [FoundSpan(0, 1, 3.0, "x")], [FoundSpan(2, 4, 2.0, "at at")],
        ["10"], ["12", "3"], [], ["{0}"],
    ),
    PairCheck(2, 0.0, 0.0, False, 0.0, 0.0, [], [], [], [], [], [], []),
]  # fmt: skip


@pytest.mark.parametrize("form", ["tsv", "json"])
def test_what_is_written_is_read_again(form, tmp_path):
    path = tmp_path / "found"
    path.write_text("".join(row(pair, "a b", "x y", form) + "\n" for pair in PAIRS))
    found = read_findings(path)
    assert found == [pair.finding for pair in PAIRS]
    assert [one.kind for one in found[0].words] == ["left-out", "added", "repeated"]
    assert found[0].differences == ("numbers -10 +12 +3", "placeholders +{0}")


GOOD = row(PAIRS[0], "a", "b", "tsv")


@pytest.mark.parametrize(
    "line",
    [
        "", "1\t2", GOOD.replace("flagged", "seen"), GOOD.replace("7\t", "0\t", 1), GOOD.replace("[1:4]", "[4:1]"),
        GOOD.replace("left-out", "lost"), GOOD.replace("added[0:1]", "added"), "{", "{}", '{"line": 1}',
        row(PAIRS[0], "a", "b", "json").replace('"start": 1', '"start": null'),
    ],
)  # fmt: skip
def test_another_line_is_refused_with_its_number(line, tmp_path):
    path = tmp_path / "found"
    path.write_text(f"{row(PAIRS[1], 'a', 'b', 'tsv')}\n{line}\n")
    with pytest.raises(DataError, match=r"is no line of check\(\)") as raised:
        read_findings(path)
    assert raised.value.line == 2


def test_a_pair_that_is_there_twice_is_refused(tmp_path):
    path = tmp_path / "found"
    path.write_text(f"{GOOD}\n{json.dumps(PAIRS[0].as_dict())}\n")
    with pytest.raises(DataError, match="pair 7 is there twice"):
        read_findings(path)


@pytest.mark.parametrize(
    ("words", "start", "text", "expected"),
    [
        ("the train leaves .", 1, "train leaves", (1, 3)),
        ("The train leaves at eight o'clock, at ten.", 6, "o'clock ,", (5, 6)),  # of tokens: raw words that have them
        ("at eight, at eight.", 3, "at eight", (2, 4)),
        ("at eight, at eight.", 0, "at eight", (0, 2)),
        ("a b", 0, "c", None),
        ("", 0, "c", None),
    ],
)
def test_places_are_found_in_text_that_is_cut_otherwise(words, start, text, expected):
    found = FoundWords("added", start, start + len(text.split()), text)
    assert found.within(words.split()) == expected
