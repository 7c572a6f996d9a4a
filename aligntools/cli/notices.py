"""What the library logs, shown on standard error while a command runs."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from aligntools.cli.flags import on_command_line
from aligntools.ground.errors import one_line


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


@contextmanager
def hushed(quiet: bool) -> Iterator[None]:
    """Hide what is logged where ``quiet``; otherwise change nothing."""
    with shown(True) if quiet else nullcontext():
        yield
