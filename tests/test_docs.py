"""What the help and the README show is run, and must be true."""

import os
import re
import shutil
import subprocess
import sys

import click
import pytest

from aligntools.cli.main import COMMANDS, cli
from tests.cli.running import ROOT

README = ROOT / "README.md"
PASSED_OVER = ("pip install", "pytest", "git ")


@pytest.fixture
def checkout(tmp_path):
    """A folder with what the examples use: the samples and the scripts."""
    shutil.copytree(ROOT / "data", tmp_path / "data")
    (tmp_path / "bin").symlink_to(ROOT / "bin")
    return tmp_path


def shell(line, folder):
    """Run a line as a user types it, ``aligntools`` being this checkout's."""
    defined = f'aligntools() {{ "{sys.executable}" -m aligntools "$@"; }}; python() {{ "{sys.executable}" "$@"; }}\n'
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}",
    }
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", defined + line],
        cwd=folder,
        env=environment,
        capture_output=True,
        timeout=300,
        check=False,
    )


def example(command):
    """Return the lines of the example that a command's help ends with."""
    text = (command.epilog or command.help).replace("\b", "")
    _, found, after = text.partition("Example:\n")
    assert found, f"the help of {command.name} has no example"
    assert "\n\n" not in after.strip(), f"the help of {command.name} does not end with its example"
    return [line.strip() for line in after.strip().splitlines()]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_that_ends_with_an_example(name):
    command = cli.get_command(None, name)
    assert len(command.help) > 60
    assert any(f"aligntools {name}" in line for line in example(command))
    for option in command.params:
        if isinstance(option, click.Option):
            plain = option.help or option.metavar == "N"  # --iterations N says it all
            assert plain, f"{name} {option.opts[0]} has no help"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_runs(name, checkout):
    lines = "\n".join(example(cli.get_command(None, name)))
    done = shell(lines.replace("/tmp/", ""), checkout)
    assert done.returncode == 0, done.stderr.decode()
    assert b"Traceback" not in done.stderr
    if name != "warmup":
        assert done.stdout or len(list(checkout.iterdir())) > 2, "the example shows nothing"


def readme():
    if not README.exists():
        pytest.skip("no README here")
    return README.read_text(encoding="utf-8")


def sessions(text):
    """Yield (command, lines shown below it) of the README's shell blocks."""
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        command, shown = None, []
        for line in [*block.splitlines(), ""]:
            if line.startswith("$ ") or not line.strip():
                if command:
                    yield command, shown
                command, shown = line.removeprefix("$ ").strip() or None, []
            elif command and command.endswith("\\"):
                command = command[:-1] + line.strip()
            elif command:
                shown.append(line)


def test_the_reader_of_shell_blocks():
    text = "```sh\n$ a b\nout 1\nout 2\n$ c\n\n$ d \\\n  e\n```\n```\n$ no\n```\n```sh\n$ f\n```\n"
    assert list(sessions(text)) == [("a b", ["out 1", "out 2"]), ("c", []), ("d e", []), ("f", [])]


def test_what_the_readme_shows_is_what_happens(checkout):
    commands = 0
    for command, shown in sessions(readme()):
        if any(word in command for word in PASSED_OVER):
            continue
        done = shell(command, checkout)
        assert done.returncode == 0, f"{command}\n{done.stderr.decode()}"
        assert b"Traceback" not in done.stderr, command
        if shown:
            assert done.stdout.decode().splitlines() == shown, command
        commands += 1
    assert commands > 3


def test_the_readme_knows_every_command_and_no_others():
    text = readme()
    for name in COMMANDS:
        assert re.search(rf"aligntools {name}\b", text), f"README.md does not mention aligntools {name}"
    for name in re.findall(r"(?<![/\w-])aligntools ([a-z][a-z-]+)", "\n".join(c for c, _ in sessions(text))):
        assert name in COMMANDS, f"README.md shows aligntools {name}, which there is not"


def test_options_that_the_readme_names_exist():
    known = {"--help", "--version", "--debug"}
    for name in COMMANDS:
        for option in cli.get_command(None, name).params:
            known |= {*option.opts, *option.secondary_opts}
    commands = "\n".join(c for c, _ in sessions(readme()) if not any(w in c for w in PASSED_OVER))
    named = set(re.findall(r"`(--[a-z][a-z0-9-]+)", readme()) + re.findall(r"(?<=\s)(--[a-z][a-z0-9-]+)", commands))
    assert named - known == set()


def test_the_three_pairs_at_the_top_are_the_samples_first():
    blocks = re.findall(r"^```\n(.*?)^```", readme(), re.MULTILINE | re.DOTALL)
    first = (ROOT / "data" / "samples" / "de-en.txt").read_text(encoding="utf-8").splitlines()[:3]
    assert blocks[0].splitlines() == first
    shown = [
        lines for command, lines in sessions(readme()) if "align -q -i data/samples/de-en.txt | head -3" in command
    ]
    assert [blocks[1].splitlines()] == shown


def test_files_that_the_readme_points_to_are_there():
    targets = re.findall(r"\]\(([^)#:]+)\)", readme())
    assert targets
    assert [t for t in targets if not (ROOT / t).exists()] == []


def test_the_change_log_begins_with_this_version():
    from aligntools import __version__

    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## .*?(\d+\.\d+\.\d+|[Uu]nreleased)", changes, re.MULTILINE)
    assert __version__ in changes or "nreleased" in changes
