import os
import shutil
import subprocess
import sys
import tomllib

import pytest

from aligntools.cli import installation, standins
from tests.cli.running import fails, ran, run
from tests.places import ROOT


def started(*command, **environment):
    """Run a program as a stranger does: nothing of ours on any path."""
    return subprocess.run(
        list(map(str, command)), capture_output=True, timeout=60, cwd="/", env={"PATH": "/usr/bin:/bin"} | environment
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drop-ins") / "new"
    done = run("drop-ins", folder)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"put it first on the PATH" in done.stderr
    return folder


def test_programs_and_packages_are_there(folder, tmp_path):
    for name in standins.PROGRAMS:
        assert shutil.which(name, path=folder) == str(folder / name)
        first = (folder / name).read_text().splitlines()[0]
        assert first == f"#!{sys.executable} -EP"
    of_pip = tomllib.loads((ROOT / "adapters" / "pyproject.toml").read_text(encoding="utf-8"))
    adapters = {place.name.removesuffix(".py") for place in (ROOT / "aligntools" / "adapters").glob("[a-z]*")}
    assert set(standins.PACKAGES) == set(of_pip["tool"]["setuptools"]["packages"]) == adapters
    assert {place.parent.name for place in (ROOT / "adapters").glob("*/__init__.py")} == adapters
    for name in ("click", "numpy", "aligntools"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the wrong one')\n")
    done = started(folder / "atools", "-h", PYTHONPATH=str(tmp_path), PYTHONHOME=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"Usage: atools")
    done = subprocess.run([sys.executable, "-m", "aligntools.cli.standins", "x"], capture_output=True, cwd=ROOT)
    assert done.returncode == 1
    assert b"Programs: fast_align atools " in done.stderr


def test_an_interpreter_that_no_first_line_can_name(tmp_path, monkeypatch):
    python = tmp_path / "a place" / "python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    assert run("drop-ins", "-q", tmp_path / "new").stderr == b""
    done = started(tmp_path / "new" / "atools", "-c", "union", "-i", "a b", "-j", "c")
    assert done.stderr == b"error: a b: cannot be opened: No such file or directory\n"


def test_files_and_folders_of_others(tmp_path):
    (tmp_path / "fast_align").write_text("somebody's own\n")
    (tmp_path / "link").write_text("what a link leads to\n")
    (tmp_path / "atools").symlink_to("link")
    fails(run("drop-ins", tmp_path), "fast_align is there, and not from this command", "--overwrite", status=2)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["atools", "fast_align", "link"]
    ran("drop-ins", "-v", "--overwrite", tmp_path)
    assert installation.MARK in (tmp_path / "fast_align").read_text()
    assert (tmp_path / "link").read_text() == "what a link leads to\n"
    ran("drop-ins", tmp_path)  # over its own
    (tmp_path / "file").write_text("")
    shutil.rmtree(tmp_path / "python")
    (tmp_path / "python").write_text("")
    assert fails(run("drop-ins", tmp_path), f"{tmp_path / 'python'} is not a folder", status=2)
    assert fails(run("drop-ins", tmp_path / "file" / "new"), "Not a directory")
    assert run("drop-ins").returncode == 2


def test_packages_are_two_lines_for_each_adapter(tmp_path, monkeypatch):
    monkeypatch.setattr(installation, "_packages", lambda: ["systran_align"])
    run("drop-ins", tmp_path)
    text = (tmp_path / "python" / "systran_align" / "__init__.py").read_text()
    assert "\nfrom aligntools.adapters.systran_align import *" in text
    assert text.count("\n") == 2


@pytest.mark.parametrize("name", ["fast_align", "atools"])
def test_a_checkout_without_its_requirements(name):
    """One line that names what is missing and what installs it."""
    done = started(sys.executable, "-S", ROOT / "bin" / name, "-i", os.devnull)
    assert done.returncode == 1
    assert done.stderr.decode() == (
        f"{name}: no Python package click for {sys.executable}; try {sys.executable} -m pip install {ROOT}\n"
    )
