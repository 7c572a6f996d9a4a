"""Training runs to look at: curves, time and memory."""

import builtins
import json
import re
from xml.etree import ElementTree

import pytest

import aligntools as at
from aligntools.viewing.plots import COLORS, Series, lines_svg
from tests.cli.running import ran
from tests.places import SAMPLES
from tests.viewing.browsing import page_of, shot

SVG = "{http://www.w3.org/2000/svg}"
STEPS = [
    {"view": 0, "stage": "table", "pairs": 9, "seconds": 0.5, "peak_mb": 10},
    {"view": 0, "stage": "ibm1", "iteration": 1, "log_likelihood": [-9.0, -8.0], "seconds": 1.0, "peak_mb": 20},
    {"view": 0, "stage": "hmm", "iteration": 2, "log_likelihood": [-7.0, -6.0], "seconds": 2.0, "peak_mb": 30},
    {"view": 5, "stage": "ibm1", "iteration": 1, "log_likelihood": [-5.0, -4.0], "seconds": 1.0, "peak_mb": 30},
]
#: As models without it have it: no curve.
for step in STEPS[1:]:
    step["tension"] = [4.0, 4.0]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "one.jsonl"
    path.write_text("".join(json.dumps(step) + "\n" for step in STEPS))
    return path


def test_curves_stages_and_summary(log):
    shown = at.view_training(log)
    assert shown.charts == [
        ("Log-likelihood", "log_likelihood"),
        ("Time by stage", "seconds"),
        ("Peak memory", "peak_mb"),
    ]
    assert {name: points for name, _, points in shown.curves("log_likelihood")} == {
        "whole words, forward": [(1, -9), (2, -7)], "whole words, reverse": [(1, -8), (2, -6)],
        "first 5 letters, forward": [(1, -5)], "first 5 letters, reverse": [(1, -4)],
    }  # fmt: skip
    assert shown.stages() == [("table", [0.5]), ("ibm1", [2.0]), ("hmm", [2.0])]
    head, rows = shown.summary()
    assert rows == [["one", "4", "4.50", "30", "-7, -6"]]
    assert head[-1] == "Log-likelihood, last"


def test_several_runs_show_their_first_view(log):
    shown = at.view_training(log, log, STEPS[:3], names=["a", "a", "b"])
    assert [name for name, _ in shown.runs] == ["a", "a (2)", "b"]
    names = [name for name, *_ in shown.curves("log_likelihood")]
    assert names == ["a, forward", "a, reverse", "a (2), forward", "a (2), reverse", "b, forward", "b, reverse"]
    assert shown.stages()[1] == ("ibm1", [2.0, 2.0, 1.0])
    other = at.view_training(log, [STEPS[3], STEPS[3] | {"iteration": 2}])
    assert other.curves("log_likelihood")[2][0] == "run 2, first 5 letters, forward"


def test_text_needs_no_plotting_library(log, monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.split(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    shown = at.view_training(log)
    assert "hmm    2.00" in shown.text()
    with pytest.raises(at.UsageProblem, match=r"charts need Matplotlib: python -m pip install 'aligntools\[plots\]'"):
        shown.html()


def test_charts_are_the_same_each_time_and_have_no_styles(log):
    shown = at.view_training(log)
    for number in (1, 2, 3):
        text = shown.svg(number)
        assert text == shown.svg(number)
        assert "style=" not in text
        root = ElementTree.fromstring(text)
        assert any(t.text for t in root.iter(f"{SVG}text"))
        used = set(re.findall(r'(?:url\(#|href="#)([^")]+)', text))
        assert used <= {node.get("id") for node in root.iter()}
    inline = [shown.chart(number, inline=True) for number in (1, 3)]
    ids = [set(re.findall(r' id="([^"]+)"', text)) for text in inline]
    assert not ids[0] & ids[1]
    assert "<style" not in inline[0]
    with pytest.raises(at.UsageProblem, match="there is no chart 9; there are: 1 Log-likelihood"):
        shown.svg(9)


def test_names_of_runs_are_text():
    odd = "_$x^2$ </svg><script>"
    text = lines_svg("t", "x", "y", [Series(odd, [1, 2], [1, 2]), Series("b", [1, 2], [2, 1], 1, 1)])
    root = ElementTree.fromstring(text)
    assert any("$x^2$ </svg><script>" in (t.text or "") for t in root.iter(f"{SVG}text"))
    assert {COLORS[0], COLORS[1]} <= {node.get("stroke") for node in root.iter()}


def test_the_command_and_what_each_trainer_logs(tmp_path):
    def done(*args):
        found = ran(*args, cwd=tmp_path)
        return found.stdout.decode()

    done("align", "-q", "--fast", "-i", SAMPLES / "de-en.txt", "-o", "a", "--log-json", "align.jsonl")
    stages = [json.loads(line) for line in (tmp_path / "align.jsonl").read_text().splitlines()]
    assert [stages[0]["stage"], stages[-1]["stage"]] == ["reading", "aligning"]
    assert all(step.keys() >= {"seconds", "peak_mb"} for step in stages)
    done("train-hmm", "-q", "--text", SAMPLES / "en.txt", "--states", 2, "--iterations", 3, "-o", "m", "--log-json",
        "h.jsonl")  # fmt: skip
    steps = [json.loads(line) for line in (tmp_path / "h.jsonl").read_text().splitlines()]
    assert all(step.keys() >= {"stage", "seconds", "peak_mb", "objective"} for step in steps)
    assert "Perplexity" in done("view", "--log", "h.jsonl")
    learning = "--gold", SAMPLES / "de-en.wa", "--set", "folds=0", "--method", "mert"
    done(
        "contrastive-align", "-q", "--fast", "-i", SAMPLES / "de-en.txt", *learning, "-o", "c", "--log-json", "c.jsonl"
    )
    assert "AER on the gold links" in done("view", "--log", "c.jsonl")
    both = done("view", "--log", "align.jsonl", "h.jsonl")
    assert "reading" in both
    done("view", "--log", "align.jsonl", "--number", 1, "--svg", "curve.svg")
    assert "Log-likelihood" in (tmp_path / "curve.svg").read_text()


def test_a_training_that_still_runs_has_a_log(tmp_path):
    (tmp_path / "log").write_text('{"stage": "a", "seconds": 1, "odd": "x", "peak_mb": NaN}\n{"stage": "b", "sec')
    assert at.view_training(tmp_path / "log").runs[0][1] == [{"stage": "a", "seconds": 1}]


def test_the_page(browser, log):
    browser.open(page_of(log.parent, "--log", log, "--set", "title=A & B"))
    with shot(browser, "training"):
        assert browser.texts("figcaption") == ["Log-likelihood", "Time by stage", "Peak memory"]
    line = "return getComputedStyle(document.querySelector('.plot .line0')).stroke"
    light = browser.js(line)
    browser.click("#theme")
    assert browser.js(line) != light
    browser.resize(400, 800)
    assert not browser.overflows()
