"""The package works where the system lacks what Linux has; on its syntax trees, and with it taken away."""

import ast
import json
import re
import subprocess
import sys

import pytest

from tests.cli.running import ROOT
from tests.sources import MODULES, dotted, every_node, imports

#: Where such names may be used as they are; it says what comes in their place.
SYSTEM = "aligntools/ground/system.py"
#: Modules that some system lacks.
LACKING = {"fcntl", "resource", "termios", "pwd", "grp", "pty", "tty", "syslog", "readline", "curses", "posix"}
#: Names of modules that every system has, which some system lacks.
NAMES = {
    "os": "fork forkpty uname mkfifo mknod fchmod fchown chown lchown geteuid getuid getegid getgid getgroups getpgid"
    " getpgrp setpgid setsid killpg wait wait3 wait4 waitid nice getloadavg sysconf confstr pathconf fpathconf"
    " sched_getaffinity sched_setaffinity sched_yield pread pwrite preadv pwritev readv writev sendfile posix_fallocate"
    " posix_fadvise posix_spawn statvfs fstatvfs register_at_fork openpty ttyname ctermid chroot lockf fdatasync"
    " memfd_create eventfd copy_file_range getxattr setxattr listxattr removexattr mkfifoat splice O_CLOEXEC O_NONBLOCK"
    " O_NOFOLLOW O_DIRECTORY O_SYNC O_DSYNC O_NOCTTY O_TMPFILE O_PATH SEEK_DATA SEEK_HOLE RTLD_GLOBAL WNOHANG"
    " WIFEXITED WEXITSTATUS WIFSIGNALED WTERMSIG",
    "signal": "SIGHUP SIGALRM SIGKILL SIGPIPE SIGUSR1 SIGUSR2 SIGQUIT SIGCHLD SIGCONT SIGSTOP SIGTSTP SIGTTIN SIGTTOU"
    " SIGWINCH SIGBUS SIGXCPU setitimer getitimer ITIMER_REAL ITIMER_VIRTUAL alarm pause sigwait sigwaitinfo"
    " sigtimedwait sigpending pthread_sigmask pthread_kill siginterrupt",
    "select": "poll epoll kqueue devpoll",
    "mmap": "MAP_PRIVATE MAP_SHARED MAP_ANONYMOUS MADV_DONTNEED MADV_WILLNEED MADV_SEQUENTIAL PROT_READ PROT_WRITE",
    "socket": "AF_UNIX MSG_DONTWAIT",
    "time": "tzset clock_gettime",
}
QUALIFIED = {f"{module}.{name}" for module, names in NAMES.items() for name in names.split()}
#: Arguments of calls that some system refuses.
ARGUMENTS = {"pass_fds", "preexec_fn", "start_new_session"}


def handlers(node):
    """Return the names of what a ``try`` catches."""
    return {dotted(name) for h in node.handlers if h.type for name in getattr(h.type, "elts", [h.type])}


def guarded(tree, attribute):
    """Return the nodes that run only where a name is there: within its ``hasattr``, or where its lack is caught."""
    found = set()
    for node in every_node(tree):
        if isinstance(node, ast.Try) and handlers(node) & {"ImportError", "AttributeError", "ModuleNotFoundError"}:
            found |= {id(n) for statement in node.body for n in ast.walk(statement)}
        if isinstance(node, ast.FunctionDef | ast.If | ast.IfExp):
            asked = any(
                isinstance(n, ast.Call) and dotted(n.func) == "hasattr" and f"{dotted(n.args[0])}.{n.args[1].value}"
                == attribute
                for n in ast.walk(node if isinstance(node, ast.FunctionDef) else node.test)
            )  # fmt: skip
            if asked:
                found |= {id(n) for n in ast.walk(node)}
    return found


def unguarded(tree):
    """Yield the lines where a module uses what some system lacks, without a guard."""
    for module, _, line in imports(tree):
        if module in LACKING:
            yield line, f"import {module}"
    for node in every_node(tree):
        if isinstance(node, ast.Attribute) and dotted(node) in QUALIFIED:
            if id(node) not in guarded(tree, dotted(node)):
                yield node.lineno, dotted(node)
        elif isinstance(node, ast.ImportFrom) and node.module in NAMES:
            yield from ((node.lineno, f"{node.module}.{n.name}") for n in node.names
                        if f"{node.module}.{n.name}" in QUALIFIED)  # fmt: skip
        elif isinstance(node, ast.Call):
            refused = [keyword.arg for keyword in node.keywords if keyword.arg in ARGUMENTS]
            if refused and not any(isinstance(n, ast.Attribute) and n.attr == "HANDS_OVER" for n in every_node(tree)):
                yield node.lineno, refused[0]
        elif isinstance(node, ast.Constant) and re.match(r"/(proc|sys|dev)/(?!stdout$)", str(node.value)):
            yield from [(node.lineno, node.value)] * (node.value not in asked_of_system(tree))


def asked_of_system(tree):
    """Return the files that a module reads through `system.text_of`, which are empty where they are missing."""
    calls = [n for n in every_node(tree) if isinstance(n, ast.Call) and dotted(n.func) == "system.text_of"]
    return {n.value for call in calls for n in ast.walk(call) if isinstance(n, ast.Constant)}


def test_what_some_system_lacks_is_guarded():
    breaches = [f"{name}:{line} {what}" for name, tree in MODULES.items() if name != SYSTEM
                for line, what in unguarded(tree)]  # fmt: skip
    assert not breaches, f"use aligntools.ground.system: {breaches}"


@pytest.mark.parametrize(
    "text",
    ["import fcntl", "from resource import getrusage", "import os\nos.fork()", "from os import fork",
     "import signal\nsignal.signal(signal.SIGHUP, f)", "open('/proc/self/statm')", "Popen(['x'], pass_fds=[1])",
     "import os\nif hasattr(os, 'fork'):\n  os.uname()"],
)  # fmt: skip
def test_what_is_not_guarded_is_seen(text):
    assert list(unguarded(ast.parse(text)))


@pytest.mark.parametrize(
    "text",
    ["import os\nif hasattr(os, 'fork'):\n  os.fork()", "import os\ntry:\n  os.fork()\nexcept AttributeError:\n  pass",
     "import signal\nsignal.signal(signal.SIGTERM, f)", "system.text_of('/proc/self/statm')",
     "import os\ngetattr(os, 'fork', None)"],
)  # fmt: skip
def test_what_is_guarded_passes(text):
    assert not list(unguarded(ast.parse(text)))


#: What the standard library itself does not do without where it is there.
KEPT = {"mmap.PROT_READ", "mmap.PROT_WRITE", "mmap.MAP_SHARED", "os.O_NONBLOCK"}
#: Takes all of it away once the libraries, which have guards of their own, are loaded; then runs the rest of the text.
WITHOUT = f"""
import importlib, pathlib, sys
import click, distributed, multiprocessing.connection, numba, numpy, rich.console, safetensors, scipy, subprocess
import tempfile, tqdm

class Gone:
    def find_spec(self, name, path=None, target=None):
        if name in {LACKING - {"posix"}!r}:
            raise ImportError(name)

sys.meta_path.insert(0, Gone())
for name in {LACKING - {"posix"}!r}:
    sys.modules.pop(name, None)
for name in {sorted(QUALIFIED - KEPT)!r}:
    module, _, attribute = name.partition(".")
    vars(importlib.import_module(module)).pop(attribute, None)
"""
EVERY_MODULE = """
import warnings
root = pathlib.Path(sys.argv[1])
for path in sorted(root.glob("aligntools/**/*.py")):
    name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
    if not name.endswith("__main__"):
        importlib.import_module(name)
"""
COMMANDS = """
import json
from aligntools.cli.main import cli, run
for line in json.loads(sys.argv[2]):
    assert not run(cli, line, "aligntools"), line
"""


def without(code, *args):
    """Run code in a process where what some system lacks is missing."""
    command = [sys.executable, "-c", WITHOUT + code, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


def test_commands_run_and_every_module_is_imported_where_it_is_missing(tmp_path):
    text = tmp_path / "text"
    text.write_text("das haus ||| the house\ndas buch ||| the book\nein buch ||| a book\n" * 3)
    given = ["align", "-q", "-i", str(text)]
    lines = (
        [*given, "--fast", "--save-model", str(tmp_path / "model"), "--max-memory", "4G"],
        [*given, "-m", str(tmp_path / "model")],
        [*given, "--fast", "--tmpdir", str(tmp_path)],
    )
    done = without(COMMANDS + EVERY_MODULE, ROOT, json.dumps(lines))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "0-0 1-1\n" * 27
