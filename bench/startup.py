"""How long the first run on a new machine takes, and later ones."""

import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from aligntools.formats.models import modelfile
from bench import measuring, report, texts

GIGABYTE = 10**9

PORTABLE = "the same with ALIGNTOOLS_PORTABLE=1"


def run(o):
    sample = texts.samples(o.work)
    gold = sample.source.with_suffix(".wa")
    rows = []
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        large = Path(folder) / "large"  # long enough that reading and writing are compiled too
        large.write_bytes(sample.joint.read_bytes() * 200)
        out = Path(folder) / "out"
        commands = {
            "align": ["align", "-i", sample.joint, "-o", out],
            "align, on the sample text 200 times": ["align", "-i", large, "-o", out],
            PORTABLE: ["align", "-i", large, "-o", out],
            "align --fast": ["align", "--fast", "-i", sample.joint, "-o", out],
            "warmup": ["warmup"],
        }
        for name, command in commands.items():
            with tempfile.TemporaryDirectory(dir=o.work) as cache:
                where = {"ALIGNTOOLS_CACHE_DIR": cache, "ALIGNTOOLS_PORTABLE": str(int(name is PORTABLE))}
                where |= {"HOME": cache, "XDG_CACHE_HOME": cache}  # code that is kept there would be used
                flags = ["-q", *([] if name == "warmup" else ["--threads", o.threads])]
                command = measuring.aligntools(*command, *flags)
                cold = measuring.run(command, **where).seconds
                warm = _median(command, o.runs, **where)
            rows.append([name, f"{cold:.1f}", f"{warm:.2f}", f"{cold - warm:.1f}"])
            measuring.note(f"{name}: cold {cold:.1f} s, warm {warm:.2f} s")
        alignment = Path(folder) / "alignment"
        measuring.run(measuring.aligntools("align", "-q", "-i", sample.joint, "-o", alignment))
        model, line = Path(folder) / "model", Path(folder) / "line"
        measuring.run(measuring.aligntools("align", "-q", "-i", sample.joint, "-o", out, "--save-model", model))
        line.write_bytes(sample.joint.read_bytes().split(b"\n")[0] + b"\n")
        commands = {
            "align -m, one line": ["align", "-q", "-m", model, "-i", line, "-o", out],
            "--help": ["--help"],
            "align --help": ["align", "--help"],
            "eval-aer": ["eval-aer", "--head", gold, alignment],
            "symmetrize": ["symmetrize", "-c", "union", alignment, alignment],
        }
        for name, command in commands.items():
            rows.append([name, "", f"{_median(measuring.aligntools(*command), o.runs):.2f}", ""])
        numba = _median([sys.executable, "-c", "import numba"], o.runs)
        rows.append(['`python -c "import numba"`, to compare', "", f"{numba:.2f}", ""])
    verified, unverified = _verifying(o.work, o.runs)
    body = [
        "Seconds from start to exit on the German-English sample text (240 pairs). Cold: with an empty folder for"
        f" compiled code; warm: median of {o.runs} runs with what the first one left there.",
        report.table(["command", "cold", "warm", "compiling"], rows),
        f"A model file of a gigabyte, in the page cache, is read in {verified:.2f} s, and in {unverified:.2f} s with"
        f" `--set verify=false`: its checksum costs {verified - unverified:.2f} s (medians of {o.runs}).",
        report.circumstances(o.threads),
    ]
    return "\n\n".join(body)


def _verifying(work, runs):
    """Return the seconds that reading a gigabyte takes with and without its checksum."""
    arrays = {"numbers": np.random.default_rng(1).integers(0, 2**62, GIGABYTE // 8)}
    with tempfile.TemporaryDirectory(dir=work) as folder:
        path = Path(folder) / "model"
        modelfile.write_model(path, "numbers", {}, arrays)
        del arrays
        times = {True: [], False: []}
        for _ in range(runs + 1):  # the first run is left out
            for verify, found in times.items():
                began = time.perf_counter()
                _, read = modelfile.read_model(path, "numbers", verify)
                int(read["numbers"].sum())
                found.append(time.perf_counter() - began)
    return tuple(statistics.median(found[1:]) for found in times.values())


def _median(command, runs, **environment):
    return statistics.median(measuring.run(command, **environment).seconds for _ in range(runs))
