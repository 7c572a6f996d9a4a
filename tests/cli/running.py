"""Whole commands, run as a user runs them: in this process, where what is known of a process does not matter."""

import contextlib
import functools
import io
import os
import signal
import subprocess
import sys
import tempfile
import threading
import traceback

from aligntools.cli.reporter import SO_FAR
from tests.places import ROOT as ROOT


def run(*args, stdin=b"", cwd=None, script=None, timeout=120, process=False):
    """Run ``aligntools ARGS`` (or a stand-in program) and return the finished process, outputs as bytes.

    Parameters
    ----------
    process : bool
        In a process of its own, which takes a second to start. Otherwise in this one, with its files, its working
        folder and its status as in a process.
    """
    args = list(map(str, args))
    if not process:
        return _run_inside(args, stdin, cwd or ROOT, script)
    done = subprocess.run(
        [*program(script), *args],
        input=stdin,
        capture_output=True,
        cwd=cwd or ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        timeout=timeout,
    )
    done.stderr = without_compiling(done.stderr)
    return done


def without_compiling(errors):
    """Leave out what a command says because the tests' folder for compiled code was empty: also that it takes long."""
    lines = errors.splitlines(keepends=True)
    waiting = b"(up to 20 s)\n", b"on this machine\n", f"{SO_FAR}\n".encode()
    return b"".join(line for line in lines if not line.endswith(waiting))


def program(script=None):
    """Return the command line of ``aligntools`` or of a program that stands in for another."""
    return [sys.executable, "-m", *(["aligntools.cli.standins", script] if script else ["aligntools"])]


@functools.cache
def _command(script):
    if script is None:
        from aligntools.cli.main import cli

        return cli
    from aligntools.cli import standins

    return standins.command(script)


def _run_inside(args, stdin, cwd, script):
    from aligntools.cli.main import run as run_program

    before, handlers = os.getcwd(), {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    with _standard_files(stdin) as files:
        os.chdir(cwd)
        try:
            status = run_program(_command(script), args, script or "aligntools")
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
        except Exception:
            traceback.print_exc()
            status = 1
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
            os.chdir(before)
    return subprocess.CompletedProcess(args, status or 0, *files)


@contextlib.contextmanager
def _standard_files(data):
    """Put files in place of the three standard ones, descriptors too; fill the list with what was written."""
    written = []
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, _pipe_with(data) as source:
        descriptors = [os.dup(k) for k in range(3)]
        objects = sys.stdin, sys.stdout, sys.stderr
        for k, file in enumerate((source, out, err)):
            os.dup2(file.fileno(), k)
        sys.stdin = io.TextIOWrapper(open(0, "rb", closefd=False), encoding="utf-8")  # noqa: SIM115
        sys.stdout = io.TextIOWrapper(open(1, "wb", closefd=False), encoding="utf-8")  # noqa: SIM115
        sys.stderr = io.TextIOWrapper(open(2, "wb", closefd=False), encoding="utf-8", line_buffering=True)  # noqa: SIM115
        try:
            yield written
        finally:
            for stream in (sys.stdin, sys.stdout, sys.stderr):
                stream.close()
            sys.stdin, sys.stdout, sys.stderr = objects
            for k, descriptor in enumerate(descriptors):
                os.dup2(descriptor, k)
                os.close(descriptor)
            for file in (out, err):
                file.seek(0)
                written.append(file.read())
            written[1] = without_compiling(written[1])


@contextlib.contextmanager
def _pipe_with(data):
    """Open a pipe that gives the data and ends; it may be left unread."""
    read, write = os.pipe()

    def fill():
        with contextlib.suppress(BrokenPipeError), open(write, "wb") as out:
            out.write(data)

    writer = threading.Thread(target=fill)
    with open(read, "rb") as source:
        writer.start()
        yield source
    writer.join()


def ran(*args, **how):
    """Run a command that has to end well; return its process."""
    return succeeds(run(*args, **how))


def succeeds(process):
    """Check that a command ended well; return its process."""
    assert process.returncode == 0, process.stderr
    assert b"Traceback" not in process.stderr
    return process


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
    process = subprocess.Popen([*program(), *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT)
    line = process.stdout.readline()
    process.stdout.close()
    errors = without_compiling(process.stderr.read())
    process.stderr.close()
    return line, process.wait(), errors
