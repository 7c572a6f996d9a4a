"""How long the first run on a new machine takes, and later ones."""

import statistics
import sys
import tempfile
from pathlib import Path

from bench import measuring, report, texts

PORTABLE = "the same with ALIGNTOOLS_PORTABLE=1"


def arguments(parser):
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="of what is warm [%(default)s]")


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
    body = [
        "Seconds from start to exit on the German-English sample text (240 pairs). Cold: with an empty folder for"
        f" compiled code; warm: median of {o.runs} runs with what the first one left there.",
        report.table(["command", "cold", "warm", "compiling"], rows),
        report.circumstances(o.threads),
    ]
    return "Start-up", "\n\n".join(body)


def _median(command, runs, **environment):
    return statistics.median(measuring.run(command, **environment).seconds for _ in range(runs))
