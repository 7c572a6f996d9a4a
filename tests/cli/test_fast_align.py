import re
import subprocess
import sys

import pytest

from aligntools.cli.standins import Wrong
from aligntools.cli.standins.fast_align import Dots, Flags, in_own_terms, parse, settings_of
from aligntools.ground.errors import ResourceError
from aligntools.ground.parallel import threads_of
from tests.cli.running import ROOT, fails, run, succeeds

TEXT = ROOT / "data" / "samples" / "de-en.txt"
GOLDENS = ROOT / "tests" / "data" / "fast_align"


def fast_align(*args, stdin=b""):
    return run(*args, stdin=stdin, script="fast_align")


def failed(done, *fragments):
    """Check the one line of error behind what fast_align says anyway."""
    done.stderr = re.sub(rb"^(ARG=.|INITIAL PASS |Loaded .*)\n", b"", done.stderr, flags=re.MULTILINE)
    return fails(done, *fragments)


def flags_of(line):
    return parse(line.split())


def links(line):
    return [tuple(map(int, link.split("-"))) for link in line.split(" ||| ")[0].split()]


# --- flags


def test_flags():
    def expected(given):
        return Flags(
            input="f", reverse=True, favor_diagonal=True, optimize_tension=True, variational_bayes=True, given=given
        )

    assert parse(["-vodri", "f"]) == expected("vodri")
    assert parse(["-i", "f", "-vodr"]) == expected("ivodr")
    assert flags_of("-rd -o -v -if") == expected("rdovi")
    long = "--input=f --reverse --favor_diagonal --optimize_tension --variational_bayes"
    assert flags_of(long) == parse(["--inp", "f", "--rev", "--favor", "--opt", "--var"]) == expected("irdov")
    flags = flags_of("-i - -I8 -q .1 -a 0.05 -p table -t -6 -b 500 -s -N -T 5")
    assert (flags.iterations, flags.p0, flags.alpha, flags.conditional_probabilities) == (8, 0.1, 0.05, "table")
    assert flags.print_scores
    assert flags.no_null_word
    assert (flags.favor_diagonal, flags.diagonal_tension) == (True, 5)
    flags = flags_of("-i - -f table -m 1.07 -d")
    assert (flags.force_align, flags.mean_srclen_multiplier) == ("table", 1.07)
    s = settings_of(flags_of("-i f -dvr -I 5"))
    assert (s.model_type, s.estimator, s.direction) == ("ibm2", "vb", "reverse")
    assert s.ibm1_iterations + s.iterations == 4
    assert (s.alpha, s.p_null, s.favor_diagonal, s.optimize_tension) == (0.01, 0.08, True, False)
    s = settings_of(flags_of("-i f -N -I 3"))
    assert (s.estimator, s.direction, s.favor_diagonal) == ("em", "forward", False)
    assert (s.ibm1_iterations + s.iterations, s.p_null, s.null_prior) == (2, 0, 0)
    assert settings_of(flags_of("-i f")).null_prior == -1
    assert settings_of(flags_of("-i f -do")).optimize_tension == "fast_align"
    assert settings_of(flags_of("-i f")).resolved(10**9).keep == 0  # no pair is left out, however large the text
    assert [threads_of({"OMP_NUM_THREADS": x}) for x in ("3", " 2,4", "0", "x")] == [3, 2, None, None]
    assert threads_of({}) is None


@pytest.mark.parametrize(
    "line",
    ["", "-d", "-x -i f", "-i f more", "-i f -I x", "-i f -I 0", "-i f -q 1", "-i f -v -a 0", "-i f -T nan",
     "-i f -I 1 -p t"],
)  # fmt: skip
def test_wrong_flags(line):
    with pytest.raises(Wrong):
        flags_of(line)


# --- what the real fast_align says


@pytest.mark.parametrize(
    ("name", "flags"),
    {
        "forward": ["-dov"], "reverse": ["-dov", "-r", "-s"], "ibm1": ["-N", "-I", "3"],
        "unlearned": ["-dor", "-s", "-I", "1"],
    }.items(),
)  # fmt: skip
def test_links_and_messages_are_fast_aligns(name, flags):
    done = fast_align("-i", TEXT, *flags)
    lines, expected = (data.decode().splitlines() for data in (done.stdout, (GOLDENS / f"{name}.align").read_bytes()))
    assert [line.split(" ||| ")[0] for line in lines] == [line.split(" ||| ")[0] for line in expected]
    if "-s" in flags:
        for line, other in zip(lines, expected, strict=True):
            assert float(line.split(" ||| ")[1]) == pytest.approx(float(other.split(" ||| ")[1]), rel=1e-4)
    said, real = done.stderr.decode().splitlines(), (GOLDENS / f"{name}.log").read_text().splitlines()
    assert said.pop().startswith("240 pairs, ")
    number = re.compile(r"(?<=[ =(])-?\d[\d.e+-]*")
    assert [number.sub("N", line) for line in said] == [number.sub("N", line) for line in real]
    for line, other in zip(said, real, strict=True):
        for x, y in zip(number.findall(line), number.findall(other), strict=True):
            assert float(x) == pytest.approx(float(y), rel=2e-5, abs=1e-6), line


def test_dots_come_every_thousand_lines():
    written = []
    dots = Dots(written.append)
    for lines in (999, 1, 48_000, 1_500, 60_000):
        dots.add(lines)
    dots.end()
    assert "".join(written) == "." * 50 + " [50000]\n" + "." * 50 + " [100000]\n" + "." * 10 + "\n"


def test_the_beam_of_the_table(tmp_path):
    def rows(*flags):
        assert fast_align("-i", TEXT, "-dov", "-I", "3", "-p", tmp_path / "p", *flags).returncode == 0
        found = {}
        for line in (tmp_path / "p").read_text().splitlines():
            given, word, logarithm = line.split("\t")
            found.setdefault(given, {})[word] = float(logarithm)
        return found

    whole, beam, narrow = rows("-t", "-1e6"), rows(), rows("-t", "-1")
    assert set(whole) == set(beam) == set(narrow)
    assert rows("-t", "-1e300") == whole
    for given, row in whole.items():
        best = max(row.values())
        assert beam[given].items() <= row.items()
        for word, p in row.items():
            if abs(p - 4 * best) > 1e-4:
                assert (word in beam[given]) == (p > 4 * best)
        assert set(narrow[given].values()) == {best}


# --- training, and aligning with the table that it wrote


@pytest.fixture(scope="module", params=[False, True], ids=["forward", "reverse"])
def trained(request, tmp_path_factory):
    """Return whether in reverse, training's lines, messages, table, and the figures that scripts look for."""
    folder = tmp_path_factory.mktemp("trained")
    table = folder / "table"
    done = succeeds(fast_align("-i", TEXT, "-vods", "-p", table, "-t", "-1e6", *["-r"] * request.param))
    messages = done.stderr.decode()
    found = {"tension": "", "ratio": ""}
    for line in messages.splitlines():  # as force_align.py looks for them
        if "expected target length" in line:
            found["ratio"] = line.split()[-1]
        elif "final tension" in line:
            found["tension"] = line.split()[-1]
    return request.param, done.stdout.decode().splitlines(), messages, table, found


def test_what_training_writes(trained):
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


def test_forced_alignment_and_its_table(trained):
    reverse, lines, _, table, found = trained
    flags = ["-d", "-T", found["tension"], "-m", found["ratio"], "-f", table, *["-r"] * reverse]
    done = succeeds(fast_align("-i", "-", *flags, stdin=TEXT.read_bytes()))
    assert re.search(r"Loaded \d+ translation parameters\.\nTOTAL LOG PROB -", done.stderr.decode())
    rows = [line.split(" ||| ") for line in done.stdout.decode().splitlines()]
    assert [" ||| ".join(row[:2]) for row in rows] == TEXT.read_text().splitlines()
    # The table has six digits, so that two words may change places where they are equally good.
    same = sum(row[2] == line.split(" ||| ")[0] for row, line in zip(rows, lines, strict=True))
    assert same >= len(lines) - 2
    for row, line in zip(rows, lines, strict=True):
        assert float(row[3]) == pytest.approx(float(line.split(" ||| ")[1]), rel=1e-3, abs=1e-2)
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
    command = [sys.executable, ROOT / "bin" / "fast_align", "-i", "-", "-d", "-T", found["tension"], "-f", table]
    process = subprocess.Popen(
        [*command, *["-r"] * reverse], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
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


def test_advice_names_no_flags_that_mean_other_things_here():
    for raised in (MemoryError(), ResourceError("about 9 GB are needed (`max_memory` sets another bound; x)")):
        with pytest.raises(ResourceError) as found, in_own_terms():
            raise raised
        assert "--" not in str(found.value)


@pytest.mark.slow
def test_the_environment_asks_for_the_best_links(monkeypatch):
    monkeypatch.setenv("ALIGNTOOLS_BEST", "1")
    forward, reverse = (fast_align("-i", TEXT, *more, "-d", "-o", "-v") for more in ((), ("-r",)))
    expected = run("align", "-q", "--best", "--no-encoder", "--case-sensitive", "-i", TEXT).stdout
    assert reverse.stdout == expected
    assert [sorted(line.split()) for line in forward.stdout.splitlines()] == [
        sorted(line.split()) for line in expected.splitlines()
    ]
    done = fast_align("-i", TEXT, "-p", "table")
    done.stderr = done.stderr.replace(b"ARG=i\nARG=p\n", b"")
    fails(done, "ALIGNTOOLS_BEST writes the links of another model", status=2)
