"""No option is declared that no test uses."""

import functools
import re

import click
import pytest

from aligntools.cli import kinds, programs
from aligntools.cli.main import COMMANDS
from tests.places import ROOT


def options_of(name):
    command = programs.command(name)
    return [p for p in command.params if isinstance(p, click.Option)]


@functools.cache
def text_for(name):
    """Return the text of the test files that run a command, and the lines of tables that do."""
    paths = [
        *sorted((ROOT / "tests").rglob("test_*.py")),
        *(ROOT / "tests/contracts").glob("*.txt"),
        ROOT / "tests/models.py",
    ]
    files = {p: p.read_text(encoding="utf-8") for p in paths}
    runs = (f'"{name}"', f'"{name} ', f"\n{name} ", *{"align": ("inside(",), "serve": ("served(",)}.get(name, ()))
    return "\n".join(
        text for p, text in files.items() if any(r in text for r in runs) or name.replace("-", "_") in p.name
    )


def is_used(option, name):
    spellings = "|".join(re.escape(s) for s in (*option.opts, *option.secondary_opts))
    if isinstance(option, kinds.Field):
        spellings += f"|(--set )?{option.name}"
    return re.search(rf"""["' ]({spellings})["' =]""", text_for(name)) is not None


@pytest.mark.parametrize("name", COMMANDS)
def test_a_test_uses_each_option(name):
    """Options that commands share count where a test of one of them uses it."""
    sharing = {}
    for other in COMMANDS:
        for option in options_of(other):
            sharing.setdefault((option.name, option.help), set()).add(other)
    unused = [o.name for o in options_of(name) if not any(is_used(o, k) for k in sharing[o.name, o.help])]
    assert unused == []


def test_an_option_without_a_test_is_found():
    assert not is_used(click.Option(["--of-no-test"[:-1]]), "align")
