"""What messages call options is what they are called."""

import ast
import functools
import re
from pathlib import Path

import click
import pytest

import aligntools
from aligntools.cli import flags, standins
from aligntools.cli.flags import on_command_line
from aligntools.cli.main import COMMANDS, cli
from tests.cli.running import ROOT
from tests.sources import MODULES, every_node

#: Options of other programs, which messages name with those.
FOREIGN = {"--first-step": "train-model.perl"}
#: An option in a text, and the word behind it.
NAMED = re.compile(r"(?<![\w-])(--[a-z][\w-]*[a-z0-9])(?: ([a-z][\w-]*))?")
PACKAGE = ROOT / "aligntools"


def options_of(command):
    """Return the options of a command by their names, with the values that each takes, if those are named."""
    found = {"--help": set(), "--help-all": set(), "--debug": set(), "--set": set()}
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            values = set(parameter.type.choices) if isinstance(parameter.type, click.Choice) else set()
            found |= dict.fromkeys([*parameter.opts, *parameter.secondary_opts], values)
    return found


def whole(node):
    """Return the text of a string, with 0 for what an f-string puts in; None of other nodes."""
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "0" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


@functools.cache
def texts(name):
    """Return the strings of a module that may be read by a user, with their lines, as the command line shows them."""
    return [(line, text, on_command_line(text)) for line, text in strings(MODULES[name])]


def strings(tree):
    """Yield the strings that may be read by a user: no docstrings, no lone names of options."""
    nodes, described = every_node(tree), (ast.Module, ast.ClassDef, ast.FunctionDef)
    docs = {id(n.body[0].value) for n in nodes
            if isinstance(n, described) and n.body and isinstance(n.body[0], ast.Expr)}  # fmt: skip
    passed = docs | {id(part) for n in nodes if isinstance(n, ast.JoinedStr) for part in n.values}
    for node in nodes:
        text = whole(node) if id(node) not in passed else None
        if text is not None and not re.fullmatch(r"--?[\w-]+(/--?[\w-]+)?", text):
            yield node.lineno, text


@pytest.fixture(scope="module")
def commands():
    """The options of every command."""
    return {name: options_of(cli.get_command(None, name)) for name in COMMANDS}


@pytest.fixture(scope="module")
def stand_ins():
    """The options of every program that stands in for another."""
    return {name: options_of(standins.command(name)) for name in standins.PROGRAMS}


def meant(text, place, own, commands):
    """Return the options that may be named at a place of a text: of the command named before it, or its own."""
    named = [name for name in re.findall(r"(?<![\w-])[a-z][a-z-]*[a-z](?![\w-])", text[:place]) if name in commands]
    return [commands[named[-1]]] if named else own


def wrong(text, own, commands):
    """Yield what a text calls otherwise than these commands do, or values that are another option's."""
    if "--" not in text:
        return
    for match in NAMED.finditer(text):
        name, value = match.groups()
        if name in FOREIGN and FOREIGN[name] in text:
            continue
        if not any(name in options for options in [*own, *meant(text, match.start(), own, commands)]):
            yield name
        elif value and not any(options.get(name) for options in commands.values()):
            owners = {other for options in commands.values() for other, values in options.items() if value in values}
            if f"{name}-type" in owners and f"are called {name}-type now" not in text:
                yield match[0]


def own_options(path, commands, stand_ins):
    """Return the options that messages of a module may name: of its command, or of all where it has none."""
    module = path.stem.replace("_", "-")
    if path.parent == PACKAGE / "cli" and module in commands:
        return [commands[module]]
    if "standins" in path.parts:
        return [*commands.values(), *stand_ins.values()]
    return list(commands.values())


@pytest.mark.parametrize("folder", sorted(p.name for p in PACKAGE.iterdir() if p.is_dir() and p.name[0] != "_"))
def test_options_are_called_what_they_are_called(folder, commands, stand_ins):
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in sorted(Path(PACKAGE / folder).rglob("*.py"))
        for line, _, text in texts(path.relative_to(ROOT).as_posix())
        for name in wrong(text, own_options(path, commands, stand_ins), commands)
    ]
    assert not found


def test_names_in_messages(commands):
    shown = {name: on_command_line(f"`{name}`") for name in flags.COMMANDS}
    for name in MODULES:
        for _, text, _ in texts(name):
            shown |= {name: on_command_line(f"`{name}`") for name in re.findall(r"`([a-zA-Z][\w.]*\(\))`", text)}
    for name, command in shown.items():
        found = functools.reduce(getattr, name.removesuffix("()").split("."), aligntools)
        assert callable(found)
        assert command.removeprefix("`aligntools ").rstrip("`").split()[0] in commands, name
        assert not list(wrong(command, [], commands)), name
    align = [commands["align"]]
    for text in ("use --model ibm2", "see --load-model", "give --grammar", "`tag --views` does it"):
        assert list(wrong(text, align if "tag" not in text else [], commands)), text
    for text in ("use --model-type ibm2", "--model is a file", "translate --grammar reads it"):
        assert not list(wrong(text, align, commands)), text
