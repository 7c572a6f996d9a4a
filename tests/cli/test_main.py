import contextlib
import errno
import io
import logging
import os
import re
import resource
import signal
import subprocess
import sys
import time

import click
import pytest

from aligntools import __version__
from aligntools.cli import signals
from aligntools.cli.main import COMMANDS, cli, main
from aligntools.cli.main import run as run_program
from aligntools.ground import system
from aligntools.ground.errors import DataError, ModelError, ResourceError, UsageProblem
from tests.cli.running import ROOT, ran, run


@pytest.fixture(autouse=True)
def _signals():
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the suite runs in the background
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


def raising(error):
    @click.command("x")
    @click.option("--debug", is_flag=True)
    def command(debug):
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (DataError("corpus", 7, "no words"), 1, "error: corpus:7: no words"),
        (DataError("-", 7, "no words"), 1, "error: <stdin>:7: no words"),
        (DataError("corpus", None, "is empty"), 1, "error: corpus: is empty"),
        (ModelError("m", None, "is damaged"), 1, "error: m: is damaged"),
        (ResourceError("too large"), 1, "error: too large"),
        (UsageProblem("-a without -b"), 2, "error: -a without -b"),
        (OSError(errno.ENOSPC, "No space left on device", "out"), 1, "error: out: No space left on device"),
        (OSError(errno.EIO, "Input/output error"), 1, "error: output: Input/output error"),
        (DataError("corpus", 7, "two\nlines"), 1, "error: corpus:7: two lines"),
        (KeyboardInterrupt(), 130, ""),
        (click.exceptions.Abort(), 130, ""),
        (click.exceptions.Exit(4), 4, ""),
    ],
)
def test_errors_are_one_line_and_a_status(error, status, message, capfd):
    assert run_program(raising(error), [], "x") == status
    assert capfd.readouterr() == ("", message and message + "\n")


def test_memory_errors_and_mistakes(capfd):
    assert run_program(raising(MemoryError()), [], "x") == 1
    assert re.fullmatch(r"error: out of memory; .*--max-memory.*\n", capfd.readouterr().err)
    with pytest.raises(ZeroDivisionError):
        run_program(raising(ZeroDivisionError()), [], "x")


@pytest.mark.parametrize("error", [DataError("corpus", 7, "no words"), MemoryError(), OSError(5, "x")])
def test_debug_shows_the_traceback(error):
    with pytest.raises(type(error)):
        run_program(raising(error), ["--debug"], "x")


@pytest.mark.parametrize("status", [0, 1, 3, None])
def test_a_command_can_return_its_status(status):
    assert status_of(lambda: status) == (status or 0)


def status_of(act):
    """Return the exit status of a program that does this."""
    with pytest.raises(SystemExit) as end:
        sys.exit(run_program(click.command("x")(act), [], "x"))
    return end.value.code


def test_a_termination_signal_runs_what_cleans_up():
    cleaned = []

    def act():
        with contextlib.ExitStack() as stack:
            stack.callback(lambda: cleaned.append(True))
            os.kill(os.getpid(), signal.SIGTERM)
            signal.pause()

    assert status_of(act) == 143
    assert cleaned


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_in_a_destructor_ends_the_run_too(number, status, capfd):
    class Held:
        def __del__(self):
            os.kill(os.getpid(), number)
            sum(range(1000))  # the exception is raised here, and Python ignores it

    went_on = []

    def act():
        held = Held()
        del held
        time.sleep(10)
        went_on.append(True)

    hook = sys.unraisablehook
    assert status_of(act) == status
    assert sys.unraisablehook is hook
    assert not went_on
    assert "gnored" not in capfd.readouterr().err


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.parametrize(
    "error", [RuntimeError("in __set_name__"), DataError("corpus", 7, "no words"), OSError(5, "x")]
)
def test_a_signal_whose_exception_comes_out_as_another_ends_the_run_as_its_own_does(number, status, error, capfd):
    def act():
        try:
            os.kill(os.getpid(), number)
            sum(range(1000))
        except BaseException as ended:
            raise error from ended  # as Python 3.11 does where a class is made, with what __set_name__ raises

    assert status_of(act) == status
    assert capfd.readouterr() == ("", "")
    with pytest.raises(ZeroDivisionError):  # the next run of this process has seen no signal
        run_program(raising(ZeroDivisionError()), [], "x")


def test_an_interrupt_ends_a_program_that_loads_without_a_word():
    before, seen = signal.getsignal(signal.SIGINT), []
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signals.end_quietly()
        seen.append(signal.getsignal(signal.SIGINT))
        with signals.ending():
            seen.append(signal.getsignal(signal.SIGINT))
        seen.append(signal.getsignal(signal.SIGINT))
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell does for what runs in the background
        signals.end_quietly()
        with signals.ending():
            seen.append(signal.getsignal(signal.SIGINT))
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIG_DFL, signals._interrupt, signal.SIG_DFL, signal.SIG_IGN]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_waits_until_a_kernel_is_compiled(number, status):
    went_on = []

    def act():
        with system.signals_held():
            with system.signals_held():
                os.kill(os.getpid(), number)
                went_on.append(1)
            went_on.append(2)
        went_on.append(3)

    assert status_of(act) == status
    assert went_on == [1, 2]


def test_an_interrupt_in_text_that_is_evaluated_gives_the_program_s_own_status(tmp_path):
    (tmp_path / "program.py").write_text("""
import os, signal, sys, click
from aligntools.cli.main import run

@click.command("x")
def command():
    eval("os.kill(os.getpid(), signal.SIGINT)")

sys.exit(run(command, [], "x"))
""")
    done = subprocess.run(
        [sys.executable, "-m", "program"], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert done.returncode == 130


def test_a_second_signal_does_not_wait():
    went_on = []

    def act():
        with system.signals_held():
            os.kill(os.getpid(), signal.SIGINT)
            went_on.append(1)
            os.kill(os.getpid(), signal.SIGINT)
            went_on.append(2)

    assert status_of(act) == 130
    assert went_on == [1]


def test_commands_and_help():
    done = ran("--help")
    assert done.stderr == b""
    for name, about in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(about[:30])}", done.stdout.decode(), re.MULTILINE)
    assert run("-h").stdout == done.stdout
    assert run("-V").stdout.decode() == f"aligntools, version {__version__}\n"
    done = run()
    assert b"Traceback" not in done.stdout + done.stderr
    assert b"Usage: aligntools" in done.stdout + done.stderr
    for name in COMMANDS:
        command = cli.get_command(None, name)
        assert isinstance(command, click.Command)
        assert command.name == name
    assert cli.get_command(None, "os") is None
    for flags, level in (((), logging.INFO), (("-q",), logging.ERROR)):
        run("symmetrize", *flags, "-c", "convert", "missing")
        assert logging.getLogger("aligntools.compiling").level == level


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_a_screen_and_help_all_has_every_option(name):
    command = cli.get_command(None, name)
    known = {o.name: o for o in command.params if isinstance(o, click.Option) and not o.hidden}
    basic = getattr(command, "basic", None) or list(known)
    assert len(set(basic)) == len(basic)
    assert set(basic) <= set(known)
    short = run(name, "--help").stdout.decode()
    assert len(short.splitlines()) <= 60
    assert all(known[one].opts[0] in short for one in basic)
    assert "Example:" in short
    whole = run(name, "--help-all").stdout.decode()
    assert all(spelling in whole for o in known.values() for spelling in o.opts)
    assert ("--help-all" in short) == bool(command.basic)


def test_streams_that_are_closed(tmp_path):
    code = "import sys; sys.argv = ['x', 'align', '-i', '-']; from aligntools.cli.main import main; main()"
    command = f'exec "{sys.executable}" -c "{code}" 2>&1 '
    done = subprocess.run(["sh", "-c", command + "<&-"], capture_output=True, cwd=ROOT, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stdout == b"error: <stdin>: is closed\n"
    code = code.replace("'-i', '-'", "'-i', 'data/samples/de-en.txt'")
    command = f'exec "{sys.executable}" -c "{code}" >&- '
    done = subprocess.run(["sh", "-c", command], capture_output=True, cwd=ROOT, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (1, b"error: <stdout>: is closed\n")
    (tmp_path / "links").write_bytes(b"1-1 0-0\n")
    code = "import sys; from aligntools.cli.main import main; sys.argv[1:1] = ['symmetrize', '-c', 'convert']; main()"
    command = f'exec "{sys.executable}" -c "{code}" -v "{tmp_path}/links" -o "{tmp_path}/out" '
    for streams in ("2>&-", "2>&- >&- <&-", "2> /dev/full"):
        done = subprocess.run(["sh", "-c", command + streams], capture_output=True, cwd=ROOT, timeout=60, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), streams
        assert (tmp_path / "out").read_bytes() == b"0-0 1-1\n"


def test_warmup_says_what_it_did_and_where_the_code_is_kept(monkeypatch):
    from aligntools.cli import installation

    monkeypatch.setattr(installation, "_part", lambda name: (name, 1.25))  # what it does is tests/test_warming.py's
    done = run("warmup", "--threads", 1)
    assert (done.returncode, done.stdout) == (0, b"")
    assert re.fullmatch(rb"compiled in [\d.]+ s; kept in .*\n", done.stderr)
    assert run("warmup", "--threads", 1, "-q").stderr == b""
    parts = run("warmup", "--threads", 1, "-v").stderr.decode().splitlines()[:-1]
    assert parts == [f"{name}: 1.2 s" for name in installation.PARTS]


def test_what_the_library_logs_is_a_line_on_standard_error():
    @click.command("speaking")
    def speaking():
        logging.getLogger("aligntools.somewhere").warning("two %s\nin one", "lines")
        logging.getLogger("aligntools").info("nothing")

    captured = io.StringIO()
    with contextlib.redirect_stderr(captured):
        for _ in range(2):  # no handler is left behind
            assert run_program(speaking, []) == 0
    assert captured.getvalue() == "warning: two lines in one\n" * 2


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("aligntools eval-a", "plain,eval-aer"),
        ("aligntools align --symm", "plain,--symmetrize"),
        ("aligntools align --decode ", "plain,best\nplain,posterior\nplain,viterbi"),
        ("aligntools align -m mod", "file,mod"),
        ("aligntools eval-aer gold", "file,gold"),
        ("aligntools train-parser --checkpoint x", "dir,x"),
    ],
)
def test_the_shell_is_told_what_may_come_next(words, offered, monkeypatch, capfd):
    monkeypatch.setenv("_ALIGNTOOLS_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
    with pytest.raises(SystemExit, match=r"^0$"):
        main()
    assert capfd.readouterr() == (f"{offered}\n", "")


def test_the_shell_gets_a_script_for_completion(monkeypatch):
    monkeypatch.setenv("_ALIGNTOOLS_COMPLETE", "bash_source")
    done = ran(process=True)
    assert b"complete -o nosort -F _aligntools_completion aligntools" in done.stdout


@pytest.mark.parametrize(
    ("line", "unbuffered"),
    [("aligntools align --help", ""), ("aligntools align --help", "1"), ("aligntools.cli.standins fast_align -h", "")],
)
def test_output_that_there_is_no_room_for_is_an_error(line, unbuffered, tmp_path):
    """Without a buffer, Python writes what there is room for and says nothing of the rest."""
    with open(tmp_path / "out", "wb") as out:
        done = subprocess.run(
            [sys.executable, "-m", *line.split()], stdout=out, stderr=subprocess.PIPE, cwd=ROOT,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)), check=False,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered, "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.decode() == "error: output: File too large\n"
