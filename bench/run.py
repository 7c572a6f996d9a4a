#!/usr/bin/env python3
"""Measure quality, speed, memory, start-up and settings; each command rewrites its section of RESULTS.md."""

import argparse
import importlib
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import report
from bench.measures import BY_NAME, MEASURES

#: The other aligners' programs.
PROGRAMS = ("fast-align", "atools", "eflomal", "mkcls")
HELP = """
DIR of --data holds gold links and text as ``<pair>/<set>.wa``, ``<set>.en``, ``<set>.<other>`` (or .gz);
ALIGNTOOLS_REALDATA names it too. The other aligners are found where the options say; without them their columns stay
out. Texts and what was measured already lie in --work, so that a command that was stopped goes on where it was.
"""


def command_line():
    """Return the parser, with a command for each measure."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--data", default=os.environ.get("ALIGNTOOLS_REALDATA"), type=Path, metavar="DIR")
    common.add_argument(
        "--work",
        type=Path,
        default=Path(tempfile.gettempdir()) / f"aligntools-bench-{os.getuid()}",
        metavar="DIR",
        help="texts and figures kept between runs [%(default)s]",
    )
    common.add_argument("--results", type=Path, default=report.RESULTS, metavar="FILE", help="[%(default)s]")
    common.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), metavar="N")
    for name in PROGRAMS:
        common.add_argument(f"--{name}", metavar="PATH", help=f"the program {name}")
    measures = [measure for measure in MEASURES if measure.module]
    parser = argparse.ArgumentParser(
        description=__doc__, epilog="\n".join([*(measure.usage for measure in measures), HELP]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for measure in measures:
        text = "; beside: ".join([measure.about, *filter(None, [", ".join(measure.beside)])])
        own = commands.add_parser(measure.name, parents=[common], help=measure.about, description=text)
        measure.arguments(own)
    return parser


def main():
    o = command_line().parse_args()
    measure = BY_NAME[o.command]
    o.work.mkdir(parents=True, exist_ok=True)
    report.write_section(o.results, measure.name, importlib.import_module(measure.module).run(o))


if __name__ == "__main__":
    main()
