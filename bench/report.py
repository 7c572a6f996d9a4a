"""RESULTS.md: one section a command, between markers, rewritten whole by the command alone."""

import datetime
import hashlib
import importlib.metadata
import os
import platform
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UNKNOWN = "unknown"  # the commit, where there is no git
RESULTS = ROOT / "bench" / "RESULTS.md"
HEAD = """# Results

Written by `python bench/run.py COMMAND`, a section for each command; do not edit between the markers.
"""


def code_hash(part="."):
    """Return what tells two states of the package apart, or of a part of it; `bench.code` is for figures to keep."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "aligntools" / part).rglob("*.py")):
        digest.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def _git(checkout, *args):
    """Return whether git, where there is one, did something in a checkout, and what it said."""
    try:
        done = subprocess.run(["git", "-C", str(checkout), *args], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return False, ""
    return not done.returncode, done.stdout.strip()


def commit_of(checkout):
    """Return the commit that a checkout is at."""
    return _git(checkout, "rev-parse", "--short", "HEAD")[1] or UNKNOWN


def circumstances(threads=None):
    """Return a line about when, where and of what code something was measured; its hash is `code_hash`'s."""
    commit = commit_of(ROOT)
    if commit != UNKNOWN and not _git(ROOT, "diff", "--quiet", "HEAD", "--", "aligntools")[0]:
        commit += " with changes"
    versions = ", ".join(f"{n} {importlib.metadata.version(n)}" for n in ("numpy", "numba"))
    code = f"commit {commit}, code {code_hash()}"
    used = f", {threads} threads" if threads else ""
    return (
        f"{datetime.date.today()}, {code}, {_processor()}, {os.cpu_count()} cores{used},"
        f" Python {platform.python_version()}, {versions}; load {os.getloadavg()[0]:.1f} when it was written."
    )


def _processor():
    try:
        found = re.search(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        found = None
    return found[1] if found else platform.processor() or platform.machine()


def table(header, rows):
    """Return a Markdown table; columns after the first are aligned to the right."""
    lines = [header, ["---"] + ["--:"] * (len(header) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def section(path, name):
    """Return the section of a measure; empty where there is none."""
    text = path.read_text() if path.exists() else ""
    found = re.search(rf"(?s)<!-- begin {name} -->\n.*?<!-- end {name} -->\n", text)
    return found[0] if found else ""


def write_section(path, name, body):
    """Print the section of a measure and put it in its place in the file."""
    from bench.measures import BY_NAME  # late: it needs what stands on this module

    text = f"<!-- begin {name} -->\n## {BY_NAME[name].title}\n\n{body.strip()}\n<!-- end {name} -->\n"
    print(text)
    old = path.read_text() if path.exists() else HEAD
    sections = {m[1]: m[0] for m in re.finditer(r"(?s)<!-- begin (\w+) -->\n.*?<!-- end \1 -->\n", old)} | {name: text}
    order = [*BY_NAME, *sections]
    head = old.split("<!-- begin ", 1)[0].rstrip() + "\n"
    temporary = path.with_name(path.name + ".part")
    temporary.write_text("\n".join([head, *(sections[n] for n in sorted(sections, key=order.index))]))
    temporary.replace(path)
