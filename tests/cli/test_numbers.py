"""Every option that takes a number takes those of its range alone, whatever the command."""

import itertools

import click
import pytest

from aligntools.cli import kinds, programs
from aligntools.cli.main import COMMANDS, run
from aligntools.ground import ranges
from tests.cli.running import run as run_whole

#: Values that are numbers to some readers of numbers, and to no option.
NONSENSE = ("nan", "inf", "-inf", "1e300", "-1", str(10**30), "9" * 5000, "1e", "", "１x")
KINDS = (kinds.Number, kinds.Numbers, kinds.Size, kinds.Column)


def commands():
    for name in COMMANDS:
        yield name, programs.command(name)


def numeric(command):
    """Return the options that take numbers."""
    return [p for p in command.params if isinstance(p.type, KINDS) and not isinstance(p.type, kinds.Column)]


def test_nonsense_is_refused_with_the_range(capsys):
    """By the parser of the command line, before anything is read; of each option by the first command that has it."""
    first = {(p.opts[-1], p.help): (name, command, p) for name, command in commands() for p in numeric(command)}
    assert len(first) > 150
    for (name, command, parameter), value in itertools.product(first.values(), NONSENSE):
        kind = parameter.type
        if isinstance(kind, kinds.Number) and value == "-1" and kind.allowed.low < 0:
            continue
        flag = f"--set={parameter.name}" if isinstance(parameter, kinds.Field) else parameter.opts[-1]
        assert run(command, [f"{flag}={value}"], name) == 2, (flag, value)
        message = capsys.readouterr().err.strip().split("\n")[-1]
        assert flag.replace("--set=", "--set ") in message
        assert len(message) < 300
        if isinstance(kind, kinds.Number):
            assert str(kind.allowed) in message


@pytest.mark.parametrize("name", COMMANDS)
def test_the_default_and_the_bounds_are_in_the_range(name):
    command = dict(commands())[name]
    for parameter in numeric(command):
        kind, context = parameter.type, click.Context(command)
        default = parameter.default if isinstance(parameter.default, (int, float, str)) else None  # or unset, or a call
        if isinstance(kind, kinds.Number):
            low, high = kind.allowed.low, kind.allowed.high
            for value in (default, None if kind.allowed.above else low, None if kind.allowed.below else high):
                assert value is None or kind.convert(str(value), parameter, context) == value, parameter.opts
        elif default is not None:
            assert kind.convert(str(default), parameter, context), parameter.opts


def test_types_and_sizes():
    for name, command in commands():
        for parameter in command.params:
            kind = parameter.type
            plain = (click.types.IntParamType, click.types.FloatParamType)
            assert not isinstance(kind, plain), f"{name} {parameter.opts}: use options.number or a declared option"
            takes_number = parameter.metavar in ("N", "X", "P", "R", "SIZE", "N,N..", "N,N,...")
            named = isinstance(parameter, click.Argument) or isinstance(kind, KINDS)
            assert not takes_number or named, f"{name} {parameter.opts}"

    def read(text):
        return kinds.Size().convert(text, None, None)

    assert [read(text) for text in ("800M", "4g", "1.5GB", "100000", "64KB", "70000b")] == [
        800 << 20, 4 << 30, 3 << 29, 100000, 1 << 16, 70000
    ]  # fmt: skip
    for text in ("0", "63K", "nan", "infG", "1e400", "-4G", "G", "4X", "", "4 G B", "1" * 400):
        with pytest.raises(click.BadParameter, match="is not a size"):
            read(text)
    shown = " ".join(run_whole("extract-grammar", "--help-all").stdout.decode().split())
    assert "[default: 10; 1<=x<=200]" in shown
    shown = " ".join(run_whole("align", "--help-all").stdout.decode().split())
    assert "[default: 0.2; x>0]" in shown
    assert "with one view of the text 0.5; 0<=x<=1]" in shown


@pytest.mark.parametrize(
    ("allowed", "shown", "within", "without"),
    [
        (ranges.counts(1, 9), "a whole number from 1 to 9", (1, 9), (0, 10, 1.0, True, "1", None)),
        (ranges.amounts(0, 1), "a number from 0 to 1", (0, 1, 0.5), (-1e-9, 1.1, True, "0.5", None)),
        (ranges.amounts(0, 1, above=True), "a number above 0, at most 1", (5e-324, 1), (0, 0.0, -1)),
        (ranges.amounts(0, 1, below=True), "a number from 0 and below 1", (0, 0.999), (1, 1.0)),
    ],
)
def test_ranges(allowed, shown, within, without):
    assert str(allowed) == shown
    assert all(value in allowed for value in within)
    for value in (*without, float("nan"), float("inf"), -float("inf"), 10**400, -(10**400)):
        assert value not in allowed
