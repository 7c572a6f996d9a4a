"""Signals wait while code is compiled or loaded: an exception there leaves LLVM's objects half made, and crashes."""

import contextlib
import os
import threading
from collections.abc import Iterator

_held = 0
_waiting: list[int] = []


def hold() -> None:
    """Let signals wait from now on, where this thread is the one that they come to; `release` ends it."""
    global _held
    if threading.current_thread() is threading.main_thread():
        _held += 1


def release() -> None:
    """End what the last `hold` began; what has waited for it comes now."""
    global _held
    if threading.current_thread() is threading.main_thread():
        _held -= 1
        while not _held and _waiting:
            os.kill(os.getpid(), _waiting.pop())


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Let signals wait while the block runs."""
    hold()
    try:
        yield
    finally:
        release()


def waits(number: int) -> bool:
    """Tell a signal's handler whether it has to wait, and is to return. A second one of its kind does not wait."""
    if not _held or number in _waiting:
        return False
    _waiting.append(number)
    return True
