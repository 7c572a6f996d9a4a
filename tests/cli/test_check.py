"""``aligntools check``: a row for every pair, the worst first, and an exit status for pipelines."""

import json

import pytest

import aligntools as at
from tests import models
from tests.cli.aligning import JOINT, SOURCE, TARGET, done
from tests.cli.running import ran, run

LINES = JOINT.read_text(encoding="utf-8").splitlines()
#: A translation with something put in and repeated, one without words, one that leaves half out.
BAD = [
    "Der Zug fährt um acht Uhr ab . ||| The train leaves at at eight o'clock with my new bicycle at 10 .",
    "Der Zug fährt ab . |||",
    "Der Gemeinderat hat die neue Brücke bezahlt , und ich habe gestern ein neues Fahrrad gekauft . ||| The village"
    " council has paid for the new bridge .",
]


@pytest.fixture(scope="module")
def model():
    return models.model("align")


@pytest.fixture
def mixed(file):
    return file("mixed", "".join(line + "\n" for line in LINES[:100] + BAD + LINES[100:]).encode())


def rows(data):
    return [line.split("\t") for line in data.decode().splitlines()]


def test_the_worst_come_first_with_their_line_numbers(model, mixed):
    result = done(run("check", "-m", model, "-i", mixed))
    found = rows(result.stdout)
    assert sorted(int(row[0]) for row in found) == list(range(1, len(LINES) + 4))
    assert {int(row[0]) for row in found[:3]} == {101, 102, 103}
    scores = [float(row[1]) for row in found]
    assert scores == sorted(scores, reverse=True)
    by_line = {int(row[0]): row for row in found}
    assert "added[" in by_line[101][6]
    assert "repeated[4:5] at" in by_line[101][6]
    assert "numbers +10" in by_line[101][6]
    assert by_line[102][6] == "left-out[0:5] Der Zug fährt ab ."
    assert by_line[103][6].startswith("left-out[")
    assert [row[3] for row in found[:3]] == ["flagged"] * 3
    assert by_line[7][7:] == LINES[6].split(" ||| ")
    assert b"243 pairs; " in result.stderr
    assert b"not checked: 1 blank; first at line 102" in result.stderr


def test_json_has_what_the_api_finds(model, mixed, tmp_path):
    out = tmp_path / "out"
    done(run("check", "-q", "-m", model, "-i", mixed, "--output-format", "json", "--in-order", "-o", out))
    found = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    sides = [[line.split("|||")[k].strip() for line in LINES[:100] + BAD + LINES[100:]] for k in (0, 1)]
    pairs = at.check(*sides, model=at.Aligner.load(model))
    assert [row["line"] for row in found] == list(range(1, len(LINES) + 4))
    assert [{**row, "source": 0, "target": 0} for row in found] == [
        json.loads(json.dumps(pair.as_dict() | {"source": 0, "target": 0})) for pair in pairs
    ]
    assert [pair.line for pair in pairs.worst[:3]] == sorted((101, 102, 103), key=lambda n: -pairs[n - 1].score)
    words = sides[1][100].split()
    assert all(" ".join(words[span.start : span.end]) == span.text for span in pairs[100].added + pairs[100].repeated)
    lists = at.check([s.split() for s in sides[0]], [t.split() for t in sides[1]], model=at.Aligner.load(model))
    assert lists.pairs == pairs.pairs


def test_a_summary_is_one_line_and_the_status_tells_what_is_flagged(model, mixed):
    how = ("check", "-q", "-m", model, "-i", mixed)
    line = done(run(*how, "--summary")).stdout.decode()
    assert line.startswith("243 pairs; ")
    assert line.count("\n") == 1
    flagged = rows(done(run(*how, "--flagged")).stdout)
    assert f"; {len(flagged)} flagged (" in line
    assert run(*how, "--summary", "--fail-above", "0").returncode == 3
    ran(*how, "--summary", "--fail-above", "0.5")
    ran(*how, "--summary", "--flag-above", "1e6", "--fail-above", "0")


def test_trained_models_raw_and_localized_text(tmp_path, model, file):
    text = ("-s", SOURCE, "-t", TARGET)
    own = done(run("check", "-q", *text, "--save-model", tmp_path / "m")).stdout
    assert done(run("check", "-q", "-m", tmp_path / "m", "-i", "-", stdin=JOINT.read_bytes())).stdout == own
    raw = file("raw", "„Der Zug“ fährt um 1.000 Uhr!\tThe train leaves at 1 000 with 3 men.\n".encode())
    found = rows(done(run("check", "-q", "-m", model, "-i", raw, "--tokenize", "de-en")).stdout)
    assert found[0][7:] == ["„Der Zug“ fährt um 1.000 Uhr!", "The train leaves at 1 000 with 3 men."]
    assert found[0][6].endswith("numbers +3")
    raw = file("raw", "".join(f"{source}\t{target}\n" for source, target in LOCALIZED).encode())
    found = done(run("check", "-q", "-m", model, "-i", raw, "--tokenize", "de-en", "--output-format", "json")).stdout
    assert [row["source"] for row in map(json.loads, found.splitlines()) if row["problems"] or row["flagged"]] == []


#: Translations as they should be, of text with what programs and languages write in it.
LOCALIZED = [
    ('Der "Zug" fährt ab.', "The «train» leaves."),
    ("„Der Zug fährt um acht Uhr ab.“", "「The train leaves at eight o'clock.」"),
    ("Der Zug fährt ab.<br>Ich habe ein Fahrrad.", "The train leaves.<br />I have a bicycle."),
    ('Der <a href="https://www.example.org/de/fahrplan/zug-a" title="Fahrplan der Züge">Zug</a> fährt ab.',
     'The <a title="Timetable" href="https://www.example.org/en/t?x=1">train</a> leaves.'),
    ("{n, plural, one {# Zug fährt ab} other {# Züge fahren ab}}",
     "{n, plural, one {# train leaves} few {# trains leave} many {# trains leave} other {# trains leave}}"),
    ("Der Zug fährt am 03.10.2024 um 16:30 Uhr ab.", "The train leaves on 10/03/2024 at 4:30 PM."),
    ("Der Zug fährt am 03.10.2024 ab.", "The train leaves on 3 October 2024."),
    ("Der Zug kostet 1.234,50 Euro.", "The train costs 1,234.50 euros."),
    ("Der Zug %1 fährt um %n Uhr ab.", "The train %1 leaves at %n o'clock."),
]  # fmt: skip
