"""Reads what README and docs show: sessions of a shell, Python, links, options, figures; and runs the sessions."""

import os
import re
import shlex
import subprocess
import sys

from tests.cli.running import ROOT

#: Pages that people write; those of commands are made by the build.
PAGES = sorted(
    p for p in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")] if not {"_build", "commands"} & {*p.parent.parts}
)
#: What is shown and not run: it installs, or runs these tests.
PASSED_OVER = ("pip install", "pytest", "git ")


def title(path):
    """Return what a page is called: its path in the repository."""
    return path.relative_to(ROOT).as_posix()


def text_of(path):
    """Return a page's text."""
    return path.read_text(encoding="utf-8")


def blocks(text, language):
    """Return the contents of the fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def prose(text):
    """Return a text without its fenced blocks."""
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def sessions(text):
    """Yield (command, lines shown below it) of the shell blocks."""
    for block in blocks(text, "sh"):
        command, shown = None, []
        for line in [*block.splitlines(), ""]:
            if line.startswith("$ ") or not line.strip():
                if command:
                    yield command, shown
                command, shown = line.removeprefix("$ ").strip() or None, []
            elif command and command.endswith("\\"):
                command = command[:-1] + line.strip()
            elif command:
                shown.append(line)


def to_run(text):
    """Return the sessions that are run."""
    return [(c, shown) for c, shown in sessions(text) if not any(word in c for word in PASSED_OVER)]


def _programs(folder):
    """Write programs that stand for what a user has on the path, ``aligntools`` being this checkout's."""
    folder.mkdir()
    for name, what in (("aligntools", "-P -m aligntools"), ("python", ""), ("python3", "")):
        path = folder / name
        path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {what} "$@"\n')
        path.chmod(0o755)
    return folder


def shell(commands, folder, scratch):
    """Run lines one after the other in one shell, as a user types them.

    Parameters
    ----------
    folder : Path
        Where the shell begins.
    scratch : Path
        A new folder for what the lines say.

    Returns
    -------
    list of (int, bytes, bytes)
        Status, output and errors of each line.
    """
    scratch.mkdir()
    programs = _programs(scratch / "bin")
    lines = ["set -o pipefail"]
    for n, command in enumerate(commands):
        place = shlex.quote(str(scratch / str(n)))
        lines.append(f"{{ {command}\n}} > {place}.out 2> {place}.err; echo $? > {place}.status")
    # no copy of the package, nor a link to it, may be in the way
    environment = os.environ | {
        "PYTHONPATH": str(ROOT), "PATH": f"{programs}:{os.environ['PATH']}", "PACKAGE": str(ROOT / "aligntools"),
    }  # fmt: skip
    subprocess.run(
        ["bash", "-c", "\n".join(lines)], cwd=folder, env=environment, stdin=subprocess.DEVNULL, timeout=600, check=True
    )
    said = []
    for n in range(len(commands)):
        out, errors = ((scratch / f"{n}.{kind}").read_bytes() for kind in ("out", "err"))
        said.append((int((scratch / f"{n}.status").read_text()), out, errors))
    return said


def numbers(text):
    """Return the numbers of a text as (value, decimals), code and links left out."""
    text = re.sub(r"`[^`]*`|\]\([^)]*\)|<!--.*?-->", " ", text, flags=re.DOTALL)
    found = re.findall(r"(?<![\w.,-])[+-]?(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?![\w]|\.\d|-[a-z])", text)
    return [(float(whole.replace(",", "") + part), max(len(part) - 1, 0)) for whole, part in found]


def claims(text):
    """Yield (text, sections): a text, and the sections of RESULTS.md that it says its figures are from."""
    for chapter in re.split(r"^## ", text, flags=re.MULTILINE):
        parts = re.split(r"[Ss]ections?:? ((?:\"[^\"]+\"(?:,\s)?)+)", chapter)
        for said, named in zip(parts[::2], parts[1::2], strict=False):
            yield said, re.findall(r'"([^"]+)"', named)
