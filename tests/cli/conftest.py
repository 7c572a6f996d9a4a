"""Fixtures for tests of whole commands."""

import pytest

from tests.cli.running import run


@pytest.fixture
def command_inside():
    """Run ``aligntools COMMAND`` in this process."""
    return run


@pytest.fixture
def inside():
    """Run ``aligntools align`` in this process."""
    return lambda *args: run("align", *args)
