"""Stands in for eflomal's programs, with our models; machine.py and silnlp call ``eflomal``, with numbered text."""

import argparse
import contextlib
import getopt
import io
import logging
import os
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import click

from aligntools.cli.kinds import Named, placed
from aligntools.cli.standins import Wrong, program
from aligntools.ground.errors import DataError, harmless

if TYPE_CHECKING:
    from aligntools.cli.reporter import Reporter

SEPARATOR = re.compile(r"(?<!\S)\|\|\|(?!\S)")


class ProgramParser(argparse.ArgumentParser):
    """Python's own parser: abbreviated names, ``-f=FILE``; wrong arguments end the program with status 2."""

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """End the program."""
        if message:
            sys.stderr.write(harmless(message))
        raise click.exceptions.Exit(status)


def _common_parser(program: str, description: str) -> ProgramParser:
    """Return a command line with what eflomal's programs share: messages, and the text."""
    p = ProgramParser(prog=program, description=description)
    p.add_argument("-v", "--verbose", action="store_true", help="say what is done")
    p.add_argument("--debug", action="store_true", help="show the traceback of an error")
    p.add_argument("-s", "--source", metavar="FILE", help="source text")
    p.add_argument("-t", "--target", metavar="FILE", help="target text")
    p.add_argument("-i", "--input", metavar="FILE", help="both, ' ||| ' between the sides, instead of -s and -t")
    return p


@program("eflomal-align", prefix="eflomal-align: ")
def eflomal_align(args: list[str]) -> int:
    """Align as eflomal-align does."""
    from aligntools.adapters.eflomal import Aligner
    from aligntools.adapters.eflomal.aligner import align_lines
    from aligntools.formats.opening.files import text_lines

    p = _common_parser("eflomal-align", "Aligns a parallel text as eflomal does, with aligntools' models.")
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
    o = p.parse_args(args)
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


@program("eflomal-makepriors", prefix="eflomal-makepriors: ")
def eflomal_makepriors(args: list[str]) -> int:
    """Count priors as eflomal-makepriors does."""
    from aligntools.adapters.eflomal import calculate_priors, write_priors
    from aligntools.adapters.eflomal.priors import AlignedTextError
    from aligntools.formats.opening.files import text_lines, writing

    p = _common_parser(
        "eflomal-makepriors", "Counts priors over aligned text, for eflomal-align -p and align --priors."
    )
    p.add_argument("-f", "--forward-alignments", metavar="FILE", required=True, help="forward or symmetrized links")
    p.add_argument(
        "-r",
        "--reverse-alignments",
        metavar="FILE",
        required=True,
        help="reverse or symmetrized links; may be the same file",
    )
    p.add_argument("--reverse-priors", action="store_true", help="priors for the opposite direction")
    p.add_argument("-p", "--priors", metavar="FILE", default="-", help="write them here [standard output]")
    o = p.parse_args(args)
    links = [Named("-f", o.forward_alignments), Named("-r", o.reverse_alignments)]
    with placed([*texts(o), *links], [Named("-p", o.priors)]), sides_of(o) as sides:
        alignments = text_lines(o.forward_alignments), text_lines(o.reverse_alignments)
        try:
            counted = calculate_priors(*sides, *alignments, o.reverse_priors)
        except AlignedTextError as error:
            source, target = (o.input, o.input) if o.input else (o.source, o.target)
            path = (source, target, o.forward_alignments, o.reverse_alignments)[error.which]
            raise DataError(path, error.line, error.problem) from None
        write_priors(text := io.StringIO(), *counted)
        with writing(o.priors) as out:
            out.write(text.getvalue().encode("utf-8", "surrogateescape"))
    return 0


USAGE = """Usage: eflomal -m MODEL [-s SOURCE] [-t TARGET] [-p PRIORS] [-f FORWARD_LINKS] [-r REVERSE_LINKS]
               [-F FORWARD_SCORES] [-R REVERSE_SCORES] [-S STATISTICS] [-M SCORE_MODEL] [-N NULL_PRIOR] [-q]
  -m, -M: 1 IBM 1, 2 HMM, 3 fertilities
  -1, -2, -3 (iterations) and -n (samplers) are taken and without effect
Texts are files of numbers, as eflomal's write_text makes them.
"""
_FILES = {"-s": "source", "-t": "target", "-p": "priors"}
_OUTPUTS = {
    "-f": "links_forward",
    "-r": "links_reverse",
    "-F": "scores_forward",
    "-R": "scores_reverse",
    "-S": "statistics",
}
_NUMBERS = {"-1": int, "-2": int, "-3": int, "-n": int, "-m": int, "-M": int, "-N": float}


@program("eflomal", prefix="eflomal: ")
def eflomal(args: list[str]) -> int:
    """Align numbered text as eflomal does."""
    from aligntools.adapters.eflomal.aligner import align_numbered

    try:
        found, _ = getopt.getopt(args, "s:t:p:f:r:S:F:R:1:2:3:n:qm:M:N:h", ["debug"])
        given = dict(found)
        numbers = {flag: kind(given[flag]) for flag, kind in _NUMBERS.items() if flag in given}
    except (getopt.GetoptError, ValueError) as error:
        raise Wrong(f"{error}\n{USAGE.rstrip()}") from None
    if "-h" in given or "-m" not in given:
        sys.stderr.write(USAGE)
        return 1
    for flag in ("-m", "-M"):
        if numbers.get(flag, 1) not in (1, 2, 3):
            raise Wrong(f"{'(Scoring) model' if flag == '-M' else 'Model'} must be 1, 2 or 3!")
    files = {name: given.get(flag) for flag, name in _FILES.items()}
    outputs = {name: given.get(flag) for flag, name in _OUTPUTS.items()}
    read = [Named(flag, given.get(flag, "-")) for flag in ("-s", "-t")]
    if all(named.standard for named in read):
        raise Wrong("only one of the two texts can be standard input; give -s and -t")
    read += [Named("-p", given["-p"]) for _ in range("-p" in given)]
    written = [Named(flag, given[flag]) for flag in _OUTPUTS if flag in given]
    with placed(read, written), running(numbers["-m"], verbose=False) as reporter:
        align_numbered(
            files["source"] or "-",
            files["target"] or "-",
            outputs,
            files["priors"],
            numbers["-m"],
            numbers.get("-M", 0),
            numbers.get("-N", 0.2),
            quiet="-q" in given,
            progress=reporter,
        )
    return 0
