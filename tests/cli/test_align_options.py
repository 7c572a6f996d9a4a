import gzip
import json
import math
import re
from collections import defaultdict

import numpy as np
import pytest

import aligntools as at
from aligntools.formats.links import pharaoh
from tests import naive
from tests.cli.aligning import JOINT, LENGTHS, SOURCE, TARGET, TEXT, done, proper
from tests.cli.running import ROOT, fails, ran, succeeds

# Options


@pytest.mark.parametrize("model", ["ibm1", "ibm2", "hmm", "fertility"])
@pytest.mark.parametrize("estimator", ["vb", "em"])
def test_every_model_and_estimator(inside, tmp_path, model, estimator):
    out, scores, table = tmp_path / "out", tmp_path / "scores", tmp_path / "table"
    for agreement, look_alike in (("true", "false"), ("false", "true")):
        how = ("--set", f"agreement={agreement}", "--set", f"look_alike={look_alike}", "--set", "views=0")
        done(inside(*TEXT, "-q", "--model-type", model, "--estimator", estimator, *how, "--set", "sweeps=3", "-o", out,
            "--scores", scores, "--ttable", table))  # fmt: skip
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
        done(inside(*TEXT, "--model-type", model, "--direction", direction, "--decode", decode, "-o", out, "-q"))
        links = proper(out.read_bytes())
        assert sum(map(len, links)) > 1000
        if decode != "posterior":
            for sentence in links:
                observed = [x[direction == "forward"] for x in sentence]
                assert len(set(observed)) == len(observed)


@pytest.mark.parametrize(
    "decode", ["best", *(pytest.param(x, marks=pytest.mark.slow) for x in ("posterior", "viterbi"))]
)
@pytest.mark.parametrize("flavor", ["atools", "symal"])
def test_every_symmetrization(trained, inside, tmp_path, decode, flavor):
    names = "out", "forward", "reverse"
    for method in ("union", "intersect", "grow", "grow-diag", "grow-diag-final", "grow-diag-final-and"):
        done(inside("-m", trained / "model", *TEXT, "--symmetrize", method, f"--set=flavor={flavor}",
            "--decode", decode, "-q", "-o", tmp_path / "out", "--forward-output", tmp_path / "forward",
            "--reverse-output", tmp_path / "reverse"))  # fmt: skip
        out, forward, reverse = (proper((tmp_path / n).read_bytes()) for n in names)
        assert out == [naive.symmetrize(f, r, method, flavor) for f, r in zip(forward, reverse, strict=True)]


def test_link_probabilities_and_thresholds(trained, inside, tmp_path):
    out = tmp_path / "out"
    done(inside("-m", trained / "model", *TEXT, "--link-probabilities", "-o", out))
    pattern = re.compile(r"\d+-\d+:(1\.0+|0\.\d+)")
    links = proper(out.read_bytes(), pattern=pattern)
    assert links == proper((trained / "align").read_bytes())
    values = [float(x.split(":")[1]) for x in out.read_text().split()]
    assert 1 / 3 < min(values) < 0.4  # less is asked for beside a better link
    assert max(values) <= 1
    # a higher threshold leaves the links above it
    mean = "-m", trained / "model", *TEXT, "--symmetrize", "mean"
    done(inside(*mean, "--link-probabilities", "-o", out))
    done(inside(*mean, "--threshold", "0.7", "-o", tmp_path / "high"))
    expected = [
        [tuple(map(int, x.split(":")[0].split("-"))) for x in line.split() if float(x.split(":")[1]) > 0.7]
        for line in out.read_text().splitlines()
    ]
    assert proper((tmp_path / "high").read_bytes()) == expected
    done(inside("-m", trained / "model", *TEXT, "--link-probabilities", "-o", out))
    assert pharaoh.read_pharaoh(str(out)).tolists() == links  # other commands read it


def test_subwords_of_logs_and_models(inside, tmp_path):
    log = ("--log-json", tmp_path / "log")
    done(
        inside(
            *TEXT, "--fast", "--set", "subwords=100", "-v", *log, "--save-model", tmp_path / "m", "-o", tmp_path / "o"
        )
    )
    views = [json.loads(line).get("view") for line in (tmp_path / "log").read_text().splitlines()]
    assert views.count(5) == views.count("subwords") == 9
    assert done(inside("-q", "-m", tmp_path / "m", *TEXT)).stdout == (tmp_path / "o").read_bytes()
    done(inside("-q", "--init-model", tmp_path / "m", *TEXT, "-o", tmp_path / "again"))
    assert (tmp_path / "again").read_bytes().count(b"\n") == len(LENGTHS)


@pytest.mark.slow
def test_the_best_links_are_those_of_contrastive_align(inside, trained, tmp_path):
    links = links_of(inside, "--best", "--save-model", tmp_path / "best")
    assert links != (trained / "align").read_bytes()
    ran("contrastive-align", "-q", *TEXT, "--save-model", tmp_path / "again", "-o", tmp_path / "links")
    assert (tmp_path / "links").read_bytes() == links == links_of(inside, "-m", tmp_path / "best")
    base = links_of(inside, "-m", tmp_path / "again")
    assert links != base != (trained / "align").read_bytes()
    union = ("--symmetrize", "union")
    assert links_of(inside, "-m", tmp_path / "best", *union) == links_of(inside, "-m", tmp_path / "again", *union)
    single = ("--model-type", "hmm", "--direction", "forward")
    assert links_of(inside, "--best", *single) == links_of(inside, *single)
    phrases = links_of(inside, "-m", tmp_path / "best", "--phrases")
    one, other = ([set(line.split()) for line in found.splitlines()] for found in (links, phrases))
    assert all(a <= b for a, b in zip(one, other, strict=True))
    assert one != other


@pytest.mark.parametrize("model", ["ibm1", "ibm2", "hmm", "fertility", "ibm3", "ibm4"])
def test_extreme_settings_have_no_nan(inside, file, tmp_path, model):
    few = file("few", b"".join(JOINT.read_bytes().splitlines(True)[:30]))
    for options in (
        ("--set", "p_null=0", "--set", "alpha=1e-6"),
        ("--set", "p_null=0.99"),
        ("--set", "alpha=100"),
        ("--set", "tension=-3"),
        ("--set", "tension=500"),
    ):
        done(inside("-i", few, "-q", "-o", tmp_path / "out", "--set", "views=0", "--model-type", model, "--scores",
            tmp_path / "s", "--set", "sweeps=3", *options))  # fmt: skip
        proper((tmp_path / "out").read_bytes(), LENGTHS[:30])
        assert np.isfinite(np.loadtxt(tmp_path / "s")).all(), options


def test_compression_and_what_is_said(trained, inside, tmp_path):
    for path in (SOURCE, TARGET):
        (tmp_path / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    text = "-s", tmp_path / "de-en.de.gz", "-t", tmp_path / "de-en.en.gz"
    done(inside("-m", trained / "model", *text, "-o", tmp_path / "out.gz", "--scores", tmp_path / "scores.xz"))
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()) == (trained / "align").read_bytes()
    done(inside(*text, "-o", tmp_path / "whole.gz"))
    assert (tmp_path / "whole.gz").read_bytes() == (tmp_path / "out.gz").read_bytes()
    out = "-o", tmp_path / "out"
    assert inside(*TEXT, "--fast", *out, "-q").stderr == b""
    verbose = inside(*TEXT, "--model-type", "ibm2", *out, "-v").stderr.decode()
    for fragment in ("whole words: table", "ibm1 iteration 1: log-likelihood -", "tension", "peak memory", "240 pairs"):
        assert fragment in verbose
    assert "\r" not in verbose  # no progress bar where there is no terminal


def test_memory_that_is_too_little_is_said_before_the_start(inside, tmp_path):
    done = inside(*TEXT, "-o", tmp_path / "out", "--max-memory", "100M", "--save-model", tmp_path / "model")
    fails(done, "--max-memory 100M is too little: about", "M are needed")
    assert not list(tmp_path.iterdir())
    needed = re.search(rb"about (\d+M)", done.stderr)[1].decode()
    assert inside(*TEXT, "-o", tmp_path / "out", "--max-memory", needed, "--fast").returncode == 0


def links_of(inside, *options):
    found = succeeds(inside(*TEXT, "-q", *options))
    return found.stdout


def test_p_null_and_single_directions(inside, tmp_path):
    few = links_of(inside, "--set", "p_null=0.5", "--set", "views=0", "--set", "sweeps=6")
    many = links_of(inside, "--set", "p_null=0.01", "--set", "views=0", "--set", "sweeps=6")
    assert few.count(b"-") < many.count(b"-")
    from aligntools.aligning.settings import AlignerSettings

    assert [AlignerSettings(p_null=p).resolved(1).sampler_p_null for p in (0.08, 0.5, 0.9)] == [0.1, 0.625, 0.99]
    model = tmp_path / "model"
    options = ("--model-type", "hmm", "--direction", "forward", "--set", "views=0")
    trained = links_of(inside, *options, "--save-model", model, "--scores", tmp_path / "scores")
    assert links_of(inside, "-m", model) == trained == links_of(inside, "-m", model, "--forward-output", tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == trained
    assert (tmp_path / "scores").read_text().split("\t")[1] == "nan"
    done = inside(*TEXT, "-q", "-m", model, "--reverse-output", tmp_path / "r")
    fails(done, "has the forward direction alone, and nothing for --reverse-output", status=2)


def test_symmetrized_probabilities(inside):
    with_p = links_of(inside, "--fast", "--symmetrize", "grow-diag-final-and", "--link-probabilities")
    without = links_of(inside, "--fast", "--symmetrize", "grow-diag-final-and")
    assert re.sub(rb":[0-9.e-]+", b"", with_p) == without
    assert all(0 < float(p) <= 1 for p in re.findall(rb":([0-9.e-]+)", with_p))


def test_links_of_a_large_text_are_written_while_it_is_trained_on(inside, tmp_path, monkeypatch):
    from aligntools.aligning import outputs
    from aligntools.aligning.training import sampling

    names = ("output", "forward-output", "reverse-output", "scores", "save-priors", "save-model")
    plain, large = ({name: tmp_path / f"{kind}.{name}" for name in names} for kind in ("plain", "large"))
    found = {}
    for files in (plain, large):
        options = [x for name, path in files.items() for x in (f"--{name}", path)]
        done(inside(*TEXT, "--set", "views=5", "-q", "--link-probabilities", *options))
        found[files["output"]] = proper(re.sub(rb":[0-9.]+", b"", files["output"].read_bytes()))
        monkeypatch.setattr(sampling, "MEDIUM", 100)
        monkeypatch.setattr(outputs, "MANY_LINKS", 0)  # written by compiled code
    for name in names[:4]:
        assert large[name].read_bytes().count(b"\n") == plain[name].read_bytes().count(b"\n") == len(LENGTHS)
    assert large["save-model"].read_bytes() == plain["save-model"].read_bytes()
    assert b"LEX" in large["save-priors"].read_bytes()
    one, other = ({(k, link) for k, links in enumerate(run) for link in links} for run in found.values())
    assert 0.9 < 2 * len(one & other) / (len(one) + len(other)) < 1


def test_the_threshold_is_for_what_asks_for_it(trained, inside):
    """Where one is taken it changes links; and its default is said in one way."""
    apply = (*TEXT, "-q", "-m", trained / "model", "--threshold")
    for options in ((), ("--symmetrize", "mean"), ("--symmetrize", "union", "--decode", "posterior")):
        low, high = (inside(*apply, value, *options) for value in ("0.2", "0.9"))
        assert (low.returncode, high.returncode) == (0, 0)
        assert low.stdout.count(b"-") > high.stdout.count(b"-")
    from aligntools.aligning.settings import THRESHOLDS, AlignerSettings

    told = THRESHOLDS
    resolved = [AlignerSettings().resolved(n) for n in (1000, 2_100_000, 10_000_000)]
    found = [s.threshold(len(s.views) + bool(s.subwords)) for s in resolved]
    assert told == "{}; of more than two million words {}, with one view of the text {}".format(*found)
    texts = [inside("--help-all").stdout.decode(), at.Aligner.align_batch.__doc__]
    texts += [(ROOT / "docs" / "models" / "alignment.md").read_text(encoding="utf-8")]
    assert all(told in " ".join(text.replace("None: ", "").split()) for text in texts)


def test_words_of_links_are_written_as_text(trained, inside, tmp_path):
    """A line a link, a blank one after each pair; also of pairs without links, in parts and beside tsv."""
    text = "Das Haus  ist neu ||| The house is new\n ||| x\nb\xffd ||| y\nein Buch ||| a book\n".encode("latin-1")
    (tmp_path / "text").write_bytes(text)
    apply = ("-q", "-i", tmp_path / "text", "-m", trained / "model")
    links = done(inside(*apply, "--word-pairs", tmp_path / "pairs", "--link-probabilities")).stdout.decode()
    assert links == done(inside(*apply, "--link-probabilities")).stdout.decode()
    words = [[["Das", "Haus", "ist", "neu"], ["The", "house", "is", "new"]], [], [], [["ein", "Buch"], ["a", "book"]]]
    expected = ""
    for line, pair in zip(links.splitlines(), words, strict=True):
        for link in line.split():
            place, p = link.split(":")
            i, j = map(int, place.split("-"))
            expected += f"{pair[0][i]}\t{pair[1][j]}\t{float(p):.2f}\n"
        expected += "\n"
    found = (tmp_path / "pairs").read_text(encoding="utf-8").split("\n")
    rows = [line.split("\t") for line in found]
    assert [f"{r[0]}\t{r[1]}\t{float(r[2]):.2f}" if len(r) == 3 else "" for r in rows] == expected.split("\n")
    assert expected.count("\t") > 6
    sides = [[" ".join(pair[side]) if pair else "" for pair in words] for side in (0, 1)]
    sides[1][1:3] = "x", "y"
    model = at.Aligner.load(trained / "model")
    (block,) = model.align_blocks(*sides)
    same = [[f"{s}\t{t}\t{p:.4g}" for s, t, p in pair] for pair in block.word_pairs(*sides)]
    assert "\n".join("\n".join([*pair, ""]) for pair in same) == "\n".join(found)[:-1]
    done(inside(*apply, "--word-pairs", tmp_path / "beside", "--output-format", "tsv"))
    assert (tmp_path / "beside").read_bytes() == (tmp_path / "pairs").read_bytes()


def test_words_of_links_in_other_ways_of_working(inside, tmp_path):
    """Of a text that is trained on, whole and in parts: as many lines as links, as many blank ones as pairs."""
    for options in (("--fast",), ("--tmpdir", tmp_path, "--model-type", "hmm", "--set", "views=5")):
        out = done(inside("-q", "-i", JOINT, *options, "--word-pairs", tmp_path / "pairs")).stdout
        lines = (tmp_path / "pairs").read_text(encoding="utf-8").splitlines()
        assert lines.count("") == out.count(b"\n")
        assert len(lines) - lines.count("") == out.count(b"-")
