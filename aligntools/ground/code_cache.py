"""Compiled code on disk: a file for each kernel and signature, checked when read, compiled by one process at a time.

Numba's own index is lost with one bad byte, unreadable files end a run (its issue 10434), and processes compile twice.
"""

import contextlib
import functools
import hashlib
import importlib
import logging
import os
import pickle
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from aligntools.ground import system
from aligntools.ground.code_folders import CodeFolders, objection

#: What a file begins with; the SHA-256 of the rest follows, then the pickled key and code.
HEAD = b"aligntools compiled code 1\n"
#: Seconds between two looks at another process's lock, and how many looks before going on without it.
PAUSE, LOOKS = 0.05, 12_000
#: Says what is compiled and waited for; programs that show it set its level to INFO.
log = logging.getLogger("aligntools.compiling")


class CodeFiles:
    """The files of one kernel of certain sources in some folders: takes the place of Numba's ``IndexDataCacheFile``."""

    def __init__(self, kernel: str, folders: CodeFolders) -> None:
        self._kernel, self._folders = kernel, folders

    def name(self, key: object) -> str:
        """Return the name of the file for a key: the signature, the machine, and the kernel's bytecode."""
        return f"{self._kernel}-{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"

    def load(self, key: object) -> Any:
        """Return what was saved, or None: what is not there, damaged or not to be trusted is compiled again."""
        for folder in self._folders.readable:
            path = folder / self.name(key)
            try:
                payload = _read(path)
                found, data = pickle.loads(payload)
                if found == key:
                    if self._folders.is_named and folder != self._folders.writable():
                        self._write(path.name, payload)
                    return data
            except OSError:
                continue
            except Exception as error:  # unpickling can raise anything
                if not _damaged:  # if there is one, there are often many
                    log.info(f"compiled code in {path.parent} is damaged ({error}: {path.name}); compiling it again")
                _damaged.append(path)
        return None

    def save(self, key: object, data: Any) -> None:
        """Write a file, whole or not at all; where that cannot be, warn and write nothing more in this run."""
        self._write(self.name(key), dumps((key, data)))

    def _write(self, name: str, payload: bytes) -> None:
        folder = self._folders.writable()
        if folder is None:
            return
        path = folder / name
        unfinished = path.with_suffix(f".{uuid.uuid4().hex[:12]}.part")
        try:
            try:
                with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:
                    file.write(HEAD + hashlib.sha256(payload).digest() + payload)
                os.replace(unfinished, path)
                self._folders.wrote(path)
            finally:
                with contextlib.suppress(OSError):
                    os.unlink(unfinished)
        except OSError as error:
            self._folders.stop_writing()
            log.warning(f"compiled code cannot be kept in {folder}: {error.strerror}; going on without")

    def any(self) -> bool:
        """Return whether there is code for any signature, whole or not."""
        for folder in self._folders.readable:
            with contextlib.suppress(OSError):
                if any(name.startswith(f"{self._kernel}-") and name.endswith(".nbc") for name in os.listdir(folder)):
                    return True
        return False

    def flush(self) -> None:
        """Forget nothing: a recompiled kernel replaces its file."""


def _read(path: Path) -> bytes:
    """Return what follows a file's head. Raises OSError where nothing is to be had, ValueError where it is damaged."""
    with open(path, "rb") as file:
        if problem := objection(os.fstat(file.fileno())):
            raise PermissionError(problem)
        data = file.read()
    start = len(HEAD) + 32
    if not data.startswith(HEAD) or hashlib.sha256(data[start:]).digest() != data[len(HEAD) : start]:
        raise ValueError("its checksum is wrong")
    return data[start:]


#: The files that were found damaged in this run.
_damaged: list[Path] = []


def lock(path: Path) -> int | None:
    """Return a descriptor of a file that this process and its children alone have a lock on; None where others do."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            system.lock(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor
    return None


class _Turns:
    """Lets one process at a time compile a kernel; others wait, then load what it compiled.

    Locks are on open files, gone with their process, and nested as kernels are. Numba compiles in one thread at a time.
    """

    def __init__(self) -> None:
        self._held: list[tuple[int, Path] | None] = []
        self._said = False

    def say(self, text: str) -> None:
        if not self._said:
            log.info(text)
        self._said = True

    def enter(self, path: Path | None) -> None:
        """Wait for the turn to compile what a lock file is for."""
        held = None
        if path is not None:
            with contextlib.suppress(OSError):
                held = os.open(path, os.O_RDWR | os.O_CREAT, 0o644), path
        if held is not None:
            try:
                self._wait(held[0])
            except BaseException as error:
                os.close(held[0])
                if not isinstance(error, OSError):
                    raise
                held = None  # there are no locks here, or the holder does not get on
        self._held.append(held)
        system.hold_signals()

    def _wait(self, descriptor: int) -> None:
        for _ in range(LOOKS):
            with contextlib.suppress(BlockingIOError):
                return system.lock(descriptor)
            self.say("waiting for another process that compiles, once on this machine")
            time.sleep(PAUSE)
        raise TimeoutError

    def leave(self) -> None:
        """End the turn. Who waits for the file without its name, or makes a new one, finds what was compiled."""
        held = self._held.pop()
        if held is not None:
            with contextlib.suppress(OSError):
                os.unlink(held[1])
            os.close(held[0])
        system.release_signals()


turns = _Turns()


class _Failures(event.Listener):
    """Ends the turn of what could not be compiled, which is not saved."""

    def on_start(self, event: Any) -> None:
        """Do nothing."""

    def on_end(self, event: Any) -> None:
        """Take note of a failure; ``is_failed`` is wrong in some versions of Numba."""
        failed = any(event._exc_details or ())
        if failed and isinstance(event.data["dispatcher"]._cache, CodeCache):
            turns.leave()


@functools.cache
def _load_array_functions() -> None:
    """Load Numba's array functions without its look at SciPy's BLAS, a tenth of a second that no kernel here needs.

    Numba looks again where a function is compiled that needs it, so a program's own functions have it.
    """
    from numba.np import linalg

    look = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = look


class _Nowhere(_CacheLocator):
    """Numba asks a locator for folders; `CodeFolders` knows them."""

    def __init__(self, py_file: str) -> None:
        self._py_file = py_file

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> "_Nowhere":
        return cls(py_file)

    def get_cache_path(self) -> str:
        return ""

    def get_source_stamp(self) -> str:
        return ""

    def get_disambiguator(self) -> str:
        return ""


class _Results(CompileResultCacheImpl):
    _locator_classes = [_Nowhere]  # noqa: RUF012 - as in the class above


class CodeCache(FunctionCache):
    """What Numba asks for compiled code of one kernel before it compiles, and hands it to afterwards."""

    _impl_class = _Results

    def __init__(self, function: Callable[..., Any], sources: str, folders: CodeFolders) -> None:
        super().__init__(function)
        self._folders = folders
        self._cache_file = CodeFiles(f"{function.__module__}.{function.__qualname__}-{sources}", folders)

    @property
    def cache_path(self) -> str | None:
        """The folder that is written to."""
        return str(self._folders.written or "") or None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code for a signature, or None and the turn to compile it; the slow compiler is loaded late."""
        with system.signals_held():
            rtsys.initialize(target_context)
            found = self._found(sig, target_context)
            if found is not None:
                return found
            _load_array_functions()
            target_context.refresh()
        folder = self._folders.writable()
        if folder is None:
            turns.enter(None)
            turns.say("compiling (up to 20 s)")
            return None
        name = self._cache_file.name(self._index_key(sig, target_context.codegen()))
        turns.enter((folder / name).with_suffix(".lock"))
        try:
            found = self._found(sig, target_context)  # another process may have compiled it meanwhile
        except BaseException:
            turns.leave()
            raise
        if found is not None:
            turns.leave()
            return found
        turns.say("compiling, once on this machine (up to 20 s)")
        return None

    def any(self) -> bool:
        """Return whether the kernel's code is there for any signature."""
        return self._cache_file.any()

    def _found(self, sig: Any, target_context: Any) -> Any:
        with system.signals_held(), contextlib.suppress(Exception):  # whatever is wrong with it: it is compiled again
            return self._load_overload(sig, target_context)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code for a signature, and end the turn."""
        try:
            if self._folders.writable() is not None and self._impl.check_cachable(data):
                self._cache_file.save(self._index_key(sig, data.codegen), self._impl.reduce(data))
        finally:
            turns.leave()


event.register("numba:compile", _Failures())
