import functools
import gzip
import json
import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict

import numpy as np
import pytest

from aligntools.cli.main import cli
from aligntools.cli.main import run as run_program
from aligntools.formats import bitext, pharaoh
from tests import naive
from tests.cli.running import ROOT, fails, run, through_head

SAMPLES = ROOT / "data" / "samples"
SOURCE, TARGET, JOINT = SAMPLES / "de-en.de", SAMPLES / "de-en.en", SAMPLES / "de-en.txt"
TEXT = ("-s", SOURCE, "-t", TARGET)
LENGTHS = [
    tuple(len(side.split()) for side in line.split(" ||| ")) for line in JOINT.read_text(encoding="utf-8").splitlines()
]
LINK = re.compile(r"\d+-\d+")


@pytest.fixture
def inside(capfd):
    """Run ``aligntools align`` in this process: as a user runs it, but for the start of the interpreter."""
    handler = signal.getsignal(signal.SIGTERM)

    def align(*args):
        status = run_program(cli, ["align", *map(str, args)], "aligntools")
        captured = capfd.readouterr()
        return subprocess.CompletedProcess(args, status, captured.out.encode(), captured.err.encode())

    yield align
    signal.signal(signal.SIGTERM, handler)


@pytest.fixture
def file(tmp_path):
    def write(name, data):
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return write


def proper(data, lengths=LENGTHS, pattern=LINK):
    """Check lines of links: one a pair, within the sentences, sorted, none twice; return them."""
    assert data == b"" or data.endswith(b"\n")
    lines = data.decode().split("\n")[:-1]
    assert len(lines) == len(lengths)
    out = []
    for line, (i, j) in zip(lines, lengths, strict=True):
        words = line.split(" ") if line else []
        assert all(pattern.fullmatch(w) for w in words), line
        links = [tuple(map(int, w.split(":")[0].split("-"))) for w in words]
        assert links == sorted(set(links))
        assert all(a < i and b < j for a, b in links)
        out.append(links)
    return out


def done(process):
    assert process.returncode == 0, process.stderr
    assert b"Traceback" not in process.stderr
    return process


# What comes out


def test_a_line_for_each_pair(trained):
    links = proper((trained / "align").read_bytes())
    assert sum(map(len, links)) > 1500
    errors = (trained / "errors").read_text()
    assert re.fullmatch(rf"240 pairs, {sum(map(len, links))} links in [\d.]+ s \(\d+ pairs/s\)\n", errors)
    forward, reverse = (proper((trained / name).read_bytes()) for name in ("forward", "reverse"))
    for f, r in zip(forward, reverse, strict=True):
        assert len({j for _, j in f}) == len(f)  # a word of the observed side has one link at most
        assert len({i for i, _ in r}) == len(r)


@pytest.mark.parametrize("threads", [2, 4])
def test_the_number_of_threads_does_not_show(trained, tmp_path, threads):
    done(
        run(
            "align",
            *TEXT,
            "-o",
            tmp_path / "align",
            "--threads",
            threads,
            "--save-model",
            tmp_path / "model",
            "--forward-output",
            tmp_path / "forward",
            "--reverse-output",
            tmp_path / "reverse",
            "--scores",
            tmp_path / "scores",
            "--ttable",
            tmp_path / "ttable",
            "-q",
        )
    )
    for name in ("align", "forward", "reverse", "scores", "ttable", "model"):
        assert (tmp_path / name).read_bytes() == (trained / name).read_bytes(), name


def test_the_alignment_is_better_than_chance(trained):
    gold = [
        {tuple(map(int, re.split(r"[-?]", x))) for x in line.split()}
        for line in (SAMPLES / "de-en.wa").read_text().splitlines()
    ]
    found = proper((trained / "align").read_bytes())[: len(gold)]
    right = sum(len(set(f) & g) for f, g in zip(found, gold, strict=True))
    assert right / sum(map(len, found)) > 0.8
    assert right / sum(map(len, gold)) > 0.65


def test_scores(trained):
    rows = [list(map(float, line.split("\t"))) for line in (trained / "scores").read_text().splitlines()]
    assert len(rows) == len(LENGTHS)
    for (f, r, per_target, per_source), (i, j) in zip(rows, LENGTHS, strict=True):
        assert -1e5 < f < 0 > r > -1e5
        assert math.isclose(per_target, f / j, rel_tol=1e-4)
        assert math.isclose(per_source, r / i, rel_tol=1e-4)


def test_the_table(trained):
    sums, rows = defaultdict(float), []
    for line in (trained / "ttable").read_text().splitlines():
        source, target, logarithm = line.split("\t")
        rows.append((source, target))
        assert float(logarithm) <= 1e-6
        sums[source] += math.exp(float(logarithm))
    assert len(set(rows)) == len(rows)
    assert "<eps>" in sums
    assert max(sums.values()) <= 1 + 1e-4
    words = {w.lower() for line in SOURCE.read_text(encoding="utf-8").splitlines() for w in line.split()}
    assert set(sums) == words | {"<eps>"}


def test_a_table_of_words_that_are_cut_is_refused(inside, tmp_path):
    """A model of words' beginnings has no table of words to write."""
    process = inside(*TEXT, "--fast", "--ttable", tmp_path / "table", "-o", tmp_path / "out")
    fails(process, "--ttable writes whole words", "--views 0", status=2)
    done(inside(*TEXT, "--fast", "-o", tmp_path / "out", "--save-model", tmp_path / "model"))
    process = inside(*TEXT, "-m", tmp_path / "model", "--ttable", tmp_path / "table", "-o", tmp_path / "out")
    fails(process, "--ttable writes whole words", status=2)
    assert {p.name for p in tmp_path.iterdir()} == {"out", "model"}
    done(inside(*TEXT, "--fast", "--views", "0", "--ttable", tmp_path / "table", "-o", tmp_path / "out"))
    assert b"Gemeinderat".lower() in (tmp_path / "table").read_bytes()


def test_the_log(trained):
    rows = [json.loads(line) for line in (trained / "log").read_text().splitlines()]
    assert {row["stage"] for row in rows} == {"table", "ibm1", "hmm", "sampler"}
    assert all(row["seconds"] >= 0 for row in rows)
    assert all(len(row["log_likelihood"]) == 2 for row in rows if "iteration" in row)


# A saved model


def test_a_model_aligns_the_training_text_to_the_same_bytes(trained, tmp_path):
    done(
        run(
            "align",
            "-m",
            trained / "model",
            *TEXT,
            "-o",
            tmp_path / "align",
            "--forward-output",
            tmp_path / "forward",
            "--reverse-output",
            tmp_path / "reverse",
            "--scores",
            tmp_path / "scores",
            "--ttable",
            tmp_path / "ttable",
        )
    )
    for name in ("align", "forward", "reverse", "scores", "ttable"):
        assert (tmp_path / name).read_bytes() == (trained / name).read_bytes(), name


@pytest.mark.parametrize("more", [(), ("--unbuffered",), ("--threads", "3", "--max-memory", "300M")])
def test_from_standard_input_too(trained, more):
    got = done(run("align", "-m", trained / "model", "-i", "-", "-q", *more, stdin=JOINT.read_bytes()))
    assert got.stdout == (trained / "align").read_bytes()
    assert got.stderr == b""


@pytest.mark.parametrize("lines", [1, 7, 100])
def test_blocks_do_not_show(trained, tmp_path, inside, monkeypatch, lines):
    monkeypatch.setattr(bitext, "stream_bitext", functools.partial(bitext.stream_bitext, block_lines=lines))
    done(inside("-m", trained / "model", *TEXT, "-o", tmp_path / "align", "--scores", tmp_path / "scores"))
    for name in ("align", "scores"):
        assert (tmp_path / name).read_bytes() == (trained / name).read_bytes(), name


def test_parts_of_a_text_have_the_lines_of_the_whole(trained, inside, tmp_path):
    lines = JOINT.read_bytes().splitlines(keepends=True)
    expected = (trained / "align").read_bytes().splitlines(keepends=True)
    (tmp_path / "part").write_bytes(b"".join(lines[100:140]) + lines[3])
    done(inside("-m", trained / "model", "-i", tmp_path / "part", "-o", tmp_path / "out"))
    assert (tmp_path / "out").read_bytes() == b"".join(expected[100:140]) + expected[3]


def test_a_live_pipe_is_answered_line_by_line(trained):
    command = [
        sys.executable,
        "-m",
        "aligntools",
        "align",
        "-m",
        str(trained / "model"),
        "-i",
        "-",
        "--unbuffered",
        "-q",
    ]
    lines, expected = (
        data.splitlines(keepends=True) for data in (JOINT.read_bytes(), (trained / "align").read_bytes())
    )
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as process:
        watchdog = threading.Timer(60, process.kill)  # a line that never comes fails the test, not stops it
        watchdog.start()
        for n in (0, 5, 2):
            process.stdin.write(lines[n])
            process.stdin.flush()
            assert process.stdout.readline() == expected[n]
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"\n"
        process.stdin.close()
        assert process.wait() == 0
        watchdog.cancel()


@pytest.mark.parametrize("kind", ["hmm", "ibm2", "apart"])
def test_other_models_are_applied_as_they_were_trained(inside, tmp_path, kind):
    options = {
        "hmm": ("--fast",),
        "ibm2": ("--model", "ibm2", "--direction", "reverse"),
        "apart": ("--no-agreement", "--sweeps", "4", "--case-sensitive"),
    }[kind]
    model = tmp_path / "model"
    done(inside(*TEXT, *options, "-o", tmp_path / "one", "--save-model", model, "--symmetrize", "grow-diag"))
    done(inside("-m", model, "-i", JOINT, "-o", tmp_path / "two", "--symmetrize", "grow-diag"))
    proper((tmp_path / "one").read_bytes())
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_going_on_from_a_model(trained, inside, tmp_path):
    new = tmp_path / "new"
    new.write_text("Der Zug fährt nicht ab . ||| The train does not leave .\nneu ||| novel\n", encoding="utf-8")
    done(
        inside("--init-model", trained / "model", "-i", new, "-o", tmp_path / "out", "--save-model", tmp_path / "model")
    )
    (first, second) = proper((tmp_path / "out").read_bytes(), [(6, 6), (1, 1)])
    assert {(0, 0), (1, 1), (3, 3)} <= set(first)
    assert second == [(0, 0)]
    done(inside("-m", tmp_path / "model", "-i", new, "-o", tmp_path / "again"))
    assert (tmp_path / "again").read_bytes() == (tmp_path / "out").read_bytes()


def test_going_on_from_a_model_of_one_direction(inside, tmp_path):
    model = "--model", "hmm", "--direction", "reverse", "-q"
    done(inside("-i", JOINT, *model, "-o", tmp_path / "old", "--save-model", tmp_path / "a"))
    done(inside("-i", JOINT, "--init-model", tmp_path / "a", "-o", tmp_path / "new", "--save-model", tmp_path / "b"))
    done(inside("-i", JOINT, "-m", tmp_path / "b", "-o", tmp_path / "again"))
    assert (tmp_path / "again").read_bytes() == (tmp_path / "new").read_bytes()
    for sentence in proper((tmp_path / "new").read_bytes()):
        assert len({i for i, _ in sentence}) == len(sentence)


# Options


@pytest.mark.parametrize("model", ["ibm1", "ibm2", "hmm", "fertility"])
@pytest.mark.parametrize("estimator", ["vb", "em"])
def test_every_model_and_estimator(inside, tmp_path, model, estimator):
    out, scores, table = tmp_path / "out", tmp_path / "scores", tmp_path / "table"
    for agreement in ("--agreement", "--no-agreement"):
        for look_alike in ("--look-alike", "--no-look-alike"):
            done(
                inside(
                    *TEXT,
                    "--model",
                    model,
                    "--estimator",
                    estimator,
                    agreement,
                    look_alike,
                    "-o",
                    out,
                    "-q",
                    "--scores",
                    scores,
                    "--ttable",
                    table,
                    "--sweeps",
                    "3",
                    "--views",
                    "0",
                )
            )
            assert sum(map(len, proper(out.read_bytes()))) > 900
            assert np.isfinite(np.loadtxt(scores)).all()
            sums = defaultdict(float)
            for line in table.read_text().splitlines():
                sums[line.split("\t")[0]] += math.exp(float(line.split("\t")[2]))
            assert max(sums.values()) <= 1 + 1e-4
            if estimator == "em":
                assert min(sums.values()) > 0.95  # agreement leaves some words little but their floor


@pytest.mark.parametrize("direction", ["forward", "reverse"])
@pytest.mark.parametrize("decode", ["best", "posterior", "viterbi"])
def test_one_direction(inside, tmp_path, direction, decode):
    for model in ("ibm1", "ibm2", "hmm"):
        out = tmp_path / model
        done(inside(*TEXT, "--model", model, "--direction", direction, "--decode", decode, "-o", out, "-q"))
        links = proper(out.read_bytes())
        assert sum(map(len, links)) > 1000
        if decode != "posterior":
            for sentence in links:
                observed = [x[direction == "forward"] for x in sentence]
                assert len(set(observed)) == len(observed)


@pytest.mark.parametrize("decode", ["best", "posterior", "viterbi"])
@pytest.mark.parametrize("flavor", ["atools", "symal"])
def test_every_symmetrization(trained, inside, tmp_path, decode, flavor):
    names = "out", "forward", "reverse"
    for method in ("union", "intersect", "grow", "grow-diag", "grow-diag-final", "grow-diag-final-and"):
        done(
            inside(
                "-m",
                trained / "model",
                *TEXT,
                "--symmetrize",
                method,
                "--flavor",
                flavor,
                "--decode",
                decode,
                "-q",
                "-o",
                tmp_path / "out",
                "--forward-output",
                tmp_path / "forward",
                "--reverse-output",
                tmp_path / "reverse",
            )
        )
        out, forward, reverse = (proper((tmp_path / n).read_bytes()) for n in names)
        assert out == [naive.symmetrize(f, r, method, flavor) for f, r in zip(forward, reverse, strict=True)]


def test_link_probabilities_and_thresholds(trained, inside, tmp_path):
    out = tmp_path / "out"
    done(inside("-m", trained / "model", *TEXT, "--link-probabilities", "-o", out))
    pattern = re.compile(r"\d+-\d+:(1\.0+|0\.\d+)")
    links = proper(out.read_bytes(), pattern=pattern)
    assert links == proper((trained / "align").read_bytes())
    values = [float(x.split(":")[1]) for x in out.read_text().split()]
    assert 0.4 < min(values) < 0.5
    assert max(values) <= 1
    # a higher threshold leaves the links above it
    done(inside("-m", trained / "model", *TEXT, "--threshold", "0.7", "-o", tmp_path / "high"))
    expected = [
        [tuple(map(int, x.split(":")[0].split("-"))) for x in line.split() if float(x.split(":")[1]) > 0.7]
        for line in out.read_text().splitlines()
    ]
    assert proper((tmp_path / "high").read_bytes()) == expected
    assert pharaoh.read_pharaoh(str(out)).tolists() == links  # other commands read it


def test_views_seeds_and_speed(inside, tmp_path):
    def align(*options):
        done(inside(*TEXT, "-q", "-o", tmp_path / "out", *options))
        proper((tmp_path / "out").read_bytes())
        return (tmp_path / "out").read_bytes()

    one = align("--views", "4", "--sweeps", "5")
    assert one == align("--views", "4", "--sweeps", "5", "--seed", "1")
    assert one != align("--views", "4", "--sweeps", "5", "--seed", "2")
    assert one != align("--views", "0,4", "--sweeps", "5")
    assert align("--fast") == align("--model", "hmm", "--views", "5")
    assert align("--fast", "--case-sensitive") != align("--fast")
    align(
        "--model",
        "ibm2",
        "--tension",
        "6",
        "--p-null",
        "0.2",
        "--alpha",
        "0.01",
        "--ibm1-iterations",
        "1",
        "--iterations",
        "1",
    )


@pytest.mark.parametrize("model", ["ibm1", "ibm2", "hmm", "fertility"])
def test_extreme_settings_have_no_nan(inside, tmp_path, model):
    for options in (
        ("--p-null", "0", "--alpha", "1e-6"),
        ("--p-null", "0.99"),
        ("--alpha", "100"),
        ("--tension", "-3"),
        ("--tension", "500"),
    ):
        done(
            inside(
                *TEXT,
                "-q",
                "-o",
                tmp_path / "out",
                "--views",
                "0",
                "--model",
                model,
                "--scores",
                tmp_path / "s",
                "--sweeps",
                "3",
                *options,
            )
        )
        proper((tmp_path / "out").read_bytes())
        assert np.isfinite(np.loadtxt(tmp_path / "s")).all(), options


def test_compressed_in_and_out(trained, inside, tmp_path):
    for path in (SOURCE, TARGET):
        (tmp_path / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    text = "-s", tmp_path / "de-en.de.gz", "-t", tmp_path / "de-en.en.gz"
    done(inside("-m", trained / "model", *text, "-o", tmp_path / "out.gz", "--scores", tmp_path / "scores.xz"))
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()) == (trained / "align").read_bytes()
    done(inside(*text, "-o", tmp_path / "whole.gz"))
    assert (tmp_path / "whole.gz").read_bytes() == (tmp_path / "out.gz").read_bytes()


def test_what_is_said(inside, tmp_path):
    out = "-o", tmp_path / "out"
    assert inside(*TEXT, "--fast", *out, "-q").stderr == b""
    verbose = inside(*TEXT, "--model", "ibm2", *out, "-v").stderr.decode()
    for fragment in ("whole words: table", "ibm1 iteration 1: log-likelihood -", "tension", "peak memory", "240 pairs"):
        assert fragment in verbose
    assert "\r" not in verbose  # no progress bar where there is no terminal


def test_wrong_command_lines(trained, inside, tmp_path):
    model = trained / "model"
    for args, fragment in (
        ((), "-s FILE -t FILE"),
        (("-s", SOURCE), "-s FILE -t FILE"),
        ((*TEXT, "-i", JOINT), "-s FILE -t FILE"),
        (("-s", "-", "-t", "-"), "only one of the two files can be standard input"),
        ((*TEXT, "-m", model, "--save-model", tmp_path / "x"), "--init-model"),
        ((*TEXT, "-m", model, "--init-model", model), "--init-model"),
        ((*TEXT, "-m", model, "--fast"), "--fast is for a new model"),
        ((*TEXT, "--init-model", model, "--no-agreement"), "--agreement is for a new model"),
        ((*TEXT, "--direction", "forward", "--reverse-output", tmp_path / "r"), "leave out --direction forward"),
        ((*TEXT, "--unbuffered"), "--unbuffered goes with -m"),
        ((*TEXT, "--link-probabilities", "--symmetrize", "union"), "--symmetrize joint"),
        ((*TEXT, "--views", "3,3"), "--views"),
        ((*TEXT, "--views", "-1"), "--views"),
        ((*TEXT, "--views", "a"), "--views"),
        ((*TEXT, "--max-memory", "lots"), "no size"),
        ((*TEXT, "--threshold", "1.5"), "--threshold"),
        ((*TEXT, "--alpha", "0"), "--alpha"),
        ((*TEXT, "--threads", "0"), "--threads"),
        ((*TEXT, "--model", "ibm4"), "--model"),
        ((*TEXT, "-o", tmp_path / "x", "--scores", tmp_path / "x"), "two outputs have the same name"),
    ):
        fails(inside(*args), fragment, status=2)
    assert not list(tmp_path.iterdir())


def test_memory_that_is_too_little_is_said_before_the_start(inside, tmp_path):
    done = inside(*TEXT, "-o", tmp_path / "out", "--max-memory", "100M", "--save-model", tmp_path / "model")
    fails(done, "--max-memory 100M is too little: about", "M are needed")
    assert not list(tmp_path.iterdir())
    needed = re.search(rb"about (\d+M)", done.stderr)[1].decode()
    assert inside(*TEXT, "-o", tmp_path / "out", "--max-memory", needed, "--fast").returncode == 0


# Bad input: a blank line for a pair, or one line of error

BAD = [
    b"der zug ||| the train",
    b"",
    b"der zug |||",
    b"||| the train",
    b"  \t ||| \t",
    b"caf\xe9 ||| coffee",
    b"a " * 10_000 + b"||| b",
    b"das haus ||| " + b"the " * 2001,
    b"das haus ||| the house",
]
BAD_LENGTHS = [(2, 2), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (2, 2)]


def test_pairs_that_cannot_be_aligned_get_blank_lines(trained, inside, file, tmp_path):
    bad = file("bad", b"\n".join(BAD) + b"\n")
    summary = b"blank lines written for: 4 blank, 1 not UTF-8, 2 over-long; first at line 2\n"
    for options in ((), ("--fast",), ("-m", trained / "model"), ("-m", trained / "model", "--unbuffered")):
        process = done(inside("-i", bad, "-o", tmp_path / "out", "--scores", tmp_path / "scores", *options))
        links = proper((tmp_path / "out").read_bytes(), BAD_LENGTHS)
        assert links[0]
        assert links[-1]
        assert summary in process.stderr
        scores = (tmp_path / "scores").read_text().splitlines()
        assert len(scores) == len(BAD)
        assert scores[1] == "0\t0\t0\t0"
    longer = done(inside("-i", bad, "-o", tmp_path / "out", "--max-length", "20000", "-m", trained / "model"))
    assert b"over-long" not in longer.stderr


@pytest.mark.parametrize("line", range(1, 8))
def test_strict_stops_there(trained, inside, file, tmp_path, line):
    bad = file("bad", b"\n".join([BAD[0], BAD[line], BAD[-1]]))
    for options in ((), ("-m", trained / "model"), ("-m", trained / "model", "--unbuffered")):
        fails(inside("-i", bad, "-o", tmp_path / "out", "--strict", *options), f"{bad}:2: ")
    assert [p.name for p in tmp_path.iterdir()] == ["bad"]


def test_texts_of_nothing_but_blank_lines(trained, inside, file, tmp_path):
    blank = file("blank", b"\n" * 5)
    for options in ((), ("--model", "ibm2"), ("--fast",), ("-m", trained / "model")):
        process = done(
            inside(
                "-i",
                blank,
                "-o",
                tmp_path / "out",
                "--save-model" if not options else "--scores",
                tmp_path / "x",
                *options,
            )
        )
        assert (tmp_path / "out").read_bytes() == b"\n" * 5
        assert b"5 blank" in process.stderr


@pytest.mark.parametrize("options", [(), ("-m",)])
def test_texts_that_do_not_fit(trained, inside, file, tmp_path, options):
    options = ("-m", trained / "model") if options else ()
    good, short = file("good", b"a b\nc d\ne\n"), file("short", b"a\nb\n")
    out = "-o", tmp_path / "out", "--scores", tmp_path / "scores"
    fails(inside("-s", good, "-t", short, *out, *options), f"{good}:3: ", "no counterpart", "2")
    fails(inside("-s", short, "-t", good, *out, *options), f"{good}:3: ")
    bad = file("bad", b"a ||| b\na b\n")
    fails(inside("-i", bad, *out, *options), f"{bad}:2: no ' ||| ' separator", "-s and -t")
    fails(inside("-i", file("two", b"a ||| b ||| c\n"), *out, *options), ":1: 2 separators")
    fails(inside("-i", file("empty", b""), *out, *options), "empty: is empty")
    fails(inside("-i", tmp_path / "missing", *out, *options), "missing: cannot be opened: No such file")
    fails(inside("-i", tmp_path, *out, *options), "is a directory")
    fails(inside("-i", file("cut.gz", gzip.compress(JOINT.read_bytes())[:-20]), *out, *options), "cut.gz: ")
    fails(inside("-i", file("not.gz", b"a ||| b\n"), *out, *options), "not.gz: ")
    names = {"good", "short", "bad", "two", "empty", "cut.gz", "not.gz"}
    assert {p.name for p in tmp_path.iterdir()} == names


def test_files_that_are_no_models(trained, inside, file, tmp_path):
    from aligntools.formats.modelfile import write_model

    data = (trained / "model").read_bytes()
    out = "-o", tmp_path / "out", "-i", JOINT
    for name, content in (
        ("text", b"0-0 1-1\n" * 50),
        ("half", data[: len(data) // 2]),
        ("nothing", b""),
        ("longer", data + b"x"),
    ):
        for option in ("-m", "--init-model"):
            fails(inside(option, file(name, content), *out), f"{name}: is damaged or not a model file")
    write_model(str(tmp_path / "kind"), "tagging", {}, {"a": np.zeros(3)})
    fails(inside("-m", tmp_path / "kind", *out), "holds a model of kind 'tagging'")
    older = file("older", data.replace(b'\\"version\\": 1', b'\\"version\\": 0'))
    assert older.read_bytes() != data
    fails(inside("-m", older, *out), "model version 0")
    fails(inside("-m", tmp_path / "missing", *out), "missing: cannot be opened: No such file")
    fails(inside("-m", tmp_path, *out), "Is a directory")
    assert {p.name for p in tmp_path.iterdir()} == {"text", "half", "nothing", "longer", "kind", "older"}


# Outputs: whole or not at all


def test_outputs_that_cannot_be_written(trained, inside, tmp_path):
    model = "-m", trained / "model", "-i", JOINT
    fails(inside(*model, "-o", tmp_path / "no" / "out"), "out: cannot be written: No such file or directory")
    fails(inside(*model, "-o", "/dev/full"), "/dev/full: cannot be written: No space left on device")
    fails(inside(*model, "-o", tmp_path / "out", "--scores", "/dev/full"), "/dev/full: cannot be written")
    fails(
        inside("-i", JOINT, "--fast", "-o", tmp_path / "out", "--save-model", tmp_path / "no" / "m"),
        "m: cannot be written",
    )
    fails(
        inside("-i", JOINT, "--fast", "-o", tmp_path / "out", "--save-model", "/dev/full"),
        "/dev/full: cannot be written",
    )
    fails(
        inside("-i", JOINT, "--fast", "-o", tmp_path / "out", "--log-json", "/dev/full"), "/dev/full: cannot be written"
    )
    assert not list(tmp_path.iterdir())


def test_a_full_disk_behind_standard_output(trained):
    command = [sys.executable, "-m", "aligntools", "align", "-q", "-m", str(trained / "model"), "-i", str(JOINT)]
    with open("/dev/full", "wb") as full:
        process = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, cwd=ROOT, timeout=60, check=False)
    fails(process, "No space left on device")


def test_a_closed_pipe_is_quiet(trained, file):
    many = file("many", JOINT.read_bytes() * 60)
    line, status, errors = through_head("align", "-q", "-m", trained / "model", "-i", many)
    assert (line, status, errors) == ((trained / "align").read_bytes().splitlines(keepends=True)[0], 0, b"")


def waiting(tmp_path, *args):
    """Start a run that has opened its outputs and waits for its text."""
    command = [
        sys.executable,
        "-m",
        "aligntools",
        "align",
        "-i",
        "-",
        "-o",
        tmp_path / "out",
        "--scores",
        tmp_path / "scores",
        *args,
    ]
    process = subprocess.Popen(
        list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    )
    process.stdin.write(JOINT.read_bytes())
    process.stdin.flush()
    for _ in range(600):
        if len(list(tmp_path.glob(".*.part"))) >= 2:
            break
        time.sleep(0.05)
    assert len(list(tmp_path.glob(".*.part"))) >= 2
    return process


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_run_that_is_stopped_leaves_nothing(tmp_path, number, status):
    (tmp_path / "scores").write_text("what was there before\n")
    process = waiting(tmp_path, "--save-model", tmp_path / "model")
    time.sleep(0.3)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == status
    assert b"Traceback" not in errors
    assert [p.name for p in tmp_path.iterdir()] == ["scores"]
    assert (tmp_path / "scores").read_text() == "what was there before\n"


def test_a_run_that_is_killed_leaves_nothing_under_the_final_name(tmp_path):
    process = waiting(tmp_path, "--save-model", tmp_path / "model")
    process.kill()
    process.communicate(timeout=60)
    assert all(p.name.endswith(".part") for p in tmp_path.iterdir())


def test_an_output_replaces_a_file_but_not_a_link(trained, inside, tmp_path):
    (tmp_path / "real").write_text("old\n")
    os.symlink("real", tmp_path / "out")
    done(inside("-m", trained / "model", "-i", JOINT, "-o", tmp_path / "out"))
    assert (tmp_path / "out").is_symlink()
    assert (tmp_path / "real").read_bytes() == (trained / "align").read_bytes()
