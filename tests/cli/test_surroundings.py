"""Commands under settings of Python and of the system that few have."""

import os
import subprocess
import sys

from aligntools.ground.errors import one_line, readable
from tests.cli.running import ROOT, ran, run

#: A system of ASCII, as old containers and cron have it, and Python kept from taking it for one of UTF-8.
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
PAIRS = b"das haus ||| the house\n"


def aligntools(*args, cwd=ROOT, **variables):
    """Run a command in a process of its own; names as bytes."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | variables
    command = [sys.executable, "-m", "aligntools", *args]
    return subprocess.run(command, env=environment, cwd=cwd, capture_output=True, check=False)


def test_names_of_utf8_where_the_system_is_ascii(tmp_path):
    done = aligntools("align", "-i", "faça.txt".encode(), cwd=tmp_path, **ASCII)
    assert done.stderr.decode() == "error: faça.txt: cannot be opened: No such file or directory\n"
    done = aligntools("align", "--model-type", "faça".encode(), cwd=tmp_path, **ASCII)
    assert "'--model-type': 'faça' is not one of" in done.stderr.decode()
    (tmp_path / "ç.align").write_text("0-0\n")
    for option in ("-q", "--json"):
        done = aligntools("eval-aer", option, "ç.align".encode(), "ç.align".encode(), cwd=tmp_path, **ASCII)
        assert (done.returncode, done.stderr) == (0, b"")
        assert "ç.align" in done.stdout.decode()


def test_names_and_bytes_that_are_not_utf8(tmp_path):
    name = os.fsencode(tmp_path) + b"/fa\xe7a.align"
    for variables in ({}, ASCII):
        done = aligntools("align", "-i", name, **variables)
        assert done.stderr.decode().endswith("/fa\\xe7a.align: cannot be opened: No such file or directory\n")
    with open(name, "w") as file:
        file.write("0-0\n")
    done = ran("eval-aer", os.fsdecode(name), os.fsdecode(name))
    assert b"/fa\\xe7a.align" in done.stdout
    assert readable("fa\udcc3\udca7a \udce7 ç") == "faça \\xe7 ç"
    assert one_line("'fa\\udcc3\\udca7a' and\n\udce7\x1b") == "'faça' and \\xe7\\x1b"


def test_help_is_there_where_python_leaves_docstrings_out():
    lines = [["--help"], *([name, "--help"] for name in ("align", "translate", "view"))]
    code = f"from aligntools.cli.main import cli, run\nfor line in {lines}: run(cli, line, 'aligntools')"
    command = [sys.executable, "-c", code]
    bare = subprocess.run(command, env=os.environ | {"PYTHONOPTIMIZE": "2"}, cwd=ROOT, capture_output=True, check=True)
    assert bare.stderr == b""
    assert bare.stdout == b"".join(run(*line).stdout for line in lines)
