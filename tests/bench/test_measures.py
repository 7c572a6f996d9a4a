"""The table of measures: its commands, the sections of RESULTS.md, and the modules of the bench, held against it."""

import ast
import importlib
import re
import types

import pytest

from bench import report
from bench.measures import BY_NAME, MEASURES, PROGRAMS, READS
from bench.run import command_line, quoted, run_all
from tests.places import ROOT

RUN = [measure for measure in MEASURES if measure.module]
#: What is called by itself.
TOOLS = {
    *("bench.run", "bench.same_bytes", "bench.peer_grammars", "bench.peer_taggers", "bench.abuse.bounds"),
    *("bench.abuse.worker", "bench.serve_client"),
}


def test_measures_and_their_sections():
    text = report.RESULTS.read_text(encoding="utf-8")
    sections = re.findall(r"<!-- begin (\w+) -->\n## (.*)\n", text)
    assert sections == [(m.name, m.title) for m in MEASURES if m.name in dict(sections)]
    assert text.count("\n## ") == len(sections)
    assert len(BY_NAME) == len({m.title for m in MEASURES}) == len(MEASURES)
    modules = {".".join(p.relative_to(ROOT).with_suffix("").parts): p for p in (ROOT / "bench").rglob("*.py")}
    imported = {}
    for name, path in modules.items():
        nodes = [n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.ImportFrom)]
        imported[name] = {f"{n.module}.{a.name}" for n in nodes for a in n.names} | {n.module for n in nodes}
    reached, left = set(), [*TOOLS, *(m.module for m in RUN)]
    while left:
        name = left.pop()
        if name in modules and name not in reached:
            reached.add(name)
            left += imported[name]
    assert {name for name in modules if not name.endswith("__init__")} == reached


def test_a_section_goes_to_its_place(tmp_path):
    path = tmp_path / "results"
    for name in ("memory", "quality", "speed"):
        report.write_section(path, name, f"of {name}")
    report.write_section(path, "speed", "again")
    assert re.findall(r"^## (.*)\n\n(.*)", path.read_text(), re.MULTILINE) == [
        ("Quality", "of quality"), ("Speed", "again"), ("Memory", "of memory"),
    ]  # fmt: skip


def test_all_runs_what_is_quoted_and_not_yet_of_this_commit(tmp_path, monkeypatch, capsys):
    """Each measure with what it reads, also after one that failed; a second run has that one alone to do."""
    ran, broken = [], {"speed"}

    def module(name):
        def measured(o):
            ran.append((name, hasattr(o, "treebanks")))
            if name.removeprefix("bench.") in broken:
                raise SystemExit("no text")
            return report.circumstances(1)

        return types.SimpleNamespace(run=measured)

    monkeypatch.setattr("bench.run.importlib.import_module", module)
    monkeypatch.setattr(report, "_git", lambda *_: (True, "abc1234"))  # no changes, whatever the checkout has
    argv = ["--data", "here", "--treebanks", "here", "--texts=here", "--work", str(tmp_path)]
    argv += ["--results", str(tmp_path / "results")]
    o = command_line().parse_args(["all", *argv])
    assert run_all(o, argv) == 1
    assert ran == [(m.module, "treebanks" in m.reads) for m in quoted()]
    assert {"quality", "contrastive", "encoder", "speed", "parsing", "translation"} <= {m.name for m in quoted()}
    broken.clear()
    del ran[:]
    assert run_all(o, argv) == 0
    assert [name for name, _ in ran] == ["bench.speed"]
    assert "1 of" in capsys.readouterr().err


@pytest.mark.parametrize("measure", RUN, ids=lambda m: m.name)
def test_every_measure_has_a_command_and_a_module(measure):
    required = [word for name in measure.reads if name in READS for word in (f"--{name}", "here")]
    o = vars(command_line().parse_args([measure.name, *required]))
    assert set(measure.sizes) < set(o)
    for name, option in measure.sizes.items():
        if "default" not in option.more:
            plain = False if option.default is bool else None
            assert o[name] == (plain if isinstance(option.default, type) else option.default)
    assert measure.usage.split()[:3] == ["python", "bench/run.py", measure.name]
    assert all(PROGRAMS[name] in measure.usage for name in measure.beside if name in PROGRAMS)
    assert callable(importlib.import_module(measure.module).run)
