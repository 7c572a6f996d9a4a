"""Fixtures for tests of whole commands."""

import signal
import subprocess

import pytest

from aligntools.cli.main import cli
from aligntools.cli.main import run as run_program


@pytest.fixture
def command_inside(capfd):
    """Run ``aligntools COMMAND`` in this process: as a user runs it, but for the start of the interpreter."""
    handler = signal.getsignal(signal.SIGTERM)

    def run(*args):
        status = run_program(cli, list(map(str, args)), "aligntools")
        captured = capfd.readouterr()
        return subprocess.CompletedProcess(args, status, captured.out.encode(), captured.err.encode())

    yield run
    signal.signal(signal.SIGTERM, handler)


@pytest.fixture
def inside(command_inside):
    """Run ``aligntools align`` in this process."""
    return lambda *args: command_inside("align", *args)


@pytest.fixture
def file(tmp_path):
    """Write a file with the bytes given; return its path."""

    def write(name, data):
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return write
