"""What is kept between runs of the bench has the hash of the code that made it."""

import re

import pytest

from bench import code, contrastive_base, quality, report, translation, translation_stages
from tests.places import ROOT

#: Figures of other programs alone, or with the commit beside each; and how long measures took, which no section says.
NOT_OURS = {'o.work / "peers.tsv"', 'o.work / "clients.json"', 'o.work / "seconds.json"'}


def test_what_a_hash_is_of():
    texts, modules, commands = code.reached((("bench.quality", "_ours"),))
    assert {("bench.quality", "evaluate"), ("bench.quality", "OURS"), ("bench.measuring", "run")} <= set(texts)
    assert ("bench.quality", "_body") not in texts
    assert ("bench.quality", "run") not in texts
    assert commands == {"align", "symmetrize"}
    names = {path.name for path in code.files_of(modules)}
    assert {"aer.py", "goldlinks.py"} <= names
    assert "Return AER" not in texts["bench.quality", "evaluate"], "docstrings do not count"
    files = {name: code.files_of({f"aligntools.cli.{name}"}) for name in ("tag", "translate", "contrastive_align")}
    names = {command: {path.relative_to(ROOT).as_posix() for path in found} for command, found in files.items()}
    assert "aligntools/tagging/kernels_decoding.py" in names["tag"]
    assert "aligntools/translating/decoding/decoder.py" in names["translate"]
    assert not any("tagging" in name for name in names["translate"])
    assert "aligntools/aligning/contrastive/linknetwork.safetensors" in names["contrastive_align"]
    assert len({code.of(commands=[name]) for name in ("tag", "translate", "align")}) == 3
    assert contrastive_base.base_hash() == code.of(commands=("symmetrize", "align"))


MEASURING = """
from aligntools.one import f
NAMES = ("x",)

def measured(n):
    '''A docstring.'''
    def inner(LOCAL):
        return LOCAL
    return f(NAMES), Way().go()

class Way:
    def go(self):
        import aligntools as at
        return at.public()

LOCAL = 3

def table():
    return "said"
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Write a project of a few modules; return what writes one and gives the hash of ``measured``."""
    modules = {
        "bench/a": MEASURING, "aligntools/one": "from aligntools.two import g\n", "aligntools/two": "def g(): pass\n",
        "aligntools/home": "", "aligntools/other": "",
    }  # fmt: skip
    for folder in ("bench", "aligntools"):
        (tmp_path / folder).mkdir()
    monkeypatch.setattr(code, "ROOT", tmp_path)
    monkeypatch.setattr(report, "ROOT", tmp_path)
    monkeypatch.setattr(code, "_homes", lambda: {"public": "aligntools.home"})

    def written(**changed):
        for name, text in (modules | {k.replace("__", "/"): v for k, v in changed.items()}).items():
            (tmp_path / f"{name}.py").write_text(text)
        for remembers in (code._digest, code._imports, code._bench_module):
            remembers.cache_clear()
        return code.of("bench.a.measured")

    yield written
    for remembers in (code._digest, code._imports, code._bench_module):
        remembers.cache_clear()


def test_a_hash_changes_with_what_is_run_alone(project):
    first = project()
    assert project() == first
    for same in (
        {"aligntools__other": "x = 1"},
        {"bench__a": MEASURING.replace("said", "told").replace("A docstring", "Another")},
        {"bench__a": MEASURING.replace("LOCAL = 3", "LOCAL = 4")},
        {"bench__a": MEASURING + "\n# a remark\n"},
    ):
        assert project(**same) == first, same
    for other in (
        {"bench__a": MEASURING.replace('("x",)', '("y",)')},
        {"bench__a": MEASURING.replace("at.public()", "at.public(1)")},
        {"aligntools__one": "from aligntools.two import g as h\n"},
        {"aligntools__two": "def g(): return 1\n"},
        {"aligntools__home": "x = 1"},
    ):
        assert project(**other) != first, other


def test_data_beside_modules_counts_where_it_is_used(project, tmp_path):
    first = project()
    without = code.of("bench.a.measured", data=False)
    (tmp_path / "aligntools" / "a.safetensors").write_bytes(b"x")
    assert project() != first
    assert code.of("bench.a.measured", data=False) == without != code.of("bench.a.measured")


def test_a_stage_is_made_again_where_its_command_or_its_text_changed(tmp_path, monkeypatch):
    class Usage:
        seconds, cpu, peak, messages = 1.0, 1.0, 1, ""

    made = []

    def run(command):
        made.append(command)
        (tmp_path / "work" / command[-1].name).write_text("x")
        return Usage

    monkeypatch.setattr(translation_stages.measuring, "run", run)
    monkeypatch.setattr(translation_stages.measuring, "aligntools", lambda *args: list(args))
    systems = translation.Systems(tmp_path, tmp_path / "work", 1)
    text = systems.write("text", ["a b"])
    first = systems.make("lm", "train-lm", text)
    assert systems.make("lm", "train-lm", text) == first
    systems.write("text", ["a c"])
    second = systems.make("lm", "train-lm", text)
    monkeypatch.setattr(translation_stages.code, "of", lambda commands: "other")
    third = systems.make("lm", "train-lm", text)
    assert len({first, second, third}) == len(made) == 3


def test_which_code_figures_are_of():
    kept = {}
    for path in sorted((ROOT / "bench").rglob("*.py")):
        text = path.read_text()
        found = set(re.findall(r"""o\.work / f?"[^"]*\.(?:json|tsv)\"""", text)) - NOT_OURS
        kept |= {f"{path.name}: {name}": "code." in text for name in found if "of(" not in name}
    assert len(kept) > 4
    assert [name for name, known in kept.items() if not known] == []
    assert f", code {report.code_hash()}, " in report.circumstances()


def test_figures_of_another_state_are_not_taken(tmp_path):
    figures = quality.Figures(tmp_path / "ours.tsv")
    figures.add("set", "aligntools old", [("default", 1.0, 2.0, 3.0)])
    again = quality.Figures(tmp_path / "ours.tsv")
    assert ("set", "aligntools old") in again.rows
    assert ("set", f"aligntools {code.of(quality._ours)}") not in again.rows
