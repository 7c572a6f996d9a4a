"""train-hmm: three kinds of models, what it prints, and options that contradict each other."""

import gzip
import json

import pytest

from tests.cli.running import ran, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("hmm")


def perplexities(done):
    return [float(line.split("perplexity ")[1]) for line in done.stderr.decode().splitlines() if "perplexity" in line]


def test_em_and_reconstruction(samples, folder):
    done = ran("train-hmm", "--text", samples / "en.tagged", "--states", 4, "--iterations", 12, "-o", folder / "em")
    lines = done.stderr.decode().splitlines()
    objectives = [float(line.split("objective ")[1].split(",")[0]) for line in lines]
    assert len(lines) > 8
    assert objectives == sorted(objectives)
    found = perplexities(done)
    assert found == sorted(found, reverse=True)
    tagged = run("tag", "-m", folder / "em", samples / "en.txt").stdout.decode()
    tags = {token.rsplit("_", 1)[1] for token in tagged.split()}
    assert tags <= {"0", "1", "2", "3"}
    assert len(tags) > 1
    assert len(tagged.splitlines()) == len((samples / "en.txt").read_text().splitlines())
    common = ("--text", samples / "en.txt", "--states", 4, "--iterations", 8, "--estimator", "mre")
    ran("train-hmm", *common, "--set", "mre_iterations=6", "-o", folder / "mre", "--log-json", folder / "log")
    steps = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
    climbed = [step["objective"] for step in steps if step["stage"] == "mre"]
    assert len(climbed) == 7
    assert climbed == sorted(climbed)
    assert climbed[-1] > climbed[0]
    none = run("train-hmm", *common, "--set", "mre_iterations=0", "-q", "-o", folder / "none")
    assert (none.returncode, none.stderr) == (0, b"")
    words = run("tag", "-m", folder / "none", samples / "en.txt").stdout
    assert words != run("tag", "-m", folder / "mre", samples / "en.txt").stdout


def test_the_paper_is_what_its_help_says(samples, folder):
    common = ("--text", samples / "en.txt", "--states", 4, "--iterations", 15, "--set", "mre_iterations=2", "-q")
    spelled = ("--estimator", "mre", "--set", "tolerance=0", "--set", "stop=false")
    for name, options in (("a", ("--preset", "paper")), ("b", spelled)):
        ran("train-hmm", *common, *options, "-o", folder / f"paper.{name}")
    assert (folder / "paper.a").read_bytes() == (folder / "paper.b").read_bytes()
    text = ("-q", "-i", samples / "de-en.txt", "--preset", "paper", "--set", "mre_iterations=2")
    ran("train-hmm", *text, "-o", folder / "paper.c")
    ran("mre-align", *text, "--model-type", "hmm", "--save-model", folder / "paper.d")
    assert (folder / "paper.c").read_bytes() == (folder / "paper.d").read_bytes()


def test_variational_bayes_and_restarts(samples, folder):
    arguments = ("--states", 3, "--iterations", 5, "--estimator", "vb", "--restarts", 2, "-o", folder / "vb")
    done = ran("train-hmm", "--text", samples / "en.txt", *arguments)
    assert b"restart 2, iteration 5" in done.stderr


def test_taggers_that_are_taught(samples, folder):
    done = ran("train-hmm", "--tagged", samples / "en.conllu", "--column", "xpos", "--latent", 2, "-o", folder / "sup")
    assert b"768 words" in done.stderr
    (folder / "out.conllu").write_bytes(run("tag", "-m", folder / "sup", samples / "en.conllu").stdout)
    figures = run("eval-tags", "--column", "xpos", "--json", samples / "en.conllu", folder / "out.conllu").stdout
    assert json.loads(figures)["results"][0]["accuracy"] > 0.97


def test_taggers_and_aligners_are_not_for_each_other(samples, folder):
    text = ("-s", samples / "de-en.de", "-t", samples / "de-en.en")
    done = run("train-hmm", *text, "-o", folder / "de-en.hmm")
    assert (done.returncode, done.stdout) == (0, b""), done.stderr
    applied = ran("align", "-q", "-m", folder / "de-en.hmm", *text)
    assert applied.stdout == run("align", "-q", "--model-type", "hmm", *text).stdout
    for flags in (("-i", samples / "de-en.txt"), (*text, "--case-sensitive")):  # the same text, and its words apart
        done = run("train-hmm", "-q", *flags, "-o", folder / "other.hmm")
        assert (done.returncode, done.stderr) == (0, b"")
        same = (folder / "other.hmm").read_bytes() == (folder / "de-en.hmm").read_bytes()
        assert same == ("-i" in flags)
    text = ("-s", samples / "de-en.de", "-t", samples / "de-en.en")
    ran("train-hmm", "-q", *text, "--estimator", "mre", "--set", "mre_iterations=2", "-o", folder / "de-en.mre")
    applied = run("align", "-q", "-m", folder / "de-en.mre", *text).stdout
    assert applied == run("mre-align", "-q", *text, "--set", "mre_iterations=2").stdout


def test_the_log_has_each_iteration(samples, folder):
    run("train-hmm", "-q", "--tagged", samples / "en.tagged", "--latent", 2, "--members", 2, "--iterations", 3,
        "-o", folder / "x", "--log-json", folder / "log")  # fmt: skip
    steps = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
    assert [step["member"] for step in steps] == [0] * 4 + [1] * 4
    assert all(
        step.keys() == {"stage", "member", "split", "iteration", "states", "log_likelihood", "seconds", "peak_mb"}
        for step in steps
    )


def test_the_old_spelling_of_output_goes_on_working(samples, folder):
    text = ("train-hmm", "-q", "--text", samples / "en.txt", "--states", 2, "--iterations", 1)
    assert run(*text, "-o", folder / "new").stderr == b""
    for old in (
        ("-m", folder / "old"),
        (f"-m{folder / 'old'}",),
        ("--model", folder / "old"),
        (f"--model={folder / 'old'}",),
    ):
        done = ran(*text, *old)
        assert done.stderr.decode().startswith("note: -")
        assert (folder / "old").read_bytes() == (folder / "new").read_bytes()
        (folder / "old").unlink()
    assert "--model" not in run("train-hmm", "--help-all").stdout.decode()


def test_classes_come_out_as_a_list_and_as_paths_and_go_into_a_tagger(samples, folder):
    classes, paths, model = folder / "classes", folder / "paths.gz", folder / "induced"
    ran("train-hmm", "-q", "--text", "-", "--states", 5, "--iterations", 5, "-o", model,
               "--save-classes", classes, "--save-paths", paths, stdin=(samples / "en.txt").read_bytes())  # fmt: skip
    rows = [line.split("\t") for line in classes.read_text().splitlines()]
    assert {row[1] for row in rows} <= set("01234")
    assert sum(int(row[2]) for row in rows) == len((samples / "en.txt").read_text().split())
    bits = [line.split("\t") for line in gzip.decompress(paths.read_bytes()).decode().splitlines()]
    assert {row[1]: row[2] for row in bits} == {row[0]: row[2] for row in rows}
    assert [row[0] for row in bits] == sorted(row[0] for row in bits)
    tagger = ("train-hmm", "-q", "--tagged", samples / "en.tagged", "--latent", 1, "-o", folder / "classed")
    ran(*tagger, "--classes", paths)
