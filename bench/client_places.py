"""Where a client runs: its sources, the stand-ins, the Python that has its packages."""

import os
import re
import shutil
import subprocess
import sys
from functools import cached_property
from pathlib import Path

from bench.report import ROOT


class Place:
    """What a case runs with.

    Parameters
    ----------
    clients : Path
        Fetched sources, a folder for each client.
    work : Path
        For what is written.
    python : str
        Has the clients' packages and those that aligntools needs, and not the packages that stand-ins stand for.
    data : Path or None
        Gold links and text.
    eflomal : str or None
        The real eflomal-align, to compare with.
    """

    #: What our code needs, by setup.cfg.
    own_packages = re.findall(r"(?m)^    (\w+)>=", (ROOT / "setup.cfg").read_text().split("[options.package_data]")[0])

    def __init__(self, clients, work, python=sys.executable, data=None, eflomal=None):
        self.clients, self.work, self.python, self.data, self.eflomal = clients, work, python, data, eflomal

    @cached_property
    def drop_ins(self) -> Path:
        """The folder of stand-ins."""
        folder = self.work / "drop-ins"
        command = [sys.executable, "-m", "aligntools", "drop-ins", "-q", str(folder)]
        subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
        return folder

    def which(self, name):
        """Find a program as the clients do."""
        return shutil.which(name)

    def folder(self, name) -> Path:
        """Return a new folder."""
        found = self.work / name
        shutil.rmtree(found, ignore_errors=True)
        found.mkdir(parents=True)
        return found

    def environment(self, *paths, **more) -> dict[str, str]:
        """Return a client's environment; its own folders come last on the PYTHONPATH."""
        python = os.pathsep.join(map(str, (self.drop_ins / "python", ROOT, *paths)))
        path = os.pathsep.join([str(self.drop_ins), os.environ["PATH"]])
        return os.environ | {"PATH": path, "PYTHONPATH": python} | {name: str(value) for name, value in more.items()}

    def run(self, *command, cwd=None, env=None) -> subprocess.CompletedProcess:
        """Run a program; it must end well."""
        done = subprocess.run(
            list(map(str, command)), cwd=cwd or self.work, env=env or self.environment(), capture_output=True,
            encoding="utf-8", errors="replace", check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        said = (done.stdout + done.stderr)[-1500:]
        assert done.returncode == 0, f"{' '.join(map(str, command))[:200]}: exit status {done.returncode}\n{said}"
        return done

    def code(self, code, *args, cwd=None, env=None) -> str:
        """Run Python code with the client's Python; return what it printed."""
        return self.run(self.python, "-c", code, *args, cwd=cwd, env=env).stdout

    def version(self, case) -> str:
        """Return a client's commit, from a line of the folder's README or a file COMMIT in its folder."""
        folder = self.clients / case.needs[0].split("/")[0]
        if (folder / "COMMIT").exists():
            return (folder / "COMMIT").read_text().strip()[:8]
        readme = self.clients / "README.md"
        found = re.search(re.escape(case.client) + r" ([0-9a-f]{7,})", readme.read_text()) if readme.exists() else None
        return found[1][:8] if found else ""
