"""Opening files of any compression, and output that appears whole or not at all."""

import bz2
import contextlib
import gzip
import lzma
import os
import sys
import tempfile

from aligntools.errors import DataError

_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")


def _zstandard(path):
    try:
        import zstandard
    except ImportError:
        raise DataError(path, None, "reading and writing .zst needs `pip install aligntools[zstd]`") from None
    return zstandard


def _suffix(path):
    return next((s for s in _SUFFIXES if path.endswith(s)), "")


def open_input(path):
    """Open a file for reading bytes: plain, .gz, .bz2, .xz, .zst by suffix, or ``-`` for standard input.

    Raises
    ------
    DataError
        When it cannot be opened.
    """
    path = str(path)
    if path == "-":
        return os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    try:
        if os.path.isdir(path):
            raise DataError(path, None, "is a directory; a text file was expected")
        suffix = _suffix(path)
        if suffix == ".gz":
            return gzip.open(path, "rb")
        if suffix == ".bz2":
            return bz2.open(path, "rb")
        if suffix == ".xz":
            return lzma.open(path, "rb")
        if suffix == ".zst":
            zstandard = _zstandard(path)
            return zstandard.ZstdDecompressor().stream_reader(
                open(path, "rb"), closefd=True, read_across_frames=True
            )
        return open(path, "rb")
    except OSError as error:
        raise DataError(path, None, f"cannot be opened: {error.strerror or error}") from None


@contextlib.contextmanager
def reading(path):
    """Open ``path`` with `open_input`; what goes wrong while reading becomes a `DataError`."""
    with open_input(path) as file:
        try:
            yield file
        except (EOFError, lzma.LZMAError, gzip.BadGzipFile, OSError) as error:
            if isinstance(error, BrokenPipeError):
                raise
            raise DataError(path, None, f"cannot be read to its end: {error}") from None
        except Exception as error:
            if type(error).__name__ == "ZstdError" or type(error).__module__ == "zlib":
                raise DataError(path, None, f"cannot be read to its end: {error}") from None
            raise


def blocks_of_lines(path, size=1 << 24):
    """Yield ``bytes`` blocks of whole lines (each ends in a newline, the last maybe not) of about ``size``."""
    rest = []
    with reading(path) as file:
        while True:
            block = file.read(size)
            if not block:
                break
            cut = block.rfind(b"\n") + 1
            if cut == 0:
                rest.append(block)
                continue
            yield b"".join([*rest, block[:cut]])
            rest = [block[cut:]] if cut < len(block) else []
    if rest and any(rest):
        yield b"".join(rest)


def lines(path):
    """Yield a text file's lines as bytes, without their ends (``\\n`` or ``\\r\\n``)."""
    with reading(path) as file:
        for line in file:
            yield line.rstrip(b"\n").removesuffix(b"\r")


@contextlib.contextmanager
def writing(path):
    """Open ``path`` for writing bytes so that it appears whole or not at all.

    The bytes go to a file beside ``path`` that is renamed when the block ends well and removed when it
    does not. ``-`` is standard output, which cannot be taken back. Compression is by suffix.
    """
    path = str(path)
    if path == "-":
        out = sys.stdout.buffer
        yield out
        out.flush()
        return
    if os.path.exists(path) and not os.path.isfile(path):  # a device or a named pipe: nothing to rename
        try:
            with open(path, "wb") as out:
                yield out
        except OSError as error:
            raise _cannot_write(path, error) from None
        return
    folder, name = os.path.split(os.path.realpath(path))
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{name[:100]}.", suffix=".part", dir=folder or ".")
    except OSError as error:
        raise _cannot_write(path, error) from None
    try:
        raw = os.fdopen(handle, "wb")
        try:
            with raw, _compressor(path, raw) as out:
                yield out
                out.flush()
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(temporary, 0o666 & ~umask)
            os.replace(temporary, os.path.join(folder, name))
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _cannot_write(path, error) from None
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _cannot_write(path, error):
    return DataError(path, None, f"cannot be written: {error.strerror or error}")


def _compressor(path, raw):
    suffix = _suffix(path)
    if suffix == ".gz":
        return gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6)
    if suffix == ".bz2":
        return bz2.BZ2File(raw, "wb")
    if suffix == ".xz":
        return lzma.LZMAFile(raw, "wb")
    if suffix == ".zst":
        return _zstandard(path).ZstdCompressor().stream_writer(raw, closefd=False)
    return contextlib.nullcontext(raw)
