"""What the library logs, shown on standard error while a command runs."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from aligntools.ground.errors import one_line


class _OnStandardError(logging.Handler):
    def emit(self, record):
        kind = "warning" if record.levelno >= logging.WARNING else "note"
        sys.stderr.write(f"{kind}: {one_line(record.getMessage())}\n")


@contextmanager
def shown(quiet: bool = False) -> Iterator[None]:
    """Show what is logged under ``aligntools`` as ``note:`` and ``warning:`` lines, or nothing where ``quiet``."""
    logger = logging.getLogger("aligntools")
    level, propagate, handlers = logger.level, logger.propagate, logger.handlers
    logger.setLevel(logging.CRITICAL if quiet else logging.INFO)
    logger.propagate, logger.handlers = False, [_OnStandardError()]
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.propagate, logger.handlers = propagate, handlers


def tell_turned(words: int, model: str) -> None:
    """Say that words were in another of Unicode's normal forms than those of the model."""
    if words:
        sys.stderr.write(
            f"note: {words} words have their accents in another form than the {model}'s words (NFC and NFD); they were"
            " turned for it, and are written as they were\n"
        )
