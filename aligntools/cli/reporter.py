"""Progress of commands on standard error: a bar, one line per step, a summary; and the JSON log."""

import contextlib
import json
import logging
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from aligntools.cli.flags import on_command_line
from aligntools.ground import system
from aligntools.ground.errors import harmless, one_line
from aligntools.ground.progress import Step

if TYPE_CHECKING:
    from aligntools.formats.opening.files import Output


#: Seconds between lines of progress, where no bar is shown.
EVERY = 30.0
#: How lines of progress end.
SO_FAR = " s so far"


class ProgressLines:
    """Progress by lines, one after each `EVERY` seconds with something done; ``first`` is said when work begins."""

    def __init__(self, shown: bool, first: str = "") -> None:
        self.shown, self._first = shown, first
        self.began = self.last = time.perf_counter()

    def tell(self, text: str | Callable[[], str]) -> None:
        """Write a line of progress, if it is time for one; ``text`` may be a function that returns it."""
        now = time.perf_counter()
        if self.shown and now - self.last >= EVERY:
            self.last = now
            text = text() if callable(text) else text
            sys.stderr.write(f"{text}; {now - self.began:.0f}{SO_FAR}\n")

    def begin(self, what: str, total: int | None = None, unit: str = "step") -> None:
        """Count time from here."""
        self.began = self.last = time.perf_counter()
        if self._first:
            self.say(self._first)

    def say(self, text: str) -> None:
        """Print a line on standard error, with the fields that it names as flags."""
        if self.shown:
            say(text)

    def took(self, count: int, what: str) -> None:
        """Print how long ``count`` items took."""
        seconds = time.perf_counter() - self.began
        self.say(f"{count} {what} in {seconds:.1f} s ({count / max(seconds, 1e-9):.0f} {what}/s)")


def say(text: str) -> None:
    """Print a line on standard error, with the fields that it names as flags."""
    sys.stderr.write(harmless(on_command_line(text)) + "\n")


@contextlib.contextmanager
def reporting(o: Mapping[str, Any]) -> "Iterator[Reporter]":
    """Set up a command's messages: notices, progress (`Reporter`), the log of ``--log-json``."""
    from aligntools.formats.opening.files import writing

    with contextlib.ExitStack() as stack:
        stack.enter_context(shown(o["quiet"]))
        log = stack.enter_context(writing(o["log_json"])) if o.get("log_json") else None
        reporter = Reporter(o["quiet"], o["verbose"], log)
        stack.callback(reporter.close)
        yield reporter


class Reporter:
    """Standard error: a bar on a terminal, else a line twice a minute, one line a step when verbose, and a summary.

    log: Gets one JSON line for each step; lines: whether there are lines of progress in place of a bar.
    """

    def __init__(self, quiet: bool, verbose: bool, log: "Output | None" = None, lines: bool = True) -> None:
        self.quiet, self.verbose, self.log = quiet, verbose and not quiet, log
        self.lines = ProgressLines(lines and not quiet and not verbose and not sys.stderr.isatty())
        self.tell = self.lines.tell
        self.bar: Any = None  # tqdm has no types
        self.counting, self.done, self.unit = False, 0, "step"
        self.total: int | None = None
        self.extra = 0  # steps that come after training
        self.text = self.pairs = 0  # pairs that those steps stand for, and how many of them were passed
        self.stages: dict[str, float] = {}
        self.began = self.last = time.perf_counter()

    def __call__(self, step: Step) -> None:
        """Take a step: of the bar, of the log, and of what is said when verbose."""
        now = time.perf_counter()
        figures = dict(step.figures)
        figures.setdefault("stage", step.stage)
        figures.setdefault("seconds", now - self.last)
        self.last = now
        if step.total is not None and not self.counting:
            self._open(step.total + self.extra, "step")
        self.advance(step.stage)
        figures["peak_mb"] = peak_mb()
        self.stages[step.stage] = self.stages.get(step.stage, 0.0) + figures["seconds"]
        self._write(figures)
        if self.verbose:
            self.say(describe(step.stage, figures))

    def _write(self, figures: Mapping[str, Any]) -> None:
        if self.log:
            self.log.write((json.dumps(figures) + "\n").encode())
            self.log.flush()

    def begin(self, what: str, total: int | None = None, unit: str = "step") -> None:
        """Show a new bar in place of the one before."""
        self.close()
        self._open(total, unit)
        if self.bar is not None:
            self.bar.set_description(what)

    def _open(self, total: int | None, unit: str) -> None:
        """Show a bar, where standard error is a terminal and nothing else is printed there."""
        self.counting, self.done, self.total, self.unit = True, 0, total, unit
        if sys.stderr.isatty() and not self.quiet and not self.verbose:
            from tqdm import tqdm

            self.bar = tqdm(total=total, unit=unit, leave=False, dynamic_ncols=True, file=sys.stderr)

    def advance(self, what: str, steps: int = 1) -> None:
        """Move the bar by ``steps``, or write a line where there is none and it is time."""
        self.done += steps
        done = f"{self.done} {self.unit}s" if self.total is None else f"{self.unit} {self.done} of {self.total}"
        self.lines.tell(f"{what}: {done}")
        if self.bar is not None:
            self.bar.set_description(what, refresh=False)
            self.bar.update(steps)

    def go_over(self, pairs: int, part: int) -> None:
        """Count one step for each ``part`` pairs that `passed` reports."""
        self.text, self.extra = pairs, -(-pairs // part)

    def passed(self, what: str, pairs: int) -> None:
        """Move the bar by the steps that ``pairs`` more pairs are."""
        before = self.extra * self.pairs // max(self.text, 1)
        self.pairs += pairs
        self.advance(what, self.extra * self.pairs // max(self.text, 1) - before)

    def close(self) -> None:
        """Take the bar away."""
        self.counting = False
        if self.bar is not None:
            self.bar.close()
            self.bar = None

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage."""
        began = time.perf_counter()
        yield
        self.last = time.perf_counter()
        self.stages[name] = self.stages.get(name, 0.0) + self.last - began
        self._write({"stage": name, "seconds": self.last - began, "peak_mb": peak_mb()})

    def say(self, text: str) -> None:
        """Print a line on standard error, with the fields that it names as flags."""
        if not self.quiet:
            say(text)

    def summary(self, n_pairs: int, n_links: int | None, skipped: str) -> None:
        """Print what was done, and what was left blank."""
        self.close()
        seconds = time.perf_counter() - self.began
        if skipped:
            self.say(f"blank lines written for: {skipped}")
        rate = n_pairs / max(seconds, 1e-9)
        links = "" if n_links is None else f", {n_links} links"
        self.say(f"{n_pairs} pairs{links} in {seconds:.1f} s ({rate:.0f} pairs/s)")
        if self.verbose:
            total = sum(self.stages.values()) or 1.0
            shares = ", ".join(f"{k} {v:.1f} s ({100 * v / total:.0f} %)" for k, v in self.stages.items())
            peak = system.peak_memory() / 2**20
            self.say(f"{shares}; peak memory {peak:.0f} MB")


def peak_mb() -> int:
    """Return the most memory that the process has had, in MB."""
    return system.peak_memory() >> 20


def describe(stage: str, figures: Mapping[str, Any]) -> str:
    """Return a step of alignment training in words."""
    if "network" in figures:
        return f"network {figures['network']}, pass {figures['pass']}: cross-entropy {figures['loss']:.4f} a candidate"
    if "pass" in figures:
        return f"pass {figures['pass']}: objective {figures['objective']:.4f} a pair"
    if "round" in figures:
        return f"round {figures['round']}: AER {100 * figures['aer']:.2f} %"
    if "student" in figures:
        return f"student of {figures['student']} pairs: {figures['candidates']} candidate links"
    if "read" in figures:
        text = "evidence of places added {more} links and took away {fewer}, of {links} in {read} pairs that were read"
        return text.format_map(figures)
    view = figures.get("view")  # letters that words are cut to, or a name of its own
    text = f"{view if isinstance(view, str) else f'first {view} letters' if view else 'whole words'}: {stage}"
    if "iteration" in figures:
        text += f" iteration {figures['iteration']}: "
        if "objective" in figures:
            text += "ln P(x|x) {:.1f} forward, {:.1f} reverse; ".format(*figures["reconstruction"])
            text += "with the prior {:.1f}, {:.1f}; ".format(*figures["objective"])
        text += "log-likelihood {:.1f} forward, {:.1f} reverse".format(*figures["log_likelihood"])
    if any(figures.get("tension", ())):
        text += ", tension {:.3f} {:.3f}".format(*figures["tension"])
    if "pairs" in figures:
        text += f": {figures['pairs']} pairs of words"
    return f"{text} ({figures['seconds']:.2f} s, {figures['peak_mb']} MB)"


class OnStandardError(logging.Handler):
    """Writes what the library logs to standard error, one line each; messages marked ``once`` appear once in a run."""

    def __init__(self, note: str = "") -> None:
        super().__init__()
        self._note = note
        self._said: set[str | None] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        once = getattr(record, "once", None)
        if once in self._said:
            return
        self._said.add(once)
        self._said.discard(None)
        kind = "warning: " if record.levelno >= logging.WARNING else self._note
        kind = "error: " if record.levelno >= logging.ERROR else kind
        sys.stderr.write(kind + one_line(on_command_line(record.getMessage())) + "\n")


@contextmanager
def shown(quiet: bool = False) -> Iterator[None]:
    """Show what is logged under ``aligntools`` as ``note:`` and ``warning:`` lines, or nothing where ``quiet``."""
    logger = logging.getLogger("aligntools")
    level, propagate, handlers = logger.level, logger.propagate, logger.handlers
    logger.setLevel(logging.CRITICAL if quiet else logging.INFO)
    logger.propagate, logger.handlers = False, [OnStandardError("note: ")]
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.propagate, logger.handlers = propagate, handlers
