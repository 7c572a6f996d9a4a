"""Stands in for fast_align: fast_align's flags and output forms; what they mean is done by ``align``'s own code."""

import contextlib
import getopt
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aligntools import AlignerSettings, Alignments, Reading, Run, Step
from aligntools.adapters import BEST, best_asked
from aligntools.cli import flags, kinds
from aligntools.cli.standins import Wrong, program
from aligntools.cli.standins.fast_align_form import FastAlignForm, sides_of
from aligntools.ground.declarations import range_of
from aligntools.ground.errors import AligntoolsError, ResourceError, UsageProblem
from aligntools.ground.ranges import amounts, counts, shown

if TYPE_CHECKING:
    from aligntools.formats.text.corpus import Bitext

# What messages advise, in terms of the program that stands in: our flags mean other things there, or nothing


#: What is said, and what is said instead.
_TERMS = (
    (r"one field; use -s and -t for two files", "one field; each line has both sides: source ||| target"),
    (r" --input-format (joint|tsv) (reads that|if it is not)", ""),
    (r", or a higher --max-memory", ""),
    (r"--max-memory sets another bound; ", ""),
    (r"a part of the text, or --fast, needs less", "a part of the text needs less"),
)


@contextlib.contextmanager
def in_own_terms() -> Iterator[None]:
    """Replace advice about options of ``aligntools`` in the errors of the block."""
    try:
        yield
    except MemoryError:
        raise ResourceError("out of memory; give a part of the text, or a machine with more") from None
    except AligntoolsError as error:
        message = flags.said(error)
        for theirs, instead in _TERMS:
            message = re.sub(theirs, instead, message)
        error.args = (message,)
        raise


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
  -t: with -p: for each word, leave out what has less than the highest probability to the power -t (default = -4)
  -b: accepted and without effect (memory is bounded anyway)
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


#: What writes on standard error.
Write = Callable[[str], None]


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
    beam_threshold: float = -4.0
    thread_buffer_size: int = 10000
    help: bool = False
    given: str = ""

    @property
    def learning(self) -> int:
        """Iterations that learn; the last one only aligns."""
        return self.iterations - 1

    @property
    def form(self) -> FastAlignForm:
        """How that is aligned and written."""
        tension = self.diagonal_tension if self.favor_diagonal else None
        return FastAlignForm(self.reverse, tension, self.p0, not self.no_null_word)


def parse(args: Sequence[str]) -> Flags:
    """Read a command line as getopt_long does: clustered short flags, long names cut short, any order."""
    try:
        found, rest = getopt.gnu_getopt(list(args), _SHORT, list(_LONG))
    except getopt.GetoptError as error:
        raise Wrong(str(error)) from None
    if rest:
        raise Wrong(f"unexpected argument {rest[0]}")
    names = {short: name.rstrip("=") for name, short in _LONG.items()} | {"s": "print_scores"}
    flags = Flags()
    shorts = {name: short for short, name in names.items()}
    for flag, value in found:
        name = flag[2:] if flag.startswith("--") else names[flag[1]]
        flags.given += shorts[name]
        kind = type(getattr(flags, name))
        setattr(flags, name, True if kind is bool else value if kind is str else _number(kind, flag, value))
        if name == "diagonal_tension":
            flags.favor_diagonal = True
    if flags.help:
        return flags
    if not flags.input:
        raise Wrong
    if flags.iterations == 1 and flags.conditional_probabilities and not flags.force_align:
        raise Wrong("-I 1 learns nothing, so that there is no table for -p; -I 2 is the least")
    # the ranges of the numbers that the other flags make use of
    ranges = {"iterations": counts(1), "p0": range_of(AlignerSettings, "p_null")}
    if flags.variational_bayes:
        ranges["alpha"] = range_of(AlignerSettings, "alpha")
    if flags.favor_diagonal:
        ranges["diagonal_tension"] = range_of(AlignerSettings, "tension")
    if flags.force_align:
        ranges["mean_srclen_multiplier"] = amounts()
    for name, allowed in ranges.items():
        if getattr(flags, name) not in allowed:
            raise Wrong(f"--{name} must be {allowed}, not {shown(getattr(flags, name))}")
    return flags


def _number(kind: type[int] | type[float], flag: str, value: str) -> float:
    try:
        number = kind(value)
    except ValueError:
        number = math.nan
    if not abs(number) < math.inf:  # of whole numbers of any length too, which no float is
        raise Wrong(f"{flag}: '{value}' is not a number of the right kind")
    return number


def settings_of(flags: Flags) -> AlignerSettings:
    """Return the settings of an aligner that does what the flags ask for."""
    # The diagonal is there from the first iteration; without it, this IBM 2 is fast_align's IBM 1.
    return AlignerSettings(
        model_type="ibm2",
        direction="reverse" if flags.reverse else "forward",
        estimator="vb" if flags.variational_bayes else "em",
        agreement=False,
        look_alike=False,
        views=(0,),
        keep=0.0,
        prune=0.0,
        ibm1_iterations=0,
        iterations=flags.learning,
        alpha=flags.alpha if flags.variational_bayes else AlignerSettings.alpha,
        p_null=0.0 if flags.no_null_word else flags.p0,
        tension=flags.diagonal_tension if flags.favor_diagonal else AlignerSettings.tension,
        favor_diagonal=flags.favor_diagonal,
        optimize_tension="fast_align" if flags.favor_diagonal and flags.optimize_tension else False,
    )


class Dots:
    """A dot for each 1,000 lines, and how many lines they are after each 50,000."""

    def __init__(self, write: Write) -> None:
        self.write, self.lines = write, 0

    def add(self, lines: int) -> None:
        """Show that this many more lines are done."""
        before, self.lines = self.lines, self.lines + lines
        for thousand in range(before // 1000 + 1, self.lines // 1000 + 1):
            self.write("." if thousand % 50 else f". [{thousand}000]\n")

    def end(self) -> None:
        """End the line of dots."""
        if self.lines % 50000 >= 1000:
            self.write("\n")
        self.lines = 0


class FastAlignReport:
    """What fast_align says on standard error while it trains; scripts look for ratio and tension there."""

    def __init__(self, flags: Flags, write: Write) -> None:
        self.flags, self.write, self.dots = flags, write, Dots(write)
        self.form = flags.form
        self.way = self.form.way
        self.iteration = self.lines = 0
        self.ratio = 1.0
        self.words = self.shapes = 0

    def say(self, text: str) -> None:
        """Write a line."""
        self.write(text + "\n")

    def read(self, bitext: "Bitext") -> None:
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
        self.lines = len(bitext)
        self.dots.add(self.lines)
        self.dots.end()
        self.say(f"expected target length = source length * {self.ratio:g}")
        self._begin()

    def step(self, step: "Step") -> None:
        """Show an iteration's figures, and begin the next."""
        figures = step.figures
        if "log_likelihood" not in figures:  # building the table
            return
        self.dots.add(self.lines)
        first = not figures["iteration"]  # fast_align begins with 1e-9 for all words
        nats = self.words * math.log(1e-9) if first else figures["log_likelihood"][self.way]
        nulls = 0.0 if self.flags.no_null_word else figures["null"][self.way]
        self._figures(nats, nulls, figures["diagonal"][self.way])
        if not first and self.flags.favor_diagonal and self.flags.optimize_tension:
            for number, (feature, tension) in enumerate(figures["climb"][self.way], 1):
                self.say(f"  {number}  model al-feat: {feature:g} (tension={tension:g})")
            self.say(f"     final tension: {figures['tension'][self.way]:g}")
        self._begin()

    def aligned(self, block: "Alignments") -> float:
        """Show how far the iteration is that aligns; return its log-likelihood."""
        self.dots.add(len(block))
        return float(block.log_likelihood[self.way].sum())

    def finish(self, nats: float) -> None:
        """Show the figures of the iteration that aligns."""
        self._figures(nats, 0.0, 0.0)
        if self.flags.favor_diagonal and not self.flags.optimize_tension:
            self.say(f"     final tension: {self.flags.diagonal_tension:g}")
        if self.flags.conditional_probabilities:
            self.say(f"conditional probabilities: {self.flags.conditional_probabilities}")

    def _begin(self) -> None:
        self.iteration += 1
        self.say(f"ITERATION {self.iteration}{' (FINAL)' if self.iteration > self.flags.learning else ''}")

    def _figures(self, nats: float, nulls: float, feature: float) -> None:
        self.dots.end()
        words = self.words or 1
        bits = (nats + self.words * self.form.log_not_null) / math.log(2)
        self.say(f"  log_e likelihood: {bits * math.log(2):g}")
        self.say(f"  log_2 likelihood: {bits:g}")
        self.say(f"     cross entropy: {-bits / words:g}")
        self.say(f"        perplexity: {2 ** min(-bits / words, 1000):g}")
        self.say(f"      posterior p0: {nulls / words:g}")
        self.say(f" posterior al-feat: {feature / words:g}")
        self.say(f"       size counts: {self.shapes}")


def train(flags: Flags, write: Write) -> None:
    """Train and align; where the environment asks for the best links, those of both directions with and without -r."""
    from aligntools.aligning.aligner_training import train_with
    from aligntools.aligning.alignment import read_bitext
    from aligntools.aligning.word_tables import write_ttable
    from aligntools.cli.reporter import Reporter
    from aligntools.formats.opening.files import writing
    from aligntools.ground.parallel import pool_of, threads_of

    report, reporter = FastAlignReport(flags, write), Reporter(quiet=False, verbose=False, lines=False)
    form, best = flags.form, best_asked()
    if best and flags.conditional_probabilities:
        raise UsageProblem(
            f"{BEST} writes the links of another model, which has no table for -p; leave out one of them"
        )
    with writing("-") as out, pool_of(threads_of()) as pool:
        report.say("INITIAL PASS ")
        bitext = read_bitext(flags.input, case_sensitive=True, tab_separates=True)
        report.read(bitext)
        links, nats = 0, 0.0
        if best:
            how = AlignerSettings(best=True)
            aligner = train_with(bitext, how, reading=Reading(case_sensitive=True), run=Run(pool))
            blocks = aligner.align_blocks(bitext, directions=False, threads=pool)
            settled = ((block, block.table) for block in blocks)
        elif flags.learning:
            aligner = train_with(
                bitext,
                settings_of(flags),
                reading=Reading(case_sensitive=True),
                run=Run(pool),
                keep_text=False,
                progress=report.step,
            )
            view = aligner.model.views[0]
            blocks = aligner.align_blocks(bitext, directions=False, threads=pool)
            settled = ((block, form.settled(block, bitext, report.dots.lines, view)) for block in blocks)
        else:
            settled = ((block, block.table) for block in form.unlearned(bitext, flags.thread_buffer_size))
        for block, table in settled:
            text = form.format(table)
            if flags.print_scores:
                rows = zip(text.split(b"\n"), form.scores(block, report.ratio), strict=False)
                text = b"".join(line + f" ||| {score:.6g}\n".encode() for line, score in rows)
            out.write(text)
            links += len(table.pairs)
            nats += report.aligned(block)
        report.finish(nats)
        if flags.conditional_probabilities:
            write_ttable(flags.conditional_probabilities, aligner.model, flags.beam_threshold)
    reporter.summary(len(bitext), links, bitext.skipped.summary())


def force(flags: Flags, write: Write) -> None:
    """Align each line before the next is read, with a table: ``source ||| target ||| links ||| score``."""
    from aligntools.formats.opening import files

    size, links_of = flags.form.by_table(flags.force_align, flags.mean_srclen_multiplier)
    write(f"Loaded {size} translation parameters.\n")
    total = 0.0
    with files.writing("-") as out:
        for number, line in enumerate(files.lines(flags.input), 1):
            source, target = sides_of(line, flags.input, number)
            pairs, score = links_of(source, target, flags.input, number)
            links = [b"%d-%d" % pair for pair in pairs]
            total += score
            row = [*source, b"|||", *target, b"|||", *links, b"|||", b"%g" % score]
            out.write(b" ".join(row) + b"\n")
            out.flush()  # whoever feeds lines through a pipe waits for this one
    write(f"TOTAL LOG PROB {total:g}\n")


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


@program("fast_align", USAGE, "fast_align: ")
def command(args: list[str]) -> int:
    """Align as fast_align does."""
    flags = parse(args)
    if flags.help:
        print(USAGE, end="")
        return 0
    _write("".join(f"ARG={flag}\n" for flag in flags.given))
    read = [kinds.Named("-i", flags.input), kinds.Named("-f", flags.force_align)]
    written = [kinds.Named("-p", flags.conditional_probabilities), kinds.Named("", "-")]
    read, written = ([named for named in side if named.path] for side in (read, written))
    with in_own_terms(), kinds.placed(read, written):
        (force if flags.force_align else train)(flags, _write)
    return 0
