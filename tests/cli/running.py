"""Whole commands, run as a user runs them."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(*args, stdin=b"", cwd=None, script=None, timeout=120):
    """Run ``aligntools ARGS`` (or a script of bin/) and return the finished process, outputs as bytes."""
    program = [sys.executable, str(ROOT / "bin" / script)] if script else [sys.executable, "-m", "aligntools"]
    return subprocess.run(
        [*program, *map(str, args)],
        input=stdin,
        capture_output=True,
        cwd=cwd or ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        timeout=timeout,
    )


def fails(process, *fragments, status=1):
    """Check that a command ended with one line of error that says what is wrong."""
    message = process.stderr.decode()
    assert process.returncode == status, message
    assert "Traceback" not in message
    if status == 1:
        assert message.startswith("error: ")
        assert message.count("\n") == 1
    for fragment in fragments:
        assert fragment in message
    return True


def through_head(*args):
    """Run ``aligntools ARGS | head -1``; return the output, the status and the errors of the command."""
    process = subprocess.Popen(
        [sys.executable, "-m", "aligntools", *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    )
    line = process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    return line, process.wait(), errors
