"""The other aligners, as their users run them: both directions, then symmetrization."""

import tempfile
from pathlib import Path

from bench.measuring import Usage, aligntools, run

HEURISTICS = ("intersect", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and")


def align(tool, o, text, folder, **environment) -> Usage:
    """Write ``forward`` and ``reverse`` of one aligner into a folder; return what it took."""
    forward, reverse = Path(folder) / "forward", Path(folder) / "reverse"
    if tool == "fast_align":
        command = [o.fast_align, "-i", text.joint, "-d", "-o", "-v"]
        environment |= {"OMP_NUM_THREADS": str(o.threads)}
        return run(command, forward, **environment) + run([*command, "-r"], reverse, **environment)
    files = ["-s", text.source, "-t", text.target, "-f", forward, "-r", reverse]
    return run([o.eflomal, "--overwrite", *files], **environment)


def symmetrize(o, folder, heuristic, name="symmetrized") -> Usage:
    """Symmetrize the two files of a folder with the given atools, or else with ours, which gives the same."""
    files = ["-c", heuristic, "-i", Path(folder) / "forward", "-j", Path(folder) / "reverse"]
    return run([o.atools, *files] if o.atools else aligntools("symmetrize", *files), Path(folder) / name)


def scores(tool, o, text, evaluate):
    """Align a gold set's text; yield ``symmetrization, AER, precision, recall`` in percent."""
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        align(tool, o, text, folder)
        for name in ("forward", "reverse", *HEURISTICS):
            if name in HEURISTICS:
                symmetrize(o, folder, name, name)
            yield name, *evaluate(Path(folder) / name, text)


def available(o):
    """Return the aligners whose programs were given."""
    return [tool for tool, path in (("fast_align", o.fast_align), ("eflomal", o.eflomal)) if path]
