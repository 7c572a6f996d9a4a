"""Signals end a run by an exception, which unwinds it, so that unfinished files are removed."""

import contextlib
import signal
import sys
from collections.abc import Iterator
from types import FrameType

from aligntools.ground import system

#: Seconds until an exception that went nowhere is raised once more.
AGAIN = 0.01
#: The signals of this run whose exceptions were raised.
_raised: list[int] = []


def _end(number: int, _frame: FrameType | None) -> None:
    if system.signal_waits(number):
        return
    signal.signal(number, signal.SIG_IGN)  # a terminal that closes sends it more than once
    _raised.append(number)
    sys.exit(128 + number)


class _Interrupt(KeyboardInterrupt):
    """Of another type: where code evaluated from text ends with the exact one, Python 3.11 kills the process."""


def _interrupt(number: int, _frame: FrameType | None) -> None:
    if not system.signal_waits(number):
        _raised.append(number)
        raise _Interrupt


def status() -> int | None:
    """Return the exit status of a run that a signal has ended; None where none has.

    Its exception may come out as another: Python and libraries wrap some.
    """
    return 128 + _raised[0] if _raised else None


def end_quietly() -> None:
    """Let an interrupt end the process at once, while there is nothing to clean up: the program is being loaded."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextlib.contextmanager
def ending() -> Iterator[None]:
    """End on SIGTERM and SIGHUP by ``SystemExit``, status 128 and the signal's number.

    A signal that comes while a destructor or a callback of compiled code runs is lost otherwise: Python says that it
    ignores the exception, and goes on. Here such an exception, ``KeyboardInterrupt`` too, is raised again a moment
    later, where the system has timers. An interrupt raises ``KeyboardInterrupt`` after `end_quietly`, too.
    """
    _raised.clear()
    interrupt = signal.getsignal(signal.SIGINT)
    if interrupt in (signal.SIG_DFL, signal.default_int_handler):
        signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _end)
    if system.HANGUP is not None and signal.getsignal(system.HANGUP) != signal.SIG_IGN:  # nohup ignores it
        signal.signal(system.HANGUP, _end)
    lost: list[tuple[type[BaseException], tuple[object, ...]]] = []

    def ignored(unraisable: "sys.UnraisableHookArgs") -> None:
        if not issubclass(unraisable.exc_type, (SystemExit, KeyboardInterrupt)):
            hook(unraisable)
            return
        lost.append((unraisable.exc_type, getattr(unraisable.exc_value, "args", ())))
        system.alarm_in(AGAIN)

    def again(_number: int, _frame: FrameType | None) -> None:
        if lost:
            kind, arguments = lost.pop()
            raise kind(*arguments)

    hook, sys.unraisablehook = sys.unraisablehook, ignored
    alarm = None if system.ALARM is None else signal.signal(system.ALARM, again)
    try:
        yield
    finally:
        sys.unraisablehook = hook
        if system.ALARM is not None:
            signal.signal(system.ALARM, alarm)
        signal.signal(signal.SIGINT, interrupt)
