"""Stands in for eflomal-align: its flags and files; the models are ours."""

import argparse
import contextlib
import logging
import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from aligntools.cli.kinds import Named, placed
from aligntools.cli.standins.arguments import ProgramParser, Untouched, eflomal_parser, fail
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
    p.add_argument(
        "--null-prior", type=float, default=0.2, metavar="X", help="prior probability of no link [%(default)s]"
    )
    p.add_argument(
        "-m",
        "--model",
        type=int,
        default=3,
        choices=(1, 2, 3),
        metavar="N",
        help="1 IBM 1, 2 HMM, 3 fertilities [%(default)s]",
    )
    p.add_argument(
        "-M",
        "--score-model",
        type=int,
        default=0,
        choices=(0, 1, 2, 3),
        metavar="N",
        help="what scores are made of: 1 words, 2 jumps too, 3 fertilities too [as -m]",
    )
    for side in ("source", "target"):
        for end in ("prefix", "suffix"):
            p.add_argument(
                f"--{side}-{end}",
                dest=f"{side}_{end}_len",
                type=int,
                default=0,
                metavar="N",
                help=f"keep this many letters of a word's {end} ({side}); 0 keeps all",
            )
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


@click.command("eflomal-align", cls=Untouched, add_help_option=False)
def command(args: list[str]) -> None:
    """Align as eflomal-align does."""
    from aligntools.adapters.eflomal import Aligner
    from aligntools.adapters.eflomal.aligner import align_lines
    from aligntools.adapters.eflomal.runner import EflomalOutputs
    from aligntools.formats.opening.files import text_lines

    o = parser().parse_args(args)
    read = texts(o, PROGRAM)
    if o.priors:
        read.append(Named("-p", o.priors))
    outputs = EflomalOutputs(o.forward_links, o.reverse_links, o.forward_scores, o.reverse_scores)
    flags = (("-f", o.forward_links), ("-r", o.reverse_links), ("-F", o.forward_scores), ("-R", o.reverse_scores))
    written = [Named(flag, path) for flag, path in flags if path]
    for named in written:
        # of scores eflomal does not ask
        if named.flag in ("-f", "-r") and not o.overwrite and os.path.exists(named.path):
            raise fail(PROGRAM, f"output file {named.path} exists, will not overwrite!")
    aligner = Aligner(
        model=o.model,
        score_model=o.score_model,
        null_prior=o.null_prior,
        source_prefix_len=o.source_prefix_len,
        source_suffix_len=o.source_suffix_len,
        target_prefix_len=o.target_prefix_len,
        target_suffix_len=o.target_suffix_len,
    )
    with (
        placed(read, written),
        running(o.model, o.verbose) as reporter,
        contextlib.closing(sides_of(o)) as sides,
    ):
        priors = text_lines(o.priors) if o.priors else None
        names = (o.input or o.source, o.input or o.target, o.priors or "")
        align_lines(aligner, *sides.lines, outputs, priors, quiet=not o.verbose, progress=reporter, names=names)


@contextlib.contextmanager
def running(model: int, verbose: bool) -> "Iterator[Reporter]":
    """Show warnings, a bar on a terminal, and with ``verbose`` notes and a line for each step; compile ahead."""
    from aligntools.adapters.eflomal.runner import MODELS
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


def texts(o: argparse.Namespace, program: str) -> list[Named]:
    """Return the text files that are named, as (flag, path); end the program where there are none."""
    named = [("-i", o.input)] if o.input else [("-s", o.source), ("-t", o.target)]
    if not all(path for _, path in named):
        raise fail(program, "need to specify either -s and -t, or -i")
    for _, path in named:
        if not os.path.exists(path):
            raise fail(program, f"input file {path} does not exist!")
    return [Named(*pair) for pair in named]


class BothSides:
    """The lines of both sides, to be read one after the other, from two files or from one.

    A line of the one file without its one separator is as a blank one.
    """

    def __init__(self, paths: tuple[str, str], joint: bool) -> None:
        from aligntools.formats.opening.files import text_lines

        source, target = paths
        self._files = text_lines(source), text_lines(target)
        if joint:
            self._path, self._number = paths[0], 0
            self._malformed: list[int] = []
            self.lines: tuple[Iterator[str], Iterator[str]] = self._side(0), self._side(1)
        else:
            self.lines = self._files

    def _side(self, side: int) -> Iterator[str]:
        for number, line in enumerate(self._files[side], 1):
            fields = SEPARATOR.split(line)
            if len(fields) != 2 and line.strip() and side == 0:
                self._malformed.append(number)
            yield fields[side] if len(fields) == 2 else ""
            self._number = number
        if side == 0 and self._malformed:
            self._tell()

    def _tell(self) -> None:
        many, first = len(self._malformed), self._malformed[0]
        problem = f"no single ' ||| ' separator, as in {many} of {self._number} lines"
        if many == self._number:
            raise DataError(self._path, first, f"{problem} (give two files with -s and -t)")
        logging.getLogger("aligntools").warning("%s:%d: %s; such lines get blank ones", self._path, first, problem)

    def close(self) -> None:
        """Close the files."""
        for file in self._files:
            file.close()


def sides_of(o: argparse.Namespace) -> BothSides:
    """Return the sides of what the options name."""
    return BothSides((o.input, o.input) if o.input else (o.source, o.target), bool(o.input))
