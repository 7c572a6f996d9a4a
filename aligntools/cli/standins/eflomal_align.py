"""Stands in for eflomal-align: its flags and files; the models are ours."""

import argparse
import contextlib
import logging
import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aligntools.cli.kinds import Named, placed
from aligntools.cli.standins.arguments import ProgramParser, Wrong, eflomal_parser, program
from aligntools.ground.errors import DataError

if TYPE_CHECKING:
    from aligntools.cli.reporter import Reporter

PROGRAM = "eflomal-align"
SEPARATOR = re.compile(r"(?<!\S)\|\|\|(?!\S)")


def parser() -> ProgramParser:
    """Return eflomal-align's command line."""
    p = eflomal_parser(PROGRAM, "Aligns a parallel text as eflomal does, with aligntools' models.")
    without = "taken and without effect"
    p.add_argument("--overwrite", action="store_true", help="replace files that are there")
    about = "prior probability of no link [%(default)s]"
    p.add_argument("--null-prior", type=float, default=0.2, metavar="X", help=about)
    whole: dict[str, Any] = {"type": int, "metavar": "N"}
    about = "1 IBM 1, 2 HMM, 3 fertilities [%(default)s]"
    p.add_argument("-m", "--model", default=3, choices=(1, 2, 3), help=about, **whole)
    about = "what scores are made of: 1 words, 2 jumps too, 3 fertilities too [as -m]"
    p.add_argument("-M", "--score-model", default=0, choices=(0, 1, 2, 3), help=about, **whole)
    for side in ("source", "target"):
        for end in ("prefix", "suffix"):
            about = f"keep this many letters of a word's {end} ({side}); 0 keeps all"
            p.add_argument(f"--{side}-{end}", dest=f"{side}_{end}_len", default=0, help=about, **whole)
    p.add_argument("-l", "--length", type=float, default=1.0, metavar="X", help=without)
    for number, name in ((1, "ibm1"), (2, "hmm"), (3, "fert")):
        p.add_argument(f"-{number}", f"--{name}-iters", type=int, metavar="N", help=without)
    p.add_argument("--n-samplers", type=int, default=3, metavar="N", help=without)
    p.add_argument("-f", "--forward-links", metavar="FILE", help="write links here: target words choose")
    p.add_argument("-r", "--reverse-links", metavar="FILE", help="write links here: source words choose")
    p.add_argument("-F", "--forward-scores", metavar="FILE", help="write costs of the target words here")
    p.add_argument("-R", "--reverse-scores", metavar="FILE", help="write costs of the source words here")
    p.add_argument("-p", "--priors", metavar="FILE", help="read priors from here")
    return p


@program(PROGRAM, prefix=f"{PROGRAM}: ")
def command(args: list[str]) -> int:
    """Align as eflomal-align does."""
    from aligntools.adapters.eflomal import Aligner
    from aligntools.adapters.eflomal.aligner import align_lines
    from aligntools.formats.opening.files import text_lines

    o = parser().parse_args(args)
    read = texts(o)
    if o.priors:
        read.append(Named("-p", o.priors))
    outputs = {"links_forward": o.forward_links, "links_reverse": o.reverse_links}
    outputs |= {"scores_forward": o.forward_scores, "scores_reverse": o.reverse_scores}
    flags = (("-f", o.forward_links), ("-r", o.reverse_links), ("-F", o.forward_scores), ("-R", o.reverse_scores))
    written = [Named(flag, path) for flag, path in flags if path]
    for named in written:
        # of scores eflomal does not ask
        if named.flag in ("-f", "-r") and not o.overwrite and os.path.exists(named.path):
            raise Wrong(f"output file {named.path} exists, will not overwrite!")
    cuts = {f"{side}_{end}_len" for side in ("source", "target") for end in ("prefix", "suffix")}
    asked = {name: getattr(o, name) for name in {"model", "score_model", "null_prior"} | cuts}
    aligner = Aligner(**asked)
    with placed(read, written), running(o.model, o.verbose) as reporter, sides_of(o) as sides:
        priors = text_lines(o.priors) if o.priors else None
        names = (o.input or o.source, o.input or o.target, o.priors or "")
        align_lines(aligner, *sides, outputs, priors, quiet=not o.verbose, progress=reporter, names=names)
    return 0


@contextlib.contextmanager
def running(model: int, verbose: bool) -> "Iterator[Reporter]":
    """Show warnings, a bar on a terminal, and with ``verbose`` notes and a line for each step; compile ahead."""
    from aligntools.adapters.eflomal.aligner import MODELS
    from aligntools.aligning.precompile import compiling_for
    from aligntools.cli.reporter import Reporter
    from aligntools.ground.parallel import available_cores, threads_of

    reporter = Reporter(quiet=False, verbose=verbose, lines=False)
    logger = logging.getLogger("aligntools")
    level = logger.level
    logger.setLevel(logging.INFO if verbose else logging.WARNING)
    try:
        with compiling_for(MODELS[model], threads_of() or available_cores()):
            yield reporter
    finally:
        reporter.close()
        logger.setLevel(level)


def texts(o: argparse.Namespace) -> list[Named]:
    """Return the text files that are named, as (flag, path); end the program where there are none."""
    named = [("-i", o.input)] if o.input else [("-s", o.source), ("-t", o.target)]
    if not all(path for _, path in named):
        raise Wrong("need to specify either -s and -t, or -i")
    for _, path in named:
        if not os.path.exists(path):
            raise Wrong(f"input file {path} does not exist!")
    return [Named(*pair) for pair in named]


@contextlib.contextmanager
def sides_of(o: argparse.Namespace) -> Iterator[tuple[Iterator[str], Iterator[str]]]:
    """Open what the options name; yield the lines of both sides. A line without one separator is as a blank one."""
    from aligntools.formats.opening.files import text_lines

    paths = (o.input, o.input) if o.input else (o.source, o.target)
    with contextlib.closing(text_lines(paths[0])) as source, contextlib.closing(text_lines(paths[1])) as target:
        yield (_side(o.input, source, 0), _side(o.input, target, 1)) if o.input else (source, target)


def _side(path: str, lines: Iterator[str], side: int) -> Iterator[str]:
    """Yield a side of the lines of one file; the first tells of lines that have not two."""
    malformed, number = list[int](), 0
    for number, line in enumerate(lines, 1):
        fields = SEPARATOR.split(line)
        if len(fields) != 2 and line.strip():
            malformed.append(number)
        yield fields[side] if len(fields) == 2 else ""
    if side or not malformed:
        return
    problem = f"no single ' ||| ' separator, as in {len(malformed)} of {number} lines"
    if len(malformed) == number:
        raise DataError(path, malformed[0], f"{problem} (give two files with -s and -t)")
    logging.getLogger("aligntools").warning("%s:%d: %s; such lines get blank ones", path, malformed[0], problem)
