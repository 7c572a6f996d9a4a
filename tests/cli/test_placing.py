"""No command writes over what it reads, nor two results into one file."""

import contextlib
import os
import re

import click
import pytest

from aligntools.cli import kinds, options, programs
from aligntools.cli.main import COMMANDS
from aligntools.ground.errors import UsageProblem
from tests.cli.running import fails, ran, run

ALL = [programs.command(name) for name in COMMANDS]
FILES = [
    (command, p)
    for command in ALL
    for p in command.params
    if isinstance(p.type, options.Place) and p.type.kind == "file"
]


def named(command, parameter):
    return f"{command.name} {parameter.opts[0]}"


def test_options_that_write_say_so_by_their_type():
    writing = re.compile(r"(Also )?(write|save) ", re.IGNORECASE)
    only = re.compile(r"Write only ")  # how much is written
    said = {
        named(c, p) for c, p in FILES
        if isinstance(p, click.Option) and writing.match(p.help or "") and not only.match(p.help)
    } | {"train-lm --binary"}  # fmt: skip
    assert {named(c, p) for c, p in FILES if p.type.written} == said
    assert {c.name for c, p in FILES if p.opts[0] == "-o"} == {c.name for c in ALL} - {"warmup", "drop-ins", "serve"}


@pytest.mark.parametrize("command", ALL, ids=lambda command: command.name)
def test_no_output_may_be_an_input(command, tmp_path):
    """Whatever the way in which the two files are named."""
    real = tmp_path / "real.f2e"
    real.write_bytes(b"")
    os.link(real, tmp_path / "hard.f2e")
    (tmp_path / "soft.f2e").symlink_to("real.f2e")
    others = [
        f"{tmp_path}/{name}" for name in ("real.f2e", "hard.f2e", "soft.f2e", "../" + tmp_path.name + "/real.f2e")
    ]
    mine = [p for c, p in FILES if c is command]
    for out in (p for p in mine if p.type.written):
        for name in others:
            path = name.removesuffix(out.type.endings[0])
            for read in (p for p in mine if not p.type.written):
                several = read.multiple or read.nargs != 1
                context = click.Context(command)
                context.params = {out.name: path, read.name: ["-", str(real)] if several else str(real)}
                with pytest.raises(UsageProblem, match="is the file that is read as"):
                    command.invoke(context)
            for second in (p for p in mine if p.type.written and p is not out):
                context = click.Context(command)
                context.params = {out.name: path, second.name: str(real).removesuffix(second.type.endings[0])}
                with pytest.raises(UsageProblem, match="two outputs have the same name"):
                    command.invoke(context)
    assert real.read_bytes() == b""


def test_the_corpus_survives(tmp_path):
    links = tmp_path / "links"
    links.write_bytes(b"1-1 0-0\n")
    with open(links, "ab") as out:  # >> links
        placed = os.dup(1)
        os.dup2(out.fileno(), 1)
        try:
            with pytest.raises(UsageProblem, match="standard output is the file that is read as -i"):
                kinds.check([kinds.Named("-i", str(links))], [kinds.Named("-o", "-")])
        finally:
            os.dup2(placed, 1)
            os.close(placed)
    for script in ("fast_align", "atools"):
        assert run(script=script).returncode == 1  # what else they write is standard output
    assert fails(run("-i", links, "-p", links, script="fast_align"), "is the file that is read as -i", status=2)
    assert links.read_bytes() == b"1-1 0-0\n"


def test_devices_and_what_is_meant_in_place(tmp_path):
    for place in (os.devnull, str(tmp_path / "x")):
        (tmp_path / "x").touch()
        file, out = kinds.Named("-i", place), kinds.Named("-o", "-")
        refused = pytest.raises(UsageProblem, match="is the file that is read as -i")
        with contextlib.nullcontext() if place == os.devnull else refused:
            kinds.check([file], [file, file, out, out])
    (tmp_path / "x").unlink()
    links, more = tmp_path / "links", tmp_path / "more"
    links.write_bytes(b"1-1 0-0\n")
    more.write_bytes(b"2-2\n")
    ran("symmetrize", "-c", "union", "--in-place", links, more)
    assert links.read_bytes() == b"0-0 1-1 2-2\n"
    assert sorted(os.listdir(tmp_path)) == ["links", "more"]
