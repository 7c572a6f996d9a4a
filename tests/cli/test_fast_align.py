import re
import subprocess
import sys

import pytest

from aligntools.api.threads import threads_of
from aligntools.cli.standins.fast_align import Flags, WrongFlags, parse, settings_of
from tests.cli.running import ROOT, fails, run

TEXT = ROOT / "data" / "samples" / "de-en.txt"


def fast_align(*args, stdin=b""):
    return run(*args, stdin=stdin, script="fast_align")


def flags_of(line):
    return parse(line.split())


def links(line):
    return [tuple(map(int, link.split("-"))) for link in line.split(" ||| ")[0].split()]


# --- flags


def test_flags_may_be_clustered_spelt_out_and_in_any_order():
    expected = Flags(input="f", reverse=True, favor_diagonal=True, optimize_tension=True, variational_bayes=True)
    assert parse(["-vodri", "f"]) == parse(["-i", "f", "-vodr"]) == flags_of("-rd -o -v -if") == expected
    long = "--input=f --reverse --favor_diagonal --optimize_tension --variational_bayes"
    assert flags_of(long) == parse(["--inp", "f", "--rev", "--favor", "--opt", "--var"]) == expected


def test_flags_with_values():
    flags = flags_of("-i - -I8 -q .1 -a 0.05 -p table -t -6 -b 500 -s -N -T 5")
    assert (flags.iterations, flags.p0, flags.alpha, flags.conditional_probabilities) == (
        8,
        0.1,
        0.05,
        "table",
    )
    assert flags.print_scores
    assert flags.no_null_word
    assert (flags.favor_diagonal, flags.diagonal_tension) == (True, 5)
    flags = flags_of("-i - -f table -m 1.07 -d")
    assert (flags.force_align, flags.mean_srclen_multiplier) == ("table", 1.07)


@pytest.mark.parametrize(
    "line",
    ["", "-d", "-x -i f", "-i f more", "-i f -I x", "-i f -I 0", "-i f -q 1", "-i f -v -a 0", "-i f -T nan"],
)
def test_wrong_flags(line):
    with pytest.raises(WrongFlags):
        flags_of(line)


def test_flags_become_settings():
    s = settings_of(flags_of("-i f -dvr -I 5"))
    assert (s.model, s.estimator, s.direction) == ("ibm2", "vb", "reverse")
    assert s.ibm_iterations + s.model_iterations == 4
    assert (s.alpha, s.p_null, s.optimize_tension) == (0.01, 0.08, False)
    s = settings_of(flags_of("-i f -N -I 3"))
    assert (s.model, s.estimator, s.direction) == ("ibm1", "em", "forward")
    assert (s.ibm_iterations + s.model_iterations, s.p_null) == (2, 0)


def test_threads_come_from_the_environment():
    assert [threads_of({"OMP_NUM_THREADS": x}) for x in ("3", " 2,4", "0", "x")] == [3, 2, None, None]
    assert threads_of({}) is None


def test_usage():
    done = fast_align("-z")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"option -z not recognized" in done.stderr
    assert b"\nUsage: fast_align -i file.fr-en\n" in done.stderr
    done = fast_align("-h")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"Usage:")


# --- training, and aligning with the table that it wrote


@pytest.fixture(scope="module", params=[False, True], ids=["forward", "reverse"])
def trained(request, tmp_path_factory):
    """Return whether in reverse, training's lines, messages, table, and the figures that scripts look for."""
    folder = tmp_path_factory.mktemp("trained")
    table = folder / "table"
    done = fast_align("-i", TEXT, "-vods", "-p", table, *["-r"] * request.param)
    assert done.returncode == 0
    messages = done.stderr.decode()
    found = {"tension": "", "ratio": ""}
    for line in messages.splitlines():  # as force_align.py looks for them
        if "expected target length" in line:
            found["ratio"] = line.split()[-1]
        elif "final tension" in line:
            found["tension"] = line.split()[-1]
    return request.param, done.stdout.decode().splitlines(), messages, table, found


def test_output_has_fast_aligns_order_and_links_the_right_words(trained):
    reverse, lines, _, _, _ = trained
    text = TEXT.read_text().splitlines()
    assert len(lines) == len(text)
    for line, pair in zip(lines, text, strict=True):
        source, target = (side.split() for side in pair.split(" ||| "))
        found = links(line)
        observed = [pair[0 if reverse else 1] for pair in found]
        assert observed == sorted(set(observed))
        assert all(i < len(source) and j < len(target) for i, j in found)
    full_stops = sum((len(p.split(" ||| ")[0].split()) - 1, len(p.split(" ||| ")[1].split()) - 1) in links(x)
                     for p, x in zip(text, lines, strict=True))  # fmt: skip
    assert full_stops > 0.95 * len(text)


def test_messages_that_scripts_look_for(trained):
    reverse, _, messages, table, found = trained
    text = [[len(side.split()) for side in line.split(" ||| ")] for line in TEXT.read_text().splitlines()]
    ratio = sum(i / j if reverse else j / i for i, j in text) / len(text)
    assert float(found["ratio"]) == pytest.approx(ratio, rel=1e-5)
    assert 0.1 <= float(found["tension"]) <= 14
    assert [int(n) for n in re.findall(r"^ITERATION (\d)", messages, re.M)] == [1, 2, 3, 4, 5]
    assert "\nITERATION 5 (FINAL)\n" in messages
    likelihoods = [float(x) for x in re.findall(r"log_e likelihood: (.*)", messages)]
    assert likelihoods == sorted(likelihoods)
    assert len(likelihoods) >= 3
    assert f"conditional probabilities: {table}\n" in messages


def test_forced_alignment_of_the_training_text_is_that_of_training(trained):
    reverse, lines, _, table, found = trained
    flags = ["-d", "-T", found["tension"], "-m", found["ratio"], "-f", table, *["-r"] * reverse]
    done = fast_align("-i", "-", *flags, stdin=TEXT.read_bytes())
    assert done.returncode == 0
    assert re.search(r"Loaded \d+ translation parameters\.\nTOTAL LOG PROB -", done.stderr.decode())
    rows = [line.split(" ||| ") for line in done.stdout.decode().splitlines()]
    assert [" ||| ".join(row[:2]) for row in rows] == TEXT.read_text().splitlines()
    # The table has six digits, so that two words may change places where they are equally good.
    same = sum(row[2] == line.split(" ||| ")[0] for row, line in zip(rows, lines, strict=True))
    assert same >= len(lines) - 2
    for row, line in zip(rows, lines, strict=True):
        assert float(row[3]) == pytest.approx(float(line.split(" ||| ")[1]), rel=1e-3, abs=1e-2)


def test_table_is_a_distribution_for_each_given_word(trained):
    reverse, _, _, table, _ = trained
    source, target = (
        {w for pair in TEXT.read_text().splitlines() for w in pair.split(" ||| ")[k].split()} for k in (0, 1)
    )
    if reverse:
        source, target = target, source
    sums = {}
    for line in table.read_text().splitlines():
        given, word, logarithm = line.split("\t")
        assert word in target
        sums[given] = sums.get(given, 0) + 2.718281828459045 ** float(logarithm)
    assert set(sums) == source | {"<eps>"}
    assert all(0 < total <= 1.001 for total in sums.values())  # below 1: variational Bayes


def test_forced_alignment_answers_each_line_at_once(trained):
    reverse, lines, _, table, found = trained
    pairs = TEXT.read_bytes().splitlines(keepends=True)
    command = [
        sys.executable,
        ROOT / "bin" / "fast_align",
        "-i",
        "-",
        "-d",
        "-T",
        found["tension"],
        "-f",
        table,
    ]
    process = subprocess.Popen(
        [*command, *["-r"] * reverse],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with process:
        for n in (5, 3):
            process.stdin.write(pairs[n])
            process.stdin.flush()
            answer = process.stdout.readline().decode().split("|||")
            assert answer[2].strip() == lines[n].split(" ||| ")[0]
        process.stdin.close()
    assert process.returncode == 0


# --- input


def test_standard_input_blank_sides_and_tabs():
    text = b"the house ||| das haus\n ||| blank\n\na house\tein haus\nthe book ||| das buch\n" * 10
    done = fast_align("-i", "-", "-N", stdin=text)
    assert done.returncode == 0
    lines = done.stdout.split(b"\n")
    assert lines[:5] == [b"0-0 1-1", b"", b"", b"0-0 1-1", b"0-0 1-1"]
    assert len(lines) == 51
    assert b"20 blank; first at line 2" in done.stderr


def test_wrong_input(tmp_path):
    fails(fast_align("-i", tmp_path / "none"), "cannot be opened")
    assert b"error: <stdin>:2: no ' ||| ' separator" in fast_align("-i", "-", stdin=b"a ||| b\n" + b"c d\n" * 5).stderr
    table = tmp_path / "table"
    table.write_bytes(b"a\tb\t-0.5\n<eps>\tb\t-2\n")
    done = fast_align("-i", "-", "-f", table, stdin=b"a ||| b\n ||| b\n")
    assert (done.returncode, done.stdout) == (1, b"a ||| b ||| 0-0 ||| -1.99294\n")  # as fast_align
    assert done.stderr.endswith(b"error: <stdin>:2: the source side is blank (remove the pair)\n")
    table.write_bytes(b"a\tb\t-0.5\na\tb\n")
    fails(fast_align("-i", "-", "-f", table, stdin=b"a ||| b\n"), f"{table}:2: 'a\\tb' is not two words and ln p")
