"""Stands in for fast_align: fast_align's flags and output forms; what they mean is done by ``align``'s own code."""

import getopt
import math
import re
import sys
from dataclasses import dataclass

import click

from aligntools.aligning.settings import AlignerSettings
from aligntools.cli import placing
from aligntools.ground.ranges import amounts, counts, shown

USAGE = """Usage: fast_align -i file.fr-en
 Standard options ([USE] = strongly recommended):
  -i: [REQ] Input parallel corpus, 'source ||| target'; '-' is standard input
  -v: [USE] Use Dirichlet prior on lexical translation distributions
  -d: [USE] Favor alignment points close to the monotonic diagonal
  -o: [USE] Optimize how close to the diagonal alignment points should be
  -r: Run alignment in reverse (condition on target and predict source)
  -p: Write the conditional probability table to this file
 Advanced options:
  -I: number of iterations in EM training (default = 5)
  -q: p_null parameter (default = 0.08)
  -N: No null word
  -a: alpha parameter for optional Dirichlet prior (default = 0.01)
  -T: starting lambda for diagonal distance parameter (default = 4); implies -d
  -s: print alignment scores (alignment ||| score, disabled by default)
  -f: align with the table in this file (written with -p) instead of training
  -m: with -f: mean length ratio, as training printed it (default = 1)
  -t, -b: accepted and without effect (the table is written whole; memory is bounded anyway)
"""

_SHORT = "i:rI:df:m:t:q:T:ova:Np:b:sh"
_LONG = {
    "input=": "i",
    "reverse": "r",
    "iterations=": "I",
    "favor_diagonal": "d",
    "force_align=": "f",
    "mean_srclen_multiplier=": "m",
    "beam_threshold=": "t",
    "p0=": "q",
    "diagonal_tension=": "T",
    "optimize_tension": "o",
    "variational_bayes": "v",
    "alpha=": "a",
    "no_null_word": "N",
    "conditional_probabilities=": "p",
    "thread_buffer_size=": "b",
    "help": "h",
}


class WrongFlags(Exception):
    """The command line is not one of fast_align's; what is wrong, or nothing to show the usage alone."""


@dataclass
class Flags:
    """What the command line asks for; names and defaults are fast_align's."""

    input: str = ""
    reverse: bool = False
    iterations: int = 5
    favor_diagonal: bool = False
    optimize_tension: bool = False
    variational_bayes: bool = False
    alpha: float = 0.01
    p0: float = 0.08
    no_null_word: bool = False
    diagonal_tension: float = 4.0
    conditional_probabilities: str = ""
    force_align: str = ""
    mean_srclen_multiplier: float = 1.0
    print_scores: bool = False
    help: bool = False


def parse(args) -> Flags:
    """Read a command line as getopt_long does: clustered short flags, long names cut short, any order.

    Raises
    ------
    WrongFlags
    """
    try:
        found, rest = getopt.gnu_getopt(list(args), _SHORT, list(_LONG))
    except getopt.GetoptError as error:
        raise WrongFlags(str(error)) from None
    if rest:
        raise WrongFlags(f"unexpected argument {rest[0]}")
    names = {short: name.rstrip("=") for name, short in _LONG.items()} | {"s": "print_scores"}
    flags = Flags()
    for flag, value in found:
        if flag.startswith("--"):
            name = flag[2:]
        else:
            name = names[flag[1]]
        if name in ("beam_threshold", "thread_buffer_size"):
            _number(float, flag, value)
            continue
        kind = type(getattr(flags, name))
        setattr(flags, name, True if kind is bool else value if kind is str else _number(kind, flag, value))
        if name == "diagonal_tension":
            flags.favor_diagonal = True
    if flags.help:
        return flags
    if not flags.input:
        raise WrongFlags
    for name, allowed in _ranges(flags).items():
        if getattr(flags, name) not in allowed:
            raise WrongFlags(f"--{name} must be {allowed}, not {shown(getattr(flags, name))}")
    return flags


def _ranges(flags):
    """Return the ranges of the numbers that the other flags make use of."""
    ranges = {"iterations": counts(1), "p0": AlignerSettings.RANGES["p_null"]}
    if flags.variational_bayes:
        ranges["alpha"] = AlignerSettings.RANGES["alpha"]
    if flags.favor_diagonal:
        ranges["diagonal_tension"] = AlignerSettings.RANGES["tension"]
    if flags.force_align:
        ranges["mean_srclen_multiplier"] = amounts()
    return ranges


def _number(kind, flag, value):
    try:
        number = kind(value)
    except ValueError:
        number = math.nan
    if not abs(number) < math.inf:  # of whole numbers of any length too, which no float is
        raise WrongFlags(f"{flag}: '{value}' is not a number of the right kind")
    return number


def settings_of(flags):
    """Return the settings of an aligner that does what the flags ask for."""
    # fast_align's last iteration only aligns, and the diagonal is there from the first.
    learning = max(flags.iterations - 1, 1)
    return AlignerSettings(
        model="ibm2" if flags.favor_diagonal else "ibm1", direction="reverse" if flags.reverse else "forward",
        estimator="vb" if flags.variational_bayes else "em", joint=False, look_alike=False, views=(0,),
        ibm_iterations=0 if flags.favor_diagonal else learning,
        model_iterations=learning if flags.favor_diagonal else 0,
        alpha=flags.alpha if flags.variational_bayes else AlignerSettings.alpha,
        p_null=0.0 if flags.no_null_word else flags.p0,
        tension=flags.diagonal_tension if flags.favor_diagonal else AlignerSettings.tension,
        favor_diagonal=flags.favor_diagonal, optimize_tension=flags.optimize_tension,
    )  # fmt: skip


class Report:
    """What fast_align says on standard error while it trains; scripts look for ratio and tension there."""

    def __init__(self, flags, say):
        self.flags, self.say = flags, say
        self.way = int(flags.reverse)
        self.iteration = 0
        self.ratio = 1.0
        self.words = self.shapes = 0

    def read(self, bitext):
        """Work out the ratio of the sentences' lengths, mean over the sentences."""
        import numpy as np

        given, observed = bitext.source.lengths(), bitext.target.lengths()
        if self.flags.reverse:
            given, observed = observed, given
        full = given > 0
        if full.any():
            self.ratio = float((observed[full] / given[full]).mean())
        self.words = int(observed.sum())
        self.shapes = len(np.unique(given << 32 | observed))
        self.say(f"expected target length = source length * {self.ratio:g}")

    def step(self, step):
        """Show one iteration."""
        figures = step.figures
        if "log_likelihood" not in figures:  # building the table; IBM 1's first iteration is done with it
            if not self.flags.favor_diagonal:
                self._iteration()
            return
        self._iteration()
        nats = figures["log_likelihood"][self.way]
        bits = nats / math.log(2)
        self.say(f"  log_e likelihood: {nats:g}")
        self.say(f"  log_2 likelihood: {bits:g}")
        if self.words:
            self.say(f"     cross entropy: {-bits / self.words:g}")
            self.say(f"        perplexity: {2 ** min(-bits / self.words, 1000):g}")
        self.say(f"       size counts: {self.shapes}")
        if figures["stage"] == "ibm2" and figures["iteration"] and self.flags.optimize_tension:
            self.say(f"     final tension: {figures['tension'][self.way]:g}")

    def trained(self):
        """Announce the iteration that aligns."""
        self._iteration(" (FINAL)")
        if self.flags.favor_diagonal and not self.flags.optimize_tension:
            self.say(f"     final tension: {self.flags.diagonal_tension:g}")
        if self.flags.conditional_probabilities:
            self.say(f"conditional probabilities: {self.flags.conditional_probabilities}")

    def _iteration(self, which=""):
        self.iteration += 1
        self.say(f"ITERATION {self.iteration}{which}")

    def scores(self, block):
        """Return the score of each sentence pair: ln p of the observed side, its length included."""
        from aligntools.aligning.applying.table_aligner import log_length

        given, observed = block.lengths[:: -1 if self.flags.reverse else 1].tolist()
        expected = [log_length(n_o, n_c, self.ratio) for n_c, n_o in zip(given, observed, strict=True)]
        return [float(a + b) for a, b in zip(expected, block.log_likelihood[self.way], strict=True)]


def train(flags, say):
    """Train and align."""
    from aligntools.api.alignment import read_bitext, train_with
    from aligntools.api.threads import pool_of, threads_of
    from aligntools.cli.aligning_run import write_ttable
    from aligntools.cli.reporting import Reporter
    from aligntools.formats.files import writing
    from aligntools.formats.pharaoh import format_pharaoh

    report, reporter = Report(flags, say), Reporter(quiet=False, verbose=False)
    order = "source" if flags.reverse else "target"
    with writing("-") as out, pool_of(threads_of()) as pool:
        bitext = read_bitext(flags.input, case_sensitive=True, tab_separates=True)
        report.read(bitext)
        aligner = train_with(
            bitext, None, settings_of(flags), case_sensitive=True, threads=pool, keep_text=False, progress=report.step
        )
        report.trained()
        if flags.conditional_probabilities:
            write_ttable(aligner, flags.conditional_probabilities)
        links = 0
        for block in aligner.align_blocks(bitext, directions=False, threads=pool):
            text = format_pharaoh(block.table, order)
            out.write(_with_scores(text, report.scores(block)) if flags.print_scores else text)
            links += len(block.table.pairs)
    reporter.summary(len(bitext), links, bitext.skipped.summary())


def _with_scores(text, scores):
    lines = zip(text.split(b"\n"), scores, strict=False)
    return b"".join(line + b" ||| " + f"{score:.6g}".encode() + b"\n" for line, score in lines)


def force(flags, say):
    """Align each line as it comes, with a table: ``source ||| target ||| links ||| score``."""
    from aligntools.aligning.applying.table_aligner import TableAligner
    from aligntools.formats import files
    from aligntools.formats.ttable import read_ttable
    from aligntools.formats.vocabulary import split_words
    from aligntools.ground.errors import DataError

    table = read_ttable(flags.force_align)
    say(f"Loaded {len(table)} translation parameters.")
    tension = flags.diagonal_tension if flags.favor_diagonal else None
    aligner = TableAligner(table, tension, flags.p0, not flags.no_null_word, flags.mean_srclen_multiplier)
    total = 0.0
    with files.writing("-") as out:
        for number, line in enumerate(files.lines(flags.input), 1):
            source, *rest = re.split(rb"\t|(?<![^ \t])\|\|\|(?![^ \t])", line, maxsplit=1)
            source, target = split_words(source), split_words(b"".join(rest))
            if not source or not target:
                side = "source" if not source else "target"
                raise DataError(flags.input, number, f"the {side} side is blank (remove the pair)")
            try:
                positions, score = aligner.align(*((target, source) if flags.reverse else (source, target)))
            except MemoryError:
                problem = f"{len(source)} by {len(target)} words take more memory than there is (remove the pair)"
                raise DataError(flags.input, number, problem) from None
            pairs = ((n, k) if flags.reverse else (k, n) for n, k in enumerate(positions.tolist()) if k >= 0)
            links = [b"%d-%d" % pair for pair in pairs]
            total += score
            row = [*source, b"|||", *target, b"|||", *links, b"|||", b"%g" % score]
            out.write(b" ".join(row) + b"\n")
            out.flush()  # whoever feeds lines through a pipe waits for this one
    say(f"TOTAL LOG PROB {total:g}")


class _Getopt(click.Command):
    """A command whose arguments are left as they are."""

    def parse_args(self, ctx, args):
        ctx.params["args"] = [a for a in args if a != "--debug"]
        return []


def _say(text):
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


@click.command("fast_align", cls=_Getopt, add_help_option=False)
def command(args):
    """Align as fast_align does."""
    try:
        flags = parse(args)
    except WrongFlags as error:
        _say((f"fast_align: {error}\n" if str(error) else "") + USAGE.rstrip())
        raise click.exceptions.Exit(1) from None
    if flags.help:
        print(USAGE, end="")
        return
    read = [placing.Named("-i", flags.input), placing.Named("-f", flags.force_align)]
    written = [placing.Named("-p", flags.conditional_probabilities), placing.Named("", "-")]
    with placing.placed([named for named in read if named.path], [named for named in written if named.path]):
        (force if flags.force_align else train)(flags, _say)
