"""Lines of progress, where standard error is no terminal and no bar can be drawn."""

import pytest

from aligntools.cli import main, reporter
from aligntools.cli.reporter import ProgressLines, Reporter
from aligntools.ground.progress import Step
from tests.places import SAMPLES


@pytest.fixture
def seconds(monkeypatch):
    """Let a test say what time it is."""
    now = [0.0]
    monkeypatch.setattr(reporter.time, "perf_counter", lambda: now[0])
    return now


def test_a_line_comes_every_thirty_seconds_in_which_something_was_done(seconds, capsys):
    lines = ProgressLines(True)
    for now in (10, 29.9, 30, 45, 59, 61, 200):
        seconds[0] = now
        lines.tell(f"at {now}")
    assert capsys.readouterr().err == "at 30; 30 s so far\nat 61; 61 s so far\nat 200; 200 s so far\n"


def test_what_is_not_shown_is_not_made(seconds, capsys):
    lines = ProgressLines(False)
    seconds[0] = 1000
    lines.tell(lambda: 1 / 0)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("quiet", "verbose", "expected"), [(False, False, 1), (True, False, 0), (True, True, 0)])
def test_a_reporter_counts_steps_of_training_and_after_it(seconds, capsys, quiet, verbose, expected):
    reporter = Reporter(quiet, verbose)
    reporter.extra = 2
    reporter(Step("ibm1", total=3))
    seconds[0] = 40
    reporter(Step("hmm", total=3))
    reporter(Step("hmm", total=3))
    assert capsys.readouterr().err == "hmm: step 2 of 5; 40 s so far\n" * expected
    seconds[0] = 80
    reporter.begin("aligning", unit="pair")
    reporter.advance("aligning", 500)
    assert capsys.readouterr().err == "aligning: 500 pairs; 80 s so far\n" * expected


def test_a_reporter_has_a_line_for_each_step_when_verbose_and_none_beside_it(seconds, capsys):
    reporter = Reporter(False, True)
    seconds[0] = 40
    reporter(Step("round", figures={"round": 1, "aer": 0.1}))
    assert capsys.readouterr().err == "round 1: AER 10.00 %\n"


RUNS = [
    (["train-hmm", "--tagged", "data/samples/en.tagged", "--iterations", "2", "--members", "1"], "model 1, split 1, "),
    (["train-hmm", "-i", "data/samples/de-en.txt", "--iterations", "1", "--estimator", "em"], ": step 1"),
    (["train-parser", "--treebank", "data/samples/en.conllu", "--iterations", "2"], "train, step 1: objective "),
    (["tag", "data/samples/en.txt"], " words tagged; "),
    (["parse", "data/samples/en.tagged"], " words parsed; "),
]


@pytest.mark.parametrize("quiet", [False, True])
@pytest.mark.parametrize(("args", "said"), RUNS, ids=lambda x: x[0] if isinstance(x, list) else None)
def test_commands_say_how_far_they_are(args, said, quiet, tmp_path, monkeypatch, capfd):
    model = tmp_path / "model"
    if args[0] in ("tag", "parse"):
        kind = ["hmm", "--tagged", SAMPLES / "en.tagged", "--latent", "1"]
        if args[0] == "parse":
            kind = ["parser", "--treebank", SAMPLES / "en.conllu", "--iterations", "1"]
        main.run(main.cli, [f"train-{kind[0]}", "-q", *map(str, kind[1:]), "-o", str(model)], "aligntools")
    monkeypatch.setattr(reporter, "EVERY", 0.0)
    more = ["-m", model, "-o", tmp_path / "out"] if model.exists() else ["-o", model]
    capfd.readouterr()
    status = main.run(main.cli, [*args, *map(str, more), *(["-q"] if quiet else [])], "aligntools")
    errors = capfd.readouterr().err
    assert not status
    assert (said in errors and " s so far\n" in errors) != quiet


@pytest.mark.parametrize("last_pass", [False, True])
def test_links_that_come_in_any_portions_are_the_steps_that_were_said(last_pass, tmp_path, monkeypatch, capfd):
    """Link matrices are worked in chunks of so many cells, whatever number of pairs that is."""
    from aligntools.aligning import aligner
    from aligntools.aligning.applying import applier
    from aligntools.aligning.training import sampling as after_training

    planned = applier.plan_chunks
    monkeypatch.setattr(applier, "plan_chunks", lambda *args: planned(*args[:-1], 600))
    monkeypatch.setattr(aligner, "PART", 100)
    if last_pass:
        monkeypatch.setattr(after_training, "MEDIUM", 100)
    monkeypatch.setattr(reporter, "EVERY", 0.0)
    how = ["--set", "views=0", "--set", "subwords=0"] if last_pass else ["--fast"]
    args = ["align", *how, "-i", str(SAMPLES / "de-en.txt"), "-o", str(tmp_path / "out")]
    assert not main.run(main.cli, args, "aligntools")
    steps = [line.split(": step ")[1].split(";")[0] for line in capfd.readouterr().err.splitlines() if ": step" in line]
    done, totals = zip(*(map(int, step.split(" of ")) for step in steps), strict=True)
    assert list(done) == sorted(done)
    assert set(totals) == {done[-1]}
