#!/usr/bin/env python3
"""Measure quality, speed, memory and start-up; each command rewrites its section of RESULTS.md."""

import argparse
import importlib
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import measuring, report
from bench.measures import BY_NAME, MEASURES, READS

#: The other aligners' programs.
PROGRAMS = ("fast-align", "atools", "eflomal", "mkcls")
HELP = """
DIR of --data holds gold links and text as ``<pair>/<set>.wa``, ``<set>.en``, ``<set>.<other>`` (or .gz);
ALIGNTOOLS_REALDATA names it too. The other aligners are found where the options say; without them their columns stay
out. Texts and what was measured already lie in --work, so that a command that was stopped goes on where it was.
``all`` runs the measures that README and docs/cost.md quote, says first what each took the last time, and leaves out
those whose sections are of this commit already.
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
    every = commands.add_parser("all", parents=[common], help="every figure of README and docs/cost.md, at one commit")
    for name in READS_OF_ALL:
        READS[name].add(every, name)
    return parser


def quoted():
    """Return the measures that have a section which README or docs/cost.md names."""
    pages = ((report.ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/cost.md"))
    named = {title for page in pages for line in re.findall(r"[Ss]ections?:? \"[^.)]*", page) for title in
             re.findall(r'"([^"]+)"', line)}  # fmt: skip
    return [measure for measure in MEASURES if measure.title in named and measure.module]


READS_OF_ALL = sorted({name for measure in quoted() for name in measure.reads if name in READS})


def run(o, measure):
    """Measure, write the section and keep how long it took."""
    began = time.perf_counter()
    body = importlib.import_module(measure.module).run(o)
    report.write_section(o.results, measure.name, body)
    spent = seconds(o) | {measure.name: round(time.perf_counter() - began)}
    (o.work / "seconds.json").write_text(json.dumps(spent))


def seconds(o):
    """Return how long each measure took the last time, by name."""
    path = o.work / "seconds.json"
    return json.loads(path.read_text()) if path.exists() else {}


def run_all(o, argv):
    """Run what is quoted and not yet of this commit; return how many measures failed."""
    state = f"commit {report.commit_of(report.ROOT)}, code {report.code_hash()}"
    left = [measure for measure in quoted() if state not in report.section(o.results, measure.name)]
    spent = seconds(o)
    for measure in left:
        known = f"{spent[measure.name] / 3600:.1f} h the last time" if measure.name in spent else "not run here yet"
        measuring.note(f"{measure.name}: {known}")
    total = sum(spent.get(measure.name, 0) for measure in left)
    measuring.note(f"{len(left)} of {len(quoted())} measures; {total / 3600:.1f} h for those that ran here before")
    failed = 0
    for measure in left:
        others = {f"--{name}" for name in READS_OF_ALL if name not in measure.reads}
        own = [word for k, word in enumerate(argv) if not others & {word.split("=")[0], argv[k - 1] if k else ""}]
        try:
            run(command_line().parse_args([measure.name, *own]), measure)
        except SystemExit as error:
            measuring.note(f"{measure.name}: {error}")
            failed += 1
    return failed


def main():
    o = command_line().parse_args()
    o.work.mkdir(parents=True, exist_ok=True)
    if o.command == "all":
        sys.exit(run_all(o, [word for word in sys.argv[1:] if word != "all"]) > 0)
    run(o, BY_NAME[o.command])


if __name__ == "__main__":
    main()
